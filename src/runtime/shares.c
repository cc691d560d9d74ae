/* SPDX-License-Identifier: MIT */
/* See shares.h. */
#include "runtime/shares.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "sys/io.h"

enum { PTYS_PART = 32, PTYS_DEFAULT = 3072 };

/* The number in a file, or FALLBACK. */
static int64_t read_share_number(const char *proc, const char *name, int64_t fallback)
{
    char path[128], text[32];
    int64_t n;

    (void)snprintf(path, sizeof path, "%s/sys/%s", proc, name);
    auto_close int fd = io_open(path, O_RDONLY, 0);
    ssize_t len = fd < 0 ? fd : io_read(fd, text, sizeof text);
    struct str rest = len > 0 ? str_n(text, (size_t)len) : STR("");
    return str_to_i64(str_cut(&rest, '\n'), &n) == 0 ? n : fallback;
}

static int64_t clamp_shares(int64_t n, int64_t min, int64_t max)
{
    return n < min ? min : n > max ? max : n;
}

void shares_read(struct shares *s, const char *proc)
{
    int64_t ptys = read_share_number(proc, "kernel/pty/max", PTYS_DEFAULT) -
                   read_share_number(proc, "kernel/pty/reserve", 0);

    s->ptys = (int)clamp_shares(ptys / PTYS_PART, SHARES_PTYS_MIN, SHARES_PTYS_MAX);
    s->files = read_share_number(proc, "fs/file-max", INT64_MAX);
    s->pids = read_share_number(proc, "kernel/pid_max", 1 << 22);
}

int64_t shares_files(const struct shares *s, uint32_t pids)
{
    int64_t n = pids == 0 || pids > s->pids ? s->pids : pids;

    return clamp_shares(s->files / 4 * 3 / (n > 0 ? n : 1), SHARES_FILES_MIN, SHARES_FILES_MAX);
}
