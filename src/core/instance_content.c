/* SPDX-License-Identifier: MIT */
/* What operations do with databases; on the loop's thread or a worker's. Who runs one has the
 * instance's `own` to itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/db/deadline.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "core/instance_backup.h"
#include "core/instance_calls.h"
#include "core/instance_internal.h"

/* Shorthands of an operation under way. */
struct content_job {
    struct instance *in;
    struct instance_own *own;
    struct instance_op *op;
    const struct app *app;
    const struct app_engine *engine;
    struct app_home *home;
    const char *name, *base; /* of its own databases */
    bool is_brief;
};

static struct content_job content_job_of(struct instance *in, struct instance_op *op, bool is_brief)
{
    struct instance_template *t = in->own->template;

    return (struct content_job){.in = in,
                                .own = in->own,
                                .op = op,
                                .app = t->entry->app,
                                .engine = t->entry->app->engine,
                                .home = t->home,
                                .name = in->own->name,
                                .base = in->own->base,
                                .is_brief = is_brief};
}

static void close_own(struct content_job *j, bool is_dropped)
{
    if (j->own->handle)
        j->engine->close(take(j->own->handle), is_dropped);
}

/* The open database for reading: the own one when there is, else the template. */
static int open_reader(struct content_job *j, struct app_handle **ret, struct err *e)
{
    struct instance_own *own = j->own;
    int r = 0;

    if (own->has_copy && !own->handle)
        r = j->engine->open(j->home, j->app, j->name, false, &own->handle, e);
    else if (!own->has_copy && !own->reader)
        r = j->engine->open(j->home, j->app, own->template->name, true, &own->reader, e);
    if (r < 0)
        return r;
    *ret = own->has_copy ? own->handle : own->reader;
    j->engine->tune(*ret, j->in->seed, j->in->start_us);
    return 0;
}

static int make_content_copy(struct content_job *j, struct err *e)
{
    if (j->own->has_copy)
        return 0;
    int r = j->engine->copy(j->home, j->own->template->name, j->name, e);
    if (r == 0)
        j->own->has_copy = true;
    return r;
}

static int open_writer(struct content_job *j, struct app_handle **ret, struct err *e)
{
    int r = make_content_copy(j, e);

    return r < 0 ? r : open_reader(j, ret, e);
}

static void see_snapshot(void *ctx, const char *word)
{
    struct content_job *j = ctx;
    struct instance_own *own = j->own;
    struct str s = str_of(word), head = str_of(j->in->id);

    if (!str_starts(s, head) || word[head.len] != '.' || own->n_snapshots == INSTANCE_MAX_SNAPSHOTS)
        return;
    own->snapshots[own->n_snapshots] = mem_strdup(word + head.len + 1);
    own->n_snapshots += own->snapshots[own->n_snapshots] != NULL;
}

/* After a restart: what was left of it. */
static void restore_content(struct content_job *j)
{
    if (!j->own->is_restored)
        return;
    j->own->is_restored = false;
    j->own->has_copy = j->engine->has(j->home, j->name);
    j->own->has_base = j->engine->has(j->home, j->base);
    (void)j->engine->each(j->home, "snapshots", see_snapshot, j);
}

static int run_content_call(struct content_job *j, struct err *e)
{
    struct instance_op *op = j->op;
    const struct app_tool *tool = app_tool(j->app, op->name);
    struct app_handle *x;

    if (!tool)
        return app_call_unknown(j->app, op->name, op->arena, &op->answer);
    int r = tool->is_read_only ? open_reader(j, &x, e) : open_writer(j, &x, e);
    if (r < 0)
        return r;
    const struct app_tool_call call = {
        .tool = tool, .args = op->args, .arena = op->arena, .is_brief = j->is_brief};
    return j->engine->call(x, &call, &op->answer, e);
}

static int run_reset(struct content_job *j, struct err *e)
{
    close_own(j, true);
    int r = j->engine->drop(j->home, j->name, e);
    if (r < 0)
        return r;
    j->own->has_copy = false;
    r = j->own->has_base ? j->engine->drop(j->home, j->base, e) : 0;
    j->own->has_base = j->own->has_base && r < 0;
    return r;
}

/* The state after an import is what later changes are compared with. */
static int run_content_import(struct content_job *j, struct err *e)
{
    struct app_handle *x;
    int r = open_writer(j, &x, e);

    if (r == 0)
        r = j->engine->import(x, j->op->args, j->op->arena, &j->op->text, e);
    if (r < 0)
        return r;
    close_own(j, false);
    r = j->engine->copy(j->home, j->name, j->base, e);
    j->own->has_base |= r == 0;
    return r;
}

static int run_export(struct content_job *j, struct err *e)
{
    struct app_handle *x;
    int r = open_reader(j, &x, e);

    return r < 0 ? r : j->engine->export(x, j->op->arena, &j->op->text, e);
}

/* ---- snapshots ---- */

static bool is_content_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool is_plain = ascii_is_alnum(c);
        if (!is_plain && c != '_' && c != '-' && (c != '.' || i == 0))
            return false;
    }
    return s.len > 0 && s.len <= INSTANCE_SNAPSHOT_NAME_MAX;
}

static void put_content_snapshot(const struct content_job *j, struct str name,
                                 char out[INSTANCE_NAME_MAX])
{
    (void)snprintf(out, INSTANCE_NAME_MAX, "snapshots/%s." STR_FMT, j->in->id, STR_ARG(name));
}

/* Its place among the snapshots, or -1. */
static int find_snapshot(const struct instance_own *own, struct str name)
{
    for (unsigned i = 0; i < own->n_snapshots; i++) {
        if (str_is(name, own->snapshots[i]))
            return (int)i;
    }
    return -1;
}

/* The database that has the content now; nobody writes to it until it is opened again. */
static const char *settled(struct content_job *j)
{
    close_own(j, false);
    return j->own->has_copy ? j->name : j->own->template->name;
}

static int run_snapshot(struct content_job *j, struct err *e)
{
    struct instance_own *own = j->own;
    struct str name = j->op->name;
    char target[INSTANCE_NAME_MAX];
    int at = find_snapshot(own, name);

    if (!is_content_name(name))
        return err_set(e, -EINVAL,
                       "the snapshot name must be 1 to %d letters, digits, '.', '_' or '-'",
                       INSTANCE_SNAPSHOT_NAME_MAX);
    if (at < 0 && own->n_snapshots == INSTANCE_MAX_SNAPSHOTS)
        return err_set(e, -ENOSPC, "too many snapshots: the limit is %d", INSTANCE_MAX_SNAPSHOTS);
    char *kept = at < 0 ? mem_strndup(name.p, name.len) : NULL;
    if (at < 0 && !kept)
        return err_set(e, -ENOMEM, "out of memory");
    put_content_snapshot(j, name, target);
    int r = j->engine->copy(j->home, settled(j), target, e);
    if (r == 0 && kept)
        own->snapshots[own->n_snapshots++] = kept;
    else
        free(kept);
    return r;
}

/* The database of the snapshot that the operation names. */
static int named_snapshot(const struct content_job *j, char out[INSTANCE_NAME_MAX], struct err *e)
{
    if (find_snapshot(j->own, j->op->name) < 0)
        return err_set(e, -ENOENT, "no snapshot named '" STR_FMT "'", STR_ARG(j->op->name));
    put_content_snapshot(j, j->op->name, out);
    return 0;
}

static int run_restore(struct content_job *j, struct err *e)
{
    char source[INSTANCE_NAME_MAX];

    if (named_snapshot(j, source, e) < 0)
        return -ENOENT;
    close_own(j, false);
    int r = j->engine->copy(j->home, source, j->name, e);
    j->own->has_copy |= r == 0;
    return r;
}

static int give(struct content_job *j, struct buf *text, struct err *e)
{
    j->op->text = buf_ok(text) ? arena_str(j->op->arena, buf_str(text)) : STR_NULL;
    return j->op->text.p ? 0 : err_set(e, -E2BIG, "the answer is too large");
}

static int run_snapshots(struct content_job *j, struct err *e)
{
    auto_buf struct buf text = BUF_INIT(64 << 10);
    struct jw w = jw_to(&text);

    jw_array(&w);
    for (unsigned i = 0; i < j->own->n_snapshots; i++)
        jw_cstr(&w, j->own->snapshots[i]);
    jw_end(&w);
    return give(j, &text, e);
}

/* What a release leaves nothing of. */
static int run_drop(struct content_job *j, struct err *e)
{
    char name[INSTANCE_NAME_MAX];

    for (unsigned i = 0; i < j->own->n_snapshots; i++) {
        put_content_snapshot(j, str_of(j->own->snapshots[i]), name);
        (void)j->engine->drop(j->home, name, NULL);
    }
    return run_reset(j, e);
}

/* ---- looking ---- */

static int run_diff(struct content_job *j, struct err *e)
{
    auto_buf struct buf text = BUF_INIT(APPDB_RESULT_MAX);
    bool has_base = j->own->has_base && !str_is(j->op->name, "initial");
    const char *base = has_base ? j->base : j->own->template->name;
    int r = j->engine->diff(j->home, base, settled(j), &text, e);

    return r < 0 ? r : give(j, &text, e);
}

/* Here, as the results may be long. */
static int count_passed(struct content_job *j, struct str results, struct err *e)
{
    struct arena a auto_arena;

    arena_init(&a, 16 * (size_t)APPDB_RESULT_MAX);
    const struct json *all = json_parse(&a, results, NULL, e);
    for (size_t i = 0; all && i < all->n; i++) {
        bool is_passed = json_bool(json_get(&all->items[i], "passed"), false);
        j->op->n_passed += is_passed;
        j->op->n_failed += !is_passed;
    }
    return all ? 0 : e->code;
}

static int run_content_verify(struct content_job *j, struct err *e)
{
    auto_buf struct buf text = BUF_INIT(APPDB_RESULT_MAX);
    int r = j->engine->verify(j->home, j->app, settled(j), j->op->args, &text, e);

    if (r == 0)
        r = count_passed(j, buf_str(&text), e);
    return r < 0 ? r : give(j, &text, e);
}

static int run_calls(struct content_job *j, struct err *e)
{
    return calls_read(j->in, j->op, e);
}

static int run_close(struct content_job *j, struct err *e)
{
    (void)e;
    close_own(j, false);
    return 0;
}

/* The targets are being acquired: nobody else knows them. */
static int run_copy_out(struct content_job *j, struct err *e)
{
    char snapshot[INSTANCE_NAME_MAX];
    bool is_named = j->op->name.len > 0;
    int r = is_named ? named_snapshot(j, snapshot, e) : 0;
    const char *from = is_named ? snapshot : settled(j);
    bool has_content = is_named || j->own->has_copy;

    for (size_t i = 0; r == 0 && has_content && i < j->op->n_targets; i++) {
        struct instance_own *to = j->op->targets[i]->own;
        r = j->engine->copy(j->home, from, to->name, e);
        to->has_copy = r == 0;
        if (r < 0 || !j->own->has_base)
            continue;
        r = j->engine->copy(j->home, j->base, to->base, e);
        to->has_base = r == 0;
    }
    return r;
}

/* ---- backups ---- */

/* A copy of the database NAME in the folder for backups. */
static int save_content(const struct content_job *j, const char *name, struct err *e)
{
    char to[sizeof INSTANCES_SAVED + INSTANCE_NAME_MAX];

    (void)snprintf(to, sizeof to, INSTANCES_SAVED "/%s", name);
    return j->engine->copy(j->home, name, to, e);
}

static int run_save(struct content_job *j, struct err *e)
{
    char name[INSTANCE_NAME_MAX];
    int r = calls_save(j->in, e);

    if (j->engine != &app_engine_sqlite)
        return r;
    close_own(j, false);
    if (r == 0 && j->own->has_copy)
        r = save_content(j, j->name, e);
    if (r == 0 && j->own->has_base)
        r = save_content(j, j->base, e);
    for (unsigned i = 0; r == 0 && i < j->own->n_snapshots; i++) {
        put_content_snapshot(j, str_of(j->own->snapshots[i]), name);
        r = save_content(j, name, e);
    }
    return r;
}

enum {
    TENANT_MAX_MS = 30000, /* of what a tenant chooses the cost of */
    COPY_MAX_MS = 120000   /* of what copies and removes databases */
};

/* What each operation does, how long that may take, and whether it is short enough for the loop's
 * thread. */
static const struct {
    int (*run)(struct content_job *j, struct err *e);
    int max_ms;
    bool is_short;
} kinds[] = {
    [INSTANCE_CALL] = {run_content_call, TENANT_MAX_MS, true},
    [INSTANCE_RESET] = {run_reset, COPY_MAX_MS, true},
    [INSTANCE_IMPORT] = {run_content_import, COPY_MAX_MS, false},
    [INSTANCE_EXPORT] = {run_export, TENANT_MAX_MS, false},
    [INSTANCE_DIFF] = {run_diff, TENANT_MAX_MS, false},
    [INSTANCE_VERIFY] = {run_content_verify, TENANT_MAX_MS, false},
    [INSTANCE_SNAPSHOT] = {run_snapshot, COPY_MAX_MS, false},
    [INSTANCE_RESTORE] = {run_restore, COPY_MAX_MS, false},
    [INSTANCE_SNAPSHOTS] = {run_snapshots, TENANT_MAX_MS, true},
    [INSTANCE_CALLS] = {run_calls, TENANT_MAX_MS, false},
    [INSTANCE_DROP] = {run_drop, COPY_MAX_MS, true},
    [INSTANCE_COPY_OUT] = {run_copy_out, COPY_MAX_MS, false},
    [INSTANCE_CLOSE] = {run_close, TENANT_MAX_MS, false},
    [INSTANCE_SAVE] = {run_save, COPY_MAX_MS, false},
};

bool content_is_short(enum instance_do what)
{
    return kinds[what].is_short;
}

int content_run(struct instance *in, struct instance_op *op, bool is_brief)
{
    struct content_job j = content_job_of(in, op, is_brief);
    struct err e = ERR_INIT;

    /* On the loop's thread the limits of what is brief are shorter. */
    deadline_begin(is_brief ? 0 : kinds[op->what].max_ms);
    restore_content(&j);
    int r = kinds[op->what].run(&j, &e);
    deadline_begin(0);

    op->err.code = 0;
    if (r < 0 && !e.code)
        (void)err_sys(&e, r, "%s", j.app->name);
    if (r < 0)
        op->err = e;
    return r;
}
