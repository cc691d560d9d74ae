/* SPDX-License-Identifier: MIT */
#include "apps/db/deadline.h"

#include <stdatomic.h>

#include "base/clock.h"

static atomic_bool is_stopped;
static _Thread_local int64_t job_until_ms = INT64_MAX;

void deadline_begin(int64_t max_ms)
{
    job_until_ms = max_ms > 0 ? clock_mono_ms() + max_ms : INT64_MAX;
}

int64_t deadline_left(int64_t until_ms)
{
    int64_t left = (until_ms < job_until_ms ? until_ms : job_until_ms) - clock_mono_ms();

    return left < 0 || atomic_load_explicit(&is_stopped, memory_order_relaxed) ? 0 : left;
}

bool deadline_passed(int64_t until_ms)
{
    return deadline_left(until_ms) == 0;
}

void deadline_stop_all(void)
{
    atomic_store(&is_stopped, true);
}

void deadline_resume_all(void)
{
    atomic_store(&is_stopped, false);
}
