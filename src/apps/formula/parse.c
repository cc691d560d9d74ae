/* SPDX-License-Identifier: MIT */
/* The text of a formula becomes a tree. From tight to loose: % behind, + and - before, ^, * and /,
 * + and -, &, comparisons; all of them from left to right. */
#include <errno.h>
#include <stdlib.h>

#include "apps/formula/formula_internal.h"
#include "base/ascii.h"

struct formula_parse {
    struct arena *arena;
    const struct formula_env *env;
    struct str s; /* what is left */
    int sheet;
    struct formula_area *areas;
    size_t n_areas, cap_areas;
    bool is_volatile;
    unsigned depth;
    int error; /* the first one; everything else then gives NULL */
};

static struct fx_node *parse_binary(struct formula_parse *p, unsigned level);

static struct fx_node *fail_formula(struct formula_parse *p, int error)
{
    if (p->error == 0)
        p->error = error;
    return NULL;
}

static void skip_spaces(struct formula_parse *p)
{
    while (p->s.len > 0 &&
           (p->s.p[0] == ' ' || p->s.p[0] == '\t' || p->s.p[0] == '\n' || p->s.p[0] == '\r'))
        p->s = str_skip(p->s, 1);
}

static bool eat(struct formula_parse *p, struct str word)
{
    skip_spaces(p);
    if (!str_starts(p->s, word))
        return false;
    p->s = str_skip(p->s, word.len);
    return true;
}

/* ---- nodes ---- */

static struct fx_node *new_formula_value(struct formula_parse *p, const struct formula_value *v)
{
    struct fx_node *n = arena_new(p->arena, struct fx_node);

    if (!n)
        return fail_formula(p, -ENOMEM);
    n->kind = FX_NODE_VALUE;
    n->value = *v;
    return n;
}

static struct fx_node *new_error(struct formula_parse *p, enum formula_error error)
{
    struct formula_value v;

    fx_give_error(&v, error);
    return new_formula_value(p, &v);
}

/* NODES get a place in A's arena of exactly their number. */
static struct fx_node *new_formula_call(struct formula_parse *p, const struct fx_function *f,
                                        struct fx_node *const *nodes, uint32_t n_nodes)
{
    struct fx_node *n = arena_new(p->arena, struct fx_node);
    struct fx_node **args = arena_zalloc(p->arena, n_nodes, sizeof(struct fx_node *));

    if (!n || !args)
        return fail_formula(p, -ENOMEM);
    for (uint32_t i = 0; i < n_nodes; i++) {
        if (!nodes[i])
            return NULL;
        args[i] = nodes[i];
        n->depth = nodes[i]->depth >= n->depth ? nodes[i]->depth + 1 : n->depth;
    }
    if (n->depth > FORMULA_MAX_CHAIN)
        return fail_formula(p, -E2BIG);
    n->kind = FX_NODE_CALL;
    n->function = f;
    n->args = args;
    n->n = n_nodes;
    p->is_volatile = p->is_volatile || (f->flags & FX_VOLATILE);
    return n;
}

static struct fx_node *new_area(struct formula_parse *p, int sheet, const struct a1_range *range)
{
    if (sheet < 0)
        return new_error(p, FORMULA_ERROR_REF);
    struct formula_area *own = arena_new(p->arena, struct formula_area);
    struct formula_area *list =
        arena_grow(p->arena, p->areas, p->n_areas, &p->cap_areas, sizeof *list);
    if (!own || !list)
        return fail_formula(p, -ENOMEM);
    p->areas = list;
    *own = list[p->n_areas++] = (struct formula_area){sheet, *range};
    struct formula_value v = {.type = FORMULA_AREA, .area = own};
    return new_formula_value(p, &v);
}

/* ---- the smallest parts ---- */

static struct fx_node *parse_formula_number(struct formula_parse *p)
{
    char text[64];
    size_t n = 0;
    struct formula_value v;

    for (; n < p->s.len && n < sizeof text - 1; n++) {
        char c = p->s.p[n];
        bool is_sign = (c == '+' || c == '-') && n > 0 && (p->s.p[n - 1] | 0x20) == 'e';
        if (!is_sign && !(c >= '0' && c <= '9') && c != '.' && (c | 0x20) != 'e')
            break;
        text[n] = c;
    }
    text[n] = '\0';
    char *end;
    double number = strtod(text, &end);
    if (end == text)
        return fail_formula(p, -EINVAL);
    p->s = str_skip(p->s, (size_t)(end - text));
    fx_give(&v, number);
    return new_formula_value(p, &v);
}

/* "text", a quote in it doubled. */
static struct fx_node *parse_formula_text(struct formula_parse *p)
{
    char *out = arena_alloc(p->arena, p->s.len);
    size_t n = 0, i = 1;

    for (; out && i < p->s.len; i++) {
        if (p->s.p[i] == '"' && (i + 1 == p->s.len || p->s.p[i + 1] != '"'))
            break;
        i += p->s.p[i] == '"';
        out[n++] = p->s.p[i];
    }
    if (!out)
        return fail_formula(p, -ENOMEM);
    if (i >= p->s.len)
        return fail_formula(p, -EINVAL);
    p->s = str_skip(p->s, i + 1);
    struct formula_value v = {.type = FORMULA_TEXT, .text = str_n(out, n)};
    return new_formula_value(p, &v);
}

static struct fx_node *parse_error(struct formula_parse *p)
{
    for (enum formula_error i = 0; i < FORMULA_ERROR_COUNT; i++) {
        struct str text = str_of(formula_error_text(i));
        if (!str_ieq(str_slice(p->s, 0, text.len), text))
            continue;
        p->s = str_skip(p->s, text.len);
        return new_error(p, i);
    }
    return fail_formula(p, -EINVAL);
}

/* A range of the sheet of that number. */
static struct fx_node *parse_area(struct formula_parse *p, int sheet)
{
    struct a1_range range;
    size_t n = a1_scan(p->s, &range);

    if (n > 0) {
        p->s = str_skip(p->s, n);
        return new_area(p, sheet, &range);
    }
    if (str_starts(p->s, STR("#REF!")))
        return parse_error(p);
    return fail_formula(p, -EINVAL);
}

/* 'A sheet'!A1 */
static struct fx_node *parse_quoted_sheet(struct formula_parse *p)
{
    size_t i = 1;

    for (; i < p->s.len; i++) {
        if (p->s.p[i] != '\'')
            continue;
        if (i + 1 == p->s.len || p->s.p[i + 1] != '\'')
            break;
        i++;
    }
    if (i + 1 >= p->s.len || p->s.p[i + 1] != '!')
        return fail_formula(p, -EINVAL);
    struct a1_ref ref;
    if (a1_parse(p->arena, str_slice(p->s, 0, i + 1), &ref) < 0)
        return fail_formula(p, -EINVAL);
    p->s = str_skip(p->s, i + 2);
    return parse_area(p, p->env->sheet(p->env->ctx, ref.sheet));
}

/* ---- what holds others ---- */

static struct fx_node *parse_arg(struct formula_parse *p)
{
    skip_spaces(p);
    if (p->s.len > 0 && strchr(",;)", p->s.p[0])) {
        struct fx_node *n = arena_new(p->arena, struct fx_node);
        if (!n)
            return fail_formula(p, -ENOMEM);
        n->kind = FX_NODE_MISSING;
        return n;
    }
    return parse_binary(p, 0);
}

/* What is between the parentheses, of which the first was taken; false: it failed. */
static bool parse_args(struct formula_parse *p, struct fx_node *args[FORMULA_MAX_ARGS],
                       uint32_t *ret_n)
{
    uint32_t n = 0;

    *ret_n = 0;
    if (eat(p, STR(")")))
        return true;
    do {
        if (n == FORMULA_MAX_ARGS)
            return fail_formula(p, -E2BIG) != NULL;
        args[n] = parse_arg(p);
        if (!args[n++])
            return false;
    } while (eat(p, STR(",")) || eat(p, STR(";")));
    *ret_n = n;
    return eat(p, STR(")")) || fail_formula(p, -EINVAL) != NULL;
}

static struct fx_node *new_name(struct formula_parse *p, struct str name)
{
    struct fx_node *n = arena_new(p->arena, struct fx_node);

    if (!n)
        return fail_formula(p, -ENOMEM);
    n->kind = FX_NODE_NAME;
    n->name = arena_str(p->arena, name);
    return n->name.p ? n : fail_formula(p, -ENOMEM);
}

/* A lambda, or the name of one, with its N arguments. */
static struct fx_node *new_apply(struct formula_parse *p, struct fx_node *lambda,
                                 struct fx_node *const *args, uint32_t n)
{
    struct fx_node *made = arena_new(p->arena, struct fx_node);

    if (!lambda)
        return NULL;
    if (!made || !(made->args = arena_zalloc(p->arena, n + 1, sizeof(struct fx_node *))))
        return fail_formula(p, -ENOMEM);
    made->kind = FX_NODE_APPLY;
    made->args[0] = lambda;
    for (uint32_t i = 0; i < n; i++)
        made->args[i + 1] = args[i];
    made->n = n + 1;
    for (uint32_t i = 0; i <= n; i++)
        made->depth = made->args[i]->depth >= made->depth ? made->args[i]->depth + 1 : made->depth;
    return made->depth <= FORMULA_MAX_CHAIN ? made : fail_formula(p, -E2BIG);
}

static struct fx_node *parse_formula_call(struct formula_parse *p, struct str name)
{
    struct fx_node *args[FORMULA_MAX_ARGS];
    const struct fx_function *f = fx_find(name);
    uint32_t n;

    if (!parse_args(p, args, &n))
        return NULL;
    if (!f)
        return new_apply(p, new_name(p, name), args, n);
    if (n < f->min || n > f->max)
        return new_error(p, FORMULA_ERROR_NA); /* "Wrong number of arguments" */
    return new_formula_call(p, f, args, n);
}

/* {1, 2; 3, 4}, of which each item may be an area. */
static struct fx_node *parse_formula_array(struct formula_parse *p)
{
    struct fx_node *n = arena_new(p->arena, struct fx_node), **args = NULL, *item;
    size_t cap_args = 0, cap_rows = 0;

    if (!n)
        return fail_formula(p, -ENOMEM);
    n->kind = FX_NODE_ARRAY;
    do {
        n->rows = arena_grow(p->arena, n->rows, n->n_rows, &cap_rows, sizeof *n->rows);
        if (!n->rows)
            return fail_formula(p, -ENOMEM);
        n->rows[n->n_rows++] = 0;
        do {
            item = parse_binary(p, 0);
            args = arena_grow(p->arena, args, n->n, &cap_args, sizeof(struct fx_node *));
            if (!item || !args)
                return fail_formula(p, -ENOMEM);
            args[n->n++] = item;
            n->rows[n->n_rows - 1]++;
            n->depth = item->depth >= n->depth ? item->depth + 1 : n->depth;
        } while (eat(p, STR(",")));
    } while (eat(p, STR(";")));
    n->args = args;
    return eat(p, STR("}")) && n->depth <= FORMULA_MAX_CHAIN ? n : fail_formula(p, -EINVAL);
}

static bool is_formula_word(char c)
{
    return ascii_is_word(c) || c == '.' || (unsigned char)c > 127;
}

/* A function, a sheet, a range, TRUE or FALSE. */
static struct fx_node *parse_formula_name(struct formula_parse *p)
{
    size_t n = 0;
    struct a1_range range;
    struct formula_value v;

    while (n < p->s.len && is_formula_word(p->s.p[n]))
        n++;
    struct str name = str_slice(p->s, 0, n);
    char next = n < p->s.len ? p->s.p[n] : '\0';
    if (n > 0 && next == '!') {
        p->s = str_skip(p->s, n + 1);
        return parse_area(p, p->env->sheet(p->env->ctx, name));
    }
    if (a1_scan(p->s, &range) > 0)
        return parse_area(p, p->sheet);
    if (n == 0)
        return fail_formula(p, -EINVAL);
    p->s = str_skip(p->s, n);
    if (eat(p, STR("(")))
        return parse_formula_call(p, name);
    if (!str_iis(name, "TRUE") && !str_iis(name, "FALSE"))
        return new_name(p, name);
    fx_give_bool(&v, str_iis(name, "TRUE"));
    return new_formula_value(p, &v);
}

static struct fx_node *parse_inner(struct formula_parse *p)
{
    struct a1_range range;

    skip_spaces(p);
    char c = p->s.len > 0 ? p->s.p[0] : '\0';
    if (c == '(') {
        p->s = str_skip(p->s, 1);
        struct fx_node *n = parse_binary(p, 0);
        return n && !eat(p, STR(")")) ? fail_formula(p, -EINVAL) : n;
    }
    if (c == '{') {
        p->s = str_skip(p->s, 1);
        return parse_formula_array(p);
    }
    if (c == '"')
        return parse_formula_text(p);
    if (c == '\'')
        return parse_quoted_sheet(p);
    if (c == '#')
        return parse_error(p);
    if (((c >= '0' && c <= '9') || c == '.') && a1_scan(p->s, &range) == 0)
        return parse_formula_number(p);
    return parse_formula_name(p);
}

/* A lambda may be applied on the spot: LAMBDA(x, x + 1)(2). */
static struct fx_node *parse_applied(struct formula_parse *p)
{
    struct fx_node *args[FORMULA_MAX_ARGS], *n = parse_inner(p);
    uint32_t n_args;

    if (!n || n->kind != FX_NODE_CALL || strcmp(n->function->name, "LAMBDA") != 0 ||
        !eat(p, STR("(")))
        return n;
    return parse_args(p, args, &n_args) ? new_apply(p, n, args, n_args) : NULL;
}

static struct fx_node *parse_formula_unary(struct formula_parse *p)
{
    struct fx_node *n = NULL;

    if (++p->depth > FORMULA_MAX_DEPTH)
        return fail_formula(p, -E2BIG);
    bool is_minus = eat(p, STR("-"));
    if (is_minus || eat(p, STR("+"))) {
        n = parse_formula_unary(p);
        n = n ? new_formula_call(p, fx_find(is_minus ? STR("UMINUS") : STR("UPLUS")), &n, 1) : NULL;
    } else {
        n = parse_applied(p);
        while (n && eat(p, STR("%")))
            n = new_formula_call(p, fx_find(STR("UNARY_PERCENT")), &n, 1);
    }
    p->depth--;
    return n;
}

/* ---- operators between two ---- */

enum { N_LEVELS = 5 };
static const struct {
    struct str text;
    unsigned level; /* 0 binds least */
    struct str function;
} operators[] = {
    /* Longer ones first. */
    {STR_INIT("<>"), 0, STR_INIT("NE")},    {STR_INIT("<="), 0, STR_INIT("LTE")},
    {STR_INIT(">="), 0, STR_INIT("GTE")},   {STR_INIT("="), 0, STR_INIT("EQ")},
    {STR_INIT("<"), 0, STR_INIT("LT")},     {STR_INIT(">"), 0, STR_INIT("GT")},
    {STR_INIT("&"), 1, STR_INIT("CONCAT")}, {STR_INIT("+"), 2, STR_INIT("ADD")},
    {STR_INIT("-"), 2, STR_INIT("MINUS")},  {STR_INIT("*"), 3, STR_INIT("MULTIPLY")},
    {STR_INIT("/"), 3, STR_INIT("DIVIDE")}, {STR_INIT("^"), 4, STR_INIT("POW")},
};

static const struct fx_function *take_level_operator(struct formula_parse *p, unsigned level)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (operators[i].level == level && eat(p, operators[i].text))
            return fx_find(operators[i].function);
    }
    return NULL;
}

static struct fx_node *parse_binary(struct formula_parse *p, unsigned level)
{
    if (level == N_LEVELS)
        return parse_formula_unary(p);
    struct fx_node *pair[2] = {parse_binary(p, level + 1), NULL};
    const struct fx_function *f;
    while (pair[0] && (f = take_level_operator(p, level))) {
        pair[1] = parse_binary(p, level + 1);
        pair[0] = pair[1] ? new_formula_call(p, f, pair, 2) : NULL;
    }
    return pair[0];
}

const struct formula *formula_compile(struct arena *a, struct str text,
                                      const struct formula_env *env, int sheet, struct err *e)
{
    struct formula_parse p = {.arena = a, .env = env, .s = text, .sheet = sheet};
    struct formula *f = arena_new(a, struct formula);

    if (text.len > FORMULA_MAX_TEXT)
        p.error = -E2BIG;
    (void)eat(&p, STR("="));
    struct fx_node *root = p.error ? NULL : parse_binary(&p, 0);
    skip_spaces(&p);
    if (root && p.s.len > 0)
        root = fail_formula(&p, -EINVAL);
    if (!f || !root) {
        (void)err_set(e, f ? p.error : -ENOMEM, "Formula parse error.");
        return NULL;
    }
    *f = (struct formula){root, p.areas, p.n_areas, p.is_volatile};
    return f;
}

size_t formula_areas(const struct formula *f, const struct formula_area **ret)
{
    *ret = f->areas;
    return f->n_areas;
}

bool formula_is_volatile(const struct formula *f)
{
    return f->is_volatile;
}
