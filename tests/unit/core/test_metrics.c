/* SPDX-License-Identifier: MIT */
/* Metrics: the Prometheus text and the bound on the number of series. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/metrics.h"

static const struct metrics_route routes[] = {{"GET", "/api/v1/events"}, {"any", "/healthz"}};

static int setup(void **state)
{
    struct metrics *m = metrics_new(NULL);

    *state = m;
    return m ? metrics_set_routes(m, routes, ARRAY_LEN(routes), NULL) : -1;
}

static int teardown(void **state)
{
    metrics_free(*state);
    return 0;
}

static bool has_line(struct buf *text, const char *line)
{
    struct str rest = str_n(buf_cstr(text), text->len);

    while (rest.p)
        if (str_is(str_cut(&rest, '\n'), line))
            return true;
    return false;
}

static void numbers_and_labels(void **state)
{
    struct metrics *m = *state;
    struct buf text auto_buf = BUF_INIT(1 << 20);
    static const char *const lines[] = {
        "# TYPE tidepool_auth_failures_total counter",
        "tidepool_auth_failures_total 3",
        "# TYPE tidepool_store_queue_length gauge",
        "tidepool_store_queue_length 17",
        "process_cpu_seconds_total 1.500000",
        "# TYPE tidepool_http_requests_total counter",
        "tidepool_http_requests_total{method=\"GET\",route=\"/api/v1/events\",status=\"200\"} 2",
        "tidepool_http_requests_total{method=\"GET\",route=\"/api/v1/events\",status=\"401\"} 1",
        "tidepool_http_requests_total{method=\"\",route=\"none\",status=\"404\"} 1",
        "tidepool_http_requests_total{method=\"any\",route=\"/healthz\",status=\"other\"} 2",
        "# TYPE tidepool_http_request_duration_seconds histogram",
        "tidepool_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/events\","
        "le=\"0.0001\"} 1",
        "tidepool_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/events\","
        "le=\"0.00025\"} 2",
        "tidepool_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/events\","
        "le=\"10\"} 2",
        "tidepool_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/v1/events\","
        "le=\"+Inf\"} 3",
        "tidepool_http_request_duration_seconds_sum{method=\"GET\",route=\"/api/v1/events\"} "
        "20.000201",
        "tidepool_http_request_duration_seconds_count{method=\"GET\",route=\"/api/v1/events\"} 3",
        "tidepool_sandbox_create_duration_seconds_bucket{le=\"0.001\"} 1",
        "tidepool_sandbox_create_duration_seconds_bucket{le=\"+Inf\"} 2",
        "tidepool_sandbox_create_duration_seconds_sum 0.051000",
        "tidepool_sandbox_create_duration_seconds_count 2",
    };

    metrics_add(m, METRIC_AUTH_FAILED, 1);
    metrics_add(m, METRIC_AUTH_FAILED, 2);
    metrics_set(m, METRIC_STORE_QUEUED, 17);
    metrics_set(m, METRIC_CPU, 1500000);
    metrics_request(m, 0, 200, 100); /* on the bound: inside */
    metrics_request(m, 0, 200, 101);
    metrics_request(m, 0, 401, 20000000);
    metrics_request(m, 1, 299, 1);
    metrics_request(m, 1, 0, 1);
    metrics_request(m, 2, 404, 1);
    metrics_create(m, 1000);
    metrics_create(m, 50000);
    assert_int_equal(metrics_write(&text, m), 0);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!has_line(&text, lines[i]))
            fail_msg("missing: %s\nin:\n%s", lines[i], buf_cstr(&text));
    assert_int_equal(text.p[text.len - 1], '\n');
}

/* Every line is a comment or "name[{labels}] number"; every series has its TYPE before it. */
static void every_line_is_well_formed(void **state)
{
    struct metrics *m = *state;
    struct buf text auto_buf = BUF_INIT(1 << 20);
    struct str last_type = STR_NULL;

    metrics_request(m, 0, 200, 1);
    metrics_sample_process(m);
    assert_int_equal(metrics_write(&text, m), 0);
    struct str rest = str_n(text.p, text.len - 1);
    while (rest.p) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, STR("# TYPE "))) {
            line = str_skip(line, 7);
            last_type = str_cut(&line, ' ');
        } else if (line.p[0] != '#') {
            assert_true(str_starts(line, last_type));
            assert_true(line.p[line.len - 1] >= '0' && line.p[line.len - 1] <= '9');
        }
    }
}

static void the_process_is_seen(void **state)
{
    struct metrics *m = *state;

    metrics_sample_process(m);
    assert_true(metrics_get(m, METRIC_RSS) > 100000);
    assert_true(metrics_get(m, METRIC_FDS) >= 3);
    assert_true(metrics_get(m, METRIC_CPU) > 0);
}

/* Whatever clients send, the text does not grow past the tables. */
static void series_are_bounded(void **state)
{
    struct metrics *m = *state;
    struct buf a auto_buf = BUF_INIT(1 << 20), b auto_buf = BUF_INIT(1 << 20);

    for (unsigned route = 0; route < 5; route++)
        for (int status = 0; status < 1000; status++)
            metrics_request(m, route, status, status);
    assert_int_equal(metrics_write(&a, m), 0);
    for (unsigned route = 0; route < 1000; route++)
        metrics_request(m, route, (int)route - 100, 7);
    assert_int_equal(metrics_write(&b, m), 0);
    assert_true(b.len < a.len + a.len / 10);
}

static void apps_by_name(void **state)
{
    struct metrics *m = *state;
    struct buf text auto_buf = BUF_INIT(4 << 20);
    static const char *const lines[] = {
        "tidepool_app_acquires_total{app=\"jira\"} 5",
        "tidepool_app_calls_total{app=\"jira\",result=\"ok\"} 2",
        "tidepool_app_calls_total{app=\"jira\",result=\"error\"} 0",
        "tidepool_app_calls_total{app=\"jira\",result=\"failed\"} 1",
        "tidepool_app_call_duration_seconds_bucket{app=\"jira\",le=\"0.001\"} 2",
        "tidepool_app_call_duration_seconds_count{app=\"jira\"} 3",
        "tidepool_app_acquires_total{app=\"a\\\"b\\\\c\"} 1",
    };

    metrics_app_acquired(m, STR("jira"), 2);
    metrics_app_acquired(m, STR("jira"), 3);
    metrics_app_call(m, STR("jira"), METRICS_CALL_OK, 900);
    metrics_app_call(m, STR("jira"), METRICS_CALL_OK, 1000);
    metrics_app_call(m, STR("jira"), METRICS_CALL_FAILED, 1001);
    metrics_app_acquired(m, STR("a\"b\\c"), 1);
    assert_int_equal(metrics_write(&text, m), 0);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!has_line(&text, lines[i]))
            fail_msg("no line %s", lines[i]);
}

/* The last app with a name of its own, and the first one without. */
static void apps_are_bounded(void **state)
{
    struct metrics *m = *state;
    struct buf text auto_buf = BUF_INIT(4 << 20);
    char name[32], line[96];

    for (unsigned i = 0; i < METRICS_MAX_APPS + 10; i++) {
        (void)snprintf(name, sizeof name, "app-%u", i);
        metrics_app_acquired(m, str_of(name), 1);
    }
    assert_int_equal(metrics_write(&text, m), 0);
    (void)snprintf(line, sizeof line, "tidepool_app_acquires_total{app=\"app-%u\"} 1",
                   METRICS_MAX_APPS - 1);
    assert_true(has_line(&text, line));
    (void)snprintf(line, sizeof line, "tidepool_app_acquires_total{app=\"app-%u\"} 1",
                   METRICS_MAX_APPS);
    assert_false(has_line(&text, line));
    assert_true(has_line(&text, "tidepool_app_acquires_total{app=\"other\"} 10"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_and_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(every_line_is_well_formed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_process_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(series_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(apps_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(apps_are_bounded, setup, teardown),
    };

    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
