/* SPDX-License-Identifier: MIT */
/* Layers: trees of files that roots of cells are stacked from, each stored once and never changed.
 *
 *     STATE/layers/ID/fs          the tree, with the owners that the cell will see
 *     STATE/layers/.new-XXXX/fs   one that is being made; the next start removes it
 *
 * Deleted files are as overlayfs has them: a character device 0:0 in the place of the name, and the
 * attribute user.overlay.opaque on a directory that hides the one below. Who uses which layer is
 * known to core/root.h. Everything here blocks and is for worker threads, except layer_path() and
 * layer_is_id(). */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define LAYER_FOLDER "layers"

enum {
    LAYER_ID_MAX = 72,
    LAYER_FILES_MAX = 4 << 20, /* files, directories and links of one layer */
    LAYER_DEPTH_MAX = 128,     /* directories in each other */
    LAYER_ATTR_MAX = 64 << 10, /* bytes of one extended attribute */
    LAYER_UIDS = 65536         /* that a cell has; owners above are shown as nobody */
};

struct layer_size {
    uint64_t bytes; /* of files, as they are long */
    uint64_t n_files;
};

/* ---- the store ---- */

/* Letters, digits, '-', at most LAYER_ID_MAX - 1. */
bool layer_is_id(struct str id);
/* The tree of layer ID: 0 or -ENAMETOOLONG. */
int layer_path(const char *state, const char *id, char ret[PATH_MAX]);
bool layer_exists(const char *state, const char *id);
/* Calls FN with the id of every layer. */
void layer_each(const char *state, void (*fn)(void *ctx, const char *id), void *ctx);
/* Layer ID is none any more: what it was has the path RET now, for io_remove_tree(). Nobody may use
 * it. 0 or -errno (-ENOENT: there is none). */
int layer_retire(const char *state, const char *id, char ret[PATH_MAX]);
/* Removes what other processes left half made or half removed. */
void layer_sweep(const char *state);

/* ---- a new one ---- */

struct layer_draft {
    char path[PATH_MAX];    /* of the directory that `fs` is in; "": none */
    int fd;                 /* of `fs`, or -1 */
    const char *state;      /* stays the caller's */
    struct layer_size max;  /* more is refused with -EFBIG or -EMFILE */
    struct layer_size size; /* of what is in it so far */
    const bool *is_stopped; /* set by another thread: the work ends with -ECANCELED; or NULL */
};
#define LAYER_DRAFT_INIT                                                                           \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* An empty draft below STATE, which may become as large as MAX. */
int layer_begin(struct layer_draft *d, const char *state, const struct layer_size *max,
                struct err *e);
/* D becomes layer ID; nothing happens when there is one already. IS_DURABLE: waits until it is on
 * the disk. D is over, also after a failure. */
int layer_commit(struct layer_draft *d, const char *id, bool is_durable, struct err *e);
/* Forgets D and removes its files. Does nothing when it is over. */
void layer_drop(struct layer_draft *d);
/* Counts one more file of LEN bytes (a part of a file with IS_PART): 0, -EFBIG, -EMFILE or
 * -ECANCELED with E filled. */
int layer_count(struct layer_draft *d, uint64_t len, bool is_part, struct err *e);

/* ---- filling it ---- */

/* What a cell has changed: a copy of its upper layer, whose home is HOME_FD (engine_cell_upper()),
 * with owners as they are inside, who begin at UID_BASE outside; of /usr, too, when that has an
 * upper layer of its own. Sockets are left out. The cell
 * should be frozen meanwhile. */
int layer_capture(struct layer_draft *d, int home_fd, uint32_t uid_base, bool has_usr,
                  struct err *e);

/* What the archive of an image's layer says, fed with its plain bytes: `.wh.` files become what
 * overlayfs has for them; devices are left out; names that lead out of the tree are refused. */
struct layer_unpack;
struct layer_unpack *layer_unpack_new(struct layer_draft *d);
void layer_unpack_free(struct layer_unpack *u);
int layer_unpack_feed(struct layer_unpack *u, const void *p, size_t len, struct err *e);
int layer_unpack_finish(struct layer_unpack *u, struct err *e);
