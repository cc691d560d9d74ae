/* SPDX-License-Identifier: MIT */
/* Probes for files of the host and of other cells, for devices, and for the cell's own mounts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probe.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

bool holds_canary(const char *path)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY);

    if (fd < 0)
        return false;
    (void)!read(fd, text, sizeof text - 1);
    (void)close(fd);
    return strstr(text, target.canary_text) != NULL;
}

/* PREFIX followed by the canary's path. */
static bool holds_canary_behind(const char *prefix)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s%s", prefix, target.canary);
    return holds_canary(path);
}

/* ---- files ---- */

static bool read_canary(void)
{
    return holds_canary(target.canary);
}

static bool write_canary(void)
{
    int fd = open(target.canary, O_WRONLY);

    return fd >= 0 && write(fd, "x", 1) == 1;
}

static bool see_state(void)
{
    return access(target.state, F_OK) == 0;
}

static bool climb_to_canary(void)
{
    return holds_canary_behind("../../../../../../../../../../../../../../../..");
}

static bool canary_through_root_of_1(void)
{
    return holds_canary_behind("/proc/1/root");
}

static bool canary_through_cwd_of_1(void)
{
    return holds_canary_behind("/proc/1/cwd");
}

static bool canary_through_link(void)
{
    char path[] = "/tmp/probe-link.XXXXXX";

    if (!mkdtemp(path))
        return false;
    (void)chdir(path);
    return symlink(target.canary, "link") == 0 && holds_canary("link");
}

/* A root that calls chroot with a descriptor outside of it can climb, but only to the cell's root.
 */
static bool chroot_and_climb(void)
{
    int top = open("/", O_RDONLY | O_DIRECTORY);

    (void)mkdir("/tmp/jail", 0755);
    if (chroot("/tmp/jail") < 0)
        return false;
    (void)fchdir(top);
    for (int i = 0; i < 64; i++)
        (void)chdir("..");
    (void)chroot(".");
    return holds_canary(target.canary) || access(target.state, F_OK) == 0;
}

static bool open_file_of_another_uid_range(void)
{
    struct stat st;

    /* Every file of the cell belongs to a uid of the cell; others show as nobody's. */
    return lstat("/usr/bin", &st) == 0 && st.st_uid != 0;
}

static bool give_file_to_unmapped_uid(void)
{
    int fd = open("/tmp/probe-own", O_CREAT | O_WRONLY, 0600);

    return fd >= 0 && fchown(fd, 70000, 70000) == 0;
}

static bool find_host_names(void)
{
    DIR *dir = opendir("/home");
    bool is_strange = false;

    for (struct dirent *d; dir && (d = readdir(dir));)
        is_strange |= d->d_name[0] != '.' && strcmp(d->d_name, "user") != 0;
    return is_strange;
}

static bool find_host_password(void)
{
    char line[512];
    FILE *f = fopen("/etc/shadow", "r");

    while (f && fgets(line, sizeof line, f)) {
        const char *hash = strchr(line, ':');
        if (hash && hash[1] != '*' && hash[1] != '!')
            return true;
    }
    return false;
}

/* Keys of the host's, by their names or by what is in them: not one file below /etc. */
static int look_for_key(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    char text[4096] = "";

    (void)st;
    if (strncmp(path + at->base, "ssh_host_", 9) == 0)
        return 1;
    FILE *f = kind == FTW_F ? fopen(path, "r") : NULL;
    if (f) {
        (void)fread(text, 1, sizeof text - 1, f);
        (void)fclose(f);
    }
    return strstr(text, "PRIVATE KEY-----") != NULL;
}

static bool see_private_keys(void)
{
    return access("/etc/ssl/private", F_OK) == 0 || access("/etc/ssh/sshd_config", F_OK) == 0 ||
           access("/root/.ssh", F_OK) == 0 || nftw("/etc", look_for_key, 16, FTW_PHYS) != 0;
}

static bool see_service_sockets(void)
{
    static const char *const paths[] = {"/run/docker.sock",     "/run/dbus/system_bus_socket",
                                        "/run/systemd/private", "/run/tidepool",
                                        "/var/run/docker.sock", "/run/containerd"};

    for (size_t i = 0; i < COUNT(paths); i++)
        if (access(paths[i], F_OK) == 0)
            return true;
    return false;
}

static bool make_setuid_root_as_user(void)
{
    struct stat st;
    int fd = open("/tmp/probe-suid", O_CREAT | O_WRONLY, 0755);

    if (geteuid() == 0 || fd < 0)
        return false;
    return fchown(fd, 0, 0) == 0 && fchmod(fd, 04755) == 0 && fstat(fd, &st) == 0;
}

/* Immutable bits need a capability that nobody here has. */
static bool make_immutable(void)
{
    int flags = 0x10, fd = open("/tmp/probe-flags", O_CREAT | O_RDWR, 0600);

    return fd >= 0 && syscall(SYS_ioctl, fd, 0x40086602, &flags) == 0;
}

/* overlay's own attributes could lead to other files of the lower layers. */
static bool set_trusted_attribute(void)
{
    int fd = open("/tmp/probe-xattr", O_CREAT | O_RDWR, 0600);

    return fd >= 0 && syscall(SYS_fsetxattr, fd, "trusted.overlay.redirect", "/etc", 4, 0) == 0;
}

static bool set_security_attribute(void)
{
    int fd = open("/tmp/probe-xattr", O_CREAT | O_RDWR, 0600);

    return fd >= 0 && syscall(SYS_fsetxattr, fd, "security.probe", "x", 1, 0) == 0;
}

static const struct probe files[] = {
    {"read the canary", read_canary},
    {"write the canary", write_canary},
    {"see the state directory", see_state},
    {"climb to the canary", climb_to_canary},
    {"canary through /proc/1/root", canary_through_root_of_1},
    {"canary through /proc/1/cwd", canary_through_cwd_of_1},
    {"canary through a symbolic link", canary_through_link},
    {"chroot and climb", chroot_and_climb},
    {"files of foreign uids", open_file_of_another_uid_range},
    {"give a file to an unmapped uid", give_file_to_unmapped_uid},
    {"names of host users", find_host_names},
    {"password hashes", find_host_password},
    {"private keys", see_private_keys},
    {"sockets of host services", see_service_sockets},
    {"setuid root file made by a user", make_setuid_root_as_user},
    {"immutable file", make_immutable},
    {"trusted attribute", set_trusted_attribute},
    {"security attribute", set_security_attribute},
};
const struct probe_group probes_files = {"files", files, COUNT(files)};

/* ---- devices ---- */

static bool open_device(void)
{
    static const char *const paths[] = {
        "/dev/mem",     "/dev/kmem", "/dev/port",  "/dev/kvm",     "/dev/fuse",
        "/dev/net/tun", "/dev/vda",  "/dev/sda",   "/dev/nvme0n1", "/dev/kmsg",
        "/dev/loop0",   "/dev/tty0", "/dev/vsock", "/dev/console", "/dev/loop-control",
        "/dev/uinput",  "/dev/dri",  "/dev/hpet",  "/dev/rtc0",    "/dev/mapper/control",
    };

    for (size_t i = 0; i < COUNT(paths); i++)
        if (open(paths[i], O_RDONLY | O_NONBLOCK) >= 0)
            return true;
    return false;
}

static bool make_device(mode_t kind, unsigned major, unsigned minor, const char *path)
{
    return mknod(path, kind | 0600, makedev(major, minor)) == 0 && open(path, O_RDONLY) >= 0;
}

static bool make_disk(void)
{
    return make_device(S_IFBLK, 254, 0, "/tmp/probe-vda") ||
           make_device(S_IFBLK, 8, 0, "/tmp/probe-sda");
}

static bool make_mem(void)
{
    return make_device(S_IFCHR, 1, 1, "/tmp/probe-mem");
}

static bool make_null(void)
{
    return make_device(S_IFCHR, 1, 3, "/tmp/probe-null");
}

static bool make_in_dev(void)
{
    return mknod("/dev/probe", S_IFCHR | 0600, makedev(1, 3)) == 0;
}

static bool make_whiteout_device(void)
{
    /* 0:0 may be made by anybody and is no device at all. */
    return mknod("/tmp/probe-00", S_IFCHR | 0600, makedev(0, 0)) == 0 &&
           open("/tmp/probe-00", O_RDONLY) >= 0;
}

static bool chmod_null(void)
{
    return chmod("/dev/null", 0600) == 0;
}

static bool chown_null(void)
{
    return chown("/dev/null", getuid(), getgid()) == 0;
}

static bool unlink_null(void)
{
    return unlink("/dev/null") == 0 || rename("/dev/null", "/dev/none") == 0;
}

static bool create_in_dev(void)
{
    return open("/dev/probe", O_CREAT | O_WRONLY, 0600) >= 0 || mkdir("/dev/probe", 0700) == 0;
}

static bool touch_null(void)
{
    return utimensat(AT_FDCWD, "/dev/null", NULL, 0) == 0;
}

static const struct probe devices[] = {
    {"open devices of the host", open_device},
    {"make a disk", make_disk},
    {"make /dev/mem", make_mem},
    {"make /dev/null", make_null},
    {"make a device in /dev", make_in_dev},
    {"open a 0:0 device", make_whiteout_device},
    {"chmod of the shared /dev/null", chmod_null},
    {"chown of the shared /dev/null", chown_null},
    {"removal of /dev/null", unlink_null},
    {"new files in /dev", create_in_dev},
    {"times of /dev/null", touch_null},
};
const struct probe_group probes_devices = {"devices", devices, COUNT(devices)};

/* ---- mounts ---- */

static bool can_mount(const char *type, const char *options)
{
    (void)mkdir("/tmp/probe-mnt", 0755);
    return mount("none", "/tmp/probe-mnt", type, 0, options) == 0;
}

static bool mount_tmpfs(void)
{
    return can_mount("tmpfs", NULL);
}

static bool mount_proc(void)
{
    return can_mount("proc", NULL);
}

static bool mount_sysfs(void)
{
    return can_mount("sysfs", NULL);
}

static bool mount_cgroup(void)
{
    return can_mount("cgroup", "memory") || can_mount("cgroup2", NULL);
}

static bool mount_overlay(void)
{
    return can_mount("overlay", "lowerdir=/etc:/usr");
}

static bool mount_devpts(void)
{
    return can_mount("devpts", NULL);
}

static bool mount_debugfs(void)
{
    return can_mount("debugfs", NULL) || can_mount("tracefs", NULL) || can_mount("bpf", NULL) ||
           can_mount("securityfs", NULL);
}

static bool bind_root(void)
{
    (void)mkdir("/tmp/probe-mnt", 0755);
    return mount("/", "/tmp/probe-mnt", NULL, MS_BIND | MS_REC, NULL) == 0;
}

static bool remount_proc_sys(void)
{
    return mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL) == 0;
}

static bool remount_dev(void)
{
    return mount(NULL, "/dev", NULL, MS_REMOUNT, NULL) == 0 ||
           mount(NULL, "/dev", NULL, MS_REMOUNT | MS_BIND, NULL) == 0;
}

static bool share_mounts(void)
{
    return mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) == 0;
}

static bool unmask(void)
{
    return umount2("/proc/keys", MNT_DETACH) == 0 || umount2("/proc/sys", MNT_DETACH) == 0 ||
           umount2("/dev", MNT_DETACH) == 0;
}

/* Names of host directories in the list of mounts. */
static bool leak_paths(void)
{
    char line[4096];
    FILE *f = fopen("/proc/self/mountinfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (strstr(line, target.state) || strstr(line, "templates"))
            return true;
    return !f;
}

/* The classic way out of version 1 control groups. */
static bool release_agent(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/release_agent",
                                        "/sys/fs/cgroup/memory/release_agent",
                                        "/tmp/probe-mnt/release_agent"};

    for (size_t i = 0; i < COUNT(paths); i++)
        if (open(paths[i], O_WRONLY) >= 0)
            return true;
    return false;
}

static const struct probe mounts[] = {
    {"tmpfs", mount_tmpfs},
    {"proc", mount_proc},
    {"sysfs", mount_sysfs},
    {"cgroup", mount_cgroup},
    {"overlay", mount_overlay},
    {"devpts", mount_devpts},
    {"debugfs, tracefs, bpf, securityfs", mount_debugfs},
    {"bind of the root", bind_root},
    {"remount of /proc/sys", remount_proc_sys},
    {"remount of /dev", remount_dev},
    {"propagation", share_mounts},
    {"unmount of masks", unmask},
    {"host paths in mountinfo", leak_paths},
    {"release_agent", release_agent},
};
const struct probe_group probes_mounts = {"mounts", mounts, COUNT(mounts)};
