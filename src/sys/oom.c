/* SPDX-License-Identifier: MIT */
#include "sys/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int oom_set(int score)
{
    const char *text = score < 0 ? "-1000" : "0";
    size_t len = score < 0 ? 5 : 1;
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int r = write(fd, text, len) == (ssize_t)len ? 0 : -errno;
    (void)close(fd);
    return r;
}
