/* SPDX-License-Identifier: MIT */
/* Watching directories: see watch.h.
 *
 *     watch_hub ── one inotify descriptor for the whole cell
 *       ├ watch_dir (by wd) ── a directory that the kernel watches, once, however many want it
 *       │    └ member ── its place in one watch, under the name that this watch knows it by
 *       └ watch ── what a client asked for; recursive: a member for each directory below
 *
 * The kernel watches single directories, so a recursive watch has to follow what is created.
 * Between the creation of a directory and our watch on it things may already be in it: scan() first
 * adds the watch and then reads the directory, and reports what it finds as created. What the
 * kernel reports as well, because it came in between, is recognised by `reported` (descriptor and
 * name) and left out.
 *
 * When the kernel's queue overflows, or memory or the limit on directories runs out, the picture of
 * a watch is wrong from then on. It is not repaired: break_off() ends it with an error, and the
 * client begins again. */
#include "envd/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/mem.h"

enum {
    MASK = IN_CREATE | IN_MODIFY | IN_DELETE | IN_DELETE_SELF | IN_MOVED_TO | IN_MOVED_FROM |
           IN_MOVE_SELF | IN_ATTRIB,
    READ_BYTES = 16 << 10,
    READS = 16,              /* before others get their turn */
    CATCH_UP_READS = 512,    /* more than the kernel queues */
    SCAN_BYTES = 64 << 20,   /* names of directories that wait to be read */
    REPORTED_MAX = 64 << 10, /* what is not remembered is reported twice */
};

/* A directory that the kernel watches for us. */
struct watch_dir {
    int wd;
    struct list members;
};

/* Its place in one watch. */
struct member {
    struct list in_dir, in_watch;
    struct watch_dir *dir;
    struct watch *watch;
    char *name; /* below the watched path; "" for that path itself */
};

/* ---- directories ---- */

static struct str wd_key(const int *wd)
{
    return str_n((const char *)wd, sizeof *wd);
}

static void member_free(struct member *m)
{
    m->watch->hub->n_members--;
    list_del(&m->in_dir);
    list_del(&m->in_watch);
    free(m->name);
    free(m);
}

static void dir_free(struct watch_hub *h, struct watch_dir *d)
{
    list_each(it, &d->members) member_free(list_entry(it, struct member, in_dir));
    (void)map_del(&h->dirs, wd_key(&d->wd));
    free(d);
}

/* Takes a directory out of its watch, and out of the kernel's when no other watch has it. */
static void forget_watched_dir(struct member *m)
{
    struct watch_hub *h = m->watch->hub;
    struct watch_dir *d = m->dir;

    member_free(m);
    if (!list_is_empty(&d->members))
        return;
    (void)inotify_rm_watch(h->io.fd, d->wd);
    dir_free(h, d);
}

/* True for NAME itself and for what is below it. */
static bool is_watch_below(const char *path, const char *name)
{
    size_t len = strlen(name);

    return strncmp(path, name, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Forgets the directory NAME of W and all below it. */
static void forget_tree(struct watch *w, const char *name)
{
    list_each(it, &w->members)
    {
        struct member *m = list_entry(it, struct member, in_watch);
        if (is_watch_below(m->name, name))
            forget_watched_dir(m);
    }
}

static struct watch_dir *dir_get(struct watch_hub *h, int wd)
{
    struct watch_dir *d = map_get(&h->dirs, wd_key(&wd));

    if (d)
        return d;
    d = mem_zalloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->wd = wd;
    list_init(&d->members);
    if (map_put(&h->dirs, wd_key(&wd), d, NULL) < 0) {
        free(d);
        return NULL;
    }
    return d;
}

static struct member *member_of_watch(const struct watch_dir *d, const struct watch *w)
{
    list_each(it, &d->members)
    {
        struct member *m = list_entry(it, struct member, in_dir);
        if (m->watch == w)
            return m;
    }
    return NULL;
}

/* The path of what has NAME in W. */
static const char *path_of_member(struct arena *a, const struct watch *w, const char *name)
{
    return *name ? arena_printf(a, "%s/%s", w->path, name).p : w->path;
}

static int add_watch_member(struct watch *w, struct watch_dir *d, const char *name)
{
    struct member *m = mem_zalloc(1, sizeof *m);
    char *copy = mem_strdup(name);

    if (!m || !copy || w->hub->n_members == WATCH_DIRS_MAX) {
        free(m);
        free(copy);
        return w->hub->n_members == WATCH_DIRS_MAX ? -ENOSPC : -ENOMEM;
    }
    *m = (struct member){.dir = d, .watch = w, .name = copy};
    list_append(&d->members, &m->in_dir);
    list_append(&w->members, &m->in_watch);
    w->hub->n_members++;
    return 1;
}

/* Watches the directory at PATH as NAME of W. 1; 0 when W had it, whatever its name was; -errno. */
static int add_watch_dir(struct watch *w, const char *path, const char *name, int *ret_wd)
{
    struct watch_hub *h = w->hub;
    uint32_t mask = (uint32_t)MASK | IN_ONLYDIR | (*name ? IN_DONT_FOLLOW : 0);
    int wd = inotify_add_watch(h->io.fd, path, mask);

    if (wd < 0)
        return -errno;
    *ret_wd = wd;
    struct watch_dir *d = dir_get(h, wd);
    struct member *m = d ? member_of_watch(d, w) : NULL;
    if (m) {
        char *copy = mem_strdup(name);
        if (!copy)
            return -ENOMEM;
        free(m->name);
        m->name = copy;
        return 0;
    }
    int r = d ? add_watch_member(w, d, name) : -ENOMEM;
    if (r < 0 && (!d || list_is_empty(&d->members))) {
        (void)inotify_rm_watch(h->io.fd, wd);
        if (d)
            dir_free(h, d);
    }
    return r;
}

/* ---- reading directories ---- */

struct watch_pending {
    struct watch_pending *next;
    const char *name;
};

/* A queue, not a recursion: the depth of a tree is the tenant's choice. */
struct watch_scan {
    struct watch *watch;
    bool is_new; /* report what is found */
    struct arena arena;
    struct watch_pending *first, **last;
};

static int push(struct watch_scan *s, const char *name)
{
    struct watch_pending *p = arena_new(&s->arena, struct watch_pending);

    if (!p || !name)
        return -ENOMEM;
    p->name = name;
    *s->last = p;
    s->last = &p->next;
    return 0;
}

static struct str event_key(struct arena *a, int wd, const char *name)
{
    return arena_printf(a, "%d/%s", wd, name);
}

static bool is_watch_dir(DIR *dir, const struct dirent *d)
{
    struct stat st;

    if (d->d_type != DT_UNKNOWN)
        return d->d_type == DT_DIR;
    return fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Reports, and remembers that it was. */
static void report_found(struct watch_scan *s, int wd, const char *entry, const char *name)
{
    struct watch *w = s->watch;
    struct str key = event_key(&s->arena, wd, entry);

    if (key.p)
        (void)map_put(&w->hub->reported, key, w->hub, NULL);
    w->ops->on_event(w, WATCH_CREATE, name);
}

static int read_dir(struct watch_scan *s, int wd, const char *path, const char *name)
{
    auto_closedir DIR *dir = opendir(path);
    int r = 0;

    for (struct dirent *d; dir && r == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        bool is_directory = is_watch_dir(dir, d);
        if (!is_directory && !s->is_new)
            continue;
        const char *child = *name ? arena_printf(&s->arena, "%s/%s", name, d->d_name).p
                                  : arena_strdup(&s->arena, d->d_name);
        if (child && s->is_new)
            report_found(s, wd, d->d_name, child);
        r = !child ? -ENOMEM : is_directory ? push(s, child) : 0;
    }
    return r;
}

static int scan_one(struct watch_scan *s, const char *name)
{
    const char *path = path_of_member(&s->arena, s->watch, name);
    int wd = -1;
    int r = path ? add_watch_dir(s->watch, path, name, &wd) : -ENOMEM;

    /* What went away again meanwhile is somebody else's report. */
    if (*name && (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EACCES))
        return 0;
    if (r < 0)
        return r;
    return s->watch->is_recursive ? read_dir(s, wd, path, name) : 0;
}

/* Watches NAME of W and what is below it; reports what it finds there when IS_NEW. */
static int scan(struct watch *w, const char *name, bool is_new)
{
    struct watch_scan s = {.watch = w, .is_new = is_new};
    int r;

    s.last = &s.first;
    arena_init(&s.arena, SCAN_BYTES);
    r = push(&s, name);
    for (struct watch_pending *p = s.first; p && r == 0; p = p->next)
        r = scan_one(&s, p->name);
    arena_done(&s.arena);
    return r;
}

/* ---- events ---- */

static void emit_change(struct watch *w, uint32_t mask, const char *name)
{
    static const struct {
        uint32_t mask;
        enum watch_type type;
    } kinds[] = {
        {IN_CREATE | IN_MOVED_TO, WATCH_CREATE},
        {IN_MOVED_FROM | IN_MOVE_SELF, WATCH_RENAME},
        {IN_ATTRIB, WATCH_CHMOD},
        {IN_MODIFY, WATCH_WRITE},
        {IN_DELETE | IN_DELETE_SELF, WATCH_REMOVE},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (mask & kinds[i].mask)
            w->ops->on_event(w, kinds[i].type, name);
}

/* No more events for W: what it knows is not right any more. */
static void break_off(struct watch *w, int code)
{
    list_each(it, &w->members) forget_watched_dir(list_entry(it, struct member, in_watch));
    w->ops->on_error(w, code);
}

/* ---- directories that move ----
 *
 * The kernel reports the old name, the new one when that is watched too, then the directory itself.
 * Names are kept as of the event that is looked at, not as of now: the events of a second move are
 * already waiting. */

static void begin_watch_move(struct watch *w, uint32_t cookie, const char *name)
{
    free(w->moved_name);
    w->moved_name = mem_strdup(name);
    w->moved = cookie;
}

/* Gives the directories that had the moved one's name, or one below it, the name they have now. */
static int end_move(struct watch *w, const char *to)
{
    auto_free char *from = take(w->moved_name);
    auto_arena struct arena a;

    arena_init(&a, SCAN_BYTES);
    list_each(it, &w->members)
    {
        struct member *m = list_entry(it, struct member, in_watch);
        if (!is_watch_below(m->name, from))
            continue;
        const char *name = arena_printf(&a, "%s%s", to, m->name + strlen(from)).p;
        char *copy = name ? mem_strdup(name) : NULL;
        if (!copy)
            return -ENOMEM;
        free(m->name);
        m->name = copy;
    }
    return 0;
}

/* The directory has left the tree when its new name was not reported. */
static void check_moved(struct member *m)
{
    struct watch *w = m->watch;

    if (w->moved_name && strcmp(m->name, w->moved_name) == 0) {
        auto_free char *name = take(w->moved_name);
        forget_tree(w, name);
    }
}

/* About the directory itself. Its parent reports what happens to one that is not the root. */
static void on_self(struct watch_dir *d, uint32_t mask)
{
    list_each(it, &d->members)
    {
        struct member *m = list_entry(it, struct member, in_dir);
        if (!*m->name)
            emit_change(m->watch, mask, ".");
    }
    if (!(mask & IN_MOVE_SELF))
        return;
    /* The last member takes the directory along. */
    for (struct list *it = d->members.next, *next; it != &d->members; it = next) {
        struct member *m = list_entry(it, struct member, in_dir);
        bool is_only = it->next == &d->members;
        next = it->next;
        if (*m->name)
            check_moved(m);
        if (is_only)
            return;
    }
}

/* About NAME in the directory of M. */
static void on_watched_entry(struct member *m, const struct inotify_event *ev, const char *name)
{
    struct watch *w = m->watch;
    bool is_deep = w->is_recursive && ev->mask & IN_ISDIR;
    bool is_renamed = ev->mask & IN_MOVED_TO && w->moved_name && w->moved == ev->cookie;

    emit_change(w, ev->mask, name);
    if (is_deep && ev->mask & IN_MOVED_FROM)
        begin_watch_move(w, ev->cookie, name);
    if (!is_deep || !(ev->mask & (IN_CREATE | IN_MOVED_TO)))
        return;
    int r = is_renamed ? end_move(w, name) : scan(w, name, true);
    if (r < 0)
        break_off(w, r);
}

/* True when the kernel reports what was found by reading. A name that went is not known any more.
 */
static bool is_reported(struct watch_hub *h, const struct inotify_event *ev)
{
    auto_arena struct arena a;

    arena_init(&a, 2 * PATH_MAX);
    if (h->reported.n == 0 || !(ev->mask & (IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM)))
        return false;
    struct str key = event_key(&a, ev->wd, ev->name);
    return key.p && map_del(&h->reported, key) && ev->mask & (IN_CREATE | IN_MOVED_TO);
}

static void on_member_change(struct member *m, const struct inotify_event *ev)
{
    auto_arena struct arena a;

    arena_init(&a, 4 * PATH_MAX);
    struct str name =
        *m->name ? arena_printf(&a, "%s/%s", m->name, ev->name) : arena_str(&a, str_of(ev->name));
    if (name.p)
        on_watched_entry(m, ev, name.p);
}

static void on_named(struct watch_hub *h, struct watch_dir *d, const struct inotify_event *ev)
{
    if (is_reported(h, ev))
        return;
    /* Directories come and go meanwhile, so each watch is asked whether it still has this one. */
    list_each(it, &h->watches)
    {
        if (map_get(&h->dirs, wd_key(&ev->wd)) != d)
            return;
        struct member *m = member_of_watch(d, list_entry(it, struct watch, node));
        if (m)
            on_member_change(m, ev);
    }
}

static void handle_inotify(struct watch_hub *h, const struct inotify_event *ev)
{
    if (ev->mask & IN_Q_OVERFLOW) {
        list_each(it, &h->watches) break_off(list_entry(it, struct watch, node), -EOVERFLOW);
        return;
    }
    struct watch_dir *d = map_get(&h->dirs, wd_key(&ev->wd));
    if (!d)
        return;
    if (ev->mask & IN_IGNORED)
        dir_free(h, d);
    else if (ev->len == 0)
        on_self(d, ev->mask);
    else
        on_named(h, d, ev);
}

static void read_watch_events(struct watch_hub *h, int n_reads)
{
    _Alignas(struct inotify_event) char bytes[READ_BYTES];

    for (int i = 0; i < n_reads; i++) {
        ssize_t n = read(h->io.fd, bytes, sizeof bytes);
        if (n <= 0) {
            /* The kernel has reported all that was there when directories were read. */
            map_done(&h->reported);
            map_init(&h->reported, REPORTED_MAX);
            return;
        }
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *ev = (const void *)(bytes + at);
            handle_inotify(h, ev);
            at += (ssize_t)(sizeof *ev + ev->len);
        }
    }
}

static void on_readable(struct loop_io *io, uint32_t events)
{
    (void)events;
    read_watch_events(container_of(io, struct watch_hub, io), READS);
}

void watch_catch_up(struct watch_hub *h)
{
    if (h->io.fd >= 0)
        read_watch_events(h, CATCH_UP_READS);
}

/* ---- watches ---- */

void watch_hub_init(struct watch_hub *h, struct loop *l)
{
    *h = (struct watch_hub){.loop = l, .io = {.fd = -1}};
    map_init(&h->dirs, WATCH_DIRS_MAX);
    map_init(&h->reported, REPORTED_MAX);
    list_init(&h->watches);
}

/* An instance that nobody needs is one that another cell could have. */
static void close_instance(struct watch_hub *h)
{
    loop_io_stop(&h->io);
    close_p(&h->io.fd);
    h->io.fd = -1;
    map_done(&h->reported);
    map_init(&h->reported, REPORTED_MAX);
}

void watch_hub_done(struct watch_hub *h)
{
    close_instance(h);
    map_done(&h->dirs);
}

static int open_instance(struct watch_hub *h)
{
    if (h->io.fd >= 0)
        return 0;
    auto_close int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = loop_io_start(h->loop, &h->io, fd, EPOLLIN, on_readable);
    if (r == 0)
        h->io.fd = take_fd(fd);
    return r;
}

int watch_start(struct watch_hub *h, struct watch *w, const char *path, bool is_recursive,
                const struct watch_ops *ops)
{
    int r = open_instance(h);

    if (r < 0)
        return r;
    *w = (struct watch){.hub = h, .ops = ops, .is_recursive = is_recursive};
    list_init(&w->node);
    list_init(&w->members);
    list_append(&h->watches, &w->node);
    w->path = mem_strdup(path);
    r = w->path ? scan(w, "", false) : -ENOMEM;
    if (r < 0)
        watch_stop(w);
    return r;
}

void watch_stop(struct watch *w)
{
    struct watch_hub *h = w->hub;

    if (!h)
        return;
    list_each(it, &w->members) forget_watched_dir(list_entry(it, struct member, in_watch));
    list_del(&w->node);
    free(take(w->path));
    free(take(w->moved_name));
    w->hub = NULL;
    if (list_is_empty(&h->watches))
        close_instance(h);
}
