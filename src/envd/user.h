/* SPDX-License-Identifier: MIT */
/* Users of a cell, from its /etc/passwd and /etc/group. The files belong to the cell and may hold
 * anything; reading them never blocks and is bounded. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
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

/* Names of owners, for many files in a row: the cell's files are read once, the last answer of each
 * kind is remembered. What user_names_init() prepares, user_names_done() frees. */
struct user_names {
    struct buf users, groups;
    bool is_read, has_user, has_group;
    uid_t uid;
    gid_t gid;
    char user[USER_TEXT_MAX], group[USER_TEXT_MAX];
};

void user_names_init(struct user_names *n);
void user_names_done(struct user_names *n);
/* The name, or the number as text when it has none. Valid until the next call for another id. */
const char *user_names_user(struct user_names *n, uid_t uid);
const char *user_names_group(struct user_names *n, gid_t gid);
