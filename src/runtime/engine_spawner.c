/* SPDX-License-Identifier: MIT */
/* Reaching a spawner: find it or start one, agree on the protocol, learn what lives. All of this
 * waits, for processes, for systemd, for a spawner that may hang: so it is done by a thread, from
 * copies of what it needs, within a time; the loop's thread then takes over what was found. Only
 * the start of the service waits for it.
 *
 * The conversation, on a SOCK_SEQPACKET socket (runtime/proto.h has the packets):
 *
 *     we                      the spawner
 *     HELLO                →
 *                          ←  HELLO: version, pid, control groups; the directory of its sockets
 *                             and each hierarchy as descriptors
 *     TEMPLATE, its layers →                            (only to one that makes cells)
 *                          ←  OK
 *     LIST                 →
 *                          ←  CELL … each with its pidfd and network namespace, then OK
 *
 * From HELLO on the spawner also reports, unasked, what becomes of cells. Such packets carry
 * another tag than the answer that is waited for; keep_packet() keeps them with their descriptors,
 * and replay_heard() handles them on the loop's thread, in the order in which they came, as if they
 * had come later. So no death of a cell is lost between the list and the moment when the loop
 * listens.
 *
 * A spawner may also be found half-way: dying (it takes a connection and breaks it: meet() tries
 * again), or just being started by a daemon that died since (-EBUSY: connect_spawner() waits for it
 * to listen or to end). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "loop/work.h"
#include "runtime/engine_internal.h"
#include "runtime/kern.h"
#include "runtime/scope.h"
#include "runtime/template.h"
#include "sys/io.h"

static struct proto_template engine_default_template(bool keeps_cells);

#define SOCKET_NAME "spawner.sock"

enum {
    MEET_TRIES = 20,
    MEET_US = 10000,
    START_MS = 30000, /* until a new spawner listens; systemd may take half of it */
    TALK_MS = 10000,  /* for all that is said with one that listens */
    JOBS_MAX = 256,
};

static char *const no_env[] = {NULL};

/* A packet that came while something else was waited for, or a cell of the list. */
struct heard {
    struct list node;
    size_t len, n_fds;
    int fds[PACKET_FDS];
    char data[];
};

/* One attempt; it outlives its link, and the engine, when these go meanwhile. While the thread runs
 * it is the thread's, but for `link`, which only the loop's thread looks at: NULL when nobody wants
 * the result any more. attempt_done() frees it, on the loop's thread. */
struct spawner_attempt {
    struct work work;
    struct spawner_link *link; /* NULL: gone. Only the loop's thread looks at it */

    /* What is asked for. */
    char state[PATH_MAX], home[PATH_MAX], envd[PATH_MAX], local[PATH_MAX];
    char place[ENGINE_PLACE_MAX], instance[CGROUP_NAME_MAX];
    int state_fd; /* its own */
    enum cgroup_version cgroup;
    bool makes_cells; /* it gets the default template */
    const char *const *etc;
    size_t n_etc;

    /* What came of it. */
    _Atomic bool is_over; /* the thread has no more to do with it */
    int result;
    struct err e;
    int fd, sockets_fd;
    uint32_t version, pid;
    struct cgroup found;
    char template_root[PATH_MAX];
    struct list heard; /* struct heard */
    int64_t end_ms;    /* of the conversation */
    struct buf out;
    struct packet in;
};

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

static int result_of(int status)
{
    if (!WIFEXITED(status))
        return -EIO;
    if (WEXITSTATUS(status) == PROTO_EXIT_BUSY)
        return -EBUSY;
    return WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* Within START_MS; a start that takes longer is ended. */
static int wait_for_starter(pid_t pid)
{
    int64_t end_ms = clock_mono_ms() + START_MS;
    int status;

    for (;;) {
        pid_t r = waitpid(pid, &status, WNOHANG);
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r == pid)
            return result_of(status);
        if (clock_mono_ms() > end_ms)
            (void)kill(pid, SIGKILL);
        (void)usleep(500);
    }
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
    (void)wait_for_starter(pid);
    return r < 0 ? r : err_sys(e, -EIO, "start '%s'", argv[0]);
}

static pid_t start_here(const char *const *argv, struct err *e)
{
    pid_t pid;
    int r = posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, no_env);

    return r != 0 ? err_sys(e, -r, "start '%s'", argv[0]) : pid;
}

/* Runs `tidepool-envd spawn`, which returns when the spawner listens. */
static int start_spawner(struct spawner_attempt *a, struct err *e)
{
    char place[PATH_MAX], socket_path[PATH_MAX], images[PATH_MAX];
    const char *argv[] = {a->envd,    "spawn",    "--socket", socket_path,  "--state",
                          place,      "--images", images,     "--instance", a->instance,
                          "--cgroup", NULL,       NULL};

    if (snprintf(place, sizeof place, "%s/%s", a->state, a->place) >= (int)sizeof place ||
        snprintf(socket_path, sizeof socket_path, "%s/" SOCKET_NAME, place) >=
            (int)sizeof socket_path)
        return err_sys(e, -ENAMETOOLONG, "spawner socket");
    (void)snprintf(images, sizeof images, "%.*s/cells", (int)(sizeof images - 8), a->home);
    if (a->cgroup == CGROUP_NONE)
        argv[10] = NULL;
    else
        argv[11] = a->cgroup == CGROUP_V2 ? "v2" : "v1";
    bool has_scope = a->cgroup != CGROUP_V1 && scope_is_needed_here();
    pid_t pid = has_scope ? start_in_scope(argv, a->instance, e) : start_here(argv, e);
    if (pid < 0)
        return pid;
    int r = wait_for_starter(pid);
    if (r == -EBUSY)
        return err_set(e, r, "another spawner uses '%s' and does not listen", place);
    return r < 0 ? err_set(e, -EIO, "'%s' could not start the spawner", a->envd) : 0;
}

static int connect_once(const struct spawner_attempt *a)
{
    char name[ENGINE_PLACE_MAX + sizeof SOCKET_NAME];

    (void)snprintf(name, sizeof name, "%s/" SOCKET_NAME, a->place);
    return packet_connect_at(a->state_fd, name, SOCK_SEQPACKET);
}

/* Where one of another build died, the new one is to sweep. When another one has the place, a
 * daemon that died has started it: it will listen in a moment, or end. */
static int connect_spawner(struct spawner_attempt *a, struct err *e)
{
    int64_t end_ms = clock_mono_ms() + START_MS;
    int fd = connect_once(a);

    for (int r = -EBUSY; r == -EBUSY && (fd == -ENOENT || fd == -ECONNREFUSED);) {
        r = start_spawner(a, e);
        if (r < 0 && (r != -EBUSY || clock_mono_ms() > end_ms))
            return r;
        if (r < 0)
            (void)usleep(MEET_US);
        fd = connect_once(a);
    }
    if (fd < 0)
        return err_sys(e, fd, "connect to the spawner");
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = TALK_MS / 1000},
                     sizeof(struct timeval));
    return fd;
}

/* ---- the conversation ---- */

static int hear_answer(int fd, struct packet *in, int64_t end_ms, struct err *e)
{
    for (;;) {
        int64_t left_ms = end_ms - clock_mono_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int r = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
        if (r == 0)
            return err_set(e, -ETIMEDOUT, "the spawner does not respond");
        if (r < 0 && errno != EINTR)
            return err_sys(e, -errno, "spawner");
        if (r < 0)
            continue;
        r = packet_receive(fd, in);
        if (r != -EAGAIN)
            return r > 0 ? 0 : err_sys(e, r < 0 ? r : -ECONNRESET, "spawner");
    }
}

/* Keeps the packet in A->in for the loop's thread. */
static int keep_packet(struct spawner_attempt *a, struct err *e)
{
    struct packet *p = &a->in;
    struct heard *h = mem_zalloc(1, sizeof *h + p->len);

    if (!h)
        return err_sys(e, -ENOMEM, "spawner");
    memcpy(h->data, p->data, p->len);
    h->len = p->len;
    memcpy(h->fds, p->fds, sizeof h->fds);
    h->n_fds = p->n_fds;
    p->n_fds = 0;
    list_append(&a->heard, &h->node);
    return 0;
}

/* Sends A->out and waits for the answer in A->in, which the caller has to finish. */
static int call(struct spawner_attempt *a, uint32_t tag, const int *fds, size_t n_fds,
                struct err *e)
{
    int r = packet_send(a->fd, &a->out, fds, n_fds);

    if (r < 0)
        return err_sys(e, r, "spawner");
    for (;;) {
        r = hear_answer(a->fd, &a->in, a->end_ms, e);
        if (r < 0)
            return r;
        if (a->in.tag == tag)
            break;
        r = keep_packet(a, e);
        if (r < 0)
            return r;
    }
    if (a->in.kind != PROTO_ERROR)
        return 0;
    r = -(int)wire_get_u32(&a->in.body);
    return err_set(e, r < 0 ? r : -EIO, STR_FMT, STR_ARG(wire_get_str(&a->in.body)));
}

/* On a new connection nobody else has said anything. */
enum { TAG_HELLO = 1, TAG_TEMPLATE, TAG_LIST };

static int greet_spawner(struct spawner_attempt *a, struct err *e)
{
    packet_begin(&a->out, PROTO_HELLO, TAG_HELLO);
    int r = call(a, TAG_HELLO, NULL, 0, e);
    if (r < 0)
        return r;
    struct wire_reader *body = &a->in.body;
    a->version = wire_get_u32(body);
    a->pid = wire_get_u32(body);
    a->found = (struct cgroup){.version = wire_get_u32(body), .n_trees = wire_get_u32(body)};
    if (a->found.n_trees > CGROUP_HIERARCHIES || 1 + a->found.n_trees != a->in.n_fds) {
        a->found.n_trees = 0;
        body->is_bad = true;
    }
    a->sockets_fd = packet_take_fd(&a->in, 0);
    for (size_t i = 0; !body->is_bad && i < a->found.n_trees; i++) {
        a->found.trees[i] =
            (struct cgroup_tree){.can = wire_get_u32(body), .fd = packet_take_fd(&a->in, 1 + i)};
        a->found.can |= a->found.trees[i].can;
    }
    packet_done(&a->in);
    if (a->version < PROTO_VERSION_OLDEST || a->version > PROTO_VERSION || wire_done(body) < 0)
        return err_set(e, -EPROTO, "spawner %u speaks version %u of the protocol, not %d to %d",
                       a->pid, a->version, PROTO_VERSION_OLDEST, PROTO_VERSION);
    return 0;
}

int engine_open_layers(const struct proto_template *t, const char *const *layers,
                       int fds[PROTO_LAYERS_MAX], struct err *e)
{
    int n = 0;

    for (; n < (int)t->n_layers && n < PROTO_LAYERS_MAX; n++) {
        fds[n] = kern_open_tree(AT_FDCWD, layers[n], KERN_TREE_CLONE);
        if (fds[n] >= 0)
            continue;
        int r = err_sys(e, fds[n], "layer '%s'", layers[n]);
        while (n > 0)
            (void)close(fds[--n]);
        return r;
    }
    return n;
}

static int tell_template(struct spawner_attempt *a, struct err *e)
{
    const struct template_source from = {.local = a->local, .etc = a->etc, .n_etc = a->n_etc};
    const struct proto_template t = engine_default_template(false);
    int fds[PROTO_LAYERS_MAX];
    int r = template_build_default(a->state, &from, a->template_root, sizeof a->template_root, e);

    if (r < 0)
        return r;
    int n = engine_open_layers(&t, (const char *const[]){a->template_root, "/usr"}, fds, e);
    if (n < 0)
        return n;
    packet_begin(&a->out, PROTO_TEMPLATE, TAG_TEMPLATE);
    proto_put_template(&a->out, &t);
    r = call(a, TAG_TEMPLATE, fds, (size_t)n, e);
    packet_done(&a->in);
    while (n > 0)
        (void)close(fds[--n]);
    return r < 0 ? err_ctx(e, r, "template '%s'", t.name) : 0;
}

static int ask_for_cells(struct spawner_attempt *a, struct err *e)
{
    packet_begin(&a->out, PROTO_LIST, TAG_LIST);
    int r = call(a, TAG_LIST, NULL, 0, e);
    while (r == 0 && a->in.kind == PROTO_CELL) {
        r = keep_packet(a, e);
        if (r == 0)
            r = hear_answer(a->fd, &a->in, a->end_ms, e);
    }
    packet_done(&a->in);
    return r;
}

static void hang_up(struct spawner_attempt *a)
{
    close_p(&a->fd);
    close_p(&a->sockets_fd);
    a->fd = a->sockets_fd = -1;
    cgroup_close(&a->found);
    for (struct list *node; (node = list_pop(&a->heard));) {
        struct heard *h = list_entry(node, struct heard, node);
        for (size_t i = 0; i < h->n_fds; i++)
            (void)close(h->fds[i]);
        free(h);
    }
}

/* One that is dying may still take a connection, which then breaks without an answer. */
static int meet(struct spawner_attempt *a, struct err *e)
{
    for (int tries = 1;; tries++) {
        a->fd = connect_spawner(a, e);
        if (a->fd < 0)
            return a->fd;
        a->end_ms = clock_mono_ms() + TALK_MS;
        int r = greet_spawner(a, e);
        if ((r != -ECONNRESET && r != -EPIPE) || tries == MEET_TRIES)
            return r;
        hang_up(a);
        (void)usleep(MEET_US);
    }
}

static void attempt_spawner(struct spawner_attempt *a)
{
    int r = meet(a, &a->e);

    if (r == 0 && a->makes_cells)
        r = tell_template(a, &a->e);
    if (r == 0) {
        a->end_ms = clock_mono_ms() + TALK_MS;
        r = ask_for_cells(a, &a->e);
    }
    if (r == 0)
        r = io_set_nonblock(a->fd, true);
    a->result = r;
    if (r < 0)
        hang_up(a);
}

static void attempt_free(struct spawner_attempt *a)
{
    hang_up(a);
    close_p(&a->state_fd);
    buf_done(&a->out);
    free(a);
}

static struct spawner_attempt *attempt_new(struct spawner_link *s)
{
    struct engine *en = s->engine;
    struct spawner_attempt *a = mem_zalloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->link = s;
    a->fd = a->sockets_fd = -1;
    a->state_fd = fcntl(en->state_fd, F_DUPFD_CLOEXEC, 3);
    a->cgroup = en->options.cgroup;
    a->makes_cells = s->makes_cells;
    a->etc = en->options.etc;
    a->n_etc = en->options.n_etc;
    list_init(&a->heard);
    buf_init(&a->out, PACKET_MAX);
    (void)snprintf(a->state, sizeof a->state, "%s", en->state);
    (void)snprintf(a->home, sizeof a->home, "%s", en->home);
    (void)snprintf(a->envd, sizeof a->envd, "%s", en->envd);
    (void)snprintf(a->place, sizeof a->place, "%s", s->place);
    engine_place_instance(en, s->place, a->instance, sizeof a->instance);
    engine_find_local(en, a->local);
    return a;
}

/* ---- on the loop's thread ---- */

/* A cell without label was built for the stock, or for a daemon that died before it heard of it. */
static void adopt_listed_cells(struct spawner_link *s)
{
    struct engine *en = s->engine;
    struct cell_info info;

    proto_get_info(&en->in.body, &info);
    if (wire_done(&en->in.body) < 0)
        return;
    struct engine_cell *c = spawner_link_cell(s, info.slot, info.generation);
    if (!c)
        c = engine_cell_new(s, &info, &en->in, NULL);
    else
        c->is_seen = true;
    if (!c || c->is_seen)
        return;
    c->is_seen = true;
    if (s->makes_cells && info.label[0] == '\0') {
        (void)engine_cell_egress(c);
        list_append(&en->stock, &c->node);
        en->n_stock++;
        s->n_stock++;
    } else {
        engine_claim(c);
    }
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

static void replay_heard(struct spawner_link *s, struct heard *h)
{
    struct packet *in = &s->engine->in;

    memcpy(in->data, h->data, h->len);
    in->len = h->len;
    memcpy(in->fds, h->fds, sizeof in->fds);
    in->n_fds = h->n_fds;
    in->body = (struct wire_reader){.left = str_n(in->data, in->len)};
    in->kind = wire_get_u32(&in->body);
    in->tag = wire_get_u32(&in->body);
    if (in->kind == PROTO_CELL && in->tag == TAG_LIST) {
        adopt_listed_cells(s);
        packet_done(in);
    } else {
        engine_dispatch(s);
    }
    free(h);
}

/* What A has found is S's from now on. */
static void take_over_link(struct spawner_link *s, struct spawner_attempt *a)
{
    struct engine *en = s->engine;

    engine_detach(s);
    s->io.fd = take_fd(a->fd);
    s->sockets_fd = take_fd(a->sockets_fd);
    s->version = a->version;
    s->pid = a->pid;
    s->cgroup = a->found;
    a->found = (struct cgroup){0};
    memcpy(s->template_root, a->template_root, sizeof s->template_root);
    if (a->makes_cells && s == en->spawner)
        memcpy(en->template_root, a->template_root, sizeof en->template_root);
    forget_seen(&en->cells, s);
    forget_seen(&en->stock, s);
    for (struct list *node; (node = list_pop(&a->heard));)
        replay_heard(s, list_entry(node, struct heard, node));
}

int engine_attach(struct spawner_link *s, struct err *e)
{
    struct spawner_attempt *a = attempt_new(s);

    if (!a)
        return err_sys(e, -ENOMEM, "spawner");
    attempt_spawner(a);
    int r = a->result;
    if (r < 0 && e)
        *e = a->e;
    if (r == 0)
        take_over_link(s, a);
    attempt_free(a);
    return r;
}

static void run_attempt(struct work *w)
{
    struct spawner_attempt *a = container_of(w, struct spawner_attempt, work);

    attempt_spawner(a);
    atomic_store(&a->is_over, true);
}

static void attempt_done(struct work *w)
{
    struct spawner_attempt *a = container_of(w, struct spawner_attempt, work);
    struct spawner_link *s = a->link;
    struct err e = a->e;
    int r = w->is_dropped ? -ECANCELED : a->result;

    if (s) {
        s->attempt = NULL;
        if (r == 0)
            take_over_link(s, a);
    }
    attempt_free(a);
    if (s)
        engine_attached(s, r, &e);
}

int engine_attach_later(struct spawner_link *s)
{
    struct engine *en = s->engine;

    if (s->attempt)
        return 0;
    if (!en->starters)
        en->starters = work_pool_new(1, JOBS_MAX, NULL);
    struct spawner_attempt *a = en->starters ? attempt_new(s) : NULL;
    if (!a)
        return -ENOMEM;
    a->work = (struct work){.run = run_attempt, .done = attempt_done};
    int r = work_submit(en->starters, en->loop, &a->work);
    if (r < 0) {
        attempt_free(a);
        return r;
    }
    s->attempt = a;
    return 0;
}

bool engine_attach_take(struct spawner_link *s)
{
    struct spawner_attempt *a = s->attempt;
    bool is_reached = a && atomic_load(&a->is_over) && a->result == 0;

    if (is_reached)
        take_over_link(s, a);
    engine_attach_forget(s);
    return is_reached;
}

void engine_attach_forget(struct spawner_link *s)
{
    if (s->attempt)
        s->attempt->link = NULL;
    s->attempt = NULL;
}

void engine_hang_up(struct spawner_link *s)
{
    loop_io_stop(&s->io);
    close_p(&s->io.fd);
    s->io.fd = -1;
    s->roots.n = 0; /* the next one may be another process */
    spawner_link_drop(s);
}

void engine_detach(struct spawner_link *s)
{
    engine_hang_up(s);
    close_p(&s->sockets_fd);
    s->sockets_fd = -1;
    cgroup_close(&s->cgroup);
}

/* ---- templates ---- */

static struct proto_template engine_default_template(bool keeps_cells)
{
    return (struct proto_template){
        .name = "default", .has_usr = true, .keeps_cells = keeps_cells, .n_layers = 2};
}

/* Nobody waits for the answer: what it is asked for next comes behind it. */
int engine_send_template(struct spawner_link *s, bool keeps_cells)
{
    struct engine *en = s->engine;
    const struct proto_template t = engine_default_template(keeps_cells);
    int fds[PROTO_LAYERS_MAX];
    int n = engine_open_layers(&t, (const char *const[]){en->template_root, "/usr"}, fds, NULL);

    if (n < 0)
        return n;
    packet_begin(&en->out, PROTO_TEMPLATE, 0);
    proto_put_template(&en->out, &t);
    int r =
        s->io.loop && s->n_queued == 0 ? packet_send(s->io.fd, &en->out, fds, (size_t)n) : -EAGAIN;
    while (n > 0)
        (void)close(fds[--n]);
    if (r == 0)
        memcpy(s->template_root, en->template_root, sizeof s->template_root);
    return r;
}
