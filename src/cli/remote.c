/* SPDX-License-Identifier: MIT */
/* What the verbs for sandboxes share: see remote.h. */
#include "cli/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/enc.h"

enum { ARENA_MAX = 1 << 30, TARGET_MAX = 65536 };

/* ---- the service ---- */

static const char *or_env(const char *value, const char *name)
{
    const char *env = getenv(name);

    return value ? value : env && *env ? env : NULL;
}

int remote_fail(struct remote *r, int code, struct err *e)
{
    const char *state = r->call->config.state;

    if (code == -ENOTCONN)
        (void)err_set(e, code,
                      "no service is running on the state directory '%s'; start it with "
                      "'tidepool serve', or choose another one with --url",
                      state);
    else if (!e->code)
        (void)err_sys(e, code, "request");
    return cli_fail(r->call, e);
}

/* What the state directory was said by: "flag --state", "environment …", "default". */
static struct str state_source(const struct config *config)
{
    return str_of(config->sources[config_find(STR("state")) - config_options]);
}

int remote_where(struct cli_call *call, struct client_where *ret)
{
    struct str source = state_source(&call->config);
    const char *url = cli_value(call, "url");
    /* A flag is stronger than the environment, whose key belongs to its URL. */
    bool has_flag = !url && str_starts(source, STR("flag")) && or_env(NULL, "TIDEPOOL_URL");

    *ret = (struct client_where){
        .config = &call->config,
        .url = has_flag ? NULL : or_env(url, "TIDEPOOL_URL"),
        .key =
            has_flag ? cli_value(call, "key") : or_env(cli_value(call, "key"), "TIDEPOOL_API_KEY"),
        .is_named = !str_is(source, "default"),
    };
    if (ret->url && !ret->key)
        return cli_usage(call, "%s requires a key: use --key or TIDEPOOL_API_KEY", ret->url);
    return CLI_OK;
}

int remote_open(struct remote *r, struct cli_call *call)
{
    struct client_where where;
    struct err e = ERR_INIT;
    int status = remote_where(call, &where);

    *r = (struct remote){.call = call};
    arena_init(&r->arena, ARENA_MAX);
    if (status != CLI_OK)
        return status;
    r->client = client_open(&call->config, where.url, where.key, &e);
    return r->client ? CLI_OK : remote_fail(r, e.code, &e);
}

void remote_done(struct remote *r)
{
    client_free(r->client);
    arena_done(&r->arena);
}

/* ---- requests ---- */

const char *remote_join(struct remote *r, const char *const *words)
{
    struct buf out auto_buf = BUF_INIT(TARGET_MAX);
    bool is_encoded = false;

    for (; *words; words++, is_encoded = !is_encoded)
        (void)(is_encoded ? enc_percent(&out, str_of(*words)) : buf_add_str(&out, str_of(*words)));
    return buf_ok(&out) ? arena_str(&r->arena, buf_str(&out)).p : NULL;
}

int remote_try(struct remote *r, const struct client_request *rq, struct json **ret_doc,
               struct err *e)
{
    if (!rq->target)
        return err_sys(e, -ENAMETOOLONG, "request");
    if (rq->body.len > 0 && !rq->body.p)
        return err_sys(e, -ENOMEM, "request");
    return client_send(r->client, &r->arena, rq, ret_doc, e);
}

int remote_ask(struct remote *r, const char *method, const char *target, const struct buf *body,
               struct json **ret_doc)
{
    const struct client_request rq = {method, target, body ? buf_str(body) : STR_NULL};
    struct err e = ERR_INIT;
    int code = body && !buf_ok(body) ? err_sys(&e, body->error, "request")
                                     : remote_try(r, &rq, ret_doc, &e);

    return code < 0 ? remote_fail(r, code, &e) : CLI_OK;
}

static const char *name_at_remote(const struct remote *r, const struct json *names, size_t i)
{
    if (names)
        return json_str(json_at(names, i), STR_NULL).p;
    return i < r->call->n_args ? r->call->args[i] : NULL;
}

int remote_each(struct remote *r, const char *method, const char *prefix, const struct json *names)
{
    bool is_json = cli_is_on(r->call, "json");
    struct jw w = jw_to(&r->call->out);
    int status = CLI_OK;
    const char *name;

    if (is_json)
        jw_array(&w);
    for (size_t i = 0; (name = name_at_remote(r, names, i)); i++) {
        struct json *doc = NULL;
        if (remote_ask(r, method, remote_target(r, prefix, name), NULL, &doc) != CLI_OK)
            status = CLI_FAILED;
        else if (is_json)
            jw_cstr(&w, name);
        else
            (void)buf_printf(&r->call->out, "%s\n", name);
    }
    if (is_json) {
        jw_end(&w);
        (void)buf_add_char(&r->call->out, '\n');
    }
    return status;
}

/* ---- values ---- */

struct str remote_text(struct remote *r, const struct json *object, const char *name)
{
    const struct json *v = json_get(object, name);

    if (json_is(v, JSON_INT))
        return arena_printf(&r->arena, "%" PRId64, v->i);
    if (json_is(v, JSON_BOOL))
        return v->b ? STR("yes") : STR("no");
    return json_str(v, STR(""));
}

int remote_put_pairs(const struct cli_call *call, const char *name, const char *key, struct jw *w)
{
    const char *value;

    if (!cli_value(call, name))
        return CLI_OK;
    jw_key(w, key);
    jw_object(w);
    for (size_t i = 0; (value = cli_value_at(call, name, i)); i++) {
        struct str rest = str_of(value);
        struct str k = str_cut(&rest, '=');
        if (!rest.p || k.len == 0)
            return cli_usage(call, "--%s: expected NAME=VALUE, got '%s'", name, value);
        jw_key_str(w, k);
        jw_str(w, rest);
    }
    jw_end(w);
    return CLI_OK;
}
