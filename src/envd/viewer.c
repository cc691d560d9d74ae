/* SPDX-License-Identifier: MIT */
/* The viewer: a process that the kernel asks before somebody reads a view. See view.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "envd/spawner.h"
#include "envd/view.h"

/* Who reads again within this time finds what the last one found: so a file does not change under
 * somebody who reads it in pieces, and no cell can make us work all the time. */
enum { STALE_US = 10000, EVENTS_BYTES = 4096 };

struct viewer {
    const struct view *view;
    int fd;
    struct seen {
        int64_t fresh_us[VIEW_KINDS];
        struct view_memory_of_cell memory;
    } * seen; /* by slot */
};

/* The slot that INO may belong to; -1 when it is older than all. Slots are made one after the
 * other, and in each the directory comes first. */
static int64_t viewer_slot_of(const struct view_shared *sh, uint64_t ino)
{
    uint32_t low = 0, high = atomic_load_explicit(&sh->n_slots, memory_order_acquire);

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (sh->slots[mid].inos[VIEW_CPUS] <= ino)
            low = mid + 1;
        else
            high = mid;
    }
    return (int64_t)low - 1;
}

static void refresh(struct viewer *w, uint32_t slot, enum view_kind kind)
{
    const struct view_slot *s = &w->view->shared->slots[slot];
    struct seen *seen = &w->seen[slot];
    uint64_t generation = atomic_load_explicit(&s->generation, memory_order_acquire);
    int64_t now_us = clock_mono_us();

    if (seen->memory.generation != generation)
        *seen = (struct seen){.memory = {.generation = generation, .cpus = seen->memory.cpus}};
    if (seen->fresh_us[kind] != 0 && now_us - seen->fresh_us[kind] < STALE_US)
        return;
    view_refresh(w->view, slot, kind, &seen->memory);
    seen->fresh_us[kind] = now_us;
}

static void look_at_read(struct viewer *w, int fd)
{
    const struct view_shared *sh = w->view->shared;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return;
    int64_t slot = viewer_slot_of(sh, st.st_ino);
    for (size_t kind = 0; slot >= 0 && kind < VIEW_KINDS; kind++)
        if (sh->slots[slot].inos[kind] == st.st_ino)
            refresh(w, (uint32_t)slot, (enum view_kind)kind);
}

/* Whatever happens, the one who reads may go on. */
static void answer_read(struct viewer *w, int fd)
{
    struct fanotify_response r = {.fd = fd, .response = FAN_ALLOW};

    look_at_read(w, fd);
    (void)!write(w->fd, &r, sizeof r);
    (void)close(fd);
}

static int start_viewer_process(void)
{
    int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC | O_LARGEFILE);

    if (fd < 0)
        return -errno;
    if (fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_ACCESS_PERM | FAN_ONDIR, AT_FDCWD,
                      "/view") == 0)
        return fd;
    int r = -errno;
    (void)close(fd);
    return r;
}

bool viewer_can(void)
{
    int fd = start_viewer_process();

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

void viewer_main(const struct view *v)
{
    static union {
        struct fanotify_event_metadata first;
        char bytes[EVENTS_BYTES];
    } events;
    struct viewer w = {.view = v, .seen = mem_zalloc(SPAWNER_SLOTS, sizeof *w.seen)};

    w.fd = start_viewer_process();
    while (w.seen && w.fd >= 0) {
        ssize_t n = read(w.fd, &events, sizeof events);
        if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EMFILE && errno != ENFILE)
            return;
        for (struct fanotify_event_metadata *m = &events.first; FAN_EVENT_OK(m, n);
             m = FAN_EVENT_NEXT(m, n))
            if (m->fd >= 0)
                answer_read(&w, m->fd);
    }
}
