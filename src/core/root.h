/* SPDX-License-Identifier: MIT */
/* Roots: what the file system of a sandbox is stacked from, and how its processes run unless the
 * caller says otherwise. A root is a list of layers (runtime/layer.h) and a configuration; it never
 * changes. Images, snapshots, what builds make and what forks start from are roots.
 *
 *     STATE/roots/ID.json    what is in struct root
 *     STATE/layers/…         the files, each layer once however many roots have it
 *
 * A sandbox is created from one by its id (sandbox_args.root) and holds a reference until it is
 * gone. Somebody else who hands out cells of a root (a pool, a build) takes root_ref() for as long.
 * The files of a root go when it was removed and nobody has a reference; a layer goes with the last
 * root that has it. So a root that is in use may be removed at any time: nobody finds it any more,
 * and those who use it go on.
 *
 * A root `on default` lies on the default template as it is when a cell is made: the host's /usr is
 * below that in any case, and its package database has to be that of the same day.
 *
 * All of it belongs to the loop's thread, callbacks included; what blocks is done by workers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/list.h"
#include "core/account.h"
#include "runtime/layer.h"
#include "runtime/proto.h"

struct core;
struct engine_root;
struct roots;
struct sandbox;

enum {
    ROOT_ID_MAX = PROTO_NAME_MAX,
    ROOT_NAME_MAX = 256,
    ROOT_FILE_MAX = 256 << 10, /* bytes of its description */
    ROOTS_MAX = 16384,
    ROOT_LAYERS_MAX = PROTO_LAYERS_MAX,
    ROOT_ON_DEFAULT_MAX = PROTO_LAYERS_USR_MAX - 2, /* layers of one that is on default */
};

enum root_kind {
    ROOT_IMAGE,    /* imported; account "": everybody's */
    ROOT_SNAPSHOT, /* of a sandbox, by its owner */
    ROOT_BUILD,    /* of a template */
    ROOT_FORK,     /* what forks of a sandbox start from; nobody finds it */
    ROOT_KIND_COUNT
};

/* As root_write() takes it; strings and JSON may point anywhere. */
struct root_args {
    enum root_kind kind;
    struct str name;    /* what people call it: "debian:12", "my-snapshot"; may be empty */
    struct str account; /* whose it is; empty: everybody's */
    struct str origin;  /* where it is from: an image's digest, a sandbox's id */
    bool is_on_default;
    const char (*layers)[LAYER_ID_MAX]; /* top one first */
    size_t n_layers;
    uint64_t bytes; /* what of its files was not there before */
    /* {"env": {…}, "user", "workdir", "entrypoint": […], "cmd": […], "ports": […]}, all optional;
     * other members are kept. NULL: none. */
    const struct json *config;
    const struct json *extra; /* what its maker wants to be kept with it, an object, or NULL */
};

struct root {
    struct list node; /* newest first */
    struct roots *set;
    unsigned n_refs; /* the set's own included, until it is removed */
    bool is_removed;
    char id[ROOT_ID_MAX]; /* hex digits; the name of its template in the engine */
    int64_t created_us;
    struct root_args args; /* in the arena */
    struct arena arena;
    const char *const *paths; /* of its layers */
    struct tally *tally;      /* where its bytes count, or NULL */
    struct tally *count;      /* where itself does, or NULL */
};

/* ---- the set ---- */

/* Reads what there is. NULL with E filled. */
struct roots *roots_open(struct core *c, struct err *e);
/* Ends what is being made; its callbacks are called with -ESHUTDOWN. */
void roots_stop(struct roots *set);
void roots_free(struct roots *set);
/* Removes files that no root has any more, on a worker. To be called once the sandboxes are there;
 * later it happens by itself. */
void roots_sweep(struct roots *set);
/* For engine_options.find_root. */
int roots_for_engine(const struct roots *set, const char *id, struct engine_root *ret);

/* ---- finding (SET may be NULL: then there are none) ---- */

/* The root with this id, or NULL; also one that was removed and is in use. */
struct root *root_find(const struct roots *set, struct str id);
/* The newest of KIND with this name that ACCOUNT may use, or NULL. */
struct root *root_find_name(const struct roots *set, enum root_kind kind, struct str name,
                            const char *account);
/* The image that REFERENCE names ("debian:12"; without a tag ":latest" is meant) and ACCOUNT may
 * use, or NULL. */
struct root *root_find_image(const struct roots *set, struct str reference, const char *account);
/* The one after R (NULL: the first), newest first; those that were removed are left out. */
struct root *root_next(const struct roots *set, const struct root *r);
bool root_is_visible(const struct root *r, const struct account_key *key);

struct root *root_ref(struct root *r);
/* Takes NULL. */
void root_unref(struct root *r);
/* Nobody finds it any more; its files go when nobody uses it. */
void root_remove(struct root *r);

/* Member NAME of its configuration, or NULL; a string, or FALLBACK. */
const struct json *root_get(const struct root *r, const char *name);
struct str root_get_str(const struct root *r, const char *name, struct str fallback);

/* ---- making ---- */

/* Writes a description with a new id to RET_ID; blocks, for workers. 0 or -errno with E filled. */
int root_write(const char *state, const struct root_args *a, char ret_id[ROOT_ID_MAX],
               struct err *e);
/* Takes in what root_write() wrote: a reference for the caller, or NULL with E filled (-EDQUOT: its
 * account has no room for it), and then its files go. */
struct root *roots_take_in(struct roots *set, const char *id, struct err *e);

/* What a sandbox is now, as a root on the root that it has: its upper layer becomes a layer. A
 * running one is frozen meanwhile; moves of it are refused with -EBUSY. Memory is not kept. */
struct root_capture {
    enum root_kind kind;
    struct str name;           /* copied, as all others */
    const struct json *config; /* NULL: as that of its own root */
    const struct json *extra;
    bool is_temporary; /* need not survive a crash of the machine */
    /* R is a reference of the callee's, or NULL with the reason. May be called before
     * root_capture() returns. */
    void (*fn)(void *ctx, struct root *r, const struct err *e);
    void *ctx;
};
/* Returns -errno without a call when that cannot be: -EBUSY another move is under way, -EMLINK too
 * many layers on each other, -ENOSPC, -EOPNOTSUPP. */
int root_capture(struct sandbox *sb, const struct root_capture *rq, struct err *e);
