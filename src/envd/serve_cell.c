/* SPDX-License-Identifier: MIT */
/* The cell as a whole: claiming, health, figures, processes and signals. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "envd/facts.h"
#include "envd/hostname.h"
#include "envd/path.h"
#include "envd/proc_tree.h"
#include "envd/serve_internal.h"

enum { TEXT_MAX = 1 << 20 };

static void write_cell_facts(const struct serve *s)
{
    char hostname[HOSTNAME_MAX];

    hostname_clean(hostname, s->claim.name ? s->claim.name : "cell");
    facts_write("", &(struct facts){.hostname = hostname,
                                    .sandbox_id = s->e2b.sandbox_id,
                                    .template_id = s->e2b.template_id});
}

static void on_claim(struct serve *s, struct http_req *r, const struct json *body)
{
    struct err e = ERR_INIT;
    bool has_main = json_get(body, "cmd") || json_get(body, "args");
    int code = claim_set(&s->claim, body, &e);

    if (code == 0)
        code = e2b_set(s, json_get(body, "e2b"), &e);
    if (code == 0 && has_main)
        write_cell_facts(s);
    if (code == 0)
        code = log_start_main(s, r->arena, body, &e);
    if (code < 0) {
        int status = serve_status_of(e.code);
        serve_fail(r, status == 404 || status == 403 ? 400 : status, &e);
        return;
    }
    http_reply(r, 200, "application/json", STR("{}"));
    /* Somebody waits for the answer, and nothing runs here yet that could look at the files: what
     * is asked for next is looked at after this. */
    if (!has_main)
        write_cell_facts(s);
}

void serve_claim(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_claim);
}

static void on_mountpoints(struct serve *s, struct http_req *r, const struct json *body)
{
    struct err e = ERR_INIT;
    char **paths = claim_strings(r->arena, json_get(body, "paths"), "paths", &e);

    (void)s;
    for (; paths && *paths && e.code == 0; paths++)
        (void)path_make_dirs(*paths, 0, 0, &e);
    if (e.code)
        serve_fail(r, 400, &e);
    else
        http_reply(r, 200, "application/json", STR("{}"));
}

void serve_mountpoints(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_mountpoints);
}

static void on_update(struct serve *s, struct http_req *r, const struct json *body)
{
    struct err e = ERR_INIT;

    if (e2b_set(s, json_get(body, "e2b"), &e) < 0) {
        serve_fail(r, e.code == -EINVAL ? 400 : 500, &e);
        return;
    }
    write_cell_facts(s);
    http_reply(r, 200, "application/json", STR("{}"));
}

void serve_update(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_update);
}

void serve_health(struct serve *s, struct http_req *r)
{
    (void)s;
    http_reply(r, 200, "application/json", STR("{\"status\":\"ok\"}"));
}

void serve_stats(struct serve *s, struct http_req *r)
{
    auto_buf struct buf b = BUF_INIT(TEXT_MAX);
    struct jw w = jw_to(&b);
    struct statvfs disk;

    jw_object(&w);
    jw_pair_int(&w, "uptimeMs", clock_mono_ms() - s->started_ms);
    jw_pair_int(&w, "processes", proc_tree_count());
    jw_pair_int(&w, "managed", s->procs.n_procs);
    jw_pair_int(&w, "started", (int64_t)s->procs.n_started);
    if (statvfs("/", &disk) == 0) {
        jw_pair_int(&w, "diskTotal", (int64_t)(disk.f_blocks * disk.f_frsize));
        jw_pair_int(&w, "diskUsed", (int64_t)((disk.f_blocks - disk.f_bfree) * disk.f_frsize));
    }
    jw_end(&w);
    serve_json(r, &b);
}

static void put_proc(struct jw *w, const struct proc *p)
{
    const struct proc_end *end = proc_end(p);
    char started[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(started, proc_started_us(p));
    jw_object(w);
    jw_pair_int(w, "pid", proc_pid(p));
    jw_key(w, "name");
    jw_cstr(w, proc_name(p));
    jw_key(w, "startedAt");
    jw_cstr(w, started);
    jw_key(w, "running");
    jw_bool(w, !end);
    if (end)
        jw_pair_int(w, "exitCode",
                    WIFSIGNALED(end->status) ? 128 + WTERMSIG(end->status)
                                             : WEXITSTATUS(end->status));
    jw_end(w);
}

void serve_procs(struct serve *s, struct http_req *r)
{
    auto_buf struct buf b = BUF_INIT(TEXT_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "processes");
    jw_array(&w);
    for (struct proc *p = proc_first(&s->procs); p; p = proc_next(p))
        put_proc(&w, p);
    jw_end(&w);
    jw_end(&w);
    serve_json(r, &b);
}

/* {pid, signal} for any process of the cell but this one; a managed one gets it with its group. */
static void on_cell_signal(struct serve *s, struct http_req *r, const struct json *body)
{
    int64_t pid = json_int(json_get(body, "pid"), 0);
    int64_t signo = json_int(json_get(body, "signal"), SIGTERM);

    if (pid <= 1 || pid > INT32_MAX || signo < 0 || signo > 64) {
        serve_fail_text(r, 400, "pid and signal must be numbers in range");
        return;
    }
    struct proc *p = proc_find(&s->procs, (pid_t)pid);
    int code = p ? proc_signal(p, (int)signo) : kill((pid_t)pid, (int)signo) < 0 ? -errno : 0;
    if (code < 0)
        serve_fail_text(r, code == -ESRCH ? 404 : 500, "no process %lld", (long long)pid);
    else
        http_reply(r, 200, "application/json", STR("{}"));
}

void serve_signal(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_cell_signal);
}
