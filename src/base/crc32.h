/* SPDX-License-Identifier: MIT */
/* CRC-32 as gzip, ZIP and PNG use it (RFC 1952), by zlib. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CRC (0 at the beginning) with LEN more bytes. */
uint32_t crc32_add(uint32_t crc, const void *data, size_t len);
/* The CRC of something of CRC A, and behind it LEN bytes of CRC B. */
uint32_t crc32_join(uint32_t a, uint32_t b, uint64_t len);
