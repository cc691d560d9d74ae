/* SPDX-License-Identifier: MIT */
/* Messages as they come: parts with every kind of boundary, headers that nobody would write by
 * hand, transfer encodings that break off, character sets, and messages that we wrote read again.
 */
#include "arena_fixture.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "local/mail/mime.h"
#include "local/mail/utf7.h"

/* ---- headers ---- */

static void fields_are_unfolded_and_found_without_case(void **state)
{
    static const char header[] = "Subject: a\r\n  b\r\n\tc\r\nno colon here\r\n: no name\r\n"
                                 "X-Empty:\r\nSUBJECT: second\r\n\r\n";
    struct str rest = str_of(header), name, value;
    struct arena *a = *state;
    int n = 0;

    check_text(mime_field(a, str_of(header), "subject"), "a  b\tc");
    check_text(mime_field(a, str_of(header), "x-empty"), "");
    assert_null(mime_field(a, str_of(header), "missing").p);
    assert_null(mime_field(a, STR(""), "Subject").p);
    while (mime_next(&rest, &name, &value))
        n++;
    assert_int_equal(n, 3);
    check_text(name, "SUBJECT");
    check_text(value, "second");
}

static void parameters_in_every_form(void **state)
{
    static const struct {
        const char *field, *name, *value; /* NULL: none */
    } rows[] = {
        {"text/plain; charset=utf-8", "charset", "utf-8"},
        {"text/plain;charset = \"utf-8\" ; x=y", "CHARSET", "utf-8"},
        {"text/plain; charset=utf-8; charset=latin1", "charset", "utf-8"},
        {"attachment; filename=\"a;b=c\\\\d.txt\"; size=3", "size", "3"},
        {"attachment; filename=\"not closed", "filename", "not closed"},
        {"attachment; filename=", "filename", ""},
        {"attachment;; filename=x", "filename", "x"},
        {"attachment; inline; filename=x", "filename", "x"},
        {"attachment; filename", "filename", NULL},
        {"attachment", "filename", NULL},
        {"", "filename", NULL},
        {"a; filename*=utf-8''%e2%82%ac%20rates", "filename", "€ rates"},
        {"a; filename*=iso-8859-1'en'%A3", "filename", "£"},
        {"a; filename*=utf-8''100%", "filename", "100%"},
        {"a; filename*0=one; filename*1=two", "filename", "onetwo"},
        {"a; filename*0*=utf-8''%C3; filename*1*=%A4", "filename", "ä"},
        {"a; filename=\"=?utf-8?q?=C3=A4?=\"", "filename", "ä"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = mime_param(*state, str_of(rows[i].field), rows[i].name);
        if (rows[i].value)
            check_text(got, rows[i].value);
        else
            assert_null(got.p);
    }
}

static void parameters_by_number(void **state)
{
    struct str field = STR("x/y; a=1; B=\"2;3\"; c"), name, value;

    assert_true(mime_param_at(*state, field, 1, &name, &value));
    check_text(name, "B");
    check_text(value, "2;3");
    assert_false(mime_param_at(*state, field, 2, &name, &value));
    check_text(mime_token(field), "x/y");
    check_text(mime_token(STR(" attachment ")), "attachment");
}

static void encoded_words_at_their_edges(void **state)
{
    static const struct {
        const char *value, *text;
    } rows[] = {
        {"plain", "plain"},
        {"=?utf-8?q?a?=", "a"},
        {"=?utf-8?q?a_b?= =?utf-8?q?c?=", "a bc"},
        {"=?utf-8?q?a?=\t  =?utf-8?b?Yg==?=", "ab"},
        {"=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b"},
        {"=?utf-8?q?a?=b=?utf-8?q?c?=", "abc"},
        {"=?utf-8*en?Q?caf=C3=A9?=", "café"},
        {"=?windows-1251?b?z/Do4uXy?=", "Привет"},
        {"=?no-such-charset?q?a=62?=", "ab"},
        {"=??q?a?=", "=??q?a?="},
        {"=?utf-8?qq?a?=", "=?utf-8?qq?a?="},
        {"=?utf-8?x?a?=", "=?utf-8?x?a?="},
        {"=?utf-8?q?a", "=?utf-8?q?a"},
        {"=?utf-8?q?\?=", ""},
        {"=?", "=?"},
        {"=?utf-8?q?=G1=4?=", "=G1=4"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_text(mime_words(*state, str_of(rows[i].value)), rows[i].text);
}

static void addresses_at_their_edges(void **state)
{
    struct mime_address all[4];
    struct arena *a = *state;

    assert_int_equal(mime_addresses(a, STR(""), all, 4), 0);
    assert_int_equal(mime_addresses(a, STR(" , ,"), all, 4), 0);
    assert_int_equal(mime_addresses(a, STR("a@b, c@d, e@f, g@h, i@j"), all, 4), 4);
    check_text(all[3].mailbox, "g");
    assert_int_equal(mime_addresses(a, STR("\"a@b\" <c@d@e>"), all, 4), 1);
    check_text(all[0].name, "a@b");
    check_text(all[0].mailbox, "c@d");
    check_text(all[0].host, "e");
    assert_int_equal(mime_addresses(a, STR("x (nested (\\) deep) more) <x@y"), all, 4), 1);
    check_text(all[0].name, "x");
    check_text(all[0].host, "y");
    assert_int_equal(mime_addresses(a, STR("(never closed <a@b>"), all, 4), 0);
    assert_int_equal(mime_addresses(a, STR("undisclosed-recipients:;"), all, 4), 2);
    check_text(all[0].mailbox, "undisclosed-recipients");
    check_text(all[1].mailbox, "");
}

/* ---- parts ---- */

static void boundaries_are_whole_lines(void **state)
{
    static const char raw[] = "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\npreamble\r\n"
                              "--bx\r\n--b  \r\n\r\none\r\n--b-\r\n-- b\r\n--b\r\n"
                              "Content-Type: text/html\r\n\r\n<p>\r\n--b--\r\nepilogue\r\n--b\r\n";
    struct mime_part *p = mime_parse(*state, str_of(raw));

    assert_true(p->is_multipart);
    assert_int_equal(p->n_parts, 2);
    check_text(p->parts[0].body, "one\r\n--b-\r\n-- b");
    check_text(p->parts[0].type, "text");
    check_text(p->parts[0].subtype, "plain");
    check_text(p->parts[1].subtype, "html");
    check_text(p->parts[1].body, "<p>");
}

static void what_is_missing_is_text(void **state)
{
    struct arena *a = *state;
    struct mime_part *p = mime_parse(a, STR(""));

    assert_int_equal(p->body.len, 0);
    check_text(p->type, "text");
    p = mime_parse(a, STR("Content-Type: multipart/mixed\r\n\r\n--x\r\n\r\none\r\n--x--\r\n"));
    assert_false(p->is_multipart);
    assert_int_equal(p->n_parts, 0);
    p = mime_parse(a, STR("Content-Type: multipart/mixed; boundary=x\r\n\r\nno boundary"));
    assert_int_equal(p->n_parts, 0);
    p = mime_parse(a, STR("Content-Type: multipart/mixed; boundary=x\n\n--x\n\nnever closed\n"));
    assert_int_equal(p->n_parts, 1);
    check_text(p->parts[0].body, "never closed\n");
    p = mime_parse(a, STR("Content-Type: nonsense\r\n\r\nbody"));
    check_text(p->type, "text");
    p = mime_parse(a, STR("Subject: no empty line"));
    assert_int_equal(p->body.len, 0);
    check_text(mime_field(a, p->header, "Subject"), "no empty line");
}

static void a_message_in_a_message(void **state)
{
    static const char raw[] = "Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n"
                              "Content-Type: multipart/alternative; boundary=i\r\n\r\n"
                              "--i\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nx\r\n"
                              "--i--\r\n";
    struct mime_part *p = mime_parse(*state, str_of(raw));

    assert_true(p->is_message);
    assert_int_equal(p->n_parts, 1);
    check_text(mime_field(*state, p->parts[0].header, "subject"), "inner");
    assert_int_equal(p->parts[0].n_parts, 1);
    assert_true(mime_is_attachment(*state, &p->parts[0].parts[0]));
    assert_false(mime_is_attachment(*state, p));
    check_text(mime_filename(*state, &p->parts[0].parts[0]), "a.txt");
}

/* ---- transfer encodings and character sets ---- */

static void transfer_encodings_take_what_there_is(void **state)
{
    static const struct {
        const char *encoded, *plain;
        bool is_base64, is_word;
    } rows[] = {
        {"YWJj", "abc", true, false},
        {"YW\r\n Jj", "abc", true, false},
        {"YWI=", "ab", true, false},
        {"YWI", "ab", true, false},
        {"Y", "", true, false},
        {"YQ==YQ==", "a", true, false}, /* behind "=" nothing counts */
        {"", "", true, false},
        {"a=3Db", "a=b", false, false},
        {"a=\r\nb=\nc", "abc", false, false},
        {"a= \t\r\nb", "ab", false, false},
        {"end=", "end", false, false},
        {"=4", "=4", false, false},
        {"=GG=zz", "=GG=zz", false, false},
        {"a_b", "a_b", false, false},
        {"a_b=", "a b=", false, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str in = str_of(rows[i].encoded);
        check_text(rows[i].is_base64 ? mime_unbase64(*state, in)
                                     : mime_unquote(*state, in, rows[i].is_word),
                   rows[i].plain);
    }
}

static void texts_become_utf8(void **state)
{
    static const struct {
        const char *bytes, *charset, *text;
    } rows[] = {
        {"caf\xe9", "iso-8859-1", "café"},
        {"\x80", "latin1", "€"},
        {"caf\xc3\xa9", "UTF-8", "café"},
        {"a\xff\xfe"
         "b",
         "utf-8", "ab"},
        {"a\xe9z", "us-ascii", "az"},
        {"x", "a name that is much longer than any charset", "x"},
        {"\x82\xa0", "shift_jis", "あ"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_text(mime_to_utf8(*state, str_of(rows[i].bytes), str_of(rows[i].charset)),
                   rows[i].text);
    struct mime_part *p = mime_parse(
        *state, STR("Content-Type: text/plain; charset=iso-8859-1\r\n"
                    "Content-Transfer-Encoding: Quoted-Printable\r\n\r\n=E4\r\nb\rc\r\n"));
    check_text(mime_text(*state, p), "ä\nb\rc\n");
}

/* ---- what we write ---- */

static void what_we_write_is_read_again(void **state)
{
    const struct mime_attachment files[] = {
        {STR("ä b.bin"), STR("application/octet-stream"), STR("\0\1\2\xff--tidepool\r\n")},
        {STR("plain.txt"), STR("text/plain"), STR("line\n")},
    };
    const struct mime_new m = {
        .from = STR("Jörg \"J\" <j@example.com>"),
        .to = STR("a@b, Ünal <u@c>"),
        .subject = STR("Grüße, eine sehr lange Zeile, die ganz sicher nicht in ein einziges "
                       "kodiertes Wort passt: äöü\r\nBcc: smuggled@evil"),
        .date = STR("Mon, 16 Nov 2026 07:00:00 +0000"),
        .text = STR("one\n.two\n"),
        .html = STR("<p>€</p>"),
        .has_html = true,
        .attachments = files,
        .n_attachments = ARRAY_LEN(files),
    };
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct mime_address to[4];
    struct arena *a = *state;

    mime_write(&b, &m);
    assert_true(buf_ok(&b));
    for (size_t i = 0; i < b.len; i++) {
        assert_false(b.p[i] == '\n' && (i == 0 || b.p[i - 1] != '\r'));
        assert_true((unsigned char)b.p[i] < 128);
    }
    struct mime_part *p = mime_parse(a, buf_str(&b));
    assert_null(mime_field(a, p->header, "Bcc").p); /* an end of line in a subject is no field */
    struct str subject = mime_words(a, mime_field(a, p->header, "Subject"));
    assert_true(str_starts(subject, STR("Grüße, eine sehr lange")));
    assert_int_equal(mime_addresses(a, mime_field(a, p->header, "To"), to, 4), 2);
    check_text(mime_words(a, to[1].name), "Ünal");
    assert_int_equal(p->n_parts, 3);
    assert_int_equal(p->parts[0].n_parts, 2);
    check_text(mime_text(a, &p->parts[0].parts[0]), "one\n.two\n");
    check_text(mime_text(a, &p->parts[0].parts[1]), "<p>€</p>");
    check_text(mime_filename(a, &p->parts[1]), "ä b.bin");
    assert_true(str_eq(mime_bytes(a, &p->parts[1]), files[0].bytes));
    check_text(mime_filename(a, &p->parts[2]), "plain.txt");
}

/* ---- names of folders ---- */

static void folder_names_that_are_not_utf7_stay(void **state)
{
    static const char *const bad[] = {
        "&2D0-",    /* half of a pair */
        "&3gA-",    /* the other half */
        "&2D0A5A-", /* a half, then something else */
        "&A-",      /* not a whole character */
        "&AOQAA-",  /* and some digits more */
        "&AOR-",    /* bits behind the last character */
        "&AOQ",     /* never closed */
        "&AO/-",    /* "/" is "," here */
    };
    static const char *const names[] = {"",       "INBOX", "a&b", "ä",
                                        "日本語", "x😀y",   "&",   "Entwürfe/ä"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_text(utf7_decode(*state, str_of(bad[i])), bad[i]);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str wire = utf7_encode(*state, str_of(names[i]));
        check_text(utf7_decode(*state, wire), names[i]);
        for (size_t k = 0; k < wire.len; k++)
            assert_true(wire.p[k] >= ' ' && wire.p[k] < 0x7f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_with_arena(fields_are_unfolded_and_found_without_case),
        unit_test_with_arena(parameters_in_every_form),
        unit_test_with_arena(parameters_by_number),
        unit_test_with_arena(encoded_words_at_their_edges),
        unit_test_with_arena(addresses_at_their_edges),
        unit_test_with_arena(boundaries_are_whole_lines),
        unit_test_with_arena(what_is_missing_is_text),
        unit_test_with_arena(a_message_in_a_message),
        unit_test_with_arena(transfer_encodings_take_what_there_is),
        unit_test_with_arena(texts_become_utf8),
        unit_test_with_arena(what_we_write_is_read_again),
        unit_test_with_arena(folder_names_that_are_not_utf7_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
