/* SPDX-License-Identifier: MIT */
/* Volumes: see volume.h. */
#include "runtime/volume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/loop.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/disk.h"
#include "runtime/kern.h"
#include "sys/io.h"

enum { ROOT_MODE = 0777 };

static int image_path(const struct volume_place *p, char ret[PATH_MAX], struct err *e)
{
    if (snprintf(ret, PATH_MAX, "%s.img", p->path) >= PATH_MAX)
        return err_sys(e, -ENAMETOOLONG, "volume '%s'", p->path);
    return 0;
}

/* ---- making ---- */

static int make_volume_dir(const char *path, struct err *e)
{
    /* Whatever the umask is. */
    if (mkdir(path, ROOT_MODE) < 0 || chmod(path, ROOT_MODE) < 0)
        return err_sys(e, -errno, "create '%s'", path);
    return 0;
}

static int write_image(const char *path, uint64_t bytes, struct err *e)
{
    /* With a journal: unlike the disk of a cell, it has to survive the host. */
    const char *argv[] = {"mkfs.ext4",
                          "-q",
                          "-F",
                          "-b",
                          "4096",
                          "-m",
                          "0",
                          "-O",
                          "^resize_inode",
                          "-E",
                          "lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0",
                          path,
                          NULL};
    auto_close int fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (fd < 0)
        return err_sys(e, fd, "create '%s'", path);
    if (ftruncate(fd, (off_t)bytes) < 0)
        return err_sys(e, -errno, "'%s'", path);
    int r = disk_run_mkfs(argv);
    return r < 0 ? err_sys(e, r, "mkfs.ext4 '%s'", path) : 0;
}

/* What mkfs cannot do: the root is everybody's, and empty. */
static int open_up(const struct volume_place *p, struct err *e)
{
    auto_close int tree = volume_open(p, e);

    if (tree < 0)
        return tree;
    auto_close int root = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || fchmod(root, ROOT_MODE) < 0)
        return err_sys(e, -errno, "volume '%s'", p->path);
    (void)unlinkat(root, "lost+found", AT_REMOVEDIR);
    return 0;
}

int volume_make(const struct volume_place *p, uint64_t bytes, struct err *e)
{
    char image[PATH_MAX];
    int r = image_path(p, image, e);

    if (r < 0)
        return r;
    if (bytes == 0)
        return make_volume_dir(p->path, e);
    r = write_image(image, bytes, e);
    if (r == 0)
        r = open_up(p, e);
    if (r == 0 && (r = io_sync_parent(image)) < 0)
        (void)err_sys(e, r, "'%s'", image);
    if (r < 0)
        (void)unlink(image);
    return r;
}

int volume_remove(const struct volume_place *p, struct err *e)
{
    char image[PATH_MAX];
    int r = image_path(p, image, e);

    if (r < 0)
        return r;
    if (unlink(image) < 0 && errno != ENOENT)
        return err_sys(e, -errno, "remove '%s'", image);
    r = io_remove_tree(p->path);
    return r < 0 ? err_sys(e, r, "remove '%s'", p->path) : 0;
}

/* ---- opening ---- */

/* The device at which the volume is already, because a cell or another request uses it; its number
 * in *RET_NR. While the descriptor is open the device stays. -ENOENT: there is none. */
static int find_loop(const struct disk_dirs *d, int *ret_nr)
{
    DIR *dir = opendir("/sys/block");
    int found = -ENOENT;

    for (const struct dirent *entry; dir && found < 0 && (entry = readdir(dir));) {
        struct loop_info64 info;
        uint64_t nr;
        if (strncmp(entry->d_name, "loop", 4) != 0 ||
            str_to_u64(str_of(entry->d_name + 4), &nr) < 0)
            continue;
        auto_close int fd = disk_open_loop(d, (int)nr);
        if (fd < 0 || ioctl(fd, LOOP_GET_STATUS64, &info) < 0 ||
            strncmp((const char *)info.lo_file_name, d->owner, sizeof info.lo_file_name) != 0)
            continue;
        *ret_nr = (int)nr;
        found = take_fd(fd);
    }
    if (dir)
        (void)closedir(dir);
    return found;
}

static int open_image(const struct volume_place *p, int file, struct err *e)
{
    static const char *const flags[] = {"noinit_itable", NULL};
    char owner[LO_NAME_SIZE];
    auto_close int dev = io_open("/dev", O_RDONLY | O_DIRECTORY, 0);
    struct disk_dirs dirs = {.cells = -1, .images = -1, .dev = dev, .owner = owner};
    int nr = 0;

    if (dev < 0)
        return err_sys(e, dev, "/dev");
    if (snprintf(owner, sizeof owner, "%s-%s", p->owner, p->id) >= (int)sizeof owner)
        return err_sys(e, -ENAMETOOLONG, "volume '%s'", p->path);
    auto_close int loop = find_loop(&dirs, &nr);
    bool is_new = loop == -ENOENT;
    if (is_new)
        loop = disk_attach_loop(&dirs, file, &nr);
    if (loop < 0)
        return err_sys(e, loop, "loop device of volume '%s'", p->path);
    int tree = disk_mount_loop(&dirs, nr, flags);
    if (tree >= 0 && is_new)
        disk_load_maps(nr);
    return tree < 0 ? err_sys(e, tree, "mount volume '%s'", p->path) : tree;
}

int volume_open(const struct volume_place *p, struct err *e)
{
    char image[PATH_MAX];
    int r = image_path(p, image, e);

    if (r < 0)
        return r;
    auto_close int file = io_open(image, O_RDWR, 0);
    if (file >= 0)
        return open_image(p, file, e);
    int tree = kern_open_tree(AT_FDCWD, p->path, KERN_TREE_CLONE);
    return tree < 0 ? err_sys(e, tree, "volume '%s'", p->path) : tree;
}

/* ---- attaching ---- */

struct attachment {
    int tree;
    const struct volume_target *target;
    int result;
};

/* A thread of its own, which ends in the cell's mount namespace and with it. */
static void *attach_inside(void *arg)
{
    struct attachment *a = arg;

    if (unshare(CLONE_FS) < 0 || setns(a->target->mount_ns, CLONE_NEWNS) < 0)
        a->result = -errno;
    else
        a->result = kern_attach(a->tree, AT_FDCWD, a->target->path);
    return NULL;
}

int volume_attach(int tree, const struct volume_target *t, struct err *e)
{
    struct kern_mount_attr attr = {.set = KERN_ATTR_IDMAP | KERN_ATTR_NODEV | KERN_ATTR_NOSUID,
                                   .userns_fd = (uint64_t)t->user_ns};
    struct attachment a = {.tree = tree, .target = t};
    pthread_t thread;
    int r = kern_mount_setattr(tree, "", KERN_EMPTY_PATH, &attr);

    if (r < 0)
        return err_sys(e, r, "map the users of a volume");
    r = pthread_create(&thread, NULL, attach_inside, &a);
    if (r != 0)
        return err_sys(e, -r, "thread");
    (void)pthread_join(thread, NULL);
    return a.result < 0 ? err_sys(e, a.result, "mount a volume at '%s'", t->path) : 0;
}
