/* SPDX-License-Identifier: MIT */
/* What the files of core/build*.c share. */
#pragma once

#include "base/buf.h"
#include "core/build.h"
#include "sys/digest.h"

struct sandbox;
struct store_tx;
struct work_pool;

enum { BUILD_HASH_LEN = 2 * DIGEST_SHA256_LEN };

struct builds {
    struct core *core;
    struct list all;     /* struct build */
    struct list tags;    /* struct build_tag, by account and alias */
    struct list uploads; /* struct build_upload */
    size_t n_all;
    struct work_pool *workers; /* read files */
    char dir[PATH_MAX];        /* of files */
};

/* ---- build_tags.c ---- */
int builds_load_tags(struct builds *set, struct err *e);
void build_tag_free(struct build_tag *t);
/* Makes the tags of B stand for ROOT; FN is called when that is durable. -errno without a call,
 * perhaps with E filled. */
int build_publish(struct build *b, const struct root *root, build_done_fn *fn, void *ctx,
                  struct err *e);

/* ---- build_run.c ---- */

/* How far a build is, and what the steps so far have set. */
struct build_run {
    struct build *build;
    struct sandbox *sb; /* a reference; NULL: not there yet */
    const struct json *steps;
    struct root *base; /* a reference; NULL: the default template */
    struct str template_name;
    struct str start_cmd, ready_cmd;
    size_t at; /* the step that is run */
    int64_t step_us;
    struct json *env;
    struct str user, workdir;
    char (*keys)[BUILD_HASH_LEN + 1]; /* what the cache calls the state after each step; [0]: base,
                                       * the last: with the commands for the start */
    struct arena arena;
    struct arena scratch; /* words of the command that is started */
    struct build_copy *copy;
};
int build_run_begin(struct build *b, const struct json *spec, struct err *e);
void build_run_free(struct build_run *run);
/* Adds a line, or several, to the log. */
void build_log(struct build *b, int step, bool is_error, struct str text);

/* ---- build_copy.c ---- */

/* Sends the archive PATH to the sandbox as the file TO and calls FN. NULL with E filled. */
struct build_copy *build_copy_begin(struct build_run *run, const char *path, const char *to,
                                    build_done_fn *fn, struct err *e);
/* FN is not called. NULL is allowed. */
void build_copy_drop(struct build_copy *c);

/* ---- build_files.c ---- */

/* Removes uploads that a stop broke off. */
void build_files_sweep(const struct builds *set);
