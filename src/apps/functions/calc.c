/* SPDX-License-Identifier: MIT */
/* calc(expression): {"result": "…"}, or {"error": "…"}, see apps/calc/calc.h. */
#include "apps/calc/calc.h"
#include "apps/functions/functions.h"

static void fn_calc(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf text = BUF_INIT(1 << 16), b = BUF_INIT(1 << 18);
    struct err e = ERR_INIT;
    int r = calc_eval(fn_text(v[0]), &text, &e);
    struct jw w = jw_to(&b);

    (void)n;
    jw_object(&w);
    jw_key(&w, r < 0 ? "error" : "result");
    jw_str(&w, r < 0 ? str_of(err_text(&e)) : buf_str(&text));
    jw_end(&w);
    fn_give_json(x, &b);
}

const struct sql_function functions_calc[] = {
    {"calc", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_calc},
    {NULL, 0, 0, NULL},
};
