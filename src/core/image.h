/* SPDX-License-Identifier: MIT */
/* Images: roots (core/root.h) that are imported from files of the host or pulled from a registry.
 *
 * A source is an OCI image layout, as a directory or a tar archive, or what `docker save` writes;
 * or `docker://REFERENCE`, which skopeo fetches where it is installed. Layers are checked against
 * their digests and unpacked once, however many images have them; the configuration (environment,
 * user, directory, command, ports) becomes that of the root. An image with the name of another
 * takes its place.
 *
 * Imports run one after the other, on a thread. All functions belong to the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "core/root.h"

enum {
    IMAGE_IMPORTS_MAX = 16, /* that wait or run */
    IMAGE_IMPORTS_KEPT = 32,
    IMAGE_SOURCE_MAX = 4096,
    IMAGE_NAME_MAX = 200,
    IMAGE_ID_LEN = 12, /* of an import */
};

#define IMAGE_REGISTRY "docker://"

enum image_phase { IMAGE_WAITING, IMAGE_PULLING, IMAGE_UNPACKING, IMAGE_DONE, IMAGE_FAILED };

/* How far an import is; written by its thread. */
struct image_progress {
    unsigned n_layers, n_done;
    uint64_t bytes, total; /* of the layers that had to be unpacked; pulling: total is 0 */
};

struct image_import {
    struct list node; /* oldest first */
    char id[IMAGE_ID_LEN + 1];
    bool is_named; /* the caller said how; else it is known from unpacking on */
    char name[IMAGE_NAME_MAX + 1];
    char source[IMAGE_SOURCE_MAX + 1];
    enum image_phase phase; /* also read by other threads: see image_import_state() */
    struct image_progress progress;
    char root[ROOT_ID_MAX]; /* when it is done */
    struct err e;           /* when it failed */
};

/* Begins to import SOURCE as NAME (empty: what the image says it is called). 0; -EINVAL,
 * -EOPNOTSUPP (no skopeo), -EBUSY (too many wait), -ENOSPC with E filled. */
int image_import(struct roots *set, struct str source, struct str name,
                 const struct image_import **ret, struct err *e);
/* The import with this id / the one after I (NULL: the first), or NULL. The last ones that have
 * ended are kept. */
const struct image_import *image_import_find(const struct roots *set, struct str id);
const struct image_import *image_import_next(const struct roots *set, const struct image_import *i);
/* What its thread has written so far. */
enum image_phase image_import_state(const struct image_import *i, struct image_progress *ret);
const char *image_phase_name(enum image_phase phase);

/* Frees all; nothing runs any more. */
void image_imports_free(struct roots *set);
