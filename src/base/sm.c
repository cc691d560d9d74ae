/* SPDX-License-Identifier: MIT */
/* State machines: see sm.h. */
#include "base/sm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static sm_trace_fn *trace;

void sm_set_trace(sm_trace_fn *fn)
{
    trace = fn;
}

void sm_init(struct sm *m, const struct sm_type *type, unsigned state)
{
    assert(type->n_states <= SM_STATES_MAX && state < type->n_states);
    m->type = type;
    m->state = state;
}

bool sm_can_move(const struct sm *m, unsigned to)
{
    return to < m->type->n_states && (m->type->states[m->state].next & SM(to));
}

bool sm_is_sound(const struct sm *m)
{
    return !m->type->is_sound || m->type->is_sound(m);
}

const char *sm_name(const struct sm *m)
{
    return m->type->states[m->state].name;
}

static void die(const struct sm *m, unsigned to, const char *why)
{
    (void)fprintf(stderr, "%s: %s: %s -> %s\n", m->type->name, why, sm_name(m),
                  to < m->type->n_states ? m->type->states[to].name : "?");
    abort();
}

void sm_move(struct sm *m, unsigned to)
{
    unsigned from = m->state;

    if (!sm_can_move(m, to))
        die(m, to, "forbidden move");
    m->state = to;
    if (!sm_is_sound(m))
        die(m, to, "the invariant does not hold after the move");
    if (trace)
        trace(m, from);
}
