/* SPDX-License-Identifier: MIT */
/* libzip's side of the benchmark of archives. */
#include <zip.h>

#include "archives.h"
#include "bench.h"

size_t archive_libzip(void *bytes)
{
    static char data[1 << 20];
    const struct archive_bytes *b = bytes;
    zip_error_t e;
    size_t n = 0;
    zip_source_t *s = zip_source_buffer_create(b->p, b->len, 0, &e);
    zip_t *z = zip_open_from_source(s, ZIP_RDONLY, &e);

    bench_must(z != NULL, "libzip");
    for (zip_int64_t i = 0; i < zip_get_num_entries(z, 0); i++) {
        zip_file_t *f = zip_fopen_index(z, (zip_uint64_t)i, 0);
        n += (size_t)zip_fread(f, data, sizeof data);
        bench_must(zip_fclose(f) == 0, "libzip");
    }
    zip_discard(z);
    return n;
}
