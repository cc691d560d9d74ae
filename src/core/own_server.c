/* SPDX-License-Identifier: MIT */
#include "core/own_server.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/schema.h"
#include "core/config_value.h"

enum { ARENA_MAX = 8 << 20 };

/* The lengths of names and the counts are those of tidepool-local. */
static const char schema_text[] =
    "{\"type\":\"object\",\"maxProperties\":32,"
    "\"additionalProperties\":{\"type\":\"object\",\"required\":[\"command\"],"
    "\"additionalProperties\":false,\"properties\":{"
    "\"command\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096},"
    "\"args\":{\"type\":\"array\",\"maxItems\":256,\"items\":{\"type\":\"string\"}},"
    "\"env\":{\"type\":\"object\",\"maxProperties\":256,"
    "\"additionalProperties\":{\"type\":\"string\"}},"
    "\"title\":{\"type\":\"string\",\"maxLength\":256},"
    "\"timeout\":{\"type\":\"string\"}}}}";

/* Addresses that are others'. */
static const char *const taken[] = {"all", "api", "e2b", "local-sandbox", "mcp", "sandbox"};

static int no_memory_for_servers(struct err *e)
{
    return err_sys(e, -ENOMEM, "local.servers");
}

static struct str own_name_of(const struct json_member *m)
{
    return str_slice(m->key, 0, OWN_NAME_MAX);
}

/* The settings of M as tidepool-local takes them, in A; .p NULL with E filled. */
static struct str own_settings_of(struct arena *a, const struct json_member *m, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(OWN_SETTINGS_MAX), text = BUF_INIT(2 * OWN_SETTINGS_MAX);
    struct jw w = jw_to(&b);
    const struct json *timeout = json_get(&m->value, "timeout");
    int64_t timeout_ms = OWN_TIMEOUT_MS;

    if (timeout && (config_duration(timeout->s, &timeout_ms) < 0 || timeout_ms < 1000 ||
                    timeout_ms > 3600000)) {
        (void)err_set(e, -EINVAL, "'" STR_FMT "': timeout: expected a duration from 1s to 1h",
                      STR_ARG(own_name_of(m)));
        return STR_NULL;
    }
    jw_object(&w);
    jw_key(&w, "command");
    jw_value(&w, json_get(&m->value, "command"));
    jw_key(&w, "args");
    jw_value(&w, json_get(&m->value, "args"));
    jw_key(&w, "env");
    jw_value(&w, json_get(&m->value, "env"));
    jw_key(&w, "timeout_ms");
    jw_int(&w, timeout_ms);
    jw_end(&w);
    if (!buf_ok(&b)) {
        (void)err_set(e, -EINVAL, "'" STR_FMT "' has more than %d bytes", STR_ARG(own_name_of(m)),
                      OWN_SETTINGS_MAX);
        return STR_NULL;
    }
    struct str done =
        enc_base64url(&text, buf_str(&b)) == 0 ? arena_str(a, buf_str(&text)) : STR_NULL;
    if (!done.p)
        (void)no_memory_for_servers(e);
    return done;
}

/* A segment of a path, which is nobody else's. */
static int check_own_name(struct str name, struct err *e)
{
    bool is_good = name.len > 0 && name.len <= OWN_NAME_MAX && name.p[0] != '.';

    for (size_t i = 0; is_good && i < name.len; i++)
        is_good = name.p[i] && strchr("abcdefghijklmnopqrstuvwxyz0123456789_-.", name.p[i]);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        is_good = is_good && !str_is(name, taken[i]);
    if (is_good)
        return 0;
    return err_set(
        e, -EINVAL,
        "invalid server name '" STR_FMT
        "': use lower-case letters, digits, '_', '-' and '.', and no reserved word of the API",
        STR_ARG(str_slice(name, 0, OWN_NAME_MAX)));
}

int own_servers_check(const struct json *v, struct err *e)
{
    struct arena a auto_arena;
    struct schema_error why;

    arena_init(&a, ARENA_MAX);
    const struct json *doc = json_parse(&a, str_of(schema_text), NULL, NULL);
    const struct schema *s = doc ? schema_compile(&a, doc, NULL) : NULL;
    if (!s)
        return no_memory_for_servers(e);
    if (schema_check(s, v, &why) < 0)
        return err_set(e, -EINVAL, "%s: %s", why.path[0] ? why.path : "servers", why.text);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < v->n; i++) {
        r = check_own_name(v->members[i].key, e);
        if (r == 0 && !own_settings_of(&a, &v->members[i], e).p)
            r = -EINVAL;
    }
    return r;
}

int own_servers_load(struct own_servers *s, const char *text, struct err *e)
{
    s->n = 0;
    arena_init(&s->arena, ARENA_MAX);
    if (!text)
        return 0;
    const struct json *v = json_parse(&s->arena, str_of(text), NULL, NULL);
    if (!v)
        return no_memory_for_servers(e);
    for (uint32_t i = 0; i < v->n && s->n < OWN_SERVERS_MAX; i++) {
        const struct json_member *m = &v->members[i];
        struct own_server *row = &s->items[s->n];
        row->name = m->key.p;
        row->title = json_str(json_get(&m->value, "title"), STR_NULL).p;
        row->settings = own_settings_of(&s->arena, m, e).p;
        if (!row->settings)
            return -ENOMEM;
        s->n++;
    }
    return 0;
}

void own_servers_done(struct own_servers *s)
{
    arena_done(&s->arena);
    s->n = 0;
}

const struct own_server *own_server_find(const struct own_servers *s, struct str name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (str_is(name, s->items[i].name))
            return &s->items[i];
    }
    return NULL;
}
