/* SPDX-License-Identifier: MIT */
/* The system call filter of a cell: see seccomp.h.
 *
 * The rows are sorted by number and emitted as a binary tree, because the kernel walks the program
 * once for every system call number when it is loaded. */
#include "runtime/seccomp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>

#include "base/cleanup.h"
#include "runtime/kern.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp: this architecture has no reviewed table"
#endif

/* removexattrat(2). Also catches x32, whose numbers have bit 30 set. */
enum { LAST_REVIEWED = 466 };

/* Numbers that the headers of Debian 12 (kernel, or musl) do not know; the same on every
 * architecture. */
enum { NR_QUOTACTL_FD = 443, NR_MEMFD_SECRET = 447, NR_STATMOUNT = 457, NR_LISTMOUNT = 458 };

#define NAMESPACE_FLAGS                                                                            \
    (KERN_CLONE_NEWCGROUP | KERN_CLONE_NEWUTS | KERN_CLONE_NEWIPC | KERN_CLONE_NEWUSER |           \
     KERN_CLONE_NEWPID | KERN_CLONE_NEWNET | KERN_CLONE_NEWNS)
#define CLONE_TIME_NAMESPACE 0x80ULL

enum { IOCTL_TIOCSTI = 0x5412, IOCTL_TIOCLINUX = 0x541C, IOCTL_TIOCCONS = 0x541D };

enum rule {
    RULE_DENY,         /* always */
    RULE_DENY_BITS,    /* when any of the bits is set in the argument */
    RULE_DENY_VALUES,  /* when the argument is one of the values */
    RULE_ALLOW_VALUES, /* unless the argument is one of the values */
    RULE_SOCKET        /* socket(2): allowed families; of netlink only the routing protocol */
};

struct seccomp_row {
    uint32_t nr;
    uint16_t error;
    uint8_t rule, arg;
    uint32_t values[6];
    uint8_t n_values;
};

#define DENY(name)                                                                                 \
    {                                                                                              \
        .nr = SYS_##name, .error = EPERM, .rule = RULE_DENY                                        \
    }
#define PRETEND_NO(name)                                                                           \
    {                                                                                              \
        .nr = SYS_##name, .error = ENOSYS, .rule = RULE_DENY                                       \
    }

static const struct seccomp_row table[] = {
    /* mounts: the tree that the cell was given is the one it keeps */
    DENY(mount),
    DENY(umount2),
    DENY(pivot_root),
    DENY(fsopen),
    DENY(fsconfig),
    DENY(fsmount),
    DENY(fspick),
    DENY(open_tree),
    DENY(move_mount),
    DENY(mount_setattr),
    {.nr = NR_STATMOUNT, .error = ENOSYS, .rule = RULE_DENY},
    {.nr = NR_LISTMOUNT, .error = ENOSYS, .rule = RULE_DENY},
    DENY(swapon),
    DENY(swapoff),
    DENY(quotactl),
    {.nr = NR_QUOTACTL_FD, .error = EPERM, .rule = RULE_DENY},
    DENY(open_by_handle_at),
    DENY(fanotify_init),
    /* namespaces: clone3 hides its flags in memory; libraries fall back to clone */
    PRETEND_NO(clone3),
    DENY(setns),
    {.nr = SYS_clone,
     .error = EPERM,
     .rule = RULE_DENY_BITS,
     .arg = 0,
     .values = {NAMESPACE_FLAGS},
     .n_values = 1},
    {.nr = SYS_unshare,
     .error = EPERM,
     .rule = RULE_DENY_BITS,
     .arg = 0,
     .values = {NAMESPACE_FLAGS | CLONE_TIME_NAMESPACE},
     .n_values = 1},
    /* the kernel itself */
    DENY(init_module),
    DENY(finit_module),
    DENY(delete_module),
    DENY(kexec_load),
    DENY(kexec_file_load),
    DENY(reboot),
    DENY(acct),
    DENY(syslog),
    DENY(settimeofday),
    DENY(clock_settime),
    DENY(clock_adjtime),
    DENY(adjtimex),
    DENY(vhangup),
    /* large attack surface that agents do not need */
    DENY(bpf),
    DENY(perf_event_open),
    PRETEND_NO(io_uring_setup),
    PRETEND_NO(io_uring_enter),
    PRETEND_NO(io_uring_register),
    /* contexts are counted for the whole machine, without any limit per user */
    PRETEND_NO(io_setup),
    PRETEND_NO(io_destroy),
    PRETEND_NO(io_submit),
    PRETEND_NO(io_cancel),
    PRETEND_NO(io_getevents),
    PRETEND_NO(io_pgetevents),
    DENY(userfaultfd),
    {.nr = NR_MEMFD_SECRET, .error = ENOSYS, .rule = RULE_DENY},
    DENY(add_key),
    DENY(request_key),
    DENY(keyctl),
    DENY(kcmp),
    DENY(pidfd_getfd),
    DENY(lookup_dcookie),
#ifdef SYS_iopl
    DENY(iopl),
    DENY(ioperm),
    DENY(modify_ldt),
    PRETEND_NO(uselib),
    PRETEND_NO(ustat),
    PRETEND_NO(sysfs),
    PRETEND_NO(_sysctl),
    PRETEND_NO(create_module),
    PRETEND_NO(get_kernel_syms),
    PRETEND_NO(query_module),
    PRETEND_NO(nfsservctl),
#endif
    /* 0, ADDR_NO_RANDOMIZE (debuggers), PER_LINUX32 as uname -m prints, "tell me" */
    {.nr = SYS_personality,
     .error = EPERM,
     .rule = RULE_ALLOW_VALUES,
     .arg = 0,
     .values = {0, 0x40000, 0x8, 0xffffffff},
     .n_values = 4},
    /* vsock, packet, bluetooth, alg … are not (all) covered by the network namespace */
    {.nr = SYS_socket,
     .error = EAFNOSUPPORT,
     .rule = RULE_SOCKET,
     .arg = 0,
     .values = {AF_UNIX, AF_INET, AF_INET6},
     .n_values = 3},
    {.nr = SYS_socketpair,
     .error = EAFNOSUPPORT,
     .rule = RULE_ALLOW_VALUES,
     .arg = 0,
     .values = {AF_UNIX},
     .n_values = 1},
    /* root of a cell has the uid of its first process, and could starve it of descriptors */
    {.nr = SYS_prlimit64,
     .error = EPERM,
     .rule = RULE_DENY_VALUES,
     .arg = 0,
     .values = {1},
     .n_values = 1},
    /* typing into another session's terminal */
    {.nr = SYS_ioctl,
     .error = EPERM,
     .rule = RULE_DENY_VALUES,
     .arg = 1,
     .values = {IOCTL_TIOCSTI, IOCTL_TIOCLINUX, IOCTL_TIOCCONS},
     .n_values = 3},
};

enum { OFFSET_NR = 0, OFFSET_ARCH = 4, OFFSET_ARGS = 16 };

static void emit_bpf(struct seccomp_program *p, uint16_t op, uint8_t jt, uint8_t jf, uint32_t k)
{
    if (p->len < SECCOMP_MAX)
        p->code[p->len] = (struct sock_filter){.code = op, .jt = jt, .jf = jf, .k = k};
    p->len++;
}

static void emit_load(struct seccomp_program *p, uint32_t offset)
{
    emit_bpf(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void emit_return(struct seccomp_program *p, uint32_t value)
{
    emit_bpf(p, BPF_RET | BPF_K, 0, 0, value);
}

/* Kernel events (uevent) and others reach every network namespace that the host's user namespace
 * owns, as ours are; addresses and links are what programs ask netlink for. */
static void emit_netlink(struct seccomp_program *p, uint32_t deny)
{
    emit_bpf(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, AF_NETLINK);
    emit_load(p, OFFSET_ARGS + 8 * 2);
    emit_bpf(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NETLINK_ROUTE);
    emit_return(p, deny);
    emit_return(p, SECCOMP_RET_ALLOW);
}

/* The answer to a call with this row's number. Arguments are compared in their low halves, which
 * is all that these calls look at. */
static void emit_action(struct seccomp_program *p, const struct seccomp_row *row)
{
    uint32_t deny = SECCOMP_RET_ERRNO | row->error;
    bool is_allow_list = row->rule != RULE_DENY_VALUES;

    if (row->rule == RULE_DENY) {
        emit_return(p, deny);
        return;
    }
    emit_load(p, OFFSET_ARGS + 8U * row->arg);
    if (row->rule == RULE_SOCKET)
        emit_netlink(p, deny);
    if (row->rule == RULE_DENY_BITS) {
        emit_bpf(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, row->values[0]);
        emit_return(p, deny);
        emit_return(p, SECCOMP_RET_ALLOW);
        return;
    }
    for (uint8_t i = 0; i < row->n_values; i++)
        emit_bpf(p, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(row->n_values - i), 0, row->values[i]);
    emit_return(p, is_allow_list ? deny : SECCOMP_RET_ALLOW);
    emit_return(p, is_allow_list ? SECCOMP_RET_ALLOW : deny);
}

static void emit_leaf(struct seccomp_program *p, const struct seccomp_row *row)
{
    unsigned short at = p->len;

    emit_bpf(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, row->nr);
    emit_action(p, row);
    if (at < SECCOMP_MAX)
        p->code[at].jf = (uint8_t)(p->len - at - 1);
    emit_return(p, SECCOMP_RET_ALLOW);
}

/* Rows below the middle follow at once; a jump leads to the others, since conditional jumps reach
 * 255 instructions only. Depth is the logarithm of the table's length. */
static void emit_tree(struct seccomp_program *p, const struct seccomp_row *rows, size_t n)
{
    if (n == 1) {
        emit_leaf(p, rows);
        return;
    }
    size_t mid = n / 2;
    emit_bpf(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, rows[mid].nr);
    unsigned short jump = p->len;
    emit_bpf(p, BPF_JMP | BPF_JA, 0, 0, 0);
    emit_tree(p, rows, mid);
    if (jump < SECCOMP_MAX)
        p->code[jump].k = (uint32_t)(p->len - jump - 1);
    emit_tree(p, rows + mid, n - mid);
}

static int by_number(const void *a, const void *b)
{
    const struct seccomp_row *x = a, *y = b;

    return x->nr < y->nr ? -1 : x->nr > y->nr;
}

int seccomp_build(struct seccomp_program *p)
{
    struct seccomp_row rows[ARRAY_LEN(table)];

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        rows[i] = table[i];
    qsort(rows, ARRAY_LEN(rows), sizeof rows[0], by_number);
    p->len = 0;
    emit_load(p, OFFSET_ARCH);
    emit_bpf(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCH);
    emit_return(p, SECCOMP_RET_ERRNO | ENOSYS);
    emit_load(p, OFFSET_NR);
    emit_bpf(p, BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_REVIEWED);
    emit_return(p, SECCOMP_RET_ERRNO | ENOSYS);
    emit_tree(p, rows, ARRAY_LEN(rows));
    return p->len > SECCOMP_MAX ? -ENOBUFS : 0;
}

int seccomp_load(struct seccomp_program *p)
{
    struct sock_fprog prog = {.len = p->len, .filter = p->code};

    return kern_ret(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog));
}
