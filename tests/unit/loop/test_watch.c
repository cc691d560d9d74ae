/* SPDX-License-Identifier: MIT */
/* The watch of a loop: a round that takes long is seen while it lasts, once, with its name. */
#include "../check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "loop/watch.h"

enum { PATIENCE_MS = 20000 };

static atomic_int n_told;
static char what[LOOP_DOING_MAX];
static struct loop *loop;
static struct loop_watch *watch;

static void on_stall(void *ctx, const struct loop_stall *s)
{
    (void)ctx;
    (void)snprintf(what, sizeof what, "%s", s->what);
    (void)atomic_fetch_add(&n_told, 1);
}

/* Works until it was noticed, and a while longer. */
static void spin(struct loop_timer *t)
{
    int64_t end = clock_mono_ms() + PATIENCE_MS;
    struct loop_stalls s;

    (void)t;
    loop_doing(loop, STR("POST"),
               STR("/a/pattern/that/is/far/too/long/to/be/kept/to/its/very/end"));
    loop_doing(loop, STR("jira"), STR("search"));
    do
        s = loop_watch_stalls(watch);
    while ((atomic_load(&n_told) == 0 || s.max_cpu_us < 50000) && clock_mono_ms() < end);
    loop_stop(loop);
}

static void a_stall_is_told_once(void **state)
{
    struct loop_timer timer = {0};
    struct err e = ERR_INIT;

    (void)state;
    loop = loop_new(&e);
    assert_non_null(loop);
    watch = loop_watch_start(loop, on_stall, NULL, &e);
    assert_non_null(watch);
    assert_int_equal(loop_timer_start(loop, &timer, 0, spin), 0);
    assert_int_equal(loop_run(loop), 0);
    struct loop_stalls s = loop_watch_stalls(watch);
    loop_watch_stop(watch);
    loop_free(loop);
    assert_int_equal(atomic_load(&n_told), 1);
    assert_string_equal(what, "jira search");
    assert_int_equal(s.n, 1);
    assert_true(s.max_us >= LOOP_STALL_MS * 1000);
    assert_true(s.max_cpu_us >= 50000);
    loop_watch_stop(NULL);
}

static void on_timer(struct loop_timer *t)
{
    if (atomic_fetch_add(&n_told, 1) < 20)
        (void)loop_timer_start(loop, t, 10, on_timer);
    else
        loop_stop(loop);
}

static void waiting_is_no_stall(void **state)
{
    struct loop_timer timer = {0};
    struct err e = ERR_INIT;

    (void)state;
    atomic_store(&n_told, 0);
    loop = loop_new(&e);
    watch = loop_watch_start(loop, NULL, NULL, &e);
    assert_true(loop && watch);
    assert_int_equal(loop_timer_start(loop, &timer, 10, on_timer), 0);
    assert_int_equal(loop_run(loop), 0);
    struct loop_stalls s = loop_watch_stalls(watch);
    loop_watch_stop(watch);
    loop_free(loop);
    /* In CPU time: this machine may be busy. */
    assert_true(s.max_cpu_us < 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stall_is_told_once),
        cmocka_unit_test(waiting_is_no_stall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
