/* SPDX-License-Identifier: MIT */
/* JSON values: access, comparison and construction. See json.h. */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_internal.h"

/* ---- access ---- */

const char *json_type_name(enum json_type t)
{
    static const char *const names[JSON_TYPE_COUNT] = {
        [JSON_NULL] = "null",     [JSON_BOOL] = "boolean",  [JSON_INT] = "integer",
        [JSON_REAL] = "number",   [JSON_STRING] = "string", [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };

    return t < JSON_TYPE_COUNT ? names[t] : "unknown";
}

bool json_is_number(const struct json *v)
{
    return json_is(v, JSON_INT) || json_is(v, JSON_REAL);
}

struct json *json_get_str(const struct json *v, struct str key)
{
    if (!json_is(v, JSON_OBJECT))
        return NULL;
    for (uint32_t i = 0; i < v->n; i++)
        if (str_eq(v->members[i].key, key))
            return &v->members[i].value;
    return NULL;
}

struct json *json_get(const struct json *v, const char *key)
{
    return json_get_str(v, str_of(key));
}

struct json *json_at(const struct json *v, size_t i)
{
    return json_is(v, JSON_ARRAY) && i < v->n ? &v->items[i] : NULL;
}

/* True when TOKEN, with ~1 for '/' and ~0 for '~', names KEY; other escapes name nothing. */
static bool token_is(struct str token, struct str key)
{
    size_t k = 0;

    for (size_t i = 0; i < token.len; i++, k++) {
        char c = token.p[i];
        if (c == '~') {
            char escape = ++i < token.len ? token.p[i] : '\0';
            if (escape != '0' && escape != '1')
                return false;
            c = escape == '0' ? '~' : '/';
        }
        if (k == key.len || key.p[k] != c)
            return false;
    }
    return k == key.len;
}

static struct json *step_pointer(const struct json *v, struct str token)
{
    uint64_t i;

    if (json_is(v, JSON_ARRAY)) {
        if ((token.len > 1 && token.p[0] == '0') || str_to_u64(token, &i) < 0)
            return NULL;
        return json_at(v, i);
    }
    if (!json_is(v, JSON_OBJECT))
        return NULL;
    for (uint32_t m = 0; m < v->n; m++)
        if (token_is(token, v->members[m].key))
            return &v->members[m].value;
    return NULL;
}

struct json *json_pointer_str(const struct json *v, struct str pointer)
{
    /* Readers of a const value get at its parts without const, as strchr() does it. */
    struct json *at = (struct json *)(uintptr_t)v;

    if (pointer.len == 0)
        return at;
    if (pointer.p[0] != '/')
        return NULL;
    pointer = str_skip(pointer, 1);
    while (at && pointer.p)
        at = step_pointer(at, str_cut(&pointer, '/'));
    return at;
}

struct json *json_pointer(const struct json *v, const char *pointer)
{
    return json_pointer_str(v, str_of(pointer));
}

struct str json_str(const struct json *v, struct str fallback)
{
    return json_is(v, JSON_STRING) ? v->s : fallback;
}

int64_t json_int(const struct json *v, int64_t fallback)
{
    int64_t i;

    if (json_is(v, JSON_INT))
        return v->i;
    return json_is(v, JSON_REAL) && json_real_to_int(v->d, &i) ? i : fallback;
}

double json_real(const struct json *v, double fallback)
{
    if (json_is(v, JSON_INT))
        return (double)v->i;
    return json_is(v, JSON_REAL) ? v->d : fallback;
}

bool json_bool(const struct json *v, bool fallback)
{
    return json_is(v, JSON_BOOL) ? v->b : fallback;
}

/* ---- comparison ---- */

enum { FEW_MEMBERS = 16 }; /* up to here members are looked up one by one */

static bool equal_at(const struct json *a, const struct json *b, uint32_t depth);

static bool equal_numbers(const struct json *a, const struct json *b)
{
    int64_t i;

    if (a->type == JSON_REAL && b->type == JSON_REAL)
        return a->d == b->d;
    const struct json *whole = a->type == JSON_INT ? a : b;
    const struct json *other = whole == a ? b : a;
    if (other->type == JSON_INT)
        return whole->i == other->i;
    return json_real_to_int(other->d, &i) && i == whole->i;
}

static bool equal_members(const struct json *a, const struct json *b, uint32_t depth)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct json_member *m = &a->members[i];
        /* Mostly the order is the same. */
        const struct json *other =
            str_eq(m->key, b->members[i].key) ? &b->members[i].value : json_get_str(b, m->key);
        if (!other || !equal_at(&m->value, other, depth))
            return false;
    }
    return true;
}

static bool equal_objects(const struct json *a, const struct json *b, uint32_t depth)
{
    bool equal = true;

    if (a->n <= FEW_MEMBERS)
        return equal_members(a, b, depth);
    struct json_order *x = json_sort_members(a->members, a->n);
    struct json_order *y = json_sort_members(b->members, b->n);
    if (!x || !y)
        equal = equal_members(a, b, depth); /* no memory: slow, but right */
    for (uint32_t i = 0; x && y && equal && i < a->n; i++) {
        const struct json_member *m = &a->members[x[i].i], *k = &b->members[y[i].i];
        equal = str_eq(m->key, k->key) && equal_at(&m->value, &k->value, depth);
    }
    free(x);
    free(y);
    return equal;
}

static bool equal_items(const struct json *a, const struct json *b, uint32_t depth)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!equal_at(&a->items[i], &b->items[i], depth))
            return false;
    return true;
}

static bool equal_at(const struct json *a, const struct json *b, uint32_t depth)
{
    if (json_is_number(a) && json_is_number(b))
        return equal_numbers(a, b);
    if (a->type != b->type || depth > JSON_DEPTH_MAX)
        return false;
    switch (a->type) {
    case JSON_BOOL: return a->b == b->b;
    case JSON_STRING: return str_eq(a->s, b->s);
    case JSON_ARRAY: return a->n == b->n && equal_items(a, b, depth + 1);
    case JSON_OBJECT: return a->n == b->n && equal_objects(a, b, depth + 1);
    case JSON_NULL:
    case JSON_INT:
    case JSON_REAL:
    case JSON_TYPE_COUNT: break;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (!a || !b)
        return a == b;
    return equal_at(a, b, 0);
}

/* ---- construction ---- */

static struct json *new_json_node(struct arena *a, struct json value)
{
    struct json *v = arena_alloc(a, sizeof *v);

    if (v)
        *v = value;
    return v;
}

struct json *json_new_null(struct arena *a)
{
    return new_json_node(a, (struct json){.type = JSON_NULL});
}

struct json *json_new_bool(struct arena *a, bool b)
{
    return new_json_node(a, (struct json){.type = JSON_BOOL, .b = b});
}

struct json *json_new_int(struct arena *a, int64_t i)
{
    return new_json_node(a, (struct json){.type = JSON_INT, .i = i});
}

struct json *json_new_real(struct arena *a, double d)
{
    if (!isfinite(d))
        return json_new_null(a);
    return new_json_node(a, (struct json){.type = JSON_REAL, .d = d});
}

struct json *json_new_str(struct arena *a, struct str s)
{
    struct str copy = arena_str(a, s);

    return copy.p ? new_json_node(a, (struct json){.type = JSON_STRING, .s = copy}) : NULL;
}

struct json *json_new_array(struct arena *a)
{
    return new_json_node(a, (struct json){.type = JSON_ARRAY});
}

struct json *json_new_object(struct arena *a)
{
    return new_json_node(a, (struct json){.type = JSON_OBJECT});
}

/* Makes room for one more entry of SIZE bytes in V, whose entries are at *ENTRIES. */
static int grow_entries(struct arena *a, struct json *v, void **entries, size_t size)
{
    enum { FIRST_ROOM = 2, MAX_ROOM = 31 };
    unsigned room = FIRST_ROOM;

    if (v->room && v->n < UINT32_C(1) << v->room)
        return 0;
    while (room <= MAX_ROOM && v->n >= UINT32_C(1) << room)
        room++;
    if (room > MAX_ROOM)
        return -ENOMEM;
    void *more = arena_alloc(a, size << room);
    if (!more)
        return -ENOMEM;
    if (v->n)
        memcpy(more, *entries, v->n * size);
    *entries = more;
    v->room = room & 0xff;
    return 0;
}

/* A copy of the node shares the entries but not the room behind them: whichever of the two grows
 * first, the other does not notice. */
static struct json without_room(const struct json *v)
{
    struct json copy = *v;

    copy.room = 0;
    return copy;
}

int json_push(struct arena *a, struct json *array, const struct json *value)
{
    void *items;

    if (!json_is(array, JSON_ARRAY) || !value)
        return -ENOMEM;
    items = array->items;
    struct json copy = without_room(value); /* before growing: it may be the array itself */
    if (grow_entries(a, array, &items, sizeof copy) < 0)
        return -ENOMEM;
    array->items = items;
    array->items[array->n++] = copy;
    return 0;
}

int json_set_str(struct arena *a, struct json *object, struct str key, const struct json *value)
{
    void *members;

    if (!json_is(object, JSON_OBJECT) || !value)
        return -ENOMEM;
    struct json copy = without_room(value);
    struct json *old = json_get_str(object, key);
    if (old) {
        *old = copy;
        return 0;
    }
    struct str name = arena_str(a, key);
    members = object->members;
    if (!name.p || grow_entries(a, object, &members, sizeof(struct json_member)) < 0)
        return -ENOMEM;
    object->members = members;
    object->members[object->n++] = (struct json_member){name, copy};
    return 0;
}

int json_set(struct arena *a, struct json *object, const char *key, const struct json *value)
{
    return json_set_str(a, object, str_of(key), value);
}

bool json_del(struct json *object, struct str key)
{
    struct json *value = json_get_str(object, key);

    if (!value)
        return false;
    struct json_member *m =
        (struct json_member *)(void *)((char *)value - offsetof(struct json_member, value));
    size_t behind = (size_t)(object->members + object->n - (m + 1));
    memmove(m, m + 1, behind * sizeof *m);
    object->n--;
    return true;
}

static int copy_value_into(struct arena *a, struct json *to, const struct json *from,
                           uint32_t depth);

static int copy_members(struct arena *a, struct json *to, const struct json *from, uint32_t depth)
{
    to->members = arena_alloc(a, from->n * sizeof *to->members);
    if (!to->members)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->n; i++) {
        to->members[i].key = arena_str(a, from->members[i].key);
        if (!to->members[i].key.p ||
            copy_value_into(a, &to->members[i].value, &from->members[i].value, depth) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int copy_items(struct arena *a, struct json *to, const struct json *from, uint32_t depth)
{
    to->items = arena_alloc(a, from->n * sizeof *to->items);
    if (!to->items)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->n; i++)
        if (copy_value_into(a, &to->items[i], &from->items[i], depth) < 0)
            return -ENOMEM;
    return 0;
}

static int copy_value_into(struct arena *a, struct json *to, const struct json *from,
                           uint32_t depth)
{
    *to = without_room(from);
    if (depth > JSON_DEPTH_MAX)
        return -ENOMEM;
    if (from->type == JSON_STRING) {
        to->s = arena_str(a, from->s);
        return to->s.p ? 0 : -ENOMEM;
    }
    if (from->type == JSON_ARRAY && from->n)
        return copy_items(a, to, from, depth + 1);
    if (from->type == JSON_OBJECT && from->n)
        return copy_members(a, to, from, depth + 1);
    return 0;
}

struct json *json_copy(struct arena *a, const struct json *v)
{
    struct json *copy = v ? arena_alloc(a, sizeof *copy) : NULL;

    return copy && copy_value_into(a, copy, v, 0) == 0 ? copy : NULL;
}
