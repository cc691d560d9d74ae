/* SPDX-License-Identifier: MIT */
/* The event loop: descriptors, timers, messages between threads, signals, worker threads. */
#include "../check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "loop/loop.h"
#include "loop/work.h"

static int64_t fake_us;

static int64_t fake_clock(void)
{
    return fake_us;
}

static const struct clock_source fake_source = {fake_clock, fake_clock};

static int setup(void **state)
{
    *state = loop_new(NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    loop_free(*state);
    clock_set_source(NULL);
    return 0;
}

struct tick {
    struct loop_timer timer;
    int n;
};

static void on_tick(struct loop_timer *t)
{
    container_of(t, struct tick, timer)->n++;
}

static int setup_fake_clock(void **state)
{
    fake_us = 1000000;
    clock_set_source(&fake_source);
    return setup(state);
}

static void timers_fire_in_order_and_once(void **state)
{
    struct loop *l = *state;
    struct tick ticks[100] = {0};

    for (int i = 0; i < 100; i++)
        assert_int_equal(loop_timer_start(l, &ticks[i].timer, (i * 37) % 100 + 1, on_tick), 0);
    for (int ms = 1; ms <= 101; ms++) {
        fake_us += 1000;
        assert_int_equal(loop_run_once(l, 0), 0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(ticks[i].n, (i * 37) % 100 + 1 <= ms);
    }
}

static void timer_can_be_pushed_back_pulled_forward_and_stopped(void **state)
{
    struct loop *l = *state;
    struct tick a = {0}, b = {0}, c = {0};

    (void)loop_timer_start(l, &a.timer, 10, on_tick);
    (void)loop_timer_start(l, &b.timer, 10, on_tick);
    (void)loop_timer_start(l, &c.timer, 10, on_tick);
    (void)loop_timer_start(l, &a.timer, 50, on_tick);
    (void)loop_timer_start(l, &b.timer, 5, on_tick);
    loop_timer_stop(&c.timer);
    loop_timer_stop(&c.timer);
    fake_us += 6000;
    (void)loop_run_once(l, 0);
    assert_int_equal(b.n, 1);
    fake_us += 40000;
    (void)loop_run_once(l, 0);
    assert_int_equal(a.n, 0);
    fake_us += 5000;
    (void)loop_run_once(l, 0);
    assert_int_equal(a.n, 1);
    assert_int_equal(c.n, 0);
}

struct pipe_end {
    struct loop_io io;
    struct pipe_end *victim;
    int n;
};

static void on_readable(struct loop_io *io, uint32_t events)
{
    struct pipe_end *p = container_of(io, struct pipe_end, io);

    (void)events;
    p->n++;
    if (p->victim)
        loop_io_stop(&p->victim->io);
    loop_io_stop(io);
}

static void stopping_a_watcher_drops_its_collected_event(void **state)
{
    struct loop *l = *state;
    int fds[2][2];
    struct pipe_end a = {0}, b = {0};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(pipe(fds[i]), 0);
        assert_int_equal(write(fds[i][1], "x", 1), 1);
    }
    assert_int_equal(loop_io_start(l, &a.io, fds[0][0], EPOLLIN, on_readable), 0);
    assert_int_equal(loop_io_start(l, &b.io, fds[1][0], EPOLLIN, on_readable), 0);
    a.victim = &b;
    b.victim = &a;
    (void)loop_run_once(l, 0);
    (void)loop_run_once(l, 0);
    assert_int_equal(a.n + b.n, 1);
    for (int i = 0; i < 2; i++) {
        (void)close(fds[i][0]);
        (void)close(fds[i][1]);
    }
}

enum { SENDERS = 4, PER_SENDER = 2000 };

struct note {
    struct loop_msg msg;
    int sender, number;
};

struct sender {
    struct loop *loop;
    int id;
    pthread_t thread;
};

static int last_number[SENDERS];
static int n_notes;
static struct loop *notes_loop;

static void on_note(struct loop_msg *m)
{
    struct note *n = container_of(m, struct note, msg);

    assert_int_equal(n->number, ++last_number[n->sender]);
    free(n);
    if (++n_notes == SENDERS * PER_SENDER)
        loop_stop(notes_loop);
}

static void *send_notes(void *arg)
{
    struct sender *s = arg;

    for (int i = 1; i <= PER_SENDER; i++) {
        struct note *n = calloc(1, sizeof *n);
        if (!n)
            abort();
        n->sender = s->id;
        n->number = i;
        loop_post(s->loop, &n->msg, on_note);
    }
    return NULL;
}

static int order[4], n_order;

static void on_ordered(struct loop_msg *m)
{
    order[n_order++] = container_of(m, struct note, msg)->number;
}

static void messages_can_be_taken_back(void **state)
{
    struct loop *l = *state;
    struct note notes[4] = {{.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}};

    n_order = 0;
    for (int i = 0; i < 4; i++)
        loop_post(l, &notes[i].msg, on_ordered);
    loop_unpost(l, &notes[1].msg);
    loop_unpost(l, &notes[3].msg);
    assert_int_equal(loop_run_once(l, 0), 0);
    assert_int_equal(n_order, 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 3);
    loop_post(l, &notes[0].msg, on_ordered);
    loop_unpost(l, &notes[0].msg);
    assert_int_equal(loop_run_once(l, 0), 0);
    assert_int_equal(n_order, 2);
}

static void messages_of_a_thread_arrive_in_order(void **state)
{
    struct sender senders[SENDERS];

    notes_loop = *state;
    n_notes = 0;
    memset(last_number, 0, sizeof last_number);
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.loop = *state, .id = i};
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_notes, &senders[i]), 0);
    }
    assert_int_equal(loop_run(*state), 0);
    for (int i = 0; i < SENDERS; i++)
        (void)pthread_join(senders[i].thread, NULL);
    assert_int_equal(n_notes, SENDERS * PER_SENDER);
}

static void on_usr1(int signo, void *ctx)
{
    *(int *)ctx += signo == SIGUSR1;
}

static void signals_arrive_on_the_loop(void **state)
{
    int seen = 0;

    assert_int_equal(loop_on_signal(*state, SIGUSR1, on_usr1, &seen), 0);
    assert_int_equal(loop_on_signal(*state, SIGUSR2, on_usr1, &seen), 0);
    (void)raise(SIGUSR1);
    (void)raise(SIGUSR2);
    (void)loop_run_once(*state, 100);
    (void)loop_run_once(*state, 100);
    assert_int_equal(seen, 1);
}

struct job {
    struct work work;
    int in, out;
    atomic_int *left;
};

static void square(struct work *w)
{
    struct job *j = container_of(w, struct job, work);

    j->out = j->in * j->in;
}

static void squared(struct work *w)
{
    struct job *j = container_of(w, struct job, work);

    if (atomic_fetch_sub(j->left, 1) == 1)
        loop_stop(w->loop);
}

static void workers_run_jobs_and_report_on_the_loop(void **state)
{
    struct work_pool *pool = work_pool_new(3, 1000, NULL);
    struct job jobs[1000];
    atomic_int left = 1000;

    assert_non_null(pool);
    for (int i = 0; i < 1000; i++) {
        jobs[i] = (struct job){.work = {.run = square, .done = squared}, .in = i, .left = &left};
        assert_int_equal(work_submit(pool, *state, &jobs[i].work), 0);
    }
    assert_int_equal(loop_run(*state), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(jobs[i].out, i * i);
    work_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(timers_fire_in_order_and_once, setup_fake_clock, teardown),
        cmocka_unit_test_setup_teardown(timer_can_be_pushed_back_pulled_forward_and_stopped,
                                        setup_fake_clock, teardown),
        cmocka_unit_test_setup_teardown(stopping_a_watcher_drops_its_collected_event, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(messages_of_a_thread_arrive_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_can_be_taken_back, setup, teardown),
        cmocka_unit_test_setup_teardown(signals_arrive_on_the_loop, setup, teardown),
        cmocka_unit_test_setup_teardown(workers_run_jobs_and_report_on_the_loop, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
