/* SPDX-License-Identifier: MIT */
#include "local/mail/smtp.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "local/mail/deliver.h"

/* What the next line is. */
enum mode { COMMAND, DATA, AUTH_PLAIN, AUTH_USER, AUTH_PASSWORD };

struct smtp {
    struct mail_store *store;
    smtp_write *write;
    void *ctx;
    struct buf in, out;
    enum mode mode;
    unsigned n_errors;
    bool is_over, has_greeted, is_esmtp, has_from, is_logged_in;
    struct arena arena; /* of the message: its addresses */
    struct str from;
    struct str to[MAIL_RECIPIENTS_MAX];
    size_t n_to;
    struct buf data;
    bool is_too_large;
    bool is_at_start;                /* of a line: behind CRLF */
    char user[MAIL_ADDRESS_MAX + 1]; /* between the two questions of LOGIN */
};

/* ---- writing ---- */

static void say_smtp_line(struct smtp *s, const char *line)
{
    (void)buf_printf(&s->out, "%s\r\n", line);
}

static void refuse_smtp_line(struct smtp *s, const char *line)
{
    say_smtp_line(s, line);
    if (++s->n_errors < SMTP_ERRORS_MAX)
        return;
    say_smtp_line(s, "421 4.7.0 Too many errors");
    s->is_over = true;
}

/* ---- arguments ---- */

static void forget_message(struct smtp *s)
{
    s->has_from = false;
    s->n_to = 0;
    arena_reset(&s->arena);
    buf_done(&s->data);
    s->is_too_large = false;
}

/* "FROM:<a@b> SIZE=1": the address; the parameters stay in *REST. False: malformed. */
static bool read_smtp_path(struct str arg, const char *word, struct str *ret, struct str *rest)
{
    struct str head = str_of(word);

    if (arg.len < head.len || !str_ieq(str_slice(arg, 0, head.len), head))
        return false;
    arg = str_trim(str_skip(arg, head.len));
    ptrdiff_t end = str_chr(arg, '>');
    if (arg.len == 0 || arg.p[0] != '<' || end < 0)
        return false;
    *ret = str_slice(arg, 1, (size_t)end);
    /* A route ("@a,@b:c@d") is read and not followed. */
    ptrdiff_t colon = str_starts(*ret, STR("@")) ? str_chr(*ret, ':') : -1;
    if (colon >= 0)
        *ret = str_skip(*ret, (size_t)colon + 1);
    *rest = str_trim(str_skip(arg, (size_t)end + 1));
    return ret->len <= MAIL_ADDRESS_MAX;
}

static bool is_smtp_address(struct str s)
{
    ptrdiff_t at = str_chr(s, '@');

    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == '/' || s.p[i] == 0x7f)
            return false;
    }
    return at > 0 && (size_t)at + 1 < s.len;
}

/* ---- commands ---- */

static void do_ehlo(struct smtp *s, struct str arg)
{
    if (arg.len == 0) {
        refuse_smtp_line(s, "501 5.5.4 Say who you are");
        return;
    }
    forget_message(s);
    s->has_greeted = s->is_esmtp = true;
    (void)buf_printf(&s->out,
                     "250-tidepool\r\n250-PIPELINING\r\n250-SIZE %d\r\n250-AUTH PLAIN LOGIN\r\n"
                     "250-ENHANCEDSTATUSCODES\r\n250 8BITMIME\r\n",
                     MAIL_MESSAGE_MAX);
}

static void do_helo(struct smtp *s, struct str arg)
{
    if (arg.len == 0) {
        refuse_smtp_line(s, "501 5.5.4 Say who you are");
        return;
    }
    forget_message(s);
    s->has_greeted = true;
    say_smtp_line(s, "250 tidepool");
}

static void log_in(struct smtp *s, struct str user, struct str password)
{
    int why = -EACCES;

    s->mode = COMMAND;
    s->is_logged_in = user.len > 0 && mail_login(s->store, user, password, &why);
    if (s->is_logged_in)
        say_smtp_line(s, "235 2.7.0 Authentication successful");
    else
        refuse_smtp_line(s, "535 5.7.8 Wrong user or password");
}

/* The bytes that LINE is in base64; false: it is not. */
static bool decode_smtp_base64(struct smtp *s, struct str line, struct buf *b)
{
    if (enc_unbase64(b, line) == 0 && !str_is(line, "*"))
        return true;
    s->mode = COMMAND;
    refuse_smtp_line(s, "501 5.5.2 Invalid base64");
    return false;
}

static void answer_plain(struct smtp *s, struct str line)
{
    auto_buf struct buf b = BUF_INIT(SMTP_LINE_MAX);

    if (!decode_smtp_base64(s, line, &b))
        return;
    struct str rest = buf_str(&b);
    (void)str_cut(&rest, '\0');
    struct str user = rest.p ? str_cut(&rest, '\0') : STR_NULL;
    log_in(s, rest.p ? user : STR_NULL, rest);
}

static void answer_user(struct smtp *s, struct str line)
{
    auto_buf struct buf b = BUF_INIT(SMTP_LINE_MAX);

    if (!decode_smtp_base64(s, line, &b))
        return;
    size_t n = b.len <= MAIL_ADDRESS_MAX ? b.len : 0;
    if (n > 0)
        memcpy(s->user, b.p, n);
    s->user[n] = '\0';
    s->mode = AUTH_PASSWORD;
    say_smtp_line(s, "334 UGFzc3dvcmQ6"); /* "Password:" */
}

static void answer_password(struct smtp *s, struct str line)
{
    auto_buf struct buf b = BUF_INIT(SMTP_LINE_MAX);

    if (decode_smtp_base64(s, line, &b))
        log_in(s, str_of(s->user), buf_str(&b));
}

static void do_auth(struct smtp *s, struct str arg)
{
    struct str kind = str_cut(&arg, ' ');

    if (s->is_logged_in || !s->is_esmtp) {
        refuse_smtp_line(s, "503 5.5.1 Not now");
        return;
    }
    if (str_iis(kind, "PLAIN") && arg.len > 0) {
        answer_plain(s, str_is(arg, "=") ? STR("") : arg);
    } else if (str_iis(kind, "PLAIN")) {
        s->mode = AUTH_PLAIN;
        say_smtp_line(s, "334 ");
    } else if (str_iis(kind, "LOGIN") && arg.len > 0) {
        answer_user(s, arg);
    } else if (str_iis(kind, "LOGIN")) {
        s->mode = AUTH_USER;
        say_smtp_line(s, "334 VXNlcm5hbWU6"); /* "Username:" */
    } else {
        refuse_smtp_line(s, "504 5.5.4 Only PLAIN and LOGIN are known");
    }
}

/* The SIZE that the client announces, 0: none. */
static uint64_t announced(struct str rest)
{
    uint64_t n = 0;

    while (rest.p) {
        struct str word = str_cut(&rest, ' ');
        if (word.len > 5 && str_iis(str_slice(word, 0, 5), "SIZE=") &&
            str_to_u64(str_skip(word, 5), &n) < 0)
            n = UINT64_MAX;
    }
    return n;
}

static void do_mail(struct smtp *s, struct str arg)
{
    struct str from, rest = STR_NULL;

    if (!s->has_greeted || s->has_from) {
        refuse_smtp_line(s, "503 5.5.1 Not now");
        return;
    }
    if (!read_smtp_path(arg, "FROM:", &from, &rest) || (from.len > 0 && !is_smtp_address(from))) {
        refuse_smtp_line(s, "501 5.1.7 Invalid sender");
        return;
    }
    if (announced(rest) > MAIL_MESSAGE_MAX) {
        refuse_smtp_line(s, "552 5.3.4 The message is too large");
        return;
    }
    s->from = arena_str(&s->arena, from);
    s->has_from = s->from.p != NULL;
    say_smtp_line(s, s->has_from ? "250 2.1.0 Ok" : "452 4.3.1 Out of memory");
}

static void do_rcpt(struct smtp *s, struct str arg)
{
    struct str to, rest = STR_NULL;

    if (!s->has_from) {
        refuse_smtp_line(s, "503 5.5.1 MAIL comes first");
        return;
    }
    if (!read_smtp_path(arg, "TO:", &to, &rest) || !is_smtp_address(to)) {
        refuse_smtp_line(s, "501 5.1.3 Invalid recipient");
        return;
    }
    if (s->n_to == MAIL_RECIPIENTS_MAX) {
        refuse_smtp_line(s, "452 4.5.3 Too many recipients");
        return;
    }
    s->to[s->n_to] = arena_str(&s->arena, to);
    s->n_to += s->to[s->n_to].p != NULL;
    say_smtp_line(s, "250 2.1.5 Ok");
}

static void do_data(struct smtp *s, struct str arg)
{
    (void)arg;
    if (s->n_to == 0) {
        refuse_smtp_line(s, "503 5.5.1 RCPT comes first");
        return;
    }
    s->mode = DATA;
    s->is_at_start = true;
    say_smtp_line(s, "354 End data with <CR><LF>.<CR><LF>");
}

static void do_rset(struct smtp *s, struct str arg)
{
    (void)arg;
    forget_message(s);
    say_smtp_line(s, "250 2.0.0 Ok");
}

static void do_smtp_noop(struct smtp *s, struct str arg)
{
    (void)arg;
    say_smtp_line(s, "250 2.0.0 Ok");
}

static void do_vrfy(struct smtp *s, struct str arg)
{
    (void)arg;
    say_smtp_line(s, "252 2.1.5 Send it and see");
}

static void do_quit(struct smtp *s, struct str arg)
{
    (void)arg;
    say_smtp_line(s, "221 2.0.0 Bye");
    s->is_over = true;
}

static const struct {
    const char *name;
    void (*fn)(struct smtp *s, struct str arg);
} commands[] = {
    {"EHLO", do_ehlo}, {"HELO", do_helo}, {"AUTH", do_auth}, {"MAIL", do_mail},
    {"RCPT", do_rcpt}, {"DATA", do_data}, {"RSET", do_rset}, {"NOOP", do_smtp_noop},
    {"VRFY", do_vrfy}, {"QUIT", do_quit},
};

static void run_smtp_command(struct smtp *s, struct str line)
{
    struct str arg = line, name = str_cut(&arg, ' ');

    if (!arg.p)
        arg = STR("");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!str_iis(name, commands[i].name))
            continue;
        commands[i].fn(s, str_trim(arg));
        return;
    }
    refuse_smtp_line(s, "500 5.5.2 Unknown command");
}

/* ---- messages ---- */

static void end_smtp_data(struct smtp *s)
{
    const struct envelope e = {.from = s->from,
                               .to = s->to,
                               .n_to = s->n_to,
                               .via = !s->is_esmtp      ? "SMTP"
                                      : s->is_logged_in ? "ESMTPA"
                                                        : "ESMTP"};
    bool is_whole = !s->is_too_large && buf_ok(&s->data);
    int r = is_whole ? mail_deliver(s->store, &e, buf_str(&s->data)) : -EFBIG;

    s->mode = COMMAND;
    forget_message(s);
    if (r == 0)
        say_smtp_line(s, "250 2.0.0 Ok: delivered");
    else
        refuse_smtp_line(s, r == -EFBIG ? "552 5.3.4 The message is too large"
                                        : "452 4.3.1 The store is full");
}

/* A line of the message, without its end. What stands behind a bare LF is no begin of a line: it
 * can neither end the message nor hide a dot. */
static void data_line(struct smtp *s, struct str line, bool has_crlf)
{
    bool was_at_start = s->is_at_start;

    s->is_at_start = has_crlf;
    if (was_at_start && has_crlf && str_is(line, ".")) {
        end_smtp_data(s);
        return;
    }
    if (was_at_start && line.len > 0 && line.p[0] == '.')
        line = str_skip(line, 1);
    /* What is too large is read to its end, and refused there. */
    s->is_too_large = s->is_too_large || s->data.len + line.len > MAIL_MESSAGE_MAX - 4096;
    if (s->is_too_large) {
        buf_done(&s->data);
        return;
    }
    (void)buf_add_str(&s->data, line);
    (void)buf_add_lit(&s->data, "\r\n");
}

/* ---- bytes ---- */

static void take_smtp_line(struct smtp *s, struct str line, bool has_crlf)
{
    switch (s->mode) {
    case DATA: data_line(s, line, has_crlf); break;
    case AUTH_PLAIN: answer_plain(s, line); break;
    case AUTH_USER: answer_user(s, line); break;
    case AUTH_PASSWORD: answer_password(s, line); break;
    case COMMAND:
    default: run_smtp_command(s, line); break;
    }
}

static bool flush_smtp_input(struct smtp *s)
{
    bool is_heard = s->out.len == 0 || (buf_ok(&s->out) && s->write(s->ctx, buf_str(&s->out)));

    buf_clear(&s->out);
    return is_heard;
}

bool smtp_feed(struct smtp *s, struct str bytes)
{
    size_t used = 0;

    if (buf_add_str(&s->in, bytes) < 0)
        return false;
    while (!s->is_over) {
        struct str rest = str_skip(buf_str(&s->in), used);
        ptrdiff_t at = str_chr(rest, '\n');
        size_t n = at < 0 ? rest.len : (size_t)at;
        if (n > (s->mode == DATA ? SMTP_DATA_LINE_MAX : SMTP_LINE_MAX)) {
            say_smtp_line(s, "500 5.5.2 The line is too long");
            s->is_over = true;
        }
        if (at < 0 || s->is_over)
            break;
        bool has_crlf = n > 0 && rest.p[n - 1] == '\r';
        take_smtp_line(s, str_n(rest.p, n - has_crlf), has_crlf);
        used += n + 1;
    }
    buf_consume(&s->in, used);
    return flush_smtp_input(s) && !s->is_over;
}

struct smtp *smtp_new(struct mail_store *store, smtp_write *write, void *ctx)
{
    struct smtp *s = mem_zalloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->store = store;
    s->write = write;
    s->ctx = ctx;
    buf_init(&s->in, SMTP_DATA_LINE_MAX + ((size_t)1 << 20));
    buf_init(&s->out, 1 << 20);
    buf_init(&s->data, MAIL_MESSAGE_MAX);
    arena_init(&s->arena, 1 << 20);
    say_smtp_line(s, "220 tidepool ESMTP");
    (void)flush_smtp_input(s);
    return s;
}

void smtp_free(struct smtp *s)
{
    if (!s)
        return;
    buf_done(&s->in);
    buf_done(&s->out);
    buf_done(&s->data);
    arena_done(&s->arena);
    free(s);
}
