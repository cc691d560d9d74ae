/* SPDX-License-Identifier: MIT */
/* Users of a cell, from its /etc/passwd and /etc/group. The files belong to the cell and may hold
 * anything; reading them never blocks and is bounded. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum { USER_GROUPS_MAX = 32, USER_TEXT_MAX = 256 };

struct user {
    uid_t uid;
    gid_t gid;
    char name[USER_TEXT_MAX], home[USER_TEXT_MAX], shell[USER_TEXT_MAX];
    gid_t groups[USER_GROUPS_MAX]; /* supplementary ones */
    size_t n_groups;
};

/* Finds NAME (or a decimal uid). Uid 0 is there even when the files are not. */
int user_find(const char *name, struct user *ret, struct err *e);
/* The same from given files: for tests. */
int user_find_in(const char *name, const char *passwd, const char *group, struct user *ret,
                 struct err *e);
