/* SPDX-License-Identifier: MIT */
#include "apps/formula/json.h"

#include <math.h>

#include "base/cleanup.h"

static const char *const types[] = {
    [FORMULA_BLANK] = "blank",  [FORMULA_NUMBER] = "number", [FORMULA_TEXT] = "text",
    [FORMULA_BOOL] = "boolean", [FORMULA_ERROR] = "error",
};
static const char *const looks[FORMULA_LOOK_COUNT] = {
    [FORMULA_LOOK_PLAIN] = "plain",       [FORMULA_LOOK_PERCENT] = "percent",
    [FORMULA_LOOK_CURRENCY] = "currency", [FORMULA_LOOK_DATE] = "date",
    [FORMULA_LOOK_TIME] = "time",         [FORMULA_LOOK_DATETIME] = "datetime",
};

/* The index of NAME, or N. */
static size_t formula_index_of(const char *const *names, size_t n, struct str name)
{
    size_t i = 0;

    while (i < n && !str_is(name, names[i]))
        i++;
    return i;
}

struct formula_value formula_value_read(const struct json *type, const struct json *value,
                                        const struct json *look)
{
    struct formula_value v = {.type = FORMULA_BLANK};
    size_t t = formula_index_of(types, ARRAY_LEN(types), json_str(type, STR("")));
    size_t l = formula_index_of(looks, ARRAY_LEN(looks), json_str(look, STR("")));

    if (t == ARRAY_LEN(types))
        return v;
    v.type = (enum formula_type)t;
    if (v.type == FORMULA_NUMBER) {
        v.number = json_real(value, 0);
        if (l < FORMULA_LOOK_COUNT)
            v.look = (enum formula_look)l;
    } else if (v.type == FORMULA_TEXT) {
        v.text = json_str(value, STR(""));
    } else if (v.type == FORMULA_BOOL) {
        v.flag = json_is(value, JSON_BOOL) ? json_bool(value, false) : json_int(value, 0) != 0;
    } else if (v.type == FORMULA_ERROR) {
        v.error = formula_error_of(json_str(value, STR("")));
        v.error = v.error == FORMULA_ERROR_COUNT ? FORMULA_ERROR_PARSE : v.error;
    }
    return v;
}

static void write_formula_number(struct jw *w, double d)
{
    if (!(d < trunc(d)) && !(d > trunc(d)) && fabs(d) < 9e15)
        jw_int(w, (int64_t)d);
    else
        jw_real(w, d);
}

void formula_value_write(struct jw *w, const struct formula_value *v)
{
    jw_cstr(w, types[v->type]);
    switch (v->type) {
    case FORMULA_NUMBER: write_formula_number(w, v->number); break;
    case FORMULA_TEXT: jw_str(w, v->text); break;
    case FORMULA_BOOL: jw_int(w, v->flag); break;
    case FORMULA_ERROR: jw_cstr(w, formula_error_text(v->error)); break;
    case FORMULA_BLANK:
    case FORMULA_ARRAY:
    case FORMULA_AREA:
    case FORMULA_TYPE_COUNT: jw_null(w); break;
    }
    jw_cstr(w, looks[v->type == FORMULA_NUMBER ? v->look : FORMULA_LOOK_PLAIN]);
}
