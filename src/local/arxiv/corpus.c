/* SPDX-License-Identifier: MIT */
/* The papers that are known without asking anybody. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/arxiv/arxiv.h"
#include "local/kit/path.h"

enum { FILES_MAX = 200 };
#define CORPUS "arxiv_corpus"

/* ---- values ---- */

/* The parts of TEXT between the separators. */
static size_t split_text(struct arena *a, struct str text, char sep, struct str **ret)
{
    size_t n = 1, k = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.p[i] == sep;
    struct str *items = arena_zalloc(a, n, sizeof *items);
    while (items && text.p && k < ARXIV_LIST_MAX) {
        struct str part = str_trim(str_cut(&text, sep));
        if (part.len > 0)
            items[k++] = part;
    }
    *ret = items;
    return k;
}

/* A list may also be written as one text. */
static size_t read_json_list(struct arena *a, const struct json *v, char sep, struct str **ret)
{
    size_t n = 0;

    if (!json_is(v, JSON_ARRAY))
        return split_text(a, json_str(v, STR("")), sep, ret);
    *ret = arena_zalloc(a, v->n, sizeof **ret);
    for (size_t i = 0; *ret && i < v->n && n < ARXIV_LIST_MAX; i++)
        (*ret)[n++] = json_str(json_at(v, i), STR(""));
    return n;
}

static bool read_paper(struct arena *a, struct arxiv_papers *papers, const struct json *v)
{
    struct str id = json_str(json_get(v, "id"), STR(""));

    if (!arxiv_is_id(id) || arxiv_find(papers, id))
        return true;
    struct arxiv_paper *p = arxiv_add(a, papers);
    if (!p)
        return false;
    p->id = id;
    p->title = json_str(json_get(v, "title"), id);
    p->summary = json_str(json_get(v, "abstract"), json_str(json_get(v, "summary"), STR("")));
    p->published = json_str(json_get(v, "published"), STR(""));
    p->n_authors = read_json_list(a, json_get(v, "authors"), ';', &p->authors);
    p->n_categories = read_json_list(a, json_get(v, "categories"), ' ', &p->categories);
    return true;
}

static bool add_seeds(struct arena *a, struct arxiv_papers *papers)
{
    for (const struct arxiv_seed *s = arxiv_seeds; s->id; s++) {
        if (arxiv_find(papers, str_of(s->id)))
            continue;
        struct arxiv_paper *p = arxiv_add(a, papers);
        if (!p)
            return false;
        p->id = str_of(s->id);
        p->title = str_of(s->title);
        p->summary = str_of(s->summary);
        p->published = str_of(s->day);
        p->n_authors = split_text(a, str_of(s->authors), ';', &p->authors);
        p->n_categories = split_text(a, str_of(s->categories), ' ', &p->categories);
    }
    return true;
}

/* ---- files ---- */

/* A file that is not there is none. */
static int load_file(struct local_call *c, struct arxiv_corpus *corpus, const char *path,
                     struct str *why)
{
    struct err e = ERR_INIT;
    struct str text;
    int r = path_read(c, path, &text);

    if (r == -ENOENT)
        return 0;
    if (r < 0) {
        *why = path_error(c, r, "read", path, NULL);
        return r;
    }
    const struct json *v = json_parse(&c->arena, text, NULL, &e);
    const struct json *papers = json_is(v, JSON_ARRAY) ? v : json_get(v, "papers");
    if (!json_is(papers, JSON_ARRAY)) {
        *why = arena_printf(&c->arena, "%s is not a list of papers%s%s", path, v ? "" : ": ",
                            v ? "" : err_text(&e));
        return -EINVAL;
    }
    corpus->has_own = true;
    for (size_t i = 0; i < papers->n; i++) {
        if (!read_paper(&c->arena, &corpus->papers, json_at(papers, i)))
            break;
    }
    return 0;
}

static int load_folder(struct local_call *c, struct arxiv_corpus *corpus, const char *folder,
                       struct str *why)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int r = 0, n = 0;

    if (!dir)
        return 0;
    while (r == 0 && n < FILES_MAX && (entry = readdir(dir))) {
        if (!str_ends(str_of(entry->d_name), STR(".json")))
            continue;
        const char *path = arena_printf(&c->arena, "%s/%s", folder, entry->d_name).p;
        r = path ? load_file(c, corpus, path, why) : -ENOMEM;
        n++;
    }
    (void)closedir(dir);
    return r;
}

int arxiv_corpus_load(struct local_call *c, struct arxiv_corpus *ret, struct str *why)
{
    const char *file = arena_printf(&c->arena, "%s/" CORPUS ".json", c->local->root).p;
    const char *folder = arena_printf(&c->arena, "%s/" CORPUS, c->local->root).p;

    *ret = (struct arxiv_corpus){.has_own = false};
    *why = STR("out of memory");
    int r = file && folder ? load_file(c, ret, file, why) : -ENOMEM;
    if (r == 0)
        r = load_folder(c, ret, folder, why);
    if (r == 0 && !add_seeds(&c->arena, &ret->papers) && ret->papers.n < ARXIV_PAPERS_MAX)
        r = -ENOMEM;
    return r;
}

const char *arxiv_corpus_file(struct local_call *c, struct str id)
{
    static const char *const suffixes[] = {"md", "txt", "pdf"};
    struct str names[] = {id, arxiv_base_id(id)};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *name = arena_strdup(&c->arena, arena_str(&c->arena, names[i]).p);
        for (char *p = name; p && *p; p++)
            *p = *p == '/' ? '_' : *p;
        for (size_t k = 0; name && k < ARRAY_LEN(suffixes); k++) {
            const char *path =
                arena_printf(&c->arena, "%s/" CORPUS "/%s.%s", c->local->root, name, suffixes[k]).p;
            if (path && access(path, R_OK) == 0)
                return path;
        }
    }
    return NULL;
}
