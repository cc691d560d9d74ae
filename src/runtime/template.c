/* SPDX-License-Identifier: MIT */
/* The default template: see template.h. */
#include "runtime/template.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/template_internal.h"
#include "sys/io.h"

enum { VERSION = 6, LOCAL_MAX = 64 << 20 };

/* ---- the key ---- */

static uint64_t add_key(uint64_t key, int host, const char *path)
{
    struct stat st = {0};
    char text[128];

    (void)fstatat(host, path, &st, 0);
    (void)snprintf(text, sizeof text, "%lld.%ld %lld", (long long)st.st_mtim.tv_sec,
                   st.st_mtim.tv_nsec, (long long)st.st_size);
    return str_hash(str_of(text), key);
}

/* What is not on the disk yet when the machine stops may be a template that is half there, so every
 * start of the machine has its own. */
static uint64_t add_boot(uint64_t key)
{
    auto_buf struct buf id = BUF_INIT(128);

    return io_read_file("/proc/sys/kernel/random/boot_id", &id, NULL) < 0
               ? key
               : str_hash(buf_str(&id), key);
}

/* Changes when something that is copied changes. */
static uint64_t host_key(int host, const struct template_source *from)
{
    static const char *const others[] = {
        "var/lib/dpkg/status",
        "var/lib/dpkg/diversions",
        "var/lib/dpkg/statoverride",
        "var/lib/dpkg/alternatives",
        "var/lib/apt/extended_states",
        "etc/passwd",
        "etc/group",
        "usr/bin",
        "usr/local",
        "usr/local/bin",
        "usr/local/lib",
        "usr/local/share",
    };
    uint64_t key = add_key(VERSION, AT_FDCWD, from->local);

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        key = add_key(key, host, others[i]);
    for (size_t i = 0; i < from->n_etc; i++)
        key = add_key(str_hash(str_of(from->etc[i]), key), host, from->etc[i] + 1);
    return template_etc_key(host, add_boot(key));
}

/* ---- building ---- */

static void copy_local(struct template_build *b, const char *local)
{
    auto_buf struct buf program = BUF_INIT(LOCAL_MAX);

    if (io_read_file(local, &program, NULL) < 0)
        return;
    (void)template_write(b->root, &(struct template_entry){.path = TEMPLATE_LOCAL, .mode = 0755},
                         buf_str(&program));
    /* Clients of E2B start it by the first name, a template of ours by the second. */
    (void)symlinkat("/" TEMPLATE_LOCAL, b->root, TEMPLATE_GATEWAY);
    (void)symlinkat("/" TEMPLATE_LOCAL, b->root, TEMPLATE_INTERPRETER);
}

static int build_root(struct template_build *b, const struct template_source *from, struct err *e)
{
    static int (*const parts[])(struct template_build * b, struct err * e) = {
        template_packages_read, template_make_skeleton, template_write_users,
        template_copy_packages, template_copy_sources,  template_make_usr,
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++)
        r = parts[i](b, e);
    if (r < 0)
        return r;
    template_copy_etc(b);
    for (size_t i = 0; i < from->n_etc; i++)
        template_copy(b, from->etc[i] + 1, TEMPLATE_NAMED);
    copy_local(b, from->local);
    return template_make_fallbacks(b, e);
}

static int fill_template_root(const char *path, int host, const struct template_source *from,
                              struct err *e)
{
    auto_close int root = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    struct template_build b = {.host = host, .root = root};

    if (root < 0)
        return err_sys(e, root, "open '%s'", path);
    if (fchmod(root, 0755) < 0)
        return err_sys(e, -errno, "mode of '%s'", path);
    int r = build_root(&b, from, e);
    template_packages_done(&b.packages);
    return r;
}

static int check_sources(const struct template_source *from, struct err *e)
{
    for (size_t i = 0; i < from->n_etc; i++)
        if (!str_starts(str_of(from->etc[i]), STR("/etc/")) || strstr(from->etc[i], "/../") ||
            strstr(from->etc[i], "//") || str_ends(str_of(from->etc[i]), STR("/")))
            return err_set(e, -EINVAL, "'%s' is not a path below /etc", from->etc[i]);
    return 0;
}

int template_build_default(const char *state, const struct template_source *from, char *ret_path,
                           size_t size, struct err *e)
{
    char temp[PATH_MAX];
    auto_close int host = io_open(from->root ? from->root : "/", O_RDONLY | O_DIRECTORY, 0);

    if (host < 0)
        return err_sys(e, host, "default template");
    int r = check_sources(from, e);
    if (r < 0)
        return err_ctx(e, r, "cells.etc");
    int len = snprintf(ret_path, size, "%s/" TEMPLATE_DEFAULTS "/%016llx", state,
                       (unsigned long long)host_key(host, from));
    if (len < 0 || (size_t)len >= size)
        return err_sys(e, -ENAMETOOLONG, "default template");
    if (access(ret_path, F_OK) == 0)
        return 0;
    if (snprintf(temp, sizeof temp, "%s.%d", ret_path, (int)getpid()) >= (int)sizeof temp)
        return err_sys(e, -ENAMETOOLONG, "default template");
    r = io_mkdirs(temp, 0755, e);
    if (r == 0)
        r = fill_template_root(temp, host, from, e);
    if (r < 0)
        return err_ctx(e, r, "default template");
    return rename(temp, ret_path) < 0 ? err_sys(e, -errno, "rename '%s'", temp) : 0;
}
