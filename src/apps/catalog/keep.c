/* SPDX-License-Identifier: MIT */
#include "apps/catalog/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/catalog/files.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "sys/io.h"

/* Nothing is synced: what a loss of power damages is found out by its digest. */
static int write_kept_file(const char *path, struct str text, struct err *e)
{
    auto_close int fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int r = fd < 0 ? fd : io_write_all(fd, text.p, text.len);

    return r < 0 ? err_sys(e, r, "write '%s'", path) : 0;
}

struct copy {
    const char *to;
    struct err *e;
};

static int copy_kept_file(void *ctx, const char *from, const char *name)
{
    const struct copy *c = ctx;
    auto_buf struct buf text = BUF_INIT(APP_FILE_MAX);
    char to[PATH_MAX];

    if (snprintf(to, sizeof to, "%s/%s", c->to, name) >= (int)sizeof to)
        return err_sys(c->e, -ENAMETOOLONG, "%s", name);
    char *slash = strrchr(to, '/');
    *slash = 0;
    int r = io_mkdirs(to, 0700, c->e);
    *slash = '/';
    if (r == 0)
        r = io_read_file(from, &text, c->e);
    return r < 0 ? r : write_kept_file(to, buf_str(&text), c->e);
}

/* The files may have changed since X was loaded, or while they were copied. */
static int check_copy(const char *folder, const struct app_entry *x, struct err *e)
{
    unsigned char digest[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    int r = app_files_digest(folder, x->name, APP_FILES_CONTENT, digest);

    if (r < 0)
        return err_sys(e, r, "keep '%s'", x->name);
    enc_hex(hex, digest, sizeof digest);
    if (strncmp(hex, x->digest, APP_DIGEST_LEN) != 0)
        return err_set(e, -ESTALE, "the files of %s have changed", x->name);
    return 0;
}

static int copy_all_files(const struct app_entry *x, const char *draft, struct err *e)
{
    char folder[PATH_MAX], name[PATH_MAX];
    struct copy c = {.to = folder, .e = e};
    size_t len = strcspn(x->name, "/");

    if (snprintf(folder, sizeof folder, "%s/%.*s", draft, (int)len, x->name) >=
            (int)sizeof folder ||
        snprintf(name, sizeof name, "%s/name", draft) >= (int)sizeof name)
        return err_sys(e, -ENAMETOOLONG, "'%s'", draft);
    int r = app_files_each(x->root, copy_kept_file, &c);
    if (r == 0)
        r = check_copy(folder, x, e);
    return r < 0 ? r : write_kept_file(name, str_of(x->name), e);
}

int app_keep(const struct app_entry *x, const char *dir, struct err *e)
{
    char target[PATH_MAX], draft[PATH_MAX];

    if (snprintf(target, sizeof target, "%s/%s", dir, x->digest) >= (int)sizeof target ||
        snprintf(draft, sizeof draft, "%s/.new-XXXXXX", dir) >= (int)sizeof draft)
        return err_sys(e, -ENAMETOOLONG, "'%s'", dir);
    if (access(target, F_OK) == 0)
        return 0;
    int r = io_mkdirs(dir, 0700, e);
    if (r < 0)
        return r;
    if (!mkdtemp(draft))
        return err_sys(e, -errno, "make '%s'", draft);
    r = copy_all_files(x, draft, e);
    /* Another thread may have been faster. */
    if (r == 0 && rename(draft, target) < 0 && errno != EEXIST && errno != ENOTEMPTY)
        r = err_sys(e, -errno, "rename '%s'", draft);
    (void)io_remove_tree(draft);
    return r;
}

struct app_entry *app_kept(const char *dir, const char *digest, struct err *e)
{
    auto_buf struct buf name = BUF_INIT(PATH_MAX);
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s/name", dir, digest);
    if (io_read_file(path, &name, e) < 0 || !buf_cstr(&name))
        return NULL;
    (void)snprintf(path, sizeof path, "%s/%s/%.*s", dir, digest, (int)strcspn(name.p, "/"), name.p);
    struct app_entry *x = app_entry_load(path, name.p, e);
    if (!x || strcmp(x->digest, digest) == 0)
        return x;
    app_entry_unref(x);
    (void)err_set(e, -EUCLEAN, "what was kept of the app %s is damaged", name.p);
    return NULL;
}
