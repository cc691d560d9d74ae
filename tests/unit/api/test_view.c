/* SPDX-License-Identifier: MIT */
/* What lets a browser in to one sandbox. */
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/origin.h"
#include "api/view.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "core/sandbox.h"
#include "sys/digest.h"

static struct arena arena;
static struct core core;
static struct api_req req;
static struct sandbox *one, *two;

static struct account_key *key_of(const char *token)
{
    return accounts_find(core.accounts, str_of(token));
}

static int set_up(void **state)
{
    struct quota_limits limits = {0};
    struct err e = ERR_INIT;

    (void)state;
    arena_init(&arena, 1 << 20);
    memset(core.secret, 7, sizeof core.secret);
    core.accounts = accounts_new(&limits, &e);
    one = calloc(1, sizeof *one);
    two = calloc(1, sizeof *two);
    assert_non_null(core.accounts);
    assert_non_null(one);
    assert_non_null(two);
    assert_int_equal(accounts_add_fixed(core.accounts, STR("token-a"), ACCOUNT_USER, "a", &e), 0);
    assert_int_equal(accounts_add_fixed(core.accounts, STR("token-b"), ACCOUNT_USER, "b", &e), 0);
    (void)snprintf(one->id, sizeof one->id, "one");
    (void)snprintf(two->id, sizeof two->id, "two");
    req = (struct api_req){.arena = &arena, .core = &core};
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    accounts_free(core.accounts);
    free(one);
    free(two);
    arena_done(&arena);
    return 0;
}

/* The same as view_token() makes, for another time. */
static struct str token_until(const struct sandbox *sb, const char *key_id, int64_t until)
{
    unsigned char key[DIGEST_SHA256_LEN], mac[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    struct str text = arena_printf(&arena, "%s\n%s\n%llx", sb->id, key_id, (long long)until);

    digest_hmac_sha256(key, str_n((const char *)core.secret, CORE_SECRET_LEN),
                       STR("views of sandboxes"));
    digest_hmac_sha256(mac, str_n((const char *)key, sizeof key), text);
    enc_hex(hex, mac, sizeof mac);
    return arena_printf(&arena, "%llx.%s.%s", (long long)until, key_id, hex);
}

static void a_token_is_of_one_sandbox_and_one_key(void **state)
{
    struct account_key *a = key_of("token-a"), *b = key_of("token-b");
    struct str token = view_token(&req, one, a);

    (void)state;
    assert_ptr_equal(view_find(&req, one, token), a);
    assert_null(view_find(&req, two, token));
    assert_ptr_equal(view_find(&req, one, view_token(&req, one, b)), b);
    a->revoked_us = 1;
    assert_null(view_find(&req, one, token));
    a->revoked_us = 0;
    core.secret[0]++;
    assert_null(view_find(&req, one, token));
    core.secret[0]--;
    /* No byte of it can be another one. */
    for (size_t i = 0; i < token.len; i++) {
        struct str other = arena_str(&arena, token);
        ((char *)other.p)[i] = other.p[i] == '1' ? '2' : '1';
        assert_null(view_find(&req, one, other));
        assert_null(view_find(&req, one, str_slice(token, 0, i)));
    }
    assert_null(view_find(&req, one, STR_NULL));
}

static void a_token_ends_after_a_day(void **state)
{
    const char *id = key_of("token-a")->id;
    int64_t now = clock_real_us() / 1000000;
    struct str made = view_token(&req, one, key_of("token-a"));

    (void)state;
    assert_non_null(view_find(&req, one, token_until(one, id, now + 60)));
    assert_null(view_find(&req, one, token_until(one, id, now - 60)));
    assert_null(view_find(&req, one, token_until(one, id, 0)));
    struct str expires = str_cut(&made, '.');
    long long until = strtoll(expires.p, NULL, 16);
    assert_in_range(until, now + VIEW_HOURS * 3600, now + VIEW_HOURS * 3600 + 60);
}

#define MAC  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define VIEW "6afe380f.29c33fe8dbf45a04." MAC

static const struct {
    const char *path, *token, *rest;
} paths[] = {
    {"~" VIEW "/a/b", VIEW, "a/b"}, {"~" VIEW "/", VIEW, ""},  {"~" VIEW, VIEW, ""},
    {"~" VIEW "0/a", NULL, NULL},   {VIEW "/a", NULL, NULL},   {"~user/a", NULL, NULL},
    {"~1.2/a", NULL, NULL},         {"~..", NULL, NULL},       {"~.1." MAC, NULL, NULL},
    {"~1..1" MAC, NULL, NULL},      {"~1.g." MAC, NULL, NULL}, {"", NULL, NULL},
    {"/~" VIEW "/a", NULL, NULL},   {"~", NULL, NULL},
};

static void tokens_are_found_in_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct str path = str_of(paths[i].path), token = view_cut(&path);
        if (paths[i].token ? !str_is(token, paths[i].token) : token.p != NULL)
            fail_msg("'%s': token '" STR_FMT "'", paths[i].path, STR_ARG(token));
        assert_true(str_is(path, paths[i].rest ? paths[i].rest : paths[i].path));
    }
}

static const struct {
    const char *site, *origin, *agent, *accept;
    bool is_own;
} asks[] = {
    {NULL, NULL, NULL, NULL, true},
    {"none", NULL, "Mozilla/5.0", "text/html", true},
    {"same-origin", NULL, "Mozilla/5.0", "*/*", true},
    {"same-site", NULL, "Mozilla/5.0", "text/html", false},
    {"cross-site", NULL, "Mozilla/5.0", "text/html", false},
    {"same-origin", "http://h:1", "Mozilla/5.0", "*/*", true},
    {"same-origin", "null", "Mozilla/5.0", "*/*", false},
    {NULL, "http://h:1", NULL, NULL, true},
    {NULL, "http://h:2", NULL, NULL, false},
    {NULL, "http://x.h:1", NULL, NULL, false},
    {NULL, "", NULL, NULL, false},
    {NULL, NULL, "Mozilla/5.0", "text/html,*/*", true},
    {NULL, NULL, "Mozilla/5.0", "*/*", false},
    {NULL, NULL, "Mozilla/5.0", NULL, false},
    {NULL, NULL, "curl/8", "*/*", true},
};

static void who_asks_by_cookie(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        const struct http_header all[] = {
            {STR("Sec-Fetch-Site"), str_of(asks[i].site)},
            {STR("Origin"), str_of(asks[i].origin)},
            {STR("User-Agent"), str_of(asks[i].agent)},
            {STR("Accept"), str_of(asks[i].accept)},
        };
        struct http_header items[ARRAY_LEN(all)];
        struct http_req r = {.head = {.method = HTTP_GET, .host = STR("h:1")}};
        r.head.headers.items = items;
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            if (all[k].value.p)
                items[r.head.headers.n++] = all[k];
        if (origin_is_own(&r) != asks[i].is_own)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_is_of_one_sandbox_and_one_key, set_up, clean_up),
        cmocka_unit_test_setup_teardown(a_token_ends_after_a_day, set_up, clean_up),
        cmocka_unit_test(tokens_are_found_in_paths),
        cmocka_unit_test(who_asks_by_cookie),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
