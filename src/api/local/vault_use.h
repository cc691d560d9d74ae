/* SPDX-License-Identifier: MIT */
/* How many bytes of archives each account has in the vault (limits.def: ACCOUNT_ARCHIVES). What is
 * on its way counts as it comes; what is kept, as each sweep of the vault finds it, so that files
 * that were replaced or removed count no longer than until the next. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct core;
struct vault_account;
struct vault_uses;

struct vault_uses *vault_uses_new(struct core *core);
void vault_uses_free(struct vault_uses *u);

/* A file on its way. Zeroed: it counts nowhere. */
struct vault_use {
    struct vault_account *account;
    int64_t taken;
};

struct vault_use vault_use_begin(struct vault_uses *u, const char *account);
/* N more bytes: 0, or -EDQUOT (-ENOBUFS) when the account has no room for them. */
int vault_use_take(struct vault_use *use, int64_t n);
/* Whether N bytes would be taken; a refusal is counted. */
bool vault_use_fits(const struct vault_use *use, int64_t n);
/* It is a file of the vault now, or gone. */
void vault_use_end(struct vault_use *use, bool is_kept);

/* ---- a sweep ---- */

void vault_uses_look(struct vault_uses *u);
void vault_uses_found(struct vault_uses *u, const char *account, int64_t size);
void vault_uses_apply(struct vault_uses *u);
