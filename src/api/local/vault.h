/* SPDX-License-Identifier: MIT */
/* Archives of local sandboxes, files of the state directory:
 *
 *     local/ID.upload        what was uploaded last and is not unpacked so far
 *     local/ID.init-NNN      what was unpacked, in its order: a reset does so again
 *     local/ID.dump-HEX      made for a client, who has a while to fetch it
 *     local/ID.exec-NAME     the program of an execution
 *     local/ID.data-SERVER   what a server was initialized with (state.h)
 *     local/ID.reset         a reset is under way
 *     local/ID.part-HEX      not complete; nobody's after a restart
 *
 * What belongs to no sandbox any more is removed, as are dumps that nobody may fetch any more. All
 * files are written and read by worker threads. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/local/vault_use.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/spool.h"

struct locals;
struct core;
struct vault;
struct work_pool;

enum {
    VAULT_NAME_MAX = 100, /* of a file behind "ID.", with a NUL */
    VAULT_INITS_MAX = 100,
    VAULT_DUMPS_MAX = 16, /* of a sandbox; the oldest go */
    VAULT_KEEP_S = 35 * 60
};

/* DIR is made when it is missing. NULL with E filled. */
struct vault *vault_new(struct locals *locals, struct core *core, const char *dir, struct err *e);
/* Waits for the threads. */
void vault_free(struct vault *v);

struct work_pool *vault_pool(const struct vault *v);
/* The path of ID's file NAME. */
void vault_path(const struct vault *v, struct str id, const char *name, char out[PATH_MAX]);
/* A new file of ID that is not complete; its name is in NAME. Descriptor or -errno. */
int vault_create(const struct vault *v, struct str id, char name[VAULT_NAME_MAX]);
/* What a new file of ID takes of its account, byte by byte (vault_use_take()) / it is complete and
 * has its name, or was given up. */
struct vault_use vault_begin(struct vault *v, struct str id);
void vault_end(struct vault *v, struct vault_use *use, bool is_kept);
/* Opens ID's file NAME for reading; its size. Descriptor or -errno. */
int vault_open(const struct vault *v, struct str id, const char *name, uint64_t *ret_size);
bool vault_has(const struct vault *v, struct str id, const char *name);
/* Gives a file another name, which may be taken. 0 or -errno. */
int vault_rename(const struct vault *v, struct str id, const char *from, const char *to);
/* A second name for a file, so that it stays when the first is given to another; in NAME. */
int vault_link(const struct vault *v, struct str id, const char *from, char name[VAULT_NAME_MAX]);
/* Keeps PART, a second name of "upload" or not, as the next "init-NNN", and removes "upload" when
 * it is the same file. FN is called when that is durable, with 0 or -errno. */
void vault_keep(struct vault *v, struct str id, const char *part, spool_fn *fn, void *ctx);
struct vault_move {
    struct str id;
    const char *from, *to;
};
/* Gives a complete file its name, which may be taken. FN as above: then a power cut leaves all of
 * it. */
void vault_publish(struct vault *v, const struct vault_move *m, spool_fn *fn, void *ctx);
struct vault_file {
    struct str id;
    const char *name;
    struct str data;
};
/* Writes a small file, which is whole or not there; FN as above. */
void vault_write(struct vault *v, const struct vault_file *f, spool_fn *fn, void *ctx);
/* Makes room for one more dump: the oldest goes when there are VAULT_DUMPS_MAX. */
void vault_limit_dumps(struct vault *v, struct str id);
/* Removes a small file now. */
void vault_unlink(const struct vault *v, struct str id, const char *name);
/* Removes a file soon. */
void vault_remove(struct vault *v, struct str id, const char *name);
/* "init-000" and so on: how many there are. */
unsigned vault_n_inits(const struct vault *v, struct str id);
void vault_init_name(unsigned i, char name[VAULT_NAME_MAX]);

/* Looks for files that nobody needs, now instead of in a minute: a sandbox has ended. */
void vault_sweep(struct vault *v);
/* Calls FN for the id of each file NAME (at the start of the service). */
void vault_each(struct vault *v, const char *name, void (*fn)(void *ctx, struct str id), void *ctx);
