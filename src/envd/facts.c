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

enum { PATH_MAX_HERE = 64 };

/* The file may be anything that the cell has put there. It is cut to its length last, and only when
 * it was longer: on a disk both emptying and cutting cost more than all the rest. */
static void rewrite(const char *root, const char *name, const char *text)
{
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    char path[PATH_MAX_HERE];
    struct stat st;
    size_t len = strlen(text);

    (void)snprintf(path, sizeof path, "%s%s", root, name);
    auto_close int fd = io_open(path, flags, 0644);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (io_write_all(fd, text, len) == 0 && st.st_size > (off_t)len)
        (void)ftruncate(fd, (off_t)len);
}

void facts_write(const char *root, const struct facts *f)
{
    char text[HOSTNAME_MAX + 128], dir[PATH_MAX_HERE];
    struct stat st;

    (void)snprintf(text, sizeof text, "%s\n", f->hostname);
    rewrite(root, "/etc/hostname", text);
    (void)snprintf(text, sizeof text,
                   "127.0.0.1 localhost %s\n::1 localhost ip6-localhost ip6-loopback\n",
                   f->hostname);
    rewrite(root, "/etc/hosts", text);
    (void)snprintf(dir, sizeof dir, "%s%s", root, E2B_DIR);
    if (mkdir(dir, 0755) < 0 && (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode)))
        return;
    rewrite(root, E2B_DIR "/.E2B_SANDBOX", "true");
    rewrite(root, E2B_DIR "/.E2B_SANDBOX_ID", f->sandbox_id ? f->sandbox_id : "");
    rewrite(root, E2B_DIR "/.E2B_TEMPLATE_ID", f->template_id ? f->template_id : "");
}
