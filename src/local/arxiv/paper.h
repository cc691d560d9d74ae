/* SPDX-License-Identifier: MIT */
/* Papers of arXiv: what is known of one, the feed in which its API returns them, and queries in the
 * language of the API. Pure functions over text that anybody may have written. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum {
    ARXIV_PAPERS_MAX = 20000,
    ARXIV_LIST_MAX = 5000, /* authors of one, or categories */
    ARXIV_QUERY_MAX = 4096 /* bytes */
};

struct arxiv_paper {
    struct str id; /* "1706.03762v7" */
    struct str title, summary;
    struct str published; /* "2017-06-12T17:57:34Z"; the time may be missing */
    struct str *authors, *categories;
    size_t n_authors, n_categories;
};

struct arxiv_papers {
    struct arxiv_paper *items;
    size_t n, cap;
};

/* One more behind the others, empty. NULL: no room. */
struct arxiv_paper *arxiv_add(struct arena *a, struct arxiv_papers *papers);

/* ---- ids (query.c) ---- */

/* "1706.03762", "hep-th/9711200", either perhaps with a version. */
bool arxiv_is_id(struct str id);
/* Without the version. */
struct str arxiv_base_id(struct str id);
const struct arxiv_paper *arxiv_find(const struct arxiv_papers *papers, struct str id);

/* ---- dates (query.c) ---- */

/* The digits of "2017-06-12", "2017-06", "2017", with any or no separators, as YYYYMMDD; what is
 * missing is the first, or with IS_END the last of its kind. 0: malformed. */
int64_t arxiv_day(struct str text, bool is_end);

/* ---- queries (query.c) ---- */

struct arxiv_query;

/* Words and "phrases", with a field in front or not (ti au abs cat id all submittedDate), joined
 * by AND, OR, ANDNOT and parentheses. NULL with E. */
struct arxiv_query *arxiv_query_parse(struct arena *a, struct str text, struct err *e);
/* How well P fits, 0: not at all. Words without an operator between them have to be there all,
 * or, when IS_LOOSE, one of them. */
unsigned arxiv_query_score(const struct arxiv_query *q, const struct arxiv_paper *p, bool is_loose);

/* ---- seed.c ---- */

/* Ends with one that has no id. Authors are separated by "; ", categories by spaces. */
struct arxiv_seed {
    const char *id, *day, *categories, *title, *authors, *summary;
};
extern const struct arxiv_seed arxiv_seeds[];

/* ---- atom.c ---- */

/* Reads an Atom feed of the API. 0, or E filled: -EINVAL no such feed, -EPROTO the API reports a
 * fault, -ENOMEM, -E2BIG. */
int arxiv_atom_parse(struct arena *a, struct str text, struct arxiv_papers *ret, struct err *e);
