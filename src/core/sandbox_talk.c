/* SPDX-License-Identifier: MIT */
/* What is said to the first process of a sandbox's cell, and the moves that wait for its answer:
 * pausing without memory, and starting again after that. See sandbox_internal.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/e2b.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/event.h"
#include "core/sandbox_freeze.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"
#include "runtime/engine_freeze.h"

/* For the answer with a log, which the sandbox's pause or end waits for. */
enum { LOG_MS = 1000 };

/* ---- the claim ---- */

bool sandbox_has_main(const struct sandbox *sb)
{
    return sb->spec.cmd.len > 0 || (sb->spec.args && sb->spec.args->n > 0);
}

static void put_claim_str(struct jw *w, const char *name, struct str s)
{
    if (s.len == 0)
        return;
    jw_key(w, name);
    jw_str(w, s);
}

/* What the service on port 49983 has to know; without accessToken it asks nobody for one. */
static void put_e2b(struct jw *w, const struct sandbox *sb)
{
    jw_key(w, "e2b");
    jw_object(w);
    if (sb->access.is_secure)
        put_claim_str(w, "accessToken", str_of(sb->access.envd_token));
    put_claim_str(w, "sandboxID", str_of(sb->id));
    put_claim_str(w, "templateID", sb->spec.template_name);
    put_claim_str(w, "defaultUser", sb->spec.user);
    put_claim_str(w, "defaultWorkdir", sb->spec.workdir);
    const struct cgroup_limits *limits = &engine_cell_info(sb->cell)->spec.limits;
    jw_key(w, "cpuCount");
    jw_int(w, (limits->cpu_milli + 999) / 1000);
    jw_key(w, "memoryBytes");
    jw_int(w, (int64_t)limits->memory_bytes);
    jw_key(w, "envVars");
    jw_value(w, sb->spec.env);
    jw_key(w, "port");
    jw_int(w, E2B_ENVD_PORT);
    jw_key(w, "internetAccess");
    jw_bool(w, !sb->spec.is_offline);
    jw_end(w);
}

void sandbox_put_claim(struct buf *out, const struct sandbox *sb, bool with_main)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    put_claim_str(&w, "hostname", str_of(sb->name));
    put_claim_str(&w, "user", sb->spec.user);
    put_claim_str(&w, "workdir", sb->spec.workdir);
    jw_key(&w, "env");
    jw_value(&w, sb->spec.env);
    put_e2b(&w, sb);
    if (with_main && sandbox_has_main(sb)) {
        put_claim_str(&w, "cmd", sb->spec.cmd);
        jw_key(&w, "args");
        jw_value(&w, sb->spec.args);
    }
    jw_end(&w);
}

/* ---- requests ---- */

struct http_call *sandbox_post(const struct sandbox *sb, struct str target, const struct buf *body,
                               sandbox_answer_fn *fn, void *ctx)
{
    static const struct http_header headers[] = {
        {STR_INIT("Content-Type"), STR_INIT("application/json")}};
    const struct http_request request = {.address = engine_cell_address(sb->cell),
                                         .method = STR("POST"),
                                         .target = target,
                                         .host = STR("cell"),
                                         .headers = headers,
                                         .n_headers = ARRAY_LEN(headers),
                                         .body = buf_str(body)};

    return buf_ok(body) ? http_client_fetch(engine_http(sb->set->engine), &request, fn, ctx, NULL)
                        : NULL;
}

/* Anything else is no fault of the client. */
static int refusal_code(int status)
{
    switch (status) {
    case 400: return -EINVAL;
    case 429: return -EAGAIN; /* it has as many processes as it may have */
    default: return -EIO;
    }
}

/* Why the cell refuses, in its own words. */
static int read_refusal(const struct http_response *r, struct err *e)
{
    auto_arena struct arena a;

    arena_init(&a, 1 << 20);
    const struct json *doc = json_parse(&a, r->body, NULL, NULL);
    struct str text = json_str(json_get(doc, "message"), STR("the cell refused"));
    return err_set(e, refusal_code(r->head.status), STR_FMT, STR_ARG(str_slice(text, 0, 300)));
}

int sandbox_read_answer(const struct http_response *r, struct err *e)
{
    if (r->error < 0)
        return err_set(e, r->error, "the cell could not be reached: %s", r->why);
    return r->head.status >= 300 ? read_refusal(r, e) : 0;
}

/* ---- moves that wait for the cell ---- */

struct talk {
    struct list node; /* in the set */
    struct sandbox *sb;
    struct http_call *call;
    struct buf body;
    void (*next)(struct talk *t, const struct err *e); /* owns T */
    struct loop_timer timer;                           /* of asking for the log */
    struct sandbox_resume how;
    enum sandbox_end reason; /* of an automatic pause */
    bool halts;              /* the pause ends the processes */
    sandbox_fn *fn;          /* may be NULL */
    void *ctx;
};

static void talk_free(struct talk *t)
{
    if (t->call)
        http_call_abort(t->call);
    loop_timer_stop(&t->timer);
    list_del(&t->node);
    buf_done(&t->body);
    sandbox_unref(t->sb);
    free(t);
}

void sandboxes_stop_talks(struct sandboxes *set)
{
    while (set->talks.next != &set->talks)
        talk_free(list_entry(set->talks.next, struct talk, node));
}

static void on_cell_answer(void *ctx, const struct http_response *r)
{
    struct talk *t = ctx;
    struct err e = ERR_INIT;

    t->call = NULL;
    int code = sandbox_read_answer(r, &e);
    t->next(t, code < 0 ? &e : NULL);
}

static struct talk *talk_new(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    struct talk *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return NULL;
    list_append(&sb->set->talks, &t->node);
    t->sb = sandbox_ref(sb);
    t->fn = fn;
    t->ctx = ctx;
    buf_init(&t->body, 4L * SANDBOX_SPEC_MAX);
    return t;
}

static int talk_send(struct talk *t, struct str target,
                     void (*next)(struct talk *t, const struct err *e))
{
    t->next = next;
    t->call = sandbox_post(t->sb, target, &t->body, on_cell_answer, t);
    return t->call ? 0 : -EIO;
}

/* Ends a talk whose move failed. */
static void talk_fail(struct talk *t, int code, const struct err *why)
{
    struct err e = ERR_INIT;

    if (why)
        e = *why;
    else
        (void)err_sys(&e, code, "sandbox %s", t->sb->name);
    if (t->fn)
        t->fn(t->ctx, t->sb, &e);
    talk_free(t);
}

/* ---- keeping the log ---- */

/* A cell that does not answer in time is not waited for. */
static void on_log_timer(struct loop_timer *timer)
{
    struct talk *t = container_of(timer, struct talk, timer);

    if (t->call)
        http_call_abort(take(t->call));
    t->next(t, NULL);
}

static void on_kept_log(void *ctx, const struct http_response *r)
{
    struct talk *t = ctx;
    auto_arena struct arena a;

    t->call = NULL;
    loop_timer_stop(&t->timer);
    arena_init(&a, 4L * SANDBOX_LOG_JSON_MAX);
    if (r->error == 0 && r->head.status == 200) {
        const struct json *doc = json_parse(&a, r->body, NULL, NULL);
        struct str text = json_str(json_get(doc, "logs"), STR(""));
        if (text.len > 0 && text.len <= SANDBOX_LOG_MAX)
            sandbox_log_store(t->sb, text);
    }
    t->next(t, NULL);
}

/* Keeps the log of T's sandbox, if it has one, and goes on with NEXT in any case, perhaps before
 * this returns. */
static void save_log(struct talk *t, void (*next)(struct talk *t, const struct err *e))
{
    struct sandboxes *set = t->sb->set;
    const struct http_request request = {.address = engine_cell_address(t->sb->cell),
                                         .method = STR("GET"),
                                         .target = STR("/log?timestamps=true&tailLines=2000"),
                                         .host = STR("cell"),
                                         .max_body = SANDBOX_LOG_JSON_MAX + 4096};

    t->next = next;
    if (sandbox_has_main(t->sb))
        t->call = http_client_fetch(engine_http(set->engine), &request, on_kept_log, t, NULL);
    if (t->call && loop_timer_start(set->core->loop, &t->timer, LOG_MS, on_log_timer) == 0)
        return;
    if (t->call)
        http_call_abort(take(t->call));
    next(t, NULL);
}

static void on_saved_to_kill(struct talk *t, const struct err *e)
{
    (void)e;
    if (t->sb->cell)
        engine_cell_kill(t->sb->cell);
    talk_free(t);
}

void sandbox_kill_later(struct sandbox *sb)
{
    struct talk *t = sb->set->is_stopped ? NULL : talk_new(sb, NULL, NULL);

    if (t)
        save_log(t, on_saved_to_kill);
    else
        engine_cell_kill(sb->cell);
}

/* ---- after a restart ---- */

/* Nobody waits for the answer. */
static void on_told(struct talk *t, const struct err *e)
{
    (void)e;
    talk_free(t);
}

void sandbox_tell_again(struct sandbox *sb)
{
    struct talk *t = talk_new(sb, NULL, NULL);

    if (!t)
        return;
    sandbox_put_claim(&t->body, sb, false);
    if (talk_send(t, STR("/claim"), on_told) < 0)
        talk_free(t);
}

/* ---- pausing ---- */

static void on_saved_to_freeze(struct talk *t, const struct err *e)
{
    struct sandbox *sb = t->sb;

    (void)e;
    sb->is_talking = false;
    if (sandbox_state(sb) != SANDBOX_RUNNING) {
        talk_fail(t, -ENOENT, NULL);
        return;
    }
    sb->is_halted = t->halts;
    int code = sandbox_freeze(sb, t->reason, t->fn, t->ctx);
    sb->is_halted = t->halts && sandbox_state(sb) == SANDBOX_PAUSED;
    if (code < 0)
        talk_fail(t, code, NULL);
    else
        talk_free(t);
}

static void on_halted(struct talk *t, const struct err *e)
{
    struct sandbox *sb = t->sb;

    if (sandbox_state(sb) == SANDBOX_RUNNING && !e) {
        save_log(t, on_saved_to_freeze);
        return;
    }
    sb->is_talking = false;
    if (sandbox_state(sb) != SANDBOX_RUNNING) {
        talk_fail(t, -ENOENT, NULL);
        return;
    }
    sandbox_put_off(sb, t->reason, e);
    talk_fail(t, e->code, e);
}

int sandbox_pause_for(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx)
{
    struct talk *t = sandbox_has_main(sb) ? talk_new(sb, fn, ctx) : NULL;

    /* Without memory for the way round the log is not kept. */
    if (!t)
        return sandbox_freeze(sb, reason, fn, ctx);
    t->reason = reason;
    sb->is_talking = true;
    loop_timer_stop(&sb->timer);
    save_log(t, on_saved_to_freeze);
    return 0;
}

int sandbox_halt_for(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx)
{
    if (sandbox_state(sb) == SANDBOX_PAUSED)
        return -EALREADY;
    if (sandbox_state(sb) != SANDBOX_RUNNING || sb->set->is_stopped)
        return -ENOENT;
    if (sb->is_talking)
        return -EBUSY;
    struct talk *t = talk_new(sb, fn, ctx);
    if (!t)
        return -ENOMEM;
    t->reason = reason;
    t->halts = true;
    (void)buf_add_str(&t->body, STR("{}"));
    int r = talk_send(t, STR("/halt"), on_halted);
    if (r < 0) {
        talk_free(t);
        return r;
    }
    sb->is_talking = true;
    loop_timer_stop(&sb->timer);
    return 0;
}

int sandbox_halt(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    return sandbox_halt_for(sb, SANDBOX_END_NONE, fn, ctx);
}

/* ---- starting again ---- */

/* It stays paused, as it was. */
static void give_up_reboot(struct talk *t, int code, const struct err *e)
{
    struct sandbox *sb = t->sb;

    sb->is_talking = false;
    if (sandbox_state(sb) != SANDBOX_PAUSED) {
        talk_fail(t, -ENOENT, NULL);
        return;
    }
    (void)engine_cell_freeze(sb->cell, true, NULL);
    if (e)
        (void)sandbox_note_failure(sb, EVENT_SANDBOX_RESUME_FAILED, e);
    talk_fail(t, code, e);
}

static void on_cell_claimed(struct talk *t, const struct err *e)
{
    struct sandbox *sb = t->sb;

    if (e || sandbox_state(sb) != SANDBOX_PAUSED) {
        give_up_reboot(t, e ? e->code : -ENOENT, e);
        return;
    }
    sb->is_talking = false;
    sb->is_halted = false;
    int code = sandbox_thaw(sb, &t->how, t->fn, t->ctx);
    if (code < 0)
        talk_fail(t, code, NULL);
    else
        talk_free(t);
}

/* Its processes are gone. */
static void claim_anew(struct talk *t, const struct err *e)
{
    struct sandbox *sb = t->sb;

    if (e || sandbox_state(sb) != SANDBOX_PAUSED) {
        give_up_reboot(t, e ? e->code : -ENOENT, e);
        return;
    }
    sb->is_halted = true;
    buf_clear(&t->body);
    sandbox_put_claim(&t->body, sb, true);
    int code = talk_send(t, STR("/claim"), on_cell_claimed);
    if (code < 0)
        give_up_reboot(t, code, NULL);
}

int sandbox_reboot(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx)
{
    struct err e = ERR_INIT;
    struct talk *t = talk_new(sb, fn, ctx);

    if (!t)
        return -ENOMEM;
    t->how = *how;
    if (engine_cell_freeze(sb->cell, false, &e) < 0) {
        talk_free(t);
        return sandbox_note_failure(sb, EVENT_SANDBOX_RESUME_FAILED, &e);
    }
    sb->is_talking = true;
    if (sb->is_halted) {
        claim_anew(t, NULL);
        return 0;
    }
    (void)buf_add_str(&t->body, STR("{}"));
    int code = talk_send(t, STR("/halt"), claim_anew);
    if (code < 0)
        give_up_reboot(t, code, NULL);
    return 0;
}
