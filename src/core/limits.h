/* SPDX-License-Identifier: MIT */
/* What one sandbox, one account and the service may have at most. The table is limits.def:
 * settings, documentation (docs/LIMITS.md) and metrics come from it. What a single key may do is
 * counted by quota.h, whose limits are rows of the same table.
 *
 * An account's uses are tallies (base/tally.h), parts of that of the service. The last sixteenth of
 * what the service has is for accounts that have less than a 64th of it. The operator's keys are
 * bound by nothing but what the service has. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/tally.h"

struct account;
struct accounts;
struct config;
struct config_option;
struct limits;

enum limit {
#define LIMIT(id, ...) LIMIT_##id,
#include "core/limits.def"
#undef LIMIT
    LIMIT_COUNT
};

enum limit_scope {
    LIMIT_OF_SANDBOX,
    LIMIT_OF_KEY,
    LIMIT_OF_ACCOUNT,
    LIMIT_OF_SHARE,
    LIMIT_SCOPE_COUNT
};

/* CONFIG must outlive it. NULL with E filled. */
struct limits *limits_new(const struct config *config, struct err *e);
void limits_free(struct limits *l);

/* ---- what a sandbox may ask for ---- */

/* The most that a sandbox of A may ask for; 0: no limit. */
int64_t limits_max(const struct limits *l, const struct account *a, enum limit id);
/* One asked for more. */
void limits_note_refusal(struct limits *l, enum limit id);
/* Who counts that. */
uint64_t *limits_refusals(struct limits *l, enum limit id);

/* ---- what an account has ---- */

/* The tally of A, or of the service when A is NULL or there is no memory; never NULL. Valid as long
 * as the accounts are. */
struct tally *limits_tally(struct limits *l, struct account *a, enum limit id);
/* Takes N for A. 0; -EDQUOT: the account has its maximum; -ENOBUFS: the service has. E says so. */
int limits_take(struct limits *l, struct account *a, enum limit id, int64_t n, struct err *e);
/* What E says when T, a tally of ID, refused by CODE. Returns CODE. */
int limits_refuse(const struct tally *t, enum limit id, int code, struct err *e);
/* The service itself can have no more than MAX of it on this host. */
void limits_set_whole(struct limits *l, enum limit id, int64_t max);

/* ---- showing ---- */

/* Appends the metrics. Returns as buf_add(). */
int limits_write(struct buf *out, const struct limits *l, const struct accounts *accounts);
/* Appends docs/LIMITS.md. Returns as buf_add(). */
int limits_document(struct buf *out);

/* ---- defaults: see .derive in options.def ---- */

/* What the service has of the resource that the setting KEY limits; 0: nothing limits it. */
int64_t limits_whole(const struct config *c, const char *key);

int64_t limits_derive_memory(const struct config *c, const struct config_option *o);
int64_t limits_derive_cpu(const struct config *c, const struct config_option *o);
int64_t limits_derive_pids(const struct config *c, const struct config_option *o);
int64_t limits_derive_disk(const struct config *c, const struct config_option *o);
int64_t limits_derive_archives(const struct config *c, const struct config_option *o);
/* A quarter of what the service has. */
int64_t limits_derive_share(const struct config *c, const struct config_option *o);
