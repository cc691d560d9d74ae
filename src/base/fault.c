/* SPDX-License-Identifier: MIT */
/* Fault injection: see fault.h. Counters are per thread so that parallel tests do not meet. */
#include "base/fault.h"

#ifdef TIDEPOOL_FAULT

#include <signal.h>

static _Thread_local struct {
    unsigned countdown;
    bool fired, is_deadly;
} faults[FAULT_COUNT];

bool fault_hit(enum fault_kind kind)
{
    if (faults[kind].countdown == 0 || --faults[kind].countdown > 0)
        return false;
    faults[kind].fired = true;
    if (faults[kind].is_deadly)
        (void)raise(SIGKILL);
    return true;
}

void fault_arm(enum fault_kind kind, unsigned nth)
{
    faults[kind].countdown = nth;
    faults[kind].fired = faults[kind].is_deadly = false;
}

void fault_arm_death(enum fault_kind kind, unsigned nth)
{
    fault_arm(kind, nth);
    faults[kind].is_deadly = true;
}

bool fault_fired(enum fault_kind kind)
{
    return faults[kind].fired;
}

#else

/* ISO C wants a translation unit to declare something. */
typedef int fault_is_compiled_out;

#endif
