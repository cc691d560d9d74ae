/* SPDX-License-Identifier: MIT */
/* jansson's opinion: see oracle_json.h. */
#include "oracle_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static enum oracle why_not(const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);

    if (code == json_error_numeric_overflow || code == json_error_null_byte_in_key)
        return ORACLE_ABSTAINS;
    return ORACLE_REFUSES;
}

enum oracle oracle_json(const char *text, size_t len, char **ret, size_t *ret_len)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17);
    json_error_t error;

    if (memchr(text, '\0', len)) /* which it takes for the end of the text */
        return ORACLE_ABSTAINS;
    json_t *v = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

    if (!v)
        return why_not(&error);
    *ret_len = json_dumpb(v, NULL, 0, flags);
    *ret = malloc(*ret_len + 1);
    if (!*ret || json_dumpb(v, *ret, *ret_len, flags) != *ret_len)
        abort();
    json_decref(v);
    return ORACLE_ACCEPTS;
}
