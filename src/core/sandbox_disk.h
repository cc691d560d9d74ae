/* SPDX-License-Identifier: MIT */
/* The disks of sandboxes: what they are kept in, their sizes, and what an account is promised. */
#pragma once

#include "base/err.h"
#include "core/sandbox.h"

struct account;
struct sandboxes;

/* Chooses what the files of sandboxes are kept in; STATE is the state directory. */
void sandboxes_choose_disk(struct sandboxes *set, const char *state);
/* The part of sandbox_fill() about the disk. */
int sandbox_fill_disk(struct sandbox *sb, const struct sandbox_args *a, struct err *e);
/* -EINVAL with E filled when ACCOUNT asks for more disk than a sandbox may have or the host can
 * hold. */
int sandbox_check_disk(const struct sandboxes *set, const struct sandbox_args *a,
                       const struct account *account, struct err *e);

/* Enters SB's disk with its account: 0, or -EDQUOT with E filled. */
int sandbox_take_disk(struct sandbox *sb, struct err *e);
/* The same for one that lives already: no limit is asked. ACCOUNT may be NULL. */
void sandbox_count_disk(struct sandbox *sb, struct account *account);
/* Gives it back. */
void sandbox_give_disk(struct sandbox *sb);
