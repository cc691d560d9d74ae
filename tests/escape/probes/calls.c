/* SPDX-License-Identifier: MIT */
/* System calls that must be refused before the kernel looks at their arguments, and knobs of the
 * kernel that must be out of reach. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

#define CALL(name, ...)                                                                            \
    {                                                                                              \
#name, SYS_##name,                                                                         \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define BAD_ADDRESS 0x10

/* EFAULT, EINVAL and the like mean that the kernel's code was reached: that counts as through. */
bool call_probe_gets_through(const struct call_probe *p)
{
    errno = 0;
    long r = syscall(p->nr, p->args[0], p->args[1], p->args[2], p->args[3], p->args[4], p->args[5]);
    return r != -1 || (errno != EPERM && errno != ENOSYS && errno != EAFNOSUPPORT);
}

const struct call_probe call_probes[] = {
    CALL(bpf, 0, BAD_ADDRESS, 64),
    CALL(perf_event_open, BAD_ADDRESS, 0, -1, -1, 0),
    CALL(io_uring_setup, 8, BAD_ADDRESS),
    CALL(io_uring_enter, 0),
    CALL(io_uring_register, 0),
    CALL(userfaultfd, 0),
    CALL(keyctl, 0, -3, 1),
    CALL(add_key, BAD_ADDRESS, BAD_ADDRESS, BAD_ADDRESS, 1, -3),
    CALL(request_key, BAD_ADDRESS, BAD_ADDRESS, 0, -3),
    CALL(kexec_load, 0, 0, BAD_ADDRESS, 0),
    CALL(kexec_file_load, -1, -1, 0, 0, 0),
    CALL(init_module, BAD_ADDRESS, 1, BAD_ADDRESS),
    CALL(finit_module, 0, BAD_ADDRESS, 0),
    CALL(delete_module, BAD_ADDRESS, 0),
    /* A wrong magic number: would be EINVAL even if it were allowed. */
    CALL(reboot, 0, 0, 0, 0),
    CALL(swapon, BAD_ADDRESS, 0),
    CALL(swapoff, BAD_ADDRESS),
    CALL(acct, BAD_ADDRESS),
    CALL(settimeofday, BAD_ADDRESS, 0),
    CALL(clock_settime, 0, BAD_ADDRESS),
    CALL(clock_adjtime, 0, BAD_ADDRESS),
    CALL(adjtimex, BAD_ADDRESS),
    CALL(iopl, 3),
    CALL(ioperm, 0x80, 1, 1),
    CALL(modify_ldt, 1, BAD_ADDRESS, 16),
    CALL(open_by_handle_at, AT_FDCWD, BAD_ADDRESS, 0),
    CALL(fanotify_init, 0, 0),
    CALL(quotactl, 0, 0, 0, 0),
    {"quotactl_fd", 443, {0}},
    CALL(lookup_dcookie, 0, BAD_ADDRESS, 16),
    CALL(kcmp, 1, 1, 0, 0, 0),
    CALL(pidfd_getfd, 0, 0, 0),
    CALL(syslog, 3, BAD_ADDRESS, 16),
    CALL(vhangup, 0),
    {"memfd_secret", 447, {0}},
    CALL(mount, BAD_ADDRESS, BAD_ADDRESS, BAD_ADDRESS, 0, 0),
    CALL(umount2, BAD_ADDRESS, 0),
    CALL(pivot_root, BAD_ADDRESS, BAD_ADDRESS),
    CALL(fsopen, BAD_ADDRESS, 0),
    CALL(fsconfig, 0, 6, 0, 0, 0),
    CALL(fsmount, 0, 0, 0),
    CALL(fspick, AT_FDCWD, BAD_ADDRESS, 0),
    CALL(open_tree, AT_FDCWD, BAD_ADDRESS, 1),
    CALL(move_mount, AT_FDCWD, BAD_ADDRESS, AT_FDCWD, BAD_ADDRESS, 0),
    CALL(mount_setattr, AT_FDCWD, BAD_ADDRESS, 0, BAD_ADDRESS, 32),
    {"statmount", 457, {BAD_ADDRESS, BAD_ADDRESS, 64}},
    {"listmount", 458, {BAD_ADDRESS, BAD_ADDRESS, 1}},
    {"open_tree_attr", 467, {AT_FDCWD, BAD_ADDRESS, 1}},
    {"listns", 470, {BAD_ADDRESS, BAD_ADDRESS, 1}},
    {"a call of the future", 999, {0}},
    {"x32 getpid", 0x40000000 + 39, {0}},
    CALL(setns, 0, 0),
    CALL(clone3, BAD_ADDRESS, 88),
    {"unshare user", SYS_unshare, {0x10000000}},
    {"unshare mount", SYS_unshare, {0x00020000}},
    {"unshare pid", SYS_unshare, {0x20000000}},
    {"unshare net", SYS_unshare, {0x40000000}},
    {"unshare ipc", SYS_unshare, {0x08000000}},
    {"unshare uts", SYS_unshare, {0x04000000}},
    {"unshare cgroup", SYS_unshare, {0x02000000}},
    {"unshare time", SYS_unshare, {0x80}},
    {"clone user", SYS_clone, {0x10000011}},
    {"clone mount", SYS_clone, {0x00020011}},
    {"clone net", SYS_clone, {0x40000011}},
    {"personality READ_IMPLIES_EXEC", SYS_personality, {0x400000}},
    {"ioctl TIOCSTI", SYS_ioctl, {0, 0x5412, BAD_ADDRESS}},
    {"ioctl TIOCLINUX", SYS_ioctl, {0, 0x541c, BAD_ADDRESS}},
    {"ioctl TIOCCONS", SYS_ioctl, {0, 0x541d, 0}},
    {"socket packet", SYS_socket, {17, 3, 0}},
    {"socket raw inet", SYS_socket, {2, 3, 1}},
    {"socket raw inet6", SYS_socket, {10, 3, 58}},
    {"socket vsock", SYS_socket, {40, 1, 0}},
    {"socket alg", SYS_socket, {38, 5, 0}},
    {"socket xdp", SYS_socket, {44, 3, 0}},
    {"socket bluetooth", SYS_socket, {31, 3, 1}},
    {"socket key", SYS_socket, {15, 3, 2}},
    {"socket can", SYS_socket, {29, 3, 1}},
    {"socket tipc", SYS_socket, {30, 1, 0}},
    {"socket rds", SYS_socket, {21, 5, 0}},
    {"socket netlink netfilter", SYS_socket, {16, 3, 12}},
    {"socket netlink audit", SYS_socket, {16, 3, 9}},
    {"socket netlink uevent", SYS_socket, {16, 3, 15}},
    {"socket netlink generic", SYS_socket, {16, 3, 16}},
};
const size_t n_call_probes = sizeof call_probes / sizeof call_probes[0];

bool file_probe_gets_through(const struct file_probe *p)
{
    char byte;

    if (p->mode == 'x')
        return access(p->path, F_OK) == 0;
    int fd = open(p->path, p->mode == 'w' ? O_WRONLY : O_RDONLY);
    if (fd < 0)
        return false;
    if (p->mode == 'r')
        return read(fd, &byte, 1) == 1;
    return write(fd, p->text, strlen(p->text)) > 0;
}

/* Values that would do no harm even if they could be written. */
const struct file_probe file_probes[] = {
    {"/proc/sysrq-trigger", 'w', "\n"},
    {"/proc/sys/kernel/core_pattern", 'w', "core"},
    {"/proc/sys/kernel/modprobe", 'w', "/sbin/modprobe"},
    {"/proc/sys/kernel/hostname", 'w', "cell"},
    {"/proc/sys/kernel/sysrq", 'w', "0"},
    {"/proc/sys/kernel/panic", 'w', "0"},
    {"/proc/sys/kernel/pid_max", 'w', "32768"},
    {"/proc/sys/kernel/ns_last_pid", 'w', "100"},
    {"/proc/sys/kernel/shmmax", 'w', "1048576"},
    {"/proc/sys/kernel/randomize_va_space", 'w', "2"},
    {"/proc/sys/vm/drop_caches", 'w', "1"},
    {"/proc/sys/vm/overcommit_memory", 'w', "0"},
    {"/proc/sys/fs/suid_dumpable", 'w', "0"},
    {"/proc/sys/fs/binfmt_misc/register", 'w', ":x:M::x::/x:"},
    {"/proc/sys/net/ipv4/ip_forward", 'w', "0"},
    {"/proc/sys/net/ipv4/ip_unprivileged_port_start", 'w', "1024"},
    {"/proc/sys/user/max_user_namespaces", 'w', "1000"},
    {"/proc/self/oom_score_adj", 'w', "-1000"},
    {"/proc/1/oom_score_adj", 'w', "0"},
    {"/proc/self/uid_map", 'w', "0 0 1"},
    {"/proc/self/gid_map", 'w', "0 0 1"},
    {"/proc/self/setgroups", 'w', "deny"},
    {"/proc/kcore", 'r', NULL},
    {"/proc/kmsg", 'r', NULL},
    {"/proc/keys", 'r', NULL},
    {"/proc/key-users", 'r', NULL},
    {"/proc/kallsyms", 'r', NULL},
    {"/proc/timer_list", 'r', NULL},
    {"/proc/vmallocinfo", 'r', NULL},
    {"/proc/kpagecount", 'r', NULL},
    {"/proc/slabinfo", 'r', NULL},
    {"/proc/pagetypeinfo", 'r', NULL},
    {"/proc/iomem", 'w', "x"},
    {"/proc/mtrr", 'w', "x"},
    {"/proc/irq/0", 'x', NULL},
    {"/proc/irq/default_smp_affinity", 'x', NULL},
    {"/proc/bus/pci", 'x', NULL},
    {"/proc/bus/input", 'x', NULL},
    {"/proc/acpi/wakeup", 'x', NULL},
    {"/proc/scsi/scsi", 'x', NULL},
    {"/proc/driver/rtc", 'x', NULL},
    {"/proc/fs/ext4", 'x', NULL},
    {"/sys/kernel", 'x', NULL},
    {"/sys/fs/cgroup/memory.max", 'w', "max"},
    {"/sys/fs/cgroup/cpu.max", 'w', "max"},
    {"/sys/fs/cgroup/pids.max", 'w', "max"},
    {"/sys/fs/cgroup/cgroup.procs", 'w', "0"},
    {"/sys/fs/cgroup/cgroup.subtree_control", 'w', "+memory"},
    {"/sys/fs/cgroup/cgroup.freeze", 'w', "0"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", 'w', "-1"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", 'w', "-1"},
    {"/sys/fs/cgroup/pids/pids.max", 'w', "max"},
    {"/sys/fs/cgroup/pids/tasks", 'w', "0"},
    {"/sys/fs/cgroup/memory/release_agent", 'x', NULL},
    {"/sys/fs/cgroup/cpuset/release_agent", 'x', NULL},
    {"/sys/fs/cgroup/cpuset/tasks", 'x', NULL},
    {"/proc/meminfo", 'w', "MemTotal:"},
    {"/proc/sys/kernel/random/boot_id", 'w', "x"},
    {"/sys/devices/system/cpu/online", 'w', "0"},
    {"/sys/devices/system/cpu/cpu0/online", 'x', NULL},
    {"/sys/power/state", 'x', NULL},
    {"/sys/kernel/uevent_helper", 'x', NULL},
    {"/sys/kernel/debug", 'x', NULL},
    {"/sys/firmware", 'x', NULL},
    {"/sys/class/net", 'x', NULL},
    {"/proc/1/mem", 'r', NULL},
    {"/proc/1/environ", 'r', NULL},
    {"/proc/1/maps", 'r', NULL},
    {"/proc/1/auxv", 'r', NULL},
    {"/proc/1/syscall", 'r', NULL},
    {"/proc/1/stack", 'r', NULL},
    {"/proc/1/root/etc", 'x', NULL},
    {"/proc/1/cwd/etc", 'x', NULL},
    {"/proc/1/exe", 'r', NULL},
    {"/proc/1/fd/3", 'x', NULL},
    {"/proc/1/ns/mnt", 'r', NULL},
    {"/proc/1/ns/net", 'r', NULL},
    {"/proc/1/ns/user", 'r', NULL},
};
const size_t n_file_probes = sizeof file_probes / sizeof file_probes[0];
