/* SPDX-License-Identifier: MIT */
/* Sessions of SMTP and IMAP as transcripts: the order of commands, limits, smuggling, bytes in
 * pieces of any size, and what is in the store afterwards. */
#include "../check.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "local/mail/deliver.h"
#include "local/mail/imap.h"
#include "local/mail/smtp.h"
#include "local/mail/store.h"

struct world {
    char dir[64];
    struct mail_store *store;
    struct smtp *smtp;
    struct imap *imap;
    struct buf said;
    bool is_deaf;
};

static bool hear(void *ctx, struct str bytes)
{
    struct world *w = ctx;

    assert_int_equal(buf_add_str(&w->said, bytes), 0);
    return !w->is_deaf;
}

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct err e = ERR_INIT;

    if (!w)
        return -1;
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(w->dir, sizeof w->dir, "%.40s/mail-XXXXXX", tmp ? tmp : "/tmp");
    buf_init(&w->said, 4 << 20);
    w->store = mkdtemp(w->dir) ? mail_store_new(w->dir, &e) : NULL;
    w->smtp = smtp_new(w->store, hear, w);
    w->imap = imap_new(w->store, hear, w);
    buf_clear(&w->said);
    *state = w;
    return w->store && w->smtp && w->imap ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int drop_world(void **state)
{
    struct world *w = *state;

    smtp_free(w->smtp);
    imap_free(w->imap);
    mail_store_free(w->store);
    buf_done(&w->said);
    (void)nftw(w->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(w);
    return 0;
}

/* What is said to LINE begins with WANT; every further line of WANT has to be in it, too. */
static void check_said(struct world *w, const char *line, const char *want)
{
    struct str rest = str_of(want), first = str_cut(&rest, '|');

    if (!str_starts(buf_str(&w->said), first))
        fail_msg("'%.60s': got '%.*s', want '%s'", line, STR_ARG(buf_str(&w->said)), want);
    while (rest.p) {
        struct str part = str_cut(&rest, '|');
        if (str_find(buf_str(&w->said), part) < 0)
            fail_msg("'%.60s': got '%.*s' without '%.*s'", line, STR_ARG(buf_str(&w->said)),
                     STR_ARG(part));
    }
    buf_clear(&w->said);
}

struct step {
    const char *line, *want;
};

static void talk_smtp(struct world *w, const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)smtp_feed(w->smtp, str_of(steps[i].line));
        check_said(w, steps[i].line, steps[i].want);
    }
}

static void talk_imap(struct world *w, const struct step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)imap_feed(w->imap, str_of(steps[i].line));
        check_said(w, steps[i].line, steps[i].want);
    }
}

#define SMTP(w, ...)                                                                               \
    talk_smtp(w, (const struct step[]){__VA_ARGS__},                                               \
              sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))
#define IMAP(w, ...)                                                                               \
    talk_imap(w, (const struct step[]){__VA_ARGS__},                                               \
              sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

/* The K-th message in the INBOX of ADDRESS, in A; .p NULL: there is none. */
static struct str mail_of(struct world *w, const char *address, size_t k, struct arena *a)
{
    struct mail_account *account = mail_account(w->store, str_of(address), false, &(int){0});
    struct mail_folder inbox;
    struct str raw = STR_NULL;
    size_t n = 0;

    if (!account)
        return STR_NULL;
    assert_int_equal(mail_folder_find(account, STR("INBOX"), &inbox), 0);
    struct mail_message *all = mail_messages(account, inbox.id, a, &n);
    if (k < n)
        assert_int_equal(mail_read(account, all[k].file, a, &raw), 0);
    return raw;
}

/* ---- SMTP ---- */

static void smtp_keeps_its_order(void **state)
{
    SMTP(*state, {"MAIL FROM:<a@b>\r\n", "503 "}, {"RCPT TO:<a@b>\r\n", "503 "},
         {"DATA\r\n", "503 "}, {"AUTH PLAIN\r\n", "503 "}, {"EHLO\r\n", "501 "},
         {"ehlo me\r\n", "250-tidepool|250-SIZE 33554432|250 8BITMIME"}, {"DATA\r\n", "503 "},
         {"RCPT TO:<x@y>\r\n", "503 "}, {"MAIL FROM:<a@b>\r\n", "250 "},
         {"MAIL FROM:<a@b>\r\n", "503 "}, {"DATA\r\n", "503 "}, {"RSET\r\n", "250 "},
         {"RCPT TO:<x@y>\r\n", "503 "}, {"MAIL FROM:<>\r\n", "250 "}, {"HELO me\r\n", "250 "},
         {"RCPT TO:<x@y>\r\n", "503 "}, {"WHAT\r\n", "500 "}, {"\r\n", "500 "},
         {"NOOP ignored\r\n", "250 "}, {"VRFY a\r\n", "252 "}, {"QUIT\r\n", "221 "});
}

static void smtp_reads_addresses(void **state)
{
    SMTP(*state, {"EHLO me\r\n", "250-"}, {"MAIL FROM:a@b\r\n", "501 "},
         {"MAIL FROM:<a@b\r\n", "501 "}, {"MAIL FROM:<a b@c>\r\n", "501 "},
         {"MAIL TO:<a@b>\r\n", "501 "}, {"MAIL FROM:<../x@y>\r\n", "501 "},
         {"MAIL FROM:<a@b> SIZE=33554433\r\n", "552 "}, {"MAIL FROM:<a@b> SIZE=1x\r\n", "552 "},
         {"mail from: <a@b> BODY=8BITMIME size=33554432\r\n", "250 "},
         {"RCPT TO:<@r,@s:x@y>\r\n", "250 "}, {"RCPT TO:<>\r\n", "501 "},
         {"RCPT TO:<@y>\r\n", "501 "}, {"RCPT TO:<x@>\r\n", "501 "}, {"RCPT TO:<x>\r\n", "501 "});
}

static void smtp_addresses_end_at_their_limit(void **state)
{
    struct world *w = *state;
    char line[300];

    SMTP(w, {"EHLO me\r\n", "250-"});
    for (int n = MAIL_ADDRESS_MAX; n <= MAIL_ADDRESS_MAX + 1; n++) {
        (void)snprintf(line, sizeof line, "MAIL FROM:<%0*d@b>\r\n", n - 2, 1);
        SMTP(w, {line, n == MAIL_ADDRESS_MAX ? "250 " : "501 "}, {"RSET\r\n", "250 "});
    }
}

static void smtp_recipients_end_at_their_limit(void **state)
{
    struct world *w = *state;
    char line[64];

    SMTP(w, {"EHLO me\r\n", "250-"}, {"MAIL FROM:<a@b>\r\n", "250 "});
    for (int i = 0; i < MAIL_RECIPIENTS_MAX; i++) {
        (void)snprintf(line, sizeof line, "RCPT TO:<r%d@x>\r\n", i);
        SMTP(w, {line, "250 "});
    }
    SMTP(w, {"RCPT TO:<one@more>\r\n", "452 "}, {"RSET\r\n", "250 "});
}

static void smtp_logs_in(void **state)
{
    /* \0u@x\0p, then with another password */
    SMTP(*state, {"EHLO me\r\n", "250-"}, {"AUTH MD5\r\n", "504 "}, {"AUTH PLAIN !\r\n", "501 "},
         {"AUTH PLAIN =\r\n", "535 "}, {"AUTH PLAIN\r\n", "334 "}, {"*\r\n", "501 "},
         {"AUTH PLAIN AHVAeABw\r\n", "235 "}, {"AUTH PLAIN AHVAeABw\r\n", "503 "});
}

static void smtp_login_asks_twice(void **state)
{
    SMTP(*state, {"EHLO me\r\n", "250-"}, {"AUTH LOGIN\r\n", "334 VXNlcm5hbWU6"},
         {"dUB4\r\n", "334 UGFzc3dvcmQ6"}, {"cA==\r\n", "235 "});
    SMTP(*state, {"EHLO again\r\n", "250-"}, {"AUTH LOGIN dUB4\r\n", "503 "});
}

static void smtp_password_is_remembered(void **state)
{
    struct world *w = *state;

    SMTP(w, {"EHLO me\r\n", "250-"}, {"AUTH LOGIN dUB4\r\n", "334 "}, {"cA==\r\n", "235 "});
    smtp_free(w->smtp);
    w->smtp = smtp_new(w->store, hear, w);
    buf_clear(&w->said);
    SMTP(w, {"EHLO me\r\n", "250-"}, {"AUTH LOGIN dUB4\r\n", "334 "}, {"cQ==\r\n", "535 "},
         {"AUTH LOGIN dUB4\r\n", "334 "}, {"cA==\r\n", "235 "});
}

static void smtp_dots_and_ends_of_messages(void **state)
{
    struct world *w = *state;
    auto_arena struct arena a;

    arena_init(&a, 1 << 20);
    SMTP(w, {"EHLO me\r\n", "250-"}, {"MAIL FROM:<a@b>\r\n", "250 "}, {"RCPT TO:<x@y>\r\n", "250 "},
         {"RCPT TO:<X@Y>\r\n", "250 "}, {"DATA\r\n", "354 "},
         {"Subject: s\r\n\r\n..one\r\n.two\r\n", ""},
         /* None of these ends it: only a dot alone between two CRLF does. */
         {"three\n.\r\nRSET\r\n", ""}, {"\r\n.\nQUIT\r\n", ""}, {".\r\n", "250 2.0.0"},
         {"NOOP\r\n", "250 "});
    struct str raw = mail_of(w, "x@y", 0, &a);
    assert_true(str_find(raw, STR("\r\n.one\r\ntwo\r\nthree\r\n.\r\nRSET\r\n")) > 0);
    assert_true(str_find(raw, STR("QUIT\r\n")) > 0);
    assert_true(str_find(raw, STR("Message-ID:")) >= 0);
    /* An address that is there twice gets it once. */
    assert_null(mail_of(w, "x@y", 1, &a).p);
}

static void smtp_takes_pieces_of_any_size(void **state)
{
    static const char all[] = "EHLO me\r\nMAIL FROM:<a@b>\r\nRCPT TO:<p@q>\r\nDATA\r\n"
                              "Subject: s\r\n\r\nbody\r\n.\r\nMAIL FROM:<c@d>\r\n";
    struct world *w = *state;
    auto_arena struct arena a;

    arena_init(&a, 1 << 20);
    for (size_t piece = 1; piece < 12; piece++) {
        for (struct str rest = str_of(all); rest.len > 0; rest = str_skip(rest, piece))
            assert_true(smtp_feed(w->smtp, str_slice(rest, 0, piece)));
        check_said(w, "pieces", "250-tidepool||354 |250 2.0.0 Ok: delivered\r\n250 2.1.0 Ok\r\n");
        assert_non_null(mail_of(w, "p@q", piece - 1, &a).p);
    }
}

static void smtp_lines_and_errors_have_limits(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct world *w = *state;

    (void)buf_add_lit(&b, "NOOP ");
    while (b.len < SMTP_LINE_MAX - 1)
        (void)buf_add_char(&b, 'x');
    (void)buf_add_lit(&b, "\r\n"); /* 4096 with the CR */
    assert_true(smtp_feed(w->smtp, buf_str(&b)));
    check_said(w, "at the limit", "250 ");
    for (int i = 1; i < SMTP_ERRORS_MAX; i++)
        assert_true(smtp_feed(w->smtp, STR("NONSENSE\r\n")));
    buf_clear(&w->said);
    assert_false(smtp_feed(w->smtp, STR("NONSENSE\r\n")));
    check_said(w, "one error too many", "500 |421 ");
    smtp_free(w->smtp);
    w->smtp = smtp_new(w->store, hear, w);
    buf_clear(&w->said);
    buf_clear(&b);
    while (b.len <= SMTP_LINE_MAX)
        (void)buf_add_char(&b, 'x');
    assert_false(smtp_feed(w->smtp, buf_str(&b)));
    check_said(w, "no end of line", "500 5.5.2 The line is too long");
}

static void smtp_ends_when_nobody_listens(void **state)
{
    struct world *w = *state;

    w->is_deaf = true;
    assert_false(smtp_feed(w->smtp, STR("NOOP\r\n")));
}

/* ---- IMAP ---- */

static void imap_keeps_its_states(void **state)
{
    IMAP(*state, {"a SELECT INBOX\r\n", "a BAD Not in this state"},
         {"b FETCH 1 FLAGS\r\n", "b BAD"}, {"c CAPABILITY\r\n", "* CAPABILITY IMAP4rev1|c OK"},
         {"d LOGIN u@x\r\n", "d BAD Malformed"}, {"e LOGIN u@x p extra\r\n", "e BAD"},
         {"f LOGIN u@x p\r\n", "f OK"}, {"g LOGIN u@x p\r\n", "g BAD"},
         {"h FETCH 1 FLAGS\r\n", "h BAD"}, {"i SELECT nothing\r\n", "i NO [NONEXISTENT]"},
         {"j SELECT inbox\r\n", "* |j OK [READ-WRITE]|* 0 EXISTS"}, {"k CLOSE\r\n", "k OK"},
         {"l CLOSE\r\n", "l BAD"}, {"m EXAMINE INBOX\r\n", "* |m OK [READ-ONLY]"},
         {"n UID NOOP\r\n", "n BAD"}, {"o UID\r\n", "o BAD"}, {"\r\n", "* BAD"},
         {"p NONSENSE\r\n", "p BAD"}, {"q LOGOUT\r\n", "* BYE|q OK"});
}

static void imap_passwords_and_plain(void **state)
{
    struct world *w = *state;

    IMAP(w, {"a AUTHENTICATE CRAM-MD5\r\n", "a NO"}, {"b AUTHENTICATE PLAIN\r\n", "+ "},
         {"!!!\r\n", "b NO [AUTHENTICATIONFAILED]"}, {"c AUTHENTICATE PLAIN =\r\n", "c NO"},
         {"d AUTHENTICATE PLAIN AHVAeABw\r\n", "d OK"}, {"e LOGOUT\r\n", "* BYE"});
    imap_free(w->imap);
    w->imap = imap_new(w->store, hear, w);
    buf_clear(&w->said);
    IMAP(w, {"a LOGIN u@x wrong\r\n", "a NO [AUTHENTICATIONFAILED]"},
         {"b LOGIN \"\" p\r\n", "b NO [AUTHENTICATIONFAILED]"}, {"c LOGIN {3}\r\n", "+ "},
         {"u@x {1+}\r\np\r\n", "c OK"});
}

static void imap_literals_have_limits(void **state)
{
    struct world *w = *state;

    /* Before the login only small ones, then as large as a message. */
    IMAP(w, {"a LOGIN {4096}\r\n", "+ "});
    auto_buf struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < IMAP_LITERAL_EARLY_MAX; i++)
        (void)buf_add_char(&b, 'x');
    assert_true(imap_feed(w->imap, buf_str(&b)));
    IMAP(w, {" p\r\n", "a NO"});
    (void)imap_feed(w->imap, STR("b LOGIN {4097}\r\n"));
    assert_int_equal(str_find(buf_str(&w->said), STR("+ ")), -1);
}

static void imap_messages_come_and_go(void **state)
{
    struct world *w = *state;

    IMAP(w, {"a LOGIN u@x p\r\n", "a OK"}, {"b APPEND nowhere {1}\r\n", "+ "},
         {"x\r\n", "b NO [TRYCREATE]"},
         {"c APPEND INBOX (\\Seen $Todo) \"16-Nov-2026 07:00:00 +0000\" {16+}\r\nSubject: "
          "a\r\n\r\nb\n"
          "\r\n",
          "c OK [APPENDUID "},
         {"d APPEND INBOX {18+}\r\nSubject: two\r\n\r\nx\r\n", "d OK [APPENDUID "},
         {"e SELECT INBOX\r\n", "* |* 2 EXISTS|[UNSEEN 2]|$Todo|e OK"},
         {"f FETCH 1:* (FLAGS UID)\r\n", "* 1 FETCH |* 2 FETCH |UID 2|f OK"},
         {"g UID FETCH 2 BODY.PEEK[HEADER.FIELDS (SUBJECT)]\r\n", "* 2 FETCH |Subject: two|g OK"},
         {"h FETCH 9 FLAGS\r\n", "h "}, {"i FETCH 0 FLAGS\r\n", "i BAD"},
         {"j FETCH 1:x FLAGS\r\n", "j BAD"}, {"k SEARCH UNSEEN\r\n", "* SEARCH 2\r\n|k OK"},
         {"l SEARCH SUBJECT TWO\r\n", "* SEARCH 2\r\n"},
         {"m SEARCH KEYWORD $Todo\r\n", "* SEARCH 1\r\n"},
         {"n SEARCH NOT (OR SEEN SUBJECT two)\r\n", "* SEARCH\r\n"},
         {"o SEARCH CHARSET klingon ALL\r\n", "o NO [BADCHARSET"},
         {"p STORE 1 +FLAGS (\\Deleted)\r\n", "* 1 FETCH (FLAGS |\\Deleted|p OK"},
         {"q STORE 2 +FLAGS.SILENT (\\Flagged)\r\n", "q OK"},
         {"r EXPUNGE\r\n", "* 1 EXPUNGE\r\n|r OK"}, {"s SEARCH ALL\r\n", "* SEARCH 1\r\n"},
         {"t UID SEARCH ALL\r\n", "* SEARCH 2\r\n"}, {"u COPY 1 nowhere\r\n", "u NO [TRYCREATE]"},
         {"v CREATE a/b\r\n", "v OK"}, {"w MOVE 1 a/b\r\n", "* |EXPUNGE|w OK"},
         {"x STATUS a/b (MESSAGES UNSEEN)\r\n", "* STATUS |MESSAGES 1|UNSEEN 1|x OK"});
}

static void imap_read_only_is_read_only(void **state)
{
    IMAP(*state, {"a LOGIN u@x p\r\n", "a OK"},
         {"b APPEND INBOX {15+}\r\nSubject: a\r\n\r\nb\r\n", "b OK"},
         {"c EXAMINE INBOX\r\n", "* |c OK [READ-ONLY]"},
         {"d STORE 1 +FLAGS (\\Seen)\r\n", "d NO [READ-ONLY]"},
         {"e EXPUNGE\r\n", "e NO [READ-ONLY]"}, {"f MOVE 1 INBOX\r\n", "f NO [READ-ONLY]"},
         {"g FETCH 1 BODY[]\r\n", "* 1 FETCH |g OK"}, {"h SEARCH SEEN\r\n", "* SEARCH\r\n"});
}

static void imap_names_of_mailboxes(void **state)
{
    IMAP(*state, {"a LOGIN u@x p\r\n", "a OK"}, {"b CREATE INBOX\r\n", "b NO [ALREADYEXISTS]"},
         {"c CREATE \"\"\r\n", "c NO"}, {"d CREATE &AOQ-\r\n", "d OK"},
         {"e CREATE &AOQ-\r\n", "e NO [ALREADYEXISTS]"},
         {"f LIST \"\" &AOQ-\r\n", "* LIST |&AOQ-|f OK"}, {"g RENAME &AOQ- x/y\r\n", "g OK"},
         {"h LIST \"\" %\r\n", "* LIST |INBOX|h OK"}, {"i LIST \"x/\" *\r\n", "* LIST |x/y|i OK"},
         {"j DELETE INBOX\r\n", "j NO"}, {"k DELETE x/y\r\n", "k OK"},
         {"l DELETE x/y\r\n", "l NO [NONEXISTENT]"}, {"m RENAME gone x\r\n", "m NO [NONEXISTENT]"});
}

static void imap_idle_ends_with_done(void **state)
{
    struct world *w = *state;
    struct str to = STR("u@x");
    const struct envelope e = {.from = STR("a@b"), .to = &to, .n_to = 1, .via = "SMTP"};

    IMAP(w, {"a LOGIN u@x p\r\n", "a OK"}, {"b SELECT INBOX\r\n", "* |b OK"},
         {"c IDLE\r\n", "+ idling"});
    assert_true(imap_is_idle(w->imap));
    assert_int_equal(mail_deliver(w->store, &e, STR("Subject: s\r\n\r\nx\r\n")), 0);
    imap_tell(w->imap);
    check_said(w, "tell", "* 1 EXISTS");
    IMAP(w, {"d NOOP\r\n", "c BAD DONE was expected"}, {"e IDLE\r\n", "+ "},
         {"done\r\n", "e OK IDLE completed"});
    assert_false(imap_is_idle(w->imap));
}

static void imap_errors_have_a_limit(void **state)
{
    struct world *w = *state;

    for (int i = 1; i < IMAP_ERRORS_MAX; i++)
        assert_true(imap_feed(w->imap, STR("a NONSENSE\r\n")));
    buf_clear(&w->said);
    assert_false(imap_feed(w->imap, STR("a NONSENSE\r\n")));
    check_said(w, "one too many", "a BAD|* BYE Too many errors");
}

/* What a session did is there for the next process. */
static void the_store_survives(void **state)
{
    struct world *w = *state;
    struct err e = ERR_INIT;

    IMAP(w, {"a LOGIN u@x p\r\n", "a OK"}, {"b CREATE kept\r\n", "b OK"},
         {"c APPEND kept (\\Flagged) {15+}\r\nSubject: a\r\n\r\nb\r\n", "c OK"});
    imap_free(w->imap);
    smtp_free(w->smtp);
    mail_store_free(w->store);
    w->store = mail_store_new(w->dir, &e);
    assert_non_null(w->store);
    w->smtp = smtp_new(w->store, hear, w);
    w->imap = imap_new(w->store, hear, w);
    buf_clear(&w->said);
    IMAP(w, {"a LOGIN u@x q\r\n", "a NO"}, {"b LOGIN u@x p\r\n", "b OK"},
         {"c SELECT kept\r\n", "* |* 1 EXISTS|c OK"}, {"d SEARCH FLAGGED\r\n", "* SEARCH 1\r\n"});
}

#define session_test(f) cmocka_unit_test_setup_teardown(f, make_world, drop_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(smtp_keeps_its_order),
        session_test(smtp_reads_addresses),
        session_test(smtp_addresses_end_at_their_limit),
        session_test(smtp_recipients_end_at_their_limit),
        session_test(smtp_logs_in),
        session_test(smtp_login_asks_twice),
        session_test(smtp_password_is_remembered),
        session_test(smtp_dots_and_ends_of_messages),
        session_test(smtp_takes_pieces_of_any_size),
        session_test(smtp_lines_and_errors_have_limits),
        session_test(smtp_ends_when_nobody_listens),
        session_test(imap_keeps_its_states),
        session_test(imap_passwords_and_plain),
        session_test(imap_literals_have_limits),
        session_test(imap_messages_come_and_go),
        session_test(imap_read_only_is_read_only),
        session_test(imap_names_of_mailboxes),
        session_test(imap_idle_ends_with_done),
        session_test(imap_errors_have_a_limit),
        session_test(the_store_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
