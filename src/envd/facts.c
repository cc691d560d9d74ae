/* SPDX-License-Identifier: MIT */
/* Files about the cell: see facts.h. */
#include "envd/facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/hostname.h"
#include "sys/io.h"

#define E2B_DIR "/run/e2b"

/* The file may be anything that the cell has put there. It is cut to its length last, and only when
 * it was longer: on a disk both emptying and cutting cost more than all the rest. */
static void rewrite(const char *path, int flags, const char *text)
{
    struct stat st;
    size_t len = strlen(text);
    auto_close int fd = io_open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags, 0644);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (io_write_all(fd, text, len) == 0 && st.st_size > (off_t)len)
        (void)ftruncate(fd, (off_t)len);
}

void facts_write(const struct facts *f)
{
    char text[HOSTNAME_MAX + 128];
    struct stat st;

    (void)snprintf(text, sizeof text, "%s\n", f->hostname);
    rewrite("/etc/hostname", 0, text);
    (void)snprintf(text, sizeof text,
                   "127.0.0.1 localhost %s\n::1 localhost ip6-localhost ip6-loopback\n",
                   f->hostname);
    rewrite("/etc/hosts", 0, text);
    if (mkdir(E2B_DIR, 0755) < 0 && (lstat(E2B_DIR, &st) < 0 || !S_ISDIR(st.st_mode)))
        return;
    rewrite(E2B_DIR "/.E2B_SANDBOX", O_CREAT, "true");
    rewrite(E2B_DIR "/.E2B_SANDBOX_ID", O_CREAT, f->sandbox_id ? f->sandbox_id : "");
    rewrite(E2B_DIR "/.E2B_TEMPLATE_ID", O_CREAT, f->template_id ? f->template_id : "");
}
