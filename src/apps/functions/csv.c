/* SPDX-License-Identifier: MIT */
/* csv_row(value, …): a line of CSV with its line break. Fields are quoted where they have to be;
 * NULL is empty. */
#include "apps/functions/functions.h"
#include "apps/text/quote.h"

static bool needs_quotes(struct str s)
{
    if (str_is(s, "\\."))
        return true;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\r' || s.p[i] == '\n')
            return true;
    }
    return s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t');
}

static void fn_csv_row(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    for (int i = 0; i < n; i++) {
        struct str s = fn_text(v[i]);
        if (i > 0)
            (void)buf_add_char(&b, ',');
        if (needs_quotes(s))
            quote_name(&b, s);
        else
            (void)buf_add_str(&b, s);
    }
    (void)buf_add_char(&b, '\n');
    fn_give(x, &b);
}

const struct sql_function functions_csv[] = {
    {"csv_row", -1, SQLITE_DETERMINISTIC, fn_csv_row},
    {NULL, 0, 0, NULL},
};
