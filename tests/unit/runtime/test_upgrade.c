/* SPDX-License-Identifier: MIT */
/* Upgrades, through the engine: a new build of tidepool-envd or tidepool-local makes the new cells,
 * the old ones go on, and nothing old stays when they are gone. Needs root. */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/lab.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/engine_freeze.h"
#include "runtime/engine_internal.h"
#include "runtime/engine_root.h"
#include "runtime/template.h"
#include "sys/io.h"

enum { STOCK = 3, WAIT_MS = 20000, PROGRAM_MAX = 64 << 20 };

static struct lab lab;
static struct lab_result r;
static char program[128];

/* Writes the program with MARK behind it, which makes it another build, and beside it LOCAL, unless
 * that is NULL. */
static void install(const char *mark, const char *local)
{
    auto_buf struct buf text = BUF_INIT(PROGRAM_MAX);
    char path[160];

    assert_int_equal(io_read_file(lab_envd(), &text, NULL), 0);
    assert_int_equal(buf_add_str(&text, str_of(mark)), 0);
    (void)snprintf(path, sizeof path, "%s/bin", lab.state);
    assert_int_equal(io_mkdirs(path, 0755, NULL), 0);
    (void)snprintf(program, sizeof program, "%s/bin/tidepool-envd", lab.state);
    assert_int_equal(io_write_file(program, buf_str(&text), 0755, NULL), 0);
    lab.envd = program;
    if (!local)
        return;
    (void)snprintf(path, sizeof path, "%s/bin/tidepool-local", lab.state);
    assert_int_equal(io_write_file(path, str_of(local), 0755, NULL), 0);
}

static void restart(void)
{
    struct err e = ERR_INIT;

    if (lab_reopen(&lab, &e) < 0)
        fail_msg("%s", err_text(&e));
}

static void upgrade(const char *mark)
{
    install(mark, NULL);
    restart();
}

static int setup_with(unsigned stock)
{
    struct err e = ERR_INIT;

    if (lab_open(&lab, stock, CGROUP_NONE, &e) == 0)
        return 0;
    print_message("%s\n", err_text(&e));
    return -1;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(0);
}

static int setup_stock(void **state)
{
    (void)state;
    return setup_with(STOCK);
}

static int teardown(void **state)
{
    (void)state;
    lab_close(&lab);
    return 0;
}

static struct engine_cell *create(const char *label)
{
    struct cell_spec spec = lab_spec();
    struct err e = ERR_INIT;
    struct engine_cell *c = lab_create(&lab, label, &spec, &e);

    if (!c)
        fail_msg("%s", err_text(&e));
    return c;
}

static pid_t spawner(void)
{
    return (pid_t)engine_spawner_pid(lab.engine);
}

/* What is dead has no program, also before somebody reaps it. */
static bool is_running(pid_t pid)
{
    char path[32], target[256];

    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return readlink(path, target, sizeof target) >= 0;
}

static unsigned n_below(const char *name)
{
    char path[128];
    unsigned n = 0;

    (void)snprintf(path, sizeof path, "%s/%s", lab.state, name);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

/* The old spawner ends, and with it its place. */
static void wait_for_end_of(pid_t pid)
{
    struct lab_census left = {.files = 1};
    int64_t end_ms = clock_mono_ms() + WAIT_MS;

    while (
        (is_running(pid) || lab.engine->n_old > 0 || left.files > 0 || n_below("spawners") > 1) &&
        clock_mono_ms() < end_ms) {
        (void)loop_run_once(lab.loop, 20);
        lab_count(&lab, &left);
    }
    assert_false(is_running(pid));
    assert_int_equal(lab.engine->n_old, 0);
    assert_int_equal(left.files, 0);
    assert_int_equal(n_below("spawners"), 1);
    assert_int_equal(engine_n_old_cells(lab.engine), 0);
}

static void cells_go_on_and_new_ones_are_new(void **state)
{
    struct engine_cell *c = create("stays");
    pid_t old = spawner(), first = (pid_t)engine_cell_info(c)->pid;
    struct cgroup_usage use;

    (void)state;
    assert_int_equal(lab_sh(&lab, c, "user", "echo before >/tmp/mark", &r), 0);
    upgrade("another build");
    assert_true(is_running(old) && spawner() != old);
    assert_int_equal(engine_n_cells(lab.engine), 1);
    assert_int_equal(engine_n_old_cells(lab.engine), 1);

    /* Each has a first slot; they have nothing else in common. */
    struct engine_cell *n = create("comes");
    c = engine_find(lab.engine, "stays");
    assert_non_null(c);
    assert_int_equal(engine_cell_info(c)->pid, (uint32_t)first);
    assert_true(engine_cell_info(c)->uid_base != engine_cell_info(n)->uid_base);
    assert_int_equal(lab_sh(&lab, c, "user", "cat /tmp/mark", &r), 0);
    assert_string_equal(r.out, "before\n");
    assert_int_equal(lab_sh(&lab, n, "user", "cat /tmp/mark", &r), 1);
    assert_int_equal(engine_cell_freeze(c, true, NULL), 0);
    assert_int_equal(lab_sh(&lab, n, "user", "true", &r), 0);
    assert_int_equal(engine_cell_freeze(c, false, NULL), 0);
    assert_int_equal(engine_cell_usage(c, &use, NULL), 0);
    assert_true(use.pids > 0);

    lab_kill(&lab, c);
    wait_for_end_of(old);
    assert_int_equal(lab_sh(&lab, n, "user", "true", &r), 0);
    assert_int_equal(lab.n_gone, 1);
}

static void one_without_cells_ends_at_once(void **state)
{
    pid_t old = spawner();

    (void)state;
    assert_true(lab_wait_stock(&lab));
    upgrade("another build");
    wait_for_end_of(old);
    assert_int_equal(lab.n_gone, 0);
}

/* Two upgrades while a cell lives, then one back to a build that still has a spawner. */
static void builds_may_come_back(void **state)
{
    (void)state;
    upgrade("one");
    pid_t one = spawner();
    (void)create("a");
    upgrade("two");
    pid_t two = spawner();
    (void)create("b");
    upgrade("one");
    assert_int_equal(spawner(), one);
    assert_int_equal(engine_n_cells(lab.engine), 2);
    assert_int_equal(engine_n_old_cells(lab.engine), 1);
    lab_kill(&lab, engine_find(lab.engine, "b"));
    wait_for_end_of(two);
    assert_int_equal(lab_sh(&lab, engine_find(lab.engine, "a"), "user", "true", &r), 0);
}

static void a_broken_connection_loses_nothing(void **state)
{
    (void)state;
    (void)create("stays");
    pid_t old = spawner();
    upgrade("another build");
    struct spawner_link *s = list_entry(lab.engine->old.next, struct spawner_link, node);
    assert_int_equal(shutdown(s->io.fd, SHUT_RDWR), 0);
    for (int i = 0; i < 10; i++)
        (void)loop_run_once(lab.loop, 10);
    assert_int_equal(lab.n_gone, 0);
    struct engine_cell *c = engine_find(lab.engine, "stays");
    assert_int_equal(lab_sh(&lab, c, "user", "true", &r), 0);
    lab_kill(&lab, c);
    wait_for_end_of(old);
}

static void what_a_dead_one_left_is_swept(void **state)
{
    struct engine_cell *c = create("doomed");
    pid_t old = spawner(), first = (pid_t)engine_cell_info(c)->pid;

    (void)state;
    upgrade("two");
    pid_t second = spawner();
    c = engine_find(lab.engine, "doomed");
    assert_non_null(c);
    /* Frozen: the signal that it gets at its parent's death waits until the sweep thaws it. */
    assert_int_equal(engine_cell_freeze(c, true, NULL), 0);
    (void)create("stays");
    assert_int_equal(kill(old, SIGKILL), 0);
    wait_for_end_of(old);
    assert_int_equal(lab.n_gone, 1);
    assert_int_equal(lab.last_status, -1);
    for (int i = 0; i < 100 && is_running(first); i++)
        (void)usleep(20000);
    assert_false(is_running(first));
    assert_int_equal(lab_sh(&lab, engine_find(lab.engine, "stays"), "user", "true", &r), 0);
    /* The same while there is no engine. */
    assert_int_equal(kill(second, SIGKILL), 0);
    upgrade("three");
    wait_for_end_of(second);
    assert_int_equal(engine_n_cells(lab.engine), 0);
}

/* Whoever asks for a cell meanwhile is told why there is none. */
static void a_successor_that_does_not_start(void **state)
{
    const struct cell_spec spec = lab_spec();
    struct err e = ERR_INIT;
    char aside[160];

    (void)state;
    upgrade("two");
    pid_t old = spawner();
    (void)snprintf(aside, sizeof aside, "%s.aside", program);
    assert_int_equal(rename(program, aside), 0);
    assert_int_equal(kill(old, SIGKILL), 0);
    for (int i = 0; i < 200 && lab.engine->spawner->io.loop; i++)
        (void)loop_run_once(lab.loop, 50);
    assert_null(lab_create(&lab, "none", &spec, &e));
    assert_non_null(strstr(err_text(&e), "no cells can be created: start '"));
    assert_int_equal(rename(aside, program), 0);
    for (int i = 0; i < 200 && !lab.engine->spawner->io.loop; i++)
        (void)loop_run_once(lab.loop, 50);
    assert_int_equal(lab_sh(&lab, create("again"), "root", "true", &r), 0);
}

/* The state directory itself was the place when there was only one. */
static void the_first_layout_is_known(void **state)
{
    char from[160], to[160];
    static const char *const names[] = {"spawner.sock", "spawner.lock", "cells"};

    (void)state;
    (void)create("stays");
    pid_t old = spawner();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(from, sizeof from, "%s/%s", lab.engine->home, names[i]);
        (void)snprintf(to, sizeof to, "%s/%s", lab.state, names[i]);
        assert_int_equal(rename(from, to), 0);
    }
    assert_int_equal(rmdir(lab.engine->home), 0);
    upgrade("another build");
    struct engine_cell *c = engine_find(lab.engine, "stays");
    assert_non_null(c);
    assert_int_equal(lab_sh(&lab, c, "user", "true", &r), 0);
    lab_kill(&lab, c);
    wait_for_end_of(old);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(to, sizeof to, "%s/%s", lab.state, names[i]);
        assert_int_equal(access(to, F_OK), -1);
    }
}

static void check_local(struct engine_cell *c, const char *want)
{
    assert_non_null(c);
    assert_int_equal(lab_sh(&lab, c, "user", "cat /" TEMPLATE_LOCAL, &r), 0);
    assert_string_equal(r.out, want);
}

/* Not even what was made ahead has the old tools. */
static void new_tools_reach_new_cells(void **state)
{
    (void)state;
    lab.stock_again = STOCK;
    install("a build", "local");
    restart();
    pid_t same = spawner();
    check_local(create("first"), "local");
    for (int i = 0; i < 3; i++) {
        char text[16];
        assert_true(lab_wait_stock(&lab));
        (void)snprintf(text, sizeof text, "tools %d", i);
        install("a build", text);
        restart();
        assert_int_equal(spawner(), same);
        check_local(create(text), text);
    }
    check_local(engine_find(lab.engine, "tools 0"), "tools 0");
    check_local(engine_find(lab.engine, "first"), "local");
    /* Templates go when nobody can have them any more; one more may be there, whose unclaimed cells
     * were still about to end. */
    assert_in_range(n_below(TEMPLATE_DEFAULTS), 4, 5);
    while (engine_n_cells(lab.engine) > 0)
        lab_kill(&lab, list_entry(lab.engine->cells.next, struct engine_cell, node));
    restart();
    assert_int_equal(n_below(TEMPLATE_DEFAULTS), 1);
    check_local(create("last"), "tools 2");
}

/* The stock is made anew, and what lives goes on with what it has. */
static void a_running_engine_follows_its_host(void **state)
{
    (void)state;
    lab.stock_again = STOCK;
    install("a build", "before");
    restart();
    check_local(create("old"), "before");
    assert_true(lab_wait_stock(&lab));
    char root[sizeof lab.engine->template_root];
    memcpy(root, lab.engine->template_root, sizeof root);
    install("a build", "after");
    int64_t end_ms = clock_mono_ms() + WAIT_MS;
    while (strcmp(root, lab.engine->template_root) == 0 && clock_mono_ms() < end_ms)
        (void)loop_run_once(lab.loop, 20);
    assert_string_not_equal(root, lab.engine->template_root);
    check_local(create("at once"), "after");
    assert_true(lab_wait_stock(&lab));
    for (int i = 0; i < STOCK; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "new %d", i);
        check_local(create(name), "after");
    }
    check_local(engine_find(lab.engine, "old"), "before");
    /* One more may be there, from before the spawner of the first build ended. */
    assert_in_range(n_below(TEMPLATE_DEFAULTS), 2, 3);
    while (engine_n_cells(lab.engine) > 0)
        lab_kill(&lab, list_entry(lab.engine->cells.next, struct engine_cell, node));
    end_ms = clock_mono_ms() + WAIT_MS;
    while (n_below(TEMPLATE_DEFAULTS) > 1 && clock_mono_ms() < end_ms)
        (void)loop_run_once(lab.loop, 20);
    assert_int_equal(n_below(TEMPLATE_DEFAULTS), 1);
}

/* A directory with a file that has its name in it, on the default template. */
static int find_root(void *ctx, const char *name, struct engine_root *ret)
{
    static char dir[128];
    static const char *layers[] = {dir};
    char path[160];

    (void)ctx;
    if (strncmp(name, "own-", 4) != 0)
        return -ENOENT;
    (void)snprintf(dir, sizeof dir, "%s/%s", lab.state, name);
    (void)snprintf(path, sizeof path, "%s/which", dir);
    if (mkdir(dir, 0755) == 0)
        assert_int_equal(io_write_file(path, str_of(name), 0644, NULL), 0);
    *ret = (struct engine_root){.layers = layers, .n_layers = 1, .is_on_default = true};
    return 0;
}

static struct engine_cell *create_from(const char *name)
{
    struct cell_spec spec = lab_spec();

    (void)snprintf(spec.template_name, sizeof spec.template_name, "%s", name);
    return lab_create(&lab, name, &spec, &(struct err)ERR_INIT);
}

/* More of them than the spawner keeps; the first ones are asked for again. */
static void there_may_be_many_templates(void **state)
{
    char name[16], script[48];

    (void)state;
    lab.engine->options.find_root = find_root;
    for (int i = 0; i < 150; i++) {
        (void)snprintf(name, sizeof name, "own-%d", i % 75);
        (void)snprintf(script, sizeof script, "test $(cat /which) = %s", name);
        struct engine_cell *c = create_from(name);
        assert_non_null(c);
        assert_int_equal(lab_sh(&lab, c, "user", script, &r), 0);
        lab_kill(&lab, c);
    }
    assert_null(create_from("unknown"));
    assert_int_equal(lab_sh(&lab, create("usual"), "user", "test ! -e /which", &r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cells_go_on_and_new_ones_are_new, setup, teardown),
        cmocka_unit_test_setup_teardown(one_without_cells_ends_at_once, setup_stock, teardown),
        cmocka_unit_test_setup_teardown(builds_may_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_broken_connection_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_dead_one_left_is_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_successor_that_does_not_start, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_layout_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(new_tools_reach_new_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(a_running_engine_follows_its_host, setup, teardown),
        cmocka_unit_test_setup_teardown(there_may_be_many_templates, setup, teardown),
    };

    return lab_must_skip() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
