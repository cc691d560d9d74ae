/* SPDX-License-Identifier: MIT */
/* System calls as the program uses them: retried on EINTR, close-on-exec, with fault injection, and
 * negative errno instead of errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* One read / write: bytes, or -errno (-EAGAIN when it would block). */
ssize_t io_read(int fd, void *p, size_t n);
ssize_t io_write(int fd, const void *p, size_t n);
/* Writes all of it to a blocking descriptor: 0 or -errno. */
int io_write_all(int fd, const void *p, size_t n);
/* The same at a place in a file, which does not move: bytes, fewer only at its end. */
ssize_t io_read_at(int fd, void *p, size_t n, off_t at);
/* 0 or -errno; a part may have been written then. */
int io_write_at(int fd, const void *p, size_t n, off_t at);

/* Opens PATH with O_CLOEXEC: descriptor or -errno. */
int io_open(const char *path, int flags, mode_t mode);
/* Appends the whole file to OUT, within OUT's maximum. */
int io_read_file(const char *path, struct buf *out, struct err *e);
/* Replaces PATH by a file of these bytes and this mode so that a crash leaves the old file or the
 * new one, never a part: temporary name, fsync, rename, fsync of the directory. */
int io_write_file(const char *path, struct str data, mode_t mode, struct err *e);
/* Makes the entry of PATH in its directory durable. 0 or -errno. */
int io_sync_parent(const char *path);
/* mkdir -p; existing directories keep their mode, new ones get MODE. */
int io_mkdirs(const char *path, mode_t mode, struct err *e);

/* Removes PATH and, when it is a directory, all below it; links are not followed. 0 also when there
 * is nothing, or -errno of the first that could not be removed. */
int io_remove_tree(const char *path);

int io_set_nonblock(int fd, bool on);
