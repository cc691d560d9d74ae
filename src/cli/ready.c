/* SPDX-License-Identifier: MIT */
/* Telling the service manager: see ready.h. */
#include "cli/ready.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

int ready_tell(const char *address)
{
    static const char text[] = "READY=1";
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (!address)
        return 0;
    size_t len = strlen(address);
    if ((address[0] != '/' && address[0] != '@') || len < 2)
        return -EINVAL;
    if (len >= sizeof to.sun_path)
        return -ENAMETOOLONG;
    memcpy(to.sun_path, address, len);
    if (to.sun_path[0] == '@')
        to.sun_path[0] = '\0';
    auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    ssize_t n = sendto(fd, text, sizeof text - 1, MSG_NOSIGNAL, (struct sockaddr *)&to, size);
    return n < 0 ? -errno : 0;
}
