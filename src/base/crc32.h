/* SPDX-License-Identifier: MIT */
/* CRC-32 as gzip uses it (RFC 1952). The table is made by whoever needs it, so that programs that
 * do not have no pages for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct crc32 {
    uint32_t table[8][256];
};

void crc32_init(struct crc32 *c);
/* CRC (0 at the beginning) with LEN more bytes. */
uint32_t crc32_add(const struct crc32 *c, uint32_t crc, const void *data, size_t len);
/* The CRC of something of CRC A, and behind it LEN bytes of CRC B. */
uint32_t crc32_join(uint32_t a, uint32_t b, uint64_t len);
