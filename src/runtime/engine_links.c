/* SPDX-License-Identifier: MIT */
/* The spawners of an engine: which one makes the next cell, and what becomes of those that end, die
 * or do not answer. A cell dies with its spawner, so no spawner of this build has more than
 * `per_spawner` of them: then another one is used, or started (docs/adr/0023). Those that are not
 * used for new cells end with their last cell, as spawners of other builds do.
 *
 * Nothing here waits for a spawner; see engine_spawner.c for what does.
 *
 * A request for a cell is in one of two lists. In `building` it has been sent to a spawner, which
 * owes an answer: one that says nothing at all for SILENT_MS is silent, what it owes fails, and new
 * cells come from another one. In `waiting` there is no spawner to ask yet; go_on_waiting() asks
 * again whenever one was reached or could not be, and fail_late() gives up on the oldest.
 *
 * A connection that breaks says nothing about the cells (lose_link()): the spawner may have died
 * with all of them, or only the socket is gone. They stay until a spawner in the same place has
 * shown its list: the same one, or a new one that has swept up after it. compare_listed_cells()
 * then buries what the list does not have, and repeats the kills that the list shows were lost. */
#include "runtime/engine_links.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/work.h"
#include "runtime/engine_internal.h"
#include "runtime/engine_root.h"

enum {
    SILENT_MS = 5000, /* a spawner that says nothing for so long, though it was asked, hangs */
    LOOK_MS = 250,
    SHUTDOWN_MS = 4000, /* for all spawners together to end, with their cells */
    CLOSE_MS = 3000,    /* for an attempt to reach one to come to its end */
    START_MS = 5000,    /* the same before all are ended */
};

/* ---- which one makes the next cell ---- */

static unsigned link_load(const struct spawner_link *s)
{
    return s->n_cells + s->n_stock + s->n_building;
}

static bool is_ready(const struct spawner_link *s)
{
    return s->makes_cells && s->io.loop && !s->is_silent && !s->is_quitting;
}

static bool has_link_room(const struct spawner_link *s)
{
    unsigned max = s->engine->options.per_spawner;

    return is_ready(s) && (max == 0 || link_load(s) < max);
}

/* The fullest of those that have room, so that others become empty and end; not SKIP. */
static struct spawner_link *find_link_room(struct engine *en, const struct spawner_link *skip)
{
    struct spawner_link *best =
        has_link_room(en->spawner) && en->spawner != skip ? en->spawner : NULL;

    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        if (s != skip && has_link_room(s) && (!best || link_load(s) > link_load(best)))
            best = s;
    }
    return best;
}

bool engine_link_is_starting(const struct engine *en)
{
    bool is_found = en->spawner->attempt != NULL;

    list_each(node, &en->old)
    {
        const struct spawner_link *s = list_entry(node, const struct spawner_link, node);
        is_found = is_found || (s->makes_cells && s->attempt);
    }
    return is_found;
}

static void link_free(struct spawner_link *s)
{
    engine_attach_forget(s);
    engine_detach(s);
    free(s->slots);
    if (s != s->engine->spawner)
        s->engine->n_old--;
    list_del(&s->node);
    free(s);
}

static struct spawner_link *link_new(struct engine *en, const char *place)
{
    struct spawner_link *s = en->n_old < ENGINE_OLD_MAX ? mem_zalloc(1, sizeof *s) : NULL;

    if (!s)
        return NULL;
    spawner_link_init(s, en);
    (void)snprintf(s->place, sizeof s->place, "%s", place);
    s->makes_cells = engine_place_is_own(en, place);
    list_append(&en->old, &s->node);
    en->n_old++;
    return s;
}

static bool is_link_taken(const struct engine *en, const char *place)
{
    bool is_found = strcmp(en->spawner->place, place) == 0;

    list_each(node, &en->old) is_found =
        is_found || strcmp(list_entry(node, struct spawner_link, node)->place, place) == 0;
    return is_found;
}

/* Starts one more, unless that is under way. */
static void start_next(struct engine *en)
{
    char place[ENGINE_PLACE_MAX];
    unsigned n = 0;

    if (en->options.per_spawner == 0 || engine_link_is_starting(en))
        return;
    do
        engine_place_number(en, n++, place);
    while (is_link_taken(en, place));
    if (engine_place_make(en, place) < 0)
        return;
    struct spawner_link *s = link_new(en, place);
    if (s && engine_attach_later(s) < 0)
        link_free(s);
}

static void make_current(struct engine *en, struct spawner_link *s)
{
    if (s == en->spawner)
        return;
    list_del(&s->node);
    list_append(&en->old, &en->spawner->node);
    en->spawner = s;
    if (strcmp(s->template_root, en->template_root) != 0)
        (void)engine_send_template(s, true);
}

struct spawner_link *engine_link_choose(struct engine *en)
{
    struct spawner_link *s = has_link_room(en->spawner) ? en->spawner : find_link_room(en, NULL);
    unsigned max = en->options.per_spawner;

    if (!s) {
        start_next(en);
        /* One that has too many is better than none. */
        return engine_link_is_starting(en) || !is_ready(en->spawner) ? NULL : en->spawner;
    }
    make_current(en, s);
    /* In time, so that nobody has to wait for it. */
    if (max > 0 && link_load(s) >= max - max / 4 && !find_link_room(en, s))
        start_next(en);
    return s;
}

int engine_link_check(struct engine *en, struct err *e)
{
    if (find_link_room(en, NULL) || is_ready(en->spawner) || engine_link_is_starting(en))
        return 0;
    if (en->spawner->is_silent && en->options.per_spawner > 0)
        return 0; /* another one will be started */
    return err_set(e, -ENOTCONN, "no cells can be created: %s",
                   en->spawner->is_silent ? "the spawner does not respond"
                                          : err_text(&en->no_spawner));
}

/* ---- cells that wait ---- */

static void fail_building_cell(struct engine *en, struct building *b, const struct err *e)
{
    if (b->fn)
        b->fn(b->ctx, NULL, e);
    else
        en->n_stock_building--;
    free(b);
}

/* Those that S was asked for; all when S is NULL. */
static void fail_building(struct engine *en, struct spawner_link *s, const struct err *e)
{
    list_each(node, &en->building)
    {
        struct building *b = list_entry(node, struct building, node);
        if (b->spawner != s)
            continue;
        list_del(node);
        s->n_building--;
        fail_building_cell(en, b, e);
        /* The callback may have changed the list. */
        node_next = en->building.next;
    }
}

static void go_on_waiting(struct engine *en)
{
    struct list waiting;

    list_init(&waiting);
    for (struct list *node; (node = list_pop(&en->waiting));)
        list_append(&waiting, node);
    for (struct list *node; (node = list_pop(&waiting));) {
        struct building *b = list_entry(node, struct building, node);
        int64_t asked_ms = b->asked_ms;
        struct err e = ERR_INIT;
        int r = engine_ask_for(en, b);
        b->asked_ms = asked_ms;
        if (r == 0)
            continue;
        (void)err_set(&e, r, "no cells can be created: %s", err_text(&en->no_spawner));
        fail_building_cell(en, b, &e);
    }
}

static void fail_late(struct engine *en, int64_t now_ms)
{
    struct err e = ERR_INIT;

    (void)err_set(&e, -ETIMEDOUT, "the spawner does not start");
    list_each(node, &en->waiting)
    {
        struct building *b = list_entry(node, struct building, node);
        if (now_ms - b->asked_ms < 2L * SILENT_MS)
            break; /* those behind it are younger */
        list_del(node);
        fail_building_cell(en, b, &e);
        node_next = en->waiting.next;
    }
}

/* Since when S has owed us an answer; 0: it does not. */
static int64_t owes_since(const struct engine *en, const struct spawner_link *s)
{
    list_each(node, &en->building)
    {
        const struct building *b = list_entry(node, const struct building, node);
        if (b->spawner == s)
            return b->asked_ms > s->heard_ms ? b->asked_ms : s->heard_ms;
    }
    return 0;
}

static void look_at_link(struct spawner_link *s, int64_t now_ms)
{
    int64_t since_ms = s->n_building > 0 ? owes_since(s->engine, s) : 0;
    struct err e = ERR_INIT;

    if (since_ms == 0 || now_ms - since_ms < SILENT_MS)
        return;
    s->is_silent = true;
    (void)err_set(&e, -ETIMEDOUT, "the spawner does not respond");
    fail_building(s->engine, s, &e);
}

static void on_silence(struct loop_timer *t)
{
    struct engine *en = container_of(t, struct engine, silence);
    int64_t now_ms = clock_mono_ms();

    look_at_link(en->spawner, now_ms);
    list_each(node, &en->old) look_at_link(list_entry(node, struct spawner_link, node), now_ms);
    fail_late(en, now_ms);
    engine_link_listen(en);
}

void engine_link_listen(struct engine *en)
{
    bool is_needed = !list_is_empty(&en->building) || !list_is_empty(&en->waiting);

    if (is_needed && !en->silence.loop)
        (void)loop_timer_start(en->loop, &en->silence, LOOK_MS, on_silence);
}

/* ---- ends ---- */

void engine_link_look(struct spawner_link *s)
{
    if (s != s->engine->spawner && link_load(s) == 0 && s->io.loop)
        spawner_link_quit(s);
}

/* What S has not shown in its last list is gone, and what should have ended is asked again. */
static void compare_listed_cells(struct spawner_link *s)
{
    struct engine *en = s->engine;

    list_each(node, &en->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner != s)
            continue;
        if (!c->is_seen)
            engine_bury(c, -1);
        else if (take(c->is_ending))
            engine_cell_kill(c);
    }
    list_each(node, &en->stock)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s && !c->is_seen)
            engine_bury_stock(c);
    }
}

/* S is gone with all of its cells. */
static void bury_all(struct spawner_link *s)
{
    struct list *const lists[] = {&s->engine->cells, &s->engine->stock};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        list_each(node, lists[i])
        {
            struct engine_cell *c = list_entry(node, struct engine_cell, node);
            if (c->spawner == s)
                c->is_seen = false;
        }
    compare_listed_cells(s);
}

static void tidy(struct engine *en)
{
    /* What is being built looks like what is left over. */
    if (en->n_cells == 0 && en->n_old == 0 && !en->renewal)
        engine_place_tidy(en);
}

/* One of another build: what it has made ahead nobody will take any more. */
static void retire(struct spawner_link *s)
{
    list_each(node, &s->engine->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s && c->info.label[0] == '\0')
            engine_cell_kill(c);
    }
}

static void on_spawner(struct loop_io *io, uint32_t events);

/* After S was reached. */
static int begin_link(struct spawner_link *s, struct err *e)
{
    int r = loop_io_start(s->engine->loop, &s->io, s->io.fd, EPOLLIN, on_spawner);

    if (r < 0)
        return err_sys(e, r, "watch the spawner");
    s->is_silent = s->is_quitting = false;
    s->heard_ms = clock_mono_ms();
    compare_listed_cells(s);
    if (!s->makes_cells)
        retire(s);
    return 0;
}

/* One that could not be reached, or has ended as it was asked to. */
static void forget_link(struct spawner_link *s, bool has_ended)
{
    struct engine *en = s->engine;

    bury_all(s);
    if (has_ended)
        engine_place_remove(en, s->place);
    link_free(s);
    tidy(en);
}

void engine_attached(struct spawner_link *s, int r, const struct err *e)
{
    struct engine *en = s->engine;
    struct err why = *e;
    /* A new one is there to be used. */
    bool is_new = s->makes_cells && link_load(s) == 0;

    if (r == 0)
        r = begin_link(s, &why);
    if (r == 0) {
        if (!is_new)
            engine_link_look(s);
    } else if (s == en->spawner) {
        en->no_spawner = why;
        bury_all(s);
        engine_retry_later(en);
    } else {
        en->no_spawner = why;
        forget_link(s, false);
    }
    go_on_waiting(en);
    engine_stock_tend(en);
}

/* Either it died, and all cells with it, or only the connection broke, or it has ended as it was
 * asked to: the list will show it, of this one or of the one that is started in its place to sweep.
 */
static void lose_link(struct spawner_link *s)
{
    struct engine *en = s->engine;
    struct err e = ERR_INIT;

    engine_hang_up(s);
    (void)err_set(&e, -ECONNRESET, "the spawner died");
    fail_building(en, s, &e);
    engine_root_fail(en, s);
    if (s->is_quitting && s != en->spawner) {
        forget_link(s, true);
        return;
    }
    s->is_quitting = false;
    en->no_spawner = e;
    int r = engine_attach_later(s);
    if (r < 0)
        engine_attached(s, r, &e);
}

static void on_spawner(struct loop_io *io, uint32_t events)
{
    struct spawner_link *s = container_of(io, struct spawner_link, io);

    if (events & EPOLLOUT && spawner_link_flush(s) < 0) {
        lose_link(s);
        return;
    }
    while (io->loop) {
        int r = packet_receive(io->fd, &s->engine->in);
        if (r == -EAGAIN)
            return;
        if (r <= 0) {
            lose_link(s);
            return;
        }
        s->heard_ms = clock_mono_ms();
        s->is_silent = false;
        engine_dispatch(s);
    }
}

void engine_retry(struct engine *en)
{
    if (en->spawner->io.loop)
        engine_stock_tend(en);
    else if (engine_attach_later(en->spawner) < 0)
        engine_retry_later(en);
}

/* ---- the beginning and the end of the engine ---- */

static int attach_other(struct engine *en, const char *place, struct err *e)
{
    struct spawner_link *s = link_new(en, place);

    if (!s)
        return err_set(e, -ENOBUFS, "more than %d spawners", (int)ENGINE_OLD_MAX);
    int r = engine_attach(s, e);
    if (r == 0)
        r = begin_link(s, e);
    if (r < 0) {
        bury_all(s);
        link_free(s);
        return err_ctx(e, r, "spawner in '%s'", place);
    }
    engine_link_look(s);
    return 0;
}

int engine_links_open(struct engine *en, struct err *e)
{
    en->spawner->makes_cells = true;
    int r = engine_attach(en->spawner, e);

    if (r == 0)
        r = begin_link(en->spawner, e);
    if (r == 0)
        r = engine_place_each(en, attach_other, e);
    if (r < 0)
        return r;
    engine_stock_tend(en);
    tidy(en);
    return 0;
}

void engine_links_close(struct engine *en)
{
    loop_timer_stop(&en->silence);
    if (!en->spawner)
        return;
    engine_attach_forget(en->spawner);
    engine_hang_up(en->spawner);
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        engine_attach_forget(s);
        engine_hang_up(s);
    }
    /* A thread that does not come back, because of what it waits for, is left behind. */
    if (en->starters)
        (void)work_pool_end(en->starters, CLOSE_MS, 0, NULL);
    bury_all(en->spawner);
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        bury_all(s);
        link_free(s);
    }
    for (struct list *node; (node = list_pop(&en->waiting));)
        free(list_entry(node, struct building, node));
}

/* Waits until S is gone; kills it at END_MS: its cells die with it. */
static void await_end(struct spawner_link *s, int64_t end_ms)
{
    struct engine *en = s->engine;

    while (s->io.loop) {
        int64_t left_ms = end_ms - clock_mono_ms();
        struct pollfd p = {.fd = s->io.fd, .events = POLLIN};
        if (left_ms <= 0 || poll(&p, 1, (int)left_ms) == 0) {
            (void)kill((pid_t)s->pid, SIGKILL);
            return;
        }
        int r = packet_receive(s->io.fd, &en->in);
        if (r != 1 && r != -EAGAIN)
            return;
        if (r == 1)
            packet_done(&en->in);
    }
}

static void quit_link(struct spawner_link *s)
{
    if (engine_attach_take(s))
        (void)begin_link(s, NULL);
    spawner_link_quit(s);
}

void engine_links_end(struct engine *en)
{
    /* One that is being started would be left behind. */
    if (en->starters)
        (void)work_pool_end(take(en->starters), START_MS, 0, NULL);
    int64_t end_ms = clock_mono_ms() + SHUTDOWN_MS;
    quit_link(en->spawner);
    list_each(node, &en->old) quit_link(list_entry(node, struct spawner_link, node));
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        await_end(s, end_ms);
        engine_place_remove(en, s->place);
    }
    await_end(en->spawner, end_ms);
}
