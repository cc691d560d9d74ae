/* SPDX-License-Identifier: MIT */
/* Gmail's search. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "gmail",
    .config = "{\"gmail\": {\"match\": \"n IN (SELECT rowid FROM f WHERE f MATCH ?)\","
              "\"columns\": {\"from\": \"a\", \"to\": \"a b\", \"subject\": \"b\"}, \"me\": \"me\","
              "\"label\": \"label = ? OR label = ?\", \"is_visible\": \"label <> 'SPAM'\","
              "\"has\": {\"attachment\": \"size > 1\"}, \"rfc822msgid\": \"id = ?\","
              "\"date\": \"date\", \"size\": \"size\"}}",
    .schema = "CREATE TABLE m (n INTEGER PRIMARY KEY, id, label, date, size);"
              "CREATE VIRTUAL TABLE f USING fts5 (a, b, c);",
    .from = "m",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
