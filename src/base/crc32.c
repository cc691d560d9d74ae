/* SPDX-License-Identifier: MIT */
/* CRC-32, eight bytes at a time: see crc32.h. */
#include "base/crc32.h"

#define POLYNOMIAL 0xedb88320U

void crc32_init(struct crc32 *c)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
        c->table[0][i] = crc;
    }
    for (size_t k = 1; k < 8; k++)
        for (size_t i = 0; i < 256; i++) {
            uint32_t crc = c->table[k - 1][i];
            c->table[k][i] = crc >> 8 ^ c->table[0][crc & 0xff];
        }
}

static uint32_t load(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t crc32_add(const struct crc32 *c, uint32_t crc, const void *data, size_t len)
{
    const unsigned char *p = data;
    const uint32_t(*t)[256] = c->table;

    crc = ~crc;
    for (; len >= 8; len -= 8, p += 8) {
        uint32_t a = crc ^ load(p), b = load(p + 4);
        crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
              t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
    }
    for (; len > 0; len--)
        crc = crc >> 8 ^ t[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

/* Polynomials over GF(2) modulo the CRC's: bit 31 is x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (uint32_t bit = 0x80000000U; bit != 0; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

/* A is moved up by LEN bytes, that is multiplied by x^(8 LEN). */
uint32_t crc32_join(uint32_t a, uint32_t b, uint64_t len)
{
    uint32_t power = 0x00800000U, shift = 0x80000000U; /* x^8 and x^0 */

    for (; len > 0; len >>= 1) {
        if (len & 1)
            shift = multiply(shift, power);
        power = multiply(power, power);
    }
    return multiply(a, shift) ^ b;
}
