/* SPDX-License-Identifier: MIT */
/* Which sandbox a request is for. */
#include "../check.h"

#include "base/cleanup.h"
#include "proxy/destination.h"

#define ID "0123456789abcdef0123456789abcdef"

static struct destination find(const char *host, const char *id, const char *port,
                               const char *domain)
{
    struct http_header items[2];
    struct http_head head = {.host = str_of(host), .headers = {.items = items}};
    struct destination got;

    if (id)
        items[head.headers.n++] = (struct http_header){STR("E2B-Sandbox-Id"), str_of(id)};
    if (port)
        items[head.headers.n++] = (struct http_header){STR("e2b-sandbox-port"), str_of(port)};
    destination_find(&got, &head, str_of(domain));
    return got;
}

static const struct {
    const char *host;
    enum destination_kind kind;
    unsigned port;
    const char *id;
} hosts[] = {
    {"8080-" ID ".example.com", DESTINATION_SANDBOX, 8080, ID},
    {"8080-" ID ".example.com:10000", DESTINATION_SANDBOX, 8080, ID},
    {"8080-" ID ".example.com.", DESTINATION_SANDBOX, 8080, ID},
    {"8080-" ID ".localhost", DESTINATION_SANDBOX, 8080, ID},
    {"8080-" ID ".other.domain.of.somebody", DESTINATION_SANDBOX, 8080, ID},
    {"1-" ID ".x.y", DESTINATION_SANDBOX, 1, ID},
    {"65535-" ID ".x.y", DESTINATION_SANDBOX, 65535, ID},
    {"00080-" ID ".x.y", DESTINATION_SANDBOX, 80, ID},
    {"49983-iABC0z.X.Y", DESTINATION_SANDBOX, 49983, "iabc0z"},
    {"49983-" ID "-6532622b.x.y", DESTINATION_SANDBOX, 49983, ID},
    {"0-" ID ".x.y", DESTINATION_BAD, 0, ID},
    {"65536-" ID ".x.y", DESTINATION_BAD, 0, ID},
    {"99999999999999999999-" ID ".x.y", DESTINATION_BAD, 0, ID},
    {"8080-" ID, DESTINATION_HERE, 0, ""},
    {"8080-" ID ".", DESTINATION_HERE, 0, ""},
    {"-" ID ".x.y", DESTINATION_HERE, 0, ""},
    {"8080-.x.y", DESTINATION_HERE, 0, ""},
    {"8080--" ID ".x.y", DESTINATION_HERE, 0, ""},
    {"8080.x.y", DESTINATION_HERE, 0, ""},
    {"80a-" ID ".x.y", DESTINATION_HERE, 0, ""},
    {"8080-a_b.x.y", DESTINATION_HERE, 0, ""},
    {"www.8080-" ID ".x.y", DESTINATION_HERE, 0, ""},
    {"ip-10-0-0-1.internal", DESTINATION_HERE, 0, ""},
    {"10.0.0.1", DESTINATION_HERE, 0, ""},
    {"[::1]:80", DESTINATION_HERE, 0, ""},
    {"", DESTINATION_HERE, 0, ""},
    {"api.pool.test", DESTINATION_E2B, 0, ""},
    {"API.Pool.Test:10000", DESTINATION_E2B, 0, ""},
    {"api.pool.test.", DESTINATION_E2B, 0, ""},
    {"api.other.test", DESTINATION_HERE, 0, ""},
    {"api.", DESTINATION_HERE, 0, ""},
    {"api", DESTINATION_HERE, 0, ""},
    {"pool.test", DESTINATION_HERE, 0, ""},
};

static void hosts_name_a_sandbox_the_control_plane_or_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        struct destination got = find(hosts[i].host, NULL, NULL, "pool.test:18443");
        if (got.kind != hosts[i].kind || got.port != hosts[i].port ||
            strcmp(got.id, hosts[i].id) != 0)
            fail_msg("'%s': kind %d, port %u, id '%s'", hosts[i].host, got.kind, got.port, got.id);
        assert_int_equal(got.why != NULL, got.kind == DESTINATION_BAD);
    }
}

static const struct {
    const char *host, *id, *port;
    enum destination_kind kind;
    unsigned number;
} headers[] = {
    {"localhost", ID, "8080", DESTINATION_SANDBOX, 8080},
    {"localhost:10000", ID, "49983", DESTINATION_SANDBOX, 49983},
    {"127.0.0.1:10000", ID, "1", DESTINATION_SANDBOX, 1},
    {"[::1]:10000", ID, "65535", DESTINATION_SANDBOX, 65535},
    {"sandbox.pool.test", ID "-client", "8080", DESTINATION_SANDBOX, 8080},
    {"tidepool:10000", ID, "8080", DESTINATION_SANDBOX, 8080},
    {"localhost", ID, NULL, DESTINATION_BAD, 0},
    {"localhost", NULL, "8080", DESTINATION_BAD, 0},
    {"127.0.0.1", ID, NULL, DESTINATION_BAD, 0},
    {"[::1]", NULL, "80", DESTINATION_BAD, 0},
    {"sandbox.any", ID, NULL, DESTINATION_BAD, 0},
    {"", ID, NULL, DESTINATION_BAD, 0},
    {"tidepool", ID, NULL, DESTINATION_HERE, 0},
    {"sandbox", NULL, "80", DESTINATION_HERE, 0},
    {"localhost", ID, "0", DESTINATION_BAD, 0},
    {"localhost", ID, "65536", DESTINATION_BAD, 0},
    {"localhost", ID, "-1", DESTINATION_BAD, 0},
    {"localhost", ID, "80x", DESTINATION_BAD, 0},
    {"localhost", ID, "", DESTINATION_BAD, 0},
    {"localhost", "", "80", DESTINATION_BAD, 0},
    {"localhost", "../x", "80", DESTINATION_BAD, 0},
    {"localhost", ID ID, "80", DESTINATION_BAD, 0},
    /* The host has the first word. */
    {"80-abc.pool.test", ID, "8080", DESTINATION_SANDBOX, 80},
    {"api.pool.test", ID, "8080", DESTINATION_E2B, 0},
};

static void headers_name_a_sandbox_where_the_host_does_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        struct destination got = find(headers[i].host, headers[i].id, headers[i].port, "pool.test");
        if (got.kind != headers[i].kind ||
            (got.kind == DESTINATION_SANDBOX && got.port != headers[i].number))
            fail_msg("row %zu: kind %d, port %u (%s)", i, got.kind, got.port,
                     got.why ? got.why : "");
    }
    assert_string_equal(find("localhost", ID, NULL, "x").why, "missing header E2b-Sandbox-Port");
    assert_string_equal(find("localhost", NULL, "1", "x").why, "missing header E2b-Sandbox-Id");
    assert_string_equal(find("localhost", ID "-c", "1", "x").id, ID);
}

static const struct {
    const char *host, *domain, *want;
} own_hosts[] = {
    {"pool.test", "pool.test", "80-abc.pool.test"},
    {"POOL.test:99", "pool.test:1234", "80-abc.pool.test:99"},
    {"api.pool.test.", "pool.test", "80-abc.pool.test"},
    {"localhost:1", "localhost", "80-abc.localhost:1"},
    {"xpool.test", "pool.test", NULL},
    {"test", "pool.test", NULL},
    {"127.0.0.1", "localhost", NULL},
    {"127.0.0.1", "0.0.1", NULL},
    {"[::1]:80", "localhost", NULL},
    {"", "localhost", NULL},
    {"pool.test", "", NULL},
};

static void a_browser_that_came_by_the_domain_has_a_host_to_go_to(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(own_hosts); i++) {
        struct str got =
            destination_host(&a, str_of(own_hosts[i].host), str_of(own_hosts[i].domain), 80, "abc");
        if (own_hosts[i].want ? !str_is(got, own_hosts[i].want) : got.p != NULL)
            fail_msg("'%s': '" STR_FMT "'", own_hosts[i].host, STR_ARG(got));
    }
    assert_true(find("80-abc.pool.test", NULL, NULL, "x").is_by_host);
    assert_false(find("localhost", ID, "80", "x").is_by_host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_name_a_sandbox_the_control_plane_or_nothing),
        cmocka_unit_test(headers_name_a_sandbox_where_the_host_does_not),
        cmocka_unit_test(a_browser_that_came_by_the_domain_has_a_host_to_go_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
