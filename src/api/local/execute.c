/* SPDX-License-Identifier: MIT */
/* Executions: programs that a client uploads, run beside the servers of a local sandbox. */
#include <stdio.h>
#include <string.h>

#include "api/local/archive.h"

bool archive_exec_file(struct str name, char out[VAULT_NAME_MAX])
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";

    if (name.len == 0 || name.len > EXECUTION_NAME_MAX || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!memchr(allowed, name.p[i], sizeof allowed - 1))
            return false;
    }
    (void)snprintf(out, VAULT_NAME_MAX, "exec-" STR_FMT, STR_ARG(name));
    return true;
}
