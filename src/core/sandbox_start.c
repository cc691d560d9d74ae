/* SPDX-License-Identifier: MIT */
/* From a cell with an identity to a sandbox that can be handed out: see sandbox_start.h. */
#include "core/sandbox_start.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox_internal.h"
#include "core/template.h"
#include "runtime/engine.h"

enum { PROBE_EVERY_MS = 20, OUTPUT_MAX = 65536, TAIL_MAX = 160 };

struct sandbox_start {
    struct sandbox_start_args args;
    struct loop_timer timer; /* between two looks at the port */
    int64_t until_ms;
    struct arena arena; /* of the command */
    bool is_running;    /* the command */
    bool is_aborted;
};

/* ---- what there is to do ---- */

static bool has_port(const struct sandbox *sb)
{
    return sb->template->pool.probe_port > 0 && !sb->template->has_no_probe && sb->is_plain;
}

/* A main process of the template's own needs no command when it was started for the sandbox. */
static bool has_command(const struct sandbox *sb, bool has_waited)
{
    const struct template *t = sb->template;
    bool has_main = t->cmd.len > 0 || (t->args && t->args->n > 0);

    return t->pool.startup.len > 0 && sb->is_plain && (has_waited || !has_main);
}

bool sandbox_start_is_needed(const struct sandbox *sb, bool has_waited)
{
    return (has_port(sb) && !has_waited) || has_command(sb, has_waited);
}

/* ---- its end ---- */

static void start_free(struct sandbox_start *s)
{
    loop_timer_stop(&s->timer);
    arena_done(&s->arena);
    free(s);
}

static void start_end(struct sandbox_start *s, const struct err *e)
{
    void (*fn)(void *ctx, const struct err *e) = s->args.fn;
    void *ctx = s->args.ctx;

    start_free(s);
    fn(ctx, e);
}

void sandbox_start_abort(struct sandbox_start *s)
{
    if (!s)
        return;
    s->is_aborted = true;
    if (s->is_running && s->args.sb->cell)
        engine_cell_cancel(s->args.sb->cell, s); /* which frees it */
    else
        start_free(s);
}

/* ---- the command ---- */

/* The end of what it wrote, for the error. */
static struct str output_tail_of(const struct engine_result *r)
{
    struct str text = r->err.len > 0 ? r->err : r->out;

    while (text.len > 0 && (text.p[text.len - 1] == '\n' || text.p[text.len - 1] == ' '))
        text.len--;
    return text.len > TAIL_MAX ? str_skip(text, text.len - TAIL_MAX) : text;
}

static void on_command(void *ctx, const struct engine_result *r, const struct err *why)
{
    struct sandbox_start *s = ctx;
    const char *name = s->args.sb->template->name;
    struct err e = ERR_INIT;

    s->is_running = false;
    if (s->is_aborted) {
        start_free(s);
        return;
    }
    if (!r)
        (void)err_set(&e, -ECONNRESET, "startupCmd of template %s: %s", name, err_text(why));
    else if (r->is_timed_out)
        (void)err_set(&e, -ETIMEDOUT, "startupCmd of template %s did not end within %d s", name,
                      SANDBOX_STARTUP_MS / 1000);
    else if (r->status != 0)
        (void)err_set(&e, -ECONNRESET, "startupCmd of template %s exited with status %d: " STR_FMT,
                      name, WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128,
                      STR_ARG(output_tail_of(r)));
    start_end(s, e.code ? &e : NULL);
}

static void start_command(struct sandbox_start *s)
{
    const struct sandbox *sb = s->args.sb;
    const char *const argv[] = {"/bin/sh", "-c", sb->template->pool.startup.p, NULL};
    const struct engine_run run = {.user = sb->spec.user.p,
                                   .cwd = sb->spec.workdir.len > 0 ? sb->spec.workdir.p : NULL,
                                   .argv = argv,
                                   .env = sandbox_env(sb, NULL, &s->arena),
                                   .timeout_ms = SANDBOX_STARTUP_MS,
                                   .max_output = OUTPUT_MAX,
                                   .is_tied = true};
    struct err e = ERR_INIT;

    s->is_running = true;
    int r = run.env ? engine_cell_run(sb->cell, &run, on_command, s, &e) : -ENOMEM;
    if (r == 0)
        return;
    s->is_running = false;
    if (!e.code)
        (void)err_sys(&e, r, "startupCmd of template %s", sb->template->name);
    start_end(s, &e);
}

static void go_on_starting(struct sandbox_start *s)
{
    if (!s->args.for_pool && has_command(s->args.sb, s->args.has_waited))
        start_command(s);
    else
        start_end(s, NULL);
}

/* ---- the port ---- */

static void probe(struct sandbox_start *s);

static void on_start_timer(struct loop_timer *t)
{
    probe(container_of(t, struct sandbox_start, timer));
}

static void probe(struct sandbox_start *s)
{
    const struct sandbox *sb = s->args.sb;
    uint16_t port = sb->template->pool.probe_port;
    int fd = sb->cell ? engine_cell_connect(sb->cell, port) : -ECONNRESET;
    struct err e = ERR_INIT;

    if (fd >= 0) {
        (void)close(fd);
        go_on_starting(s);
        return;
    }
    if (!sb->cell)
        (void)err_set(&e, -ECONNRESET, "the cell died at its start");
    else if (clock_mono_ms() >= s->until_ms)
        (void)err_set(&e, -ETIMEDOUT, "port %u of template %s did not open within %d s", port,
                      sb->template->name, SANDBOX_PROBE_MS / 1000);
    else if (loop_timer_start(sb->set->core->loop, &s->timer, PROBE_EVERY_MS, on_start_timer) < 0)
        (void)err_sys(&e, -ENOMEM, "port %u", port);
    if (e.code)
        start_end(s, &e);
}

/* Never within the caller's call: it has not stored what it gets yet. */
static void on_begin(struct loop_timer *t)
{
    struct sandbox_start *s = container_of(t, struct sandbox_start, timer);

    if (has_port(s->args.sb) && !s->args.has_waited)
        probe(s);
    else
        go_on_starting(s);
}

struct sandbox_start *sandbox_start_begin(const struct sandbox_start_args *args)
{
    struct sandbox_start *s = mem_zalloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->args = *args;
    s->until_ms = clock_mono_ms() + SANDBOX_PROBE_MS;
    arena_init(&s->arena, 4L * SANDBOX_SPEC_MAX);
    if (loop_timer_start(args->sb->set->core->loop, &s->timer, 0, on_begin) == 0)
        return s;
    free(s);
    return NULL;
}
