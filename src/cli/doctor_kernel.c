/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: what the kernel can do. See doctor.h. */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/io.h"

/* ---- tools of all checks ---- */

void doctor_say(struct doctor_result *r, enum doctor_status status, const char *fmt, ...)
{
    va_list ap;

    r->status = status;
    r->detail[0] = '\0';
    if (!fmt)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(r->detail, sizeof r->detail, fmt, ap);
    va_end(ap);
}

void doctor_judge(struct doctor_result *r, int code, const char *good)
{
    if (code == 0)
        doctor_say(r, DOCTOR_OK, "%s", good);
    else
        doctor_say(r, DOCTOR_MISSING, "%s", strerror(-code));
}

int doctor_in_child(int (*fn)(const void *arg), const void *arg)
{
    int status;
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        (void)alarm(DOCTOR_SECONDS);
        /* An errno fits in an exit status. */
        _exit(-fn(arg) & 0xff);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    if (WIFEXITED(status))
        return -WEXITSTATUS(status);
    return WTERMSIG(status) == SIGALRM ? -ETIMEDOUT : -ECHILD;
}

int doctor_write_file(const char *path, const char *text)
{
    auto_close int fd = io_open(path, O_WRONLY, 0);

    return fd < 0 ? fd : io_write_all(fd, text, strlen(text));
}

int doctor_unshare(int flags)
{
    char uid_map[64], gid_map[64];

    (void)snprintf(uid_map, sizeof uid_map, "0 %u 1\n", geteuid());
    (void)snprintf(gid_map, sizeof gid_map, "0 %u 1\n", getegid());
    if (unshare(CLONE_NEWUSER | flags) < 0)
        return -errno;
    int r = doctor_write_file("/proc/self/setgroups", "deny");
    if (r == 0)
        r = doctor_write_file("/proc/self/uid_map", uid_map);
    if (r == 0)
        r = doctor_write_file("/proc/self/gid_map", gid_map);
    return r;
}

static void kernel_version(int *major, int *minor, struct utsname *u)
{
    *major = *minor = 0;
    if (uname(u) < 0)
        return;
    struct str rest = str_of(u->release);
    int64_t n;
    if (str_to_i64(str_cut(&rest, '.'), &n) == 0)
        *major = (int)n;
    size_t digits = strspn(rest.p ? rest.p : "", "0123456789");
    if (str_to_i64(str_n(rest.p, digits), &n) == 0)
        *minor = (int)n;
}

/* The running kernel, compared by major and minor number. */
static bool doctor_kernel_is_at_least(int major, int minor)
{
    struct utsname u;
    int have_major, have_minor;

    kernel_version(&have_major, &have_minor, &u);
    return have_major > major || (have_major == major && have_minor >= minor);
}

/* ---- version ---- */

void doctor_kernel(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    struct utsname u = {0};

    (void)check;
    (void)c;
    (void)uname(&u);
    if (!doctor_kernel_is_at_least(5, 19))
        doctor_say(r, DOCTOR_MISSING, "%s is older than 5.19", u.release);
    else if (!doctor_kernel_is_at_least(6, 6))
        doctor_say(r, DOCTOR_WARN, "%s; 6.6 or newer can keep sandboxes in memory", u.release);
    else
        doctor_say(r, DOCTOR_OK, "%s", u.release);
}

/* ---- namespaces ---- */

static int try_unshare(const void *arg)
{
    return doctor_unshare(*(const int *)arg);
}

void doctor_user_ns(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    const int none = 0;

    (void)check;
    (void)c;
    doctor_judge(r, doctor_in_child(try_unshare, &none), "can be created");
}

void doctor_namespace(const struct doctor_check *check, const struct config *c,
                      struct doctor_result *r)
{
    (void)c;
    doctor_judge(r, doctor_in_child(try_unshare, &check->flag), "can be created");
}

/* ---- system calls ---- */

/* A call that the kernel has complains about its arguments. */
void doctor_clone3(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    (void)check;
    (void)c;
    long got = syscall(SYS_clone3, NULL, (size_t)0);
    doctor_judge(r, got < 0 && errno == EINVAL ? 0 : got < 0 ? -errno : -ENOSYS, "available");
}

void doctor_pidfd(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    (void)check;
    (void)c;
    auto_close int fd = (int)syscall(SYS_pidfd_open, getpid(), 0U);
    doctor_judge(r, fd < 0 ? -errno : 0, "available");
}

void doctor_openat2(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};

    (void)check;
    (void)c;
    auto_close int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);
    doctor_judge(r, fd < 0 ? -errno : 0, "available");
}

static int try_seccomp(const void *arg)
{
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = 1, .filter = allow};

    (void)arg;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) < 0 ? -errno : 0;
}

void doctor_seccomp(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    (void)check;
    (void)c;
    doctor_judge(r, doctor_in_child(try_seccomp, NULL), "filters can be loaded");
}

/* ---- BPF ---- */

/* The smallest sk_lookup program: pass every packet. It is unloaded when its descriptor closes. */
static int load_sk_lookup(void)
{
    const struct bpf_insn pass[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = SK_PASS},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SK_LOOKUP,
                           .expected_attach_type = BPF_SK_LOOKUP,
                           .insn_cnt = ARRAY_LEN(pass)};

    attr.insns = (uint64_t)(uintptr_t)pass;
    attr.license = (uint64_t)(uintptr_t) "GPL";
    auto_close int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    return fd < 0 ? -errno : 0;
}

void doctor_sk_lookup(const struct doctor_check *check, const struct config *c,
                      struct doctor_result *r)
{
    int code = load_sk_lookup();

    (void)check;
    (void)c;
    if (code != -EPERM)
        doctor_judge(r, code, "programs can be loaded");
    else if (doctor_kernel_is_at_least(5, 9))
        doctor_say(r, DOCTOR_WARN,
                   "the kernel is new enough; loading requires root and was not tested");
    else
        doctor_say(r, DOCTOR_MISSING, "the kernel is older than 5.9");
}

/* ---- nftables ---- */

/* Asks nf_tables for its generation number, in a network namespace of its own. */
static int try_nftables(const void *arg)
{
    struct {
        struct nlmsghdr head;
        struct nfgenmsg gen;
    } ask = {
        .head = {.nlmsg_len = sizeof ask,
                 .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN,
                 .nlmsg_flags = NLM_F_REQUEST},
        .gen = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0},
    };
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[4096];
    } answer = {0};
    int r = doctor_unshare(CLONE_NEWNET);

    (void)arg;
    if (r < 0)
        return r;
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (fd < 0 || send(fd, &ask, sizeof ask, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
        return -errno;
    return answer.head.nlmsg_type == NLMSG_ERROR ? answer.error.error : 0;
}

void doctor_nftables(const struct doctor_check *check, const struct config *c,
                     struct doctor_result *r)
{
    (void)check;
    (void)c;
    doctor_judge(r, doctor_in_child(try_nftables, NULL), "available");
}
