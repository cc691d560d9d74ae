/* SPDX-License-Identifier: MIT */
#include "base/crc32.h"

#include <zlib.h>

uint32_t crc32_add(uint32_t crc, const void *data, size_t len)
{
    /* zlib takes NULL as a question for the value to begin with. */
    return len == 0 ? crc : (uint32_t)crc32_z(crc, data, len);
}

uint32_t crc32_join(uint32_t a, uint32_t b, uint64_t len)
{
    return (uint32_t)crc32_combine(a, b, (z_off_t)len);
}
