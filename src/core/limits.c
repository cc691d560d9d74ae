/* SPDX-License-Identifier: MIT */
/* Maxima: see limits.h. */
#include "core/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/account.h"
#include "core/config.h"

enum { RESERVE_PART = 16, MODEST_PART = 64, SHARE = 4 };

struct limit_row {
    const char *key, *resource, *whole;
    enum limit_scope scope;
    size_t offset;
};

static const struct limit_row rows[LIMIT_COUNT] = {
#define LIMIT(id, field, type, of, word, all, ...)                                                 \
    [LIMIT_##id] = {#field, word, all, LIMIT_OF_##of, offsetof(struct config, field)},
#include "core/limits.def"
#undef LIMIT
};

struct limits {
    const struct config *config;
    struct tally service[LIMIT_COUNT];
    uint64_t n_refused[LIMIT_COUNT], n_refused_all[LIMIT_COUNT];
};

/* ---- values ---- */

static int64_t setting(const struct config *c, size_t offset)
{
    return *(const int64_t *)((const char *)c + offset);
}

static int64_t whole_of(const struct config *c, const struct limit_row *r)
{
    struct str text = str_of(r->whole);
    const struct config_option *o = config_find(text);
    int64_t n = 0;

    if (o)
        return setting(c, o->offset);
    (void)str_to_i64(text, &n);
    return n;
}

int64_t limits_whole(const struct config *c, const char *key)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (strcmp(rows[i].key, key) == 0)
            return whole_of(c, &rows[i]);
    return 0;
}

void limits_set_whole(struct limits *l, enum limit id, int64_t max)
{
    struct tally *t = &l->service[id];

    t->max = max;
    t->reserve = max / RESERVE_PART;
    t->modest = max / MODEST_PART > 0 ? max / MODEST_PART : 1;
}

struct limits *limits_new(const struct config *config, struct err *e)
{
    struct limits *l = mem_zalloc(1, sizeof *l);

    if (!l) {
        (void)err_sys(e, -ENOMEM, "limits");
        return NULL;
    }
    l->config = config;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        limits_set_whole(l, (enum limit)i, whole_of(config, &rows[i]));
        l->service[i].n_refused = &l->n_refused_all[i];
    }
    return l;
}

void limits_free(struct limits *l)
{
    free(l);
}

static bool is_unbound(const struct limits *l, const struct account *a)
{
    return !l->config->quota.enabled || !a || a->role == ACCOUNT_SYSTEM;
}

int64_t limits_max(const struct limits *l, const struct account *a, enum limit id)
{
    return is_unbound(l, a) ? 0 : setting(l->config, rows[id].offset);
}

void limits_note_refusal(struct limits *l, enum limit id)
{
    l->n_refused[id]++;
}

uint64_t *limits_refusals(struct limits *l, enum limit id)
{
    return &l->n_refused[id];
}

/* ---- what an account has ---- */

/* On a host that has less of it than the table says, accounts have less as well. */
static int64_t share_of(const struct limits *l, const struct account *a, enum limit id)
{
    int64_t max = limits_max(l, a, id), has = l->service[id].max;

    if (max <= 0 || has <= 0 || has >= whole_of(l->config, &rows[id]))
        return max;
    return max < has / SHARE ? max : has / SHARE + 1;
}

struct tally *limits_tally(struct limits *l, struct account *a, enum limit id)
{
    if (a && !a->uses)
        a->uses = mem_zalloc(LIMIT_COUNT, sizeof *a->uses);
    if (!a || !a->uses)
        return &l->service[id];
    struct tally *t = &a->uses[id];
    int64_t max = share_of(l, a, id);
    if (!t->whole)
        *t = (struct tally){.max = max,
                            .is_unbound = max == 0,
                            .n_refused = &l->n_refused[id],
                            .whole = &l->service[id]};
    return t;
}

int limits_refuse(const struct tally *t, enum limit id, int code, struct err *e)
{
    const char *word = rows[id].resource;

    if (code == -ENOBUFS) {
        const struct tally *all = t->whole ? t->whole : t;
        return err_set(e, code,
                       "capacity exceeded: the service has no room for more %s (%" PRId64
                       "/%" PRId64 "), please retry later",
                       word, all->n, all->max);
    }
    return err_set(e, code,
                   "capacity exceeded: your account has reached its maximum of %s (%" PRId64
                   "/%" PRId64 "), please delete some before creating new ones",
                   word, t->n, t->max);
}

int limits_take(struct limits *l, struct account *a, enum limit id, int64_t n, struct err *e)
{
    struct tally *t = limits_tally(l, a, id);
    int r = tally_take(t, n);

    return r < 0 ? limits_refuse(t, id, r, e) : 0;
}

/* ---- metrics ---- */

static const char *const scope_names[LIMIT_SCOPE_COUNT] = {[LIMIT_OF_SANDBOX] = "sandbox",
                                                           [LIMIT_OF_KEY] = "key",
                                                           [LIMIT_OF_ACCOUNT] = "account",
                                                           [LIMIT_OF_SHARE] = "account"};

static void put_limit_head(struct buf *out, const char *name, const char *type, const char *help)
{
    (void)buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_limit_text(struct buf *out, const char *name, const struct limit_row *r,
                           const char *of, int64_t n)
{
    (void)buf_printf(out, "%s{resource=\"%s\",of=\"%s\"} %" PRId64 "\n", name, r->resource, of, n);
}

static void put_maxima(struct buf *out, const struct limits *l)
{
    const char *name = "tidepool_limit";

    put_limit_head(out, name, "gauge",
                   "Maximum per sandbox, key, account or service; 0: no limit.");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        put_limit_text(out, name, &rows[i], scope_names[rows[i].scope],
                       l->config->quota.enabled ? setting(l->config, rows[i].offset) : 0);
        if (l->service[i].max > 0)
            put_limit_text(out, name, &rows[i], "service", l->service[i].max);
    }
}

static void put_uses(struct buf *out, const struct limits *l, const struct accounts *accounts)
{
    const char *name = "tidepool_limit_used";
    int64_t most[LIMIT_COUNT] = {0};
    const struct account *a;

    for (size_t i = 0; (a = accounts_next(accounts, &i));)
        for (int k = 0; a->uses && k < LIMIT_COUNT; k++)
            most[k] = a->uses[k].n > most[k] ? a->uses[k].n : most[k];
    put_limit_head(out, name, "gauge",
                   "Current usage of the service, and of the account with the most.");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        /* Events are counted by the store alone. */
        if (rows[i].scope == LIMIT_OF_SANDBOX || rows[i].scope == LIMIT_OF_KEY ||
            i == LIMIT_ACCOUNT_EVENTS)
            continue;
        put_limit_text(out, name, &rows[i], "account", most[i]);
        put_limit_text(out, name, &rows[i], "service", l->service[i].n);
    }
}

static void put_refusals(struct buf *out, const struct limits *l)
{
    const char *name = "tidepool_limit_refused_total";

    put_limit_head(out, name, "counter", "Requests rejected because of a limit.");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        /* Those of keys: tidepool_quota_refused_total. */
        if (rows[i].scope == LIMIT_OF_KEY || rows[i].scope == LIMIT_OF_SHARE)
            continue;
        put_limit_text(out, name, &rows[i], scope_names[rows[i].scope], (int64_t)l->n_refused[i]);
        if (rows[i].scope == LIMIT_OF_ACCOUNT)
            put_limit_text(out, name, &rows[i], "service", (int64_t)l->n_refused_all[i]);
    }
}

int limits_write(struct buf *out, const struct limits *l, const struct accounts *accounts)
{
    put_maxima(out, l);
    put_uses(out, l, accounts);
    put_refusals(out, l);
    return out->error;
}

/* ---- the page ---- */

static void add_limit_row(struct buf *out, const struct limit_row *r)
{
    const struct config_option *o = config_find(str_of(r->key));

    (void)buf_printf(out, "| %s | `%s` | %s | ", r->resource, r->key, o->def ? o->def : "");
    if (config_find(str_of(r->whole)))
        (void)buf_printf(out, "`%s`", r->whole);
    else
        (void)buf_add_str(out, str_of(r->whole));
    (void)buf_printf(out, " | %s |\n", o->help);
}

int limits_document(struct buf *out)
{
    static const struct {
        enum limit_scope scope;
        const char *title;
    } parts[] = {
        {LIMIT_OF_SANDBOX, "Per sandbox"},
        {LIMIT_OF_KEY, "Per key"},
        {LIMIT_OF_ACCOUNT, "Per account"},
        {LIMIT_OF_SHARE, "Retained per account, oldest removed first"},
    };

    (void)buf_add_lit(
        out,
        "# Limits\n\n"
        "Generated by `tidepool __limits` from `src/core/limits.def`; a test compares them. Every "
        "limit is a\nsetting, in the file or the environment (`tidepool config show` shows the "
        "effective values). 0 means no\nlimit, and `quota.enabled: false` turns all of them off. "
        "Operator keys are subject to the limits per key\nonly.\n\n"
        "A few accounts cannot use up what all accounts share: the last sixteenth is reserved for "
        "accounts that\nhave less than 1/64 of it.\n\n"
        "`/metrics` exports `tidepool_limit`, `tidepool_limit_used` and "
        "`tidepool_limit_refused_total` for each limit,\nwith the labels `resource` and `of` "
        "(sandbox, key, account, service).\n");
    for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
        (void)buf_printf(out,
                         "\n## %s\n\n| resource | setting | default | total | description |\n"
                         "|---|---|---|---|---|\n",
                         parts[p].title);
        for (int i = 0; i < LIMIT_COUNT; i++)
            if (rows[i].scope == parts[p].scope)
                add_limit_row(out, &rows[i]);
    }
    return out->error;
}
