/* SPDX-License-Identifier: MIT */
/* Accounts and keys in memory: see account.h. What the store keeps of them is account_store.c. */
#include "core/account.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/account_internal.h"

DEFINE_CLEANUP(struct account_key *, account_key_unref)

#define E2B_PREFIX "e2b_"
enum { ALIAS_MIN_DIGITS = 32 };

/* What an alias points to when two tokens share it. */
static struct account_key ambiguous;

static const char *const role_names[ACCOUNT_ROLE_COUNT] = {[ACCOUNT_USER] = "user",
                                                           [ACCOUNT_SYSTEM] = "system",
                                                           [ACCOUNT_GRADER] = "grader",
                                                           [ACCOUNT_METRICS] = "metrics"};

struct accounts *accounts_new(const struct quota_limits *defaults, struct err *e)
{
    struct accounts *a = mem_zalloc(1, sizeof *a);

    if (!a) {
        (void)err_sys(e, -ENOMEM, "accounts");
        return NULL;
    }
    a->defaults = *defaults;
    map_init(&a->accounts, ACCOUNT_MAX_KEYS);
    map_init(&a->by_hash, ACCOUNT_MAX_KEYS);
    map_init(&a->by_alias, ACCOUNT_MAX_KEYS);
    map_init(&a->by_id, ACCOUNT_MAX_KEYS);
    return a;
}

void accounts_free(struct accounts *a)
{
    void *account;

    if (!a)
        return;
    for (size_t i = 0; i < a->n_keys; i++)
        account_key_unref(a->keys[i]);
    for (size_t i = 0; map_next(&a->accounts, &i, NULL, &account);) {
        free(((struct account *)account)->uses);
        free(account);
    }
    map_done(&a->accounts);
    map_done(&a->by_hash);
    map_done(&a->by_alias);
    map_done(&a->by_id);
    free(a->keys);
    free(a);
}

/* ---- tokens ---- */

static struct str without_prefix(struct str token)
{
    return str_starts(token, STR(E2B_PREFIX)) ? str_skip(token, sizeof E2B_PREFIX - 1) : token;
}

static struct str hash_str(const unsigned char hash[DIGEST_SHA256_LEN])
{
    return str_n((const char *)hash, DIGEST_SHA256_LEN);
}

static void account_hash(unsigned char out[DIGEST_SHA256_LEN], struct str token)
{
    digest_sha256(out, without_prefix(token));
}

/* The hex digits that TOKEN ends in, when they make an alias; else STR_NULL. */
static struct str alias_of(struct str token)
{
    size_t n = 0;

    while (n < token.len) {
        char c = token.p[token.len - 1 - n];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            break;
        n++;
    }
    return n >= ALIAS_MIN_DIGITS ? str_skip(token, token.len - n) : STR_NULL;
}

struct account_key *accounts_find(const struct accounts *a, struct str token)
{
    unsigned char hash[DIGEST_SHA256_LEN];
    struct str bare = without_prefix(token);

    if (bare.len == 0 || token.len > ACCOUNT_TOKEN_MAX)
        return NULL;
    digest_sha256(hash, bare);
    struct account_key *k = map_get(&a->by_hash, hash_str(hash));
    if (k)
        return mem_eq_const(k->hash, hash, sizeof hash) ? k : NULL;
    k = bare.len < token.len ? map_get(&a->by_alias, hash_str(hash)) : NULL;
    return k == &ambiguous ? NULL : k;
}

bool account_key_is(const struct account_key *k, struct str token)
{
    unsigned char hash[DIGEST_SHA256_LEN];

    account_hash(hash, token);
    return mem_eq_const(k->hash, hash, sizeof hash);
}

bool accounts_is_revoked(const struct accounts *a, struct str token)
{
    for (size_t i = 0; i < a->n_keys; i++)
        if (a->keys[i]->revoked_us && account_key_is(a->keys[i], token))
            return true;
    return false;
}

void account_secret_random(char out[ACCOUNT_SECRET_LEN + 1])
{
    memcpy(out, E2B_PREFIX, sizeof E2B_PREFIX);
    id_hex(out + sizeof E2B_PREFIX - 1, ACCOUNT_SECRET_LEN - (sizeof E2B_PREFIX - 1));
}

void account_secret_derive(char out[ACCOUNT_SECRET_LEN + 1], struct str server_secret,
                           struct str context)
{
    unsigned char mac[DIGEST_SHA256_LEN];

    digest_hmac_sha256(mac, server_secret, context);
    memcpy(out, E2B_PREFIX, sizeof E2B_PREFIX);
    enc_hex(out + sizeof E2B_PREFIX - 1, mac, (ACCOUNT_SECRET_LEN - (sizeof E2B_PREFIX - 1)) / 2);
    mem_wipe(mac, sizeof mac);
}

/* ---- accounts ---- */

bool account_id_is_valid(struct str id)
{
    if (id.len == 0 || id.len > ACCOUNT_ID_MAX || id.p[0] == '-' || id.p[id.len - 1] == '-')
        return false;
    for (size_t i = 0; i < id.len; i++) {
        char c = id.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return true;
}

const char *account_role_name(enum account_role role)
{
    return role_names[role];
}

int account_role_parse(struct str name, enum account_role *ret)
{
    for (int i = 0; i < ACCOUNT_ROLE_COUNT; i++)
        if (str_is(name, role_names[i])) {
            *ret = (enum account_role)i;
            return 0;
        }
    return -EINVAL;
}

struct account *accounts_account(const struct accounts *a, struct str id)
{
    return map_get(&a->accounts, id);
}

struct account *accounts_next(const struct accounts *a, size_t *i)
{
    void *account;

    return map_next(&a->accounts, i, NULL, &account) ? account : NULL;
}

struct account *account_ensure(struct accounts *a, struct str id, enum account_role role,
                               struct err *e)
{
    struct account *account = map_get(&a->accounts, id);

    if (account && account->role != role) {
        (void)err_set(e, -EEXIST, "account '%s' has the role %s", account->id,
                      role_names[account->role]);
        return NULL;
    }
    if (account)
        return account;
    account = mem_zalloc(1, sizeof *account);
    int r = account ? map_put(&a->accounts, id, account, NULL) : -ENOMEM;
    if (r < 0) {
        free(account);
        (void)err_sys(e, r, "account '" STR_FMT "'", STR_ARG(id));
        return NULL;
    }
    memcpy(account->id, id.p, id.len);
    account->role = role;
    return account;
}

/* ---- keys ---- */

struct account_key *account_key_ref(struct account_key *k)
{
    k->n_refs++;
    return k;
}

void account_key_unref(struct account_key *k)
{
    if (!k)
        return;
    assert(k->n_refs > 0);
    if (--k->n_refs == 0)
        free(k);
}

struct account_key *accounts_by_id(const struct accounts *a, struct str id)
{
    return map_get(&a->by_id, id);
}

struct account_key *accounts_at(const struct accounts *a, size_t i)
{
    return i < a->n_keys ? a->keys[i] : NULL;
}

size_t accounts_n_valid(const struct accounts *a)
{
    return a->by_hash.n;
}

static int64_t pick(int64_t own, int64_t fallback)
{
    return own >= 0 ? own : fallback;
}

void account_set_limits(const struct accounts *a, struct account_key *k, struct quota_limits own)
{
    k->own = own;
    k->limits = (struct quota_limits){pick(own.max_live, a->defaults.max_live),
                                      pick(own.max_creates, a->defaults.max_creates),
                                      pick(own.max_rps, a->defaults.max_rps)};
}

/* Makes K known. The set takes a reference of its own. */
int account_enter(struct accounts *a, struct account_key *k)
{
    struct str id = str_of(k->id);

    if (map_get(&a->by_id, id) || (!k->revoked_us && map_get(&a->by_hash, hash_str(k->hash))))
        return -EEXIST;
    if (a->n_keys == a->cap_keys) {
        size_t cap = a->cap_keys ? a->cap_keys * 2 : 16;
        struct account_key **keys = mem_realloc(a->keys, cap * sizeof(struct account_key *));
        if (!keys)
            return -ENOMEM;
        a->keys = keys;
        a->cap_keys = cap;
    }
    int r = map_put(&a->by_id, id, k, NULL);
    if (r < 0)
        return r;
    r = k->revoked_us ? 0 : map_put(&a->by_hash, hash_str(k->hash), k, NULL);
    if (r < 0) {
        (void)map_del(&a->by_id, id);
        return r;
    }
    a->keys[a->n_keys++] = account_key_ref(k);
    return 0;
}

void accounts_revoke(struct accounts *a, struct account_key *k)
{
    if (k->revoked_us)
        return;
    /* The time that was written down. */
    k->revoked_us = k->revoking_us ? k->revoking_us : clock_real_us();
    (void)map_del(&a->by_hash, hash_str(k->hash));
}

/* ---- fixed tokens ---- */

/* "bob-1f2e3d4c" of "bob-secret": what stands before the first dash, distinguished by the hash. */
static struct str fixed_account(char out[ACCOUNT_ID_MAX + 1], struct str token,
                                const unsigned char hash[DIGEST_SHA256_LEN])
{
    struct str rest = token;
    struct str label = str_cut(&rest, '-');
    char digits[9];

    enc_hex(digits, hash, 4);
    if (!rest.p || label.len > ACCOUNT_ID_MAX - sizeof digits || !account_id_is_valid(label))
        label = STR("user");
    int n = snprintf(out, ACCOUNT_ID_MAX + 1, STR_FMT "-%s", STR_ARG(label), digits);
    return str_n(out, (size_t)n);
}

static int add_alias(struct accounts *a, struct str token, struct account_key *k)
{
    unsigned char hash[DIGEST_SHA256_LEN];
    struct str alias = alias_of(token);

    if (!alias.p || alias.len == token.len)
        return 0;
    digest_sha256(hash, alias);
    bool is_taken = map_get(&a->by_alias, hash_str(hash)) != NULL;
    return map_put(&a->by_alias, hash_str(hash), is_taken ? &ambiguous : k, NULL);
}

int accounts_add_fixed(struct accounts *a, struct str token, enum account_role role,
                       const char *label, struct err *e)
{
    struct account_key *k = NULL;
    char own_id[ACCOUNT_ID_MAX + 1];

    if (token.len < ACCOUNT_TOKEN_MIN || token.len > ACCOUNT_TOKEN_MAX)
        return err_set(e, -EINVAL, "a token must have %d to %d characters", ACCOUNT_TOKEN_MIN,
                       ACCOUNT_TOKEN_MAX);
    k = mem_zalloc(1, sizeof *k);
    if (!k)
        return err_sys(e, -ENOMEM, "token");
    k->n_refs = 1;
    k->is_fixed = true;
    k->created_us = clock_real_us();
    account_hash(k->hash, token);
    enc_hex(k->id, k->hash, ACCOUNT_KEY_ID_LEN / 2);
    (void)snprintf(k->label, sizeof k->label, "configuration");
    account_set_limits(a, k, (struct quota_limits){-1, -1, -1});
    k->account =
        account_ensure(a, label ? str_of(label) : fixed_account(own_id, token, k->hash), role, e);
    int r = k->account ? account_enter(a, k) : -EINVAL;
    if (r == 0)
        r = add_alias(a, token, k);
    account_key_unref(k);
    return r < 0 ? err_ctx(e, r, "fixed token") : 0;
}

/* ---- new keys ---- */

static bool is_account_printable(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return str_is_utf8(s);
}

/* The account that ARGS asks for, written to OUT. */
static struct str wanted_account(char out[ACCOUNT_ID_MAX + 1], const struct account_new *args,
                                 const char *key_id)
{
    if (args->account.len > 0)
        return args->account;
    if (args->role == ACCOUNT_SYSTEM)
        return STR("system");
    int n = snprintf(out, ACCOUNT_ID_MAX + 1, "%s-%.8s", role_names[args->role], key_id);
    return str_n(out, (size_t)n);
}

/* What a key grades is said when it is made: one that saw every account would be a key to them. */
static int check_grades(const struct account_new *args, struct err *e)
{
    if (args->role == ACCOUNT_GRADER && args->grades.len == 0)
        return err_set(e, -EINVAL,
                       "a grader key requires 'grades': the account that it can inspect");
    if (args->role != ACCOUNT_GRADER && args->grades.len > 0)
        return err_set(e, -EINVAL, "'grades' is only for keys with the role grader");
    if (args->grades.len > 0 && !account_id_is_valid(args->grades))
        return err_set(e, -EINVAL, "grades: not the name of an account");
    return 0;
}

static int check_new(const struct accounts *a, const struct account_new *args, struct err *e)
{
    if (args->account.len > 0 && !account_id_is_valid(args->account))
        return err_set(e, -EINVAL,
                       "invalid account name: only lowercase letters, numbers, '-' and '_', max "
                       "%d chars",
                       ACCOUNT_ID_MAX);
    if (check_grades(args, e) < 0)
        return e ? e->code : -EINVAL;
    if (args->label.len > ACCOUNT_LABEL_MAX || !is_account_printable(args->label))
        return err_set(e, -EINVAL, "invalid name: at most %d bytes of printable text",
                       ACCOUNT_LABEL_MAX);
    if (args->id.len > ACCOUNT_KEY_ID_LEN || args->secret.len > ACCOUNT_TOKEN_MAX ||
        args->secret.len < ACCOUNT_TOKEN_MIN)
        return err_set(e, -EINVAL, "invalid key");
    if (a->n_keys >= ACCOUNT_MAX_KEYS)
        return err_set(e, -ENOBUFS, "too many keys: the limit is %d", ACCOUNT_MAX_KEYS);
    return 0;
}

struct account_key *accounts_prepare(struct accounts *a, const struct account_new *args,
                                     struct err *e)
{
    char own_account[ACCOUNT_ID_MAX + 1];

    if (check_new(a, args, e) < 0)
        return NULL;
    struct account_key *k auto_(account_key_unref) = mem_zalloc(1, sizeof *k);
    if (!k) {
        (void)err_sys(e, -ENOMEM, "key");
        return NULL;
    }
    k->n_refs = 1;
    if (args->id.len > 0)
        memcpy(k->id, args->id.p, args->id.len);
    else
        id_hex(k->id, ACCOUNT_KEY_ID_LEN);
    if (args->label.len > 0)
        memcpy(k->label, args->label.p, args->label.len);
    (void)snprintf(k->grades, sizeof k->grades, STR_FMT, STR_ARG(args->grades));
    (void)snprintf(k->hint, sizeof k->hint, STR_FMT,
                   STR_ARG(str_skip(args->secret, args->secret.len - 4)));
    account_hash(k->hash, args->secret);
    k->created_us = clock_real_us();
    account_set_limits(a, k, args->limits);
    k->account = account_ensure(a, wanted_account(own_account, args, k->id), args->role, e);
    return k->account ? take(k) : NULL;
}

int accounts_settle(struct accounts *a, struct account_key *k, int result)
{
    if (result == 0)
        result = account_enter(a, k);
    account_key_unref(k);
    return result;
}
