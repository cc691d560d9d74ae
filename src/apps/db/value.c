/* SPDX-License-Identifier: MIT */
#include "apps/db/value.h"

#include <errno.h>
#include <sqlite3.h>

#include "base/enc.h"

static int read_blob_value(sqlite3_value *v, struct arena *a, struct json *ret)
{
    struct buf text auto_buf = BUF_INIT(64UL << 20);
    int len = sqlite3_value_bytes(v);

    (void)enc_base64(&text, str_n(sqlite3_value_blob(v), (size_t)len));
    struct json *o = buf_ok(&text) ? json_new_object(a) : NULL;
    struct json *s = o ? json_new_str(a, buf_str(&text)) : NULL;
    if (!s || json_set(a, o, "base64", s) < 0)
        return -ENOMEM;
    *ret = *o;
    return 0;
}

int value_read(struct sqlite3_value *v, struct arena *a, struct json *ret)
{
    struct str s;

    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        *ret = (struct json){.type = JSON_INT, .i = sqlite3_value_int64(v)};
        return 0;
    case SQLITE_FLOAT:
        *ret = (struct json){.type = JSON_REAL, .d = sqlite3_value_double(v)};
        return 0;
    case SQLITE_TEXT:
        s = str_n((const char *)sqlite3_value_text(v), (size_t)sqlite3_value_bytes(v));
        *ret = (struct json){.type = JSON_STRING, .s = arena_str(a, s)};
        return ret->s.p ? 0 : -ENOMEM;
    case SQLITE_BLOB: return read_blob_value(v, a, ret);
    default: *ret = (struct json){.type = JSON_NULL}; return 0;
    }
}

/* NULL, numbers, text, the rest. */
static int rank_json_type(const struct json *v)
{
    if (json_is(v, JSON_NULL))
        return 0;
    if (json_is_number(v))
        return 1;
    return json_is(v, JSON_STRING) ? 2 : 3;
}

int value_compare(const struct json *a, const struct json *b)
{
    int x = rank_json_type(a), y = rank_json_type(b);

    if (x != y)
        return x - y;
    if (x == 2)
        return str_cmp(a->s, b->s);
    if (x != 1)
        return 0;
    if (json_is(a, JSON_INT) && json_is(b, JSON_INT))
        return (a->i > b->i) - (a->i < b->i);
    double d = json_real(a, 0), f = json_real(b, 0);
    return (d > f) - (d < f);
}
