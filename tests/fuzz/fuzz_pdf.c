/* SPDX-License-Identifier: MIT */
/* What we read of PDF files and of poppler's programs. The bytes are a file, the output of pdfinfo
 * and that of pdftotext; and eight of them at a time are a page number. */
#include <stdlib.h>

#include "fuzz.h"
#include "local/pdf/parse.h"

enum { PAGES_MAX = 256 };

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static bool is_part(struct str part, struct str whole)
{
    return !part.p || part.len == 0 ||
           (part.p >= whole.p && part.p + part.len <= whole.p + whole.len);
}

static void check_info(struct arena *a, struct str text)
{
    struct pdf_info i;

    if (pdf_info_parse(a, text, &i) < 0)
        return;
    check(i.n_pages >= 0 && i.n_sizes <= PDF_PAGES_MAX);
    check(is_part(i.title, text) && is_part(i.author, text) && is_part(i.created, text));
    for (size_t k = 0; k < i.n_sizes; k++)
        check(i.sizes[k].width < 1e10 && i.sizes[k].height > -1e10);
}

/* All that is in the text is in a page, but for what separates them. */
static void check_pages(struct str text)
{
    struct str rest = text, page;
    size_t n = 0, len = 0;

    while (pdf_next_page(&rest, &page)) {
        check(is_part(page, text) && str_chr(page, '\f') < 0);
        len += page.len;
        n++;
    }
    check(n <= text.len && len <= text.len);
}

/* What qpdf would make of the ranges are the pages again. */
static void check_ranges(const int64_t *pages, size_t n)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    size_t k = 0;

    check(pdf_ranges(&b, pages, n) == 0);
    struct str rest = n > 0 ? buf_str(&b) : STR_NULL;
    while (rest.p) {
        struct str range = str_cut(&rest, ','), last = range;
        struct str first = str_cut(&last, '-');
        int64_t from, to;
        check(str_to_i64(first, &from) == 0);
        check(str_to_i64(last.p ? last : first, &to) == 0);
        for (; from <= to; from++)
            check(k < n && pages[k++] == from);
    }
    check(k == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct str text = str_n((const char *)data, size);
    int64_t pages[PAGES_MAX], first = 0, last = 0;
    size_t n = 0;

    arena_init(&a, 4 << 20);
    (void)pdf_check(text, text);
    check_info(&a, text);
    check_pages(text);
    for (; n < PAGES_MAX && 8 * n + 8 <= size; n++) {
        memcpy(&pages[n], data + 8 * n, 8);
        pages[n] &= 0xffff; /* as they are when they have been compared with a file */
    }
    check_ranges(pages, n);
    if (size >= 16) {
        memcpy(&first, data, 8);
        memcpy(&last, data + 8, 8);
    }
    pdf_clamp(&first, &last, 7);
    check(first >= 1 && first <= last && last <= 7);
    return 0;
}
