/* SPDX-License-Identifier: MIT */
/* Queries of Google Drive. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "drive",
    .config = "{\"drive\": {\"fields\": {\"match\": \"n IN (SELECT rowid FROM f WHERE f MATCH ?)\","
              "\"name\": \"name\", \"mimeType\": \"type\", \"modifiedTime\": \"modified\","
              "\"trashed\": \"trashed\", \"parents\": \"parent = ?\"}}}",
    .schema = "CREATE TABLE m (n INTEGER PRIMARY KEY, name, type, modified, trashed, parent);"
              "CREATE VIRTUAL TABLE f USING fts5 (name, content);",
    .from = "m",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
