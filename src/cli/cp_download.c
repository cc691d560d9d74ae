/* SPDX-License-Identifier: MIT */
/* Copies out of a sandbox: see cp.h. The response says whether it is a file or a directory; a file
 * gets its name when it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/cp.h"
#include "net/http.h"
#include "sys/io.h"

struct file_download {
    struct cp *cp;
    struct err *e;
};

/* True for a directory; false for everything else, also for what is not there. */
static bool is_local_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- a file ---- */

/* A hidden file beside the one that is to come, with the mode that a new file gets. */
static int open_download_temp(struct cp *c, struct err *e)
{
    size_t len = c->target.len + sizeof ".XXXXXX";
    mode_t mask = umask(0);

    (void)umask(mask);
    c->temp = mem_zalloc(1, len);
    if (!c->temp)
        return err_sys(e, -ENOMEM, "copy");
    memcpy(c->temp, c->target.p, c->target.len);
    memcpy(c->temp + c->target.len, ".XXXXXX", sizeof ".XXXXXX");
    c->fd = mkostemp(c->temp, O_CLOEXEC);
    if (c->fd < 0) {
        int r = -errno;
        free(take(c->temp));
        return err_sys(e, r, "'" STR_FMT "'", STR_ARG(c->target));
    }
    (void)fchmod(c->fd, 0666 & ~mask);
    return 0;
}

static int open_download_file(struct cp *c, struct err *e)
{
    struct str base = cp_base(c->inside);
    struct stat st;

    if (str_is(str_of(c->outside), "-")) {
        c->fd = dup(STDOUT_FILENO);
        return c->fd < 0 ? err_sys(e, -errno, "standard output") : 0;
    }
    c->target = is_local_directory(c->outside)
                    ? arena_printf(&c->remote->arena, "%s/" STR_FMT, c->outside, STR_ARG(base))
                    : arena_str(&c->remote->arena, str_of(c->outside));
    if (!c->target.p)
        return err_sys(e, -ENOMEM, "copy");
    if (stat(c->target.p, &st) < 0 || S_ISREG(st.st_mode))
        return open_download_temp(c, e);
    c->fd = io_open(c->target.p, O_WRONLY, 0); /* a device or a pipe is written to as it is */
    return c->fd < 0 ? err_sys(e, c->fd, "'" STR_FMT "'", STR_ARG(c->target)) : 0;
}

static int close_download_file(struct cp *c, struct err *e)
{
    int r = close(take_fd(c->fd)) < 0 ? -errno : 0;

    if (r == 0 && c->temp && rename(c->temp, c->target.p) < 0)
        r = -errno;
    if (r < 0)
        return err_sys(e, r, "'%s'", c->outside);
    free(take(c->temp));
    return 0;
}

/* ---- a directory ---- */

/* Like cp -r: into a directory that is there, else as the directory of that name. tar itself keeps
 * names with ".." and links out of the archive from leading elsewhere. */
static int open_directory(struct cp *c, struct err *e)
{
    bool is_there = is_local_directory(c->outside);
    const char *const argv[] = {"tar",
                                "-xzf",
                                "-",
                                "--no-same-owner",
                                "-C",
                                c->outside,
                                is_there ? NULL : "--strip-components=1",
                                NULL};

    if (str_is(str_of(c->outside), "-"))
        return err_set(e, -EISDIR, "'%s' is a directory and cannot be written to standard output",
                       c->inside);
    if (!is_there && mkdir(c->outside, 0777) < 0)
        return err_sys(e, -errno, "'%s'", c->outside);
    return cp_tar_start(c, argv, false, e);
}

/* ---- the transfer ---- */

static int on_download_head(void *ctx, const struct http_head *head)
{
    struct file_download *d = ctx;
    bool is_archive = str_iis(http_header_get(&head->headers, "Content-Type"), "application/gzip");

    progress_start(&d->cp->progress, cp_base(d->cp->inside), head->content_length, d->cp->is_quiet);
    return is_archive ? open_directory(d->cp, d->e) : open_download_file(d->cp, d->e);
}

static int on_download_data(void *ctx, const char *p, size_t n)
{
    struct file_download *d = ctx;
    int r = io_write_all(d->cp->fd, p, n);

    if (r < 0)
        return err_sys(d->e, r, "'%s'", d->cp->outside);
    progress_add(&d->cp->progress, n);
    return 0;
}

int cp_download(struct cp *c)
{
    struct err e = ERR_INIT;
    struct file_download d = {.cp = c, .e = &e};
    const struct client_transfer t = {
        .method = "GET",
        .target = remote_target(c->remote, "/api/v1/sandbox/files/", c->sandbox,
                                "/download?path=", c->inside),
        .head = on_download_head,
        .write = on_download_data,
        .ctx = &d,
    };

    c->fd = -1;
    int r = t.target ? client_transfer(c->remote->client, &t, &e)
                     : err_sys(&e, -ENAMETOOLONG, "%s", c->inside);
    progress_end(&c->progress);
    if (c->tar) {
        int tar = cp_tar_wait(c, r < 0 ? NULL : &e);
        r = r < 0 ? r : tar;
    }
    if (r == 0 && c->fd >= 0)
        r = close_download_file(c, &e);
    return r < 0 ? remote_fail(c->remote, r, &e) : CLI_OK;
}
