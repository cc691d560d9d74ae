/* SPDX-License-Identifier: MIT */
/* PDF files: poppler's programs read them, qpdf writes them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/helper.h"
#include "local/kit/path.h"
#include "local/pdf/pdf.h"
#include "sys/io.h"

#define TEMP_FOLDER ".pdf_tools_tempfiles"

static bool fail_pdf(struct pdf *p, enum pdf_fault fault, struct str why)
{
    p->fault = fault;
    p->why = why;
    return false;
}

/* ---- finding ---- */

static bool find_pdf_path(struct pdf *p)
{
    struct str why;

    p->path = path_check(p->c, p->given, &why);
    if (p->path)
        return true;
    return fail_pdf(p, str_starts(why, STR("Access denied")) ? PDF_OUTSIDE : PDF_MISSING, why);
}

static bool download_pdf(struct pdf *p)
{
    const char *folder = arena_printf(&p->c->arena, "%s/" TEMP_FOLDER, p->c->local->root).p;
    const char *file =
        arena_printf(&p->c->arena, "%s/%016" PRIx64 ".pdf", folder, str_hash(p->given, 0)).p;
    struct str why;

    if (!folder || !file)
        return fail_pdf(p, PDF_UNREADABLE, STR("out of memory"));
    p->path = file;
    if (access(file, R_OK) == 0)
        return true;
    if (io_mkdirs(folder, 0777, NULL) < 0)
        return fail_pdf(p, PDF_UNREADABLE, STR("the folder " TEMP_FOLDER " cannot be made"));
    if (helper_fetch(p->c, p->given, file, &why))
        return true;
    return fail_pdf(p, PDF_UNREADABLE,
                    arena_printf(&p->c->arena, "the download of " STR_FMT " failed: " STR_FMT,
                                 STR_ARG(p->given), STR_ARG(why)));
}

/* ---- reading ---- */

/* What is no PDF is not given to other programs. */
static bool check_edges(struct pdf *p)
{
    char head[PDF_EDGE_BYTES], tail[PDF_EDGE_BYTES];
    int fd auto_close = io_open(p->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    struct stat st;

    if (fd == -ENOENT)
        return fail_pdf(p, PDF_MISSING, STR_NULL);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return fail_pdf(p, PDF_UNREADABLE,
                        path_error(p->c, fd < 0 ? fd : -EISDIR, "read", p->path, NULL));
    ssize_t n = pread(fd, head, sizeof head, 0);
    off_t from = st.st_size > (off_t)sizeof tail ? st.st_size - (off_t)sizeof tail : 0;
    ssize_t m = pread(fd, tail, sizeof tail, from);
    const char *lacks =
        pdf_check(str_n(head, n > 0 ? (size_t)n : 0), str_n(tail, m > 0 ? (size_t)m : 0));
    return lacks ? fail_pdf(p, PDF_UNREADABLE, str_of(lacks)) : true;
}

static bool read_pdf_info(struct pdf *p, bool has_sizes)
{
    const char *const all[] = {"pdfinfo", "-enc", "UTF-8", "-rawdates", "-box", "-f",
                               "1",       "-l",   "-1",    p->path,     NULL};
    const char *const brief[] = {"pdfinfo", "-enc", "UTF-8", "-rawdates", p->path, NULL};
    const struct helper h = {.argv = has_sizes ? all : brief, .package = "poppler-utils"};
    struct str text, why;

    if (!helper_run(p->c, &h, &text, &why))
        return fail_pdf(p, PDF_UNREADABLE, why);
    int r = pdf_info_parse(&p->c->arena, text, &p->info);
    return r == 0 ||
           fail_pdf(p, PDF_UNREADABLE,
                    r == -ENOMEM ? STR("out of memory") : STR("it has no number of pages"));
}

bool pdf_open(struct pdf *p, struct local_call *c, struct str given, bool has_sizes)
{
    *p = (struct pdf){.c = c, .given = given};
    return (helper_is_url(given) ? download_pdf(p) : find_pdf_path(p)) && check_edges(p) &&
           read_pdf_info(p, has_sizes);
}

bool pdf_text(struct pdf *p, int64_t first, int64_t last, struct str *ret)
{
    char from[24], to[24];
    struct str why;

    (void)snprintf(from, sizeof from, "%" PRId64, first);
    (void)snprintf(to, sizeof to, "%" PRId64, last);
    /* In the order in which the file has it, as other readers of text give it. */
    const char *const argv[] = {"pdftotext", "-q", "-raw", "-enc",  "UTF-8", "-f",
                                from,        "-l", to,     p->path, "-",     NULL};
    const struct helper h = {.argv = argv, .package = "poppler-utils"};
    return helper_run(p->c, &h, ret, &why) || fail_pdf(p, PDF_UNREADABLE, why);
}

/* ---- writing ---- */

bool pdf_target(struct pdf *p, struct local_call *c, struct str given)
{
    *p = (struct pdf){.c = c, .given = given};
    return find_pdf_path(p);
}

bool pdf_build(struct pdf *out, const struct pdf_part *parts, size_t n)
{
    struct local_call *c = out->c;
    const char **argv = arena_zalloc(&c->arena, 2 * n + 8, sizeof *argv);
    const char *temp = arena_printf(&c->arena, "%s.%p.tmp", out->path, (void *)c).p;
    struct str said, why;
    size_t k = 0;

    if (!argv || !temp)
        return fail_pdf(out, PDF_UNREADABLE, STR("out of memory"));
    argv[k++] = "qpdf";
    argv[k++] = "--empty";
    argv[k++] = "--pages";
    for (size_t i = 0; i < n; i++) {
        argv[k++] = parts[i].path;
        argv[k++] = parts[i].pages ? parts[i].pages : "1-z";
    }
    argv[k++] = "--";
    argv[k++] = temp;
    const struct helper h = {.argv = argv, .package = "qpdf", .warns_with = 3};
    bool is_done = helper_run(c, &h, &said, &why);
    if (is_done && rename(temp, out->path) < 0) {
        why = path_error(c, -errno, "rename", out->path, NULL);
        is_done = false;
    }
    if (is_done)
        return true;
    (void)unlink(temp);
    return fail_pdf(out, PDF_UNREADABLE, why);
}

int64_t *pdf_page_numbers(struct local_call *c, int64_t n_pages, size_t *n)
{
    const struct json *given = json_get(c->args, "page_numbers");
    size_t n_given = json_is(given, JSON_ARRAY) ? given->n : 0;
    int64_t *pages = arena_zalloc(&c->arena, n_given + 1, sizeof *pages);

    *n = 0;
    for (size_t i = 0; pages && i < n_given && *n < PDF_PAGES_MAX; i++) {
        int64_t page = json_int(json_at(given, i), 0);
        if (n_pages == 0 || (page >= 1 && page <= n_pages))
            pages[(*n)++] = page;
    }
    return pages;
}
