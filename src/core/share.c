/* SPDX-License-Identifier: MIT */
#include "core/share.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *share_find(const char *name, const char *source, char out[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return source;
    *slash = 0;
    (void)snprintf(out, PATH_MAX, "%s/../share/tidepool/%s", self, name);
    return access(out, R_OK) == 0 ? out : source;
}
