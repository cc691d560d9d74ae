/* SPDX-License-Identifier: MIT */
/* Values of formulas: results, conversions, comparison. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/formula/formula_internal.h"

static const char *const errors[FORMULA_ERROR_COUNT] = {
    [FORMULA_ERROR_NULL] = "#NULL!",   [FORMULA_ERROR_DIV0] = "#DIV/0!",
    [FORMULA_ERROR_VALUE] = "#VALUE!", [FORMULA_ERROR_REF] = "#REF!",
    [FORMULA_ERROR_NAME] = "#NAME?",   [FORMULA_ERROR_NUM] = "#NUM!",
    [FORMULA_ERROR_NA] = "#N/A",       [FORMULA_ERROR_PARSE] = "#ERROR!",
};

const char *formula_error_text(enum formula_error error)
{
    return errors[error];
}

enum formula_error formula_error_of(struct str text)
{
    enum formula_error i = 0;

    while (i < FORMULA_ERROR_COUNT && !str_iis(text, errors[i]))
        i++;
    return i;
}

/* ---- results ---- */

void fx_give_look(struct formula_value *ret, double number, enum formula_look look)
{
    *ret = (struct formula_value){.type = FORMULA_NUMBER, .look = look, .number = number};
    if (!isfinite(number))
        fx_give_error(ret, FORMULA_ERROR_NUM);
}

void fx_give(struct formula_value *ret, double number)
{
    fx_give_look(ret, number, FORMULA_LOOK_PLAIN);
}

void fx_give_bool(struct formula_value *ret, bool flag)
{
    *ret = (struct formula_value){.type = FORMULA_BOOL, .flag = flag};
}

void fx_give_error(struct formula_value *ret, enum formula_error error)
{
    *ret = (struct formula_value){.type = FORMULA_ERROR, .error = error};
}

void fx_give_text(struct fx *x, struct formula_value *ret, struct str text)
{
    struct str copy = text.len <= FORMULA_MAX_TEXT ? arena_str(x->env->arena, text) : STR_NULL;

    if (copy.p) {
        *ret = (struct formula_value){.type = FORMULA_TEXT, .text = copy};
        return;
    }
    x->env->is_over = x->env->is_over || text.len <= FORMULA_MAX_TEXT;
    fx_give_error(ret, FORMULA_ERROR_VALUE);
}

void fx_give_buf(struct fx *x, struct formula_value *ret, const struct buf *b)
{
    if (buf_ok(b))
        fx_give_text(x, ret, str_n(b->p ? b->p : "", b->len));
    else
        fx_give_error(ret, FORMULA_ERROR_VALUE);
}

bool fx_number(const struct formula_value *v, double *out, struct formula_value *ret)
{
    switch (v->type) {
    case FORMULA_NUMBER: *out = v->number; return true;
    case FORMULA_BLANK: *out = 0; return true;
    case FORMULA_BOOL: *out = v->flag; return true;
    case FORMULA_TEXT:
        if (fx_read_number(v->text, out, NULL))
            return true;
        break;
    case FORMULA_ERROR: *ret = *v; return false;
    case FORMULA_ARRAY:
    case FORMULA_AREA:
    case FORMULA_TYPE_COUNT: break;
    }
    fx_give_error(ret, FORMULA_ERROR_VALUE);
    return false;
}

bool fx_bool(const struct formula_value *v, bool *out, struct formula_value *ret)
{
    double n = 0;

    if (v->type == FORMULA_TEXT && (str_iis(v->text, "TRUE") || str_iis(v->text, "FALSE"))) {
        *out = str_iis(v->text, "TRUE");
        return true;
    }
    if (!fx_number(v, &n, ret))
        return false;
    *out = n < 0 || n > 0;
    return true;
}

/* Without a sign before zero, and without zeros behind the digits that count. */
void fx_write_number(struct buf *out, double number, int n_digits)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%.*g", n_digits, number);
    char *e = strchr(text, 'e');
    if (strcmp(text, "-0") == 0) {
        (void)buf_add_char(out, '0');
    } else if (!e) {
        (void)buf_add_str(out, str_of(text));
    } else if (fabs(number) < 1 && fabs(number) >= 1e-9) {
        (void)snprintf(text, sizeof text, "%.*f", n_digits - 1 - (int)floor(log10(fabs(number))),
                       number);
        struct str s = str_of(text);
        while (s.len > 0 && s.p[s.len - 1] == '0')
            s.len--;
        (void)buf_add_str(out, s);
    } else if (fabs(number) >= 1 && fabs(number) < 1e15) {
        (void)buf_printf(out, "%.0f", number);
    } else {
        (void)buf_add_str(out, str_n(text, (size_t)(e - text)));
        (void)buf_printf(out, "E%+d", (int)strtol(e + 1, NULL, 10));
    }
}

bool fx_string(struct fx *x, const struct formula_value *v, struct str *out,
               struct formula_value *ret)
{
    auto_buf struct buf b = BUF_INIT(128);
    struct formula_value made;

    switch (v->type) {
    case FORMULA_TEXT: *out = v->text; return true;
    case FORMULA_BLANK: *out = STR(""); return true;
    case FORMULA_BOOL: *out = v->flag ? STR("TRUE") : STR("FALSE"); return true;
    case FORMULA_NUMBER:
        fx_write_number(&b, v->number, 15); /* dates and money as well */
        break;
    case FORMULA_ERROR: *ret = *v; return false;
    case FORMULA_ARRAY:
    case FORMULA_AREA:
    case FORMULA_TYPE_COUNT: fx_give_error(ret, FORMULA_ERROR_VALUE); return false;
    }
    fx_give_buf(x, &made, &b);
    if (made.type != FORMULA_TEXT) {
        *ret = made;
        return false;
    }
    *out = made.text;
    return true;
}

bool fx_arg(const struct fx_args *a, size_t i, double fallback, double *out,
            struct formula_value *ret)
{
    *out = fallback;
    return i >= a->n || fx_number(&a->v[i], out, ret);
}

bool fx_arg_int(const struct fx_args *a, size_t i, int64_t bounds[2], int64_t *out,
                struct formula_value *ret)
{
    double d;

    if (!fx_arg(a, i, 0, &d, ret))
        return false;
    d = trunc(d);
    if (d < (double)bounds[0] || d > (double)bounds[1]) {
        fx_give_error(ret, FORMULA_ERROR_NUM);
        return false;
    }
    *out = (int64_t)d;
    return true;
}

/* ---- comparison ---- */

static int lower_ascii(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static int fx_text_cmp(struct str a, struct str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        int d = lower_ascii(a.p[i]) - lower_ascii(b.p[i]);
        if (d != 0)
            return d;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int rank_value_type(const struct formula_value *v)
{
    return v->type == FORMULA_NUMBER ? 1 : v->type == FORMULA_TEXT ? 2 : 3;
}

/* A blank is what it is compared with: 0, "" or FALSE. */
static struct formula_value unblank(const struct formula_value *v, const struct formula_value *with)
{
    struct formula_value r = *v;

    if (v->type != FORMULA_BLANK)
        return r;
    if (with->type == FORMULA_TEXT)
        return (struct formula_value){.type = FORMULA_TEXT, .text = STR("")};
    if (with->type == FORMULA_BOOL)
        fx_give_bool(&r, false);
    else
        fx_give(&r, 0);
    return r;
}

int fx_compare(const struct formula_value *a, const struct formula_value *b)
{
    struct formula_value p = unblank(a, b), q = unblank(b, a);

    if (rank_value_type(&p) != rank_value_type(&q))
        return rank_value_type(&p) - rank_value_type(&q);
    if (p.type == FORMULA_TEXT)
        return fx_text_cmp(p.text, q.text);
    if (p.type == FORMULA_BOOL)
        return p.flag - q.flag;
    return p.type == FORMULA_NUMBER ? (p.number > q.number) - (p.number < q.number) : 0;
}
