/* SPDX-License-Identifier: MIT */
/* Reads the data files of tests/vectors for a test. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { VECTORS_MAX = 1 << 22 };

/* The whole file tests/vectors/NAME; ends the program without it. */
static inline void vectors_read(struct buf *out, const char *name)
{
    char path[512];
    ssize_t n = 0;

    (void)snprintf(path, sizeof path, "%s/%s", VECTORS_DIR, name);
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
    buf_init(out, VECTORS_MAX);
    do
        out->len += (size_t)n;
    while (fd >= 0 && buf_reserve(out, 4096) == 0 &&
           (n = read(fd, out->p + out->len, out->cap - out->len)) > 0);
    if (fd < 0 || n != 0 || !buf_ok(out)) {
        (void)printf("Bail out! cannot read %s\n", path);
        exit(1);
    }
}
