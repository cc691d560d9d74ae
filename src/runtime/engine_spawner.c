/* SPDX-License-Identifier: MIT */
/* The engine's beginning: find the spawner or start one, agree on the protocol, learn what lives.
 * Everything here blocks; the spawner answers within a millisecond. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/engine_internal.h"
#include "runtime/kern.h"
#include "runtime/scope.h"
#include "sys/io.h"

#define SOCKET_NAME "spawner.sock"

enum { MEET_TRIES = 20, MEET_US = 10000 };

static char *const no_env[] = {NULL};

/* A process that becomes ARGV when it reads a byte from *ret_go, and ends when that is closed. */
static pid_t fork_waiting(const char *const *argv, int *ret_go)
{
    int ends[2];
    char byte;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[1]);
        if (read(ends[0], &byte, 1) == 1)
            (void)execve(argv[0], (char *const *)(uintptr_t)argv, no_env);
        _exit(127);
    }
    int r = pid < 0 ? -errno : 0;
    (void)close(ends[0]);
    if (r < 0) {
        (void)close(ends[1]);
        return r;
    }
    *ret_go = ends[1];
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* It is in its scope before it does anything. */
static pid_t start_in_scope(const char *const *argv, const char *instance, struct err *e)
{
    char name[SCOPE_NAME_MAX];
    auto_close int go = -1;
    pid_t pid = fork_waiting(argv, &go);

    if (pid < 0)
        return err_sys(e, pid, "start '%s'", argv[0]);
    scope_name(name, instance);
    int r = scope_enter(pid, name, NULL, e);
    if (r == 0 && write(go, "x", 1) == 1)
        return pid;
    (void)close(take_fd(go));
    (void)wait_for(pid);
    return r < 0 ? r : err_sys(e, -EIO, "start '%s'", argv[0]);
}

static pid_t start_here(const char *const *argv, struct err *e)
{
    pid_t pid;
    int r = posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, no_env);

    return r != 0 ? err_sys(e, -r, "start '%s'", argv[0]) : pid;
}

/* Runs `tidepool-envd spawn`, which returns when the spawner listens. */
static int start_spawner(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    char place[PATH_MAX], socket_path[PATH_MAX], instance[CGROUP_NAME_MAX];
    const char *argv[] = {en->envd,     "spawn",  "--socket", socket_path, "--state", place,
                          "--instance", instance, "--cgroup", NULL,        NULL};

    if (engine_place_path(en, s->place, place, sizeof place) < 0 ||
        snprintf(socket_path, sizeof socket_path, "%s/" SOCKET_NAME, place) >=
            (int)sizeof socket_path)
        return err_sys(e, -ENAMETOOLONG, "spawner socket");
    engine_place_instance(en, s->place, instance, sizeof instance);
    if (en->options.cgroup == CGROUP_NONE)
        argv[8] = NULL;
    else
        argv[9] = en->options.cgroup == CGROUP_V2 ? "v2" : "v1";
    bool has_scope = en->options.cgroup != CGROUP_V1 && scope_is_needed_here();
    pid_t pid = has_scope ? start_in_scope(argv, instance, e) : start_here(argv, e);
    if (pid < 0)
        return pid;
    if (wait_for(pid) < 0)
        return err_set(e, -EIO, "'%s' could not start the spawner", en->envd);
    return 0;
}

/* Where one of another build died, the new one is to sweep. */
static int connect_spawner(struct spawner_link *s, struct err *e)
{
    char name[ENGINE_PLACE_MAX + sizeof SOCKET_NAME];
    int state_fd = s->engine->state_fd;

    (void)snprintf(name, sizeof name, "%s/" SOCKET_NAME, s->place);
    int fd = packet_connect_at(state_fd, name, SOCK_SEQPACKET);
    if (fd == -ENOENT || fd == -ECONNREFUSED) {
        int r = start_spawner(s, e);
        if (r < 0)
            return r;
        fd = packet_connect_at(state_fd, name, SOCK_SEQPACKET);
    }
    return fd < 0 ? err_sys(e, fd, "connect to the spawner") : fd;
}

/* Sends en->out and waits for the answer in en->in, which the caller has to finish. What else
 * arrives meanwhile is handled as usual. */
static int call(struct spawner_link *s, uint32_t tag, const int *fds, size_t n_fds, struct err *e)
{
    struct engine *en = s->engine;
    int r = packet_send(s->io.fd, &en->out, fds, n_fds);

    while (r == 0) {
        int n = packet_receive(s->io.fd, &en->in);
        if (n <= 0)
            return err_sys(e, n < 0 ? n : -ECONNRESET, "spawner");
        if (en->in.tag == tag)
            break;
        engine_dispatch(s);
    }
    if (r < 0)
        return err_sys(e, r, "spawner");
    if (en->in.kind != PROTO_ERROR)
        return 0;
    r = -(int)wire_get_u32(&en->in.body);
    return err_set(e, r < 0 ? r : -EIO, STR_FMT, STR_ARG(wire_get_str(&en->in.body)));
}

static int greet(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    uint32_t tag = en->next_tag++;

    packet_begin(&en->out, PROTO_HELLO, tag);
    int r = call(s, tag, NULL, 0, e);
    if (r < 0)
        return r;
    struct wire_reader *body = &en->in.body;
    s->version = wire_get_u32(body);
    s->pid = wire_get_u32(body);
    s->cgroup = (struct cgroup){.version = wire_get_u32(body), .n_trees = wire_get_u32(body)};
    if (s->cgroup.n_trees > CGROUP_HIERARCHIES || 1 + s->cgroup.n_trees != en->in.n_fds)
        body->is_bad = true;
    s->sockets_fd = packet_take_fd(&en->in, 0);
    for (size_t i = 0; !body->is_bad && i < s->cgroup.n_trees; i++) {
        s->cgroup.trees[i] =
            (struct cgroup_tree){.can = wire_get_u32(body), .fd = packet_take_fd(&en->in, 1 + i)};
        s->cgroup.can |= s->cgroup.trees[i].can;
    }
    packet_done(&en->in);
    if (s->version < PROTO_VERSION_OLDEST || s->version > PROTO_VERSION || wire_done(body) < 0) {
        s->cgroup.n_trees = 0;
        return err_set(e, -EPROTO, "spawner %u speaks version %u of the protocol, not %d to %d",
                       s->pid, s->version, PROTO_VERSION_OLDEST, PROTO_VERSION);
    }
    return 0;
}

int engine_add_template(struct engine *en, const struct proto_template *t,
                        const char *const *layers, struct err *e)
{
    int fds[PROTO_LAYERS_MAX];
    uint32_t n = 0, tag = en->next_tag++;
    int r = 0;

    for (; r == 0 && n < t->n_layers && n < PROTO_LAYERS_MAX; n += r == 0) {
        fds[n] = kern_open_tree(AT_FDCWD, layers[n], KERN_TREE_CLONE);
        if (fds[n] < 0)
            r = err_sys(e, fds[n], "layer '%s'", layers[n]);
    }
    if (r == 0) {
        (void)io_set_nonblock(en->spawner.io.fd, false);
        packet_begin(&en->out, PROTO_TEMPLATE, tag);
        proto_put_template(&en->out, t);
        r = call(&en->spawner, tag, fds, n, e);
        (void)io_set_nonblock(en->spawner.io.fd, en->spawner.io.loop != NULL);
    }
    while (n > 0)
        (void)close(fds[--n]);
    packet_done(&en->in);
    return r < 0 ? err_ctx(e, r, "template '%s'", t->name) : 0;
}

/* A cell without label was built for the stock, or for a daemon that died before it heard of it. */
static int adopt(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    struct cell_info info;

    proto_get_info(&en->in.body, &info);
    if (wire_done(&en->in.body) < 0)
        return err_sys(e, -EBADMSG, "list of cells");
    struct engine_cell *c = spawner_link_cell(s, info.slot, info.generation);
    if (c) {
        c->is_seen = true;
        return 0;
    }
    c = engine_cell_new(s, &info, &en->in, e);
    if (!c)
        return -ENOMEM;
    c->is_seen = true;
    if (s == &en->spawner && info.label[0] == '\0') {
        (void)engine_cell_egress(c);
        list_append(&en->stock, &c->node);
        en->n_stock++;
    } else {
        engine_claim(c);
    }
    return 0;
}

static void forget_seen(struct list *head, const struct spawner_link *s)
{
    list_each(node, head)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->spawner == s)
            c->is_seen = false;
    }
}

static int list_cells(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    uint32_t tag = en->next_tag++;

    forget_seen(&en->cells, s);
    forget_seen(&en->stock, s);
    packet_begin(&en->out, PROTO_LIST, tag);
    int r = call(s, tag, NULL, 0, e);
    while (r == 0 && en->in.kind == PROTO_CELL) {
        r = adopt(s, e);
        packet_done(&en->in);
        if (r < 0)
            return r;
        int n = packet_receive(s->io.fd, &en->in);
        if (n <= 0)
            return err_sys(e, n < 0 ? n : -ECONNRESET, "spawner");
    }
    packet_done(&en->in);
    return r;
}

/* One that is dying may still take a connection, which then breaks without an answer. */
static int meet(struct spawner_link *s, struct err *e)
{
    for (int tries = 1;; tries++) {
        int r = connect_spawner(s, e);
        if (r < 0)
            return r;
        s->io.fd = r;
        r = greet(s, e);
        if ((r != -ECONNRESET && r != -EPIPE) || tries == MEET_TRIES)
            return r;
        engine_detach(s);
        (void)usleep(MEET_US);
    }
}

int engine_attach(struct spawner_link *s, struct err *e)
{
    struct engine *en = s->engine;
    int r = meet(s, e);

    if (r == 0 && s == &en->spawner)
        r = engine_template_add(en, e);
    if (r == 0)
        r = list_cells(s, e);
    if (r == 0)
        r = io_set_nonblock(s->io.fd, true);
    if (r < 0)
        engine_detach(s);
    return r;
}

void engine_detach(struct spawner_link *s)
{
    loop_io_stop(&s->io);
    close_p(&s->io.fd);
    close_p(&s->sockets_fd);
    s->io.fd = s->sockets_fd = -1;
    cgroup_close(&s->cgroup);
    spawner_link_drop(s);
}
