/* SPDX-License-Identifier: MIT */
/* Copies between this machine and a sandbox. Files go as they are; directories as tar archives,
 * which the tar programs of both sides make and unpack. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "cli/progress.h"
#include "cli/remote.h"

/* ---- names ---- */

struct cp_path {
    struct str sandbox; /* empty: a path of this machine */
    const char *path;   /* "-": standard input or output; never empty */
};

/* Reads "NAME:PATH" or "PATH"; "NAME:" is the directory where commands start. What cannot be a
 * sandbox's name makes a path: "./a:b", "/x:y". */
struct cp_path cp_parse(const char *text);
/* The last component of PATH, without slashes behind it; "/" for the root. */
struct str cp_base(const char *path);

/* ---- copying ---- */

struct cp {
    struct remote *remote;
    const char *sandbox; /* name */
    const char *inside;  /* path in the sandbox */
    const char *outside; /* path here, or "-" */
    bool is_quiet;
    struct progress progress;

    /* Of the copy under way. */
    int fd;            /* of the local file, or of the pipe to tar; -1: none */
    pid_t tar;         /* 0: none */
    struct str target; /* the local file's name, once it is complete */
    char *temp;        /* and until then */
};

/* Makes c->inside absolute: a relative path is below the directory where commands start. */
int cp_resolve(struct cp *c, struct err *e);
/* Both return an exit status, as in remote.h. */
int cp_upload(struct cp *c);
int cp_download(struct cp *c);

/* ---- the local tar ---- */

/* Starts tar with ARGV; its standard output (IS_READER) or input is c->fd. 0 or -errno. */
int cp_tar_start(struct cp *c, const char *const argv[], bool is_reader, struct err *e);
/* Closes the pipe and waits. 0, or -EIO when tar failed (it has said why itself). */
int cp_tar_wait(struct cp *c, struct err *e);
