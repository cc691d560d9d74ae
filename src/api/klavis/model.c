/* SPDX-License-Identifier: MIT */
/* Reading values by models: see model.h. Messages and types are those of pydantic 2. */
#include "api/klavis/model.h"

#include <stdio.h>

#include "api/klavis/model_internal.h"
#include "api/warn.h"
#include "base/cleanup.h"

static struct json *model_value(struct model_walk *k, const struct json *schema, struct json *value,
                                const struct model_place *at);

enum { DEPTH_MAX = 64 };

/* ---- faults ---- */

static void put_model_place(struct jw *w, const struct model_place *at)
{
    if (!at)
        return;
    put_model_place(w, at->in);
    if (at->name.p)
        jw_str(w, at->name);
    else
        jw_int(w, (int64_t)at->index);
}

static void put_model_input(struct jw *w, const struct json *input)
{
    struct buf text auto_buf = BUF_INIT(MODEL_MAX_INPUT);

    if (json_write(&text, input, JSON_COMPACT) < 0)
        return;
    jw_key(w, "input");
    jw_raw(w, buf_str(&text));
}

void model_add(struct model *m, const struct model_place *at, const struct model_fault *f)
{
    if (m->n_items++ >= MODEL_MAX_ITEMS || m->items->len > MODEL_MAX_DETAIL / 2)
        return;
    if (m->items->len > 0)
        (void)buf_add_char(m->items, ',');
    struct jw w = jw_to(m->items);
    jw_object(&w);
    jw_key(&w, "type");
    jw_cstr(&w, f->type);
    jw_key(&w, "loc");
    jw_array(&w);
    put_model_place(&w, at);
    jw_end(&w);
    jw_key(&w, "msg");
    jw_str(&w, f->msg);
    put_model_input(&w, f->input);
    if (f->ctx.len > 0) {
        jw_key(&w, "ctx");
        jw_raw(&w, f->ctx);
    }
    jw_end(&w);
}

struct json *model_refuse(struct model *m, const struct model_place *at, const char *type,
                          const char *msg, const struct json *input)
{
    model_add(m, at, &(struct model_fault){.type = type, .msg = str_of(msg), .input = input});
    return NULL;
}

/* "'a', 'b' or 'c'" */
static void add_model_words(struct buf *out, const struct json *words)
{
    size_t n = json_is(words, JSON_ARRAY) ? words->n : 0;

    for (size_t i = 0; i < n; i++) {
        const char *between = i + 1 == n ? " or " : ", ";
        (void)buf_printf(out, "%s'" STR_FMT "'", i > 0 ? between : "",
                         STR_ARG(json_str(json_at(words, i), STR_NULL)));
    }
}

void model_add_choice(struct model *m, const struct model_place *at, const char *type,
                      const struct json *input, const struct json *words)
{
    struct buf list auto_buf = BUF_INIT(MODEL_MAX_INPUT), ctx auto_buf = BUF_INIT(MODEL_MAX_INPUT);
    struct buf msg auto_buf = BUF_INIT(MODEL_MAX_INPUT);
    struct jw w = jw_to(&ctx);

    add_model_words(&list, words);
    (void)buf_printf(&msg, "Input should be " STR_FMT, STR_ARG(buf_str(&list)));
    jw_object(&w);
    jw_key(&w, "expected");
    jw_str(&w, buf_str(&list));
    jw_end(&w);
    model_add(m, at,
              &(struct model_fault){
                  .type = type, .msg = buf_str(&msg), .input = input, .ctx = buf_str(&ctx)});
}

/* ---- references ---- */

static const struct json *model_deref(const struct model_walk *k, const struct json *schema,
                                      struct str *ret_name)
{
    struct str ref = json_str(json_get(schema, "$ref"), STR_NULL);
    static const struct str local = STR_INIT("#/$defs/");

    if (!ref.p)
        return schema;
    if (str_starts(ref, local)) {
        *ret_name = str_skip(ref, local.len);
        return json_get_str(json_get(k->doc, "$defs"), *ret_name);
    }
    while (str_chr(ref, '/') >= 0)
        (void)str_cut(&ref, '/');
    *ret_name = ref;
    return k->m->find ? k->m->find(k->m->ctx, ref) : NULL;
}

/* ---- objects ---- */

static bool is_required(const struct json *schema, struct str name)
{
    const struct json *names = json_get(schema, "required");

    for (size_t i = 0; json_is(names, JSON_ARRAY) && i < names->n; i++)
        if (str_eq(json_str(&names->items[i], STR_NULL), name))
            return true;
    return false;
}

/* Sets member NAME of OUT, or notes that memory ran out. */
static void keep_member(struct model *m, struct json *out, struct str name,
                        const struct json *value)
{
    if (value && (!out || json_set_str(m->arena, out, name, value) < 0))
        m->has_failed = true;
}

/* A member that the schema does not know. */
static void take_unknown(struct model_walk *k, const struct json *schema,
                         const struct json_member *member, const struct model_place *at,
                         struct json *out)
{
    const struct json *rest = json_get(schema, "additionalProperties");
    struct model_place here = {.in = at, .name = member->key};
    struct str near = warn_nearest(schema, member->key);

    if (json_is(rest, JSON_BOOL) && !rest->b)
        model_add(k->m, &here,
                  &(struct model_fault){
                      .type = "extra_forbidden",
                      .msg = near.p ? arena_printf(k->m->arena,
                                                   "Extra inputs are not permitted; did you mean "
                                                   "'" STR_FMT "'?",
                                                   STR_ARG(near))
                                    : STR("Extra inputs are not permitted"),
                      .input = &member->value});
    else if (k->m->keeps_unknown)
        keep_member(k->m, out, member->key, &member->value);
    else if (k->m->on_dropped)
        k->m->on_dropped(k->m, schema, at, member->key);
}

static struct json *read_members(struct model_walk *k, const struct json *schema,
                                 struct json *value, const struct model_place *at)
{
    const struct json *all = json_get(schema, "properties");
    struct json *out = json_new_object(k->m->arena);
    size_t before = k->m->n_items;

    for (size_t i = 0; i < all->n; i++) {
        struct str name = all->members[i].key;
        struct model_place here = {.in = at, .name = name};
        struct json *v = json_get_str(value, name);
        if (v)
            keep_member(k->m, out, name, model_value(k, &all->members[i].value, v, &here));
        else if (is_required(schema, name))
            (void)model_refuse(k->m, &here, "missing", "Field required", value);
    }
    for (size_t i = 0; i < value->n; i++)
        if (!json_get_str(all, value->members[i].key))
            take_unknown(k, schema, &value->members[i], at, out);
    return k->m->n_items == before ? out : NULL;
}

static struct json *read_dict(struct model_walk *k, const struct json *schema, struct json *value,
                              const struct model_place *at)
{
    const struct json *each = json_get(schema, "additionalProperties");
    struct json *out = json_new_object(k->m->arena);
    size_t before = k->m->n_items;

    if (!json_is(each, JSON_OBJECT))
        return value;
    for (size_t i = 0; i < value->n; i++) {
        struct model_place here = {.in = at, .name = value->members[i].key};
        keep_member(k->m, out, here.name, model_value(k, each, &value->members[i].value, &here));
    }
    return k->m->n_items == before ? out : NULL;
}

static struct json *read_object(struct model_walk *k, const struct json *schema, struct json *value,
                                const struct model_place *at)
{
    bool is_model = json_is(json_get(schema, "properties"), JSON_OBJECT);

    if (json_is(value, JSON_OBJECT))
        return is_model ? read_members(k, schema, value, at) : read_dict(k, schema, value, at);
    if (is_model)
        return model_refuse(k->m, at, "model_attributes_type",
                            "Input should be a valid dictionary or object to extract fields from",
                            value);
    return model_refuse(k->m, at, "dict_type", "Input should be a valid dictionary", value);
}

/* ---- lists ---- */

static const struct json *item_schema(const struct json *schema, size_t i)
{
    const struct json *own = json_at(json_get(schema, "prefixItems"), i);

    return own ? own : json_get(schema, "items");
}

static bool is_count_right(struct model *m, const struct json *schema, const struct json *value,
                           const struct model_place *at)
{
    int64_t n = value->n, least = json_int(json_get(schema, "minItems"), 0);
    int64_t most = json_int(json_get(schema, "maxItems"), INT64_MAX);
    bool is_short = n < least;
    char msg[128], ctx[128];

    if (!is_short && n <= most)
        return true;
    int64_t bound = is_short ? least : most;
    (void)snprintf(msg, sizeof msg, "List should have at %s %lld item%s after validation, not %lld",
                   is_short ? "least" : "most", (long long)bound, bound == 1 ? "" : "s",
                   (long long)n);
    (void)snprintf(ctx, sizeof ctx, "{\"field_type\":\"List\",\"%s\":%lld,\"actual_length\":%lld}",
                   is_short ? "min_length" : "max_length", (long long)bound, (long long)n);
    model_add(m, at,
              &(struct model_fault){.type = is_short ? "too_short" : "too_long",
                                    .msg = str_of(msg),
                                    .input = value,
                                    .ctx = str_of(ctx)});
    return false;
}

static struct json *read_model_list(struct model_walk *k, const struct json *schema,
                                    struct json *value, const struct model_place *at)
{
    struct json *out = json_new_array(k->m->arena);
    size_t before = k->m->n_items;

    if (!json_is(value, JSON_ARRAY))
        return model_refuse(k->m, at, "list_type", "Input should be a valid list", value);
    for (size_t i = 0; i < value->n; i++) {
        struct model_place here = {.in = at, .index = i};
        const struct json *each = item_schema(schema, i);
        struct json *v = each ? model_value(k, each, &value->items[i], &here) : &value->items[i];
        if (v && (!out || json_push(k->m->arena, out, v) < 0))
            k->m->has_failed = true;
    }
    if (k->m->n_items == before)
        (void)is_count_right(k->m, schema, value, at);
    return k->m->n_items == before ? out : NULL;
}

/* ---- choices ---- */

/* The name that the framework has for a member of a union. */
static void add_tag(const struct model_walk *k, struct buf *out, const struct json *schema)
{
    static const char *const names[][2] = {
        {"string", "str"}, {"integer", "int"}, {"number", "float"}, {"boolean", "bool"}};
    struct str name = STR_NULL;
    const struct json *node = model_deref(k, schema, &name);
    struct str type = json_str(json_get(node, "type"), STR_NULL);

    if (json_get(node, "const")) {
        (void)buf_printf(out, "literal['" STR_FMT "']",
                         STR_ARG(json_str(json_get(node, "const"), STR_NULL)));
        return;
    }
    if (json_get(node, "enum")) {
        (void)buf_printf(out, "str-enum[" STR_FMT "]", STR_ARG(name));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(type, names[i][0]))
            (void)buf_add_str(out, str_of(names[i][1]));
    if (str_is(type, "array")) {
        (void)buf_add_lit(out, "list[");
        add_tag(k, out, json_get(node, "items"));
        (void)buf_add_char(out, ']');
    } else if (str_is(type, "object")) {
        (void)buf_add_str(out, name.len > 0 ? name : STR("dict[str,any]"));
    } else if (!node || node->n == 0) {
        (void)buf_add_lit(out, "any");
    }
}

static bool is_null_schema(const struct json *schema)
{
    return str_is(json_str(json_get(schema, "type"), STR_NULL), "null");
}

/* One pass over the members of a union; the faults of all of them stay. */
static struct json *try_union(struct model_walk *k, const struct json *any, struct json *value,
                              const struct model_place *at)
{
    for (size_t i = 0; i < any->n; i++) {
        struct buf tag auto_buf = BUF_INIT(256);
        if (is_null_schema(&any->items[i]))
            continue;
        add_tag(k, &tag, &any->items[i]);
        struct model_place here = {.in = at, .name = buf_str(&tag)};
        struct json *v = model_value(k, &any->items[i], value, &here);
        if (v)
            return v;
    }
    return NULL;
}

/* First as it is, then leniently; what was said is forgotten when one member takes it. */
static struct json *read_union(struct model_walk *k, const struct json *any, struct json *value,
                               const struct model_place *at)
{
    size_t n = k->m->n_items, len = k->m->items->len;
    bool was_strict = k->is_strict;

    k->is_strict = true;
    struct json *v = try_union(k, any, value, at);
    k->is_strict = was_strict;
    if (!v) {
        k->m->n_items = n;
        k->m->items->len = len;
        v = try_union(k, any, value, at);
    }
    if (v) {
        k->m->n_items = n;
        k->m->items->len = len;
    }
    return v;
}

static struct json *read_any_of(struct model_walk *k, const struct json *any, struct json *value,
                                const struct model_place *at)
{
    const struct json *only = NULL;
    size_t n = 0;
    bool is_nullable = false;

    for (size_t i = 0; i < any->n; i++) {
        if (is_null_schema(&any->items[i])) {
            is_nullable = true;
        } else {
            only = &any->items[i];
            n++;
        }
    }
    if (is_nullable && json_is(value, JSON_NULL))
        return value;
    return n == 1 ? model_value(k, only, value, at) : read_union(k, any, value, at);
}

static struct json *read_model_choice(struct model_walk *k, const struct json *words, bool is_enum,
                                      struct json *value, const struct model_place *at)
{
    for (size_t i = 0; json_is(words, JSON_ARRAY) && i < words->n; i++)
        if (json_equal(&words->items[i], value))
            return value;
    model_add_choice(k->m, at, is_enum ? "enum" : "literal_error", value, words);
    return NULL;
}

/* ---- values ---- */

static struct json *read_node(struct model_walk *k, const struct json *schema, bool is_named,
                              struct json *value, const struct model_place *at)
{
    const struct json *any = json_get(schema, "anyOf"), *one = json_get(schema, "const");
    struct str type = json_str(json_get(schema, "type"), STR_NULL);

    if (json_is(any, JSON_ARRAY))
        return read_any_of(k, any, value, at);
    if (json_get(schema, "enum"))
        return read_model_choice(k, json_get(schema, "enum"), is_named, value, at);
    if (one) {
        struct json *words = json_new_array(k->m->arena);
        if (!words || json_push(k->m->arena, words, one) < 0)
            k->m->has_failed = true;
        return read_model_choice(k, words, false, value, at);
    }
    if (str_is(type, "object"))
        return read_object(k, schema, value, at);
    if (str_is(type, "array"))
        return read_model_list(k, schema, value, at);
    return model_scalar(k, schema, value, at);
}

static struct json *model_value(struct model_walk *k, const struct json *schema, struct json *value,
                                const struct model_place *at)
{
    struct str name = STR_NULL;
    const struct json *node = model_deref(k, schema, &name);
    struct model_walk inner = *k;

    if (name.p && !str_starts(json_str(json_get(schema, "$ref"), STR_NULL), STR("#/$defs/")))
        inner.doc = node;
    if (k->depth >= DEPTH_MAX || k->m->has_failed)
        return model_refuse(k->m, at, "recursion_loop", "Recursion error - too deep", NULL);
    inner.depth++;
    return read_node(&inner, node, name.p != NULL, value, at);
}

struct json *model_read(struct model *m, const struct json *doc, struct json *value,
                        const struct model_place *at)
{
    struct model_walk k = {.m = m, .doc = doc};

    if (!value)
        return model_refuse(m, at, "missing", "Field required", NULL);
    return model_value(&k, doc, value, at);
}
