/* SPDX-License-Identifier: MIT */
/* A file, directory or link as the E2B protocol describes it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "envd/user.h"

enum entry_type { ENTRY_UNKNOWN, ENTRY_FILE, ENTRY_DIRECTORY, ENTRY_TYPE_COUNT };

/* Attributes with this prefix are the metadata of a file. */
#define ENTRY_XATTR     "user.e2b."
#define ENTRY_XATTR_LEN (sizeof ENTRY_XATTR - 1)

struct entry_meta {
    struct entry_meta *next;
    const char *key; /* without the prefix */
    struct str value;
};

struct entry {
    const char *name, *path;
    const char *target;   /* of a link: where it leads in the end; else NULL */
    enum entry_type type; /* of the target, for a link */
    mode_t perm;          /* permission bits, of the target for a link; 0 when it leads nowhere */
    struct stat st;       /* of the link itself */
    struct entry_meta *meta; /* in byte order of the keys */
};

/* Describes PATH; all strings are in A. 0, -ENOMEM, or -errno of lstat(2). */
int entry_read(struct arena *a, const char *path, struct entry *ret);
/* The metadata of PATH, links followed; NULL when there is none. */
struct entry_meta *entry_read_meta(struct arena *a, const char *path);

/* Writes E as an EntryInfo; owners by the names in NAMES. With IS_LEGACY only name, type and path,
 * for clients that refuse what they do not know. */
void entry_put(struct jw *w, const struct entry *e, struct user_names *names, bool is_legacy);
/* Writes the metadata as an object. */
void entry_put_meta(struct jw *w, const struct entry_meta *meta);

/* The mode as Go writes it: "-rw-r--r--", "dtrwxrwxrwx", "Lrwxrwxrwx". */
#define ENTRY_MODE_MAX 24
void entry_mode_text(char out[ENTRY_MODE_MAX], mode_t mode);
