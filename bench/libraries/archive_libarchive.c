/* SPDX-License-Identifier: MIT */
/* libarchive's side of the benchmark of archives. */
#include <archive.h>
#include <archive_entry.h>

#include "archives.h"
#include "bench.h"

static size_t read_all(struct archive *a, const struct archive_bytes *b)
{
    static char data[1 << 20];
    struct archive_entry *e;
    size_t n = 0;

    bench_must(archive_read_open_memory(a, b->p, b->len) == ARCHIVE_OK, "libarchive");
    while (archive_read_next_header(a, &e) == ARCHIVE_OK) {
        la_ssize_t got = archive_read_data(a, data, sizeof data);
        bench_must(got >= 0, "libarchive");
        n += (size_t)got;
    }
    (void)archive_read_free(a);
    return n;
}

size_t archive_libarchive_zip(void *bytes)
{
    struct archive *a = archive_read_new();

    (void)archive_read_support_format_zip_seekable(a);
    return read_all(a, bytes);
}

size_t archive_libarchive_tar(void *bytes)
{
    struct archive *a = archive_read_new();

    (void)archive_read_support_format_tar(a);
    return read_all(a, bytes);
}
