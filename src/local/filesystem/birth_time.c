/* SPDX-License-Identifier: MIT */
/* When a file was made. Apart from the rest, because the kernel's header and the C library's do not
 * go together. */
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "local/filesystem/filesystem.h"

int64_t fs_birth(const char *path, int64_t fallback)
{
    struct statx st;

    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME))
        return fallback;
    return st.stx_btime.tv_sec;
}
