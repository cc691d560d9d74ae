/* SPDX-License-Identifier: MIT */
/* A connection for a cell that has ended never reaches the next tenant of its slot, whatever the
 * order in which things happen: all orders of an end, of its consequences, of a restart of the
 * service or of the spawner, and of somebody who connects are played with real sockets. The guards
 * (runtime/engine_dial.c) are also played one by one: the table says which of them alone would do,
 * and without them the same orders go wrong, so this can fail. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/engine_internal.h"

/* ---- what can happen ---- */

enum event {
    END,     /* the first process of the old cell dies, and its listener with it */
    TOLD,    /* the service hears of it */
    CLEAN,   /* the spawner removes the socket */
    LISTEN,  /* … and makes the one of the slot's next cell */
    BORN,    /* whose first process takes it over */
    KNOWN,   /* and of which the service hears */
    LOOK,    /* somebody with the address of the old cell is let through … */
    CONNECT, /* … and connects, with the greeting */
    SERVICE, /* the service is restarted, and asks the spawner for its cells */
    CRASH,   /* the spawner dies with all of its cells */
    ATTACH,  /* the service starts another one */
    EVENTS
};

#define BIT(event) (1U << (event))

/* What has to have happened before. */
static const struct story {
    const char *name;
    unsigned events;
    unsigned needs[EVENTS];
} stories[] = {
    {"a slot is used again",
     BIT(END) | BIT(TOLD) | BIT(CLEAN) | BIT(LISTEN) | BIT(BORN) | BIT(KNOWN) | BIT(LOOK) |
         BIT(CONNECT),
     {[TOLD] = BIT(END),
      [CLEAN] = BIT(END),
      [LISTEN] = BIT(CLEAN),
      [BORN] = BIT(LISTEN),
      [KNOWN] = BIT(BORN),
      [CONNECT] = BIT(LOOK)}},
    {"meanwhile the service is restarted",
     BIT(END) | BIT(TOLD) | BIT(CLEAN) | BIT(LISTEN) | BIT(BORN) | BIT(KNOWN) | BIT(LOOK) |
         BIT(CONNECT) | BIT(SERVICE),
     {[TOLD] = BIT(END),
      [CLEAN] = BIT(END),
      [LISTEN] = BIT(CLEAN),
      [BORN] = BIT(LISTEN),
      [KNOWN] = BIT(BORN),
      [CONNECT] = BIT(LOOK)}},
    {"another spawner begins with the same slot",
     BIT(CRASH) | BIT(ATTACH) | BIT(TOLD) | BIT(LISTEN) | BIT(BORN) | BIT(KNOWN) | BIT(LOOK) |
         BIT(CONNECT),
     {[ATTACH] = BIT(CRASH),
      [TOLD] = BIT(CRASH),
      [LISTEN] = BIT(ATTACH),
      [BORN] = BIT(LISTEN),
      [KNOWN] = BIT(BORN),
      [CONNECT] = BIT(LOOK)}},
    {"another spawner, and the service is restarted",
     BIT(CRASH) | BIT(ATTACH) | BIT(TOLD) | BIT(LISTEN) | BIT(BORN) | BIT(KNOWN) | BIT(LOOK) |
         BIT(CONNECT) | BIT(SERVICE),
     {[ATTACH] = BIT(CRASH),
      [TOLD] = BIT(CRASH),
      [LISTEN] = BIT(ATTACH),
      [BORN] = BIT(LISTEN),
      [KNOWN] = BIT(BORN),
      [CONNECT] = BIT(LOOK)}},
};

/* What keeps them apart. */
enum {
    G_KNOWN = 1,    /* the service knows the cell, by slot and generation */
    G_ALIVE = 2,    /* its first process lived when that was looked at */
    G_NAME = 4,     /* the generation is in the socket's name */
    G_GREETING = 8, /* and in the first bytes, which the first process compares */
    G_REAL = 16,    /* what engine_dial() does */
};

/* ---- the world ---- */

enum { SLOT = 3, OLD_GENERATION = 1000, NEW_GENERATION = 2000 };

struct tenant {
    struct cell_info info;
    int listen_fd;
    int life[2]; /* a pipe: what reads there sees the end of who has the other side, as of a pidfd
                  */
    struct engine_cell *cell;
};

struct world {
    struct engine engine;
    struct spawner_link link;
    unsigned guards;
    int dir_fds[2]; /* the sockets of the first spawner, and of the second */
    unsigned spawner;
    struct tenant old, new;
    char address[64];
    bool is_let_through;
    int fd; /* the connection, or -1 */
};

static char dirs[2][32];

static int make_dirs(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(dirs[i], sizeof dirs[i], "/tmp/reuse-XXXXXX");
        if (!mkdtemp(dirs[i]))
            return -1;
    }
    return 0;
}

static int remove_dirs(void **state)
{
    (void)state;
    return rmdir(dirs[0]) < 0 || rmdir(dirs[1]) < 0 ? -1 : 0;
}

static void name_of(const struct world *w, char ret[PROTO_SOCKET_NAME_MAX],
                    const struct cell_info *info)
{
    if (w->guards & (G_NAME | G_REAL))
        proto_socket_name(ret, info->slot, info->generation);
    else
        proto_slot_name(ret, info->slot);
}

static void listen_as(struct world *w, struct tenant *t)
{
    char name[PROTO_SOCKET_NAME_MAX];

    name_of(w, name, &t->info);
    t->listen_fd = packet_listen_at(w->dir_fds[w->spawner], name, SOCK_STREAM);
    assert_true(t->listen_fd >= 0);
}

static void make_known(struct world *w, struct tenant *t)
{
    struct packet p = {.n_fds = 1, .fds = {fcntl(t->life[0], F_DUPFD_CLOEXEC, 3)}};

    t->cell = engine_cell_new(&w->link, &t->info, &p, NULL);
    assert_non_null(t->cell);
}

static void forget(struct tenant *t)
{
    engine_cell_free(t->cell);
    t->cell = NULL;
}

static void end(struct tenant *t)
{
    close_p(&t->life[1]);
    close_p(&t->listen_fd);
    t->life[1] = t->listen_fd = -1;
}

static bool lives(const struct tenant *t)
{
    return t->life[1] >= 0;
}

static void begin(struct tenant *t, uint64_t generation)
{
    t->info = (struct cell_info){.slot = SLOT, .generation = generation};
    t->listen_fd = t->life[0] = t->life[1] = -1;
}

static void be_born(struct tenant *t)
{
    assert_int_equal(pipe2(t->life, O_CLOEXEC), 0);
}

static void set_link(struct world *w)
{
    struct spawner_link *s = &w->link;

    spawner_link_init(s, &w->engine);
    s->version = PROTO_VERSION;
    s->sockets_fd = w->dir_fds[w->spawner];
}

static void world_open(struct world *w, unsigned guards)
{
    *w = (struct world){.guards = guards, .fd = -1};
    for (int i = 0; i < 2; i++)
        w->dir_fds[i] = open(dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list_init(&w->engine.old);
    w->engine.spawner = &w->link;
    list_init(&w->engine.cells);
    list_init(&w->engine.stock);
    set_link(w);
    begin(&w->old, OLD_GENERATION);
    begin(&w->new, NEW_GENERATION);
    listen_as(w, &w->old);
    be_born(&w->old);
    make_known(w, &w->old);
    (void)snprintf(w->address, sizeof w->address, "%s", engine_cell_address(w->old.cell));
}

static void world_close(struct world *w)
{
    struct tenant *tenants[] = {&w->old, &w->new};

    for (int i = 0; i < 2; i++) {
        char name[PROTO_SOCKET_NAME_MAX];
        forget(tenants[i]);
        end(tenants[i]);
        close_p(&tenants[i]->life[0]);
        for (int dir = 0; dir < 2; dir++) {
            name_of(w, name, &tenants[i]->info);
            (void)unlinkat(w->dir_fds[dir], name, 0);
        }
    }
    free(w->link.slots);
    close_p(&w->fd);
    for (int i = 0; i < 2; i++)
        close_p(&w->dir_fds[i]);
}

/* ---- the events ---- */

static void do_clean(struct world *w)
{
    char name[PROTO_SOCKET_NAME_MAX];

    name_of(w, name, &w->old.info);
    (void)unlinkat(w->dir_fds[w->spawner], name, 0);
}

/* What a new service learns from the spawner's list, or from its absence. */
static void do_service(struct world *w)
{
    forget(&w->old);
    forget(&w->new);
    free(w->link.slots);
    set_link(w);
    if (lives(&w->old))
        make_known(w, &w->old);
    if (lives(&w->new))
        make_known(w, &w->new);
}

static void do_attach(struct world *w)
{
    w->spawner = 1;
    w->link.sockets_fd = w->dir_fds[1];
    forget(&w->old);
}

static void do_look(struct world *w)
{
    const struct engine_cell *c = spawner_link_cell(&w->link, SLOT, w->old.info.generation);

    w->is_let_through =
        (!(w->guards & G_KNOWN) || c) && (!(w->guards & G_ALIVE) || (c && engine_cell_is_alive(c)));
}

static void do_connect(struct world *w)
{
    char name[PROTO_SOCKET_NAME_MAX], greeting[PROTO_GREETING_MAX];

    if (w->guards & G_REAL) {
        w->fd = engine_dial(&w->engine, w->address, NULL);
        return;
    }
    if (!w->is_let_through)
        return;
    name_of(w, name, &w->old.info);
    w->fd = packet_connect_at(w->link.sockets_fd, name, SOCK_STREAM | SOCK_NONBLOCK);
    size_t len = proto_greeting(greeting, SLOT, w->old.info.generation);
    if (w->fd >= 0)
        assert_int_equal(send(w->fd, greeting, len, MSG_NOSIGNAL), len);
}

static void happen(struct world *w, enum event e)
{
    switch (e) {
    case END: end(&w->old); break;
    case TOLD: forget(&w->old); break;
    case CLEAN: do_clean(w); break;
    case LISTEN: listen_as(w, &w->new); break;
    case BORN: be_born(&w->new); break;
    case KNOWN:
        if (!w->new.cell)
            make_known(w, &w->new);
        break;
    case LOOK: do_look(w); break;
    case CONNECT: do_connect(w); break;
    case SERVICE: do_service(w); break;
    case CRASH: end(&w->old); break;
    case ATTACH: do_attach(w); break;
    case EVENTS: break;
    }
}

/* True when the new cell takes a connection that was not meant for it. */
static bool goes_wrong(const struct world *w)
{
    char want[PROTO_GREETING_MAX], got[PROTO_GREETING_MAX];

    if (w->new.listen_fd < 0)
        return false;
    auto_close int fd = accept4(w->new.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    if (!(w->guards & (G_GREETING | G_REAL)))
        return true;
    size_t len = proto_greeting(want, SLOT, w->new.info.generation);
    ssize_t n = recv(fd, got, sizeof got, 0);
    return n == (ssize_t)len && memcmp(got, want, len) == 0;
}

/* ---- all orders ---- */

struct count {
    unsigned n, n_wrong, n_connected;
};

static void play(const enum event *order, size_t n, unsigned guards, struct count *count)
{
    struct world w;

    world_open(&w, guards);
    for (size_t i = 0; i < n; i++)
        happen(&w, order[i]);
    count->n++;
    count->n_wrong += goes_wrong(&w);
    count->n_connected += w.fd >= 0;
    world_close(&w);
}

struct walk {
    const struct story *story;
    unsigned guards;
    enum event order[EVENTS];
    struct count count;
};

/* Recursion as deep as there are events. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void walk(struct walk *w, size_t n, unsigned done)
{
    if (done == w->story->events) {
        play(w->order, n, w->guards, &w->count);
        return;
    }
    for (unsigned e = 0; e < EVENTS; e++) {
        if (!(w->story->events & ~done & BIT(e)) || (w->story->needs[e] & ~done))
            continue;
        w->order[n] = (enum event)e;
        walk(w, n + 1, done | BIT(e));
    }
}

static struct count count_all(unsigned guards)
{
    struct count all = {0};

    for (size_t i = 0; i < ARRAY_LEN(stories); i++) {
        struct walk w = {.story = &stories[i], .guards = guards};
        walk(&w, 0, 0);
        if (guards == G_REAL)
            print_message("%s: %u orders, %u of them connected\n", stories[i].name, w.count.n,
                          w.count.n_connected);
        all.n += w.count.n;
        all.n_wrong += w.count.n_wrong;
        all.n_connected += w.count.n_connected;
    }
    return all;
}

static void no_order_leads_to_another_cell(void **state)
{
    struct count c = count_all(G_REAL);

    (void)state;
    assert_true(c.n > 1000);
    assert_true(c.n_connected > 0);
    assert_int_equal(c.n_wrong, 0);
}

static void each_guard_does_what_it_says(void **state)
{
    static const struct {
        const char *name;
        unsigned guards;
        bool holds;
    } rows[] = {
        {"none", 0, false},
        {"known", G_KNOWN, false},
        {"alive", G_ALIVE, false}, /* it may die between the look and the connection */
        {"known and alive", G_KNOWN | G_ALIVE, false},
        {"name", G_NAME, true},
        {"greeting", G_GREETING, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct count c = count_all(rows[i].guards);
        print_message("%s: %u of %u orders go wrong\n", rows[i].name, c.n_wrong, c.n);
        assert_int_equal(c.n_wrong == 0, rows[i].holds);
    }
}

static void names_are_read_back(void **state)
{
    static const char *const bad[] = {"", "s", "s0001", "s0001.", "0001.5", "s0001.5x", "s-1.5"};
    char name[PROTO_SOCKET_NAME_MAX];
    uint64_t generation = 0;
    uint32_t slot = 0;

    (void)state;
    proto_socket_name(name, 65535, UINT64_MAX);
    assert_int_equal(proto_read_socket_name(str_of(name), &slot, &generation), 0);
    assert_int_equal(slot, 65535);
    assert_true(generation == UINT64_MAX);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(proto_read_socket_name(str_of(bad[i]), &slot, &generation), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_leads_to_another_cell),
        cmocka_unit_test(each_guard_does_what_it_says),
        cmocka_unit_test(names_are_read_back),
    };

    return cmocka_run_group_tests(tests, make_dirs, remove_dirs);
}
