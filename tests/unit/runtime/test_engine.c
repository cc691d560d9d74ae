/* SPDX-License-Identifier: MIT */
/* Cells for real, through the engine: creation, commands, limits, freezing, ports, restarts, ends.
 * Needs root. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/lab.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/engine_freeze.h"
#include "runtime/engine_internal.h"

static struct lab_result r;

static int setup_with(void **state, unsigned stock, enum cgroup_version version)
{
    static struct lab lab;
    struct err e = ERR_INIT;

    *state = &lab;
    if (lab_open(&lab, stock, version, &e) == 0)
        return 0;
    print_message("%s\n", err_text(&e));
    return -1;
}

static int setup(void **state)
{
    return setup_with(state, 0, CGROUP_NONE);
}

static int setup_stock(void **state)
{
    return setup_with(state, 4, CGROUP_NONE);
}

static int setup_v2(void **state)
{
    return setup_with(state, 0, CGROUP_V2);
}

static int teardown(void **state)
{
    lab_close(*state);
    return 0;
}

static struct engine_cell *create(struct lab *l, const char *label, const struct cell_spec *spec)
{
    struct cell_spec usual = lab_spec();
    struct err e = ERR_INIT;
    struct engine_cell *c = lab_create(l, label, spec ? spec : &usual, &e);

    if (!c)
        fail_msg("%s", err_text(&e));
    return c;
}

static void commands_run_and_report(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "one", NULL);
    const char *const argv[] = {"sh", "-c", "cat; echo \"$A $HOME $PWD\"; echo oops >&2; exit 3",
                                NULL};
    const char *const env[] = {"A=b c", NULL};
    struct engine_run run = {.user = "user", .argv = argv, .env = env, .input = STR("in\n")};

    assert_int_equal(lab_run(l, c, &run, &r), 3);
    assert_string_equal(r.out, "in\nb c /home/user /home/user\n");
    assert_string_equal(r.err, "oops\n");
    assert_int_equal(lab_sh(l, c, "root", "id -u; id -un; hostname; getent hosts one", &r), 0);
    assert_non_null(strstr(r.out, "0\nroot\none\n127.0.0.1"));
    assert_int_equal(lab_sh(l, c, "user", "id -u; id -G; kill -TERM $$", &r), 128 + SIGTERM);
    assert_string_equal(r.out, "1000\n1000 27\n");
    const char *const missing[] = {"no-such-program", NULL};
    run = (struct engine_run){.argv = missing};
    assert_int_equal(lab_run(l, c, &run, &r), -ENOENT);
    run = (struct engine_run){.argv = argv, .user = "nobody-here"};
    assert_int_equal(lab_run(l, c, &run, &r), -ENOENT);
    run = (struct engine_run){.argv = argv, .cwd = "/nowhere"};
    assert_int_equal(lab_run(l, c, &run, &r), -ENOENT);
    /* Still there after all that. */
    assert_int_equal(lab_sh(l, c, "user", "true", NULL), 0);
}

/* ---- what was meant for a cell that is gone ---- */

enum { ASKED = 1 }; /* no answer is positive, and no errno */

static void on_health(void *ctx, const struct http_response *answer)
{
    int *ret = ctx;

    *ret = answer->error < 0 ? answer->error : answer->head.status;
}

/* GET /health at ADDRESS: -errno when that fails at once, else what *RET becomes later. */
static int ask(struct lab *l, const char *address, int *ret)
{
    const struct http_request q = {
        .address = address, .method = STR("GET"), .target = STR("/health"), .host = STR("cell")};
    struct err e = ERR_INIT;

    *ret = ASKED;
    return http_client_fetch(engine_http(l->engine), &q, on_health, ret, &e) ? 0 : e.code;
}

static int answer_of(struct lab *l, const char *address)
{
    int64_t end_ms = clock_mono_ms() + 10000;
    int ret, code = ask(l, address, &ret);

    while (code == 0 && ret == ASKED && clock_mono_ms() < end_ms)
        (void)loop_run_once(l->loop, 100);
    return code < 0 ? code : ret;
}

/* Slots are used again, last in, first out: whoever still has the address of an ended cell must
 * meet nobody, neither a listener that waits for the next tenant nor the tenant. */
static void addresses_of_ended_cells_lead_nowhere(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "first", NULL);
    uint32_t slot = engine_cell_info(c)->slot;
    auto_free char *address = strdup(engine_cell_address(c));
    int early;

    assert_int_equal(answer_of(l, address), 200);
    lab_kill(l, c);
    /* The spawner prepares the slot for the next one in its own time. */
    for (int i = 0; i < 20; i++)
        (void)loop_run_once(l->loop, 10);
    assert_true(ask(l, address, &early) < 0 || early < 0);
    c = create(l, "second", NULL);
    assert_int_equal(engine_cell_info(c)->slot, slot);
    assert_true(answer_of(l, address) < 0);
    assert_int_not_equal(early, 200);
    assert_int_equal(answer_of(l, engine_cell_address(c)), 200);
}

static void output_and_time_are_bounded(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "bounded", NULL);
    const char *const flood[] = {"sh", "-c", "head -c 3000000 /dev/zero; echo end >&2", NULL};
    struct engine_run run = {.argv = flood, .max_output = 1000};
    int64_t start_ms = clock_mono_ms();

    assert_int_equal(lab_run(l, c, &run, &r), 0);
    assert_true(r.is_output_cut);
    assert_string_equal(r.err, "end\n");
    const char *const slow[] = {"sh", "-c", "echo started; sleep 60; echo never", NULL};
    run = (struct engine_run){.argv = slow, .timeout_ms = 2000};
    assert_int_equal(lab_run(l, c, &run, &r), 128 + SIGKILL);
    assert_true(r.is_timed_out);
    assert_string_equal(r.out, "started\n");
    /* A child in the background does not hold the result back. */
    assert_int_equal(lab_sh(l, c, "user", "sleep 60 & echo done", &r), 0);
    assert_string_equal(r.out, "done\n");
    /* Nobody waited for the sleepers. */
    assert_true(clock_mono_ms() - start_ms < 50000);
}

static void big_input_and_output_go_through(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "big", NULL);
    size_t len = 4 << 20;
    auto_free char *text = malloc(len);
    const char *const argv[] = {"sh", "-c", "cat >/tmp/x; sha256sum </tmp/x; wc -c </tmp/x", NULL};

    assert_non_null(text);
    memset(text, 'z', len);
    struct engine_run run = {.argv = argv, .input = str_n(text, len)};
    assert_int_equal(lab_run(l, c, &run, &r), 0);
    assert_non_null(strstr(r.out, "\n4194304\n"));
}

static void cells_do_not_see_each_other(void **state)
{
    struct lab *l = *state;
    struct engine_cell *a = create(l, "a", NULL), *b = create(l, "b", NULL);

    assert_true(engine_cell_info(a)->uid_base != engine_cell_info(b)->uid_base);
    assert_int_equal(
        lab_sh(l, a, "root", "echo secret >/tmp/x; echo new >/usr/new; chmod 777 /usr", &r), 0);
    assert_int_equal(lab_sh(l, b, "root", "ls /tmp /usr/new", &r), 2);
    assert_null(strstr(r.out, "x"));
    assert_int_equal(access("/usr/new", F_OK), -1);
    assert_int_equal(lab_sh(l, a, "user", "sleep 77 & echo", &r), 0);
    assert_int_equal(lab_sh(l, b, "user", "grep -l sleep /proc/[0-9]*/comm", &r), 1);
    assert_int_equal(lab_sh(l, b, "user", "ls -d /proc/[0-9]* | wc -l", &r), 0);
    assert_true(strtol(r.out, NULL, 10) <= 4);
}

/* Killed processes of a throttled cell end only when it gets the processor again. */
static void wait_for_pids(struct engine_cell *c, uint32_t most)
{
    int64_t deadline_ms = clock_mono_ms() + 30000;
    struct cgroup_usage u;

    do {
        (void)usleep(20000);
        assert_int_equal(engine_cell_usage(c, &u, NULL), 0);
        assert_true(clock_mono_ms() < deadline_ms);
    } while (u.pids > most);
}

static void limits_hold(void **state)
{
    struct lab *l = *state;
    struct cell_spec s = lab_spec();
    struct cgroup_usage u;

    s.limits = (struct cgroup_limits){.memory_bytes = 64 << 20, .pids = 16, .cpu_milli = 200};
    s.disk.bytes = 16 << 20;
    struct engine_cell *c = create(l, "small", &s);
    assert_int_equal(lab_sh(l, c, "user",
                            "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all",
                            &r),
                     2);
    (void)lab_sh(l, c, "root", "kill -9 -1", &r);
    wait_for_pids(c, 1);
    assert_true(lab_sh(l, c, "user", "head -c 30000000 /dev/zero >/tmp/big", &r) != 0);
    assert_non_null(strstr(r.err, "No space"));
    assert_int_equal(lab_sh(l, c, "user", "rm /tmp/big", &r), 0);
    assert_int_equal(lab_sh(l, c, "user", "python3 -c 'x=bytearray(200<<20)'", &r), 128 + SIGKILL);
    assert_int_equal(engine_cell_usage(c, &u, NULL), 0);
    assert_true(u.oom_kills >= 1);
    assert_true(u.memory_peak_bytes <= 64 << 20 && u.memory_peak_bytes > 32 << 20);
    assert_int_equal(u.memory_limit_bytes, 64 << 20);
    uint64_t before = u.cpu_us;
    const char *const spin[] = {"sh", "-c", "while :; do :; done", NULL};
    struct engine_run run = {.argv = spin, .timeout_ms = 1000};
    int64_t start_us = clock_mono_us();
    assert_int_equal(lab_run(l, c, &run, &r), 128 + SIGKILL);
    assert_int_equal(engine_cell_usage(c, &u, NULL), 0);
    /* A fifth of the time, and what one period may be overdrawn. */
    assert_in_range(u.cpu_us - before, 1, (uint64_t)(clock_mono_us() - start_us) / 5 + 150000);
    /* The first process survived all of it. */
    assert_int_equal(lab_sh(l, c, "user", "true", &r), 0);
}

static void a_frozen_cell_stands_still(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "ice", NULL);
    struct err e = ERR_INIT;
    struct cgroup_usage before, after;
    const char *count = "(i=0; while :; do i=$((i+1)); echo $i >/tmp/n; done) >/dev/null 2>&1 &";

    assert_int_equal(lab_sh(l, c, "user", count, &r), 0);
    if (engine_cell_freeze(c, true, &e) < 0)
        fail_msg("%s", err_text(&e));
    assert_int_equal(engine_cell_usage(c, &before, NULL), 0);
    (void)usleep(300000);
    assert_int_equal(engine_cell_usage(c, &after, NULL), 0);
    assert_int_equal(after.cpu_us, before.cpu_us);
    assert_int_equal(engine_cell_freeze(c, false, &e), 0);
    assert_int_equal(lab_sh(l, c, "user",
                            "a=$(cat /tmp/n); while [ \"$a\" = \"$(cat /tmp/n)\" ]; do :; done",
                            &r),
                     0);
    /* And can be ended while it is frozen. */
    assert_int_equal(engine_cell_freeze(c, true, &e), 0);
    lab_kill(l, c);
    assert_int_equal(l->n_gone, 1);
}

static void ports_are_reached_from_outside(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "port", NULL);
    char text[16] = "";
    static const char serve[] =
        "python3 -c 'import socket,sys\n"
        "s=socket.socket(socket.AF_INET6 if sys.argv[1]==\"6\" else socket.AF_INET)\n"
        "s.bind((\"::1\" if sys.argv[1]==\"6\" else \"127.0.0.1\",80)); s.listen(); "
        "print(1,flush=True)\n"
        "c,_=s.accept(); c.sendall(b\"hello \"+sys.argv[1].encode()); c.close()' %c >/tmp/up 2>&1 "
        "&\n"
        "while ! [ -s /tmp/up ]; do sleep 0.02; done; rm /tmp/up";

    assert_int_equal(engine_cell_connect(c, 80), -ECONNREFUSED);
    for (const char *family = "46"; *family; family++) {
        char script[1024];
        (void)snprintf(script, sizeof script, serve, *family);
        assert_int_equal(lab_sh(l, c, "user", script, &r), 0);
        int fd = engine_cell_connect(c, 80);
        assert_true(fd >= 0);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 5000), 1);
        assert_int_equal(read(fd, text, sizeof text - 1), 7);
        assert_int_equal(text[6], *family);
        (void)close(fd);
    }
}

static void there_is_no_way_out(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "closed", NULL);

    /* Nothing is sent: the namespace has no route at all. */
    assert_int_equal(lab_sh(l, c, "user", "cat /proc/net/route | wc -l; ls /sys/class | wc -l", &r),
                     0);
    assert_string_equal(r.out, "1\n0\n");
    assert_int_equal(
        lab_sh(l, c, "user",
               "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\",80),2)'", &r),
        1);
    assert_non_null(strstr(r.err, "Network is unreachable"));
}

static void a_stock_makes_creation_a_claim(void **state)
{
    struct lab *l = *state;
    struct cell_spec other = lab_spec();

    assert_true(lab_wait_stock(l));
    assert_int_equal(engine_n_stock(l->engine), 4);
    for (int i = 0; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        struct engine_cell *c = create(l, name, NULL);
        assert_int_equal(lab_sh(l, c, "user", "hostname", &r), 0);
        assert_int_equal(strncmp(r.out, name, strlen(name)), 0);
        assert_ptr_equal(engine_find(l->engine, name), c);
    }
    assert_int_equal(engine_n_cells(l->engine), 10);
    assert_true(lab_wait_stock(l));
    assert_int_equal(engine_n_stock(l->engine), 4);
    /* What does not fit is built; what only differs in limits is adjusted. */
    other.disk.bytes = 32 << 20;
    struct engine_cell *c = create(l, "other", &other);
    assert_int_equal(lab_sh(l, c, "user", "df -k /tmp | tail -1", &r), 0);
    assert_non_null(strstr(r.out, " 32768 "));
    assert_int_equal(engine_n_stock(l->engine), 4);
    other = lab_spec();
    other.limits.pids = 20;
    c = create(l, "fewer", &other);
    assert_int_equal(
        lab_sh(l, c, "user", "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done", &r), 2);
}

static void a_stock_waits_for_those_who_use_cells(void **state)
{
    struct lab *l = *state;

    assert_true(lab_wait_stock(l));
    (void)create(l, "first", NULL);
    for (int i = 0; i < 10; i++) {
        engine_note_use(l->engine);
        (void)loop_run_once(l->loop, 20);
        assert_int_equal(engine_n_building(l->engine), 0);
    }
    /* Nobody does any more. */
    assert_true(lab_wait_stock(l));
    /* While little is left, nothing is waited for. */
    for (int i = 0; i < 4; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "more%d", i);
        (void)create(l, name, NULL);
    }
    assert_int_equal(engine_n_building(l->engine), 4);
}

static void every_kind_of_disk_works(void **state)
{
    struct lab *l = *state;
    const struct disk_spec disks[] = {
        {DISK_DIR, 0}, {DISK_TMPFS, 32 << 20}, {DISK_IMAGE, 32 << 20}};

    for (size_t i = 0; i < ARRAY_LEN(disks); i++) {
        struct cell_spec s = lab_spec();
        s.disk = disks[i];
        struct engine_cell *c = create(l, "disk", &s);
        assert_int_equal(
            lab_sh(l, c, "root",
                   "set -e; rm -rf /usr/share/doc; ! [ -e /usr/share/doc ]; mkdir /usr/share/doc;"
                   "[ -z \"$(ls /usr/share/doc)\" ]; mv ~user /srv/u2; touch /root/x /dev/shm/y;"
                   "[ $(stat -c %u /root/x) = 0 ]; echo fine",
                   &r),
            0);
        assert_string_equal(r.out, "fine\n");
        int code = lab_sh(l, c, "user", "head -c 50000000 /dev/zero >/tmp/big; echo $?", &r);
        assert_int_equal(code, 0);
        assert_string_equal(r.out, disks[i].bytes ? "1\n" : "0\n");
        lab_kill(l, c);
    }
    struct cell_spec s = lab_spec();
    struct err e = ERR_INIT;
    s.disk = (struct disk_spec){DISK_DIR, 1 << 30};
    assert_null(lab_create(l, "honest", &s, &e));
    assert_int_equal(e.code, -EOPNOTSUPP);
}

static void wrong_requests_are_refused(void **state)
{
    struct lab *l = *state;
    struct cell_spec s = lab_spec();
    struct err e = ERR_INIT;

    assert_null(lab_create(l, "", &s, &e));
    assert_int_equal(e.code, -EINVAL);
    (void)snprintf(s.template_name, sizeof s.template_name, "nothing");
    assert_null(lab_create(l, "x", &s, &e));
    assert_int_equal(e.code, -ENOENT);
    s = lab_spec();
    s.disk.bytes = 1;
    assert_null(lab_create(l, "x", &s, &e));
    assert_int_equal(e.code, -EINVAL);
    assert_int_equal(engine_n_cells(l->engine), 0);
}

static void cells_are_found_again(void **state)
{
    struct lab *l = *state;
    struct err e = ERR_INIT;
    struct engine_cell *c = create(l, "alive", NULL);
    struct cell_info before = *engine_cell_info(c);

    assert_int_equal(lab_sh(l, c, "user", "sleep 99 & echo $! >/tmp/pid", &r), 0);
    (void)create(l, "second", NULL);
    assert_int_equal(lab_reopen(l, &e), 0);
    assert_int_equal(engine_n_cells(l->engine), 2);
    c = engine_find(l->engine, "alive");
    assert_non_null(c);
    assert_int_equal(engine_cell_info(c)->pid, before.pid);
    assert_int_equal(engine_cell_info(c)->generation, before.generation);
    assert_int_equal(lab_sh(l, c, "user", "kill -0 $(cat /tmp/pid) && hostname", &r), 0);
    assert_string_equal(r.out, "alive\n");
    assert_int_equal(engine_cell_connect(c, 80), -ECONNREFUSED);
    lab_kill(l, c);
    assert_null(engine_find(l->engine, "alive"));
    assert_int_equal(engine_n_cells(l->engine), 1);
}

/* What a daemon that starts at this very moment would find. */
static void look_beside(void *ctx, struct engine_cell *c, const struct err *e)
{
    struct lab *l = ctx;
    struct engine_options o = l->engine->options;
    struct engine *beside;

    (void)e;
    assert_non_null(c);
    o.stock = 0;
    beside = engine_open(l->loop, &o, NULL);
    assert_non_null(beside);
    assert_non_null(engine_find(beside, "claimed"));
    assert_int_equal(engine_n_stock(beside), l->stock - 1);
    engine_close(beside);
}

/* Who has a cell tells it secrets: from then on it must never be taken for one of the stock. */
static void a_cell_is_labelled_before_it_is_handed_over(void **state)
{
    struct lab *l = *state;
    struct cell_spec spec = lab_spec();
    struct err e = ERR_INIT;

    assert_true(lab_wait_stock(l));
    l->engine->options.is_claimed_by_caller = true;
    spec.limits.memory_bytes *= 2;
    assert_int_equal(engine_create(l->engine, "claimed", &spec, look_beside, l, &e), 0);
    l->engine->options.is_claimed_by_caller = false;
    lab_kill(l, engine_find(l->engine, "claimed"));
}

static void a_cell_that_ends_itself_is_reported(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "gone", NULL);

    assert_int_equal(kill((pid_t)engine_cell_info(c)->pid, SIGKILL), 0);
    for (int i = 0; i < 100 && l->n_gone == 0; i++)
        (void)loop_run_once(l->loop, 50);
    assert_int_equal(l->n_gone, 1);
    assert_int_equal(WTERMSIG(l->last_status), SIGKILL);
    assert_int_equal(engine_n_cells(l->engine), 0);
    /* Commands inside cannot do that. */
    c = create(l, "stays", NULL);
    (void)lab_sh(l, c, "root", "kill -9 1; kill -TERM 1; kill -STOP 1", &r);
    assert_int_equal(lab_sh(l, c, "user", "true", &r), 0);
}

static void a_broken_connection_loses_nothing(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "kept", NULL), *other = create(l, "ended", NULL);
    uint32_t spawner = engine_spawner_pid(l->engine);

    assert_int_equal(kill((pid_t)engine_cell_info(other)->pid, SIGKILL), 0);
    assert_int_equal(shutdown(l->engine->spawner->io.fd, SHUT_RDWR), 0);
    for (int i = 0; i < 100 && l->n_gone == 0; i++)
        (void)loop_run_once(l->loop, 50);
    assert_int_equal(engine_spawner_pid(l->engine), spawner);
    assert_int_equal(l->n_gone, 1);
    assert_ptr_equal(engine_find(l->engine, "kept"), c);
    assert_int_equal(lab_sh(l, c, "user", "true", &r), 0);
    lab_kill(l, c);
    assert_int_equal(l->n_gone, 2);
}

static void cells_end_with_their_spawner(void **state)
{
    struct lab *l = *state;
    struct engine_cell *c = create(l, "doomed", NULL);
    /* Frozen: the signal that it gets at its parent's death waits until the sweep thaws it. */
    assert_int_equal(engine_cell_freeze(c, true, NULL), 0);
    pid_t spawner = (pid_t)engine_spawner_pid(l->engine), pid = (pid_t)engine_cell_info(c)->pid;

    assert_int_equal(kill(spawner, SIGKILL), 0);
    for (int i = 0; i < 200 && (l->n_gone == 0 || (pid_t)engine_spawner_pid(l->engine) == spawner);
         i++)
        (void)loop_run_once(l->loop, 50);
    assert_int_equal(l->n_gone, 1);
    assert_int_equal(l->last_status, -1);
    assert_true((pid_t)engine_spawner_pid(l->engine) != spawner);
    /* Whoever adopts orphans on this machine reaps it. */
    for (int i = 0; i < 100 && kill(pid, 0) == 0; i++)
        (void)usleep(20000);
    assert_int_equal(kill(pid, 0), -1);
    /* The new one swept and works. */
    struct lab_census n;
    lab_count(l, &n);
    assert_in_range(n.cgroups, 0, 8 * CGROUP_HIERARCHIES); /* made ahead */
    c = create(l, "again", NULL);
    assert_int_equal(lab_sh(l, c, "user", "true", &r), 0);
}

static void version_2_clones_into_its_group(void **state)
{
    struct lab *l = *state;
    struct err e = ERR_INIT;
    struct engine_cell *c = create(l, "two", NULL);

    assert_int_equal(lab_sh(l, c, "user", "grep ^0:: /proc/self/cgroup", &r), 0);
    assert_string_equal(r.out, "0::/\n");
    assert_int_equal(engine_cell_freeze(c, true, &e), 0);
    lab_kill(l, c);
    assert_int_equal(l->n_gone, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commands_run_and_report, setup, teardown),
        cmocka_unit_test_setup_teardown(output_and_time_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(big_input_and_output_go_through, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_do_not_see_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(a_frozen_cell_stands_still, setup, teardown),
        cmocka_unit_test_setup_teardown(ports_are_reached_from_outside, setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_no_way_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stock_makes_creation_a_claim, setup_stock, teardown),
        cmocka_unit_test_setup_teardown(a_cell_is_labelled_before_it_is_handed_over, setup_stock,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_stock_waits_for_those_who_use_cells, setup_stock,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_kind_of_disk_works, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_are_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cell_that_ends_itself_is_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_of_ended_cells_lead_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(a_broken_connection_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_end_with_their_spawner, setup, teardown),
        cmocka_unit_test_setup_teardown(version_2_clones_into_its_group, setup_v2, teardown),
    };

    return lab_must_skip() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
