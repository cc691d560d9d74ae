/* SPDX-License-Identifier: MIT */
/* Two cells side by side: what one does with /dev, and with what lies over parts of /proc, the
 * other neither sees (inotify) nor feels (locks, modes, times, attributes). Prints TAP. Needs root.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "stage.h"

static struct lab_result r;

static void check(bool is_ok, const char *who, const char *what)
{
    stage_check(is_ok, who, what, &r);
}

struct world {
    struct lab lab;
    struct engine_cell *one, *other;
};

/* Everything below /dev but for terminals and shared memory, which are file systems of their own;
 * the masks of /proc. */
#define PRELUDE                                                                                    \
    "import ctypes, errno, fcntl, os, stat, sys, time\n"                                           \
    "libc = ctypes.CDLL(None, use_errno=True)\n"                                                   \
    "paths = ['/dev'] + ['/dev/' + n for n in sorted(os.listdir('/dev'))\n"                        \
    "                    if not os.path.islink('/dev/' + n)]\n"                                    \
    "paths += ['/proc/' + n for n in 'acpi bus driver fs irq scsi kcore keys kmsg'.split()\n"      \
    "          if os.path.exists('/proc/' + n)]\n"                                                 \
    "def opened(path):\n"                                                                          \
    " try: return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)\n"                      \
    " except OSError: return -1\n"

/* Watches and locks all of them, says so, and writes down what it has seen when asked. */
#define WATCHER                                                                                    \
    PRELUDE "watch = libc.inotify_init1(os.O_NONBLOCK)\n"                                          \
            "names = {}\n"                                                                         \
            "for p in paths:\n"                                                                    \
            " names[libc.inotify_add_watch(watch, p.encode(), 0xfff)] = p\n"                       \
            "names.pop(-1, None)\n"                                                                \
            "held = [p for p in paths if opened(p) >= 0]\n"                                        \
            "for p in held:\n"                                                                     \
            " try: fcntl.flock(opened(p), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"                        \
            " except BlockingIOError: pass # several names of one directory\n"                     \
            "def drain():\n"                                                                       \
            " seen = []\n"                                                                         \
            " while True:\n"                                                                       \
            "  try: data = os.read(watch, 65536)\n"                                                \
            "  except BlockingIOError: return seen\n"                                              \
            "  while data:\n"                                                                      \
            "   wd, mask = int.from_bytes(data[:4], sys.byteorder), data[4:8].hex()\n"             \
            "   size = int.from_bytes(data[12:16], sys.byteorder)\n"                               \
            "   seen.append((names.get(wd), mask, data[16:16 + size].rstrip(b'\\0')))\n"           \
            "   data = data[16 + size:]\n"                                                         \
            "drain()\n"                                                                            \
            "if os.fork(): os._exit(0)\n"                                                          \
            "os.setsid()\n"                                                                        \
            "for fd in (0, 1, 2): os.close(fd)\n"                                                  \
            "open('/tmp/up.new', 'w').write('%d %d' % (len(names), len(held)))\n"                  \
            "drain()\n"                                                                            \
            "os.rename('/tmp/up.new', '/tmp/up')\n"                                                \
            "while not os.path.exists('/tmp/stop'): time.sleep(0.02)\n"                            \
            "open('/tmp/seen.new', 'w').write('\\n'.join(map(repr, drain())))\n"                   \
            "os.rename('/tmp/seen.new', '/tmp/seen')\n"                                            \
            "time.sleep(1000)\n"

/* Whatever one can do to a file; most of it is refused, which is as good. */
#define ACTOR                                                                                      \
    PRELUDE "def attempt(f, *args, **more):\n"                                                     \
            " try: f(*args, **more)\n"                                                             \
            " except OSError as e:\n"                                                              \
            "  if e.errno in (errno.EWOULDBLOCK, errno.EAGAIN): blocked.append(args)\n"            \
            "blocked = []\n"                                                                       \
            "for p in paths:\n"                                                                    \
            " fd = opened(p)\n"                                                                    \
            " if fd >= 0:\n"                                                                       \
            "  attempt(fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"                          \
            "  attempt(fcntl.lockf, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)\n"                          \
            "  if stat.S_ISCHR(os.fstat(fd).st_mode) and p != '/dev/tty': os.read(fd, 1)\n"        \
            "  os.close(fd)\n"                                                                     \
            " attempt(os.utime, p, (1, 1))\n"                                                      \
            " attempt(os.chmod, p, 0o600)\n"                                                       \
            " attempt(os.chown, p, 1, 1)\n"                                                        \
            " attempt(os.setxattr, p, 'user.note', b'x')\n"                                        \
            " acl = bytes.fromhex('02000000' '0100060000000000' '0200040001000000'"                \
            " '0400000000000000' '1000060000000000' '2000000000000000')\n"                         \
            " attempt(os.setxattr, p, 'system.posix_acl_access', acl)\n"                           \
            " attempt(os.rename, p, p + '2')\n"                                                    \
            " attempt(os.open, p + '/new', os.O_CREAT | os.O_WRONLY)\n"                            \
            "open('/dev/null', 'w').write('x')\n"                                                  \
            "if blocked: sys.exit('blocked: %r' % blocked)\n"

/* What of them can be seen from outside of the cell that changed it. */
#define STATE                                                                                      \
    PRELUDE "for p in paths:\n"                                                                    \
            " s = os.lstat(p)\n"                                                                   \
            " print(p, oct(s.st_mode), s.st_uid, s.st_gid, s.st_mtime_ns, s.st_ctime_ns,\n"        \
            "       os.listxattr(p))\n"

static int run_python(struct world *w, struct engine_cell *c, const char *user, const char *script)
{
    const char *const argv[] = {"python3", "-c", script, NULL};
    struct engine_run run = {.user = user, .argv = argv, .cwd = "/tmp", .timeout_ms = 8000};

    return lab_run(&w->lab, c, &run, &r);
}

static void check_actor(struct world *w, const char *user)
{
    static char before[sizeof r.out];
    unsigned watches = 0, locks = 0;

    check(lab_sh(&w->lab, w->one, "root", "rm -f /tmp/up /tmp/stop /tmp/seen", &r) == 0 &&
              run_python(w, w->one, user, WATCHER) == 0 &&
              lab_sh(&w->lab, w->one, user,
                     "while ! [ -s /tmp/up ]; do sleep 0.02; done; cat /tmp/up", &r) == 0,
          user, "watches and locks");
    (void)sscanf(r.out, "%u %u", &watches, &locks);
    check(watches >= 8 && locks >= 8, user, "has watches and locks on all");
    check(run_python(w, w->one, user, STATE) == 0, user, "looks at the files");
    memcpy(before, r.out, sizeof before);
    /* The watcher has seen that look; only what comes from now on counts. */
    check(lab_sh(&w->lab, w->one, user, "true </dev/zero", &r) == 0, user, "acts itself");

    check(run_python(w, w->other, user, ACTOR) == 0, user, "is not kept from its own locks");

    check(lab_sh(&w->lab, w->one, user,
                 "touch /tmp/stop; while ! [ -e /tmp/seen ]; do sleep 0.02; done\n"
                 "cat /tmp/seen",
                 &r) == 0,
          user, "looks at what was seen");
    check(strstr(r.out, "/dev/zero") != NULL, user, "sees what it does itself");
    check(!strstr(r.out, "/dev/full") && !strstr(r.out, "/dev/urandom") && !strstr(r.out, "/proc/"),
          user, "sees nothing of what the other does");
    check(run_python(w, w->one, user, STATE) == 0 && strcmp(before, r.out) == 0, user,
          "has its files as they were");
    (void)lab_sh(&w->lab, w->one, "root", "kill -9 -1", &r);
}

static struct engine_cell *create(struct world *w, const char *name)
{
    struct cell_spec s = lab_spec();

    return stage_create(&w->lab, name, &s);
}

int main(void)
{
    static struct world w;

    if (stage_must_skip())
        return 0;
    stage_open(&w.lab);
    w.one = create(&w, "one");
    w.other = create(&w, "other");
    check_actor(&w, "user");
    check_actor(&w, "root");
    check(lab_sh(&w.lab, w.one, "user", "test \"$(stat -c %u:%g:%a /dev/null)\" = 0:0:666", &r) ==
              0,
          "user", "/dev/null belongs to root");
    return stage_end(&w.lab);
}
