/* SPDX-License-Identifier: MIT */
/* What a sandbox uses: memory, processors, processes, disk, as the kernel counts them. The last
 * hour is kept in memory as a series of points; it is gone after a restart of the service. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/cgroup.h"

struct sandbox;

enum {
    SANDBOX_POINT_MS = 5000, /* from one point to the next */
    SANDBOX_POINTS_MAX = 720
};

/* One point of the series; thousands of sandboxes have hundreds of them, hence the units. */
struct sandbox_point {
    uint32_t at_s;      /* since 1970 */
    uint32_t cpu_milli; /* thousandths of a processor, on average since the point before */
    uint32_t memory_kib, cache_kib, disk_kib;
};

/* A ring that grows to its size while the sandbox gets older. */
struct sandbox_series {
    struct sandbox_point *points;
    size_t n, size, first; /* the oldest is points[first] */
};

/* Adds behind the newest; without memory a point is lost. */
void sandbox_series_add(struct sandbox_series *s, const struct sandbox_point *p);
/* Point I, 0 is the oldest; NULL past the newest. */
const struct sandbox_point *sandbox_series_at(const struct sandbox_series *s, size_t i);
void sandbox_series_done(struct sandbox_series *s);

struct sandbox_figures {
    struct cgroup_usage usage; /* as of sampled_us, by the monotonic clock */
    int64_t sampled_us, rated_us;
    uint64_t rated_cpu_us;
    uint32_t cpu_milli; /* thousandths of a processor, over the last half second or more */
    struct sandbox_series series;
    int64_t point_us;      /* when the last point was added, monotonic */
    uint64_t point_cpu_us; /* usage.cpu_us then */
    uint64_t disk_total;   /* bytes, as of the last point */
};

/* Reads its figures, adds a point when one is due, and notes an event when processes were killed
 * for memory since the last look. */
void sandbox_look(struct sandbox *sb);
