/* SPDX-License-Identifier: MIT */
/* Addresses, rules and the decisions made from them, as tables. */
#include "../check.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "runtime/netpolicy.h"

static struct netaddr addr(const char *text)
{
    struct netaddr a;

    if (netaddr_parse(&a, str_of(text)) < 0)
        fail_msg("'%s' is no address", text);
    return a;
}

static void addresses_have_one_form(void **state)
{
    char text[NETADDR_TEXT_MAX];
    struct netaddr a = addr("10.1.2.3"), b = addr("::ffff:10.1.2.3"), c;
    struct sockaddr_storage ss;
    uint16_t port;

    (void)state;
    assert_true(netaddr_eq(&a, &b));
    assert_true(netaddr_is_v4(&b));
    netaddr_format(text, &b);
    assert_string_equal(text, "10.1.2.3");
    a = netaddr_v4(0x0a010203);
    assert_true(netaddr_eq(&a, &b));
    assert_int_equal(netaddr_to_sockaddr(&ss, &a, 443), sizeof(struct sockaddr_in));
    assert_int_equal(netaddr_from_sockaddr(&c, &port, (struct sockaddr *)&ss), 0);
    assert_true(netaddr_eq(&a, &c));
    assert_int_equal(port, 443);
    a = addr("2001:db8::10");
    assert_int_equal(netaddr_to_sockaddr(&ss, &a, 80), sizeof(struct sockaddr_in6));
    assert_int_equal(netaddr_from_sockaddr(&c, NULL, (struct sockaddr *)&ss), 0);
    assert_true(netaddr_eq(&a, &c));
    ss.ss_family = AF_UNIX;
    assert_int_equal(netaddr_from_sockaddr(&c, NULL, (struct sockaddr *)&ss), -EAFNOSUPPORT);
    static const char *const bad[] = {"",         "10.1.2",      "10.1.2.256", "010.1.2.3",
                                      "::1%lo",   "[::1]",       "1.2.3.4:80", "0x0a.1.2.3",
                                      "1.2.3.4 ", "example.com", ":::",        "1:2:3:4:5:6:7:8:9"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(netaddr_parse(&a, str_of(bad[i])), -EINVAL);
    assert_int_equal(netaddr_parse(&a, str_n("1.2.3.4\0x", 9)), -EINVAL);
}

static void special_ranges_are_known_to_their_edges(void **state)
{
    static const struct {
        const char *in_first, *in_last, *out_before, *out_after;
    } rows[] = {
        {"0.0.0.0", "0.255.255.255", NULL, "1.0.0.0"},
        {"10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
        {"100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
        {"127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
        {"169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
        {"172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
        {"192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
        {"198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
        {"224.0.0.0", "255.255.255.255", "223.255.255.255", NULL},
        {"::", "::1", NULL, "2600::"},
        {"fc00::", "fdff:ffff::1", "fbff::", "fe00::"},
        {"fe80::", "febf::1", "fe7f::", NULL},
        {"ff00::", "ffff::", "fe00::", NULL},
    };
    struct netguard g = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct netaddr a = addr(rows[i].in_first), b = addr(rows[i].in_last);
        assert_true(netguard_denies(&g, &a));
        assert_true(netguard_denies(&g, &b));
        const char *const outside[] = {rows[i].out_before, rows[i].out_after};
        for (size_t k = 0; k < 2; k++) {
            a = addr(outside[k] ? outside[k] : "203.0.113.1");
            assert_false(netguard_denies(&g, &a));
        }
    }
}

static void other_spellings_of_special_addresses_are_denied(void **state)
{
    static const char *const denied[] = {
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b::a00:1",
        "64:ff9b:1::10.0.0.1",
        "2002:a9fe:a9fe::",
        "2002:0a00:0001::1",
        "::10.0.0.1",
        "::127.0.0.1",
        "2001:0:1:2:3:4:5601:5601",
        "64:ff9b::203.0.113.77",
    };
    static const char *const allowed[] = {"64:ff9b::203.0.113.10", "2002:cb00:710a::1",
                                          "2001:db8::10", "::ffff:203.0.113.10"};
    struct netguard g = {0};
    struct netaddr own = addr("203.0.113.77");

    (void)state;
    assert_int_equal(netguard_add_own(&g, &own), 0);
    for (size_t i = 0; i < ARRAY_LEN(denied); i++) {
        struct netaddr a = addr(denied[i]);
        if (!netguard_denies(&g, &a))
            fail_msg("%s passes", denied[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        struct netaddr a = addr(allowed[i]);
        assert_false(netguard_denies(&g, &a));
    }
    netguard_clear_own(&g);
    assert_false(netguard_denies(&g, &own));
    netguard_done(&g);
}

static void the_operator_opens_ranges(void **state)
{
    struct netguard g = {0};
    struct err e = ERR_INIT;
    struct netaddr a = addr("10.1.2.3"), b = addr("10.2.0.1"), own = addr("198.51.100.1");

    (void)state;
    assert_int_equal(netguard_open(&g, STR("10.1.0.0/16"), &e), 0);
    assert_int_equal(netguard_open(&g, STR("10.1.0.1/16"), &e), -EINVAL);
    assert_false(netguard_denies(&g, &a));
    assert_true(netguard_denies(&g, &b));
    assert_int_equal(netguard_add_own(&g, &own), 0);
    assert_true(netguard_denies(&g, &own));
    assert_int_equal(netguard_open(&g, STR("198.51.100.1"), &e), 0);
    assert_false(netguard_denies(&g, &own));
    netguard_done(&g);
}

static void rules_are_parsed_strictly(void **state)
{
    static const char *const good[] = {"1.2.3.4",
                                       "10.0.0.0/8",
                                       "0.0.0.0/0",
                                       "::/0",
                                       "2001:db8::/32",
                                       "[2001:db8::]/32",
                                       "[2001:db8::1]:443",
                                       "[2001:db8::]/32:80,443",
                                       "1.2.3.4:80",
                                       "1.2.3.0/24:1-65535",
                                       "example.com",
                                       "EXAMPLE.com.",
                                       "*.example.com",
                                       "*",
                                       "*:443",
                                       "example.com:80,443,8000-8999",
                                       "_x.a-b.c1",
                                       "localhost"};
    static const char *const bad[] = {"",
                                      "0.0.0.0",
                                      "1.2.3.4/33",
                                      "1.2.3.4/8",
                                      "1.2.3.4/",
                                      "1.2.3.4/+8",
                                      "1.2.3",
                                      "::1/129",
                                      "2001:db8::1/32",
                                      "[::1",
                                      "[1.2.3.4]:80",
                                      "[::1]80",
                                      "1.2.3.4:0",
                                      "1.2.3.4:65536",
                                      "1.2.3.4:9-8",
                                      "1.2.3.4:",
                                      "1.2.3.4:80,",
                                      "example..com",
                                      ".example.com",
                                      "**.example.com",
                                      "a.*.com",
                                      "*example.com",
                                      "exa mple.com",
                                      "http://x.com",
                                      "x.com/path",
                                      "*.",
                                      "..",
                                      "12345",
                                      "example.com:http",
                                      "user@x.com",
                                      "1.2.3.4:1,2,3,4,5,6,7,8,9"};
    struct netpolicy p = NETPOLICY_ALLOW_ALL;
    struct err e = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (netpolicy_add(&p, true, str_of(good[i]), &e) < 0)
            fail_msg("%s", err_text(&e));
    assert_int_equal(p.n_rules, ARRAY_LEN(good));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (netpolicy_add(&p, true, str_of(bad[i]), &e) != -EINVAL)
            fail_msg("'%s' is taken", bad[i]);
    netpolicy_done(&p);
}

static void rules_are_bounded(void **state)
{
    struct netpolicy p = NETPOLICY_ALLOW_ALL;
    struct err e = ERR_INIT;
    char longest[300];

    (void)state;
    /* 253 bytes of labels of 63 and one more. */
    memset(longest, 'a', sizeof longest);
    longest[63] = longest[127] = longest[191] = '.';
    assert_int_equal(netpolicy_add(&p, true, str_n(longest, 253), &e), 0);
    assert_int_equal(netpolicy_add(&p, true, str_n(longest, 254), &e), -EINVAL);
    longest[63] = 'a';
    assert_int_equal(netpolicy_add(&p, true, str_n(longest, 100), &e), -EINVAL);
    while (p.n_rules < NETPOLICY_RULES_MAX)
        assert_int_equal(netpolicy_add(&p, false, STR("1.2.3.4"), &e), 0);
    assert_int_equal(netpolicy_add(&p, false, STR("1.2.3.4"), &e), -ENOBUFS);
    netpolicy_done(&p);
}

struct row {
    const char *allow, *deny; /* rules, separated by spaces */
    bool denies_by_default;
    const char *addr;
    uint16_t port;
    const char *name;  /* said by the client */
    const char *known; /* the name we resolved to the address */
    enum netpolicy_verdict want;
};

static void add_all(struct netpolicy *p, bool is_allow, const char *text)
{
    struct str rest = str_of(text);
    struct err e = ERR_INIT;

    while (text && rest.p)
        if (netpolicy_add(p, is_allow, str_cut(&rest, ' '), &e) < 0)
            fail_msg("%s", err_text(&e));
}

#define ALLOW   NETPOLICY_ALLOW
#define BY_NAME NETPOLICY_ALLOW_BY_NAME
#define GUARD   NETPOLICY_DENY_GUARD
#define RULE    NETPOLICY_DENY_RULE
#define DEFAULT NETPOLICY_DENY_DEFAULT
#define PUB     "203.0.113.10"
#define ALL     "0.0.0.0/0"

static const struct row rows[] = {
    /* Without rules. */
    {NULL, NULL, false, PUB, 80, NULL, NULL, ALLOW},
    {NULL, NULL, true, PUB, 80, NULL, NULL, DEFAULT},
    {NULL, NULL, false, "169.254.169.254", 80, NULL, NULL, GUARD},
    {NULL, NULL, false, "127.0.0.1", 80, NULL, NULL, GUARD},
    {NULL, NULL, false, "198.51.100.1", 80, NULL, NULL, GUARD}, /* the host's own */
    /* A cell cannot allow itself what the guard denies. */
    {"10.0.0.0/8 " ALL, NULL, false, "10.1.2.3", 80, NULL, NULL, GUARD},
    {"*", ALL, false, "10.1.2.3", 80, "a.example", "a.example", GUARD},
    /* Networks; allow wins. */
    {PUB, ALL, false, PUB, 80, NULL, NULL, ALLOW},
    {PUB, ALL, false, "203.0.113.11", 80, NULL, NULL, RULE},
    {"203.0.113.0/28", ALL, false, PUB, 80, NULL, NULL, ALLOW},
    {"203.0.113.0/28", ALL, false, "203.0.113.16", 80, NULL, NULL, RULE},
    {NULL, "203.0.113.0/24", false, PUB, 80, NULL, NULL, RULE},
    {NULL, "203.0.113.0/24", false, "203.0.114.1", 80, NULL, NULL, ALLOW},
    {PUB, PUB, false, PUB, 80, NULL, NULL, ALLOW},
    {PUB, NULL, true, PUB, 80, NULL, NULL, ALLOW},
    /* Everything is both families. */
    {NULL, ALL, false, "2001:db8::10", 80, NULL, NULL, RULE},
    {ALL, NULL, true, "2001:db8::10", 80, NULL, NULL, ALLOW},
    {"2001:db8::/32", ALL, false, "2001:db8::10", 80, NULL, NULL, ALLOW},
    {"2001:db8::/32", ALL, false, "2001:db9::10", 80, NULL, NULL, RULE},
    {NULL, PUB, false, "::ffff:" PUB, 80, NULL, NULL, RULE},
    /* Ports. */
    {PUB ":443", ALL, false, PUB, 443, NULL, NULL, ALLOW},
    {PUB ":443", ALL, false, PUB, 444, NULL, NULL, RULE},
    {PUB ":1-79,8000-8999", NULL, true, PUB, 8999, NULL, NULL, ALLOW},
    {PUB ":1-79,8000-8999", NULL, true, PUB, 80, NULL, NULL, DEFAULT},
    {NULL, ALL ":25", false, PUB, 25, NULL, NULL, RULE},
    {NULL, ALL ":25", false, PUB, 26, NULL, NULL, ALLOW},
    /* Names: what we resolved, what the client says, and the two together. */
    {"a.example", ALL, false, PUB, 22, NULL, "a.example", ALLOW},
    {"a.example", ALL, false, PUB, 22, NULL, NULL, RULE},
    {"a.example", ALL, false, PUB, 22, NULL, "b.example", RULE},
    {"a.example", ALL, false, PUB, 443, "A.Example", NULL, BY_NAME},
    {"a.example", ALL, false, PUB, 443, "a.example", "a.example", ALLOW},
    {"a.example", ALL, false, PUB, 443, "a.example", "b.example", BY_NAME},
    {"a.example", ALL, false, PUB, 443, "b.example", "a.example", RULE},
    {"a.example", NULL, true, PUB, 443, "b.example", "a.example", DEFAULT},
    {"a.example", NULL, false, PUB, 443, "a.example", NULL, ALLOW},
    {"a.example:443", ALL, false, PUB, 80, "a.example", "a.example", RULE},
    /* Wildcards: any depth below, not the name itself, not look-alikes. */
    {"*.a.example", ALL, false, PUB, 443, NULL, "x.a.example", ALLOW},
    {"*.a.example", ALL, false, PUB, 443, NULL, "x.y.A.EXAMPLE", ALLOW},
    {"*.a.example", ALL, false, PUB, 443, NULL, "a.example", RULE},
    {"*.a.example", ALL, false, PUB, 443, NULL, "xa.example", RULE},
    {"*.a.example", ALL, false, PUB, 443, NULL, ".a.example", RULE},
    {"*.a.example", ALL, false, PUB, 443, NULL, "a.example.evil", RULE},
    {"*", ALL, false, PUB, 443, NULL, "x.y", ALLOW},
    {"*", ALL, false, PUB, 443, NULL, NULL, RULE},
    {"*", ALL, false, PUB, 443, "x.y", NULL, BY_NAME},
    /* Denied names. */
    {NULL, "evil.example", false, PUB, 443, "evil.example", NULL, RULE},
    {NULL, "evil.example", false, PUB, 443, NULL, "evil.example", RULE},
    {NULL, "evil.example", false, PUB, 443, "good.example", "evil.example", ALLOW},
    {"x.evil.example", "*.evil.example", false, PUB, 443, "x.evil.example", NULL, ALLOW},
    {"x.evil.example", "*.evil.example", false, PUB, 443, "y.evil.example", NULL, RULE},
};

static void verdicts_follow_the_table(void **state)
{
    struct netguard g = {0};
    struct netaddr own = addr("198.51.100.1");

    (void)state;
    assert_int_equal(netguard_add_own(&g, &own), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct netpolicy p = {.denies_by_default = row->denies_by_default}, copy;
        struct str known = str_of(row->known);
        struct netpolicy_query q = {.addr = addr(row->addr),
                                    .port = row->port,
                                    .name = str_of(row->name),
                                    .known = &known,
                                    .n_known = row->known ? 1 : 0};
        add_all(&p, true, row->allow);
        add_all(&p, false, row->deny);
        assert_int_equal(netpolicy_copy(&copy, &p), 0);
        netpolicy_done(&p);
        enum netpolicy_verdict got = netpolicy_judge(&copy, &g, &q);
        if (got != row->want)
            fail_msg("row %zu (%s, allow %s): verdict %d", i, row->addr,
                     row->allow ? row->allow : "-", (int)got);
        /* Whoever depends on a stated name must be asked for one. */
        if (row->name && got != GUARD) {
            struct netpolicy_query mute = q;
            mute.name = STR_NULL;
            if (netpolicy_judge(&copy, &g, &mute) != got)
                assert_true(netpolicy_wants_name(&copy, &g, &q));
        }
        netpolicy_done(&copy);
    }
    netguard_done(&g);
}

static void first_bytes_are_only_awaited_where_they_matter(void **state)
{
    struct netpolicy p = NETPOLICY_DENY_ALL;
    struct netguard g = {0};
    struct netpolicy_query q = {.addr = addr(PUB), .port = 443};

    (void)state;
    assert_false(netpolicy_wants_name(&p, &g, &q));
    add_all(&p, true, "a.example 203.0.113.11");
    assert_true(netpolicy_wants_name(&p, &g, &q));
    q.port = 22; /* here the server speaks first */
    assert_false(netpolicy_wants_name(&p, &g, &q));
    q.port = 80;
    q.addr = addr("203.0.113.11");
    assert_false(netpolicy_wants_name(&p, &g, &q));
    q.addr = addr("10.0.0.1");
    assert_false(netpolicy_wants_name(&p, &g, &q));
    netpolicy_done(&p);
}

static void names_are_resolved_under_the_policy(void **state)
{
    static const struct {
        const char *allow, *deny;
        bool denies_by_default;
        const char *name;
        bool want;
    } table[] = {
        {NULL, NULL, false, "a.example", true},
        {NULL, NULL, true, "a.example", false},
        {NULL, ALL, false, "a.example", false},
        {NULL, ALL ":25", false, "a.example", true},
        {"a.example", ALL, false, "a.example", true},
        {"a.example:443", ALL, false, "A.EXAMPLE", true},
        {"a.example", ALL, false, "b.a.example", false},
        {"*.a.example", ALL, false, "b.a.example", true},
        {"*.a.example", ALL, false, "secret.evil.example", false},
        {PUB, ALL, false, "a.example", false},
        {ALL, NULL, true, "a.example", true},
        {NULL, "evil.example", false, "evil.example", false},
        {NULL, "evil.example", false, "a.example", true},
        {NULL, "evil.example:443", false, "evil.example", true},
        {"x.evil.example", "*.evil.example", false, "x.evil.example", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct netpolicy p = {.denies_by_default = table[i].denies_by_default};
        add_all(&p, true, table[i].allow);
        add_all(&p, false, table[i].deny);
        if (netpolicy_may_resolve(&p, str_of(table[i].name)) != table[i].want)
            fail_msg("row %zu: %s", i, table[i].name);
        netpolicy_done(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_one_form),
        cmocka_unit_test(special_ranges_are_known_to_their_edges),
        cmocka_unit_test(other_spellings_of_special_addresses_are_denied),
        cmocka_unit_test(the_operator_opens_ranges),
        cmocka_unit_test(rules_are_parsed_strictly),
        cmocka_unit_test(rules_are_bounded),
        cmocka_unit_test(verdicts_follow_the_table),
        cmocka_unit_test(first_bytes_are_only_awaited_where_they_matter),
        cmocka_unit_test(names_are_resolved_under_the_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
