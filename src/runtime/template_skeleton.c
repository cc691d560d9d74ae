/* SPDX-License-Identifier: MIT */
/* What of the default template is ours: see template_internal.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "runtime/login.h"
#include "runtime/template_internal.h"

enum { LOCAL_DEPTH = 3, LOCAL_MAX = 2000, MACHINE_ID_LEN = 32 };

static const struct template_entry entries[] = {
    {"etc", 0755, 0, 0, NULL},
    {"etc/sudoers.d", 0750, 0, 0, NULL},
    {"etc/pam.d", 0755, 0, 0, NULL},
    {"etc/profile.d", 0755, 0, 0, NULL},
    {"etc/ssl", 0755, 0, 0, NULL},
    {"home", 0755, 0, 0, NULL},
    {"home/user", 0755, 1000, 1000, NULL},
    {"root", 0700, 0, 0, NULL},
    {"code", 0777, 0, 0, NULL},
    {"tmp", 01777, 0, 0, NULL},
    {"run", 0755, 0, 0, NULL},
    {"run/lock", 01777, 0, 0, NULL},
    {"var", 0755, 0, 0, NULL},
    {"var/tmp", 01777, 0, 0, NULL},
    {"var/log", 0755, 0, 0, NULL},
    {"var/cache", 0755, 0, 0, NULL},
    {"var/lib", 0755, 0, 0, NULL},
    {"var/spool", 0755, 0, 0, NULL},
    {"mnt", 0755, 0, 0, NULL},
    {"opt", 0755, 0, 0, NULL},
    {"opt/tidepool", 0755, 0, 0, NULL},
    {"srv", 0755, 0, 0, NULL},
    {"usr", 0755, 0, 0, NULL},
    {"dev", 0755, 0, 0, NULL},
    {"proc", 0555, 0, 0, NULL},
    {"sys", 0555, 0, 0, NULL},

    {"etc/resolv.conf", 0644, 0, 0, "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"},
    {"etc/nsswitch.conf", 0644, 0, 0,
     "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n"
     "protocols: files\n"},
    {"etc/timezone", 0644, 0, 0, "Etc/UTC\n"},
    {"etc/shells", 0644, 0, 0, "/bin/sh\n/bin/bash\n/usr/bin/bash\n/usr/bin/sh\n"},
    {"etc/environment", 0644, 0, 0, ""},
    {"etc/fstab", 0644, 0, 0, ""},
    {"etc/profile", 0644, 0, 0, LOGIN_PROFILE},
    {"etc/bash.bashrc", 0644, 0, 0, LOGIN_BASHRC},
    {"etc/sudoers", 0440, 0, 0,
     "Defaults env_reset\n"
     "Defaults secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
     "root ALL=(ALL:ALL) ALL\nuser ALL=(ALL:ALL) NOPASSWD: ALL\n"
     "@includedir /etc/sudoers.d\n"},
    /* sudo decides alone; PAM only has to agree. */
    {"etc/pam.d/sudo", 0644, 0, 0,
     "auth required pam_permit.so\naccount required pam_permit.so\nsession required "
     "pam_permit.so\n"},
    {"etc/pam.d/su", 0644, 0, 0,
     "auth sufficient pam_rootok.so\nauth required pam_unix.so\naccount required pam_permit.so\n"
     "session required pam_permit.so\n"},
    {"etc/pam.d/other", 0644, 0, 0,
     "auth required pam_unix.so\naccount required pam_unix.so\npassword required pam_unix.so\n"
     "session required pam_permit.so\n"},
    /* What the files of packages include; Debian makes these, for the host. */
    {"etc/pam.d/common-auth", 0644, 0, 0, "auth required pam_unix.so\n"},
    {"etc/pam.d/common-account", 0644, 0, 0, "account required pam_unix.so\n"},
    {"etc/pam.d/common-password", 0644, 0, 0, "password required pam_unix.so obscure yescrypt\n"},
    {"etc/pam.d/common-session", 0644, 0, 0, "session required pam_permit.so\n"},
    {"etc/pam.d/common-session-noninteractive", 0644, 0, 0, "session required pam_permit.so\n"},
    /* Python's packages go to /usr/local or the user's home, and the cell is nobody else's. */
    {"etc/pip.conf", 0644, 0, 0, "[global]\nbreak-system-packages = true\n"},
    /* Nobody is there to be asked which configuration file to keep. */
    {"etc/dpkg", 0755, 0, 0, NULL},
    {"etc/dpkg/dpkg.cfg.d", 0755, 0, 0, NULL},
    {"etc/dpkg/dpkg.cfg.d/tidepool", 0644, 0, 0, "force-confdef\nforce-confold\n"},
    /* Chromium's own sandbox is made of user namespaces, which cells do not have. The second option
     * is against the warning that the first one brings to every window. */
    {"etc/chromium.d", 0755, 0, 0, NULL},
    {"etc/chromium.d/tidepool", 0644, 0, 0,
     "export CHROMIUM_FLAGS=\"$CHROMIUM_FLAGS --no-sandbox --test-type\"\n"},
    {"home/user/.bashrc", 0644, 1000, 1000, LOGIN_USER_BASHRC},
    {"home/user/.profile", 0644, 1000, 1000, LOGIN_USER_PROFILE},
    {"home/user/.bash_logout", 0644, 1000, 1000, ""},
    {"root/.bashrc", 0644, 0, 0, LOGIN_USER_BASHRC},
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

/* Where the host had none, or has no packages. */
static const struct template_entry fallbacks[] = {
    {"etc/host.conf", 0644, 0, 0, "multi on\n"},
    {"etc/login.defs", 0644, 0, 0, "UID_MIN 1000\nUID_MAX 60000\nGID_MIN 1000\nGID_MAX 60000\n"},
    {"etc/skel", 0755, 0, 0, NULL},
    {"var/lib/dpkg", 0755, 0, 0, NULL},
    {"var/lib/dpkg/status", 0644, 0, 0, ""},
    {"var/lib/apt", 0755, 0, 0, NULL},
    {"var/lib/apt/lists", 0755, 0, 0, NULL},
    {"var/cache/apt", 0755, 0, 0, NULL},
    {"var/cache/apt/archives", 0755, 0, 0, NULL},
    {"var/log/apt", 0755, 0, 0, NULL},
    {"var/mail", 02775, 0, 8, NULL},
};

/* Where clients of others look for what Debian has elsewhere; only if the host has it. */
static const struct {
    const char *path, *target;
} moved[] = {
    {"opt/noVNC", "/usr/share/novnc"}, /* the desktop client of E2B */
};

static int make_skeleton_links(struct template_build *b, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        if (symlinkat(links[i].target, b->root, links[i].path) < 0)
            return err_sys(e, -errno, "create '%s'", links[i].path);
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (faccessat(b->host, moved[i].target + 1, F_OK, 0) == 0 &&
            symlinkat(moved[i].target, b->root, moved[i].path) < 0)
            return err_sys(e, -errno, "create '%s'", moved[i].path);
    return 0;
}

/* /bin, /sbin, /lib*: links into /usr, as on the host. */
static int make_usr_links(struct template_build *b, struct err *e)
{
    static const char *const names[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char target[64];
        ssize_t len = readlinkat(b->host, names[i], target, sizeof target - 1);
        if (len < 0 && errno == ENOENT)
            continue;
        if (len < 0)
            return err_set(e, -EOPNOTSUPP, "'/%s' is not a link into /usr on this host", names[i]);
        target[len] = '\0';
        if (symlinkat(target, b->root, names[i]) < 0)
            return err_sys(e, -errno, "create '/%s'", names[i]);
    }
    return 0;
}

/* D-Bus does not start without one. The host's own stays there. */
static int make_machine_id(struct template_build *b)
{
    char text[MACHINE_ID_LEN + 2];

    id_hex(text, MACHINE_ID_LEN);
    text[MACHINE_ID_LEN] = '\n';
    text[MACHINE_ID_LEN + 1] = '\0';
    const struct template_entry file = {"etc/machine-id", 0444, 0, 0, text};
    return template_make_one(b->root, &file);
}

int template_make_skeleton(struct template_build *b, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        int r = template_make_one(b->root, &entries[i]);
        if (r < 0)
            return err_sys(e, r, "create '%s'", entries[i].path);
    }
    int r = make_machine_id(b);
    if (r < 0)
        return err_sys(e, r, "create '/etc/machine-id'");
    r = make_skeleton_links(b, e);
    return r < 0 ? r : make_usr_links(b, e);
}

int template_make_fallbacks(struct template_build *b, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(fallbacks); i++) {
        int r = template_make_one(b->root, &fallbacks[i]);
        if (r < 0 && r != -EEXIST)
            return err_sys(e, r, "create '%s'", fallbacks[i].path);
    }
    return 0;
}

/* ---- /usr ---- */

/* The directories of the host's /usr/local, writable for everybody: nothing there is the system's,
 * and `npm install -g` and `pip install` put their things there. */
static void open_local(struct template_build *b, const char *path, int depth)
{
    DIR *dir = template_list(b->host, path);

    (void)template_make_one(b->root, &(struct template_entry){.path = path, .mode = 0777});
    for (struct dirent *d; dir && depth < LOCAL_DEPTH && (d = readdir(dir));) {
        char below[PATH_MAX];
        struct stat st;
        if (d->d_name[0] == '.' || b->n_copied >= LOCAL_MAX ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
            (st.st_mode & 0005) != 0005)
            continue;
        b->n_copied++;
        if (snprintf(below, sizeof below, "%s/%s", path, d->d_name) < (int)sizeof below)
            open_local(b, below, depth + 1);
    }
    if (dir)
        (void)closedir(dir);
}

static bool has_host(const struct template_build *b, const char *path)
{
    return faccessat(b->host, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int template_make_usr(struct template_build *b, struct err *e)
{
    static const struct template_entry usr[] = {
        {"usr/bin", 0755, 0, 0, NULL},
        {"usr/sbin", 0755, 0, 0, NULL},
        /* Nobody looks after services in a cell: a package that is installed starts none. */
        {"usr/sbin/policy-rc.d", 0755, 0, 0, "#!/bin/sh\nexit 101\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(usr); i++) {
        int r = template_make_one(b->root, &usr[i]);
        if (r < 0)
            return err_sys(e, r, "create '%s'", usr[i].path);
    }
    unsigned n_copied = take(b->n_copied);
    open_local(b, "usr/local", 0);
    b->n_copied = n_copied;
    /* Python by its short name. */
    if (!has_host(b, "usr/bin/python") && has_host(b, "usr/bin/python3") &&
        symlinkat("python3", b->root, "usr/bin/python") < 0)
        return err_sys(e, -errno, "create 'usr/bin/python'");
    return 0;
}
