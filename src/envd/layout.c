/* SPDX-License-Identifier: MIT */
/* The inside an upper layer's home: see layout.h. */
#include "envd/layout.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include "runtime/proto.h"

static int make_owned(int fd, const char *name, uint32_t uid)
{
    if (mkdirat(fd, name, 0755) < 0 && errno != EEXIST)
        return -errno;
    return fchownat(fd, name, uid, uid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

char layout_layer_name(uint32_t i)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    _Static_assert(sizeof names > PROTO_LAYERS_MAX, "a name for every layer");
    return names[i];
}

int layout_upper(int fd, uint32_t uid, bool has_usr)
{
    static const char *const dirs[] = {"root", "root/u", "root/w", "usr", "usr/u", "usr/w"};
    size_t n = has_usr ? 6 : 3;

    if (fchownat(fd, "", uid, uid, AT_EMPTY_PATH) < 0)
        return -errno;
    for (size_t i = 0; i < n; i++) {
        int r = make_owned(fd, dirs[i], uid);
        if (r < 0)
            return r;
    }
    return 0;
}
