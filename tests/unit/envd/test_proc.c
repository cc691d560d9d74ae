/* SPDX-License-Identifier: MIT */
/* Processes as the first process of a cell runs them, here on the host: watching, coming back,
 * holding back, terminals, limits. Needs root, because starting changes the user. */
#include "../check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/proc.h"

enum { WAIT_MS = 20000 };

static struct loop *loop;
static struct proc_table table;

/* A watcher that collects. */
struct eye {
    struct proc_watch watch;
    struct buf seen;
    uint64_t first, last; /* numbers of chunks */
    bool is_lazy;         /* does not read */
    bool has_end;
    struct proc_end end;
};

/* How many there are, those that have ended and are kept included. */
static unsigned n_there(void)
{
    unsigned n = 0;

    for (struct proc *p = proc_first(&table); p; p = proc_next(p))
        n++;
    return n;
}

static void on_child(int signo, void *ctx)
{
    int status;

    (void)signo;
    (void)ctx;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        proc_reaped(&table, pid, status);
}

static int setup(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    loop = loop_new(NULL);
    assert_non_null(loop);
    proc_table_init(&table, loop);
    return loop_on_signal(loop, SIGCHLD, on_child, NULL);
}

static int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    return 0;
}

static void look(struct proc_watch *w)
{
    struct eye *eye = container_of(w, struct eye, watch);

    if (eye->is_lazy)
        return;
    for (const struct ring_chunk *c; (c = proc_watch_read(w));) {
        if (eye->first)
            assert_int_equal(c->seq, eye->last + 1);
        else
            eye->first = c->seq;
        eye->last = c->seq;
        assert_int_equal(buf_add(&eye->seen, c->data, c->len), 0);
    }
    const struct proc_end *end = proc_end(w->proc);
    if (!end)
        return;
    eye->has_end = true;
    eye->end = *end;
}

static void eye_open(struct eye *eye, struct proc *p, uint64_t from)
{
    *eye = (struct eye){.watch.fn = look, .seen = BUF_INIT(16 << 20)};
    proc_watch_start(p, &eye->watch, from);
}

static void eye_close(struct eye *eye)
{
    proc_watch_stop(&eye->watch);
    proc_watch_stop(&eye->watch);
    buf_done(&eye->seen);
}

static struct proc *start(const char *script, struct proc_args args)
{
    char *argv[] = {strdup("sh"), strdup("-c"), strdup(script), NULL};
    struct err e = ERR_INIT;

    args.user = "root";
    args.cwd = "/";
    args.argv = argv;
    struct proc *p = proc_start(&table, &args, &e);
    if (!p)
        fail_msg("%s", err_text(&e));
    for (size_t i = 0; i < 3; i++)
        free(argv[i]);
    return p;
}

#define run_until(condition)                                                                       \
    for (int64_t end_ms_ = clock_mono_ms() + WAIT_MS; !(condition);) {                             \
        assert_true(clock_mono_ms() < end_ms_);                                                    \
        (void)loop_run_once(loop, 50);                                                             \
    }

static void output_and_end_reach_all_who_watch(void **state)
{
    struct eye a, b;
    struct proc *p = start("echo one; echo two >&2; exit 5", (struct proc_args){0});

    (void)state;
    eye_open(&a, p, 1);
    eye_open(&b, p, 1);
    run_until(a.has_end && b.has_end);
    assert_int_equal(WEXITSTATUS(a.end.status), 5);
    assert_int_equal(a.seen.len, 8);
    assert_memory_equal(a.seen.p, b.seen.p, 8);
    assert_int_equal(n_there(), 1);
    eye_close(&a);
    assert_int_equal(n_there(), 1);
    eye_close(&b);
    assert_int_equal(n_there(), 0);
}

static void who_comes_back_goes_on_where_he_was(void **state)
{
    struct eye eye;
    struct proc *p = start("for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done",
                           (struct proc_args){.ring_bytes = 4096, .keep_ms = 60000});
    pid_t pid = proc_pid(p);

    (void)state;
    eye_open(&eye, p, 1);
    run_until(eye.seen.len >= 4);
    uint64_t next = eye.last + 1;
    size_t n = eye.seen.len;
    eye_close(&eye);
    /* Nobody watches while it goes on and ends. */
    run_until(proc_end(p));
    assert_ptr_equal(proc_find(&table, pid), p);
    eye_open(&eye, p, next);
    run_until(eye.has_end);
    assert_int_equal(eye.first, next);
    assert_int_equal(eye.seen.len, 12 - n);
    eye_close(&eye);
    eye_open(&eye, p, 1);
    run_until(eye.has_end);
    assert_memory_equal(eye.seen.p, "1\n2\n3\n4\n5\n6\n", 12);
    eye_close(&eye);
    assert_int_equal(n_there(), 1);
}

static void what_is_kept_goes_in_the_end(void **state)
{
    unsigned before = n_there();
    struct eye eye;
    struct proc *p = start("echo x", (struct proc_args){.keep_ms = 50});

    (void)state;
    eye_open(&eye, p, 1);
    run_until(eye.has_end);
    eye_close(&eye);
    assert_int_equal(n_there(), before + 1);
    run_until(n_there() == before);
}

static void a_reader_who_waits_holds_the_process_back(void **state)
{
    struct eye eye;
    struct proc *p = start("i=0; while [ $i -lt 40000 ]; do echo 0123456789012345678901234567890; "
                           "i=$((i+1)); done",
                           (struct proc_args){.ring_bytes = 32 << 10});

    (void)state;
    eye_open(&eye, p, 1);
    eye.is_lazy = true;
    int64_t end_ms = clock_mono_ms() + 400;
    while (clock_mono_ms() < end_ms)
        (void)loop_run_once(loop, 20);
    assert_null(proc_end(p));
    eye.is_lazy = false;
    look(&eye.watch);
    run_until(eye.has_end);
    assert_int_equal(eye.first, 1);
    assert_int_equal(eye.seen.len, 40000 * 32);
    eye_close(&eye);
}

static void input_is_written_until_it_is_closed(void **state)
{
    struct eye eye;
    struct proc *p =
        start("cat; echo .", (struct proc_args){.keeps_input = true, .input = STR("a")});

    (void)state;
    eye_open(&eye, p, 1);
    run_until(eye.seen.len == 1);
    assert_int_equal(proc_write(p, STR("bc")), 0);
    run_until(eye.seen.len == 3);
    assert_int_equal(proc_unread(p), 0);
    proc_close_input(p);
    assert_int_equal(proc_write(p, STR("d")), -EPIPE);
    run_until(eye.has_end);
    assert_memory_equal(eye.seen.p, "abc.\n", 5);
    assert_int_equal(proc_write(p, STR("d")), -EPIPE);
    assert_int_equal(proc_signal(p, SIGTERM), -ESRCH);
    eye_close(&eye);
}

static void terminals_have_a_size_and_hang_up(void **state)
{
    struct eye eye;

    /* As under nohup: the shell could not set its trap, and would go on for ever. */
    (void)signal(SIGHUP, SIG_IGN);
    struct proc *p =
        start("stty size; trap 'exit 9' HUP; while :; do read x; stty size; done",
              (struct proc_args){
                  .has_pty = true, .keeps_input = true, .cols = 91, .rows = 33, .keep_ms = 60000});

    (void)state;
    eye_open(&eye, p, 1);
    run_until(eye.seen.len >= 7);
    assert_memory_equal(eye.seen.p, "33 91\r\n", 7);
    assert_int_equal(proc_resize(p, 100, 50), 0);
    assert_int_equal(proc_write(p, STR("\n")), 0);
    run_until(eye.seen.len >= 16);
    assert_memory_equal(eye.seen.p, "33 91\r\n\r\n50 100\r\n", 16);
    eye_close(&eye);
    proc_hang_up(p);
    run_until(proc_end(p));
    assert_int_equal(WEXITSTATUS(proc_end(p)->status), 9);
}

static void limits_of_time_take_the_tree(void **state)
{
    struct eye eye;
    struct proc *p =
        start("setsid sleep 7041 & echo $!; sleep 7042", (struct proc_args){.timeout_ms = 300});

    (void)state;
    eye_open(&eye, p, 1);
    run_until(eye.has_end);
    assert_true(eye.end.is_timed_out);
    assert_int_equal(WTERMSIG(eye.end.status), SIGKILL);
    int stray = (int)strtol(buf_cstr(&eye.seen), NULL, 10);
    assert_true(stray > 1);
    /* Gone, or not yet reaped by whoever inherited it. */
    for (int i = 0; i < 100; i++) {
        char path[64], line[64] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/cmdline", stray);
        FILE *f = fopen(path, "re");
        size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
        if (f)
            (void)fclose(f);
        if (n == 0)
            break;
        assert_true(i < 99);
        (void)usleep(20000);
    }
    eye_close(&eye);
}

static void what_cannot_start_says_why(void **state)
{
    char *missing[] = {strdup("no-such-program"), NULL}, *sh[] = {strdup("sh"), NULL};
    struct proc_args args = {.user = "root", .argv = missing};
    struct err e = ERR_INIT;
    uint64_t before = table.n_started;

    (void)state;
    assert_null(proc_start(&table, &args, &e));
    assert_int_equal(e.code, -ENOENT);
    args.argv = sh;
    args.cwd = "/no/such/directory";
    assert_null(proc_start(&table, &args, &e));
    assert_int_equal(e.code, -ENOENT);
    assert_non_null(strstr(e.text, "/no/such/directory"));
    args.cwd = NULL;
    args.user = "no-such-user";
    assert_null(proc_start(&table, &args, &e));
    assert_int_equal(table.n_started, before);
    free(missing[0]);
    free(sh[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_end_reach_all_who_watch),
        cmocka_unit_test(who_comes_back_goes_on_where_he_was),
        cmocka_unit_test(what_is_kept_goes_in_the_end),
        cmocka_unit_test(a_reader_who_waits_holds_the_process_back),
        cmocka_unit_test(input_is_written_until_it_is_closed),
        cmocka_unit_test(terminals_have_a_size_and_hang_up),
        cmocka_unit_test(limits_of_time_take_the_tree),
        cmocka_unit_test(what_cannot_start_says_why),
    };
    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP changing users needs root\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
