/* SPDX-License-Identifier: MIT */
/* Builds as records: see build.h. */
#include "core/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/build_internal.h"
#include "core/config.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/limits.h"
#include "core/sandbox.h"
#include "loop/work.h"
#include "sys/io.h"

#define FILES_DIR "builds"

enum { THREADS = 2, MAX_JOBS = 1024 };

const char *const build_state_names[BUILD_STATE_COUNT] = {
    [BUILD_WAITING] = "waiting",
    [BUILD_BUILDING] = "building",
    [BUILD_READY] = "ready",
    [BUILD_FAILED] = "error",
};

/* ---- records ---- */

static void build_free(struct build *b)
{
    build_run_free(b->run);
    account_key_unref(b->key);
    list_del(&b->node);
    b->set->n_all--;
    tally_give(b->tally, 1);
    free(b->lines);
    arena_done(&b->arena);
    free(b);
}

static bool is_build_over(const struct build *b)
{
    return b->state == BUILD_READY || b->state == BUILD_FAILED;
}

/* B, an older one, is to go before OTHER: who has the most gives way; of his the oldest that is
 * over, else the oldest that nobody started. */
static bool goes_first(const struct build *b, const struct build *other)
{
    if (!other || b->tally->n != other->tally->n)
        return !other || b->tally->n > other->tally->n;
    return is_build_over(b) || !is_build_over(other);
}

/* Of TALLY's account, or of all when it is NULL. False: all of them are in progress. */
static bool drop_oldest_build(struct builds *set, const struct tally *tally)
{
    struct build *oldest = NULL;

    list_each(node, &set->all)
    {
        struct build *b = list_entry(node, struct build, node);
        if (b->state != BUILD_BUILDING && (!tally || b->tally == tally) && goes_first(b, oldest))
            oldest = b;
    }
    if (oldest)
        build_free(oldest);
    return oldest != NULL;
}

/* First an account has to keep to its share, then all of them to what there is. */
static bool make_build_place(struct builds *set, const struct tally *tally)
{
    bool has_place = true;

    while (has_place && tally->max > 0 && tally->n >= tally->max)
        has_place = drop_oldest_build(set, tally);
    while (has_place && set->n_all >= BUILDS_KEPT)
        has_place = drop_oldest_build(set, NULL);
    return has_place;
}

static size_t n_building(const struct builds *set, const char *account)
{
    size_t n = 0;

    list_each(node, &set->all)
    {
        const struct build *b = list_entry(node, struct build, node);
        n += b->state == BUILD_BUILDING && strcmp(b->account, account) == 0;
    }
    return n;
}

/* A template keeps its id from build to build. */
static void choose_template_id(struct build *b)
{
    const struct build_tag *t = build_tag_next(b->set, NULL, b->account, str_of(b->alias));

    if (t) {
        (void)snprintf(b->template_id, sizeof b->template_id, "%s", t->template_id);
        return;
    }
    list_each(node, &b->set->all)
    {
        const struct build *other = list_entry(node, struct build, node);
        if (other != b && strcmp(other->account, b->account) == 0 &&
            strcmp(other->alias, b->alias) == 0) {
            (void)snprintf(b->template_id, sizeof b->template_id, "%s", other->template_id);
            return;
        }
    }
    id_hex(b->template_id, BUILD_TEMPLATE_ID_LEN);
}

static int check_build_request(const struct build_request *rq, struct err *e)
{
    if (!build_name_is_valid(rq->alias, false))
        return err_set(e, -EINVAL, "Invalid template name \"" STR_FMT "\": use a-z, 0-9, '-', '_'",
                       STR_ARG(str_slice(rq->alias, 0, 100)));
    for (size_t i = 0; rq->tags && i < rq->tags->n; i++)
        if (!build_name_is_valid(json_str(&rq->tags->items[i], STR("")), true))
            return err_set(e, -EINVAL, "Invalid tag: use a-z, 0-9, '-', '_', '.'");
    if (rq->tags && rq->tags->n > BUILD_TAGS_MAX)
        return err_set(e, -EINVAL, "more than %d tags", BUILD_TAGS_MAX);
    return 0;
}

static const struct json *copy_tags(struct build *b, const struct json *tags)
{
    if (tags && tags->n > 0)
        return json_copy(&b->arena, tags);
    struct json *list = json_new_array(&b->arena);
    const struct json *word = json_new_str(&b->arena, STR("default"));
    return list && word && json_push(&b->arena, list, word) == 0 ? list : NULL;
}

struct build *build_new(struct builds *set, const struct build_request *rq, struct err *e)
{
    if (check_build_request(rq, e) < 0)
        return NULL;
    struct tally *tally = limits_tally(set->core->limits, rq->key->account, LIMIT_ACCOUNT_BUILDS);
    if (!make_build_place(set, tally)) {
        (void)err_set(e, -EDQUOT, "too many builds are in progress");
        return NULL;
    }
    struct build *b = mem_zalloc(1, sizeof *b);
    if (!b) {
        (void)err_sys(e, -ENOMEM, "build");
        return NULL;
    }
    b->set = set;
    b->tally = tally;
    tally_add(tally, 1);
    arena_init(&b->arena, 2L * BUILD_LOG_MAX + 4L * BUILD_SPEC_MAX);
    id_uuid(b->id);
    (void)snprintf(b->account, sizeof b->account, "%s", rq->key->account->id);
    (void)snprintf(b->alias, sizeof b->alias, STR_FMT, STR_ARG(rq->alias));
    b->key = account_key_ref(rq->key);
    b->cpu = rq->cpu;
    b->memory_mb = rq->memory_mb;
    b->created_us = clock_real_us();
    b->tags = copy_tags(b, rq->tags);
    choose_template_id(b);
    list_add(&set->all, &b->node);
    set->n_all++;
    if (b->tags)
        return b;
    build_free(b);
    (void)err_sys(e, -ENOMEM, "build");
    return NULL;
}

struct build *build_find(const struct builds *set, struct str id, const struct account_key *key)
{
    list_each(node, &set->all)
    {
        struct build *b = list_entry(node, struct build, node);
        if (str_is(id, b->id) &&
            (key->account->role == ACCOUNT_SYSTEM || strcmp(b->account, key->account->id) == 0))
            return b;
    }
    return NULL;
}

int build_start(struct build *b, const struct json *spec, struct err *e)
{
    if (b->state != BUILD_WAITING)
        return err_set(e, -EINVAL, "build is not in waiting state");
    if (n_building(b->set, b->account) >= BUILDS_AT_ONCE)
        return err_set(e, -EDQUOT, "you have reached the maximum number of concurrent builds (%d)",
                       BUILDS_AT_ONCE);
    int r = disk_guard_check(b->set->core->disk_guard, e);
    return r < 0 ? r : build_run_begin(b, spec, e);
}

/* ---- logs ---- */

static void add_build_line(struct build *b, int step, bool is_error, struct str text)
{
    if (b->n_lines == BUILD_LINES_MAX || b->log_bytes + text.len > BUILD_LOG_MAX)
        return;
    if (b->n_lines % 256 == 0) {
        struct build_line *more = realloc(b->lines, (b->n_lines + 256) * sizeof *more);
        if (!more)
            return;
        b->lines = more;
    }
    struct str copy = arena_str(&b->arena, text);
    if (!copy.p)
        return;
    b->log_bytes += text.len;
    b->lines[b->n_lines++] = (struct build_line){
        .at_us = clock_real_us(), .is_error = is_error, .step = step, .text = copy};
}

void build_log(struct build *b, int step, bool is_error, struct str text)
{
    while (text.len > 0 && b->n_lines < BUILD_LINES_MAX) {
        struct str line = str_cut(&text, '\n');
        for (; line.len > BUILD_LINE_MAX; line = str_skip(line, BUILD_LINE_MAX))
            add_build_line(b, step, is_error, str_slice(line, 0, BUILD_LINE_MAX));
        add_build_line(b, step, is_error, line);
        if (!text.p)
            return;
    }
}

/* ---- the set ---- */

/* What a stop broke off. */
static void end_leftovers(const struct builds *set)
{
    struct sandbox *sb = NULL;

    for (struct sandbox *next = sandbox_next(set->core->sandboxes, NULL); (sb = next);) {
        next = sandbox_next(set->core->sandboxes, sb);
        if (json_get(sb->spec.extra, "build"))
            (void)sandbox_delete(sb, NULL, NULL);
    }
}

struct builds *builds_open(struct core *c, struct err *e)
{
    struct builds *set = mem_zalloc(1, sizeof *set);

    if (!set) {
        (void)err_sys(e, -ENOMEM, "builds");
        return NULL;
    }
    set->core = c;
    list_init(&set->all);
    list_init(&set->tags);
    list_init(&set->uploads);
    int r = 0;
    if (snprintf(set->dir, sizeof set->dir, "%s/" FILES_DIR, c->config->state) >=
        (int)sizeof set->dir)
        r = err_sys(e, -ENAMETOOLONG, "builds");
    if (r == 0)
        r = io_mkdirs(set->dir, 0700, e);
    if (r == 0)
        r = builds_load_tags(set, e);
    set->workers = r == 0 ? work_pool_new(THREADS, MAX_JOBS, e) : NULL;
    if (!set->workers) {
        builds_free(set);
        return NULL;
    }
    build_files_sweep(set);
    end_leftovers(set);
    return set;
}

void builds_free(struct builds *set)
{
    if (!set)
        return;
    while (!list_is_empty(&set->all))
        build_free(list_entry(set->all.next, struct build, node));
    while (!list_is_empty(&set->tags))
        build_tag_free(list_entry(set->tags.next, struct build_tag, node));
    work_pool_free(set->workers);
    /* What the threads have posted. */
    (void)loop_run_once(set->core->loop, 0);
    free(set);
}
