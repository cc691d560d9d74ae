/* SPDX-License-Identifier: MIT */
/* Reading a mailbox of messages beside gmime: the tree of parts, the subject decoded, and the bytes
 * of every part. */
#include <gmime/gmime.h>

#include "base/cleanup.h"
#include "bench.h"
#include "local/mail/mime.h"

enum { MESSAGES = 200, MESSAGE_MAX = 1 << 20, ARENA_MAX = 16 << 20 };

static void make_message(struct buf *b)
{
    (void)buf_add_lit(b, "From: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>\r\n"
                         "To: a@example.com, \"B, C\" <b@example.com>\r\n"
                         "Subject: =?UTF-8?B?w4RuZGVydW5nZW4gaW0gUGxhbg==?= of the week\r\n"
                         "Date: Thu, 15 Jan 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\n"
                         "Content-Type: multipart/mixed; boundary=\"frontier\"\r\n\r\n");
    for (int part = 0; part < 3; part++) {
        (void)buf_add_lit(b, "--frontier\r\nContent-Type: text/plain; charset=utf-8\r\n"
                             "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
        for (int line = 0; line < 60; line++)
            (void)buf_add_lit(b, "The tide comes in over sand and shells; caf=C3=A9, and =\r\n"
                                 "a pool keeps its water.\r\n");
    }
    (void)buf_add_lit(b, "--frontier\r\nContent-Type: application/octet-stream; name=a.bin\r\n"
                         "Content-Transfer-Encoding: base64\r\n\r\n");
    for (int line = 0; line < 400; line++)
        (void)buf_add_lit(b, "VGhlIHRpZGUgY29tZXMgaW4gb3ZlciBzYW5kIGFuZCBzaGVsbHMsIGFuZCBhIHBvb2wg"
                             "a2VlcHM=\r\n");
    (void)buf_add_lit(b, "--frontier--\r\n");
}

static size_t read_part(struct arena *a, const struct mime_part *p)
{
    size_t n = 0;

    if (!p->is_multipart)
        return mime_bytes(a, p).len;
    for (size_t i = 0; i < p->n_parts; i++)
        n += read_part(a, &p->parts[i]);
    return n;
}

static size_t read_ours(void *ctx)
{
    size_t n = 0;

    for (int i = 0; i < MESSAGES; i++) {
        auto_arena struct arena a;
        arena_init(&a, ARENA_MAX);
        struct mime_part *p = mime_parse(&a, buf_str(ctx));
        bench_must(p != NULL, "mime_parse");
        n += mime_words(&a, mime_field(&a, p->header, "Subject")).len;
        n += read_part(&a, p);
    }
    return n;
}

static void read_object(GMimeObject *parent, GMimeObject *part, gpointer ctx)
{
    (void)parent;
    if (!GMIME_IS_PART(part))
        return;
    GMimeStream *out = g_mime_stream_mem_new();
    *(size_t *)ctx +=
        (size_t)g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(GMIME_PART(part)), out);
    g_object_unref(out);
}

static size_t read_gmime(void *ctx)
{
    struct buf *b = ctx;
    size_t n = 0;

    for (int i = 0; i < MESSAGES; i++) {
        GMimeStream *s = g_mime_stream_mem_new_with_buffer(b->p, b->len);
        GMimeParser *p = g_mime_parser_new_with_stream(s);
        GMimeMessage *m = g_mime_parser_construct_message(p, NULL);
        bench_must(m != NULL, "gmime");
        n += strlen(g_mime_message_get_subject(m));
        g_mime_message_foreach(m, read_object, &n);
        g_object_unref(m);
        g_object_unref(p);
        g_object_unref(s);
    }
    return n;
}

int main(void)
{
    static const struct bench_side sides[] = {{"ours", read_ours}, {"gmime", read_gmime}};
    auto_buf struct buf b = BUF_INIT(MESSAGE_MAX);

    g_mime_init();
    make_message(&b);
    bench_compare("MIME, 200 messages", b.len * MESSAGES, sides, ARRAY_LEN(sides), &b);
    return 0;
}
