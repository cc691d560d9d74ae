/* SPDX-License-Identifier: MIT */
#include "apps/engine/call.h"

#include <errno.h>
#include <string.h>

#include "apps/engine/engine.h"
#include "apps/text/jsonschema.h"
#include "base/buf.h"

/* ---- texts ---- */

/* S as it stands between the quotes of a JSON string. */
static void add_escaped_text(struct buf *out, struct str s)
{
    auto_buf struct buf b = BUF_INIT(out->max);

    if (json_write_str(&b, s) == 0)
        (void)buf_add_str(out, str_slice(buf_str(&b), 1, b.len - 1));
}

/* TEMPLATE with {name}, {text} and, the text within a JSON string, {json} filled in. */
static struct str fill_error_text(struct arena *a, const char *template, struct str name,
                                  struct str text)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str rest = str_of(template);

    while (rest.len > 0) {
        if (str_starts(rest, STR("{name}")) || str_starts(rest, STR("{text}"))) {
            (void)buf_add_str(&b, rest.p[1] == 'n' ? name : text);
            rest = str_skip(rest, 6);
        } else if (str_starts(rest, STR("{json}"))) {
            add_escaped_text(&b, text);
            rest = str_skip(rest, 6);
        } else {
            (void)buf_add_char(&b, rest.p[0]);
            rest = str_skip(rest, 1);
        }
    }
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
}

/* The failure TEXT in the way of APP. */
static int answer_tool_failure(const struct app *app, struct str text, struct arena *a,
                               struct app_answer *ret)
{
    auto_buf struct buf b = BUF_INIT(2 * (size_t)APPDB_RESULT_MAX);

    if (!text.p)
        return -ENOMEM;
    *ret = (struct app_answer){.kind = APP_ANSWER_TEXT, .text = text, .is_failure = true};
    switch (app->errors) {
    case APP_ERRORS_TEXT: ret->text = arena_printf(a, "Error: " STR_FMT, STR_ARG(text)); break;
    case APP_ERRORS_JSON:
        (void)buf_add_lit(&b, "{\"error\": ");
        (void)json_write_str(&b, text);
        (void)buf_add_char(&b, '}');
        ret->text = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
        break;
    case APP_ERRORS_RPC: ret->kind = APP_ANSWER_RPC; break;
    case APP_ERRORS_RESULT: ret->kind = APP_ANSWER_ERROR; break;
    case APP_ERRORS_RAW:
    case APP_ERRORS_COUNT: break;
    }
    return ret->text.p ? 0 : -ENOMEM;
}

/* In the words of jsonschema; false when it would have let the arguments pass. */
static bool explain_check(const struct app *app, const struct app_call *c, struct app_answer *ret)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)buf_add_lit(&b, "Input validation error: ");
    if (app->arguments != APP_ARGUMENTS_JSONSCHEMA ||
        !jsonschema_explain(c->arena, c->tool->accepts, c->args, &b))
        return false;
    *ret = (struct app_answer){
        .kind = APP_ANSWER_ERROR, .text = arena_str(c->arena, buf_str(&b)), .is_failure = true};
    return ret->text.p != NULL;
}

/* The name of the argument at POINTER; for a missing one: of what is missing in it. */
static int fail_check(const struct app *app, const struct app_call *c,
                      const struct schema_error *why, struct app_answer *ret)
{
    bool is_missing = strcmp(why->keyword, "required") == 0;
    struct str name = str_of(why->path);
    const struct json *required = json_get(c->tool->input, "required");

    if (explain_check(app, c, ret))
        return 0;
    if (str_starts(name, STR("/")))
        name = str_skip(name, 1);
    for (size_t i = 0; is_missing && name.len == 0 && required && i < required->n; i++) {
        struct str word = json_str(json_at(required, i), STR(""));
        if (!json_get_str(c->args, word))
            name = word;
    }
    const char *text = app->texts[is_missing ? APP_TEXT_MISSING : APP_TEXT_INVALID];
    return answer_tool_failure(app, fill_error_text(c->arena, text, name, str_of(why->text)),
                               c->arena, ret);
}

/* ---- the call ---- */

/* Products whose answers have line breaks: the text as JSON, rewritten. */
static struct str indent(struct str text, struct arena *a)
{
    auto_buf struct buf b = BUF_INIT(2 * (size_t)APPDB_RESULT_MAX);
    const struct json *v = json_parse(a, text, NULL, NULL);

    if (!v)
        return text;
    (void)json_write(&b, v, JSON_PRETTY);
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
}

/* The engine refused what the script made of the arguments: an unfit value, reported as the
 * product's errors are. */
static int answer_unfit(const struct app *app, const struct app_call *c, const struct err *e,
                        struct app_answer *ret)
{
    const char *text = app->texts[APP_TEXT_FAILED];
    struct str name = str_of(c->tool->name);
    int r = answer_tool_failure(app, fill_error_text(c->arena, text, name, STR("")), c->arena, ret);

    ret->fault = arena_printf(c->arena, "%s: %s: %s", app->name, c->tool->name, err_text(e));
    return r;
}

#define TOO_MUCH "The request takes too long or returns too much; narrow it down and try again."

/* What the script said, as the product reports it. */
static int answer_script(const struct app *app, struct app_call *c, struct app_answer *ret)
{
    static const struct err none = {.code = -EINVAL, .text = "no result"};

    if (c->is_query_error)
        c->error = fill_error_text(c->arena, app->texts[APP_TEXT_QUERY], STR(""), c->error);
    if (c->error.p || c->is_query_error) {
        int r = answer_tool_failure(app, c->error, c->arena, ret);
        ret->is_fixed = c->is_fixed;
        return r;
    }
    *ret = (struct app_answer){
        .kind = APP_ANSWER_CONTENT, .text = c->content, .is_fixed = c->is_fixed};
    if (!c->content.p) {
        ret->kind = APP_ANSWER_TEXT;
        ret->text = app->is_indented ? indent(c->result, c->arena) : c->result;
    }
    return ret->text.p ? 0 : answer_unfit(app, c, &none, ret);
}

static int run_tool_script(struct app_handle *x, const struct app *app, struct app_call *c,
                           struct app_answer *ret, struct err *e)
{
    struct err own = ERR_INIT;
    int r = app->engine->run(x, c, &own);

    /* What a caller asked too much for is no fault of ours, and reported as the product's errors
     * are.
     */
    if (r == -ETIME || r == -E2BIG)
        return answer_tool_failure(app, STR(TOO_MUCH), c->arena, ret);
    if (r == -EINVAL)
        return answer_unfit(app, c, &own, ret);
    if (r < 0)
        return err_set(e, r, "%s: %s: %s", app->name, c->tool->name, err_text(&own));
    return answer_script(app, c, ret);
}

int app_call(struct app_handle *x, const struct app *app, struct app_call *c,
             struct app_answer *ret, struct err *e)
{
    const struct app_tool *tool = c->tool;
    struct schema_error why;

    if (!c->args)
        c->args = json_new_object(c->arena);
    if (!c->args)
        return err_set(e, -ENOMEM, "out of memory");
    c->script = tool->script;
    c->is_write = !tool->is_read_only;
    int r = schema_check(tool->schema, c->args, &why);
    if (r < 0)
        r = fail_check(app, c, &why, ret);
    else if ((r = schema_defaults(c->arena, tool->schema, c->args)) == 0)
        r = run_tool_script(x, app, c, ret, e);
    return r == -ENOMEM ? err_set(e, r, "out of memory") : r;
}

int app_call_unknown(const struct app *app, struct str name, struct arena *a,
                     struct app_answer *ret)
{
    return answer_tool_failure(app, fill_error_text(a, app->texts[APP_TEXT_UNKNOWN], name, STR("")),
                               a, ret);
}
