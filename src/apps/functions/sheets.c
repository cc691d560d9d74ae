/* SPDX-License-Identifier: MIT */
/* Functions of scripts for spreadsheets as the Google Sheets API sees them. */
#include <errno.h>

#include "apps/functions/functions.h"
#include "apps/products/sheets/update.h"
#include "base/json.h"

enum { SHEETS_ARENA_MAX = 256 << 20 };

/* sheets_update(spreadsheet, requests, numbers): the spreadsheet behind them, with "replies", or
 * {"error"}. See apps/products/sheets/update.h. */
static void fn_update(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    const struct json *in[3];
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&arena, SHEETS_ARENA_MAX);
    for (size_t i = 0; i < ARRAY_LEN(in); i++)
        in[i] = json_parse(&arena, fn_text(v[i]), NULL, &e);
    struct sheets_args args = {&arena, in[0], in[1], in[2]};
    int r = e.code ? e.code : sheets_update(&args, &b, &e);
    if (r < 0 && r != -EINVAL) {
        sqlite3_result_error(x, "sheets_update: too large", -1);
        return;
    }
    if (r < 0) {
        struct jw w = jw_to(&b);
        jw_object(&w);
        jw_key(&w, "error");
        jw_cstr(&w, err_text(&e));
        jw_end(&w);
    }
    fn_give_json(x, &b);
}

/* Appends blanks, so that N values stand behind FROM. */
static void fill_blanks(struct jw *w, int64_t from, int64_t to, struct str blank)
{
    for (; from < to; from++)
        jw_raw(w, blank);
}

/* sheets_rows(cells, row0, column0, blank): [[row, column, value], …], by row and column, as rows
 * of values from that place on; where there is none, it is BLANK (JSON), but not behind the last
 * one of a row, and not below the last row. */
static void fn_sheets_rows(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    int64_t row = sqlite3_value_int64(v[1]) - 1, col = 0, col0 = sqlite3_value_int64(v[2]);
    struct str blank = fn_text(v[3]);
    bool is_open = false;

    (void)n;
    arena_init(&arena, SHEETS_ARENA_MAX);
    const struct json *cells = json_parse(&arena, fn_text(v[0]), NULL, NULL);
    struct jw w = jw_to(&b);
    jw_array(&w);
    for (size_t i = 0; json_is(cells, JSON_ARRAY) && i < cells->n; i++) {
        const struct json *c = json_at(cells, i);
        int64_t at = json_int(json_at(c, 0), 0);
        for (; row < at; row++) {
            if (is_open)
                jw_end(&w);
            jw_array(&w);
            is_open = true;
            col = col0;
        }
        fill_blanks(&w, col, json_int(json_at(c, 1), 0), blank);
        jw_value(&w, json_at(c, 2));
        col = json_int(json_at(c, 1), 0) + 1;
    }
    if (is_open)
        jw_end(&w);
    jw_end(&w);
    fn_give_json(x, &b);
}

/* sheets_merge(patches): [{"textFormat.bold": true}, …], members by their paths, as one object;
 * later ones count, null removes. */
static void fn_merge(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    arena_init(&arena, SHEETS_ARENA_MAX);
    struct json *patches = json_parse(&arena, fn_text(v[0]), NULL, NULL);
    struct json *to = json_new_object(&arena);
    for (size_t i = 0; to && json_is(patches, JSON_ARRAY) && i < patches->n; i++) {
        const struct json *patch = json_at(patches, i);
        for (size_t k = 0; to && json_is(patch, JSON_OBJECT) && k < patch->n; k++) {
            struct json *value = json_copy(&arena, &patch->members[k].value);
            if (!value || sheets_set_path(&arena, to, patch->members[k].key, value) < 0)
                to = NULL;
        }
    }
    if (!to) {
        sqlite3_result_error_nomem(x);
        return;
    }
    (void)json_write(&b, to, JSON_COMPACT);
    fn_give_json(x, &b);
}

const struct sql_function functions_sheets[] = {
    {"sheets_update", 3, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_update},
    {"sheets_rows", 4, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_sheets_rows},
    {"sheets_merge", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_merge},
    {NULL, 0, 0, NULL},
};
