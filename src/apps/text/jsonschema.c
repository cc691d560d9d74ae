/* SPDX-License-Identifier: MIT */
#include "apps/text/jsonschema.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/python.h"
#include "base/regex.h"

enum {
    FAULTS_MAX = 512,         /* that are compared */
    STEPS_MAX = 200 * 1000,   /* values of a check, all alternatives counted */
    DEPTH_MAX = 200,          /* schemas within schemas, $ref included */
    PATTERN_STEPS = 10 << 20, /* of one search */
    REPR_MAX = 8 << 20        /* bytes of values in a message: what is longer ends there */
};

/* The way to a value: the last token, and the one before. */
struct step {
    const struct step *up; /* NULL: the value where the walk began */
    struct str name;       /* .p NULL: an index */
    uint32_t index;
    unsigned depth;
};

struct fault {
    const struct step *at;
    const char *keyword; /* "" for the schema false */
    const struct json *wanted, *schema, *value;
    struct str name;       /* required: what is missing */
    struct fault_list *of; /* anyOf, oneOf: what the alternatives say; NULL: nothing */
};

struct fault_list {
    struct fault *items;
    size_t n, room;
};

struct walk {
    struct arena *arena;
    const struct json *doc;
    struct fault_list *to;
    unsigned depth;
    size_t n, steps; /* faults in all lists; values that were looked at */
    bool has_failed;
};

static void check_part(struct walk *w, const struct json *schema, const struct json *v,
                       const struct step *at);

/* ---- faults ---- */

static struct fault *add_fault(struct walk *w, struct fault f)
{
    struct fault_list *l = w->to;

    if (++w->n > FAULTS_MAX) {
        w->has_failed = true;
        return NULL;
    }
    if (l->n == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 4;
        struct fault *more = arena_zalloc(w->arena, room, sizeof *more);
        if (!more) {
            w->has_failed = true;
            return NULL;
        }
        for (size_t i = 0; i < l->n; i++)
            more[i] = l->items[i];
        l->items = more;
        l->room = room;
    }
    l->items[l->n] = f;
    return &l->items[l->n++];
}

/* What SCHEMA says of V as a list of its own, with ways that begin at V. */
static struct fault_list *check_apart(struct walk *w, const struct json *schema,
                                      const struct json *v, struct fault_list *into)
{
    struct fault_list *before = w->to;

    w->to = into;
    check_part(w, schema, v, NULL);
    w->to = before;
    return into;
}

static bool is_valid_under(struct walk *w, const struct json *schema, const struct json *v)
{
    struct fault_list none = {0};

    return check_apart(w, schema, v, &none)->n == 0;
}

/* ---- types ---- */

static bool is_of_type(const struct json *v, struct str type)
{
    static const struct {
        const char *name;
        enum json_type type;
    } plain[] = {{"null", JSON_NULL},   {"boolean", JSON_BOOL},  {"string", JSON_STRING},
                 {"array", JSON_ARRAY}, {"object", JSON_OBJECT}, {"integer", JSON_INT},
                 {"number", JSON_INT},  {"number", JSON_REAL}};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (json_is(v, plain[i].type) && str_is(type, plain[i].name))
            return true;
    }
    return str_is(type, "integer") && json_is(v, JSON_REAL) && v->d == floor(v->d);
}

/* TYPES is a name or a list of names. */
static bool is_of_types(const struct json *v, const struct json *types)
{
    if (json_is(types, JSON_STRING))
        return is_of_type(v, types->s);
    for (size_t i = 0; json_is(types, JSON_ARRAY) && i < types->n; i++) {
        if (is_of_type(v, json_str(json_at(types, i), STR(""))))
            return true;
    }
    return false;
}

/* ---- keywords ---- */

static bool is_wrong_type(struct walk *w, const struct fault *f)
{
    (void)w;
    return !is_of_types(f->value, f->wanted);
}

static bool is_not_listed(struct walk *w, const struct fault *f)
{
    (void)w;
    for (size_t i = 0; json_is(f->wanted, JSON_ARRAY) && i < f->wanted->n; i++) {
        if (json_equal(json_at(f->wanted, i), f->value))
            return false;
    }
    return true;
}

static bool is_not_const(struct walk *w, const struct fault *f)
{
    (void)w;
    return !json_equal(f->wanted, f->value);
}

static int64_t count_characters(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool is_short_text(struct walk *w, const struct fault *f)
{
    (void)w;
    return json_is(f->value, JSON_STRING) && count_characters(f->value->s) < json_int(f->wanted, 0);
}

static bool is_long_text(struct walk *w, const struct fault *f)
{
    (void)w;
    return json_is(f->value, JSON_STRING) &&
           count_characters(f->value->s) > json_int(f->wanted, INT64_MAX);
}

static bool is_short_list(struct walk *w, const struct fault *f)
{
    (void)w;
    return json_is(f->value, JSON_ARRAY) && f->value->n < json_int(f->wanted, 0);
}

static bool is_long_list(struct walk *w, const struct fault *f)
{
    (void)w;
    return json_is(f->value, JSON_ARRAY) && f->value->n > json_int(f->wanted, INT64_MAX);
}

/* The sign of the value less the bound; NAN when it is no number. */
static double compare_bound(const struct fault *f)
{
    if (json_is(f->value, JSON_INT) && json_is(f->wanted, JSON_INT))
        return (double)((f->value->i > f->wanted->i) - (f->value->i < f->wanted->i));
    if (!json_is_number(f->value) || !json_is_number(f->wanted))
        return NAN;
    double a = json_is(f->value, JSON_INT) ? (double)f->value->i : f->value->d;
    double b = json_is(f->wanted, JSON_INT) ? (double)f->wanted->i : f->wanted->d;
    return (double)((a > b) - (a < b));
}

static bool is_below(struct walk *w, const struct fault *f)
{
    (void)w;
    return compare_bound(f) < 0;
}

static bool is_above(struct walk *w, const struct fault *f)
{
    (void)w;
    return compare_bound(f) > 0;
}

static bool is_at_most(struct walk *w, const struct fault *f)
{
    (void)w;
    return compare_bound(f) <= 0;
}

static bool is_at_least(struct walk *w, const struct fault *f)
{
    (void)w;
    return compare_bound(f) >= 0;
}

static bool is_no_match(struct walk *w, const struct fault *f)
{
    uint64_t steps = PATTERN_STEPS;

    if (!json_is(f->value, JSON_STRING) || !json_is(f->wanted, JSON_STRING))
        return false;
    const struct regex *re = regex_compile(w->arena, f->wanted->s, NULL);
    return re && regex_search(re, f->value->s, &steps) == 0;
}

static bool is_forbidden(struct walk *w, const struct fault *f)
{
    return is_valid_under(w, f->wanted, f->value);
}

static bool is_extra(const struct json *schema, struct str name)
{
    return !json_get_str(json_get(schema, "properties"), name);
}

static bool has_extras(struct walk *w, const struct fault *f)
{
    (void)w;
    if (!json_is(f->wanted, JSON_BOOL) || f->wanted->b || !json_is(f->value, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < f->value->n; i++) {
        if (is_extra(f->schema, f->value->members[i].key))
            return true;
    }
    return false;
}

/* Keywords that add at most one fault, with what is wrong by them. */
static const struct {
    const char *keyword;
    bool (*is_wrong)(struct walk *w, const struct fault *f);
} simple[] = {
    {"type", is_wrong_type},
    {"enum", is_not_listed},
    {"const", is_not_const},
    {"minLength", is_short_text},
    {"maxLength", is_long_text},
    {"minItems", is_short_list},
    {"maxItems", is_long_list},
    {"minimum", is_below},
    {"maximum", is_above},
    {"exclusiveMinimum", is_at_most},
    {"exclusiveMaximum", is_at_least},
    {"pattern", is_no_match},
    {"not", is_forbidden},
    {"additionalProperties", has_extras},
};

/* ---- keywords that look into the value ---- */

static const struct step *step_to(struct walk *w, const struct step *up, struct str name,
                                  uint32_t index)
{
    struct step *s = arena_new(w->arena, struct step);

    if (s)
        *s = (struct step){.up = up, .name = name, .index = index, .depth = up ? up->depth + 1 : 1};
    w->has_failed |= !s;
    return s;
}

static void look_required(struct walk *w, const struct fault *f)
{
    for (size_t i = 0; json_is(f->value, JSON_OBJECT) && i < f->wanted->n; i++) {
        struct fault missing = *f;
        missing.name = json_str(json_at(f->wanted, i), STR(""));
        if (!json_get_str(f->value, missing.name))
            (void)add_fault(w, missing);
    }
}

static void look_properties(struct walk *w, const struct fault *f)
{
    for (size_t i = 0; json_is(f->wanted, JSON_OBJECT) && i < f->wanted->n; i++) {
        struct str name = f->wanted->members[i].key;
        const struct json *v = json_is(f->value, JSON_OBJECT) ? json_get_str(f->value, name) : NULL;
        if (v)
            check_part(w, &f->wanted->members[i].value, v, step_to(w, f->at, name, 0));
    }
}

static void look_extras(struct walk *w, const struct fault *f)
{
    if (!json_is(f->wanted, JSON_OBJECT) || !json_is(f->value, JSON_OBJECT))
        return;
    for (size_t i = 0; i < f->value->n; i++) {
        struct json_member *m = &f->value->members[i];
        if (is_extra(f->schema, m->key))
            check_part(w, f->wanted, &m->value, step_to(w, f->at, m->key, 0));
    }
}

static void look_items(struct walk *w, const struct fault *f)
{
    for (size_t i = 0; json_is(f->value, JSON_ARRAY) && i < f->value->n && !w->has_failed; i++)
        check_part(w, f->wanted, json_at(f->value, i), step_to(w, f->at, STR_NULL, (uint32_t)i));
}

static void look_names(struct walk *w, const struct fault *f)
{
    for (size_t i = 0; json_is(f->value, JSON_OBJECT) && i < f->value->n; i++)
        check_part(w, f->wanted, json_new_str(w->arena, f->value->members[i].key), f->at);
}

static void look_all(struct walk *w, const struct fault *f)
{
    for (size_t i = 0; i < f->wanted->n; i++)
        check_part(w, json_at(f->wanted, i), f->value, f->at);
}

static void look_ref(struct walk *w, const struct fault *f)
{
    struct str ref = json_str(f->wanted, STR(""));
    const struct json *target =
        str_starts(ref, STR("#")) ? json_pointer_str(w->doc, str_skip(ref, 1)) : NULL;

    if (target)
        check_part(w, target, f->value, f->at);
}

static void look_alternatives(struct walk *w, const struct fault *f)
{
    struct fault_list *all = arena_new(w->arena, struct fault_list);
    struct fault wrong = *f;

    if (!all) {
        w->has_failed = true;
        return;
    }
    for (size_t i = 0; i < f->wanted->n; i++) {
        size_t before = all->n;
        if (check_apart(w, json_at(f->wanted, i), f->value, all)->n == before)
            return;
    }
    wrong.of = all;
    (void)add_fault(w, wrong);
}

static const struct {
    const char *keyword;
    void (*look)(struct walk *w, const struct fault *f);
} looks[] = {
    {"required", look_required},
    {"properties", look_properties},
    {"additionalProperties", look_extras},
    {"items", look_items},
    {"propertyNames", look_names},
    {"allOf", look_all},
    {"$ref", look_ref},
    {"anyOf", look_alternatives},
    {"oneOf", look_alternatives},
};

static void check_keyword(struct walk *w, struct str keyword, const struct fault *f)
{
    struct fault one = *f;

    for (size_t i = 0; i < ARRAY_LEN(simple); i++) {
        one.keyword = simple[i].keyword;
        if (str_is(keyword, one.keyword) && simple[i].is_wrong(w, &one))
            (void)add_fault(w, one);
    }
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        one.keyword = looks[i].keyword;
        if (str_is(keyword, one.keyword))
            looks[i].look(w, &one);
    }
}

static void check_part(struct walk *w, const struct json *schema, const struct json *v,
                       const struct step *at)
{
    struct fault f = {.at = at, .keyword = "", .schema = schema, .value = v};

    if (w->has_failed || ++w->steps > STEPS_MAX || w->depth == DEPTH_MAX || !v) {
        w->has_failed = true;
        return;
    }
    if (json_is(schema, JSON_BOOL) && !schema->b)
        (void)add_fault(w, f);
    w->depth++;
    for (size_t i = 0; json_is(schema, JSON_OBJECT) && i < schema->n && !w->has_failed; i++) {
        f.wanted = &schema->members[i].value;
        check_keyword(w, schema->members[i].key, &f);
    }
    w->depth--;
}

/* ---- which one is shown ---- */

static const struct step *step_at(const struct step *s, unsigned depth)
{
    while (s && s->depth > depth)
        s = s->up;
    return s;
}

static int compare_ways(const struct step *a, const struct step *b)
{
    unsigned n = a ? a->depth : 0;

    for (unsigned i = 1; i <= n; i++) {
        const struct step *x = step_at(a, i), *y = step_at(b, i);
        int order = x->name.p && y->name.p ? str_cmp(x->name, y->name)
                                           : (x->index > y->index) - (x->index < y->index);
        if (order != 0)
            return order;
    }
    return 0;
}

static bool is_weak(const struct fault *f)
{
    return strcmp(f->keyword, "anyOf") == 0 || strcmp(f->keyword, "oneOf") == 0;
}

static bool fits_type(const struct fault *f)
{
    return is_of_types(f->value, json_get(f->schema, "type"));
}

/* >0: A is the more relevant one. */
static int compare_relevance(const struct fault *a, const struct fault *b)
{
    unsigned x = a->at ? a->at->depth : 0, y = b->at ? b->at->depth : 0;

    if (x != y)
        return x < y ? 1 : -1;
    int order = compare_ways(a->at, b->at);
    if (order == 0)
        order = is_weak(b) - is_weak(a);
    return order != 0 ? order : fits_type(b) - fits_type(a);
}

/* The least relevant of what alternatives say, the first of equals; NULL when another is as
 * irrelevant. */
static const struct fault *least(const struct fault_list *l)
{
    const struct fault *found = &l->items[0];
    bool is_alone = true;

    for (size_t i = 1; i < l->n; i++) {
        int order = compare_relevance(&l->items[i], found);
        if (order < 0)
            found = &l->items[i];
        is_alone = order < 0 || (is_alone && order != 0);
    }
    return is_alone ? found : NULL;
}

static const struct fault *choose_fault(const struct fault_list *l)
{
    const struct fault *best = l->n > 0 ? &l->items[0] : NULL;

    for (size_t i = 1; i < l->n; i++) {
        if (compare_relevance(&l->items[i], best) > 0)
            best = &l->items[i];
    }
    while (best && best->of && best->of->n > 0) {
        const struct fault *inner = least(best->of);
        if (!inner)
            break;
        best = inner;
    }
    return best;
}

/* ---- the words ---- */

static void put_repr(struct buf *out, const struct json *v)
{
    bool is_object = json_is(v, JSON_OBJECT);

    if (out->len > REPR_MAX)
        return;
    switch (v ? v->type : JSON_NULL) {
    case JSON_BOOL: (void)buf_add_str(out, v->b ? STR("True") : STR("False")); return;
    case JSON_INT: (void)buf_printf(out, "%lld", (long long)v->i); return;
    case JSON_REAL: python_float(out, v->d); return;
    case JSON_STRING: python_str(out, v->s); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    case JSON_NULL:
    case JSON_TYPE_COUNT: (void)buf_add_lit(out, "None"); return;
    }
    (void)buf_add_char(out, is_object ? '{' : '[');
    for (size_t i = 0; i < v->n; i++) {
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        if (is_object) {
            python_str(out, v->members[i].key);
            (void)buf_add_lit(out, ": ");
        }
        put_repr(out, is_object ? &v->members[i].value : &v->items[i]);
    }
    (void)buf_add_char(out, is_object ? '}' : ']');
}

static int order_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void put_extras(struct buf *out, const struct fault *f, struct arena *a)
{
    struct str *names = arena_zalloc(a, f->value->n + 1, sizeof *names);
    size_t n = 0;

    for (size_t i = 0; names && i < f->value->n; i++) {
        if (is_extra(f->schema, f->value->members[i].key))
            names[n++] = f->value->members[i].key;
    }
    if (names)
        qsort(names, n, sizeof *names, order_names);
    (void)buf_add_lit(out, "Additional properties are not allowed (");
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        python_str(out, names[i]);
    }
    (void)buf_add_str(out, n == 1 ? STR(" was unexpected)") : STR(" were unexpected)"));
}

static void put_types(struct buf *out, const struct json *types)
{
    if (json_is(types, JSON_STRING))
        python_str(out, types->s);
    for (size_t i = 0; json_is(types, JSON_ARRAY) && i < types->n; i++) {
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        put_repr(out, json_at(types, i));
    }
}

/* {v}: the value, {w}: what the keyword wants, {t}: types. NAMED is said when it wants that very
 * number. */
static const struct {
    const char *keyword, *text;
    int64_t special;
    const char *named;
} words[] = {
    {"", "False schema does not allow {v}", -1, NULL},
    {"type", "{v} is not of type {t}", -1, NULL},
    {"enum", "{v} is not one of {w}", -1, NULL},
    {"const", "{w} was expected", -1, NULL},
    {"minLength", "{v} is too short", 1, "{v} should be non-empty"},
    {"maxLength", "{v} is too long", 0, "{v} is expected to be empty"},
    {"minItems", "{v} is too short", 1, "{v} should be non-empty"},
    {"maxItems", "{v} is too long", 0, "{v} is expected to be empty"},
    {"minimum", "{v} is less than the minimum of {w}", -1, NULL},
    {"maximum", "{v} is greater than the maximum of {w}", -1, NULL},
    {"exclusiveMinimum", "{v} is less than or equal to the minimum of {w}", -1, NULL},
    {"exclusiveMaximum", "{v} is greater than or equal to the maximum of {w}", -1, NULL},
    {"pattern", "{v} does not match {w}", -1, NULL},
    {"not", "{v} should not be valid under {w}", -1, NULL},
    {"anyOf", "{v} is not valid under any of the given schemas", -1, NULL},
    {"oneOf", "{v} is not valid under any of the given schemas", -1, NULL},
};

static void put_words(struct buf *out, const struct fault *f, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p != '{') {
            (void)buf_add_char(out, *p);
            continue;
        }
        if (p[1] == 't')
            put_types(out, f->wanted);
        else
            put_repr(out, p[1] == 'v' ? f->value : f->wanted);
        p += 2;
    }
}

static void put_fault(struct buf *out, const struct fault *f, struct arena *a)
{
    if (strcmp(f->keyword, "required") == 0) {
        python_str(out, f->name);
        (void)buf_add_lit(out, " is a required property");
        return;
    }
    if (strcmp(f->keyword, "additionalProperties") == 0) {
        put_extras(out, f, a);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(f->keyword, words[i].keyword) != 0)
            continue;
        bool is_special = words[i].named && json_int(f->wanted, -1) == words[i].special;
        put_words(out, f, is_special ? words[i].named : words[i].text);
        return;
    }
}

bool jsonschema_explain(struct arena *a, const struct json *schema, const struct json *value,
                        struct buf *out)
{
    struct fault_list all = {0};
    struct walk w = {.arena = a, .doc = schema, .to = &all};

    check_part(&w, schema, value, NULL);
    const struct fault *best = w.has_failed ? NULL : choose_fault(&all);
    if (!best)
        return false;
    put_fault(out, best, a);
    return buf_ok(out);
}
