/* SPDX-License-Identifier: MIT */
/* BigQuery's SQL: what queries give. */
#include "lang_check.h"

#include "apps/products/bigquery/bq.h"

static struct lang_check check = {
    .schema = "CREATE TABLE project (id TEXT PRIMARY KEY); INSERT INTO project VALUES ('p');"
              "CREATE TABLE bq_dataset (id TEXT PRIMARY KEY, location TEXT, created_at TEXT,"
              " updated_at TEXT); INSERT INTO bq_dataset (id) VALUES ('d');"
              "CREATE TABLE bq_table (n INTEGER PRIMARY KEY, dataset, id, fields, created_at,"
              " view_query, view_columns);"
              "CREATE TABLE bq_row (t INTEGER, n INTEGER, d TEXT, PRIMARY KEY (t, n));"
              "INSERT INTO bq_table VALUES (1, 'd', 't', '[{\"name\":\"a\",\"type\":\"INTEGER\"},"
              "{\"name\":\"s\",\"type\":\"STRING\"},{\"name\":\"day\",\"type\":\"DATE\"}]', '',"
              " NULL, NULL);"
              "INSERT INTO bq_row VALUES (1, 1, '[1,\"x\",\"2026-01-05\"]'),"
              " (1, 2, '[2,\"y\",\"2026-02-01\"]'), (1, 3, '[3,\"x\",null]');",
    .languages = "{}",
    .scripts = "-- name: find\n"
               "SELECT bq_query(:q, '', 10, 0) AS r;\n"
               "SELECT :r ->> 'error' AS error;\n"
               "SELECT iif(:r ->> 'kind' IN ('SELECT', 'SCRIPT'), :r ->> 'rows',"
               " (:r ->> 'kind') || ' ' || (:r ->> 'total')) AS result;\n",
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
    {"SELECT b.a FROM d.t", "error: Unrecognized name: b at [1:8]"},
    {"SELECT a FROM d.bq_table",
     "error: Not found: Table p:d.bq_table was not found in location US"},
    {"SELECT a FROM project", "error: Table \"project\" must be qualified with a dataset (e.g. "
                              "dataset.table)."},
    {"SELECT \"a' OR 1\" AS x", "Row 1: {'x': \"a' OR 1\"}\n"},
    {"SELECT `sql` FROM d.sqlite_schema",
     "error: Not found: Table p:d.sqlite_schema was not found in location US"},
    {"SELECT load_extension('x')", "error: Function not found: load_extension at [1:8]"},
    {"", "error: Syntax error: Unexpected end of query at [1:1]"},
    {"SELECT 1 +", "error: Syntax error: Unexpected end of query at [1:11]"},
    {"SELECT CAST(1 AS BLOB)", "error: Type not found: BLOB at [1:18]"},
};

static void test_queries(void **state)
{
    (void)state;
    lang_check_all(&check, cases, ARRAY_LEN(cases));
}

/* Each case is run on what those before it have left. */
static const struct lang_case merges[] = {
    {"CREATE TABLE d.m AS SELECT 1 AS id, 'one' AS name, [1] AS l UNION ALL SELECT 2, 'two', [2] "
     "UNION ALL SELECT 3, 'three', [3]",
     "CREATE_TABLE 3"},
    {"CREATE TABLE d.n AS SELECT 2 AS id, 'TWO' AS name, 'u' AS op UNION ALL SELECT 3, NULL, 'd' "
     "UNION ALL SELECT 4, 'FOUR', 'i' UNION ALL SELECT 5, 'FIVE', 'x'",
     "CREATE_TABLE 4"},
    /* The first WHEN that fits counts; rows of which none does stay as they are. */
    {"MERGE INTO d.m AS t USING d.n AS s ON t.id = s.id "
     "WHEN MATCHED AND s.op = 'd' THEN DELETE "
     "WHEN MATCHED THEN UPDATE SET name = CONCAT(t.name, '/', s.name), t.l = [s.id, 0] "
     "WHEN NOT MATCHED BY TARGET AND s.op <> 'x' THEN INSERT (name, id) VALUES (s.name, id) "
     "WHEN NOT MATCHED BY SOURCE AND t.id > 0 THEN UPDATE SET name = UPPER(name)",
     "MERGE 4"},
    {"SELECT * FROM d.m ORDER BY id", "Row 1: {'id': 1, 'name': 'ONE', 'l': [1]}\n"
                                      "Row 2: {'id': 2, 'name': 'two/TWO', 'l': [2, 0]}\n"
                                      "Row 3: {'id': 4, 'name': 'FOUR', 'l': []}\n"},
    {"MERGE d.m USING (SELECT id + 10, name, CAST(NULL AS ARRAY<INT64>) FROM d.n WHERE id = 5) "
     "ON FALSE WHEN NOT MATCHED THEN INSERT ROW WHEN NOT MATCHED BY SOURCE THEN DELETE",
     "MERGE 4"},
    {"SELECT id, name FROM d.m", "Row 1: {'id': 15, 'name': 'FIVE'}\n"},
    {"MERGE d.m t USING (SELECT 15 AS id UNION ALL SELECT 15) s ON t.id = s.id "
     "WHEN MATCHED THEN DELETE",
     "error: UPDATE/MERGE must match at most one source row for each target row"},
    {"UPDATE d.m SET name = 'x' FROM (SELECT 15 AS k UNION ALL SELECT 15) s WHERE id = k",
     "error: UPDATE/MERGE must match at most one source row for each target row"},
    {"SELECT id, name FROM d.m", "Row 1: {'id': 15, 'name': 'FIVE'}\n"},
    /* Two rows of the source, but only one for which something is done. */
    {"MERGE d.m t USING (SELECT 15 AS id, 1 AS k UNION ALL SELECT 15, 2) s ON t.id = s.id "
     "WHEN MATCHED AND k = 2 THEN UPDATE SET id = t.id + k",
     "MERGE 1"},
    {"SELECT id, name FROM d.m", "Row 1: {'id': 17, 'name': 'FIVE'}\n"},
    {"MERGE d.m USING (d.n JOIN (SELECT 2 AS k) AS o ON n.id = o.k) ON m.id = k + 15 "
     "WHEN MATCHED THEN UPDATE SET name = n.name WHEN NOT MATCHED BY SOURCE THEN DELETE",
     "MERGE 1"},
    {"SELECT id, name FROM d.m", "Row 1: {'id': 17, 'name': 'TWO'}\n"},
    {"MERGE d.m USING d.n ON m.id = n.id WHEN NOT MATCHED THEN INSERT (id) VALUES (m.id)",
     "error: Unrecognized name: m at [1:78]"},
    {"MERGE d.m USING d.n ON m.id = n.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = n.name",
     "error: Unrecognized name: n at [1:86]"},
    {"MERGE d.m USING d.n ON 1 WHEN MATCHED THEN DELETE",
     "error: MERGE ON clause should return type BOOL, but returns type INT64 at [1:24]"},
    {"MERGE d.m USING d.n ON TRUE WHEN NOT MATCHED THEN INSERT (id, name) VALUES (1)",
     "error: Inserted row has wrong column count; Has 1, expected 2 at [1:76]"},
    {"MERGE d.m USING d.n ON TRUE WHEN NOT MATCHED THEN INSERT (id, id) VALUES (1, 2)",
     "error: INSERT has columns with duplicate name: id at [1:63]"},
    {"MERGE d.m USING d.n ON TRUE WHEN NOT MATCHED THEN INSERT ROW",
     "error: Query column 3 has type STRING which cannot be inserted into column l, which has type "
     "ARRAY<INT64>"},
    {"MERGE d.m USING d.n ON TRUE WHEN MATCHED THEN INSERT ROW",
     "error: Syntax error: Expected keyword DELETE or keyword UPDATE but got identifier \"INSERT\" "
     "at [1:47]"},
    {"MERGE d.m USING d.n ON TRUE",
     "error: Syntax error: Expected keyword WHEN but got end of query at [1:28]"},
};

static const struct lang_case stored[] = {
    {"CREATE VIEW d.v AS\n  SELECT s, SUM(a) AS n -- of all\n  FROM d.t GROUP BY s; ",
     "CREATE_VIEW 0"},
    {"SELECT v.n FROM `p.d.v` AS v WHERE s = 'x'", "Row 1: {'n': 4}\n"},
    {"SELECT view_definition FROM d.INFORMATION_SCHEMA.VIEWS",
     "Row 1: {'view_definition': 'SELECT s, SUM(a) AS n -- of all\\n  FROM d.t GROUP BY s'}\n"},
    /* A view over a view, with names of its own; what is around it is not seen in it. */
    {"CREATE VIEW IF NOT EXISTS d.w (label OPTIONS(description='x, y'), total) OPTIONS(a = 1) AS "
     "(SELECT * FROM p.d.v)",
     "CREATE_VIEW 0"},
    {"WITH v AS (SELECT 9 AS n) SELECT * FROM d.w JOIN v ON TRUE ORDER BY label",
     "Row 1: {'label': 'x', 'total': 4, 'n': 9}\nRow 2: {'label': 'y', 'total': 2, 'n': 9}\n"},
    {"SELECT table_name, table_type FROM d.INFORMATION_SCHEMA.TABLES WHERE table_name IN ('t', "
     "'w')",
     "Row 1: {'table_name': 't', 'table_type': 'BASE TABLE'}\n"
     "Row 2: {'table_name': 'w', 'table_type': 'VIEW'}\n"},
    {"SELECT column_name, data_type FROM d.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'w'",
     "Row 1: {'column_name': 'label', 'data_type': 'STRING'}\n"
     "Row 2: {'column_name': 'total', 'data_type': 'INT64'}\n"},
    /* It follows its table. */
    {"INSERT INTO d.t VALUES (10, 'z', NULL)", "INSERT 1"},
    {"SELECT total FROM d.w WHERE label = 'z'", "Row 1: {'total': 10}\n"},
    {"DELETE FROM d.t WHERE a = 10", "DELETE 1"},
    {"CREATE VIEW d.v AS SELECT 1 AS a", "error: Already Exists: Table p:d.v"},
    {"CREATE VIEW IF NOT EXISTS d.v AS SELECT 1 AS a", "CREATE_VIEW 0"},
    {"CREATE OR REPLACE VIEW d.v AS SELECT s, n FROM (SELECT total AS n, label AS s FROM d.w)",
     "error: View p:d.v refers to itself"},
    {"CREATE OR REPLACE VIEW d.v AS SELECT s, a AS n, day FROM d.t WHERE a > 2", "CREATE_VIEW 0"},
    {"SELECT * FROM d.v", "Row 1: {'s': 'x', 'n': 3, 'day': None}\n"},
    {"CREATE OR REPLACE VIEW d.v AS SELECT a AS n, s FROM d.t WHERE a = 2", "CREATE_VIEW 0"},
    {"SELECT * FROM d.w", "Row 1: {'label': 2, 'total': 'y'}\n"},
    {"CREATE OR REPLACE TABLE d.v (a INT64)",
     "error: p:d.v is not allowed for this operation because it is currently a VIEW."},
    {"CREATE OR REPLACE VIEW d.t AS SELECT 1 AS a",
     "error: p:d.t is not allowed for this operation because it is currently a TABLE."},
    {"INSERT INTO d.v VALUES (1, 'a')",
     "error: Using table p:d.v is not allowed for this operation because of its type. Try using a "
     "different table that is of type TABLE."},
    {"DROP VIEW d.t",
     "error: p:d.t is not allowed for this operation because it is currently a TABLE."},
    {"DROP TABLE d.v",
     "error: p:d.v is not allowed for this operation because it is currently a VIEW."},
    {"CREATE VIEW d.x AS SELECT a + 1 FROM d.t",
     "error: CREATE VIEW columns must be named, but column 1 has no name at [1:27]"},
    {"CREATE VIEW d.x AS SELECT a, s AS A FROM d.t",
     "error: Duplicate column names in the result are not supported. Found duplicate(s): A"},
    {"CREATE VIEW d.x (a, b) AS SELECT 1 AS a",
     "error: The number of columns in the column list, 2, does not match the number of columns of "
     "the query, 1"},
    {"CREATE VIEW d.x AS SELECT a FROM d.none",
     "error: Not found: Table p:d.none was not found in location US"},
    {"CREATE VIEW none.x AS SELECT 1 AS a", "error: Not found: Dataset p:none"},
    {"CREATE VIEW d.x SELECT 1 AS a",
     "error: Syntax error: Expected keyword AS but got keyword SELECT at [1:17]"},
    {"CREATE OR REPLACE VIEW d.v AS SELECT b FROM (SELECT 1 AS b)", "CREATE_VIEW 0"},
    {"CREATE VIEW d.x AS SELECT b FROM d.v", "CREATE_VIEW 0"},
    {"CREATE OR REPLACE VIEW d.v AS SELECT 1 AS c", "CREATE_VIEW 0"},
    {"SELECT 1 FROM d.x AS y",
     "error: Unrecognized name: b at [1:8]; failed to parse view 'p.d.x' at [1:15]"},
    {"DROP VIEW d.x", "DROP_VIEW 0"},
    {"DROP VIEW d.v", "DROP_VIEW 0"},
    {"SELECT * FROM d.w", "error: Not found: Table p:d.v was not found in location US"},
    {"DROP VIEW d.v", "error: Not found: Table p:d.v"},
    {"DROP VIEW IF EXISTS d.v", "DROP_VIEW 0"},
    {"DROP VIEW d.w", "DROP_VIEW 0"},
};

static void test_views(void **state)
{
    (void)state;
    lang_check_all(&check, stored, ARRAY_LEN(stored));
}

static const struct lang_case scripts[] = {
    {"SELECT 1 AS a; SELECT 2 AS b;", "Row 1: {'b': 2}\n"},
    {"SELECT 1 AS a; CREATE TABLE d.s AS SELECT 7 AS n; INSERT INTO d.s VALUES (8);",
     "Row 1: {'a': 1}\n"},
    {"SELECT SUM(n) AS n FROM d.s", "Row 1: {'n': 15}\n"},
    {"DECLARE x INT64 DEFAULT 3;\nDECLARE y, z STRING;\nDECLARE day DEFAULT DATE '2026-01-31';\n"
     "SET x = x * 2; SET (y, z) = ('it\\'s', CONCAT('<', x, '>'));\n"
     "SELECT x, y, z, DATE_ADD(day, INTERVAL 1 DAY) AS d",
     "Row 1: {'x': 6, 'y': \"it's\", 'z': '<6>', 'd': datetime.date(2026, 2, 1)}\n"},
    /* A column hides a variable of its name; arrays, structs and queries are values too. */
    {"DECLARE a INT64 DEFAULT 100; DECLARE k ARRAY<INT64>; DECLARE r STRUCT<n INT64, s STRING>;"
     "SET k = (SELECT ARRAY_AGG(a ORDER BY a) FROM d.t); SET r = (SELECT AS STRUCT 5 AS n, 'q' AS "
     "s);"
     "SELECT k, r.n + k[OFFSET(1)] AS m, COUNT(*) AS c FROM d.t WHERE a < 3 AND a IN UNNEST(k)",
     "Row 1: {'k': [1, 2, 3], 'm': 7, 'c': 2}\n"},
    {"DECLARE n INT64; SET n = (SELECT COUNT(*) FROM d.t);"
     "IF n > 5 THEN SELECT 'many' AS w; ELSEIF n > 2 THEN SELECT 'some' AS w; SET n = 0;"
     " ELSE SELECT 'few' AS w; END IF; IF n IS NULL THEN SELECT 0 AS w; END IF;",
     "Row 1: {'w': 'some'}\n"},
    {"DECLARE n INT64; IF n > 1 THEN SELECT 1 AS x; ELSE SELECT 2 AS x; END IF",
     "Row 1: {'x': 2}\n"},
    {"BEGIN DECLARE i INT64 DEFAULT 1; BEGIN SET i = i + 1; END; SELECT i; END; SELECT i",
     "error: Query error: Unrecognized name: i at [1:82]"},
    {"UPDATE d.s SET n = n + 1 WHERE TRUE; SELECT @@row_count AS n", "Row 1: {'n': 2}\n"},
    /* What a failure undoes: the statement, where it is caught, else all of the call. */
    {"BEGIN INSERT INTO d.s VALUES (1); INSERT INTO d.s SELECT 1 / a FROM UNNEST([1, 0]) AS a;"
     " EXCEPTION WHEN ERROR THEN SELECT @@error.message AS m, COUNT(*) AS n FROM d.s; END",
     "Row 1: {'m': 'Query error: Query column 1 has type FLOAT64 which cannot be inserted into "
     "column n, which has type INT64 at [1:35]', 'n': 3}\n"},
    {"BEGIN MERGE d.s USING UNNEST([1, 1]) AS u ON n = u WHEN MATCHED THEN DELETE;"
     " EXCEPTION WHEN ERROR THEN SELECT COUNT(*) AS n FROM d.s; END",
     "Row 1: {'n': 3}\n"},
    {"DELETE FROM d.s WHERE TRUE; SELECT * FROM d.none",
     "error: Query error: Not found: Table p:d.none was not found in location US at [1:29]"},
    {"SELECT COUNT(*) AS n FROM d.s", "Row 1: {'n': 3}\n"},
    {"BEGIN TRANSACTION; DELETE FROM d.s WHERE n = 1; COMMIT TRANSACTION;"
     "BEGIN; DELETE FROM d.s WHERE TRUE; ROLLBACK; BEGIN TRANSACTION; TRUNCATE TABLE d.s;"
     "SELECT COUNT(*) AS n FROM d.s",
     "Row 1: {'n': 0}\n"},
    {"SELECT n FROM d.s ORDER BY n", "Row 1: {'n': 8}\nRow 2: {'n': 9}\n"},
    {"CREATE TEMP TABLE big AS SELECT a, s FROM d.t WHERE a > 1; DELETE FROM big WHERE a = 3;"
     "SELECT b.s, (SELECT COUNT(*) FROM big) AS n FROM big AS b",
     "Row 1: {'s': 'y', 'n': 1}\n"},
    {"SELECT a FROM big",
     "error: Table \"big\" must be qualified with a dataset (e.g. dataset.table)."},
    {"CREATE TEMP TABLE big AS SELECT 1 AS a",
     "error: Use of CREATE TEMPORARY TABLE requires a script or session"},
    {"SELECT 1; CREATE TEMP TABLE d.big AS SELECT 1 AS a",
     "error: Query error: Temporary tables may not be qualified at [1:29]"},
    {"SET x = 1", "error: Query error: Undeclared variable: x at [1:5]"},
    {"DECLARE x INT64; SET x = 'a';",
     "error: Query error: Cannot assign a value of type STRING to variable x of type INT64 at "
     "[1:22]"},
    {"DECLARE x INT64; DECLARE X STRING; SELECT 1",
     "error: Query error: Variable 'X' redeclaration is not allowed at [1:26]"},
    {"SELECT 1; DECLARE x INT64",
     "error: Variable declarations are allowed only at the start of a block or script at [1:11]"},
    {"DECLARE a, b INT64; SET (a, b) = (1, 2, 3)",
     "error: Query error: Expected 2 values for SET, but got STRUCT<_field_1 INT64, _field_2 "
     "INT64, _field_3 INT64> at [1:34]"},
    {"IF 1 THEN SELECT 1; END IF",
     "error: Query error: IF condition should return type BOOL, but returns type INT64 at [1:4]"},
    {"IF TRUE THEN SELECT 1 END IF",
     "error: Syntax error: Expected \";\" but got keyword END at [1:23]"},
    {"BEGIN SELECT 1;", "error: Syntax error: Expected keyword END but got end of query at [1:16]"},
    {"SELECT 1; END", "error: Syntax error: Unexpected keyword END at [1:11]"},
    {"SELECT 1;; SELECT 2", "error: Syntax error: Unexpected \";\" at [1:10]"},
    {"SELECT 1 SELECT 2",
     "error: Syntax error: Expected end of input but got keyword SELECT at [1:10]"},
    {"COMMIT", "error: Query error: COMMIT TRANSACTION without an open transaction at [1:1]"},
    {"LOOP SELECT 1; END LOOP", "error: Statement not supported: LOOP at [1:1]"},
    {"SELECT 1;\nEXECUTE IMMEDIATE 'SELECT 1'",
     "error: Statement not supported: EXECUTE IMMEDIATE at [2:1]"},
    {"CALL d.p()", "error: Statement not supported: CALL at [1:1]"},
    {"CREATE PROCEDURE d.p() BEGIN SELECT 1; END",
     "error: Only tables, views and schemas are supported at [1:8]"},
    {"SELECT @@error.message", "error: Unrecognized name: @@error at [1:8]"},
};

static void test_scripts(void **state)
{
    (void)state;
    lang_check_all(&check, scripts, ARRAY_LEN(scripts));
}

/* Joins do not look at all pairs of rows, which would be more steps than a call has. */
static const struct lang_case large[] = {
    {"CREATE TABLE d.l AS SELECT x, [x] AS y FROM UNNEST(GENERATE_ARRAY(1, 5000)) AS x",
     "CREATE_TABLE 5000"},
    {"SELECT COUNT(*) AS n FROM d.l a JOIN d.l b ON a.x = b.x + 1", "Row 1: {'n': 4999}\n"},
    {"SELECT COUNT(*) AS n FROM d.l a LEFT JOIN (SELECT x + 5 AS x FROM d.l) b USING (x) "
     "WHERE b.x IS NULL",
     "Row 1: {'n': 5}\n"},
    {"WITH b AS (SELECT x * 2 AS x FROM d.l) SELECT COUNT(*) AS n FROM d.l a JOIN b ON a.x = b.x",
     "Row 1: {'n': 2500}\n"},
    {"CREATE VIEW d.k AS SELECT -x AS x FROM d.l", "CREATE_VIEW 0"},
    {"SELECT COUNT(*) AS n FROM d.k a JOIN d.k b ON a.x = b.x", "Row 1: {'n': 5000}\n"},
    {"DROP VIEW d.k", "DROP_VIEW 0"},
    {"SELECT COUNT(*) AS n FROM d.l a WHERE NOT EXISTS (SELECT 1 FROM d.l b WHERE b.x = a.x + 7)",
     "Row 1: {'n': 7}\n"},
    {"MERGE d.l a USING (SELECT x + 1 AS x FROM d.l) b ON a.x = b.x WHEN MATCHED THEN UPDATE SET "
     "y = [1, 2] WHEN NOT MATCHED THEN INSERT (x) VALUES (x) WHEN NOT MATCHED BY SOURCE THEN "
     "DELETE",
     "MERGE 5001"},
    {"SELECT MIN(x) AS a, MAX(x) AS b, SUM(ARRAY_LENGTH(y)) AS n FROM d.l",
     "Row 1: {'a': 2, 'b': 5001, 'n': 9998}\n"},
    {"UPDATE d.l SET y = [b.a] FROM d.t b WHERE l.x = b.a", "UPDATE 2"},
    {"DROP TABLE d.l", "DROP_TABLE 0"},
};

static void test_large(void **state)
{
    (void)state;
    lang_check_all(&check, large, ARRAY_LEN(large));
}

static void test_steps(void **state)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);

    (void)state;
    for (int n = 1; n < BQ_MAX_STEPS; n++)
        (void)buf_add_lit(&b, "BEGIN END;");
    (void)buf_add_lit(&b, "SELECT 1 AS a;");
    assert_true(str_is(lang_check_find(&check, buf_str(&b)), "Row 1: {'a': 1}\n"));
    (void)buf_add_lit(&b, "SELECT 2 AS a");
    assert_true(str_starts(lang_check_find(&check, buf_str(&b)),
                           STR("error: Query error: Resources exceeded")));
}

static void test_merge(void **state)
{
    (void)state;
    lang_check_all(&check, merges, ARRAY_LEN(merges));
}

/* Whatever is nested in however many levels is refused, not run out of stack over. */
static void test_depth(void **state)
{
    static const char *const parts[][2] = {
        {"SELECT ", "("}, {"SELECT ", "NOT "},     {"SELECT ", "- "},
        {"SELECT ", "["}, {"SELECT ", "(SELECT "}, {"SELECT ", "CASE WHEN "},
        {"", "BEGIN "},   {"", "IF TRUE THEN "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        auto_buf struct buf b = BUF_INIT(64 << 10);
        (void)buf_printf(&b, "%s", parts[i][0]);
        for (int n = 0; n < 3000; n++)
            (void)buf_printf(&b, "%s", parts[i][1]);
        assert_true(str_starts(lang_check_find(&check, buf_str(&b)), STR("error: ")));
    }
    auto_buf struct buf sum = BUF_INIT(64 << 10);
    (void)buf_add_lit(&sum, "SELECT 1");
    for (int n = 0; n < 3000; n++)
        (void)buf_add_lit(&sum, " + 1");
    assert_true(str_starts(lang_check_find(&check, buf_str(&sum)), STR("error: ")));
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
        cmocka_unit_test(test_queries), cmocka_unit_test(test_views), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_scripts), cmocka_unit_test(test_steps), cmocka_unit_test(test_large),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
