/* SPDX-License-Identifier: MIT */
/* The session: commands out of bytes, and the table of them. */
#include "local/mail/imap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "local/mail/imap_internal.h"

#define CAPABILITIES                                                                               \
    "IMAP4rev1 LITERAL+ AUTH=PLAIN SASL-IR ENABLE IDLE NAMESPACE UIDPLUS UNSELECT MOVE "           \
    "SPECIAL-USE"

enum { FLUSH_BYTES = 64 << 10 };

/* ---- writing ---- */

static void imap_flush(struct imap *i)
{
    if (i->out.len > 0 && !i->is_lost)
        i->is_lost = !buf_ok(&i->out) || !i->write(i->ctx, buf_str(&i->out));
    buf_clear(&i->out);
}

void imap_add(struct imap *i, struct str s)
{
    while (s.len > 0 && !i->is_lost) {
        struct str part = str_slice(s, 0, FLUSH_BYTES);
        (void)buf_add_str(&i->out, part);
        s = str_skip(s, part.len);
        if (i->out.len >= FLUSH_BYTES)
            imap_flush(i);
    }
}

void imap_say(struct imap *i, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)buf_vprintf(&i->out, fmt, ap);
    va_end(ap);
    if (i->out.len >= FLUSH_BYTES)
        imap_flush(i);
}

void imap_say_quoted(struct imap *i, struct str s)
{
    (void)buf_add_char(&i->out, '"');
    for (size_t k = 0; k < s.len; k++) {
        if (s.p[k] == '"' || s.p[k] == '\\')
            (void)buf_add_char(&i->out, '\\');
        (void)buf_add_char(&i->out, s.p[k]);
    }
    (void)buf_add_char(&i->out, '"');
}

void imap_say_string(struct imap *i, struct str s)
{
    bool is_plain = s.len < 1000;

    if (!s.p) {
        imap_say(i, "NIL");
        return;
    }
    for (size_t k = 0; is_plain && k < s.len; k++)
        is_plain = s.p[k] >= ' ' && s.p[k] < 0x7f;
    if (is_plain) {
        imap_say_quoted(i, s);
        return;
    }
    imap_say(i, "{%zu}\r\n", s.len);
    imap_add(i, s);
}

void imap_reply(struct imap *i, const char *what, const char *fmt, ...)
{
    va_list ap;

    (void)buf_add_str(&i->out, i->tag);
    (void)buf_printf(&i->out, " %s ", what);
    va_start(ap, fmt);
    (void)buf_vprintf(&i->out, fmt, ap);
    va_end(ap);
    (void)buf_add_lit(&i->out, "\r\n");
}

void imap_fail(struct imap *i, int code)
{
    static const struct {
        int code;
        const char *text;
    } reasons[] = {
        {-ENOENT, "[NONEXISTENT] There is no such mailbox"},
        {-EEXIST, "[ALREADYEXISTS] That mailbox is there already"},
        {-EINVAL, "[CANNOT] That is not the name of a mailbox"},
        {-EPERM, "[CANNOT] Not with this mailbox"},
        {-EACCES, "[AUTHENTICATIONFAILED] Wrong user or password"},
        {-ENOSPC, "[OVERQUOTA] The store is full"},
        {-EFBIG, "[LIMIT] The message is too large"},
    };

    for (size_t k = 0; k < ARRAY_LEN(reasons); k++) {
        if (reasons[k].code == code) {
            imap_reply(i, "NO", "%s", reasons[k].text);
            return;
        }
    }
    imap_reply(i, "NO", "[SERVERBUG] %s", code == -ENOMEM ? "Out of memory" : "Internal error");
}

/* ---- commands of any state ---- */

static void do_capability(struct imap *i, struct imap_cur *c)
{
    (void)c;
    imap_say(i, "* CAPABILITY " CAPABILITIES "\r\n");
    imap_reply(i, "OK", "CAPABILITY completed");
}

static void do_imap_noop(struct imap *i, struct imap_cur *c)
{
    (void)c;
    imap_sync(i, true);
    imap_reply(i, "OK", "Completed");
}

static void do_logout(struct imap *i, struct imap_cur *c)
{
    (void)c;
    imap_say(i, "* BYE Good bye\r\n");
    imap_reply(i, "OK", "LOGOUT completed");
    i->is_over = true;
}

static void do_enable(struct imap *i, struct imap_cur *c)
{
    (void)c; /* nothing that there is has to be switched on */
    imap_say(i, "* ENABLED\r\n");
    imap_reply(i, "OK", "ENABLE completed");
}

static void do_id(struct imap *i, struct imap_cur *c)
{
    (void)c;
    imap_say(i, "* ID (\"name\" \"tidepool-local\")\r\n");
    imap_reply(i, "OK", "ID completed");
}

static void do_idle(struct imap *i, struct imap_cur *c)
{
    (void)c;
    i->is_idle = true;
    imap_say(i, "+ idling\r\n");
    imap_sync(i, true);
}

/* ---- logging in ---- */

static void enter_account(struct imap *i, struct str user, struct str password)
{
    int why = -EACCES;

    i->account = user.len > 0 ? mail_login(i->store, user, password, &why) : NULL;
    if (i->account)
        imap_reply(i, "OK", "[CAPABILITY " CAPABILITIES "] Logged in");
    else
        imap_fail(i, why == -EINVAL ? -EACCES : why);
}

static void do_login(struct imap *i, struct imap_cur *c)
{
    imap_space(c);
    struct str user = imap_astring(c);
    imap_space(c);
    struct str password = imap_astring(c);
    imap_end(c);
    if (!c->is_bad)
        enter_account(i, user, password);
}

/* "\0user\0password" in base64 (RFC 4616). */
static void read_plain_login(struct imap *i, struct str line)
{
    auto_buf struct buf b = BUF_INIT(4096);

    if (enc_unbase64(&b, line) < 0) {
        imap_reply(i, "NO", "[AUTHENTICATIONFAILED] Malformed answer");
        return;
    }
    struct str rest = buf_str(&b);
    (void)str_cut(&rest, '\0');
    struct str user = rest.p ? str_cut(&rest, '\0') : STR_NULL;
    enter_account(i, rest.p ? user : STR_NULL, rest);
}

static void do_authenticate(struct imap *i, struct imap_cur *c)
{
    imap_space(c);
    struct str kind = imap_atom(c);
    if (c->is_bad)
        return;
    if (!str_iis(kind, "PLAIN")) {
        imap_reply(i, "NO", "[CANNOT] Only PLAIN is known");
        return;
    }
    if (imap_char(c, ' ')) {
        read_plain_login(i, str_is(c->s, "=") ? STR("") : c->s);
        return;
    }
    i->is_authenticating = true;
    imap_say(i, "+ \r\n");
}

/* ---- the table ---- */

enum { ANY = 0, NOT_YET = 1, LOGGED_IN = 2, SELECTED = 3 };

static const struct imap_command {
    const char *name;
    imap_command *fn;
    unsigned state;
    bool has_uid; /* UID may stand before it */
} commands[] = {
    {"CAPABILITY", do_capability, ANY, false},
    {"NOOP", do_imap_noop, ANY, false},
    {"LOGOUT", do_logout, ANY, false},
    {"ID", do_id, ANY, false},
    {"LOGIN", do_login, NOT_YET, false},
    {"AUTHENTICATE", do_authenticate, NOT_YET, false},
    {"ENABLE", do_enable, LOGGED_IN, false},
    {"IDLE", do_idle, LOGGED_IN, false},
    {"NAMESPACE", imap_namespace, LOGGED_IN, false},
    {"SELECT", imap_select, LOGGED_IN, false},
    {"EXAMINE", imap_examine, LOGGED_IN, false},
    {"CREATE", imap_create, LOGGED_IN, false},
    {"DELETE", imap_delete, LOGGED_IN, false},
    {"RENAME", imap_rename, LOGGED_IN, false},
    {"SUBSCRIBE", imap_subscribe, LOGGED_IN, false},
    {"UNSUBSCRIBE", imap_unsubscribe, LOGGED_IN, false},
    {"LIST", imap_list, LOGGED_IN, false},
    {"LSUB", imap_lsub, LOGGED_IN, false},
    {"STATUS", imap_status, LOGGED_IN, false},
    {"APPEND", imap_append, LOGGED_IN, false},
    {"CHECK", do_imap_noop, SELECTED, false},
    {"CLOSE", imap_do_close, SELECTED, false},
    {"UNSELECT", imap_unselect, SELECTED, false},
    {"EXPUNGE", imap_expunge, SELECTED, true},
    {"SEARCH", imap_search, SELECTED, true},
    {"FETCH", imap_fetch, SELECTED, true},
    {"STORE", imap_store, SELECTED, true},
    {"COPY", imap_copy, SELECTED, true},
    {"MOVE", imap_move, SELECTED, true},
};

static void say_bad(struct imap *i, const char *why)
{
    imap_reply(i, "BAD", "%s", why);
    if (++i->n_errors >= IMAP_ERRORS_MAX) {
        imap_say(i, "* BYE Too many errors\r\n");
        i->is_over = true;
    }
}

static bool is_imap_allowed(const struct imap *i, unsigned state)
{
    switch (state) {
    case NOT_YET: return !i->account;
    case LOGGED_IN: return i->account;
    case SELECTED: return i->folder;
    default: return true;
    }
}

static const struct imap_command *find_command(struct str name)
{
    for (size_t k = 0; k < ARRAY_LEN(commands); k++) {
        if (str_iis(name, commands[k].name))
            return &commands[k];
    }
    return NULL;
}

static void run_imap_command(struct imap *i, struct str text)
{
    struct imap_cur c = {.s = text, .arena = &i->arena};

    i->tag = imap_atom(&c);
    imap_space(&c);
    struct str name = imap_atom(&c);
    if (c.is_bad || i->tag.len > IMAP_TAG_MAX) {
        i->tag = STR("*");
        say_bad(i, "Unknown command");
        return;
    }
    i->is_uid = str_iis(name, "UID");
    if (i->is_uid) {
        imap_space(&c);
        name = imap_atom(&c);
    }
    const struct imap_command *command = find_command(name);
    if (!command || (i->is_uid && !command->has_uid) || c.is_bad) {
        say_bad(i, "Unknown command");
        return;
    }
    if (!is_imap_allowed(i, command->state)) {
        say_bad(i, "Not in this state");
        return;
    }
    command->fn(i, &c);
    if (c.is_bad)
        say_bad(i, "Malformed arguments");
}

/* A line that is no command: the end of IDLE, or an answer to "+". */
static bool run_imap_line(struct imap *i, struct str line)
{
    if (i->is_idle) {
        i->is_idle = false;
        if (str_iis(line, "DONE"))
            imap_reply(i, "OK", "IDLE completed");
        else
            say_bad(i, "DONE was expected");
        return true;
    }
    if (!i->is_authenticating)
        return false;
    i->is_authenticating = false;
    if (str_is(line, "*"))
        say_bad(i, "Given up");
    else
        read_plain_login(i, line);
    return true;
}

/* ---- bytes ---- */

/* The tag has to outlive the command while the client is asked for more. */
static void keep_tag(struct imap *i)
{
    memmove(i->kept_tag, i->tag.p, i->tag.len); /* run_imap_command() saw to its length */
    i->tag = str_n(i->kept_tag, i->tag.len);
}

static void finish_command(struct imap *i, struct str text, size_t used)
{
    if (!run_imap_line(i, text))
        run_imap_command(i, text);
    if (i->is_idle || i->is_authenticating)
        keep_tag(i);
    buf_consume(&i->in, used);
    i->scan = 0;
    i->n_literals = 0;
    arena_reset(&i->arena);
    arena_reset(&i->one);
    imap_flush(i);
}

static void refuse_imap_input(struct imap *i, const char *why)
{
    imap_say(i, "* BYE %s\r\n", why);
    i->is_over = true;
}

/* LINE announces N bytes. */
static void begin_literal(struct imap *i, size_t end, int64_t n, bool is_sync)
{
    int64_t max = i->account ? MAIL_MESSAGE_MAX : IMAP_LITERAL_EARLY_MAX;

    if (n > max || ++i->n_literals > IMAP_LITERALS_MAX) {
        refuse_imap_input(i, "The literal is too large");
        return;
    }
    i->scan = end + (size_t)n;
    if (is_sync)
        imap_say(i, "+ Ready\r\n");
}

/* One step: false when more bytes are needed. */
static bool step_imap(struct imap *i)
{
    struct str all = buf_str(&i->in);
    bool is_sync = true;

    if (all.len < i->scan)
        return false;
    struct str rest = str_skip(all, i->scan);
    ptrdiff_t at = str_chr(rest, '\n');
    if (at < 0 || (size_t)at > IMAP_LINE_MAX) {
        if (rest.len > IMAP_LINE_MAX)
            refuse_imap_input(i, "The line is too long");
        return false;
    }
    size_t end = i->scan + (size_t)at, used = end + 1;
    if (end > i->scan && all.p[end - 1] == '\r')
        end--;
    struct str line = str_slice(all, i->scan, end);
    int64_t n = imap_literal(line, &is_sync);
    if (n >= 0 && !i->is_idle && !i->is_authenticating)
        begin_literal(i, used, n, is_sync);
    else
        finish_command(i, str_n(all.p, end), used);
    return true;
}

bool imap_feed(struct imap *i, struct str bytes)
{
    if (buf_add_str(&i->in, bytes) < 0)
        refuse_imap_input(i, "The command is too long");
    while (!i->is_over && !i->is_lost && step_imap(i))
        ;
    imap_flush(i);
    return !i->is_over && !i->is_lost;
}

bool imap_is_idle(const struct imap *i)
{
    return i->is_idle;
}

void imap_tell(struct imap *i)
{
    imap_sync(i, true);
    arena_reset(&i->arena);
    imap_flush(i);
}

struct imap *imap_new(struct mail_store *store, imap_write *write, void *ctx)
{
    struct imap *i = mem_zalloc(1, sizeof *i);

    if (!i)
        return NULL;
    i->store = store;
    i->write = write;
    i->ctx = ctx;
    buf_init(&i->in, (size_t)MAIL_MESSAGE_MAX + 2 * IMAP_LINE_MAX);
    buf_init(&i->out, (size_t)4 << 20);
    arena_init(&i->arena, (size_t)128 << 20);
    arena_init(&i->one, (size_t)256 << 20);
    imap_say(i, "* OK [CAPABILITY " CAPABILITIES "] Tidepool is ready\r\n");
    imap_flush(i);
    return i;
}

void imap_free(struct imap *i)
{
    if (!i)
        return;
    buf_done(&i->in);
    buf_done(&i->out);
    arena_done(&i->arena);
    arena_done(&i->one);
    free(i->view);
    free(i);
}
