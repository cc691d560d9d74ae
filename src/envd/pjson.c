/* SPDX-License-Identifier: MIT */
/* The JSON mapping of proto3: see pjson.h. */
#include "envd/pjson.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/enc.h"

enum { NAME_MAX_BYTES = 32 };

struct pjson_reading {
    struct arena *arena;
    const struct pjson_field *field;
    void *at; /* where the field's value goes */
    struct err *err;
};

static int refuse_field(const struct pjson_reading *r, const char *what)
{
    return err_set(r->err, -EINVAL, "invalid value for field %s: %s", r->field->name, what);
}

static int no_memory_for_field(const struct pjson_reading *r)
{
    return err_sys(r->err, -ENOMEM, "field %s", r->field->name);
}

/* ---- values ---- */

static int read_pjson_string(const struct pjson_reading *r, const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return refuse_field(r, "it must be a string");
    *(struct str *)r->at = v->s;
    return 0;
}

static int read_bytes(const struct pjson_reading *r, const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return refuse_field(r, "it must be base64 text");
    auto_buf struct buf b = BUF_INIT(v->s.len + 1);
    if (enc_unbase64(&b, v->s) < 0)
        return b.error == -ENOMEM ? no_memory_for_field(r) : refuse_field(r, "it is not base64");
    struct str bytes = arena_str(r->arena, b.p ? buf_str(&b) : STR(""));
    if (!bytes.p)
        return no_memory_for_field(r);
    *(struct str *)r->at = bytes;
    return 0;
}

static int read_bool(const struct pjson_reading *r, const struct json *v)
{
    if (!json_is(v, JSON_BOOL))
        return refuse_field(r, "it must be true or false");
    *(bool *)r->at = v->b;
    return 0;
}

/* A number, or a number as text, within [LOW, HIGH]. */
static int get_pjson_number(const struct json *v, int64_t low, int64_t high, int64_t *ret)
{
    int64_t n = 0;

    if (json_is(v, JSON_STRING)) {
        if (str_to_i64(v->s, &n) < 0)
            return -EINVAL;
    } else {
        n = json_int(v, INT64_MIN);
    }
    if (n < low || n > high)
        return -EINVAL;
    *ret = n;
    return 0;
}

static int read_u32(const struct pjson_reading *r, const struct json *v)
{
    int64_t n;

    if (get_pjson_number(v, 0, UINT32_MAX, &n) < 0)
        return refuse_field(r, "it must be a number from 0 to 4294967295");
    *(uint32_t *)r->at = (uint32_t)n;
    return 0;
}

static int read_pjson_enum(const struct pjson_reading *r, const struct json *v)
{
    int64_t n = 0;

    if (json_is(v, JSON_STRING)) {
        for (const struct pjson_name *name = r->field->names; name->name; name++)
            if (str_is(v->s, name->name))
                n = name->value;
    } else if (get_pjson_number(v, INT32_MIN, INT32_MAX, &n) < 0) {
        return refuse_field(r, "it must be a name or a number");
    }
    *(int32_t *)r->at = (int32_t)n;
    return 0;
}

static int read_pjson_strings(const struct pjson_reading *r, const struct json *v)
{
    if (!json_is(v, JSON_ARRAY) || v->n > PJSON_STRINGS_MAX)
        return refuse_field(r, "it must be a list of strings");
    char **list = arena_zalloc(r->arena, v->n + 1UL, sizeof *list);
    if (!list)
        return no_memory_for_field(r);
    for (uint32_t i = 0; i < v->n; i++) {
        struct str s = json_str(json_at(v, i), STR_NULL);
        if (!s.p || str_chr(s, '\0') >= 0)
            return refuse_field(r, "it must hold strings without NUL bytes");
        list[i] = (char *)(uintptr_t)s.p; /* ends with a NUL, and lives as long as the value */
    }
    *(char ***)r->at = list;
    return 0;
}

static int read_pjson_map(const struct pjson_reading *r, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT) || v->n > PJSON_MAP_MAX)
        return refuse_field(r, "it must be an object of strings");
    for (uint32_t i = 0; i < v->n; i++)
        if (!json_is(&v->members[i].value, JSON_STRING))
            return refuse_field(r, "it must hold strings only");
    *(const struct json **)r->at = v;
    return 0;
}

static int read_pjson_message(const struct pjson_reading *r, const struct json *v)
{
    void *m = pjson_read(r->arena, r->field->message, v, r->err);

    if (!m)
        return r->err && r->err->code ? r->err->code : -EINVAL;
    *(void **)r->at = m;
    return 0;
}

static int (*const readers[PJSON_TYPE_COUNT])(const struct pjson_reading *r,
                                              const struct json *v) = {
    [PJSON_STRING] = read_pjson_string, [PJSON_BYTES] = read_bytes,
    [PJSON_BOOL] = read_bool,           [PJSON_U32] = read_u32,
    [PJSON_ENUM] = read_pjson_enum,     [PJSON_STRINGS] = read_pjson_strings,
    [PJSON_MAP] = read_pjson_map,       [PJSON_MESSAGE] = read_pjson_message,
};

/* ---- messages ---- */

/* allowNetworkMounts → allow_network_mounts */
static struct str snake_name(const char *name, char ret[NAME_MAX_BYTES])
{
    size_t len = 0;

    for (const char *c = name; *c; c++) {
        assert(len + 2 < NAME_MAX_BYTES);
        bool is_upper = *c >= 'A' && *c <= 'Z';
        if (is_upper)
            ret[len++] = '_';
        ret[len++] = is_upper ? (char)(*c | 0x20) : *c;
    }
    return str_n(ret, len);
}

static const struct json *find_pjson_member(const struct json *object, const char *name)
{
    char snake[NAME_MAX_BYTES];
    const struct json *v = json_get(object, name);

    if (!v)
        v = json_get_str(object, snake_name(name, snake));
    return json_is(v, JSON_NULL) ? NULL : v;
}

void *pjson_read(struct arena *a, const struct pjson_message *type, const struct json *v,
                 struct err *e)
{
    uint64_t seen = 0; /* of the oneofs */
    uint32_t has = 0;

    assert(type->n_fields <= 32);
    if (!json_is(v, JSON_OBJECT)) {
        (void)err_set(e, -EINVAL, "a message must be a JSON object");
        return NULL;
    }
    char *m = arena_zalloc(a, 1, type->size);
    if (!m) {
        (void)err_sys(e, -ENOMEM, "message");
        return NULL;
    }
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct pjson_field *f = &type->fields[i];
        const struct json *value = find_pjson_member(v, f->name);
        struct pjson_reading r = {a, f, m + f->offset, e};
        if (!value)
            continue;
        if (f->oneof && seen >> f->oneof & 1) {
            (void)refuse_field(&r, "another member of its oneof is set already");
            return NULL;
        }
        if (readers[f->type](&r, value) < 0)
            return NULL;
        seen |= f->oneof ? 1ULL << f->oneof : 0;
        has |= 1U << i;
    }
    *(uint32_t *)(void *)m = has;
    return m;
}

/* ---- writing ---- */

void pjson_put_str(struct jw *w, const char *key, struct str s)
{
    if (s.len == 0)
        return;
    jw_key(w, key);
    jw_str(w, s);
}

void pjson_put_u32(struct jw *w, const char *key, uint32_t v)
{
    if (v == 0)
        return;
    jw_key(w, key);
    jw_int(w, v);
}

void pjson_put_bool(struct jw *w, const char *key, bool v)
{
    if (!v)
        return;
    jw_key(w, key);
    jw_bool(w, true);
}

void pjson_put_i64(struct jw *w, const char *key, int64_t v)
{
    char text[24];

    if (v == 0)
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)v);
    jw_key(w, key);
    jw_cstr(w, text);
}

void pjson_put_bytes(struct jw *w, const char *key, struct str bytes)
{
    jw_key(w, key);
    jw_raw(w, STR("\""));
    (void)enc_base64(w->out, bytes);
    (void)buf_add_char(w->out, '"');
}

void pjson_put_time(struct jw *w, const char *key, int64_t seconds, uint32_t nanos)
{
    char text[CLOCK_RFC3339_MAX], whole[CLOCK_RFC3339_MAX + 12];

    clock_rfc3339(text, seconds * 1000000);
    text[strcspn(text, "Z")] = '\0';
    if (nanos == 0)
        (void)snprintf(whole, sizeof whole, "%sZ", text);
    else if (nanos % 1000000 == 0)
        (void)snprintf(whole, sizeof whole, "%s.%03uZ", text, (unsigned)nanos / 1000000);
    else if (nanos % 1000 == 0)
        (void)snprintf(whole, sizeof whole, "%s.%06uZ", text, (unsigned)nanos / 1000);
    else
        (void)snprintf(whole, sizeof whole, "%s.%09uZ", text, (unsigned)nanos);
    jw_key(w, key);
    jw_cstr(w, whole);
}
