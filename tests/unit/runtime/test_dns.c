/* SPDX-License-Identifier: MIT */
/* DNS messages: questions and answers, well-formed, hostile and forged. */
#include "../check.h"

#include <errno.h>

#include "base/cleanup.h"
#include "runtime/dns.h"

/* Builds messages byte by byte, as somebody who does not play by the rules would. */
struct message {
    uint8_t p[DNS_MESSAGE_MAX];
    size_t len;
};

static void add(struct message *m, const void *p, size_t n)
{
    assert_true(m->len + n <= sizeof m->p);
    memcpy(m->p + m->len, p, n);
    m->len += n;
}

static void add_u16(struct message *m, unsigned v)
{
    add(m, (uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void add_name(struct message *m, const char *name)
{
    struct str rest = str_of(name);

    while (rest.len > 0) {
        struct str label = str_cut(&rest, '.');
        add(m, &(uint8_t){(uint8_t)label.len}, 1);
        add(m, label.p, label.len);
    }
    add(m, "", 1);
}

static struct message begin(unsigned id, unsigned flags, unsigned n_answers)
{
    struct message m = {.len = 0};

    add_u16(&m, id);
    add_u16(&m, flags);
    add_u16(&m, 1);
    add_u16(&m, n_answers);
    add_u16(&m, 0);
    add_u16(&m, 0);
    return m;
}

static void add_question(struct message *m, const char *name, unsigned type)
{
    add_name(m, name);
    add_u16(m, type);
    add_u16(m, 1);
}

static void add_record(struct message *m, const char *name, unsigned type, const void *data,
                       size_t len)
{
    add_name(m, name);
    add_u16(m, type);
    add_u16(m, 1);
    add_u16(m, 0);
    add_u16(m, 300);
    add_u16(m, (unsigned)len);
    add(m, data, len);
}

static void add_alias(struct message *m, const char *name, const char *to)
{
    struct message data = {.len = 0};

    add_name(&data, to);
    add_record(m, name, DNS_TYPE_CNAME, data.p, data.len);
}

static struct dns_query question(const char *name, uint16_t type)
{
    struct dns_query q = {.id = 7, .type = type, .udp_max = DNS_UDP_MIN};

    (void)memcpy(q.name, name, strlen(name) + 1);
    return q;
}

static void questions_are_read(void **state)
{
    struct message m = begin(0xbeef, 0x0100, 0);
    struct dns_query q;

    (void)state;
    add_question(&m, "WWW.Example.com", DNS_TYPE_AAAA);
    assert_int_equal(dns_read_query(&q, m.p, m.len), DNS_OK);
    assert_int_equal(q.id, 0xbeef);
    assert_int_equal(q.type, DNS_TYPE_AAAA);
    assert_string_equal(q.name, "www.example.com");
    assert_true(q.wants_recursion);
    assert_int_equal(q.udp_max, DNS_UDP_MIN);
    /* Every shorter form is no question; nothing behind the end is touched (the sanitizer says). */
    for (size_t len = 0; len < m.len; len++) {
        auto_free uint8_t *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, m.p, len);
        int want = len < 12 ? -EBADMSG : DNS_FORMAT_ERROR;
        assert_int_equal(dns_read_query(&q, exact, len), want);
    }
    m.p[2] |= 0x80; /* an answer */
    assert_int_equal(dns_read_query(&q, m.p, m.len), -EBADMSG);
    m.p[2] = 0x28; /* an update */
    assert_int_equal(dns_read_query(&q, m.p, m.len), DNS_NOT_IMPLEMENTED);
    m.p[2] = 1;
    m.p[5] = 2; /* two questions */
    assert_int_equal(dns_read_query(&q, m.p, m.len), DNS_FORMAT_ERROR);
}

static void hostile_names_are_refused(void **state)
{
    static const struct {
        const char *p;
        size_t len;
    } names[] = {
        {"\xc0\x0c", 2},    /* points at itself */
        {"\xc0\x20", 2},    /* points forward */
        {"\1a\xc0\x0c", 4}, /* grows for ever */
        {"\x80", 1},        /* a kind of label that does not exist */
        {"\3a.b\0", 5},     /* a dot inside a label: would read as another name */
        {"\3a\0b\0", 5},    /* an end inside a label */
        {"\3a b\0", 5},
    };
    struct dns_query q;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct message m = begin(1, 0x0100, 0);
        add(&m, names[i].p, names[i].len);
        add_u16(&m, DNS_TYPE_A);
        add_u16(&m, 1);
        assert_int_equal(dns_read_query(&q, m.p, m.len), DNS_FORMAT_ERROR);
        assert_string_equal(q.name, "");
    }
}

static void the_longest_name_goes_both_ways(void **state)
{
    char name[300];
    uint8_t out[DNS_REPLY_MAX];
    struct dns_query q;

    (void)state;
    memset(name, 'a', sizeof name);
    name[63] = name[127] = name[191] = '.';
    int len = dns_write_query(out, 9, str_n(name, 253), DNS_TYPE_A);
    assert_true(len > 253);
    assert_int_equal(dns_read_query(&q, out, (size_t)len), DNS_OK);
    assert_int_equal(strlen(q.name), 253);
    assert_true(q.has_edns);
    assert_int_equal(q.udp_max, DNS_UDP_MAX);
    assert_int_equal(dns_write_query(out, 9, str_n(name, 254), DNS_TYPE_A), -EINVAL);
    static const char *const bad[] = {"", ".", "a..b", ".a", "a."};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(dns_write_query(out, 9, str_of(bad[i]), DNS_TYPE_A), -EINVAL);
}

static void answers_are_read_for_the_name_asked(void **state)
{
    struct dns_query q = question("www.x.y", DNS_TYPE_A);
    struct message m = begin(7, 0x8180, 5);
    struct dns_answer a;
    struct netaddr want = netaddr_v4(0x01020304);

    (void)state;
    add_question(&m, "www.x.y", DNS_TYPE_A);
    add_record(&m, "z.x.y", DNS_TYPE_A, "\1\2\3\4", 4); /* stands before the alias to it */
    add_alias(&m, "www.x.y", "v.x.y");
    add_alias(&m, "v.x.y", "z.x.y");
    add_record(&m, "evil.y", DNS_TYPE_A, "\6\6\6\6", 4);
    add_record(&m, "z.x.y", DNS_TYPE_A, "\5\5\5", 3); /* too short to be one */
    assert_int_equal(dns_read_answer(&a, &q, m.p, m.len), 0);
    assert_int_equal(a.rcode, DNS_OK);
    assert_int_equal(a.n_addrs, 1);
    assert_true(netaddr_eq(&a.addrs[0], &want));
    assert_int_equal(a.ttl_s, 300);
}

static void forged_answers_are_refused(void **state)
{
    static const struct {
        unsigned id, flags;
        const char *name;
        unsigned type;
        int want;
    } rows[] = {
        {7, 0x8180, "x.y", DNS_TYPE_A, 0},        {7, 0x8180, "X.Y", DNS_TYPE_A, 0},
        {8, 0x8180, "x.y", DNS_TYPE_A, -EBADMSG}, {7, 0x0180, "x.y", DNS_TYPE_A, -EBADMSG},
        {7, 0x8180, "x.z", DNS_TYPE_A, -EBADMSG}, {7, 0x8180, "x.y", DNS_TYPE_AAAA, -EBADMSG},
        {7, 0xa980, "x.y", DNS_TYPE_A, -EBADMSG}, {7, 0x8180, "", DNS_TYPE_A, -EBADMSG},
    };
    struct dns_query q = question("x.y", DNS_TYPE_A);
    struct dns_answer a;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message m = begin(rows[i].id, rows[i].flags, 1);
        add_question(&m, rows[i].name, rows[i].type);
        add_record(&m, "x.y", DNS_TYPE_A, "\1\2\3\4", 4);
        assert_int_equal(dns_read_answer(&a, &q, m.p, m.len), rows[i].want);
    }
}

static void aliases_that_turn_in_circles_end(void **state)
{
    struct dns_query q = question("a.b", DNS_TYPE_A);
    struct message m = begin(7, 0x8180, 2);
    struct dns_answer a;

    (void)state;
    add_question(&m, "a.b", DNS_TYPE_A);
    add_alias(&m, "a.b", "c.d");
    add_alias(&m, "c.d", "a.b");
    assert_int_equal(dns_read_answer(&a, &q, m.p, m.len), 0);
    assert_int_equal(a.n_addrs, 0);
}

static void answers_are_written_within_the_limit(void **state)
{
    static const char long_name[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.x";
    struct dns_query q = question(long_name, DNS_TYPE_AAAA);
    struct dns_answer a = {.ttl_s = 5, .n_addrs = DNS_ADDRS_MAX}, back;
    uint8_t out[DNS_REPLY_MAX];

    (void)state;
    for (size_t i = 0; i < a.n_addrs; i++)
        a.addrs[i] = (struct netaddr){{0x20, 1, 0xd, 0xb8, [15] = (uint8_t)i}};
    q.has_edns = true;
    size_t len = dns_write_answer(out, &q, &a, DNS_UDP_MIN);
    assert_true(len <= DNS_UDP_MIN);
    assert_int_equal(dns_read_answer(&back, &q, out, len), 0);
    assert_true(back.is_cut);
    assert_in_range(back.n_addrs, 1, DNS_ADDRS_MAX - 1);
    len = dns_write_answer(out, &q, &a, DNS_REPLY_MAX);
    assert_int_equal(dns_read_answer(&back, &q, out, len), 0);
    assert_false(back.is_cut);
    assert_int_equal(back.n_addrs, DNS_ADDRS_MAX);
    assert_int_equal(back.ttl_s, 5);
    assert_memory_equal(back.addrs, a.addrs, sizeof a.addrs);
    a = (struct dns_answer){.rcode = DNS_NO_SUCH_NAME};
    len = dns_write_answer(out, &q, &a, DNS_UDP_MIN);
    assert_int_equal(dns_read_answer(&back, &q, out, len), 0);
    assert_int_equal(back.rcode, DNS_NO_SUCH_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_read),
        cmocka_unit_test(hostile_names_are_refused),
        cmocka_unit_test(the_longest_name_goes_both_ways),
        cmocka_unit_test(answers_are_read_for_the_name_asked),
        cmocka_unit_test(forged_answers_are_refused),
        cmocka_unit_test(aliases_that_turn_in_circles_end),
        cmocka_unit_test(answers_are_written_within_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
