/* SPDX-License-Identifier: MIT */
/* Slots and leases of an account: see instance_slot.h. */
#include "core/instance_slot.h"

#include <errno.h>

#include "base/cleanup.h"
#include "core/core.h"
#include "core/instance_internal.h"
#include "core/limits.h"

/* ---- slots ---- */

/* Idle, and not in anybody's hands at the moment. */
static bool is_spare(const struct instance *in)
{
    return instance_state(in) == INSTANCE_IDLE && !in->own && !in->is_new &&
           (in->has_own_email || !list_is_empty(&in->idle_node));
}

static struct instance *find_spare(const struct instances *set, const char *account)
{
    void *value;

    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);) {
        struct instance *in = value;
        if (is_spare(in) && strcmp(in->account, account) == 0)
            return in;
    }
    return NULL;
}

/* A row that could not be removed is a slot again after a restart. */
static void on_slot_dropped(struct store_tx *tx, int result, void *ctx)
{
    (void)tx;
    (void)result;
    (void)ctx;
}

static void drop_slot(struct instance *in)
{
    struct core *core = in->set->core;
    struct store_tx *tx = store_tx_new();

    instance_tx_delete(tx, in);
    (void)store_submit(core->store, tx, core->loop, on_slot_dropped, NULL);
    instance_leave(in);
    instance_free(in);
}

int instance_take_slot(struct instance *in, struct account *account, struct err *e)
{
    struct limits *l = in->set->core->limits;
    struct tally *t = limits_tally(l, account, LIMIT_ACCOUNT_APP_SLOTS);
    struct instance *spare = NULL;

    if (t->max > 0 && t->n >= t->max)
        spare = find_spare(in->set, in->account);
    if (spare)
        drop_slot(spare);
    int r = tally_take(t, 1);
    if (r < 0)
        return limits_refuse(t, LIMIT_ACCOUNT_APP_SLOTS, r, e);
    in->slot = t;
    return 0;
}

void instance_add_slot(struct instance *in)
{
    struct core *core = in->set->core;
    struct account *account = accounts_account(core->accounts, str_of(in->account));

    in->slot = limits_tally(core->limits, account, LIMIT_ACCOUNT_APP_SLOTS);
    tally_add(in->slot, 1);
}

/* ---- leases ---- */

static bool has_slot_room(const struct tally *t, size_t n)
{
    bool has = t->max <= 0 || t->n + (int64_t)n <= t->max;

    if (!has)
        ++*t->n_refused;
    return has;
}

int instances_check_room(struct instances *set, struct account *account, size_t n, struct err *e)
{
    const struct tally *all = limits_tally(set->core->limits, NULL, LIMIT_ACCOUNT_APPS);
    const struct tally *own = limits_tally(set->core->limits, account, LIMIT_ACCOUNT_APPS);

    if (!has_slot_room(own, n))
        return limits_refuse(own, LIMIT_ACCOUNT_APPS, -EDQUOT, e);
    if (!has_slot_room(all, n))
        return err_set(e, -EAGAIN, "no sandbox is idle: there are %lld of %lld", (long long)all->n,
                       (long long)all->max);
    return 0;
}

int instance_take_lease(struct instance *in, struct account *account, struct err *e)
{
    struct limits *l = in->set->core->limits;
    int r = limits_take(l, account, LIMIT_ACCOUNT_APPS, 1, e);

    if (r == 0)
        in->lent = limits_tally(l, account, LIMIT_ACCOUNT_APPS);
    return r;
}

void instance_add_lease(struct instance *in)
{
    struct core *core = in->set->core;
    struct account *account = accounts_account(core->accounts, str_of(in->account));

    in->lent = limits_tally(core->limits, account, LIMIT_ACCOUNT_APPS);
    tally_add(in->lent, 1);
}
