/* SPDX-License-Identifier: MIT */
/* Sums and counts of what meets criteria: ">=10", "<>done", "North*". */
#include <math.h>

#include "apps/formula/formula_internal.h"
#include "base/ascii.h"

/* ---- one criterion ---- */

enum relation { IS, IS_NOT, LESS, LESS_OR_IS, MORE, MORE_OR_IS };

struct criterion {
    enum relation relation;
    struct formula_value value;
};

static const struct {
    struct str text;
    enum relation relation;
} relations[] = {{STR_INIT("<>"), IS_NOT},     {STR_INIT("<="), LESS_OR_IS},
                 {STR_INIT(">="), MORE_OR_IS}, {STR_INIT("="), IS},
                 {STR_INIT("<"), LESS},        {STR_INIT(">"), MORE}};

static struct criterion read_criterion(const struct formula_value *v)
{
    struct criterion c = {IS, *v};
    struct formula_entry entry;
    double d;

    if (v->type == FORMULA_BLANK)
        fx_give(&c.value, 0);
    if (v->type != FORMULA_TEXT)
        return c;
    for (size_t i = 0; i < ARRAY_LEN(relations); i++) {
        if (!str_starts(c.value.text, relations[i].text))
            continue;
        c.relation = relations[i].relation;
        c.value.text = str_skip(c.value.text, relations[i].text.len);
        break;
    }
    if (fx_read_number(c.value.text, &d, &entry))
        c.value = entry.value;
    else if (str_iis(c.value.text, "TRUE") || str_iis(c.value.text, "FALSE"))
        fx_give_bool(&c.value, str_iis(c.value.text, "TRUE"));
    return c;
}

static size_t pattern_char(struct str p, char *ret)
{
    bool is_escaped = p.len > 1 && p.p[0] == '~';

    *ret = is_escaped ? p.p[1] : p.p[0];
    return is_escaped ? 2 : 1;
}

/* '*' is any text, '?' any character, '~' takes the meaning from them. The last '*' is gone back
 * to when what follows does not fit: time is at most the product of the lengths. */
static bool matches_wildcard(struct str text, struct str pattern)
{
    struct str star = STR_NULL, from = STR_NULL;
    char c;

    while (text.len > 0) {
        if (pattern.len > 0 && pattern.p[0] == '*') {
            star = pattern = str_skip(pattern, 1);
            from = text;
            continue;
        }
        bool is_any = pattern.len > 0 && pattern.p[0] == '?';
        size_t n = pattern.len > 0 ? pattern_char(pattern, &c) : 0;
        if (n > 0 && (is_any || ascii_lower(c) == ascii_lower(text.p[0]))) {
            pattern = str_skip(pattern, n);
            text = str_skip(text, 1);
            continue;
        }
        if (!star.p)
            return false;
        pattern = star;
        text = from = str_skip(from, 1);
    }
    while (pattern.len > 0 && pattern.p[0] == '*')
        pattern = str_skip(pattern, 1);
    return pattern.len == 0;
}

static bool equals_criterion(const struct formula_value *v, const struct formula_value *c)
{
    if (c->type == FORMULA_TEXT) {
        if (c->text.len == 0)
            return v->type == FORMULA_BLANK || (v->type == FORMULA_TEXT && v->text.len == 0);
        return v->type == FORMULA_TEXT && matches_wildcard(v->text, c->text);
    }
    if (v->type == FORMULA_TEXT && c->type == FORMULA_NUMBER) {
        double d;
        return fx_read_number(v->text, &d, NULL) && !(d < c->number || d > c->number);
    }
    if (c->type == FORMULA_ERROR)
        return v->type == FORMULA_ERROR && v->error == c->error;
    return v->type == c->type && fx_compare(v, c) == 0;
}

static bool meets(const struct formula_value *v, const struct criterion *c)
{
    if (c->relation == IS || c->relation == IS_NOT)
        return equals_criterion(v, &c->value) == (c->relation == IS);
    if (v->type != c->value.type)
        return false;
    int d = fx_compare(v, &c->value);
    switch (c->relation) {
    case LESS: return d < 0;
    case LESS_OR_IS: return d <= 0;
    case MORE: return d > 0;
    case MORE_OR_IS: return d >= 0;
    case IS:
    case IS_NOT: break;
    }
    return false;
}

/* ---- many cells ---- */

enum { MAX_PAIRS = 127 };

struct criteria_tally {
    double n, n_numbers, sum, min, max;
    enum formula_look look;
    struct formula_value error;
};

static void add_to_tally(struct criteria_tally *t, const struct formula_value *v)
{
    t->n++;
    if (v->type == FORMULA_ERROR)
        t->error = *v;
    if (v->type != FORMULA_NUMBER)
        return;
    t->min = t->n_numbers < 1 || v->number < t->min ? v->number : t->min;
    t->max = t->n_numbers < 1 || v->number > t->max ? v->number : t->max;
    t->sum += v->number;
    t->look = t->look == FORMULA_LOOK_PLAIN ? v->look : t->look;
    t->n_numbers++;
}

/* The size of AREA, but no more of it than can have values. */
static void used_size(struct fx *x, const struct formula_value *area, uint32_t ret[2])
{
    struct formula_extent e;

    fx_size(x, area, &ret[0], &ret[1]);
    if (area->type != FORMULA_AREA)
        return;
    x->env->extent(x->env->ctx, area->area->sheet, &e);
    uint32_t rows = e.used_rows > area->area->range.row0 ? e.used_rows - area->area->range.row0 : 0;
    uint32_t cols = e.used_cols > area->area->range.col0 ? e.used_cols - area->area->range.col0 : 0;
    ret[0] = ret[0] < rows ? ret[0] : rows;
    ret[1] = ret[1] < cols ? ret[1] : cols;
}

struct conditions {
    const struct formula_value *areas[MAX_PAIRS];
    struct criterion criteria[MAX_PAIRS];
    size_t n;
    uint32_t size[2]; /* to be looked at */
    bool meets_blank; /* all of them: blank cells count, also those behind the last value */
};

/* Pairs of an area and a criterion from argument FROM on, of areas of the same size. */
static bool read_conditions(struct fx *x, const struct fx_args *a, size_t from,
                            struct conditions *ret)
{
    static const struct formula_value blank = {.type = FORMULA_BLANK};
    uint32_t size[2], first[2] = {0, 0};

    ret->n = 0;
    ret->size[0] = ret->size[1] = 0;
    ret->meets_blank = true;
    for (size_t i = from; i + 1 < a->n && ret->n < MAX_PAIRS; i += 2, ret->n++) {
        struct formula_value c = a->v[i + 1];
        fx_scalar(x, &c);
        ret->areas[ret->n] = &a->v[i];
        ret->criteria[ret->n] = read_criterion(&c);
        ret->meets_blank = ret->meets_blank && meets(&blank, &ret->criteria[ret->n]);
        fx_size(x, &a->v[i], &size[0], &size[1]);
        if (ret->n > 0 && (size[0] != first[0] || size[1] != first[1]))
            return false;
        first[0] = size[0];
        first[1] = size[1];
        used_size(x, &a->v[i], size);
        ret->size[0] = size[0] > ret->size[0] ? size[0] : ret->size[0];
        ret->size[1] = size[1] > ret->size[1] ? size[1] : ret->size[1];
    }
    if (ret->meets_blank) {
        ret->size[0] = first[0];
        ret->size[1] = first[1];
    }
    return ret->n > 0;
}

static bool meets_conditions(struct fx *x, const struct conditions *c, uint32_t row, uint32_t col)
{
    struct formula_value v;

    for (size_t i = 0; i < c->n; i++) {
        fx_item(x, c->areas[i], row, col, &v);
        if (v.type == FORMULA_TEXT && c->criteria[i].value.type == FORMULA_TEXT)
            fx_charge(x, (uint64_t)v.text.len * c->criteria[i].value.text.len / 64);
        if (!meets(&v, &c->criteria[i]))
            return false;
    }
    return true;
}

/* Values of WHAT (NULL: they are only counted) where all of C are met; WHAT begins where the areas
 * do and is as large as they are, whatever was written. */
static void tally(struct fx *x, const struct conditions *c, const struct formula_value *what,
                  struct criteria_tally *t)
{
    struct formula_value v, from = {.type = FORMULA_BLANK};
    struct formula_area area;
    uint32_t rows = 1, cols = 1;

    *t = (struct criteria_tally){0};
    if (what)
        fx_size(x, what, &rows, &cols);
    if (what && what->type == FORMULA_AREA) {
        area = *what->area;
        from = (struct formula_value){.type = FORMULA_AREA, .area = &area};
        rows = c->size[0];
        cols = c->size[1];
    } else if (what) {
        from = *what;
    }
    for (uint32_t i = 0; i < c->size[0]; i++) {
        for (uint32_t k = 0; k < c->size[1] && !x->env->is_over; k++) {
            if (!meets_conditions(x, c, i, k))
                continue;
            v = (struct formula_value){.type = FORMULA_BLANK};
            if (what && i < rows && k < cols)
                fx_item(x, &from, i, k, &v);
            add_to_tally(t, &v);
        }
    }
}

static bool is_same_size(struct fx *x, const struct formula_value *p, const struct formula_value *q)
{
    uint32_t r1, c1, r2, c2;

    fx_size(x, p, &r1, &c1);
    fx_size(x, q, &r2, &c2);
    return r1 == r2 && c1 == c2;
}

/* SUMIF's order: where, criterion, what; SUMIFS': what, then pairs of where and criterion. */
static bool tally_args(struct fx *x, const struct fx_args *a, bool has_many,
                       struct criteria_tally *t, struct formula_value *ret)
{
    struct conditions *c = arena_alloc(x->env->arena, sizeof *c);
    struct fx_args own = *a;

    if (!c) {
        x->env->is_over = true;
        return false;
    }
    if (!has_many)
        own.n = 2;
    if (!read_conditions(x, &own, has_many, c)) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return false;
    }
    if (has_many && !is_same_size(x, &a->v[0], &a->v[1])) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return false;
    }
    tally(x, c, has_many ? &a->v[0] : &a->v[a->n > 2 ? 2 : 0], t);
    if (t->error.type != FORMULA_ERROR)
        return true;
    *ret = t->error;
    return false;
}

static void sum_matching(struct fx *x, const struct fx_args *a, bool has_many,
                         struct formula_value *ret)
{
    struct criteria_tally t;

    if (tally_args(x, a, has_many, &t, ret))
        fx_give_look(ret, t.sum, t.look);
}

static void average_matching(struct fx *x, const struct fx_args *a, bool has_many,
                             struct formula_value *ret)
{
    struct criteria_tally t;

    if (!tally_args(x, a, has_many, &t, ret))
        return;
    if (t.n_numbers > 0)
        fx_give_look(ret, t.sum / t.n_numbers, t.look);
    else
        fx_give_error(ret, FORMULA_ERROR_DIV0);
}

static void fn_sumif(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    sum_matching(x, a, false, ret);
}

static void fn_sumifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    sum_matching(x, a, true, ret);
}

static void fn_averageif(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    average_matching(x, a, false, ret);
}

static void fn_averageifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    average_matching(x, a, true, ret);
}

static void fn_minifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct criteria_tally t;

    if (tally_args(x, a, true, &t, ret))
        fx_give_look(ret, t.min, t.look);
}

static void fn_maxifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct criteria_tally t;

    if (tally_args(x, a, true, &t, ret))
        fx_give_look(ret, t.max, t.look);
}

static void fn_countifs(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct conditions *c = arena_alloc(x->env->arena, sizeof *c);
    struct criteria_tally t;

    if (!c) {
        x->env->is_over = true;
        return;
    }
    if (!read_conditions(x, a, 0, c)) {
        fx_give_error(ret, FORMULA_ERROR_VALUE);
        return;
    }
    tally(x, c, NULL, &t);
    fx_give(ret, t.n);
}

const struct fx_function fx_criteria[] = {
    {"SUMIF", 2, 3, FX_VALUES, FX_EACH1, fn_sumif},
    {"SUMIFS", 3, 255, FX_VALUES, 0, fn_sumifs},
    {"COUNTIF", 2, 2, FX_VALUES, FX_EACH1, fn_countifs},
    {"COUNTIFS", 2, 254, FX_VALUES, 0, fn_countifs},
    {"AVERAGEIF", 2, 3, FX_VALUES, FX_EACH1, fn_averageif},
    {"AVERAGEIFS", 3, 255, FX_VALUES, 0, fn_averageifs},
    {"MINIFS", 3, 255, FX_VALUES, 0, fn_minifs},
    {"MAXIFS", 3, 255, FX_VALUES, 0, fn_maxifs},
    {NULL, 0, 0, 0, 0, NULL},
};
