/* SPDX-License-Identifier: MIT */
/* The files of an app, and what several apps share: a line "-- include: common/NAME" in one of its
 * .sql files stands for common/NAME.sql of the folder itself, else of a base, else beside the app.
 *
 * An app.json with a "base", a path from its own folder, makes the folder a
 * variant: what it does not have is the base's, files as well as members of app.json. A base may
 * have a base. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum {
    FOLDER_MAX = 4, /* bases, with the folder itself */
    FOLDER_FILE_MAX = 16 << 20
};

struct folder {
    struct arena *arena;
    const char *dirs[FOLDER_MAX]; /* the folder itself first, what all is based on last */
    size_t n;
    const struct json *about; /* app.json, with the members of the bases */
};

/* DIR and its bases; everything in A, which has to live as long as F. E names the file. */
int folder_open(struct folder *f, const char *dir, struct arena *a, struct err *e);
/* The file NAME of folder LEVEL alone, in the folder's arena. -ENOENT when it is not there. */
int folder_read_at(const struct folder *f, size_t level, const char *name, struct str *ret,
                   struct err *e);
/* The file NAME of the first folder that has it, parsed; NULL with E filled. */
const struct json *folder_json(const struct folder *f, const char *name, struct arena *a,
                               struct err *e);
bool folder_has(const struct folder *f, const char *name);

/* ---- what is included ---- */

#define FOLDER_COMMON "common/" /* what the names of included files begin with */

/* Whether NAME is "common/" and a word of letters, digits, '_' and '-'. */
bool folder_is_common(struct str name);
/* The text that NAME stands for in a file of folder LEVEL. -EINVAL when it is not a name, or when
 * there is no such file. */
int folder_include(const struct folder *f, size_t level, struct str name, struct str *ret,
                   struct err *e);
/* The next line "-- include: common/…" of TEXT from *AT on: its name, with *AT behind the line and
 * *FROM at its beginning; .p NULL when there is none. */
struct str folder_next_include(struct str text, size_t *at, size_t *from);
/* The file NAME of the first folder that has it, with the files that it includes. */
int folder_read_whole(const struct folder *f, const char *name, struct str *ret, struct err *e);
/* The folder beside which an app in ROOT is, by the words of the path. */
void folder_beside(const char *root, char *out, size_t size);
