/* SPDX-License-Identifier: MIT */
/* What of the host's /etc goes into a cell: see template_internal.h.
 *
 * A file goes in when a Debian package ships it and everybody on the host may read it. Beside that
 * there are two short lists: what programs need although no package ships it, because a maintainer
 * script made it, and what never goes in. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/template_internal.h"

enum { DEPTH_MAX = 12, ENTRIES_MAX = 50000 };

/* Patterns below /etc; a directory stands for all that is in it. */
static const char *const kept_out[] = {
    /* who the host is, and its users */
    "hostname",
    "hosts",
    "hosts.*",
    "mailname",
    "machine-id",
    "machine-info",
    "adjtime",
    "issue*",
    "motd*",
    "update-motd.d",
    "passwd*",
    "shadow*",
    "group*",
    "gshadow*",
    "subuid*",
    "subgid*",
    ".pwd.lock",
    "security/opasswd",
    "aliases*",
    /* its networks and disks */
    "resolv.conf",
    "resolvconf",
    "network",
    "networks",
    "netplan",
    "NetworkManager",
    "wpa_supplicant",
    "wireguard",
    "openvpn",
    "ipsec*",
    "strongswan*",
    "ppp",
    "fstab",
    "crypttab",
    "mdadm",
    "lvm",
    "exports*",
    "auto.*",
    "samba",
    "iscsi",
    "multipath*",
    /* who may do what there, and what runs there */
    "sudoers",
    "sudoers.d",
    "sudo.conf",
    "sudo_logsrvd.conf",
    "polkit-1",
    "pam.conf",
    "pam.d/common-*",
    "crontab",
    "anacrontab",
    "cron.*",
    "at.allow",
    "at.deny",
    "systemd/system",
    "systemd/network",
    "rc?.d",
    "tidepool",
    "docker",
    "containers",
    "containerd",
    "kubernetes",
    "libvirt",
    "ldap",
    "sssd",
    "krb5.conf*",
    "krb5.keytab",
    /* keys, passwords, proxies */
    "ssl/private",
    "ssh/ssh_host_*",
    "ssh/sshd_config*",
    "apt/auth.conf*",
    "apt/apt.conf",
    "apt/sources.list*",
    "wgetrc",
    "subversion/servers",
    "environment",
    "security/pam_env.conf",
    "pip.conf",
    "npmrc",
    "gitconfig",
    "netrc",
    "letsencrypt",
    "postgresql",
    "mysql/debian.cnf",
    "exim4/passwd*",
    "proxychains*",
    "tinyproxy",
    "squid",
    "*-",
    "*.dpkg-*",
    "*.ucf-*",
    /* each command of a cell would read these */
    "profile.d",
    "profile",
};

/* Made by maintainer scripts; relative to the root. */
static const char *const generated[] = {
    "etc/alternatives",
    "etc/ssl/certs",
    "etc/ssl/openssl.cnf",
    "etc/ca-certificates",
    "etc/ca-certificates.conf",
    "etc/ld.so.cache",
    "etc/ld.so.conf",
    "etc/ld.so.conf.d",
    "etc/fonts",
    "etc/inputrc",
    "etc/mime.types",
    "etc/magic",
    "etc/locale.gen",
    "etc/default/locale",
    "etc/services",
    "etc/protocols",
    "etc/terminfo",
    "etc/gai.conf",
    "etc/debian_version",
    "etc/dpkg/origins",
    "etc/python3",
    "etc/perl",
    "etc/vim",
    "etc/xml",
    "etc/sgml",
    "etc/.java",
    "etc/libreoffice",
    "etc/fpc*.cfg",
    "etc/php",
    "etc/texmf",
    "etc/dictionaries-common",
    "etc/papersize",
    "etc/emacs",
    "etc/R",
    "etc/octave*",
    "etc/mono",
    "etc/apt/keyrings",
    "etc/apt/trusted.gpg",
    "etc/apt/trusted.gpg.d",
    "etc/postgresql-common",
    "var/lib/apt/extended_states",
    "var/lib/ucf",
    "var/lib/texmf",
    "var/lib/ghostscript",
    "var/lib/dictionaries-common",
    "var/cache/dictionaries-common",
    "var/lib/python",
    "var/lib/xml-core",
    "var/lib/sgml-base",
    "var/lib/libxml-sax-perl",
    "var/lib/vim",
    "var/lib/ispell",
    "var/lib/aspell",
    "var/lib/emacsen-common",
    "var/lib/ca-certificates-java",
    "var/lib/systemd/catalog",
    "var/lib/libreoffice",
    "var/lib/php",
    "var/lib/R",
};

bool template_is_kept_out(const char *path)
{
    if (strncmp(path, "etc/", 4) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kept_out); i++)
        if (fnmatch(kept_out[i], path + 4, FNM_PATHNAME | FNM_LEADING_DIR) == 0)
            return true;
    return false;
}

/* "etc/NAME*": every name of the host's /etc that matches. */
static void copy_matching(struct template_build *b, const char *pattern)
{
    DIR *dir = template_list(b->host, "etc");

    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        char path[sizeof "etc/" + NAME_MAX];
        (void)snprintf(path, sizeof path, "etc/%s", d->d_name);
        if (fnmatch(pattern, path, FNM_PATHNAME) == 0)
            template_copy(b, path, 0);
    }
    (void)closedir(dir);
}

void template_copy_etc(struct template_build *b)
{
    template_copy(b, "etc", TEMPLATE_SHIPPED);
    for (size_t i = 0; i < ARRAY_LEN(generated); i++)
        if (strchr(generated[i], '*'))
            copy_matching(b, generated[i]);
        else
            template_copy(b, generated[i], 0);
}

/* ---- the key ---- */

struct keying {
    uint64_t key;
    unsigned n;
};

static void add_etc_tree(struct keying *k, int dir, const char *path, int depth);

static void add_one(struct keying *k, int dir, const char *path, int depth)
{
    const char *name = strrchr(path, '/') + 1;
    char text[PATH_MAX + 96];
    struct stat st;

    if (k->n >= ENTRIES_MAX || template_is_kept_out(path) ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !(st.st_mode & S_IROTH))
        return;
    k->n++;
    /* In whatever order they come: the sum of their digests. */
    if (S_ISDIR(st.st_mode))
        (void)snprintf(text, sizeof text, "%s %o", path, st.st_mode);
    else
        (void)snprintf(text, sizeof text, "%s %o %lld.%09ld %lld", path, st.st_mode,
                       (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_size);
    k->key += str_hash(str_of(text), 0);
    if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
        add_etc_tree(k, dir, path, depth);
}

static void add_etc_tree(struct keying *k, int dir, const char *path, int depth)
{
    const char *slash = strrchr(path, '/');
    DIR *list = template_list(dir, slash ? slash + 1 : path);

    if (!list)
        return;
    for (struct dirent *d; (d = readdir(list));) {
        char below[PATH_MAX];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (snprintf(below, sizeof below, "%s/%s", path, d->d_name) < (int)sizeof below)
            add_one(k, dirfd(list), below, depth + 1);
    }
    (void)closedir(list);
}

uint64_t template_etc_key(int host, uint64_t key)
{
    struct keying k = {.key = key};

    add_etc_tree(&k, host, "etc", 0);
    return k.key;
}
