/* SPDX-License-Identifier: MIT */
/* JSON Schema, first half: compiling. Subschemas wait in a queue and are filled in one after
 * another; each place of the document is compiled once however many $ref name it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/map.h"
#include "base/schema_internal.h"

enum {
    SCHEMAS_MAX = 1 << 20, /* subschemas of one schema */
    REF_CHAIN_MAX = 64     /* $ref to $ref to … */
};

struct compiler {
    struct arena *arena;
    const struct json *root;
    struct map made; /* address of a place in the document → its schema */
    struct schema *todo;
    struct err *e;
};

const char *schema_type_name(enum schema_type t)
{
    static const char *const names[SCHEMA_TYPE_COUNT] = {
        [SCHEMA_NULL] = "null",     [SCHEMA_BOOLEAN] = "boolean", [SCHEMA_INTEGER] = "integer",
        [SCHEMA_NUMBER] = "number", [SCHEMA_STRING] = "string",   [SCHEMA_ARRAY] = "array",
        [SCHEMA_OBJECT] = "object",
    };

    return names[t];
}

/* ---- mistakes ---- */

/* Puts the pointer to TARGET behind what OUT holds, when TARGET is in V. Nothing keeps track of
 * the places while all goes well, so they are sought when there is a mistake to report. */
static bool find_pointer_to(struct buf *out, const struct json *v, const struct json *target)
{
    size_t len = out->len;

    if (v == target)
        return true;
    for (uint32_t i = 0; i < v->n && json_is(v, JSON_ARRAY); i++, out->len = len)
        if (buf_printf(out, "/%u", i) == 0 && find_pointer_to(out, &v->items[i], target))
            return true;
    for (uint32_t i = 0; i < v->n && json_is(v, JSON_OBJECT); i++, out->len = len)
        if (buf_printf(out, "/" STR_FMT, STR_ARG(v->members[i].key)) == 0 &&
            find_pointer_to(out, &v->members[i].value, target))
            return true;
    return false;
}

static int mistake(struct compiler *c, const struct json *place, const char *what)
{
    enum { PLACE_MAX = 1 << 16 };
    struct buf where auto_buf = BUF_INIT(PLACE_MAX);

    if (!find_pointer_to(&where, c->root, place) || !buf_ok(&where))
        buf_clear(&where);
    return err_set(c->e, -EINVAL, "%.160s: %s", where.len ? buf_cstr(&where) : "schema", what);
}

static int fail_schema_memory(struct compiler *c)
{
    return err_set(c->e, -ENOMEM, "out of memory");
}

/* ---- the queue ---- */

static struct str place_key(const struct json *const *place)
{
    return str_n((const char *)place, sizeof *place);
}

/* The schema of DOC, which is filled in now or later. */
static int want(struct compiler *c, const struct json *doc, const struct schema **ret)
{
    struct schema *s = map_get(&c->made, place_key(&doc));

    if (!s) {
        if (!json_is(doc, JSON_OBJECT) && !json_is(doc, JSON_BOOL))
            return mistake(c, doc, "must be an object or a boolean");
        s = arena_new(c->arena, struct schema);
        if (!s || map_put(&c->made, place_key(&doc), s, NULL) < 0)
            return fail_schema_memory(c);
        s->doc = doc;
        s->todo = c->todo;
        c->todo = s;
    }
    *ret = s;
    return 0;
}

/* ---- keywords ---- */

/* Each reads V, the keyword's value, into FIELD of S. */

static int read_schema(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)s;
    return want(c, v, field);
}

static int read_schema_list(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    struct schema_list *list = field;

    (void)s;
    if (!json_is(v, JSON_ARRAY) || v->n == 0)
        return mistake(c, v, "must be an array of schemas");
    list->v = arena_zalloc(c->arena, v->n, sizeof(const struct schema *));
    if (!list->v)
        return fail_schema_memory(c);
    for (; list->n < v->n; list->n++) {
        int r = want(c, &v->items[list->n], &list->v[list->n]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_schema_count(struct compiler *c, struct schema *s, const struct json *v,
                             void *field)
{
    int64_t n = json_int(v, -1);

    (void)s;
    if (n < 0)
        return mistake(c, v, "must be an integer, 0 or more");
    *(uint64_t *)field = (uint64_t)n;
    return 0;
}

static int read_keyword_number(struct compiler *c, struct schema *s, const struct json *v,
                               void *field)
{
    (void)s;
    if (!json_is_number(v))
        return mistake(c, v, "must be a number");
    *(const struct json **)field = v;
    return 0;
}

static int add_type(struct compiler *c, struct schema *s, const struct json *name)
{
    for (unsigned t = 0; t < SCHEMA_TYPE_COUNT; t++) {
        if (!str_is(json_str(name, STR("")), schema_type_name((enum schema_type)t)))
            continue;
        s->types = (uint8_t)(s->types | 1U << t);
        return 0;
    }
    return mistake(c, name, "must be the name of a type");
}

static int read_schema_type(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    int r = 0;

    (void)field;
    if (!json_is(v, JSON_ARRAY))
        return add_type(c, s, v);
    if (v->n == 0)
        return mistake(c, v, "must name a type");
    for (uint32_t i = 0; i < v->n && r == 0; i++)
        r = add_type(c, s, &v->items[i]);
    return r;
}

static int read_nullable(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)field;
    if (!json_is(v, JSON_BOOL))
        return mistake(c, v, "must be a boolean");
    s->nullable = v->b;
    return 0;
}

/* About how long comparing with V takes at worst. */
static uint64_t weight(const struct json *v)
{
    uint64_t sum = 1;

    if (v->type == JSON_STRING)
        return 1 + v->s.len / 64;
    for (uint32_t i = 0; i < v->n && v->type == JSON_ARRAY; i++)
        sum += weight(&v->items[i]);
    for (uint32_t i = 0; i < v->n && v->type == JSON_OBJECT; i++)
        sum += weight(&v->members[i].value) + v->members[i].key.len / 64 + v->n / 8;
    return sum;
}

static int read_schema_enum(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)field;
    if (!json_is(v, JSON_ARRAY))
        return mistake(c, v, "must be an array");
    s->enum_values = v;
    s->enum_weight += weight(v);
    return 0;
}

static int read_const(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)c;
    (void)field;
    s->const_value = v;
    s->enum_weight += weight(v);
    return 0;
}

static int read_pattern(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    struct err e = ERR_INIT;

    (void)field;
    if (!json_is(v, JSON_STRING))
        return mistake(c, v, "must be a string");
    s->pattern = regex_compile(c->arena, v->s, &e);
    if (!s->pattern)
        return e.code == -ENOMEM ? fail_schema_memory(c) : mistake(c, v, err_text(&e));
    return 0;
}

static int read_schema_format(struct compiler *c, struct schema *s, const struct json *v,
                              void *field)
{
    (void)field;
    if (!json_is(v, JSON_STRING))
        return mistake(c, v, "must be a string");
    s->format = schema_find_format(v->s);
    return 0;
}

static int read_required(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)field;
    if (!json_is(v, JSON_ARRAY))
        return mistake(c, v, "must be an array of strings");
    for (uint32_t i = 0; i < v->n; i++)
        if (!json_is(&v->items[i], JSON_STRING))
            return mistake(c, &v->items[i], "must be a string");
    s->required = v;
    return 0;
}

static int order_member_names(const void *a, const void *b)
{
    return str_cmp(((const struct schema_property *)a)->name,
                   ((const struct schema_property *)b)->name);
}

static int read_properties(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    (void)field;
    if (!json_is(v, JSON_OBJECT))
        return mistake(c, v, "must be an object");
    s->properties = arena_zalloc(c->arena, v->n, sizeof *s->properties);
    if (!s->properties)
        return fail_schema_memory(c);
    for (uint32_t i = 0; i < v->n; i++) {
        struct schema_property *p = &s->properties[i];
        int r = want(c, &v->members[i].value, &p->schema);
        if (r < 0)
            return r;
        p->name = v->members[i].key;
        p->default_value = json_get(&v->members[i].value, "default");
    }
    s->n_properties = v->n;
    if (v->n)
        qsort(s->properties, v->n, sizeof *s->properties, order_member_names);
    return 0;
}

/* Definitions are compiled even when nothing refers to them: a mistake is a mistake. */
static int read_definitions(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    const struct schema *ignored;
    int r = 0;

    (void)s;
    (void)field;
    if (!json_is(v, JSON_OBJECT))
        return mistake(c, v, "must be an object");
    for (uint32_t i = 0; i < v->n && r == 0; i++)
        r = want(c, &v->members[i].value, &ignored);
    return r;
}

static int read_ref(struct compiler *c, struct schema *s, const struct json *v, void *field)
{
    struct str text = json_str(v, STR(""));
    struct buf pointer auto_buf = BUF_INIT(4096);
    const struct json *target = NULL;

    (void)field;
    if (!str_starts(text, STR("#")))
        return mistake(c, v, "must be a reference within the schema (#…)");
    int r = enc_unpercent(&pointer, str_skip(text, 1), false);
    if (r == -ENOMEM)
        return fail_schema_memory(c);
    if (r == 0)
        target = json_pointer_str(c->root, buf_str(&pointer));
    if (!target)
        return mistake(c, v, "refers to nothing");
    return want(c, target, &s->ref);
}

static const struct keyword {
    const char *name;
    int (*read)(struct compiler *c, struct schema *s, const struct json *v, void *field);
    size_t field;
} keywords[] = {
    {"type", read_schema_type, 0},
    {"properties", read_properties, 0},
    {"required", read_required, 0},
    {"items", read_schema, offsetof(struct schema, items)},
    {"enum", read_schema_enum, 0},
    {"const", read_const, 0},
    {"anyOf", read_schema_list, offsetof(struct schema, any_of)},
    {"oneOf", read_schema_list, offsetof(struct schema, one_of)},
    {"allOf", read_schema_list, offsetof(struct schema, all_of)},
    {"not", read_schema, offsetof(struct schema, negated)},
    {"additionalProperties", read_schema, offsetof(struct schema, additional)},
    {"propertyNames", read_schema, offsetof(struct schema, names)},
    {"$ref", read_ref, 0},
    {"$defs", read_definitions, 0},
    {"definitions", read_definitions, 0},
    {"minItems", read_schema_count, offsetof(struct schema, min_items)},
    {"maxItems", read_schema_count, offsetof(struct schema, max_items)},
    {"minLength", read_schema_count, offsetof(struct schema, min_length)},
    {"maxLength", read_schema_count, offsetof(struct schema, max_length)},
    {"pattern", read_pattern, 0},
    {"format", read_schema_format, 0},
    {"minimum", read_keyword_number, offsetof(struct schema, minimum)},
    {"maximum", read_keyword_number, offsetof(struct schema, maximum)},
    {"exclusiveMinimum", read_keyword_number, offsetof(struct schema, exclusive_minimum)},
    {"exclusiveMaximum", read_keyword_number, offsetof(struct schema, exclusive_maximum)},
    {"nullable", read_nullable, 0},
};

static int read_keyword(struct compiler *c, struct schema *s, const struct json_member *m)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (str_is(m->key, keywords[i].name))
            return keywords[i].read(c, s, &m->value, (char *)s + keywords[i].field);
    return 0;
}

static int fill_in(struct compiler *c, struct schema *s)
{
    int r = 0;

    s->max_items = s->max_length = SCHEMA_NO_COUNT;
    if (s->doc->type == JSON_BOOL) {
        s->is_false = !s->doc->b;
        return 0;
    }
    for (uint32_t i = 0; i < s->doc->n && r == 0; i++)
        r = read_keyword(c, s, &s->doc->members[i]);
    if (s->types && s->nullable)
        s->types = (uint8_t)(s->types | 1U << SCHEMA_NULL);
    return r;
}

/* Refuses $ref that lead back to themselves. */
static int check_refs(struct compiler *c)
{
    struct str key;
    void *value;

    for (size_t i = 0; map_next(&c->made, &i, &key, &value);) {
        const struct schema *s = value;
        for (int n = 0; s->ref; s = s->ref)
            if (++n > REF_CHAIN_MAX)
                return mistake(c, s->doc, "$ref leads nowhere");
    }
    return 0;
}

struct schema *schema_compile(struct arena *a, const struct json *doc, struct err *e)
{
    struct compiler c = {.arena = a, .root = doc, .e = e};
    const struct schema *root = NULL;

    if (!doc) {
        (void)err_set(e, -EINVAL, "schema: there is none");
        return NULL;
    }
    map_init(&c.made, SCHEMAS_MAX);
    int r = want(&c, doc, &root);
    while (r == 0 && c.todo) {
        struct schema *s = c.todo;
        c.todo = s->todo;
        r = fill_in(&c, s);
    }
    if (r == 0)
        r = check_refs(&c);
    map_done(&c.made);
    return r < 0 ? NULL : (struct schema *)(uintptr_t)root;
}
