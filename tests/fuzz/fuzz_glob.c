/* SPDX-License-Identifier: MIT */
/* Patterns for paths: up to the first line break the pattern, then the path. A pattern that is the
 * path itself, without anything special in it, has to match. */
#include <stdlib.h>

#include "base/glob.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str path = str_n((const char *)data, size), pattern = str_cut(&path, '\n');
    bool is_plain = path.len > 0;

    (void)glob_match(pattern, path.p ? path : STR(""));
    for (size_t i = 0; i < path.len; i++)
        is_plain = is_plain && !strchr("*?[{\\!", path.p[i]) && path.p[i] != '\0';
    if (is_plain && path.len < 4000 && !glob_match(path, path))
        abort();
    return 0;
}
