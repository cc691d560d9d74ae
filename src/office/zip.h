/* SPDX-License-Identifier: MIT */
/* ZIP archives in memory, as office files are: entries are unpacked when they are asked for, and an
 * archive that is written again carries every entry that was not replaced byte for byte in its
 * packed form, at its old place in the order, with its name, time and attributes.
 *
 * Everything lives in one arena. Refused: encryption, several volumes, ZIP64, methods besides
 * "stored" and "deflated", two entries of one name, names that are absolute or leave the archive,
 * entries that overlap, and what passes the limits below. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    ZIP_ENTRIES_MAX = 8192,
    ZIP_ENTRY_MAX = 128 << 20, /* bytes of an entry, unpacked */
    ZIP_RATIO_MAX = 400,       /* unpacked to packed, for entries above ZIP_RATIO_FREE */
    ZIP_RATIO_FREE = 1 << 20,
    ZIP_NAME_MAX = 512,
};

struct zip_entry {
    struct str name;     /* "xl/workbook.xml" */
    struct str packed;   /* as in the archive; of a replaced entry: not yet known, .p is NULL */
    struct str data;     /* unpacked; .p is NULL until zip_data() or zip_put() */
    uint32_t size, crc;  /* of the unpacked bytes */
    uint16_t method;     /* 0 stored, 8 deflated */
    uint16_t flags;      /* general purpose bits that are kept */
    uint32_t time;       /* MS-DOS time and date */
    uint32_t attributes; /* external */
    struct str extra;    /* extra field of the central directory */
    uint16_t made_by, internal;
};

struct zip {
    struct arena *arena;
    struct zip_entry **entries; /* in the archive's order; a pointer stays valid until removed */
    size_t n, cap;
};

/* An archive without entries. */
void zip_init(struct zip *z, struct arena *a);
/* Reads the directory of BYTES, which must stay as long as the arena. 0; -EINVAL when it is no
 * archive or a damaged one, -E2BIG over a limit, -ENOTSUP, -ENOMEM. */
int zip_read(struct zip *z, struct arena *a, struct str bytes, struct err *e);

/* The entry of that name, or NULL; office programs ignore case of ASCII letters, and so does this.
 */
struct zip_entry *zip_find(const struct zip *z, struct str name);
/* The unpacked bytes, checked and kept: 0 or as zip_read(). */
int zip_data(struct zip *z, struct zip_entry *t, struct str *ret, struct err *e);

/* Sets the content of NAME, at its place or behind all others; DATA must stay as long as the
 * arena. NULL when memory or entries ran out. */
struct zip_entry *zip_put(struct zip *z, struct str name, struct str data);
void zip_remove(struct zip *z, struct zip_entry *t);

/* Appends the archive to OUT. 0, -ENOMEM, -ENOBUFS (over OUT's maximum). */
int zip_write(struct zip *z, struct buf *out, struct err *e);
