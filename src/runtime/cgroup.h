/* SPDX-License-Identifier: MIT */
/* Control groups of cells, version 2 and version 1 (also mixed, one mount per controller) behind
 * one interface. All groups of an instance live below `tidepool/INSTANCE` (in version 2: in the
 * group of the program that opened it); every cell has one group there (in version 1: one per
 * hierarchy), named by its slot. Names are reused, because each name that was ever used costs the
 * kernel a negative dentry.
 *
 * A process is never moved into a cell's group from outside, which waits for an RCU grace period
 * (10 ms): version 2 clones into the group, version 1 has the new process write itself in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum cgroup_version { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };

/* What can be limited or done; a set of these says what this host enforces. */
enum {
    CGROUP_CAN_MEMORY = 1,
    CGROUP_CAN_PIDS = 2,
    CGROUP_CAN_CPU = 4,
    CGROUP_CAN_FREEZE = 8,
    CGROUP_CAN_ACCOUNT_CPU = 16,
};

enum { CGROUP_HIERARCHIES = 6, CGROUP_NAME_MAX = 64 };
/* With version 1 buffers of sockets are beside the memory; this part of it is their limit. */
enum { CGROUP_V1_SOCKETS_PART = 8 };
/* What all cells together weigh when processors are scarce: half of what others have. With less
 * the first processes of cells, which answer requests, wait too long on a busy host. */
enum { CGROUP_V1_SHARES = 512, CGROUP_V2_WEIGHT = 50 };

/* One mounted hierarchy and the directory of ours in it. Version 2 has exactly one. */
struct cgroup_tree {
    int fd;       /* the instance's directory */
    unsigned can; /* which of CGROUP_CAN_* its controllers give */
};

struct cgroup {
    enum cgroup_version version;
    unsigned can;
    char instance[CGROUP_NAME_MAX];
    struct cgroup_tree trees[CGROUP_HIERARCHIES];
    size_t n_trees;
};

struct cgroup_limits {
    uint64_t memory_bytes; /* 0: no limit */
    uint32_t pids;         /* 0: no limit */
    uint32_t cpu_milli;    /* thousandths of a processor; 0: no limit */
};

struct cgroup_usage {
    uint64_t memory_bytes, memory_peak_bytes, memory_limit_bytes;
    uint64_t cpu_us;
    uint64_t oom_kills;
    uint32_t pids;
};

/* The version that is used on a machine with these mounts (the content of /proc/self/mountinfo):
 * 2 when it carries memory control, or when it is all there is. */
enum cgroup_version cgroup_version_of(const char *mountinfo);

/* True when the groups of G can be kept to one of CGROUP_CAN_MEMORY, _PIDS and _CPU; else E says
 * why not, and what to do. */
bool cgroup_can_limit(const struct cgroup *g, unsigned can, struct err *e);

/* Finds the hierarchies in MOUNTINFO and the own groups in SELF (the content of
 * /proc/self/mountinfo and /proc/self/cgroup), and creates the instance's directories. WANT forces
 * a version, CGROUP_NONE takes what there is. On success with version CGROUP_NONE the host has no
 * control groups and nothing can be limited. */
struct cgroup_open_args {
    const char *instance;
    const char *mountinfo, *self;
    enum cgroup_version want;
};
int cgroup_open(struct cgroup *g, const struct cgroup_open_args *args, struct err *e);
/* The same from this process's own /proc files. */
int cgroup_open_self(struct cgroup *g, const char *instance, enum cgroup_version want,
                     struct err *e);
void cgroup_close(struct cgroup *g);
/* Removes the instance's directories when they are empty, then closes. */
void cgroup_remove(struct cgroup *g);

/* Makes the group NAME (it may exist, if empty) and sets the limits. */
int cgroup_make(const struct cgroup *g, const char *name, const struct cgroup_limits *limits,
                struct err *e);
/* Changes the limits of a living group from WAS. As many processors as there are is no limit. */
int cgroup_limit(const struct cgroup *g, const char *name, const struct cgroup_limits *was,
                 const struct cgroup_limits *limits, struct err *e);
/* Version 2: the directory for CLONE_INTO_CGROUP in ret[0]. Version 1: one `tasks` file per
 * hierarchy, for the new process to write "0" to. Returns how many; the caller closes them. */
int cgroup_entries(const struct cgroup *g, const char *name, int ret[CGROUP_HIERARCHIES],
                   struct err *e);
/* Stops or continues all processes of the group; returns when it is done (bounded: 500 ms). When
 * it fails they go on. */
int cgroup_freeze(const struct cgroup *g, const char *name, bool freeze, struct err *e);
/* Stops them without waiting for longer than WAIT_MS: -ETIMEDOUT when some still run. It may be
 * repeated to find out; some processes are only caught by a thaw and a new attempt. */
int cgroup_try_freeze(const struct cgroup *g, const char *name, int wait_ms);
int cgroup_usage(const struct cgroup *g, const char *name, struct cgroup_usage *ret, struct err *e);
/* The group's limit of processes, open for reading; -errno, -ENOENT: this host has none. */
int cgroup_open_pids(const struct cgroup *g, const char *name);
/* How much of the memory that it uses is cached files. */
uint64_t cgroup_cache(const struct cgroup *g, const char *name);
/* Lets processes that were sent SIGKILL die although the group may be frozen. Version 1 delivers
 * the signal only to thawed processes, version 2 to all. */
void cgroup_wake(const struct cgroup *g, const char *name);
/* Sends SIGKILL to every process that is in the group, thawing it. 0 when it was empty already,
 * 1 when processes were hit. */
int cgroup_kill(const struct cgroup *g, const char *name);
/* Removes the group: 0 (also when there is none) or -EBUSY while processes are in it. */
int cgroup_unmake(const struct cgroup *g, const char *name);
/* Calls FN for every group below the instance, each name once or more. */
void cgroup_each(const struct cgroup *g, void (*fn)(const char *name, void *ctx), void *ctx);

/* ---- for the two implementations ---- */

/* What a version does with an existing group, in the tree's own files. */
struct cgroup_ops {
    int (*limit_memory)(const struct cgroup_tree *t, const char *name, uint64_t bytes);
    int (*limit_pids)(const struct cgroup_tree *t, const char *name, uint32_t pids);
    int (*limit_cpu)(const struct cgroup_tree *t, const char *name, uint32_t milli);
    int (*freeze)(const struct cgroup_tree *t, const char *name, bool freeze, int wait_ms);
    void (*usage)(const struct cgroup_tree *t, const char *name, struct cgroup_usage *u);
    const char *entry; /* file that a process enters by; NULL: the directory itself */
};
extern const struct cgroup_ops cgroup_v1_ops, cgroup_v2_ops;

/* Writes / reads `NAME/FILE` below TREE. */
int cgroup_write(const struct cgroup_tree *t, const char *name, const char *file,
                 const char *value);
int cgroup_write_u64(const struct cgroup_tree *t, const char *name, const char *file, uint64_t v);
/* Content as a string of at most LEN - 1 bytes; -errno. */
int cgroup_read(const struct cgroup_tree *t, const char *name, const char *file, char *ret,
                size_t len);
/* The number in a file, or after KEY in a "key value" file; 0 when it is not there. */
uint64_t cgroup_read_u64(const struct cgroup_tree *t, const char *name, const char *file,
                         const char *key);
/* Polls until `NAME/FILE` contains TEXT: 0, or -ETIMEDOUT after WAIT_MS. */
int cgroup_wait_for(const struct cgroup_tree *t, const char *name, const char *file,
                    const char *text, int wait_ms);
