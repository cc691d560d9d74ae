/* SPDX-License-Identifier: MIT */
/* Clocks. Everything that asks for the time asks here, so that a test can put its own clock in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Milliseconds that only go forward: for timers and durations. */
int64_t clock_mono_ms(void);
/* Microseconds that only go forward: for latencies. */
int64_t clock_mono_us(void);
/* Microseconds since 1970: for what is shown or stored. */
int64_t clock_real_us(void);

struct clock_source {
    int64_t (*mono_us)(void);
    int64_t (*real_us)(void);
};
/* Replaces the clocks of the whole program; NULL puts the real ones back. Before any thread. */
void clock_set_source(const struct clock_source *src);

/* "2026-01-27T10:00:00Z" / "…00.123456Z" and a NUL. */
#define CLOCK_RFC3339_MAX 32
void clock_rfc3339(char out[CLOCK_RFC3339_MAX], int64_t real_us);
void clock_rfc3339_us(char out[CLOCK_RFC3339_MAX], int64_t real_us);
/* The time of "2026-01-27T10:00:00Z", a fraction of a second or an offset like "+01:00" allowed. 0
 * or -EINVAL. */
int clock_parse_rfc3339(struct str text, int64_t *ret_us);
/* "Tue, 27 Jan 2026 10:00:00 GMT" for HTTP. */
void clock_http_date(char out[CLOCK_RFC3339_MAX], int64_t real_us);
