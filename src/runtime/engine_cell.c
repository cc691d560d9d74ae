/* SPDX-License-Identifier: MIT */
/* One cell, seen from the daemon: its name, limits, ports, end. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/egress.h"
#include "runtime/engine_assign.h"
#include "runtime/engine_freeze.h"
#include "runtime/engine_internal.h"
#include "runtime/kern.h"
#include "sys/io.h"

/* Thousandths of a processor. */
enum { BOOST_MILLI = 1000, SLOW_MILLI = 200 };

/* ---- cells ---- */

struct engine_cell *engine_cell_new(struct spawner_link *s, const struct cell_info *info,
                                    struct packet *p, struct err *e)
{
    struct engine_cell *c = mem_zalloc(1, sizeof *c);
    char socket[PROTO_SOCKET_NAME_MAX];

    if (!c) {
        (void)err_sys(e, -ENOMEM, "cell");
        return NULL;
    }
    list_init(&c->node);
    list_init(&c->requests);
    c->engine = s->engine;
    c->spawner = s;
    c->info = *info;
    c->shm_bytes = info->spec.limits.memory_bytes / 2;
    proto_slot_name(c->slot_name, info->slot);
    proto_socket_name(socket, info->slot, info->generation);
    (void)snprintf(c->address, sizeof c->address, "%s/%u", socket, s->id);
    c->pidfd = packet_take_fd(p, 0);
    c->netns_fd = packet_take_fd(p, 1);
    int r = spawner_link_enter(s, c);
    if (r < 0) {
        (void)err_sys(e, r, "cell");
        engine_cell_free(c);
        return NULL;
    }
    return c;
}

void engine_cell_free(struct engine_cell *c)
{
    if (!c)
        return;
    list_del(&c->node);
    spawner_link_leave(c->spawner, c);
    engine_fit_done(c);
    engine_requests_fail(c);
    egress_detach(c->egress);
    loop_io_stop(&c->end_io);
    close_p(&c->pidfd);
    close_p(&c->netns_fd);
    free(c);
}

const struct cell_info *engine_cell_info(const struct engine_cell *c)
{
    return &c->info;
}

struct egress_cell *engine_cell_egress(struct engine_cell *c)
{
    static const struct netpolicy closed = NETPOLICY_DENY_ALL;
    struct egress *way = c->engine->options.egress;
    /* Of many cells every descriptor counts: later the first process leads to the network. */
    auto_close int netns_fd = take_fd(c->netns_fd);

    /* A cell without a way out is one. */
    if (way && netns_fd >= 0)
        c->egress = egress_attach(way, netns_fd, &closed, NULL);
    return c->egress;
}

void engine_cell_tell_label(struct engine_cell *c)
{
    struct engine *en = c->engine;

    packet_begin(&en->out, PROTO_LABEL, 0);
    wire_put_u32(&en->out, c->info.slot);
    wire_put_u64(&en->out, c->info.generation);
    wire_put_str(&en->out, str_of(c->info.label));
    if (spawner_link_send(c->spawner) < 0)
        engine_cell_kill(c);
}

int engine_cell_name(struct engine_cell *c, const char *label, const char *hostname, struct err *e)
{
    struct engine *en = c->engine;
    int r = 0;

    (void)snprintf(c->info.label, sizeof c->info.label, "%s", label);
    engine_cell_tell_label(c);
    /* A cell that was built for somebody has its name already. */
    if (!en->options.is_claimed_by_caller && strcmp(c->info.spec.hostname, hostname) != 0)
        r = engine_send_hostname(c, hostname, e);
    return r;
}

int engine_cell_assign(struct engine_cell *c, const char *label, const struct cell_spec *spec,
                       struct err *e)
{
    bool has_other = memcmp(&c->info.spec.limits, &spec->limits, sizeof spec->limits) != 0;
    int r = has_other ? engine_cell_limit(c, &spec->limits, e) : 0;

    return r < 0 ? r : engine_cell_name(c, label, spec->hostname[0] ? spec->hostname : label, e);
}

static void on_cell_end(struct loop_io *io, uint32_t events)
{
    (void)events;
    engine_bury(container_of(io, struct engine_cell, end_io), SIGKILL);
}

/* The spawner may be busy: the processes are killed from here already, and their end is seen here
 * too. What is left of the cell is the spawner's to clean up, in its own time. */
void engine_cell_kill(struct engine_cell *c)
{
    struct engine *en = c->engine;

    if (c->is_ending)
        return;
    c->is_ending = true;
    engine_note_use(en);
    /* Processes have to run to end, too. */
    if (c->info.spec.limits.cpu_milli < SLOW_MILLI)
        engine_cell_boost(c, true);
    (void)kern_pidfd_kill(c->pidfd, SIGKILL);
    if (!c->end_io.loop)
        (void)loop_io_start(en->loop, &c->end_io, c->pidfd, EPOLLIN, on_cell_end);
    packet_begin(&en->out, PROTO_KILL, 0);
    wire_put_u32(&en->out, c->info.slot);
    wire_put_u64(&en->out, c->info.generation);
    (void)spawner_link_send(c->spawner);
}

int engine_cell_freeze(struct engine_cell *c, bool freeze, struct err *e)
{
    return cgroup_freeze(&c->spawner->cgroup, c->slot_name, freeze, e);
}

int engine_cell_try_freeze(struct engine_cell *c, int wait_ms)
{
    return cgroup_try_freeze(&c->spawner->cgroup, c->slot_name, wait_ms);
}

void engine_cell_boost(struct engine_cell *c, bool is_on)
{
    struct cgroup_limits usual = c->info.spec.limits, boosted = usual;

    if (usual.cpu_milli == 0 || usual.cpu_milli >= BOOST_MILLI)
        return;
    boosted.cpu_milli = BOOST_MILLI;
    (void)cgroup_limit(&c->spawner->cgroup, c->slot_name, is_on ? &usual : &boosted,
                       is_on ? &boosted : &usual, NULL);
}

int engine_cell_limit(struct engine_cell *c, const struct cgroup_limits *l, struct err *e)
{
    int r = cgroup_limit(&c->spawner->cgroup, c->slot_name, &c->info.spec.limits, l, e);

    if (r < 0)
        return r;
    c->info.spec.limits = *l;
    /* In the stock nothing runs yet. */
    bool is_claimed = !list_is_empty(&c->node);
    engine_fit(c, is_claimed);
    return 0;
}

int engine_cell_usage(const struct engine_cell *c, struct cgroup_usage *ret, struct err *e)
{
    return cgroup_usage(&c->spawner->cgroup, c->slot_name, ret, e);
}

void engine_cell_storage(const struct engine_cell *c, struct engine_storage *ret)
{
    struct statvfs disk;
    char root[32];

    *ret = (struct engine_storage){.cache_bytes = cgroup_cache(&c->spawner->cgroup, c->slot_name)};
    /* Between the end of a cell and the report of it the number may be another's: then these
     * figures are wrong once, and nothing else. */
    (void)snprintf(root, sizeof root, "/proc/%u/root", c->info.pid);
    if (statvfs(root, &disk) < 0)
        return;
    ret->disk_total = disk.f_blocks * disk.f_frsize;
    ret->disk_used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
}

/* ---- ports ---- */

/* A socket that lives in the cell's network, though the caller does not. Never loses its way back:
 * a thread that cannot return would do all its later networking inside the cell. */
static int socket_inside(struct engine_cell *c, int family)
{
    if (setns(c->pidfd, CLONE_NEWNET) < 0)
        return -errno;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r = fd < 0 ? -errno : fd;
    if (setns(c->engine->home_netns_fd, CLONE_NEWNET) < 0)
        abort();
    return r;
}

static int connect_inside(struct engine_cell *c, const struct sockaddr *a, socklen_t len)
{
    auto_close int fd = socket_inside(c, a->sa_family);

    if (fd < 0)
        return fd;
    if (connect(fd, a, len) < 0 && errno != EINPROGRESS)
        return -errno;
    /* On loopback the answer is there at once, only not yet in the result of connect(). */
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0)
        return -error;
    return take_fd(fd);
}

int engine_cell_connect(struct engine_cell *c, uint16_t port)
{
    struct sockaddr_in a4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 a6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    engine_note_use(c->engine);
    int fd = connect_inside(c, (const struct sockaddr *)&a4, sizeof a4);

    return fd == -ECONNREFUSED ? connect_inside(c, (const struct sockaddr *)&a6, sizeof a6) : fd;
}
