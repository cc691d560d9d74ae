/* SPDX-License-Identifier: MIT */
#include "local/mail/deliver.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "local/mail/date.h"
#include "local/mail/mime.h"

static void add_fields(struct buf *b, const struct envelope *e, struct str raw, int64_t now_s)
{
    struct arena arena auto_arena = {0};
    char date[MAIL_DATE_MAX], id[33];

    arena_init(&arena, 4 * raw.len + (1 << 20));
    mail_date_header(date, now_s);
    id_hex(id, 16);
    (void)buf_printf(b,
                     "Return-Path: <" STR_FMT ">\r\n"
                     "Received: by tidepool with %s id %s; %s\r\n",
                     STR_ARG(e->from), e->via, id, date);
    struct str header = raw, name, value;
    bool has_date = false, has_id = false;
    /* Only the header's lines: an empty one ends it. */
    ptrdiff_t end = str_find(raw, STR("\r\n\r\n"));
    if (end >= 0)
        header = str_n(raw.p, (size_t)end);
    while (mime_next(&header, &name, &value)) {
        has_date = has_date || str_iis(name, "Date");
        has_id = has_id || str_iis(name, "Message-ID");
    }
    if (!has_date)
        (void)buf_printf(b, "Date: %s\r\n", date);
    id_hex(id, 32);
    if (!has_id)
        (void)buf_printf(b, "Message-ID: <%s@tidepool>\r\n", id);
}

static bool is_repeated_address(const struct envelope *e, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        if (str_ieq(e->to[i], e->to[k]))
            return true;
    }
    return false;
}

int mail_deliver(struct mail_store *s, const struct envelope *e, struct str raw)
{
    auto_buf struct buf b = BUF_INIT(MAIL_MESSAGE_MAX);
    struct mail_message as = {.date_s = clock_real_us() / 1000000};
    struct mail_folder inbox = {0};
    int first = 0;

    add_fields(&b, e, raw, as.date_s);
    (void)buf_add_str(&b, raw);
    if (!buf_ok(&b))
        return b.error == -ENOBUFS ? -EFBIG : -ENOMEM;
    for (size_t k = 0; k < e->n_to; k++) {
        int r = 0;
        if (is_repeated_address(e, k))
            continue;
        struct mail_account *a = mail_account(s, e->to[k], true, &r);
        if (a)
            r = mail_folder_find(a, STR("INBOX"), &inbox);
        if (a && r == 0)
            r = mail_add(a, inbox.id, buf_str(&b), &as, NULL);
        first = first == 0 ? r : first;
    }
    return first;
}
