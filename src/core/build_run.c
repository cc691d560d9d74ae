/* SPDX-License-Identifier: MIT */
/* Building: see build.h. A sandbox of the account is created from the base, or from the state after
 * the longest run of steps that was built before; the steps that are left run in it one after
 * another; what it is then becomes the root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/build_internal.h"
#include "core/build_step.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "core/templates.h"
#include "runtime/engine.h"

enum { BUILD_TIMEOUT_S = 7200, SLOW_US = 2000000, CACHED_MAX = 64 };

/* Images of E2B's own, which are the default root here. */
#define E2B_IMAGES "e2bdev/"

void build_run_free(struct build_run *run)
{
    if (!run)
        return;
    build_copy_drop(run->copy);
    if (run->sb)
        sandbox_unref(run->sb);
    root_unref(run->base);
    arena_done(&run->arena);
    arena_done(&run->scratch);
    free(run);
}

/* ---- how it ends ---- */

static void end_build_run(struct build *b, enum build_state state)
{
    struct build_run *run = take(b->run);

    b->state = state;
    if (run->sb && run->sb->cell)
        (void)sandbox_delete(run->sb, NULL, NULL);
    build_run_free(run);
}

/* B has failed at STEP: E says why. Its sandbox goes. */
static void build_fail(struct build *b, int step, const struct err *e)
{
    b->failed_step = step;
    (void)snprintf(b->failure, sizeof b->failure, "%s", err_text(e));
    build_log(b, step, true, str_of(b->failure));
    end_build_run(b, BUILD_FAILED);
}

static void on_build_published(void *ctx, const struct err *e)
{
    struct build *b = ctx;

    if (e) {
        build_fail(b, BUILD_AT_FINALIZE, e);
        return;
    }
    build_log(b, BUILD_AT_FINALIZE, false, STR("Build finished"));
    end_build_run(b, BUILD_READY);
}

static void publish_build(struct build *b, const struct root *root)
{
    struct err e = ERR_INIT;
    int r = build_publish(b, root, on_build_published, b, &e);

    if (r < 0) {
        if (!e.code)
            (void)err_sys(&e, r, "store");
        build_fail(b, BUILD_AT_FINALIZE, &e);
    }
}

/* ---- the cache: roots that say after which steps they were taken ---- */

/* The newest root of the best of KEYS: those with larger values, which are never NULL. One look at
 * all roots, however many steps there are. */
static struct root *find_cached(const struct build *b, const struct map *keys,
                                const char (**ret)[BUILD_HASH_LEN + 1])
{
    struct root *root = NULL, *best = NULL;

    *ret = NULL;
    while ((root = root_next(b->set->core->roots, root))) {
        if (root->args.kind != ROOT_BUILD || !str_is(root->args.account, b->account))
            continue;
        const char(*key)[BUILD_HASH_LEN + 1] =
            map_get(keys, json_str(json_get(root->args.extra, "cache"), STR("")));
        if (key && (!best || key > *ret)) {
            best = root;
            *ret = key;
        }
    }
    return best;
}

/* Those that no tag names are kept for the next build only: the oldest go. */
static void drop_old_cached(const struct build *b)
{
    struct root *root = NULL;
    size_t n = 0;

    for (struct root *next = root_next(b->set->core->roots, NULL); (root = next);) {
        next = root_next(b->set->core->roots, root);
        if (root->args.kind == ROOT_BUILD && str_is(root->args.account, b->account) &&
            root->args.name.len == 0 && ++n > CACHED_MAX)
            root_remove(root);
    }
}

static void hash_parts(char out[BUILD_HASH_LEN + 1], const struct str *parts, size_t n)
{
    unsigned char hash[DIGEST_SHA256_LEN];

    digest_sha256_parts(hash, parts, n);
    enc_hex(out, hash, sizeof hash);
    out[BUILD_HASH_LEN] = '\0';
}

/* A step's own text covers its arguments and the hash of its files. */
static int hash_steps(struct build_run *run)
{
    const struct str base[] = {run->base ? str_of(run->base->id) : STR("default"), STR("\n"),
                               run->template_name};

    hash_parts(run->keys[0], base, ARRAY_LEN(base));
    for (size_t i = 0; i < run->steps->n; i++) {
        struct buf text auto_buf = BUF_INIT(BUILD_SPEC_MAX);
        struct jw w = jw_to(&text);
        const char *const names[] = {"type", "args", "filesHash"};
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            jw_value(&w, json_get(&run->steps->items[i], names[k]));
        if (!buf_ok(&text))
            return -ENOMEM;
        const struct str parts[] = {str_of(run->keys[i]), STR("\n"), buf_str(&text)};
        hash_parts(run->keys[i + 1], parts, ARRAY_LEN(parts));
    }
    return 0;
}

/* What the commands for the start make of the last state. */
static void hash_whole(const struct build_run *run, char out[BUILD_HASH_LEN + 1])
{
    const struct str parts[] = {str_of(run->keys[run->steps->n]), STR("\nstart\n"), run->start_cmd,
                                STR("\nready\n"), run->ready_cmd};

    hash_parts(out, parts, ARRAY_LEN(parts));
}

/* Steps from here on are to be run, whatever is known. */
static size_t first_forced(const struct json *spec, const struct json *steps)
{
    size_t i = 0;

    if (json_bool(json_get(spec, "force"), false))
        return 0;
    while (i < steps->n && !json_bool(json_get(&steps->items[i], "force"), false))
        i++;
    return i;
}

static void take_build_config(struct build_run *run, const struct root *root)
{
    const struct json *env = root_get(root, "env");

    if (json_is(env, JSON_OBJECT))
        run->env = json_copy(&run->arena, env);
    run->user = root_get_str(root, "user", run->user);
    run->workdir = root_get_str(root, "workdir", run->workdir);
}

/* ---- taking the root ---- */

static struct json *put_build_text(struct arena *a, struct json *to, const char *name,
                                   struct str text)
{
    const struct json *v = json_new_str(a, text);

    return to && v && (text.len == 0 || json_set(a, to, name, v) == 0) ? to : NULL;
}

static struct json *make_config(struct build_run *run)
{
    struct json *config = json_new_object(&run->arena);

    if (!config || json_set(&run->arena, config, "env", run->env) < 0)
        return NULL;
    config = put_build_text(&run->arena, config, "user", run->user);
    return put_build_text(&run->arena, config, "workdir", run->workdir);
}

static struct json *make_build_extra(struct build_run *run, const char *key, bool is_whole)
{
    const struct build *b = run->build;
    struct arena *a = &run->arena;
    struct json *extra = put_build_text(a, json_new_object(a), "cache", str_of(key));

    if (!is_whole)
        return extra;
    extra = put_build_text(a, extra, "start_cmd", run->start_cmd);
    extra = put_build_text(a, extra, "template", run->template_name);
    if (b->cpu > 0)
        extra = put_build_text(a, extra, "cpu_limit", arena_printf(a, "%lld", (long long)b->cpu));
    if (b->memory_mb > 0)
        extra = put_build_text(a, extra, "memory_limit",
                               arena_printf(a, "%lldMi", (long long)b->memory_mb));
    return extra;
}

static int capture(struct build_run *run, const char *key, bool is_whole,
                   void (*fn)(void *ctx, struct root *r, const struct err *e), struct err *e)
{
    struct root_capture rq = {.kind = ROOT_BUILD,
                              .name = is_whole ? str_of(run->build->alias) : STR(""),
                              .config = make_config(run),
                              .extra = make_build_extra(run, key, is_whole),
                              .is_temporary = !is_whole,
                              .fn = fn,
                              .ctx = run};

    if (!rq.config || !rq.extra)
        return err_sys(e, -ENOMEM, "build");
    return root_capture(run->sb, &rq, e);
}

static void on_build_captured(void *ctx, struct root *root, const struct err *e)
{
    struct build_run *run = ctx;
    struct build *b = run->build;

    if (!root) {
        build_fail(b, BUILD_AT_FINALIZE, e);
        return;
    }
    publish_build(b, root);
    root_unref(root);
}

/* ---- steps ---- */

static void next_step(struct build_run *run);

static void on_cached(void *ctx, struct root *root, const struct err *e)
{
    struct build_run *run = ctx;

    (void)e; /* a cache is no promise */
    root_unref(root);
    drop_old_cached(run->build);
    run->at++;
    next_step(run);
}

/* A step that took long is worth being kept. */
void build_step_done(struct build_run *run, const struct err *e)
{
    struct build *b = run->build;
    bool is_slow = clock_mono_us() - run->step_us > SLOW_US, is_last = run->at + 1 >= run->steps->n;

    if (e) {
        build_fail(b, (int)run->at + 1, e);
        return;
    }
    if (is_slow && !is_last && capture(run, run->keys[run->at + 1], false, on_cached, NULL) == 0)
        return;
    run->at++;
    next_step(run);
}

void build_start_done(struct build_run *run, const struct err *e)
{
    char key[BUILD_HASH_LEN + 1];
    struct err own = ERR_INIT;

    if (e) {
        build_fail(run->build, BUILD_AT_FINALIZE, e);
        return;
    }
    hash_whole(run, key);
    int r = capture(run, key, true, on_build_captured, &own);
    if (r < 0) {
        if (!own.code)
            (void)err_sys(&own, r, "build");
        build_fail(run->build, BUILD_AT_FINALIZE, &own);
    }
}

void build_cancel(struct build *b)
{
    const struct build_run *run = b->run;

    b->is_cancelled = true;
    /* A step in it ends with it. */
    if (b->state == BUILD_BUILDING && run && run->sb && run->sb->cell)
        (void)sandbox_delete(run->sb, NULL, NULL);
}

static void next_step(struct build_run *run)
{
    struct err e = ERR_INIT;

    if (run->build->is_cancelled) {
        (void)err_set(&e, -ECANCELED, "cancelled");
        build_fail(run->build, (int)run->at + 1, &e);
        return;
    }
    run->step_us = clock_mono_us();
    if (run->at < run->steps->n) {
        build_step_run(run, &run->steps->items[run->at]);
        return;
    }
    if (run->start_cmd.len > 0 || run->ready_cmd.len > 0)
        build_log(run->build, BUILD_AT_FINALIZE, false, STR("[finalize] start and ready commands"));
    build_start_run(run);
}

/* ---- the sandbox ---- */

static void on_build_created(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct build_run *run = ctx;

    if (!sb) {
        build_fail(run->build, BUILD_AT_BASE, e);
        return;
    }
    run->sb = sandbox_ref(sb);
    next_step(run);
}

static int create_sandbox(struct build_run *run, const struct root *from, struct err *e)
{
    struct build *b = run->build;
    struct json *extra =
        put_build_text(&run->arena, json_new_object(&run->arena), "build", str_of(b->id));
    struct sandbox_create rq = {.key = b->key,
                                .args = {.template_name = run->template_name,
                                         .root = from ? str_of(from->id) : STR_NULL,
                                         .timeout_s = BUILD_TIMEOUT_S,
                                         .extra = extra},
                                .fn = on_build_created,
                                .ctx = run};

    if (b->cpu > 0)
        rq.args.cpu_limit = arena_printf(&run->arena, "%lld", (long long)b->cpu);
    if (b->memory_mb > 0)
        rq.args.memory_limit = arena_printf(&run->arena, "%lldMi", (long long)b->memory_mb);
    if (!extra)
        return err_sys(e, -ENOMEM, "build");
    return sandbox_create(b->set->core->sandboxes, &rq, e);
}

/* ---- the description ---- */

static struct str build_member(const struct json *spec, const char *name)
{
    return json_str(json_get(spec, name), STR(""));
}

/* What fromTemplate names: a build of the account, or a template of the service. */
static int find_build_template(struct build_run *run, struct str text, struct err *e)
{
    const struct build *b = run->build;
    struct str tag = text, name = str_cut(&tag, ':');
    const struct build_tag *t = build_tag_find(b->set, b->account, name, tag);
    struct root *root = t ? root_find(b->set->core->roots, str_of(t->root)) : NULL;

    if (root) {
        run->base = root_ref(root);
        run->template_name = arena_str(&run->arena, str_of(t->template_id));
        return 0;
    }
    /* What it finds is a part of the request, which is gone before the build is over. */
    struct str id = templates_id(b->set->core->templates, name);
    run->template_name = id.p ? arena_str(&run->arena, id) : STR_NULL;
    if (run->template_name.p)
        return 0;
    return err_set(e, -ENOENT, "template '" STR_FMT "' not found",
                   STR_ARG(str_slice(text, 0, 100)));
}

static int find_build_image(struct build_run *run, struct str image, struct err *e)
{
    const struct build *b = run->build;
    struct root *root = root_find_image(b->set->core->roots, image, b->account);

    run->template_name = STR("base");
    if (root) {
        run->base = root_ref(root);
        run->user = STR("root");
        run->workdir = STR("/");
        return 0;
    }
    if (image.len == 0 || str_starts(image, STR(E2B_IMAGES)))
        return 0;
    return err_set(e, -ENOENT,
                   "image '" STR_FMT "' is not known here: the operator can import it with "
                   "'tidepool image import'",
                   STR_ARG(str_slice(image, 0, 200)));
}

static int check_steps(const struct json *steps, struct err *e)
{
    if (steps && !json_is(steps, JSON_NULL) && !json_is(steps, JSON_ARRAY))
        return err_set(e, -EINVAL, "steps must be an array");
    for (size_t i = 0; json_is(steps, JSON_ARRAY) && i < steps->n; i++) {
        const struct json *args = json_get(&steps->items[i], "args");
        for (size_t k = 0; json_is(args, JSON_ARRAY) && k < args->n; k++)
            if (args->items[k].type != JSON_STRING)
                return err_set(e, -EINVAL, "step %zu: args must be strings", i + 1);
    }
    if (json_is(steps, JSON_ARRAY) && steps->n > BUILD_STEPS_MAX)
        return err_set(e, -EINVAL, "more than %d steps", BUILD_STEPS_MAX);
    return 0;
}

static struct build_run *new_run(struct build *b, const struct json *spec)
{
    struct build_run *run = mem_zalloc(1, sizeof *run);

    if (!run)
        return NULL;
    run->build = b;
    arena_init(&run->arena, 8L * BUILD_SPEC_MAX);
    arena_init(&run->scratch, 8L * BUILD_SPEC_MAX);
    const struct json *steps = json_get(spec, "steps");
    run->steps =
        json_is(steps, JSON_ARRAY) ? json_copy(&run->arena, steps) : json_new_array(&run->arena);
    run->start_cmd = arena_str(&run->arena, build_member(spec, "startCmd"));
    run->ready_cmd = arena_str(&run->arena, build_member(spec, "readyCmd"));
    run->env = json_new_object(&run->arena);
    run->user = STR("user");
    run->workdir = STR("/home/user");
    run->keys = run->steps ? arena_zalloc(&run->arena, run->steps->n + 2, sizeof *run->keys) : NULL;
    if (run->keys && run->env && run->start_cmd.p && run->ready_cmd.p)
        return run;
    build_run_free(run);
    return NULL;
}

/* The longest run of steps that is known; all of them and the start: then nothing has to be run. */
static struct root *skip_known(struct build_run *run, size_t forced)
{
    size_t n = run->steps->n, last = forced < n ? forced : n + 1;
    const char(*found)[BUILD_HASH_LEN + 1];
    struct map keys;
    int r = 0;

    map_init(&keys, n + 2);
    hash_whole(run, run->keys[n + 1]);
    /* Without memory nothing is known. */
    for (size_t i = 1; r == 0 && i <= last; i++)
        r = map_put(&keys, str_of(run->keys[i]), run->keys[i], NULL);
    struct root *root = find_cached(run->build, &keys, &found);
    run->at = found ? (size_t)(found - (const char(*)[BUILD_HASH_LEN + 1]) run->keys) : 0;
    map_done(&keys);
    return root;
}

static void begin_build(struct build_run *run, const struct json *spec)
{
    struct build *b = run->build;
    struct err e = ERR_INIT;
    struct str from = build_member(spec, "fromTemplate");
    int r = from.len > 0 ? find_build_template(run, from, &e)
                         : find_build_image(run, build_member(spec, "fromImage"), &e);

    if (r == 0 && run->base)
        take_build_config(run, run->base);
    if (r == 0)
        r = hash_steps(run);
    if (r < 0) {
        build_fail(b, BUILD_AT_BASE, &e);
        return;
    }
    struct root *known = skip_known(run, first_forced(spec, run->steps));
    build_log(b, BUILD_AT_BASE, false, STR("[base] the root is ready"));
    for (size_t i = 0; i < run->at && i < run->steps->n; i++)
        build_step_log(run, i, true);
    if (known && run->at > run->steps->n) {
        publish_build(b, known);
        return;
    }
    if (known)
        take_build_config(run, known);
    r = create_sandbox(run, known ? known : run->base, &e);
    if (r < 0) {
        if (!e.code)
            (void)err_sys(&e, r, "build");
        build_fail(b, BUILD_AT_BASE, &e);
    }
}

int build_run_begin(struct build *b, const struct json *spec, struct err *e)
{
    int r = check_steps(json_get(spec, "steps"), e);

    if (r < 0)
        return r;
    b->run = new_run(b, spec);
    if (!b->run)
        return err_set(e, -EINVAL, "the description of the build is too large");
    b->state = BUILD_BUILDING;
    begin_build(b->run, spec);
    return 0;
}

/* ---- using what was built ---- */

int build_apply(const struct builds *set, const struct build_tag *t, struct sandbox_args *args,
                struct arena *a)
{
    const struct root *root = root_find(set->core->roots, str_of(t->root));
    const struct json *extra = root ? root->args.extra : NULL;
    struct str start = json_str(json_get(extra, "start_cmd"), STR(""));

    if (!root)
        return -ENOENT;
    args->root = str_of(root->id);
    args->template_name = str_of(t->template_id);
    args->cpu_limit = json_str(json_get(extra, "cpu_limit"), STR_NULL);
    args->memory_limit = json_str(json_get(extra, "memory_limit"), STR_NULL);
    if (start.len == 0)
        return 0;
    const struct str words[] = {STR("-c"), start};
    struct json *list = json_new_array(a);
    for (size_t i = 0; list && i < ARRAY_LEN(words); i++) {
        const struct json *v = json_new_str(a, words[i]);
        if (!v || json_push(a, list, v) < 0)
            return -ENOMEM;
    }
    args->cmd = STR("/bin/sh");
    args->args = list;
    return list ? 0 : -ENOMEM;
}
