/* SPDX-License-Identifier: MIT */
/* Blocks of records go round between the two threads: the caller fills one, the writer empties the
 * one that was filled first. A file is one record or, in several blocks, more of them. */
#include "local/archive/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/archive/tree.h"
#include "sys/io.h"

enum {
    BLOCKS = 4,
    BLOCK_BYTES = 256 << 10,
    BLOCK_FILES = 64, /* which stay open until they are written */
    STACK_BYTES = 256 << 10
};

/* Behind it its path with a NUL, then its content. */
struct writer_record {
    int fd;
    bool is_last; /* of its file */
    size_t path_len, len;
    int64_t mtime_s;
};

struct writer_block {
    bool is_full;
    size_t len;
    unsigned n_files;
    char *bytes;
};

struct writer {
    /* The caller's. */
    struct writer_block blocks[BLOCKS];
    size_t filling;
    struct writer_record
        *record; /* of the file under way, in the block that is being filled, or NULL */
    int fd;      /* of the file under way, or -1 */
    int64_t mtime_s;
    char path[TREE_PATH_MAX];

    pthread_t thread;
    pthread_mutex_t lock; /* guards is_full and what is below */
    pthread_cond_t has_changed;
    bool is_dropped, is_over;
    int error;
    char error_path[TREE_PATH_MAX];
};

static char *record_path_of(struct writer_record *r)
{
    return (char *)(r + 1);
}

static size_t record_size_of(const struct writer_record *r)
{
    size_t n = sizeof *r + r->path_len + 1 + r->len;

    return (n + alignof(struct writer_record) - 1) & ~(alignof(struct writer_record) - 1);
}

/* ---- the writer's thread ---- */

static int write_record(struct writer_record *r)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = r->mtime_s}};
    int code = io_write_all(r->fd, record_path_of(r) + r->path_len + 1, r->len);

    if (code == 0 && r->is_last)
        (void)futimens(r->fd, times);
    return code;
}

/* Writes what is in B unless IS_DROPPED; the first failure ends that. Its path is in *RET. */
static int write_one_block(const struct writer_block *b, bool is_dropped, const char **ret)
{
    int code = 0;

    for (size_t at = 0; at < b->len;) {
        struct writer_record *r = (struct writer_record *)(void *)(b->bytes + at);
        int done = code == 0 && !is_dropped ? write_record(r) : 0;
        if (r->is_last && close(r->fd) < 0 && done == 0)
            done = -errno;
        if (done < 0 && code == 0) {
            code = done;
            *ret = record_path_of(r);
        }
        at += record_size_of(r);
    }
    return code;
}

static void *write_blocks(void *ctx)
{
    struct writer *w = ctx;
    size_t next = 0;

    (void)pthread_mutex_lock(&w->lock);
    for (;;) {
        struct writer_block *b = &w->blocks[next];
        if (!b->is_full && w->is_over)
            break;
        if (!b->is_full) {
            (void)pthread_cond_wait(&w->has_changed, &w->lock);
            continue;
        }
        bool is_dropped = w->is_dropped || w->error < 0;
        const char *path = "";
        (void)pthread_mutex_unlock(&w->lock);
        int code = write_one_block(b, is_dropped, &path);
        (void)pthread_mutex_lock(&w->lock);
        if (code < 0 && w->error == 0) {
            w->error = code;
            (void)snprintf(w->error_path, sizeof w->error_path, "%s", path);
        }
        b->is_full = false;
        next = (next + 1) % BLOCKS;
        (void)pthread_cond_broadcast(&w->has_changed);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the caller's ---- */

/* Under the lock. */
static int writer_result(const struct writer *w, struct err *e)
{
    return w->error < 0 ? err_sys(e, w->error, "'%s': write", w->error_path) : 0;
}

/* Waits until the block behind is empty; with ALL until all of them are. */
static int hand_over_block(struct writer *w, bool all, struct err *e)
{
    struct writer_block *b = &w->blocks[w->filling];

    w->record = NULL;
    (void)pthread_mutex_lock(&w->lock);
    if (b->len > 0) {
        b->is_full = true;
        w->filling = (w->filling + 1) % BLOCKS;
        (void)pthread_cond_broadcast(&w->has_changed);
    }
    for (size_t i = 0; i < (all ? BLOCKS : 1); i++) {
        while (w->blocks[(w->filling + i) % BLOCKS].is_full)
            (void)pthread_cond_wait(&w->has_changed, &w->lock);
    }
    int r = writer_result(w, e);
    (void)pthread_mutex_unlock(&w->lock);
    w->blocks[w->filling].len = 0;
    w->blocks[w->filling].n_files = 0;
    return r;
}

/* A record for the file under way, with room for some of its content. */
static int add_record(struct writer *w, struct err *e)
{
    size_t path_len = strlen(w->path), need = sizeof(struct writer_record) + path_len + 1;
    struct writer_block *b = &w->blocks[w->filling];

    if (b->len + need + alignof(struct writer_record) >= BLOCK_BYTES) {
        int r = hand_over_block(w, false, e);
        if (r < 0)
            return r;
        b = &w->blocks[w->filling];
    }
    w->record = (struct writer_record *)(void *)(b->bytes + b->len);
    *w->record = (struct writer_record){.fd = w->fd, .path_len = path_len, .mtime_s = w->mtime_s};
    memcpy(record_path_of(w->record), w->path, path_len + 1);
    b->len += record_size_of(w->record);
    return 0;
}

void writer_begin(struct writer *w, int fd, const char *path, int64_t mtime_s)
{
    w->fd = fd;
    w->mtime_s = mtime_s;
    (void)snprintf(w->path, sizeof w->path, "%s", path);
}

int writer_data(struct writer *w, const char *p, size_t len, struct err *e)
{
    int r = 0;

    while (r == 0 && len > 0) {
        if (!w->record)
            r = add_record(w, e);
        if (r < 0)
            break;
        struct writer_block *b = &w->blocks[w->filling];
        char *at = record_path_of(w->record) + w->record->path_len + 1 + w->record->len;
        size_t room = (size_t)(b->bytes + BLOCK_BYTES - at) - alignof(struct writer_record);
        size_t n = len < room ? len : room;
        memcpy(at, p, n);
        b->len -= record_size_of(w->record);
        w->record->len += n;
        b->len += record_size_of(w->record);
        p += n;
        len -= n;
        if (len > 0)
            r = hand_over_block(w, false, e);
    }
    return r;
}

int writer_end(struct writer *w, struct err *e)
{
    int r = w->record ? 0 : add_record(w, e);

    if (r < 0)
        return r;
    w->record->is_last = true;
    w->record = NULL;
    w->fd = -1;
    return ++w->blocks[w->filling].n_files == BLOCK_FILES ? hand_over_block(w, false, e) : 0;
}

int writer_finish(struct writer *w, struct err *e)
{
    return hand_over_block(w, true, e);
}

/* ---- life ---- */

static int start_writer_thread(struct writer *w)
{
    pthread_attr_t attr;

    for (size_t i = 0; i < BLOCKS; i++) {
        w->blocks[i].bytes = mem_alloc(BLOCK_BYTES);
        if (!w->blocks[i].bytes)
            return -ENOMEM;
    }
    if (pthread_attr_init(&attr) != 0)
        return -ENOMEM;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    int r = pthread_create(&w->thread, &attr, write_blocks, w);
    (void)pthread_attr_destroy(&attr);
    return -r;
}

static void release_writer(struct writer *w)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(w->blocks[i].bytes);
    (void)pthread_mutex_destroy(&w->lock);
    (void)pthread_cond_destroy(&w->has_changed);
    free(w);
}

struct writer *writer_new(void)
{
    struct writer *w = mem_zalloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->fd = -1;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->has_changed, NULL);
    if (start_writer_thread(w) == 0)
        return w;
    release_writer(w);
    return NULL;
}

void writer_free(struct writer *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->is_dropped = true;
    (void)pthread_mutex_unlock(&w->lock);
    (void)hand_over_block(w, true, NULL);
    (void)pthread_mutex_lock(&w->lock);
    w->is_over = true;
    (void)pthread_cond_broadcast(&w->has_changed);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    if (w->fd >= 0)
        (void)close(w->fd);
    release_writer(w);
}
