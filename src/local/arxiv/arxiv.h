/* SPDX-License-Identifier: MIT */
/* Between the files of the server "arxiv": papers of arXiv.org, found and kept as text.
 *
 * Where the cell may reach arXiv, its API answers. Elsewhere there is a corpus: papers that every
 * workspace knows (seed.c), and those of the workspace itself, the files arxiv_corpus.json and
 * arxiv_corpus/NAME.json, in the form in which search_papers gives them:
 *
 *     {"papers": [{"id": "1706.03762v7", "title": …, "authors": […], "abstract": …,
 *      "categories": ["cs.CL"], "published": "2017-06-12T17:57:34Z"}]}
 *
 * A workspace that has some of its own is never looked up outside, so that its answers stay the
 * same. The text of a paper may be beside them: arxiv_corpus/ID.pdf, .md or .txt. */
#pragma once

#include "local/arxiv/paper.h"
#include "local/local.h"

/* ---- corpus.c ---- */

struct arxiv_corpus {
    struct arxiv_papers papers; /* those of the workspace first */
    bool has_own;
};
/* 0, or -errno with the reason in *WHY: a file cannot be read. */
int arxiv_corpus_load(struct local_call *c, struct arxiv_corpus *ret, struct str *why);
/* The text that the workspace has of a paper: a file, or NULL. */
const char *arxiv_corpus_file(struct local_call *c, struct str id);

/* ---- remote.c ---- */

enum arxiv_reach {
    ARXIV_ANSWERED,
    ARXIV_REFUSED, /* with the reason */
    ARXIV_UNREACHED
};
/* What the API says to QUERY ("search_query=…", escaped). */
enum arxiv_reach arxiv_ask(struct local_call *c, struct str query, struct arxiv_papers *ret,
                           struct str *why);
/* Downloads the PDF of a paper. */
enum arxiv_reach arxiv_fetch(struct local_call *c, struct str id, const char *to, struct str *why);

/* ---- search.c, store.c: the tools ---- */

void arxiv_search(struct local_call *c);
void arxiv_download(struct local_call *c);
void arxiv_list(struct local_call *c);
void arxiv_read(struct local_call *c);

/* An array of strings. */
struct json *arxiv_strings(struct arena *a, const struct str *items, size_t n);
