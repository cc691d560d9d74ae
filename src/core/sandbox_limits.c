/* SPDX-License-Identifier: MIT */
/* The limits of sandboxes: see sandbox_limits.h. */
#include "core/sandbox_limits.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/config.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "core/quantity.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"

const char *const sandbox_limit_names[SANDBOX_LIMIT_COUNT] = {
    [SANDBOX_LIMIT_MEMORY] = "memory",
    [SANDBOX_LIMIT_PIDS] = "pids",
    [SANDBOX_LIMIT_CPU] = "cpu",
    [SANDBOX_LIMIT_DISK] = "disk",
};

/* A quantity that is none is refused elsewhere. */
static bool is_set(const char *quantity)
{
    uint64_t milli;

    return quantity_milli(str_of(quantity), &milli) < 0 || milli > 0;
}

void sandboxes_find_lacks(struct sandboxes *set)
{
    const struct config *config = set->core->config;
    const struct {
        enum sandbox_limit limit;
        unsigned can;
        bool is_wanted;
    } rows[] = {
        {SANDBOX_LIMIT_MEMORY, CGROUP_CAN_MEMORY, is_set(config->cells.memory_limit)},
        {SANDBOX_LIMIT_PIDS, CGROUP_CAN_PIDS, config->cells.pids > 0},
        {SANDBOX_LIMIT_CPU, CGROUP_CAN_CPU, is_set(config->cells.cpu_limit)},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].is_wanted)
            (void)engine_can_limit(set->engine, rows[i].can, &set->lacks[rows[i].limit]);
    for (unsigned i = 0; i < SANDBOX_LIMIT_COUNT; i++)
        metrics_set_unenforced(set->core->metrics, i, set->lacks[i].code < 0);
}

const struct err *sandboxes_lack(const struct sandboxes *set, enum sandbox_limit limit)
{
    return set->lacks[limit].code < 0 ? &set->lacks[limit] : NULL;
}

int sandboxes_put_lacks(const struct sandboxes *set, struct buf *out)
{
    for (unsigned i = 0; i < SANDBOX_LIMIT_COUNT; i++)
        if (set->lacks[i].code < 0)
            (void)buf_printf(out, "%s%s", out->len > 0 ? "; " : "", err_text(&set->lacks[i]));
    return out->error;
}

/* ---- what may be asked for ---- */

static uint64_t host_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t host_cpu_milli(void)
{
    return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 1000;
}

/* A quantity that a caller asked for. */
struct limit_asked {
    enum limit limit;
    const char *name, *unit;
    struct str text;
    int (*parse)(struct str text, uint64_t *ret);
    uint64_t scale; /* of what parse() gives to the limit's unit */
    uint64_t has;   /* more than that is cut to it; 0: it is not */
    unsigned shift; /* of the limit's unit to the one that is shown */
};

/* MAX is in the limit's unit; 0: none. */
static int check_quantity(const struct limit_asked *q, int64_t max, struct err *e)
{
    uint64_t value, most = (uint64_t)max * q->scale;

    if (max <= 0 || q->text.len == 0 || q->parse(q->text, &value) < 0)
        return 0;
    if (value > 0 && (value <= most || (q->has > 0 && most >= q->has)))
        return 0;
    return err_set(e, -EINVAL, "invalid %s \"" STR_FMT "\": %s, at most %lld%s", q->name,
                   STR_ARG(str_slice(q->text, 0, 60)),
                   value == 0 ? "only operator keys may ask for no limit" : "too much",
                   (long long)(max >> q->shift), q->unit);
}

static int check_quantities(struct limits *l, const struct sandbox_args *a,
                            const struct account *account, struct err *e)
{
    const struct limit_asked rows[] = {
        {LIMIT_SANDBOX_MEMORY, "memory_limit", "Mi", a->memory_limit, quantity_units, 1, 0, 20},
        {LIMIT_SANDBOX_CPU, "cpu_limit", "", a->cpu_limit, quantity_milli, 1000, host_cpu_milli(),
         0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int r = check_quantity(&rows[i], limits_max(l, account, rows[i].limit), e);
        if (r < 0) {
            limits_note_refusal(l, rows[i].limit);
            return r;
        }
    }
    return 0;
}

static int check_host(const struct sandbox_args *a, struct err *e)
{
    const struct {
        const char *name;
        struct str text;
    } asked[] = {{"memory", a->memory}, {"memory_limit", a->memory_limit}};
    uint64_t has = host_memory(), bytes;

    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        if (asked[i].text.len > 0 && quantity_units(asked[i].text, &bytes) == 0 && bytes > has)
            return err_set(e, -EINVAL, "invalid %s \"" STR_FMT "\": this host has %lluMi",
                           asked[i].name, STR_ARG(str_slice(asked[i].text, 0, 60)),
                           (unsigned long long)(has >> 20));
    return 0;
}

/* Of sandboxes of ACCOUNT, in seconds. */
static int64_t max_timeout_s(const struct sandboxes *set, const struct account *account)
{
    int64_t max_s = limits_max(set->core->limits, account, LIMIT_SANDBOX_TIMEOUT) / 1000;

    return max_s > 0 && max_s < SANDBOX_TIMEOUT_MAX_S ? max_s : SANDBOX_TIMEOUT_MAX_S;
}

static bool is_too_long(int64_t timeout_s, int64_t max_s)
{
    return timeout_s > max_s || (timeout_s < 0 && max_s < SANDBOX_TIMEOUT_MAX_S);
}

static int check_limit_numbers(const struct sandboxes *set, const struct sandbox_args *a,
                               const struct account *account, struct err *e)
{
    struct limits *l = set->core->limits;
    int64_t pids = limits_max(l, account, LIMIT_SANDBOX_PIDS);
    int64_t timeout_s = max_timeout_s(set, account);

    if (pids > 0 && a->pids > pids) {
        limits_note_refusal(l, LIMIT_SANDBOX_PIDS);
        return err_set(e, -EINVAL, "invalid pids %lld: 1 to %lld", (long long)a->pids,
                       (long long)pids);
    }
    if (is_too_long(a->timeout_s, timeout_s)) {
        limits_note_refusal(l, LIMIT_SANDBOX_TIMEOUT);
        return err_set(e, -EINVAL, "invalid timeout %lld, must be <= %lld (seconds)",
                       (long long)a->timeout_s, (long long)timeout_s);
    }
    return 0;
}

int sandboxes_check_asked(const struct sandboxes *set, const struct sandbox_args *a,
                          const struct account *account, struct err *e)
{
    int r = check_host(a, e);

    if (r == 0)
        r = check_quantities(set->core->limits, a, account, e);
    return r < 0 ? r : check_limit_numbers(set, a, account, e);
}

int64_t sandbox_max_timeout_s(const struct sandbox *sb)
{
    return max_timeout_s(sb->set, accounts_account(sb->set->core->accounts, str_of(sb->account)));
}

bool sandbox_may_last(const struct sandbox *sb, int64_t timeout_s)
{
    return !is_too_long(timeout_s, sandbox_max_timeout_s(sb));
}
