/* SPDX-License-Identifier: MIT */
/* pdf-tools without a benchmark: three tools that answer a JSON object, {"error": …} included. */
#include <sys/stat.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/pdf/pdf.h"

/* ---- answers ---- */

static void set_str(struct local_call *c, struct json *v, const char *key, struct str s)
{
    (void)json_set(&c->arena, v, key, json_new_str(&c->arena, s));
}

static void set_pdf_int(struct local_call *c, struct json *v, const char *key, int64_t i)
{
    (void)json_set(&c->arena, v, key, json_new_int(&c->arena, i));
}

static void answer_pdf_json(struct local_call *c, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);

    if (!v || json_write(&b, v, JSON_PRETTY) < 0)
        local_fail(c, "Error: out of memory");
    else
        local_text(c, buf_str(&b));
}

static void answer_pdf_error(struct local_call *c, struct str text)
{
    struct json *v = json_new_object(&c->arena);

    if (v)
        set_str(c, v, "error", text);
    answer_pdf_json(c, v);
}

/* MISSING and BROKEN are this tool's words in front of the two kinds of trouble. */
static void answer_fault(const struct pdf *p, const char *missing, const char *broken)
{
    struct arena *a = &p->c->arena;
    struct str text;

    if (p->fault == PDF_MISSING)
        text = arena_printf(a, "%s: " STR_FMT, missing, STR_ARG(p->given));
    else if (p->fault == PDF_OUTSIDE)
        text = arena_printf(a, "%s: Access denied: " STR_FMT " is outside workspace directory",
                            broken, STR_ARG(p->given));
    else
        text = arena_printf(a, "%s: " STR_FMT, broken, STR_ARG(p->why));
    answer_pdf_error(p->c, text);
}

/* What reading and telling about a file have in common. */
static struct json *describe_pdf(const struct pdf *p)
{
    struct local_call *c = p->c;
    const struct pdf_info *i = &p->info;
    const struct {
        const char *key;
        struct str value;
    } fields[] = {
        {"title", i->title},     {"author", i->author},     {"subject", i->subject},
        {"creator", i->creator}, {"producer", i->producer}, {"creation_date", i->created},
    };
    struct json *v = json_new_object(&c->arena), *metadata = json_new_object(&c->arena);
    bool has_any = false;

    if (!v || !metadata)
        return NULL;
    for (size_t k = 0; k < ARRAY_LEN(fields); k++)
        has_any = has_any || fields[k].value.p;
    for (size_t k = 0; has_any && k < ARRAY_LEN(fields); k++)
        set_str(c, metadata, fields[k].key, fields[k].value.p ? fields[k].value : STR(""));
    set_str(c, v, "file_path", p->given);
    set_pdf_int(c, v, "num_pages", i->n_pages);
    (void)json_set(&c->arena, v, "metadata", metadata);
    return v;
}

/* ---- tools ---- */

void pdf_plain_read(struct local_call *c)
{
    struct pdf p;
    struct str text, page;

    if (!pdf_open(&p, c, local_str(c, "file_path"), false) ||
        !pdf_text(&p, 1, p.info.n_pages, &text)) {
        answer_fault(&p, "File not found",
                     p.fault == PDF_OUTSIDE ? "Unexpected error" : "Failed to read PDF");
        return;
    }
    struct json *v = describe_pdf(&p), *pages = json_new_array(&c->arena);
    for (int64_t i = 1; v && pages && pdf_next_page(&text, &page); i++) {
        struct json *item = json_new_object(&c->arena);
        if (!item)
            break;
        set_pdf_int(c, item, "page_number", i);
        set_str(c, item, "text", page);
        (void)json_push(&c->arena, pages, item);
    }
    if (v && pages)
        (void)json_set(&c->arena, v, "pages", pages);
    answer_pdf_json(c, v);
}

void pdf_plain_info(struct local_call *c)
{
    struct pdf p;

    if (!pdf_open(&p, c, local_str(c, "file_path"), true)) {
        answer_fault(&p, "File not found", "Failed to get PDF info");
        return;
    }
    struct json *v = describe_pdf(&p), *sizes = json_new_array(&c->arena);
    for (size_t i = 0; v && sizes && i < p.info.n_sizes; i++) {
        struct json *item = json_new_object(&c->arena);
        if (!item)
            break;
        set_pdf_int(c, item, "page", (int64_t)i + 1);
        (void)json_set(&c->arena, item, "width", json_new_real(&c->arena, p.info.sizes[i].width));
        (void)json_set(&c->arena, item, "height", json_new_real(&c->arena, p.info.sizes[i].height));
        (void)json_push(&c->arena, sizes, item);
    }
    if (v && sizes) {
        (void)json_set(&c->arena, v, "page_sizes", sizes);
        (void)json_set(&c->arena, v, "is_encrypted", json_new_bool(&c->arena, p.info.is_encrypted));
    }
    answer_pdf_json(c, v);
}

/* The folders above GIVEN, as far as they may be made. */
static void make_pdf_folders(struct local_call *c, struct str given)
{
    struct str why;

    for (size_t i = 1; i < given.len; i++) {
        if (given.p[i] != '/')
            continue;
        const char *folder = path_check(c, str_slice(given, 0, i), &why);
        if (folder)
            (void)mkdir(folder, 0777);
    }
}

/* The first of PAGES that the file does not have, or 0. */
static int64_t find_wrong(const int64_t *pages, size_t n, int64_t n_pages)
{
    for (size_t i = 0; i < n; i++) {
        if (pages[i] < 1 || pages[i] > n_pages)
            return pages[i] ? pages[i] : -1;
    }
    return 0;
}

static void answer_made(struct local_call *c, struct str file, size_t n)
{
    struct json *v = json_new_object(&c->arena);

    if (v) {
        (void)json_set(&c->arena, v, "success", json_new_bool(&c->arena, true));
        set_str(c, v, "output_file", file);
        set_pdf_int(c, v, "pages_extracted", (int64_t)n);
        set_str(c, v, "message",
                arena_printf(&c->arena, "Successfully extracted %zu pages to " STR_FMT, n,
                             STR_ARG(file)));
    }
    answer_pdf_json(c, v);
}

void pdf_plain_extract(struct local_call *c)
{
    auto_buf struct buf ranges = BUF_INIT(100 << 10);
    struct str input = local_str(c, "input_file"), output = local_str(c, "output_file");
    struct pdf in, out;
    size_t n;
    const int64_t *pages = pdf_page_numbers(c, 0, &n);

    if (!pages || n == 0 || input.len == 0 || output.len == 0) {
        local_text(c, STR("Error: input_file, output_file, and page_numbers are required"));
        return;
    }
    if (!pdf_open(&in, c, input, false)) {
        answer_fault(&in, "Input file not found", "Failed to extract pages");
        return;
    }
    int64_t wrong = find_wrong(pages, n, in.info.n_pages);
    if (wrong != 0) {
        answer_pdf_error(c, arena_printf(&c->arena, "Invalid page number %lld. PDF has %lld pages.",
                                         (long long)wrong, (long long)in.info.n_pages));
        return;
    }
    make_pdf_folders(c, output);
    (void)pdf_ranges(&ranges, pages, n);
    const struct pdf_part part = {in.path, buf_cstr(&ranges)};
    if (!part.pages || !pdf_target(&out, c, output) || !pdf_build(&out, &part, 1)) {
        if (part.pages)
            answer_fault(&out, "No such folder", "Failed to extract pages");
        else
            local_fail(c, "Error: too many pages");
        return;
    }
    answer_made(c, output, n);
}
