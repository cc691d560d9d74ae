/* SPDX-License-Identifier: MIT */
/* Slots, and the cells that live in them one after the other. Internal header of src/envd. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"
#include "runtime/disk.h"
#include "runtime/proto.h"

struct kern_clone_args;
struct spawner;
struct spawner_template;

enum cell_state { CELL_FREE, CELL_STARTING, CELL_READY, CELL_ENDING, CELL_CLEANING };

/* One slot and, while it is used, the cell in it. */
struct cell {
    struct spawner *spawner;
    enum cell_state state;
    char name[PROTO_SLOT_NAME_MAX];
    struct cell_info info;
    const struct spawner_template *tmpl;

    int userns_fd; /* of the slot: a user namespace with its uid range, for idmapped mounts */
    int netns_fd, pidfd, listen_fd, sync_fd;
    struct disk_image upper; /* mount of the upper layer's home: an image until the end, a directory
                                while the cell is built; none: the cell makes a tmpfs */
    struct loop_io pid_io, sync_io;
    struct loop_timer timer; /* start-up deadline; later, retries of the tear-down */
    int64_t boot_us;         /* its start, by CLOCK_BOOTTIME */
    int wait_status;
    unsigned n_retries;
    size_t n_ahead; /* steps of the next cell's building that are done already */

    /* Who asked for it. */
    uint64_t client_id;
    uint32_t tag;

    /* Only while it is built. */
    int entry_fds[CGROUP_HIERARCHIES];
    int n_entries;
    int layer_fds[PROTO_LAYERS_MAX];
    uint32_t n_layers;
    int peer_fd;  /* the new process's end of sync_fd */
    int score_fd; /* in the new process: its own oom_score_adj */
    int pids_fd;  /* there too: its group's limit of processes; < 0: none */
};

/* ---- slot.c ---- */
/* Adds a slot to the free ones; NULL with E filled. */
struct cell *slot_add(struct spawner *s, struct err *e);
/* A free slot with a uid range and namespace, state CELL_FREE; NULL with E filled. */
struct cell *slot_take(struct spawner *s, struct err *e);
void slot_give_back(struct cell *c);
/* clone3() of a process in a new user namespace, for the range that starts at BASE. The namespace
 * belongs to that uid: what the kernel counts for whoever owns it (inotify instances, message
 * queues, pending signals, locked memory, namespaces), whatever uids are used inside, it counts for
 * this slot then and not for root of the host and with it for all cells together. */
pid_t slot_clone(uint32_t base, struct kern_clone_args *args);
/* Gives the user namespace of process PID the range that starts at BASE. */
int slot_write_maps(pid_t pid, uint32_t base);
/* The living cell that (SLOT, GENERATION) names, or NULL. */
struct cell *slot_find(const struct spawner *s, uint32_t slot, uint64_t generation);

/* ---- cell.c: the host's side of a cell's life ---- */

void cell_create(struct spawner *s, const struct cell_spec *spec, uint64_t client_id, uint32_t tag);
void cell_kill(struct cell *c);
/* The home of its upper layer as a descriptor of the caller's, or -errno with E filled. */
int cell_open_upper(const struct cell *c, struct err *e);
/* Does what can be done before anybody asks, for one free slot; false when enough is done. */
bool cell_prepare_one(struct spawner *s);
/* Undoes that. */
void cell_unprepare_all(struct spawner *s);
