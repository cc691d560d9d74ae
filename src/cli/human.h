/* SPDX-License-Identifier: MIT */
/* Figures as people read them. */
#pragma once

#include <stdint.h>

#include "base/str.h"

#define HUMAN_MAX 24

/* "0 B", "1.5 KiB", "23 MiB". */
void human_bytes(char out[HUMAN_MAX], uint64_t bytes);
/* The largest unit only: "5s", "12m", "3h", "9d"; below zero "0s". */
void human_span(char out[HUMAN_MAX], int64_t seconds);
/* "0:42", "12:05", "3:00:07". */
void human_clock(char out[HUMAN_MAX], int64_t seconds);
/* Seconds since 1970 of "2026-01-27T10:00:00Z" (fractions are dropped): 0 or -EINVAL. */
int human_time(struct str text, int64_t *ret_s);
