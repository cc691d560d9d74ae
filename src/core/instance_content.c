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

/* ---- where an operation takes place ---- */

static const struct app *app_of_op(const struct instance_op *op)
{
    return op->in->own->template->entry->app;
}

static const struct app_engine *engine_of_op(const struct instance_op *op)
{
    return app_of_op(op)->engine;
}

static struct app_home *home_of_op(const struct instance_op *op)
{
    return op->in->own->template->home;
}

static void close_own(struct instance_op *op, bool is_dropped)
{
    struct instance_own *own = op->in->own;

    if (own->handle)
        engine_of_op(op)->close(take(own->handle), is_dropped);
}

/* The open database for reading: the own one when there is, else the template. */
static int open_reader(struct instance_op *op, struct app_handle **ret, struct err *e)
{
    struct instance_own *own = op->in->own;
    int r = 0;

    if (own->has_copy && !own->handle)
        r = engine_of_op(op)->open(home_of_op(op), app_of_op(op), own->name, false, &own->handle,
                                   e);
    else if (!own->has_copy && !own->reader)
        r = engine_of_op(op)->open(home_of_op(op), app_of_op(op), own->template->name, true,
                                   &own->reader, e);
    if (r < 0)
        return r;
    *ret = own->has_copy ? own->handle : own->reader;
    engine_of_op(op)->tune(*ret, op->in->seed, op->in->start_us);
    return 0;
}

static int make_content_copy(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;

    if (own->has_copy)
        return 0;
    int r = engine_of_op(op)->copy(home_of_op(op), own->template->name, own->name, e);
    if (r == 0)
        own->has_copy = true;
    return r;
}

static int open_writer(struct instance_op *op, struct app_handle **ret, struct err *e)
{
    int r = make_content_copy(op, e);

    return r < 0 ? r : open_reader(op, ret, e);
}

static void see_snapshot(void *ctx, const char *word)
{
    struct instance_op *op = ctx;
    struct instance_own *own = op->in->own;
    struct str s = str_of(word), head = str_of(op->in->id);

    if (!str_starts(s, head) || word[head.len] != '.' || own->n_snapshots == INSTANCE_MAX_SNAPSHOTS)
        return;
    own->snapshots[own->n_snapshots] = mem_strdup(word + head.len + 1);
    own->n_snapshots += own->snapshots[own->n_snapshots] != NULL;
}

/* After a restart: what was left of it. */
static void restore_content(struct instance_op *op)
{
    struct instance_own *own = op->in->own;

    if (!own->is_restored)
        return;
    own->is_restored = false;
    own->has_copy = engine_of_op(op)->has(home_of_op(op), own->name);
    own->has_base = engine_of_op(op)->has(home_of_op(op), own->base);
    (void)engine_of_op(op)->each(home_of_op(op), "snapshots", see_snapshot, op);
}

static int run_content_call(struct instance_op *op, struct err *e)
{
    const struct app_tool *tool = app_tool(app_of_op(op), op->name);
    struct app_handle *x;

    if (!tool)
        return app_call_unknown(app_of_op(op), op->name, op->arena, &op->answer);
    int r = tool->is_read_only ? open_reader(op, &x, e) : open_writer(op, &x, e);
    if (r < 0)
        return r;
    struct app_call call = {.tool = tool,
                            .args = op->args,
                            .arena = op->arena,
                            .limits = op->is_brief ? APPDB_BRIEF : APPDB_USUAL};
    return app_call(x, app_of_op(op), &call, &op->answer, e);
}

static int run_reset(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;

    close_own(op, true);
    int r = engine_of_op(op)->drop(home_of_op(op), own->name, e);
    if (r < 0)
        return r;
    own->has_copy = false;
    r = own->has_base ? engine_of_op(op)->drop(home_of_op(op), own->base, e) : 0;
    own->has_base = own->has_base && r < 0;
    return r;
}

/* The state after an import is what later changes are compared with. */
static int run_content_import(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    struct app_handle *x;
    int r = open_writer(op, &x, e);

    if (r == 0)
        r = engine_of_op(op)->import(x, op->args, op->arena, &op->text, e);
    if (r < 0)
        return r;
    close_own(op, false);
    r = engine_of_op(op)->copy(home_of_op(op), own->name, own->base, e);
    own->has_base |= r == 0;
    return r;
}

static int run_export(struct instance_op *op, struct err *e)
{
    struct app_handle *x;
    int r = open_reader(op, &x, e);

    return r < 0 ? r : engine_of_op(op)->export(x, op->arena, &op->text, e);
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

static void put_content_snapshot(const struct instance_op *op, struct str name,
                                 char out[INSTANCE_NAME_MAX])
{
    (void)snprintf(out, INSTANCE_NAME_MAX, "snapshots/%s." STR_FMT, op->in->id, STR_ARG(name));
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
static const char *settled(struct instance_op *op)
{
    close_own(op, false);
    return op->in->own->has_copy ? op->in->own->name : op->in->own->template->name;
}

static int run_snapshot(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    struct str name = op->name;
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
    put_content_snapshot(op, name, target);
    int r = engine_of_op(op)->copy(home_of_op(op), settled(op), target, e);
    if (r == 0 && kept)
        own->snapshots[own->n_snapshots++] = kept;
    else
        free(kept);
    return r;
}

/* The database of the snapshot that the operation names. */
static int named_snapshot(const struct instance_op *op, char out[INSTANCE_NAME_MAX], struct err *e)
{
    if (find_snapshot(op->in->own, op->name) < 0)
        return err_set(e, -ENOENT, "no snapshot named '" STR_FMT "'", STR_ARG(op->name));
    put_content_snapshot(op, op->name, out);
    return 0;
}

static int run_restore(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    char source[INSTANCE_NAME_MAX];

    if (named_snapshot(op, source, e) < 0)
        return -ENOENT;
    close_own(op, false);
    int r = engine_of_op(op)->copy(home_of_op(op), source, own->name, e);
    own->has_copy |= r == 0;
    return r;
}

static int give(struct instance_op *op, struct buf *text, struct err *e)
{
    op->text = buf_ok(text) ? arena_str(op->arena, buf_str(text)) : STR_NULL;
    return op->text.p ? 0 : err_set(e, -E2BIG, "the answer is too large");
}

static int run_snapshots(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    auto_buf struct buf text = BUF_INIT(64 << 10);
    struct jw w = jw_to(&text);

    jw_array(&w);
    for (unsigned i = 0; i < own->n_snapshots; i++)
        jw_cstr(&w, own->snapshots[i]);
    jw_end(&w);
    return give(op, &text, e);
}

/* What a release leaves nothing of. */
static int run_drop(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    char name[INSTANCE_NAME_MAX];

    for (unsigned i = 0; i < own->n_snapshots; i++) {
        put_content_snapshot(op, str_of(own->snapshots[i]), name);
        (void)engine_of_op(op)->drop(home_of_op(op), name, NULL);
    }
    return run_reset(op, e);
}

/* ---- looking ---- */

static int run_diff(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    auto_buf struct buf text = BUF_INIT(APPDB_RESULT_MAX);
    bool has_base = own->has_base && !str_is(op->name, "initial");
    const char *base = has_base ? own->base : own->template->name;
    int r = engine_of_op(op)->diff(home_of_op(op), base, settled(op), &text, e);

    return r < 0 ? r : give(op, &text, e);
}

/* Here, as the results may be long. */
static int count_passed(struct instance_op *op, struct str results, struct err *e)
{
    struct arena a auto_arena;

    arena_init(&a, 16 * (size_t)APPDB_RESULT_MAX);
    const struct json *all = json_parse(&a, results, NULL, e);
    for (size_t i = 0; all && i < all->n; i++) {
        bool is_passed = json_bool(json_get(&all->items[i], "passed"), false);
        op->n_passed += is_passed;
        op->n_failed += !is_passed;
    }
    return all ? 0 : e->code;
}

static int run_content_verify(struct instance_op *op, struct err *e)
{
    auto_buf struct buf text = BUF_INIT(APPDB_RESULT_MAX);
    int r =
        engine_of_op(op)->verify(home_of_op(op), app_of_op(op), settled(op), op->args, &text, e);

    if (r == 0)
        r = count_passed(op, buf_str(&text), e);
    return r < 0 ? r : give(op, &text, e);
}

static int run_calls(struct instance_op *op, struct err *e)
{
    return calls_read(op->in, op, e);
}

static int run_close(struct instance_op *op, struct err *e)
{
    (void)e;
    close_own(op, false);
    return 0;
}

/* The targets are being acquired: nobody else knows them. */
static int run_copy_out(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    char snapshot[INSTANCE_NAME_MAX];
    bool is_named = op->name.len > 0;
    int r = is_named ? named_snapshot(op, snapshot, e) : 0;
    const char *from = is_named ? snapshot : settled(op);
    bool has_content = is_named || own->has_copy;

    for (size_t i = 0; r == 0 && has_content && i < op->n_targets; i++) {
        struct instance_own *to = op->targets[i]->own;
        r = engine_of_op(op)->copy(home_of_op(op), from, to->name, e);
        to->has_copy = r == 0;
        if (r < 0 || !own->has_base)
            continue;
        r = engine_of_op(op)->copy(home_of_op(op), own->base, to->base, e);
        to->has_base = r == 0;
    }
    return r;
}

/* ---- backups ---- */

/* A copy of the database NAME in the folder for backups. */
static int save_content(const struct instance_op *op, const char *name, struct err *e)
{
    char to[sizeof INSTANCES_SAVED + INSTANCE_NAME_MAX];

    (void)snprintf(to, sizeof to, INSTANCES_SAVED "/%s", name);
    return engine_of_op(op)->copy(home_of_op(op), name, to, e);
}

static int run_save(struct instance_op *op, struct err *e)
{
    struct instance_own *own = op->in->own;
    char name[INSTANCE_NAME_MAX];
    int r = calls_save(op->in, e);

    if (engine_of_op(op) != &app_engine_sqlite)
        return r;
    close_own(op, false);
    if (r == 0 && own->has_copy)
        r = save_content(op, own->name, e);
    if (r == 0 && own->has_base)
        r = save_content(op, own->base, e);
    for (unsigned i = 0; r == 0 && i < own->n_snapshots; i++) {
        put_content_snapshot(op, str_of(own->snapshots[i]), name);
        r = save_content(op, name, e);
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
    int (*run)(struct instance_op *op, struct err *e);
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

int content_run(struct instance_op *op, bool is_brief)
{
    struct err e = ERR_INIT;

    op->is_brief = is_brief;
    /* On the loop's thread the limits of what is brief are shorter. */
    deadline_begin(is_brief ? 0 : kinds[op->what].max_ms);
    restore_content(op);
    int r = kinds[op->what].run(op, &e);
    deadline_begin(0);

    op->err.code = 0;
    if (r < 0 && !e.code)
        (void)err_sys(&e, r, "%s", app_of_op(op)->name);
    if (r < 0)
        op->err = e;
    return r;
}
