/* SPDX-License-Identifier: MIT */
/* Worker threads: whose turn it is, what is kept in reserve, jobs that do not end. */
#include "../check.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "loop/work.h"

enum { JOBS = 16 };
static const int64_t patience_ms = 20000;

struct job {
    struct work work;
    char name; /* upper case: it runs until it is let go */
};

static struct loop *loop;
static struct job jobs[JOBS];
static unsigned n_jobs, n_done, n_dropped;
static atomic_uint n_begun;
static char order[JOBS + 1]; /* of those that are done */
static sem_t gate;

static void run(struct work *w)
{
    const struct job *j = container_of(w, struct job, work);

    (void)atomic_fetch_add(&n_begun, 1);
    if (j->name >= 'A' && j->name <= 'Z')
        (void)sem_wait(&gate);
}

static void done(struct work *w)
{
    const struct job *j = container_of(w, struct job, work);

    n_dropped += w->is_dropped;
    order[n_done++] = j->name;
}

static int setup(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    n_jobs = n_done = n_dropped = 0;
    atomic_store(&n_begun, 0);
    (void)memset(order, 0, sizeof order);
    (void)sem_init(&gate, 0, 0);
    loop = loop_new(&e);
    return loop ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    return 0;
}

static void submit(struct work_pool *p, const char *owner, char name)
{
    struct job *j = &jobs[n_jobs++];

    *j = (struct job){.name = name, .work = {.owner = str_of(owner), .run = run, .done = done}};
    assert_int_equal(work_submit(p, loop, &j->work), 0);
}

static void wait_begun(unsigned n)
{
    int64_t end = clock_mono_ms() + patience_ms;

    while (atomic_load(&n_begun) < n && clock_mono_ms() < end)
        (void)loop_run_once(loop, 1);
    assert_int_equal(atomic_load(&n_begun), n);
}

static void wait_done(unsigned n)
{
    int64_t end = clock_mono_ms() + patience_ms;

    while (n_done < n && clock_mono_ms() < end)
        (void)loop_run_once(loop, 1);
    assert_int_equal(n_done, n);
}

static void let_go(unsigned n)
{
    while (n-- > 0)
        (void)sem_post(&gate);
}

static struct work_pool *make(const struct work_opts *o)
{
    struct err e = ERR_INIT;
    struct work_pool *p = work_pool_make(o, &e);

    assert_non_null(p);
    return p;
}

static void owners_take_turns(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 1, .max_queued = JOBS});

    (void)state;
    submit(p, "a", 'A');
    wait_begun(1);
    submit(p, "a", '1');
    submit(p, "a", '2');
    submit(p, "a", '3');
    submit(p, "b", '4');
    submit(p, "c", '5');
    let_go(1);
    wait_done(6);
    assert_string_equal(order, "A14523");
    work_pool_free(p);
}

static void one_owner_never_has_the_reserve(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 2, .n_reserve = 1, .max_queued = JOBS});

    (void)state;
    for (int i = 0; i < 4; i++)
        submit(p, "a", 'A');
    wait_begun(2);
    submit(p, "b", 'b');
    wait_done(1);
    submit(p, "c", 'c');
    wait_done(2);
    assert_string_equal(order, "bc");
    assert_int_equal(work_pool_stats(p).running, 2);
    assert_int_equal(work_pool_stats(p).queued, 2);
    let_go(4);
    wait_done(6);
    work_pool_free(p);
}

/* Both woke the same thread. */
static void two_that_come_at_once_get_two_threads(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct work_pool *p = make(&(struct work_opts){.n = 1, .n_reserve = 1, .max_queued = JOBS});
        n_jobs = n_done = 0;
        submit(p, "a", 'A');
        submit(p, "b", 'b');
        wait_done(1);
        assert_int_equal(order[0], 'b');
        let_go(1);
        wait_done(2);
        work_pool_free(p);
    }
}

static void a_job_that_is_overdue_is_replaced(void **state)
{
    struct work_pool *p =
        make(&(struct work_opts){.n = 1, .n_overdue = 1, .max_queued = JOBS, .max_ms = 1});
    int64_t end = clock_mono_ms() + patience_ms;

    (void)state;
    submit(p, "a", 'A');
    wait_begun(1);
    submit(p, "a", '1');
    submit(p, "b", 'b');
    while (n_done < 1 && clock_mono_ms() < end) {
        work_pool_look(p);
        (void)loop_run_once(loop, 1);
    }
    /* Its owner waits for it. */
    assert_string_equal(order, "b");
    assert_int_equal(work_pool_stats(p).overdue, 1);
    assert_int_equal(work_pool_stats(p).queued, 1);
    let_go(1);
    wait_done(3);
    assert_int_equal(work_pool_stats(p).overdue, 0);
    work_pool_look(p);
    submit(p, "c", 'c');
    wait_done(4);
    work_pool_free(p);
}

static void hurry(void)
{
    let_go(1);
}

static void a_pool_ends_in_time(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 1, .max_queued = JOBS});

    (void)state;
    submit(p, "a", 'A');
    wait_begun(1);
    submit(p, "a", '1');
    submit(p, "b", '2');
    /* It does not hear. */
    assert_int_equal(work_pool_end(p, 1, 1, NULL), 1);
    wait_done(2);
    assert_string_equal(order, "12");
    assert_int_equal(n_dropped, 2);
    assert_int_equal(work_pool_end(p, 1, patience_ms, hurry), 0);
    wait_done(3);
    assert_int_equal(n_dropped, 2);
}

static void a_pool_without_jobs_ends_at_once(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 2, .max_queued = JOBS});

    (void)state;
    submit(p, "a", '1');
    submit(p, "b", '2');
    assert_int_equal(work_pool_end(p, patience_ms, 0, NULL), 0);
    wait_done(2);
    assert_int_equal(n_dropped, 0);
}

static void too_many_are_refused(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 1, .max_queued = 1});
    struct job more = {.work = {.run = run, .done = done}};

    (void)state;
    submit(p, "a", 'A');
    wait_begun(1);
    submit(p, "a", '1');
    assert_int_equal(work_submit(p, loop, &more.work), -EBUSY);
    let_go(1);
    wait_done(2);
    work_pool_free(p);
}

/* The last quarter of the queue is for those who have little in it. */
static void one_owner_does_not_fill_the_queue(void **state)
{
    struct work_pool *p = make(&(struct work_opts){.n = 1, .max_queued = 8});
    struct job more = {.work = {.owner = STR("a"), .run = run, .done = done}};

    (void)state;
    submit(p, "a", 'A');
    wait_begun(1);
    for (int i = 0; i < 6; i++)
        submit(p, "a", '1');
    assert_int_equal(work_submit(p, loop, &more.work), -EBUSY);
    submit(p, "b", 'b');
    submit(p, "c", 'c');
    more.work.owner = STR("d");
    assert_int_equal(work_submit(p, loop, &more.work), -EBUSY);
    let_go(1);
    wait_done(9);
    work_pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(owners_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(one_owner_never_has_the_reserve, setup, teardown),
        cmocka_unit_test_setup_teardown(two_that_come_at_once_get_two_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_that_is_overdue_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pool_ends_in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pool_without_jobs_ends_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(one_owner_does_not_fill_the_queue, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
