/* SPDX-License-Identifier: MIT */
#include "net/netns_dial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "net/http_client.h"
#include "sys/io.h"

int netns_dial(int fd, const char *address, struct err *e)
{
    auto_close int home = io_open("/proc/thread-self/ns/net", O_RDONLY, 0);

    if (home < 0)
        return err_sys(e, home, "network namespace");
    auto_close int there = ioctl(fd, SIOCGSKNS);
    if (there < 0 || setns(there, CLONE_NEWNET) < 0)
        return err_sys(e, -errno, "network namespace");
    int r = http_dial(address, false, e);
    /* A thread that cannot return would do all its later networking there. */
    if (setns(home, CLONE_NEWNET) < 0)
        abort();
    return r;
}
