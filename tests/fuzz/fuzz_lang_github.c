/* SPDX-License-Identifier: MIT */
/* GitHub's search. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "github_code",
    .config = "{\"github_code\": {\"me\": \"ann\", \"is_substring\": true,"
              "\"text\": {\"title\": \"title\", \"body\": \"body\"}, \"in\": [\"title\", \"body\"],"
              "\"qualifiers\": {\"repo\": {\"sql\": \"repo = ?\", \"group\": \"scope\"},"
              "\"user\": {\"sql\": \"owner = ?\", \"group\": \"scope\"},"
              "\"is\": {\"values\": {\"open\": \"state = 'open'\"}},"
              "\"label\": {\"sql\": \"label = ? OR title = ?\", \"list\": true},"
              "\"created\": {\"date\": \"at\"}, \"comments\": {\"number\": \"n\"}},"
              "\"absent\": {\"repo\": \"n > 0\"}}}",
    .schema = "CREATE TABLE i (repo, owner, state, label, at, n, title, body);",
    .from = "i",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
