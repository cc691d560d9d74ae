/* SPDX-License-Identifier: MIT */
/* Randomness and identifiers, from getrandom(2). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Fills P with LEN random bytes fit for secrets; ends the program when the kernel has none, because
 * no caller could go on safely. */
void id_random(void *p, size_t len);
/* A random 64-bit seed for hash tables. */
uint64_t id_seed(void);
/* Writes N random lowercase hex digits and a NUL to OUT (N + 1 bytes). */
void id_hex(char *out, size_t n);
/* A random UUID (version 4) in text, and a NUL. */
#define ID_UUID_LEN 36
void id_uuid(char out[ID_UUID_LEN + 1]);
