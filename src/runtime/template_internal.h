/* SPDX-License-Identifier: MIT */
/* What the files of the default template share. Paths are relative to a root directory, without a
 * slash in front: "etc/ssl/certs". */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "runtime/template.h"

/* What Debian's packages brought to the host. */
struct template_packages {
    struct map paths; /* below etc/ and var/ */
    struct map words; /* of the maintainer scripts that make users or groups */
};

struct template_build {
    int host; /* the host's root directory */
    int root; /* the directory that is filled */
    struct template_packages packages;
    unsigned n_copied;
};

/* ---- template_copy.c ---- */

struct template_entry {
    const char *path;
    mode_t mode;
    uid_t owner;
    gid_t group;
    const char *text; /* NULL: a directory */
};

/* Makes a new file of this text, or a directory. 0 or -errno; -EEXIST: there is one. */
int template_make_one(int root, const struct template_entry *t);
/* Makes a new file like T with TEXT. */
int template_write(int root, const struct template_entry *t, struct str text);
/* Makes the directories that PATH is in. */
void template_make_parents(struct template_build *b, const char *path);

enum {
    TEMPLATE_SHIPPED = 1, /* only what a package ships */
    TEMPLATE_NAMED = 2,   /* the operator wants it: whoever may read it on the host */
};
/* Copies PATH of the host with all that is below. Left out is what not everybody may read, what
 * template_is_kept_out(), links that lead somewhere else, and what is there already. */
void template_copy(struct template_build *b, const char *path, unsigned flags);
/* Reads PATH of the host, if everybody may: 0 or -errno. */
int template_read(const struct template_build *b, const char *path, struct buf *ret);
/* Lists the directory PATH below the directory AT, not through a link; NULL when it cannot be. */
DIR *template_list(int at, const char *path);

/* ---- template_etc.c: what of the host's /etc goes into a cell ---- */

/* True for what is secret, the host's own, or ours in every cell. */
bool template_is_kept_out(const char *path);
void template_copy_etc(struct template_build *b);
/* What changes with everything that template_copy_etc() may copy. */
uint64_t template_etc_key(int host, uint64_t key);

/* ---- template_packages.c: dpkg's database ---- */

/* Reads it; on a host without dpkg nothing is found. */
int template_packages_read(struct template_build *b, struct err *e);
void template_packages_done(struct template_packages *p);
bool template_is_shipped(const struct template_packages *p, const char *path);
/* Gives the cell a copy of the database, and the directories below /var that packages bring. */
int template_copy_packages(struct template_build *b, struct err *e);
/* The sources of apt, without those that need a password. */
int template_copy_sources(struct template_build *b, struct err *e);

/* ---- template_users.c ---- */

/* Writes passwd, group and shadow: those of every cell, and the host's users and groups that Debian
 * or a package made. */
int template_write_users(struct template_build *b, struct err *e);

/* ---- template_skeleton.c: what is ours ---- */

int template_make_skeleton(struct template_build *b, struct err *e);
/* What programs need when the host had none of it. */
int template_make_fallbacks(struct template_build *b, struct err *e);
/* What lies over the host's /usr. */
int template_make_usr(struct template_build *b, struct err *e);
