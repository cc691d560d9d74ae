/* SPDX-License-Identifier: MIT */
/* The file of a backup: a plain tar archive.
 *
 *     backup.json            what it is: format, version, when it was made, what was left out
 *     state/…                files of the state directory
 *     SHA256SUMS             of everything above, as sha256sum(1) writes it
 *     workspaces/NAME/…      where asked for: archives of directories of sandboxes
 *     workspaces/SHA256SUMS  of these
 *
 * A list of sums closes the group of entries before it; an archive whose last group is not closed
 * is not whole. Nothing here knows what the files mean: backup_take.h gathers them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum {
    BACKUP_VERSION = 1,
    BACKUP_NAME_MAX = 1024,
    BACKUP_MAX_FILES = 1000000,
    BACKUP_SUMS_MAX = 256 << 20 /* bytes of a list of sums */
};

#define BACKUP_FORMAT     "tidepool-backup"
#define BACKUP_HEAD       "backup.json"
#define BACKUP_SUMS       "SHA256SUMS"
#define BACKUP_STATE      "state"
#define BACKUP_WORKSPACES "workspaces"

/* ---- writing ---- */

struct backup; /* a group of entries: a list of files, and how far it has been written */

/* The sums will be called SUMS. NULL without memory. */
struct backup *backup_new(const char *sums);
void backup_free(struct backup *b);

/* Everything below fails with -ENOMEM, or -E2BIG over BACKUP_MAX_FILES. */

/* A small entry of these bytes. */
int backup_add_text(struct backup *b, const char *name, struct str text);
/* The file PATH. One that is gone when its turn comes is left out, unless it IS_NEEDED. */
int backup_add(struct backup *b, const char *name, const char *path, bool is_needed);
/* All files below DIR, as NAME/…; 0 also when there is no DIR. Not links, not what begins with '.'.
 */
int backup_add_tree(struct backup *b, const char *name, const char *dir, struct err *e);
/* The bytes of what was added, as far as that is known now. */
uint64_t backup_size(const struct backup *b);

/* Appends the next bytes to OUT, about a quarter of a MiB. 1: there are more; 0: those were the
 * last; -errno with E filled. Blocks; any thread, one at a time. */
int backup_next(struct backup *b, struct buf *out, struct err *e);
/* The end of an archive takes this number of bytes; more groups may be written over it. */
#define BACKUP_END_LEN 1024

/* ---- reading ---- */

struct backup_info {
    const struct json *head; /* backup.json, in the arena */
    uint64_t n_files, bytes;
};

/* Reads the whole of the backup PATH and holds it to its sums. With DIR the files are written into
 * it as they are read: what is left in it after a failure is the caller's to remove. -EINVAL: it is
 * no backup, not whole, or damaged; -EPROTONOSUPPORT: of a version that is not known; E says so. */
int backup_read(const char *path, const char *dir, struct arena *a, struct backup_info *ret,
                struct err *e);
