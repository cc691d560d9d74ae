/* SPDX-License-Identifier: MIT */
/* Fault injection. Every allocation of base/mem.h and every I/O wrapper of sys/ asks
 * fault_hit() first. In ordinary builds that is a constant false; with -DTIDEPOOL_FAULT a test can
 * make the n-th one fail: see tests/unit/base/test_fault.c for the loop that tries each n. */
#pragma once

#include <stdbool.h>

enum fault_kind { FAULT_ALLOC, FAULT_IO, FAULT_COUNT };

#ifdef TIDEPOOL_FAULT
/* True when this call is the one that has to fail. */
bool fault_hit(enum fault_kind kind);
/* Arms KIND on this thread: the NTH call from now (1 = the next) fails, once. 0 disarms. */
void fault_arm(enum fault_kind kind, unsigned nth);
/* The same, but this process ends there, as by kill -9. */
void fault_arm_death(enum fault_kind kind, unsigned nth);
/* True when the armed call was reached since fault_arm(). */
bool fault_fired(enum fault_kind kind);
#else
static inline bool fault_hit(enum fault_kind kind)
{
    (void)kind;
    return false;
}
static inline void fault_arm(enum fault_kind kind, unsigned nth)
{
    (void)kind;
    (void)nth;
}
static inline void fault_arm_death(enum fault_kind kind, unsigned nth)
{
    (void)kind;
    (void)nth;
}
static inline bool fault_fired(enum fault_kind kind)
{
    (void)kind;
    return false;
}
#endif
