/* SPDX-License-Identifier: MIT */
/* The spawner: a small process that forks cells, started by the daemon and outliving it. It lives
 * in a mount namespace of its own that holds nothing but what building a cell needs, because every
 * cell starts as a copy of it. Internal header of src/envd. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "envd/cell.h"
#include "envd/view.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"
#include "runtime/disk.h"
#include "runtime/packet.h"
#include "runtime/proto.h"
#include "runtime/seccomp.h"
#include "runtime/shares.h"

enum {
    SPAWNER_SLOTS = 4096, /* also how many uid ranges there are */
    SPAWNER_TEMPLATES = 64,
    SPAWNER_CLIENTS = 16,
    SPAWNER_NETNS_POOL = 128,
    SPAWNER_NETNS_AHEAD = 16,
    SPAWNER_SLOTS_AHEAD = 8,
    SPAWNER_DISK_SIZES = 4, /* that disks are made ahead for */
    SPAWNER_DISKS_AHEAD = 4,
    SPAWNER_DISKS_KEPT = 32,
    SPAWNER_DISKS_USED = 64,
    SPAWNER_UID_RANGE = 65536,
};
/* systemd's uid plan leaves 0x70000000…0x7fffffff free: 4096 ranges of 64k. */
#define SPAWNER_UID_FIRST 0x70000000U

struct spawner_template {
    struct proto_template spec;
    unsigned index; /* its layers are mounted at /tpl/INDEX.0, /tpl/INDEX.1 … */
    uint64_t used;  /* spawner.n_template_uses when it was last asked for */
    dev_t devs[PROTO_LAYERS_MAX];
    ino_t inos[PROTO_LAYERS_MAX];
};

/* Empty disks of one size, mounted nowhere. */
struct disk_stock {
    uint64_t bytes; /* 0: unused */
    unsigned n;
    struct disk_image images[SPAWNER_DISKS_KEPT];
};

struct client {
    struct loop_io io;
    struct spawner *spawner;
    uint64_t id; /* 0: unused */
};

struct spawner {
    struct loop *loop;
    struct cgroup cgroup;
    struct seccomp_program seccomp;
    struct view view;
    struct shares shares;
    struct disk_dirs dirs; /* the cells directory and the host's /dev */
    int uid_lock_fd;       /* byte N locked: range N is somebody's */
    int home_netns_fd, sock_fd;
    struct loop_io listener;
    struct client clients[SPAWNER_CLIENTS];
    uint64_t next_client_id, next_generation;
    uint32_t next_uid_range;

    struct cell *slots[SPAWNER_SLOTS]; /* NULL: never used so far */
    uint32_t n_slots, n_used;
    uint32_t free_slots[SPAWNER_SLOTS];
    uint32_t n_free;
    struct spawner_template templates[SPAWNER_TEMPLATES];
    unsigned n_templates;
    uint64_t n_template_uses;

    int netns_pool[SPAWNER_NETNS_POOL];
    unsigned n_netns;
    struct disk_stock disks[SPAWNER_DISK_SIZES]; /* the size asked for last comes first */
    struct loop_timer refill;

    int used_disks[SPAWNER_DISKS_USED]; /* of cells that are gone */
    unsigned n_used_disks;
    struct loop_timer clean;
    pid_t cleaner_pid;
    bool is_quitting;
    struct buf out;
};

struct spawner_options {
    const char *socket, *state, *instance, *images; /* the last: as disk_dirs.images, or NULL */
    enum cgroup_version cgroup;
};

/* ---- spawner.c: the conversation with the daemon ---- */
/* Prepares everything; the caller then runs s->loop. */
int spawner_open(struct spawner *s, const struct spawner_options *o, struct err *e);
/* The end, once all cells are gone; the process ends next. */
void spawner_close(struct spawner *s);
/* Tells who asked for C that it is ready, or that it failed with E. */
void spawner_reply_cell(struct cell *c);
void spawner_reply_error(struct cell *c, const struct err *e);
/* Tells every client that C is gone. */
void spawner_tell_gone(struct cell *c);
/* Asks for work ahead when there is time. */
void spawner_work_ahead(struct spawner *s);

/* ---- world.c: the mount namespace ---- */
/* Moves this process into the small mount namespace; CELLS_TREE: a detached mount of its /cells. */
int world_enter(int cells_tree, const char *mount_point, struct err *e);
/* Takes over the layers of a template: 0, also when they are the known ones, or 1 when they take
 * the place of others. */
int world_add_template(struct spawner *s, const struct proto_template *spec, struct packet *p,
                       struct err *e);
struct spawner_template *world_find_template(struct spawner *s, const char *name);

/* ---- netns.c ---- */
/* A network namespace with loopback up and no way out; from the pool when there is one. */
int netns_take(struct spawner *s, struct err *e);
/* Takes back that of a cell which is gone for everybody. One that was never used is for the next
 * cell, any other goes. */
void netns_give_back(struct spawner *s, int fd);
/* Makes one for the pool, or lets one go that is too much for quiet times; false when there are
 * just enough or the kernel refused. */
bool netns_refill(struct spawner *s);

/* ---- disks.c ---- */
/* An empty image of this size; from the stock when there is one. */
int disks_take(struct spawner *s, uint64_t bytes, struct disk_image *ret, struct err *e);
/* Takes back that of a cell which is gone: emptied for the next one when there is little on it. */
void disks_give_back(struct spawner *s, uint64_t bytes, struct disk_image image);
/* Makes one of a size that was asked for, or lets one go; false when there are just enough. */
bool disks_refill(struct spawner *s);

/* ---- sweep.c ---- */
/* Removes what an earlier spawner left: processes, groups, directories. */
void sweep_leftovers(struct spawner *s);
/* Moves SLOT's files out of the way; a child process deletes them. */
void sweep_slot(struct spawner *s, const char *slot);
/* Deletes what others have put into the trash. */
void sweep_trash(struct spawner *s);
/* Removes NAME below DIR, if it is there, with all that is in it; false when something is left. */
bool sweep_below(int dir, const char *name);
/* Takes FD, a disk that nobody needs any more; a child process unmounts it. */
void sweep_disk(struct spawner *s, int fd);
/* Called for the end of the deleting child. */
void sweep_cleaner_ended(struct spawner *s);
