/* SPDX-License-Identifier: MIT */
/* Builds of templates, as clients of E2B describe them: a base, steps that are run in a sandbox of
 * its own, and commands for the start. What comes out is a root (core/root.h) under one or more
 * tags of the template's alias.
 *
 *     waiting → building → ready or failed
 *
 * Finished builds are roots and rows of tags, and survive the service; those in progress, their
 * logs and what is only waiting do not. All of it belongs to the loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/id.h"
#include "base/json.h"
#include "base/list.h"
#include "core/account.h"
#include "core/root.h"

struct builds;
struct core;
struct sandbox_args;
struct tally;

enum {
    BUILD_TEMPLATE_ID_LEN = 20,
    BUILD_NAME_MAX = 128, /* bytes of an alias, and of a tag */
    BUILD_TAGS_MAX = 16,  /* of one request */
    BUILD_STEPS_MAX = 256,
    BUILD_SPEC_MAX = 1 << 20, /* bytes of a description, as it is kept */
    BUILD_LOG_MAX = 1 << 20,  /* bytes of log; later lines are dropped */
    BUILD_LINE_MAX = 8192,    /* bytes of a line; longer ones are several */
    BUILD_LINES_MAX = 20000,
    BUILDS_KEPT = 256,      /* records; of who has the most, the oldest finished ones go */
    BUILDS_AT_ONCE = 4,     /* of one account */
    BUILD_UPLOADS_MAX = 16, /* of one account at once */
    BUILD_STEP_MS = 1800000 /* of one step */
};

enum build_state { BUILD_WAITING, BUILD_BUILDING, BUILD_READY, BUILD_FAILED, BUILD_STATE_COUNT };
/* "waiting", "building", "ready", "error" */
extern const char *const build_state_names[BUILD_STATE_COUNT];

/* Where something happened: a step counts from 1. */
enum { BUILD_AT_BASE = 0, BUILD_AT_FINALIZE = -1 };

struct build_line {
    int64_t at_us;
    bool is_error;
    int step;
    struct str text;
};

struct build {
    struct list node; /* newest first */
    struct builds *set;
    char id[ID_UUID_LEN + 1], template_id[BUILD_TEMPLATE_ID_LEN + 1];
    char account[ACCOUNT_ID_MAX + 1], alias[BUILD_NAME_MAX + 1];
    const struct json *tags; /* array of strings, not empty */
    int64_t cpu, memory_mb;  /* 0: the default */
    int64_t created_us;
    enum build_state state;
    bool is_cancelled;
    struct build_line *lines;
    size_t n_lines, log_bytes;
    int failed_step; /* and why, when it has failed */
    char failure[512];
    struct arena arena;
    struct build_run *run; /* while it is built */
    struct account_key *key;
    struct tally *tally;
};

/* A tag of a template and the build it stands for. */
struct build_tag {
    struct list node;
    char account[ACCOUNT_ID_MAX + 1];
    char alias[BUILD_NAME_MAX + 1], tag[BUILD_NAME_MAX + 1];
    char template_id[BUILD_TEMPLATE_ID_LEN + 1], build_id[ID_UUID_LEN + 1];
    char root[ROOT_ID_MAX];
    int64_t created_us;
    struct tally *tally; /* NULL: it is not in the list yet */
};

/* Reads the tags; ends sandboxes of builds that a stop broke off. NULL with E filled. */
struct builds *builds_open(struct core *c, struct err *e);
void builds_free(struct builds *set);

/* ---- names ---- */

/* An alias, or a tag with IS_TAG: lowercase letters, digits, '-', '_', and '.' in tags. */
bool build_name_is_valid(struct str name, bool is_tag);

/* ---- builds ---- */

struct build_request {
    struct account_key *key;
    struct str alias;
    const struct json *tags; /* array of strings; NULL or empty: "default" */
    int64_t cpu, memory_mb;
};
/* A new build that waits. NULL with E filled: -EINVAL, -EDQUOT, -ENOMEM. */
struct build *build_new(struct builds *set, const struct build_request *rq, struct err *e);
struct build *build_find(const struct builds *set, struct str id, const struct account_key *key);
/* Starts B with what the client says: fromImage or fromTemplate, steps, startCmd, readyCmd, force.
 * -EINVAL with E filled when B does not wait or SPEC is malformed; what fails later is in B. */
int build_start(struct build *b, const struct json *spec, struct err *e);
/* Breaks it off: it fails soon, or becomes ready if it is being saved already. */
void build_cancel(struct build *b);

/* ---- tags ---- */

/* The tag of NAME, an alias or the id of a template; TAG empty: "default". NULL: none. */
struct build_tag *build_tag_find(const struct builds *set, const char *account, struct str name,
                                 struct str tag);
/* The next tag after T (NULL: the first) of the account's template with this alias or id; NAME
 * empty: of all its templates, those of one alias one after another. */
struct build_tag *build_tag_next(const struct builds *set, const struct build_tag *t,
                                 const char *account, struct str name);
/* E is NULL on success. */
typedef void build_done_fn(void *ctx, const struct err *e);
/* Has more tags stand for what T does. Without a call, with E filled: -EDQUOT. */
int build_tag_add(struct builds *set, const struct build_tag *t, const struct json *tags,
                  build_done_fn *fn, void *ctx, struct err *e);
/* Removes tags of ALIAS; NULL: all, and the template. Roots that no tag has any more go. */
int build_tag_remove(struct builds *set, const char *account, struct str alias,
                     const struct json *tags, build_done_fn *fn, void *ctx);
/* What a sandbox of T's build is created with. */
int build_apply(const struct builds *set, const struct build_tag *t, struct sandbox_args *args,
                struct arena *a);

/* ---- files that steps copy ---- */

/* The path of the archive with this hash, made by the client: 64 hex digits. 0 or -EINVAL. */
int build_file_path(const struct builds *set, const char *account, struct str hash,
                    char ret[PATH_MAX]);
/* An upload on its way; it counts until build_upload_end(). */
struct build_upload {
    struct list node;
    char account[ACCOUNT_ID_MAX + 1];
};
/* 0, or -EDQUOT with E filled: the account has BUILD_UPLOADS_MAX. */
int build_upload_begin(struct builds *set, struct build_upload *u, struct str account,
                       struct err *e);
void build_upload_end(struct build_upload *u);
/* Has a worker remove PATH (NULL: none) and what ACCOUNT has beyond quota.account_build_files. */
void build_files_trim(struct builds *set, const char *account, const char *path);
