/* SPDX-License-Identifier: MIT */
/* Filters of Microsoft Graph. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "odata",
    .config = "{\"odata\": {\"type\": \"graph.mail\", \"texts\": {\"subject\": \"subject\","
              "\"from/emailAddress/address\": \"(SELECT max(sender) FROM m s WHERE s.n = m.n)\"},"
              "\"bools\": {\"isRead\": \"is_read\"}, \"numbers\": {\"size\": \"size\"},"
              "\"times\": {\"receivedDateTime\": \"received\"},"
              "\"clocks\": {\"start/dateTime\": \"received\"}, \"sets\": {\"categories\": {"
              "\"any\": \"EXISTS (SELECT 1 FROM json_each(m.parts) c WHERE (?))\","
              "\"texts\": {\"it\": \"c.value\", \"name\": \"c.key\"}}}}}",
    .schema = "CREATE TABLE m (n INTEGER PRIMARY KEY, subject, sender, is_read, size, received,"
              " parts);",
    .from = "m",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
