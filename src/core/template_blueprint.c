/* SPDX-License-Identifier: MIT */
/* The sandbox template: see template_blueprint.h. */
#include "core/template_blueprint.h"

#include <errno.h>

#include "base/cleanup.h"
#include "core/quantity.h"
#include "core/sandbox_args.h"
#include "core/yaml.h"

/* While the text is read as YAML, a value's name is a word of its own: braces mean something there.
 * Nobody writes these words by chance. */
#define MARK(word) "tidepool-value-" word "-8c1f"
enum { TEXT_MAX = 1 << 20 };

static const struct {
    const char *name; /* behind ".Sandbox." */
    struct str mark;
    size_t offset;
} values[] = {
    {"Name", STR_INIT(MARK("name")), offsetof(struct blueprint_values, name)},
    {"ID", STR_INIT(MARK("id")), offsetof(struct blueprint_values, id)},
    {"User", STR_INIT(MARK("user")), offsetof(struct blueprint_values, user)},
    {"Template", STR_INIT(MARK("template")), offsetof(struct blueprint_values, template_name)},
    {"Image", STR_INIT(MARK("image")), offsetof(struct blueprint_values, image)},
};

enum kind { TEXT, PATH, CPU, BYTES, NUMBER, STRINGS, MAP };

/* What can be said, and where it goes in struct sandbox_args. */
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t max;
} fields[] = {
    {"workdir", PATH, offsetof(struct sandbox_args, workdir), 0},
    {"cmd", TEXT, offsetof(struct sandbox_args, cmd), 0},
    {"args", STRINGS, offsetof(struct sandbox_args, args), 0},
    {"app", TEXT, offsetof(struct sandbox_args, app), 0},
    {"cpu", CPU, offsetof(struct sandbox_args, cpu), 0},
    {"memory", BYTES, offsetof(struct sandbox_args, memory), 0},
    {"cpu_limit", CPU, offsetof(struct sandbox_args, cpu_limit), 0},
    {"memory_limit", BYTES, offsetof(struct sandbox_args, memory_limit), 0},
    {"disk", BYTES, offsetof(struct sandbox_args, disk), 0},
    {"pids", NUMBER, offsetof(struct sandbox_args, pids), 1000000},
    {"port", NUMBER, offsetof(struct sandbox_args, port), UINT16_MAX},
    {"timeout", NUMBER, offsetof(struct sandbox_args, timeout_s), SANDBOX_TIMEOUT_MAX_S},
    {"idle_timeout", NUMBER, offsetof(struct sandbox_args, idle_timeout_s), SANDBOX_TIMEOUT_MAX_S},
    {"envVars", MAP, offsetof(struct sandbox_args, env), 0},
    {"metadata", MAP, offsetof(struct sandbox_args, metadata), 0},
};

/* ---- reading ---- */

static unsigned blueprint_line_of(struct str text, size_t pos)
{
    unsigned n = 1;

    for (size_t i = 0; i < pos; i++)
        n += text.p[i] == '\n';
    return n;
}

/* The mark of what is between braces; .p is NULL when it is none of ours. */
static struct str mark_of(struct str inner)
{
    const struct str prefix = STR(".Sandbox.");
    struct str name = str_trim(inner);

    if (!str_starts(name, prefix))
        return STR_NULL;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (str_is(str_skip(name, prefix.len), values[i].name))
            return values[i].mark;
    return STR_NULL;
}

static int put_marks(struct buf *out, struct str text, struct err *e)
{
    struct str rest = text;

    for (ptrdiff_t at; (at = str_find(rest, STR("{{"))) >= 0;) {
        size_t pos = (size_t)(rest.p - text.p) + (size_t)at;
        struct str inner = str_skip(rest, (size_t)at + 2);
        ptrdiff_t end = str_find(inner, STR("}}"));
        if (end < 0)
            return err_set(e, -EINVAL, "line %u: \"{{\" without \"}}\"",
                           blueprint_line_of(text, pos));
        struct str mark = mark_of(str_n(inner.p, (size_t)end));
        if (!mark.p)
            return err_set(e, -EINVAL, "line %u: unknown value {{%.*s}}",
                           blueprint_line_of(text, pos), (int)(end < 60 ? end : 60), inner.p);
        (void)buf_add(out, rest.p, (size_t)at);
        (void)buf_add_str(out, mark);
        rest = str_skip(inner, (size_t)end + 2);
    }
    (void)buf_add_str(out, rest);
    return buf_ok(out) ? 0 : err_set(e, -E2BIG, "the text is too long");
}

static bool is_strings(const struct json *v, enum json_type type)
{
    if (!json_is(v, type) || v->n > SANDBOX_ENV_MAX)
        return false;
    for (size_t i = 0; i < v->n; i++)
        if ((type == JSON_ARRAY ? v->items[i].type : v->members[i].value.type) != JSON_STRING)
            return false;
    return true;
}

/* What is wrong with V; NULL: nothing. */
static const char *fault_of(size_t field, const struct json *v)
{
    struct str s = json_str(v, STR_NULL);
    uint64_t n;

    switch (fields[field].kind) {
    case TEXT: return s.p ? NULL : "must be a string";
    case PATH: return s.p && s.len > 0 && s.p[0] == '/' ? NULL : "must begin with '/'";
    case CPU:
        return s.p && quantity_milli(s, &n) == 0 ? NULL : "must be a quantity such as \"500m\"";
    case BYTES:
        return s.p && quantity_units(s, &n) == 0 ? NULL : "must be a quantity such as \"512Mi\"";
    case STRINGS: return is_strings(v, JSON_ARRAY) ? NULL : "must be a list of strings";
    case MAP: return is_strings(v, JSON_OBJECT) ? NULL : "must be a map of strings";
    case NUMBER: break;
    }
    int64_t i = json_int(v, INT64_MIN);
    return i >= -1 && i <= fields[field].max ? NULL : "is out of range, or not a number";
}

static size_t find_field(struct str name)
{
    size_t i = 0;

    while (i < ARRAY_LEN(fields) && !str_is(name, fields[i].name))
        i++;
    return i;
}

static int check_doc(const struct yaml_doc *doc, struct err *e)
{
    if (!json_is(doc->root, JSON_OBJECT))
        return err_set(e, -EINVAL, "must be a map of fields");
    for (size_t i = 0; i < doc->root->n; i++) {
        const struct json_member *m = &doc->root->members[i];
        size_t field = find_field(m->key);
        unsigned line = yaml_line(doc, &m->value);
        if (field == ARRAY_LEN(fields))
            return err_set(e, -EINVAL, "line %u: unknown field " STR_FMT, line,
                           STR_ARG(str_slice(m->key, 0, 60)));
        const char *fault = fault_of(field, &m->value);
        if (fault)
            return err_set(e, -EINVAL, "line %u: %s %s", line, fields[field].name, fault);
    }
    return 0;
}

int blueprint_parse(struct arena *a, struct str text, struct blueprint *ret, struct err *e)
{
    struct buf marked auto_buf = BUF_INIT(TEXT_MAX);
    struct yaml_doc doc;
    int r = put_marks(&marked, text, e);

    if (r == 0)
        r = yaml_parse(a, buf_str(&marked), "line", &doc, e);
    if (r == 0)
        r = check_doc(&doc, e);
    if (r == 0)
        ret->doc = doc.root;
    return r;
}

/* ---- using ---- */

/* S with the values in the place of their marks; S itself when it has none. */
static struct str render(struct arena *a, struct str s, const struct blueprint_values *from)
{
    struct buf out auto_buf = BUF_INIT(TEXT_MAX);

    if (str_find(s, STR("tidepool-value-")) < 0)
        return s;
    while (s.len > 0) {
        size_t i = 0;
        while (i < ARRAY_LEN(values) && !str_starts(s, values[i].mark))
            i++;
        bool is_mark = i < ARRAY_LEN(values);
        const void *value = (const char *)from + (is_mark ? values[i].offset : 0);
        (void)buf_add_str(&out, is_mark ? *(const struct str *)value : str_n(s.p, 1));
        s = str_skip(s, is_mark ? values[i].mark.len : 1);
    }
    return buf_ok(&out) ? arena_str(a, buf_str(&out)) : STR_NULL;
}

/* A copy of V with its texts rendered; NULL without memory. */
static struct json *render_all(struct arena *a, const struct json *v,
                               const struct blueprint_values *from)
{
    struct json *copy = json_copy(a, v);
    size_t n = copy ? copy->n : 0;

    for (size_t i = 0; i < n; i++) {
        struct json *one = copy->type == JSON_ARRAY ? &copy->items[i] : &copy->members[i].value;
        one->s = render(a, one->s, from);
        if (!one->s.p)
            return NULL;
    }
    return copy;
}

/* Both objects, where OVER wins. */
static int put_blueprint_map(struct arena *a, const struct json *under, const struct json **over)
{
    struct json *all = json_copy(a, under);

    if (*over && !json_is(*over, JSON_OBJECT))
        return 0;
    for (size_t i = 0; all && *over && i < (*over)->n; i++)
        if (json_set_str(a, all, (*over)->members[i].key, &(*over)->members[i].value) < 0)
            return -ENOMEM;
    *over = all;
    return all ? 0 : -ENOMEM;
}

static int apply_field(size_t field, const struct json *v, const struct blueprint_values *from,
                       void *to, struct arena *a)
{
    struct str *text = to;
    const struct json **value = to;
    int64_t *number = to;

    switch (fields[field].kind) {
    case TEXT:
    case PATH:
    case CPU:
    case BYTES:
        if (text->len == 0)
            *text = render(a, v->s, from);
        return text->p ? 0 : -ENOMEM;
    case NUMBER:
        if (*number == 0)
            *number = json_int(v, 0);
        return 0;
    case STRINGS:
        if (*value)
            return 0;
        *value = render_all(a, v, from);
        return *value ? 0 : -ENOMEM;
    case MAP: break;
    }
    const struct json *rendered = render_all(a, v, from);
    return rendered ? put_blueprint_map(a, rendered, value) : -ENOMEM;
}

int blueprint_apply(const struct blueprint *b, const struct blueprint_values *from,
                    struct sandbox_args *args, struct arena *a)
{
    bool has_main = args->cmd.len > 0 || (args->args && args->args->n > 0);

    for (size_t i = 0; b->doc && i < b->doc->n; i++) {
        const struct json_member *m = &b->doc->members[i];
        size_t field = find_field(m->key);
        bool is_main = str_is(m->key, "cmd") || str_is(m->key, "args");
        if (is_main && has_main)
            continue;
        int r = apply_field(field, &m->value, from, (char *)args + fields[field].offset, a);
        if (r < 0)
            return r;
    }
    return 0;
}
