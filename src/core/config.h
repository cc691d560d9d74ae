/* SPDX-License-Identifier: MIT */
/* The configuration: one table of settings (options.def), read from the command line, the
 * environment and a YAML file into a typed struct. Of several sources the first counts:
 *
 *     flag  >  TIDEPOOL_… variable  >  Agent-Sandbox's variable  >  file  >  default
 *
 * and every value remembers where it came from. An empty variable counts as unset. Help, man pages,
 * shell completion and the example file are made from the same table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* ---- the table ---- */

enum config_type {
    CONFIG_STRING,   /* const char *, NULL when unset */
    CONFIG_PATH,     /* the same; "~/" is the home directory; relative in a file: beside that */
    CONFIG_ADDRESS,  /* the same; ready for http_listen() */
    CONFIG_INT,      /* int64_t */
    CONFIG_BOOL,     /* bool */
    CONFIG_DURATION, /* int64_t milliseconds; "250ms" "30s" "5m" "2h" "7d" */
    CONFIG_SIZE,     /* int64_t bytes; "4096" "64KiB" "1GiB" "10MB" */
    CONFIG_ENUM,     /* int, index into .choices */
    CONFIG_LIST,     /* struct config_list */
    CONFIG_MAP,      /* const char *, JSON text of an object, NULL when unset; see .check */
    CONFIG_TYPE_COUNT
};

struct config;

struct config_option {
    const char *key; /* dotted path in the file */
    enum config_type type;
    size_t offset; /* in struct config */
    const char *def, *flag, *arg, *env, *foreign, *help, *sample;
    const char *const *choices;                        /* NULL-terminated */
    int64_t min, max;                                  /* for secrets .min is the least length */
    int (*check)(const struct json *v, struct err *e); /* of a mapping: 0 or -errno */
    /* The default of a number, when everything else is known; or -errno. */
    int64_t (*derive)(const struct config *c, const struct config_option *o);
    bool is_secret; /* its value is never printed */
    bool not_in_file;
};

struct config_ignored {
    const char *name, *why;
};

enum {
    CONFIG_N_OPTIONS = 0
#define OPTION(...) +1
#define IGNORED(...)
#include "core/options.def"
#undef OPTION
#undef IGNORED
};

extern const struct config_option config_options[CONFIG_N_OPTIONS];
extern const char *const config_log_levels[]; /* in the order of enum log_level */
enum config_disk { CONFIG_DISK_AUTO, CONFIG_DISK_IMAGE, CONFIG_DISK_TMPFS, CONFIG_DISK_DIR };
extern const char *const config_disk_kinds[]; /* in that order */

/* The row of KEY ("tls.cert"), or NULL. */
const struct config_option *config_find(struct str key);
/* "duration", "address"…: how documentation names the type. */
const char *config_type_name(enum config_type t);

/* ---- the values ---- */

struct config_list {
    const char **items;
    size_t n;
};

/* A remark on something that was read and has no effect. */
struct config_note {
    const char *name, *text;
};

struct config {
    const char *listen, *state;
    const char *config; /* the file that was read; NULL when none was */
    const char *data;   /* NULL: see core/share.h */
    const char *domain;
    int log_level; /* enum log_level */
    int64_t io_threads;
    const char *system_token;
    struct config_list api_tokens;
    struct {
        const char *cert, *key; /* both or none */
        const char *dir;
    } tls;
    struct {
        const char *listen; /* NULL: none */
    } e2b;
    struct {
        int64_t max_connections, max_head, max_body;
    } limits;
    struct {
        int64_t head, body, idle, write, stream, shutdown; /* ms */
    } timeouts;
    struct {
        bool enabled;
        int64_t max_live, max_creates, max_rps;
        int64_t sandbox_memory, sandbox_cpu, sandbox_pids, sandbox_timeout;
        int64_t sandbox_disk, account_disk; /* bytes */
        int64_t account_sandboxes, account_apps, account_app_slots;
        int64_t sandbox_connections, account_connections, account_mail;
        int64_t account_logs, account_events, account_archives, account_volumes;
        int64_t account_snapshots; /* bytes */
        int64_t account_tasks, account_roots, account_tags, account_builds;
        int64_t account_build_files; /* bytes */
    } quota;                         /* see limits.def */
    struct {
        bool enabled;
        const char *envd; /* NULL: see core/share.h */
        int64_t warm;
        int64_t per_spawner;
        const char *cpu_limit, *memory_limit; /* quantities */
        int64_t pids;
        int disk_kind;        /* enum config_disk */
        int64_t disk;         /* bytes */
        int64_t disk_reserve; /* bytes */
        int64_t volume_disk;  /* bytes */
        int64_t keep_images;  /* ms */
        int64_t image_size;
        struct config_list etc;
        bool allow_unenforced;
        bool internet;
        const char *dns, *open_networks; /* lists of addresses, of networks; or NULL */
    } cells;
    struct {
        const char *dir; /* NULL: see instance_set.c */
        const char *url; /* NULL: the host that a client asked */
        int64_t max_live, max_open, threads;
    } apps;
    struct {
        const char *servers;               /* see own_server.h */
        int64_t max_archive, max_unpacked; /* bytes */
        const char *address, *ports; /* of the host, for mail; ports NULL: the kernel chooses */
    } local;
    struct {
        int64_t keep;
        const char *webhook, *webhook_secret;
        struct config_list webhook_reasons;
    } events;
    struct {
        int64_t keep; /* ms */
        int64_t max;
    } logs;
    struct {
        bool public;
    } metrics;

    /* Below: how it was loaded. */
    const char *sources[CONFIG_N_OPTIONS]; /* "default", "flag --listen", "file x.yaml:3"… */
    struct config_note *notes;
    size_t n_notes;
    struct arena arena;
};

struct config_flag {
    const struct config_option *option;
    const char *value;
};

struct config_args {
    const struct config_flag *flags; /* of one option the last counts */
    size_t n_flags;
    char *const *env; /* like environ; NULL: none */
    const char *home; /* NULL: HOME of env */
    bool no_search;   /* reads no file but the one that is named */
    /* Called for every mistake, the last one too; the values after one are still read. NULL: the
     * first ends it. */
    void (*mistake)(void *ctx, const struct err *e);
    void *ctx;
};

/* Fills C. On failure E names the source ("tidepool.yaml:12: unknown key 'lissten' (did you mean
 * 'listen'?)") and C is empty, as after config_done(). 0, -EINVAL, -ENOENT…, -ENOMEM. */
int config_load(struct config *c, const struct config_args *args, struct err *e);
/* Frees everything; secrets are wiped. */
void config_done(struct config *c);

DEFINE_CLEANUP_IN_PLACE(struct config, config_done)

/* Appends the value of an option as a file would have it; "set" for a secret, nothing when it is
 * unset. Returns as buf_add(). */
int config_print(struct buf *out, const struct config *c, const struct config_option *o);
/* Appends the value as JSON ("set" for secrets, null when unset; numbers for durations in ms and
 * sizes in bytes). */
void config_write_json(struct jw *w, const struct config *c, const struct config_option *o);

/* Appends a file with every key, its help and its default, all commented out. */
int config_example(struct buf *out);
