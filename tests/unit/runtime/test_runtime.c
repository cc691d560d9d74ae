/* SPDX-License-Identifier: MIT */
/* The small parts of the cell runtime: messages, packets, steps, the system call filter, users. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/seccomp.h>

#include "base/cleanup.h"
#include "envd/hostname.h"
#include "envd/user.h"
#include "runtime/packet.h"
#include "runtime/proto.h"
#include "runtime/seccomp.h"
#include "runtime/step.h"
#include "runtime/wire.h"

/* ---- messages ---- */

static void fields_come_back_in_order(void **state)
{
    auto_buf struct buf b = BUF_INIT(4096);

    (void)state;
    wire_put_u32(&b, 0xfedcba98);
    wire_put_u64(&b, UINT64_MAX - 1);
    wire_put_str(&b, STR("tide\0pool"));
    wire_put_str(&b, STR(""));
    struct wire_reader r = {.left = buf_str(&b)};
    assert_int_equal(wire_get_u32(&r), 0xfedcba98);
    assert_int_equal(wire_get_u64(&r), UINT64_MAX - 1);
    assert_str(wire_get_str(&r), "tide\0pool");
    assert_str(wire_get_str(&r), "");
    assert_int_equal(wire_done(&r), 0);
}

static void short_and_long_messages_fail_for_good(void **state)
{
    auto_buf struct buf b = BUF_INIT(4096);

    (void)state;
    wire_put_str(&b, STR("0123456789"));
    for (size_t cut = 0; cut < b.len; cut++) {
        struct wire_reader r = {.left = str_n(b.p, cut)};
        assert_int_equal(wire_get_str(&r).len, 0);
        assert_int_equal(wire_get_u32(&r), 0);
        assert_int_equal(wire_done(&r), -EBADMSG);
    }
    wire_put_u32(&b, 1);
    struct wire_reader r = {.left = buf_str(&b)};
    (void)wire_get_str(&r);
    assert_int_equal(wire_done(&r), -EBADMSG);
}

static void spec_and_info_survive_the_wire(void **state)
{
    auto_buf struct buf b = BUF_INIT(4096);
    struct cell_info in = {.slot = 7,
                           .generation = 1ULL << 60,
                           .pid = 4711,
                           .uid_base = 0x70010000,
                           .created_us = 123456789,
                           .is_ready = true,
                           .label = "ada",
                           .spec = {.template_name = "default",
                                    .hostname = "h",
                                    .limits = {.memory_bytes = 1, .pids = 2, .cpu_milli = 3},
                                    .disk = {.kind = DISK_IMAGE, .bytes = 4}}};
    struct cell_info out;

    (void)state;
    memset(&out, 0xff, sizeof out);
    proto_put_info(&b, &in);
    struct wire_reader r = {.left = buf_str(&b)};
    proto_get_info(&r, &out);
    assert_int_equal(wire_done(&r), 0);
    assert_int_equal(out.slot, 7);
    assert_int_equal(out.generation, 1ULL << 60);
    assert_int_equal(out.uid_base, 0x70010000);
    assert_string_equal(out.label, "ada");
    assert_string_equal(out.spec.template_name, "default");
    assert_int_equal(out.spec.limits.cpu_milli, 3);
    assert_int_equal(out.spec.disk.kind, DISK_IMAGE);
}

static void wrong_names_and_kinds_are_refused(void **state)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char longest[PROTO_NAME_MAX], name[PROTO_NAME_MAX];

    (void)state;
    memset(longest, 'x', sizeof longest);
    wire_put_str(&b, str_n(longest, sizeof longest - 1));
    wire_put_str(&b, str_n(longest, sizeof longest));
    struct wire_reader r = {.left = buf_str(&b)};
    proto_get_name(&r, name, sizeof name);
    assert_false(r.is_bad);
    proto_get_name(&r, name, sizeof name);
    assert_true(r.is_bad);

    struct cell_spec spec = {.disk.kind = DISK_COUNT};
    buf_clear(&b);
    proto_put_spec(&b, &spec);
    r = (struct wire_reader){.left = buf_str(&b)};
    proto_get_spec(&r, &spec);
    assert_int_equal(wire_done(&r), -EBADMSG);

    struct proto_template t = {.name = "t", .has_usr = true, .n_layers = 1};
    buf_clear(&b);
    proto_put_template(&b, &t);
    r = (struct wire_reader){.left = buf_str(&b)};
    proto_get_template(&r, &t);
    assert_int_equal(wire_done(&r), -EBADMSG);
}

static void packets_carry_descriptors(void **state)
{
    static struct packet p;
    auto_buf struct buf b = BUF_INIT(PACKET_MAX);
    int pair[2], ends[2];
    char byte = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    packet_begin(&b, 9, 77);
    wire_put_str(&b, STR("with a pipe"));
    assert_int_equal(packet_send(pair[0], &b, ends, 2), 0);
    assert_int_equal(packet_receive(pair[1], &p), 1);
    assert_int_equal(p.kind, 9);
    assert_int_equal(p.tag, 77);
    assert_str(wire_get_str(&p.body), "with a pipe");
    int in = packet_take_fd(&p, 0), out = packet_take_fd(&p, 1);
    assert_int_equal(packet_take_fd(&p, 0), -1);
    assert_int_equal(packet_take_fd(&p, 2), -1);
    assert_int_equal(write(out, "!", 1), 1);
    assert_int_equal(read(in, &byte, 1), 1);
    assert_int_equal(fcntl(in, F_GETFD), FD_CLOEXEC);
    packet_done(&p);
    (void)close(pair[0]);
    assert_int_equal(packet_receive(pair[1], &p), 0);
    const int fds[] = {in, out, ends[0], ends[1], pair[1]};
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        assert_int_equal(close(fds[i]), 0);
}

/* ---- steps ---- */

static char trace[64];

static void note(const char *s)
{
    size_t len = strlen(trace);

    (void)snprintf(trace + len, sizeof trace - len, "%s ", s);
}

static int run_a(void *ctx, struct err *e)
{
    (void)ctx;
    (void)e;
    note("a");
    return 0;
}

static void undo_a(void *ctx)
{
    (void)ctx;
    note("-a");
}

static int run_b(void *ctx, struct err *e)
{
    (void)e;
    note("b");
    return *(int *)ctx ? err_sys(e, -EPERM, "door") : 0;
}

static void undo_b(void *ctx)
{
    (void)ctx;
    note("-b");
}

static const struct step list[] = {
    {"first", run_a, undo_a}, {"silent", run_a, NULL}, {"last", run_b, undo_b}};

static void a_failing_step_undoes_those_before_it(void **state)
{
    struct err e = ERR_INIT;
    int fails = 1;

    (void)state;
    trace[0] = '\0';
    assert_int_equal(step_run(list, ARRAY_LEN(list), &fails, &e), -EPERM);
    assert_string_equal(trace, "a a b -a ");
    assert_string_equal(err_text(&e), "last: door: Operation not permitted");
    fails = 0;
    trace[0] = '\0';
    assert_int_equal(step_run(list, ARRAY_LEN(list), &fails, &e), 0);
    step_undo(list, ARRAY_LEN(list), &fails);
    assert_string_equal(trace, "a a b -b -a ");
}

/* ---- the system call filter: run by a small interpreter ---- */

static uint32_t load(const struct seccomp_data *d, uint32_t offset)
{
    uint32_t v;

    memcpy(&v, (const char *)d + offset, sizeof v);
    return v;
}

static uint32_t answer(const struct seccomp_program *p, const struct seccomp_data *d)
{
    uint32_t acc = 0;

    for (unsigned at = 0; at < p->len; at++) {
        const struct sock_filter *f = &p->code[at];
        bool is_true = false;
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS: acc = load(d, f->k); continue;
        case BPF_RET | BPF_K: return f->k;
        case BPF_JMP | BPF_JA: at += f->k; continue;
        case BPF_JMP | BPF_JEQ | BPF_K: is_true = acc == f->k; break;
        case BPF_JMP | BPF_JGT | BPF_K: is_true = acc > f->k; break;
        case BPF_JMP | BPF_JGE | BPF_K: is_true = acc >= f->k; break;
        case BPF_JMP | BPF_JSET | BPF_K: is_true = (acc & f->k) != 0; break;
        default: fail_msg("instruction %x", f->code);
        }
        at += is_true ? f->jt : f->jf;
    }
    fail_msg("ran off the end");
    return 0;
}

enum { ALLOWED = 0 };

struct filter_case {
    const char *what;
    int nr;
    uint64_t args[3];
    int error; /* ALLOWED or errno */
};

static const struct filter_case filter_cases[] = {
    {"read", SYS_read, {0}, ALLOWED},
    {"openat2", SYS_openat2, {0}, ALLOWED},
    {"execve", SYS_execve, {0}, ALLOWED},
    {"ptrace", SYS_ptrace, {0}, ALLOWED},
    {"mount", SYS_mount, {0}, EPERM},
    {"mount_setattr", SYS_mount_setattr, {0}, EPERM},
    {"bpf", SYS_bpf, {0}, EPERM},
    {"io_uring_setup", SYS_io_uring_setup, {0}, ENOSYS},
    {"keyctl", SYS_keyctl, {0}, EPERM},
    {"clone3", SYS_clone3, {0}, ENOSYS},
    {"setns", SYS_setns, {0}, EPERM},
    {"clone thread", SYS_clone, {0x3d0f00}, ALLOWED},
    {"clone fork", SYS_clone, {17}, ALLOWED},
    {"clone user ns", SYS_clone, {0x10000011}, EPERM},
    {"clone net ns", SYS_clone, {0x40000011}, EPERM},
    {"unshare files", SYS_unshare, {0x400}, ALLOWED},
    {"unshare user", SYS_unshare, {0x10000000}, EPERM},
    {"unshare time", SYS_unshare, {0x80}, EPERM},
    {"unshare with high bits", SYS_unshare, {0x100000400ULL}, ALLOWED},
    {"personality get", SYS_personality, {0xffffffff}, ALLOWED},
    {"personality READ_IMPLIES_EXEC", SYS_personality, {0x400000}, EPERM},
    {"socket unix", SYS_socket, {AF_UNIX, 1, 0}, ALLOWED},
    {"socket inet6", SYS_socket, {AF_INET6, 1, 0}, ALLOWED},
    {"socket netlink route", SYS_socket, {16, 3, 0}, ALLOWED},
    {"socket netlink uevent", SYS_socket, {16, 3, 15}, EAFNOSUPPORT},
    {"socket netlink netfilter", SYS_socket, {16, 3, 12}, EAFNOSUPPORT},
    {"socket vsock", SYS_socket, {40, 1, 0}, EAFNOSUPPORT},
    {"socket packet", SYS_socket, {17, 3, 0}, EAFNOSUPPORT},
    {"socket alg", SYS_socket, {38, 5, 0}, EAFNOSUPPORT},
    {"socketpair unix", SYS_socketpair, {AF_UNIX, 1, 0}, ALLOWED},
    {"socketpair tipc", SYS_socketpair, {30, 1, 0}, EAFNOSUPPORT},
    {"ioctl TIOCGWINSZ", SYS_ioctl, {0, 0x5413}, ALLOWED},
    {"ioctl TIOCSTI", SYS_ioctl, {0, 0x5412}, EPERM},
    {"ioctl TIOCSTI with high bits", SYS_ioctl, {0, 0x100005412ULL}, EPERM},
    {"ioctl TIOCLINUX", SYS_ioctl, {0, 0x541c}, EPERM},
    {"prlimit of oneself", SYS_prlimit64, {0, 7}, ALLOWED},
    {"prlimit of the first process", SYS_prlimit64, {1, 7}, EPERM},
    {"removexattrat", 466, {0}, ALLOWED},
    {"open_tree_attr", 467, {0}, ENOSYS},
    {"the future", 9999, {0}, ENOSYS},
    {"x32 read", 0x40000000, {0}, ENOSYS},
};

static void filter_answers_as_its_table_says(void **state)
{
    static struct seccomp_program p;

    (void)state;
    assert_int_equal(seccomp_build(&p), 0);
    for (size_t i = 0; i < ARRAY_LEN(filter_cases); i++) {
        const struct filter_case *c = &filter_cases[i];
        struct seccomp_data d = {.nr = c->nr, .arch = AUDIT_ARCH_X86_64};
        for (size_t k = 0; k < 3; k++)
            d.args[k] = c->args[k];
        uint32_t want = c->error ? SECCOMP_RET_ERRNO | (uint32_t)c->error : SECCOMP_RET_ALLOW;
        uint32_t got = answer(&p, &d);
        if (got != want)
            fail_msg("%s: %x instead of %x", c->what, got, want);
    }
    struct seccomp_data foreign = {.nr = SYS_read, .arch = AUDIT_ARCH_I386};
    assert_int_equal(answer(&p, &foreign), SECCOMP_RET_ERRNO | ENOSYS);
}

/* Conditional jumps reach 255 instructions: none may have been cut. */
static void every_number_ends_in_an_answer(void **state)
{
    static struct seccomp_program p;
    unsigned n_denied = 0;

    (void)state;
    assert_int_equal(seccomp_build(&p), 0);
    for (int nr = 0; nr < 470; nr++) {
        struct seccomp_data d = {.nr = nr, .arch = AUDIT_ARCH_X86_64};
        n_denied += answer(&p, &d) != SECCOMP_RET_ALLOW;
    }
    assert_in_range(n_denied, 55, 80);
}

/* ---- users ---- */

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void users_are_found_by_name_and_number(void **state)
{
    char dir[] = "/tmp/tidepool-users.XXXXXX", passwd[64], group[64];
    struct user u;
    struct err e = ERR_INIT;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(passwd, sizeof passwd, "%s/passwd", dir);
    (void)snprintf(group, sizeof group, "%s/group", dir);
    put_file(passwd,
             "broken line\nroot:x:0:0:r:/root:/bin/bash\nuser:x:1000:1001:,,,:/home/user:/bin/sh\n"
             "huge:x:4294967296:0:::\n");
    put_file(group, "sudo:x:27:user\nother:x:28:users\nboth:x:29:a,user,b\n");
    assert_int_equal(user_find_in("user", passwd, group, &u, &e), 0);
    assert_int_equal(u.uid, 1000);
    assert_int_equal(u.gid, 1001);
    assert_string_equal(u.home, "/home/user");
    assert_int_equal(u.n_groups, 2);
    assert_int_equal(u.groups[0], 27);
    assert_int_equal(u.groups[1], 29);
    assert_int_equal(user_find_in("1000", passwd, group, &u, &e), 0);
    assert_string_equal(u.name, "user");
    assert_int_equal(user_find_in("4242", passwd, group, &u, &e), 0);
    assert_int_equal(u.uid, 4242);
    assert_int_equal(user_find_in("huge", passwd, group, &u, &e), -ENOENT);
    assert_int_equal(user_find_in("70000", passwd, group, &u, &e), -ENOENT);
    assert_int_equal(user_find_in("root", "/nonexistent", group, &u, &e), 0);
    assert_string_equal(u.home, "/root");
    /* A FIFO in place of the file must not stop the first process of a cell. */
    assert_int_equal(unlink(passwd), 0);
    assert_int_equal(mkfifo(passwd, 0600), 0);
    assert_int_equal(user_find_in("user", passwd, group, &u, &e), -ENOENT);
    (void)unlink(passwd);
    (void)unlink(group);
    (void)rmdir(dir);
}

static void hostnames_are_cleaned(void **state)
{
    char name[HOSTNAME_MAX], longest[200];

    (void)state;
    hostname_clean(name, "Box-1.a");
    assert_string_equal(name, "Box-1.a");
    hostname_clean(name, "a b\n127.0.0.1 evil_");
    assert_string_equal(name, "a-b-127.0.0.1-evil-");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    hostname_clean(name, longest);
    assert_int_equal(strlen(name), HOSTNAME_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_in_order),
        cmocka_unit_test(short_and_long_messages_fail_for_good),
        cmocka_unit_test(spec_and_info_survive_the_wire),
        cmocka_unit_test(wrong_names_and_kinds_are_refused),
        cmocka_unit_test(packets_carry_descriptors),
        cmocka_unit_test(a_failing_step_undoes_those_before_it),
        cmocka_unit_test(filter_answers_as_its_table_says),
        cmocka_unit_test(every_number_ends_in_an_answer),
        cmocka_unit_test(hostnames_are_cleaned),
        cmocka_unit_test(users_are_found_by_name_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
