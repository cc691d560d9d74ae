/* SPDX-License-Identifier: MIT */
/* Metrics: see metrics.h. */
#include "core/metrics.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "core/sandbox_limits.h"
#include "sys/io.h"

/* Statuses that get a series of their own; every other one is counted as "other". */
static const short statuses[] = {101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400,
                                 401, 403, 404, 405, 408, 409, 410, 411, 412, 413, 414, 415, 416,
                                 422, 424, 429, 431, 499, 500, 501, 502, 503, 504, 505};
enum { N_STATUSES = sizeof statuses / sizeof statuses[0] + 1, STATUS_MAX = 600 };

/* Upper bounds of the latency buckets, in microseconds. */
static const int64_t bounds_us[] = {100,   250,    500,    1000,   2500,    5000,    10000,   25000,
                                    50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};
enum { N_BOUNDS = sizeof bounds_us / sizeof bounds_us[0] };

struct histogram {
    uint64_t buckets[N_BOUNDS + 1];
    int64_t sum_us;
};

struct route_numbers {
    uint64_t by_status[N_STATUSES];
    struct histogram latency;
};

struct app_numbers {
    char *label; /* app="NAME", escaped */
    uint64_t acquires, by_result[METRICS_CALL_COUNT];
    struct histogram latency;
};

static const char *const results[METRICS_CALL_COUNT] = {
    [METRICS_CALL_OK] = "ok", [METRICS_CALL_ERROR] = "error", [METRICS_CALL_FAILED] = "failed"};

enum kind { COUNTER, GAUGE };

static const struct {
    enum kind kind;
    int64_t divisor;
    const char *name, *help;
} rows[METRIC_COUNT] = {
#define METRIC(id, kind, divisor, exposed, help) {kind, divisor, exposed, help},
#include "core/metrics.def"
#undef METRIC
};

struct metrics {
    int64_t values[METRIC_COUNT];
    unsigned char status_index[STATUS_MAX];
    unsigned n_routes;
    struct metrics_route *names;
    struct route_numbers *routes;                  /* n_routes + 1 */
    struct histogram creates;                      /* of sandboxes */
    struct map apps;                               /* name → its number in `app` */
    struct app_numbers *app[METRICS_MAX_APPS + 1]; /* the last one is "other" */
    size_t n_apps;                                 /* without it */
    bool unenforced[SANDBOX_LIMIT_COUNT];
};

struct metrics *metrics_new(struct err *e)
{
    struct metrics *m = mem_zalloc(1, sizeof *m);

    if (!m || metrics_set_routes(m, NULL, 0, e) < 0) {
        (void)err_sys(e, -ENOMEM, "metrics");
        metrics_free(m);
        return NULL;
    }
    map_init(&m->apps, METRICS_MAX_APPS);
    memset(m->status_index, N_STATUSES - 1, sizeof m->status_index);
    for (unsigned char i = 0; i < ARRAY_LEN(statuses); i++)
        m->status_index[statuses[i]] = i;
    m->values[METRIC_START_TIME] = clock_real_us();
    return m;
}

int metrics_set_routes(struct metrics *m, const struct metrics_route *routes, unsigned n,
                       struct err *e)
{
    struct metrics_route *names = mem_zalloc((size_t)n + 1, sizeof *names);
    struct route_numbers *numbers = mem_zalloc((size_t)n + 1, sizeof *numbers);

    if (!names || !numbers) {
        free(names);
        free(numbers);
        return err_sys(e, -ENOMEM, "metrics");
    }
    if (n > 0)
        memcpy(names, routes, n * sizeof *routes);
    names[n] = (struct metrics_route){"", "none"};
    free(m->names);
    free(m->routes);
    m->names = names;
    m->routes = numbers;
    m->n_routes = n;
    return 0;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    free(m->names);
    free(m->routes);
    map_done(&m->apps);
    for (size_t i = 0; i <= METRICS_MAX_APPS; i++) {
        if (m->app[i])
            free(m->app[i]->label);
        free(m->app[i]);
    }
    free(m);
}

void metrics_add(struct metrics *m, enum metric id, int64_t by)
{
    m->values[id] += by;
}

void metrics_set(struct metrics *m, enum metric id, int64_t value)
{
    m->values[id] = value;
}

int64_t metrics_get(const struct metrics *m, enum metric id)
{
    return m->values[id];
}

void metrics_set_unenforced(struct metrics *m, unsigned limit, bool is_unenforced)
{
    m->unenforced[limit] = is_unenforced;
}

static void observe(struct histogram *h, int64_t us)
{
    unsigned bucket = 0;

    while (bucket < N_BOUNDS && us > bounds_us[bucket])
        bucket++;
    h->buckets[bucket]++;
    h->sum_us += us;
}

void metrics_create(struct metrics *m, int64_t us)
{
    observe(&m->creates, us);
}

void metrics_request(struct metrics *m, unsigned route, int status, int64_t us)
{
    struct route_numbers *r = &m->routes[route < m->n_routes ? route : m->n_routes];

    r->by_status[status > 0 && status < STATUS_MAX ? m->status_index[status] : N_STATUSES - 1]++;
    observe(&r->latency, us);
}

/* ---- apps ---- */

/* app="NAME" as the text format wants it. */
static char *app_label(struct str name)
{
    struct buf text auto_buf = BUF_INIT(1024);

    (void)buf_add_lit(&text, "app=\"");
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '"' || name.p[i] == '\\')
            (void)buf_add_char(&text, '\\');
        (void)buf_add_char(&text, name.p[i] == '\n' ? ' ' : name.p[i]);
    }
    (void)buf_add_char(&text, '"');
    return buf_ok(&text) ? mem_strndup(text.p, text.len) : NULL;
}

static struct app_numbers *app_at(struct metrics *m, size_t i, struct str name)
{
    if (m->app[i])
        return m->app[i];
    struct app_numbers *x = mem_zalloc(1, sizeof *x);
    if (x && !(x->label = app_label(name)))
        free(take(x));
    m->app[i] = x;
    return x;
}

/* The numbers of app NAME; NULL without memory: then something is not counted. */
static struct app_numbers *app_of(struct metrics *m, struct str name)
{
    struct app_numbers *x = map_get(&m->apps, name);

    if (x)
        return x;
    if (m->n_apps == METRICS_MAX_APPS)
        return app_at(m, METRICS_MAX_APPS, STR("other"));
    x = app_at(m, m->n_apps, name);
    if (x && map_put(&m->apps, name, x, NULL) < 0) {
        free(x->label);
        free(x);
        return m->app[m->n_apps] = NULL;
    }
    m->n_apps += x != NULL;
    return x;
}

void metrics_app_acquired(struct metrics *m, struct str app, size_t n)
{
    struct app_numbers *x = app_of(m, app);

    if (x)
        x->acquires += n;
}

void metrics_app_call(struct metrics *m, struct str app, enum metrics_call result, int64_t us)
{
    struct app_numbers *x = app_of(m, app);

    if (!x)
        return;
    x->by_result[result]++;
    observe(&x->latency, us);
}

/* ---- the process ---- */

static int64_t resident_bytes(void)
{
    struct buf text auto_buf = BUF_INIT(256);
    int64_t pages = 0;

    if (io_read_file("/proc/self/statm", &text, NULL) < 0)
        return 0;
    struct str rest = buf_str(&text);
    (void)str_cut(&rest, ' ');
    (void)str_to_i64(str_cut(&rest, ' '), &pages);
    return pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int64_t n = -3; /* ".", ".." and the descriptor of the listing itself */

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static int64_t tv_us(struct timeval tv)
{
    return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

void metrics_sample_process(struct metrics *m)
{
    struct rusage use;
    struct rlimit fds;

    if (getrusage(RUSAGE_SELF, &use) == 0)
        metrics_set(m, METRIC_CPU, tv_us(use.ru_utime) + tv_us(use.ru_stime));
    metrics_set(m, METRIC_RSS, resident_bytes());
    metrics_set(m, METRIC_FDS, open_fds());
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0)
        metrics_set(m, METRIC_MAX_FDS, (int64_t)fds.rlim_cur);
}

/* ---- text ---- */

static void put_metric_head(struct buf *out, const char *name, const char *help, const char *type)
{
    (void)buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* LABELS ("" when there are none), up to where the value of another one, NEXT, follows if it is not
 * empty. */
static void put_labels(struct buf *out, const char *labels, const char *next)
{
    if (*labels)
        (void)buf_printf(out, "{%s%s%s", labels, *next ? "," : "}", next);
    else if (*next)
        (void)buf_printf(out, "{%s", next);
}

/* The labels of a route, in TEXT. */
static const char *route_labels(struct buf *text, const struct metrics_route *r)
{
    buf_clear(text);
    (void)buf_printf(text, "method=\"%s\",route=\"%s\"", r->method, r->pattern);
    return buf_cstr(text);
}

static void put_unenforced(struct buf *out, const struct metrics *m)
{
    const char *name = "tidepool_limit_unenforced";

    put_metric_head(out, name, "1 for a default sandbox limit that this host cannot enforce.",
                    "gauge");
    for (unsigned i = 0; i < SANDBOX_LIMIT_COUNT; i++)
        (void)buf_printf(out, "%s{limit=\"%s\"} %d\n", name, sandbox_limit_names[i],
                         m->unenforced[i]);
}

static void put_statuses(struct buf *out, const struct metrics *m)
{
    const char *name = "tidepool_http_requests_total";
    struct buf labels auto_buf = BUF_INIT(4096);

    put_metric_head(out, name, "Requests by route and status.", "counter");
    for (unsigned i = 0; i <= m->n_routes; i++)
        for (unsigned k = 0; k < N_STATUSES; k++) {
            uint64_t n = m->routes[i].by_status[k];
            if (n == 0)
                continue;
            (void)buf_add_str(out, str_of(name));
            put_labels(out, route_labels(&labels, &m->names[i]), "status=");
            if (k == N_STATUSES - 1)
                (void)buf_printf(out, "\"other\"} %" PRIu64 "\n", n);
            else
                (void)buf_printf(out, "\"%d\"} %" PRIu64 "\n", statuses[k], n);
        }
}

static void put_histogram(struct buf *out, const char *name, const char *labels,
                          const struct histogram *h)
{
    uint64_t n = 0;

    for (unsigned b = 0; b <= N_BOUNDS; b++) {
        n += h->buckets[b];
        (void)buf_printf(out, "%s_bucket", name);
        put_labels(out, labels, "le=");
        if (b == N_BOUNDS)
            (void)buf_printf(out, "\"+Inf\"} %" PRIu64 "\n", n);
        else
            (void)buf_printf(out, "\"%g\"} %" PRIu64 "\n", (double)bounds_us[b] / 1e6, n);
    }
    (void)buf_printf(out, "%s_sum", name);
    put_labels(out, labels, "");
    (void)buf_printf(out, " %.6f\n%s_count", (double)h->sum_us / 1e6, name);
    put_labels(out, labels, "");
    (void)buf_printf(out, " %" PRIu64 "\n", n);
}

static bool is_observed(const struct histogram *h)
{
    for (unsigned b = 0; b <= N_BOUNDS; b++)
        if (h->buckets[b])
            return true;
    return false;
}

static void put_apps(struct buf *out, const struct metrics *m)
{
    const char *acquires = "tidepool_app_acquires_total", *calls = "tidepool_app_calls_total";
    const char *latency = "tidepool_app_call_duration_seconds";

    put_metric_head(out, acquires, "Instances acquired, by app.", "counter");
    for (size_t i = 0; i <= METRICS_MAX_APPS; i++)
        if (m->app[i])
            (void)buf_printf(out, "%s{%s} %" PRIu64 "\n", acquires, m->app[i]->label,
                             m->app[i]->acquires);
    put_metric_head(out, calls, "Tool calls, by app and result.", "counter");
    for (size_t i = 0; i <= METRICS_MAX_APPS; i++)
        for (size_t k = 0; m->app[i] && k < METRICS_CALL_COUNT; k++)
            (void)buf_printf(out, "%s{%s,result=\"%s\"} %" PRIu64 "\n", calls, m->app[i]->label,
                             results[k], m->app[i]->by_result[k]);
    put_metric_head(out, latency, "Duration of tool calls, including the wait for others.",
                    "histogram");
    for (size_t i = 0; i <= METRICS_MAX_APPS; i++)
        if (m->app[i] && is_observed(&m->app[i]->latency))
            put_histogram(out, latency, m->app[i]->label, &m->app[i]->latency);
}

int metrics_write(struct buf *out, const struct metrics *m)
{
    struct buf labels auto_buf = BUF_INIT(4096);
    const char *latency = "tidepool_http_request_duration_seconds";
    const char *creates = "tidepool_sandbox_create_duration_seconds";

    for (unsigned i = 0; i < METRIC_COUNT; i++) {
        put_metric_head(out, rows[i].name, rows[i].help,
                        rows[i].kind == COUNTER ? "counter" : "gauge");
        if (rows[i].divisor == 1)
            (void)buf_printf(out, "%s %" PRId64 "\n", rows[i].name, m->values[i]);
        else
            (void)buf_printf(out, "%s %.6f\n", rows[i].name,
                             (double)m->values[i] / (double)rows[i].divisor);
    }
    put_unenforced(out, m);
    put_statuses(out, m);
    put_metric_head(out, latency, "Time from the request head to the end of the response.",
                    "histogram");
    for (unsigned i = 0; i <= m->n_routes; i++)
        if (is_observed(&m->routes[i].latency))
            put_histogram(out, latency, route_labels(&labels, &m->names[i]), &m->routes[i].latency);
    put_metric_head(out, creates, "Time from the request for a sandbox until it is running.",
                    "histogram");
    put_histogram(out, creates, "", &m->creates);
    put_apps(out, m);
    return out->error;
}
