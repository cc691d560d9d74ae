/* SPDX-License-Identifier: MIT */
#include "api/local/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/ask.h"
#include "api/local/local.h"
#include "api/local/ports.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "base/mem.h"
#include "core/sandbox.h"
#include "core/share.h"
#include "sys/io.h"

enum { DATA_MAX = 96 << 20, FILE_MAX = 4 << 20 };

/* The requests that tidepool-local answers. */
static const struct state_row {
    const char *server, *import, *export;
} rows[] = {
    {"poste_email_toolathlon", "/_mail_import?keep=1", "/_mail_export"},
};

struct state {
    struct api_req *r;
    const struct state_row *row;
    struct sandbox *sb; /* a reference */
    struct str id;      /* as the client named it */
    struct json *next;  /* the second body of an initialize */
    int status;         /* of the sandbox's answer */
    int64_t n_records;
    struct json *records;
};

/* ---- finding ---- */

static const struct state_row *row_of(struct api_req *r)
{
    struct str path = str_skip(r->http->head.path, strlen("/local-sandbox/"));
    struct str name = str_cut(&path, '/');

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_is(name, rows[i].server))
            return &rows[i];
    }
    return NULL;
}

/* NULL after answering. */
static struct state *begin_state_request(struct api_req *r)
{
    const struct state_row *row = row_of(r);
    struct sandbox *sb = row ? local_find_for(r) : NULL;
    struct state *s = sb ? arena_new(r->arena, struct state) : NULL;

    if (!sb)
        return NULL;
    if (!local_has_server(sb, str_of(row->server))) {
        api_error(r, 404, "This local sandbox does not have the server %s", row->server);
        return NULL;
    }
    if (!s) {
        api_fail(r, -ENOMEM, NULL);
        return NULL;
    }
    s->r = r;
    s->row = row;
    s->sb = sandbox_ref(sb);
    s->id = api_param(r, "local_sandbox_id");
    s->records = json_new_object(r->arena);
    return s;
}

static void ask_for_state(struct state *s, const char *target, struct str body, local_answer_fn *fn)
{
    local_ask(&(struct local_ask){
        .locals = s->r->api->locals,
        .sandbox = s->sb,
        .arena = s->r->arena,
        .target = str_of(target),
        .body = body,
        .ret_status = &s->status,
        .fn = fn,
        .ctx = s,
    });
}

/* "schema" or "default" of the server's file; NULL with E filled. */
static struct json *file_part(struct api_req *r, const struct state_row *row, const char *name,
                              struct err *e)
{
    auto_buf struct buf b = BUF_INIT(FILE_MAX);
    char dir[PATH_MAX], path[PATH_MAX];

    if (share_dir(r->api->core->config, "local", dir, e) < 0 ||
        snprintf(path, sizeof path, "%s/data/%s.json", dir, row->server) >= (int)sizeof path)
        return NULL;
    struct json *v = io_read_file(path, &b, e) == 0
                         ? json_parse(r->arena, arena_str(r->arena, buf_str(&b)), NULL, e)
                         : NULL;
    return json_get(v, name);
}

/* ---- initialize ---- */

static void reply_state_initialized(struct state *s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_pair_str(&w, "sandbox_id", s->id);
    jw_pair_str(&w, "status", STR("occupied"));
    jw_pair_str(&w, "message",
                arena_printf(s->r->arena, "Initialized sandbox with %lld record%s",
                             (long long)s->n_records, s->n_records == 1 ? "" : "s"));
    jw_key(&w, "records_created");
    jw_value(&w, s->records);
    jw_end(&w);
    sandbox_unref(s->sb);
    api_reply_json(s->r, 200, &b);
}

/* ---- what a reset brings back ---- */

static void file_name(const struct state_row *row, char out[VAULT_NAME_MAX])
{
    (void)snprintf(out, VAULT_NAME_MAX, "data-%s", row->server);
}

static void fail_state_request(struct state *s, int status, const char *why)
{
    sandbox_unref(s->sb);
    api_error(s->r, status, "%s", why ? why : "the sandbox sent an unreadable response");
}

static void on_state_kept(void *ctx, int result)
{
    struct state *s = ctx;

    if (result < 0)
        fail_state_request(s, 500, "The data was added, but could not be stored for a reset");
    else
        reply_state_initialized(s);
}

/* All data as it is now: a reset begins with it. */
static void on_read_back(void *ctx, struct str body, const char *why)
{
    struct state *s = ctx;
    char name[VAULT_NAME_MAX];

    if (why) {
        fail_state_request(s, 500, why);
        return;
    }
    file_name(s->row, name);
    vault_write(locals_vault(s->r->api->locals),
                &(struct vault_file){.id = json_str(json_get(local_of(s->sb), "id"), STR("")),
                                     .name = name,
                                     .data = body},
                on_state_kept, s);
}

struct bringing {
    struct arena arena;
    reset_done_fn *done;
    void *ctx;
};

static void on_brought(void *ctx, struct str body, const char *why)
{
    struct bringing *b = ctx;

    (void)body;
    b->done(b->ctx, why);
    arena_done(&b->arena);
    free(b);
}

static void bring_back(struct locals *l, struct sandbox *sb, const struct state_row *row,
                       struct bringing *b)
{
    auto_buf struct buf text = BUF_INIT(DATA_MAX);
    struct err e = ERR_INIT;
    char name[VAULT_NAME_MAX], path[PATH_MAX];

    file_name(row, name);
    vault_path(locals_vault(l), json_str(json_get(local_of(sb), "id"), STR("")), name, path);
    int r = io_read_file(path, &text, &e);
    struct str body = r == 0 ? arena_str(&b->arena, buf_str(&text)) : STR_NULL;
    if (!body.p) {
        on_brought(b, STR_NULL, r == -ENOENT ? NULL : "the data of a server could not be read");
        return;
    }
    local_ask(&(struct local_ask){
        .locals = l,
        .sandbox = sb,
        .arena = &b->arena,
        .target = str_of(row->import),
        .body = body,
        .fn = on_brought,
        .ctx = b,
    });
}

void local_state_reset_mail(struct locals *l, struct sandbox *sb, reset_done_fn *done, void *ctx)
{
    struct bringing *b = mem_zalloc(1, sizeof *b);

    ports_restore(locals_ports(l), sb);
    if (!b) {
        done(ctx, "out of memory");
        return;
    }
    arena_init(&b->arena, (size_t)4 * DATA_MAX);
    b->done = done;
    b->ctx = ctx;
    bring_back(l, sb, &rows[0], b);
}

static void import(struct state *s, const struct json *data);

static void on_state_imported(void *ctx, struct str body, const char *why)
{
    struct state *s = ctx;
    struct arena *a = s->r->arena;
    const struct json *v = why ? NULL : json_parse(a, body, NULL, NULL);

    if (!json_is(v, JSON_OBJECT)) {
        fail_state_request(s, s->status == 422 ? 422 : 500, why);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        int64_t n = json_int(&v->members[i].value, 0);
        int64_t before = json_int(json_get_str(s->records, v->members[i].key), 0);
        s->n_records += n;
        (void)json_set_str(a, s->records, v->members[i].key, json_new_int(a, n + before));
    }
    if (s->next)
        import(s, take(s->next));
    else
        ask_for_state(s, s->row->export, STR("{}"), on_read_back);
}

static void import(struct state *s, const struct json *data)
{
    auto_buf struct buf b = BUF_INIT(DATA_MAX);

    (void)json_write(&b, data, JSON_COMPACT);
    struct str body = buf_ok(&b) ? arena_str(s->r->arena, buf_str(&b)) : STR_NULL;
    if (body.p)
        ask_for_state(s, s->row->import, body, on_state_imported);
    else
        on_state_imported(s, STR_NULL, "out of memory");
}

void local_state_initialize(struct api_req *r)
{
    struct klavis_input in;
    struct err e = ERR_INIT;
    struct state *s = begin_state_request(r);

    if (!s)
        return;
    klavis_input_begin(&in, r);
    const struct json *flag = klavis_input_query(&in, "init_default_data", "QueryBool");
    const struct json *schema = file_part(r, s->row, "schema", &e);
    in.model.keeps_unknown = true;
    in.dump_of = str_of(s->row->server);
    struct json *body = schema ? klavis_input_body(&in, NULL, schema, false) : NULL;
    struct json *first = json_bool(flag, false) ? file_part(r, s->row, "default", &e) : NULL;
    struct sandbox *sb = s->sb; /* an answer takes S away */
    bool is_refused = klavis_input_refuse(&in);
    if (is_refused || !schema) {
        sandbox_unref(sb);
        if (!is_refused)
            klavis_fail(r, e.code ? e.code : -ENOENT, &e);
        return;
    }
    s->next = first ? body : NULL;
    if (first || body)
        import(s, first ? first : body);
    else
        reply_state_initialized(s);
}

/* ---- dump ---- */

static void on_exported(void *ctx, struct str body, const char *why)
{
    struct state *s = ctx;
    auto_buf struct buf b = BUF_INIT(DATA_MAX);
    struct jw w = jw_to(&b);
    char now[CLOCK_RFC3339_MAX];
    const struct json *data = why ? NULL : json_parse(s->r->arena, body, NULL, NULL);

    sandbox_unref(s->sb);
    if (!data) {
        api_error(s->r, 500, "%s", why ? why : "the sandbox sent an unreadable response");
        return;
    }
    clock_rfc3339_us(now, clock_real_us());
    now[strlen(now) - 1] = 0;
    jw_object(&w);
    jw_pair_str(&w, "sandbox_id", s->id);
    jw_pair_str(&w, "server_name", str_of(s->row->server));
    jw_pair_str(&w, "dumped_at", str_of(now));
    jw_key(&w, "data");
    jw_value(&w, data);
    jw_end(&w);
    api_reply_json(s->r, 200, &b);
}

void local_state_dump(struct api_req *r)
{
    struct state *s = begin_state_request(r);

    if (s)
        ask_for_state(s, s->row->export, STR("{}"), on_exported);
}
