/* SPDX-License-Identifier: MIT */
/* Strings, numbers and booleans of models, with the conversions of pydantic's lax mode. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/klavis/model_internal.h"
#include "base/cleanup.h"
#include "base/regex.h"

enum { NUMBER_MAX = 64, MSG_MAX = 256 };

/* ---- strings ---- */

static size_t count_scalar_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool is_length_right(struct model *m, const struct json *schema, const struct json *value,
                            const struct model_place *at)
{
    int64_t n = (int64_t)count_scalar_chars(value->s);
    int64_t least = json_int(json_get(schema, "minLength"), 0);
    int64_t most = json_int(json_get(schema, "maxLength"), INT64_MAX);
    bool is_short = n < least;
    int64_t bound = is_short ? least : most;
    char msg[MSG_MAX], ctx[MSG_MAX];

    if (!is_short && n <= most)
        return true;
    (void)snprintf(msg, sizeof msg, "String should have at %s %lld character%s",
                   is_short ? "least" : "most", (long long)bound, bound == 1 ? "" : "s");
    (void)snprintf(ctx, sizeof ctx, "{\"%s\":%lld}", is_short ? "min_length" : "max_length",
                   (long long)bound);
    model_add(m, at,
              &(struct model_fault){.type = is_short ? "string_too_short" : "string_too_long",
                                    .msg = str_of(msg),
                                    .input = value,
                                    .ctx = str_of(ctx)});
    return false;
}

static bool is_pattern_met(struct model *m, const struct json *schema, const struct json *value,
                           const struct model_place *at)
{
    struct str pattern = json_str(json_get(schema, "pattern"), STR_NULL);
    struct regex *re = pattern.p ? regex_compile(m->arena, pattern, NULL) : NULL;
    struct buf msg auto_buf = BUF_INIT(MODEL_MAX_INPUT), ctx auto_buf = BUF_INIT(MODEL_MAX_INPUT);
    struct jw w = jw_to(&ctx);

    if (!re || regex_search(re, value->s, NULL) == 1)
        return true;
    (void)buf_printf(&msg, "String should match pattern '" STR_FMT "'", STR_ARG(pattern));
    jw_object(&w);
    jw_key(&w, "pattern");
    jw_str(&w, pattern);
    jw_end(&w);
    model_add(m, at,
              &(struct model_fault){.type = "string_pattern_mismatch",
                                    .msg = buf_str(&msg),
                                    .input = value,
                                    .ctx = buf_str(&ctx)});
    return false;
}

/* Why S is no e-mail address; NULL: it is one. */
static const char *email_fault(struct str s)
{
    struct str rest = s;
    struct str local = str_cut(&rest, '@');

    if (!rest.p)
        return "An email address must have an @-sign.";
    if (local.len == 0)
        return "There must be something before the @-sign.";
    if (rest.len == 0)
        return "There must be something after the @-sign.";
    if (str_chr(rest, '.') < 0)
        return "The part after the @-sign is not valid. It should have a period.";
    if (str_chr(s, ' ') >= 0 || str_chr(rest, '@') >= 0)
        return "The part after the @-sign contains invalid characters.";
    return NULL;
}

static bool is_format_met(struct model *m, const struct json *schema, const struct json *value,
                          const struct model_place *at)
{
    bool is_email = str_is(json_str(json_get(schema, "format"), STR_NULL), "email");
    const char *why = is_email ? email_fault(value->s) : NULL;
    char msg[MSG_MAX], ctx[MSG_MAX];

    if (!why)
        return true;
    (void)snprintf(msg, sizeof msg, "value is not a valid email address: %s", why);
    (void)snprintf(ctx, sizeof ctx, "{\"reason\":\"%s\"}", why);
    model_add(m, at,
              &(struct model_fault){
                  .type = "value_error", .msg = str_of(msg), .input = value, .ctx = str_of(ctx)});
    return false;
}

static struct json *read_scalar_string(struct model_walk *k, const struct json *schema,
                                       struct json *value, const struct model_place *at)
{
    if (!json_is(value, JSON_STRING))
        return model_refuse(k->m, at, "string_type", "Input should be a valid string", value);
    return is_length_right(k->m, schema, value, at) && is_pattern_met(k->m, schema, value, at) &&
                   is_format_met(k->m, schema, value, at)
               ? value
               : NULL;
}

/* ---- numbers ---- */

struct bound {
    const char *keyword, *type, *msg, *key;
};

static double as_real(const struct json *v)
{
    return json_real(v, (double)json_int(v, 0));
}

static void add_bound(struct model *m, const struct bound *b, const struct json *limit,
                      const struct json *input, const struct model_place *at)
{
    struct buf msg auto_buf = BUF_INIT(MSG_MAX), ctx auto_buf = BUF_INIT(MSG_MAX);
    struct jw w = jw_to(&ctx);

    jw_object(&w);
    jw_key(&w, b->key);
    jw_value(&w, limit);
    jw_end(&w);
    (void)buf_printf(&msg, "%s %.15g", b->msg, as_real(limit));
    model_add(m, at,
              &(struct model_fault){
                  .type = b->type, .msg = buf_str(&msg), .input = input, .ctx = buf_str(&ctx)});
}

static bool is_in_range(struct model *m, const struct json *schema, const struct json *value,
                        const struct json *input, const struct model_place *at)
{
    static const struct bound rows[] = {
        {"minimum", "greater_than_equal", "Input should be greater than or equal to", "ge"},
        {"maximum", "less_than_equal", "Input should be less than or equal to", "le"},
        {"exclusiveMinimum", "greater_than", "Input should be greater than", "gt"},
    };
    double v = as_real(value);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct json *limit = json_get(schema, rows[i].keyword);
        double bound = as_real(limit);
        bool is_met = i == 1 ? v <= bound : v > bound || (i == 0 && v == bound);
        if (limit && !is_met) {
            add_bound(m, &rows[i], limit, input, at);
            return false;
        }
    }
    return true;
}

/* S as a number with spaces around it allowed; false when it is none. */
static bool parse_scalar_number(struct str s, double *ret)
{
    char text[NUMBER_MAX];
    char *end = NULL;

    s = str_trim(s);
    if (s.len == 0 || s.len >= sizeof text)
        return false;
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(s));
    *ret = strtod(text, &end);
    return *end == 0 && isfinite(*ret) && !memchr(text, 'x', s.len) && !memchr(text, 'X', s.len);
}

static struct json *read_integer(struct model_walk *k, struct json *value,
                                 const struct model_place *at)
{
    static const char unable[] =
        "Input should be a valid integer, unable to parse string as an integer";
    int64_t i;
    double d;

    if (json_is(value, JSON_INT))
        return value;
    if (!k->is_strict && json_is(value, JSON_BOOL))
        return json_new_int(k->m->arena, value->b);
    if (!k->is_strict && json_is(value, JSON_STRING)) {
        struct str s = str_trim(value->s);
        if (str_to_i64(str_starts(s, STR("+")) ? str_skip(s, 1) : s, &i) == 0)
            return json_new_int(k->m->arena, i);
        if (!parse_scalar_number(s, &d) || floor(d) != d || fabs(d) > 9e15)
            return model_refuse(k->m, at, "int_parsing", unable, value);
        return json_new_int(k->m->arena, (int64_t)d);
    }
    if (!k->is_strict && json_is(value, JSON_REAL)) {
        if (floor(value->d) == value->d && fabs(value->d) < 9e18)
            return json_new_int(k->m->arena, (int64_t)value->d);
        return model_refuse(k->m, at, "int_from_float",
                            "Input should be a valid integer, got a number with a fractional part",
                            value);
    }
    return model_refuse(k->m, at, "int_type", "Input should be a valid integer", value);
}

static struct json *read_scalar_number(struct model_walk *k, struct json *value,
                                       const struct model_place *at)
{
    double d;

    if (json_is_number(value))
        return value;
    if (!k->is_strict && json_is(value, JSON_BOOL))
        return json_new_int(k->m->arena, value->b);
    if (k->is_strict || !json_is(value, JSON_STRING))
        return model_refuse(k->m, at, "float_type", "Input should be a valid number", value);
    if (!parse_scalar_number(value->s, &d))
        return model_refuse(k->m, at, "float_parsing",
                            "Input should be a valid number, unable to parse string as a number",
                            value);
    return json_new_real(k->m->arena, d);
}

/* ---- booleans ---- */

/* 1, 0, or -1 when S is neither. */
static int parse_scalar_bool(struct str s)
{
    static const char *const words[2][6] = {{"0", "off", "f", "false", "n", "no"},
                                            {"1", "on", "t", "true", "y", "yes"}};

    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < ARRAY_LEN(words[b]); i++)
            if (str_iis(s, words[b][i]))
                return b;
    return -1;
}

static struct json *read_boolean(struct model_walk *k, struct json *value,
                                 const struct model_place *at)
{
    double d = json_real(value, (double)json_int(value, -1));
    int b = json_is(value, JSON_STRING) ? parse_scalar_bool(value->s) : -1;

    if (json_is(value, JSON_BOOL))
        return value;
    if (k->is_strict || (!json_is(value, JSON_STRING) && !json_is_number(value)))
        return model_refuse(k->m, at, "bool_type", "Input should be a valid boolean", value);
    if (json_is_number(value) && (d == 0 || d == 1))
        b = d == 1;
    if (b < 0)
        return model_refuse(k->m, at, "bool_parsing",
                            "Input should be a valid boolean, unable to interpret input", value);
    return json_new_bool(k->m->arena, b);
}

/* ---- all ---- */

struct json *model_scalar(struct model_walk *k, const struct json *schema, struct json *value,
                          const struct model_place *at)
{
    struct str type = json_str(json_get(schema, "type"), STR_NULL);
    struct json *v = value;

    if (str_is(type, "string"))
        return read_scalar_string(k, schema, value, at);
    if (str_is(type, "boolean"))
        return read_boolean(k, value, at);
    if (str_is(type, "null") && !json_is(value, JSON_NULL))
        return model_refuse(k->m, at, "none_required", "Input should be None", value);
    if (str_is(type, "integer"))
        v = read_integer(k, value, at);
    else if (str_is(type, "number"))
        v = read_scalar_number(k, value, at);
    return v && is_in_range(k->m, schema, v, value, at) ? v : NULL;
}
