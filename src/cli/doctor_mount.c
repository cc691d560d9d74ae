/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: mounts, tried in mount namespaces of their own. See doctor.h. */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/disk.h"
#include "sys/io.h"

/* ---- overlay ---- */

/* Lower, upper and work directories on a tmpfs that only this child sees. */
static int make_layers(void)
{
    static const char *const dirs[] = {"/tmp/lower", "/tmp/upper", "/tmp/work", "/tmp/merged"};

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") < 0)
        return -errno;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdir(dirs[i], 0700) < 0)
            return -errno;
    if (mkdir("/tmp/lower/dir", 0700) < 0)
        return -errno;
    return 0;
}

/* Mounts an overlay as cells do, and removes a lower directory through it, which needs whiteouts
 * and (on tmpfs) user extended attributes. */
static int try_overlay(const void *arg)
{
    int r = doctor_unshare(CLONE_NEWNS);

    (void)arg;
    if (r == 0)
        r = make_layers();
    if (r < 0)
        return r;
    if (mount("overlay", "/tmp/merged", "overlay", 0,
              "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work,userxattr") < 0)
        return -errno;
    if (rmdir("/tmp/merged/dir") < 0 || mkdir("/tmp/merged/dir", 0700) < 0)
        return -errno;
    return 0;
}

void doctor_overlay(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    int code = doctor_in_child(try_overlay, NULL);

    (void)check;
    if (code == -EIO || code == -EOPNOTSUPP)
        doctor_say(r, c->cells.disk_kind == CONFIG_DISK_TMPFS ? DOCTOR_MISSING : DOCTOR_OK,
                   "can be mounted in a user namespace, but not with the upper layer in memory");
    else if (code == -ENODEV)
        doctor_say(r, DOCTOR_MISSING, "not supported by the kernel");
    else
        doctor_judge(r, code, "mounts in a user namespace");
}

/* ---- disks of sandboxes ---- */

void doctor_images(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    const struct disk_spec image = {DISK_IMAGE, (uint64_t)c->cells.disk};
    struct err e = ERR_INIT;

    (void)check;
    if (c->cells.disk_kind == CONFIG_DISK_DIR || c->cells.disk_kind == CONFIG_DISK_TMPFS)
        doctor_say(r, DOCTOR_OK, "not used (cells.disk_kind)");
    else if (geteuid() != 0)
        doctor_say(r, DOCTOR_WARN, "not tested: requires root");
    else if (disk_can(&image, c->state, &e))
        doctor_say(r, DOCTOR_OK, "loop devices and mkfs.ext4 available available");
    else
        doctor_say(r, DOCTOR_MISSING, "%.250s", err_text(&e));
}

/* ---- idmapped mounts ---- */

/* A user namespace with a map: held by a child until its pipe closes. Descriptor or -errno. */
static int open_mapped_user_ns(pid_t *ret_pid)
{
    char path[64];
    int ready[2];
    char byte;

    if (pipe2(ready, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        if (unshare(CLONE_NEWUSER) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        (void)pause();
        _exit(0);
    }
    *ret_pid = pid;
    (void)close(ready[1]);
    ssize_t n = io_read(ready[0], &byte, 1);
    (void)close(ready[0]);
    if (n != 1)
        return -EPERM;
    (void)snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
    int r = doctor_write_file(path, "0 100000 65536\n");
    (void)snprintf(path, sizeof path, "/proc/%d/gid_map", (int)pid);
    if (r == 0)
        r = doctor_write_file(path, "0 100000 65536\n");
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return r < 0 ? r : io_open(path, O_RDONLY, 0);
}

/* Clones the mount of /usr, detached, and shifts its owners. */
static int idmap_usr(int userns)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (__u64)userns};
    auto_close int tree =
        (int)syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    if (tree < 0)
        return -errno;
    return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0 ? -errno : 0;
}

static int try_idmap(const void *arg)
{
    pid_t pid = -1;

    (void)arg;
    if (unshare(CLONE_NEWNS) < 0)
        return -errno;
    auto_close int userns = open_mapped_user_ns(&pid);
    int r = userns < 0 ? userns : idmap_usr(userns);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return r;
}

void doctor_idmap(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    int code = doctor_in_child(try_idmap, NULL);

    (void)check;
    (void)c;
    if (code != -EPERM) {
        doctor_judge(r, code, "supported by the file system of /usr");
        return;
    }
    long got = syscall(SYS_mount_setattr, -1, "", 0U, NULL, (size_t)0);
    if (got < 0 && errno == ENOSYS)
        doctor_say(r, DOCTOR_MISSING, "the kernel lacks mount_setattr");
    else
        doctor_say(r, DOCTOR_WARN,
                   "mount_setattr exists; mounting requires root and was not tested");
}
