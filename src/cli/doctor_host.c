/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: devices, limits, space, tools, the state directory and the port. See doctor.h.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/tls_make.h"
#include "sys/io.h"

#define MIB (INT64_C(1) << 20)

enum {
    MIN_FILES = 4096,
    GOOD_FILES = 65536,
    MIN_DISK_MIB = 1024,
    GOOD_DISK_MIB = 10240,
    MIN_INODES = 10000,
    GOOD_INODES = 200000,
    MIN_MEMORY_MIB = 256,
    GOOD_MEMORY_MIB = 1024,
};

/* Missing below MIN, a warning below GOOD. */
static enum doctor_status grade(int64_t have, int64_t min, int64_t good)
{
    return have < min ? DOCTOR_MISSING : have < good ? DOCTOR_WARN : DOCTOR_OK;
}

void doctor_device(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    auto_close int fd = io_open(check->word, O_RDWR | O_NONBLOCK, 0);

    (void)c;
    if (fd == -EACCES || fd == -EPERM)
        doctor_say(r, DOCTOR_WARN, "%s exists, but this user cannot open it", check->word);
    else
        doctor_judge(r, fd < 0 ? fd : 0, check->word);
}

void doctor_files(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    int64_t most = doctor_max_files();

    (void)check;
    (void)c;
    doctor_say(r, grade(most, MIN_FILES, GOOD_FILES), "%" PRId64 " at most", most);
}

void doctor_existing_parent(const char *state, char out[4096])
{
    (void)snprintf(out, 4096, "%s", state);
    while (access(out, F_OK) < 0 && strchr(out, '/')) {
        char *slash = strrchr(out, '/');
        if (slash == out) {
            out[1] = '\0';
            return;
        }
        *slash = '\0';
    }
    if (access(out, F_OK) < 0)
        (void)snprintf(out, 4096, ".");
}

void doctor_disk(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    char dir[4096];
    struct statvfs v;

    (void)check;
    doctor_existing_parent(c->state, dir);
    if (statvfs(dir, &v) < 0) {
        doctor_judge(r, -errno, "");
        return;
    }
    int64_t mib = (int64_t)(v.f_bavail * v.f_frsize) / MIB;
    doctor_say(r, grade(mib, MIN_DISK_MIB, GOOD_DISK_MIB), "%" PRId64 " MiB free at %.180s", mib,
               dir);
}

void doctor_inodes(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    char dir[4096];
    struct statvfs v;

    (void)check;
    doctor_existing_parent(c->state, dir);
    if (statvfs(dir, &v) < 0) {
        doctor_judge(r, -errno, "");
        return;
    }
    if (v.f_files == 0)
        doctor_say(r, DOCTOR_OK, "the file system does not report inodes");
    else
        doctor_say(r, grade((int64_t)v.f_favail, MIN_INODES, GOOD_INODES), "%" PRId64 " free",
                   (int64_t)v.f_favail);
}

int64_t doctor_memory_kib(void)
{
    struct buf text auto_buf = BUF_INIT(65536);
    int64_t kib = -1;

    if (io_read_file("/proc/meminfo", &text, NULL) < 0)
        return -1;
    for (struct str rest = buf_str(&text); rest.p;) {
        struct str value = str_cut(&rest, '\n');
        if (str_is(str_cut(&value, ':'), "MemAvailable")) {
            value = str_trim(value);
            (void)str_to_i64(str_cut(&value, ' '), &kib);
        }
    }
    return kib;
}

void doctor_memory(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    int64_t kib = doctor_memory_kib();

    (void)check;
    (void)c;
    if (kib < 0)
        doctor_say(r, DOCTOR_WARN, "cannot read /proc/meminfo");
    else
        doctor_say(r, grade(kib / 1024, MIN_MEMORY_MIB, GOOD_MEMORY_MIB),
                   "%" PRId64 " MiB available", kib / 1024);
}

void doctor_tool(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    /* What a sandbox sees of the host, wherever else the caller may have programs. */
    static const char dirs[] = "/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin";

    (void)c;
    for (struct str rest = str_of(dirs); rest.p;) {
        struct str dir = str_cut(&rest, ':');
        char file[DOCTOR_DETAIL_MAX];
        (void)snprintf(file, sizeof file, STR_FMT "/%s", STR_ARG(dir), check->word);
        if (dir.len && access(file, X_OK) == 0) {
            doctor_say(r, DOCTOR_OK, "%s", file);
            return;
        }
    }
    doctor_say(r, DOCTOR_MISSING, "not in /usr");
}

void doctor_glob(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    glob_t found;

    (void)c;
    if (glob(check->word, 0, NULL, &found) != 0) {
        doctor_say(r, DOCTOR_MISSING, "not found");
        return;
    }
    doctor_say(r, DOCTOR_OK, "%s", found.gl_pathv[0]);
    globfree(&found);
}

void doctor_state(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    char dir[4096];

    (void)check;
    doctor_existing_parent(c->state, dir);
    bool is_there = strcmp(dir, c->state) == 0;
    struct stat st;
    if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
        doctor_say(r, DOCTOR_MISSING, "%.200s is not a directory", dir);
    else if (access(dir, W_OK | X_OK) < 0)
        doctor_say(r, DOCTOR_MISSING, "%.200s is not writable", dir);
    else if (is_there && (st.st_mode & 0007))
        doctor_say(r, DOCTOR_WARN, "%.180s is accessible to other users", dir);
    else
        doctor_say(r, DOCTOR_OK, is_there ? "%.200s" : "%.180s will be created", c->state);
}

/* ---- port ---- */

/* True when what listens at A answers like this program. */
static bool is_our_service(const struct addrinfo *a)
{
    static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n";
    const struct timeval limit = {.tv_sec = 2};
    char answer[2048];
    size_t len = 0;
    auto_close int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0 ||
        send(fd, ask, sizeof ask - 1, MSG_NOSIGNAL) < 0)
        return false;
    while (len < sizeof answer - 1) {
        ssize_t n = io_read(fd, answer + len, sizeof answer - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    answer[len] = '\0';
    return strstr(answer, "\r\nX-Request-Id: ") && strstr(answer, "{\"status\":") &&
           strstr(answer, "\"version\":");
}

static int try_bind(const struct addrinfo *a)
{
    const int on = 1;
    auto_close int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(fd, a->ai_addr, a->ai_addrlen) < 0 ? -errno : 0;
}

static void judge_port(const struct addrinfo *a, const struct config *c, struct doctor_result *r)
{
    const char *listen = c->listen;
    int code = try_bind(a);

    if (code == 0)
        doctor_say(r, DOCTOR_OK, "%.200s is free", listen);
    else if (code == -EADDRINUSE && (c->tls.cert || c->tls.dir))
        doctor_say(r, DOCTOR_WARN,
                   "a program is listening on %.180s; not identified, because it uses TLS", listen);
    else if (code == -EADDRINUSE && is_our_service(a))
        doctor_say(r, DOCTOR_OK, "Tidepool is running on %.200s", listen);
    else if (code == -EADDRINUSE)
        doctor_say(r, DOCTOR_MISSING, "another program is listening on %.200s", listen);
    else
        doctor_say(r, DOCTOR_MISSING, "%.180s: %s", listen, strerror(-code));
}

void doctor_port(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    auto_free char *host = mem_strdup(c->listen);
    char *colon = host ? strrchr(host, ':') : NULL;
    struct addrinfo *list;

    (void)check;
    if (!colon || strncmp(c->listen, "unix:", 5) == 0) {
        doctor_say(r, DOCTOR_OK, "%.200s", c->listen);
        return;
    }
    *colon = '\0';
    char *name = host;
    if (*name == '[') {
        name++;
        colon[-1] = '\0';
    }
    int code = getaddrinfo(name, colon + 1, &hints, &list);
    if (code != 0) {
        doctor_say(r, DOCTOR_MISSING, "%.180s: %s", c->listen, gai_strerror(code));
        return;
    }
    judge_port(list, c, r);
    freeaddrinfo(list);
}

/* ---- TLS ---- */

enum { DAY_S = 86400, SOON_DAYS = 14, PEM_MAX = 1 << 20 };

void doctor_certificate(const struct doctor_check *check, const struct config *c,
                        struct doctor_result *r)
{
    struct buf text auto_buf = BUF_INIT(PEM_MAX);
    struct err e = ERR_INIT;
    int64_t left_s = 0;

    (void)check;
    if (!c->tls.cert) {
        doctor_say(r, DOCTOR_OK, "none set");
        return;
    }
    if (io_read_file(c->tls.cert, &text, &e) < 0 || tls_cert_left(buf_str(&text), &left_s, &e) < 0)
        doctor_say(r, DOCTOR_MISSING, "%.200s", err_text(&e));
    else if (left_s <= 0)
        doctor_say(r, DOCTOR_MISSING, "%.180s has expired", c->tls.cert);
    else
        doctor_say(r, left_s < SOON_DAYS * DAY_S ? DOCTOR_WARN : DOCTOR_OK,
                   "%.180s expires in %lld days", c->tls.cert, (long long)(left_s / DAY_S));
}

/* ---- KVM ---- */

static bool has_cpu_flag(struct str cpuinfo, const char *flag)
{
    while (cpuinfo.p) {
        struct str words = str_cut(&cpuinfo, '\n');
        if (!str_starts(words, STR("flags")))
            continue;
        while (words.p)
            if (str_is(str_cut(&words, ' '), flag))
                return true;
        return false;
    }
    return false;
}

/* The device alone proves little: some kernels offer it without hardware support behind it. */
void doctor_kvm(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    struct buf text auto_buf = BUF_INIT(4 << 20);
    bool has_device = access("/dev/kvm", F_OK) == 0;

    (void)check;
    (void)c;
    (void)io_read_file("/proc/cpuinfo", &text, NULL);
    bool has_hardware = has_cpu_flag(buf_str(&text), "vmx") || has_cpu_flag(buf_str(&text), "svm");
    if (has_hardware && has_device)
        doctor_say(r, DOCTOR_OK, "hardware virtualisation and /dev/kvm");
    else if (has_device)
        doctor_say(r, DOCTOR_MISSING, "/dev/kvm without vmx or svm in the CPU's flags");
    else
        doctor_say(r, DOCTOR_MISSING, "no /dev/kvm");
}
