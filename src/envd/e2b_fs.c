/* SPDX-License-Identifier: MIT */
/* filesystem.Filesystem of the E2B protocol, except for watching: the calls around tree.h. */
#include "envd/e2b_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/e2b.h"
#include "envd/path.h"
#include "envd/removal.h"
#include "envd/serve_internal.h"
#include "envd/tree.h"

enum { ENTRY_JSON_MAX = 1 << 20 };

/* ---- requests ---- */

struct path_request {
    uint32_t has;
    struct str path;
};

struct move_request {
    uint32_t has;
    struct str source, destination;
};

struct list_request {
    uint32_t has;
    struct str path;
    uint32_t depth;
};

static const struct pjson_field path_fields[] = {
    {.name = "path", .type = PJSON_STRING, .offset = offsetof(struct path_request, path)},
};
static const struct pjson_field move_fields[] = {
    {.name = "source", .type = PJSON_STRING, .offset = offsetof(struct move_request, source)},
    {.name = "destination",
     .type = PJSON_STRING,
     .offset = offsetof(struct move_request, destination)},
};
static const struct pjson_field list_fields[] = {
    {.name = "path", .type = PJSON_STRING, .offset = offsetof(struct list_request, path)},
    {.name = "depth", .type = PJSON_U32, .offset = offsetof(struct list_request, depth)},
};
static const struct pjson_message path_message = {
    sizeof(struct path_request),
    ARRAY_LEN(path_fields),
    path_fields,
};
static const struct pjson_message move_message = {
    sizeof(struct move_request),
    ARRAY_LEN(move_fields),
    move_fields,
};
static const struct pjson_message list_message = {
    sizeof(struct list_request),
    ARRAY_LEN(list_fields),
    list_fields,
};

const char *e2b_fs_path(struct connect_call *c, struct str path)
{
    const struct user *u = connect_user(c);
    struct err e = ERR_INIT;

    if (!u)
        return NULL;
    const char *ret = path_resolve(c->arena, path, u, e2b_default_workdir(c->serve), &e);
    if (!ret)
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "%s", err_text(&e));
    return ret;
}

/* ---- answers ---- */

/* As tree.h reports what happened. */
static void fail_fs_call(struct connect_call *c, const struct err *e)
{
    enum connect_code code = CONNECT_INTERNAL;

    switch (-e->code) {
    case ENOENT: code = CONNECT_NOT_FOUND; break;
    case EEXIST: code = CONNECT_ALREADY_EXISTS; break;
    case EINVAL: code = CONNECT_INVALID_ARGUMENT; break;
    case ELOOP: code = CONNECT_FAILED_PRECONDITION; break;
    case EFBIG: code = CONNECT_RESOURCE_EXHAUSTED; break;
    case EACCES: code = CONNECT_PERMISSION_DENIED; break;
    default: break;
    }
    connect_fail(c, code, "%s", err_text(e));
}

/* {"entry": …} of PATH. */
static void reply_entry(struct connect_call *c, const char *path)
{
    auto_buf struct buf b = BUF_INIT(ENTRY_JSON_MAX);
    struct jw w = jw_to(&b);
    struct user_names names;
    struct entry entry;
    struct err e = ERR_INIT;

    if (tree_stat(c->arena, path, &entry, &e) < 0) {
        fail_fs_call(c, &e);
        return;
    }
    user_names_init(&names);
    jw_object(&w);
    jw_key(&w, "entry");
    entry_put(&w, &entry, &names, c->is_legacy);
    jw_end(&w);
    user_names_done(&names);
    connect_reply(c, &b);
}

static void handle_stat(struct connect_call *c)
{
    const struct path_request *m = c->message;
    const char *path = e2b_fs_path(c, m->path);

    if (path)
        reply_entry(c, path);
}

static void handle_make_dir(struct connect_call *c)
{
    const struct path_request *m = c->message;
    const char *path = e2b_fs_path(c, m->path);
    struct err e = ERR_INIT;

    if (!path)
        return;
    if (tree_make_dir(path, c->user, &e) < 0)
        fail_fs_call(c, &e);
    else
        reply_entry(c, path);
}

static void handle_move(struct connect_call *c)
{
    const struct move_request *m = c->message;
    const char *from = e2b_fs_path(c, m->source);
    const char *to = from ? e2b_fs_path(c, m->destination) : NULL;
    struct err e = ERR_INIT;

    if (!to)
        return;
    if (tree_move(c->arena, from, to, c->user, &e) < 0)
        fail_fs_call(c, &e);
    else
        reply_entry(c, to);
}

static void handle_list_dir(struct connect_call *c)
{
    const struct list_request *m = c->message;
    const char *path = e2b_fs_path(c, m->path);
    auto_buf struct buf b = BUF_INIT(SERVE_ANSWER_MAX);
    struct jw w = jw_to(&b);
    struct tree_list list;
    struct user_names names;
    struct err e = ERR_INIT;

    if (!path)
        return;
    if (tree_list(c->arena, path, m->depth, &list, &e) < 0) {
        fail_fs_call(c, &e);
        return;
    }
    user_names_init(&names);
    jw_object(&w);
    if (list.n) {
        jw_key(&w, "entries");
        jw_array(&w);
        for (size_t i = 0; i < list.n; i++)
            entry_put(&w, &list.items[i], &names, c->is_legacy);
        jw_end(&w);
    }
    jw_end(&w);
    user_names_done(&names);
    connect_reply(c, &b);
}

/* ---- removing ---- */

static void fail_remove(struct connect_call *c, const char *text)
{
    connect_fail(c, CONNECT_INTERNAL, "error removing file or directory: %s", text);
}

static void on_entry_removed(void *ctx, const char *error)
{
    struct connect_call *c = ctx;

    c->on_over = NULL;
    if (error)
        fail_remove(c, error);
    else
        connect_reply_empty(c);
}

/* The removal goes on, but nobody waits for it. */
static void on_removal_over(struct connect_call *c)
{
    removal_drop(c->ctx);
}

static void handle_entry_remove(struct connect_call *c)
{
    const struct path_request *m = c->message;
    const char *path = e2b_fs_path(c, m->path);
    struct err e = ERR_INIT;
    struct stat st;

    if (!path)
        return;
    int r = lstat(path, &st) < 0 ? -errno : 0;
    if (r == 0)
        r = unlinkat(AT_FDCWD, path, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
    if (r == 0 || r == -ENOENT) {
        connect_reply_empty(c);
        return;
    }
    if (r != -ENOTEMPTY && r != -EEXIST) {
        (void)err_set(&e, r, "unlinkat %s: %s", path, path_errno(r));
        fail_remove(c, err_text(&e));
        return;
    }
    c->ctx = removal_start(&c->serve->procs, path, on_entry_removed, c, &e);
    if (c->ctx)
        c->on_over = on_removal_over;
    else
        fail_remove(c, err_text(&e));
}

#define SERVICE "/filesystem.Filesystem/"

const struct connect_method e2b_filesystem_methods[] = {
    {SERVICE "Stat", CONNECT_UNARY, &path_message, handle_stat, NULL},
    {SERVICE "MakeDir", CONNECT_UNARY, &path_message, handle_make_dir, NULL},
    {SERVICE "Move", CONNECT_UNARY, &move_message, handle_move, NULL},
    {SERVICE "ListDir", CONNECT_UNARY, &list_message, handle_list_dir, NULL},
    {SERVICE "Remove", CONNECT_UNARY, &path_message, handle_entry_remove, NULL},
    {0},
};
