/* SPDX-License-Identifier: MIT */
/* arXiv: a query, a line end, a feed. What the feed tells is looked at with the query. */
#include <stdlib.h>

#include "fuzz.h"
#include "local/arxiv/paper.h"

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void check_paper(const struct arxiv_query *q, const struct arxiv_paper *p)
{
    check(p->id.len > 0 && p->n_authors <= ARXIV_LIST_MAX && p->n_categories <= ARXIV_LIST_MAX);
    check(str_chr(p->title, '\n') < 0);
    struct str base = arxiv_base_id(p->id);
    check(base.len <= p->id.len);
    int64_t first = arxiv_day(p->published, false), last = arxiv_day(p->published, true);
    check(first <= last && (first > 0) == (last > 0));
    if (q) {
        (void)arxiv_query_score(q, p, false);
        (void)arxiv_query_score(q, p, true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct str feed = str_n((const char *)data, size), text = str_cut(&feed, '\n');
    struct arxiv_papers papers;
    struct err e = ERR_INIT;

    arena_init(&a, 64 << 20);
    const struct arxiv_query *q = arxiv_query_parse(&a, text, &e);
    check(q || e.code < 0);
    (void)arxiv_is_id(text);
    if (!feed.p || arxiv_atom_parse(&a, feed, &papers, &e) < 0)
        return 0;
    check(papers.n <= ARXIV_PAPERS_MAX);
    for (size_t i = 0; i < papers.n; i++) {
        check_paper(q, &papers.items[i]);
        check(arxiv_find(&papers, papers.items[i].id) != NULL);
    }
    return 0;
}
