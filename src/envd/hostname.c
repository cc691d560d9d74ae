/* SPDX-License-Identifier: MIT */
/* The cell's name: see hostname.h. */
#include "envd/hostname.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "sys/io.h"

static bool is_valid(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
}

void hostname_clean(char ret[HOSTNAME_MAX], const char *name)
{
    size_t n = 0;

    for (; n < HOSTNAME_MAX - 1 && name[n]; n++)
        ret[n] = is_valid(name[n]) ? name[n] : '-';
    ret[n] = '\0';
}

/* The file belongs to the cell, which may have put anything in its place. It is cut to its length
 * last: emptied first, it would give its block back to the host, which takes long. */
static void rewrite(const char *path, const char *text)
{
    struct stat st;
    auto_close int fd = io_open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (io_write_all(fd, text, strlen(text)) == 0)
        (void)ftruncate(fd, (off_t)strlen(text));
}

int hostname_set(const char *name)
{
    char clean[HOSTNAME_MAX], text[HOSTNAME_MAX + 128];

    hostname_clean(clean, name);
    if (sethostname(clean, strlen(clean)) < 0)
        return -errno;
    (void)snprintf(text, sizeof text, "%s\n", clean);
    rewrite("/etc/hostname", text);
    (void)snprintf(text, sizeof text,
                   "127.0.0.1 localhost %s\n::1 localhost ip6-localhost ip6-loopback\n", clean);
    rewrite("/etc/hosts", text);
    return 0;
}
