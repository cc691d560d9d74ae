/* SPDX-License-Identifier: MIT */
/* tidepool image import, ls, show, rm, gc */
#include "cli/verbs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/human.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "core/image.h"

enum { POLL_US = 150000 };

/* ---- import ---- */

/* A path of this machine, which the service has to be on, too. */
static struct str find_source(struct remote *r, const char *arg)
{
    char path[PATH_MAX];

    if (str_starts(str_of(arg), STR(IMAGE_REGISTRY)) || !realpath(arg, path))
        return str_of(arg);
    return arena_str(&r->arena, str_of(path));
}

static int begin_import(struct remote *r, struct json **ret)
{
    struct buf body auto_buf = BUF_INIT(64 << 10);
    struct jw w = jw_to(&body);

    jw_object(&w);
    jw_key(&w, "source");
    jw_str(&w, find_source(r, r->call->args[0]));
    if (cli_value(r->call, "name")) {
        jw_key(&w, "name");
        jw_cstr(&w, cli_value(r->call, "name"));
    }
    jw_end(&w);
    return remote_ask(r, "POST", "/api/v1/image", &body, ret);
}

/* Asks until it is over; *RET is the last answer. */
static int follow_import(struct remote *r, struct json **ret)
{
    struct str id = remote_text(r, json_get(*ret, "data"), "id"), phase = STR_NULL;
    struct progress line = {0};
    uint64_t shown = 0;
    int status = CLI_OK;

    while (status == CLI_OK) {
        const struct json *data = json_get(*ret, "data");
        struct str now = remote_text(r, data, "status");
        uint64_t bytes = (uint64_t)json_int(json_get(data, "bytes"), 0);
        int64_t total = json_int(json_get(data, "total"), 0);
        if (!phase.p || !str_eq(phase, now)) {
            progress_end(&line);
            progress_start(&line, now, total > 0 ? total : -1, cli_is_on(r->call, "json"));
            shown = 0;
            phase = now;
        }
        progress_add(&line, bytes > shown ? bytes - shown : 0);
        shown = bytes > shown ? bytes : shown;
        if (str_is(now, "done") || str_is(now, "failed"))
            break;
        (void)usleep(POLL_US);
        status = remote_ask(r, "GET", remote_target(r, "/api/v1/image-import/", id.p), NULL, ret);
    }
    progress_end(&line);
    return status;
}

static int run_image_import(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status = begin_import(&r, &doc);
    if (status == CLI_OK)
        status = follow_import(&r, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *data = json_get(doc, "data");
    if (json_get(data, "error")) {
        struct err e = ERR_INIT;
        (void)err_set(&e, -1, STR_FMT, STR_ARG(remote_text(&r, data, "error")));
        return cli_fail(call, &e);
    }
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, data) < 0 ? CLI_FAILED : CLI_OK;
    (void)buf_printf(&call->out, STR_FMT "\n", STR_ARG(remote_text(&r, data, "name")));
    return CLI_OK;
}

static const struct cli_option import_options[] = {
    {.name = "name",
     .arg = "NAME",
     .help = "Name of the image, such as debian:12 (default: what the image says, or the name of "
             "the file)."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_image_import = {
    .name = "image import",
    .summary = "Import an image",
    .help = "Imports an image and prints its name; 'tidepool create --image NAME' creates a "
            "sandbox from it. SOURCE is an OCI image layout (a directory or a tar archive), an "
            "archive written by 'docker save', or docker://REFERENCE, which is pulled with skopeo. "
            "Files are read by the service, so they must be on its machine. Layers are verified, "
            "unpacked once and shared; an image of the same name is replaced.",
    .args = "SOURCE",
    .min_args = 1,
    .max_args = 1,
    .options = import_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_image_import,
};

/* ---- ls ---- */

static const struct table_col cols[] = {
    {.title = "NAME", .may_shrink = true}, {.title = "ID"},
    {.title = "SIZE", .is_right = true},   {.title = "LAYERS", .is_right = true},
    {.title = "AGE", .is_right = true},    {.title = "SANDBOXES", .is_right = true},
};

static void add_image_row(struct remote *r, struct table *t, const struct json *image)
{
    char size[HUMAN_MAX], age[HUMAN_MAX] = "";
    int64_t at;

    human_bytes(size, (uint64_t)json_int(json_get(image, "size"), 0));
    if (human_time(remote_text(r, image, "created_at"), &at) == 0)
        human_span(age, clock_real_us() / 1000000 - at);
    table_add(t, remote_text(r, image, "name"));
    table_add(t, remote_text(r, image, "id"));
    table_add(t, str_of(size));
    table_add(t, remote_text(r, image, "layers"));
    table_add(t, str_of(age));
    table_add(t, remote_text(r, image, "sandboxes"));
}

static int run_image_ls(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status = remote_ask(&r, "GET", "/api/v1/image", NULL, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *list = json_get(doc, "data");
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, list) < 0 ? CLI_FAILED : CLI_OK;
    struct table t = table_new(&r.arena, cols, ARRAY_LEN(cols));
    for (size_t i = 0; json_at(list, i); i++)
        add_image_row(&r, &t, json_at(list, i));
    int code = table_write(&t, tty_width(STDOUT_FILENO), &call->out);
    return code < 0 ? remote_fail(&r, code, &(struct err){0}) : CLI_OK;
}

static const struct cli_option options[] = {REMOTE_JSON, REMOTE_OPTIONS, {0}};

const struct cli_verb verb_image_ls = {
    .name = "image ls",
    .summary = "List images",
    .help = "Lists the imported images, newest first. SIZE is what an image added to the disk: "
            "layers that another image had before do not count.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_image_ls,
};

/* ---- show ---- */

static int run_image_show(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status =
            remote_ask(&r, "GET", remote_target(&r, "/api/v1/image/", call->args[0]), NULL, &doc);
    if (status != CLI_OK)
        return status;
    return cli_put_json(&call->out, json_get(doc, "data")) < 0 ? CLI_FAILED : CLI_OK;
}

static const struct cli_option show_options[] = {REMOTE_OPTIONS, {0}};

const struct cli_verb verb_image_show = {
    .name = "image show",
    .summary = "Show the details of an image",
    .help = "Prints the digest, size and configuration (environment, user, directory, command, "
            "ports) of an image as JSON.",
    .args = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = show_options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_image_show,
};

/* ---- rm, gc ---- */

static int run_rm(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    int status = remote_open(&r, call);

    return status == CLI_OK ? remote_each(&r, "DELETE", "/api/v1/image/", NULL) : status;
}

const struct cli_verb verb_image_rm = {
    .name = "image rm",
    .summary = "Remove images",
    .help = "Removes images and prints their names. Sandboxes that were created from one keep "
            "running; its files are deleted with the last of them.",
    .args = "NAME...",
    .min_args = 1,
    .max_args = 4096,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_rm,
};

static int run_gc(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    struct json *doc = NULL;
    int status = remote_open(&r, call);

    if (status == CLI_OK)
        status = remote_ask(&r, "POST", "/api/v1/image-gc", NULL, &doc);
    if (status != CLI_OK)
        return status;
    const struct json *data = json_get(doc, "data"), *list = json_get(data, "deleted");
    if (cli_is_on(call, "json"))
        return cli_put_json(&call->out, data) < 0 ? CLI_FAILED : CLI_OK;
    for (size_t i = 0; json_at(list, i); i++)
        (void)buf_printf(&call->out, STR_FMT "\n", STR_ARG(json_str(json_at(list, i), STR(""))));
    return CLI_OK;
}

const struct cli_verb verb_image_gc = {
    .name = "image gc",
    .summary = "Remove unused images",
    .help = "Removes the images that no sandbox uses, running or paused, and that no template "
            "names, and prints their names. Layers that another image or a snapshot has are kept.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_gc,
};
