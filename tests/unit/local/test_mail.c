/* SPDX-License-Identifier: MIT */
/* What messages are made of: dates, encoded words, parameters, addresses, names of folders. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/mail/date.h"
#include "local/mail/match.h"
#include "local/mail/mime.h"
#include "local/mail/utf7.h"

static int setup(void **state)
{
    struct arena *a = malloc(sizeof *a);

    if (!a)
        return -1;
    arena_init(a, 64 << 20);
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static void check_str(struct str got, const char *want)
{
    if (!str_is(got, want))
        fail_msg("got '%.*s', want '%s'", STR_ARG(got), want);
}

static void test_dates(void **state)
{
    enum { NOW = 1800000000 };
    static const struct {
        const char *text;
        int64_t s;
        int32_t offset_s;
    } good[] = {
        {"Thu, 01 Jan 1970 00:00:00 +0000", 0, 0},
        {"Mon, 16 Nov 2026 07:00:00 +0100", 1794808800, 3600},
        {"16 Nov 26 07:00 EST", 1794830400, -18000},
        {"29-Feb-2024 23:59:59 -0330", 1709263799, -12600},
        {"2026-11-16T07:00:00Z", 1794812400, 0},
        {"2026-11-16 07:00:00.25+01:00", 1794808800, 3600},
        {"2026-11-16", 1794787200, 0},
        {"44 days before current date", NOW - 44 * 86400, 0},
        {"1 hour after current date", NOW + 3600, 0},
        {"2 weeks ago", NOW - 14 * 86400, 0},
        {"now", NOW, 0},
    };
    static const char *const bad[] = {
        "",       "yesterday",  "32 Foo 2026", "2026-13-01",          "1 Jan",
        "5 days", "5 suns ago", "25:00",       "1 Jan 2026 25:00:00", "0 Jan 2026"};
    char text[MAIL_DATE_MAX];
    struct mail_date d;
    int64_t day;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (mail_date_parse(str_of(good[i].text), NOW, &d) < 0 || d.s != good[i].s ||
            d.offset_s != good[i].offset_s)
            fail_msg("'%s': %lld %d", good[i].text, (long long)d.s, (int)d.offset_s);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (mail_date_parse(str_of(bad[i]), NOW, &d) == 0)
            fail_msg("'%s' was taken", bad[i]);
    }
    mail_date_header(text, 1794812400);
    assert_string_equal(text, "Mon, 16 Nov 2026 07:00:00 +0000");
    mail_date_internal(text, 1794812400);
    assert_string_equal(text, "16-Nov-2026 07:00:00 +0000");
    assert_int_equal(mail_date_day(STR("1-Feb-1970"), &day), 0);
    assert_int_equal(day, 31);
    assert_int_equal(mail_date_day(STR("1-Feb-1970 "), &day), -EINVAL);
    assert_int_equal(mail_date_day_of((struct mail_date){-1, 0}), -1);
}

static void test_words(void **state)
{
    struct arena *a = *state;

    check_str(mime_words(a, STR("=?utf-8?b?w6Q=?= =?iso-8859-1?Q?=F6_x?= y")), "äö x y");
    check_str(mime_words(a, STR("a =?x?z?b?= =?utf-8?q?")), "a =?x?z?b?= =?utf-8?q?");
    check_str(mime_words(a, STR("caf\xe9")), "caf");
    check_str(mime_param(a, STR("x; filename*0*=utf-8''%C3%A4; filename*1=\"b c\""), "filename"),
              "äb c");
    check_str(mime_param(a, STR("x; Name=\"a\\\"b\"; name=c"), "name"), "a\"b");
    assert_null(mime_param(a, STR("x; y"), "name").p);
    assert_true(match_text(STR("Über ΑΒΓ Жук"), STR("ÜBER αβγ жУК")));
    assert_false(match_text(STR("abc"), STR("abcd")));
}

static void test_addresses(void **state)
{
    struct mime_address all[8];
    size_t n =
        mime_addresses(*state, STR("\"M, A\" <a@b> (x), team: c@d, <@r:e@f>;, plain"), all, 8);

    assert_int_equal(n, 6);
    check_str(all[0].name, "M, A");
    check_str(all[0].mailbox, "a");
    check_str(all[0].host, "b");
    check_str(all[1].mailbox, "team");
    check_str(all[2].host, "d");
    check_str(all[3].mailbox, "e");
    check_str(all[4].mailbox, "");
    check_str(all[5].mailbox, "plain");
}

static void test_folder_names(void **state)
{
    check_str(utf7_encode(*state, STR("ä&b/😀")), "&AOQ-&-b/&2D3eAA-");
    check_str(utf7_decode(*state, STR("&AOQ-&-b/&2D3eAA-")), "ä&b/😀");
    check_str(utf7_decode(*state, STR("a&b")), "a&b");
    check_str(utf7_decode(*state, STR("&!!-")), "&!!-");
}

static void test_parts_stay_within_limits(void **state)
{
    auto_buf struct buf b = BUF_INIT(4 << 20);

    (void)buf_add_lit(&b, "Content-Type: multipart/mixed; boundary=b\r\n\r\n");
    for (int i = 0; i < MIME_PARTS_MAX + 10; i++)
        (void)buf_add_lit(&b, "--b\r\n\r\nx\r\n");
    assert_int_equal(mime_parse(*state, buf_str(&b))->n_parts, MIME_PARTS_MAX);
    buf_clear(&b);
    for (int i = 0; i < MIME_DEPTH_MAX + 10; i++)
        (void)buf_add_lit(&b, "Content-Type: message/rfc822\r\n\r\n");
    unsigned depth = 0;
    for (const struct mime_part *p = mime_parse(*state, buf_str(&b)); p->n_parts > 0; depth++)
        p = p->parts;
    assert_int_equal(depth, MIME_DEPTH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts_stay_within_limits, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
