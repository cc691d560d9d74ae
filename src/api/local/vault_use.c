/* SPDX-License-Identifier: MIT */
#include "api/local/vault_use.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/account.h"
#include "core/core.h"
#include "core/limits.h"

struct vault_account {
    struct tally *tally;
    int64_t kept;  /* of it: files, as far as they are known */
    int64_t fresh; /* of these: since the sweep under way began to look */
    int64_t found; /* by that sweep */
};

struct vault_uses {
    struct core *core;
    struct map accounts; /* id → struct vault_account */
};

struct vault_uses *vault_uses_new(struct core *core)
{
    struct vault_uses *u = mem_zalloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->core = core;
    map_init(&u->accounts, ACCOUNT_MAX_KEYS);
    return u;
}

void vault_uses_free(struct vault_uses *u)
{
    void *value;

    if (!u)
        return;
    for (size_t i = 0; map_next(&u->accounts, &i, NULL, &value);)
        free(value);
    map_done(&u->accounts);
    free(u);
}

/* NULL without memory: then something is not counted. */
static struct vault_account *find_vault_account(struct vault_uses *u, const char *id)
{
    struct vault_account *a = map_get(&u->accounts, str_of(id));

    if (a)
        return a;
    a = mem_zalloc(1, sizeof *a);
    if (a && map_put(&u->accounts, str_of(id), a, NULL) < 0)
        free(take(a));
    if (a)
        a->tally = limits_tally(u->core->limits, accounts_account(u->core->accounts, str_of(id)),
                                LIMIT_ACCOUNT_ARCHIVES);
    return a;
}

/* ---- on its way ---- */

struct vault_use vault_use_begin(struct vault_uses *u, const char *account)
{
    return (struct vault_use){.account = find_vault_account(u, account)};
}

int vault_use_take(struct vault_use *use, int64_t n)
{
    int r = use->account ? tally_take(use->account->tally, n) : 0;

    if (r == 0)
        use->taken += n;
    return r;
}

bool vault_use_fits(const struct vault_use *use, int64_t n)
{
    if (!use->account || tally_take(use->account->tally, n) < 0)
        return !use->account;
    tally_give(use->account->tally, n);
    return true;
}

void vault_use_end(struct vault_use *use, bool is_kept)
{
    struct vault_account *a = use->account;

    if (a && is_kept) {
        a->kept += use->taken;
        a->fresh += use->taken;
    } else if (a) {
        tally_give(a->tally, use->taken);
    }
    *use = (struct vault_use){0};
}

/* ---- a sweep ---- */

void vault_uses_look(struct vault_uses *u)
{
    void *value;

    for (size_t i = 0; map_next(&u->accounts, &i, NULL, &value);) {
        struct vault_account *a = value;
        a->fresh = a->found = 0;
    }
}

void vault_uses_found(struct vault_uses *u, const char *account, int64_t size)
{
    struct vault_account *a = find_vault_account(u, account);

    if (a)
        a->found += size;
}

/* What came meanwhile may count twice until the next sweep. */
void vault_uses_apply(struct vault_uses *u)
{
    void *value;

    for (size_t i = 0; map_next(&u->accounts, &i, NULL, &value);) {
        struct vault_account *a = value;
        int64_t kept = a->found + a->fresh;
        tally_give(a->tally, a->kept);
        tally_add(a->tally, kept);
        a->kept = kept;
    }
}
