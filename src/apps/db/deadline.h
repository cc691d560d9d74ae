/* SPDX-License-Identifier: MIT */
/* Until when the job of this thread may take. What has limits of its own (a call, a check, a
 * statement) looks here too, so that a job of many such parts has an end as a whole, and so that
 * all end soon when the service stops. A thread without a job has all the time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A job of at most MAX_MS begins on this thread; 0: it ends. */
void deadline_begin(int64_t max_ms);
/* True when UNTIL_MS (of the monotonic clock) has passed, the job's time has, or all are stopped.
 */
bool deadline_passed(int64_t until_ms);
/* The milliseconds until then; not negative. */
int64_t deadline_left(int64_t until_ms);
/* Ends the time of all jobs of all threads, or takes that back. Any thread. */
void deadline_stop_all(void);
void deadline_resume_all(void);
