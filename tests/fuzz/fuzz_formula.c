/* SPDX-License-Identifier: MIT */
/* A formula over a sheet whose cells are made of their places. The value has to be one that a cell
 * can have. The same bytes are typed into a cell, and read as a range. When cells move, a formula
 * stays one. */
#include <errno.h>
#include <stdlib.h>

#include "apps/formula/edit.h"
#include "apps/formula/formula.h"
#include "base/buf.h"
#include "fuzz.h"

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static int sheet_of(void *ctx, struct str name)
{
    (void)ctx;
    return name.len % 3 == 2 ? -1 : 0;
}

static void extent_of(void *ctx, int sheet, struct formula_extent *ret)
{
    (void)ctx;
    (void)sheet;
    *ret = (struct formula_extent){20, 10, 12, 6};
}

static void cell_of(void *ctx, struct formula_place at, struct formula_value *ret)
{
    static const char *const cells[] = {"",     "1",    "-2.5",       "text",
                                        "TRUE", "#N/A", "2026-01-15", "9%"};
    struct formula_entry entry;

    (void)ctx;
    formula_enter(str_of(cells[(at.row * 7 + at.col) % 8]), &entry);
    *ret = entry.value;
}

static void check_value(const struct formula_value *v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    check(v->type < FORMULA_ARRAY);
    check(v->type != FORMULA_ERROR || v->error < FORMULA_ERROR_COUNT);
    formula_show(&b, v, STR(""));
    formula_show(&b, v, STR("#,##0.00;(0);\"z\";@"));
    formula_show(&b, v, STR("yyyy-mm-dd h:mm AM/PM"));
    check(buf_ok(&b));
}

/* A range that was read is the same when it is written and read again. */
static void check_range(struct arena *a, struct str text)
{
    auto_buf struct buf b = BUF_INIT(256);
    struct a1_range again;
    struct a1_ref ref;

    if (a1_parse(a, text, &ref) < 0 || ref.is_all)
        return;
    a1_write(&b, &ref.range);
    check(buf_ok(&b) && a1_scan(buf_str(&b), &again) == b.len);
    check(memcmp(&again, &ref.range, sizeof again) == 0);
}

static const struct formula_edit edits[] = {
    {.kind = FORMULA_EDIT_INSERT, .sheet = STR_INIT("own"), .is_rows = true, .at = 2, .n = 9},
    {.kind = FORMULA_EDIT_DELETE, .sheet = STR_INIT("own"), .at = 1, .n = 2},
    {.kind = FORMULA_EDIT_SHIFT, .rows = -3, .cols = 1},
};

static void check_edit(const struct formula_env *env, struct str text,
                       const struct formula_edit *edit)
{
    auto_buf struct buf b = BUF_INIT(16 << 20);
    struct err e = ERR_INIT;

    formula_edit(&b, text, STR("Own"), edit);
    check(buf_ok(&b));
    check(formula_compile(env->arena, buf_str(&b), env, 0, &e) || e.code == -E2BIG ||
          e.code == -ENOMEM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_arena struct arena a;
    struct str text = str_n((const char *)data, size);
    struct formula_env env = {.sheet = sheet_of,
                              .extent = extent_of,
                              .cell = cell_of,
                              .now = 46037.375,
                              .arena = &a,
                              .steps = 100000};
    struct formula_entry entry;
    struct formula_value v;

    arena_init(&a, 16 << 20);
    if (text.len <= FORMULA_MAX_TEXT) {
        formula_enter(text, &entry);
        check_value(&entry.value);
    }
    check_range(&a, text);
    const struct formula *f = formula_compile(&a, text, &env, 0, NULL);
    if (!f)
        return 0;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        check_edit(&env, text, &edits[i]);
    formula_eval(f, &env, (struct formula_place){0, 3, 2}, &v);
    if (v.type != FORMULA_ARRAY) {
        check_value(&v);
        return 0;
    }
    check((uint64_t)v.array->rows * v.array->cols <= FORMULA_MAX_ITEMS);
    for (size_t i = 0; i < (size_t)v.array->rows * v.array->cols && i < 1000; i++)
        check_value(&v.array->items[i]);
    return 0;
}
