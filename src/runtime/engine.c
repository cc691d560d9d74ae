/* SPDX-License-Identifier: MIT */
/* The cell engine: creation and the end of cells. See engine.h.
 *
 *     engine_create ─┬─ stock: dress_cell, engine_claim, fn() before it returns
 *                    └─ build_engine_cell ─ (image of the disk) ─ engine_ask_for ─┬─ `building`
 *                                                                                 └─ `waiting`
 *
 * So fn() may be called before engine_create() returns, and only when that returns 0. A building
 * without a callback is one for the stock.
 *
 * A cell is named by spawner, slot and generation: a report about an earlier cell in the same slot
 * finds nothing. The spawner's report, not the kill, ends it: engine_bury() calls on_gone() and
 * frees the cell, so nobody who hears of the end may keep the pointer. */
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
#include "base/clock.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"
#include "runtime/engine_root.h"
#include "runtime/kern.h"
#include "sys/io.h"

/* ---- creation ---- */

int engine_ask_for(struct engine *en, struct building *b)
{
    struct spawner_link *s = engine_link_choose(en);

    b->asked_ms = clock_mono_ms();
    b->spawner = NULL;
    if (!s && engine_link_is_starting(en)) {
        list_append(&en->waiting, &b->node);
        engine_link_listen(en);
        return 0;
    }
    if (!s)
        return -ENOTCONN;
    int r = engine_root_tell(s, b->spec.template_name);
    if (r < 0)
        return r;
    b->tag = en->next_tag++;
    packet_begin(&en->out, PROTO_CREATE, b->tag);
    proto_put_spec(&en->out, &b->spec);
    r = spawner_link_send(s);
    if (r < 0)
        return r;
    b->spawner = s;
    s->n_building++;
    list_append(&en->building, &b->node);
    engine_link_listen(en);
    return 0;
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
 * this, or while the cell gets its identity, must not leave it looking like one of the stock. */
static int dress_cell(struct engine_cell *c, const char *label, const struct cell_spec *spec,
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
static int build_engine_cell(struct engine *en, const char *label, const struct cell_spec *spec,
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

/* Six parameters: what is asked for (two), who is notified (two), between the engine and the error.
 */
/* NOLINTNEXTLINE(readability-function-size) */
int engine_create(struct engine *en, const char *label, const struct cell_spec *spec,
                  engine_cell_fn *fn, void *ctx, struct err *e)
{
    struct err ignored = ERR_INIT, *why = e ? e : &ignored;

    if (label[0] == '\0' || strlen(label) >= PROTO_NAME_MAX)
        return err_set(e, -EINVAL, "a cell needs a label of 1 to %d bytes", PROTO_NAME_MAX - 1);
    int r = check_limits(en, spec, why);
    if (r < 0)
        return r;
    struct engine_cell *c = engine_stock_take(en, spec);
    if (c) {
        r = dress_cell(c, label, spec, &(struct err)ERR_INIT);
        engine_claim(c);
    }
    if (c && r < 0) {
        /* It may have died in the stock: a new one is as good. */
        engine_drop(take(c));
    }
    if (!c)
        r = engine_link_check(en, why);
    if (!c && r < 0)
        return r;
    if (!c)
        return build_engine_cell(en, label, spec, fn, ctx, why);
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
        b->spawner->n_building--;
        return b;
    }
    return NULL;
}

/* A finished cell for whoever asked; E is set when that failed. */
static void hand_over_cell(struct engine *en, struct building *b, struct engine_cell *c,
                           struct err *e)
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

static void on_built_cell(struct spawner_link *s, struct packet *p)
{
    struct engine *en = s->engine;
    struct err e = ERR_INIT;
    struct cell_info info;
    auto_free struct building *b = take_building(en, p->tag);

    proto_get_info(&p->body, &info);
    if (wire_done(&p->body) < 0)
        return;
    struct engine_cell *c = engine_cell_new(s, &info, p, &e);
    if (b)
        hand_over_cell(en, b, c, &e);
    else
        engine_drop(c); /* the caller already got an error: it takes too long */
}

static void on_cell_error(struct engine *en, struct packet *p)
{
    struct err e = ERR_INIT;
    auto_free struct building *b = take_building(en, p->tag);
    int code = -(int)wire_get_u32(&p->body);
    struct str text = wire_get_str(&p->body);

    if (!b)
        return;
    (void)err_set(&e, code < 0 ? code : -EIO, STR_FMT, STR_ARG(text));
    hand_over_cell(en, b, NULL, &e);
}

/* Reports and frees C, a claimed cell that its spawner no longer has. A spawner of another build
 * ends with its last one. */
void engine_bury(struct engine_cell *c, int status)
{
    struct engine *en = c->engine;
    struct spawner_link *s = c->spawner;

    list_del(&c->node);
    en->n_cells--;
    s->n_cells--;
    if (c->info.label[0] != '\0' && en->options.on_gone)
        en->options.on_gone(en->options.ctx, c, status);
    engine_cell_free(c);
    engine_link_look(s);
}

void engine_bury_stock(struct engine_cell *c)
{
    c->engine->n_stock--;
    c->spawner->n_stock--;
    engine_cell_free(c);
}

static void on_cell_gone(struct spawner_link *s, struct packet *p)
{
    uint32_t slot = wire_get_u32(&p->body);
    uint64_t generation = wire_get_u64(&p->body);
    int status = (int)wire_get_u32(&p->body);
    struct engine_cell *c = spawner_link_cell(s, slot, generation);

    if (!c)
        return;
    if (c->is_claimed) {
        engine_bury(c, status);
        return;
    }
    engine_bury_stock(c);
    engine_stock_tend(s->engine);
}

void engine_dispatch(struct spawner_link *s)
{
    struct engine *en = s->engine;

    if (engine_root_answer(en, &en->in))
        ;
    else if (en->in.kind == PROTO_CELL)
        on_built_cell(s, &en->in);
    else if (en->in.kind == PROTO_ERROR)
        on_cell_error(en, &en->in);
    else if (en->in.kind == PROTO_GONE)
        on_cell_gone(s, &en->in);
    packet_done(&en->in);
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

static int prepare_engine(struct engine *en, const struct engine_options *o, struct err *e)
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
    en->load_fd = io_open("/proc/loadavg", O_RDONLY, 0);
    en->next_tag = 1;
    engine_fit_open(&en->cpus);
    list_init(&en->old);
    list_init(&en->waiting);
    list_init(&en->stock);
    list_init(&en->cells);
    list_init(&en->building);
    list_init(&en->uppers);
    buf_init(&en->out, PACKET_MAX);
    engine_images_open(en);
    en->spawner = mem_zalloc(1, sizeof *en->spawner);
    if (en->spawner)
        spawner_link_init(en->spawner, en);
    int r = en->spawner ? prepare_engine(en, o, e) : err_sys(e, -ENOMEM, "engine");
    if (r == 0)
        r = engine_links_open(en, e);
    if (r == 0) {
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
    loop_timer_stop(&en->retry);
    engine_template_unwatch(en);
    engine_images_close(en);
    en->options.on_gone = NULL;
    engine_root_fail(en, NULL);
    engine_links_close(en);
    http_client_free(en->http);
    if (en->spawner) {
        engine_detach(en->spawner);
        free(en->spawner->slots);
        free(en->spawner);
    }
    for (struct list *node; (node = list_pop(&en->building));)
        free(list_entry(node, struct building, node));
    buf_done(&en->out);
    close_p(&en->load_fd);
    close_p(&en->state_fd);
    close_p(&en->home_netns_fd);
    free(en->state);
    free(en->envd);
    free(en->instance);
    free(en->home);
    free(en);
}

void engine_shutdown(struct engine *en)
{
    en->options.on_gone = NULL;
    engine_links_end(en);
    engine_close(en);
}

bool engine_can_limit(const struct engine *en, unsigned can, struct err *e)
{
    return cgroup_can_limit(&en->spawner->cgroup, can, e);
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
    unsigned n = 0;

    list_each(node, &en->old)
    {
        const struct spawner_link *s = list_entry(node, const struct spawner_link, node);
        n += s->makes_cells ? 0 : s->n_cells;
    }
    return n;
}

unsigned engine_n_building(const struct engine *en)
{
    unsigned n = engine_image_n_waiting(en);

    list_each(node, &en->building) n++;
    list_each(node, &en->waiting) n++;
    return n;
}

uint32_t engine_spawner_pid(const struct engine *en)
{
    return en->spawner->pid;
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
