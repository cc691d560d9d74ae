/* SPDX-License-Identifier: MIT */
/* The core: what the service knows and decides, behind all surfaces. One object, owned by the loop
 * thread; the layers above reach its parts directly. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "core/account.h"
#include "loop/loop.h"

struct backup_take;
struct builds;
struct config;
struct disk_guard;
struct idem;
struct instances;
struct limits;
struct loop_watch;
struct metrics;
struct pools;
struct roots;
struct sandboxes;
struct store;
struct templates;
struct volumes;

#define CORE_SECRET_LEN 32

/* Files of the state directory. */
#define CORE_STORE_FILE   "tidepool.db"
#define CORE_KEY_FILE     "system.key"
#define CORE_SECRET_FILE  "server.secret"
#define CORE_SERVICE_FILE "service.json"
#define CORE_SOCKET_FILE  "tidepool.sock"

struct core {
    struct loop *loop;
    struct loop_watch *watch; /* of the loop; NULL: nobody watches */
    const struct config *config;
    struct store *store;
    struct accounts *accounts;
    struct idem *idem;
    struct metrics *metrics;
    struct limits *limits;
    struct templates *templates;
    struct pools *pools; /* of sandboxes that are ready */
    struct roots *roots; /* images and snapshots */
    struct sandboxes *sandboxes;
    struct volumes *volumes;
    struct builds *builds; /* of templates */
    struct disk_guard *disk_guard;
    struct instances *instances;           /* of apps */
    struct backup_take *backup;            /* that is being made, or NULL */
    char domain[300];                      /* what E2B clients reach sandboxes under, with a port */
    struct err no_sandboxes;               /* why there can be none; code 0: there can */
    unsigned char secret[CORE_SECRET_LEN]; /* what derived keys come from; never in the store */
    char
        system_key[ACCOUNT_TOKEN_MAX + 1]; /* of the key file; "" when that is not valid any more */
    bool is_first_start;                   /* the system key was made just now */
};

/* Opens everything under the configured state directory, which is made when missing, and makes the
 * system key and the server's secret on the first start. 0, or -errno with E filled: then C is as
 * after core_close(). CONFIG and LOOP must outlive C. */
int core_open(struct core *c, struct loop *loop, const struct config *config, struct err *e);
/* Writes the end of the service down, makes everything durable that was submitted, and runs what
 * waits for that. Nothing may be submitted afterwards. */
void core_stop(struct core *c);
/* Stops if that was not done, and frees everything. */
void core_close(struct core *c);

/* Lets the documented default token in; only for a service that nobody else can reach. */
int core_accept_seed_token(struct core *c, struct err *e);
/* Brings the metrics that are sampled up to date. */
void core_sample(struct core *c);

/* DIR/NAME for the state directory; *RET is freed by the caller. 0 or -ENOMEM. */
int core_path(const struct config *config, const char *name, char **ret);
/* Opens the store of the state directory. NULL with E filled. */
struct store *core_open_store(const struct config *config, bool is_read_only, struct err *e);
/* Reads a key file: the token without its line end, at most ACCOUNT_TOKEN_MAX bytes. -ENOENT when
 * there is none. */
int core_read_key(const struct config *config, char out[ACCOUNT_TOKEN_MAX + 1], struct err *e);
