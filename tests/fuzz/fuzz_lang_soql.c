/* SPDX-License-Identifier: MIT */
/* Queries of Salesforce. */
#include "fuzz_lang.h"

static const char *const functions[] = {"time_read", NULL};

static const struct fuzz_lang target = {
    .name = "soql",
    .config = "{\"soql\": {\"objects\": {\"Account\": {\"fields\": {\"Id\": \"text\","
              "\"Name\": \"text\", \"Size\": \"number\", \"Note\": \"long\", \"IsOld\": \"bool\","
              "\"ParentId\": \"text\", \"Born\": \"date\", \"Seen\": \"time\"},"
              "\"parents\": {\"Parent\": \"Account\"},"
              "\"children\": {\"Kids\": [\"Account\", \"ParentId\"]}}}}}",
    .schema = "CREATE TABLE record (id TEXT, object TEXT, place INTEGER, fields TEXT);",
    .from = "record",
    .functions = functions,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
