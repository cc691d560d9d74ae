/* SPDX-License-Identifier: MIT */
/* What we read ourselves of PDF files and of the programs that read them: pure functions over
 * text that anybody may have written. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

enum {
    PDF_PAGES_MAX = 20000, /* that are listed one by one */
    PDF_EDGE_BYTES = 1024  /* at both ends of a file, where its marks are */
};

/* What the first and last bytes of a file lack to be a PDF; NULL: nothing. */
const char *pdf_check(struct str head, struct str tail);

struct pdf_size {
    double width, height;
};

struct pdf_info {
    /* Parts of the text; .p NULL: not said. */
    struct str title, author, subject, creator, producer, created;
    bool is_encrypted;
    int64_t n_pages;
    struct pdf_size *sizes; /* of the first N_SIZES pages, when they were asked for */
    size_t n_sizes;
};

/* Reads what pdfinfo prints. 0, -EINVAL without a number of pages, -ENOMEM. */
int pdf_info_parse(struct arena *a, struct str text, struct pdf_info *ret);

/* Cuts the next page off what pdftotext prints, without the line ends behind it. False: no more. */
bool pdf_next_page(struct str *rest, struct str *page);

/* FIRST and LAST moved into 1 to N_PAGES, in this order. */
void pdf_clamp(int64_t *first, int64_t *last, int64_t n_pages);

/* Appends page numbers as qpdf takes them: "3,1,5-7". As buf_add(). */
int pdf_ranges(struct buf *out, const int64_t *pages, size_t n);
