/* SPDX-License-Identifier: MIT */
/* Messages as bytes: reading MIME (RFC 2045–2047, 2231) and writing it. Reading takes what
 * there is: a message is never refused, what cannot be understood is text. Everything lives in the
 * caller's arena or points into the message. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum {
    MIME_DEPTH_MAX = 16,   /* of parts in parts; deeper ones stay text */
    MIME_PARTS_MAX = 1000, /* of a message */
    MIME_ADDRESSES_MAX = 1000
};

struct mime_part {
    struct str whole;         /* header and body, as they are in the message */
    struct str header, body;  /* the header with its empty line */
    struct str type, subtype; /* "text", "plain" */
    struct str content_type;  /* the field, unfolded */
    bool is_multipart, is_message;
    struct mime_part *parts; /* of a multipart, or the one of message/rfc822 */
    size_t n_parts;
};

/* ---- reading (mime.c) ---- */

/* The message RAW as a tree; NULL only without memory. */
struct mime_part *mime_parse(struct arena *a, struct str raw);
/* The next field of HEADER: its name and its value as they are (folded). False at the end. */
bool mime_next(struct str *header, struct str *ret_name, struct str *ret_value);
/* The first field NAME, unfolded, .p NULL when there is none. */
struct str mime_field(struct arena *a, struct str header, const char *name);
/* VALUE on one line. */
struct str mime_unfold(struct arena *a, struct str value);
/* The bytes of a part that is no multipart, its transfer encoding undone. */
struct str mime_bytes(struct arena *a, const struct mime_part *p);
/* The same as text: UTF-8 with "\n" at the ends of lines. */
struct str mime_text(struct arena *a, const struct mime_part *p);

/* ---- fields (mime_field.c) ---- */

/* "text/plain; charset=x" → the parameter NAME (RFC 2231 understood), as UTF-8; or .p NULL. */
struct str mime_param(struct arena *a, struct str field, const char *name);
/* The K-th parameter of FIELD as it is written: false behind the last. */
bool mime_param_at(struct arena *a, struct str field, size_t k, struct str *ret_name,
                   struct str *ret_value);
/* What stands before the parameters: "attachment". */
struct str mime_token(struct str field);
/* The name under which P would be saved; .p NULL: none. */
struct str mime_filename(struct arena *a, const struct mime_part *p);
bool mime_is_attachment(struct arena *a, const struct mime_part *p);

/* RFC 2047 words decoded, to UTF-8. */
struct str mime_words(struct arena *a, struct str value);

struct mime_address {
    struct str name, mailbox, host; /* host empty: begins or ends a group */
};
/* The addresses of a field; how many, at most MAX. */
size_t mime_addresses(struct arena *a, struct str value, struct mime_address *out, size_t max);

/* ---- text (mime_text.c) ---- */

struct str mime_unbase64(struct arena *a, struct str s);
/* IS_WORD: "_" is a space (RFC 2047). */
struct str mime_unquote(struct arena *a, struct str s, bool is_word);
/* From CHARSET to UTF-8; what cannot be read is left out. */
struct str mime_to_utf8(struct arena *a, struct str s, struct str charset);

/* ---- writing (mime_write.c) ---- */

struct mime_attachment {
    struct str name, type, bytes;
};

struct mime_new {
    struct str from, to, cc, bcc; /* "Name <a@b>, …", UTF-8; empty: no such field */
    struct str subject, date, message_id, in_reply_to, references;
    struct str text, html;
    bool has_html;
    const struct mime_attachment *attachments;
    size_t n_attachments;
};

/* Appends the message, lines ending in CRLF. */
void mime_write(struct buf *out, const struct mime_new *m);
