/* SPDX-License-Identifier: MIT */
/* What jansson thinks of a JSON text. Apart from the fuzz target, because the two headers give the
 * same names to different things. */
#pragma once

#include <stddef.h>

enum oracle {
    ORACLE_ACCEPTS,
    ORACLE_REFUSES,
    ORACLE_ABSTAINS /* beyond what it can hold: large integers, NUL in member names and in the text
                     */
};

/* Its verdict and, when it accepts, the value written by it with LEN bytes in *RET (free() it). */
enum oracle oracle_json(const char *text, size_t len, char **ret, size_t *ret_len);
