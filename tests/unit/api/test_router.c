/* SPDX-License-Identifier: MIT */
/* Routing: which route a method and path find, with which parameters; what is refused; mistakes in
 * the tables. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "api/router.h"
#include "base/cleanup.h"
#include "base/clock.h"

static void handler(struct api_req *r)
{
    (void)r;
}

#define R(m, p)                                                                                    \
    {                                                                                              \
        .method = (m), .pattern = (p), .handler = handler                                          \
    }

static const char *const none[] = {NULL};
static const char *const native[] = {"/api/v1", NULL};
static const char *const klavis[] = {"/sandbox", "/local-sandbox", NULL};

static const struct route root_rows[] = {
    R(ROUTE_ANY, "/healthz"),
    R(HTTP_POST, "/healthz"),
    R(HTTP_GET, "/metrics"),
    R(HTTP_GET, "/ui"),
    R(HTTP_GET, "/ui/"),
    R(HTTP_GET, "/"),
    R(HTTP_GET, "/ui/assets/{file*}"),
};
static const struct route native_rows[] = {
    R(HTTP_GET, "/api/v1/sandbox"),
    R(HTTP_POST, "/api/v1/sandbox"),
    R(HTTP_GET, "/api/v1/sandbox/{name}"),
    R(HTTP_DELETE, "/api/v1/sandbox/{name}"),
    R(HTTP_GET, "/api/v1/sandbox/files/{name}"),
    R(HTTP_POST, "/api/v1/sandbox/files/{name}/upload"),
    R(HTTP_POST, "/api/v1/sandbox/pause/{name}"),
    R(HTTP_PUT, "/api/v1/a/{x}/b/{y}/c/{z}"),
};
static const struct route klavis_rows[] = {
    R(HTTP_GET, "/sandbox"),
    R(HTTP_POST, "/sandbox/{server_name}"),
    R(HTTP_GET, "/sandbox/{server_name}/{sandbox_id}"),
    R(HTTP_DELETE, "/sandbox/{server_name}/{sandbox_id}"),
    R(HTTP_POST, "/sandbox/{server_name}/{sandbox_id}/reset"),
    R(ROUTE_ANY, "/sandbox/{name}/{path*}"),
    R(HTTP_GET, "/sandbox/{server!}/{id}/dump"),
    R(HTTP_POST, "/{server!}/mcp"),
};

static bool is_known(void *ctx, struct str segment)
{
    (void)ctx;
    return str_is(segment, "known");
}

#define SURFACE(n, pre, rows_)                                                                     \
    {                                                                                              \
        .name = (n), .prefixes = (pre), .routes = (rows_), .n_routes = ARRAY_LEN(rows_)            \
    }
static const struct surface root_surface = SURFACE("root", none, root_rows);
static const struct surface native_surface = SURFACE("native", native, native_rows);
static const struct surface klavis_surface = SURFACE("klavis", klavis, klavis_rows);
static const struct surface *const surfaces[] = {&root_surface, &native_surface, &klavis_surface};

struct fixture {
    struct router *router;
    struct arena arena;
};

static int setup(void **state)
{
    static struct fixture f;

    f.router = router_new(surfaces, ARRAY_LEN(surfaces), NULL);
    if (f.router)
        router_set_known(f.router, is_known, NULL);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return f.router ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    router_free(f->router);
    arena_done(&f->arena);
    return 0;
}

/* What is expected: "pattern a=1 b=2", "405 GET, HEAD…", "404 surface" or "400 surface". */
static const struct {
    enum http_method method;
    const char *path, *expect;
} cases[] = {
    /* literal segments and methods */
    {HTTP_GET, "/healthz", "/healthz"},
    {HTTP_POST, "/healthz", "/healthz"},
    {HTTP_OTHER, "/healthz", "/healthz"},
    {HTTP_OPTIONS, "/healthz", "/healthz"},
    {HTTP_GET, "/metrics", "/metrics"},
    {HTTP_HEAD, "/metrics", "/metrics"},
    {HTTP_POST, "/metrics", "405 GET, HEAD, OPTIONS"},
    {HTTP_OPTIONS, "/metrics", "405 GET, HEAD, OPTIONS"},
    {HTTP_OTHER, "/metrics", "405 GET, HEAD, OPTIONS"},
    {HTTP_GET, "/healthzz", "404 root"},
    {HTTP_GET, "/health", "404 root"},
    {HTTP_GET, "/HEALTHZ", "404 root"},
    {HTTP_GET, "/", "/"},
    {HTTP_GET, "//", "404 root"},
    {HTTP_PUT, "/", "405 GET, HEAD, OPTIONS"},
    {HTTP_GET, "*", "400 root"},
    {HTTP_GET, "", "400 root"},
    /* a slash at the end */
    {HTTP_GET, "/healthz/", "/healthz"},
    {HTTP_GET, "/healthz//", "404 root"},
    {HTTP_GET, "//healthz", "404 root"},
    {HTTP_GET, "/ui", "/ui"},
    {HTTP_GET, "/ui/", "/ui/"},
    {HTTP_POST, "/ui/", "405 GET, HEAD, OPTIONS"},
    {HTTP_GET, "/ui//", "404 root"},
    {HTTP_GET, "/api/v1/sandbox/", "/api/v1/sandbox"},
    {HTTP_GET, "/api/v1/sandbox/x/", "/api/v1/sandbox/{name} name=x"},
    {HTTP_DELETE, "/api/v1/sandbox/", "405 GET, HEAD, POST, OPTIONS"},
    {HTTP_GET, "/api//v1/sandbox", "404 root"},
    {HTTP_GET, "/api/v1//sandbox", "404 native"},
    /* parameters */
    {HTTP_GET, "/api/v1/sandbox", "/api/v1/sandbox"},
    {HTTP_POST, "/api/v1/sandbox", "/api/v1/sandbox"},
    {HTTP_PUT, "/api/v1/sandbox", "405 GET, HEAD, POST, OPTIONS"},
    {HTTP_GET, "/api/v1/sandbox/sandbox-01", "/api/v1/sandbox/{name} name=sandbox-01"},
    {HTTP_DELETE, "/api/v1/sandbox/a.b", "/api/v1/sandbox/{name} name=a.b"},
    {HTTP_POST, "/api/v1/sandbox/x", "405 GET, HEAD, DELETE, OPTIONS"},
    {HTTP_GET, "/api/v1/sandbox/files", "/api/v1/sandbox/{name} name=files"},
    {HTTP_GET, "/api/v1/sandbox/files/x", "/api/v1/sandbox/files/{name} name=x"},
    {HTTP_POST, "/api/v1/sandbox/files/x/upload", "/api/v1/sandbox/files/{name}/upload name=x"},
    {HTTP_GET, "/api/v1/sandbox/files/x/upload", "405 POST, OPTIONS"},
    {HTTP_GET, "/api/v1/sandbox/other/x", "404 native"},
    {HTTP_PUT, "/api/v1/a/1/b/2/c/3", "/api/v1/a/{x}/b/{y}/c/{z} x=1 y=2 z=3"},
    {HTTP_PUT, "/api/v1/a/1/b/2/c", "404 native"},
    {HTTP_PUT, "/api/v1/a//b/2/c/3", "404 native"},
    /* known names have their place for themselves */
    {HTTP_GET, "/sandbox/known/7/dump", "/sandbox/{server!}/{id}/dump server=known id=7"},
    {HTTP_GET, "/sandbox/%6bnown/7/dump", "/sandbox/{server!}/{id}/dump server=known id=7"},
    {HTTP_GET, "/sandbox/other/7/dump", "/sandbox/{name}/{path*} name=other path=7/dump"},
    {HTTP_POST, "/sandbox/known/7/dump", "405 GET, HEAD, OPTIONS"},
    {HTTP_GET, "/sandbox/known/7/other", "404 klavis"},
    {HTTP_POST, "/known/mcp", "/{server!}/mcp server=known"},
    {HTTP_POST, "/known/mcp/", "/{server!}/mcp server=known"},
    {HTTP_GET, "/known/mcp/", "405 POST, OPTIONS"},
    {HTTP_POST, "/other/mcp/", "404 root"},
    /* whose 404 it is */
    {HTTP_GET, "/api/v1", "404 native"},
    {HTTP_GET, "/api/v1/", "404 native"},
    {HTTP_GET, "/api/v1x", "404 root"},
    {HTTP_GET, "/api", "404 root"},
    {HTTP_GET, "/api/v2/sandbox", "404 root"},
    {HTTP_GET, "/local-sandbox/x", "404 klavis"},
    {HTTP_GET, "/local-sandboxes", "404 root"},
    /* escapes */
    {HTTP_GET, "/%68ealthz", "/healthz"},
    {HTTP_GET, "/api/v1/sandbox/a%20b", "/api/v1/sandbox/{name} name=a b"},
    {HTTP_GET, "/api/v1/sandbox/a%2Fb", "/api/v1/sandbox/{name} name=a/b"},
    {HTTP_GET, "/api/v1%2Fsandbox", "404 root"},
    {HTTP_GET, "/api/v1/sandbox/a+b", "/api/v1/sandbox/{name} name=a+b"},
    {HTTP_GET, "/api/v1/sandbox/a%2", "400 native"},
    {HTTP_GET, "/api/v1/sandbox/a%zz", "400 native"},
    {HTTP_GET, "/api/v1/sandbox/a%00", "400 native"},
    {HTTP_GET, "/api/v1/sandbox/%C3%A9", "/api/v1/sandbox/{name} name=\xc3\xa9"},
    /* dot segments */
    {HTTP_GET, "/api/v1/../../healthz", "400 native"},
    {HTTP_GET, "/api/v1/./sandbox", "400 native"},
    {HTTP_GET, "/api/v1/%2e%2e/x", "400 native"},
    {HTTP_GET, "/api/v1/.%2E/x", "400 native"},
    {HTTP_GET, "/..", "400 root"},
    {HTTP_GET, "/.", "400 root"},
    {HTTP_GET, "/api/v1/sandbox/...", "/api/v1/sandbox/{name} name=..."},
    {HTTP_GET, "/api/v1/sandbox/.x", "/api/v1/sandbox/{name} name=.x"},
    {HTTP_GET, "/sandbox/box/a/../../etc", "400 klavis"},
    /* the rest of a path */
    {HTTP_GET, "/ui/assets/a/b.js", "/ui/assets/{file*} file=a/b.js"},
    {HTTP_GET, "/ui/assets/", "/ui/assets/{file*} file="},
    {HTTP_GET, "/ui/assets", "404 root"},
    {HTTP_GET, "/ui/assets/a%2Fb//c/", "/ui/assets/{file*} file=a%2Fb//c/"},
    {HTTP_GET, "/sandbox", "/sandbox"},
    {HTTP_POST, "/sandbox/jira", "/sandbox/{server_name} server_name=jira"},
    {HTTP_GET, "/sandbox/jira", "405 POST, OPTIONS"},
    {HTTP_GET, "/sandbox/jira/7",
     "/sandbox/{server_name}/{sandbox_id} server_name=jira sandbox_id=7"},
    {HTTP_PUT, "/sandbox/box/index.html", "/sandbox/{name}/{path*} name=box path=index.html"},
    {HTTP_POST, "/sandbox/jira/7/reset",
     "/sandbox/{server_name}/{sandbox_id}/reset server_name=jira sandbox_id=7"},
    {HTTP_GET, "/sandbox/box/a/b/c?", "/sandbox/{name}/{path*} name=box path=a/b/c?"},
    {HTTP_GET, "/sandbox/box/", "/sandbox/{name}/{path*} name=box path="},
    {HTTP_GET, "/sandbox/box/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18",
     "/sandbox/{name}/{path*} name=box path=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18"},
    {HTTP_GET, "/api/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20", "404 root"},
    {HTTP_GET, "/sandbox/box/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/../18", "400 klavis"},
};

static void describe(char *out, size_t size, enum router_result result,
                     const struct router_match *m)
{
    char allow[ROUTER_ALLOW_MAX];
    int n = 0;

    switch (result) {
    case ROUTER_FOUND:
        n = snprintf(out, size, "%s", m->route->pattern);
        for (unsigned i = 0; i < m->n_params; i++)
            n += snprintf(out + n, size - (size_t)n, " " STR_FMT "=" STR_FMT, STR_ARG(m->names[i]),
                          STR_ARG(m->params[i]));
        break;
    case ROUTER_NO_METHOD:
        router_allow_text(allow, m->allow);
        (void)snprintf(out, size, "405 %s", allow);
        break;
    case ROUTER_NO_PATH: (void)snprintf(out, size, "404 %s", m->surface->name); break;
    case ROUTER_BAD_PATH: (void)snprintf(out, size, "400 %s", m->surface->name); break;
    }
}

static void paths_find_their_routes(void **state)
{
    struct fixture *f = *state;
    unsigned n_wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct router_match m;
        char got[256] = "";
        describe(got, sizeof got,
                 router_find(f->router, &f->arena, cases[i].method, str_of(cases[i].path), &m), &m);
        if (strcmp(got, cases[i].expect) == 0)
            continue;
        print_message("%s %s: expected '%s', got '%s'\n", http_method_name(cases[i].method),
                      cases[i].path, cases[i].expect, got);
        n_wrong++;
    }
    assert_int_equal(n_wrong, 0);
}

static void indices_count_all_routes(void **state)
{
    struct fixture *f = *state;
    struct router_match m;

    assert_int_equal(router_count(f->router),
                     ARRAY_LEN(root_rows) + ARRAY_LEN(native_rows) + ARRAY_LEN(klavis_rows));
    for (unsigned i = 0; i < router_count(f->router); i++)
        assert_non_null(router_route(f->router, i));
    assert_null(router_route(f->router, router_count(f->router)));
    assert_int_equal(router_find(f->router, &f->arena, HTTP_GET, STR("/metrics"), &m),
                     ROUTER_FOUND);
    assert_ptr_equal(router_route(f->router, m.index), m.route);
    assert_int_equal(router_find(f->router, &f->arena, HTTP_GET, STR("/nope"), &m), ROUTER_NO_PATH);
    assert_int_equal(m.index, router_count(f->router));
}

static void mistakes_in_tables_are_found(void **state)
{
    static const struct {
        struct route rows[2];
        const char *says;
    } bad[] = {
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1/x")},
         "route GET /api/v1/x: collides with '/api/v1/x'"},
        {{R(HTTP_GET, "/api/v1/{a}"), R(HTTP_GET, "/api/v1/{b}")},
         "route GET /api/v1/{b}: collides with '/api/v1/{a}'"},
        {{R(HTTP_GET, "/api/v1/{a*}"), R(HTTP_GET, "/api/v1/{b*}")},
         "route GET /api/v1/{b*}: collides with '/api/v1/{a*}'"},
        {{R(ROUTE_ANY, "/api/v1/x"), R(ROUTE_ANY, "/api/v1/x")},
         "route * /api/v1/x: collides with '/api/v1/x'"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/other")},
         "route GET /other: lies outside the surface 'native'"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1/{a}/{a}")},
         "route GET /api/v1/{a}/{a}: parameter 'a' twice"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1/{a*}/b")},
         "route GET /api/v1/{a*}/b: an empty segment or a rest before the end"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1//b")},
         "route GET /api/v1//b: an empty segment or a rest before the end"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15")},
         "route GET /api/v1/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15: more than 16 segments"},
        {{R(HTTP_GET, "/api/v1/x"), R(HTTP_GET, "/api/v1/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}")},
         "route GET /api/v1/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}: more than 8 parameters"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct surface s = {
            .name = "native", .prefixes = native, .routes = bad[i].rows, .n_routes = 2};
        const struct surface *const list[] = {&root_surface, &s};
        struct err e = ERR_INIT;
        assert_null(router_new(list, 2, &e));
        assert_string_equal(err_text(&e), bad[i].says);
    }
}

static void the_real_tables_compile(void **state)
{
    struct err e = ERR_INIT;
    struct router *r = router_new(api_surfaces, api_n_surfaces, &e);

    (void)state;
    if (!r)
        print_message("%s\n", err_text(&e));
    assert_non_null(r);
    for (unsigned i = 0; i < router_count(r); i++) {
        assert_non_null(router_route(r, i)->handler);
        assert_non_null(router_route(r, i)->summary);
    }
    router_free(r);
}

/* Not a benchmark: it catches a lookup that became a thousand times slower. */
static void lookups_are_cheap(void **state)
{
    struct fixture *f = *state;
    enum { ROUNDS = 100000 };
    int64_t start = clock_mono_us();

    for (int i = 0; i < ROUNDS; i++) {
        struct router_match m;
        (void)router_find(f->router, &f->arena, HTTP_POST, STR("/api/v1/sandbox/files/x/upload"),
                          &m);
        assert_non_null(m.route);
    }
    int64_t ns = (clock_mono_us() - start) * 1000 / ROUNDS;
    print_message("%lld ns a lookup\n", (long long)ns);
    assert_true(ns < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(paths_find_their_routes, setup, teardown),
        cmocka_unit_test_setup_teardown(indices_count_all_routes, setup, teardown),
        cmocka_unit_test(mistakes_in_tables_are_found),
        cmocka_unit_test(the_real_tables_compile),
        cmocka_unit_test_setup_teardown(lookups_are_cheap, setup, teardown),
    };

    return cmocka_run_group_tests_name("router", tests, NULL, NULL);
}
