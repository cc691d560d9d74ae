/* SPDX-License-Identifier: MIT */
/* The empty images that disks of cells are copies of: made by a worker when a cell of a new size is
 * asked for, removed when nobody has used a size for a while. */
#pragma once

#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"
#include "runtime/disk.h"

struct building;
struct engine;
struct work_pool;

struct engine_images {
    struct work_pool *workers; /* one thread, from the first image on */
    struct list sizes;         /* struct image: those that are there or are being made */
    unsigned n_sizes;
    struct list jobs;        /* struct image_job: under way */
    struct loop_timer sweep; /* of those that nobody uses */
};

void engine_images_open(struct engine *en);
/* Frees what waits; nobody is notified. */
void engine_images_close(struct engine *en);
/* The image of DISK is there. */
void engine_image_know(struct engine *en, const struct disk_spec *disk);
/* Asks the spawner for B when its disk's image is there, which may have to be made first. 0: FN is
 * called sooner or later; else -errno, and B is the caller's. */
int engine_image_await(struct engine *en, struct building *b, struct err *e);
/* Cells that wait for one. */
unsigned engine_image_n_waiting(const struct engine *en);
