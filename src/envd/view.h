/* SPDX-License-Identifier: MIT */
/* A cell's own view of the machine: /proc/meminfo and its like, /sys, control groups, boot id.
 *
 * Every slot has a directory of ordinary files in one tmpfs of the spawner's, bound read-only over
 * the kernel's in each cell. A child of the spawner, the viewer, has the kernel ask before anybody
 * reads one of them (fanotify), and writes what is true now first. So nothing is done while nobody
 * looks, whatever changes a limit need not report it, and a cell that reads without end keeps the
 * viewer busy, not the spawner. When the viewer dies the kernel lets everybody read what is there;
 * another one is started. Where the kernel has no such questions, the files are written when the
 * cell is made and when it gets its name.
 *
 *     /view/sNNNN/{meminfo,cpuinfo,stat,loadavg,uptime,boot_id,cpu/…}    for the spawner to write
 *     /view/common/{sys/…,swaps,empty}                                   the same for all cells
 *     /look                                                              the same, read-only
 *     /groups/N                                                          control groups, read-only
 *
 * Internal header of src/envd. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "envd/view_text.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"

struct cell;
struct spawner;

/* What the viewer knows of a slot, in memory that it shares with the spawner. */
struct view_slot {
    uint64_t inos[VIEW_KINDS];   /* ascending from slot to slot */
    _Atomic uint64_t generation; /* of the cell in it; what follows was written before */
    int64_t boot_us;             /* its start, by CLOCK_BOOTTIME */
    int32_t pid;
};

struct view_shared {
    _Atomic uint32_t n_slots;
    struct view_slot slots[];
};

struct view {
    int dir_fd; /* /view; -1: there are no views */
    struct view_shared *shared;
    const struct cgroup *cgroup;
    bool is_live; /* the kernel asks before somebody reads */
    bool has_time_ns;
    pid_t viewer_pid;
    struct loop_timer restart;

    /* From before the spawner left the host's mounts until view_open(). */
    int group_fds[CGROUP_HIERARCHIES], cpuset_fd;
};

/* ---- view.c: the spawner's side ---- */

/* Takes along what cannot be reached later. */
void view_take_along(struct view *v, const struct cgroup *g);
/* Makes the directories and starts the viewer; the loop must exist. */
int view_open(struct spawner *s, struct err *e);
/* Ends the viewer. */
void view_close(struct spawner *s);
/* Called for SIGCHLD. */
void view_child_ended(struct spawner *s);
/* Makes the files of a new slot. */
int view_add_slot(struct cell *c, struct err *e);
/* CLOCK_BOOTTIME. */
int64_t view_now_us(void);
/* A cell begins: its process is forked and waits. */
void view_start(struct cell *c);
/* Its limits may have changed. */
void view_changed(struct cell *c);

/* ---- view_tree.c: directories and static files ---- */

/* What all cells share, in /view/common. */
int view_tree_common(const struct view *v, struct err *e);
/* Creates the files of slot NAME and notes their numbers. */
int view_tree_slot(const struct view *v, const char *name, struct view_slot *ret, struct err *e);
/* Makes the directory of slot NAME list the processors of NOW where it listed those of WAS. */
void view_tree_cpus(const struct view *v, const char *name, const cpu_set_t *was,
                    const cpu_set_t *now);
/* Replaces the content of slot NAME's file of KIND. */
int view_tree_write(const struct view *v, const char *name, enum view_kind kind, struct str text);
int view_tree_boot_id(const struct view *v, const char *name);
/* Where the group directories are below /sys/fs/cgroup: "memory", "cpu,cpuacct"; for version 2 and
 * for trees without a controller that limits anything "". */
void view_tree_group_name(const struct cgroup *g, size_t tree, char *ret, size_t size);

/* ---- view_facts.c ---- */

/* What is remembered of a cell between two looks. */
struct view_memory_of_cell {
    uint64_t generation;
    int64_t load_us; /* when the load was last brought up to date: since its start */
    uint64_t load_cpu_us;
    double load[VIEW_LOADS];
    cpu_set_t cpus; /* that its directory lists */
};

/* Writes the file of KIND of a slot as it should be now. */
void view_refresh(const struct view *v, uint32_t slot, enum view_kind kind,
                  struct view_memory_of_cell *m);

/* ---- viewer.c ---- */

/* True when the kernel can ask. */
bool viewer_can(void);
/* The viewer's life: returns only when it cannot go on. */
void viewer_main(const struct view *v);

/* ---- view_inside.c: in the new process of a cell ---- */

/* Enters a time namespace in which the cell's start is the machine's. */
int view_enter_time(void *ctx, struct err *e);
/* Lays the views over /new/proc and /new/sys. */
int view_mount(void *ctx, struct err *e);
