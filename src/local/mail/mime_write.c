/* SPDX-License-Identifier: MIT */
/* Writing messages: what is ASCII stays readable, the rest is base64. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/utf8.h"
#include "local/mail/mime.h"

enum {
    WORD_BYTES = 42,     /* of text in an encoded word, so that it stays below 76 characters */
    BASE64_BYTES = 57,   /* in a line of 76 characters */
    LINE_BYTES_MAX = 900 /* of text that is sent as it is */
};

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    }
    return true;
}

/* ---- fields ---- */

/* Whatever a client puts into a field stays in that field. */
static void put_field_line(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != '\r' && s.p[i] != '\n' && s.p[i] != '\0')
            (void)buf_add_char(out, s.p[i]);
    }
}

static void put_words(struct buf *out, struct str s)
{
    auto_buf struct buf clean = BUF_INIT(s.len + 16);

    put_field_line(&clean, s);
    s = buf_str(&clean);
    for (bool is_first = true; s.len > 0; is_first = false) {
        size_t n = 0;
        while (n < s.len && n < WORD_BYTES) {
            size_t one = utf8_sequence(s.p + n, s.len - n);
            n += one ? one : 1;
        }
        (void)buf_add_str(out, is_first ? STR("=?utf-8?b?") : STR("\r\n =?utf-8?b?"));
        (void)enc_base64(out, str_slice(s, 0, n));
        (void)buf_add_lit(out, "?=");
        s = str_skip(s, n);
    }
}

/* Appends a field whose value is unstructured text / addresses; what is no ASCII is encoded, ends
 * of lines are dropped. */
static void mime_write_text_field(struct buf *out, const char *name, struct str value)
{
    (void)buf_printf(out, "%s: ", name);
    if (is_ascii(value))
        put_field_line(out, value);
    else
        put_words(out, value);
    (void)buf_add_lit(out, "\r\n");
}

/* One address: only the name before "<" may be encoded. */
static void put_encoded_address(struct buf *out, struct str address)
{
    ptrdiff_t angle = str_chr(address, '<');

    if (is_ascii(address) || angle < 0) {
        put_field_line(out, address);
        return;
    }
    struct str name = str_trim(str_n(address.p, (size_t)angle));
    if (name.len > 1 && name.p[0] == '"' && name.p[name.len - 1] == '"')
        name = str_slice(name, 1, name.len - 1);
    put_words(out, name);
    (void)buf_add_char(out, ' ');
    put_field_line(out, str_skip(address, (size_t)angle));
}

static void mime_write_address_field(struct buf *out, const char *name, struct str value)
{
    bool is_first = true;

    (void)buf_printf(out, "%s: ", name);
    if (is_ascii(value)) {
        put_field_line(out, value);
        value = STR_NULL;
    }
    while (value.p) {
        if (!is_first)
            (void)buf_add_lit(out, ", ");
        put_encoded_address(out, str_trim(str_cut(&value, ',')));
        is_first = false;
    }
    (void)buf_add_lit(out, "\r\n");
}

/* ---- bodies ---- */

static void mime_write_crlf(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\n' && (i == 0 || s.p[i - 1] != '\r'))
            (void)buf_add_char(out, '\r');
        (void)buf_add_char(out, s.p[i]);
    }
}

static void put_base64(struct buf *out, struct str s)
{
    while (s.len > 0) {
        (void)enc_base64(out, str_slice(s, 0, BASE64_BYTES));
        s = str_skip(s, BASE64_BYTES);
        if (s.len > 0)
            (void)buf_add_lit(out, "\r\n");
    }
}

/* Lines that every server passes on. */
static bool is_readable(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        n = text.p[i] == '\n' ? 0 : n + 1;
        bool is_control = (unsigned char)text.p[i] < ' ' && !strchr("\t\r\n", text.p[i]);
        if (n > LINE_BYTES_MAX || is_control || !text.p[i])
            return false;
    }
    return is_ascii(text);
}

static void put_text_part(struct buf *out, const char *subtype, struct str text)
{
    bool is_plain = is_readable(text);

    (void)buf_printf(out,
                     "Content-Type: text/%s; charset=\"utf-8\"\r\n"
                     "Content-Transfer-Encoding: %s\r\n\r\n",
                     subtype, is_plain ? "7bit" : "base64");
    if (is_plain)
        mime_write_crlf(out, text);
    else
        put_base64(out, text);
}

static void put_attachment(struct buf *out, const struct mime_attachment *a)
{
    bool is_plain = is_ascii(a->name);

    (void)buf_add_lit(out, "Content-Type: ");
    put_field_line(out, a->type.len > 0 ? a->type : STR("application/octet-stream"));
    (void)buf_add_lit(out, "\r\nContent-Transfer-Encoding: base64\r\n"
                           "Content-Disposition: attachment; filename");
    (void)buf_add_str(out, is_plain ? STR("=\"") : STR("*=utf-8''"));
    for (size_t i = 0; is_plain && i < a->name.len; i++) {
        if (a->name.p[i] == '"' || a->name.p[i] == '\\')
            (void)buf_add_char(out, '\\');
        put_field_line(out, str_slice(a->name, i, i + 1));
    }
    if (!is_plain)
        (void)enc_percent(out, a->name);
    (void)buf_add_str(out, is_plain ? STR("\"\r\n\r\n") : STR("\r\n\r\n"));
    put_base64(out, a->bytes);
}

/* ---- messages ---- */

static void put_mime_fields(struct buf *out, const struct mime_new *m)
{
    const struct {
        const char *name;
        struct str value;
        bool is_address;
    } fields[] = {
        {"From", m->from, true},
        {"To", m->to, true},
        {"Cc", m->cc, true},
        {"Bcc", m->bcc, true},
        {"Subject", m->subject, false},
        {"Date", m->date, false},
        {"Message-ID", m->message_id, false},
        {"In-Reply-To", m->in_reply_to, false},
        {"References", m->references, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (fields[i].value.len == 0)
            continue;
        if (fields[i].is_address)
            mime_write_address_field(out, fields[i].name, fields[i].value);
        else
            mime_write_text_field(out, fields[i].name, fields[i].value);
    }
    (void)buf_add_lit(out, "MIME-Version: 1.0\r\n");
}

static void begin_parts(struct buf *out, const char *kind, char boundary[ID_UUID_LEN + 8])
{
    (void)snprintf(boundary, 8, "=_tide_");
    id_uuid(boundary + 7);
    (void)buf_printf(out, "Content-Type: multipart/%s; boundary=\"%s\"\r\n\r\n", kind, boundary);
}

/* The text, or both forms of it. */
static void put_mime_content(struct buf *out, const struct mime_new *m)
{
    char boundary[ID_UUID_LEN + 8];

    if (!m->has_html) {
        put_text_part(out, "plain", m->text);
        return;
    }
    begin_parts(out, "alternative", boundary);
    (void)buf_printf(out, "--%s\r\n", boundary);
    put_text_part(out, "plain", m->text);
    (void)buf_printf(out, "\r\n--%s\r\n", boundary);
    put_text_part(out, "html", m->html);
    (void)buf_printf(out, "\r\n--%s--\r\n", boundary);
}

void mime_write(struct buf *out, const struct mime_new *m)
{
    char boundary[ID_UUID_LEN + 8];

    put_mime_fields(out, m);
    if (m->n_attachments == 0) {
        put_mime_content(out, m);
        return;
    }
    begin_parts(out, "mixed", boundary);
    (void)buf_printf(out, "--%s\r\n", boundary);
    put_mime_content(out, m);
    for (size_t i = 0; i < m->n_attachments; i++) {
        (void)buf_printf(out, "\r\n--%s\r\n", boundary);
        put_attachment(out, &m->attachments[i]);
    }
    (void)buf_printf(out, "\r\n--%s--\r\n", boundary);
}
