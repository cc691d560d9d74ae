/* SPDX-License-Identifier: MIT */
/* Randomness and identifiers: see id.h. */
#include "base/id.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/enc.h"

void id_random(void *p, size_t len)
{
    char *at = p;

    while (len > 0) {
        ssize_t n = getrandom(at, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            abort();
        at += n;
        len -= (size_t)n;
    }
}

uint64_t id_seed(void)
{
    uint64_t seed;

    id_random(&seed, sizeof seed);
    return seed;
}

void id_hex(char *out, size_t n)
{
    unsigned char raw[32];

    while (n > 0) {
        size_t digits = n < sizeof raw * 2 ? n : sizeof raw * 2;
        char text[sizeof raw * 2 + 1];
        id_random(raw, (digits + 1) / 2);
        enc_hex(text, raw, (digits + 1) / 2);
        for (size_t i = 0; i < digits; i++)
            *out++ = text[i];
        n -= digits;
    }
    *out = '\0';
}

void id_uuid(char out[ID_UUID_LEN + 1])
{
    static const unsigned char parts[] = {4, 2, 2, 2, 6}; /* bytes between the dashes */
    unsigned char raw[16], *p = raw;

    id_random(raw, sizeof raw);
    raw[6] = (unsigned char)((raw[6] & 0x0f) | 0x40);
    raw[8] = (unsigned char)((raw[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof parts; i++) {
        enc_hex(out, p, parts[i]);
        p += parts[i];
        out += 2 * (size_t)parts[i];
        *out++ = i + 1 < sizeof parts ? '-' : '\0';
    }
}
