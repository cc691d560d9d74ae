/* SPDX-License-Identifier: MIT */
/* Keys on the command line: see keys.h. A running service does the work itself, so that it knows
 * of the change at once; without one the store is opened here. Both ways end in the same JSON. */
#include "cli/keys.h"

#include <errno.h>
#include <stdio.h>

#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "core/core.h"
#include "store/store.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { ARENA_MAX = 256 << 20, TEXT_MAX = 64 << 20 };

/* ---- without a service ---- */

struct offline {
    struct store *store;
    struct accounts *accounts;
};

static void offline_done(struct offline *o)
{
    accounts_free(o->accounts);
    store_close(o->store);
}
DEFINE_CLEANUP_IN_PLACE(struct offline, offline_done)

static int offline_open(struct offline *o, const struct client_where *where, struct err *e)
{
    const struct quota_limits none = {0};
    int r = client_may_go_alone(where, e);

    if (r < 0)
        return r;
    o->store = core_open_store(where->config, false, e);
    if (!o->store)
        return e && e->code ? e->code : -EIO;
    o->accounts = accounts_new(&none, e);
    return o->accounts ? accounts_load(o->accounts, o->store, e) : -ENOMEM;
}

/* The key as JSON in A; with SECRET unless that is NULL. */
static struct json *key_json(struct arena *a, const struct account_key *k, const char *secret)
{
    struct buf text auto_buf = BUF_INIT(8192);
    struct jw w = jw_to(&text);

    native_put_key(&w, k, secret);
    return buf_ok(&text) ? json_parse(a, buf_str(&text), NULL, NULL) : NULL;
}

static int create_offline(const struct client_where *where, const struct account_new *args,
                          struct arena *a, struct json **ret, struct err *e)
{
    struct offline o auto_(offline_done) = {0};
    struct store_tx *tx auto_(store_tx_free) = NULL;
    char secret[ACCOUNT_SECRET_LEN + 1];
    struct account_new full = *args;
    int r = offline_open(&o, where, e);

    if (r < 0)
        return r;
    account_secret_random(secret);
    full.secret = str_of(secret);
    struct account_key *k = accounts_prepare(o.accounts, &full, e);
    if (!k)
        return e && e->code ? e->code : -EINVAL;
    tx = store_tx_new();
    account_tx_create(tx, k, "the command line");
    *ret = key_json(a, k, secret);
    mem_wipe(secret, sizeof secret);
    return accounts_settle(o.accounts, k, store_run(o.store, tx, e));
}

static int list_offline(const struct client_where *where, const struct keys_list_args *args,
                        struct arena *a, struct json **ret, struct err *e)
{
    struct offline o auto_(offline_done) = {0};
    const struct account_key *k;
    int r = offline_open(&o, where, e);

    *ret = json_new_array(a);
    for (size_t i = 0; r == 0 && (k = accounts_at(o.accounts, i)); i++)
        if ((args->show_revoked || !k->revoked_us) &&
            (!args->account || str_is(str_of(args->account), k->account->id)))
            r = json_push(a, *ret, key_json(a, k, NULL));
    return r;
}

static int revoke_offline(const struct client_where *where, const char *id, struct err *e)
{
    struct offline o auto_(offline_done) = {0};
    struct store_tx *tx auto_(store_tx_free) = NULL;
    int r = offline_open(&o, where, e);

    if (r < 0)
        return r;
    struct account_key *k = accounts_by_id(o.accounts, str_of(id));
    if (!k || k->revoked_us)
        return err_set(e, -ENOENT, "key %s not found", id);
    tx = store_tx_new();
    account_tx_revoke(tx, k, "the command line");
    return store_run(o.store, tx, e);
}

/* ---- create ---- */

static void put_limit_member(struct jw *w, const char *name, int64_t limit)
{
    if (limit < 0)
        return;
    jw_key(w, name);
    jw_int(w, limit);
}

static void put_key_request(struct buf *out, const struct account_new *args)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "role");
    jw_cstr(&w, account_role_name(args->role));
    jw_key(&w, "name");
    jw_str(&w, args->label);
    if (args->account.len > 0) {
        jw_key(&w, "account");
        jw_str(&w, args->account);
    }
    if (args->grades.len > 0) {
        jw_key(&w, "grades");
        jw_str(&w, args->grades);
    }
    jw_key(&w, "limits");
    jw_object(&w);
    put_limit_member(&w, "max_live", args->limits.max_live);
    put_limit_member(&w, "max_creates", args->limits.max_creates);
    put_limit_member(&w, "max_rps", args->limits.max_rps);
    jw_end(&w);
    jw_end(&w);
}

static struct str key_member(const struct json *key, const char *name)
{
    return json_str(json_get(key, name), STR("-"));
}

int keys_create(const struct client_where *where, const struct keys_create_args *args,
                struct buf *out, struct err *e)
{
    struct arena arena auto_arena;
    struct buf body auto_buf = BUF_INIT(16384);
    struct json *key = NULL;
    struct account_new new = {
        .account = str_of(args->account),
        .label = str_of(args->name),
        .grades = str_of(args->grades),
        .limits = {args->max_live, args->max_creates, args->max_rps},
    };

    arena_init(&arena, ARENA_MAX);
    if (account_role_parse(str_of(args->role), &new.role) < 0)
        return err_set(e, -EINVAL, "unknown role: %s", args->role);
    put_key_request(&body, &new);
    const struct client_request rq = {"POST", "/api/v1/keys", buf_str(&body)};
    int r = client_ask(where, &arena, &rq, &key, e);
    if (r == -ENOTCONN)
        r = create_offline(where, &new, &arena, &key, e);
    if (r < 0)
        return r;
    if (args->is_json)
        return cli_put_json(out, key);
    return buf_printf(out,
                      "Key      " STR_FMT "\nId       " STR_FMT "\nAccount  " STR_FMT " (" STR_FMT
                      ")\n\nSave it now: only its hash is stored, so it cannot be shown again.\n",
                      STR_ARG(key_member(key, "key")), STR_ARG(key_member(key, "id")),
                      STR_ARG(key_member(key, "account")), STR_ARG(key_member(key, "role")));
}

/* ---- ls ---- */

static void put_key_row(struct buf *out, const struct json *k)
{
    const char *state = json_get(k, "revoked_at")                ? "revoked"
                        : json_bool(json_get(k, "fixed"), false) ? "configured"
                                                                 : "valid";

    (void)buf_printf(out, "%-16.*s  %-10s  %-6.*s  %-20.*s  %-20.*s  " STR_FMT "\n",
                     STR_ARG(key_member(k, "id")), state, STR_ARG(key_member(k, "role")),
                     STR_ARG(key_member(k, "account")), STR_ARG(key_member(k, "created_at")),
                     STR_ARG(key_member(k, "name")));
}

static const char *list_keys_target(struct buf *out, const struct keys_list_args *args)
{
    (void)buf_printf(out, "/api/v1/keys?all=%s", args->show_revoked ? "true" : "false");
    if (args->account) {
        (void)buf_add_lit(out, "&account=");
        (void)enc_percent(out, str_of(args->account));
    }
    return buf_cstr(out);
}

int keys_list(const struct client_where *where, const struct keys_list_args *args, struct buf *out,
              struct err *e)
{
    struct arena arena auto_arena;
    struct buf target auto_buf = BUF_INIT(4096);
    struct json *keys = NULL;

    arena_init(&arena, ARENA_MAX);
    const struct client_request rq = {"GET", list_keys_target(&target, args), STR_NULL};
    int r = rq.target ? client_ask(where, &arena, &rq, &keys, e) : err_sys(e, -ENOMEM, "keys");
    if (r == -ENOTCONN)
        r = list_offline(where, args, &arena, &keys, e);
    if (r < 0)
        return r;
    if (args->is_json)
        return cli_put_json(out, keys);
    (void)buf_printf(out, "%-16s  %-10s  %-6s  %-20s  %-20s  %s\n", "ID", "STATE", "ROLE",
                     "ACCOUNT", "CREATED", "NAME");
    for (size_t i = 0; json_at(keys, i); i++)
        put_key_row(out, json_at(keys, i));
    return out->error;
}

/* ---- revoke ---- */

int keys_revoke(const struct client_where *where, const char *id, struct buf *out, struct err *e)
{
    struct arena arena auto_arena;
    struct buf target auto_buf = BUF_INIT(4096);
    struct json *data = NULL;

    arena_init(&arena, ARENA_MAX);
    (void)buf_add_lit(&target, "/api/v1/keys/");
    (void)enc_percent(&target, str_of(id));
    const struct client_request rq = {"DELETE", buf_cstr(&target), STR_NULL};
    int r =
        rq.target ? client_ask(where, &arena, &rq, &data, e) : err_set(e, -EINVAL, "no such key");
    if (r == -ENOTCONN)
        r = revoke_offline(where, id, e);
    return r < 0 ? r : buf_printf(out, "Key %s was revoked.\n", id);
}
