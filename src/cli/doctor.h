/* SPDX-License-Identifier: MIT */
/* The checks of `tidepool doctor`. Whatever a check tries, it tries in a forked child with
 * namespaces of its own, or in a sandbox that goes again: nothing on the machine changes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

enum doctor_status {
    DOCTOR_OK,
    DOCTOR_WARN,    /* works, but less well; or could not be checked */
    DOCTOR_MISSING, /* turned into a warning for what is not required */
    DOCTOR_STATUS_COUNT
};

#define DOCTOR_DETAIL_MAX 256

struct doctor_result {
    enum doctor_status status;
    char detail[DOCTOR_DETAIL_MAX]; /* what was found */
    const char *fix;                /* NULL: that of the check */
};

struct doctor_check {
    const char *name;
    bool is_required;
    void (*run)(const struct doctor_check *check, const struct config *c, struct doctor_result *r);
    const char *fix;  /* what to do when it is not ok */
    const char *word; /* for checks that share a function: the tool, the file… */
    int flag;         /* … or the namespace */
};

typedef void doctor_fn(const struct doctor_check *check, const struct config *c,
                       struct doctor_result *r);

/* Writes the result; FMT may be NULL for no detail. */
void doctor_say(struct doctor_result *r, enum doctor_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* OK with GOOD as the detail when CODE is 0, else missing with its errno's text. */
void doctor_judge(struct doctor_result *r, int code, const char *good);

/* Runs FN(arg) in a child, at most DOCTOR_SECONDS. FN returns 0 or -errno, which comes back;
 * -ETIMEDOUT when it hung, -ECHILD when it died. */
enum { DOCTOR_SECONDS = 5 };
int doctor_in_child(int (*fn)(const void *arg), const void *arg);
/* In a child: moves into a new user namespace, where it is root, and the others of FLAGS. */
int doctor_unshare(int flags);
int doctor_write_file(const char *path, const char *text);

/* doctor_kernel.c */
doctor_fn doctor_kernel, doctor_user_ns, doctor_namespace, doctor_clone3, doctor_pidfd,
    doctor_openat2, doctor_seccomp, doctor_sk_lookup, doctor_nftables;
/* doctor_mount.c */
doctor_fn doctor_overlay, doctor_idmap, doctor_images;
/* doctor_cgroup.c */
doctor_fn doctor_cgroup;
/* doctor_sandbox.c: doctor_sandbox() first; the others use what it has opened. */
doctor_fn doctor_sandbox, doctor_limit;
void doctor_sandbox_done(void);
/* doctor_counters.c */
doctor_fn doctor_inotify, doctor_all_files, doctor_terminals, doctor_sockets;
/* doctor_capacity.c */
doctor_fn doctor_capacity;
/* The number on the first line of a file; INT64_MAX when there is none. */
int64_t doctor_number(const char *path);
/* The most descriptors that the service can have: it raises its limit where it may. */
int64_t doctor_max_files(void);
/* doctor_host.c */
/* Memory that can be used, in KiB; negative when that is not known. */
int64_t doctor_memory_kib(void);
/* The state directory, or its nearest parent that exists. */
void doctor_existing_parent(const char *state, char out[4096]);
doctor_fn doctor_device, doctor_files, doctor_disk, doctor_inodes, doctor_memory, doctor_tool,
    doctor_glob, doctor_state, doctor_port, doctor_certificate, doctor_kvm;
