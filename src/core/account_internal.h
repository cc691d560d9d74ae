/* SPDX-License-Identifier: MIT */
/* What account.c and account_store.c share. */
#pragma once

#include "base/map.h"
#include "core/account.h"

struct accounts {
    struct quota_limits defaults;
    struct map accounts;       /* id → struct account, owned */
    struct map by_hash;        /* of valid keys */
    struct map by_alias;       /* SHA-256 of an alias → key, or a mark when two share it */
    struct map by_id;          /* all keys */
    struct account_key **keys; /* all, with a reference each; in order of arrival */
    size_t n_keys, cap_keys;
};

/* The account ID, made when missing. NULL with E filled when it has another role. */
struct account *account_ensure(struct accounts *a, struct str id, enum account_role role,
                               struct err *e);
void account_set_limits(const struct accounts *a, struct account_key *k, struct quota_limits own);
/* Makes K known; -EEXIST when its id or token is known already. */
int account_enter(struct accounts *a, struct account_key *k);
