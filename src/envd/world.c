/* SPDX-License-Identifier: MIT */
/* The spawner's mount namespace: a small tmpfs with
 *
 *     /proc      must be fully visible here, or no cell may mount its own
 *     /cells     the state directory's part for cells
 *     /tpl/N.M   lower layers of templates
 *     /sock      control sockets of cells, in memory: a file system on disk is slow at this
 *     /t         a second tmpfs, read-only for good: /t/mask (an unreadable file, laid over what
 *                cells must not see)
 *     /own       what each slot has of its own (own.c); read-only again at /give
 *     /new, /up  empty: where a cell mounts things before it pivots
 *     /l         the same for its lower layers, which have names of one letter each, because a
 * mount option has room for 255 bytes
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/layout.h"
#include "envd/own.h"
#include "envd/spawner.h"
#include "runtime/kern.h"
#include "runtime/step.h"

struct entering {
    int cells_tree;
    const char *mount_point;
};

static int leave_host(void *ctx, struct err *e)
{
    (void)ctx;
    if (unshare(CLONE_NEWNS) < 0)
        return err_sys(e, -errno, "unshare");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_sys(e, -errno, "make mounts private");
    return 0;
}

/* Mounts a tmpfs at PATH and goes there. */
static int enter_tmpfs(void *ctx, struct err *e)
{
    struct entering *w = ctx;

    if (mount("tidepool", w->mount_point, "tmpfs", MS_NOSUID, "mode=755,size=4m") < 0)
        return err_sys(e, -errno, "mount on '%s'", w->mount_point);
    return chdir(w->mount_point) < 0 ? err_sys(e, -errno, "enter '%s'", w->mount_point) : 0;
}

static int make_world_dirs(void *ctx, struct err *e)
{
    static const char *const dirs[] = {"proc", "cells", "tpl", "sock", "t",
                                       "own",  "give",  "new", "up",   "l"};
    char path[8];

    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdir(dirs[i], 0755) < 0)
            return err_sys(e, -errno, "create '%s'", dirs[i]);
    for (uint32_t i = 0; i < PROTO_LAYERS_MAX; i++) {
        (void)snprintf(path, sizeof path, "l/%c", layout_layer_name(i));
        if (mkdir(path, 0755) < 0)
            return err_sys(e, -errno, "create '%s'", path);
    }
    return 0;
}

static int attach_cells(void *ctx, struct err *e)
{
    const struct entering *w = ctx;
    struct kern_mount_attr attr = {.propagation = KERN_PROPAGATION_PRIVATE};
    int r = kern_mount_setattr(w->cells_tree, "", KERN_EMPTY_PATH, &attr);

    if (r == 0)
        r = kern_attach(w->cells_tree, AT_FDCWD, "cells");
    return r < 0 ? err_sys(e, r, "attach the cells directory") : 0;
}

static int mount_world_proc(void *ctx, struct err *e)
{
    (void)ctx;
    if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return err_sys(e, -errno, "mount proc");
    return 0;
}

static int pivot_into_world(void *ctx, struct err *e)
{
    (void)ctx;
    int r = kern_pivot_root(".", ".");
    if (r == 0)
        r = kern_umount(".", KERN_UMOUNT_DETACH);
    if (r == 0 && chdir("/") < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "pivot_root") : 0;
}

/* ---- the read-only part that all cells share ---- */

static int fill_mask(struct err *e)
{
    if (mkdir("t/mask", 0755) < 0)
        return err_sys(e, -errno, "create masks");
    int fd = open("t/mask/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, -errno, "create masks");
    (void)close(fd);
    return 0;
}

/* The superblock itself becomes read-only, which nobody in a cell can ever turn back. */
static int make_shared(void *ctx, struct err *e)
{
    mode_t mask = umask(0);

    (void)ctx;
    if (mount("tidepool", "t", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m") < 0)
        return err_sys(e, -errno, "mount shared parts");
    int r = fill_mask(e);
    (void)umask(mask);
    if (r < 0)
        return r;
    if (mount(NULL, "t", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL) < 0)
        return err_sys(e, -errno, "make shared parts read-only");
    return 0;
}

int world_enter(int cells_tree, const char *mount_point, struct err *e)
{
    static const struct step steps[] = {
        {"leave the host's mounts", leave_host, NULL},
        {"mount a small root", enter_tmpfs, NULL},
        {"create directories", make_world_dirs, NULL},
        {"attach the cells", attach_cells, NULL},
        {"mount /proc", mount_world_proc, NULL},
        {"create shared parts", make_shared, NULL},
        {"create parts of slots", own_open, NULL},
        {"enter the small root", pivot_into_world, NULL},
    };
    struct entering w = {.cells_tree = cells_tree, .mount_point = mount_point};

    return step_run(steps, ARRAY_LEN(steps), &w, e);
}

/* ---- templates ---- */

struct spawner_template *world_find_template(struct spawner *s, const char *name)
{
    for (unsigned i = 0; i < s->n_templates; i++)
        if (str_is(str_of(s->templates[i].spec.name), name)) {
            s->templates[i].used = ++s->n_template_uses;
            return &s->templates[i];
        }
    return NULL;
}

/* The one that was not asked for the longest: the engine says what a template is before it asks for
 * cells of one that it has not used lately. The first is the default one, which stays. */
static struct spawner_template *find_oldest(struct spawner *s)
{
    struct spawner_template *oldest = &s->templates[1];

    for (unsigned i = 2; i < s->n_templates; i++)
        if (s->templates[i].used < oldest->used)
            oldest = &s->templates[i];
    return oldest;
}

static bool is_same_template(const struct spawner_template *a, const struct spawner_template *b)
{
    if (a->spec.n_layers != b->spec.n_layers || a->spec.has_usr != b->spec.has_usr ||
        a->spec.no_new_privs != b->spec.no_new_privs)
        return false;
    for (uint32_t i = 0; i < a->spec.n_layers; i++)
        if (a->devs[i] != b->devs[i] || a->inos[i] != b->inos[i])
            return false;
    return true;
}

static int attach_layer(const struct spawner_template *t, uint32_t layer, int fd, struct err *e)
{
    struct kern_mount_attr attr = {.set = KERN_ATTR_RDONLY | KERN_ATTR_NODEV,
                                   .propagation = KERN_PROPAGATION_PRIVATE};
    char path[32];

    (void)snprintf(path, sizeof path, "/tpl/%u.%u", t->index, (unsigned)layer);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return err_sys(e, -errno, "create '%s'", path);
    int r = kern_mount_setattr(fd, "", KERN_EMPTY_PATH, &attr);
    if (r == 0)
        r = kern_attach(fd, AT_FDCWD, path);
    return r < 0 ? err_sys(e, r, "attach layer %u of template '%s'", (unsigned)layer, t->spec.name)
                 : 0;
}

/* Cells have copies of these mounts: the living ones keep the layers that they were built on. */
static void detach_layers(const struct spawner_template *t)
{
    for (uint32_t i = 0; i < t->spec.n_layers; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "/tpl/%u.%u", t->index, (unsigned)i);
        (void)kern_umount(path, KERN_UMOUNT_DETACH);
    }
}

static int attach_world_layers(const struct spawner_template *t, const struct packet *p,
                               struct err *e)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < t->spec.n_layers; i++)
        r = attach_layer(t, i, p->fds[i], e);
    if (r < 0)
        detach_layers(t);
    return r;
}

int world_add_template(struct spawner *s, const struct proto_template *spec, struct packet *p,
                       struct err *e)
{
    struct spawner_template t = {.spec = *spec, .index = s->n_templates};
    struct spawner_template *old = world_find_template(s, spec->name);

    if (p->n_fds != spec->n_layers)
        return err_set(e, -EINVAL, "template '%s' came without its layers", spec->name);
    for (uint32_t i = 0; i < spec->n_layers; i++) {
        struct stat st;
        if (fstat(p->fds[i], &st) < 0)
            return err_sys(e, -errno, "template '%s'", spec->name);
        t.devs[i] = st.st_dev;
        t.inos[i] = st.st_ino;
    }
    if (old && is_same_template(old, &t))
        return 0;
    if (!old && s->n_templates == SPAWNER_TEMPLATES)
        old = find_oldest(s);
    t.used = ++s->n_template_uses;
    bool is_replaced = old && strcmp(old->spec.name, spec->name) == 0;
    if (old) {
        t.index = old->index;
        detach_layers(old);
    }
    int r = attach_world_layers(&t, p, e);
    if (r < 0 && old)
        old->spec = (struct proto_template){0}; /* nobody finds it any more */
    if (r < 0)
        return r;
    if (old)
        *old = t;
    else
        s->templates[s->n_templates++] = t;
    return is_replaced;
}
