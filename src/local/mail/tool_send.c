/* SPDX-License-Identifier: MIT */
/* Tools that send mail. */
#include <errno.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "local/kit/path.h"
#include "local/mail/date.h"
#include "local/mail/deliver.h"
#include "local/mail/mail.h"

struct outgoing {
    struct mime_new m;
    struct mime_attachment files[MAIL_ATTACHMENTS_MAX];
    struct str recipients[MAIL_RECIPIENTS_MAX];
    size_t n_recipients;
};

/* ---- addresses ---- */

static bool is_recipient_char(char c, const char *others)
{
    return ascii_is_alnum(c) || (c && strchr(others, c));
}

/* "local@domain.tld" */
static bool is_mail_address(struct str s)
{
    ptrdiff_t at = str_chr(s, '@'), dot = -1;

    if (at <= 0 || s.len > MAIL_ADDRESS_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if ((ptrdiff_t)i != at && !is_recipient_char(s.p[i], (ptrdiff_t)i < at ? "._%+-" : ".-"))
            return false;
        dot = s.p[i] == '.' ? (ptrdiff_t)i : dot;
    }
    return dot > at + 1 && (size_t)dot + 2 < s.len;
}

/* "Name <a@b>" is a@b. */
static struct str bare_address(struct str s)
{
    ptrdiff_t open = str_chr(s, '<'), close = str_chr(s, '>');

    return open >= 0 && close > open ? str_slice(s, (size_t)open + 1, (size_t)close) : s;
}

/* Adds the addresses of LIST; false with the reason in *WHY. */
static bool add_recipients(struct local_call *c, struct outgoing *o, struct str list,
                           const char *what, struct str *why)
{
    auto_buf struct buf bad = BUF_INIT(64 << 10);
    struct mime_address *all = arena_zalloc(&c->arena, MAIL_RECIPIENTS_MAX, sizeof *all);
    size_t n = all ? mime_addresses(&c->arena, list, all, MAIL_RECIPIENTS_MAX) : 0, n_bad = 0;

    for (size_t i = 0; i < n; i++) {
        struct str address = arena_printf(&c->arena, STR_FMT "%s" STR_FMT, STR_ARG(all[i].mailbox),
                                          all[i].host.len > 0 ? "@" : "", STR_ARG(all[i].host));
        if (is_mail_address(address) && o->n_recipients < MAIL_RECIPIENTS_MAX)
            o->recipients[o->n_recipients++] = address;
        else
            (void)buf_printf(&bad, "%s" STR_FMT, n_bad++ ? ", " : "", STR_ARG(address));
    }
    if (n > 0 && n_bad == 0)
        return true;
    *why = arena_printf(&c->arena, "Invalid %s addresses: %s" STR_FMT, what,
                        n > 0 ? "Invalid email addresses: " : "Email list cannot be empty",
                        STR_ARG(buf_str(&bad)));
    return false;
}

/* ---- sending ---- */

static void set_sender(struct local_call *c, const struct mail_user *u, struct mime_new *m)
{
    char date[MAIL_DATE_MAX], id[33];

    mail_date_header(date, clock_real_us() / 1000000);
    id_hex(id, 32);
    m->date = arena_str(&c->arena, str_of(date));
    m->message_id = arena_printf(&c->arena, "<%s@tidepool>", id);
    m->from = u->name.len > 0 ? arena_printf(&c->arena, STR_FMT " <" STR_FMT ">", STR_ARG(u->name),
                                             STR_ARG(u->email))
                              : u->email;
}

/* A copy for the sender, who also sees who got it secretly. */
static void keep_copy(const struct mail_user *u, const struct mime_new *m)
{
    auto_buf struct buf b = BUF_INIT(MAIL_MESSAGE_MAX);
    const struct mail_message as = {.flags = MAIL_SEEN, .date_s = clock_real_us() / 1000000};
    struct mail_folder sent;

    mime_write(&b, m);
    if (!buf_ok(&b))
        return;
    if (mail_folder_find(u->account, STR("Sent"), &sent) < 0)
        (void)mail_folder_create(u->account, STR("Sent"), &sent.id);
    (void)mail_add(u->account, sent.id, buf_str(&b), &as, NULL);
}

/* Sends O's message to its To, Cc and Bcc. False with the reason in *WHY. */
static bool send_outgoing(struct local_call *c, const struct mail_user *u, struct outgoing *o,
                          struct str *why)
{
    auto_buf struct buf b = BUF_INIT(MAIL_MESSAGE_MAX);
    struct str bcc = o->m.bcc;

    if (!add_recipients(c, o, o->m.to.p ? o->m.to : STR(""), "TO", why) ||
        (o->m.cc.len > 0 && !add_recipients(c, o, o->m.cc, "CC", why)) ||
        (bcc.len > 0 && !add_recipients(c, o, bcc, "BCC", why)))
        return false;
    set_sender(c, u, &o->m);
    o->m.bcc = STR("");
    mime_write(&b, &o->m);
    const struct envelope e = {
        .from = u->email, .to = o->recipients, .n_to = o->n_recipients, .via = "ESMTPA"};
    int r = buf_ok(&b) ? mail_deliver(u->store, &e, buf_str(&b)) : -EFBIG;
    if (r < 0) {
        *why = r == -EFBIG ? STR("Failed to send email: the message is too large")
                           : STR("Failed to send email: the store of mail is full");
        return false;
    }
    o->m.bcc = bcc;
    keep_copy(u, &o->m);
    return true;
}

static void set_bodies(struct mime_new *m, struct str text, struct str html)
{
    m->text = text;
    m->html = html;
    m->has_html = html.len > 0;
}

/* Reads the files that the arguments name. */
static bool attach_files(struct local_call *c, struct outgoing *o, struct str *why)
{
    const struct json *paths = json_get(c->args, "attachments");

    for (size_t i = 0; json_is(paths, JSON_ARRAY) && i < paths->n; i++) {
        struct str given = json_str(json_at(paths, i), STR("")), bytes, reason = STR("");
        const char *path = path_check(c, given, &reason);
        int r = path ? path_read(c, path, &bytes) : -EINVAL;
        if (r < 0 || i >= MAIL_ATTACHMENTS_MAX) {
            *why = !path ? reason
                   : r == -ENOENT
                       ? arena_printf(&c->arena, "File does not exist: " STR_FMT, STR_ARG(given))
                   : r == -EISDIR
                       ? arena_printf(&c->arena, "Path is not a file: " STR_FMT, STR_ARG(given))
                       : arena_printf(&c->arena, "Failed to attach file " STR_FMT, STR_ARG(given));
            *why = arena_printf(&c->arena, "Attachment error: " STR_FMT, STR_ARG(*why));
            return false;
        }
        const char *slash = strrchr(path, '/');
        o->files[o->m.n_attachments++] = (struct mime_attachment){
            str_of(slash ? slash + 1 : path), STR("application/octet-stream"), bytes};
    }
    return true;
}

static struct outgoing *new_outgoing(struct local_call *c)
{
    struct outgoing *o = arena_new(&c->arena, struct outgoing);

    if (!o)
        return NULL;
    o->m.attachments = o->files;
    o->m.cc = local_str(c, "cc");
    o->m.bcc = local_str(c, "bcc");
    return o;
}

void mail_send_email(struct local_call *c)
{
    struct outgoing *o = new_outgoing(c);
    struct str why = STR("out of memory");
    struct mail_user u;

    if (o) {
        o->m.to = local_str(c, "to");
        o->m.subject = local_str(c, "subject");
        set_bodies(&o->m, local_str(c, "body"), local_str(c, "html_body"));
    }
    if (o && mail_user(c, &u, &why) && attach_files(c, o, &why) && send_outgoing(c, &u, o, &why))
        local_textf(c, "Email sent successfully to " STR_FMT, STR_ARG(o->m.to));
    else
        local_textf(c, "Error sending email: Failed to send email: " STR_FMT, STR_ARG(why));
}

/* ---- answering ---- */

/* "Re: x", once. */
static struct str prefixed(struct local_call *c, struct str prefix, struct str subject)
{
    return str_starts(subject, prefix)
               ? subject
               : arena_printf(&c->arena, STR_FMT " " STR_FMT, STR_ARG(prefix), STR_ARG(subject));
}

/* The recipients of L but the user, with commas. */
static struct str others(struct local_call *c, const struct mail_user *u, const struct letter *l)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const struct str lists[] = {l->to, l->cc};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (struct str rest = lists[i]; rest.len > 0;) {
            struct str one = str_trim(str_cut(&rest, ','));
            if (one.len == 0 || str_ieq(bare_address(one), u->email))
                continue;
            (void)buf_printf(&b, "%s" STR_FMT, b.len ? "," : "", STR_ARG(one));
        }
    }
    struct str list = arena_str(&c->arena, buf_str(&b));
    return list.p ? list : STR("");
}

void mail_reply_email(struct local_call *c)
{
    struct outgoing *o = new_outgoing(c);
    struct letter *l = arena_new(&c->arena, struct letter);
    struct str why = STR("out of memory"), html = local_str(c, "html_body"), all;
    struct mail_user u;

    if (!o || !l || !mail_user(c, &u, &why) || !letter_open(c, &u, l, &why)) {
        local_textf(c, "Error replying to email: Failed to reply to email: " STR_FMT, STR_ARG(why));
        return;
    }
    all = local_bool(c, "reply_all") ? others(c, &u, l) : STR("");
    o->m.to = l->from;
    o->m.cc = all.len > 0 ? all : o->m.cc;
    o->m.subject = prefixed(c, STR("Re:"), l->subject);
    o->m.in_reply_to = o->m.references = l->message_id;
    struct str text = arena_printf(&c->arena,
                                   STR_FMT "\n\n--- Original Message ---\nFrom: " STR_FMT
                                           "\nDate: " STR_FMT "\nSubject: " STR_FMT "\n\n" STR_FMT,
                                   STR_ARG(local_str(c, "body")), STR_ARG(l->from),
                                   STR_ARG(l->date), STR_ARG(l->subject), STR_ARG(l->text));
    if (html.len > 0)
        html = arena_printf(&c->arena,
                            STR_FMT "<br><br><hr><b>Original Message:</b><br>From: " STR_FMT
                                    "<br>Date: " STR_FMT "<br>Subject: " STR_FMT "<br><br>" STR_FMT,
                            STR_ARG(html), STR_ARG(l->from), STR_ARG(l->date), STR_ARG(l->subject),
                            STR_ARG(l->html.len > 0 ? l->html : l->text));
    set_bodies(&o->m, text, html);
    if (send_outgoing(c, &u, o, &why))
        local_textf(c, "Reply sent successfully to " STR_FMT, STR_ARG(l->from));
    else
        local_textf(c, "Error replying to email: Failed to reply to email: " STR_FMT, STR_ARG(why));
}

static void forward_bodies(struct local_call *c, struct mime_new *m, const struct letter *l)
{
    struct str html = local_str(c, "html_body");
    struct str text =
        arena_printf(&c->arena,
                     STR_FMT "\n\n--- Forwarded Message ---\nFrom: " STR_FMT "\nTo: " STR_FMT
                             "\nDate: " STR_FMT "\nSubject: " STR_FMT "\n\n" STR_FMT,
                     STR_ARG(local_str(c, "body")), STR_ARG(l->from), STR_ARG(l->to),
                     STR_ARG(l->date), STR_ARG(l->subject), STR_ARG(l->text));

    if (html.len > 0 || l->html.len > 0)
        html = arena_printf(&c->arena,
                            STR_FMT "<br><br><hr><b>Forwarded Message:</b><br>From: " STR_FMT
                                    "<br>To: " STR_FMT "<br>Date: " STR_FMT "<br>Subject: " STR_FMT
                                    "<br><br>" STR_FMT,
                            STR_ARG(html), STR_ARG(l->from), STR_ARG(l->to), STR_ARG(l->date),
                            STR_ARG(l->subject), STR_ARG(l->html.len > 0 ? l->html : l->text));
    set_bodies(m, text, html);
}

void mail_forward_email(struct local_call *c)
{
    struct outgoing *o = new_outgoing(c);
    struct letter *l = arena_new(&c->arena, struct letter);
    struct str why = STR("out of memory");
    struct mail_user u;

    if (!o || !l || !mail_user(c, &u, &why) || !letter_open(c, &u, l, &why)) {
        local_textf(c, "Error forwarding email: Failed to forward email: " STR_FMT, STR_ARG(why));
        return;
    }
    o->m.to = local_str(c, "to");
    o->m.subject = prefixed(c, STR("Fwd:"), l->subject);
    forward_bodies(c, &o->m, l);
    for (size_t i = 0; i < l->n_files; i++)
        o->files[o->m.n_attachments++] = (struct mime_attachment){
            l->files[i].name, l->files[i].type, mime_bytes(&c->arena, l->files[i].part)};
    if (send_outgoing(c, &u, o, &why))
        local_textf(c, "Email forwarded successfully to " STR_FMT, STR_ARG(o->m.to));
    else
        local_textf(c, "Error forwarding email: Failed to forward email: " STR_FMT, STR_ARG(why));
}
