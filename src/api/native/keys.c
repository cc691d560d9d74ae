/* SPDX-License-Identifier: MIT */
/* /api/v1/keys: for system accounts only.
 *
 * A key is shown once, in the answer that makes it. With an Idempotency-Key that answer must be
 * repeatable though the store may not hold the key: the recorded answer has a gap in its place, and
 * the key is derived from the server's secret, its id and the Idempotency-Key, so that whoever
 * repeats the request gets it again and whoever reads the store does not. */
#include <errno.h>

#include "api/native/native.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "store/store.h"

enum { LIST_MAX = 64 << 20, ANSWER_MAX = 4096, LIMIT_MAX = 1000000 };

/* As long as a key, and no key. */
#define GAP "e2b_****************************************"
_Static_assert(sizeof GAP - 1 == ACCOUNT_SECRET_LEN, "the gap must have the length of a key");

/* ---- writing ---- */

static void put_key_time(struct jw *w, const char *name, int64_t us)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339(text, us);
    jw_key(w, name);
    jw_cstr(w, text);
}

static void put_key_limit(struct jw *w, const char *name, int64_t limit)
{
    jw_key(w, name);
    if (limit < 0)
        jw_null(w);
    else
        jw_int(w, limit);
}

void native_put_key(struct jw *w, const struct account_key *k, const char *secret)
{
    jw_object(w);
    jw_key(w, "id");
    jw_cstr(w, k->id);
    if (secret) {
        jw_key(w, "key");
        jw_cstr(w, secret);
    }
    jw_key(w, "account");
    jw_cstr(w, k->account->id);
    jw_key(w, "role");
    jw_cstr(w, account_role_name(k->account->role));
    if (*k->grades) {
        jw_key(w, "grades");
        jw_cstr(w, k->grades);
    }
    jw_key(w, "name");
    jw_cstr(w, k->label);
    jw_key(w, "hint");
    jw_cstr(w, k->hint);
    jw_key(w, "fixed");
    jw_bool(w, k->is_fixed);
    put_key_time(w, "created_at", k->created_us);
    if (k->revoked_us)
        put_key_time(w, "revoked_at", k->revoked_us);
    jw_key(w, "limits");
    jw_object(w);
    put_key_limit(w, "max_live", k->own.max_live);
    put_key_limit(w, "max_creates", k->own.max_creates);
    put_key_limit(w, "max_rps", k->own.max_rps);
    jw_end(w);
    jw_end(w);
}

/* The whole answer, in the request's arena; STR_NULL when memory ran out. */
static struct str make_answer(struct api_req *r, const struct account_key *k, const char *secret)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);

    native_put_key(&w, k, secret);
    native_end(&w);
    struct str answer = buf_ok(&body) ? arena_str(r->arena, buf_str(&body)) : STR_NULL;
    if (body.p)
        mem_wipe(body.p, body.len);
    return answer;
}

/* ---- GET ---- */

void native_keys_list(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct str account = api_query(r, "account");
    bool is_all = str_is(api_query(r, "all"), "true");
    struct jw w = native_begin(&body);
    const struct account_key *k;

    jw_array(&w);
    for (size_t i = 0; (k = accounts_at(r->core->accounts, i)); i++)
        if ((is_all || !k->revoked_us) && (!account.len || str_is(account, k->account->id)))
            native_put_key(&w, k, NULL);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- POST ---- */

/* Member NAME as a string; -EINVAL after answering when it is something else. */
static int read_str(struct api_req *r, const char *name, struct str *ret)
{
    const struct json *v = json_get(r->body, name);

    if (!v || json_is(v, JSON_NULL))
        return 0;
    if (!json_is(v, JSON_STRING)) {
        api_error(r, 400, "%s must be a string", name);
        return -EINVAL;
    }
    *ret = v->s;
    return 0;
}

static int read_key_limit(struct api_req *r, const struct json *limits, const char *name,
                          int64_t *ret)
{
    const struct json *v = json_get(limits, name);

    if (!v || json_is(v, JSON_NULL))
        return 0;
    *ret = json_int(v, -1);
    if (*ret >= 0 && *ret <= LIMIT_MAX)
        return 0;
    api_error(r, 400, "limits.%s must be an integer from 0 (no limit) to %d", name, LIMIT_MAX);
    return -EINVAL;
}

static int read_limits(struct api_req *r, struct quota_limits *ret)
{
    const struct json *limits = json_get(r->body, "limits");

    if (limits && !json_is(limits, JSON_OBJECT) && !json_is(limits, JSON_NULL)) {
        api_error(r, 400, "limits must be an object");
        return -EINVAL;
    }
    if (read_key_limit(r, limits, "max_live", &ret->max_live) < 0 ||
        read_key_limit(r, limits, "max_creates", &ret->max_creates) < 0)
        return -EINVAL;
    return read_key_limit(r, limits, "max_rps", &ret->max_rps);
}

/* What the body asks for; -EINVAL after answering. */
static int read_new(struct api_req *r, struct account_new *ret)
{
    struct str role = STR("user");

    if (r->body && !json_is(r->body, JSON_OBJECT)) {
        api_error(r, 400, "the body must be an object");
        return -EINVAL;
    }
    if (read_str(r, "account", &ret->account) < 0 || read_str(r, "name", &ret->label) < 0 ||
        read_str(r, "role", &role) < 0 || read_str(r, "grades", &ret->grades) < 0)
        return -EINVAL;
    if (account_role_parse(role, &ret->role) < 0) {
        api_error(r, 400, "role must be \"user\", \"system\", \"grader\" or \"metrics\"");
        return -EINVAL;
    }
    return read_limits(r, &ret->limits);
}

static int derive(const struct api_req *r, struct str id, char out[ACCOUNT_SECRET_LEN + 1])
{
    struct str context = arena_printf(r->arena, "tidepool api key\n" STR_FMT "\n%s\n" STR_FMT,
                                      STR_ARG(id), r->key->account->id, STR_ARG(api_idem_key(r)));

    if (!context.p)
        return -ENOMEM;
    account_secret_derive(out, str_n((const char *)r->core->secret, CORE_SECRET_LEN), context);
    return 0;
}

struct key_creation {
    struct api_req *req;
    struct account_key *key;
    struct str answer;
};

static void on_key_created(struct store_tx *tx, int result, void *ctx)
{
    struct key_creation *c = ctx;

    (void)tx;
    result = accounts_settle(c->req->core->accounts, c->key, result);
    if (result < 0)
        api_fail(c->req, result, NULL);
    else
        api_reply(c->req, 200, "application/json", c->answer);
}

/* Submits what was prepared; K is taken over on success only. */
static int submit_key_change(struct api_req *r, struct account_key *k, const char *secret)
{
    struct key_creation *c = arena_new(r->arena, struct key_creation);
    struct str recorded = make_answer(r, k, GAP);
    struct str answer = make_answer(r, k, secret);
    struct store_tx *tx = store_tx_new();
    int code = c && recorded.p && answer.p ? 0 : -ENOMEM;

    if (code == 0) {
        *c = (struct key_creation){r, k, answer};
        account_tx_create(tx, k, r->key->account->id);
        code = api_record(r, tx, 200, recorded);
    }
    if (code == 0)
        return store_submit(r->core->store, tx, r->core->loop, on_key_created, c);
    store_tx_free(tx);
    return code;
}

void native_keys_create(struct api_req *r)
{
    struct account_new args = {.limits = {-1, -1, -1}};
    char id[ACCOUNT_KEY_ID_LEN + 1], secret[ACCOUNT_SECRET_LEN + 1];
    struct err e = ERR_INIT;

    if (read_new(r, &args) < 0)
        return;
    id_hex(id, ACCOUNT_KEY_ID_LEN);
    account_secret_random(secret);
    if (api_idem_key(r).len > 0 && derive(r, str_of(id), secret) < 0) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    args.id = str_of(id);
    args.secret = str_of(secret);
    struct account_key *k = accounts_prepare(r->core->accounts, &args, &e);
    int code = k ? submit_key_change(r, k, secret) : e.code;
    mem_wipe(secret, sizeof secret);
    if (code < 0) {
        account_key_unref(k);
        api_fail(r, code, &e);
    }
}

void native_keys_replay(struct api_req *r, int status, struct str body)
{
    char secret[ACCOUNT_SECRET_LEN + 1];
    ptrdiff_t gap = str_find(body, STR("\"" GAP "\""));
    const struct json *doc = json_parse(r->arena, body, NULL, NULL);
    struct str id = json_str(json_pointer(doc, "/data/id"), STR_NULL);
    const struct account_key *k = accounts_by_id(r->core->accounts, id);

    if (gap < 0 || !k || derive(r, id, secret) < 0 || !account_key_is(k, str_of(secret))) {
        api_error(r, 409, "the API key created with this Idempotency-Key cannot be shown again");
        return;
    }
    size_t at = (size_t)gap + 1;
    struct str answer =
        arena_printf(r->arena, STR_FMT "%s" STR_FMT, STR_ARG(str_slice(body, 0, at)), secret,
                     STR_ARG(str_skip(body, at + ACCOUNT_SECRET_LEN)));
    mem_wipe(secret, sizeof secret);
    if (answer.p)
        api_reply(r, status, "application/json", answer);
    else
        api_fail(r, -ENOMEM, NULL);
}

/* ---- DELETE ---- */

struct key_ending {
    struct api_req *req;
    struct account_key *key;
};

static void on_revoked(struct store_tx *tx, int result, void *ctx)
{
    struct key_ending *end = ctx;
    struct api_req *r = end->req;

    (void)tx;
    if (result == 0)
        accounts_revoke(r->core->accounts, end->key);
    if (result == 0)
        native_reply_text(r, "Key %s revoked successfully", end->key->id);
    else if (result == -ENOENT)
        api_error(r, 404, "key %s not found", end->key->id);
    else
        api_fail(r, result, NULL);
}

void native_keys_revoke(struct api_req *r)
{
    struct str id = api_param(r, "id");
    struct account_key *k = accounts_by_id(r->core->accounts, id);
    struct key_ending *end = arena_new(r->arena, struct key_ending);

    if (!k || k->revoked_us) {
        api_error(r, 404, "key " STR_FMT " not found", STR_ARG(id));
        return;
    }
    if (k->is_fixed) {
        api_error(r, 409, "key %s comes from the configuration: remove it there", k->id);
        return;
    }
    struct store_tx *tx = end ? store_tx_new() : NULL;
    if (!tx) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    *end = (struct key_ending){r, k};
    account_tx_revoke(tx, k, r->key->account->id);
    int code = store_submit(r->core->store, tx, r->core->loop, on_revoked, end);
    if (code < 0)
        api_fail(r, code, NULL);
}
