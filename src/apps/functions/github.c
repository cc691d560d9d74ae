/* SPDX-License-Identifier: MIT */
/* How GitHub's failures are worded by the different sets of tools for it. */
#include <string.h>

#include "apps/functions/functions.h"

#define WORK_ARENA (1UL << 20)

/* "[{Resource:Issue Field:title Code:invalid Message:}]", as Go shows such a list. */
static void add_go_errors(struct buf *b, const struct json *errors)
{
    static const char *const fields[][2] = {
        {"Resource", "resource"}, {"Field", "field"}, {"Code", "code"}, {"Message", "message"}};

    (void)buf_add_char(b, '[');
    for (size_t i = 0; json_is(errors, JSON_ARRAY) && i < errors->n; i++) {
        const struct json *v = json_at(errors, i);
        (void)buf_add_str(b, i > 0 ? STR(" {") : STR("{"));
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            /* One that is a text alone counts as the message. */
            bool is_text = json_is(v, JSON_STRING) && f == 3;
            struct str text = json_str(is_text ? v : json_get(v, fields[f][1]), STR(""));
            (void)buf_printf(b, "%s%s:" STR_FMT, f > 0 ? " " : "", fields[f][0], STR_ARG(text));
        }
        (void)buf_add_char(b, '}');
    }
    (void)buf_add_char(b, ']');
}

/* "Not Found - https://docs…", with the errors as JSON between them. */
static void add_octokit(struct buf *b, const struct json *body)
{
    const struct json *errors = json_get(body, "errors");

    (void)buf_add_str(b, json_str(json_get(body, "message"), STR("Unknown error")));
    for (size_t i = 0; json_is(errors, JSON_ARRAY) && i < errors->n; i++) {
        (void)buf_add_str(b, i > 0 ? STR(", ") : STR(": "));
        (void)json_write(b, json_at(errors, i), JSON_COMPACT);
    }
    (void)buf_printf(b, " - " STR_FMT,
                     STR_ARG(json_str(json_get(body, "documentation_url"), STR(""))));
}

/* github_failure(request, failed, body): BODY is what the API answered, FAILED says what could not
 * be done. Without a request: "FAILED: BODY". For 'octokit' it is the message that this library
 * makes of it; for others ("GET https://…") the one of go-github behind FAILED. */
static void fn_failure(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(WORK_ARENA);
    struct str request = fn_text(v[0]);

    (void)n;
    arena_init(&arena, WORK_ARENA);
    const struct json *body = json_parse(&arena, fn_text(v[2]), NULL, NULL);
    if (str_eq(request, STR("octokit"))) {
        (void)buf_add_lit(&b, "Error: ");
        add_octokit(&b, body);
    } else if (request.len > 0) {
        (void)buf_printf(&b, STR_FMT ": " STR_FMT ": " STR_FMT " " STR_FMT " ",
                         STR_ARG(fn_text(v[1])), STR_ARG(request),
                         STR_ARG(json_str(json_get(body, "status"), STR("500"))),
                         STR_ARG(json_str(json_get(body, "message"), STR(""))));
        add_go_errors(&b, json_get(body, "errors"));
    } else {
        (void)buf_printf(&b, STR_FMT ": " STR_FMT, STR_ARG(fn_text(v[1])), STR_ARG(fn_text(v[2])));
    }
    fn_give(x, &b);
}

const struct sql_function functions_github[] = {
    {"github_failure", 3, SQLITE_DETERMINISTIC, fn_failure},
    {NULL, 0, 0, NULL},
};
