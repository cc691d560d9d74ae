/* SPDX-License-Identifier: MIT */
/* A session of IMAP, logged in, with two messages; the input arrives in two pieces. What was
 * written down is read again by another store. */
#include "fuzz_mail.h"
#include "local/mail/imap.h"

static const char plain[] = "From: Ann <ann@x>\r\nTo: bob@x\r\nSubject: =?utf-8?q?T=C3=A4g?=\r\n"
                            "Date: Mon, 02 Nov 2026 10:00:00 +0000\r\n\r\nHello\r\n";
static const char parts[] =
    "Subject: parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n"
    "Content-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\nx\r\n--b--\r\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mail_message as = {.date_s = 1};
    struct mail_folder inbox;
    struct err e = ERR_INIT;
    char dir[64];
    int why = 0;
    size_t n = 0;
    struct mail_store *s = fresh(dir);
    struct mail_account *a = mail_account(s, STR("f@x"), true, &why);

    if (!a || mail_folder_find(a, STR("INBOX"), &inbox) < 0)
        abort();
    (void)mail_add(a, inbox.id, str_of(plain), &as, NULL);
    (void)mail_add(a, inbox.id, str_of(parts), &as, NULL);
    struct imap *i = imap_new(s, swallow, &n);
    struct str input = str_n((const char *)data, size);
    if (i && imap_feed(i, STR("a LOGIN f@x y\r\nb SELECT INBOX\r\n")) &&
        imap_feed(i, str_slice(input, 0, size / 2)))
        (void)imap_feed(i, str_skip(input, size / 2));
    if (i && imap_is_idle(i))
        imap_tell(i);
    imap_free(i);
    mail_store_free(s);
    drop(mail_store_new(dir, &e), dir);
    return 0;
}
