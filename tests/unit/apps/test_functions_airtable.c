/* SPDX-License-Identifier: MIT */
/* Airtable's cells: what the fields take, and as what it is kept. */
#include "../check.h"

#include <stdio.h>
#include <unistd.h>

#include "apps/db/db.h"

static const char scripts_text[] =
    "-- name: cell\n"
    "SELECT ifnull(airtable_cell(:shape, :options, :value, :cast), 'refused') AS result;\n"
    "-- name: error\n"
    "SELECT airtable_error(404, 'NOT_FOUND', NULL) || airtable_error(422, 'A', 'b\"') AS result;\n"
    "-- name: text\n"
    "SELECT airtable_text(NULL) || '|' || airtable_text(5) || '|' || airtable_text(5.0) || '|' ||"
    " airtable_text(0.1) || '|' || airtable_text('x') AS result;\n"
    "-- name: format\n"
    "SELECT airtable_format('2026-01-05T00:07:09Z', 'YYYY YY MMMM MMM MM M DD D dddd ddd HH H hh h "
    "mm ss A a') || ifnull(airtable_format('x', 'Y'), ' none') AS result;\n";

static const struct {
    const char *shape, *value, *kept, *cast; /* cast NULL: the same */
} cases[] = {
    {"text", "\"a\"", "\"a\"", NULL},
    {"text", "\"\"", "null", NULL},
    {"text", "null", "null", NULL},
    {"text", "5", "refused", "\"5\""},
    {"text", "{}", "refused", NULL},
    {"number", "5", "5", NULL},
    {"number", "5.5", "5.5", NULL},
    {"number", "\"5\"", "refused", "5"},
    {"number", "\"5.25\"", "refused", "5.25"},
    {"number", "\"5x\"", "refused", NULL},
    {"number", "\"inf\"", "refused", NULL},
    {"number", "true", "refused", NULL},
    {"rating", "3", "3", NULL},
    {"rating", "0", "null", NULL},
    {"rating", "6", "refused", NULL},
    {"rating", "-1", "refused", NULL},
    {"bool", "true", "true", NULL},
    {"bool", "false", "null", NULL},
    {"bool", "\"checked\"", "refused", "true"},
    {"bool", "1", "refused", NULL},
    {"choice", "\"Todo\"", "\"Todo\"", NULL},
    {"choices", "[\"a\",\"b\"]", "[\"a\",\"b\"]", NULL},
    {"choices", "[]", "null", NULL},
    {"choices", "\"a, b,,c\"", "refused", "[\"a\",\"b\",\"c\"]"},
    {"choices", "[1]", "refused", "[\"1\"]"},
    {"date", "\"2026-02-28\"", "\"2026-02-28\"", NULL},
    {"date", "\"2026-02-30\"", "refused", NULL},
    {"date", "\"2026-2-3\"", "refused", NULL},
    {"date", "\"2026-02-28T10:00:00Z\"", "\"2026-02-28\"", NULL},
    {"date", "\"soon\"", "refused", NULL},
    {"datetime", "\"2026-02-28T10:00\"", "\"2026-02-28T10:00:00.000Z\"", NULL},
    {"datetime", "\"2026-02-28T10:00:00.25Z\"", "\"2026-02-28T10:00:00.000Z\"", NULL},
    {"datetime", "\"2026-02-28T00:30:00+01:00\"", "\"2026-02-27T23:30:00.000Z\"", NULL},
    {"datetime", "\"2026-02-28\"", "\"2026-02-28T00:00:00.000Z\"", NULL},
    {"datetime", "\"2026-02-28T25:00:00Z\"", "refused", NULL},
    {"datetime", "\"2026-02-28T10:00:00 CET\"", "refused", NULL},
    {"links", "[\"rec1\",{\"id\":\"rec2\"}]", "[\"rec1\",\"rec2\"]", NULL},
    {"links", "\"rec1\"", "refused", "[\"rec1\"]"},
    {"attachments", "[{\"url\":\"https://a.example\"}]", "[{\"url\":\"https://a.example\"}]", NULL},
    {"attachments", "[{}]", "refused", NULL},
    {"user", "{\"id\":\"u\"}", "{\"id\":\"u\"}", NULL},
    {"user", "\"a@b.example\"", "refused", "{\"email\":\"a@b.example\"}"},
    {"users", "[{\"email\":\"a\"}]", "[{\"email\":\"a\"}]", NULL},
    {"barcode", "{\"text\":\"1\"}", "{\"text\":\"1\"}", NULL},
    {"nonsense", "1", "refused", NULL},
};

static struct arena arena;
static struct scripts scripts;
static struct appdb *db;
static char path[64];

static int set_up(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    arena_init(&arena, 64 << 20);
    (void)snprintf(path, sizeof path, "/tmp/test_functions_airtable.%d.db", (int)getpid());
    (void)unlink(path);
    assert_int_equal(scripts_parse(&arena, str_of(scripts_text), &scripts, &e), 0);
    struct appdb_env env = {.scripts = &scripts, .seed = 1};
    assert_int_equal(appdb_create(path, "", &e), 0);
    assert_int_equal(appdb_open(path, false, &env, &db, &e), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    appdb_close(db);
    (void)unlink(path);
    arena_done(&arena);
    return 0;
}

static struct str run(const char *script, struct json *args)
{
    struct app_call call = {
        .script = scripts_find(&scripts, str_of(script)), .args = args, .arena = &arena};
    struct err e = ERR_INIT;

    if (appdb_run(db, &call, &e) < 0)
        fail_msg("%s: %s", script, err_text(&e));
    return call.result;
}

static void check_cell(size_t i, bool is_cast)
{
    const char *kept = is_cast && cases[i].cast ? cases[i].cast : cases[i].kept;
    struct json *args = json_new_object(&arena);

    (void)json_set(&arena, args, "shape", json_new_str(&arena, str_of(cases[i].shape)));
    (void)json_set(&arena, args, "options", json_new_str(&arena, STR("{\"max\":5}")));
    (void)json_set(&arena, args, "value", json_new_str(&arena, str_of(cases[i].value)));
    (void)json_set(&arena, args, "cast", json_new_bool(&arena, is_cast));
    struct str got = run("cell", args);
    if (!str_is(got, kept))
        fail_msg("%s %s%s: %s", cases[i].shape, cases[i].value, is_cast ? " cast" : "", got.p);
}

static void test_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_cell(i, false);
        check_cell(i, true);
    }
    /* Computed fields have no shape. */
    assert_str(run("cell", json_new_object(&arena)), "refused");
}

static void test_texts(void **state)
{
    (void)state;
    assert_str(run("error", NULL),
               "Airtable API Error (404): {\"error\":\"NOT_FOUND\"}Airtable API Error (422): "
               "{\"error\":{\"type\":\"A\",\"message\":\"b\\\"\"}}");
    assert_str(run("text", NULL), "|5|5|0.1|x");
    assert_str(run("format", NULL), "2026 26 January Jan 01 1 05 5 Monday Mon 00 0 12 12 07 09 AM "
                                    "am none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
