/* SPDX-License-Identifier: MIT */
/* Finding and showing sandboxes, and telling what is wrong, as E2B does: see e2b.h. */
#include <errno.h>
#include <unistd.h>

#include "api/e2b/e2b.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/e2b.h"
#include "base/json_pair.h"
#include "core/config.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "core/sandbox.h"

enum { ANSWER_MAX = 4 * SANDBOX_SPEC_MAX };

/* E2B answers with this constant, too; clients need it to be there. */
#define CLIENT_ID "6532622b"

/* ---- errors ---- */

int e2b_shape(struct buf *out, const struct api_fault *f)
{
    struct api_fault own = *f;

    if (f->kind == API_FAULT_RATE)
        own = (struct api_fault){.status = 429, .text = STR("Rate limit exceeded")};
    return api_fault_code_message(out, &own);
}

static bool is_e2b_id(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z')))
            return false;
    return s.len > 0;
}

/* The id alone; .p is NULL when it is none. */
static struct str read_id(const struct api_req *r)
{
    struct str client = api_param(r, "id"), id = str_cut(&client, '-');

    return is_e2b_id(id) && (!client.p || is_e2b_id(client)) ? id : STR_NULL;
}

void e2b_not_found(struct api_req *r)
{
    api_handler *h = r->match.route->handler;
    struct str id = str_slice(read_id(r), 0, 100);

    /* The endpoints that Agent-Sandbox documents have its words. */
    if (h == e2b_get || h == e2b_connect || h == e2b_delete)
        api_error(r, 404, "sandbox " STR_FMT " not found", STR_ARG(id));
    else
        api_error(r, 404, "Sandbox \"" STR_FMT "\" doesn't exist or you don't have access to it",
                  STR_ARG(id));
}

struct sandbox *e2b_find(struct api_req *r)
{
    struct str id = read_id(r);
    struct sandbox *sb = id.p ? sandbox_find_id(r->core->sandboxes, id) : NULL;

    if (!id.p)
        api_error(r, 400, "Invalid sandbox ID");
    else if (!sb || !sandbox_is_visible(sb, r->key))
        e2b_not_found(r);
    else
        return sb;
    return NULL;
}

/* E may be about another limit than that on their number. */
static void over_quota(struct api_req *r, const struct err *e)
{
    int64_t own = r->key->limits.max_live;
    int64_t all = limits_max(r->core->limits, r->key->account, LIMIT_ACCOUNT_SANDBOXES);

    metrics_add(r->core->metrics, METRIC_QUOTA_REFUSED, 1);
    bool is_number =
        (own > 0 && r->key->use.n_live >= own) ||
        (all > 0 &&
         limits_tally(r->core->limits, r->key->account, LIMIT_ACCOUNT_SANDBOXES)->n >= all);
    if (!is_number && e && e->code) {
        api_error(r, 429, "%s", err_text(e));
        return;
    }
    api_error(r, 429,
              "you have reached the maximum number of concurrent E2B sandboxes (%lld), please kill "
              "some before creating new ones",
              (long long)(own > 0 && (all == 0 || own < all) ? own : all));
}

void e2b_fail(struct api_req *r, const struct sandbox *sb, int code, const struct err *e)
{
    static const struct {
        int code, status;
    } rows[] = {
        {-EHOSTDOWN, 409},  /* paused */
        {-EOPNOTSUPP, 501}, /* this host cannot enforce what was asked for */
        {-EMLINK, 409},     /* too many snapshots on each other */
        {-ENOTCONN, 503},   /* no cells here at all */
        {-ETIMEDOUT, 503},  /* its processes cannot be stopped */
        {-ENOSPC, 507},     /* the state directory's disk is full */
        {-ETIMEDOUT, 503},  /* its processes do not stop */
    };

    if (code == -ETIMEDOUT)
        (void)http_add_header(r->http, "Retry-After", STR("5"));
    for (size_t i = 0; e && e->code && i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code) {
            api_error(r, rows[i].status, "%s", err_text(e));
            return;
        }
    if (code == -EDQUOT)
        over_quota(r, e);
    else if (sb && code == -ENOENT)
        e2b_not_found(r);
    else if (sb && code == -EBUSY && sb->is_talking)
        api_error(r, 409, "Sandbox %s is changing its state, please retry", sb->id);
    else
        api_fail(r, code, e);
}

/* ---- writing ---- */

static void put_e2b_time(struct jw *w, const char *name, int64_t us)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(text, us);
    jw_pair_cstr(w, name, text);
}

int64_t e2b_cpu_milli(const struct sandbox *sb)
{
    uint32_t milli = sb->cell_spec.limits.cpu_milli;

    return milli > 0 ? milli : sysconf(_SC_NPROCESSORS_ONLN) * 1000L;
}

int64_t e2b_memory_total(const struct sandbox *sb)
{
    uint64_t bytes = sb->cell_spec.limits.memory_bytes;

    return bytes > 0 ? (int64_t)bytes
                     : (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
}

/* The caller's own, and the name that the native API knows it by. */
static void put_metadata(struct jw *w, const struct sandbox *sb)
{
    const struct json *own = sb->spec.metadata;

    jw_key(w, "metadata");
    jw_object(w);
    for (size_t i = 0; own && i < own->n; i++) {
        jw_key_str(w, own->members[i].key);
        jw_value(w, &own->members[i].value);
    }
    if (!json_get(own, "name"))
        jw_pair_cstr(w, "name", sb->name);
    jw_end(w);
}

static void put_e2b_list(struct jw *w, const char *name, const struct json *list)
{
    jw_key(w, name);
    if (json_is(list, JSON_ARRAY)) {
        jw_value(w, list);
        return;
    }
    jw_array(w);
    jw_end(w);
}

static void put_network(struct jw *w, const struct sandbox *sb)
{
    jw_key(w, "allowInternetAccess");
    jw_bool(w, !sb->spec.is_offline);
    jw_key(w, "network");
    jw_object(w);
    put_e2b_list(w, "allowOut", json_get(sb->spec.network, "allowOut"));
    put_e2b_list(w, "denyOut", json_get(sb->spec.network, "denyOut"));
    jw_key(w, "allowPublicTraffic");
    jw_bool(w, sb->access.is_public);
    if (sb->access.mask_host.len > 0) {
        jw_key(w, "maskRequestHost");
        jw_str(w, sb->access.mask_host);
    }
    jw_end(w);
}

/* When it ends, or was paused; a time far away when nothing ends it. */
static int64_t end_us(const struct sandbox *sb)
{
    const int64_t never_us = INT64_C(4102444800) * 1000000; /* 2100-01-01 */

    if (sb->paused_us > 0)
        return sb->paused_us;
    return sb->expires_us > 0 ? sb->expires_us : never_us;
}

static void put_life(struct jw *w, const struct sandbox *sb)
{
    put_e2b_time(w, "startedAt", sb->started_us);
    put_e2b_time(w, "endAt", end_us(sb));
    jw_pair_cstr(w, "state", sandbox_status(sb));
    jw_key(w, "lifecycle");
    jw_object(w);
    jw_pair_cstr(w, "onTimeout", sb->spec.auto_pause ? "pause" : "kill");
    jw_key(w, "autoResume");
    jw_bool(w, sb->spec.auto_resume);
    jw_end(w);
}

void e2b_put_sandbox(struct jw *w, const struct core *core, const struct sandbox *sb)
{
    jw_object(w);
    jw_pair_cstr(w, "sandboxID", sb->id);
    jw_pair_cstr(w, "clientID", CLIENT_ID);
    jw_pair_cstr(w, "envdVersion", E2B_ENVD_VERSION);
    jw_pair_cstr(w, "envdAccessToken", sb->access.envd_token);
    jw_key(w, "templateID");
    jw_str(w, sb->spec.template_name);
    jw_key(w, "alias");
    jw_str(w, sb->spec.template_name);
    jw_pair_cstr(w, "trafficAccessToken", sb->access.traffic_token);
    jw_pair_cstr(w, "domain", core->domain);
    put_metadata(w, sb);
    jw_pair_int(w, "cpuCount", e2b_cpu_milli(sb));
    jw_pair_int(w, "memoryMB", e2b_memory_total(sb) >> 20);
    jw_pair_int(w, "diskSizeMB", (int64_t)(sb->cell_spec.disk.bytes >> 20));
    put_life(w, sb);
    put_network(w, sb);
    put_e2b_list(w, "volumeMounts", sb->spec.volumes);
    jw_end(w);
}

void e2b_reply_sandbox(struct api_req *r, int status, const struct sandbox *sb)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    e2b_put_sandbox(&w, r->core, sb);
    api_reply_json(r, status, &body);
}
