/* SPDX-License-Identifier: MIT */
/* Watching of the E2B protocol: WatchDir as a stream of events, and CreateWatcher, GetWatcherEvents
 * and RemoveWatcher for clients that poll. Both keep what the client has not taken yet as JSON
 * texts in one bounded queue. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "envd/e2b.h"
#include "envd/e2b_fs.h"
#include "envd/path.h"
#include "envd/serve.h"
#include "envd/tree.h"

enum {
    EVENT_MAX = 256 << 10, /* bytes of one event's JSON */
    EVENT_ARENA_MAX = 1 << 20,
    ID_LEN = 20,
    NAMES_FRESH_MS = 1000, /* how long the names of owners are taken for true */
};

struct e2b_watch_request {
    uint32_t has;
    struct str path;
    bool is_recursive, has_entry, allows_network;
};

struct id_request {
    uint32_t has;
    struct str id;
};

static const struct pjson_field watch_fields[] = {
    {.name = "path", .type = PJSON_STRING, .offset = offsetof(struct e2b_watch_request, path)},
    {.name = "recursive",
     .type = PJSON_BOOL,
     .offset = offsetof(struct e2b_watch_request, is_recursive)},
    {.name = "includeEntry",
     .type = PJSON_BOOL,
     .offset = offsetof(struct e2b_watch_request, has_entry)},
    {.name = "allowNetworkMounts",
     .type = PJSON_BOOL,
     .offset = offsetof(struct e2b_watch_request, allows_network)},
};
static const struct pjson_field id_fields[] = {
    {.name = "watcherId", .type = PJSON_STRING, .offset = offsetof(struct id_request, id)},
};
static const struct pjson_message watch_message = {
    sizeof(struct e2b_watch_request),
    ARRAY_LEN(watch_fields),
    watch_fields,
};
static const struct pjson_message id_message = {
    sizeof(struct id_request),
    ARRAY_LEN(id_fields),
    id_fields,
};

struct watcher {
    struct watch watch;
    struct serve *serve;
    struct connect_call *call; /* NULL: polled */
    struct list node;          /* polled */
    char id[1 + ID_LEN + 1];
    bool has_entry;
    struct user_names names;
    int64_t names_ms; /* when they were read; 0: never */
    struct buf queue; /* events: the length as uint32_t, then the JSON object */
    size_t n_queued;
    int error; /* sticky */
    struct loop_timer failing;
};

/* ---- events ---- */

static void put_changed_entry(struct jw *w, struct watcher *it, struct arena *a, const char *name)
{
    const char *path = path_join(a, it->watch.path, name);
    int64_t now = loop_now_ms(it->serve->loop);
    struct entry entry;

    path = path ? path_clean(a, str_of(path)) : NULL;
    if (!path || entry_read(a, path, &entry) < 0)
        return;
    if (it->names_ms == 0 || now - it->names_ms > NAMES_FRESH_MS) {
        user_names_done(&it->names);
        user_names_init(&it->names);
        it->names_ms = now;
    }
    jw_key(w, "entry");
    entry_put(w, &entry, &it->names, false);
}

static void put_watch_event(struct buf *b, struct watcher *it, enum watch_type type,
                            const char *name)
{
    static const char *const types[WATCH_TYPE_COUNT] = {
        [WATCH_CREATE] = "EVENT_TYPE_CREATE", [WATCH_WRITE] = "EVENT_TYPE_WRITE",
        [WATCH_REMOVE] = "EVENT_TYPE_REMOVE", [WATCH_RENAME] = "EVENT_TYPE_RENAME",
        [WATCH_CHMOD] = "EVENT_TYPE_CHMOD",
    };
    auto_arena struct arena a;
    struct jw w = jw_to(b);

    arena_init(&a, EVENT_ARENA_MAX);
    jw_object(&w);
    pjson_put_str(&w, "name", str_of(name));
    jw_key(&w, "type");
    jw_cstr(&w, types[type]);
    if (it->has_entry && type != WATCH_REMOVE && type != WATCH_RENAME)
        put_changed_entry(&w, it, &a, name);
    jw_end(&w);
}

/* Takes the next event off *REST; .p is NULL behind the last. */
static struct str next_event(struct str *rest)
{
    uint32_t len;

    if (rest->len < sizeof len)
        return STR_NULL;
    memcpy(&len, rest->p, sizeof len);
    struct str event = str_slice(*rest, sizeof len, sizeof len + len);
    *rest = str_skip(*rest, sizeof len + len);
    return event;
}

static void send_event(struct connect_call *c, struct str event)
{
    auto_buf struct buf b = BUF_INIT(EVENT_MAX + 64);

    connect_message(&b);
    (void)buf_add_lit(&b, "{\"filesystem\":");
    (void)buf_add_str(&b, event);
    (void)buf_add_char(&b, '}');
    connect_send(c, &b);
}

/* Sends what waits, as far as the client reads. */
static void on_watcher_drain(struct connect_call *c)
{
    struct watcher *it = c->ctx;
    struct str rest = buf_str(&it->queue);

    while (rest.len && !connect_is_full(c)) {
        send_event(c, next_event(&rest));
        it->n_queued--;
    }
    buf_consume(&it->queue, it->queue.len - rest.len);
}

/* ---- failures ---- */

static const char *error_text(int code)
{
    return code == -EOVERFLOW ? "fsnotify: queue or buffer overflow" : path_errno(code);
}

/* A callback of the watch cannot end it. */
static void on_failing(struct loop_timer *t)
{
    struct watcher *it = container_of(t, struct watcher, failing);

    connect_fail(it->call, CONNECT_INTERNAL, "watcher error: %s", error_text(it->error));
}

static void on_watcher_error(struct watch *w, int code)
{
    struct watcher *it = container_of(w, struct watcher, watch);

    if (it->error)
        return;
    it->error = code;
    if (it->call)
        (void)loop_timer_start(it->serve->loop, &it->failing, 0, on_failing);
}

static void on_watcher_event(struct watch *w, enum watch_type type, const char *name)
{
    struct watcher *it = container_of(w, struct watcher, watch);
    auto_buf struct buf b = BUF_INIT(EVENT_MAX);

    if (it->error)
        return;
    put_watch_event(&b, it, type, name);
    if (!buf_ok(&b)) {
        on_watcher_error(w, -ENOMEM);
        return;
    }
    if (it->call && it->queue.len == 0 && !connect_is_full(it->call)) {
        send_event(it->call, buf_str(&b));
        return;
    }
    uint32_t len = (uint32_t)b.len;
    (void)buf_add(&it->queue, &len, sizeof len);
    if (it->n_queued++ == E2B_WATCH_EVENTS_MAX || buf_add_str(&it->queue, buf_str(&b)) < 0)
        on_watcher_error(w, -EOVERFLOW);
}

static const struct watch_ops watch_ops = {on_watcher_event, on_watcher_error};

/* ---- beginning and end ---- */

void e2b_watches_init(struct e2b_watches *w, struct loop *l)
{
    watch_hub_init(&w->hub, l);
    list_init(&w->polled);
    w->n = 0;
}

static void watcher_free(struct watcher *it)
{
    watch_stop(&it->watch);
    loop_timer_stop(&it->failing);
    list_del(&it->node);
    user_names_done(&it->names);
    buf_done(&it->queue);
    it->serve->watches.n--;
    free(it);
}

static bool is_network(const char *path)
{
    static const uint32_t magics[] = {
        0x6969,     /* NFS */
        0xff534d42, /* CIFS */
        0x517b,     /* SMB */
        0xfe534d42, /* SMB 2 */
        0x65735546, /* FUSE */
    };
    struct statfs fs;

    if (statfs(path, &fs) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(magics); i++)
        if ((uint32_t)fs.f_type == magics[i])
            return true;
    return false;
}

/* False: the call has failed. */
static bool check_watched_path(struct connect_call *c, const struct e2b_watch_request *m,
                               const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        int code = errno;
        if (code == ENOENT)
            connect_fail(c, CONNECT_NOT_FOUND, "path %s not found: stat %s: %s", path, path,
                         path_errno(code));
        else
            connect_fail(c, CONNECT_INTERNAL, "error getting path info: stat %s: %s", path,
                         path_errno(code));
        return false;
    }
    if (!S_ISDIR(st.st_mode)) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "path %s not a directory: stat %s: %s", path,
                     path, path_errno(ENOTDIR));
        return false;
    }
    if (!m->allows_network && is_network(path)) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "cannot watch path on network filesystem: %s",
                     path);
        return false;
    }
    return true;
}

/* A watcher as C asks for. NULL: the call has failed. */
static struct watcher *watcher_new(struct connect_call *c, bool is_polled)
{
    const struct e2b_watch_request *m = c->message;
    struct e2b_watches *all = &c->serve->watches;
    const char *path = e2b_fs_path(c, m->path);

    if (!path || !check_watched_path(c, m, path))
        return NULL;
    struct watcher *it = all->n < E2B_WATCHES_MAX ? mem_zalloc(1, sizeof *it) : NULL;
    if (!it) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "too many watchers: at most %d",
                     E2B_WATCHES_MAX);
        return NULL;
    }
    all->n++;
    it->serve = c->serve;
    it->has_entry = m->has_entry && !c->is_legacy;
    it->call = is_polled ? NULL : c;
    list_init(&it->node);
    user_names_init(&it->names);
    buf_init(&it->queue, E2B_WATCH_BYTES_MAX);
    int r = watch_start(&all->hub, &it->watch, path, m->is_recursive, &watch_ops);
    if (r < 0) {
        watcher_free(it);
        connect_fail(c, CONNECT_INTERNAL, "error adding path %s to watcher: %s", path,
                     path_errno(r));
        return NULL;
    }
    return it;
}

/* ---- WatchDir ---- */

static void on_watcher_over(struct connect_call *c)
{
    watcher_free(c->ctx);
}

static void handle_watch_dir(struct connect_call *c)
{
    struct watcher *it = watcher_new(c, false);
    auto_buf struct buf b = BUF_INIT(64);

    if (!it)
        return;
    c->ctx = it;
    c->on_over = on_watcher_over;
    c->on_drain = on_watcher_drain;
    connect_message(&b);
    (void)buf_add_lit(&b, "{\"start\":{}}");
    connect_send(c, &b);
}

/* ---- polling ---- */

static void make_watcher_id(char out[1 + ID_LEN + 1])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[ID_LEN];

    id_random(random, sizeof random);
    out[0] = 'w';
    for (size_t i = 0; i < ID_LEN; i++)
        out[1 + i] = letters[random[i] % (sizeof letters - 1)];
    out[1 + ID_LEN] = '\0';
}

static void handle_create(struct connect_call *c)
{
    struct watcher *it = watcher_new(c, true);
    auto_buf struct buf b = BUF_INIT(128);
    struct jw w = jw_to(&b);

    if (!it)
        return;
    make_watcher_id(it->id);
    list_append(&c->serve->watches.polled, &it->node);
    jw_object(&w);
    pjson_put_str(&w, "watcherId", str_of(it->id));
    jw_end(&w);
    connect_reply(c, &b);
}

/* The one that the request names. NULL: the call has failed. */
static struct watcher *find_watcher(struct connect_call *c)
{
    const struct id_request *m = c->message;

    list_each(node, &c->serve->watches.polled)
    {
        struct watcher *it = list_entry(node, struct watcher, node);
        if (str_is(m->id, it->id))
            return it;
    }
    connect_fail(c, CONNECT_NOT_FOUND, "watcher with id " STR_FMT " not found", STR_ARG(m->id));
    return NULL;
}

static void handle_get_events(struct connect_call *c)
{
    struct watcher *it = find_watcher(c);
    auto_buf struct buf b = BUF_INIT(2 * E2B_WATCH_BYTES_MAX);
    struct jw w = jw_to(&b);

    if (!it)
        return;
    watch_catch_up(&c->serve->watches.hub);
    if (it->error) {
        connect_fail(c, CONNECT_INTERNAL, "watcher error: %s", error_text(it->error));
        return;
    }
    struct str rest = buf_str(&it->queue), event;
    jw_object(&w);
    if (rest.len) {
        jw_key(&w, "events");
        jw_array(&w);
        while ((event = next_event(&rest)).p)
            jw_raw(&w, event);
        jw_end(&w);
    }
    jw_end(&w);
    buf_done(&it->queue);
    it->n_queued = 0;
    connect_reply(c, &b);
}

static void handle_watcher_remove(struct connect_call *c)
{
    struct watcher *it = find_watcher(c);

    if (!it)
        return;
    watcher_free(it);
    connect_reply_empty(c);
}

#define SERVICE "/filesystem.Filesystem/"

const struct connect_method e2b_watch_methods[] = {
    {SERVICE "WatchDir", CONNECT_STREAM, &watch_message, handle_watch_dir, "{\"keepalive\":{}}"},
    {SERVICE "CreateWatcher", CONNECT_UNARY, &watch_message, handle_create, NULL},
    {SERVICE "GetWatcherEvents", CONNECT_UNARY, &id_message, handle_get_events, NULL},
    {SERVICE "RemoveWatcher", CONNECT_UNARY, &id_message, handle_watcher_remove, NULL},
    {0},
};
