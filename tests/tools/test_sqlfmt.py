# SPDX-License-Identifier: MIT
"""tools/sqlfmt: the layout of an app's SQL, and that nothing else of it changes."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile

import tap

TOOL = os.path.join(os.environ["TIDEPOOL_SOURCE"], "tools", "sqlfmt")


def load():
    """The tool as a module, for what a filter does not show."""
    loader = importlib.machinery.SourceFileLoader("sqlfmt", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sqlfmt", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


SQLFMT = load()


def lay_out(text):
    done = subprocess.run([sys.executable, TOOL, "-"], input=text, capture_output=True, text=True)
    tap.equal((done.returncode, done.stderr), (0, ""), "status")
    return done.stdout


def same(text):
    """A text that is laid out already."""
    tap.equal(SQLFMT.format_sql(text), text)


def becomes(text, want):
    tap.equal(SQLFMT.format_sql(text), want)
    same(want)


def test_a_short_statement_is_one_line():
    tap.equal(lay_out("select id,name\n from user\nwhere id=:id ;"),
              "SELECT id, name FROM user WHERE id = :id;\n")


def test_a_long_statement_has_a_line_per_clause():
    becomes("SELECT id, subject, sender FROM message m LEFT JOIN label l ON l.id = m.label WHERE "
            "m.topic = :topic AND m.n <= :last AND m.sender BETWEEN 'a' AND 'b' ORDER BY n "
            "LIMIT 1;",
            "SELECT id, subject, sender\n"
            "FROM message m\n"
            "LEFT JOIN label l ON l.id = m.label\n"
            "WHERE m.topic = :topic AND m.n <= :last AND m.sender BETWEEN 'a' AND 'b'\n"
            "ORDER BY n\n"
            "LIMIT 1;\n")


def test_conditions_break_at_their_words_and_not_at_between():
    long = "a_rather_long_name_of_a_column"
    becomes("SELECT 1 FROM t WHERE %s BETWEEN :from AND :to AND (%s = 1 OR NOT %s IN (1, 2));"
            % (long, long, long),
            "SELECT 1\n"
            "FROM t\n"
            "WHERE %s BETWEEN :from AND :to\n"
            "  AND (%s = 1 OR NOT %s IN (1, 2));\n" % (long, long, long))


def test_json_objects_have_a_line_per_pair():
    becomes("SELECT drop_nulls(json_object('messageId', id, 'subject', subject, 'from', sender, "
            "'to', receivers, 'size', size)) AS result FROM message;",
            "SELECT drop_nulls(json_object(\n"
            "  'messageId', id,\n"
            "  'subject', subject,\n"
            "  'from', sender,\n"
            "  'to', receivers,\n"
            "  'size', size\n"
            ")) AS result\n"
            "FROM message;\n")


def test_columns_fill_their_lines():
    names = ["column_%02d" % i for i in range(12)]
    becomes("INSERT INTO t (%s) SELECT 1;" % ", ".join(names),
            "INSERT INTO t (\n  %s,\n  %s\n)\nSELECT 1;\n"
            % (", ".join(names[:9]), ", ".join(names[9:])))


def test_a_case_has_a_line_per_branch():
    becomes("SELECT CASE WHEN a THEN 1 WHEN b THEN 2 WHEN c THEN 3 ELSE 4 END AS x;",
            "SELECT CASE\n"
            "  WHEN a THEN 1\n"
            "  WHEN b THEN 2\n"
            "  WHEN c THEN 3\n"
            "  ELSE 4\n"
            "END AS x;\n")


def test_tables_views_triggers():
    same("CREATE TABLE entry (\n"
         "  id INTEGER PRIMARY KEY, -- the order of arrival\n"
         "  folder INTEGER NOT NULL REFERENCES folder (id) ON DELETE CASCADE,\n"
         "  -- What it was called.\n"
         "  name TEXT NOT NULL COLLATE NOCASE,\n"
         "  UNIQUE (folder, name)\n"
         ") WITHOUT ROWID;\n"
         "CREATE INDEX entry_name ON entry (name);\n"
         "\n"
         "CREATE VIEW named AS SELECT id FROM entry WHERE name <> '';\n"
         "CREATE TRIGGER gone AFTER DELETE ON entry BEGIN\n"
         "  DELETE FROM named WHERE id = OLD.id;\n"
         "  INSERT INTO log VALUES (OLD.id);\n"
         "END;\n")


def test_comments_stay_where_they_are():
    becomes("-- An app.\n\n-- part: p\n-- Why.\nSELECT 1 AS a; -- one\n-- include: q\n"
            "SELECT a, -- first\n b FROM t;\n-- name: n\nSELECT 1 AS x;\n-- The end.",
            "-- An app.\n\n-- part: p\n-- Why.\nSELECT 1 AS a; -- one\n-- include: q\n"
            "SELECT\n  a, -- first\n  b\nFROM t;\n\n-- name: n\nSELECT 1 AS x;\n-- The end.\n")


def test_texts_and_names_are_not_touched():
    same("SELECT 'select  x -- y;', \"From\", x'00', :select, {{jql :query}}, a.\"b\", -1, "
         "a - -1;\n")
    same("SELECT E'a''b', x::text, value ->> '$.a', filter, left(a, 1);\n")
    same("SELECT json_each('[1, \n    2]') AS two_lines;\n")


def test_words_that_may_be_names_keep_their_case():
    same("SELECT offset AS filter, recursive AS view FROM partition;\n")


def test_what_cannot_be_read_is_refused():
    for text, want in (("SELECT (1;", "line 1: ( has no end"), ("SELECT 1);", "unexpected )"),
                       ("SELECT 1;\nSELECT 2\n", "line 2: the statement does not end with ';'"),
                       ("SELECT CASE WHEN 1 THEN 2;", "CASE has no end")):
        done = subprocess.run([sys.executable, TOOL, "-"], input=text, capture_output=True,
                              text=True)
        tap.equal((done.returncode, done.stdout), (1, ""), text)
        tap.contains(done.stderr, want)


def test_a_layout_that_changes_tokens_is_not_written():
    module = load()
    proper = module.lay_out
    module.lay_out = lambda text: proper(text).replace("2", "3")
    try:
        module.format_sql("SELECT 1, 2;\n")
    except module.Fault as e:
        tap.contains(str(e), "the tokens differ near '2")
        return
    raise AssertionError("it was accepted")


def test_a_layout_that_does_not_hold_still_is_not_written():
    module = load()
    proper = module.lay_out
    module.lay_out = lambda text: "\n" + proper(text) if text[0] != "\n" else "\n\n" + proper(text)
    try:
        module.format_sql("SELECT 1;\n")
    except module.Fault as e:
        tap.contains(str(e), "twice")
        return
    raise AssertionError("it was accepted")


def test_check_names_files_and_leaves_them():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = os.path.join(folder, "good.sql"), os.path.join(folder, "bad.sql")
        for path, text in ((good, "SELECT 1;\n"), (bad, "SELECT  1;\n")):
            with open(path, "w") as f:
                f.write(text)

        def run(*args):
            done = subprocess.run([sys.executable, TOOL, *args, good, bad], capture_output=True,
                                  text=True)
            with open(bad) as f:
                return done.returncode, done.stdout.count("\n"), f.read()
        tap.equal(run("--check"), (1, 1, "SELECT  1;\n"))
        tap.equal(run(), (0, 0, "SELECT 1;\n"))
        tap.equal(run("--check"), (0, 0, "SELECT 1;\n"))


def test_a_new_app_is_laid_out():
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "fresh")
        subprocess.run([os.environ["TIDEPOOL"], "app", "new", where], check=True,
                       stdout=subprocess.DEVNULL)
        files = [os.path.join(where, n) for n in os.listdir(where) if n.endswith(".sql")]
        tap.equal(len(files), 3, "files")
        done = subprocess.run([sys.executable, TOOL, "--check", *files], capture_output=True,
                              text=True)
        tap.equal((done.returncode, done.stdout), (0, ""), "status")


tap.main(globals())
