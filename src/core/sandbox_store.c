/* SPDX-License-Identifier: MIT */
/* Sandboxes in the store: rows, and the events that go with them. See sandbox.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/event.h"
#include "core/idem.h"
#include "core/sandbox_internal.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

enum { PAGE_ROWS = 64 };

static const char *const end_names[SANDBOX_END_COUNT] = {
    [SANDBOX_END_NONE] = "",           [SANDBOX_END_DELETED] = "deleted",
    [SANDBOX_END_TIMEOUT] = "timeout", [SANDBOX_END_IDLE] = "idle timeout",
    [SANDBOX_END_EXITED] = "exited",   [SANDBOX_END_FAILED] = "failed",
};

static const char *const state_names[SANDBOX_STATE_COUNT] = {
    [SANDBOX_CREATING] = "running", /* what a row says is true when the create is acknowledged */
    [SANDBOX_RUNNING] = "running",  [SANDBOX_PAUSED] = "paused",
    [SANDBOX_ENDING] = "ending",    [SANDBOX_GONE] = "gone",
};

const char *sandbox_end_name(enum sandbox_end reason)
{
    return end_names[reason];
}

const char *sandbox_why_away(const struct sandbox *sb)
{
    static const char *const reasons[SANDBOX_END_COUNT] = {
        [SANDBOX_END_DELETED] = "the sandbox was killed",
        [SANDBOX_END_TIMEOUT] = "the sandbox reached its timeout",
        [SANDBOX_END_IDLE] = "the sandbox was idle for too long",
        [SANDBOX_END_EXITED] = "the sandbox has exited",
        [SANDBOX_END_FAILED] = "the sandbox could not be started",
    };

    if (sandbox_state(sb) == SANDBOX_PAUSED)
        return "the sandbox was paused";
    return sandbox_state(sb) == SANDBOX_RUNNING ? NULL : reasons[sb->end_reason];
}

/* ---- writing ---- */

void sandbox_tx_insert(struct store_tx *tx, const struct sandbox *sb)
{
    struct buf spec auto_buf = BUF_INIT(4L * SANDBOX_SPEC_MAX);

    (void)sandbox_spec_write(&spec, sb);
    store_tx_add(tx, STORE_SANDBOX_INSERT);
    store_tx_text(tx, str_of(sb->id));
    store_tx_text(tx, str_of(sb->name));
    store_tx_text(tx, str_of(sb->account));
    store_tx_text(tx, str_of(sb->key_id));
    store_tx_text(tx, str_of(state_names[sb->sm.state]));
    store_tx_text(tx, STR(""));
    store_tx_int(tx, sb->timeout_s);
    store_tx_int(tx, sb->created_us);
    store_tx_int(tx, sb->started_us);
    store_tx_int(tx, sb->expires_us);
    store_tx_int(tx, sb->paused_us);
    /* A description that did not fit leaves the row short of a parameter, which fails it. */
    if (buf_ok(&spec))
        store_tx_text(tx, buf_str(&spec));
    store_tx_text(tx, str_of(sb->access.envd_token));
    store_tx_text(tx, str_of(sb->access.traffic_token));
    event_add(tx, EVENT_SANDBOX_CREATED, str_of(sb->account), str_of(sb->name),
              "Sandbox %s created from template " STR_FMT, sb->name,
              STR_ARG(sb->spec.template_name));
    event_add(tx, EVENT_SANDBOX_RUNNING, str_of(sb->account), str_of(sb->name),
              "Sandbox %s is running", sb->name);
}

void sandbox_tx_undo(struct store_tx *tx, const struct sandbox *sb)
{
    store_tx_add(tx, STORE_SANDBOX_DELETE);
    store_tx_text(tx, str_of(sb->id));
    idem_tx_forget(tx, str_of(sb->id));
}

void sandbox_tx_update(struct store_tx *tx, const struct sandbox *sb)
{
    store_tx_add(tx, STORE_SANDBOX_UPDATE);
    store_tx_text(tx, str_of(sb->id));
    store_tx_text(tx, str_of(state_names[sb->sm.state]));
    store_tx_text(tx, str_of(end_names[sb->end_reason]));
    store_tx_int(tx, sb->timeout_s);
    store_tx_int(tx, sb->started_us);
    store_tx_int(tx, sb->expires_us);
    store_tx_int(tx, sb->paused_us);
    store_tx_int(tx, sb->is_halted);
    store_tx_int(tx, sb->last_active_us);
}

enum { ACTIVITY_PER_TX = 64 };

bool sandboxes_note_activity(struct sandboxes *set, int64_t least_us)
{
    struct store_tx *tx = NULL;
    struct sandbox *last = NULL;
    unsigned n = 0;

    for (struct sandbox *sb = NULL; (sb = sandbox_next(set, sb)) && n < ACTIVITY_PER_TX;) {
        int64_t active_us = sb->n_holds > 0 ? clock_real_us() : sb->last_active_us;
        if (sandbox_state(sb) != SANDBOX_RUNNING || active_us < sb->noted_us + least_us)
            continue;
        if (!tx)
            tx = store_tx_new();
        store_tx_add(tx, STORE_SANDBOX_ACTIVE);
        store_tx_text(tx, str_of(sb->id));
        store_tx_int(tx, active_us);
        sb->noted_us = active_us;
        last = sb;
        n++;
    }
    if (last)
        (void)sandbox_submit(last, tx, NULL, NULL);
    return n == ACTIVITY_PER_TX;
}

void sandbox_tx_respec(struct store_tx *tx, const struct sandbox *sb)
{
    struct buf spec auto_buf = BUF_INIT(4L * SANDBOX_SPEC_MAX);

    (void)sandbox_spec_write(&spec, sb);
    store_tx_add(tx, STORE_SANDBOX_RESPEC);
    store_tx_text(tx, str_of(sb->id));
    if (buf_ok(&spec))
        store_tx_text(tx, buf_str(&spec));
}

/* Rows of before there were secrets get theirs now. */
static int make_tokens(struct sandbox *sb, struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();

    sandbox_access_make(&sb->access);
    store_tx_add(tx, STORE_SANDBOX_TOKENS);
    store_tx_text(tx, str_of(sb->id));
    store_tx_text(tx, str_of(sb->access.envd_token));
    store_tx_text(tx, str_of(sb->access.traffic_token));
    return tx ? store_run(sb->set->core->store, tx, e) : err_sys(e, -ENOMEM, "sandboxes");
}

/* "exit status 3", "signal 9" */
static void put_sandbox_status(char *out, size_t size, int status)
{
    if (status == -1)
        (void)snprintf(out, size, "it was lost with its parent process");
    else if (WIFSIGNALED(status))
        (void)snprintf(out, size, "its first process was killed by signal %d", WTERMSIG(status));
    else
        (void)snprintf(out, size, "its first process ended with status %d", WEXITSTATUS(status));
}

void sandbox_tx_delete(struct store_tx *tx, const struct sandbox *sb)
{
    struct str account = str_of(sb->account), name = str_of(sb->name);
    char how[80];

    store_tx_add(tx, STORE_SANDBOX_DELETE);
    store_tx_text(tx, str_of(sb->id));
    if (sb->end_reason == SANDBOX_END_EXITED) {
        put_sandbox_status(how, sizeof how, sb->end_status);
        event_add(tx, EVENT_SANDBOX_EXITED, account, name, "Sandbox %s exited: %s", sb->name, how);
    } else if (sb->end_reason == SANDBOX_END_FAILED) {
        event_add(tx, EVENT_SANDBOX_CREATE_FAILED, account, name, "Sandbox %s could not be started",
                  sb->name);
    } else if (sb->end_reason == SANDBOX_END_DELETED) {
        event_add(tx, EVENT_SANDBOX_DELETED, account, name, "Sandbox %s deleted", sb->name);
    } else {
        event_add(tx, EVENT_SANDBOX_DELETED, account, name, "Sandbox %s deleted, reason %s",
                  sb->name, end_names[sb->end_reason]);
    }
}

struct submitted {
    struct sandbox *sb;
    sandbox_fn *fn;
    void *ctx;
};

static void on_sandbox_written(struct store_tx *tx, int result, void *ctx)
{
    struct submitted *s = ctx;
    struct err e = ERR_INIT;

    (void)tx;
    if (result < 0)
        (void)err_sys(&e, result, "store");
    if (s->fn)
        s->fn(s->ctx, s->sb, result < 0 ? &e : NULL);
    sandbox_unref(s->sb);
    free(s);
}

int sandbox_submit(struct sandbox *sb, struct store_tx *tx, sandbox_fn *fn, void *ctx)
{
    struct core *core = sb->set->core;
    struct submitted *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        store_tx_free(tx);
        return -ENOMEM;
    }
    *s = (struct submitted){sandbox_ref(sb), fn, ctx};
    if (!fn)
        store_tx_put_off(tx);
    int r = store_submit(core->store, tx, core->loop, on_sandbox_written, s);
    if (r < 0) {
        sandbox_unref(sb);
        free(s);
    }
    return r;
}

/* ---- reading ---- */

enum {
    COL_ID,
    COL_NAME,
    COL_ACCOUNT,
    COL_KEY,
    COL_STATE,
    COL_REASON,
    COL_TIMEOUT,
    COL_CREATED,
    COL_STARTED,
    COL_EXPIRES,
    COL_PAUSED,
    COL_SPEC,
    COL_ENVD_TOKEN,
    COL_TRAFFIC_TOKEN,
    COL_HALTED,
    COL_ACTIVE
};

static void copy_sandbox_text(char *out, size_t size, struct store_value v)
{
    (void)snprintf(out, size, STR_FMT, STR_ARG(v.s));
}

/* The index of NAME in a table, or 0. */
static int find_sandbox_name(const char *const *names, int n, struct str name)
{
    for (int i = n - 1; i > 0; i--)
        if (str_is(name, names[i]))
            return i;
    return 0;
}

static int load_sandbox_row(struct sandboxes *set, const struct store_value *c,
                            struct sandbox **ret, struct err *e)
{
    struct sandbox *sb = sandbox_new(set);

    if (!sb)
        return err_sys(e, -ENOMEM, "sandboxes");
    copy_sandbox_text(sb->id, sizeof sb->id, c[COL_ID]);
    copy_sandbox_text(sb->name, sizeof sb->name, c[COL_NAME]);
    copy_sandbox_text(sb->account, sizeof sb->account, c[COL_ACCOUNT]);
    copy_sandbox_text(sb->key_id, sizeof sb->key_id, c[COL_KEY]);
    sb->timeout_s = c[COL_TIMEOUT].i;
    copy_sandbox_text(sb->access.envd_token, sizeof sb->access.envd_token, c[COL_ENVD_TOKEN]);
    copy_sandbox_text(sb->access.traffic_token, sizeof sb->access.traffic_token,
                      c[COL_TRAFFIC_TOKEN]);
    int r = sandbox_spec_read(sb, c[COL_SPEC].s, e);
    if (r == 0 && c[COL_ENVD_TOKEN].s.len == 0)
        r = make_tokens(sb, e);
    if (r < 0) {
        sandbox_unref(sb);
        return r;
    }
    sb->created_us = c[COL_CREATED].i;
    sb->started_us = c[COL_STARTED].i;
    sb->expires_us = c[COL_EXPIRES].i;
    sb->paused_us = c[COL_PAUSED].i;
    sb->is_halted = c[COL_HALTED].i != 0;
    sb->noted_us = c[COL_ACTIVE].i > sb->started_us ? c[COL_ACTIVE].i : sb->started_us;
    sb->last_active_us = sb->noted_us;
    sb->end_reason = (unsigned)find_sandbox_name(end_names, SANDBOX_END_COUNT, c[COL_REASON].s);
    sb->restored =
        (enum sandbox_state)find_sandbox_name(state_names, SANDBOX_STATE_COUNT, c[COL_STATE].s);
    *ret = sb;
    return 0;
}

int sandboxes_load(struct sandboxes *set, void (*fn)(struct sandbox *sb), struct err *e)
{
    char last[SANDBOX_ID_LEN + 1] = "";
    size_t n = PAGE_ROWS;

    while (n == PAGE_ROWS) {
        struct store_tx *tx auto_(store_tx_free) = store_tx_new();
        store_tx_add(tx, STORE_SANDBOX_PAGE);
        store_tx_text(tx, str_of(last));
        store_tx_int(tx, PAGE_ROWS);
        int r = tx ? store_run(set->core->store, tx, e) : err_sys(e, -ENOMEM, "sandboxes");
        n = r < 0 ? 0 : store_tx_n_rows(tx, 0);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct store_value *cols = store_tx_row(tx, 0, i).cols;
            struct sandbox *sb = NULL;
            copy_sandbox_text(last, sizeof last, cols[COL_ID]);
            r = load_sandbox_row(set, cols, &sb, e);
            if (r == 0)
                fn(sb);
        }
        if (r < 0)
            return err_ctx(e, r, "load sandboxes");
    }
    return 0;
}
