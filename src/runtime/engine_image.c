/* SPDX-License-Identifier: MIT */
/* The empty images of disks: see engine_image.h. mkfs takes longer than
 * anything that may be done on the loop's thread, so a worker runs it; cells of that size wait for
 * it, all others go on. What nobody has used for a while is removed, also what an earlier daemon
 * left. One thread does both, one after the other: that keeps a removal from meeting an image that
 * is being made. */
#include "runtime/engine_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/work.h"
#include "runtime/disk.h"
#include "runtime/engine_internal.h"

enum {
    SIZES_MAX = 64, /* callers are offered fewer: see disk_round() */
    SWEEP_MIN_MS = 50,
    SWEEP_MAX_MS = 60000,
};

struct image {
    struct list node;
    uint64_t bytes;
    bool is_ready;
    int64_t used_ms;     /* when it was last asked for */
    struct list waiting; /* struct building */
};

/* What the thread does; it outlives the engine when that is closed meanwhile. */
struct image_job {
    struct work work;
    struct list node;
    struct engine *engine; /* NULL: closed. Only the loop's thread looks at it */
    char home[PATH_MAX];
    struct disk_spec disk;        /* to be made; or */
    uint64_t keep[2 * SIZES_MAX]; /* all others are to be removed */
    size_t n_keep;
    struct err e;
};

static struct image *find_image_of_size(struct engine *en, uint64_t bytes)
{
    list_each(node, &en->images.sizes)
    {
        struct image *i = list_entry(node, struct image, node);
        if (i->bytes == bytes)
            return i;
    }
    return NULL;
}

static void image_free(struct engine *en, struct image *i)
{
    list_del(&i->node);
    en->images.n_sizes--;
    free(i);
}

static int submit_image_job(struct engine *en, struct image_job *job, struct err *e)
{
    if (!en->images.workers)
        en->images.workers = work_pool_new(1, 2 * SIZES_MAX, e);
    if (!en->images.workers)
        return -EAGAIN;
    job->engine = en;
    (void)snprintf(job->home, sizeof job->home, "%s", en->home);
    int r = work_submit(en->images.workers, en->loop, &job->work);
    if (r < 0)
        return err_sys(e, r, "make image");
    list_append(&en->images.jobs, &job->node);
    return 0;
}

/* ---- making ---- */

static void run_image_make(struct work *w)
{
    struct image_job *job = container_of(w, struct image_job, work);

    (void)disk_prepare(&job->disk, job->home, &job->e);
}

/* B is called back or on its way to the spawner. */
static void go_on_with_waiters(struct engine *en, struct building *b, const struct err *why)
{
    struct err e = *why;

    if (!e.code) {
        int r = engine_ask_for(en, b);
        if (r == 0)
            return;
        (void)err_sys(&e, r, "create cell '%s'", b->label);
    }
    b->fn(b->ctx, NULL, &e);
    free(b);
}

static void done_make(struct work *w)
{
    struct image_job *job = container_of(w, struct image_job, work);
    struct engine *en = job->engine;
    struct image *i = en ? find_image_of_size(en, job->disk.bytes) : NULL;
    struct list waiting;

    list_del(&job->node);
    list_init(&waiting);
    for (struct list *node; i && (node = list_pop(&i->waiting));)
        list_append(&waiting, node);
    if (i && job->e.code)
        image_free(en, i);
    else if (i)
        i->is_ready = true;
    for (struct list *node; (node = list_pop(&waiting));)
        go_on_with_waiters(en, list_entry(node, struct building, node), &job->e);
    free(job);
}

static struct image *enter_image(struct engine *en, uint64_t bytes)
{
    struct image *i = en->images.n_sizes < SIZES_MAX ? mem_zalloc(1, sizeof *i) : NULL;

    if (!i)
        return NULL;
    i->bytes = bytes;
    i->used_ms = clock_mono_ms();
    list_init(&i->waiting);
    list_append(&en->images.sizes, &i->node);
    en->images.n_sizes++;
    return i;
}

void engine_image_know(struct engine *en, const struct disk_spec *disk)
{
    struct image *i = disk->kind == DISK_IMAGE ? enter_image(en, disk->bytes) : NULL;

    if (i)
        i->is_ready = true;
}

/* An image that the worker makes, unless it is there. */
static struct image *begin_image(struct engine *en, uint64_t bytes, struct err *e)
{
    auto_free struct image_job *job = mem_zalloc(1, sizeof *job);
    struct image *i = job ? enter_image(en, bytes) : NULL;

    if (!i) {
        (void)err_set(e, -EBUSY, "disks of too many other sizes are in use");
        return NULL;
    }
    job->work = (struct work){.run = run_image_make, .done = done_make};
    job->disk = (struct disk_spec){DISK_IMAGE, bytes};
    if (submit_image_job(en, job, e) < 0) {
        image_free(en, i);
        return NULL;
    }
    (void)take(job);
    return i;
}

int engine_image_await(struct engine *en, struct building *b, struct err *e)
{
    if (b->spec.disk.kind != DISK_IMAGE)
        return engine_ask_for(en, b);
    struct image *i = find_image_of_size(en, b->spec.disk.bytes);
    if (!i)
        i = begin_image(en, b->spec.disk.bytes, e);
    if (!i)
        return e->code;
    i->used_ms = clock_mono_ms();
    if (i->is_ready)
        return engine_ask_for(en, b);
    list_append(&i->waiting, &b->node);
    return 0;
}

unsigned engine_image_n_waiting(const struct engine *en)
{
    unsigned n = 0;

    list_each(node, &en->images.sizes)
    {
        const struct image *i = list_entry(node, struct image, node);
        list_each(waits, &i->waiting) n++;
    }
    return n;
}

/* ---- removing ---- */

static void run_image_sweep(struct work *w)
{
    const struct image_job *job = container_of(w, struct image_job, work);

    disk_sweep(job->home, job->keep, job->n_keep);
}

static void done_sweep(struct work *w)
{
    struct image_job *job = container_of(w, struct image_job, work);

    list_del(&job->node);
    free(job);
}

static void keep_image(struct image_job *job, const struct disk_spec *disk)
{
    if (disk->kind != DISK_IMAGE || job->n_keep == ARRAY_LEN(job->keep))
        return;
    for (size_t i = 0; i < job->n_keep; i++)
        if (job->keep[i] == disk->bytes)
            return;
    job->keep[job->n_keep++] = disk->bytes;
}

static bool is_image_kept(const struct image_job *job, uint64_t bytes)
{
    for (size_t i = 0; i < job->n_keep; i++)
        if (job->keep[i] == bytes)
            return true;
    return false;
}

/* All sizes that somebody has, waits for, or has asked for lately; and that of the stock. */
static void keep_used(struct image_job *job, const struct engine *en)
{
    int64_t now_ms = clock_mono_ms();

    keep_image(job, &en->options.stock_spec.disk);
    list_each(node, &en->images.sizes)
    {
        const struct image *i = list_entry(node, struct image, node);
        if (!i->is_ready || now_ms - i->used_ms < en->options.images_keep_ms)
            keep_image(job, &(struct disk_spec){DISK_IMAGE, i->bytes});
    }
    list_each(node, &en->cells)
        keep_image(job, &list_entry(node, struct engine_cell, node)->info.spec.disk);
    list_each(node, &en->building)
        keep_image(job, &list_entry(node, struct building, node)->spec.disk);
}

/* What is to go is not known from here on: who asks for such a size now waits for the thread, which
 * removes it first and makes it again. */
static void sweep_images(struct engine *en)
{
    auto_free struct image_job *job = mem_zalloc(1, sizeof *job);

    if (!job)
        return;
    job->work = (struct work){.run = run_image_sweep, .done = done_sweep};
    keep_used(job, en);
    if (job->n_keep == ARRAY_LEN(job->keep) || submit_image_job(en, job, NULL) < 0)
        return;
    list_each(node, &en->images.sizes)
    {
        struct image *i = list_entry(node, struct image, node);
        if (!is_image_kept(job, i->bytes))
            image_free(en, i);
    }
    (void)take(job);
}

static void on_image_sweep(struct loop_timer *t);

static void arm(struct engine *en)
{
    int64_t ms = en->options.images_keep_ms / 2;

    ms = ms < SWEEP_MIN_MS ? SWEEP_MIN_MS : ms > SWEEP_MAX_MS ? SWEEP_MAX_MS : ms;
    (void)loop_timer_start(en->loop, &en->images.sweep, ms, on_image_sweep);
}

static void on_image_sweep(struct loop_timer *t)
{
    struct engine *en = container_of(t, struct engine, images.sweep);

    sweep_images(en);
    arm(en);
}

/* ---- the engine's ---- */

void engine_images_open(struct engine *en)
{
    list_init(&en->images.sizes);
    list_init(&en->images.jobs);
    arm(en);
}

void engine_images_close(struct engine *en)
{
    loop_timer_stop(&en->images.sweep);
    if (en->images.workers)
        work_pool_free(en->images.workers);
    en->images.workers = NULL;
    for (struct list *node; (node = list_pop(&en->images.jobs));) {
        struct image_job *job = list_entry(node, struct image_job, node);
        work_take_back(&job->work);
        free(job);
    }
    list_each(node, &en->images.sizes)
    {
        struct image *i = list_entry(node, struct image, node);
        for (struct list *waits; (waits = list_pop(&i->waiting));)
            free(list_entry(waits, struct building, node));
        image_free(en, i);
    }
}
