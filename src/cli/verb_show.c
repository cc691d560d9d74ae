/* SPDX-License-Identifier: MIT */
/* tidepool show */
#include "cli/verbs.h"

#include "base/cleanup.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "core/sandbox_fields.h"

/* What is not a field that a sandbox is created with (core/sandbox_fields.def): before those, and
 * behind them. */
struct show_line {
    const char *title, *member;
};

static const struct show_line head[] = {
    {"Name", "name"},
    {"Id", "id"},
    {"Status", "status"},
    {"Owner", "user"},
};
static const struct show_line tail[] = {
    {"Address", "url"},        {"Created", "created_at"},
    {"Expires", "expires_at"}, {"Last used", "last_active_at"},
    {"Paused", "paused_at"},
};

static void put_show_line(struct buf *out, struct str title, struct str value)
{
    if (value.len == 0)
        return;
    (void)buf_printf(out, "%-15.*s ", STR_ARG(title));
    (void)table_put_text(out, value, SIZE_MAX);
    (void)buf_add_char(out, '\n');
}

static void put_show_map(struct buf *out, const char *title, const struct json *map)
{
    for (size_t i = 0; json_is(map, JSON_OBJECT) && i < map->n; i++) {
        struct buf pair auto_buf = BUF_INIT(1UL << 20);
        (void)buf_printf(&pair, STR_FMT "=" STR_FMT, STR_ARG(map->members[i].key),
                         STR_ARG(json_str(&map->members[i].value, STR(""))));
        put_show_line(out, str_of(i ? "" : title), buf_str(&pair));
    }
}

static void put_show_lines(struct remote *r, const struct json *sandbox,
                           const struct show_line *lines, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        put_show_line(out, str_of(lines[i].title), remote_text(r, sandbox, lines[i].member));
}

static void put_show_fields(struct remote *r, const struct json *sandbox, struct buf *out)
{
    for (size_t i = 0; i < sandbox_n_fields; i++) {
        const struct sandbox_field *f = &sandbox_fields[i];
        if (f->title && f->kind != SANDBOX_STRINGS)
            put_show_line(out, str_of(f->title),
                          remote_text(r, sandbox, f->names[SANDBOX_FACE_API]));
    }
}

static void put_maps(const struct json *sandbox, struct buf *out)
{
    for (size_t i = 0; i < sandbox_n_fields; i++) {
        const struct sandbox_field *f = &sandbox_fields[i];
        if (f->title && f->kind == SANDBOX_STRINGS)
            put_show_map(out, f->title, json_get(sandbox, f->names[SANDBOX_FACE_API]));
    }
}

static int run_sandbox_show(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status =
            remote_ask(&r, "GET", remote_target(&r, "/api/v1/sandbox/", call->args[0]), NULL, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *sandbox = json_get(doc, "data");
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, sandbox) < 0 ? CLI_FAILED : CLI_OK;
    put_show_lines(&r, sandbox, head, ARRAY_LEN(head), &call->out);
    put_show_fields(&r, sandbox, &call->out);
    put_show_lines(&r, sandbox, tail, ARRAY_LEN(tail), &call->out);
    put_maps(sandbox, &call->out);
    return CLI_OK;
}

static const struct cli_option options[] = {REMOTE_JSON, REMOTE_OPTIONS, {0}};

const struct cli_verb verb_show = {
    .name = "show",
    .summary = "Show the details of a sandbox",
    .help = "Shows the template, limits, times, environment and metadata of a sandbox.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_sandbox_show,
};
