/* SPDX-License-Identifier: MIT */
/* Airtable's formulas over a table with a field of each kind. */
#include "fuzz_lang.h"

static const char *const functions[] = {"airtable_format", "airtable_regex", "airtable_text", NULL};

static const struct fuzz_lang target = {
    .name = "airtable_formula",
    .config = "{\"airtable_formula\": {\"fields\": {\"data\": \"r.data\", \"id\": \"r.id\","
              "\"created\": \"r.created\", \"modified\": \"r.modified\"}}}",
    .schema = "CREATE TABLE tables (id, primary_field);"
              "CREATE TABLE record (id, table_id, created, modified, data);",
    .from = "record r",
    .functions = functions,
};

static const char fields[] =
    ", \"fields\": [{\"id\": \"fld1\", \"name\": \"A\", \"type\": \"singleLineText\"},"
    "{\"id\": \"fld2\", \"name\": \"N\", \"type\": \"number\"},"
    "{\"id\": \"fld3\", \"name\": \"C\", \"type\": \"checkbox\"},"
    "{\"id\": \"fld4\", \"name\": \"D\", \"type\": \"date\"},"
    "{\"id\": \"fld5\", \"name\": \"L\", \"type\": \"multipleRecordLinks\"},"
    "{\"id\": \"fld6\", \"name\": \"S\", \"type\": \"multipleSelects\"},"
    "{\"id\": \"fld7\", \"name\": \"F\", \"type\": \"formula\"},"
    "{\"id\": \"fld8\", \"name\": \"U\", \"type\": \"singleCollaborator\"},"
    "{\"id\": \"fld9\", \"name\": \"T\", \"type\": \"createdTime\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)buf_add_lit(&b, "{\"query\": ");
    (void)json_write_str(&b, str_n((const char *)data, size));
    (void)buf_add_str(&b, str_of(fields));
    if (buf_ok(&b))
        fuzz_lang_try(&target, (const uint8_t *)b.p, b.len);
    return 0;
}
