/* SPDX-License-Identifier: MIT */
/* Every fault in the shape of every surface. */
#include "../check.h"

#include <stdlib.h>

#include "api/fault.h"
#include "api/route.h"
#include "base/buf.h"
#include "base/cleanup.h"

struct shape_case {
    enum api_fault_kind kind;
    int given;        /* status asked for */
    const char *text; /* NULL: the kind's own */
    int status;
    const char *body;
};

static void check(const struct surface *s, const struct shape_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf out auto_buf = BUF_INIT(4096);
        const struct api_fault f = {
            .kind = cases[i].kind, .status = cases[i].given, .text = str_of(cases[i].text)};
        assert_int_equal(s->shape(&out, &f), cases[i].status);
        assert_string_equal(buf_cstr(&out), cases[i].body);
    }
}

#define CODE(n, text) "{\"code\":" #n ",\"message\":\"" text "\"}"

/* The native and E2B surfaces and the paths of nobody speak alike. */
static void code_and_message(void **state)
{
    static const struct shape_case cases[] = {
        {API_FAULT_NO_KEY, 0, NULL, 401, CODE(401, "Unauthorized")},
        {API_FAULT_BAD_KEY, 0, NULL, 401, CODE(401, "Unauthorized")},
        {API_FAULT_NOT_SYSTEM, 0, NULL, 403,
         CODE(403, "this operation requires system token access")},
        {API_FAULT_NO_ROUTE, 0, NULL, 404, CODE(404, "no such path")},
        {API_FAULT_PLAIN, 404, "sandbox x not found", 404, CODE(404, "sandbox x not found")},
        {API_FAULT_BAD_METHOD, 0, NULL, 405, CODE(405, "method not allowed")},
        {API_FAULT_PLAIN, 413, NULL, 413, CODE(413, "Content Too Large")},
        {API_FAULT_PLAIN, 415, "no", 415, CODE(415, "no")},
        {API_FAULT_BODY_JSON, 0, "line 1 column 2: expected a value", 400,
         CODE(400, "failed to decode request body: line 1 column 2: expected a value")},
        {API_FAULT_BODY_NONE, 0, NULL, 400,
         CODE(400, "failed to decode request body: the body is empty")},
        {API_FAULT_IDEM_REUSED, 0, NULL, 422,
         CODE(422, "this Idempotency-Key was used for another request")},
        {API_FAULT_PLAIN, 429, "slow \"down\"\n", 429, CODE(429, "slow \\\"down\\\"\\n")},
        {API_FAULT_PLAIN, 500, NULL, 500, CODE(500, "Internal Server Error")},
        {API_FAULT_BUSY, 0, NULL, 503, CODE(503, "the service is busy, please retry")},
    };

    (void)state;
    check(&surface_native, cases, ARRAY_LEN(cases));
    check(&surface_e2b, cases, ARRAY_LEN(cases));
    check(&surface_ops, cases, ARRAY_LEN(cases));
}

static void rates(void **state)
{
    static const struct shape_case ours[] = {
        {API_FAULT_RATE, 0, "3 a second", 429, CODE(429, "3 a second")}};
    static const struct shape_case e2b[] = {
        {API_FAULT_RATE, 0, "3 a second", 429, CODE(429, "Rate limit exceeded")}};

    (void)state;
    check(&surface_native, ours, ARRAY_LEN(ours));
    check(&surface_e2b, e2b, ARRAY_LEN(e2b));
}

static void klavis_detail(void **state)
{
    static const struct shape_case cases[] = {
        {API_FAULT_NO_KEY, 0, NULL, 401, "{\"detail\":\"Not authenticated\"}"},
        {API_FAULT_BAD_KEY, 0, NULL, 403, "{\"detail\":\"Invalid API key\"}"},
        {API_FAULT_NO_ROUTE, 0, NULL, 404, "{\"detail\":\"Not Found\"}"},
        {API_FAULT_PLAIN, 404, "Sandbox 7 not found", 404, "{\"detail\":\"Sandbox 7 not found\"}"},
        {API_FAULT_BAD_METHOD, 0, NULL, 405, "{\"detail\":\"Method Not Allowed\"}"},
        {API_FAULT_PLAIN, 413, NULL, 413, "{\"detail\":\"Content Too Large\"}"},
        {API_FAULT_PLAIN, 429, "slow down", 429, "{\"detail\":\"slow down\"}"},
        {API_FAULT_PLAIN, 500, NULL, 500, "{\"detail\":\"Internal Server Error\"}"},
        {API_FAULT_BODY_JSON, 0, "line 1 column 2: expected a value", 422,
         "{\"detail\":[{\"type\":\"json_invalid\",\"loc\":[\"body\"],\"msg\":\"JSON decode error\","
         "\"input\":{},\"ctx\":{\"error\":\"line 1 column 2: expected a value\"}}]}"},
        {API_FAULT_BODY_NONE, 0, NULL, 422,
         "{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\"],\"msg\":\"Field required\","
         "\"input\":null}]}"},
        {API_FAULT_IDEM_REUSED, 0, NULL, 422,
         "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"header\",\"idempotency-key\"],"
         "\"msg\":\"this Idempotency-Key was used for another request\",\"input\":null}]}"},
        {API_FAULT_PLAIN, 422, "bad ttl", 422,
         "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"body\"],\"msg\":\"bad ttl\","
         "\"input\":null}]}"},
    };

    (void)state;
    check(&surface_klavis, cases, ARRAY_LEN(cases));
}

#define RPC(n, text)                                                                               \
    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":" #n ",\"message\":\"" text "\"},\"id\":null}"

static void mcp_rpc_error(void **state)
{
    static const struct shape_case cases[] = {
        {API_FAULT_NO_KEY, 0, NULL, 401, RPC(-32000, "Unauthorized")},
        {API_FAULT_NO_ROUTE, 0, NULL, 404, RPC(-32000, "no such path")},
        {API_FAULT_BAD_METHOD, 0, NULL, 405, RPC(-32000, "method not allowed")},
        {API_FAULT_PLAIN, 400, "bad", 400, RPC(-32600, "bad")},
        {API_FAULT_BODY_JSON, 0, "bad", 400, RPC(-32700, "bad")},
        {API_FAULT_PLAIN, 413, NULL, 413, RPC(-32000, "Content Too Large")},
        {API_FAULT_IDEM_REUSED, 0, NULL, 422,
         RPC(-32602, "this Idempotency-Key was used for another request")},
        {API_FAULT_PLAIN, 429, "slow down", 429, RPC(-32000, "slow down")},
        {API_FAULT_PLAIN, 500, NULL, 500, RPC(-32603, "Internal Server Error")},
    };

    (void)state;
    check(&surface_mcp, cases, ARRAY_LEN(cases));
}

/* A new kind needs a status and a text of its own. */
static void every_kind_has_a_default(void **state)
{
    (void)state;
    for (int k = 0; k < API_FAULT_COUNT; k++) {
        const struct api_fault f = {.kind = (enum api_fault_kind)k};
        assert_in_range(api_fault_status(&f), 400, 599);
        assert_true(api_fault_text(&f).len > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_message),
        cmocka_unit_test(rates),
        cmocka_unit_test(klavis_detail),
        cmocka_unit_test(mcp_rpc_error),
        cmocka_unit_test(every_kind_has_a_default),
    };

    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
