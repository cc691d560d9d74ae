/* SPDX-License-Identifier: MIT */
/* Linear's filters. */
#include "fuzz_lang.h"

static const struct fuzz_lang target = {
    .name = "linear_issues",
    .config = "{\"linear_issues\": {\"type\": \"IssueFilter\", \"types\": {\"IssueFilter\": {"
              "\"title\": {\"text\": \"i.title\"}, \"n\": {\"number\": \"i.n\"},"
              "\"at\": {\"date\": \"i.at\"},"
              "\"owner\": {\"one\": \"u WHERE u.id = i.owner\", \"type\": \"UserFilter\"},"
              "\"comments\": {\"many\": \"c WHERE c.i = i.id\", \"type\": \"CommentFilter\"}},"
              "\"UserFilter\": {\"name\": {\"text\": \"u.name\"}, \"me\": {\"bool\": \"u.me\"}},"
              "\"CommentFilter\": {\"body\": {\"text\": \"c.body\"}}}}}",
    .schema = "CREATE TABLE i (id, title, n, at, owner); CREATE TABLE u (id, name, me);"
              "CREATE TABLE c (i, body);",
    .from = "i",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_lang_try(&target, data, size);
    return 0;
}
