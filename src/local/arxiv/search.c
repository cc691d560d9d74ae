/* SPDX-License-Identifier: MIT */
/* arxiv: search_papers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/arxiv/arxiv.h"

enum { RESULTS_DEFAULT = 10, RESULTS_MAX = 50, CATEGORIES_MAX = 50 };

/* What a client asks for. */
struct arxiv_search {
    struct local_call *c;
    struct str query;
    const struct json *categories; /* an array, or NULL */
    int64_t from, to;              /* days; 0: no end */
    size_t max;
};

static const char *const archives[] = {
    "cs",     "econ",     "eess",     "math",    "physics", "q-bio",    "q-fin",
    "stat",   "astro-ph", "cond-mat", "gr-qc",   "hep-ex",  "hep-lat",  "hep-ph",
    "hep-th", "math-ph",  "nlin",     "nucl-ex", "nucl-th", "quant-ph",
};

static bool is_category(struct str category)
{
    struct str archive = str_cut(&category, '.');

    for (size_t i = 0; i < ARRAY_LEN(archives); i++) {
        if (str_is(archive, archives[i]))
            return true;
    }
    return false;
}

/* ---- answers ---- */

struct json *arxiv_strings(struct arena *a, const struct str *items, size_t n)
{
    struct json *array = json_new_array(a);

    for (size_t i = 0; array && i < n; i++) {
        if (json_push(a, array, json_new_str(a, items[i])) < 0)
            return NULL;
    }
    return array;
}

/* "2017-06-12T17:57:34Z" as Python writes it; of a day its beginning. */
static struct str python_time(struct arena *a, struct str time)
{
    if (time.len == 10)
        return arena_printf(a, STR_FMT "T00:00:00+00:00", STR_ARG(time));
    if (str_ends(time, STR("Z")))
        return arena_printf(a, STR_FMT "+00:00", STR_ARG(str_slice(time, 0, time.len - 1)));
    return time;
}

static struct json *describe_found_paper(struct arena *a, const struct arxiv_paper *p)
{
    struct json *v = json_new_object(a);

    if (!v)
        return NULL;
    (void)json_set(a, v, "id", json_new_str(a, p->id));
    (void)json_set(a, v, "title", json_new_str(a, p->title));
    (void)json_set(a, v, "authors", arxiv_strings(a, p->authors, p->n_authors));
    (void)json_set(a, v, "abstract", json_new_str(a, p->summary));
    (void)json_set(a, v, "categories", arxiv_strings(a, p->categories, p->n_categories));
    (void)json_set(a, v, "published", json_new_str(a, python_time(a, p->published)));
    (void)json_set(
        a, v, "url",
        json_new_str(a, arena_printf(a, "http://arxiv.org/pdf/" STR_FMT, STR_ARG(p->id))));
    (void)json_set(a, v, "resource_uri",
                   json_new_str(a, arena_printf(a, "arxiv://" STR_FMT, STR_ARG(p->id))));
    return v;
}

static void answer_papers(const struct arxiv_search *s, const struct arxiv_paper *const *papers,
                          size_t n)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct arena *a = &s->c->arena;
    struct json *v = json_new_object(a), *list = json_new_array(a);

    for (size_t i = 0; list && i < n && i < s->max; i++)
        (void)json_push(a, list, describe_found_paper(a, papers[i]));
    if (!v || !list || json_set(a, v, "total_results", json_new_int(a, list->n)) < 0 ||
        json_set(a, v, "papers", list) < 0 || json_write(&b, v, JSON_PRETTY) < 0)
        local_fail(s->c, "Error: out of memory");
    else
        local_text(s->c, buf_str(&b));
}

/* ---- here ---- */

struct hit {
    const struct arxiv_paper *paper;
    unsigned score;
};

/* Better ones first, then newer ones. */
static int compare_found_papers(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return str_cmp(y->paper->published, x->paper->published);
}

static bool is_paper_wanted(const struct arxiv_search *s, const struct arxiv_paper *p)
{
    int64_t day = arxiv_day(p->published, false);
    bool has_category = !s->categories || s->categories->n == 0;

    for (size_t i = 0; !has_category && i < s->categories->n; i++) {
        struct str wanted = json_str(json_at(s->categories, i), STR(""));
        for (size_t k = 0; k < p->n_categories; k++) {
            struct str own = p->categories[k], archive = str_cut(&own, '.');
            has_category =
                has_category || str_eq(p->categories[k], wanted) || str_eq(archive, wanted);
        }
    }
    return has_category && (s->from == 0 || day >= s->from) && (s->to == 0 || day <= s->to);
}

static void search_corpus(const struct arxiv_search *s, const struct arxiv_papers *papers)
{
    struct arena *a = &s->c->arena;
    struct err e = ERR_INIT;
    const struct arxiv_query *q = arxiv_query_parse(a, s->query, &e);
    struct hit *hits = arena_zalloc(a, papers->n, sizeof *hits);
    const struct arxiv_paper **found = arena_zalloc(a, papers->n, sizeof *found);
    size_t n = 0;

    if (!q || !hits || !found) {
        local_textf(s->c, "Error: ArXiv API error - %s", q ? "out of memory" : err_text(&e));
        return;
    }
    /* All words, or where no paper has them all, some. */
    for (int is_loose = 0; is_loose < 2 && n == 0; is_loose++) {
        for (size_t i = 0; i < papers->n; i++) {
            const struct arxiv_paper *p = &papers->items[i];
            unsigned score = is_paper_wanted(s, p) ? arxiv_query_score(q, p, is_loose) : 0;
            if (score > 0)
                hits[n++] = (struct hit){p, score};
        }
    }
    qsort(hits, n, sizeof *hits, compare_found_papers);
    for (size_t i = 0; i < n; i++)
        found[i] = hits[i].paper;
    answer_papers(s, found, n);
}

/* ---- there ---- */

static struct str remote_query(const struct arxiv_search *s)
{
    auto_buf struct buf q = BUF_INIT(64 << 10), b = BUF_INIT(256 << 10);

    (void)buf_printf(&q, "(" STR_FMT ")", STR_ARG(s->query));
    for (size_t i = 0; s->categories && i < s->categories->n; i++) {
        struct str category = json_str(json_at(s->categories, i), STR(""));
        (void)buf_printf(&q, "%scat:" STR_FMT, i > 0 ? " OR " : " AND (", STR_ARG(category));
    }
    if (s->categories && s->categories->n > 0)
        (void)buf_add_char(&q, ')');
    if (s->from > 0 || s->to > 0)
        (void)buf_printf(&q, " AND submittedDate:[%" PRId64 "0000 TO %" PRId64 "2359]",
                         s->from > 0 ? s->from : 19910701, s->to > 0 ? s->to : 20991231);
    (void)buf_add_lit(&b, "search_query=");
    (void)enc_percent(&b, buf_str(&q));
    (void)buf_printf(&b, "&start=0&max_results=%zu&sortBy=relevance&sortOrder=descending", s->max);
    return buf_ok(&q) && buf_ok(&b) ? arena_str(&s->c->arena, buf_str(&b)) : STR_NULL;
}

/* False when nobody answered. */
static bool search_remote(const struct arxiv_search *s)
{
    struct str query = remote_query(s), why;
    struct arxiv_papers papers;
    enum arxiv_reach r = query.p ? arxiv_ask(s->c, query, &papers, &why) : ARXIV_UNREACHED;

    if (r == ARXIV_UNREACHED)
        return false;
    if (r == ARXIV_REFUSED) {
        local_textf(s->c, "Error: ArXiv API error - " STR_FMT, STR_ARG(why));
        return true;
    }
    const struct arxiv_paper **found = arena_zalloc(&s->c->arena, papers.n, sizeof *found);
    for (size_t i = 0; found && i < papers.n; i++)
        found[i] = &papers.items[i];
    answer_papers(s, found, found ? papers.n : 0);
    return true;
}

/* ---- the tool ---- */

static bool read_arxiv_day(struct local_call *c, const char *name, bool is_end, int64_t *ret)
{
    struct str text = local_str(c, name);

    *ret = text.len > 0 ? arxiv_day(text, is_end) : 0;
    if (text.len == 0 || *ret > 0)
        return true;
    local_textf(c, "Error: Invalid %s format - Unknown string format: " STR_FMT, name,
                STR_ARG(text));
    return false;
}

static bool check_categories(struct local_call *c, const struct json *categories)
{
    for (size_t i = 0; categories && i < categories->n; i++) {
        if (i < CATEGORIES_MAX && is_category(json_str(json_at(categories, i), STR(""))))
            continue;
        local_text(c, STR("Error: Invalid category provided. Please check arXiv category names."));
        return false;
    }
    return true;
}

void arxiv_search(struct local_call *c)
{
    int64_t max = local_int(c, "max_results", RESULTS_DEFAULT);
    struct arxiv_search s = {.c = c,
                             .query = str_trim(local_str(c, "query")),
                             .categories = json_get(c->args, "categories"),
                             .max = (size_t)(max < 1             ? 1
                                             : max > RESULTS_MAX ? RESULTS_MAX
                                                                 : max)};
    struct arxiv_corpus corpus;
    struct str why;

    if (!check_categories(c, s.categories) || !read_arxiv_day(c, "date_from", false, &s.from) ||
        !read_arxiv_day(c, "date_to", true, &s.to))
        return;
    if (s.query.len == 0) {
        local_text(c, STR("Error: No search criteria provided"));
        return;
    }
    if (arxiv_corpus_load(c, &corpus, &why) < 0) {
        local_textf(c, "Error: " STR_FMT, STR_ARG(why));
        return;
    }
    if (corpus.has_own || !search_remote(&s))
        search_corpus(&s, &corpus.papers);
}
