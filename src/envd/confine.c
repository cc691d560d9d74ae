/* SPDX-License-Identifier: MIT */
/* What a cell is not given: capabilities, limits of resources, system calls. Runs as the last part
 * of a cell's set-up, in its first process; commands inherit it.
 *
 * no_new_privs is the template's choice: with it, setuid programs (sudo, su) do not work inside.
 * The default template leaves it off: root of a cell is a plain user of the host, so becoming it
 * gives nothing beyond the cell. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/capability.h>

#include "base/cleanup.h"
#include "envd/inside.h"
#include "envd/proc_launch.h"
#include "envd/spawner.h"

/* What root in a cell needs to install packages, change users and serve. No SYS_ADMIN, NET_ADMIN,
 * SYS_PTRACE, MKNOD, SYS_RESOURCE …: even over its own namespaces it has no say. */
static const int kept_caps[] = {
    CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,           CAP_FSETID,     CAP_KILL,    CAP_SETGID,
    CAP_SETUID, CAP_SETPCAP,      CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_SETFCAP,
};

static bool is_kept_capability(int cap)
{
    for (size_t i = 0; i < ARRAY_LEN(kept_caps); i++)
        if (kept_caps[i] == cap)
            return true;
    return false;
}

/* The first process keeps its own capabilities (it sets the hostname and changes users); nothing
 * that is executed can have more than the bounding set. */
static int cut_bounding_set(struct err *e)
{
    for (int cap = 0;; cap++) {
        if (is_kept_capability(cap))
            continue;
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL)
            return 0; /* past the last one that this kernel has */
        return err_sys(e, -errno, "capability %d", cap);
    }
}

enum { FILES_SOFT = 4096 };

static const struct {
    int which;
    rlim_t soft, hard;
} limits[] = {
    /* 1, not 0: a core_pattern that pipes ignores 0, and would run a host program on our word. */
    {RLIMIT_CORE, 1, 1},
    {RLIMIT_MEMLOCK, 8 << 20, 8 << 20},
    {RLIMIT_MSGQUEUE, 819200, 819200},
    {RLIMIT_SIGPENDING, 8192, 8192},
    {RLIMIT_NICE, 0, 0},
    {RLIMIT_RTPRIO, 0, 0},
};

/* Never above what the spawner has: raising needs a capability that not every host gives. */
static int set_limit(int which, struct rlimit want, struct err *e)
{
    struct rlimit now;

    if (getrlimit(which, &now) < 0)
        return err_sys(e, -errno, "limit %d", which);
    if (want.rlim_max > now.rlim_max)
        want.rlim_max = now.rlim_max;
    if (want.rlim_cur > want.rlim_max)
        want.rlim_cur = want.rlim_max;
    return setrlimit(which, &want) < 0 ? err_sys(e, -errno, "limit %d", which) : 0;
}

static int set_confine_limits(const struct cell *c, struct err *e)
{
    /* Commands have a share; this one process may need several for each of them. */
    int r = set_limit(RLIMIT_NOFILE, (struct rlimit){FILES_SOFT, SHARES_FILES_MAX}, e);

    launch_limit_files(shares_files(&c->spawner->shares, c->info.spec.limits.pids));
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(limits); i++)
        r = set_limit(limits[i].which, (struct rlimit){limits[i].soft, limits[i].hard}, e);
    return r;
}

int confine(const struct cell *c, struct err *e)
{
    int r = set_confine_limits(c, e);

    /* A service that runs with a higher priority does not pass it on. */
    if (getpriority(PRIO_PROCESS, 0) < 0)
        (void)setpriority(PRIO_PROCESS, 0, 0);
    if (r == 0)
        r = cut_bounding_set(e);
    if (r < 0)
        return r;
    if (c->tmpl->spec.no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(e, -errno, "no_new_privs");
    r = seccomp_load(&c->spawner->seccomp);
    if (r < 0)
        return err_sys(e, r, "system call filter");
    /* Forked from the host's user namespace and undumpable: not even root of the cell can read or
     * trace this process. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_sys(e, -errno, "dumpable");
    /* Dies with the spawner, so that nothing runs unwatched. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return err_sys(e, -errno, "parent death signal");
    return 0;
}
