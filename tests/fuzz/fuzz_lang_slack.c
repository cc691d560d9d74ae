/* SPDX-License-Identifier: MIT */
/* Searches of chats. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "slack",
    .config = "{\"slack\": {\"words\": \"id IN (SELECT rowid FROM f WHERE f MATCH {})\","
              "\"plain\": \"instr(text, {})\", \"mention\": \"text = {}\", \"time\": \"at\","
              "\"from\": \"who = {}\", \"in\": \"place = {} OR place = {}\","
              "\"has\": {\"\": \"text = {}\", \"link\": \"1\"}, \"is\": {\"odd\": \"id % 2\"}}}",
    .schema = "CREATE TABLE m (id INTEGER PRIMARY KEY, at INTEGER, who, place, text);"
              "CREATE VIRTUAL TABLE f USING fts5 (text);",
    .from = "m",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
