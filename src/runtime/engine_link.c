/* SPDX-License-Identifier: MIT */
/* The connection to one spawner: what is sent there, at once or when there is room. */
#include "runtime/engine_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/engine_internal.h"

enum { QUEUE_MAX = 65536 };

struct queued {
    struct list node;
    struct buf data;
    int fds[PACKET_FDS];
    size_t n_fds;
};

void spawner_link_init(struct spawner_link *s, struct engine *en)
{
    *s = (struct spawner_link){.engine = en, .id = en->next_link_id++, .sockets_fd = -1};
    s->io.fd = -1;
    list_init(&s->node);
    list_init(&s->queue);
}

static void queued_free(struct queued *q)
{
    list_del(&q->node);
    buf_done(&q->data);
    while (q->n_fds > 0)
        (void)close(q->fds[--q->n_fds]);
    free(q);
}

static int keep_fds(struct queued *q, const int *fds, size_t n)
{
    for (; q->n_fds < n; q->n_fds++) {
        q->fds[q->n_fds] = fcntl(fds[q->n_fds], F_DUPFD_CLOEXEC, 0);
        if (q->fds[q->n_fds] < 0)
            return -errno;
    }
    return 0;
}

static int enqueue(struct spawner_link *s, const int *fds, size_t n)
{
    if (s->n_queued == QUEUE_MAX)
        return -ENOBUFS;
    struct queued *q = mem_zalloc(1, sizeof *q);
    if (!q)
        return -ENOMEM;
    list_append(&s->queue, &q->node);
    buf_init(&q->data, PACKET_MAX);
    int r = buf_add_str(&q->data, buf_str(&s->engine->out));
    if (r == 0)
        r = keep_fds(q, fds, n);
    if (r < 0) {
        queued_free(q);
        return r;
    }
    s->n_queued++;
    return loop_io_want(&s->io, EPOLLIN | EPOLLOUT);
}

int spawner_link_send_fds(struct spawner_link *s, const int *fds, size_t n)
{
    if (!s->io.loop)
        return -ENOTCONN;
    int r = list_is_empty(&s->queue) ? packet_send(s->io.fd, &s->engine->out, fds, n) : -EAGAIN;
    return r == -EAGAIN ? enqueue(s, fds, n) : r;
}

int spawner_link_send(struct spawner_link *s)
{
    return spawner_link_send_fds(s, NULL, 0);
}

int spawner_link_flush(struct spawner_link *s)
{
    while (!list_is_empty(&s->queue)) {
        struct queued *q = list_entry(s->queue.next, struct queued, node);
        int r = packet_send(s->io.fd, &q->data, q->fds, q->n_fds);
        if (r < 0)
            return r == -EAGAIN ? 0 : r;
        queued_free(q);
        s->n_queued--;
    }
    return loop_io_want(&s->io, EPOLLIN);
}

void spawner_link_drop(struct spawner_link *s)
{
    list_each(node, &s->queue) queued_free(list_entry(node, struct queued, node));
    s->n_queued = 0;
}

void spawner_link_quit(struct spawner_link *s)
{
    if (s->is_quitting)
        return;
    packet_begin(&s->engine->out, PROTO_QUIT, 0);
    s->is_quitting = spawner_link_send(s) == 0;
}

/* Grows in steps: most hosts have few. */
static int make_link_room(struct spawner_link *s, uint32_t slot)
{
    enum { STEP = 64 };

    if (slot < s->n_slots)
        return 0;
    if (slot >= ENGINE_SLOTS_MAX)
        return -ENOBUFS;
    uint32_t n = (slot / STEP + 1) * STEP;
    struct engine_cell **grown = mem_zalloc(n, sizeof(struct engine_cell *));
    if (!grown)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n_slots; i++)
        grown[i] = s->slots[i];
    free(s->slots);
    s->slots = grown;
    s->n_slots = n;
    return 0;
}

int spawner_link_enter(struct spawner_link *s, struct engine_cell *c)
{
    int r = make_link_room(s, c->info.slot);

    if (r == 0)
        s->slots[c->info.slot] = c;
    return r;
}

void spawner_link_leave(struct spawner_link *s, const struct engine_cell *c)
{
    if (c->info.slot < s->n_slots && s->slots[c->info.slot] == c)
        s->slots[c->info.slot] = NULL;
}

struct engine_cell *spawner_link_cell(const struct spawner_link *s, uint32_t slot,
                                      uint64_t generation)
{
    struct engine_cell *c = slot < s->n_slots ? s->slots[slot] : NULL;

    return c && c->info.generation == generation ? c : NULL;
}

struct spawner_link *spawner_link_find(struct engine *en, uint32_t id)
{
    if (en->spawner->id == id)
        return en->spawner;
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        if (s->id == id)
            return s;
    }
    return NULL;
}
