/* SPDX-License-Identifier: MIT */
/* Reading tar archives as a stream: ustar, pax and GNU's long names. Bytes in, split anywhere;
 * entries out to callbacks. Nothing is looked up or written here, and names are passed on as they
 * are: what may be done with them is decided by whoever gets them. Refused are damaged archives,
 * sparse files, and every kind of entry but files, directories and links, unless devices and pipes
 * are asked for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
    TAR_BLOCK = 512,
    TAR_NAME_MAX = 4096,    /* bytes of a name or of a link's target */
    TAR_EXTRA_MAX = 1 << 20 /* of one extended header */
};

enum tar_type {
    TAR_FILE = '0',
    TAR_HARD_LINK = '1',
    TAR_SYMLINK = '2',
    TAR_CHAR_DEVICE = '3',
    TAR_BLOCK_DEVICE = '4',
    TAR_DIRECTORY = '5',
    TAR_PIPE = '6'
};

struct tar_entry {
    enum tar_type type;
    struct str name, link; /* without NUL bytes; NUL-terminated */
    uint64_t size;         /* of a file */
    unsigned mode;         /* as it is, with all bits */
    uint64_t uid, gid;
    int64_t mtime_s;
    struct str attrs; /* extended attributes, for tar_next_attr() */
};

/* Each: 0, or -errno with E filled, which ends the reading and is passed on. */
struct tar_sink {
    int (*entry)(void *ctx, const struct tar_entry *t, struct err *e);
    int (*data)(void *ctx, const char *p, size_t len, struct err *e); /* of a file */
    int (*end)(void *ctx, struct err *e);                             /* of a file */
};

/* Takes the next attribute off ATTRS; false when there is none. */
bool tar_next_attr(struct str *attrs, struct str *ret_name, struct str *ret_value);

struct tar_reader;

/* NULL when memory ran out. */
struct tar_reader *tar_reader_new(const struct tar_sink *sink, void *ctx);
void tar_reader_free(struct tar_reader *r);
/* From now on devices and pipes are entries as well. */
void tar_reader_take_all(struct tar_reader *r);
/* Takes the next bytes. 0; -EINVAL with E filled when they are no archive that can be read; or what
 * the sink returned. After a failure it must not be called again. */
int tar_reader_feed(struct tar_reader *r, const void *p, size_t len, struct err *e);
/* The archive is complete: 0, or as tar_reader_feed(). */
int tar_reader_finish(struct tar_reader *r, struct err *e);
