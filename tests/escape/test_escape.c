/* SPDX-License-Identifier: MIT */
/* The escape suite: plants a canary and services on the host and in a second cell, runs every probe
 * inside a cell as root and as user, abuses the cell, and then looks at the host: nothing may have
 * been read, changed or reached. Prints TAP. Needs root; $TIDEPOOL_PROBE is the program of probes.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "stage.h"
#include "sys/io.h"

enum { PROBE_MAX = 4 << 20, PROBES_MIN = 95 };

static void check(bool is_ok, const char *who, const char *what)
{
    stage_check(is_ok, who, what, NULL);
}

/* ---- what is planted, and how the host looked before ---- */

struct world {
    struct lab lab;
    struct engine_cell *cell, *sibling;
    char canary[64], secret[33], host_name[32], sibling_name[32];
    int canary_watch, host_socket, host_port_socket, port;
    int64_t clock_gap_us; /* real minus monotonic: a jump means that somebody set the clock */
    char hostname[128];
    struct stat null;
    struct buf core_pattern, program;
};

static struct lab_result r;

static void plant_canary(struct world *w)
{
    (void)snprintf(w->canary, sizeof w->canary, "/var/tmp/tidepool-canary.XXXXXX");
    id_hex(w->secret, sizeof w->secret - 1);
    auto_close int fd = mkostemp(w->canary, O_CLOEXEC);
    if (fd < 0 || io_write_all(fd, w->secret, strlen(w->secret)) < 0 || fchmod(fd, 0666) < 0)
        abort();
    w->canary_watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (inotify_add_watch(w->canary_watch, w->canary,
                          IN_OPEN | IN_ACCESS | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF) < 0)
        abort();
}

static void plant_services(struct world *w)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof in;

    (void)snprintf(w->host_name, sizeof w->host_name, "tidepool-host-%d", (int)getpid());
    (void)snprintf(w->sibling_name, sizeof w->sibling_name, "tidepool-cell-%d", (int)getpid());
    memcpy(a.sun_path + 1, w->host_name, strlen(w->host_name));
    w->host_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    w->host_port_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t name_len =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(w->host_name));
    if (bind(w->host_socket, (struct sockaddr *)&a, name_len) < 0 ||
        listen(w->host_socket, 8) < 0 ||
        bind(w->host_port_socket, (struct sockaddr *)&in, sizeof in) < 0 ||
        listen(w->host_port_socket, 8) < 0 ||
        getsockname(w->host_port_socket, (struct sockaddr *)&in, &len) < 0)
        abort();
    w->port = ntohs(in.sin_port);
}

static void remember_host(struct world *w)
{
    buf_init(&w->core_pattern, 4096);
    buf_init(&w->program, 1 << 20);
    if (gethostname(w->hostname, sizeof w->hostname) < 0 || stat("/dev/null", &w->null) < 0 ||
        io_read_file("/proc/sys/kernel/core_pattern", &w->core_pattern, NULL) < 0 ||
        io_read_file("/usr/bin/true", &w->program, NULL) < 0)
        abort();
    w->clock_gap_us = clock_real_us() - clock_mono_us();
}

static struct engine_cell *create(struct world *w, const char *name)
{
    struct cell_spec s = lab_spec();

    s.limits.memory_bytes = 128 << 20;
    return stage_create(&w->lab, name, &s);
}

/* Services of the second cell, which the first must not reach. */
static void start_sibling(struct world *w)
{
    char script[1024];

    (void)snprintf(script, sizeof script,
                   "python3 -c 'import socket,time\n"
                   "a=socket.socket(socket.AF_UNIX); a.bind(\"\\0%s\"); a.listen()\n"
                   "b=socket.socket(); b.bind((\"127.0.0.1\",4242)); b.listen()\n"
                   "open(\"/tmp/up\",\"w\").write(\"1\"); time.sleep(1000)' >/dev/null 2>&1 &\n"
                   "while ! [ -s /tmp/up ]; do sleep 0.02; done",
                   w->sibling_name);
    check(lab_sh(&w->lab, w->sibling, "user", script, &r) == 0, "host", "second cell serves");
}

/* ---- inside ---- */

static void send_probe(struct world *w)
{
    auto_buf struct buf program = BUF_INIT(PROBE_MAX);
    const char *path = getenv("TIDEPOOL_PROBE");
    const char *const argv[] = {"sh", "-c", "cat >/tmp/probe && chmod 755 /tmp/probe", NULL};

    if (!path || io_read_file(path, &program, NULL) < 0)
        abort();
    struct engine_run run = {.argv = argv, .input = buf_str(&program)};
    check(lab_run(&w->lab, w->cell, &run, &r) == 0, "host", "probes are in the cell");
}

static void run_probes(struct world *w, const char *user)
{
    char pid[16], port[16];
    unsigned before = stage_n_checks();

    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)snprintf(port, sizeof port, "%d", w->port);
    const char *const argv[] = {"/tmp/probe",    w->canary, w->secret, w->lab.state, w->host_name,
                                w->sibling_name, pid,       port,      "4242",       NULL};
    struct engine_run run = {.user = user, .argv = argv, .cwd = "/tmp", .timeout_ms = 15000};
    check(lab_run(&w->lab, w->cell, &run, &r) == 0, user, "probes ran");
    struct str out = str_of(r.out);
    while (out.p) {
        char name[256];
        struct str line = str_cut(&out, '\n');
        bool is_ok = str_starts(line, STR("ok "));
        if (!is_ok && !str_starts(line, STR("FAIL ")))
            continue;
        (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(str_skip(line, is_ok ? 3 : 5)));
        check(is_ok, user, name);
    }
    check(stage_n_checks() - before > PROBES_MIN, user, "all probes reported");
}

/* Things that only hurt: the cell has to stop them at its limits and live on. */
static const struct {
    const char *name, *script;
} abuses[] = {
    {"fork bomb", "b() { b | b & b; }; b 2>/dev/null; true"},
    {"memory bomb", "python3 -c 'x=[]\nwhile 1: x.append(bytearray(1<<20))'; true"},
    {"shared memory", "head -c 500000000 /dev/zero >/dev/shm/x 2>/dev/null; rm -f /dev/shm/x"},
    {"full disk", "head -c 500000000 /dev/zero >/tmp/x 2>/dev/null; rm -f /tmp/x"},
    {"inodes",
     "mkdir /tmp/i; cd /tmp/i; python3 -c 'for i in range(200000): open(str(i),\"w\").close()' "
     "2>/dev/null; cd /; rm -rf /tmp/i"},
    {"open files", "python3 -c 'x=[]\nwhile 1: x.append(open(\"/dev/null\"))' 2>/dev/null; true"},
    {"inotify",
     "python3 -c 'import ctypes\nl=ctypes.CDLL(None)\nwhile l.inotify_init()>=0: pass'; true"},
    {"terminals",
     "python3 -c 'import os\nx=[]\nwhile 1: x.append(os.openpty())' 2>/dev/null; true"},
    {"message queues", "python3 -c 'import ctypes\nl=ctypes.CDLL(None)\n"
                       "while l.msgget(0,0o1600)>=0: pass'; true"},
    {"deep directories",
     "cd /tmp; i=0; while [ $i -lt 600 ]; do mkdir d && cd d || break; i=$((i+1)); done; true"},
    {"output flood", "timeout 2 yes; true"},
    {"signals", "kill -9 -1; true"},
};

/* Root of the cell ends what the abuse left; its own shell goes with it. While a bomb holds every
 * process that the cell may have, that takes more than one try. */
static bool recovers(struct world *w, const char *user)
{
    for (int i = 0; i < 50; i++) {
        (void)lab_sh(&w->lab, w->cell, "root", "kill -9 -1", &r);
        if (lab_sh(&w->lab, w->cell, user, "echo alive", &r) == 0 && strcmp(r.out, "alive\n") == 0)
            return true;
        (void)usleep(200000);
    }
    return false;
}

static void run_abuses(struct world *w, const char *user)
{
    for (size_t i = 0; i < sizeof abuses / sizeof abuses[0]; i++) {
        const char *argv[] = {"sh", "-c", abuses[i].script, NULL};
        struct engine_run run = {
            .user = user, .argv = argv, .timeout_ms = 8000, .max_output = 65536};
        (void)lab_run(&w->lab, w->cell, &run, &r);
        check(recovers(w, user), user, abuses[i].name);
        check(lab_sh(&w->lab, w->sibling, "user", "true", &r) == 0, user, "second cell is well");
    }
}

/* ---- afterwards ---- */

static void check_host(struct world *w)
{
    auto_buf struct buf pattern = BUF_INIT(4096), program = BUF_INIT(1 << 20);
    char text[4096], hostname[128] = "";
    struct stat st;
    int64_t gap_us = clock_real_us() - clock_mono_us() - w->clock_gap_us;

    check(read(w->canary_watch, text, sizeof text) < 0 && errno == EAGAIN, "host",
          "canary was not touched");
    auto_close int fd = io_open(w->canary, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    check(n == (ssize_t)strlen(w->secret) && memcmp(text, w->secret, (size_t)n) == 0, "host",
          "canary holds what it held");
    check(accept(w->host_socket, NULL, NULL) < 0, "host", "abstract socket was not reached");
    check(accept(w->host_port_socket, NULL, NULL) < 0, "host", "port was not reached");
    check(gethostname(hostname, sizeof hostname) == 0 && strcmp(hostname, w->hostname) == 0, "host",
          "hostname");
    check(stat("/dev/null", &st) == 0 && st.st_mode == w->null.st_mode &&
              st.st_uid == w->null.st_uid && st.st_rdev == w->null.st_rdev,
          "host", "/dev/null");
    check(io_read_file("/proc/sys/kernel/core_pattern", &pattern, NULL) == 0 &&
              str_eq(buf_str(&pattern), buf_str(&w->core_pattern)),
          "host", "core_pattern");
    check(io_read_file("/usr/bin/true", &program, NULL) == 0 &&
              str_eq(buf_str(&program), buf_str(&w->program)),
          "host", "/usr/bin/true");
    check(gap_us > -2000000 && gap_us < 2000000, "host", "clock");
    for (const char *const *p =
             (const char *const[]){"/usr/bin/probe-planted", "/etc/probe-planted", NULL};
         *p; p++)
        check(access(*p, F_OK) < 0, "host", *p);
}

int main(void)
{
    static struct world w;

    if (stage_must_skip())
        return 0;
    remember_host(&w);
    plant_canary(&w);
    plant_services(&w);
    stage_open(&w.lab);
    w.sibling = create(&w, "sibling");
    w.cell = create(&w, "probed");
    start_sibling(&w);
    send_probe(&w);
    check(lab_sh(&w.lab, w.cell, "root",
                 "cp /bin/sh /usr/bin/true; touch /usr/bin/probe-planted /etc/probe-planted",
                 &r) == 0,
          "root", "may change its own copy of /usr");
    run_probes(&w, "root");
    run_probes(&w, "user");
    run_abuses(&w, "user");
    run_abuses(&w, "root");
    check_host(&w);
    (void)unlink(w.canary);
    return stage_end(&w.lab);
}
