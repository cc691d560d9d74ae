/* SPDX-License-Identifier: MIT */
/* The functions that scripts have for times, mail, searching, trees and sheets: an expression and
 * what comes of it. */
#include "../check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "apps/db/db.h"

static struct appdb *db;
static char path[64];

/* The value as text, "NULL", or "error: …". */
static const char *value_of(const char *expression)
{
    static char text[4096];
    char sql[2048];
    sqlite3 *c = appdb_handle(db);
    sqlite3_stmt *st = NULL;

    (void)snprintf(sql, sizeof sql, "SELECT %s", expression);
    if (sqlite3_prepare_v2(c, sql, -1, &st, NULL) != SQLITE_OK || sqlite3_step(st) != SQLITE_ROW) {
        (void)snprintf(text, sizeof text, "error: %s", sqlite3_errmsg(c));
    } else {
        const char *p = (const char *)sqlite3_column_text(st, 0);
        (void)snprintf(text, sizeof text, "%s", p ? p : "NULL");
    }
    (void)sqlite3_finalize(st);
    return text;
}

/* A text of the numbers from 1. */
#define NUMBERS(TO)                                                                                \
    "(WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < " TO               \
    ") SELECT group_concat(i, ' ') FROM c)"

static const struct {
    const char *expression, *value;
} cases[] = {
    {"time_read('2026-01-15T09:00:00Z', NULL)", "1768467600"},
    {"time_read('2026-07-15 10:00', 'Europe/Lisbon')", "1784106000"},
    {"time_read('2026-01-15', 'Asia/Tokyo')", "1768402800"},
    {"time_read('2026-01-15T09:00+02:00', 'Asia/Tokyo')", "1768460400"},
    {"time_read('soon', 'UTC')", "NULL"},
    {"time_read(NULL, 'UTC')", "NULL"},
    {"time_read('2026-01-15', 'Mars/Crater')", "error: no such time zone"},
    {"time_is_date('2026-01-15')", "1"},
    {"time_is_date('2026-01-15T09:00')", "0"},
    {"time_is_date('x')", "NULL"},
    {"time_write(1768467600, 'Europe/Berlin', '%a, %d %b %Y %H:%M:%S %z')",
     "Thu, 15 Jan 2026 10:00:00 +0100"},
    {"time_write(1768467600, NULL, '%Y-%m-%dT%H:%M:%S%Z')", "2026-01-15T09:00:00Z"},
    {"time_write(NULL, 'UTC', '%Y')", "NULL"},
    {"time_write(9e18, 'UTC', '%Y')", "NULL"},
    {"time_write(0, 'UTC', '%q')", "error: time_write: bad format"},
    {"zone_exists('Europe/Lisbon')", "1"},
    {"zone_exists('../passwd')", "0"},
    {"zone_exists(NULL)", "0"},
    {"recur_error('[\"RRULE:FREQ=DAILY\"]', 0, 'UTC')", "NULL"},
    {"recur_error('[\"RRULE:FREQ=NEVER\"]', 0, 'UTC')", "RRULE:FREQ=NEVER"},
    {"recur_error('5', 0, 'UTC')", "error: the lines of a recurrence are no array"},
    {"recur_starts('[\"RRULE:FREQ=DAILY\"]', 0, 'UTC', 86400, 259200)", "[86400,172800]"},
    {"recur_starts(NULL, 60, 'UTC', 0, 100)", "[60]"},
    {"json_array(recur_starts(NULL, 60, 'UTC', 0, 10))", "[[]]"},
    {"a1_column('AB')", "27"},
    {"a1_column('A1')", "NULL"},
    {"a1_letters(27)", "AB"},
    {"a1_letters(-1)", "NULL"},
    {"a1_letters(18278)", "NULL"},
    {"a1_sheet('Q1 plan')", "'Q1 plan'"},
    {"a1_sheet('Budget')", "Budget"},
    {"a1_range('''Q1 plan''!A2:C')",
     "{\"sheet\":\"Q1 plan\",\"row0\":1,\"col0\":0,\"row1\":null,\"col1\":2}"},
    {"a1_range('B2') ->> 'row1'", "1"},
    {"a1_range('S!')", "NULL"},
    {"cell_enter('$1,200')",
     "{\"formula\":null,\"format\":\"$#,##0\",\"value\":[\"number\",1200,\"currency\"]}"},
    {"cell_enter('=A1')",
     "{\"formula\":\"=A1\",\"format\":\"\",\"value\":[\"blank\",null,\"plain\"]}"},
    {"cell_enter('1.5') ->> '$.value[1]'", "1.5"},
    {"cell_show('number', 0.5, 'percent', '')", "50.00%"},
    {"cell_show('number', 46037, 'date', 'yyyy-mm-dd')", "2026-01-15"},
    {"cell_show('boolean', 1, 'plain', '')", "TRUE"},
    {"cell_show('error', '#N/A', 'plain', '')", "#N/A"},
    {"cell_show('text', 'x', 'plain', '0.0')", "x"},
    {"cell_show('blank', NULL, 'plain', '')", ""},
    {"book_calculate('{\"now_ms\":0}', '[[\"S\",9,9]]', '[[0,0,0,null,\"number\",2,\"plain\",0],"
     "[0,0,1,\"=A1*3\",\"blank\",null,\"plain\",0]]')",
     "[[0,0,1,\"number\",6,\"plain\",0]]"},
    /* Nothing reads what was changed. */
    {"book_calculate('{\"changed\":[[0,5,5]]}', '[[\"S\",9,9]]',"
     " '[[0,0,1,\"=A1*3\",\"blank\",null,\"plain\",0]]')",
     "[]"},
    {"book_calculate('{}', '[[\"S\",9,9]]', '[[0,0,0,\"=SEQUENCE(1,2)\"]]')",
     "[[0,0,0,\"number\",1,\"plain\",0],[0,0,1,\"number\",2,\"plain\",1]]"},
    {"book_calculate('{}', '[]', '[[0,0,0]]')", "error: book_calculate: not a book"},
    {"book_calculate('[]', '[]', '[]')", "error: book_calculate: not a book"},
    {"book_calculate('{', '[]', '[]')", "error: book_calculate: not a book"},
    {"mail_topic('Re: FWD: AW[2]: Lunch: Friday')", "Lunch: Friday"},
    {"mail_topic('Reply: x')", "Reply: x"},
    {"mail_topic('')", ""},
    {"mail_address('Maya Chen <maya@x.example>')", "maya@x.example"},
    {"mail_address('maya@x.example')", "maya@x.example"},
    {"mail_address('Maya <maya@x')", "maya@x"},
    {"mail_is_address('maya@x.example')", "1"},
    {"mail_is_address('maya@x')", "0"},
    {"mail_is_address('maya @x.example')", "0"},
    {"mail_is_address('a@b@c.example')", "0"},
    {"mail_is_address('a@.')", "0"},
    {"mail_is_address('')", "0"},
    {"base64('héllo')", "aMOpbGxv"},
    {"CAST(unbase64('aMOpbGxv') AS TEXT)", "héllo"},
    {"unbase64('!')", "NULL"},
    {"data_uri('data:text/plain;base64,aMOpbGxv')", "héllo"},
    {"data_uri('data:,a%20b%2C,c')", "a b,,c"},
    {"data_uri('data:;base64,')", ""},
    {"typeof(data_uri('data:;base64,/9g='))", "blob"},
    {"hex(data_uri('data:,a%00'))", "6100"},
    {"data_uri('data:;base64,!')", "NULL"},
    {"data_uri('data:text/plain')", "NULL"},
    {"data_uri('http://a,b')", "NULL"},
    {"dropbox_hash('hello')", "9595c9df90075148eb06860365df33584b75bff782a510c6cd4883a419833d50"},
    {"dropbox_hash('')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"dropbox_hash(zeroblob(4194305))",
     "14a4d47f23a30177885d9820122f17d2d3a55fe63f7f5c27b95f689e0b2accd6"},
    {"fts_prefixes('maya  \"ch')", "\"maya\" * AND \" ch\" *"},
    {"fts_prefixes('')", "\"\""},
    {"fts_prefixes('a b a  b a')", "\"a\" * AND \"b\" *"},
    {"length(fts_prefixes(" NUMBERS("100") "))", "1087"},
    {"fts_prefixes(" NUMBERS("101") ")", "error: interrupted"},
    {"json_indent('{\"a\":[1]}')", "{\n  \"a\": [\n    1\n  ]\n}"},
    {"json_nest('[{\"i\":\"c\",\"p\":\"b\"},{\"i\":\"a\",\"p\":\"x\",\"k\":1},{\"i\":\"b\",\"p\":"
     "\"a\"},"
     "{\"i\":\"d\",\"p\":\"a\"}]', 'i', 'p', 'sub')",
     "[{\"i\":\"a\",\"k\":1,\"sub\":[{\"i\":\"b\",\"sub\":[{\"i\":\"c\"}]},{\"i\":\"d\"}]}]"},
    /* Two that are each other's parent: the one that comes first is the child. */
    {"json_nest('[{\"i\":\"a\",\"p\":\"b\"},{\"i\":\"b\",\"p\":\"a\"}]', 'i', 'p', 'sub')",
     "[{\"i\":\"b\",\"sub\":[{\"i\":\"a\"}]}]"},
    {"json_nest('[]', 'i', 'p', 'sub')", "[]"},
    {"json_nest('{}', 'i', 'p', 'sub')", "error: json_nest: not an array"},
};

static void functions_give(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = value_of(cases[i].expression);
        if (strcmp(got, cases[i].value) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].expression, got, cases[i].value);
    }
}

/* Deeper trees than the writer can nest lose what is below, not their form. */
static void trees_have_a_depth(void **state)
{
    const char *got = value_of(
        "json_valid(json_nest((WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
        " LIMIT 100) SELECT json_group_array(json_object('i', 'n' || n, 'p', 'n' || (n - 1)))"
        " FROM c), 'i', 'p', 'sub'))");

    (void)state;
    assert_string_equal(got, "1");
}

static int set_up(void **state)
{
    static const struct scripts none;
    struct appdb_env env = {.scripts = &none, .seed = 1, .start_us = 1};
    struct err e = ERR_INIT;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/test_functions.%d.db", (int)getpid());
    (void)unlink(path);
    assert_int_equal(appdb_create(path, "CREATE TABLE t (a PRIMARY KEY);", &e), 0);
    assert_int_equal(appdb_open(path, false, &env, &db, &e), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    appdb_close(db);
    (void)unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_give),
        cmocka_unit_test(trees_have_a_depth),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
