/* SPDX-License-Identifier: MIT */
/* Holding disks: see disk_hold.h. */
#include "runtime/disk_hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/loop.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "sys/io.h"

#define EXT4_DIR "/sys/fs/ext4"

/* As disks are made, and what ext4 itself holds back of one: a fiftieth, but no more than this. */
enum { BLOCK = 4096, USUAL_PART = 50, USUAL_MAX = 4096 };

/* The blocks of the disk at this loop device; 0 when it is not one of OWNER's, -errno. */
static int64_t blocks_of(const char *device, const char *owner)
{
    char path[64];
    struct loop_info64 info;
    uint64_t bytes;

    if (snprintf(path, sizeof path, "/dev/%s", device) >= (int)sizeof path)
        return 0;
    auto_close int fd = io_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
        return -errno;
    struct str name = str_n((const char *)info.lo_file_name,
                            strnlen((const char *)info.lo_file_name, sizeof info.lo_file_name));
    if (!str_eq(str_cut(&name, '-'), str_of(owner)))
        return 0;
    return ioctl(fd, BLKGETSIZE64, &bytes) < 0 ? -errno : (int64_t)(bytes / BLOCK);
}

/* The number in NAME/FILE below DIR, or 0. */
static uint64_t read_hold_number(int dir, const char *name, const char *file)
{
    char path[96], text[24];
    uint64_t number = 0;

    if (snprintf(path, sizeof path, "%s/%s", name, file) >= (int)sizeof path)
        return 0;
    auto_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? fd : io_read(fd, text, sizeof text);
    struct str line = n > 0 ? str_n(text, (size_t)n) : STR_NULL;
    return str_to_u64(str_cut(&line, '\n'), &number) < 0 ? 0 : number;
}

static int write_hold_number(int dir, const char *name, int64_t number)
{
    char path[64], text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)number);

    if (snprintf(path, sizeof path, "%s/reserved_clusters", name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    auto_close int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return write(fd, text, (size_t)n) < 0 ? -errno : 0;
}

static int64_t usual_reserve(int64_t blocks)
{
    int64_t part = blocks / USUAL_PART;

    return part < USUAL_MAX ? part : USUAL_MAX;
}

/* 1: it was notified; 0: it is not ours, or is going. */
static int hold_one(int dir, const char *name, const char *owner, bool is_held)
{
    int64_t blocks = blocks_of(name, owner);
    int r = 0;

    if (blocks > 0)
        r = write_hold_number(dir, name, is_held ? blocks - 1 : usual_reserve(blocks));
    if (blocks < 0)
        r = (int)blocks;
    if (r == -ENOENT || r == -ENXIO || r == -ENODEV)
        return 0;
    return r < 0 ? r : blocks > 0;
}

/* Bytes that are on their way from memory to disks. */
static uint64_t under_way(void)
{
    struct buf text auto_buf = BUF_INIT(16384);
    uint64_t kib = 0;

    if (io_read_file("/proc/meminfo", &text, NULL) < 0)
        return 0;
    struct str rest = buf_str(&text), name = STR("\nWriteback:");
    ptrdiff_t at = str_find(rest, name);
    if (at < 0)
        return 0;
    rest = str_trim(str_slice(rest, (size_t)at + name.len, rest.len));
    return str_to_u64(str_cut(&rest, ' '), &kib) < 0 ? 0 : kib << 10;
}

uint64_t disk_delayed(const char *owner)
{
    DIR *dir = opendir(EXT4_DIR);
    uint64_t blocks = 0;

    for (const struct dirent *d; dir && (d = readdir(dir));)
        if (strncmp(d->d_name, "loop", 4) == 0 && blocks_of(d->d_name, owner) > 0)
            blocks += read_hold_number(dirfd(dir), d->d_name, "delayed_allocation_blocks");
    if (dir)
        (void)closedir(dir);
    return blocks * BLOCK + under_way();
}

int disk_hold(const char *owner, bool is_held, struct err *e)
{
    DIR *dir = opendir(EXT4_DIR);
    int n = 0, failure = 0;

    if (!dir && errno == ENOENT)
        return 0;
    if (!dir)
        return err_sys(e, -errno, EXT4_DIR);
    for (const struct dirent *d; (d = readdir(dir));) {
        if (strncmp(d->d_name, "loop", 4) != 0)
            continue;
        int r = hold_one(dirfd(dir), d->d_name, owner, is_held);
        n += r > 0;
        if (r < 0)
            failure = err_sys(e, r, EXT4_DIR "/%s/reserved_clusters", d->d_name);
    }
    (void)closedir(dir);
    return failure ? failure : n;
}
