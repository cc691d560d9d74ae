/* SPDX-License-Identifier: MIT */
/* pdf-tools of Toolathlon: reading, merging and extracting, returned as text; what goes wrong is
 * reported as text as well, as the product does. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "local/pdf/pdf.h"

enum { MANY_PAGES = 50, MERGE_MAX = 500, RANGES_MAX = 100 << 10 };

void pdf_say_fault(const struct pdf *p, const char *doing)
{
    if (p->fault == PDF_OUTSIDE)
        local_textf(p->c, "Error: Path '" STR_FMT "' is outside the allowed workspace '%s'",
                    STR_ARG(p->given), p->c->local->root);
    else if (p->fault == PDF_MISSING)
        local_textf(p->c, "Error: File not found '" STR_FMT "'", STR_ARG(p->given));
    else
        local_textf(p->c, "%s: " STR_FMT, doing, STR_ARG(p->why));
}

/* ---- reading ---- */

static bool is_blank_page(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != ' ' && (s.p[i] < '\t' || s.p[i] > '\r'))
            return false;
    }
    return true;
}

static void write_pages(struct buf *b, struct str text, int64_t first)
{
    struct str page;

    for (int64_t i = first; pdf_next_page(&text, &page); i++) {
        if (is_blank_page(page))
            continue;
        (void)buf_printf(b, "%s=== Page %" PRId64 " ===\n", b->len > 0 ? "\n\n" : "", i);
        (void)buf_add_str(b, page);
    }
}

void pdf_read_pages(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    int64_t first = local_int(c, "start_page", 1), last = local_int(c, "end_page", 1);
    const char *warning = last > first && last - first > MANY_PAGES
                              ? "Warning: Reading more than 50 pages at once may cause performance "
                                "issues or errors.\n"
                              : "";
    struct str text = STR("");
    struct pdf p;
    bool is_open = pdf_open(&p, c, local_str(c, "pdf_file_path"), false);

    if (is_open)
        pdf_clamp(&first, &last, p.info.n_pages);
    if (!is_open || (p.info.n_pages > 0 && !pdf_text(&p, first, last, &text))) {
        pdf_say_fault(&p, "Error processing PDF");
        return;
    }
    write_pages(&b, text, first);
    if (b.len == 0)
        local_textf(c,
                    "%sPDF total pages: %" PRId64 "\nSpecified page range (%" PRId64 "-%" PRId64
                    ") has no extractable text content.",
                    warning, p.info.n_pages, first, last);
    else
        local_textf(c,
                    "%sPDF total pages: %" PRId64 "\nExtracted page range: %" PRId64 "-%" PRId64
                    "\n\n" STR_FMT,
                    warning, p.info.n_pages, first, last, STR_ARG(buf_str(&b)));
}

void pdf_get_info(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    struct pdf p;

    if (!pdf_open(&p, c, local_str(c, "pdf_file_path"), false)) {
        pdf_say_fault(&p, "Error getting PDF information");
        return;
    }
    const struct {
        const char *name;
        struct str value;
    } lines[] = {
        {"Title", p.info.title},
        {"Author", p.info.author},
        {"Creator", p.info.creator},
        {"Creation date", p.info.created},
    };
    bool has_any = p.info.subject.p || p.info.producer.p;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        has_any = has_any || lines[i].value.p;
    (void)buf_printf(&b, "PDF file information:\nTotal pages: %" PRId64 "\n", p.info.n_pages);
    for (size_t i = 0; has_any && i < ARRAY_LEN(lines); i++)
        (void)buf_printf(&b, "%s: " STR_FMT "\n", lines[i].name,
                         STR_ARG(lines[i].value.p ? lines[i].value : STR("Unknown")));
    local_text(c, buf_str(&b));
}

/* ---- writing ---- */

/* Opens the files of ARRAY; NULL when one of them cannot be read, which is reported. */
static struct pdf_part *open_parts(struct local_call *c, const struct json *array, int64_t *n_pages)
{
    struct pdf_part *parts = arena_zalloc(&c->arena, array->n, sizeof *parts);
    struct pdf p;

    *n_pages = 0;
    for (size_t i = 0; parts && i < array->n; i++) {
        struct str given = json_str(json_at(array, i), STR(""));
        if (!pdf_open(&p, c, given, false)) {
            const char *doing =
                arena_printf(&c->arena, "Error reading PDF '" STR_FMT "'", STR_ARG(given)).p;
            if (p.fault == PDF_MISSING)
                local_textf(c, "%s: [Errno 2] No such file or directory: '" STR_FMT "'", doing,
                            STR_ARG(given));
            else
                pdf_say_fault(&p, doing);
            return NULL;
        }
        parts[i].path = p.path;
        *n_pages += p.info.n_pages;
    }
    if (!parts)
        local_fail(c, "Error merging PDFs: out of memory");
    return parts;
}

void pdf_merge(struct local_call *c)
{
    const struct json *paths = json_get(c->args, "pdf_paths");
    struct str output = local_str(c, "output_path");
    int64_t n_pages;
    struct pdf out;

    if (!paths || paths->n == 0 || paths->n > MERGE_MAX) {
        local_textf(c, "Error merging PDFs: pdf_paths must name 1 to %d files", MERGE_MAX);
        return;
    }
    if (!pdf_target(&out, c, output)) {
        pdf_say_fault(&out, "Error merging PDFs");
        return;
    }
    const struct pdf_part *parts = open_parts(c, paths, &n_pages);
    if (!parts)
        return;
    if (!pdf_build(&out, parts, paths->n))
        pdf_say_fault(&out, "Error merging PDFs");
    else
        local_textf(c, "Successfully merged %u PDFs into '" STR_FMT "'\nTotal pages: %" PRId64,
                    paths->n, STR_ARG(output), n_pages);
}

/* "[1, 3]" */
static void write_page_list(struct buf *b, const int64_t *pages, size_t n)
{
    (void)buf_add_char(b, '[');
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(b, "%s%" PRId64, i > 0 ? ", " : "", pages[i]);
    (void)buf_add_char(b, ']');
}

void pdf_extract(struct local_call *c)
{
    auto_buf struct buf ranges = BUF_INIT(RANGES_MAX), list = BUF_INIT(LOCAL_ANSWER_MAX);
    struct str source = local_str(c, "source_path"), output = local_str(c, "output_path");
    struct pdf in, out = {.c = c};
    size_t n;

    if (!pdf_open(&in, c, source, false) || !pdf_target(&out, c, output)) {
        pdf_say_fault(in.fault != PDF_FINE ? &in : &out, "Error extracting pages");
        return;
    }
    const int64_t *pages = pdf_page_numbers(c, in.info.n_pages, &n);
    if (!pages || n == 0) {
        local_textf(c, "Error: No valid pages to extract from PDF (total pages: %" PRId64 ")",
                    in.info.n_pages);
        return;
    }
    (void)pdf_ranges(&ranges, pages, n);
    const struct pdf_part part = {in.path, buf_cstr(&ranges)};
    if (!part.pages || !pdf_build(&out, &part, 1)) {
        if (!part.pages) {
            out.fault = PDF_UNREADABLE;
            out.why = STR("too many pages");
        }
        pdf_say_fault(&out, "Error extracting pages");
        return;
    }
    write_page_list(&list, pages, n);
    local_textf(c,
                "Successfully extracted %zu pages from '" STR_FMT "' to '" STR_FMT
                "'\nExtracted pages: " STR_FMT "\nSource PDF total pages: %" PRId64,
                n, STR_ARG(source), STR_ARG(output), STR_ARG(buf_str(&list)), in.info.n_pages);
}
