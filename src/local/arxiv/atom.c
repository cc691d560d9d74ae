/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "local/arxiv/paper.h"
#include "office/xml.h"

/* With one space for each stretch of white space, and none at the ends. */
static struct str one_line(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.len + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < s.len; i++) {
        bool is_space = s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r');
        if (!is_space)
            out[n++] = s.p[i];
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    if (!out)
        return STR_NULL;
    n -= n > 0 && out[n - 1] == ' ';
    out[n] = '\0';
    return str_n(out, n);
}

static struct str child_text(struct xml_doc *d, const struct xml *n, const char *name)
{
    return xml_text(d, xml_child(n, name));
}

/* "http://arxiv.org/abs/1706.03762v7" */
static struct str paper_id_of(struct str address)
{
    static const struct str before = STR_INIT("/abs/");
    ptrdiff_t at = str_find(address, before);

    return at < 0 ? STR_NULL : str_trim(str_skip(address, (size_t)at + before.len));
}

/* Of the children NAME the attribute "term", or without one the text of their child "name". */
static size_t read_entry_list(struct arena *a, struct xml_doc *d, const struct xml *entry,
                              const char *name, struct str **ret)
{
    size_t n = xml_count(entry, name), k = 0;
    struct str *items = arena_zalloc(a, n < ARXIV_LIST_MAX ? n : ARXIV_LIST_MAX, sizeof *items);

    for (const struct xml *x = xml_child(entry, name); items && x && k < ARXIV_LIST_MAX;
         x = xml_next(x, name)) {
        struct str value = xml_get(x, "term");
        items[k++] = value.p ? value : one_line(a, child_text(d, x, "name"));
    }
    *ret = items;
    return k;
}

static int read_atom_entry(struct arena *a, struct xml_doc *d, const struct xml *entry,
                           struct arxiv_papers *ret, struct err *e)
{
    struct str address = child_text(d, entry, "id");
    struct str summary = child_text(d, entry, "summary");

    if (str_find(address, STR("/api/errors")) >= 0)
        return err_set(e, -EPROTO, STR_FMT, STR_ARG(str_slice(one_line(a, summary), 0, 200)));
    struct arxiv_paper *p = paper_id_of(address).len > 0 ? arxiv_add(a, ret) : NULL;
    if (!p)
        return 0;
    p->id = paper_id_of(address);
    p->title = one_line(a, child_text(d, entry, "title"));
    p->summary = one_line(a, summary);
    p->published = str_trim(child_text(d, entry, "published"));
    p->n_authors = read_entry_list(a, d, entry, "author", &p->authors);
    p->n_categories = read_entry_list(a, d, entry, "category", &p->categories);
    return 0;
}

int arxiv_atom_parse(struct arena *a, struct str text, struct arxiv_papers *ret, struct err *e)
{
    struct xml_doc *d = xml_parse(a, text, e);

    *ret = (struct arxiv_papers){.n = 0};
    if (!d)
        return e->code ? e->code : -EINVAL;
    if (!xml_is(d->root, "feed"))
        return err_set(e, -EINVAL, "the response is not a feed");
    for (const struct xml *x = xml_child(d->root, "entry"); x; x = xml_next(x, "entry")) {
        int r = read_atom_entry(a, d, x, ret, e);
        if (r < 0)
            return r;
    }
    return d->error ? err_set(e, d->error, "the answer is too large") : 0;
}
