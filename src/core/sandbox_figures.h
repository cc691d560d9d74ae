/* SPDX-License-Identifier: MIT */
/* What a sandbox uses: memory, processors, processes, as the kernel counts them. */
#pragma once

#include <stdint.h>

#include "runtime/cgroup.h"

struct sandbox;

struct sandbox_figures {
    struct cgroup_usage usage; /* as of sampled_us, by the monotonic clock */
    int64_t sampled_us, rated_us;
    uint64_t rated_cpu_us;
    uint32_t cpu_milli; /* thousandths of a processor, over the last half second or more */
};

/* Reads its figures, and notes an event when processes were killed for memory since the last
 * look. */
void sandbox_look(struct sandbox *sb);
