/* SPDX-License-Identifier: MIT */
#include "apps/engine/app.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/db/product_id.h"
#include "apps/engine/engine.h"
#include "apps/lang/lang.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"

static const char *const errors_names[APP_ERRORS_COUNT] = {
    [APP_ERRORS_TEXT] = "text",     [APP_ERRORS_JSON] = "json", [APP_ERRORS_RPC] = "rpc",
    [APP_ERRORS_RESULT] = "result", [APP_ERRORS_RAW] = "raw",
};

static const char *const arguments_names[APP_ARGUMENTS_COUNT] = {
    [APP_ARGUMENTS_TEXTS] = "texts",
    [APP_ARGUMENTS_JSONSCHEMA] = "jsonschema",
};

static const struct {
    const char *key, *text;
} texts[APP_TEXT_COUNT] = {
    [APP_TEXT_MISSING] = {"missing", "{name} parameter is required"},
    [APP_TEXT_INVALID] = {"invalid", "{name}: {text}"},
    [APP_TEXT_UNKNOWN] = {"unknown", "Unknown tool: {name}"},
    [APP_TEXT_QUERY] = {"query", "{text}"},
    [APP_TEXT_FAILED] = {"failed", "Invalid request: an argument has a value that cannot be used"},
};

static int err_app_memory(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}

/* ---- app.json ---- */

/* The place of V among N NAMES, 0 when it is absent, -1 when it is none of them. */
static int find_name(const struct json *v, const char *const *names, size_t n)
{
    if (!v)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (str_is(json_str(v, STR("")), names[i]))
            return (int)i;
    }
    return -1;
}

static int read_errors(struct app *app, const struct json *v, struct err *e)
{
    int errors = find_name(json_get(v, "errors"), errors_names, APP_ERRORS_COUNT);
    int arguments = find_name(json_get(v, "arguments"), arguments_names, APP_ARGUMENTS_COUNT);

    if (errors < 0)
        return err_set(e, -EINVAL, "app.json: /errors is text, json, rpc, result or raw");
    if (arguments < 0)
        return err_set(e, -EINVAL, "app.json: /arguments is texts or jsonschema");
    app->errors = (enum app_errors)errors;
    app->arguments = (enum app_arguments)arguments;
    return 0;
}

static int read_ids(struct app *app, const struct json *v, struct err *e)
{
    if (v && !json_is(v, JSON_OBJECT))
        return err_set(e, -EINVAL, "app.json: /ids is an object");
    for (size_t i = 0; v && i < v->n; i++) {
        struct str format = json_str(&v->members[i].value, STR(""));
        int r = id_check(format, e);
        if (r < 0)
            return err_ctx(e, r, "app.json: /ids/" STR_FMT, STR_ARG(v->members[i].key));
    }
    app->ids = v;
    return 0;
}

static int read_languages(struct app *app, const struct json *v, struct err *e)
{
    if (v && !json_is(v, JSON_OBJECT))
        return err_set(e, -EINVAL, "app.json: /languages is an object");
    for (size_t i = 0; v && i < v->n; i++) {
        if (!lang_find(v->members[i].key))
            return err_set(e, -EINVAL, "app.json: /languages/" STR_FMT ": unknown language",
                           STR_ARG(v->members[i].key));
    }
    app->languages = v;
    return 0;
}

/* An object of texts, or nothing. */
static int read_facts(const struct json *about, const char *key, const struct json **ret,
                      struct err *e)
{
    const struct json *v = json_get(about, key);

    if (v && !json_is(v, JSON_OBJECT))
        return err_set(e, -EINVAL, "app.json: /%s is an object", key);
    for (size_t i = 0; v && i < v->n; i++)
        if (!json_is(&v->members[i].value, JSON_STRING))
            return err_set(e, -EINVAL, "app.json: /%s/" STR_FMT " is a text", key,
                           STR_ARG(v->members[i].key));
    *ret = v;
    return 0;
}

/* Each member of V is one of NAMES, which ends with NULL; WHERE it is, for the message. */
static int refuse_unknown_member(const struct json *v, const char *where, const char *const *names,
                                 struct err *e)
{
    auto_buf struct buf known = BUF_INIT(1024);

    for (size_t k = 0; names[k]; k++)
        (void)buf_printf(&known, "%s%s", k > 0 ? ", " : "", names[k]);
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++) {
        size_t k = 0;
        while (names[k] && !str_is(v->members[i].key, names[k]))
            k++;
        if (!names[k])
            return err_set(e, -EINVAL, "app.json: %s/" STR_FMT " is not known; there are " STR_FMT,
                           where, STR_ARG(v->members[i].key), STR_ARG(buf_str(&known)));
    }
    return 0;
}

static int check_members(const struct json *v, struct err *e)
{
    static const char *const names[] = {"title",    "group",     "base",    "engine",
                                        "errors",   "arguments", "texts",   "is_indented",
                                        "ids",      "languages", "headers", "benchmarks",
                                        "metadata", "auth_data", NULL};
    const char *own[APP_TEXT_COUNT + 1] = {NULL};

    for (size_t i = 0; i < APP_TEXT_COUNT; i++)
        own[i] = texts[i].key;
    int r = refuse_unknown_member(v, "", names, e);
    return r < 0 ? r : refuse_unknown_member(json_get(v, "texts"), "/texts", own, e);
}

static int read_about(struct app *app, struct err *e)
{
    const struct json *v = app->folder.about;

    if (check_members(v, e) < 0)
        return -EINVAL;
    app->title = json_str(json_get(v, "title"), STR_NULL).p;
    if (!app->title)
        return err_set(e, -EINVAL, "app.json: /title is missing");
    app->group = json_str(json_get(v, "group"), STR("other")).p;
    app->is_indented = json_bool(json_get(v, "is_indented"), false);
    app->engine = app_engine_find(json_str(json_get(v, "engine"), STR("sqlite")));
    if (!app->engine)
        return err_set(e, -EINVAL, "app.json: /engine: unknown engine");
    for (size_t i = 0; i < APP_TEXT_COUNT; i++) {
        const struct json *text = json_get(json_get(v, "texts"), texts[i].key);
        app->texts[i] = json_str(text, str_of(texts[i].text)).p;
    }
    app->headers = json_get(v, "headers");
    if (app->headers && !json_is(app->headers, JSON_OBJECT))
        return err_set(e, -EINVAL, "app.json: /headers is an object");
    int r = read_errors(app, v, e);
    if (r == 0)
        r = read_ids(app, json_get(v, "ids"), e);
    if (r == 0)
        r = read_facts(v, "auth_data", &app->auth_data, e);
    if (r == 0)
        r = read_facts(v, "metadata", &app->metadata, e);
    if (r == 0)
        r = read_facts(v, "benchmarks", &app->benchmarks, e);
    return r < 0 ? r : read_languages(app, json_get(v, "languages"), e);
}

/* ---- scripts ---- */

/* Where a file of scripts is. */
struct origin {
    const struct folder *folder;
    size_t level;
};

static int include_common(void *ctx, struct str name, struct str *ret, struct err *e)
{
    const struct origin *o = ctx;

    return folder_include(o->folder, o->level, name, ret, e);
}

static int read_scripts(struct app *app, size_t level, const char *file, struct scripts *ret,
                        struct err *e)
{
    struct scripts base = app->scripts;
    struct origin origin = {&app->folder, level};
    const struct script_source from = {&base, include_common, &origin};
    struct str text;
    int r = folder_read_at(&app->folder, level, file, &text, e);

    if (r < 0)
        return r;
    r = scripts_parse_from(&from, &app->arena, text, ret, e);
    return r < 0 ? err_ctx(e, r, "%s", file) : 0;
}

/* MORE comes first, and counts where both have a script. */
static int put_before(struct app *app, const struct scripts *more, struct err *e)
{
    size_t n = more->n + app->scripts.n;
    struct script *all = arena_zalloc(&app->arena, n + 1, sizeof *all);

    if (!all)
        return err_app_memory(e);
    if (more->n > 0)
        memcpy(all, more->items, more->n * sizeof *all);
    if (app->scripts.n > 0)
        memcpy(all + more->n, app->scripts.items, app->scripts.n * sizeof *all);
    app->scripts = (struct scripts){all, n};
    return 0;
}

/* One of the two files of scripts, that of the farthest base first. MUST: there has to be one. */
static int join_scripts(struct app *app, const char *file, bool must, struct err *e)
{
    struct scripts own = {0};
    bool is_found = false;

    for (size_t i = app->folder.n; i > 0; i--) {
        struct err missing = ERR_INIT;
        int r = read_scripts(app, i - 1, file, &own, &missing);
        if (r == -ENOENT)
            own = (struct scripts){0};
        else if (r < 0)
            return err_set(e, r, "%s", err_text(&missing));
        is_found = is_found || r == 0;
        if (put_before(app, &own, e) < 0)
            return -ENOMEM;
    }
    app->n_own = own.n;
    return is_found || !must ? 0 : err_set(e, -ENOENT, "%s is missing", file);
}

static int read_all_scripts(struct app *app, struct err *e)
{
    int r = join_scripts(app, "data.sql", false, e);

    if (r == 0)
        r = join_scripts(app, "tools.sql", true, e);
    if (r < 0)
        return r;
    app->import = scripts_find(&app->scripts, STR("import"));
    app->export = scripts_find(&app->scripts, STR("export"));
    if (!app->import != !app->export)
        return err_set(e, -EINVAL, "data.sql: import and export belong together");
    return 0;
}

/* ---- tools.json ---- */

static int read_tool(struct app *app, const struct json *v, struct app_tool *t, struct err *e)
{
    struct str name = json_str(json_get(v, "name"), STR_NULL);

    if (!name.p || name.len == 0)
        return err_set(e, -EINVAL, "a tool without a name");
    if (app_tool(app, name))
        return err_set(e, -EINVAL, "%s: is there twice", name.p);
    t->name = name.p;
    t->description = json_str(json_get(v, "description"), STR_NULL).p;
    if (!t->description || !t->description[0])
        return err_set(e, -EINVAL, "%s: the description is missing", name.p);
    t->input = json_get(v, "inputSchema");
    if (!json_is(t->input, JSON_OBJECT))
        return err_set(e, -EINVAL, "%s: the inputSchema is missing", name.p);
    const struct json *accepts = json_get(v, "accepts");
    t->accepts = accepts ? accepts : t->input;
    t->schema = schema_compile(&app->arena, t->accepts, e);
    if (!t->schema)
        return err_ctx(e, -EINVAL, "%s: %s", name.p, accepts ? "accepts" : "inputSchema");
    t->annotations = json_get(v, "annotations");
    t->is_read_only = json_bool(json_get(t->annotations, "readOnlyHint"), false);
    t->files = json_get(v, "files");
    if (t->files && !json_is(t->files, JSON_OBJECT))
        return err_set(e, -EINVAL, "%s: files is an object", name.p);
    struct str script = json_str(json_get(v, "script"), name);
    t->script = scripts_find(&app->scripts, script);
    if (!t->script)
        return err_set(e, -EINVAL, "%s: has no script in tools.sql", script.p);
    return 0;
}

static int read_tools(struct app *app, struct err *e)
{
    const struct json *v = folder_json(&app->folder, "tools.json", &app->arena, e);

    if (!v)
        return e ? e->code : -EINVAL;
    if (!json_is(v, JSON_ARRAY) || v->n == 0 || v->n > APP_MAX_TOOLS)
        return err_set(e, -EINVAL, "tools.json: is an array of 1 to %d tools", APP_MAX_TOOLS);
    app->tools = arena_zalloc(&app->arena, v->n, sizeof *app->tools);
    if (!app->tools)
        return err_app_memory(e);
    for (size_t i = 0; i < v->n; i++) {
        int r = read_tool(app, json_at(v, i), &app->tools[i], e);
        if (r < 0)
            return err_ctx(e, r, "tools.json");
        app->n_tools++;
    }
    return 0;
}

static bool is_used(const struct app *app, const struct script *s)
{
    for (size_t i = 0; i < app->n_tools; i++) {
        if (app->tools[i].script == s)
            return true;
    }
    return false;
}

/* A script that is no tool's was misspelled, or is dead. */
static int check_scripts(const struct app *app, struct err *e)
{
    for (size_t i = 0; i < app->n_own; i++) {
        const struct script *s = &app->scripts.items[i];
        if (!s->is_part && !is_used(app, s))
            return err_set(e, -EINVAL, "tools.sql: line %u: " STR_FMT " is not in tools.json",
                           s->line, STR_ARG(s->name));
    }
    return 0;
}

static int collect_hidden(struct app *app, struct err *e)
{
    const struct json null = {.type = JSON_NULL};
    struct json *names = json_new_object(&app->arena);
    int r = names ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && app->headers && i < app->headers->n; i++)
        r = json_set_str(&app->arena, names, app->headers->members[i].key, &null);
    for (size_t i = 0; r == 0 && i < app->n_tools; i++) {
        if (app->tools[i].files)
            r = json_set(&app->arena, names, "file", &null);
    }
    app->hidden = r == 0 && names->n > 0 ? names : NULL;
    return r < 0 ? err_app_memory(e) : 0;
}

/* ---- the app ---- */

static const char *last_word(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int set_names(struct app *app, const char *dir, struct err *e)
{
    const struct folder *f = &app->folder;
    int r = folder_open(&app->folder, dir, &app->arena, e);

    if (r < 0)
        return r;
    app->dir = f->dirs[0];
    app->name = last_word(f->dirs[f->n - 1]);
    app->variant = f->n > 1 ? last_word(f->dirs[0]) : NULL;
    if (strlen(app->name) > APP_NAME_MAX)
        return err_set(e, -EINVAL, "the name is longer than %d bytes", APP_NAME_MAX);
    return 0;
}

static int load_app_files(struct app *app, const char *dir, struct err *e)
{
    struct str schema;
    int r = set_names(app, dir, e);

    if (r == 0)
        r = read_about(app, e);
    if (r == 0)
        r = folder_read_whole(&app->folder, "schema.sql", &schema, e);
    if (r < 0)
        return r;
    app->schema_sql = schema.p;
    r = read_all_scripts(app, e);
    if (r == 0)
        r = read_tools(app, e);
    if (r == 0)
        r = collect_hidden(app, e);
    return r < 0 ? r : check_scripts(app, e);
}

int app_load(const char *dir, struct app **ret, struct err *e)
{
    struct err own = ERR_INIT;
    struct app *app auto_(app_free) = mem_zalloc(1, sizeof *app);

    if (!app)
        return err_app_memory(e);
    arena_init(&app->arena, 256UL << 20);
    int r = load_app_files(app, dir, e ? e : &own);
    if (r < 0)
        return err_ctx(e, r, "app '%s'", dir);
    *ret = take(app);
    return 0;
}

void app_free(struct app *app)
{
    if (!app)
        return;
    arena_done(&app->arena);
    free(app);
}

const struct app_tool *app_tool(const struct app *app, struct str name)
{
    for (size_t i = 0; i < app->n_tools; i++) {
        if (str_is(name, app->tools[i].name))
            return &app->tools[i];
    }
    return NULL;
}

static void seed_file(char out[PATH_MAX], struct str name)
{
    (void)snprintf(out, PATH_MAX, "seed/" STR_FMT ".json", STR_ARG(name));
}

bool app_has_seed(const struct app *app, struct str name)
{
    char file[PATH_MAX];

    seed_file(file, name);
    return folder_has(&app->folder, file);
}

const struct json *app_seed(const struct app *app, const char *name, struct arena *a, struct err *e)
{
    char file[PATH_MAX];

    seed_file(file, str_of(name));
    return folder_json(&app->folder, file, a, e);
}
