/* SPDX-License-Identifier: MIT */
/* Accounts and keys in the store: see account.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/account_internal.h"
#include "core/event.h"
#include "store/store.h"

DEFINE_CLEANUP(struct account_key *, account_key_unref)
DEFINE_CLEANUP(struct store_tx *, store_tx_free)

/* ---- making and ending ---- */

static void tx_limit(struct store_tx *tx, int64_t limit)
{
    if (limit < 0)
        store_tx_null(tx);
    else
        store_tx_int(tx, limit);
}

void account_tx_create(struct store_tx *tx, const struct account_key *k, const char *by)
{
    store_tx_add(tx, STORE_ACCOUNT_ENSURE);
    store_tx_text(tx, str_of(k->account->id));
    store_tx_text(tx, str_of(k->account->id));
    store_tx_text(tx, str_of(account_role_name(k->account->role)));
    store_tx_int(tx, k->created_us);
    store_tx_add(tx, STORE_KEY_INSERT);
    store_tx_text(tx, str_of(k->id));
    store_tx_text(tx, str_of(k->account->id));
    store_tx_text(tx, str_of(k->label));
    store_tx_text(tx, str_of(k->hint));
    store_tx_blob(tx, str_n((const char *)k->hash, sizeof k->hash));
    store_tx_int(tx, k->created_us);
    tx_limit(tx, k->own.max_live);
    tx_limit(tx, k->own.max_creates);
    tx_limit(tx, k->own.max_rps);
    store_tx_text(tx, str_of(k->grades));
    event_add(tx, EVENT_KEY_CREATED, str_of(k->account->id), str_of(k->id),
              "Key %s of account %s created by %s", k->id, k->account->id, by ? by : "the service");
}

void account_tx_revoke(struct store_tx *tx, struct account_key *k, const char *by)
{
    k->revoking_us = clock_real_us();
    store_tx_add(tx, STORE_KEY_REVOKE);
    store_tx_text(tx, str_of(k->id));
    store_tx_int(tx, k->revoking_us);
    store_tx_expect(tx, 1, -ENOENT);
    event_add(tx, EVENT_KEY_REVOKED, str_of(k->account->id), str_of(k->id),
              "Key %s of account %s revoked by %s", k->id, k->account->id, by ? by : "the service");
}

/* ---- loading ---- */

enum {
    COL_ID,
    COL_ACCOUNT,
    COL_LABEL,
    COL_HINT,
    COL_HASH,
    COL_CREATED,
    COL_REVOKED,
    COL_LIMITS,
    COL_GRADES = COL_LIMITS + 3
};

static void copy_account_text(char *out, size_t size, struct store_value v)
{
    (void)snprintf(out, size, STR_FMT, STR_ARG(v.s));
}

static int64_t limit_of(struct store_value v)
{
    return v.type == STORE_INT ? v.i : -1;
}

static int load_account(struct accounts *a, const struct store_value *c, struct err *e)
{
    enum account_role role;

    if (!account_id_is_valid(c[0].s) || account_role_parse(c[2].s, &role) < 0)
        return err_set(e, -EINVAL, "account '" STR_FMT "' is malformed", STR_ARG(c[0].s));
    return account_ensure(a, c[0].s, role, e) ? 0 : -EINVAL;
}

static int load_key(struct accounts *a, const struct store_value *c, struct err *e)
{
    struct account_key *k auto_(account_key_unref) = mem_zalloc(1, sizeof *k);

    if (!k)
        return err_sys(e, -ENOMEM, "keys");
    k->n_refs = 1;
    copy_account_text(k->id, sizeof k->id, c[COL_ID]);
    copy_account_text(k->label, sizeof k->label, c[COL_LABEL]);
    copy_account_text(k->hint, sizeof k->hint, c[COL_HINT]);
    copy_account_text(k->grades, sizeof k->grades, c[COL_GRADES]);
    k->account = map_get(&a->accounts, c[COL_ACCOUNT].s);
    if (!k->account || c[COL_HASH].s.len != sizeof k->hash)
        return err_set(e, -EINVAL, "key %s is malformed", k->id);
    memcpy(k->hash, c[COL_HASH].s.p, sizeof k->hash);
    k->created_us = c[COL_CREATED].i;
    k->revoked_us = c[COL_REVOKED].type == STORE_INT ? c[COL_REVOKED].i : 0;
    account_set_limits(a, k,
                       (struct quota_limits){limit_of(c[COL_LIMITS]), limit_of(c[COL_LIMITS + 1]),
                                             limit_of(c[COL_LIMITS + 2])});
    int r = account_enter(a, k);
    return r < 0 ? err_sys(e, r, "key %s", k->id) : 0;
}

int accounts_load(struct accounts *a, struct store *s, struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();

    if (!tx)
        return err_sys(e, -ENOMEM, "accounts");
    store_tx_add(tx, STORE_ACCOUNT_LIST);
    store_tx_add(tx, STORE_KEY_LIST);
    int r = store_run(s, tx, e);
    for (size_t i = 0; r == 0 && i < store_tx_n_rows(tx, 0); i++)
        r = load_account(a, store_tx_row(tx, 0, i).cols, e);
    for (size_t i = 0; r == 0 && i < store_tx_n_rows(tx, 1); i++)
        r = load_key(a, store_tx_row(tx, 1, i).cols, e);
    return r < 0 ? err_ctx(e, r, "load accounts") : 0;
}
