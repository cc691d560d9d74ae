/* SPDX-License-Identifier: MIT */
/* Accounts and their keys. All of them are in memory; the store keeps what has to survive. Of a key
 * only the SHA-256 is kept, never the token itself.
 *
 * Which tokens are the same: "e2b_X" and "X" are. A fixed token (from the configuration) that ends
 * in at least 32 hex digits H is also known as "e2b_H", because some clients take nothing but
 * "e2b_" and hex digits; when two fixed tokens end alike, neither is.
 *
 * Everything here belongs to the loop thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "core/quota.h"
#include "sys/digest.h"

struct store;
struct store_tx;
struct tally;

enum account_role {
    ACCOUNT_USER,
    ACCOUNT_SYSTEM,
    ACCOUNT_GRADER,  /* sees what was done in the instances of one account, and does nothing */
    ACCOUNT_METRICS, /* reads the metrics, and nothing else */
    ACCOUNT_ROLE_COUNT
};

enum {
    ACCOUNT_ID_MAX = 50,
    ACCOUNT_LABEL_MAX = 100,
    ACCOUNT_TOKEN_MIN = 5,
    ACCOUNT_TOKEN_MAX = 256,
    ACCOUNT_KEY_ID_LEN = 16,
    ACCOUNT_MAX_KEYS = 100000
};

/* "e2b_" and 40 hex digits: the form of every key that is made here. */
#define ACCOUNT_SECRET_LEN 44
/* The token that the documentation of the native API prints. */
#define ACCOUNT_SEED_TOKEN "sys-2492a85b10ed4cb083b2c76b181eac96"

struct account {
    char id[ACCOUNT_ID_MAX + 1]; /* also its name */
    enum account_role role;
    struct tally *uses; /* of what it has a maximum of, see limits.h; NULL: nothing so far */
};

struct account_key {
    unsigned n_refs;
    char id[ACCOUNT_KEY_ID_LEN + 1];
    char label[ACCOUNT_LABEL_MAX + 1];
    char hint[8]; /* the end of the token, to distinguish keys */
    struct account *account;
    char grades[ACCOUNT_ID_MAX + 1]; /* a grader's: whose instances it sees; empty: nobody's */
    unsigned char hash[DIGEST_SHA256_LEN];
    int64_t created_us;
    int64_t revoked_us;         /* 0: valid */
    int64_t revoking_us;        /* as the transaction that revokes it has it */
    bool is_fixed;              /* from the configuration: cannot be revoked here */
    struct quota_limits own;    /* -1: the default */
    struct quota_limits limits; /* what counts */
    struct quota_use use;
};

struct accounts;

/* Knows no key yet. DEFAULTS are the limits of keys without their own. NULL with E filled. */
struct accounts *accounts_new(const struct quota_limits *defaults, struct err *e);
void accounts_free(struct accounts *a);

/* Adds a token of the configuration; its account is LABEL, or one of its own made from the token
 * when LABEL is NULL. 0; -EEXIST when the same token is known already; -EINVAL when it is too short
 * or too long. */
int accounts_add_fixed(struct accounts *a, struct str token, enum account_role role,
                       const char *label, struct err *e);

/* The valid key of TOKEN, or NULL. Still the set's; take a reference to keep it. */
struct account_key *accounts_find(const struct accounts *a, struct str token);
/* True when TOKEN is a key that has ended. */
bool accounts_is_revoked(const struct accounts *a, struct str token);
/* True when TOKEN is what K was made with. */
bool account_key_is(const struct account_key *k, struct str token);
/* The key with this id, valid or revoked, or NULL. */
struct account_key *accounts_by_id(const struct accounts *a, struct str id);
struct account_key *account_key_ref(struct account_key *k);
void account_key_unref(struct account_key *k);
/* All keys, oldest first: key number I or NULL past the end. */
struct account_key *accounts_at(const struct accounts *a, size_t i);
/* How many of them are valid. */
size_t accounts_n_valid(const struct accounts *a);

/* The account ID, or NULL. */
struct account *accounts_account(const struct accounts *a, struct str id);
/* All of them in no order: the one after the number *I, which begins with 0, or NULL. */
struct account *accounts_next(const struct accounts *a, size_t *i);

bool account_id_is_valid(struct str id);
const char *account_role_name(enum account_role role);
/* 0, or -EINVAL when NAME is no role. */
int account_role_parse(struct str name, enum account_role *ret);

/* ---- making and ending keys ---- */

/* A new token: random, or the one that always comes out of this server secret and PARTS. */
void account_secret_random(char out[ACCOUNT_SECRET_LEN + 1]);
void account_secret_derive(char out[ACCOUNT_SECRET_LEN + 1], struct str server_secret,
                           struct str context);

struct account_new {
    struct str secret;  /* the token */
    struct str id;      /* of the key; empty: random */
    struct str account; /* empty: "system", or a new one for this key */
    struct str label;
    struct str
        grades; /* the account whose instances a grader sees; for graders, and only for them */
    enum account_role role;
    struct quota_limits limits; /* -1: the default */
};

/* Prepares a key: a reference for the caller, unknown to accounts_find() until accounts_settle().
 * NULL with E filled: -EINVAL for a malformed field, -EEXIST when the account has the other role,
 * -ENOBUFS when there are too many keys, -ENOMEM. */
struct account_key *accounts_prepare(struct accounts *a, const struct account_new *args,
                                     struct err *e);
/* Adds K to TX: the account if it is new, the key, and the event. BY is who does it (may be NULL:
 * the service itself). */
void account_tx_create(struct store_tx *tx, const struct account_key *k, const char *by);
/* Makes a prepared key valid when RESULT (of the transaction) is 0. Drops the reference. */
int accounts_settle(struct accounts *a, struct account_key *k, int result);

/* Adds the end of K to TX, with the event; -ENOENT comes out of the transaction when it has ended
 * already. */
void account_tx_revoke(struct store_tx *tx, struct account_key *k, const char *by);
/* Makes K invalid at once. */
void accounts_revoke(struct accounts *a, struct account_key *k);

/* Reads all accounts and keys; at the start, before any other key is added. */
int accounts_load(struct accounts *a, struct store *s, struct err *e);
