/* SPDX-License-Identifier: MIT */
/* Where a cell's own files go: see disk.h. */
#include "runtime/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/loop.h>
#include <linux/major.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/kern.h"
#include "sys/io.h"

#define COPY_NAME ".copy"
#define MKFS      "/usr/sbin/mkfs.ext4"

enum { LOOP_TRIES = 16 };

static void empty_image_name(char *ret, size_t size, uint64_t bytes)
{
    (void)snprintf(ret, size, ".images/%llu.img", (unsigned long long)bytes);
}

/* ---- sizes ---- */

uint64_t disk_round(uint64_t bytes)
{
    static const uint64_t mebi[] = {
        64,        256,       1 << 10,   2 << 10, 5 << 10, 10 << 10, 20 << 10, 50 << 10,
        100 << 10, 200 << 10, 500 << 10, 1 << 20, 2 << 20, 5 << 20,  10 << 20, 16 << 20,
    };

    for (size_t i = 0; i < ARRAY_LEN(mebi); i++)
        if (bytes <= mebi[i] << 20)
            return mebi[i] << 20;
    return 0;
}

/* ---- what the host can do ---- */

static bool kernel_is_at_least(uint64_t want_major, uint64_t want_minor)
{
    struct utsname u;
    uint64_t major, minor;

    if (uname(&u) < 0)
        return false;
    struct str release = str_of(u.release);
    struct str first = str_cut(&release, '.');
    struct str second = str_slice(release, 0, strspn(release.p ? release.p : "", "0123456789"));
    if (str_to_u64(first, &major) < 0 || str_to_u64(second, &minor) < 0)
        return false;
    return major > want_major || (major == want_major && minor >= want_minor);
}

/* Below 6.6 tmpfs has no user xattrs, so an overlay on it cannot hide a lower directory. */
static bool tmpfs_has_user_xattrs(void)
{
    return kernel_is_at_least(6, 6);
}

bool disk_can(const struct disk_spec *s, const char *state, struct err *e)
{
    (void)state;
    if (s->kind == DISK_DIR && s->bytes == 0)
        return true;
    if (s->kind == DISK_DIR) {
        (void)err_set(e, -EOPNOTSUPP,
                      "this host cannot limit disk: files of sandboxes are in plain directories "
                      "(cells.disk_kind); 'tidepool doctor' shows why");
        return false;
    }
    if (s->bytes < DISK_MIN_BYTES) {
        (void)err_set(e, -EINVAL, "a disk must have at least %d bytes", (int)DISK_MIN_BYTES);
        return false;
    }
    if (s->kind == DISK_TMPFS && !tmpfs_has_user_xattrs()) {
        (void)err_set(e, -EOPNOTSUPP, "disks in memory require Linux 6.6");
        return false;
    }
    if (s->kind == DISK_IMAGE && access("/dev/loop-control", R_OK | W_OK) < 0) {
        (void)err_set(e, -EOPNOTSUPP, "/dev/loop-control does not exist; load it: modprobe loop");
        return false;
    }
    if (s->kind == DISK_IMAGE && access(MKFS, X_OK) < 0) {
        (void)err_set(e, -EOPNOTSUPP, MKFS " was not found; install it: apt install e2fsprogs");
        return false;
    }
    return true;
}

/* ---- the empty image ---- */

int disk_run_mkfs(const char *const *argv)
{
    char *const env[] = {(char *)(uintptr_t) "PATH=/usr/sbin:/sbin:/usr/bin:/bin", NULL};
    int status;
    pid_t pid;
    int r = posix_spawn(&pid, MKFS, NULL, NULL, (char *const *)(uintptr_t)argv, env);

    if (r != 0)
        return -r;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int run_mkfs(const char *path, const char *content)
{
    /* Every cell gets a copy, so as little as can be is written: no journal, no room to grow, no
     * second superblock. */
    const char *argv[] = {"mkfs.ext4",
                          "-q",
                          "-F",
                          "-b",
                          "4096",
                          "-m",
                          "0",
                          "-O",
                          "^has_journal,^resize_inode,sparse_super2",
                          "-E",
                          "lazy_itable_init=1,num_backup_sb=0",
                          "-d",
                          content,
                          path,
                          NULL};

    return disk_run_mkfs(argv);
}

/* The directories that every upper layer has (envd/layout.h): made once, beside each other, instead
 * of in every cell. */
static int make_content(const char *dir, struct err *e)
{
    static const char *const dirs[] = {"root", "root/u", "root/w", "usr", "usr/u", "usr/w"};
    char path[PATH_MAX];
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(dirs); i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, dirs[i]) >= (int)sizeof path)
            return err_sys(e, -ENAMETOOLONG, "'%s'", dir);
        r = io_mkdirs(path, 0755, e);
        /* Whatever the umask is. */
        if (r == 0 && chmod(path, 0755) < 0)
            r = err_sys(e, -errno, "'%s'", path);
    }
    return r;
}

static int make_disk_image(const char *path, uint64_t bytes, struct err *e)
{
    char temp[PATH_MAX], content[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (snprintf(temp, sizeof temp, "%s.new", path) >= (int)sizeof temp ||
        snprintf(content, sizeof content, "%.*s/content", (int)(slash - path), path) >=
            (int)sizeof content)
        return err_sys(e, -ENAMETOOLONG, "image '%s'", path);
    int r = make_content(content, e);
    if (r < 0)
        return r;
    auto_close int fd = io_open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return err_sys(e, fd, "image '%s'", temp);
    if (ftruncate(fd, (off_t)bytes) < 0)
        return err_sys(e, -errno, "image '%s'", temp);
    r = run_mkfs(temp, content);
    if (r < 0)
        return err_sys(e, r, "mkfs.ext4 '%s'", temp);
    return rename(temp, path) < 0 ? err_sys(e, -errno, "image '%s'", path) : 0;
}

int disk_prepare(const struct disk_spec *s, const char *state, struct err *e)
{
    char name[64], path[PATH_MAX];

    if (s->kind != DISK_IMAGE)
        return 0;
    empty_image_name(name, sizeof name, s->bytes);
    if (snprintf(path, sizeof path, "%s/cells/.images", state) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "image directory");
    int r = io_mkdirs(path, 0700, e);
    if (r < 0)
        return r;
    if (snprintf(path, sizeof path, "%s/cells/%s", state, name) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "image");
    return access(path, F_OK) == 0 ? 0 : make_disk_image(path, s->bytes, e);
}

static bool is_kept_image(struct str name, const uint64_t *keep, size_t n)
{
    uint64_t bytes;
    struct str size = str_cut(&name, '.');

    if (!str_is(name, "img") || str_to_u64(size, &bytes) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (keep[i] == bytes)
            return true;
    return false;
}

void disk_sweep(const char *state, const uint64_t *keep, size_t n)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/cells/.images", state) >= (int)sizeof path)
        return;
    DIR *dir = opendir(path);
    for (const struct dirent *d; dir && (d = readdir(dir));)
        if (strstr(d->d_name, ".img") && !is_kept_image(str_of(d->d_name), keep, n))
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        (void)closedir(dir);
}

/* ---- the spawner's side ---- */

/* Copies what is not a hole. */
static int copy_sparse(int from, int to, off_t size)
{
    if (ftruncate(to, size) < 0)
        return -errno;
    for (off_t at = 0; at < size;) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO ? 0 : -errno;
        off_t end = lseek(from, data, SEEK_HOLE);
        if (end < 0)
            return -errno;
        for (off_t in = data, out = data; in < end;) {
            long n = syscall(SYS_copy_file_range, from, &in, to, &out, (size_t)(end - in), 0);
            if (n <= 0)
                return n < 0 ? -errno : -EIO;
        }
        at = end;
    }
    return 0;
}

/* In a container /dev does not follow the kernel, which makes devices as they are asked for: what
 * is missing gets its node here. */
int disk_open_loop(const struct disk_dirs *d, int nr)
{
    char name[24];

    (void)snprintf(name, sizeof name, "loop%d", nr);
    int fd = openat(d->dev, name, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT &&
        mknodat(d->dev, name, S_IFBLK | 0600, makedev(LOOP_MAJOR, (unsigned)nr)) == 0)
        fd = openat(d->dev, name, O_RDWR | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Not with direct I/O: that waits for the disk here and at the end of the cell, whose files nobody
 * needs then; what is cached counts as the cell's memory all the same. */
int disk_attach_loop(const struct disk_dirs *d, int file, int *ret_nr)
{
    struct loop_config config = {
        .fd = (uint32_t)file,
        .block_size = 4096,
        .info = {.lo_flags = LO_FLAGS_AUTOCLEAR},
    };
    auto_close int control = openat(d->dev, "loop-control", O_RDWR | O_CLOEXEC);

    if (control < 0)
        return -errno;
    (void)snprintf((char *)config.info.lo_file_name, sizeof config.info.lo_file_name, "%s",
                   d->owner);
    for (int i = 0; i < LOOP_TRIES; i++) {
        int nr = ioctl(control, LOOP_CTL_GET_FREE);
        if (nr < 0)
            return -errno;
        auto_close int fd = disk_open_loop(d, nr);
        if (fd < 0)
            return fd;
        if (ioctl(fd, LOOP_CONFIGURE, &config) == 0) {
            *ret_nr = nr;
            return take_fd(fd);
        }
        if (errno != EBUSY)
            return -errno;
    }
    return -EBUSY;
}

/* For a device that is mounted already the kernel gives the same file system, and looks at no
 * option. */
int disk_mount_loop(const struct disk_dirs *d, int loop, const char *const *flags)
{
    char device[64];
    auto_close int fs = kern_fsopen("ext4");
    int r = fs;

    (void)snprintf(device, sizeof device, "/proc/self/fd/%d/loop%d", d->dev, loop);
    if (r >= 0)
        r = kern_fsconfig(fs, "source", device);
    for (; r >= 0 && *flags; flags++)
        r = kern_fsconfig(fs, *flags, NULL);
    if (r >= 0)
        r = kern_fscommand(fs, KERN_FSCONFIG_CREATE);
    return r < 0 ? r : kern_fsmount(fs, KERN_ATTR_NODEV);
}

/* A cell does not outlive its host: nothing has to reach the disk in order. Inode tables are holes
 * already and need no zeroes from the background. Without `discard`, which would have the cell wait
 * for the host's disk whenever it removes a file: what an image has taken it keeps to its end. */
static int mount_ext4(const struct disk_dirs *d, int loop)
{
    static const char *const flags[] = {"nobarrier", "noinit_itable", NULL};

    return disk_mount_loop(d, loop, flags);
}

/* The maps then count as memory of whoever calls this. What
 * a cell has read counts as the cell's, and goes from the cache when that is at its limit; and late
 * releases of Linux 6.1 (seen: 6.1.192) crash where they look for a map that went. */
void disk_load_maps(int loop)
{
    char path[64], rest[4096];

    if (kernel_is_at_least(6, 4))
        return;
    (void)snprintf(path, sizeof path, "/proc/fs/ext4/loop%d/mb_groups", loop);
    auto_close int fd = io_open(path, O_RDONLY, 0);
    while (fd >= 0 && io_read(fd, rest, sizeof rest) > 0)
        ;
}

int disk_mount_image(const struct disk_dirs *d, uint64_t bytes, struct disk_image *ret,
                     struct err *e)
{
    char name[64];

    empty_image_name(name, sizeof name, bytes);
    auto_close int from = openat(d->images, name, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return err_sys(e, -errno, "image of %llu bytes", (unsigned long long)bytes);
    auto_close int to = openat(d->cells, COPY_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0)
        return err_sys(e, -errno, "create image");
    (void)unlinkat(d->cells, COPY_NAME, 0);
    int r = copy_sparse(from, to, (off_t)bytes);
    if (r < 0)
        return err_sys(e, r, "copy image");
    auto_close int loop = disk_attach_loop(d, to, &ret->loop);
    if (loop < 0)
        return err_sys(e, loop, "loop device");
    ret->fd = mount_ext4(d, ret->loop);
    if (ret->fd < 0)
        return err_sys(e, ret->fd, "mount image");
    disk_load_maps(ret->loop);
    ret->file = take_fd(to);
    ret->n_uses = 0;
    return 0;
}

int disk_mount_again(const struct disk_dirs *d, struct disk_image *image)
{
    int fd = mount_ext4(d, image->loop);

    if (fd < 0)
        return fd;
    (void)close(image->fd);
    image->fd = fd;
    return 0;
}
