/* SPDX-License-Identifier: MIT */
/* State machines: what the table allows, what the invariant forbids, what is traced. */
#include "../check.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sm.h"

enum { OPEN, CLOSED, LOCKED };

struct door {
    struct sm sm;
    bool has_key; /* a locked door has one */
};

static bool door_is_sound(const struct sm *m)
{
    const struct door *d = container_of(m, const struct door, sm);

    return m->state != LOCKED || d->has_key;
}

static const struct sm_state states[] = {
    [OPEN] = {"open", SM(CLOSED)},
    [CLOSED] = {"closed", SM(OPEN) | SM(LOCKED)},
    [LOCKED] = {"locked", SM(CLOSED)},
};
static const struct sm_type type = {"door", states, ARRAY_LEN(states), door_is_sound};

static void moves_follow_the_table(void **state)
{
    struct door d = {.has_key = true};

    (void)state;
    sm_init(&d.sm, &type, OPEN);
    assert_string_equal(sm_name(&d.sm), "open");
    assert_true(sm_can_move(&d.sm, CLOSED));
    assert_false(sm_can_move(&d.sm, LOCKED));
    assert_false(sm_can_move(&d.sm, OPEN));
    assert_false(sm_can_move(&d.sm, 17));
    sm_move(&d.sm, CLOSED);
    sm_move(&d.sm, LOCKED);
    assert_string_equal(sm_name(&d.sm), "locked");
    assert_true(sm_is_sound(&d.sm));
    d.has_key = false;
    assert_false(sm_is_sound(&d.sm));
}

static unsigned traced[4];
static int n_traced;

static void on_move(const struct sm *m, unsigned from)
{
    traced[n_traced++] = from * 10 + m->state;
}

static void moves_are_traced(void **state)
{
    struct door d = {0};

    (void)state;
    sm_init(&d.sm, &type, OPEN);
    sm_set_trace(on_move);
    sm_move(&d.sm, CLOSED);
    sm_move(&d.sm, OPEN);
    sm_set_trace(NULL);
    sm_move(&d.sm, CLOSED);
    assert_int_equal(n_traced, 2);
    assert_int_equal(traced[0], OPEN * 10 + CLOSED);
    assert_int_equal(traced[1], CLOSED * 10 + OPEN);
}

/* True when the move ends the process. */
static bool dies(struct door *d, unsigned to)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGABRT, SIG_DFL);
        (void)freopen("/dev/null", "w", stderr);
        sm_move(&d->sm, to);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void mistakes_end_the_program(void **state)
{
    struct door d = {0};

    (void)state;
    sm_init(&d.sm, &type, OPEN);
    assert_true(dies(&d, LOCKED));
    assert_true(dies(&d, 5));
    assert_false(dies(&d, CLOSED));
    sm_move(&d.sm, CLOSED);
    assert_true(dies(&d, LOCKED)); /* without a key */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_follow_the_table),
        cmocka_unit_test(moves_are_traced),
        cmocka_unit_test(mistakes_end_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
