/* SPDX-License-Identifier: MIT */
/* Defaults of maxima that depend on the host: see limits.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/config.h"
#include "core/limits.h"
#include "core/quantity.h"
#include "sys/io.h"

enum { SHARE = 4, PIDS_SHARE = 8, PIDS_MAX = 1000000 };

int64_t limits_derive_memory(const struct config *c, const struct config_option *o)
{
    int64_t has = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), half = has / 2;
    uint64_t usual = 0;

    (void)o;
    if (quantity_units(str_of(c->cells.memory_limit), &usual) < 0 || usual > (uint64_t)has)
        usual = (uint64_t)has;
    int64_t most = half > (int64_t)usual ? half : (int64_t)usual;
    return most >> 20 << 20;
}

int64_t limits_derive_cpu(const struct config *c, const struct config_option *o)
{
    (void)c;
    (void)o;
    return sysconf(_SC_NPROCESSORS_ONLN);
}

/* What a file of the kernel's says; where it has none, as much as anybody can ask for. */
static int64_t read_limit_number(const char *path)
{
    struct buf text auto_buf = BUF_INIT(64);
    int64_t n;

    int r = io_read_file(path, &text, NULL);
    if (r < 0)
        return r == -ENOENT ? PIDS_MAX : r;
    struct str rest = buf_str(&text);
    return str_to_i64(str_cut(&rest, '\n'), &n) < 0 ? PIDS_MAX : n;
}

int64_t limits_derive_pids(const struct config *c, const struct config_option *o)
{
    int64_t pids = read_limit_number("/proc/sys/kernel/pid_max");
    int64_t threads = read_limit_number("/proc/sys/kernel/threads-max");
    int64_t least = pids < threads ? pids : threads, most = least / PIDS_SHARE;

    (void)o;
    if (least < 0)
        return least;
    if (most < c->cells.pids)
        most = c->cells.pids;
    return most < PIDS_MAX ? most : PIDS_MAX;
}

int64_t limits_derive_share(const struct config *c, const struct config_option *o)
{
    int64_t whole = limits_whole(c, o->key);

    return whole > 0 && whole < SHARE ? 1 : whole / SHARE;
}

/* It comes behind the number of sandboxes in the table. */
int64_t limits_derive_disk(const struct config *c, const struct config_option *o)
{
    int64_t bytes;

    if (__builtin_mul_overflow(c->cells.disk, c->quota.account_sandboxes, &bytes) || bytes > o->max)
        return o->max;
    return bytes;
}

/* The state directory may not be there yet: then what it will be made in. */
int64_t limits_derive_archives(const struct config *c, const struct config_option *o)
{
    char path[PATH_MAX];
    struct statvfs fs;

    (void)snprintf(path, sizeof path, "%s", c->state);
    for (char *slash; statvfs(path, &fs) < 0; *slash = '\0') {
        slash = strrchr(path, '/');
        if (!slash || (slash == path && path[1] == '\0'))
            return o->max;
        slash += slash == path;
    }
    int64_t bytes = (int64_t)(fs.f_blocks / SHARE * fs.f_frsize);
    return bytes < o->max ? bytes >> 20 << 20 : o->max;
}
