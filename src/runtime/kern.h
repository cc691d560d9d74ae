/* SPDX-License-Identifier: MIT */
/* Kernel interfaces that the C libraries do not wrap, or wrap differently: the mount calls of
 * Linux 5.2 to 5.12, clone3, pidfds, close_range. Negative errno instead of errno. The constants
 * carry names of our own because glibc, musl and the kernel's headers define different subsets of
 * the real ones and clash when included together. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    KERN_TREE_CLONE = 1,                /* OPEN_TREE_CLONE */
    KERN_TREE_CLOEXEC = O_CLOEXEC,      /* OPEN_TREE_CLOEXEC */
    KERN_TREE_RECURSIVE = 0x8000,       /* AT_RECURSIVE */
    KERN_EMPTY_PATH = 0x1000,           /* AT_EMPTY_PATH */
    KERN_MOVE_FROM_EMPTY = 0x4,         /* MOVE_MOUNT_F_EMPTY_PATH */
    KERN_MOVE_TO_EMPTY = 0x40,          /* MOVE_MOUNT_T_EMPTY_PATH */
    KERN_FS_CLOEXEC = 1,                /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */
    KERN_FSCONFIG_FLAG = 0,             /* FSCONFIG_SET_FLAG */
    KERN_FSCONFIG_STRING = 1,           /* FSCONFIG_SET_STRING */
    KERN_FSCONFIG_CREATE = 6,           /* FSCONFIG_CMD_CREATE */
    KERN_FSCONFIG_RECONFIGURE = 7,      /* FSCONFIG_CMD_RECONFIGURE */
    KERN_ATTR_RDONLY = 0x1,             /* MOUNT_ATTR_RDONLY */
    KERN_ATTR_NOSUID = 0x2,             /* MOUNT_ATTR_NOSUID */
    KERN_ATTR_NODEV = 0x4,              /* MOUNT_ATTR_NODEV */
    KERN_ATTR_NOEXEC = 0x8,             /* MOUNT_ATTR_NOEXEC */
    KERN_ATTR_IDMAP = 0x00100000,       /* MOUNT_ATTR_IDMAP */
    KERN_PROPAGATION_PRIVATE = 1 << 18, /* MS_PRIVATE */
    KERN_UMOUNT_DETACH = 2,             /* MNT_DETACH */
    KERN_NO_MAGICLINKS = 2,             /* RESOLVE_NO_MAGICLINKS */
};

struct kern_mount_attr {
    uint64_t set, clear, propagation, userns_fd;
};

struct kern_clone_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
};

#define KERN_CLONE_NEWCGROUP   0x02000000ULL
#define KERN_CLONE_NEWUTS      0x04000000ULL
#define KERN_CLONE_NEWIPC      0x08000000ULL
#define KERN_CLONE_NEWUSER     0x10000000ULL
#define KERN_CLONE_NEWPID      0x20000000ULL
#define KERN_CLONE_NEWNET      0x40000000ULL
#define KERN_CLONE_NEWNS       0x00020000ULL
#define KERN_CLONE_PIDFD       0x00001000ULL
#define KERN_CLONE_INTO_CGROUP 0x200000000ULL

static inline int kern_ret(long r)
{
    return r < 0 ? -errno : (int)r;
}

/* A detached copy of the mount at PATH (FLAGS: KERN_TREE_*). */
static inline int kern_open_tree(int dirfd, const char *path, unsigned flags)
{
    return kern_ret(syscall(SYS_open_tree, dirfd, path, flags | (unsigned)KERN_TREE_CLOEXEC));
}

/* Puts the detached mount FD at PATH. */
static inline int kern_attach(int fd, int dirfd, const char *path)
{
    return kern_ret(syscall(SYS_move_mount, fd, "", dirfd, path, KERN_MOVE_FROM_EMPTY));
}

static inline int kern_mount_setattr(int fd, const char *path, unsigned flags,
                                     const struct kern_mount_attr *attr)
{
    return kern_ret(syscall(SYS_mount_setattr, fd, path, flags, attr, sizeof *attr));
}

static inline int kern_fsopen(const char *type)
{
    return kern_ret(syscall(SYS_fsopen, type, KERN_FS_CLOEXEC));
}

/* The file system that is mounted at PATH, to change its options. */
static inline int kern_fspick(const char *path)
{
    return kern_ret(syscall(SYS_fspick, AT_FDCWD, path, KERN_FS_CLOEXEC));
}

/* Sets one option; VALUE == NULL sets a flag. */
static inline int kern_fsconfig(int fd, const char *key, const char *value)
{
    int cmd = value ? KERN_FSCONFIG_STRING : KERN_FSCONFIG_FLAG;

    return kern_ret(syscall(SYS_fsconfig, fd, cmd, key, value, 0));
}

/* CMD: KERN_FSCONFIG_CREATE or KERN_FSCONFIG_RECONFIGURE. */
static inline int kern_fscommand(int fd, int cmd)
{
    return kern_ret(syscall(SYS_fsconfig, fd, cmd, NULL, NULL, 0));
}

/* A detached mount of the file system that FD configured. */
static inline int kern_fsmount(int fd, unsigned attrs)
{
    return kern_ret(syscall(SYS_fsmount, fd, KERN_FS_CLOEXEC, attrs));
}

static inline int kern_pivot_root(const char *new_root, const char *put_old)
{
    return kern_ret(syscall(SYS_pivot_root, new_root, put_old));
}

static inline int kern_umount(const char *path, int flags)
{
    return kern_ret(syscall(SYS_umount2, path, flags));
}

static inline int kern_close_range(unsigned from, unsigned to)
{
    return from > to ? 0 : kern_ret(syscall(SYS_close_range, from, to, 0));
}

struct kern_open_how {
    uint64_t flags, mode, resolve;
};

static inline int kern_openat2(int dirfd, const char *path, const struct kern_open_how *how)
{
    return kern_ret(syscall(SYS_openat2, dirfd, path, how, sizeof *how));
}

static inline int kern_pidfd_open(pid_t pid)
{
    return kern_ret(syscall(SYS_pidfd_open, pid, 0));
}

static inline int kern_pidfd_kill(int pidfd, int signo)
{
    return kern_ret(syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0));
}

static inline pid_t kern_clone3(struct kern_clone_args *args)
{
    return (pid_t)kern_ret(syscall(SYS_clone3, args, sizeof *args));
}
