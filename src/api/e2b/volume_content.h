/* SPDX-License-Identifier: MIT */
/* Requests about the files of volumes: what volume_content.c and volume_file.c share. */
#pragma once

#include "api/e2b/e2b.h"
#include "base/arena.h"
#include "base/buf.h"
#include "core/volume.h"
#include "core/volume_files.h"
#include "loop/work.h"

struct volume_job;

/* On a worker, with the open volume. 0 or -errno with E filled. */
typedef int volume_act(struct volume_job *j, int root, struct err *e);
/* On the loop's thread, after success; owns J. */
typedef void volume_answer(struct volume_job *j);

struct volume_job {
    struct work work;
    struct api_req *r;
    struct work_pool *pool;
    struct arena arena; /* the worker's while the job runs */
    struct volume_way way;
    char account[ACCOUNT_ID_MAX + 1];
    const char *path;
    struct volume_meta meta;
    unsigned depth;
    volume_act *act;
    volume_answer *answer;
    /* What it found. */
    struct volume_entry entry;
    struct volume_entries entries;
    struct buf list; /* them, as JSON */
    int fd, dir;
    uint64_t size;
    struct err e;
};

/* Checks the token and reads the path; NULL after answering. */
struct volume_job *e2b_volume_job(struct api_req *r);
void e2b_volume_job_free(struct volume_job *j);
/* Runs j->act, then j->answer; a failure is answered here. */
void e2b_volume_submit(struct volume_job *j);
void e2b_volume_fail(struct api_req *r, int code, const struct err *e);
/* Reads uid, gid, mode and force of the query. 0, or -EINVAL after answering. */
int e2b_read_meta(struct api_req *r, struct volume_meta *ret);
/* Answers with j->entry; owns J. */
void e2b_volume_show(struct volume_job *j, int status);
