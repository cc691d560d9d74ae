/* SPDX-License-Identifier: MIT */
/* JSON Schema, second half: checking values. See schema.h. */
#include "base/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/schema_internal.h"

enum {
    STEPS_MAX = 10 * 1000 * 1000, /* work of one check: well under a second */
    DEPTH_MAX = 1024,             /* schemas within schemas, $ref included */
    BYTES_PER_STEP = 64           /* of plain scanning */
};

/* Where the value at hand is: the last token, and the way to it. */
struct schema_place {
    const struct schema_place *up; /* NULL: the root */
    const struct str *key;         /* NULL: an item */
    uint32_t i;
};

struct checker {
    struct schema_error *err; /* NULL: nobody wants to know, as inside anyOf */
    uint64_t steps;           /* that are left */
    unsigned depth;
};

static int check_value(struct checker *c, const struct schema *s, const struct json *v,
                       const struct schema_place *at);

/* As check_value(), but without a reason. */
static int check_quietly(struct checker *c, const struct schema *s, const struct json *v,
                         const struct schema_place *at)
{
    struct schema_error *err = c->err;

    c->err = NULL;
    int r = check_value(c, s, v, at);
    c->err = err;
    return r;
}

/* ---- violations ---- */

static bool put_char(char *path, size_t *len, char ch)
{
    if (*len + 1 >= SCHEMA_PATH_MAX)
        return false;
    path[(*len)++] = ch;
    return true;
}

static void put_schema_place(char *path, size_t *len, const struct schema_place *at)
{
    char digits[16];
    struct str token;

    if (!at->up)
        return;
    put_schema_place(path, len, at->up);
    (void)snprintf(digits, sizeof digits, "%" PRIu32, at->i);
    token = at->key ? *at->key : str_of(digits);
    bool room = put_char(path, len, '/');
    for (size_t i = 0; i < token.len && room; i++) {
        char ch = token.p[i];
        if (ch == '~' || ch == '/') {
            (void)put_char(path, len, '~');
            ch = ch == '~' ? '0' : '1';
        }
        room = put_char(path, len, ch);
    }
}

__attribute__((format(printf, 4, 5))) static int violated(struct checker *c, const char *keyword,
                                                          const struct schema_place *at,
                                                          const char *fmt, ...)
{
    size_t len = 0;
    va_list ap;

    if (!c->err)
        return -EINVAL;
    put_schema_place(c->err->path, &len, at);
    c->err->path[len] = '\0';
    c->err->keyword = keyword;
    va_start(ap, fmt);
    (void)vsnprintf(c->err->text, sizeof c->err->text, fmt, ap);
    va_end(ap);
    return -EINVAL;
}

static int spend_check_steps(struct checker *c, uint64_t steps)
{
    if (c->steps < steps) {
        c->steps = 0;
        return -E2BIG;
    }
    c->steps -= steps;
    return 0;
}

/* ---- types and fixed values ---- */

static uint8_t types_of(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL: return 1U << SCHEMA_NULL;
    case JSON_BOOL: return 1U << SCHEMA_BOOLEAN;
    case JSON_INT: return 1U << SCHEMA_INTEGER | 1U << SCHEMA_NUMBER;
    case JSON_REAL:
        return (uint8_t)(1U << SCHEMA_NUMBER | (v->d == floor(v->d) ? 1U << SCHEMA_INTEGER : 0U));
    case JSON_STRING: return 1U << SCHEMA_STRING;
    case JSON_ARRAY: return 1U << SCHEMA_ARRAY;
    case JSON_OBJECT:
    case JSON_TYPE_COUNT: break;
    }
    return 1U << SCHEMA_OBJECT;
}

/* "expected string or null, got integer" */
static int wrong_type(struct checker *c, const char *keyword, const struct json *v, uint8_t types,
                      const struct schema_place *at)
{
    char list[96] = "";
    size_t len = 0;

    for (unsigned t = 0; t < SCHEMA_TYPE_COUNT && len < sizeof list; t++)
        if (types & 1U << t)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", len ? " or " : "",
                                    schema_type_name((enum schema_type)t));
    return violated(c, keyword, at, "expected %s, got %s", list, json_type_name(v->type));
}

static int check_fixed(struct checker *c, const struct schema *s, const struct json *v,
                       const struct schema_place *at)
{
    if (!s->enum_values && !s->const_value)
        return 0;
    if (spend_check_steps(c, s->enum_weight) < 0)
        return -E2BIG;
    if (s->const_value && !json_equal(s->const_value, v))
        return violated(c, "const", at, "is not the one value allowed");
    if (!s->enum_values)
        return 0;
    for (uint32_t i = 0; i < s->enum_values->n; i++)
        if (json_equal(&s->enum_values->items[i], v))
            return 0;
    return violated(c, "enum", at, "is not one of the %" PRIu32 " values allowed",
                    s->enum_values->n);
}

/* ---- strings ---- */

static uint64_t count_code_points(struct str s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static int check_length(struct checker *c, const struct schema *s, const struct json *v,
                        const struct schema_place *at)
{
    if (s->min_length == 0 && s->max_length == SCHEMA_NO_COUNT)
        return 0;
    if (spend_check_steps(c, v->s.len / BYTES_PER_STEP) < 0)
        return -E2BIG;
    uint64_t n = count_code_points(v->s);
    if (n < s->min_length)
        return violated(c, "minLength", at, "has %" PRIu64 " characters, needs %" PRIu64, n,
                        s->min_length);
    if (n > s->max_length)
        return violated(c, "maxLength", at, "has %" PRIu64 " characters, at most %" PRIu64, n,
                        s->max_length);
    return 0;
}

static int check_schema_string(struct checker *c, const struct schema *s, const struct json *v,
                               const struct schema_place *at)
{
    int r = check_length(c, s, v, at);

    if (r < 0)
        return r;
    if (s->pattern) {
        r = regex_search(s->pattern, v->s, &c->steps);
        if (r < 0)
            return r;
        if (r == 0)
            return violated(c, "pattern", at, "does not match the pattern %.160s",
                            json_str(json_get(s->doc, "pattern"), STR("")).p);
    }
    if (!s->format)
        return 0;
    if (spend_check_steps(c, v->s.len / BYTES_PER_STEP) < 0)
        return -E2BIG;
    if (!s->format->is_valid(v->s))
        return violated(c, "format", at, "is not a valid %s", s->format->name);
    return 0;
}

/* ---- numbers ---- */

/* Exactly, also between integers and reals: <0, 0, >0. */
static int compare_numbers(const struct json *a, const struct json *b)
{
    static const double limit = 9223372036854775808.0; /* 2^63 */

    if (a->type == JSON_INT && b->type == JSON_INT)
        return (a->i > b->i) - (a->i < b->i);
    if (a->type == JSON_REAL && b->type == JSON_REAL)
        return (a->d > b->d) - (a->d < b->d);
    if (a->type == JSON_REAL)
        return -compare_numbers(b, a);
    if (b->d >= limit)
        return -1;
    if (b->d < -limit)
        return 1;
    int64_t whole = (int64_t)b->d;
    double rest = b->d - (double)whole;
    if (a->i != whole)
        return a->i > whole ? 1 : -1;
    return (rest < 0) - (rest > 0);
}

static void print_number(char out[static 32], const struct json *v)
{
    if (v->type == JSON_INT)
        (void)snprintf(out, 32, "%" PRId64, v->i);
    else
        (void)snprintf(out, 32, "%.15g", v->d);
}

static int check_number(struct checker *c, const struct schema *s, const struct json *v,
                        const struct schema_place *at)
{
    const struct {
        const char *keyword, *words;
        const struct json *bound;
        int sign;    /* of a comparison that is wrong */
        bool strict; /* equal is wrong, too */
    } rules[] = {
        {"minimum", "at least", s->minimum, -1, false},
        {"maximum", "at most", s->maximum, 1, false},
        {"exclusiveMinimum", "more than", s->exclusive_minimum, -1, true},
        {"exclusiveMaximum", "less than", s->exclusive_maximum, 1, true},
    };
    char number[32], bound[32];

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].bound)
            continue;
        int order = compare_numbers(v, rules[i].bound);
        if (order != rules[i].sign && !(order == 0 && rules[i].strict))
            continue;
        print_number(number, v);
        print_number(bound, rules[i].bound);
        return violated(c, rules[i].keyword, at, "%s is not %s %s", number, rules[i].words, bound);
    }
    return 0;
}

/* ---- arrays and objects ---- */

static int check_array(struct checker *c, const struct schema *s, const struct json *v,
                       const struct schema_place *at)
{
    if (v->n < s->min_items)
        return violated(c, "minItems", at, "has %" PRIu32 " items, needs %" PRIu64, v->n,
                        s->min_items);
    if (v->n > s->max_items)
        return violated(c, "maxItems", at, "has %" PRIu32 " items, at most %" PRIu64, v->n,
                        s->max_items);
    for (uint32_t i = 0; i < v->n && s->items; i++) {
        const struct schema_place here = {.up = at, .i = i};
        int r = check_value(c, s->items, &v->items[i], &here);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_required(struct checker *c, const struct schema *s, const struct json *v,
                          const struct schema_place *at)
{
    for (uint32_t i = 0; s->required && i < s->required->n; i++) {
        struct str name = s->required->items[i].s;
        if (spend_check_steps(c, 1 + v->n / 8) < 0)
            return -E2BIG;
        if (!json_get_str(v, name))
            return violated(c, "required", at, "lacks the property '%.160s'", name.p);
    }
    return 0;
}

static int name_order(const void *key, const void *property)
{
    return str_cmp(*(const struct str *)key, ((const struct schema_property *)property)->name);
}

static int check_member(struct checker *c, const struct schema *s, const struct json_member *m,
                        const struct schema_place *at)
{
    const struct schema_place here = {.up = at, .key = &m->key};
    const struct schema_property *p = NULL;

    if (s->n_properties)
        p = bsearch(&m->key, s->properties, s->n_properties, sizeof *p, name_order);
    if (p)
        return check_value(c, p->schema, &m->value, &here);
    if (!s->additional)
        return 0;
    if (s->additional->is_false)
        return violated(c, "additionalProperties", at, "has the unknown property '%.160s'",
                        m->key.p);
    return check_value(c, s->additional, &m->value, &here);
}

static int check_schema_name(struct checker *c, const struct schema *s, const struct json_member *m,
                             const struct schema_place *at)
{
    const struct json name = {.type = JSON_STRING, .s = m->key};
    int r = check_quietly(c, s->names, &name, at);

    return r == -EINVAL ? violated(c, "propertyNames", at,
                                   "has the property '%.160s', whose name is not allowed", m->key.p)
                        : r;
}

static int check_object(struct checker *c, const struct schema *s, const struct json *v,
                        const struct schema_place *at)
{
    int r = check_required(c, s, v, at);

    if (!s->n_properties && !s->additional && !s->names)
        return r;
    for (uint32_t i = 0; i < v->n && r == 0; i++) {
        r = spend_check_steps(c, 1);
        if (r == 0 && s->names)
            r = check_schema_name(c, s, &v->members[i], at);
        if (r == 0)
            r = check_member(c, s, &v->members[i], at);
    }
    return r;
}

/* ---- combinations ---- */

/* How many of LIST accept V, counting no further than MAX; or -E2BIG. */
static int count_matches(struct checker *c, const struct schema_list *list, const struct json *v,
                         const struct schema_place *at, int max)
{
    int n = 0;

    for (uint32_t i = 0; i < list->n && n < max; i++) {
        int r = check_quietly(c, list->v[i], v, at);
        if (r == -E2BIG)
            return r;
        n += r == 0;
    }
    return n;
}

/* The types that S accepts at first sight, all bits when it does not say. */
static uint8_t types_at(const struct schema *s)
{
    while (!s->types && s->ref)
        s = s->ref;
    return s->types ? s->types : UINT8_MAX;
}

/* V matches none of LIST. If only one of them is for values of V's type, its complaint is the
 * helpful one. */
static int explain_mismatch(struct checker *c, const char *keyword, const struct schema_list *list,
                            const struct json *v, const struct schema_place *at)
{
    const struct schema *only = NULL;
    uint8_t types = 0;
    int n = 0;

    if (!c->err)
        return -EINVAL;
    for (uint32_t i = 0; i < list->n; i++) {
        uint8_t accepted = types_at(list->v[i]);
        types |= accepted;
        if (accepted & types_of(v)) {
            only = list->v[i];
            n++;
        }
    }
    if (n == 1)
        return check_value(c, only, v, at);
    if (n == 0)
        return wrong_type(c, keyword, v, types, at);
    return violated(c, keyword, at, "matches none of %" PRIu32 " alternatives", list->n);
}

static int check_one_of(struct checker *c, const struct schema *s, const struct json *v,
                        const struct schema_place *at)
{
    int n = s->one_of.n ? count_matches(c, &s->one_of, v, at, 2) : 1;

    if (n < 0)
        return n;
    if (n == 0)
        return explain_mismatch(c, "oneOf", &s->one_of, v, at);
    if (n > 1)
        return violated(c, "oneOf", at, "matches more than one alternative");
    return 0;
}

static int check_combined(struct checker *c, const struct schema *s, const struct json *v,
                          const struct schema_place *at)
{
    int r = s->ref ? check_value(c, s->ref, v, at) : 0;

    for (uint32_t i = 0; i < s->all_of.n && r == 0; i++)
        r = check_value(c, s->all_of.v[i], v, at);
    if (r == 0 && s->any_of.n) {
        r = count_matches(c, &s->any_of, v, at, 1);
        r = r == 0 ? explain_mismatch(c, "anyOf", &s->any_of, v, at) : r == 1 ? 0 : r;
    }
    if (r == 0)
        r = check_one_of(c, s, v, at);
    if (r == 0 && s->negated) {
        r = check_quietly(c, s->negated, v, at);
        if (r != -E2BIG)
            r = r == 0 ? violated(c, "not", at, "matches what it must not") : 0;
    }
    return r;
}

/* ---- all of it ---- */

static int check_by_type(struct checker *c, const struct schema *s, const struct json *v,
                         const struct schema_place *at)
{
    switch (v->type) {
    case JSON_STRING: return check_schema_string(c, s, v, at);
    case JSON_INT:
    case JSON_REAL: return check_number(c, s, v, at);
    case JSON_ARRAY: return check_array(c, s, v, at);
    case JSON_OBJECT: return check_object(c, s, v, at);
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_TYPE_COUNT: break;
    }
    return 0;
}

static int check_value(struct checker *c, const struct schema *s, const struct json *v,
                       const struct schema_place *at)
{
    if (spend_check_steps(c, 1) < 0 || c->depth == DEPTH_MAX)
        return -E2BIG;
    if (s->is_false)
        return violated(c, "false", at, "is not allowed");
    if (s->types && !(s->types & types_of(v)))
        return wrong_type(c, "type", v, s->types, at);
    c->depth++;
    int r = check_fixed(c, s, v, at);
    if (r == 0)
        r = check_by_type(c, s, v, at);
    if (r == 0)
        r = check_combined(c, s, v, at);
    c->depth--;
    return r;
}

int schema_check(const struct schema *s, const struct json *value, struct schema_error *err)
{
    static const struct json null = {.type = JSON_NULL};
    struct checker c = {.err = err, .steps = STEPS_MAX};
    const struct schema_place root = {.up = NULL};

    int r = check_value(&c, s, value ? value : &null, &root);
    if (r == -E2BIG && err)
        *err = (struct schema_error){.keyword = "", .text = "takes too much work to check"};
    return r;
}

/* ---- defaults ---- */

struct filler {
    struct arena *arena;
    uint64_t steps;
    unsigned depth;
};

static int fill_defaults(struct filler *f, const struct schema *s, struct json *v);

static int fill_members(struct filler *f, const struct schema *s, struct json *object)
{
    uint32_t n = object->n; /* what is added below is taken as it is */

    for (uint32_t i = 0; i < s->n_properties; i++) {
        const struct schema_property *p = &s->properties[i];
        if (f->steps <= 1 + object->n / 8)
            return -E2BIG;
        f->steps -= 1 + object->n / 8;
        struct json *value = json_get_str(object, p->name);
        int r = 0;
        if (!value && p->default_value)
            r = json_set_str(f->arena, object, p->name, json_copy(f->arena, p->default_value));
        else if (value && value < &object->members[n].value)
            r = fill_defaults(f, p->schema, value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int fill_defaults(struct filler *f, const struct schema *s, struct json *v)
{
    int r = 0;

    if (f->steps == 0 || f->depth == DEPTH_MAX)
        return -E2BIG;
    f->steps--;
    f->depth++;
    if (v->type == JSON_OBJECT)
        r = fill_members(f, s, v);
    for (uint32_t i = 0; v->type == JSON_ARRAY && s->items && i < v->n && r == 0; i++)
        r = fill_defaults(f, s->items, &v->items[i]);
    for (uint32_t i = 0; i < s->all_of.n && r == 0; i++)
        r = fill_defaults(f, s->all_of.v[i], v);
    if (r == 0 && s->ref)
        r = fill_defaults(f, s->ref, v);
    f->depth--;
    return r;
}

int schema_defaults(struct arena *a, const struct schema *s, struct json *value)
{
    struct filler f = {.arena = a, .steps = STEPS_MAX};

    return value ? fill_defaults(&f, s, value) : 0;
}
