/* SPDX-License-Identifier: MIT */
/* dpkg's database, for the default template: see template_internal.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/template_internal.h"
#include "sys/io.h"

#define DPKG      "var/lib/dpkg"
#define DPKG_INFO DPKG "/info"

enum {
    LIST_MAX = 64 << 20, /* bytes of what one package ships, as a list */
    PATHS_MAX = 200000,  /* below /etc and /var */
    WORDS_MAX = 200000,  /* of scripts that make users */
    WORD_MAX = 32,       /* as long as names of users are */
    SYSTEM_IDS = 1000,
};

static char present; /* the value of all keys */

/* ---- reading ---- */

static int read_at(int dir, const char *name, struct buf *text)
{
    struct stat st;
    auto_close int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    buf_clear(text);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || buf_reserve(text, (size_t)st.st_size) < 0)
        return -EINVAL;
    ssize_t n = io_read(fd, text->p, (size_t)st.st_size);
    if (n < 0)
        return (int)n;
    text->len = (size_t)n;
    return 0;
}

/* The first line is "/.", so every other begins behind a newline. */
static int add_paths(struct template_packages *p, struct str text, const char *prefix)
{
    size_t len = strlen(prefix);

    for (const char *at; (at = text.len ? memmem(text.p, text.len, prefix, len) : NULL);) {
        text = str_skip(text, (size_t)(at - text.p) + 2); /* behind "\n/" */
        const char *end = memchr(text.p, '\n', text.len);
        struct str path = str_n(text.p, end ? (size_t)(end - text.p) : text.len);
        int r = map_put(&p->paths, path, &present, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_package_list(struct template_packages *p, struct str text)
{
    int r = add_paths(p, text, "\n/etc/");

    return r == 0 ? add_paths(p, text, "\n/var/") : r;
}

static bool makes_users(struct str text)
{
    static const char *const commands[] = {"adduser", "addgroup", "useradd", "groupadd",
                                           "sysusers"};

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_find(text, str_of(commands[i])) >= 0)
            return true;
    return false;
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int read_package_script(struct template_packages *p, struct str text)
{
    size_t end;

    if (!makes_users(text))
        return 0;
    for (size_t i = 0; i < text.len; i = end + 1) {
        for (end = i; end < text.len && is_of_word(text.p[end]);)
            end++;
        if (end == i || end - i > WORD_MAX)
            continue;
        int r = map_put(&p->words, str_n(text.p + i, end - i), &present, NULL);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A name that a package's file ends in, and what is done with the file. */
static const struct {
    struct str end;
    int (*read)(struct template_packages *p, struct str text);
} readers[] = {
    {STR_INIT(".list"), read_package_list},
    {STR_INIT(".preinst"), read_package_script},
    {STR_INIT(".postinst"), read_package_script},
};

static int read_info(struct template_packages *p, int dir, const char *name, struct buf *text)
{
    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        if (str_ends(str_of(name), readers[i].end))
            return read_at(dir, name, text) < 0 ? 0 : readers[i].read(p, buf_str(text));
    return 0;
}

/* users that systemd makes for packages */
static void read_sysusers(struct template_build *b)
{
    auto_buf struct buf text = BUF_INIT(LIST_MAX);
    DIR *dir = template_list(b->host, "usr/lib/sysusers.d");

    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));)
        if (str_ends(str_of(d->d_name), STR(".conf")) &&
            read_at(dirfd(dir), d->d_name, &text) == 0) {
            (void)buf_add_lit(&text, "\n# sysusers\n");
            (void)read_package_script(&b->packages, buf_str(&text));
        }
    (void)closedir(dir);
}

int template_packages_read(struct template_build *b, struct err *e)
{
    auto_buf struct buf text = BUF_INIT(LIST_MAX);
    int r = 0;

    map_init(&b->packages.paths, PATHS_MAX);
    map_init(&b->packages.words, WORDS_MAX);
    DIR *dir = template_list(b->host, DPKG_INFO);
    if (!dir)
        return 0;
    /* The directories themselves are no package's own. */
    r = map_put(&b->packages.paths, STR("etc"), &present, NULL);
    for (struct dirent *d; r == 0 && (d = readdir(dir));)
        r = read_info(&b->packages, dirfd(dir), d->d_name, &text);
    (void)closedir(dir);
    if (r == 0)
        read_sysusers(b);
    return r < 0 ? err_sys(e, r, "read /" DPKG_INFO) : 0;
}

void template_packages_done(struct template_packages *p)
{
    map_done(&p->paths);
    map_done(&p->words);
}

bool template_is_shipped(const struct template_packages *p, const char *path)
{
    return map_get(&p->paths, str_of(path)) != NULL;
}

/* ---- the database ---- */

/* dpkg never writes into a file, it puts a new one in its place: a second name for the old one is a
 * snapshot that costs nothing. On another file system it is a copy. */
static int link_package_file(struct template_build *b, int dir, const char *name, const char *path)
{
    if (linkat(dir, name, b->root, path, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EXDEV && errno != EMLINK && errno != EPERM)
        return -errno;
    template_copy(b, path, 0);
    return 0;
}

static int link_dir(struct template_build *b, const char *path)
{
    DIR *dir = template_list(b->host, path);
    int r = 0;

    if (!dir)
        return 0;
    template_make_parents(b, path);
    (void)template_make_one(b->root, &(struct template_entry){.path = path, .mode = 0755});
    for (struct dirent *d; r == 0 && (d = readdir(dir));) {
        char below[PATH_MAX];
        struct stat st;
        if (snprintf(below, sizeof below, "%s/%s", path, d->d_name) >= (int)sizeof below ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
            !(st.st_mode & S_IROTH))
            continue;
        r = link_package_file(b, dirfd(dir), d->d_name, below);
    }
    (void)closedir(dir);
    return r;
}

/* Empty, as whoever needs them finds them after the installation. */
static void make_var_dirs(struct template_build *b)
{
    struct str path;
    void *value;

    for (size_t i = 0; map_next(&b->packages.paths, &i, &path, &value);) {
        char text[PATH_MAX];
        struct stat st;
        (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(path));
        if (!str_starts(path, STR("var/")) ||
            fstatat(b->host, text, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
            continue;
        template_make_parents(b, text);
        const struct template_entry t = {.path = text,
                                         .mode = st.st_mode & 07777,
                                         .owner = st.st_uid < SYSTEM_IDS ? st.st_uid : 0,
                                         .group = st.st_gid < SYSTEM_IDS ? st.st_gid : 0};
        /* It may have been made as the parent of another. */
        if (template_make_one(b->root, &t) == -EEXIST) {
            (void)fchownat(b->root, text, t.owner, t.group, AT_SYMLINK_NOFOLLOW);
            (void)fchmodat(b->root, text, t.mode, 0);
        }
    }
}

int template_copy_packages(struct template_build *b, struct err *e)
{
    static const char *const dirs[] = {
        DPKG, DPKG_INFO, DPKG "/alternatives", DPKG "/updates", DPKG "/triggers", DPKG "/parts"};

    make_var_dirs(b);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        int r = link_dir(b, dirs[i]);
        if (r < 0)
            return err_sys(e, r, "copy '/%s'", dirs[i]);
    }
    return 0;
}
