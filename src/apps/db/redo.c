/* SPDX-License-Identifier: MIT */
#include "apps/db/redo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/io.h"

#define MAGIC  UINT64_C(0x31306f6465726474) /* "tdredo01" */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

enum {
    HEAD = 512,
    PLACE = 8, /* bytes before a page: its place */
    FIRST = 16,
    PAGE_MAX = 64 << 10,
    FRAMES_MAX = 1 << 22 /* pages of one transaction: 16 GiB */
};

struct redo_head {
    uint64_t magic, sum; /* over the head, with this as 0, and all that follows */
    uint64_t inode, old_size, new_size;
    uint32_t page, n;
    char name[REDO_NAME_MAX + 1];
};

_Static_assert(sizeof(struct redo_head) <= HEAD, "the head is larger than its place");

/* ---- sums ---- */

/* Four at a time, as each step of one has to wait for the step before. */
static uint64_t add_to_sum(uint64_t sum, const unsigned char *p, size_t n)
{
    uint64_t lanes[4] = {sum, sum ^ 1, sum ^ 2, sum ^ 3}, words[4];
    size_t i = 0;

    for (; i + sizeof words <= n; i += sizeof words) {
        memcpy(words, p + i, sizeof words);
        for (int k = 0; k < 4; k++) {
            uint64_t x = (lanes[k] ^ words[k]) * FACTOR;
            lanes[k] = x ^ (x >> 29);
        }
    }
    for (; i < n; i++)
        lanes[0] = (lanes[0] ^ p[i]) * FACTOR;
    for (int k = 1; k < 4; k++)
        lanes[0] = (lanes[0] ^ (lanes[k] >> 7)) * FACTOR + lanes[k];
    return lanes[0];
}

static off_t frame_at(const struct redo *r, uint32_t i)
{
    return (off_t)(HEAD + i * (PLACE + (uint64_t)r->page));
}

static unsigned char *kept_frame(const struct redo *r, uint32_t i)
{
    return r->kept + frame_at(r, i);
}

/* ---- collecting ---- */

int redo_init(struct redo *r, const char *home)
{
    static atomic_uint n_made;
    char path[PATH_MAX];

    *r = (struct redo){.fd = -1};
    if (!home)
        return 0;
    if (snprintf(path, sizeof path, "%s/redo/%u", home, atomic_fetch_add(&n_made, 1)) >=
        (int)sizeof path)
        return -ENAMETOOLONG;
    r->path = mem_strdup(path);
    return r->path ? 0 : -ENOMEM;
}

void redo_done(struct redo *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd);
        (void)unlink(r->path);
    }
    free(r->path);
    free(r->kept);
    free(r->places);
    free(r->slots);
    *r = (struct redo){.fd = -1};
}

void redo_drop(struct redo *r)
{
    if (r->n > 0)
        memset(r->slots, 0, 2 * (size_t)r->max * sizeof *r->slots);
    r->n = 0;
}

static int open_redo_file(struct redo *r)
{
    char dir[PATH_MAX];

    if (r->fd >= 0)
        return 0;
    int fd = io_open(r->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd == -ENOENT) {
        (void)snprintf(dir, sizeof dir, "%s", r->path);
        *strrchr(dir, '/') = 0;
        int made = io_mkdirs(dir, 0700, NULL);
        fd = made < 0 ? made : io_open(r->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    r->fd = fd < 0 ? -1 : fd;
    return fd < 0 ? fd : 0;
}

/* Where the page of AT is or would be in the slots. */
static uint32_t slot_of(const struct redo *r, uint64_t at)
{
    uint32_t mask = 2 * r->max - 1;
    uint32_t i = (uint32_t)((at / r->page * FACTOR) >> 40) & mask;

    while (r->slots[i] != 0 && r->places[r->slots[i] - 1] != at)
        i = (i + 1) & mask;
    return i;
}

static int grow_places(struct redo *r)
{
    uint32_t max = r->max == 0 ? FIRST : 2 * r->max;

    if (r->n < r->max)
        return 0;
    if (max > FRAMES_MAX)
        return -ENOSPC;
    uint64_t *places = mem_realloc(r->places, max * sizeof *places);
    if (!places)
        return -ENOMEM;
    r->places = places;
    uint32_t *slots = mem_zalloc(2 * (size_t)max, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(r->slots);
    r->slots = slots;
    r->max = max;
    for (uint32_t i = 0; i < r->n; i++)
        r->slots[slot_of(r, r->places[i])] = i + 1;
    return 0;
}

/* Memory for one page more; from REDO_KEPT_MAX on they are in the file alone. */
static int grow_kept(struct redo *r)
{
    size_t room = r->n_room == 0 ? FIRST : 2 * r->n_room;

    if (r->n >= REDO_KEPT_MAX)
        return open_redo_file(r);
    if (r->n < r->n_room)
        return 0;
    unsigned char *kept = mem_realloc(r->kept, HEAD + room * (PLACE + r->page));
    if (!kept)
        return -ENOMEM;
    r->kept = kept;
    r->n_room = room;
    return 0;
}

static int put_frame(struct redo *r, uint32_t i, const void *p, uint64_t at)
{
    if (i < REDO_KEPT_MAX) {
        memcpy(kept_frame(r, i), &at, PLACE);
        memcpy(kept_frame(r, i) + PLACE, p, r->page);
        return 0;
    }
    int e = io_write_at(r->fd, &at, PLACE, frame_at(r, i));
    return e < 0 ? e : io_write_at(r->fd, p, r->page, frame_at(r, i) + PLACE);
}

/* Files of another page size may come and go between transactions. */
static int set_page_size(struct redo *r, size_t n)
{
    if (n == r->page)
        return 0;
    if (r->n > 0 || n < 512 || n > PAGE_MAX)
        return -EINVAL;
    r->page = n;
    free(r->kept);
    r->kept = NULL;
    r->n_room = 0;
    return 0;
}

int redo_put(struct redo *r, const void *p, size_t n, uint64_t at)
{
    int e = set_page_size(r, n);

    if (e == 0 && at % n != 0)
        e = -EINVAL;
    if (e == 0)
        e = grow_places(r);
    if (e < 0)
        return e;
    uint32_t slot = slot_of(r, at), i = r->slots[slot];
    if (i != 0)
        return put_frame(r, i - 1, p, at);
    e = grow_kept(r);
    if (e == 0)
        e = put_frame(r, r->n, p, at);
    if (e < 0)
        return e;
    r->places[r->n++] = at;
    r->slots[slot] = r->n;
    return 0;
}

/* The page of frame I: in the memory, or read into ROOM; NULL with *RET_E. */
static const unsigned char *frame_page(const struct redo *r, uint32_t i, unsigned char *room,
                                       int *ret_e)
{
    if (i < REDO_KEPT_MAX)
        return kept_frame(r, i) + PLACE;
    ssize_t n = io_read_at(r->fd, room, r->page, frame_at(r, i) + PLACE);
    *ret_e = n < 0 ? (int)n : -EIO;
    return n == (ssize_t)r->page ? room : NULL;
}

int redo_get(const struct redo *r, void *p, size_t n, uint64_t at)
{
    unsigned char room[PAGE_MAX];
    int e = 0;

    if (r->n == 0)
        return 0;
    uint64_t within = at % r->page;
    uint32_t i = r->slots[slot_of(r, at - within)];
    if (i == 0)
        return 0;
    if (within + n > r->page)
        return -EINVAL;
    const unsigned char *page = frame_page(r, i - 1, room, &e);
    if (!page)
        return e;
    memcpy(p, page + within, n);
    return 1;
}

bool redo_has(const struct redo *r, uint64_t at, uint32_t n)
{
    uint32_t i = r->n == 0 ? 0 : r->slots[slot_of(r, at)];

    return i != 0 && i <= n;
}

/* ---- committing ---- */

/* Of what is in the file only; that of the memory's part is *SUM. */
static int sum_up_rest(const struct redo *r, uint64_t *sum)
{
    unsigned char frame[PLACE + PAGE_MAX];
    size_t len = PLACE + r->page;

    for (uint32_t i = REDO_KEPT_MAX; i < r->n; i++) {
        ssize_t n = io_read_at(r->fd, frame, len, frame_at(r, i));
        if (n != (ssize_t)len)
            return n < 0 ? (int)n : -EIO;
        *sum = add_to_sum(*sum, frame, len);
    }
    return 0;
}

/* The sum over the head at P and the frames in memory that follow it, of which there are N. */
static uint64_t sum_up_kept(const struct redo *r, const unsigned char *p, uint32_t n)
{
    size_t len = PLACE + r->page;
    uint64_t sum = add_to_sum(MAGIC, p, HEAD);

    for (uint32_t i = 0; i < n; i++)
        sum = add_to_sum(sum, p + HEAD + i * len, len);
    return sum;
}

int redo_write(struct redo *r, const struct redo_target *t, uint64_t new_size)
{
    uint32_t n_kept = r->n < REDO_KEPT_MAX ? r->n : REDO_KEPT_MAX;
    struct redo_head h = {.magic = MAGIC,
                          .inode = t->inode,
                          .old_size = t->size,
                          .new_size = new_size,
                          .page = (uint32_t)r->page,
                          .n = r->n};
    int e = open_redo_file(r);

    memcpy(h.name, t->name, sizeof h.name);
    memset(r->kept, 0, HEAD);
    memcpy(r->kept, &h, sizeof h);
    h.sum = sum_up_kept(r, r->kept, n_kept);
    if (e == 0)
        e = sum_up_rest(r, &h.sum);
    if (e < 0)
        return e;
    memcpy(r->kept, &h, sizeof h);
    e = io_write_at(r->fd, r->kept, (size_t)frame_at(r, n_kept), 0);
    /* A part of it is no danger, its sum is wrong; a full disk has room for the mark. */
    if (e < 0)
        redo_clear(r);
    return e;
}

/* Puts the frames in their places that lie before END, behind T's present one (IS_NEW) or not. */
static int apply_frames(const struct redo *r, const struct redo_target *t, uint64_t end,
                        bool is_new, uint32_t *ret_n)
{
    unsigned char room[PAGE_MAX];
    int e = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        if ((r->places[i] >= t->size) != is_new || r->places[i] >= end)
            continue;
        const unsigned char *page = frame_page(r, i, room, &e);
        if (!is_new)
            *ret_n = i + 1;
        if (!page)
            return e;
        e = io_write_at(t->fd, page, r->page, (off_t)r->places[i]);
        if (e < 0)
            return e;
    }
    return 0;
}

/* What is new first: it needs room on the disk, and nothing is lost when there is none. */
int redo_apply(const struct redo *r, const struct redo_target *t, uint64_t new_size,
               uint32_t *ret_n)
{
    *ret_n = 0;
    int e = apply_frames(r, t, new_size, true, ret_n);

    if (e == 0)
        e = apply_frames(r, t, new_size, false, ret_n);
    /* SQLite lets pages at the end go unwritten when nothing is in them. */
    if (e == 0 && new_size != t->size && ftruncate(t->fd, (off_t)new_size) < 0)
        e = -errno;
    return e;
}

void redo_clear(struct redo *r)
{
    static const uint64_t none = 0;

    if (r->fd < 0 || io_write_at(r->fd, &none, sizeof none, 0) == 0)
        return;
    /* It must not come again over what later transactions write. */
    (void)unlink(r->path);
    (void)close(take_fd(r->fd));
}

/* ---- after a restart ---- */

/* The frames of a redo that was left, as R has them in its file; sum checked. 1: it is valid. */
static int check_left(struct redo *r, const struct redo_head *h)
{
    unsigned char head[HEAD] = {0}, frame[PLACE + PAGE_MAX];
    struct redo_head unsummed = *h;
    size_t len = PLACE + (size_t)h->page;

    if (h->magic != MAGIC || h->page < 512 || h->page > PAGE_MAX || h->n > FRAMES_MAX ||
        h->name[REDO_NAME_MAX] != 0)
        return 0;
    r->page = h->page;
    unsummed.sum = 0;
    memcpy(head, &unsummed, sizeof unsummed);
    uint64_t sum = add_to_sum(MAGIC, head, HEAD);
    for (uint32_t i = 0; i < h->n; i++) {
        ssize_t n = io_read_at(r->fd, frame, len, frame_at(r, i));
        if (n < 0)
            return (int)n;
        if (n != (ssize_t)len)
            return 0;
        sum = add_to_sum(sum, frame, len);
    }
    return sum == h->sum;
}

static int put_back(const struct redo *r, const struct redo_head *h, int fd)
{
    unsigned char frame[PLACE + PAGE_MAX];
    size_t len = PLACE + r->page;

    for (uint32_t i = 0; i < h->n; i++) {
        uint64_t at;
        ssize_t n = io_read_at(r->fd, frame, len, frame_at(r, i));
        if (n != (ssize_t)len)
            return n < 0 ? (int)n : -EIO;
        memcpy(&at, frame, PLACE);
        int e = io_write_at(fd, frame + PLACE, r->page, (off_t)at);
        if (e < 0)
            return e;
    }
    return ftruncate(fd, (off_t)h->new_size) < 0 ? -errno : 0;
}

/* Brings the file that H names up to date, when it is still the one. */
static int recover_target(const char *home, const struct redo *r, const struct redo_head *h)
{
    char path[PATH_MAX];
    struct stat st;

    if (snprintf(path, sizeof path, "%s/%s", home, h->name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    auto_close int fd = io_open(path, O_RDWR, 0);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_ino == h->inode ? put_back(r, h, fd) : 0;
}

static int recover_one(const char *home, const char *path, struct err *e)
{
    unsigned char head[HEAD];
    struct redo_head h;
    auto_close int fd = io_open(path, O_RDONLY, 0);
    struct redo r = {.fd = fd};

    if (fd < 0)
        return err_sys(e, fd, "open '%s'", path);
    ssize_t n = io_read_at(fd, head, HEAD, 0);
    int c = n < 0 ? (int)n : n == HEAD;
    if (c == 1) {
        memcpy(&h, head, sizeof h);
        c = check_left(&r, &h);
    }
    if (c == 1)
        c = recover_target(home, &r, &h);
    if (c < 0)
        return err_sys(e, c, "bring what '%s' is for up to date", path);
    return unlink(path) < 0 ? err_sys(e, -errno, "remove '%s'", path) : 0;
}

int redo_recover(const char *home, struct err *e)
{
    char path[PATH_MAX], dir_path[PATH_MAX];
    const struct dirent *d;
    int r = 0;

    (void)snprintf(dir_path, sizeof dir_path, "%s/redo", home);
    DIR *dir = opendir(dir_path);
    if (!dir)
        return errno == ENOENT ? 0 : err_sys(e, -errno, "open '%s'", dir_path);
    while ((d = readdir(dir))) {
        if (d->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", dir_path, d->d_name) >= (int)sizeof path)
            continue;
        int one = recover_one(home, path, r == 0 ? e : NULL);
        r = r == 0 ? one : r;
    }
    (void)closedir(dir);
    return r;
}
