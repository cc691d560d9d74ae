/* SPDX-License-Identifier: MIT */
/* The default template: see template.h. */
#include "runtime/template.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "runtime/login.h"
#include "sys/io.h"

enum { VERSION = 3, COPY_MAX = 8 << 20, DEPTH_MAX = 4, ENTRIES_MAX = 20000 };

/* ---- what is ours ---- */

struct entry {
    const char *path;
    mode_t mode;
    uid_t owner;
    const char *text; /* NULL: a directory */
};

static const struct entry entries[] = {
    {"etc", 0755, 0, NULL},
    {"etc/sudoers.d", 0750, 0, NULL},
    {"etc/pam.d", 0755, 0, NULL},
    {"etc/profile.d", 0755, 0, NULL},
    {"etc/ssl", 0755, 0, NULL},
    {"home", 0755, 0, NULL},
    {"home/user", 0755, 1000, NULL},
    {"root", 0700, 0, NULL},
    {"code", 0777, 0, NULL},
    {"tmp", 01777, 0, NULL},
    {"run", 0755, 0, NULL},
    {"run/lock", 01777, 0, NULL},
    {"var", 0755, 0, NULL},
    {"var/tmp", 01777, 0, NULL},
    {"var/log", 0755, 0, NULL},
    {"var/cache", 0755, 0, NULL},
    {"var/lib", 0755, 0, NULL},
    {"var/lib/dpkg", 0755, 0, NULL},
    {"var/spool", 0755, 0, NULL},
    {"mnt", 0755, 0, NULL},
    {"opt", 0755, 0, NULL},
    {"opt/tidepool", 0755, 0, NULL},
    {"srv", 0755, 0, NULL},
    {"usr", 0755, 0, NULL},
    {"dev", 0755, 0, NULL},
    {"proc", 0555, 0, NULL},
    {"sys", 0555, 0, NULL},

    {"etc/passwd", 0644, 0,
     "root:x:0:0:root:/root:/bin/bash\n"
     "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
     "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
     "man:x:6:12:man:/var/cache/man:/usr/sbin/nologin\n"
     "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
     "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
     "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n"
     "user:x:1000:1000:user:/home/user:/bin/bash\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"etc/group", 0644, 0,
     "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\nmail:x:8:\nman:x:12:\n"
     "kmem:x:15:\nsudo:x:27:user\nwww-data:x:33:\nshadow:x:42:\nutmp:x:43:\nstaff:x:50:\n"
     "users:x:100:\nuser:x:1000:\nnogroup:x:65534:\n"},
    /* No passwords: `*` matches none, and sudo asks for none. */
    {"etc/shadow", 0640, 0, "root:*:19000:0:99999:7:::\nuser:*:19000:0:99999:7:::\n"},
    {"etc/resolv.conf", 0644, 0, "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"},
    {"etc/nsswitch.conf", 0644, 0,
     "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n"
     "protocols: files\n"},
    {"etc/host.conf", 0644, 0, "multi on\n"},
    {"etc/timezone", 0644, 0, "Etc/UTC\n"},
    {"etc/shells", 0644, 0, "/bin/sh\n/bin/bash\n/usr/bin/bash\n/usr/bin/sh\n"},
    {"etc/login.defs", 0644, 0, "UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\n"},
    {"etc/environment", 0644, 0, ""},
    {"etc/fstab", 0644, 0, ""},
    {"etc/profile", 0644, 0, LOGIN_PROFILE},
    {"etc/bash.bashrc", 0644, 0, LOGIN_BASHRC},
    {"etc/sudoers", 0440, 0,
     "Defaults env_reset\n"
     "Defaults secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
     "root ALL=(ALL:ALL) ALL\nuser ALL=(ALL:ALL) NOPASSWD: ALL\n"},
    /* sudo decides alone; PAM only has to agree. */
    {"etc/pam.d/sudo", 0644, 0,
     "auth required pam_permit.so\naccount required pam_permit.so\nsession required "
     "pam_permit.so\n"},
    {"etc/pam.d/su", 0644, 0,
     "auth sufficient pam_rootok.so\nauth required pam_unix.so\naccount required pam_permit.so\n"
     "session required pam_permit.so\n"},
    {"etc/pam.d/other", 0644, 0,
     "auth required pam_unix.so\naccount required pam_unix.so\npassword required pam_unix.so\n"
     "session required pam_permit.so\n"},
    {"home/user/.bashrc", 0644, 1000, LOGIN_USER_BASHRC},
    {"home/user/.profile", 0644, 1000, LOGIN_USER_PROFILE},
    {"home/user/.bash_logout", 0644, 1000, ""},
    {"root/.bashrc", 0644, 0, LOGIN_USER_BASHRC},
    {"var/lib/dpkg/status", 0644, 0, ""},
};

static const struct {
    const char *path, *target;
} links[] = {
    {"etc/localtime", "/usr/share/zoneinfo/Etc/UTC"},
    {"etc/os-release", "../usr/lib/os-release"},
    {"etc/mtab", "../proc/self/mounts"},
    {"var/run", "/run"},
    {"var/lock", "/run/lock"},
};

/* Of the host's own /etc: what programs in /usr need to run. Only what everybody may read is
 * copied; links only when they lead below /usr or /etc. */
static const char *const copied[] = {
    "etc/alternatives",   "etc/ssl/certs",  "etc/ssl/openssl.cnf",
    "etc/ld.so.cache",    "etc/ld.so.conf", "etc/ld.so.conf.d",
    "etc/services",       "etc/protocols",  "etc/mime.types",
    "etc/magic",          "etc/inputrc",    "etc/terminfo",
    "etc/python3",        "etc/python3.11", "etc/python3.12",
    "etc/python3.13",     "etc/perl",       "etc/vim",
    "etc/debian_version", "etc/gai.conf",   "etc/ca-certificates",
    "etc/fonts",
};

/* ---- building ---- */

struct builder {
    int root; /* the directory that is filled */
    unsigned n_copied;
};

static int write_at(int root, const struct entry *t, struct str text)
{
    auto_close int fd =
        openat(root, t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = io_write_all(fd, text.p, text.len);
    if (r < 0)
        return r;
    if (fchown(fd, t->owner, t->owner) < 0 || fchmod(fd, t->mode) < 0)
        return -errno;
    return 0;
}

static int make_at(int root, const struct entry *t)
{
    if (t->text)
        return write_at(root, t, str_of(t->text));
    if (mkdirat(root, t->path, 0700) < 0)
        return -errno;
    if (fchownat(root, t->path, t->owner, t->owner, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchmodat(root, t->path, t->mode, 0) < 0)
        return -errno;
    return 0;
}

static int make_entries(struct builder *b, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        int r = make_at(b->root, &entries[i]);
        if (r < 0)
            return err_sys(e, r, "create '%s'", entries[i].path);
    }
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        if (symlinkat(links[i].target, b->root, links[i].path) < 0)
            return err_sys(e, -errno, "create '%s'", links[i].path);
    return 0;
}

/* /bin, /sbin, /lib*: links into /usr, as on the host. */
static int make_usr_links(struct builder *b, struct err *e)
{
    static const char *const names[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[16], target[64];
        (void)snprintf(path, sizeof path, "/%s", names[i]);
        ssize_t len = readlink(path, target, sizeof target - 1);
        if (len < 0 && errno == ENOENT)
            continue;
        if (len < 0)
            return err_set(e, -EOPNOTSUPP, "'%s' is not a link into /usr on this host", path);
        target[len] = '\0';
        if (symlinkat(target, b->root, names[i]) < 0)
            return err_sys(e, -errno, "create '%s'", path);
    }
    return 0;
}

static void copy_tree(struct builder *b, const char *path, int depth);

static void copy_dir(struct builder *b, const char *path, int depth)
{
    char host[PATH_MAX];

    (void)snprintf(host, sizeof host, "/%s", path);
    DIR *dir = opendir(host);
    if (!dir)
        return;
    /* The service's umask is not the cell's business. */
    if (mkdirat(b->root, path, 0700) == 0)
        (void)fchmodat(b->root, path, 0755, 0);
    for (struct dirent *d; (d = readdir(dir)) && b->n_copied < ENTRIES_MAX;) {
        char below[PATH_MAX];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (snprintf(below, sizeof below, "%s/%s", path, d->d_name) < (int)sizeof below)
            copy_tree(b, below, depth + 1);
    }
    (void)closedir(dir);
}

static void copy_link(struct builder *b, const char *host, const char *path)
{
    char target[PATH_MAX];
    ssize_t len = readlink(host, target, sizeof target - 1);

    if (len <= 0)
        return;
    target[len] = '\0';
    struct str t = str_of(target);
    if (target[0] == '/' && !str_starts(t, STR("/usr/")) && !str_starts(t, STR("/etc/")))
        return;
    (void)symlinkat(target, b->root, path);
}

static void copy_file(struct builder *b, const char *host, const char *path, mode_t mode)
{
    auto_buf struct buf text = BUF_INIT(COPY_MAX);
    const struct entry t = {.path = path, .mode = mode};

    if (io_read_file(host, &text, NULL) == 0)
        (void)write_at(b->root, &t, buf_str(&text));
}

/* Copies /PATH to PATH; what cannot or must not be copied is left out. */
static void copy_tree(struct builder *b, const char *path, int depth)
{
    char host[PATH_MAX];
    struct stat st;

    if (snprintf(host, sizeof host, "/%s", path) >= (int)sizeof host || lstat(host, &st) < 0)
        return;
    b->n_copied++;
    if (S_ISLNK(st.st_mode))
        copy_link(b, host, path);
    else if (S_ISDIR(st.st_mode) && st.st_mode & S_IROTH && depth < DEPTH_MAX)
        copy_dir(b, path, depth);
    else if (S_ISREG(st.st_mode) && st.st_mode & S_IROTH)
        copy_file(b, host, path, 0644);
}

/* ---- the key ---- */

static uint64_t add_key(uint64_t key, const char *path)
{
    struct stat st = {0};
    char text[128];

    (void)stat(path, &st);
    (void)snprintf(text, sizeof text, "%lld.%ld %lld", (long long)st.st_mtim.tv_sec,
                   st.st_mtim.tv_nsec, (long long)st.st_size);
    return str_hash(str_of(text), key);
}

/* Changes when something that is copied changes. */
static uint64_t host_key(const char *local)
{
    uint64_t key = add_key(VERSION, local);

    for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof path, "/%s", copied[i]);
        key = add_key(key, path);
    }
    return key;
}

static int fill(const char *path, const char *local, struct err *e)
{
    auto_close int root = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    struct builder b = {.root = root};

    if (root < 0)
        return err_sys(e, root, "open '%s'", path);
    if (fchmod(root, 0755) < 0)
        return err_sys(e, -errno, "mode of '%s'", path);
    int r = make_entries(&b, e);
    if (r == 0)
        r = make_usr_links(&b, e);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(copied); i++)
        copy_tree(&b, copied[i], 0);
    if (r == 0)
        copy_file(&b, local, TEMPLATE_LOCAL, 0755);
    return r;
}

int template_build_default(const char *state, const char *local, char *ret_path, size_t size,
                           struct err *e)
{
    char temp[PATH_MAX];
    int len = snprintf(ret_path, size, "%s/" TEMPLATE_DEFAULTS "/%016llx", state,
                       (unsigned long long)host_key(local));

    if (len < 0 || (size_t)len >= size)
        return err_sys(e, -ENAMETOOLONG, "default template");
    if (access(ret_path, F_OK) == 0)
        return 0;
    if (snprintf(temp, sizeof temp, "%s.%d", ret_path, (int)getpid()) >= (int)sizeof temp)
        return err_sys(e, -ENAMETOOLONG, "default template");
    int r = io_mkdirs(temp, 0755, e);
    if (r == 0)
        r = fill(temp, local, e);
    if (r < 0)
        return err_ctx(e, r, "default template");
    return rename(temp, ret_path) < 0 ? err_sys(e, -errno, "rename '%s'", temp) : 0;
}
