/* SPDX-License-Identifier: MIT */
/* GET /sandboxes/{id}/metrics and /sandboxes/metrics: what sandboxes used, a point every few
 * seconds. */
#include <errno.h>

#include "api/e2b/e2b.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "core/sandbox.h"

enum { ANSWER_MAX = 4 << 20, MANY_MAX = 100 };

static void put_point(struct jw *w, const struct sandbox *sb, const struct sandbox_point *p)
{
    int64_t milli = e2b_cpu_milli(sb), cores = (milli + 999) / 1000;
    char at[CLOCK_RFC3339_MAX];

    clock_rfc3339(at, p->at_s * INT64_C(1000000));
    jw_object(w);
    jw_key(w, "timestamp");
    jw_cstr(w, at);
    jw_pair_int(w, "timestampUnix", p->at_s);
    jw_pair_int(w, "cpuCount", cores);
    jw_key(w, "cpuUsedPct");
    jw_real(w, 100.0 * p->cpu_milli / (double)milli);
    jw_pair_int(w, "memUsed", p->memory_kib * INT64_C(1024));
    jw_pair_int(w, "memTotal", e2b_memory_total(sb));
    jw_pair_int(w, "memCache", p->cache_kib * INT64_C(1024));
    jw_pair_int(w, "diskUsed", p->disk_kib * INT64_C(1024));
    jw_pair_int(w, "diskTotal", (int64_t)sb->figures.disk_total);
    jw_end(w);
}

/* Seconds since 1970; 0, or -EINVAL after answering. */
static int read_metric_time(struct api_req *r, const char *name, int64_t *ret)
{
    struct str text = api_query(r, name);

    if (text.len == 0 || (str_to_i64(text, ret) == 0 && *ret >= 0))
        return 0;
    api_error(r, 400, "Invalid %s: expected seconds since 1970", name);
    return -EINVAL;
}

void e2b_metrics(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    int64_t start = 0, end = INT64_MAX;
    const struct sandbox_point *p;

    if (!sb || read_metric_time(r, "start", &start) < 0 || read_metric_time(r, "end", &end) < 0)
        return;
    if (start > end) {
        api_error(r, 400, "Invalid range: start is after end");
        return;
    }
    sandbox_look(sb);
    jw_array(&w);
    for (size_t i = 0; (p = sandbox_series_at(&sb->figures.series, i)); i++)
        if (p->at_s >= start && p->at_s <= end)
            put_point(&w, sb, p);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

void e2b_metrics_many(struct api_req *r)
{
    struct str ids = api_query(r, "sandbox_ids");
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    int n = 0;

    jw_object(&w);
    jw_key(&w, "sandboxes");
    jw_object(&w);
    for (; ids.p && ids.len > 0; n++) {
        struct str id = str_cut(&ids, ',');
        struct sandbox *sb = sandbox_find_id(r->core->sandboxes, id);
        if (!sb || !sandbox_is_visible(sb, r->key))
            continue;
        sandbox_look(sb);
        const struct sandbox_series *s = &sb->figures.series;
        if (s->n == 0)
            continue;
        jw_key(&w, sb->id);
        put_point(&w, sb, sandbox_series_at(s, s->n - 1));
    }
    jw_end(&w);
    jw_end(&w);
    if (n == 0 || n > MANY_MAX)
        api_error(r, 400, "sandbox_ids must list 1 to %d sandboxes", MANY_MAX);
    else
        api_reply_json(r, 200, &body);
}
