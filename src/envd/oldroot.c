/* SPDX-License-Identifier: MIT */
/* Leaving the spawner's root: see oldroot.h. */
#include "envd/oldroot.h"

#include <sched.h>
#include <stdalign.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

#include "runtime/kern.h"

enum { STACK = 16384 };

static alignas(16) char stack[STACK];
static pid_t running; /* the thread's number; the kernel sets it to 0 at its end */
static int result;

/* Shares everything with the first thread, errno included, which a success does not touch. */
static int leave(void *ctx)
{
    (void)ctx;
    result = kern_umount(".", KERN_UMOUNT_DETACH);
    return 0;
}

int oldroot_leave(void)
{
    int flags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_PARENT_SETTID |
                CLONE_CHILD_CLEARTID;

    if (clone(leave, stack + STACK, flags, NULL, &running, NULL, &running) >= 0)
        return 0;
    running = 0;
    return kern_umount(".", KERN_UMOUNT_DETACH);
}

int oldroot_wait(void)
{
    for (pid_t tid; (tid = __atomic_load_n(&running, __ATOMIC_ACQUIRE)) != 0;)
        (void)syscall(SYS_futex, &running, FUTEX_WAIT, tid, NULL, NULL, 0);
    return result;
}
