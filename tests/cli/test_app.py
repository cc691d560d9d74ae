# SPDX-License-Identifier: MIT
"""`tidepool app`: a good app passes `check`, and each mistake is found and placed; a new one works;
`ls` and `show` tell what there is."""

import json
import os
import shutil
import subprocess
import tempfile

import tap

TIDEPOOL = os.environ["TIDEPOOL"]
SHOP = os.path.join(os.environ["TIDEPOOL_SOURCE"], "tests", "lib", "shop")


def check(*folders):
    return subprocess.run([TIDEPOOL, "app", "check", *folders], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def broken(file, old, new):
    """What is said of the shop with OLD replaced by NEW in FILE."""
    with tempfile.TemporaryDirectory() as tmp:
        shop = shutil.copytree(SHOP, os.path.join(tmp, "shop"))
        path = os.path.join(shop, file)
        with open(path) as f:
            text = f.read()
        tap.contains(text, old)
        with open(path, "w") as f:
            f.write(text.replace(old, new, 1))
        p = check(shop)
    tap.equal(p.returncode, 1, "status")
    return p.stdout + p.stderr


def test_a_good_app_passes():
    p = check(SHOP)
    tap.equal(p.stdout, "shop: 3 tools, 14 cases, ok\nshop/counter: 3 tools, 7 cases, ok\n",
              "report")
    tap.equal(p.stderr, "", "standard error")
    tap.equal(p.returncode, 0, "status")


def test_folders_that_are_no_apps_are_refused():
    p = check("/nonexistent")
    tap.equal(p.returncode, 1, "status")
    tap.contains(p.stderr, "/nonexistent")
    tap.contains(p.stderr, "No such file")


def test_mistakes_are_found():
    for file, old, new, want in (
            ("app.json", '"json"', '"yaml"', "app.json: /errors is text, json, rpc, result or raw"),
            ("app.json", "{upper:6}", "{lower:6}", "app.json: /ids/ticket"),
            ("app.json", '"Shop"', "5", "app.json: /title is missing"),
            ("tools.json", '"get_order"', '"fetch_order"',
             "tools.json: fetch_order: has no script in tools.sql"),
            ("tools.json", '"integer"', '"whole"', "get_order: inputSchema"),
            ("tools.json", "One order with its lines.", "",
             "get_order: the description is missing"),
            ("tools.sql", "-- name: create_order", "-- name: get_order",
             "tools.sql: line 15: get_order is in line 1 already"),
            ("tools.sql", "FROM product WHERE name = :product;\nSELECT 'no",
             "FROM products WHERE name = :product;\nSELECT 'no", "no such table: products"),
            ("tools.sql", ":quantity * price", ":qty * price", ":qty is neither an argument"),
            ("tools.sql", "SELECT id, product", "DELETE FROM orders;\nSELECT id, product",
             "writes, but is said to only read"),
            ("schema.sql", "CREATE TABLE orders", "CREATE orders", "schema"),
            ("data.sql", "-- name: export", "-- name: dump", "belong together"),
            ("data.sql", "'stock', stock", "'stock', stock + 1",
             "seed/default: export, import and export again differ"),
            ("cases/orders.jsonl", '"total": 15', '"total": 16',
             "cases/orders.jsonl:2: get_order: expected result "),
            ("cases/orders.jsonl", '"total": 15', '"total": 16',
             'Z"}\n    got {"id":1001,"product":"tea","quantity":3,"total":15,'),
            ("cases/orders.jsonl", '"/ticket"', '"/tickets"', "nothing at '/tickets' to save"),
            ("cases/orders.jsonl", '{what}', '{what}s',
             "cases/orders.jsonl:9: get_order: expected like "),
            ("cases/orders.jsonl", "only 2 left", "only 3 left",
             'expected error "{\\"error\\": \\"only 3 left\\"}"\n'
             '    got the error {"error": "only 2 left"}'),
            ("cases/orders.jsonl", '"tool": "get_order", "args": {"order_id": 9}', '"tool": "x"',
             "cases/orders.jsonl:7: no tool 'x'"),
            ("counter/app.json", '".."', '"../bar"', "bar/app.json"),
            ("counter/app.json", '".."', '"."', "app.json: /base: more than 4 folders"),
            ("counter/tools.json", '"get_order"', '"gets"', "gets: has no script in tools.sql"),
            ("counter/tools.json", '["integer", "string"]', '"whole"', "order: accepts"),
            ("counter/tools.sql", "include: known", "include: new",
             "tools.sql: line 2: no part named 'new_product' before it"),
            ("counter/cases/all.jsonl", "no such", "such a", "cases/all.jsonl:2:"),
            ("seed/default.json", '"price": 5, ', "", "NOT NULL constraint failed"),
            ("app.json", '"title"', '"titel": "x", "title"',
             "app.json: /titel is not known; there are title, group, "),
            ("app.json", '"missing"', '"mising"',
             "app.json: /texts/mising is not known; there are missing, ")):
        tap.contains(broken(file, old, new), want)


def included(files, old="SELECT stock, price FROM product WHERE name = :product;",
             new="-- include: common/known"):
    """What check says of the shop, with FILES written beside it."""
    with tempfile.TemporaryDirectory() as tmp:
        shop = shutil.copytree(SHOP, os.path.join(tmp, "shop"))
        for name, text in files.items():
            path = os.path.join(tmp, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text)
        path = os.path.join(shop, "tools.sql")
        with open(path) as f:
            text = f.read()
        tap.contains(text, old)
        with open(path, "w") as f:
            f.write(text.replace(old, new, 1))
        p = check(shop)
    return p.stdout + p.stderr


def test_files_that_apps_share():
    known = "-- Shared.\nSELECT stock, price\nFROM product\nWHERE name = :product;\n"
    good = "shop: 3 tools, 14 cases, ok\nshop/counter: 3 tools, 7 cases, ok\n"
    tap.equal(included({"common/known.sql": known}), good)
    tap.equal(included({"shop/common/known.sql": known}), good)
    # The app's own comes first.
    tap.equal(included({"shop/common/known.sql": known, "common/known.sql": "broken"}), good)
    tap.contains(included({"common/known.sql": "broken", "shop/common/other.sql": known}),
                 "tools.sql: common/known.sql: line 1: the statement does not end with ';'")
    tap.contains(included({}), "tools.sql: line 29: no file common/known.sql in the app's folder "
                               "or beside it")
    for name in ("common/../known", "common/", "common/a/b", "other/known", "/etc/passwd"):
        tap.contains(included({"common/known.sql": known}, new="-- include: " + name),
                     "'%s' is not the name of a file: common/NAME" % name)
    for text in ("-- name: x\nSELECT 1;\n", "-- include: common/known\n"):
        tap.contains(included({"common/known.sql": text}),
                     "common/known.sql: line 1: an included file has statements only")
    tap.contains(included({"common/known.sql": "SELECT missing;\n"}),
                 "tools.sql: price: line 29: no such column: missing")


def test_schemas_share_files():
    with tempfile.TemporaryDirectory() as tmp:
        shop = shutil.copytree(SHOP, os.path.join(tmp, "shop"))
        path = os.path.join(shop, "schema.sql")
        os.mkdir(os.path.join(tmp, "common"))
        shutil.copy(path, os.path.join(tmp, "common", "tables.sql"))
        with open(path, "w") as f:
            f.write("-- The tables.\n-- include: common/tables\n")
        tap.equal(check(shop).returncode, 0, "status")
        with open(path, "a") as f:
            f.write("-- include: common/more\n")
        tap.contains(check(shop).stderr, "schema.sql: no file common/more.sql")


def test_clocks_and_random_numbers_of_the_machine_are_refused():
    ours, draw = "use now() or now_ms()", "use rand_int(), rand_text() or new_id()"
    for sql, want in (
            ("random()", "line 2: random() is not the instance's: " + draw),
            ("abs(RANDOM () % 5)", "line 2: random() is not the instance's: " + draw),
            ("hex(randomblob(4))", "randomblob() is not the instance's: " + draw),
            ("CURRENT_TIMESTAMP", "current_timestamp is not the instance's: " + ours),
            ("current_date", "current_date is not the instance's"),
            ("datetime('now')", "datetime() of the machine's time is not the instance's: " + ours),
            ("datetime( /* x */ 'NOW', '+1 day')", "datetime() of the machine's time"),
            ("unixepoch()", "unixepoch() of the machine's time"),
            ("strftime('%s')", "strftime() of the machine's time"),
            ("strftime('%Y-%m', 'now')", "strftime() of the machine's time")):
        text = broken("tools.sql", "SELECT id, product",
                      "SELECT %s AS x;\nSELECT id, product" % sql)
        tap.contains(text, "tools.sql: get_order: ")
        tap.contains(text, want)
    text = broken("schema.sql", "CREATE TABLE orders (",
                  "CREATE TABLE stamped (at TEXT DEFAULT CURRENT_TIMESTAMP);\n"
                  "CREATE TABLE orders (")
    tap.contains(text, "schema: line")
    tap.contains(text, "current_timestamp is not the instance's")
    # Texts, comments, names and times of the instance are none of these.
    fine = ("SELECT 'random() datetime(''now'')', datetime(now(), '+1 day'), date(:order_id), "
            "strftime('%s', now()), julianday('2026-01-01'), :order_id = 'now' AS random "
            "/* random() */ -- date('now')\n;\n")
    with tempfile.TemporaryDirectory() as tmp:
        shop = shutil.copytree(SHOP, os.path.join(tmp, "shop"))
        path = os.path.join(shop, "tools.sql")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace("SELECT id, product", fine + "SELECT id, product", 1))
        p = check(shop)
        tap.equal((p.returncode, p.stderr), (0, ""), p.stdout)


def test_tools_without_cases_are_found():
    with open(os.path.join(SHOP, "cases", "orders.jsonl")) as f:
        lines = f.read()
    text = broken("cases/orders.jsonl", lines, lines.split("\n")[0] + "\n")
    tap.contains(text, "no call of get_order succeeds")
    tap.contains(text, "no call of create_order fails")


def app(*words, **env):
    return subprocess.run([TIDEPOOL, "app", *words], text=True, timeout=60,
                          env={**os.environ, **env},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_new_ones_work():
    with tempfile.TemporaryDirectory() as tmp:
        folder = os.path.join(tmp, "a", "mine")
        p = app("new", folder)
        tap.equal((p.returncode, p.stdout.split("\n")[0]), (0, folder), p.stderr)
        p = check(folder)
        tap.equal(p.stdout, "mine: 3 tools, 6 cases, ok\n", "report")
        p = app("new", folder)
        tap.equal(p.returncode, 1, "status")
        tap.contains(p.stderr, "exists already")


def test_lists():
    with tempfile.TemporaryDirectory() as tmp:
        apps, state = os.path.join(tmp, "apps"), os.path.join(tmp, "state")
        shutil.copytree(SHOP, os.path.join(apps, "shop"))
        shutil.copytree(SHOP, os.path.join(apps, "torn"))
        os.unlink(os.path.join(apps, "torn", "tools.sql"))
        tap.equal(app("new", os.path.join(state, "apps", "own", "mine")).returncode, 0, "status")
        p = app("ls", "--state", state, TIDEPOOL_APPS_DIR=apps)
        tap.equal(p.returncode, 0, p.stderr)
        rows = {line.split()[0]: line for line in p.stdout.split("\n")[1:] if line}
        tap.equal(sorted(rows), ["mine", "shop", "torn"])
        tap.equal(rows["shop"].split(), ["shop", "Shop", "3", "yes", "ok"])
        tap.contains(rows["torn"], "tools.sql")
        # One of one's own that fails its check is not ok.
        with open(os.path.join(state, "apps", "own", "mine", "tools.sql"), "a") as f:
            f.write("\n-- name: draw\nSELECT random() AS result;\n")
        tools = os.path.join(state, "apps", "own", "mine", "tools.json")
        with open(tools) as f:
            rows = json.load(f)
        with open(tools, "w") as f:
            json.dump(rows + [{"name": "draw", "description": "Draws.",
                               "inputSchema": {"type": "object"}}], f)
        p = app("ls", "--state", state, TIDEPOOL_APPS_DIR=apps, COLUMNS="200")
        tap.contains(p.stdout, "tools.sql: draw: line")
        tap.equal([x.split()[-1] for x in p.stdout.split("\n") if x.startswith("shop")], ["ok"])
        p = app("show", "--state", state, "SHOP", TIDEPOOL_APPS_DIR=apps)
        tap.equal(p.returncode, 0, p.stderr)
        for part in ("title    Shop\n", "get_order (read-only)\n    One order", "create_order\n"):
            tap.contains(p.stdout, part)
        p = app("show", "--state", state, "shop", "Toolathlon", TIDEPOOL_APPS_DIR=apps)
        tap.contains(p.stdout, "price (read-only)\n")
        p = app("show", "--state", state, "nowhere", TIDEPOOL_APPS_DIR=apps)
        tap.equal(p.returncode, 1, "status")
        tap.contains(p.stderr, "nowhere")


tap.main(globals())
