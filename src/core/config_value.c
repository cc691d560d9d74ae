/* SPDX-License-Identifier: MIT */
/* The types of settings: see config_value.h. One row of `types` is one type. */
#include "core/config_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/mem.h"

struct config_unit {
    const char *name;
    int64_t factor;
};

/* Largest first among those that printing uses; the others are only read. */
static const struct config_unit duration_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0},
};
static const struct config_unit size_units[] = {
    {"TiB", INT64_C(1) << 40},
    {"GiB", INT64_C(1) << 30},
    {"MiB", INT64_C(1) << 20},
    {"KiB", INT64_C(1) << 10},
    {"B", 1},
    {"", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {NULL, 0},
};

const char *const config_log_levels[] = {"debug", "info", "warn", "error", NULL};
const char *const config_disk_kinds[] = {"auto", "image", "tmpfs", "dir", NULL};

static int expected(const struct config_option *o, struct str text, struct err *e, const char *what)
{
    if (o->is_secret)
        return err_set(e, -EINVAL, "expected %s", what);
    return err_set(e, -EINVAL, "expected %s, got '" STR_FMT "'", what, STR_ARG(text));
}

static int keep_string(const struct config_ctx *x, struct str text, const char **field,
                       struct err *e)
{
    const char *copy = arena_str(x->a, text).p;

    if (!copy)
        return err_sys(e, -ENOMEM, "value");
    *field = copy;
    return 0;
}

/* ---- text to value ---- */

static int check_config_string(const struct config_option *o, struct str text, struct err *e)
{
    if (text.len == 0)
        return err_set(e, -EINVAL, "is empty");
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
            return err_set(e, -EINVAL, "contains a control character");
    if (!str_is_utf8(text))
        return err_set(e, -EINVAL, "is not UTF-8");
    if (text.len < (size_t)o->min)
        return err_set(e, -EINVAL, "is shorter than %" PRId64 " characters", o->min);
    return 0;
}

static int parse_config_string(const struct config_ctx *x, const struct config_option *o,
                               struct str text, void *field, struct err *e)
{
    int r = check_config_string(o, text, e);

    return r < 0 ? r : keep_string(x, text, field, e);
}

static int parse_path(const struct config_ctx *x, const struct config_option *o, struct str text,
                      void *field, struct err *e)
{
    const char *dir = NULL;
    int r = check_config_string(o, text, e);

    if (r < 0)
        return r;
    if (str_starts(text, STR("~/"))) {
        if (!x->home)
            return err_set(e, -EINVAL, "'~' cannot be expanded: HOME is not set");
        dir = x->home;
        text = str_skip(text, 2);
    } else if (text.p[0] != '/') {
        dir = x->base_dir;
    }
    if (!dir)
        return keep_string(x, text, field, e);
    const char *joined = arena_printf(x->a, "%s/" STR_FMT, dir, STR_ARG(text)).p;
    if (!joined)
        return err_sys(e, -ENOMEM, "value");
    *(const char **)field = joined;
    return 0;
}

static bool is_config_host(struct str s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    bool is_v6 = s.len > 2 && s.p[0] == '[' && s.p[s.len - 1] == ']';

    if (is_v6)
        s = str_slice(s, 1, s.len - 1);
    for (size_t i = 0; i < s.len; i++)
        if (is_v6 ? !strchr("0123456789abcdefABCDEF:.%", s.p[i]) : !strchr(allowed, s.p[i]))
            return false;
    return s.len > 0;
}

static int parse_address(const struct config_ctx *x, const struct config_option *o, struct str text,
                         void *field, struct err *e)
{
    const char *colon = text.len ? memrchr(text.p, ':', text.len) : NULL;
    uint64_t port;
    int r = check_config_string(o, text, e);

    if (r < 0)
        return r;
    if (str_starts(text, STR("unix:")) && text.len > 5)
        return keep_string(x, text, field, e);
    struct str host = str_n(text.p, colon ? (size_t)(colon - text.p) : 0);
    if (!colon || str_to_u64(str_skip(text, host.len + 1), &port) < 0 || port > 65535 ||
        (host.len > 0 && !is_config_host(host)))
        return expected(o, text, e, "an address such as 127.0.0.1:10000, [::1]:443 or unix:/path");
    if (host.len > 0)
        return keep_string(x, text, field, e);
    /* ":10000" is how Go programs write "all addresses". */
    const char *all = arena_printf(x->a, "0.0.0.0:%" PRIu64, port).p;
    if (!all)
        return err_sys(e, -ENOMEM, "value");
    *(const char **)field = all;
    return 0;
}

static int check_range(const struct config_option *o, int64_t v, struct err *e)
{
    struct buf low auto_buf = BUF_INIT(64), high auto_buf = BUF_INIT(64);

    if (v >= o->min && v <= o->max)
        return 0;
    (void)config_value_print(&low, o, &o->min);
    (void)config_value_print(&high, o, &o->max);
    if (!buf_cstr(&low) || !buf_cstr(&high))
        return err_sys(e, -ENOMEM, "value");
    return err_set(e, -EINVAL, "out of range: must be from %s to %s", buf_cstr(&low),
                   buf_cstr(&high));
}

static int keep_int(const struct config_option *o, int64_t v, int64_t *field, struct err *e)
{
    int r = check_range(o, v, e);

    if (r == 0)
        *field = v;
    return r;
}

static int parse_int(const struct config_ctx *x, const struct config_option *o, struct str text,
                     void *field, struct err *e)
{
    int64_t v;
    int r = str_to_i64(text, &v);

    (void)x;
    if (r == -ERANGE)
        return check_range(o, text.p[0] == '-' ? INT64_MIN : INT64_MAX, e);
    if (r < 0)
        return expected(o, text, e, "a whole number");
    return keep_int(o, v, field, e);
}

/* NUMBER UNIT with nothing else; a product that does not fit counts as the largest number. */
static int parse_units(struct str text, const struct config_unit *units, int64_t *ret)
{
    size_t n = 0;
    int64_t v;

    while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    int r = str_to_i64(str_n(text.p, n), &v);
    if (r == -EINVAL)
        return r;
    for (struct str name = str_trim(str_skip(text, n)); units->name; units++)
        if (str_is(name, units->name)) {
            if (r < 0 || __builtin_mul_overflow(v, units->factor, &v))
                v = INT64_MAX;
            *ret = v;
            return 0;
        }
    return -EINVAL;
}

static int parse_duration(const struct config_ctx *x, const struct config_option *o,
                          struct str text, void *field, struct err *e)
{
    int64_t v = 0;

    (void)x;
    if (!str_is(text, "0") && parse_units(text, duration_units, &v) < 0)
        return expected(o, text, e, "a duration with its unit such as 250ms, 30s, 5m, 2h or 7d");
    return keep_int(o, v, field, e);
}

static int parse_size(const struct config_ctx *x, const struct config_option *o, struct str text,
                      void *field, struct err *e)
{
    int64_t v;

    (void)x;
    if (parse_units(text, size_units, &v) < 0)
        return expected(o, text, e, "a size such as 4096, 64KiB, 16MiB or 2GiB");
    return keep_int(o, v, field, e);
}

static int parse_config_bool(const struct config_ctx *x, const struct config_option *o,
                             struct str text, void *field, struct err *e)
{
    static const char *const names[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

    (void)x;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_iis(text, names[i])) {
            *(bool *)field = i % 2 == 1;
            return 0;
        }
    return expected(o, text, e, "true or false");
}

static int parse_enum(const struct config_ctx *x, const struct config_option *o, struct str text,
                      void *field, struct err *e)
{
    struct buf all auto_buf = BUF_INIT(256);

    (void)x;
    for (int i = 0; o->choices[i]; i++)
        if (str_iis(text, o->choices[i])) {
            *(int *)field = i;
            return 0;
        }
    for (int i = 0; o->choices[i]; i++)
        (void)buf_printf(&all, "%s%s", i ? ", " : "one of ", o->choices[i]);
    return expected(o, text, e, buf_ok(&all) ? buf_cstr(&all) : "another word");
}

static int add_config_item(const struct config_ctx *x, const struct config_option *o,
                           struct str text, struct config_list *l, struct err *e)
{
    int r = check_config_string(o, text, e);

    if (r < 0)
        return err_ctx(e, r, "item %zu", l->n + 1);
    if (l->n == CONFIG_LIST_MAX)
        return err_set(e, -EINVAL, "more than %d items", CONFIG_LIST_MAX);
    r = keep_string(x, text, &l->items[l->n], e);
    l->n += r == 0;
    return r;
}

static int new_list(const struct config_ctx *x, size_t max, struct config_list *l, struct err *e)
{
    if (max > CONFIG_LIST_MAX)
        max = CONFIG_LIST_MAX;
    *l = (struct config_list){.items = arena_zalloc(x->a, max ? max : 1, sizeof *l->items)};
    return l->items ? 0 : err_sys(e, -ENOMEM, "value");
}

/* Items separated by commas; empty ones are left out. */
static int parse_config_list(const struct config_ctx *x, const struct config_option *o,
                             struct str text, void *field, struct err *e)
{
    struct config_list l;
    int r = new_list(x, text.len / 2 + 1, &l, e);

    while (r == 0 && text.p) {
        struct str item = str_trim(str_cut(&text, ','));
        if (item.len)
            r = add_config_item(x, o, item, &l, e);
    }
    if (r == 0)
        *(struct config_list *)field = l;
    return r;
}

/* Kept as JSON text, which is printed as it is. */
static int parse_map(const struct config_ctx *x, const struct config_option *o, struct str text,
                     void *field, struct err *e)
{
    struct arena a auto_arena;

    arena_init(&a, 8 * CONFIG_MAP_MAX);
    const struct json *v = text.len < CONFIG_MAP_MAX ? json_parse(&a, text, NULL, NULL) : NULL;
    if (!json_is(v, JSON_OBJECT))
        return err_set(e, -EINVAL, "expected a mapping as JSON, of at most %d bytes",
                       CONFIG_MAP_MAX);
    int r = o->check ? o->check(v, e) : 0;
    return r < 0 ? r : keep_string(x, text, field, e);
}

/* ---- value to text ---- */

static int print_string(struct buf *out, const struct config_option *o, const void *field)
{
    const char *s = *(const char *const *)field;

    (void)o;
    return s ? buf_add_str(out, str_of(s)) : 0;
}

static int print_int(struct buf *out, const struct config_option *o, const void *field)
{
    (void)o;
    return buf_printf(out, "%" PRId64, *(const int64_t *)field);
}

static int print_units(struct buf *out, const struct config_unit *units, int64_t v)
{
    while (units->factor > 1 && (v % units->factor != 0 || v == 0))
        units++;
    return buf_printf(out, "%" PRId64 "%s", v / units->factor, units->name);
}

static int print_duration(struct buf *out, const struct config_option *o, const void *field)
{
    (void)o;
    return print_units(out, duration_units, *(const int64_t *)field);
}

static int print_size(struct buf *out, const struct config_option *o, const void *field)
{
    (void)o;
    return print_units(out, size_units, *(const int64_t *)field);
}

static int print_bool(struct buf *out, const struct config_option *o, const void *field)
{
    (void)o;
    return buf_add_str(out, *(const bool *)field ? STR("true") : STR("false"));
}

static int print_enum(struct buf *out, const struct config_option *o, const void *field)
{
    return buf_add_str(out, str_of(o->choices[*(const int *)field]));
}

static int print_list(struct buf *out, const struct config_option *o, const void *field)
{
    const struct config_list *l = field;

    (void)o;
    for (size_t i = 0; i < l->n; i++)
        (void)buf_printf(out, "%s%s", i ? "," : "", l->items[i]);
    return out->error;
}

/* ---- the types ---- */

#define YAML_IS(t) (1U << (t))

static const struct type {
    const char *name;
    const char *in_file; /* what a value of a file has to be */
    unsigned yaml;       /* its JSON types */
    int (*parse)(const struct config_ctx *, const struct config_option *, struct str, void *,
                 struct err *);
    int (*print)(struct buf *, const struct config_option *, const void *);
    void (*write)(struct jw *, const void *); /* NULL: the printed text as a string */
} types[CONFIG_TYPE_COUNT];

static void write_int(struct jw *w, const void *field)
{
    jw_int(w, *(const int64_t *)field);
}

static void write_bool(struct jw *w, const void *field)
{
    jw_bool(w, *(const bool *)field);
}

static void write_list(struct jw *w, const void *field)
{
    const struct config_list *l = field;

    jw_array(w);
    for (size_t i = 0; i < l->n; i++)
        jw_cstr(w, l->items[i]);
    jw_end(w);
}

static void write_config_map(struct jw *w, const void *field)
{
    jw_raw(w, str_of(*(const char *const *)field));
}

static const struct type types[CONFIG_TYPE_COUNT] = {
    [CONFIG_STRING] = {"string", "a string", YAML_IS(JSON_STRING), parse_config_string,
                       print_string, NULL},
    [CONFIG_PATH] = {"path", "a path", YAML_IS(JSON_STRING), parse_path, print_string, NULL},
    [CONFIG_ADDRESS] = {"address", "an address", YAML_IS(JSON_STRING), parse_address, print_string,
                        NULL},
    [CONFIG_INT] = {"integer", "a whole number", YAML_IS(JSON_INT), parse_int, print_int,
                    write_int},
    [CONFIG_BOOL] = {"boolean", "true or false", YAML_IS(JSON_BOOL), parse_config_bool, print_bool,
                     write_bool},
    [CONFIG_DURATION] = {"duration", "a duration such as 30s",
                         YAML_IS(JSON_STRING) | YAML_IS(JSON_INT), parse_duration, print_duration,
                         write_int},
    [CONFIG_SIZE] = {"size", "a size such as 64MiB", YAML_IS(JSON_STRING) | YAML_IS(JSON_INT),
                     parse_size, print_size, write_int},
    [CONFIG_ENUM] = {"word", "a word", YAML_IS(JSON_STRING), parse_enum, print_enum, NULL},
    [CONFIG_LIST] = {"list", "a list", YAML_IS(JSON_ARRAY), parse_config_list, print_list,
                     write_list},
    [CONFIG_MAP] = {"mapping", "a mapping", YAML_IS(JSON_OBJECT), parse_map, print_string,
                    write_config_map},
};

const char *config_type_name(enum config_type t)
{
    return types[t].name;
}

int config_value_parse(const struct config_ctx *x, const struct config_option *o, struct str text,
                       void *field, struct err *e)
{
    return types[o->type].parse(x, o, text, field, e);
}

static int take_config_list(const struct config_ctx *x, const struct config_option *o,
                            const struct json *v, void *field, struct err *e)
{
    struct config_list l;
    int r = new_list(x, v->n, &l, e);

    for (uint32_t i = 0; r == 0 && i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->type != JSON_STRING)
            return err_set(e, -EINVAL, "item %u: expected a string, got %s", i + 1,
                           json_type_name(item->type));
        r = add_config_item(x, o, item->s, &l, e);
        if (o->is_secret)
            mem_wipe((char *)item->s.p, item->s.len);
    }
    if (r == 0)
        *(struct config_list *)field = l;
    return r;
}

static int take_map(const struct config_ctx *x, const struct config_option *o, const struct json *v,
                    void *field, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(CONFIG_MAP_MAX);

    if (json_write(&text, v, JSON_COMPACT) < 0)
        return err_set(e, -EINVAL, "is longer than %d bytes", CONFIG_MAP_MAX);
    int r = parse_map(x, o, buf_str(&text), field, e);
    if (o->is_secret)
        mem_wipe(text.p, text.len);
    return r;
}

int config_duration(struct str text, int64_t *ret_ms)
{
    return parse_units(text, duration_units, ret_ms);
}

int config_value_take(const struct config_ctx *x, const struct config_option *o,
                      const struct json *v, void *field, struct err *e)
{
    const struct type *t = &types[o->type];
    char digits[24];

    if (!(t->yaml & YAML_IS(v->type)))
        return err_set(e, -EINVAL, "expected %s, got %s", t->in_file, json_type_name(v->type));
    if (v->type == JSON_ARRAY)
        return take_config_list(x, o, v, field, e);
    if (v->type == JSON_OBJECT)
        return take_map(x, o, v, field, e);
    if (v->type == JSON_BOOL)
        return t->parse(x, o, v->b ? STR("true") : STR("false"), field, e);
    if (v->type == JSON_INT) {
        (void)snprintf(digits, sizeof digits, "%" PRId64, v->i);
        return t->parse(x, o, str_of(digits), field, e);
    }
    int r = t->parse(x, o, v->s, field, e);
    if (o->is_secret)
        mem_wipe((char *)v->s.p, v->s.len);
    return r;
}

int config_value_print(struct buf *out, const struct config_option *o, const void *field)
{
    return types[o->type].print(out, o, field);
}

bool config_value_is_unset(const struct config_option *o, const void *field)
{
    if (o->type == CONFIG_LIST)
        return ((const struct config_list *)field)->n == 0;
    return types[o->type].print == print_string && !*(const char *const *)field;
}

void config_value_json(struct jw *w, const struct config_option *o, const void *field)
{
    struct buf text auto_buf = BUF_INIT(65536);

    if (types[o->type].write) {
        types[o->type].write(w, field);
        return;
    }
    (void)config_value_print(&text, o, field);
    jw_str(w, buf_str(&text));
    if (!buf_ok(&text))
        w->out->error = text.error;
}

void config_value_wipe(const struct config_option *o, void *field)
{
    if (config_value_is_unset(o, field))
        return;
    if (o->type == CONFIG_LIST) {
        struct config_list *l = field;
        for (size_t i = 0; i < l->n; i++)
            mem_wipe((char *)l->items[i], strlen(l->items[i]));
    } else {
        mem_wipe(*(char **)field, strlen(*(char **)field));
    }
}
