/* SPDX-License-Identifier: MIT */
/* Filters of Cloud Logging. */
#include "fuzz_lang.h"

static const char *const functions[] = {"bq_cast", "bq_regexp", NULL};

static const struct fuzz_lang target = {
    .name = "logging",
    .config = "{\"logging\": {\"fields\": {\"severity\": \"level\", \"timestamp\": \"at\","
              "\"textPayload\": \"text\", \"jsonPayload\": \"json\", \"all\": \"text || json\"}}}",
    .schema = "CREATE TABLE e (id INTEGER PRIMARY KEY, level, at, text, json);",
    .from = "e",
    .functions = functions,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
