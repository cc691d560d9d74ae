/* SPDX-License-Identifier: MIT */
/* Probes for namespaces, for processes outside and for the first process, and for privileges. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/capability.h>

#include "probe.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- namespaces ---- */

static bool inherit_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    bool has_more = false;

    for (struct dirent *d; dir && (d = readdir(dir));) {
        int fd = (int)strtol(d->d_name, NULL, 10);
        has_more |= d->d_name[0] != '.' && fd > 2 && fd != dirfd(dir);
    }
    return has_more;
}

/* Everything in /proc must descend from the first process: it is a handful. */
static bool see_foreign_processes(void)
{
    DIR *dir = opendir("/proc");
    unsigned n = 0;

    for (struct dirent *d; dir && (d = readdir(dir));)
        n += d->d_name[0] >= '0' && d->d_name[0] <= '9';
    return !dir || n > 16;
}

static bool signal_host_process(void)
{
    return target.host_pid > 1000 && kill(target.host_pid, 0) == 0;
}

static bool open_host_process(void)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", target.host_pid);
    return target.host_pid > 1000 && access(path, F_OK) == 0;
}

static bool enter_namespaces_of_1(void)
{
    static const char *const names[] = {"user", "mnt", "net", "pid", "ipc", "uts", "cgroup"};

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
        int fd = open(path, O_RDONLY);
        if (fd >= 0 && syscall(SYS_setns, fd, 0) == 0)
            return true;
    }
    return false;
}

static bool enter_by_pidfd(void)
{
    int fd = (int)syscall(SYS_pidfd_open, 1, 0);

    return fd >= 0 && syscall(SYS_setns, fd, 0x20000) == 0;
}

static bool parent_of_owner(void)
{
    int fd = open("/proc/self/ns/user", O_RDONLY);

    /* NS_GET_PARENT, NS_GET_USERNS: the way up must be barred. */
    return fd >= 0 && (syscall(SYS_ioctl, fd, 0xb702, 0) >= 0 ||
                       syscall(SYS_ioctl, open("/proc/self/ns/net", O_RDONLY), 0xb701, 0) >= 0);
}

static bool see_group_paths(void)
{
    char line[512];
    FILE *f = fopen("/proc/self/cgroup", "r");

    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "tidepool") || strstr(line, "s00"))
            return true;
    return !f;
}

static bool change_hostname(void)
{
    return sethostname("escaped", 7) == 0 || setdomainname("escaped", 7) == 0;
}

static bool have_identity_map(void)
{
    unsigned long inside, outside, n;
    FILE *f = fopen("/proc/self/uid_map", "r");

    if (!f || fscanf(f, "%lu %lu %lu", &inside, &outside, &n) != 3)
        return true;
    return outside == inside || n > 65536 || outside < 100000;
}

static const struct probe spaces[] = {
    {"inherited descriptors", inherit_descriptors},
    {"foreign processes", see_foreign_processes},
    {"signal to a host process", signal_host_process},
    {"/proc of a host process", open_host_process},
    {"namespaces of pid 1", enter_namespaces_of_1},
    {"namespaces by pidfd", enter_by_pidfd},
    {"parent user namespace", parent_of_owner},
    {"names of control groups", see_group_paths},
    {"hostname", change_hostname},
    {"host uids", have_identity_map},
};
const struct probe_group probes_spaces = {"namespaces", spaces, COUNT(spaces)};

/* ---- processes and privileges ---- */

static bool trace_1(void)
{
    return ptrace(PTRACE_ATTACH, 1, NULL, NULL) == 0 || ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0;
}

static bool read_memory_of_1(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)0x400000, 1};

    return process_vm_readv(1, &here, 1, &there, 1, 0) == 1;
}

static bool write_memory_of_1(void)
{
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)0x400000, 1};

    return process_vm_writev(1, &here, 1, &there, 1, 0) == 1 || open("/proc/1/mem", O_RDWR) >= 0;
}

static bool list_descriptors_of_1(void)
{
    return opendir("/proc/1/fd") != NULL || opendir("/proc/1/fdinfo") != NULL ||
           opendir("/proc/1/map_files") != NULL;
}

static bool take_descriptor_of_1(void)
{
    int fd = (int)syscall(SYS_pidfd_open, 1, 0);

    return fd >= 0 && syscall(SYS_pidfd_getfd, fd, 3, 0) >= 0;
}

static bool kill_1(void)
{
    (void)kill(1, SIGKILL);
    (void)kill(1, SIGSTOP);
    (void)kill(1, SIGTERM);
    (void)usleep(50000);
    return kill(1, 0) < 0 && errno == ESRCH;
}

static bool limits_of_1(void)
{
    struct rlimit none = {0, 0};

    return prlimit(1, RLIMIT_NOFILE, &none, NULL) == 0;
}

static bool become_unmapped(void)
{
    return setresuid(70000, 70000, 70000) == 0 || setresgid(70000, 70000, 70000) == 0;
}

static bool join_unmapped_group(void)
{
    gid_t group = 70000;

    return setgroups(1, &group) == 0;
}

static bool become_root_as_user(void)
{
    return geteuid() != 0 && (setuid(0) == 0 || setgid(0) == 0 || setgroups(0, NULL) == 0);
}

static bool hold_capabilities(void)
{
    static const int forbidden[] = {
        CAP_SYS_ADMIN, CAP_NET_ADMIN,       CAP_NET_RAW,  CAP_SYS_PTRACE,    CAP_SYS_MODULE,
        CAP_SYS_RAWIO, CAP_SYS_BOOT,        CAP_SYS_TIME, CAP_SYS_RESOURCE,  CAP_SYS_NICE,
        CAP_MKNOD,     CAP_DAC_READ_SEARCH, CAP_SYSLOG,   CAP_MAC_ADMIN,     CAP_BPF,
        CAP_PERFMON,   CAP_LINUX_IMMUTABLE, CAP_IPC_LOCK, CAP_AUDIT_CONTROL, CAP_SYS_PACCT,
    };

    for (size_t i = 0; i < COUNT(forbidden); i++)
        if (prctl(PR_CAPBSET_READ, forbidden[i], 0, 0, 0) != 0)
            return true;
    return false;
}

static bool raise_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};

    return syscall(SYS_capset, &head, data) == 0;
}

static bool ambient_capability(void)
{
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) == 0;
}

static bool drop_filter(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2;
}

static bool real_time(void)
{
    struct sched_param p = {.sched_priority = 1};

    return sched_setscheduler(0, SCHED_FIFO, &p) == 0 || sched_setscheduler(0, SCHED_RR, &p) == 0;
}

static bool higher_priority(void)
{
    return setpriority(PRIO_PROCESS, 0, -5) == 0;
}

static bool io_priority(void)
{
    return syscall(SYS_ioprio_set, 1, 0, (1 << 13) | 0) == 0;
}

static bool raise_limit(int which)
{
    struct rlimit l;

    if (getrlimit(which, &l) < 0 || l.rlim_max == RLIM_INFINITY)
        return false;
    l.rlim_max += 1;
    return setrlimit(which, &l) == 0;
}

static bool raise_open_files(void)
{
    return raise_limit(RLIMIT_NOFILE);
}

static bool raise_core(void)
{
    return raise_limit(RLIMIT_CORE);
}

static bool raise_locked_memory(void)
{
    return raise_limit(RLIMIT_MEMLOCK);
}

static bool lock_much_memory(void)
{
    size_t len = 64 << 20;
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p != MAP_FAILED && mlock(p, len) == 0;
}

static bool map_low_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

static bool huge_pages(void)
{
    return mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) !=
           MAP_FAILED;
}

#if defined(__x86_64__)
/* The 32-bit door: getpid by its i386 number. */
static bool old_system_call(void)
{
    long r = 20;

    __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
    return r > 0;
}
#else
static bool old_system_call(void)
{
    return false;
}
#endif

static const struct probe processes[] = {
    {"ptrace of pid 1", trace_1},
    {"reading memory of pid 1", read_memory_of_1},
    {"writing memory of pid 1", write_memory_of_1},
    {"descriptors of pid 1", list_descriptors_of_1},
    {"a copy of a descriptor of pid 1", take_descriptor_of_1},
    {"killing pid 1", kill_1},
    {"limits of pid 1", limits_of_1},
    {"an unmapped uid", become_unmapped},
    {"an unmapped group", join_unmapped_group},
    {"root from a user", become_root_as_user},
    {"capabilities in the bounding set", hold_capabilities},
    {"raising capabilities", raise_capabilities},
    {"ambient capability", ambient_capability},
    {"no system call filter", drop_filter},
    {"real-time scheduling", real_time},
    {"higher priority", higher_priority},
    {"real-time input and output", io_priority},
    {"more open files", raise_open_files},
    {"larger cores", raise_core},
    {"more locked memory", raise_locked_memory},
    {"64 MiB of locked memory", lock_much_memory},
    {"memory near 0", map_low_memory},
    {"huge pages", huge_pages},
    {"32-bit system calls", old_system_call},
};
const struct probe_group probes_processes = {"processes", processes, COUNT(processes)};
