/* SPDX-License-Identifier: MIT */
/* Between the files of the server "pdf-tools". */
#pragma once

#include "local/local.h"
#include "local/pdf/parse.h"

/* Why a file cannot be used: each set of tools has its own words for them. */
enum pdf_fault { PDF_FINE, PDF_OUTSIDE, PDF_MISSING, PDF_UNREADABLE };

struct pdf {
    struct local_call *c;
    struct str given; /* as the client named it: a path or an address */
    const char *path;
    struct pdf_info info;

    enum pdf_fault fault;
    struct str why; /* for PDF_UNREADABLE */
};

/* ---- file.c ---- */

/* Finds the file and reads what it is, with the sizes of its pages when asked for. An address is
 * downloaded once, into the folder .pdf_tools_tempfiles of the workspace. False with the fault. */
bool pdf_open(struct pdf *p, struct local_call *c, struct str given, bool has_sizes);
/* The text of the pages FIRST to LAST, for pdf_next_page(). */
bool pdf_text(struct pdf *p, int64_t first, int64_t last, struct str *ret);
/* Where a new file named GIVEN is to be; its folder has to be there. */
bool pdf_target(struct pdf *p, struct local_call *c, struct str given);

struct pdf_part {
    const char *path, *pages; /* as pdf_ranges() writes them; NULL: all */
};
/* Makes the file OUT of those pages, all or nothing. */
bool pdf_build(struct pdf *out, const struct pdf_part *parts, size_t n);
/* The argument page_numbers: those from 1 to N_PAGES, or all when it is 0; NULL: out of memory. */
int64_t *pdf_page_numbers(struct local_call *c, int64_t n_pages, size_t *n);

/* ---- plain.c: the tools without a benchmark, which answer JSON ---- */

void pdf_plain_read(struct local_call *c);
void pdf_plain_info(struct local_call *c);
void pdf_plain_extract(struct local_call *c);

/* ---- pages.c, search.c: the tools of Toolathlon, which answer text ---- */

void pdf_read_pages(struct local_call *c);
void pdf_get_info(struct local_call *c);
void pdf_merge(struct local_call *c);
void pdf_extract(struct local_call *c);
/* Answers with the fault of P, DOING in front of one that has no words of its own. */
void pdf_say_fault(const struct pdf *p, const char *doing);

void pdf_search(struct local_call *c);
void pdf_search_next(struct local_call *c);
void pdf_search_prev(struct local_call *c);
void pdf_search_go(struct local_call *c);
void pdf_search_info(struct local_call *c);
