/* SPDX-License-Identifier: MIT */
/* The volumes of sandboxes: see sandbox_volume.h. The first process of the cell makes the mount
 * points, because they are files of the cell; a worker of the daemon attaches the volumes there. */
#include "core/sandbox_volume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox_internal.h"
#include "core/volume.h"
#include "loop/work.h"
#include "net/http_client.h"
#include "runtime/engine.h"
#include "runtime/volume.h"
#include "sys/io.h"

/* ---- what was asked for ---- */

static struct str name_at_mount(const struct json *list, size_t i)
{
    return json_str(json_get(&list->items[i], "name"), STR_NULL);
}

static struct str path_at(const struct json *list, size_t i)
{
    return json_str(json_get(&list->items[i], "path"), STR_NULL);
}

/* Absolute, without anything that says the same in another way. */
static bool is_clean(struct str path)
{
    if (path.len < 2 || path.len > SANDBOX_VOLUME_PATH_MAX || path.p[0] != '/' ||
        memchr(path.p, 0, path.len))
        return false;
    for (struct str rest = str_skip(path, 1); rest.p;) {
        struct str part = str_cut(&rest, '/');
        if (part.len == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    }
    return true;
}

/* True when PATH is DIR or lies below it. */
static bool is_mount_below(struct str path, struct str dir)
{
    return str_starts(path, dir) && (path.len == dir.len || path.p[dir.len] == '/');
}

/* What the kernel shows there belongs to the cell itself. */
static bool is_mount_reserved(struct str path)
{
    static const char *const dirs[] = {"/proc", "/sys", "/dev"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (is_mount_below(path, str_of(dirs[i])))
            return true;
    return false;
}

static int check_mount_path(const struct json *list, size_t i, struct err *e)
{
    struct str path = path_at(list, i), shown = str_slice(path, 0, 200);

    if (!is_clean(path))
        return err_set(e, -EINVAL,
                       "volumeMounts: invalid path \"" STR_FMT
                       "\": must be absolute and clean, such as /mnt/data",
                       STR_ARG(shown));
    if (is_mount_reserved(path))
        return err_set(e, -EINVAL,
                       "volumeMounts: invalid path \"" STR_FMT
                       "\": nothing can be mounted in /proc, /sys and /dev",
                       STR_ARG(shown));
    for (size_t k = 0; k < i; k++)
        if (is_mount_below(path, path_at(list, k)) || is_mount_below(path_at(list, k), path))
            return err_set(e, -EINVAL,
                           "volumeMounts: \"" STR_FMT "\" and another path lie inside each other",
                           STR_ARG(shown));
    return 0;
}

static bool is_mount(const struct json *v)
{
    return json_is(v, JSON_OBJECT) && json_is(json_get(v, "name"), JSON_STRING) &&
           json_is(json_get(v, "path"), JSON_STRING);
}

int sandbox_fill_volumes(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    const struct json *list = a->volumes;

    if (!list || json_is(list, JSON_NULL) || (json_is(list, JSON_ARRAY) && list->n == 0))
        return 0;
    if (!json_is(list, JSON_ARRAY))
        return err_set(e, -EINVAL, "volumeMounts must be an array");
    if (list->n > SANDBOX_VOLUMES_MAX)
        return err_set(e, -EINVAL, "volumeMounts has more than %d entries", SANDBOX_VOLUMES_MAX);
    for (size_t i = 0; i < list->n; i++) {
        if (!is_mount(&list->items[i]))
            return err_set(e, -EINVAL, "volumeMounts: each entry must have a name and a path");
        int r = check_mount_path(list, i, e);
        if (r < 0)
            return r;
    }
    sb->spec.volumes = json_copy(&sb->arena, list);
    return sb->spec.volumes ? 0 : -ENOMEM;
}

bool sandbox_has_volumes(const struct sandbox *sb)
{
    return sb->spec.volumes && sb->spec.volumes->n > 0;
}

static struct volume *volume_at(const struct sandbox *sb, size_t i, const char *account)
{
    return volume_by_name(sb->set->core->volumes, str_of(account),
                          name_at_mount(sb->spec.volumes, i));
}

int sandbox_check_volumes(const struct sandbox *sb, const struct account *account, struct err *e)
{
    for (size_t i = 0; sandbox_has_volumes(sb) && i < sb->spec.volumes->n; i++)
        if (!volume_at(sb, i, account->id))
            return err_set(e, -EINVAL, "Volume '" STR_FMT "' not found",
                           STR_ARG(str_slice(name_at_mount(sb->spec.volumes, i), 0, 100)));
    return 0;
}

const struct sandbox *sandbox_of_volume(const struct sandboxes *set, const struct volume *v)
{
    struct str id;
    void *value;

    for (size_t at = 0; map_next(&set->by_id, &at, &id, &value);) {
        const struct sandbox *sb = value;
        for (size_t i = 0; sandbox_has_volumes(sb) && i < sb->spec.volumes->n; i++)
            if (strcmp(sb->account, v->account) == 0 &&
                str_is(name_at_mount(sb->spec.volumes, i), v->name))
                return sb;
    }
    return NULL;
}

/* ---- mounting ---- */

struct mount {
    struct volume_way way;
    char path[SANDBOX_VOLUME_PATH_MAX + 1];
};

struct sandbox_mounting {
    struct work work;
    struct core *core;
    struct http_call *call; /* to the cell, or NULL */
    struct buf body;
    int user_ns, mount_ns;
    char account[ACCOUNT_ID_MAX + 1];
    struct mount *mounts;
    size_t n;
    bool is_submitted;
    struct err e;
    sandbox_mounted_fn *fn; /* NULL: nobody waits */
    void *ctx;
};

static void mounting_free(struct sandbox_mounting *m)
{
    if (m->user_ns >= 0)
        (void)close(m->user_ns);
    if (m->mount_ns >= 0)
        (void)close(m->mount_ns);
    buf_done(&m->body);
    free(m->mounts);
    free(m);
}

static void finish_mounting(struct sandbox_mounting *m)
{
    if (m->fn)
        m->fn(m->ctx, m->e.code ? &m->e : NULL);
    mounting_free(m);
}

static int mount_one(const struct sandbox_mounting *m, const struct mount *mount, struct err *e)
{
    const struct volume_target target = {
        .user_ns = m->user_ns, .mount_ns = m->mount_ns, .path = mount->path};
    auto_close int tree = volume_way_open(&mount->way, e);

    return tree < 0 ? tree : volume_attach(tree, &target, e);
}

static void run_mounts(struct work *w)
{
    struct sandbox_mounting *m = container_of(w, struct sandbox_mounting, work);

    for (size_t i = 0; i < m->n && m->e.code == 0; i++)
        (void)mount_one(m, &m->mounts[i], &m->e);
}

static void on_mounts_done(struct work *w)
{
    struct sandbox_mounting *m = container_of(w, struct sandbox_mounting, work);

    if (w->is_dropped)
        (void)err_set(&m->e, -ESHUTDOWN, "the service is stopping");
    finish_mounting(m);
}

static void on_points_made(void *ctx, const struct http_response *r)
{
    struct sandbox_mounting *m = ctx;
    struct core *core = m->core;

    m->call = NULL;
    int code = sandbox_read_answer(r, &m->e);
    if (code == 0) {
        m->work =
            (struct work){.owner = str_of(m->account), .run = run_mounts, .done = on_mounts_done};
        code = work_submit(volumes_pool(core->volumes), core->loop, &m->work);
        m->is_submitted = code == 0;
        if (code < 0)
            (void)err_sys(&m->e, code, "volumes");
    }
    if (code < 0)
        finish_mounting(m);
}

/* A descriptor is the namespace's for good; the process may have ended before it was opened, which
 * is_alive finds out afterwards. */
static int open_namespaces(struct sandbox_mounting *m, const struct sandbox *sb, struct err *e)
{
    char path[48];
    unsigned pid = engine_cell_info(sb->cell)->pid;

    (void)snprintf(path, sizeof path, "/proc/%u/ns/user", pid);
    m->user_ns = io_open(path, O_RDONLY, 0);
    (void)snprintf(path, sizeof path, "/proc/%u/ns/mnt", pid);
    m->mount_ns = io_open(path, O_RDONLY, 0);
    if (m->user_ns < 0 || m->mount_ns < 0 || !engine_cell_is_alive(sb->cell))
        return err_set(e, -ECONNRESET, "the cell died at its start");
    return 0;
}

static int prepare_mounts(struct sandbox_mounting *m, const struct sandbox *sb, struct err *e)
{
    struct jw w = jw_to(&m->body);

    jw_object(&w);
    jw_key(&w, "paths");
    jw_array(&w);
    for (; m->n < sb->spec.volumes->n; m->n++) {
        const struct volume *v = volume_at(sb, m->n, sb->account);
        struct str path = path_at(sb->spec.volumes, m->n);
        if (!v)
            return err_set(e, -EINVAL, "a volume was deleted");
        int r = volume_way(v, &m->mounts[m->n].way, e);
        if (r < 0)
            return r;
        (void)snprintf(m->mounts[m->n].path, sizeof m->mounts[m->n].path, STR_FMT, STR_ARG(path));
        jw_str(&w, path);
    }
    jw_end(&w);
    jw_end(&w);
    return 0;
}

struct sandbox_mounting *sandbox_mount_volumes(const struct sandbox *sb, sandbox_mounted_fn *fn,
                                               void *ctx, struct err *e)
{
    struct sandbox_mounting *m = mem_zalloc(1, sizeof *m);

    if (!m) {
        (void)err_sys(e, -ENOMEM, "volumes");
        return NULL;
    }
    *m = (struct sandbox_mounting){
        .core = sb->set->core, .user_ns = -1, .mount_ns = -1, .fn = fn, .ctx = ctx};
    (void)snprintf(m->account, sizeof m->account, "%s", sb->account);
    buf_init(&m->body, (size_t)4 * SANDBOX_VOLUMES_MAX * SANDBOX_VOLUME_PATH_MAX);
    m->mounts = mem_zalloc(sb->spec.volumes->n, sizeof *m->mounts);
    int r = m->mounts ? open_namespaces(m, sb, e) : err_sys(e, -ENOMEM, "volumes");
    if (r == 0)
        r = prepare_mounts(m, sb, e);
    if (r == 0) {
        m->call = sandbox_post(sb, STR("/mountpoints"), &m->body, on_points_made, m);
        r = m->call ? 0 : err_set(e, -ECONNRESET, "the cell could not be reached");
    }
    if (r == 0)
        return m;
    mounting_free(m);
    return NULL;
}

void sandbox_mounting_drop(struct sandbox_mounting *m)
{
    if (!m)
        return;
    m->fn = NULL;
    if (m->call)
        http_call_abort(take(m->call));
    if (!m->is_submitted)
        mounting_free(m);
}
