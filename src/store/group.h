/* SPDX-License-Identifier: MIT */
/* The group commit: many transactions of the store in one of the database. Each has a savepoint, so
 * that one that fails does not hurt its neighbours; one commit makes all of them durable. Keeps the
 * head of the audit chain. Belongs to the writer thread. */
#pragma once

#include "store/chain.h"
#include "store/driver.h"

struct group {
    const struct store_driver *driver;
    struct store_db *db;
    struct chain_link head;      /* of the events that are durable */
    int64_t pruned;              /* the chain begins behind this number */
    int64_t keep_events;         /* negative: all */
    int64_t keep_account_events; /* of each account, whatever the others do */
    uint64_t commits;
    bool is_unsynced; /* the last commit, or some before it, may not be on the disk yet */
};

/* Reads where the chain ends. 0 or -errno. */
int group_load(struct group *g, struct err *e);
/* Applies the N transactions of the list TXS and sets their results. */
void group_apply(struct group *g, struct store_tx *txs, size_t n);
/* Sees to it that all that was applied is on the disk. */
void group_sync(struct group *g);
/* Removes a batch of events over the limit. True when there is more to remove. */
bool group_prune(struct group *g);
