/* SPDX-License-Identifier: MIT */
#include "local/interpreter/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/interpreter/execution.h"
#include "local/interpreter/frame.h"
#include "local/interpreter/interpreter.h"
#include "local/interpreter/kernel.h"
#include "local/interpreter/language.h"
#include "local/interpreter/nursery.h"
#include "loop/loop.h"

enum { FRAMES_MAX = KERNEL_INPUT_MAX, DIRECTORY_MAX = 4096 };

static struct execution *first_of(const struct context *c)
{
    return list_is_empty(&c->queue) ? NULL : list_entry(c->queue.next, struct execution, node);
}

static struct execution *running_of(const struct context *c)
{
    return c->is_running ? first_of(c) : NULL;
}

/* ---- its process ---- */

static void run_next_execution(struct context *c);

/* What runs is over. */
static void end_running(struct context *c)
{
    struct execution *x = running_of(c);

    if (!x)
        return;
    c->n_queued--;
    execution_end(x);
    c->is_running = false;
}

static void on_kernel_text(struct kernel *k, bool is_err, struct str text)
{
    struct execution *x = running_of(k->ctx);

    if (x)
        execution_put_text(x, is_err, text);
}

static void on_kernel_message(struct kernel *k, const struct json *m)
{
    struct context *c = k->ctx;
    struct execution *x = running_of(c);
    struct str type = json_str(json_get(m, "type"), STR(""));

    if (!x)
        return;
    if (str_is(type, "result"))
        execution_put_result(x, json_get(m, "data"), json_bool(json_get(m, "main"), false));
    else if (str_is(type, "error"))
        execution_put_error(x, json_str(json_get(m, "name"), STR("Error")),
                            json_str(json_get(m, "value"), STR("")),
                            json_str(json_get(m, "traceback"), STR("")));
    else if (str_is(type, "done")) {
        end_running(c);
        run_next_execution(c);
    }
}

static void drop_kernel(struct context *c)
{
    kernel_free(take(c->kernel));
    c->n_executions = 0;
}

static void fail_running(struct context *c, const char *why)
{
    struct execution *x = running_of(c);

    if (x && why)
        execution_put_error(x, STR("KernelError"), str_of(why), STR(""));
    else if (x)
        execution_put_error(x, STR("ContextRestarting"), STR("Context was restarted"), STR(""));
    end_running(c);
}

static void on_kernel_exit(struct kernel *k, const char *why)
{
    struct context *c = k->ctx;
    char text[512];

    (void)snprintf(text, sizeof text, "the process of this context could not be used: %s",
                   why ? why : "");
    drop_kernel(c); /* and K */
    fail_running(c, why ? text : NULL);
    run_next_execution(c);
}

static void on_kernel_ready(struct kernel *k)
{
    struct contexts *set = ((struct context *)k->ctx)->set;

    if (set->on_ready)
        set->on_ready(set->ready_ctx);
    set->on_ready = NULL;
}

/* A process that was not started by this one does not have what was adopted. */
static void put_adopted(struct buf *out, const struct contexts *set, const struct language *l)
{
    for (char **pair = set->owned; pair && *pair; pair++) {
        struct str value = str_of(*pair), name = str_cut(&value, '=');
        (void)frame_put_env(out, l->style, name, value.p ? value : STR(""));
    }
}

int context_warm(struct context *c, struct err *e)
{
    static const struct kernel_ops ops = {.on_text = on_kernel_text,
                                          .on_message = on_kernel_message,
                                          .on_ready = on_kernel_ready,
                                          .on_exit = on_kernel_exit};
    const struct kernel_args args = {.loop = c->set->loop,
                                     .language = c->language,
                                     .nursery = c->set->nursery,
                                     .ops = &ops,
                                     .ctx = c};
    struct buf frames auto_buf = BUF_INIT(FRAMES_MAX);

    if (c->kernel)
        return 0;
    c->kernel = kernel_new(&args, e);
    if (!c->kernel)
        return e->code;
    c->n_executions = 0;
    (void)frame_put_cwd(&frames, c->language->style, str_of(c->cwd));
    if (c->language->is_forked)
        put_adopted(&frames, c->set, c->language);
    int r = buf_ok(&frames) ? kernel_send(c->kernel, buf_str(&frames)) : -ENOMEM;
    if (r < 0) {
        drop_kernel(c);
        return err_sys(e, r, "%s", c->language->name);
    }
    return 0;
}

/* ---- executions ---- */

/* Back to what every execution has. */
static void put_env(struct buf *out, const struct execution *x, bool is_reset)
{
    enum frame_style style = x->context->language->style;

    for (size_t i = 0; x->env && i < x->env->n; i++) {
        const struct json_member *m = &x->env->members[i];
        const char *usual = is_reset ? getenv(m->key.p) : NULL;
        (void)frame_put_env(out, style, m->key, is_reset ? str_of(usual) : m->value.s);
    }
}

static int start_running(struct context *c, struct execution *x, struct err *e)
{
    struct buf frames auto_buf = BUF_INIT(FRAMES_MAX);
    int r = context_warm(c, e);

    if (r < 0)
        return r;
    put_env(&frames, x, false);
    (void)frame_put_execute(&frames, c->language->style, x->code);
    put_env(&frames, x, true);
    r = buf_ok(&frames) ? kernel_send(c->kernel, buf_str(&frames)) : frames.error;
    if (r < 0)
        return err_sys(e, r, "the code could not be sent");
    execution_put_count(x, ++c->n_executions);
    return 0;
}

static void run_next_execution(struct context *c)
{
    struct execution *x;

    while (!c->is_running && (x = first_of(c))) {
        struct err e = ERR_INIT;
        c->is_running = true;
        if (start_running(c, x, &e) == 0)
            return;
        execution_put_error(x, STR("KernelError"), str_of(err_text(&e)), STR(""));
        end_running(c);
    }
}

int context_execute(struct context *c, struct http_req *r, struct str code, const struct json *env)
{
    if (c->n_queued >= INTERPRETER_QUEUE_MAX)
        return -EBUSY;
    struct execution *x = execution_new(c, r, code, env);
    if (!x)
        return -ENOMEM;
    list_append(&c->queue, &x->node);
    c->n_queued++;
    execution_begin(x);
    run_next_execution(c);
    return 0;
}

void context_on_gone(struct execution *x)
{
    struct context *c = x->context;

    if (x == running_of(c)) {
        context_hold(x, false);
        context_interrupt(c);
        return;
    }
    c->n_queued--;
    execution_end(x);
}

void context_interrupt(struct context *c)
{
    if (c->kernel)
        kernel_interrupt(c->kernel);
}

void context_give_up(struct context *c)
{
    drop_kernel(c);
    fail_running(c, NULL);
    run_next_execution(c);
}

void context_hold(struct execution *x, bool is_held)
{
    if (x->context->kernel && x == running_of(x->context))
        kernel_hold(x->context->kernel, is_held);
}

/* ---- contexts ---- */

struct context *context_find(const struct contexts *set, struct str id)
{
    list_each(node, &set->all)
    {
        struct context *c = list_entry(node, struct context, node);
        if (str_is(id, c->id))
            return c;
    }
    return NULL;
}

static struct context *add_context(struct contexts *set, const struct language *l, struct str cwd,
                                   struct err *e)
{
    struct context *c = mem_zalloc(1, sizeof *c);

    if (c)
        c->cwd = mem_strndup(cwd.p, cwd.len);
    if (!c || !c->cwd) {
        free(c);
        (void)err_sys(e, -ENOMEM, "context");
        return NULL;
    }
    c->set = set;
    c->language = l;
    id_uuid(c->id);
    list_init(&c->queue);
    list_append(&set->all, &c->node);
    set->n++;
    return c;
}

static int check_directory(struct str cwd, struct err *e)
{
    struct stat st;
    int r = cwd.len > DIRECTORY_MAX || str_chr(cwd, '\0') >= 0 ? -ENAMETOOLONG : 0;

    if (r == 0 && (stat(cwd.p, &st) < 0 || access(cwd.p, X_OK) < 0))
        r = -errno;
    if (r == 0 && !S_ISDIR(st.st_mode))
        r = -ENOTDIR;
    return r < 0 ? err_sys(e, r, "cwd " STR_FMT, STR_ARG(str_slice(cwd, 0, 200))) : 0;
}

struct context *context_new(struct contexts *set, const struct language *l, struct str cwd,
                            struct err *e)
{
    if (set->n >= INTERPRETER_CONTEXTS_MAX) {
        (void)err_set(e, -EMFILE, "there are %d contexts already; remove one",
                      INTERPRETER_CONTEXTS_MAX);
        return NULL;
    }
    if (language_check(l, e) < 0 || (cwd.len > 0 && check_directory(cwd, e) < 0))
        return NULL;
    return add_context(set, l, cwd.len > 0 ? cwd : str_of(set->cwd), e);
}

struct context *context_of_language(struct contexts *set, const struct language *l, struct err *e)
{
    list_each(node, &set->all)
    {
        struct context *c = list_entry(node, struct context, node);
        if (c->is_default && c->language == l)
            return c;
    }
    struct context *c = context_new(set, l, STR(""), e);
    if (c)
        c->is_default = true;
    return c;
}

void context_free(struct context *c)
{
    kernel_free(take(c->kernel));
    c->is_running = false;
    for (struct execution *x; (x = first_of(c));) {
        execution_put_error(x, STR("UnexpectedEndOfExecution"),
                            STR("Connection to the execution was closed before the execution was "
                                "finished"),
                            STR(""));
        execution_end(x);
    }
    list_del(&c->node);
    c->set->n--;
    free(c->cwd);
    free(c);
}

void context_restart(struct context *c)
{
    struct err e = ERR_INIT;

    drop_kernel(c);
    fail_running(c, NULL);
    run_next_execution(c);
    /* Who restarts one will use it; what is wrong shows then. */
    (void)context_warm(c, &e);
}

void context_write(struct jw *w, const struct context *c)
{
    jw_object(w);
    jw_key(w, "id");
    jw_cstr(w, c->id);
    jw_key(w, "language");
    jw_cstr(w, c->language->name);
    jw_key(w, "cwd");
    jw_cstr(w, c->cwd);
    jw_end(w);
}

/* ---- the set ---- */

int contexts_init(struct contexts *set, struct loop *loop, struct err *e)
{
    list_init(&set->all);
    set->loop = loop;
    set->nursery = nursery_new(loop, language_at(0));
    set->cwd = getcwd(NULL, 0);
    if (!set->nursery || !set->cwd)
        return err_sys(e, -ENOMEM, "contexts");
    const struct language *l;
    for (size_t i = 0; (l = language_at(i)); i++)
        if (l->is_listed && language_check(l, NULL) == 0 && !context_of_language(set, l, e))
            return e->code;
    return 0;
}

static void free_pairs(char **list)
{
    for (char **s = list; s && *s; s++)
        free(*s);
    free((void *)list);
}

void contexts_done(struct contexts *set)
{
    list_each(node, &set->all) context_free(list_entry(node, struct context, node));
    nursery_free(set->nursery);
    free_pairs(set->owned);
    free(set->cwd);
}

static char **copy_pairs(const struct json *env)
{
    char **list = mem_zalloc(env->n + 1, sizeof *list);

    for (size_t i = 0, k = 0; list && i < env->n; i++) {
        const struct json_member *m = &env->members[i];
        char *pair = NULL;
        if (!json_is(&m->value, JSON_STRING))
            continue;
        if (asprintf(&pair, STR_FMT "=" STR_FMT, STR_ARG(m->key), STR_ARG(m->value.s)) < 0) {
            free_pairs(list);
            return NULL;
        }
        list[k++] = pair;
        (void)setenv(m->key.p, m->value.s.p, 1); /* for processes that this one starts */
    }
    return list;
}

int contexts_adopt(struct contexts *set, const struct json *env)
{
    char **list = copy_pairs(env);

    if (!list)
        return -ENOMEM;
    free_pairs(set->owned);
    set->owned = list;
    list_each(node, &set->all)
    {
        struct context *c = list_entry(node, struct context, node);
        struct buf frames auto_buf = BUF_INIT(FRAMES_MAX);
        put_adopted(&frames, set, c->language);
        if (c->kernel && buf_ok(&frames))
            (void)kernel_send(c->kernel, buf_str(&frames));
    }
    return 0;
}
