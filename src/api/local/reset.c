/* SPDX-License-Identifier: MIT */
/* The steps of a reset, last one first: see reset.h. `at` counts archives, then hooks. */
#include "api/local/reset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/apps.h"
#include "api/local/archive.h"
#include "api/local/transfer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/sandbox.h"
#include "sys/io.h"

enum {
    JOURNAL_MAX = 1 << 20,
    ARENA_MAX = 8 << 20,
    TRIES = 30,
    RETRY_MS = 1000, /* while no cell can be had */
    ANSWER_MAX = 4096
};

struct resets {
    struct locals *locals;
    struct list items;
};

struct cell_reset {
    struct list node;
    struct resets *set;
    struct api_req *r; /* who asked; NULL: nobody waits any more */
    struct arena arena;
    char id[LOCAL_ID_LEN + 1];
    const struct json *journal; /* {"old", "key", "expires_us", "extra"} */
    struct sandbox *sb;         /* the new one; a reference */
    struct loop_timer timer;
    unsigned n_tries, n_inits, at; /* at: which archive or hook is next */
};

/* ---- the end ---- */

static void drop_reset(struct cell_reset *t)
{
    loop_timer_stop(&t->timer);
    list_del(&t->node);
    if (t->sb)
        sandbox_unref(t->sb);
    arena_done(&t->arena);
    free(t);
}

static void reply(struct api_req *r, const char *id)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "sandbox_id");
    jw_str(&w, str_of(id));
    jw_key(&w, "local_sandbox_id");
    jw_str(&w, str_of(id));
    jw_key(&w, "status");
    jw_str(&w, STR("occupied"));
    jw_key(&w, "message");
    jw_str(&w, STR("Local sandbox reset completed: a new cell, with what initialize brought."));
    jw_key(&w, "initialized_data");
    jw_str(&w, STR("kept"));
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

/* It is over, for good or, with WHY, not. */
static void finish_reset(struct cell_reset *t, int status, const char *why)
{
    struct api_req *r = t->r;
    struct locals *l = t->set->locals;
    struct vault *v = locals_vault(l);
    char id[LOCAL_ID_LEN + 1];

    (void)snprintf(id, sizeof id, "%s", t->id);
    struct str text = r && why ? arena_str(r->arena, str_of(why)) : STR_NULL;
    /* Before anybody is notified: a restart must not do it again. */
    vault_unlink(v, str_of(id), "reset");
    drop_reset(t);
    vault_sweep(v);
    local_apps_sweep(l);
    if (r && why)
        api_error(r, status, STR_FMT, STR_ARG(text));
    else if (r)
        reply(r, id);
}

/* ---- servers outside the cell ---- */

static void run_hooks(struct cell_reset *t);

static void on_hook(void *ctx, const char *why)
{
    struct cell_reset *t = ctx;

    if (why)
        finish_reset(t, 500, why);
    else
        run_hooks(t);
}

static void run_hooks(struct cell_reset *t)
{
    while (t->at < reset_n_hooks) {
        const struct reset_hook *h = &reset_hooks[t->at++];
        if (!h->reset || !local_has_server(t->sb, str_of(h->server)))
            continue;
        h->reset(t->set->locals, t->sb, on_hook, t);
        return;
    }
    finish_reset(t, 200, NULL);
}

/* ---- unpacking ---- */

static void unpack_next(struct cell_reset *t);

static void on_reset_unpacked(void *ctx, int status, struct str text)
{
    struct cell_reset *t = ctx;

    if (status == 200) {
        t->at++;
        unpack_next(t);
        return;
    }
    struct str why = arena_printf(
        &t->arena, "The previously uploaded archive could not be unpacked: %.*s", STR_ARG(text));
    finish_reset(t, status == 507 ? 507 : 500, why.p ? why.p : "out of memory");
}

static void unpack_next(struct cell_reset *t)
{
    struct locals *l = t->set->locals;
    char name[VAULT_NAME_MAX];
    uint64_t size = 0;

    if (t->at == t->n_inits) {
        t->at = 0;
        run_hooks(t);
        return;
    }
    vault_init_name(t->at, name);
    int fd = vault_open(locals_vault(l), str_of(t->id), name, &size);
    if (fd < 0) {
        finish_reset(t, 500, "The previously uploaded archive could not be read");
        return;
    }
    transfer_start(&(struct transfer){
        .locals = l,
        .sandbox = t->sb,
        .arena = &t->arena,
        .target = arena_printf(&t->arena, "/_unpack?max_bytes=%lld",
                               (long long)locals_core(l)->config->local.max_unpacked),
        .body_fd = fd,
        .body_len = size,
        .answer_fd = -1,
        .fn = on_reset_unpacked,
        .ctx = t,
    });
}

static void go_on_with_reset(struct cell_reset *t, struct sandbox *sb)
{
    t->sb = sandbox_ref(sb);
    t->at = 0;
    t->n_inits = vault_n_inits(locals_vault(t->set->locals), str_of(t->id));
    unpack_next(t);
}

/* ---- making ---- */

static void make_new_cell(struct cell_reset *t);

static void on_reset_retry(struct loop_timer *timer)
{
    make_new_cell(container_of(timer, struct cell_reset, timer));
}

static void try_again(struct cell_reset *t, const struct err *e)
{
    if (++t->n_tries < TRIES &&
        loop_timer_start(locals_loop(t->set->locals), &t->timer, RETRY_MS, on_reset_retry) == 0)
        return;
    finish_reset(t, 503, err_text(e));
}

static void on_reset_made(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct cell_reset *t = ctx;

    if (e)
        try_again(t, e);
    else
        go_on_with_reset(t, sb);
}

/* Seconds that are left; -1: for ever; 0: none. */
static int64_t time_left(const struct cell_reset *t)
{
    int64_t expires_us = json_int(json_get(t->journal, "expires_us"), 0);
    int64_t left_us = expires_us - clock_real_us();

    if (expires_us == 0)
        return -1;
    return left_us <= 0 ? 0 : left_us / 1000000 + 1;
}

static void make_new_cell(struct cell_reset *t)
{
    struct core *core = locals_core(t->set->locals);
    struct str key_id = json_str(json_get(t->journal, "key"), STR(""));
    struct account_key *key = accounts_by_id(core->accounts, key_id);
    struct err e = ERR_INIT;
    struct local_spec spec = {
        .key = key,
        .arena = &t->arena,
        .id = str_of(t->id),
        .timeout_s = time_left(t),
        .extra = json_get(t->journal, "extra"),
    };

    if (!key || spec.timeout_s == 0) {
        finish_reset(t, 404,
                     key ? "The sandbox has expired" : "The key of the sandbox was revoked");
        return;
    }
    if (local_create(core, &spec, on_reset_made, t, &e) < 0)
        try_again(t, &e);
}

static void on_reset_gone(void *ctx, struct sandbox *sb, const struct err *e)
{
    (void)sb;
    (void)e; /* the create waits for what is left of it, or fails */
    make_new_cell(ctx);
}

/* ---- the beginning ---- */

static struct cell_reset *add_reset(struct resets *s, struct str id, struct str journal)
{
    struct cell_reset *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->set = s;
    arena_init(&t->arena, ARENA_MAX);
    (void)snprintf(t->id, sizeof t->id, STR_FMT, STR_ARG(id));
    list_append(&s->items, &t->node);
    struct str text = arena_str(&t->arena, journal);
    t->journal = text.p ? json_parse(&t->arena, text, NULL, NULL) : NULL;
    if (t->journal)
        return t;
    drop_reset(t);
    return NULL;
}

static void put_journal(struct buf *b, const struct sandbox *sb)
{
    struct jw w = jw_to(b);

    jw_object(&w);
    jw_key(&w, "old");
    jw_str(&w, str_of(sb->id));
    jw_key(&w, "key");
    jw_str(&w, str_of(sb->key_id));
    jw_key(&w, "expires_us");
    jw_int(&w, sb->timeout_s < 0 ? 0 : sb->expires_us);
    jw_key(&w, "created_us");
    jw_int(&w, json_int(json_get(local_of(sb), "created_us"), sb->created_us));
    jw_key(&w, "extra");
    jw_value(&w, sb->spec.extra);
    jw_end(&w);
}

/* The new one was made when the old one was. */
static void keep_birth(struct cell_reset *t)
{
    struct json *local = json_get(json_get(t->journal, "extra"), "local");
    struct json *birth = json_get(t->journal, "created_us");

    if (local && birth)
        (void)json_set(&t->arena, local, "created_us", birth);
}

static void on_reset_written(void *ctx, int result)
{
    struct cell_reset *t = ctx;
    struct resets *s = t->set;
    char name[SANDBOX_NAME_MAX + 1];

    local_name(str_of(t->id), name);
    struct sandbox *sb = sandbox_find(locals_core(s->locals)->sandboxes, str_of(name));
    if (result < 0 || !sb) {
        finish_reset(t, sb ? 500 : 404, sb ? "The reset could not be recorded" : "It was released");
        return;
    }
    int r = sandbox_delete(sb, on_reset_gone, t);
    if (r < 0)
        finish_reset(t, 503, "Another operation on the sandbox is in progress; try again");
}

void local_reset(struct api_req *r)
{
    struct sandbox *sb = local_find_for(r);
    auto_buf struct buf b = BUF_INIT(JOURNAL_MAX);

    if (!sb)
        return;
    struct str id = archive_id(r, sb);
    put_journal(&b, sb);
    struct cell_reset *t =
        buf_ok(&b) ? add_reset(locals_resets(r->api->locals), id, buf_str(&b)) : NULL;
    if (!t) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    t->r = r;
    keep_birth(t);
    vault_write(locals_vault(r->api->locals),
                &(struct vault_file){.id = id, .name = "reset", .data = buf_str(&b)},
                on_reset_written, t);
}

/* ---- after a restart ---- */

static void on_start(struct loop_timer *timer)
{
    struct cell_reset *t = container_of(timer, struct cell_reset, timer);
    char name[SANDBOX_NAME_MAX + 1];

    local_name(str_of(t->id), name);
    struct sandboxes *all = locals_core(t->set->locals)->sandboxes;
    struct sandbox *sb = all ? sandbox_find(all, str_of(name)) : NULL;
    bool is_old = sb && str_is(json_str(json_get(t->journal, "old"), STR("")), sb->id);
    if (is_old)
        finish_reset(t, 200, NULL); /* nothing was done so far, and nobody was notified */
    else if (sb)
        go_on_with_reset(t, sb);
    else if (all)
        make_new_cell(t);
    else
        drop_reset(t);
}

static void find_one(void *ctx, struct str id)
{
    struct resets *s = ctx;
    struct vault *v = locals_vault(s->locals);
    auto_buf struct buf b = BUF_INIT(JOURNAL_MAX);
    char path[PATH_MAX];

    vault_path(v, id, "reset", path);
    struct cell_reset *t = io_read_file(path, &b, NULL) == 0 ? add_reset(s, id, buf_str(&b)) : NULL;
    if (!t) {
        vault_unlink(v, id, "reset");
        return;
    }
    keep_birth(t);
    (void)loop_timer_start(locals_loop(s->locals), &t->timer, 0, on_start);
}

struct resets *resets_new(struct locals *l)
{
    struct resets *s = mem_zalloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->locals = l;
    list_init(&s->items);
    vault_each(locals_vault(l), "reset", find_one, s);
    return s;
}

void resets_free(struct resets *s)
{
    if (!s)
        return;
    list_each(node, &s->items) drop_reset(list_entry(node, struct cell_reset, node));
    free(s);
}

bool resets_has(const struct resets *s, struct str id)
{
    if (!s)
        return false;
    for (const struct list *n = s->items.next; n != &s->items; n = n->next) {
        if (str_is(id, list_entry(n, const struct cell_reset, node)->id))
            return true;
    }
    return false;
}
