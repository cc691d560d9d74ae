/* SPDX-License-Identifier: MIT */
/* Attributes of files in layers: see layer_attr.h. */
#include "runtime/layer_attr.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "runtime/layer.h"

#define CAPS      "security.capability"
#define ACL       "system.posix_acl_access"
#define ACL_BASIC "system.posix_acl_default"

enum { PATH_LEN = 32 + NAME_MAX, LIST_MAX = 64 << 10 };

/* There is no call for a name below a descriptor that leaves links alone; the descriptor's own name
 * does the same. */
static void put_attr_path(char out[PATH_LEN], int dir, const char *file)
{
    (void)snprintf(out, PATH_LEN, "/proc/self/fd/%d/%s", dir, file);
}

int layer_set_attr(int dir, const char *file, const char *name, struct str value)
{
    char path[PATH_LEN];

    put_attr_path(path, dir, file);
    if (lsetxattr(path, name, value.p, value.len, 0) == 0)
        return 0;
    /* Not on links, or not on this file system: the file is worth more than its attributes. */
    return errno == ENOTSUP || errno == EPERM ? 0 : -errno;
}

/* Of overlayfs's own, only what says that a directory hides others is true in another place. */
static bool is_attr_wanted(const char *name)
{
    struct str s = str_of(name);

    if (str_starts(s, STR("user.overlay.")))
        return str_is(s, LAYER_OPAQUE);
    return str_starts(s, STR("user.")) || str_is(s, CAPS) || str_is(s, ACL) || str_is(s, ACL_BASIC);
}

static uint32_t get_le32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_le32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

/* Capabilities that a cell gave to a file name the cell's root; without that name they are the
 * root's of whoever has the layer. */
static size_t shift_caps(unsigned char *p, size_t len)
{
    enum { V3 = 0x03, V2 = 0x02, V3_LEN = 24, V2_LEN = 20 };

    if (len != V3_LEN || p[3] != V3)
        return len;
    p[3] = V2;
    return V2_LEN;
}

/* A version, then entries of eight bytes: kind, rights, id. */
static void shift_acl(unsigned char *p, size_t len, uint32_t uid_base)
{
    enum { HEAD = 4, ENTRY = 8, USER = 0x02, GROUP = 0x08 };

    for (size_t i = HEAD; i + ENTRY <= len; i += ENTRY) {
        uint32_t id = get_le32(p + i + 4);
        if ((p[i] == USER || p[i] == GROUP) && id >= uid_base && id - uid_base < LAYER_UIDS)
            put_le32(p + i + 4, id - uid_base);
    }
}

static int copy_one_attr(const char *from, int to, const char *file, const char *name,
                         uint32_t uid_base)
{
    unsigned char value[LAYER_ATTR_MAX];
    ssize_t n = lgetxattr(from, name, value, sizeof value);

    if (n < 0)
        return errno == ENODATA ? 0 : -errno;
    size_t len = (size_t)n;
    if (strcmp(name, CAPS) == 0)
        len = shift_caps(value, len);
    else if (name[0] == 's')
        shift_acl(value, len, uid_base);
    return layer_set_attr(to, file, name, str_n((const char *)value, len));
}

int layer_copy_attrs(int from, int to, const char *file, uint32_t uid_base, struct err *e)
{
    char path[PATH_LEN], names[LIST_MAX];

    put_attr_path(path, from, file);
    ssize_t n = llistxattr(path, names, sizeof names);
    if (n < 0)
        return errno == ENOTSUP ? 0 : err_sys(e, -errno, "attributes of '%s'", file);
    for (const char *name = names; name < names + n; name += strlen(name) + 1) {
        int r = is_attr_wanted(name) ? copy_one_attr(path, to, file, name, uid_base) : 0;
        if (r < 0)
            return err_sys(e, r, "attribute '%s' of '%s'", name, file);
    }
    return 0;
}
