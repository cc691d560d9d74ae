/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys for clients, which have no size before they are read. This process may
 * see more there than its cell may know: its memory is that of the spawner's fork. So a child with
 * the rights of a user reads, as a command of that user would, into a file in memory. Opening and
 * reading may wait for locks of other processes; the child is given a time. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/fs.h"
#include "envd/oldroot.h"
#include "runtime/kern.h"
#include "sys/io.h"

enum { CHUNK = 64 << 10, SECONDS_MAX = 2, PLACE_MAX = 256 };
/* Of linux/magic.h, which not every C library comes with. */
enum { PROC_KIND = 0x9fa0, SYSFS_KIND = 0x62656572, TMPFS_KIND = 0x01021994 };
enum { CGROUP_KIND = 0x27e0eb, CGROUP2_KIND = 0x63677270 };

/* What the child may read about itself: nothing that shows how its memory is laid out. */
static const char *const own_files[] = {
    "cgroup",     "cmdline",   "comm",          "environ",   "gid_map",
    "io",         "limits",    "loginuid",      "mountinfo", "mounts",
    "mountstats", "oom_score", "oom_score_adj", "schedstat", "sessionid",
    "setgroups",  "statm",     "status",        "uid_map",
};

/* ---- where a file is ---- */

static bool read_fd_place(int fd, char ret[PLACE_MAX])
{
    char link[32];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, ret, PLACE_MAX - 1);
    if (n <= 0 || n >= PLACE_MAX - 1)
        return false;
    ret[n] = '\0';
    return true;
}

static bool is_made_up_path(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0;
}

bool fs_is_made_up(int fd)
{
    char path[PLACE_MAX];
    struct statfs fs;

    /* What is shown of a cell's size is kept in memory and bound over the kernel's. */
    if (fstatfs(fd, &fs) < 0 || fs.f_type == PROC_KIND)
        return true;
    return (fs.f_type == SYSFS_KIND || fs.f_type == TMPFS_KIND || fs.f_type == CGROUP_KIND ||
            fs.f_type == CGROUP2_KIND) &&
           read_fd_place(fd, path) && is_made_up_path(path);
}

/* ---- the child ---- */

static bool is_own_file(const char *name)
{
    if (strncmp(name, "net/", 4) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(own_files); i++)
        if (strcmp(name, own_files[i]) == 0)
            return true;
    return false;
}

/* Whether FD is a file that may be read, by where it was found in the end. */
static bool reader_may_read(int fd)
{
    char path[PLACE_MAX], own[32];
    struct stat st;

    if (!read_fd_place(fd, path) || !is_made_up_path(path) || fstat(fd, &st) < 0 ||
        !S_ISREG(st.st_mode))
        return false;
    int len = snprintf(own, sizeof own, "/proc/%d/", (int)getpid());
    if (strncmp(path, own, (size_t)len) != 0)
        return true;
    const char *name = path + len;
    /* Its only thread is the same once more. */
    len = snprintf(own, sizeof own, "task/%d/", (int)getpid());
    return is_own_file(strncmp(name, own, (size_t)len) == 0 ? name + len : name);
}

static int become_reader(const struct user *u)
{
    if (syscall(SYS_setgroups, u->n_groups, u->groups) < 0 ||
        syscall(SYS_setresgid, u->gid, u->gid, u->gid) < 0 ||
        syscall(SYS_setresuid, u->uid, u->uid, u->uid) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
        return -errno;
    return 0;
}

static int copy_as_reader(const char *path, const struct user *u, int out)
{
    static char chunk[CHUNK];
    struct kern_open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    int r = become_reader(u);
    int fd = r < 0 ? r : kern_openat2(AT_FDCWD, path, &how);
    ssize_t n = 0;

    if (fd < 0)
        return fd;
    if (!reader_may_read(fd))
        return -EACCES;
    for (size_t total = 0; (n = io_read(fd, chunk, sizeof chunk)) > 0; total += (size_t)n) {
        if (total + (size_t)n > FS_PROC_MAX)
            return -EFBIG;
        r = io_write_all(out, chunk, (size_t)n);
        if (r < 0)
            return r;
    }
    return (int)n;
}

/* What takes too long is killed by the signal, also where it waits in the kernel. */
static _Noreturn void run_reader(const char *path, const struct user *u, int out)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)signal(SIGALRM, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)alarm(SECONDS_MAX);
    int r = copy_as_reader(path, u, out);
    _exit(r < 0 && r > -256 ? -r : 0);
}

/* ---- this process ---- */

static int code_of_reader(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? -ETIMEDOUT : -EIO;
    return -WEXITSTATUS(status);
}

int fs_open_proc(const char *path, const struct user *u)
{
    auto_close int out = memfd_create("proc", MFD_CLOEXEC);
    int status = 0;

    if (out < 0)
        return -errno;
    if (oldroot_wait() < 0)
        return -EIO;
    pid_t pid = fork();
    if (pid == 0)
        run_reader(path, u, out);
    if (pid < 0)
        return -errno;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    int r = code_of_reader(status);
    return r < 0 ? r : take_fd(out);
}
