/* SPDX-License-Identifier: MIT */
/* State machines. Whatever has a life cycle keeps a struct sm inside, and one table says which
 * states there are and which may follow which: the whole cycle on one screen.
 *
 *     static const struct sm_state states[] = {
 *         [OPEN]   = {"open",   SM(CLOSED)},
 *         [CLOSED] = {"closed", 0},
 *     };
 *     static const struct sm_type type = {"door", states, ARRAY_LEN(states), door_is_sound};
 *
 * Only sm_move() changes the state. It ends the program when the table does not allow the move or
 * the object's invariant does not hold after it: both are mistakes of ours, never a client's. */
#pragma once

#include <stdbool.h>

struct sm;

#define SM(state) (1U << (state))
enum { SM_STATES_MAX = 32 };

struct sm_state {
    const char *name;
    unsigned next; /* set of SM(x) */
};

struct sm_type {
    const char *name;
    const struct sm_state *states;
    unsigned n_states;
    /* What must be true of the object that contains M in its present state; may be NULL. */
    bool (*is_sound)(const struct sm *m);
};

struct sm {
    const struct sm_type *type;
    unsigned state;
};

/* Puts M into its first state. The invariant is not asked: the object is still being made. */
void sm_init(struct sm *m, const struct sm_type *type, unsigned state);
/* True when the table allows the move. */
bool sm_can_move(const struct sm *m, unsigned to);
void sm_move(struct sm *m, unsigned to);
/* True when the invariant holds now. */
bool sm_is_sound(const struct sm *m);

/* The name of the present state. */
const char *sm_name(const struct sm *m);

/* Called after every move of every machine, on the thread that moved; NULL: nobody. Set it before
 * the first move. */
typedef void sm_trace_fn(const struct sm *m, unsigned from);
void sm_set_trace(sm_trace_fn *fn);
