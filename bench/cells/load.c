/* SPDX-License-Identifier: MIT */
/* Load for bench/cells/run, which starts the service and reads what this writes: one JSON object
 * with times in microseconds.
 *
 *     load ADDRESS KEY race ROUNDS GAP_MS [BUNDLE] sandboxes beside other ways to isolate a
 *                                                  program, taking turns
 *     load ADDRESS KEY run OPS N AT_ONCE           N sandboxes named load-0 …, AT_ONCE at a time;
 *                                                  OPS are of: c create, e run `true`, d delete */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/program.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "net/http_client.h"

enum { WARM_UP = 3, AT_ONCE_MAX = 4096, OPS_MAX = 8, ANSWER_MAX = 1 << 20 };

static struct loop *loop;
static struct http_client *client;
static const char *address;
static char authorization[160];

/* ---- requests ---- */

/* A request of the native API about one sandbox; the texts live as long as it does. */
struct call {
    char target[96], body[160];
    void (*done)(void *ctx, bool is_ok);
    void *ctx;
};

static bool is_success(const struct http_response *r)
{
    /* A command has to end well, too. */
    struct str code = STR("\"exitCode\":");
    ssize_t at = r->error < 0 ? -1 : str_find(r->body, code);

    return r->error == 0 && r->head.status == 200 &&
           (at < 0 || r->body.p[(size_t)at + code.len] == '0');
}

static void on_response(void *ctx, const struct http_response *r)
{
    struct call *c = ctx;
    bool is_ok = is_success(r);

    if (!is_ok)
        (void)fprintf(stderr, "%s %s: %d %s " STR_FMT "\n", c->target, c->body,
                      r->error < 0 ? r->error : r->head.status, r->why,
                      STR_ARG(r->error < 0 ? STR("") : r->body));
    c->done(c->ctx, is_ok);
}

static void start(struct call *c, const char *method)
{
    const struct http_header headers[] = {
        {STR_INIT("Authorization"), str_of(authorization)},
        {STR_INIT("Content-Type"), STR_INIT("application/json")},
    };
    struct http_request rq = {.address = address,
                              .method = str_of(method),
                              .target = str_of(c->target),
                              .headers = headers,
                              .n_headers = ARRAY_LEN(headers),
                              .body = str_of(c->body),
                              .max_body = ANSWER_MAX};
    struct err e = ERR_INIT;

    if (http_client_fetch(client, &rq, on_response, c, &e))
        return;
    (void)fprintf(stderr, "%s: %s\n", c->target, err_text(&e));
    exit(1);
}

/* What OP is, for the sandbox NAME. */
static void start_op(struct call *c, char op, const char *name)
{
    static const struct {
        char op;
        const char *method, *target, *body;
    } rows[] = {
        {'c', "POST", "/api/v1/sandbox%.0s", "{\"name\":\"%s\"}"},
        /* Not what the stock holds: has to be built. */
        {'C', "POST", "/api/v1/sandbox%.0s", "{\"name\":\"%s\",\"disk\":\"4Gi\"}"},
        {'e', "POST", "/api/v1/terminal/sandbox/%s", "{\"command\":\"true\"}%.0s"},
        {'d', "DELETE", "/api/v1/sandbox/%s", "%.0s"},
        {'p', "POST", "/api/v1/sandbox/pause/%s", "%.0s"},
        {'r', "POST", "/api/v1/sandbox/resume/%s", "%.0s"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].op != op)
            continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(c->target, sizeof c->target, rows[i].target, name);
        (void)snprintf(c->body, sizeof c->body, rows[i].body, name);
#pragma GCC diagnostic pop
        start(c, rows[i].method);
        return;
    }
    (void)fprintf(stderr, "unknown operation '%c'\n", op);
    exit(2);
}

/* ---- one at a time ---- */

struct outcome {
    bool is_done, is_ok;
};

static void on_outcome(void *ctx, bool is_ok)
{
    *(struct outcome *)ctx = (struct outcome){true, is_ok};
}

/* Microseconds, or -1. */
static int64_t do_op(char op, const char *name)
{
    struct outcome o = {0};
    struct call c = {.done = on_outcome, .ctx = &o};
    int64_t start_us = clock_mono_us();

    start_op(&c, op, name);
    while (!o.is_done)
        (void)loop_run_once(loop, 1000);
    return o.is_ok ? clock_mono_us() - start_us : -1;
}

/* ---- the race ---- */

struct race {
    const char *bundle; /* for crun; NULL: it does not take part */
    int n, gap_ms;
    int64_t last_delete_us;
};

static int64_t plain(struct race *r)
{
    (void)r;
    return run_program((const char *const[]){"/bin/true", NULL});
}

#define BWRAP                                                                                      \
    "bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",         \
        "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--dev", "/dev",       \
        "--proc", "/proc", "--tmpfs", "/tmp"

static int64_t bwrap(struct race *r)
{
    (void)r;
    return run_program((const char *const[]){BWRAP, "/bin/true", NULL});
}

static int64_t bwrap_shell(struct race *r)
{
    (void)r;
    return run_program((const char *const[]){BWRAP, "/bin/sh", "-lc", "true", NULL});
}

static int64_t crun(struct race *r)
{
    char id[40];

    if (!r->bundle)
        return -1;
    (void)snprintf(id, sizeof id, "tidepool-bench-%d-%d", (int)getpid(), r->n++);
    return run_program((const char *const[]){"crun", "run", "--bundle", r->bundle, id, NULL});
}

static int64_t create_and_run(struct race *r, char op)
{
    char name[40];

    (void)snprintf(name, sizeof name, "race-%d", r->n++);
    int64_t create_us = do_op(op, name);
    int64_t run_us = create_us < 0 ? -1 : do_op('e', name);
    r->last_delete_us = create_us < 0 ? -1 : do_op('d', name);
    return run_us < 0 ? -1 : create_us + run_us;
}

static int64_t warm(struct race *r)
{
    return create_and_run(r, 'c');
}

static int64_t cold(struct race *r)
{
    return create_and_run(r, 'C');
}

static int64_t tear_down(struct race *r)
{
    (void)create_and_run(r, 'c');
    return r->last_delete_us;
}

static int64_t create_only(struct race *r)
{
    char name[40];

    (void)snprintf(name, sizeof name, "race-%d", r->n++);
    int64_t us = do_op('c', name);
    (void)do_op('d', name);
    return us;
}

static int64_t again(struct race *r)
{
    (void)r;
    return do_op('e', "standing");
}

static int64_t pause_only(struct race *r)
{
    (void)r;
    int64_t us = do_op('p', "standing");
    (void)do_op('r', "standing");
    return us;
}

static int64_t resume_only(struct race *r)
{
    (void)r;
    (void)do_op('p', "standing");
    return do_op('r', "standing");
}

static struct contestant {
    const char *name;
    int64_t (*run)(struct race *r);
    int64_t *us;
} contestants[] = {
    {"plain spawn, no isolation", plain, NULL},
    {"bwrap --unshare-all true", bwrap, NULL},
    {"bwrap --unshare-all sh -lc true", bwrap_shell, NULL},
    {"crun run true", crun, NULL},
    {"warm create to result", warm, NULL},
    {"cold create to result", cold, NULL},
    {"warm create", create_only, NULL},
    {"exec in a living sandbox", again, NULL},
    {"pause", pause_only, NULL},
    {"resume", resume_only, NULL},
    {"delete", tear_down, NULL},
};

static void nap(int ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static void print_times(const int64_t *us, int n)
{
    (void)putchar('[');
    for (int i = 0; i < n; i++)
        (void)printf("%s%lld", i ? "," : "", (long long)us[i]);
    (void)putchar(']');
}

static int race(int rounds, int gap_ms, const char *bundle)
{
    struct race r = {.bundle = bundle, .gap_ms = gap_ms};

    if (rounds < 1 || do_op('c', "standing") < 0)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
        contestants[i].us = calloc((size_t)rounds, sizeof(int64_t));
        if (!contestants[i].us)
            return 1;
        for (int k = 0; k < WARM_UP; k++)
            (void)contestants[i].run(&r);
    }
    for (int k = 0; k < rounds; k++) {
        for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
            /* Nobody always runs in the wake of the same other one; the stock fills up between. */
            struct contestant *c = &contestants[(i * 3 + (size_t)k) % ARRAY_LEN(contestants)];
            nap(gap_ms);
            c->us[k] = c->run(&r);
        }
        if (k % 25 == 24)
            (void)fprintf(stderr, "round %d of %d\n", k + 1, rounds);
    }
    (void)do_op('d', "standing");
    (void)putchar('{');
    for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
        (void)printf("%s\"%s\":", i ? "," : "", contestants[i].name);
        print_times(contestants[i].us, rounds);
    }
    (void)puts("}");
    return 0;
}

/* ---- many ---- */

struct run {
    const char *ops;
    int n, started, ended, failed;
    int64_t *us[OPS_MAX]; /* per operation, per sandbox; -1: failed */
};

struct worker {
    struct run *run;
    struct call call;
    char name[40];
    int number, at;
    int64_t start_us;
};

static void next_op(struct worker *w)
{
    w->start_us = clock_mono_us();
    start_op(&w->call, w->run->ops[w->at], w->name);
}

static void next_sandbox(struct worker *w)
{
    if (w->run->started == w->run->n)
        return;
    w->number = w->run->started++;
    w->at = 0;
    (void)snprintf(w->name, sizeof w->name, "load-%d", w->number);
    next_op(w);
}

static void on_op(void *ctx, bool is_ok)
{
    struct worker *w = ctx;
    struct run *r = w->run;

    r->us[w->at][w->number] = is_ok ? clock_mono_us() - w->start_us : -1;
    w->at++;
    if (is_ok && r->ops[w->at]) {
        next_op(w);
        return;
    }
    r->failed += !is_ok;
    r->ended++;
    if (r->ended % 500 == 0)
        (void)fprintf(stderr, "%d of %d, %d failed\n", r->ended, r->n, r->failed);
    next_sandbox(w);
}

static int run(const char *ops, int n, int at_once)
{
    struct run r = {.ops = ops, .n = n};
    struct worker *workers = calloc(AT_ONCE_MAX, sizeof *workers);
    size_t n_ops = strlen(ops);

    if (!workers || n < 1 || at_once < 1 || at_once > AT_ONCE_MAX || n_ops > OPS_MAX)
        return 2;
    for (size_t i = 0; i < n_ops; i++)
        if (!(r.us[i] = calloc((size_t)n, sizeof(int64_t))))
            return 1;
    int64_t start_us = clock_mono_us();
    for (int i = 0; i < at_once && i < n; i++) {
        workers[i].run = &r;
        workers[i].call = (struct call){.done = on_op, .ctx = &workers[i]};
        next_sandbox(&workers[i]);
    }
    while (r.ended < n)
        (void)loop_run_once(loop, 1000);
    (void)printf("{\"seconds\":%.6f,\"n\":%d,\"failed\":%d",
                 (double)(clock_mono_us() - start_us) / 1e6, n, r.failed);
    for (size_t i = 0; i < n_ops; i++) {
        (void)printf(",\"%c\":", ops[i]);
        print_times(r.us[i], n);
    }
    (void)puts("}");
    return 0;
}

static int number(const char *text)
{
    long n = text ? strtol(text, NULL, 10) : 0;

    return n > 0 && n < 1000000 ? (int)n : 0;
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;

    if (argc < 6) {
        (void)fprintf(stderr, "usage: load ADDRESS KEY race|run …\n");
        return 2;
    }
    address = argv[1];
    (void)snprintf(authorization, sizeof authorization, "Bearer %s", argv[2]);
    loop = loop_new(&e);
    struct http_client_opts o = {.loop = loop,
                                 .timeouts = {.head_ms = 600000, .keep_ms = 30000},
                                 .max_kept = AT_ONCE_MAX,
                                 .max_kept_per_address = AT_ONCE_MAX};
    client = loop ? http_client_new(&o, &e) : NULL;
    if (!client) {
        (void)fprintf(stderr, "load: %s\n", err_text(&e));
        return 1;
    }
    if (strcmp(argv[3], "race") == 0)
        return race(number(argv[4]), number(argv[5]), argc > 6 ? argv[6] : NULL);
    return argc > 6 ? run(argv[4], number(argv[5]), number(argv[6])) : 2;
}
