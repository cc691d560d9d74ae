/* SPDX-License-Identifier: MIT */
/* Watching directories: what is reported, in which order, and under which name. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "envd/watch.h"

static char dir[64];
static struct loop *loop;
static struct watch_hub hub;

/* A watch and what it reported: "+created *written -removed >renamed =changed". */
struct seen {
    struct watch watch;
    struct buf log;
    int error;
};

static void on_event(struct watch *w, enum watch_type type, const char *name)
{
    static const char marks[WATCH_TYPE_COUNT + 1] = "?+*->=";
    struct seen *s = container_of(w, struct seen, watch);

    (void)buf_printf(&s->log, "%s%c%s", s->log.len ? " " : "", marks[type], name);
}

static void on_error(struct watch *w, int code)
{
    container_of(w, struct seen, watch)->error = code;
}

static const struct watch_ops ops = {on_event, on_error};

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/var/tmp/tidepool-watch.XXXXXX");
    loop = loop_new(NULL);
    watch_hub_init(&hub, loop);
    return mkdtemp(dir) && loop ? 0 : -1;
}

static int teardown(void **state)
{
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        (void)execlp("rm", "rm", "-rf", dir, (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
    assert_int_equal(hub.n_members, 0);
    assert_int_equal(hub.dirs.n, 0);
    watch_hub_done(&hub);
    loop_free(loop);
    return 0;
}

static const char *in(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const char *text)
{
    auto_close int fd = open(in(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void make(const char *name)
{
    assert_int_equal(mkdir(in(name), 0755), 0);
}

static void move(const char *from, const char *to)
{
    assert_int_equal(rename(in(from), in(to)), 0);
}

static void begin(struct seen *s, const char *name, bool is_recursive)
{
    *s = (struct seen){.log = BUF_INIT(1 << 20)};
    assert_int_equal(watch_start(&hub, &s->watch, in(name), is_recursive, &ops), 0);
}

/* What has been reported since the last time. */
static void expect(struct seen *s, const char *want)
{
    assert_int_equal(loop_run_once(loop, 0), 0);
    const char *text = buf_cstr(&s->log);
    assert_string_equal(text ? text : "", want);
    buf_clear(&s->log);
}

static void end(struct seen *s)
{
    watch_stop(&s->watch);
    watch_stop(&s->watch);
    buf_done(&s->log);
}

static void one_directory(void **state)
{
    struct seen s;

    (void)state;
    make("sub");
    put("old", "");
    begin(&s, ".", false);
    put("f", "x");
    expect(&s, "+f *f");
    assert_int_equal(chmod(in("f"), 0600), 0);
    move("f", "g");
    expect(&s, "=f >f +g");
    assert_int_equal(unlink(in("g")), 0);
    expect(&s, "-g");
    /* Nothing of what is below. */
    put("sub/f", "x");
    expect(&s, "");
    make("new");
    put("new/f", "");
    expect(&s, "+new");
    assert_int_equal(chmod(dir, 0700), 0);
    expect(&s, "=.");
    end(&s);
}

static void a_tree(void **state)
{
    struct seen s;

    (void)state;
    make("a");
    make("a/b");
    begin(&s, ".", true);
    put("a/b/f", "x");
    expect(&s, "+a/b/f *a/b/f");
    assert_int_equal(unlink(in("a/b/f")), 0);
    assert_int_equal(rmdir(in("a/b")), 0);
    expect(&s, "-a/b/f -a/b");
    end(&s);
}

static void directories_that_appear_later(void **state)
{
    struct seen s;

    (void)state;
    begin(&s, ".", true);
    /* All of this happens before anything is noticed. */
    make("n");
    make("n/m");
    put("n/m/f", "x");
    expect(&s, "+n +n/m +n/m/f");
    put("n/m/g", "x");
    expect(&s, "+n/m/g *n/m/g");
    /* What was found by reading and went since is not taken for reported. */
    assert_int_equal(unlink(in("n/m/f")), 0);
    put("n/m/f", "");
    expect(&s, "-n/m/f +n/m/f");
    end(&s);
}

static void what_is_found_is_reported_once(void **state)
{
    struct seen s;

    (void)state;
    begin(&s, ".", true);
    make("a");
    make("b");
    expect(&s, "+a +b");
    /* The kernel watches a and b: a/x is read by us and reported by the kernel too. */
    make("a/x");
    put("a/x/f", "");
    make("b/y");
    make("a/x/z");
    expect(&s, "+a/x +a/x/f +a/x/z +b/y");
    put("a/x/z/g", "");
    expect(&s, "+a/x/z/g");
    end(&s);
}

static void renamed_directories_keep_being_watched(void **state)
{
    struct seen s;

    (void)state;
    make("a");
    make("a/b");
    make("c");
    begin(&s, ".", true);
    move("a", "c/d");
    expect(&s, ">a +c/d");
    put("c/d/b/f", "");
    expect(&s, "+c/d/b/f");
    /* At once, without a look between. */
    move("c/d", "e");
    move("e", "f");
    put("f/b/g", "");
    expect(&s, ">c/d +e >e +f +f/b/g");
    end(&s);
}

static void directories_that_leave_and_come(void **state)
{
    struct seen s;

    (void)state;
    make("in");
    make("in/a");
    make("in/a/b");
    make("out");
    begin(&s, "in", true);
    move("in/a", "out/a");
    expect(&s, ">a");
    put("out/a/f", "");
    put("out/a/b/f", "");
    expect(&s, "");
    assert_int_equal(hub.n_members, 1);
    move("out/a", "in/z");
    expect(&s, "+z +z/b +z/f +z/b/f");
    put("in/z/b/g", "");
    expect(&s, "+z/b/g");
    end(&s);
}

static void watches_do_not_disturb_each_other(void **state)
{
    struct seen tree, flat, inner;

    (void)state;
    make("a");
    begin(&tree, ".", true);
    begin(&flat, ".", false);
    begin(&inner, "a", false);
    put("a/f", "");
    expect(&tree, "+a/f");
    expect(&flat, "");
    expect(&inner, "+f");
    end(&tree);
    put("a/g", "");
    put("h", "");
    expect(&inner, "+g");
    expect(&flat, "+h");
    end(&flat);
    /* Moved away, but its own path is what it watches. */
    move("a", "b");
    put("b/i", "");
    expect(&inner, ">. +i");
    end(&inner);
    assert_int_equal(hub.io.fd, -1);
}

static void the_watched_path_goes(void **state)
{
    struct seen s;

    (void)state;
    make("a");
    begin(&s, "a", true);
    assert_int_equal(rmdir(in("a")), 0);
    expect(&s, "-.");
    make("a");
    put("a/f", "");
    expect(&s, "");
    end(&s);
}

static void too_many_events_are_told(void **state)
{
    struct seen a, b;
    unsigned max = 0;
    FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");

    (void)state;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u", &max), 1);
    (void)fclose(f);
    if (max > 100000)
        skip();
    begin(&a, ".", true);
    begin(&b, ".", false);
    put("f", "");
    put("g", "");
    for (unsigned i = 0; i < max; i++)
        assert_int_equal(chmod(in(i % 2 ? "f" : "g"), 0644), 0);
    for (int i = 0; i < 100 && !a.error; i++)
        assert_int_equal(loop_run_once(loop, 0), 0);
    assert_int_equal(a.error, -EOVERFLOW);
    assert_int_equal(b.error, -EOVERFLOW);
    end(&a);
    end(&b);
}

static void what_cannot_be_watched(void **state)
{
    struct seen s = {.log = BUF_INIT(1)};

    (void)state;
    put("f", "");
    assert_int_equal(watch_start(&hub, &s.watch, in("f"), false, &ops), -ENOTDIR);
    assert_int_equal(watch_start(&hub, &s.watch, in("none"), true, &ops), -ENOENT);
    watch_stop(&s.watch);
    assert_int_equal(hub.io.fd, -1);
}

/* Each allocation fails once, at the start or later: nothing leaks, and what goes on is told. */
static void memory_that_runs_out(void **state)
{
    (void)state;
    make("a");
    make("a/b");
    for (unsigned nth = 1; nth < 400; nth++) {
        struct seen s = {.log = BUF_INIT(1 << 20)};
        fault_arm(FAULT_ALLOC, nth);
        if (watch_start(&hub, &s.watch, dir, true, &ops) == 0) {
            make("n");
            make("n/m");
            move("a", "n/a");
            (void)loop_run_once(loop, 0);
            move("n/a", "a");
            (void)loop_run_once(loop, 0);
            assert_int_equal(rmdir(in("n/m")), 0);
            assert_int_equal(rmdir(in("n")), 0);
            (void)loop_run_once(loop, 0);
        }
        bool has_fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        end(&s);
        assert_int_equal(hub.n_members, 0);
        if (!has_fired)
            return;
    }
    fail_msg("it never ended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_that_appear_later, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_found_is_reported_once, setup, teardown),
        cmocka_unit_test_setup_teardown(renamed_directories_keep_being_watched, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_that_leave_and_come, setup, teardown),
        cmocka_unit_test_setup_teardown(watches_do_not_disturb_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(the_watched_path_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_events_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_watched, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_that_runs_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
