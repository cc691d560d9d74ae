/* SPDX-License-Identifier: MIT */
/* A session of SMTP; the input arrives in two pieces. */
#include "fuzz_mail.h"
#include "local/mail/smtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[64];
    size_t n = 0;
    struct mail_store *store = fresh(dir);
    struct smtp *s = smtp_new(store, swallow, &n);
    struct str input = str_n((const char *)data, size);

    if (s && smtp_feed(s, str_slice(input, 0, size / 2)))
        (void)smtp_feed(s, str_skip(input, size / 2));
    smtp_free(s);
    drop(store, dir);
    return 0;
}
