/* SPDX-License-Identifier: MIT */
/* Functions of scripts for places in spreadsheets. */
#include <errno.h>

#include "apps/formula/a1.h"
#include "apps/functions/functions.h"
#include "base/json.h"

/* a1_column('AB') is 27; NULL when it is no column. */
static void fn_a1_column(sqlite3_context *x, int n, sqlite3_value **v)
{
    uint32_t col;

    (void)n;
    if (a1_column(fn_text(v[0]), &col) == 0)
        sqlite3_result_int64(x, col);
}

/* a1_letters(27) is 'AB'. */
static void fn_letters(sqlite3_context *x, int n, sqlite3_value **v)
{
    int64_t col = sqlite3_value_int64(v[0]);
    char name[A1_COLUMN_MAX];

    (void)n;
    if (col < 0 || col >= A1_MAX_COLUMNS)
        return;
    a1_column_name(name, (uint32_t)col);
    sqlite3_result_text(x, name, -1, SQLITE_TRANSIENT);
}

/* a1_sheet('Q1 plan') is '''Q1 plan''', as it stands before a '!'. */
static void fn_sheet(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)n;
    a1_write_sheet(&b, fn_text(v[0]));
    fn_give(x, &b);
}

static void add_end(struct jw *w, const char *key, uint32_t at)
{
    jw_key(w, key);
    if (at == A1_OPEN)
        jw_null(w);
    else
        jw_int(w, at);
}

/* a1_range(text): {"sheet", "row0", "col0", "row1", "col1"} from 0; the ends are null where the
 * range has none, the sheet where it names none. NULL when it cannot be read. */
static void fn_range(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct a1_ref ref;

    (void)n;
    arena_init(&arena, 1 << 20);
    int r = a1_parse(&arena, fn_text(v[0]), &ref);
    if (r == -ENOMEM)
        sqlite3_result_error_nomem(x);
    if (r < 0)
        return;
    struct jw w = jw_to(&b);
    jw_object(&w);
    jw_key(&w, "sheet");
    if (ref.sheet.p)
        jw_str(&w, ref.sheet);
    else
        jw_null(&w);
    add_end(&w, "row0", ref.range.row0);
    add_end(&w, "col0", ref.range.col0);
    add_end(&w, "row1", ref.range.row1);
    add_end(&w, "col1", ref.range.col1);
    jw_end(&w);
    fn_give_json(x, &b);
}

const struct sql_function functions_a1[] = {
    {"a1_column", 1, SQLITE_DETERMINISTIC, fn_a1_column},
    {"a1_letters", 1, SQLITE_DETERMINISTIC, fn_letters},
    {"a1_sheet", 1, SQLITE_DETERMINISTIC, fn_sheet},
    {"a1_range", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_range},
    {NULL, 0, 0, NULL},
};
