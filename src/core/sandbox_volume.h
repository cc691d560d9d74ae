/* SPDX-License-Identifier: MIT */
/* The volumes of sandboxes: which are mounted where, and mounting them in a new cell. A cell keeps
 * its mounts as long as it lives, also while it is paused or its processes are ended. */
#pragma once

#include "base/err.h"
#include "core/sandbox.h"

struct sandbox_mounting;
struct volume;

enum { SANDBOX_VOLUMES_MAX = 16, SANDBOX_VOLUME_PATH_MAX = 1024 };

/* The part of sandbox_fill() about volumes: names and paths that could be. */
int sandbox_fill_volumes(struct sandbox *sb, const struct sandbox_args *a, struct err *e);
/* -EINVAL with E filled when ACCOUNT has no volume of a name. */
int sandbox_check_volumes(const struct sandbox *sb, const struct account *account, struct err *e);
bool sandbox_has_volumes(const struct sandbox *sb);
/* A sandbox that has V, also one that is being created or ends; or NULL. */
const struct sandbox *sandbox_of_volume(const struct sandboxes *set, const struct volume *v);

/* E is NULL on success. */
typedef void sandbox_mounted_fn(void *ctx, const struct err *e);
/* Mounts the volumes of SB in its cell, in which nothing of a client's may run yet, and calls FN.
 * NULL with E filled. */
struct sandbox_mounting *sandbox_mount_volumes(const struct sandbox *sb, sandbox_mounted_fn *fn,
                                               void *ctx, struct err *e);
/* Nobody waits any more: FN is not called. */
void sandbox_mounting_drop(struct sandbox_mounting *m);
