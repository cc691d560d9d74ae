/* SPDX-License-Identifier: MIT */
/* The secrets of a sandbox: see sandbox_access.h. */
#include "core/sandbox_access.h"

#include "base/id.h"
#include "base/mem.h"

void sandbox_access_make(struct sandbox_access *a)
{
    id_hex(a->envd_token, SANDBOX_TOKEN_LEN);
    id_hex(a->traffic_token, SANDBOX_TOKEN_LEN);
}

bool sandbox_token_is(const char token[SANDBOX_TOKEN_LEN + 1], struct str given)
{
    return given.len == SANDBOX_TOKEN_LEN && mem_eq_const(token, given.p, SANDBOX_TOKEN_LEN);
}
