/* SPDX-License-Identifier: MIT */
/* The spawner's conversation with the daemon. Any number of clients up to a bound may be connected,
 * one after the other in practice: a daemon that was restarted finds its cells by asking here.
 *
 * Every request has a tag, which its answer repeats; what nobody asked for (a cell that died) has
 * none. A cell belongs to no client: it is named by slot and generation, and reports about it go to
 * all who are connected. A client that is not there misses them, which is why LIST, not memory of
 * earlier reports, is what a daemon relies on after it has connected.
 *
 * The spawner has one thread and never waits for a client longer than SLOW_CLIENT_MS, since all
 * cells of all clients wait with it. What can be prepared before it is asked for (network
 * namespaces, slots, disks) is done piece by piece while nobody asks: spawner_work_ahead(). */
#include "envd/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/securebits.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "runtime/kern.h"
#include "sys/io.h"

/* Work ahead would slow the first command of a cell down that was just made. */
enum { REFILL_MS = 5, SLOW_CLIENT_MS = 2000, SEND_BYTES = 4 << 20, LOCK_MS = 3000 };

/* ---- sending ---- */

static void client_drop(struct client *cl)
{
    int fd = cl->io.fd;

    loop_io_stop(&cl->io);
    (void)close(fd);
    cl->id = 0;
}

static struct client *client_find(struct spawner *s, uint64_t id)
{
    for (size_t i = 0; id != 0 && i < SPAWNER_CLIENTS; i++)
        if (s->clients[i].id == id)
            return &s->clients[i];
    return NULL;
}

/* Sends s->out; false when that failed. A client that does not read is waited for a little (it
 * never waits for us), then let go; it will find everything out when it connects again. What it has
 * said so far counts, also when it is dead: it is read until its end, and dropped there. */
static bool send_to_client(struct client *cl, const int *fds, size_t n_fds)
{
    int r = packet_send(cl->io.fd, &cl->spawner->out, fds, n_fds);

    if (r == -EAGAIN) {
        struct pollfd p = {.fd = cl->io.fd, .events = POLLOUT};
        (void)poll(&p, 1, SLOW_CLIENT_MS);
        r = packet_send(cl->io.fd, &cl->spawner->out, fds, n_fds);
    }
    if (r == 0)
        return true;
    (void)shutdown(cl->io.fd, SHUT_WR);
    return false;
}

static void send_ok(struct client *cl, uint32_t tag)
{
    packet_begin(&cl->spawner->out, PROTO_OK, tag);
    (void)send_to_client(cl, NULL, 0);
}

static void send_client_error(struct client *cl, uint32_t tag, const struct err *e)
{
    if (!cl)
        return;
    packet_begin(&cl->spawner->out, PROTO_ERROR, tag);
    wire_put_u32(&cl->spawner->out, (uint32_t)-e->code);
    wire_put_str(&cl->spawner->out, str_of(err_text(e)));
    (void)send_to_client(cl, NULL, 0);
}

static bool send_cell(struct client *cl, const struct cell *c, uint32_t tag)
{
    const int fds[] = {c->pidfd, c->netns_fd};

    packet_begin(&cl->spawner->out, PROTO_CELL, tag);
    proto_put_info(&cl->spawner->out, &c->info);
    return send_to_client(cl, fds, ARRAY_LEN(fds));
}

void spawner_reply_cell(struct cell *c)
{
    struct client *cl = client_find(c->spawner, c->client_id);

    c->client_id = 0;
    /* Who asked may be dead, and a new daemon may have asked for the list already. */
    if (!cl || !send_cell(cl, c, c->tag))
        cell_kill(c);
}

void spawner_reply_error(struct cell *c, const struct err *e)
{
    send_client_error(client_find(c->spawner, c->client_id), c->tag, e);
    c->client_id = 0;
}

void spawner_tell_gone(struct cell *c)
{
    struct spawner *s = c->spawner;

    for (size_t i = 0; i < SPAWNER_CLIENTS; i++) {
        if (s->clients[i].id == 0)
            continue;
        packet_begin(&s->out, PROTO_GONE, 0);
        wire_put_u32(&s->out, c->info.slot);
        wire_put_u64(&s->out, c->info.generation);
        wire_put_u32(&s->out, (uint32_t)c->wait_status);
        (void)send_to_client(&s->clients[i], NULL, 0);
    }
}

/* ---- requests ---- */

static int hello(struct client *cl, struct packet *p, struct err *e)
{
    struct spawner *s = cl->spawner;
    int fds[1 + CGROUP_HIERARCHIES] = {s->sock_fd};

    (void)e;
    packet_begin(&s->out, PROTO_HELLO, p->tag);
    wire_put_u32(&s->out, PROTO_VERSION);
    wire_put_u32(&s->out, (uint32_t)getpid());
    wire_put_u32(&s->out, s->cgroup.version);
    wire_put_u32(&s->out, (uint32_t)s->cgroup.n_trees);
    for (size_t i = 0; i < s->cgroup.n_trees; i++) {
        wire_put_u32(&s->out, s->cgroup.trees[i].can);
        fds[1 + i] = s->cgroup.trees[i].fd;
    }
    (void)send_to_client(cl, fds, 1 + s->cgroup.n_trees);
    return 0;
}

/* The template has changed, and nobody should be given what was made ahead from the old one. */
static void drop_unclaimed(struct spawner *s, const char *template_name)
{
    for (uint32_t i = 0; i < s->n_slots; i++) {
        struct cell *c = s->slots[i];
        if (c->state == CELL_READY && c->info.label[0] == '\0' &&
            strcmp(c->info.spec.template_name, template_name) == 0)
            cell_kill(c);
    }
}

static int handle_template(struct client *cl, struct packet *p, struct err *e)
{
    struct proto_template t;

    proto_get_template(&p->body, &t);
    if (wire_done(&p->body) < 0)
        return err_sys(e, -EBADMSG, "template");
    int r = world_add_template(cl->spawner, &t, p, e);
    if (r < 0)
        return r;
    if (r > 0 && !t.keeps_cells)
        drop_unclaimed(cl->spawner, t.name);
    send_ok(cl, p->tag);
    return 0;
}

static int create_cell_for_client(struct client *cl, struct packet *p, struct err *e)
{
    struct cell_spec spec;

    proto_get_spec(&p->body, &spec);
    if (wire_done(&p->body) < 0)
        return err_sys(e, -EBADMSG, "create");
    if (cl->spawner->is_quitting)
        return err_sys(e, -ESHUTDOWN, "create");
    cell_create(cl->spawner, &spec, cl->id, p->tag);
    spawner_work_ahead(cl->spawner);
    return 0;
}

static struct cell *get_cell(struct spawner *s, struct wire_reader *r)
{
    uint32_t slot = wire_get_u32(r);

    return slot_find(s, slot, wire_get_u64(r));
}

static int kill_one(struct client *cl, struct packet *p, struct err *e)
{
    struct cell *c = get_cell(cl->spawner, &p->body);

    if (wire_done(&p->body) < 0)
        return err_sys(e, -EBADMSG, "kill");
    if (!c)
        return err_sys(e, -ESRCH, "kill");
    send_ok(cl, p->tag);
    cell_kill(c);
    return 0;
}

static int label(struct client *cl, struct packet *p, struct err *e)
{
    struct cell *c = get_cell(cl->spawner, &p->body);
    char name[PROTO_NAME_MAX];

    (void)e;
    proto_get_name(&p->body, name, sizeof name);
    if (wire_done(&p->body) < 0 || !c)
        return 0;
    memcpy(c->info.label, name, sizeof name);
    view_changed(c);
    return 0;
}

static int handle_list(struct client *cl, struct packet *p, struct err *e)
{
    struct spawner *s = cl->spawner;

    (void)e;
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i]->state == CELL_READY && !send_cell(cl, s->slots[i], p->tag))
            return 0;
    send_ok(cl, p->tag);
    return 0;
}

static int handle_quit(struct client *cl, struct packet *p, struct err *e)
{
    struct spawner *s = cl->spawner;

    (void)p;
    (void)e;
    s->is_quitting = true;
    for (uint32_t i = 0; i < s->n_slots; i++)
        cell_kill(s->slots[i]);
    if (s->n_used == 0)
        loop_stop(s->loop);
    return 0;
}

static int clean(struct client *cl, struct packet *p, struct err *e)
{
    (void)p;
    (void)e;
    sweep_trash(cl->spawner);
    return 0;
}

static int show_upper(struct client *cl, struct packet *p, struct err *e)
{
    const struct cell *c = get_cell(cl->spawner, &p->body);

    if (wire_done(&p->body) < 0)
        return err_sys(e, -EBADMSG, "upper");
    if (!c)
        return err_sys(e, -ESRCH, "upper");
    auto_close int fd = cell_open_upper(c, e);
    if (fd < 0)
        return fd;
    packet_begin(&cl->spawner->out, PROTO_UPPER_IS, p->tag);
    (void)send_to_client(cl, &fd, 1);
    return 0;
}

static const struct {
    uint32_t kind;
    int (*handle)(struct client *cl, struct packet *p, struct err *e);
} requests[] = {
    {PROTO_HELLO, hello},
    {PROTO_TEMPLATE, handle_template},
    {PROTO_CREATE, create_cell_for_client},
    {PROTO_KILL, kill_one},
    {PROTO_LABEL, label},
    {PROTO_LIST, handle_list},
    {PROTO_QUIT, handle_quit},
    {PROTO_CLEAN, clean},
    {PROTO_UPPER, show_upper},
};

static void dispatch_packet(struct client *cl, struct packet *p)
{
    struct err e = ERR_INIT;
    int r = -ENOSYS;

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (requests[i].kind == p->kind)
            r = requests[i].handle(cl, p, &e);
    if (r < 0)
        send_client_error(cl, p->tag, &e);
}

/* ---- idle work ---- */

static void on_refill(struct loop_timer *t)
{
    struct spawner *s = container_of(t, struct spawner, refill);

    /* One at a time, so that a request never waits for more than one. */
    if (!s->is_quitting && (netns_refill(s) || cell_prepare_one(s) || disks_refill(s)))
        (void)loop_timer_start(s->loop, t, REFILL_MS, on_refill);
}

/* Pushed back by every request: a burst is served first. */
void spawner_work_ahead(struct spawner *s)
{
    (void)loop_timer_start(s->loop, &s->refill, REFILL_MS, on_refill);
}

/* Handles one packet of CL; false when there was none, or CL is gone. */
static bool hear_client(struct client *cl)
{
    static struct packet p;
    int r = packet_receive(cl->io.fd, &p);

    if (r == -EAGAIN)
        return false;
    if (r <= 0) {
        client_drop(cl);
        return false;
    }
    dispatch_packet(cl, &p);
    packet_done(&p);
    return cl->id != 0;
}

static void on_client(struct loop_io *io, uint32_t events)
{
    struct client *cl = container_of(io, struct client, io);
    struct spawner *s = cl->spawner;

    (void)events;
    (void)hear_client(cl);
    if (s->refill.loop)
        spawner_work_ahead(s);
}

/* A daemon that was killed may have said more than was read so far, such as the label of a cell: a
 * new one must not learn how things were before that. */
static void hear_all(struct spawner *s)
{
    for (size_t i = 0; i < SPAWNER_CLIENTS; i++)
        while (s->clients[i].id != 0 && hear_client(&s->clients[i]))
            ;
}

static void on_spawner_connection(struct loop_io *io, uint32_t events)
{
    struct spawner *s = container_of(io, struct spawner, listener);
    auto_close int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    hear_all(s);
    for (size_t i = 0; fd >= 0 && i < SPAWNER_CLIENTS; i++) {
        struct client *cl = &s->clients[i];
        if (cl->id != 0)
            continue;
        if (loop_io_start(s->loop, &cl->io, fd, EPOLLIN, on_client) < 0)
            return;
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &(int){SEND_BYTES}, sizeof(int));
        (void)take_fd(fd);
        cl->spawner = s;
        cl->id = s->next_client_id++;
        return;
    }
}

static void on_spawner_child(int signo, void *ctx)
{
    struct spawner *s = ctx;

    (void)signo;
    /* Cells are waited for through their pidfds. */
    if (s->cleaner_pid > 0 && waitpid(s->cleaner_pid, NULL, WNOHANG) == s->cleaner_pid)
        sweep_cleaner_ended(s);
    view_child_ended(s);
}

/* ---- start ---- */

static int open_below_slots(const char *dir, const char *name, int flags, struct err *e)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "'%s'", name);
    if (flags & O_DIRECTORY && mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_sys(e, -errno, "create '%s'", path);
    int fd = io_open(path, flags, 0600);
    return fd < 0 ? err_sys(e, fd, "open '%s'", path) : fd;
}

/* One spawner per state directory; the descriptor stays open for good. One that dies closes its
 * connections before it lets go of the lock, so a daemon may be here too early. -EBUSY: another one
 * has it, such as one that a daemon started right before it died; that one is as good. */
static int lock_state(const struct spawner_options *o, int dir, const char *name, struct err *e)
{
    auto_close int fd = open_below_slots(o->state, "spawner.lock", O_RDWR | O_CREAT, e);
    int64_t end_ms = clock_mono_ms() + LOCK_MS;

    if (fd < 0)
        return fd;
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return err_sys(e, -errno, "lock '%s'", o->state);
        auto_close int other = packet_connect_at(dir, name, SOCK_SEQPACKET);
        if (clock_mono_ms() > end_ms || other >= 0)
            return err_set(e, -EBUSY, "another spawner uses '%s'", o->state);
        (void)usleep(5000);
    }
    (void)take_fd(fd);
    return 0;
}

static int open_uid_lock(struct spawner *s, struct err *e)
{
    int r = io_mkdirs("/run/tidepool", 0755, e);

    if (r < 0)
        return r;
    s->uid_lock_fd = open_below_slots("/run/tidepool", "uids.lock", O_RDWR | O_CREAT, e);
    return s->uid_lock_fd < 0 ? s->uid_lock_fd : 0;
}

/* Everything that has to be opened while the host's files can still be seen. */
static int open_host(struct spawner *s, const struct spawner_options *o, struct err *e)
{
    int r = open_uid_lock(s, e);

    if (r == 0)
        r = cgroup_open_self(&s->cgroup, o->instance, o->cgroup, e);
    if (r < 0)
        return r;
    s->dirs.owner = o->instance;
    s->dirs.dev = io_open("/dev", O_RDONLY | O_DIRECTORY, 0);
    s->dirs.images = o->images ? io_open(o->images, O_RDONLY | O_DIRECTORY, 0) : -1;
    s->home_netns_fd = io_open("/proc/self/ns/net", O_RDONLY, 0);
    if (s->dirs.dev < 0 || s->home_netns_fd < 0)
        return err_sys(e, -ENOENT, "open /dev and /proc");
    auto_close int cells = open_below_slots(o->state, "cells", O_RDONLY | O_DIRECTORY, e);
    if (cells < 0)
        return cells;
    if (mkdirat(cells, ".trash", 0700) < 0 && errno != EEXIST)
        return err_sys(e, -errno, "create .trash");
    auto_close int tree = kern_open_tree(cells, "", KERN_TREE_CLONE | KERN_EMPTY_PATH);
    if (tree < 0)
        return err_sys(e, tree, "clone '%s/cells'", o->state);
    view_take_along(&s->view, &s->cgroup);
    return world_enter(tree, o->state, e);
}

static int open_listener(struct spawner *s, int dir, const char *name, struct err *e)
{
    int fd = packet_listen_at(dir, name, SOCK_SEQPACKET);

    if (fd < 0)
        return err_sys(e, fd, "listen on '%s'", name);
    int r = loop_io_start(s->loop, &s->listener, fd, EPOLLIN, on_spawner_connection);
    return r < 0 ? err_sys(e, r, "listen on '%s'", name) : 0;
}

/* The directory of the socket, and its name in there. */
static int open_socket_dir(const char *path, const char **ret_name, struct err *e)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path || (size_t)(slash - path) >= sizeof dir)
        return err_set(e, -EINVAL, "socket '%s' is not an absolute path", path);
    (void)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
    *ret_name = slash + 1;
    int fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? err_sys(e, fd, "open '%s'", dir) : fd;
}

void spawner_close(struct spawner *s)
{
    int fd = s->listener.fd;

    /* First of all: whoever sees the end of a connection must not find the socket alive. */
    loop_io_stop(&s->listener);
    (void)close(fd);
    view_close(s);
    cell_unprepare_all(s);
    cgroup_remove(&s->cgroup);
}

int spawner_open(struct spawner *s, const struct spawner_options *o, struct err *e)
{
    const char *name;
    auto_close int dir = open_socket_dir(o->socket, &name, e);

    if (dir < 0)
        return dir;
    s->next_client_id = 1;
    /* Not from a clock, which may be set back: no two spawners give the same ones. */
    id_random(&s->next_generation, sizeof s->next_generation);
    s->next_generation >>= 1;
    buf_init(&s->out, PACKET_MAX);
    (void)signal(SIGPIPE, SIG_IGN);
    s->loop = loop_new(e);
    if (!s->loop)
        return e->code;
    /* Capabilities stay when slot_clone() changes the uid. Where that is refused, they go for the
     * moment of the clone, and only kernels that forbid user namespaces to users mind. */
    (void)prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0);
    int r = seccomp_build(&s->seccomp);
    if (r < 0)
        return err_sys(e, r, "system call filter");
    r = lock_state(o, dir, name, e);
    if (r == 0)
        r = open_host(s, o, e);
    if (r < 0)
        return r;
    s->dirs.cells = io_open("/cells", O_RDONLY | O_DIRECTORY, 0);
    s->sock_fd = io_open("/sock", O_RDONLY | O_DIRECTORY, 0);
    if (s->dirs.images < 0)
        s->dirs.images = s->dirs.cells;
    if (s->dirs.cells < 0 || s->sock_fd < 0)
        return err_sys(e, -ENOENT, "open /cells and /sock");
    shares_read(&s->shares, "/proc");
    r = loop_on_signal(s->loop, SIGCHLD, on_spawner_child, s);
    if (r < 0)
        return err_sys(e, r, "signals");
    r = view_open(s, e);
    if (r < 0)
        return r;
    sweep_leftovers(s);
    spawner_work_ahead(s);
    return open_listener(s, dir, name, e);
}
