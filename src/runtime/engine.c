/* SPDX-License-Identifier: MIT */
/* The cell engine: creation and the end of cells. See engine.h. */
#include "runtime/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"
#include "runtime/kern.h"
#include "sys/io.h"

/* ---- creation ---- */

int engine_ask_for(struct engine *en, struct building *b)
{
    b->tag = en->next_tag++;
    packet_begin(&en->out, PROTO_CREATE, b->tag);
    proto_put_spec(&en->out, &b->spec);
    int r = spawner_link_send(&en->spawner);
    if (r == 0)
        list_append(&en->building, &b->node);
    return r;
}

/* It died, and its successor does not start. */
static int check_spawner(const struct engine *en, struct err *e)
{
    if (en->spawner.io.loop)
        return 0;
    return err_set(e, -ECONNRESET, "no cells can be made: %s", err_text(&en->no_spawner));
}

/* What the host cannot enforce is refused, unless the operator said otherwise. */
static int check_limits(struct engine *en, const struct cell_spec *s, struct err *e)
{
    const struct {
        unsigned can;
        bool is_wanted;
    } needs[] = {{CGROUP_CAN_MEMORY, s->limits.memory_bytes > 0},
                 {CGROUP_CAN_PIDS, s->limits.pids > 0},
                 {CGROUP_CAN_CPU, s->limits.cpu_milli > 0}};

    for (size_t i = 0; !en->options.allows_unenforced && i < ARRAY_LEN(needs); i++)
        if (needs[i].is_wanted && !engine_can_limit(en, needs[i].can, e))
            return -EOPNOTSUPP;
    return 0;
}

/* Cells of the stock have a disk already. */
static int check_disk(struct engine *en, const struct disk_spec *disk, struct err *e)
{
    if (disk->kind >= DISK_COUNT)
        return err_set(e, -EINVAL, "unknown kind of disk");
    return disk_can(disk, en->home, e) ? 0 : e->code;
}

/* The image of the stock's disks is made at the start, which may take its time. */
static int prepare_stock_disk(struct engine *en, const struct disk_spec *disk, struct err *e)
{
    int r = check_disk(en, disk, e);

    if (r == 0)
        r = disk_prepare(disk, en->home, e);
    if (r == 0)
        engine_image_know(en, disk);
    return r;
}

void engine_claim(struct engine_cell *c)
{
    if (CPU_COUNT(&c->share.cpus) == 0)
        engine_fit_found(c);
    c->is_claimed = true;
    list_append(&c->engine->cells, &c->node);
    c->engine->n_cells++;
    c->spawner->n_cells++;
}

void engine_drop(struct engine_cell *c)
{
    if (!c)
        return;
    c->info.label[0] = '\0';
    if (list_is_empty(&c->node))
        engine_claim(c);
    engine_cell_kill(c);
}

/* Turns a ready cell into the asked one. Its label comes first: a daemon that dies in the midst of
 * this, or while the cell is told who it is, must not leave it looking like one of the stock. */
static int dress(struct engine_cell *c, const char *label, const struct cell_spec *spec,
                 struct err *e)
{
    bool has_other = memcmp(&c->info.spec.limits, &spec->limits, sizeof spec->limits) != 0;

    if (!has_other)
        engine_fit(c, false);
    int r = engine_cell_name(c, label, spec->hostname[0] ? spec->hostname : label, e);
    if (r == 0 && has_other) {
        r = engine_cell_limit(c, &spec->limits, e);
        /* Where nobody asks before they are read, the cell's views are written at its naming. */
        engine_cell_tell_label(c);
    }
    return r;
}

/* As engine_create(), which E is not NULL from. */
/* NOLINTNEXTLINE(readability-function-size) */
static int build(struct engine *en, const char *label, const struct cell_spec *spec,
                 engine_cell_fn *fn, void *ctx, struct err *e)
{
    int r = check_disk(en, &spec->disk, e);

    if (r < 0)
        return r;
    struct building *b = mem_zalloc(1, sizeof *b);
    if (!b)
        return err_sys(e, -ENOMEM, "create cell '%s'", label);
    b->spec = *spec;
    b->fn = fn;
    b->ctx = ctx;
    (void)snprintf(b->label, sizeof b->label, "%s", label);
    if (!b->spec.hostname[0])
        (void)snprintf(b->spec.hostname, sizeof b->spec.hostname, "%s", label);
    r = engine_image_await(en, b, e);
    if (r == 0)
        return 0;
    free(b);
    return e->code ? err_ctx(e, r, "create cell '%s'", label)
                   : err_sys(e, r, "create cell '%s'", label);
}

/* Six parameters: what is asked for (two), who is told (two), between the engine and the error. */
/* NOLINTNEXTLINE(readability-function-size) */
int engine_create(struct engine *en, const char *label, const struct cell_spec *spec,
                  engine_cell_fn *fn, void *ctx, struct err *e)
{
    struct err ignored = ERR_INIT, *why = e ? e : &ignored;

    if (label[0] == '\0' || strlen(label) >= PROTO_NAME_MAX)
        return err_set(e, -EINVAL, "a cell needs a label of 1 to %d bytes", PROTO_NAME_MAX - 1);
    int r = check_spawner(en, why);
    if (r == 0)
        r = check_limits(en, spec, why);
    if (r < 0)
        return r;
    struct engine_cell *c = engine_stock_take(en, spec);
    if (c) {
        r = dress(c, label, spec, &(struct err)ERR_INIT);
        engine_claim(c);
    }
    if (c && r < 0) {
        /* It may have died in the stock: a new one is as good. */
        engine_drop(take(c));
    }
    if (!c)
        return build(en, label, spec, fn, ctx, why);
    fn(ctx, c, NULL);
    engine_stock_taken(en);
    return 0;
}

/* ---- what the spawner says ---- */

static struct building *take_building(struct engine *en, uint32_t tag)
{
    list_each(node, &en->building)
    {
        struct building *b = list_entry(node, struct building, node);
        if (b->tag != tag)
            continue;
        list_del(node);
        return b;
    }
    return NULL;
}

/* A finished cell for whoever asked; E is set when that failed. */
static void hand_over(struct engine *en, struct building *b, struct engine_cell *c, struct err *e)
{
    if (!b->fn && b->is_outdated) {
        engine_drop(c);
        c = NULL;
    }
    if (!b->fn) {
        engine_stock_add(en, c);
        return;
    }
    if (c) {
        engine_fit(c, false);
        engine_claim(c);
        if (engine_cell_name(c, b->label, b->spec.hostname, e) < 0) {
            engine_drop(c);
            c = NULL;
        }
    }
    b->fn(b->ctx, c, c ? NULL : e);
}

static void on_cell(struct spawner_link *s, struct packet *p)
{
    struct engine *en = s->engine;
    struct err e = ERR_INIT;
    struct cell_info info;
    auto_free struct building *b = take_building(en, p->tag);

    proto_get_info(&p->body, &info);
    if (!b || wire_done(&p->body) < 0)
        return;
    hand_over(en, b, engine_cell_new(s, &info, p, &e), &e);
}

static void on_error(struct engine *en, struct packet *p)
{
    struct err e = ERR_INIT;
    auto_free struct building *b = take_building(en, p->tag);
    int code = -(int)wire_get_u32(&p->body);
    struct str text = wire_get_str(&p->body);

    if (!b)
        return;
    (void)err_set(&e, code < 0 ? code : -EIO, STR_FMT, STR_ARG(text));
    hand_over(en, b, NULL, &e);
}

/* Reports and frees C, a claimed cell that its spawner no longer has. A spawner of another build
 * ends with its last one. */
static void bury(struct engine_cell *c, int status)
{
    struct engine *en = c->engine;
    struct spawner_link *s = c->spawner;

    list_del(&c->node);
    en->n_cells--;
    s->n_cells--;
    if (c->info.label[0] != '\0' && en->options.on_gone)
        en->options.on_gone(en->options.ctx, c, status);
    engine_cell_free(c);
    if (s != &en->spawner && s->n_cells == 0)
        spawner_link_quit(s);
}

static void bury_stock(struct engine_cell *c)
{
    c->engine->n_stock--;
    engine_cell_free(c);
}

void engine_cell_ended(struct engine_cell *c)
{
    bury(c, SIGKILL);
}

static void on_gone(struct spawner_link *s, struct packet *p)
{
    uint32_t slot = wire_get_u32(&p->body);
    uint64_t generation = wire_get_u64(&p->body);
    int status = (int)wire_get_u32(&p->body);
    struct engine_cell *c = spawner_link_cell(s, slot, generation);

    if (!c)
        return;
    if (c->is_claimed) {
        bury(c, status);
        return;
    }
    bury_stock(c);
    engine_stock_tend(s->engine);
}

static void fail_building(struct engine *en)
{
    struct err e = ERR_INIT;

    (void)err_set(&e, -ECONNRESET, "the spawner died");
    for (struct list *node; (node = list_pop(&en->building));) {
        auto_free struct building *b = list_entry(node, struct building, node);
        if (b->fn)
            b->fn(b->ctx, NULL, &e);
    }
    en->n_stock_building = 0;
}

static void on_spawner(struct loop_io *io, uint32_t events);

/* What S has not shown in its last list is gone, and what should have ended is told again. */
static void compare(struct spawner_link *s)
{
    struct engine *en = s->engine;

    list_each(node, &en->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner != s)
            continue;
        if (!c->is_seen)
            bury(c, -1);
        else if (take(c->is_ending))
            engine_cell_kill(c);
    }
    list_each(node, &en->stock)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s && !c->is_seen)
            bury_stock(c);
    }
}

/* S is gone with all of its cells. */
static void bury_all(struct spawner_link *s)
{
    list_each(node, &s->engine->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s)
            c->is_seen = false;
    }
    list_each(node, &s->engine->stock)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s)
            c->is_seen = false;
    }
    compare(s);
}

static int attach(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    int r = engine_attach(s, e);

    if (r < 0)
        return r;
    r = loop_io_start(en->loop, &s->io, s->io.fd, EPOLLIN, on_spawner);
    if (r < 0)
        return err_sys(e, r, "watch the spawner");
    compare(s);
    if (s == &en->spawner)
        engine_stock_tend(en);
    return 0;
}

/* ---- spawners of other builds ---- */

/* What it has made ahead nobody will take any more. */
static void retire(struct spawner_link *s)
{
    list_each(node, &s->engine->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s && c->info.label[0] == '\0')
            engine_cell_kill(c);
    }
    if (s->n_cells == 0)
        spawner_link_quit(s);
}

static void old_free(struct spawner_link *s)
{
    engine_detach(s);
    free(s->slots);
    list_del(&s->node);
    s->engine->n_old--;
    free(s);
}

static int attach_old(struct engine *en, const char *place, struct err *e)
{
    if (en->n_old == ENGINE_OLD_MAX)
        return err_set(e, -ENOBUFS, "more than %d spawners of other builds", (int)ENGINE_OLD_MAX);
    struct spawner_link *s = mem_zalloc(1, sizeof *s);
    if (!s)
        return err_sys(e, -ENOMEM, "spawner of another build");
    spawner_link_init(s, en);
    (void)snprintf(s->place, sizeof s->place, "%s", place);
    list_append(&en->old, &s->node);
    en->n_old++;
    int r = attach(s, e);
    if (r < 0) {
        bury_all(s);
        old_free(s);
        return err_ctx(e, r, "spawner of another build in '%s'", place);
    }
    retire(s);
    return 0;
}

static void tidy(struct engine *en)
{
    /* What is being built looks like what is left over. */
    if (en->n_cells == 0 && en->n_old == 0 && !en->renewal)
        engine_place_tidy(en);
}

/* It has ended as it was asked to, or it died, and is replaced by one that sweeps and ends. */
static void lose_old(struct spawner_link *s)
{
    struct engine *en = s->engine;
    bool has_ended = s->is_quitting;

    engine_detach(s);
    s->is_quitting = false;
    if (!has_ended && attach(s, NULL) == 0) {
        retire(s);
        return;
    }
    bury_all(s);
    if (has_ended)
        engine_place_remove(en, s->place);
    old_free(s);
    tidy(en);
}

/* Either it died, and all cells with it, or only the connection broke: the list will tell. */
static void lose_spawner(struct spawner_link *s)
{
    struct engine *en = s->engine;

    if (s != &en->spawner) {
        lose_old(s);
        return;
    }
    engine_detach(s);
    fail_building(en);
    if (attach(s, &en->no_spawner) == 0)
        return;
    bury_all(s);
    engine_retry_later(en);
}

void engine_retry(struct engine *en)
{
    if (en->spawner.io.loop)
        engine_stock_tend(en);
    else if (attach(&en->spawner, &en->no_spawner) < 0)
        engine_retry_later(en);
}

void engine_dispatch(struct spawner_link *s)
{
    struct engine *en = s->engine;

    if (en->in.kind == PROTO_CELL)
        on_cell(s, &en->in);
    else if (en->in.kind == PROTO_ERROR)
        on_error(en, &en->in);
    else if (en->in.kind == PROTO_GONE)
        on_gone(s, &en->in);
    packet_done(&en->in);
}

static void on_spawner(struct loop_io *io, uint32_t events)
{
    struct spawner_link *s = container_of(io, struct spawner_link, io);

    if (events & EPOLLOUT && spawner_link_flush(s) < 0) {
        lose_spawner(s);
        return;
    }
    while (io->loop) {
        int r = packet_receive(io->fd, &s->engine->in);
        if (r == -EAGAIN)
            return;
        if (r <= 0) {
            lose_spawner(s);
            return;
        }
        engine_dispatch(s);
    }
}

/* ---- the engine ---- */

/* Two state directories on one machine must not share control groups. */
static char *make_instance(const char *state)
{
    char name[32];

    (void)snprintf(name, sizeof name, "i%016llx", (unsigned long long)str_hash(str_of(state), 0));
    return mem_strdup(name);
}

/* Asking for it loads the module, where there is one. */
static int check_overlay(struct err *e)
{
    auto_close int fd = kern_fsopen("overlay");

    if (fd == -ENODEV)
        return err_set(e, fd, "the kernel has no overlay file system; load it: modprobe overlay");
    return fd < 0 ? err_sys(e, fd, "overlay file system") : 0;
}

static int prepare(struct engine *en, const struct engine_options *o, struct err *e)
{
    en->state = mem_strdup(o->state);
    en->envd = mem_strdup(o->envd);
    en->instance = o->instance ? mem_strdup(o->instance) : make_instance(o->state);
    if (!en->state || !en->envd || !en->instance)
        return err_sys(e, -ENOMEM, "engine");
    if (o->state[0] != '/')
        return err_set(e, -EINVAL, "the state directory needs an absolute path");
    int r = engine_place_choose(en, e);
    if (r < 0)
        return r;
    en->state_fd = io_open(o->state, O_RDONLY | O_DIRECTORY, 0);
    en->home_netns_fd = io_open("/proc/self/ns/net", O_RDONLY, 0);
    if (en->state_fd < 0 || en->home_netns_fd < 0)
        return err_set(e, -EIO, "cannot open '%s'", o->state);
    r = check_overlay(e);
    if (r == 0)
        r = engine_http_open(en, e);
    if (r == 0 && o->stock > 0)
        r = prepare_stock_disk(en, &o->stock_spec.disk, e);
    return r;
}

struct engine *engine_open(struct loop *l, const struct engine_options *o, struct err *e)
{
    struct engine *en = mem_zalloc(1, sizeof *en);

    if (!en) {
        (void)err_sys(e, -ENOMEM, "engine");
        return NULL;
    }
    en->loop = l;
    en->options = *o;
    en->state_fd = en->home_netns_fd = -1;
    en->next_tag = 1;
    engine_fit_open(&en->cpus);
    spawner_link_init(&en->spawner, en);
    list_init(&en->old);
    list_init(&en->stock);
    list_init(&en->cells);
    list_init(&en->building);
    buf_init(&en->out, PACKET_MAX);
    engine_images_open(en);
    int r = prepare(en, o, e);
    if (r == 0)
        r = attach(&en->spawner, e);
    if (r == 0)
        r = engine_place_each(en, attach_old, e);
    if (r == 0) {
        tidy(en);
        engine_template_watch(en);
        return en;
    }
    engine_close(en);
    return NULL;
}

void engine_close(struct engine *en)
{
    if (!en)
        return;
    engine_detach(&en->spawner);
    list_each(node, &en->old) engine_detach(list_entry(node, struct spawner_link, node));
    loop_timer_stop(&en->retry);
    engine_template_unwatch(en);
    engine_images_close(en);
    en->options.on_gone = NULL;
    bury_all(&en->spawner);
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        bury_all(s);
        old_free(s);
    }
    http_client_free(en->http);
    free(en->spawner.slots);
    for (struct list *node; (node = list_pop(&en->building));)
        free(list_entry(node, struct building, node));
    buf_done(&en->out);
    close_p(&en->state_fd);
    close_p(&en->home_netns_fd);
    free(en->state);
    free(en->envd);
    free(en->instance);
    free(en->home);
    free(en);
}

/* Ends S and waits for that. */
static void shut_down(struct spawner_link *s)
{
    struct engine *en = s->engine;

    if (!s->io.loop)
        return;
    (void)io_set_nonblock(s->io.fd, false);
    (void)spawner_link_flush(s);
    spawner_link_quit(s);
    while (packet_receive(s->io.fd, &en->in) > 0)
        packet_done(&en->in);
}

void engine_shutdown(struct engine *en)
{
    list_each(node, &en->old)
    {
        struct spawner_link *s = list_entry(node, struct spawner_link, node);
        shut_down(s);
        engine_place_remove(en, s->place);
    }
    shut_down(&en->spawner);
    engine_close(en);
}

unsigned engine_can(const struct engine *en)
{
    return en->spawner.cgroup.can;
}

bool engine_can_limit(const struct engine *en, unsigned can, struct err *e)
{
    return cgroup_can_limit(&en->spawner.cgroup, can, e);
}

unsigned engine_n_stock(const struct engine *en)
{
    return en->n_stock;
}

unsigned engine_n_cells(const struct engine *en)
{
    return en->n_cells;
}

unsigned engine_n_old_cells(const struct engine *en)
{
    return en->n_cells - en->spawner.n_cells;
}

unsigned engine_n_building(const struct engine *en)
{
    unsigned n = engine_image_n_waiting(en);

    list_each(node, &en->building) n++;
    return n;
}

uint32_t engine_spawner_pid(const struct engine *en)
{
    return en->spawner.pid;
}

const char *engine_owner(const struct engine *en)
{
    return en->instance;
}

void engine_each(struct engine *en, engine_cell_fn *fn, void *ctx)
{
    list_each(node, &en->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->info.label[0] != '\0')
            fn(ctx, c, NULL);
    }
}

struct engine_cell *engine_find(struct engine *en, const char *label)
{
    list_each(node, &en->cells)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (label[0] != '\0' && strcmp(c->info.label, label) == 0)
            return c;
    }
    return NULL;
}
