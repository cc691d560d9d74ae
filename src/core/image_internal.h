/* SPDX-License-Identifier: MIT */
/* What the files of core/image*.c share: reading a source, on a worker thread. */
#pragma once

#include <limits.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "core/image.h"
#include "sys/digest.h"

enum {
    IMAGE_JSON_MAX = 4 << 20,  /* bytes of a manifest or configuration */
    IMAGE_FILES_MAX = 4096,    /* of a source */
    IMAGE_DIGEST_MAX = 64 + 1, /* hex digits of SHA-256 */
    IMAGE_ENV_MAX = 256,
};

/* ---- image_source.c ---- */

/* Where something is. */
struct image_file {
    int fd; /* the caller's when is_own */
    bool is_own;
    uint64_t offset, size;
};

struct image_source {
    int fd; /* of the directory or the archive */
    bool is_archive;
    struct map files; /* of an archive: name → struct entry */
    uint64_t size;    /* of an archive */
};

/* Opens PATH and, when it is an archive, looks through it. */
int image_source_open(struct image_source *s, const char *path, struct err *e);
void image_source_close(struct image_source *s);
/* Finds NAME, a relative path; links inside are followed. 0 or -errno; -ENOENT without E. */
int image_source_find(const struct image_source *s, const char *name, struct image_file *ret);
void image_file_close(struct image_file *f);
/* Reads all of NAME into A; checked against DIGEST ("sha256:…" or hex digits; empty: not). */
struct json *image_source_json(const struct image_source *s, const char *name, struct str digest,
                               struct arena *a, struct err *e);

/* ---- image_blob.c ---- */

/* Gets the plain bytes of a layer. 0 or -errno with E filled. */
typedef int image_sink(void *ctx, const char *p, size_t len, struct err *e);

struct image_blob {
    struct image_file file;
    struct str digest;  /* of what is stored, or empty; as in image_source_json() */
    struct str diff_id; /* of the plain bytes */
    uint64_t *progress; /* bytes read so far, added to */
};
/* Reads B, plain or compressed with gzip or zstd, into SINK, and checks both digests. */
int image_blob_read(const struct image_blob *b, image_sink *sink, void *ctx, struct err *e);
/* The hex digits of "sha256:HEX", or of HEX; .p is NULL when it is no such digest. */
struct str image_digest(struct str text);

/* ---- image_manifest.c ---- */

struct image_layer {
    struct str file;    /* name in the source */
    struct str digest;  /* hex digits, or empty */
    struct str diff_id; /* hex digits */
};

struct image_plan {
    struct image_layer layers[ROOT_LAYERS_MAX]; /* bottom one first */
    size_t n_layers;
    struct str name;     /* what the source calls it, or empty */
    struct str digest;   /* of the configuration */
    struct json *config; /* for the root */
};

/* Finds out what S holds; everything is in A. NAME: which of several. */
int image_plan_read(const struct image_source *s, struct str name, struct arena *a,
                    struct image_plan *ret, struct err *e);

/* ---- image_pull.c ---- */

/* True when skopeo is installed; else E says how to get it. */
bool image_can_pull(struct err *e);
struct image_pull {
    uint64_t *progress;     /* bytes so far */
    uint64_t max_bytes;     /* of all layers, compressed as they are */
    const bool *is_stopped; /* ends it */
};
/* Fetches REFERENCE into the layout TO, an absolute path that is not there yet. A registry that
 * sends nothing for ten minutes is given up. */
int image_pull(const char *reference, const char *to, const struct image_pull *p, struct err *e);
