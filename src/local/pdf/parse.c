/* SPDX-License-Identifier: MIT */
#include "local/pdf/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"

const char *pdf_check(struct str head, struct str tail)
{
    if (head.len == 0)
        return "Cannot read an empty file";
    if (str_find(str_slice(head, 0, PDF_EDGE_BYTES), STR("%PDF-")) < 0)
        return "invalid pdf header";
    tail = str_skip(tail, tail.len > PDF_EDGE_BYTES ? tail.len - PDF_EDGE_BYTES : 0);
    return str_find(tail, STR("%%EOF")) < 0 ? "EOF marker not found" : NULL;
}

/* ---- pdfinfo ---- */

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/* The number in front of TEXT, which is left behind it. False: there is none. */
static bool read_pdf_number(struct str *text, double *ret)
{
    char digits[32];
    struct str s = str_trim(*text);
    size_t n = 0;

    while (n < s.len && n + 1 < sizeof digits && is_of_number(s.p[n]))
        n++;
    memcpy(digits, n > 0 ? s.p : "", n);
    digits[n] = '\0';
    char *end = digits;
    *ret = strtod(digits, &end);
    *text = str_skip(s, n);
    return n > 0 && *end == '\0' && *ret > -1e9 && *ret < 1e9;
}

/* "Page    3 MediaBox:      0.00     0.00   612.00   792.00", behind "Page". */
static int read_box(struct arena *a, struct pdf_info *info, size_t *cap, struct str line)
{
    double page, box[4];

    if (!read_pdf_number(&line, &page) || !str_starts(str_trim(line), STR("MediaBox:")))
        return 0;
    (void)str_cut(&line, ':');
    for (size_t i = 0; i < ARRAY_LEN(box); i++) {
        if (!read_pdf_number(&line, &box[i]))
            return 0;
    }
    if (page != (double)(info->n_sizes + 1) || info->n_sizes == PDF_PAGES_MAX)
        return 0;
    info->sizes = arena_grow(a, info->sizes, info->n_sizes, cap, sizeof *info->sizes);
    if (!info->sizes)
        return -ENOMEM;
    info->sizes[info->n_sizes++] = (struct pdf_size){box[2] - box[0], box[3] - box[1]};
    return 0;
}

static void read_pdf_field(struct pdf_info *info, struct str key, struct str value)
{
    const struct {
        const char *key;
        struct str *to;
    } fields[] = {
        {"Title", &info->title},       {"Author", &info->author},
        {"Subject", &info->subject},   {"Creator", &info->creator},
        {"Producer", &info->producer}, {"CreationDate", &info->created},
    };
    uint64_t n;

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (str_is(key, fields[i].key) && !fields[i].to->p)
            *fields[i].to = value;
    }
    /* The last ones count: a title may hold whole lines, but it comes before them. */
    if (str_is(key, "Pages") && str_to_u64(value, &n) == 0 && n <= INT32_MAX)
        info->n_pages = (int64_t)n;
    if (str_is(key, "Encrypted"))
        info->is_encrypted = str_starts(value, STR("yes"));
}

int pdf_info_parse(struct arena *a, struct str text, struct pdf_info *ret)
{
    size_t cap = 0;

    *ret = (struct pdf_info){.n_pages = -1};
    while (text.p) {
        struct str line = str_cut(&text, '\n'), rest = line;
        struct str key = str_cut(&rest, ':');
        if (str_starts(line, STR("Page ")) && read_box(a, ret, &cap, str_skip(line, 5)) < 0)
            return -ENOMEM;
        if (rest.p)
            read_pdf_field(ret, key, str_trim(rest));
    }
    return ret->n_pages >= 0 ? 0 : -EINVAL;
}

/* ---- pages ---- */

bool pdf_next_page(struct str *rest, struct str *page)
{
    if (!rest->p || rest->len == 0)
        return false;
    *page = str_cut(rest, '\f');
    while (page->len > 0 && (page->p[page->len - 1] == '\n' || page->p[page->len - 1] == '\r'))
        page->len--;
    return true;
}

static int64_t into(int64_t page, int64_t n_pages)
{
    return page > n_pages ? n_pages : page < 1 ? 1 : page;
}

void pdf_clamp(int64_t *first, int64_t *last, int64_t n_pages)
{
    int64_t a = into(*first, n_pages), b = into(*last, n_pages);

    *first = a < b ? a : b;
    *last = a < b ? b : a;
}

int pdf_ranges(struct buf *out, const int64_t *pages, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && pages[end] == pages[end - 1] + 1;)
            end++;
        (void)buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", pages[i]);
        if (end - i > 1)
            (void)buf_printf(out, "-%" PRId64, pages[end - 1]);
    }
    return out->error;
}
