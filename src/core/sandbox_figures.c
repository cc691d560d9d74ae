/* SPDX-License-Identifier: MIT */
/* The figures of sandboxes: see sandbox_figures.h. */
#include "core/sandbox_figures.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"

enum { RATE_US = 500000, SERIES_FIRST_SIZE = 16 };

/* ---- the series ---- */

/* Only as long as nothing was overwritten: then the oldest is in front. */
static void grow_series(struct sandbox_series *s)
{
    size_t size = s->size ? s->size * 2 : SERIES_FIRST_SIZE;

    if (size > SANDBOX_POINTS_MAX)
        size = SANDBOX_POINTS_MAX;
    void *points = mem_realloc(s->points, size * sizeof *s->points);
    if (!points)
        return;
    s->points = points;
    s->size = size;
}

void sandbox_series_add(struct sandbox_series *s, const struct sandbox_point *p)
{
    if (s->n == s->size && s->size < SANDBOX_POINTS_MAX && s->first == 0)
        grow_series(s);
    if (s->size == 0)
        return;
    if (s->n < s->size) {
        s->points[s->n++] = *p;
        return;
    }
    s->points[s->first] = *p;
    s->first = (s->first + 1) % s->size;
}

const struct sandbox_point *sandbox_series_at(const struct sandbox_series *s, size_t i)
{
    return i < s->n ? &s->points[(s->first + i) % s->size] : NULL;
}

void sandbox_series_done(struct sandbox_series *s)
{
    free(s->points);
    *s = (struct sandbox_series){0};
}

/* ---- looking ---- */

static uint32_t to_kib(uint64_t bytes)
{
    return bytes >> 10 > UINT32_MAX ? UINT32_MAX : (uint32_t)(bytes >> 10);
}

static void add_point(struct sandbox *sb)
{
    struct sandbox_figures *f = &sb->figures;
    int64_t passed_us = f->sampled_us - f->point_us;
    struct engine_storage storage;

    if (f->point_us > 0 && passed_us < SANDBOX_POINT_MS * INT64_C(1000))
        return;
    engine_cell_storage(sb->cell, &storage);
    const struct sandbox_point p = {
        .at_s = (uint32_t)(clock_real_us() / 1000000),
        .cpu_milli = f->point_us == 0 ? 0
                                      : (uint32_t)((f->usage.cpu_us - f->point_cpu_us) * 1000 /
                                                   (uint64_t)passed_us),
        .memory_kib = to_kib(f->usage.memory_bytes),
        .cache_kib = to_kib(storage.cache_bytes),
        .disk_kib = to_kib(storage.disk_used),
    };
    sandbox_series_add(&f->series, &p);
    f->disk_total = storage.disk_total;
    f->point_us = f->sampled_us;
    f->point_cpu_us = f->usage.cpu_us;
}

/* The use of processors is a difference between two looks. */
static void rate_cpu(struct sandbox_figures *f)
{
    int64_t passed_us = f->sampled_us - f->rated_us;

    if (passed_us < RATE_US)
        return;
    if (f->rated_us > 0)
        f->cpu_milli = (uint32_t)((f->usage.cpu_us - f->rated_cpu_us) * 1000 / (uint64_t)passed_us);
    f->rated_us = f->sampled_us;
    f->rated_cpu_us = f->usage.cpu_us;
}

void sandbox_look(struct sandbox *sb)
{
    struct cgroup_usage u = {0};
    uint64_t before = sb->figures.usage.oom_kills;

    if (!sandbox_cell(sb) || engine_cell_usage(sb->cell, &u, NULL) < 0)
        return;
    sb->figures.usage = u;
    sb->figures.sampled_us = clock_mono_us();
    rate_cpu(&sb->figures);
    if (sandbox_state(sb) == SANDBOX_RUNNING)
        add_point(sb);
    if (u.oom_kills <= before)
        return;
    metrics_add(sb->set->core->metrics, METRIC_SANDBOX_OOM_KILLS, (int64_t)(u.oom_kills - before));
    struct store_tx *tx = store_tx_new();
    event_add(tx, EVENT_SANDBOX_OOM_KILLED, str_of(sb->account), str_of(sb->name),
              "Sandbox %s reached its memory limit of " STR_FMT ", a process was killed", sb->name,
              STR_ARG(sb->spec.memory_limit));
    (void)sandbox_submit(sb, tx, NULL, NULL);
}
