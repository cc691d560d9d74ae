/* SPDX-License-Identifier: MIT */
#include "apps/check/cases.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "apps/engine/engine.h"
#include "apps/engine/template.h"
#include "base/buf.h"
#include "sys/io.h"

#define SHOWN      800 /* bytes of a value in a finding */
#define LINE_ARENA (64UL << 20)

struct case_file {
    struct app_check *check;
    const char *name;
    unsigned line;
    struct app_handle *db;
    struct arena kept; /* of the file: saved values */
    struct json *saved;
    struct coverage *seen;
};

/* ---- saved values ---- */

/* Puts what was saved in the place of each "$name" in V. */
static void put_saved(const struct case_file *f, struct json *v)
{
    if (json_is(v, JSON_STRING) && v->s.len > 1 && v->s.p[0] == '$') {
        const struct json *value = json_get_str(f->saved, str_skip(v->s, 1));
        if (value)
            *v = *value;
        return;
    }
    for (size_t i = 0; json_is(v, JSON_ARRAY) && i < v->n; i++)
        put_saved(f, &v->items[i]);
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++)
        put_saved(f, &v->members[i].value);
}

static void save_case_names(struct case_file *f, const struct json *names,
                            const struct json *result)
{
    for (size_t i = 0; json_is(names, JSON_OBJECT) && i < names->n; i++) {
        struct str pointer = json_str(&names->members[i].value, STR(""));
        const struct json *value = json_pointer_str(result, pointer);
        if (value)
            (void)json_set_str(&f->kept, f->saved, names->members[i].key,
                               json_copy(&f->kept, value));
        else
            check_finding(f->check, "cases/%s:%u: nothing at '" STR_FMT "' to save", f->name,
                          f->line, STR_ARG(pointer));
    }
}

/* ---- comparing ---- */

static bool has_json_part(const struct json *all, const struct json *part)
{
    if (json_is(part, JSON_OBJECT)) {
        for (size_t i = 0; i < part->n; i++) {
            const struct json *value = json_get_str(all, part->members[i].key);
            if (!value || !has_json_part(value, &part->members[i].value))
                return false;
        }
        return json_is(all, JSON_OBJECT);
    }
    if (json_is(part, JSON_ARRAY)) {
        for (size_t i = 0; i < part->n; i++) {
            if (!has_json_part(json_at(all, i), &part->items[i]))
                return false;
        }
        return json_is(all, JSON_ARRAY);
    }
    return json_equal(all, part);
}

/* The length of the "{name}" that PATTERN begins with, 0 when it does not. */
static size_t hole(struct str pattern)
{
    size_t n = 1;

    while (n < pattern.len && ((pattern.p[n] >= 'a' && pattern.p[n] <= 'z') ||
                               (pattern.p[n] >= '0' && pattern.p[n] <= '9')))
        n++;
    return pattern.p[0] == '{' && n > 1 && n < pattern.len && pattern.p[n] == '}' ? n + 1 : 0;
}

/* TEXT is PATTERN, in which "{name}" stands for what is in a line up to the character behind it;
 * that is saved. */
static bool is_like(struct case_file *f, struct str text, struct str pattern)
{
    while (pattern.len > 0) {
        size_t len = hole(pattern), n = 0;
        if (len == 0) {
            if (text.len == 0 || text.p[0] != pattern.p[0])
                return false;
            text = str_skip(text, 1);
            pattern = str_skip(pattern, 1);
            continue;
        }
        char stop = len < pattern.len ? pattern.p[len] : '\n';
        while (n < text.len && text.p[n] != stop && text.p[n] != '\n')
            n++;
        (void)json_set_str(&f->kept, f->saved, str_slice(pattern, 1, len - 1),
                           json_new_str(&f->kept, str_slice(text, 0, n)));
        text = str_skip(text, n);
        pattern = str_skip(pattern, len);
    }
    return text.len == 0;
}

/* ---- one line ---- */

struct expected {
    const struct json *result, *part, *text, *like, *error;
};

/* As the case says it: "has {…}". */
static void put_expected(struct buf *out, const struct expected *x)
{
    const struct {
        const char *name;
        const struct json *value;
    } all[] = {{"error", x->error},
               {"result", x->result},
               {"has", x->part},
               {"text", x->text},
               {"like", x->like}};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!all[i].value)
            continue;
        (void)buf_printf(out, "%s%s ", out->len > 0 ? " and " : "", all[i].name);
        (void)json_write(out, all[i].value, JSON_COMPACT);
    }
}

static void differ(struct case_file *f, const char *tool, const struct expected *x,
                   const struct app_answer *got, const struct json *value)
{
    auto_buf struct buf want = BUF_INIT(APP_FILE_MAX), have = BUF_INIT(APP_FILE_MAX);

    put_expected(&want, x);
    /* What is compared as JSON is shown in the same form. */
    if (value && (x->result || x->part))
        (void)json_write(&have, value, JSON_COMPACT);
    struct str text = buf_str(&want), result = have.len > 0 ? buf_str(&have) : got->text;
    check_finding(f->check, "cases/%s:%u: %s: expected " STR_FMT "%s\n    got %s" STR_FMT "%s",
                  f->name, f->line, tool, STR_ARG(str_slice(text, 0, SHOWN)),
                  text.len > SHOWN ? "…" : "", got->is_failure ? "the error " : "",
                  STR_ARG(str_slice(result, 0, SHOWN)), result.len > SHOWN ? "…" : "");
}

static bool is_as_expected(struct case_file *f, const struct expected *x,
                           const struct app_answer *got, const struct json *value)
{
    if (x->error)
        return got->is_failure && str_eq(got->text, json_str(x->error, STR("")));
    return !got->is_failure && (!x->text || str_eq(got->text, json_str(x->text, STR("")))) &&
           (!x->like || is_like(f, got->text, json_str(x->like, STR("")))) &&
           (!x->result || (value && json_equal(value, x->result))) &&
           (!x->part || has_json_part(value, x->part));
}

static void note_coverage(struct case_file *f, const struct app_tool *t, bool is_failure)
{
    size_t i = (size_t)(t - f->check->app->tools);

    if (is_failure)
        f->seen->has_failure[i] = true;
    else
        f->seen->has_success[i] = true;
}

static int run_case(struct case_file *f, struct json *line, struct arena *a, struct err *e)
{
    struct expected x = {json_get(line, "result"), json_get(line, "has"), json_get(line, "text"),
                         json_get(line, "like"), json_get(line, "error")};
    struct str name = json_str(json_get(line, "tool"), STR(""));
    struct app_answer got = {0};
    const struct app *app = f->check->app;
    struct app_call call = {
        .tool = app_tool(app, name), .args = json_get(line, "args"), .arena = a};

    if (!call.tool)
        return err_set(e, -EINVAL, "no tool '" STR_FMT "'", STR_ARG(name));
    if (!x.result && !x.part && !x.text && !x.like && !x.error)
        return err_set(e, -EINVAL, "says nothing of what comes of it");
    put_saved(f, line);
    int r = app_call(f->db, app, &call, &got, e);
    if (r < 0)
        return r;
    const struct json *value = json_parse(a, got.text, NULL, NULL);
    if (got.fault.p)
        return err_set(e, -EINVAL, STR_FMT, STR_ARG(got.fault));
    if (is_as_expected(f, &x, &got, value))
        note_coverage(f, call.tool, got.is_failure);
    else
        differ(f, call.tool->name, &x, &got, value);
    save_case_names(f, json_get(line, "save"), value);
    f->check->n_cases++;
    return 0;
}

static void run_case_line(struct case_file *f, struct str text)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;

    arena_init(&a, LINE_ARENA);
    struct json *line = json_parse(&a, text, NULL, &e);
    if (line && !json_is(line, JSON_OBJECT))
        (void)err_set(&e, -EINVAL, "is not an object");
    if (!e.code && line && run_case(f, line, &a, &e) == 0)
        return;
    check_finding(f->check, "cases/%s:%u: %s", f->name, f->line, err_text(&e));
}

/* ---- files ---- */

static int open_db(struct case_file *f, struct err *e)
{
    const struct app *app = f->check->app;
    struct app_home *home = f->check->home;
    const struct json *seed = NULL;

    if (app->import) {
        seed = app_seed(app, "default", &f->kept, e);
        if (!seed && e->code != -ENOENT)
            return e->code;
    }
    int r = app->engine->drop(home, CHECK_DATABASE, e);
    if (r == 0)
        r = app->engine->make(home, app, CHECK_DATABASE, seed, e);
    if (r == 0)
        r = app->engine->open(home, app, CHECK_DATABASE, false, &f->db, e);
    if (r == 0)
        app->engine->tune(f->db, 1, TEMPLATE_START_US);
    return r;
}

static int run_case_file(struct case_file *f, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(APP_FILE_MAX);
    char file[PATH_MAX];

    (void)snprintf(file, sizeof file, "%s/cases/%s", f->check->app->dir, f->name);
    int r = io_read_file(file, &b, e);
    if (r == 0)
        r = open_db(f, e);
    struct str text = buf_str(&b);
    while (r == 0 && text.len > 0) {
        struct str line = str_trim(str_cut(&text, '\n'));
        f->line++;
        if (line.len > 0)
            run_case_line(f, line);
    }
    return r;
}

/* What the calls left behind survives a dump, too. */
static void check_state(struct case_file *f)
{
    const struct app_engine *engine = f->check->app->engine;
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct str dump = STR_NULL;
    char what[NAME_MAX + 16];

    arena_init(&a, 4 * (size_t)APP_FILE_MAX);
    (void)snprintf(what, sizeof what, "cases/%s", f->name);
    int r = engine->export(f->db, &a, &dump, &e);
    engine->close(take(f->db), true);
    if (r == 0)
        check_dump(f->check, what, dump);
    else
        check_finding(f->check, "%s: %s", what, err_text(&e));
}

void cases_run(struct app_check *c, const char *name, struct coverage *seen)
{
    struct case_file f = {.check = c, .name = name, .seen = seen};
    struct err e = ERR_INIT;

    arena_init(&f.kept, 16 * (size_t)APP_FILE_MAX);
    f.saved = json_new_object(&f.kept);
    if (!f.saved || run_case_file(&f, &e) < 0)
        check_finding(c, "cases/%s: %s", name, err_text(&e));
    else if (c->app->export)
        check_state(&f);
    if (f.db)
        c->app->engine->close(f.db, true);
    arena_done(&f.kept);
}
