/* SPDX-License-Identifier: MIT */
/* Workspaces in backups: see backup_workspaces.h. */
#include "cli/backup_workspaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "core/backup.h"
#include "sys/io.h"

enum { ARENA_MAX = 64 << 20, PIECE_MAX = 8 << 20 };

DEFINE_CLEANUP(struct backup *, backup_free)

/* Where people and agents keep what they work on; of those that a sandbox does not have nothing is
 * kept. */
static const struct workspaces_place {
    const char *path, *file;
} places[] = {{"/home/user", "home"}, {"/data", "data"}, {"/code", "code"}, {"/root", "root"}};

/* ---- one directory ---- */

struct workspaces_fetch {
    int fd;
    struct err *e;
};

static int on_workspace_data(void *ctx, const char *p, size_t n)
{
    struct workspaces_fetch *f = ctx;
    int r = io_write_all(f->fd, p, n);

    return r < 0 ? err_sys(f->e, r, "write") : 0;
}

/* The directory PLACE of sandbox NAME into the file TO; -ENOENT when there is none. */
static int fetch(const struct backup_workspaces *w, struct str name, const char *place,
                 const char *to, struct err *e)
{
    struct buf target auto_buf = BUF_INIT(4096);
    auto_close int fd = io_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct workspaces_fetch f = {fd, e};

    if (fd < 0)
        return err_sys(e, fd, "create '%s'", to);
    (void)buf_add_lit(&target, "/api/v1/sandbox/files/");
    (void)enc_percent(&target, name);
    (void)buf_add_lit(&target, "/download?path=");
    (void)enc_percent(&target, str_of(place));
    const struct client_transfer t = {
        .method = "GET", .target = buf_cstr(&target), .write = on_workspace_data, .ctx = &f};
    return t.target ? client_transfer(w->client, &t, e) : err_sys(e, -ENAMETOOLONG, "%s", place);
}

/* ---- sandboxes ---- */

struct workspaces_work {
    struct backup_workspaces *w;
    struct backup *group;
    const char *dir; /* of what was fetched */
    unsigned n;
};

static int keep_place(struct workspaces_work *k, struct str name,
                      const struct workspaces_place *place, struct err *e)
{
    char path[PATH_MAX], entry[BACKUP_NAME_MAX];

    if (snprintf(path, sizeof path, "%s/%u", k->dir, k->n) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "'%s'", k->dir);
    int r = fetch(k->w, name, place->path, path, e);
    if (r < 0) {
        (void)unlink(path);
        return r;
    }
    k->n++;
    (void)snprintf(entry, sizeof entry, BACKUP_WORKSPACES "/" STR_FMT "/%s.tar.gz", STR_ARG(name),
                   place->file);
    r = backup_add(k->group, entry, path, true);
    return r < 0 ? err_sys(e, r, "backup") : 0;
}

static void leave_out(struct workspaces_work *k, struct str name, const char *why)
{
    (void)buf_printf(k->w->left_out, "sandbox " STR_FMT ": %s\n", STR_ARG(name), why);
}

/* A sandbox that ends meanwhile is no failure of the backup. */
static int keep_sandbox(struct workspaces_work *k, const struct json *sandbox, struct err *e)
{
    struct str name = json_str(json_get(sandbox, "name"), STR_NULL);
    unsigned before = k->n;

    if (!str_is(json_str(json_get(sandbox, "status"), STR_NULL), "running")) {
        leave_out(k, name, "paused");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct err why = ERR_INIT;
        int r = keep_place(k, name, &places[i], &why);
        if (r < 0 && r != -ENOENT && r != -EPROTO) {
            if (e)
                *e = why;
            return r;
        }
        if (r == -EPROTO)
            leave_out(k, name, err_text(&why));
    }
    k->w->n_sandboxes += k->n > before;
    return 0;
}

/* ---- the file ---- */

/* Writes GROUP over the end of the archive. */
static int append_workspace(const char *file, struct backup *group, struct err *e)
{
    struct buf piece auto_buf = BUF_INIT(PIECE_MAX);
    auto_close int fd = io_open(file, O_WRONLY, 0);
    int r = fd < 0 ? fd : 0;

    if (r == 0 && lseek(fd, -BACKUP_END_LEN, SEEK_END) < 0)
        r = -errno;
    if (r < 0)
        return err_sys(e, r, "'%s'", file);
    do {
        buf_clear(&piece);
        r = backup_next(group, &piece, e);
        int written = r < 0 ? 0 : io_write_all(fd, piece.p, piece.len);
        if (written < 0)
            return err_sys(e, written, "write '%s'", file);
    } while (r > 0);
    return r;
}

static int keep_all(struct workspaces_work *k, struct err *e)
{
    struct arena arena auto_arena;
    struct json *doc = NULL;
    const struct client_request rq = {"GET", "/api/v1/sandbox", STR_NULL};
    struct backup *group auto_(backup_free) = backup_new(BACKUP_WORKSPACES "/" BACKUP_SUMS);

    arena_init(&arena, ARENA_MAX);
    k->group = group;
    if (!group)
        return err_sys(e, -ENOMEM, "backup");
    int r = client_send(k->w->client, &arena, &rq, &doc, e);
    const struct json *all = json_get(doc, "data");
    for (size_t i = 0; r == 0 && json_at(all, i); i++)
        r = keep_sandbox(k, json_at(all, i), e);
    return r < 0 || k->n == 0 ? r : append_workspace(k->w->file, group, e);
}

int backup_workspaces(struct backup_workspaces *w, struct err *e)
{
    char dir[PATH_MAX];
    struct workspaces_work k = {.w = w, .dir = dir};

    if (snprintf(dir, sizeof dir, "%s.d", w->file) >= (int)sizeof dir)
        return err_sys(e, -ENAMETOOLONG, "'%s'", w->file);
    if (mkdir(dir, 0700) < 0)
        return err_sys(e, -errno, "make '%s'", dir);
    int r = keep_all(&k, e);
    (void)io_remove_tree(dir);
    return r;
}
