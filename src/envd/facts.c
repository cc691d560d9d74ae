/* SPDX-License-Identifier: MIT */
/* Files about the cell: see facts.h. */
#include "envd/facts.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/hostname.h"
#include "sys/io.h"

#define E2B_DIR "/run/e2b"

enum { PATH_LEN = 64, TEXT_LEN = HOSTNAME_MAX + 128 };

enum { HOSTNAME, HOSTS, E2B_MARK, E2B_ID, E2B_TEMPLATE, FILES };

static const char *const paths[FILES] = {
    [HOSTNAME] = "/etc/hostname",
    [HOSTS] = "/etc/hosts",
    [E2B_MARK] = E2B_DIR "/.E2B_SANDBOX",
    [E2B_ID] = E2B_DIR "/.E2B_SANDBOX_ID",
    [E2B_TEMPLATE] = E2B_DIR "/.E2B_TEMPLATE_ID",
};

/* Of files that nobody but us can have touched. */
static int kept[FILES] = {-1, -1, -1, -1, -1};
static char written[FILES][TEXT_LEN];

static const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

void facts_keep(void)
{
    for (int i = 0; i < FILES; i++)
        kept[i] = io_open(paths[i], flags, 0);
}

/* The file may be anything that the cell has put there. It is cut to its length last, and only when
 * it was longer: on a disk both emptying and cutting cost more than all the rest. */
static void rewrite(int fd, const char *text)
{
    struct stat st;
    size_t len = strlen(text);

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (io_write_all(fd, text, len) == 0 && st.st_size > (off_t)len)
        (void)ftruncate(fd, (off_t)len);
}

static void put_fact_file(const char *root, int file, const char *text)
{
    char path[PATH_LEN];
    auto_close int fd = take_fd(kept[file]);

    if (fd < 0) {
        (void)snprintf(path, sizeof path, "%s%s", root, paths[file]);
        fd = io_open(path, flags | O_CREAT, 0644);
    } else if (strcmp(written[file], text) == 0) {
        return;
    }
    rewrite(fd, text);
    (void)snprintf(written[file], sizeof written[file], "%s", text);
}

/* True when it is there, made now or before. */
static bool has_e2b_dir(const char *root)
{
    char path[PATH_LEN];
    struct stat st;

    if (kept[E2B_ID] >= 0)
        return true;
    (void)snprintf(path, sizeof path, "%s%s", root, E2B_DIR);
    return mkdir(path, 0755) == 0 || (lstat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

void facts_write(const char *root, const struct facts *f)
{
    char text[TEXT_LEN];

    (void)snprintf(text, sizeof text, "%s\n", f->hostname);
    put_fact_file(root, HOSTNAME, text);
    (void)snprintf(text, sizeof text,
                   "127.0.0.1 localhost %s\n::1 localhost ip6-localhost ip6-loopback\n",
                   f->hostname);
    put_fact_file(root, HOSTS, text);
    if (!has_e2b_dir(root))
        return;
    put_fact_file(root, E2B_MARK, "true");
    put_fact_file(root, E2B_ID, f->sandbox_id ? f->sandbox_id : "");
    put_fact_file(root, E2B_TEMPLATE, f->template_id ? f->template_id : "");
}
