/* SPDX-License-Identifier: MIT */
/* Reading ZIP and tar archives beside libzip and libarchive: a workbook, and a tree of small files.
 */
#include "archives.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/tar_read.h"
#include "base/tar_write.h"
#include "bench.h"
#include "office/zip.h"

enum { ARCHIVE_MAX = 64 << 20, ENTRIES = 2000, FILES = 20000 };

/* ---- samples ---- */

static void make_zip(struct buf *out)
{
    auto_arena struct arena a;
    struct err e = ERR_INIT;
    unsigned seed = 1;
    struct zip z;

    arena_init(&a, ARCHIVE_MAX);
    zip_init(&z, &a);
    for (int i = 0; i < ENTRIES; i++) {
        auto_buf struct buf b = BUF_INIT(1 << 20);
        for (int k = 0; k < 40; k++)
            (void)buf_printf(&b, "<c r=\"A%d\"><v>%u</v></c>", k, bench_random(&seed) % 100000);
        struct str name = arena_printf(&a, "xl/worksheets/sheet%d.xml", i);
        bench_must(zip_put(&z, name, arena_str(&a, buf_str(&b))) != NULL, "zip_put");
    }
    bench_must(zip_write(&z, out, &e) == 0, "zip_write");
}

static void make_tar(struct buf *out)
{
    static const char text[] = "the tide comes in over sand and shells\n";
    char name[64];

    for (int i = 0; i < FILES; i++) {
        int n = snprintf(name, sizeof name, "folder%02d/file%05d.txt", i % 100, i);
        struct tar_entry t = {.type = TAR_FILE,
                              .name = str_n(name, (size_t)n),
                              .size = sizeof text - 1,
                              .mode = 0644,
                              .mtime_s = 1768467600};
        (void)tar_put_entry(out, &t);
        (void)buf_add(out, text, sizeof text - 1);
        (void)tar_put_padding(out, sizeof text - 1);
    }
    bench_must(tar_put_end(out) == 0, "tar");
}

/* ---- ours ---- */

static size_t read_zip(void *ctx)
{
    const struct archive_bytes *b = ctx;
    auto_arena struct arena a;
    struct err e = ERR_INIT;
    struct zip z;
    size_t n = 0;

    arena_init(&a, ARCHIVE_MAX);
    bench_must(zip_read(&z, &a, str_n(b->p, b->len), &e) == 0, "zip_read");
    for (size_t i = 0; i < z.n; i++) {
        struct str data;
        bench_must(zip_data(&z, z.entries[i], &data, &e) == 0, "zip_data");
        n += data.len;
    }
    return n;
}

static int on_entry(void *ctx, const struct tar_entry *t, struct err *e)
{
    (void)ctx;
    (void)t;
    (void)e;
    return 0;
}

static int on_data(void *ctx, const char *p, size_t len, struct err *e)
{
    (void)p;
    (void)e;
    *(size_t *)ctx += len;
    return 0;
}

static int on_end(void *ctx, struct err *e)
{
    (void)ctx;
    (void)e;
    return 0;
}

static size_t read_tar(void *ctx)
{
    static const struct tar_sink sink = {on_entry, on_data, on_end};
    const struct archive_bytes *b = ctx;
    struct err e = ERR_INIT;
    size_t n = 0;
    struct tar_reader *r = tar_reader_new(&sink, &n);

    bench_must(tar_reader_feed(r, b->p, b->len, &e) == 0 && tar_reader_finish(r, &e) == 0, "tar");
    tar_reader_free(r);
    return n;
}

int main(void)
{
    static const struct bench_side zip_sides[] = {
        {"ours", read_zip}, {"libzip", archive_libzip}, {"libarchive", archive_libarchive_zip}};
    static const struct bench_side tar_sides[] = {{"ours", read_tar},
                                                  {"libarchive", archive_libarchive_tar}};
    auto_buf struct buf zip = BUF_INIT(ARCHIVE_MAX), tar = BUF_INIT(ARCHIVE_MAX);

    make_zip(&zip);
    make_tar(&tar);
    bench_compare("ZIP, 2000 entries", 0, zip_sides, ARRAY_LEN(zip_sides),
                  &(struct archive_bytes){zip.p, zip.len});
    bench_compare("tar, 20000 files", tar.len, tar_sides, ARRAY_LEN(tar_sides),
                  &(struct archive_bytes){tar.p, tar.len});
    return 0;
}
