/* SPDX-License-Identifier: MIT */
/* The core: see core.h. */
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/backup_take.h"
#include "core/build.h"
#include "core/config.h"
#include "core/disk_guard.h"
#include "core/event.h"
#include "core/idem.h"
#include "core/instance.h"
#include "core/instance_set.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "core/pool.h"
#include "core/root.h"
#include "core/sandbox.h"
#include "core/templates.h"
#include "core/volume.h"
#include "loop/watch.h"
#include "store/store.h"
#include "sys/io.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

/* ---- files ---- */

int core_path(const struct config *config, const char *name, char **ret)
{
    size_t size = strlen(config->state) + strlen(name) + 2;
    char *path = mem_alloc(size);

    if (!path)
        return -ENOMEM;
    (void)snprintf(path, size, "%s/%s", config->state, name);
    *ret = path;
    return 0;
}

/* Reads a small file of the state directory; OUT gets its first line. */
static int read_core_line(const struct config *config, const char *name, struct buf *out,
                          struct err *e)
{
    char *path auto_free = NULL;
    int r = core_path(config, name, &path);

    if (r < 0)
        return err_sys(e, r, "%s", name);
    r = io_read_file(path, out, e);
    if (r < 0)
        return r;
    ptrdiff_t end = str_chr(buf_str(out), '\n');
    if (end >= 0)
        out->len = (size_t)end;
    return 0;
}

static int write_core_line(const struct config *config, const char *name, const char *text,
                           struct err *e)
{
    char *path auto_free = NULL;
    char line[ACCOUNT_TOKEN_MAX + 2];
    int r = core_path(config, name, &path);

    if (r < 0)
        return err_sys(e, r, "%s", name);
    int n = snprintf(line, sizeof line, "%s\n", text);
    r = io_write_file(path, str_n(line, (size_t)n), 0600, e);
    mem_wipe(line, sizeof line);
    return r;
}

struct store *core_open_store(const struct config *config, bool is_read_only, struct err *e)
{
    char *path auto_free = NULL;
    int r = core_path(config, CORE_STORE_FILE, &path);

    if (r < 0) {
        (void)err_sys(e, r, "store");
        return NULL;
    }
    const struct store_opts opts = {.path = path,
                                    .is_read_only = is_read_only,
                                    .keep_events = config->events.keep,
                                    .keep_account_events =
                                        config->quota.enabled ? config->quota.account_events : 0};
    return store_open(&opts, e);
}

int core_read_key(const struct config *config, char out[ACCOUNT_TOKEN_MAX + 1], struct err *e)
{
    struct buf text auto_buf = BUF_INIT(ACCOUNT_TOKEN_MAX + 1);
    int r = read_core_line(config, CORE_KEY_FILE, &text, e);

    if (r < 0)
        return r;
    if (text.len < ACCOUNT_TOKEN_MIN || text.len > ACCOUNT_TOKEN_MAX)
        return err_set(e, -EINVAL, "%s does not contain a key", CORE_KEY_FILE);
    (void)snprintf(out, ACCOUNT_TOKEN_MAX + 1, STR_FMT, STR_ARG(buf_str(&text)));
    mem_wipe(text.p, text.len);
    return 0;
}

/* ---- the start ---- */

static int open_state(struct core *c, struct err *e)
{
    struct stat st;
    int r = io_mkdirs(c->config->state, 0700, e);

    if (r < 0)
        return err_ctx(e, r, "state directory");
    /* Others must not even see which files there are. */
    if (stat(c->config->state, &st) < 0 || (st.st_mode & 077 && chmod(c->config->state, 0700) < 0))
        return err_sys(e, -errno, "state directory '%s'", c->config->state);
    return 0;
}

static int open_core_store(struct core *c, struct err *e)
{
    c->store = core_open_store(c->config, false, e);
    return c->store ? 0 : e && e->code ? e->code : -EIO;
}

static int open_secret(struct core *c, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(2 * CORE_SECRET_LEN + 2);
    char digits[2 * CORE_SECRET_LEN + 1];
    int r = read_core_line(c->config, CORE_SECRET_FILE, &text, e);

    if (r == 0 && enc_unhex(c->secret, sizeof c->secret, buf_str(&text)) < 0)
        return err_set(e, -EINVAL, "%s is malformed", CORE_SECRET_FILE);
    if (r != -ENOENT)
        return r;
    id_random(c->secret, sizeof c->secret);
    enc_hex(digits, c->secret, sizeof c->secret);
    r = write_core_line(c->config, CORE_SECRET_FILE, digits, e);
    mem_wipe(digits, sizeof digits);
    return r;
}

static struct quota_limits default_limits(const struct config *config)
{
    if (!config->quota.enabled)
        return (struct quota_limits){0};
    return (struct quota_limits){.max_live = config->quota.max_live,
                                 .max_creates = config->quota.max_creates,
                                 .max_rps = config->quota.max_rps};
}

static int open_accounts(struct core *c, struct err *e)
{
    const struct quota_limits limits = default_limits(c->config);

    c->accounts = accounts_new(&limits, e);
    return c->accounts ? accounts_load(c->accounts, c->store, e) : -ENOMEM;
}

/* A token that is also a key of the store stays the latter. */
static int add_fixed(struct core *c, struct str token, enum account_role role, const char *label,
                     struct err *e)
{
    int r = accounts_add_fixed(c->accounts, token, role, label, NULL);

    return r == 0 || r == -EEXIST ? 0 : err_sys(e, r, "token of the configuration");
}

/* By convention a token that begins with "sys-" is the operator's. */
static int open_fixed(struct core *c, struct err *e)
{
    const struct config_list *tokens = &c->config->api_tokens;
    int r = 0;

    if (c->config->system_token)
        r = add_fixed(c, str_of(c->config->system_token), ACCOUNT_SYSTEM, "system", e);
    for (size_t i = 0; r == 0 && i < tokens->n; i++) {
        struct str token = str_of(tokens->items[i]);
        bool is_system = str_starts(token, STR("sys-"));
        r = add_fixed(c, token, is_system ? ACCOUNT_SYSTEM : ACCOUNT_USER,
                      is_system ? "system" : NULL, e);
    }
    return r;
}

int core_accept_seed_token(struct core *c, struct err *e)
{
    if (c->config->system_token)
        return 0;
    return add_fixed(c, STR(ACCOUNT_SEED_TOKEN), ACCOUNT_SYSTEM, "system", e);
}

/* ---- the system key ---- */

static bool has_system_key(const struct accounts *a)
{
    const struct account_key *k;

    for (size_t i = 0; (k = accounts_at(a, i)); i++)
        if (!k->is_fixed && !k->revoked_us && k->account->role == ACCOUNT_SYSTEM)
            return true;
    return false;
}

static int store_system_key(struct core *c, struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();
    const struct account_new args = {.secret = str_of(c->system_key),
                                     .label = STR("made at the first start"),
                                     .role = ACCOUNT_SYSTEM,
                                     .limits = {0, 0, 0}};
    struct account_key *k = accounts_prepare(c->accounts, &args, e);

    if (!k)
        return -EINVAL;
    account_tx_create(tx, k, NULL);
    return accounts_settle(c->accounts, k, store_run(c->store, tx, e));
}

/* The file is written before the store: a crash between the two leaves a token that no store knows,
 * which the next start takes in. A key that was revoked stays so; while another system key is left
 * nobody needs a new one. */
static int open_system_key(struct core *c, struct err *e)
{
    struct err why = ERR_INIT;
    int r = core_read_key(c->config, c->system_key, &why);
    struct str token = str_of(c->system_key);

    if (r < 0 && r != -ENOENT)
        return err_set(e, r, "%s", err_text(&why));
    if (r == 0 && accounts_find(c->accounts, token))
        return 0;
    bool is_revoked = r == 0 && accounts_is_revoked(c->accounts, token);
    if (is_revoked && has_system_key(c->accounts)) {
        c->system_key[0] = 0;
        return 0;
    }
    if (r == -ENOENT || is_revoked) {
        account_secret_random(c->system_key);
        r = write_core_line(c->config, CORE_KEY_FILE, c->system_key, e);
        if (r < 0)
            return r;
    }
    c->is_first_start = true;
    r = store_system_key(c, e);
    return r < 0 ? err_ctx(e, r, "system key") : 0;
}

/* ---- all of it ---- */

static int open_idem(struct core *c, struct err *e)
{
    c->idem = idem_new(c->store, c->loop, e);
    return c->idem ? 0 : -ENOMEM;
}

static int open_limits(struct core *c, struct err *e)
{
    c->limits = limits_new(c->config, e);
    return c->limits ? 0 : -ENOMEM;
}

static int open_metrics(struct core *c, struct err *e)
{
    c->metrics = metrics_new(e);
    return c->metrics ? 0 : -ENOMEM;
}

static int note_core_event(struct core *c, enum event_reason reason, const char *text,
                           struct err *e)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();

    event_add(tx, reason, STR_NULL, STR("tidepool"), "%s", text);
    return store_run(c->store, tx, e);
}

static int note_start(struct core *c, struct err *e)
{
    return note_core_event(c, EVENT_SERVICE_STARTED, "Service " TIDEPOOL_VERSION " started", e);
}

static int open_roots(struct core *c, struct err *e)
{
    c->roots = roots_open(c, e);
    return c->roots ? 0 : e && e->code ? e->code : -ENOMEM;
}

/* Sandboxes have taken the roots that they have: what is left nobody needs. */
static int sweep_roots(struct core *c, struct err *e)
{
    (void)e;
    roots_sweep(c->roots);
    return 0;
}

/* Last, because events are written and requests of the restored sandboxes may end at once. */
static int open_sandboxes(struct core *c, struct err *e)
{
    c->sandboxes = sandboxes_open(c, &c->no_sandboxes);
    if (!c->sandboxes)
        return err_sys(e, -ENOMEM, "sandboxes");
    return 0;
}

static int open_templates(struct core *c, struct err *e)
{
    c->templates = templates_open(c, e);
    return c->templates ? 0 : e && e->code ? e->code : -ENOMEM;
}

static int open_builds(struct core *c, struct err *e)
{
    c->builds = builds_open(c, e);
    return c->builds ? 0 : e && e->code ? e->code : -ENOMEM;
}

static int open_volumes(struct core *c, struct err *e)
{
    c->volumes = volumes_open(c, e);
    return c->volumes ? 0 : e && e->code ? e->code : -ENOMEM;
}

static int open_pools(struct core *c, struct err *e)
{
    c->pools = pools_open(c, e);
    return c->pools ? 0 : -ENOMEM;
}

static int open_guard(struct core *c, struct err *e)
{
    return disk_guard_new(c, &c->disk_guard, e);
}

static int open_instances(struct core *c, struct err *e)
{
    backup_sweep(c->config);
    c->instances = instances_open(c, e);
    return c->instances ? 0 : e && e->code ? e->code : -ENOMEM;
}

int core_open(struct core *c, struct loop *loop, const struct config *config, struct err *e)
{
    static int (*const steps[])(struct core *, struct err *) = {
        open_state,     open_limits,    open_core_store, open_secret, open_accounts,
        open_fixed,     open_metrics,   open_system_key, open_idem,   note_start,
        open_templates, open_instances, open_volumes,    open_roots,  open_sandboxes,
        sweep_roots,    open_guard,     open_builds,     open_pools,
    };

    *c = (struct core){.loop = loop, .config = config};
    (void)snprintf(c->domain, sizeof c->domain, "%s", config->domain);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        int r = steps[i](c, e);
        if (r < 0) {
            core_close(c);
            return r;
        }
    }
    return 0;
}

void core_stop(struct core *c)
{
    if (!c->store)
        return;
    pools_stop(c->pools);
    disk_guard_free(take(c->disk_guard));
    roots_stop(c->roots);
    sandboxes_stop(c->sandboxes);
    volumes_stop(c->volumes);
    instances_stop(c->instances);
    if (c->idem)
        (void)note_core_event(c, EVENT_SERVICE_STOPPED, "Service stopped", NULL);
    idem_free(take(c->idem));
    store_close(take(c->store));
    /* The last transactions have posted their ends to the loop. */
    (void)loop_run_once(c->loop, 0);
}

void core_close(struct core *c)
{
    core_stop(c);
    builds_free(c->builds);
    sandboxes_free(c->sandboxes);
    roots_free(c->roots);
    volumes_free(c->volumes);
    instances_free(c->instances);
    accounts_free(c->accounts);
    pools_free(c->pools);
    templates_free(c->templates);
    limits_free(c->limits);
    metrics_free(c->metrics);
    mem_wipe(c, sizeof *c);
}

static void sample_disk(struct core *c)
{
    struct statvfs fs;

    if (statvfs(c->config->state, &fs) < 0)
        return;
    metrics_set(c->metrics, METRIC_STATE_FREE, (int64_t)(fs.f_bavail * fs.f_frsize));
    metrics_set(c->metrics, METRIC_STATE_SIZE, (int64_t)(fs.f_blocks * fs.f_frsize));
}

void core_sample(struct core *c)
{
    struct store_stats s = store_stats(c->store);

    metrics_set(c->metrics, METRIC_STORE_QUEUED, (int64_t)s.queued);
    metrics_set(c->metrics, METRIC_STORE_TX, (int64_t)s.transactions);
    metrics_set(c->metrics, METRIC_STORE_COMMITS, (int64_t)s.commits);
    metrics_set(c->metrics, METRIC_STORE_FAILURES, (int64_t)s.failures);
    metrics_set(c->metrics, METRIC_KEYS, (int64_t)accounts_n_valid(c->accounts));
    sandboxes_sample(c->sandboxes);
    pools_sample(c->pools);
    instances_sample(c->instances);
    metrics_sample_process(c->metrics);
    if (c->watch) {
        const struct loop_stalls stalls = loop_watch_stalls(c->watch);
        metrics_set(c->metrics, METRIC_LOOP_STALL, stalls.max_us);
        metrics_set(c->metrics, METRIC_LOOP_STALL_CPU, stalls.max_cpu_us);
        metrics_set(c->metrics, METRIC_LOOP_STALLS, stalls.n);
    }
    sample_disk(c);
    disk_guard_sample(c->disk_guard);
}
