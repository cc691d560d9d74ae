/* SPDX-License-Identifier: MIT */
/* Messages: the tree of their parts, texts, names, addresses and dates; and what is written of them
 * is read as the same. */
#include <stdlib.h>

#include "fuzz.h"
#include "local/mail/date.h"
#include "local/mail/match.h"
#include "local/mail/utf7.h"

static void look(struct arena *a, const struct mime_part *p)
{
    struct mime_address addresses[16];
    struct str header = p->header, name, value;

    while (mime_next(&header, &name, &value)) {
        struct mail_date d;
        value = mime_unfold(a, value);
        if (!str_is_utf8(mime_words(a, value)))
            abort();
        (void)mime_addresses(a, value, addresses, 16);
        (void)mail_date_parse(value, 0, &d);
    }
    (void)mime_filename(a, p);
    (void)mime_is_attachment(a, p);
    if (!str_is_utf8(mime_text(a, p)))
        abort();
    for (size_t i = 0; i < p->n_parts; i++)
        look(a, &p->parts[i]);
}

/* A text that is sent comes out as it was. */
static void send_text(struct arena *a, struct str text)
{
    struct buf b = BUF_INIT(16 << 20);
    struct mime_new m = {.subject = text, .from = text, .text = text};

    mime_write(&b, &m);
    struct mime_part *p = mime_parse(a, buf_str(&b));
    struct str got = p ? mime_text(a, p) : STR("");
    bool has_returns = str_chr(text, '\r') >= 0;
    if (p && !has_returns && str_is_utf8(text) && !str_eq(got, text))
        abort();
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str input = str_n((const char *)data, size);

    if (size > 1 << 16)
        return 0;
    arena_init(&a, (size_t)1 << 30);
    struct mime_part *p = mime_parse(&a, input);
    if (!p)
        abort();
    look(&a, p);
    (void)match_body(&a, p, STR("e"));
    send_text(&a, input);
    struct str name = utf7_decode(&a, input);
    if (str_is_utf8(input) && !str_eq(utf7_decode(&a, utf7_encode(&a, input)), input))
        abort();
    (void)name;
    arena_done(&a);
    return 0;
}
