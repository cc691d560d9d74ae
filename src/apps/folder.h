/* SPDX-License-Identifier: MIT */
/* The files of an app. An app.json with a "base", a path from its own folder, makes the folder a
 * variant: what it does not have is the base's, files as well as members of app.json. A base may
 * have a base. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

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
/* The file NAME of the first folder that has it. */
int folder_read(const struct folder *f, const char *name, struct arena *a, struct str *ret,
                struct err *e);
/* The same, parsed; NULL with E filled. */
const struct json *folder_json(const struct folder *f, const char *name, struct arena *a,
                               struct err *e);
bool folder_has(const struct folder *f, const char *name);
