/* SPDX-License-Identifier: MIT */
/* The sides of the benchmark of archives: the bytes of an archive, read whole; how many bytes its
 * entries have. */
#pragma once

#include <stddef.h>

struct archive_bytes {
    const char *p;
    size_t len;
};

size_t archive_libzip(void *bytes);
size_t archive_libarchive_zip(void *bytes);
size_t archive_libarchive_tar(void *bytes);
