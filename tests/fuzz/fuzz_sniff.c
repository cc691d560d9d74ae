/* SPDX-License-Identifier: MIT */
/* The name in the first bytes of a connection. What is decided from a part must stay decided when
 * more arrives. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char whole[SNIFF_NAME_MAX], part[SNIFF_NAME_MAX];
    enum sniff want = sniff_name(whole, data, size);

    if (want == SNIFF_NAME && (whole[0] == '\0' || strlen(whole) >= SNIFF_NAME_MAX))
        abort();
    for (size_t len = 0; len < size && len < 600; len += len < 64 ? 1 : 37) {
        enum sniff r = sniff_name(part, data, len);
        if (r == SNIFF_MORE)
            continue;
        if (r != want || (r == SNIFF_NAME && strcmp(part, whole) != 0))
            abort();
    }
    return 0;
}
