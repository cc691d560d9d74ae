/* SPDX-License-Identifier: MIT */
/* BigQuery's SQL: what queries give. */
#include "lang_check.h"

static struct lang_check check = {
    .schema = "CREATE TABLE project (id TEXT PRIMARY KEY); INSERT INTO project VALUES ('p');"
              "CREATE TABLE bq_dataset (id TEXT PRIMARY KEY, location TEXT, created_at TEXT,"
              " updated_at TEXT); INSERT INTO bq_dataset (id) VALUES ('d');"
              "CREATE TABLE bq_table (n INTEGER PRIMARY KEY, dataset, id, fields, created_at);"
              "CREATE TABLE bq_row (t INTEGER, n INTEGER, d TEXT, PRIMARY KEY (t, n));"
              "INSERT INTO bq_table VALUES (1, 'd', 't', '[{\"name\":\"a\",\"type\":\"INTEGER\"},"
              "{\"name\":\"s\",\"type\":\"STRING\"},{\"name\":\"day\",\"type\":\"DATE\"}]', '');"
              "INSERT INTO bq_row VALUES (1, 1, '[1,\"x\",\"2026-01-05\"]'),"
              " (1, 2, '[2,\"y\",\"2026-02-01\"]'), (1, 3, '[3,\"x\",null]');",
    .languages = "{}",
    .scripts = "-- name: find\n"
               "SELECT coalesce('! ' || (r ->> 'error'), r ->> 'rows') AS result"
               " FROM (SELECT bq_query(:q, '', 10, 0) AS r);\n",
};

static const struct lang_case cases[] = {
    {"SELECT s, SUM(a) AS n FROM d.t GROUP BY s ORDER BY s",
     "Row 1: {'s': 'x', 'n': 4}\nRow 2: {'s': 'y', 'n': 2}\n"},
    {"SELECT a FROM `p.d.t` WHERE day >= '2026-01-31'", "Row 1: {'a': 2}\n"},
    {"SELECT TRUE AS b, 1 / 4 AS f, 'it\\'s' AS q, NULL AS z",
     "Row 1: {'b': True, 'f': 0.25, 'q': \"it's\", 'z': None}\n"},
    {"SELECT DATE_TRUNC(day, MONTH) AS m FROM d.t WHERE a = 1",
     "Row 1: {'m': datetime.date(2026, 1, 1)}\n"},
    {"SELECT a FROM d.t QUALIFY ROW_NUMBER() OVER (PARTITION BY s ORDER BY a DESC) = 1 ORDER BY a",
     "Row 1: {'a': 2}\nRow 2: {'a': 3}\n"},
    {"SELECT x.s FROM d.t x LEFT JOIN d.t y ON y.a = x.a + 1 WHERE y.a IS NULL",
     "Row 1: {'s': 'x'}\n"},
    {"SELECT s FROM d.t WHERE s LIKE 'X%'", ""},
    {"SELECT TIMESTAMP_DIFF(TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-01 12:00:00', HOUR) AS h",
     "Row 1: {'h': 12}\n"},
    {"SELECT EXTRACT(ISOWEEK FROM DATE '2027-01-01') AS w, LAST_DAY(DATE '2024-02-05') AS l",
     "Row 1: {'w': 53, 'l': datetime.date(2024, 2, 29)}\n"},
    {"SELECT FORMAT_TIMESTAMP('%Y-%m-%d %H:%M', TIMESTAMP '2026-07-01 12:00:00+00', "
     "'Europe/Paris') AS t",
     "Row 1: {'t': '2026-07-01 14:00'}\n"},
    {"SELECT SAFE.PARSE_DATE('%Y', 'x') AS d, SAFE_CAST('1e3' AS FLOAT64) AS f",
     "Row 1: {'d': None, 'f': 1000.0}\n"},
    {"SELECT b.a FROM d.t", "! Unrecognized name: b at [1:8]"},
    {"SELECT a FROM d.bq_table", "! Not found: Table p:d.bq_table was not found in location US"},
    {"SELECT a FROM project", "! Table \"project\" must be qualified with a dataset (e.g. "
                              "dataset.table)."},
    {"SELECT \"a' OR 1\" AS x", "Row 1: {'x': \"a' OR 1\"}\n"},
    {"SELECT `sql` FROM d.sqlite_schema",
     "! Not found: Table p:d.sqlite_schema was not found in location US"},
    {"SELECT load_extension('x')", "! Function not found: load_extension at [1:8]"},
    {"", "! Syntax error: Unexpected end of query at [1:1]"},
    {"SELECT 1 +", "! Syntax error: Unexpected end of query at [1:11]"},
    {"SELECT CAST(1 AS BLOB)", "! Type not found: BLOB at [1:18]"},
};

static void test_queries(void **state)
{
    (void)state;
    lang_check_all(&check, cases, ARRAY_LEN(cases));
}

/* Whatever is nested in however many levels is refused, not run out of stack over. */
static void test_depth(void **state)
{
    static const char *const parts[] = {"(", "NOT ", "- ", "[", "(SELECT ", "CASE WHEN "};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        auto_buf struct buf b = BUF_INIT(64 << 10);
        (void)buf_add_lit(&b, "SELECT ");
        for (int n = 0; n < 3000; n++)
            (void)buf_printf(&b, "%s", parts[i]);
        assert_true(str_starts(lang_check_find(&check, buf_str(&b)), STR("! ")));
    }
    auto_buf struct buf sum = BUF_INIT(64 << 10);
    (void)buf_add_lit(&sum, "SELECT 1");
    for (int n = 0; n < 3000; n++)
        (void)buf_add_lit(&sum, " + 1");
    assert_true(str_starts(lang_check_find(&check, buf_str(&sum)), STR("! ")));
}

static int set_up(void **state)
{
    (void)state;
    lang_check_open(&check);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lang_check_close(&check);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
