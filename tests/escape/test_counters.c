/* SPDX-License-Identifier: MIT */
/* What the kernel counts for more than one cell: a hostile cell takes all that it can get, as its
 * default user and as root under many uids, and keeps it. Meanwhile root of the host and a second
 * cell still get theirs. Prints TAP. Needs root. */
#include <errno.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/aio_abi.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "stage.h"
#include "sys/io.h"

/* What a neighbour needs of each, at least. */
enum { MODEST = 8 };
enum { MEMORY = 768 << 20, PIDS = 1024 };

static struct lab_result r;

static void check(bool is_ok, const char *counter, const char *who, const char *what)
{
    char taken[128];

    (void)snprintf(taken, sizeof taken, "%s, taken by %s", counter, who);
    stage_check(is_ok, taken, what, NULL);
}

/* ---- what the host takes ---- */

static bool host_inotify(int i)
{
    (void)i;
    return inotify_init1(IN_CLOEXEC) >= 0;
}

static bool host_aio(int i)
{
    aio_context_t context = 0;

    (void)i;
    return syscall(SYS_io_setup, 128, &context) == 0;
}

static bool host_queue(int i)
{
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
    char name[48];

    (void)snprintf(name, sizeof name, "/tidepool-test-%d-%d", (int)getpid(), i);
    mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
    if (q == (mqd_t)-1)
        return false;
    return mq_unlink(name) == 0;
}

static bool host_timer(int i)
{
    timer_t t;

    (void)i;
    return timer_create(CLOCK_MONOTONIC, NULL, &t) == 0;
}

static bool host_terminal(int i)
{
    (void)i;
    return posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0;
}

static bool host_file(int i)
{
    (void)i;
    return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool host_pipe(int i)
{
    int pair[2];

    (void)i;
    return pipe2(pair, O_CLOEXEC) == 0 && fcntl(pair[0], F_SETPIPE_SZ, 1 << 18) >= 0;
}

/* ---- the counters ---- */

/* `one(i)` in Python takes one more, or raises or returns something below 0. */
static const struct counter {
    const char *name, *one;
    bool (*host)(int i);
    bool is_denied; /* sandboxes have none of it */
    int part;       /* one cell gets so many of the machine's at most, or MODEST times two */
} counters[] = {
    {"inotify instances", "one = lambda i: libc.inotify_init1(0)", host_inotify, false, 0},
    {"aio contexts",
     "def one(i):\n"
     " c = ctypes.c_ulong(0)\n"
     " return libc.syscall(IO_SETUP, 1000, ctypes.byref(c))\n",
     host_aio, true, 0},
    {"message queues",
     "def one(i):\n"
     " a = (ctypes.c_long * 8)(0, 10, 1024)\n"
     " name = b'q%d-%d' % (os.getpid(), i)\n"
     " q = libc.syscall(MQ_OPEN, name, 0o102, 0o600, a)\n"
     " if q >= 0: libc.syscall(MQ_OPEN + 1, name)\n"
     " return q\n",
     host_queue, false, 0},
    {"timers and pending signals",
     "def one(i):\n"
     " t = ctypes.c_void_p()\n"
     " return libc.timer_create(1, None, ctypes.byref(t))\n",
     host_timer, false, 0},
    {"terminals",
     "one = lambda i: os.posix_openpt(os.O_RDWR | os.O_NOCTTY)\n"
     "os.posix_openpt = getattr(os, 'posix_openpt', "
     "lambda flags: os.open('/dev/ptmx', flags))",
     host_terminal, false, 32},
    {"open files", "one = lambda i: os.open('/dev/null', os.O_RDONLY)", host_file, false, 0},
    {"pipes",
     "def one(i):\n"
     " a, b = os.pipe()\n"
     " return fcntl.fcntl(a, 1031, 1 << 18)\n",
     host_pipe, false, 0},
};

#define PRELUDE                                                                                    \
    "import ctypes, fcntl, os, platform, resource, sys, time\n"                                    \
    "libc = ctypes.CDLL(None, use_errno=True)\n"                                                   \
    "X86 = platform.machine() == 'x86_64'\n"                                                       \
    "IO_SETUP, MQ_OPEN = (206, 240) if X86 else (0, 180)\n"                                        \
    "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"                                       \
    "resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))\n"                                   \
    "def take(most):\n"                                                                            \
    " for i in range(most):\n"                                                                     \
    "  try:\n"                                                                                     \
    "   if one(i) < 0: return i\n"                                                                 \
    "  except OSError: return i\n"                                                                 \
    " return most\n"

/* One process per uid: every one of them takes until it is refused, says so, and stays. */
#define HOARD                                                                                      \
    "r, w = os.pipe()\n"                                                                           \
    "uids = [None] if os.getuid() else [0] + list(range(2000, 2015))\n"                            \
    "for uid in uids:\n"                                                                           \
    " if os.fork() == 0:\n"                                                                        \
    "  os.close(r)\n"                                                                              \
    "  if uid: os.setresuid(uid, uid, uid)\n"                                                      \
    "  os.write(w, b'%d\\n' % take(1000000))\n"                                                    \
    "  time.sleep(1000)\n"                                                                         \
    "os.close(w)\n"                                                                                \
    "lines = os.fdopen(r)\n"                                                                       \
    "n = sum(int(lines.readline()) for uid in uids)\n"                                             \
    "open('/tmp/taken.new', 'w').write(str(n))\n"                                                  \
    "os.rename('/tmp/taken.new', '/tmp/taken')\n"                                                  \
    "time.sleep(1000)\n"

struct world {
    struct lab lab;
    struct engine_cell *hostile, *second;
};

static int run_python(struct world *w, struct engine_cell *c, const char *user, const char *script)
{
    const char *const argv[] = {"python3", "-c", script, NULL};
    struct engine_run run = {.user = user, .argv = argv, .cwd = "/tmp", .timeout_ms = 15000};

    return lab_run(&w->lab, c, &run, &r);
}

/* Leaves its processes behind, and waits until none of them gets any more. */
static long hoard(struct world *w, const struct counter *k, const char *user)
{
    char script[4096];

    (void)snprintf(script, sizeof script,
                   PRELUDE "%s\n"
                           "if os.fork() == 0:\n"
                           " os.setsid()\n"
                           " null = os.open('/dev/null', os.O_RDWR)\n"
                           " for fd in (0, 1, 2): os.dup2(null, fd)\n"
                           " exec(sys.argv[1])\n"
                           "while not os.path.exists('/tmp/taken'): time.sleep(0.02)\n"
                           "print(open('/tmp/taken').read())\n",
                   k->one);
    const char *const argv[] = {"python3", "-c", script, HOARD, NULL};
    struct engine_run run = {.user = user, .argv = argv, .cwd = "/tmp", .timeout_ms = 15000};
    if (lab_run(&w->lab, w->hostile, &run, &r) != 0) {
        (void)printf("# %s: %s\n", k->name, r.err);
        return -1;
    }
    return strtol(r.out, NULL, 10);
}

static void let_go(struct world *w)
{
    (void)lab_sh(&w->lab, w->hostile, "root", "rm -f /tmp/taken; kill -9 -1", &r);
}

/* In a child: what it takes goes with it. */
static bool host_gets(const struct counter *k)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        for (int i = 0; i < MODEST; i++)
            if (!k->host(i)) {
                (void)printf("# host: %s\n", strerror(errno));
                (void)fflush(stdout);
                _exit(1);
            }
        _exit(0);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

static bool cell_gets(struct world *w, const struct counter *k, const char *user)
{
    char script[2048];

    (void)snprintf(script, sizeof script, PRELUDE "%s\nsys.exit(take(%d) != %d)\n", k->one,
                   (int)MODEST, k->is_denied ? 0 : (int)MODEST);
    return run_python(w, w->second, user, script) == 0;
}

static int64_t host_number(const char *path)
{
    auto_buf struct buf b = BUF_INIT(4096);
    int64_t n;

    if (io_read_file(path, &b, NULL) < 0)
        return INT64_MAX;
    struct str rest = buf_str(&b);
    return str_to_i64(str_cut(&rest, '\n'), &n) == 0 ? n : INT64_MAX;
}

/* Of what is shared out, which is terminals. */
static bool is_share(const struct counter *k, long n)
{
    int64_t all =
        host_number("/proc/sys/kernel/pty/max") - host_number("/proc/sys/kernel/pty/reserve");

    return k->part == 0 || n <= 2 * MODEST || n * k->part <= all;
}

static void try_counter(struct world *w, const struct counter *k, const char *user)
{
    char text[64];
    long n = hoard(w, k, user);

    (void)snprintf(text, sizeof text, "%ld of them", n);
    check(k->is_denied ? n == 0 : n >= MODEST && is_share(k, n), k->name, user, text);
    check(host_gets(k), k->name, user, "the host's root gets its own");
    check(cell_gets(w, k, "user"), k->name, user, "a user of the second cell gets its own");
    check(cell_gets(w, k, "root"), k->name, user, "root of the second cell gets its own");
    let_go(w);
}

/* Buffers of sockets come out of one budget of the machine's (net.ipv4.tcp_mem), which its line in
 * sockstat shows to everybody. */
static void try_sockets(struct world *w)
{
    long before = 0, after = 0;
    int code = run_python(w, w->hostile, "user",
                          PRELUDE "import socket\n"
                                  "def used():\n"
                                  " return int([l.split()[-1] for l in open('/proc/net/sockstat')\n"
                                  "             if l.startswith('TCP:')][0])\n"
                                  "before = used()\n"
                                  "l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(8)\n"
                                  "kept = []\n"
                                  "for i in range(400):\n"
                                  " a = socket.create_connection(l.getsockname())\n"
                                  " kept += [a, l.accept()[0]]\n"
                                  " a.setblocking(False)\n"
                                  " try:\n"
                                  "  while a.send(b'x' * 65536): pass\n"
                                  " except BlockingIOError: pass\n"
                                  "print(before, used())\n");

    check(code == 0 && sscanf(r.out, "%ld %ld", &before, &after) == 2, "socket memory", "user",
          "takes what it can get");
    (void)printf("# %ld pages before, %ld after\n", before, after);
    check((after - before) * sysconf(_SC_PAGESIZE) < MEMORY, "socket memory", "user",
          "no more than the cell's memory");
}

/* Taking these for real would take long, and memory that a test should not need. */
static void try_shares(struct world *w)
{
    int64_t files = host_number("/proc/sys/fs/file-max");

    check(lab_sh(&w->lab, w->hostile, "root", "ulimit -Hn", &r) == 0 &&
              strtol(r.out, NULL, 10) >= 1024 && strtol(r.out, NULL, 10) * PIDS < files,
          "open files of all", "root", "fewer than the machine has");
}

static struct engine_cell *create(struct world *w, const char *name)
{
    struct cell_spec s = lab_spec();

    s.limits.memory_bytes = MEMORY;
    s.limits.pids = PIDS;
    return stage_create(&w->lab, name, &s);
}

int main(void)
{
    static struct world w;

    if (stage_must_skip())
        return 0;
    stage_open(&w.lab);
    w.second = create(&w, "second");
    w.hostile = create(&w, "hostile");
    for (size_t i = 0; i < ARRAY_LEN(counters); i++) {
        try_counter(&w, &counters[i], "user");
        try_counter(&w, &counters[i], "root");
    }
    try_sockets(&w);
    try_shares(&w);
    return stage_end(&w.lab);
}
