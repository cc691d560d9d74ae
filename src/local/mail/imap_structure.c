/* SPDX-License-Identifier: MIT */
/* ENVELOPE and BODYSTRUCTURE. */
#include "base/cleanup.h"
#include "local/mail/imap_internal.h"

/* ---- ENVELOPE ---- */

static void say_or_nil(struct imap *i, struct str s)
{
    imap_say_string(i, s.len > 0 ? s : STR_NULL);
}

static void say_addresses(struct imap *i, struct str value)
{
    struct mime_address *all =
        value.len > 0 ? arena_zalloc(&i->one, MIME_ADDRESSES_MAX, sizeof *all) : NULL;
    size_t n = all ? mime_addresses(&i->one, value, all, MIME_ADDRESSES_MAX) : 0;

    if (n == 0) {
        imap_say(i, "NIL");
        return;
    }
    imap_say(i, "(");
    for (size_t k = 0; k < n; k++) {
        imap_say(i, "(");
        say_or_nil(i, all[k].name);
        imap_say(i, " NIL ");
        say_or_nil(i, all[k].mailbox);
        imap_say(i, " ");
        say_or_nil(i, all[k].host);
        imap_say(i, ")");
    }
    imap_say(i, ")");
}

void imap_envelope(struct imap *i, const struct mime_part *p)
{
    static const struct {
        const char *name, *fallback;
        bool is_address;
    } fields[] = {{"Date", NULL, false},        {"Subject", NULL, false},
                  {"From", NULL, true},         {"Sender", "From", true},
                  {"Reply-To", "From", true},   {"To", NULL, true},
                  {"Cc", NULL, true},           {"Bcc", NULL, true},
                  {"In-Reply-To", NULL, false}, {"Message-ID", NULL, false}};

    imap_say(i, "(");
    for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
        struct str value = mime_field(&i->one, p->header, fields[k].name);
        if (value.len == 0 && fields[k].fallback)
            value = mime_field(&i->one, p->header, fields[k].fallback);
        imap_say(i, k > 0 ? " " : "");
        if (fields[k].is_address)
            say_addresses(i, value);
        else
            imap_say_string(i, value);
    }
    imap_say(i, ")");
}

/* ---- BODYSTRUCTURE ---- */

static void say_params(struct imap *i, struct str field)
{
    struct str name, value;
    size_t k = 0;

    for (; k < 64 && mime_param_at(&i->one, field, k, &name, &value); k++) {
        imap_say(i, k > 0 ? " " : "(");
        imap_say_string(i, name);
        imap_say(i, " ");
        imap_say_string(i, value);
    }
    imap_say(i, k > 0 ? ")" : "NIL");
}

/* The extension data that all parts have: disposition, language, location. */
static void say_extension(struct imap *i, const struct mime_part *p)
{
    struct str disposition = mime_field(&i->one, p->header, "Content-Disposition");

    if (disposition.len == 0) {
        imap_say(i, " NIL NIL NIL");
        return;
    }
    imap_say(i, " (");
    imap_say_string(i, mime_token(disposition));
    imap_say(i, " ");
    say_params(i, disposition);
    imap_say(i, ") NIL NIL");
}

static size_t n_lines(struct str s)
{
    size_t n = 0;

    for (size_t k = 0; k < s.len; k++)
        n += s.p[k] == '\n';
    return n + (s.len > 0 && s.p[s.len - 1] != '\n');
}

static void say_single(struct imap *i, const struct mime_part *p, bool is_extended)
{
    struct str encoding = mime_field(&i->one, p->header, "Content-Transfer-Encoding");

    imap_say(i, "(");
    imap_say_string(i, p->type);
    imap_say(i, " ");
    imap_say_string(i, p->subtype);
    imap_say(i, " ");
    say_params(i, p->content_type.len > 0 ? p->content_type : STR("text/plain; charset=us-ascii"));
    imap_say(i, " ");
    say_or_nil(i, mime_field(&i->one, p->header, "Content-ID"));
    imap_say(i, " ");
    say_or_nil(i, mime_field(&i->one, p->header, "Content-Description"));
    imap_say(i, " ");
    imap_say_string(i, encoding.len > 0 ? mime_token(encoding) : STR("7bit"));
    imap_say(i, " %zu", p->body.len);
    if (p->is_message) {
        imap_say(i, " ");
        imap_envelope(i, &p->parts[0]);
        imap_say(i, " ");
        imap_structure(i, &p->parts[0], is_extended);
    }
    if (p->is_message || str_iis(p->type, "text"))
        imap_say(i, " %zu", n_lines(p->body));
    if (is_extended) {
        imap_say(i, " NIL");
        say_extension(i, p);
    }
    imap_say(i, ")");
}

void imap_structure(struct imap *i, const struct mime_part *p, bool is_extended)
{
    if (!p->is_multipart || p->n_parts == 0) {
        say_single(i, p, is_extended);
        return;
    }
    imap_say(i, "(");
    for (size_t k = 0; k < p->n_parts; k++)
        imap_structure(i, &p->parts[k], is_extended);
    imap_say(i, " ");
    imap_say_string(i, p->subtype);
    if (is_extended) {
        imap_say(i, " ");
        say_params(i, p->content_type);
        say_extension(i, p);
    }
    imap_say(i, ")");
}
