/* SPDX-License-Identifier: MIT */
/* What cells leave behind: nothing, after many cycles of every kind, after starts that fail, and
 * after a daemon that is killed at any moment. Needs root. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/lab.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum { CYCLES = 500, AT_ONCE = 8, KILLS = 12, MANY = 400 };

static struct lab lab;
static struct lab_result r;

static int setup(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    if (lab_open(&lab, 0, CGROUP_NONE, &e) == 0)
        return 0;
    print_message("%s\n", err_text(&e));
    return -1;
}

static int teardown(void **state)
{
    (void)state;
    lab_close(&lab);
    return 0;
}

/* Only what is this lab's is counted, because others use the machine at the same time. Network
 * namespaces need no count of their own: what could keep one alive is a process, a descriptor or a
 * mount. */
static bool is_same(const struct lab_census *a, const struct lab_census *b)
{
    return a->mounts == b->mounts && a->cgroups == b->cgroups && a->processes == b->processes &&
           a->own_fds == b->own_fds && a->spawner_fds == b->spawner_fds && a->files == b->files;
}

/* How things stand when the spawner has done all that it does ahead. */
static void count_at_rest(struct lab_census *ret)
{
    struct lab_census last = {0};

    for (int i = 0, n_same = 0; i < 400 && n_same < 20; i++) {
        (void)loop_run_once(lab.loop, 10);
        (void)usleep(50000);
        lab_count(&lab, ret);
        n_same = is_same(ret, &last) ? n_same + 1 : 0;
        last = *ret;
    }
}

/* Waits until no file of ended cells and just N_PROCESSES processes are left. */
static void expect_left(unsigned n_processes)
{
    int64_t end_ms = clock_mono_ms() + 60000;
    struct lab_census now;

    do {
        (void)loop_run_once(lab.loop, 10);
        (void)usleep(30000);
        lab_count(&lab, &now);
    } while ((now.files > 0 || now.processes != n_processes) && clock_mono_ms() < end_ms);
    assert_int_equal(now.files, 0);
    assert_int_equal(now.processes, n_processes);
}

/* Things are deleted and prepared in the background: waits for the end of that. */
static void expect_same(const struct lab_census *before)
{
    int64_t end_ms = clock_mono_ms() + 60000;
    struct lab_census after;

    do {
        count_at_rest(&after);
    } while (!is_same(&after, before) && clock_mono_ms() < end_ms);
    assert_int_equal(after.mounts, before->mounts);
    assert_int_equal(after.cgroups, before->cgroups);
    assert_int_equal(after.processes, before->processes);
    assert_int_equal(after.own_fds, before->own_fds);
    assert_int_equal(after.spawner_fds, before->spawner_fds);
    assert_int_equal(after.files, before->files);
}

struct cycle {
    struct engine_cell *cells[AT_ONCE];
    unsigned n;
};

static void on_created(void *ctx, struct engine_cell *c, const struct err *e)
{
    struct cycle *cy = ctx;

    if (!c)
        fail_msg("%s", err_text(e));
    cy->cells[cy->n++] = c;
}

/* A few cells at once, each with a command, then all away. */
static void run_cycle(const struct cell_spec *spec)
{
    struct cycle cy = {0};
    struct err e = ERR_INIT;
    unsigned gone = lab.n_gone;

    for (int i = 0; i < AT_ONCE; i++) {
        char label[16];
        (void)snprintf(label, sizeof label, "c%d", i);
        assert_int_equal(engine_create(lab.engine, label, spec, on_created, &cy, &e), 0);
    }
    while (cy.n < AT_ONCE)
        (void)loop_run_once(lab.loop, 1000);
    for (unsigned i = 0; i < cy.n; i++)
        assert_int_equal(lab_sh(&lab, cy.cells[i], "user", "echo x >/tmp/x; sleep 100 & true", &r),
                         0);
    for (unsigned i = 0; i < cy.n; i++)
        engine_cell_kill(cy.cells[i]);
    while (lab.n_gone < gone + AT_ONCE)
        (void)loop_run_once(lab.loop, 1000);
}

static void cycles_leave_nothing(void **state)
{
    struct lab_census before;
    struct cell_spec spec = lab_spec();

    (void)state;
    run_cycle(&spec);
    count_at_rest(&before);
    for (int i = 0; i < CYCLES / AT_ONCE; i++)
        run_cycle(&spec);
    expect_same(&before);
}

static void disks_leave_nothing(void **state)
{
    struct lab_census before;
    struct cell_spec spec = lab_spec();

    (void)state;
    /* From the first one on some disks of its size are kept ready. */
    spec.disk = (struct disk_spec){DISK_IMAGE, 32 << 20};
    run_cycle(&spec);
    count_at_rest(&before);
    for (int i = 0; i < 3; i++) {
        spec.disk = (struct disk_spec){DISK_DIR, 0};
        run_cycle(&spec);
        spec.disk = (struct disk_spec){DISK_IMAGE, 32 << 20};
        run_cycle(&spec);
    }
    expect_same(&before);
}

/* More than the socket to the spawner takes at once. */
static void many_end_together(void **state)
{
    struct err e = ERR_INIT;
    struct cell_spec spec = lab_spec();
    static struct engine_cell *cells[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        char label[16];
        (void)snprintf(label, sizeof label, "m%d", i);
        cells[i] = lab_create(&lab, label, &spec, &e);
        if (!cells[i])
            fail_msg("%s", err_text(&e));
    }
    for (int i = 0; i < MANY; i++)
        engine_cell_kill(cells[i]);
    int64_t end_ms = clock_mono_ms() + 30000;
    while (lab.n_gone < MANY && clock_mono_ms() < end_ms)
        (void)loop_run_once(lab.loop, 100);
    assert_int_equal(lab.n_gone, MANY);
    assert_int_equal(engine_n_cells(lab.engine), 0);
}

/* A tree that is deeper than a path may be long, and full of odd modes. */
static void hostile_files_are_removed(void **state)
{
    struct lab_census before;
    struct cell_spec spec = lab_spec();

    (void)state;
    spec.disk = (struct disk_spec){DISK_DIR, 0};
    count_at_rest(&before);
    struct engine_cell *c = lab_create(&lab, "deep", &spec, NULL);
    assert_non_null(c);
    assert_int_equal(
        lab_sh(&lab, c, "user",
               "cd /tmp; python3 -c 'import os\nfor i in range(3000):\n os.mkdir(\"d\"*20); "
               "os.chdir(\"d\"*20)\nopen(\"x\",\"w\")'; mkdir m; touch m/f; chmod 0 m/f m; "
               "mkfifo p; ln -s / l",
               &r),
        0);
    lab_kill(&lab, c);
    expect_left(before.processes);
}

static void failed_starts_leave_nothing(void **state)
{
    struct lab_census before;
    struct cell_spec spec = lab_spec();
    struct err e = ERR_INIT;

    (void)state;
    run_cycle(&spec);
    count_at_rest(&before);
    /* Too little memory to build a cell: it fails at some step inside. */
    spec.limits.memory_bytes = 64 << 10;
    for (int i = 0; i < 5; i++) {
        struct engine_cell *c = lab_create(&lab, "tiny", &spec, &e);
        if (c)
            lab_kill(&lab, c);
    }
    spec = lab_spec();
    (void)snprintf(spec.template_name, sizeof spec.template_name, "none");
    assert_null(lab_create(&lab, "x", &spec, &e));
    expect_same(&before);
    spec = lab_spec();
    run_cycle(&spec);
}

/* ---- a daemon that is killed ---- */

/* In a child: a daemon that creates and ends cells until it is shot. The first four stay; READY is
 * closed when they are there. */
static void be_a_daemon(int round, int ready)
{
    struct err e = ERR_INIT;
    struct cell_spec spec = lab_spec();

    if (lab_reopen(&lab, &e) < 0)
        _exit(2);
    for (int i = 0; i < 4 && round == 0; i++) {
        char label[16];
        (void)snprintf(label, sizeof label, "keep%d", i);
        struct engine_cell *c = lab_create(&lab, label, &spec, NULL);
        if (!c || lab_sh(&lab, c, "user",
                         "(i=0; while :; do i=$((i+1)); echo $i >/tmp/n; sleep 0.01; done) "
                         ">/dev/null 2>&1 &",
                         &r) != 0)
            _exit(3);
    }
    (void)close(ready);
    for (int i = 0;; i++) {
        char label[32];
        (void)snprintf(label, sizeof label, "r%dc%d", round, i);
        struct engine_cell *c = lab_create(&lab, label, &spec, NULL);
        if (c && i % 3 != 0)
            lab_kill(&lab, c);
    }
}

static long counter_of(const char *label)
{
    struct engine_cell *c = engine_find(lab.engine, label);

    if (!c)
        fail_msg("%s is lost", label);
    if (lab_sh(&lab, c, "user", "cat /tmp/n", &r) != 0)
        fail_msg("%s: %s", label, r.err);
    return strtol(r.out, NULL, 10);
}

static void kill_unwanted(void *ctx, struct engine_cell *c, const struct err *e)
{
    (void)ctx;
    (void)e;
    if (strncmp(engine_cell_info(c)->label, "keep", 4) != 0)
        engine_cell_kill(c);
}

/* What the counter of cell "keepI" shows once it is past BEFORE: it counts as long as it lives, be
 * it slowly. */
static long counter_past(int i, long before)
{
    int64_t deadline_ms = clock_mono_ms() + 60000;
    char label[16];
    long now;

    (void)snprintf(label, sizeof label, "keep%d", i);
    while ((now = counter_of(label)) <= before) {
        assert_true(clock_mono_ms() < deadline_ms);
        (void)usleep(20000);
    }
    return now;
}

static void killed_daemons_lose_nothing(void **state)
{
    struct err e = ERR_INIT;
    long counters[4] = {0};

    (void)state;
    uint32_t spawner = engine_spawner_pid(lab.engine);
    for (int round = 0; round < KILLS; round++) {
        int ready[2];
        char c;
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)close(ready[0]);
            be_a_daemon(round, ready[1]);
        }
        (void)close(ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 0);
        (void)close(ready[0]);
        (void)usleep(60000U + 7000U * (unsigned)round);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    assert_int_equal(lab_reopen(&lab, &e), 0);
    assert_int_equal(engine_spawner_pid(lab.engine), spawner);
    for (int i = 0; i < 4; i++)
        counters[i] = counter_past(i, 0);
    for (int i = 0; i < 4; i++)
        (void)counter_past(i, counters[i]);
    engine_each(lab.engine, kill_unwanted, NULL);
    for (int i = 0; i < 500 && engine_n_cells(lab.engine) > 4; i++)
        (void)loop_run_once(lab.loop, 20);
    assert_int_equal(engine_n_cells(lab.engine), 4);
    assert_int_equal(lab_sh(&lab, engine_find(lab.engine, "keep0"), "user", "true", &r), 0);
    /* Cells that nobody was told of wait in the stock; no other process is left. */
    expect_left(4 + engine_n_stock(lab.engine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cycles_leave_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(disks_leave_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(many_end_together, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_files_are_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(failed_starts_leave_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(killed_daemons_lose_nothing, setup, teardown),
    };

    return lab_must_skip() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
