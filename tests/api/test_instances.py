# SPDX-License-Identifier: MIT
"""Instances of apps under load and over time: many clients at once, apps that change, the batch."""

import http.client
import json
import os
import re
import threading
import time

import shops
import tap

CLIENTS = 64
ORDERS = 12


def test_instances_do_not_see_each_other():
    """64 clients at once, each with an instance of its own, more than there are open databases."""
    failures = []

    def work(s, number):
        try:
            shop, product = shops.Shop(s), "product-%d" % number
            shop.stock_up(product)
            for i in range(ORDERS):
                made = shop.order(product, 2)
                got = shop.call("get_order", order_id=int(made["id"]))
                tap.equal((int(made["id"]), got["product"]), (1001 + i, product))
            tap.equal(shop.call("find_products", query="product"), [product])
            changed = shop.ask("GET", "diff")
            tap.equal((changed["inserted"], changed["updated"]), (ORDERS, 1), changed)
            shop.close()
        except Exception as e:
            failures.append("client %d: %r" % (number, e))

    with shops.running() as s:
        threads = [threading.Thread(target=work, args=(s, i)) for i in range(CLIENTS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(failures, [])


def test_calls_of_one_instance_follow_each_other():
    """Many clients of one instance: every call is done once, and none sees half of another."""
    with shops.running() as s:
        shop, made = shops.Shop(s), []
        shop.stock_up("tea")

        def work():
            mine = object.__new__(shops.Shop)
            mine.__dict__.update(shop.__dict__, connection=None)
            made.extend(mine.order("tea")["id"] for _ in range(20))
            mine.close()

        threads = [threading.Thread(target=work) for _ in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(sorted(map(int, made)), list(range(1001, 1001 + 320)))
        tap.equal(shop.rows("SELECT stock FROM product WHERE name = 'tea'"),
                  [[shops.PLENTY - 320]])
        tap.equal([c["n"] for c in shop.ask("GET", "calls?limit=10000")["calls"]],
                  list(range(1, 321)))


def add_tool(s, name, sql):
    """A tool of the shop that only reads."""
    folder = os.path.join(s.apps, "shop")
    with open(os.path.join(folder, "tools.json")) as f:
        tools = json.load(f)
    tools.append({"name": name, "description": "A test's.", "annotations": {"readOnlyHint": True},
                  "inputSchema": {"type": "object", "properties": {}}})
    with open(os.path.join(folder, "tools.json"), "w") as f:
        json.dump(tools, f)
    with open(os.path.join(folder, "tools.sql"), "a") as f:
        f.write("\n-- name: %s\n%s\n" % (name, sql))


def test_reads_of_an_untouched_world_are_kept_and_never_stale():
    with shops.running() as s:
        add_tool(s, "draw", "SELECT json_object('n', rand_int(1, 1000000)) AS result;")
        add_tool(s, "clock", "SELECT json_object('t', now()) AS result;")
        one, two = shops.Shop(s, data="default"), shops.Shop(s, data="default")
        empty = shops.Shop(s)
        for shop, want in ((one, ["cup", "tea"]), (two, ["cup", "tea"]), (empty, [])) * 3:
            tap.equal(shop.call("find_products"), want)
        # What was written is seen at once, by nobody else, and gone after a reset.
        made = one.order("tea", 3)
        for _ in range(2):
            tap.equal(one.call("get_order", order_id=int(made["id"]))["total"], 15)
            tap.contains(two.call("get_order", order_id=int(made["id"]))["error"], "does not exist")
        one.ask("POST", "reset")
        tap.contains(one.call("get_order", order_id=int(made["id"]))["error"], "does not exist")
        two.stock_up("milk")
        tap.equal(two.call("find_products"), ["cup", "milk", "tea"])
        tap.equal(one.call("find_products"), ["cup", "tea"])
        tap.equal(one.call("find_products", limit=1), ["cup"])
        # The time and random numbers are asked for each time.
        tap.equal(len({one.call("draw")["n"] for _ in range(8)}) > 1, True)
        fixed = shops.Shop(s, data="default", now="2026-03-01T00:00:00Z")
        tap.equal(fixed.call("clock")["t"], "2026-03-01T00:00:00.000Z")
        other = shops.Shop(s, data="default", now="2026-04-01T00:00:00Z")
        tap.equal(other.call("clock")["t"], "2026-04-01T00:00:00.000Z")
        # So is the time that an argument means.
        add_tool(s, "day_of", "SELECT json_object('t', datetime(:when)) AS result;")
        with open(os.path.join(s.apps, "shop", "tools.json")) as f:
            tools = json.load(f)
        tools[-1]["inputSchema"]["properties"] = {"when": {"type": "string"}}
        with open(os.path.join(s.apps, "shop", "tools.json"), "w") as f:
            json.dump(tools, f)
        fixed = shops.Shop(s, data="default", now="2026-03-01T00:00:00Z")
        tap.equal([fixed.call("day_of", when=x)["t"] for x in ("now", "2020-01-01", "now")],
                  ["2026-03-01 00:00:00", "2020-01-01 00:00:00", "2026-03-01 00:00:00"])
        fixed.order("tea")
        tap.equal(fixed.call("day_of", when="now")["t"], "2026-03-01 00:00:01")
        # Every call is on record, also those whose answer was kept.
        calls = [(c["tool"], c["arguments"]) for c in empty.ask("GET", "calls")["calls"]]
        tap.equal(calls, [("find_products", {})] * 3)


def test_an_app_that_changes():
    """A folder that changed is loaded again at the next acquire; who has the old one keeps it."""
    with shops.running() as s:
        old = shops.Shop(s)
        path = os.path.join(s.apps, "shop", "tools.sql")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace("does not exist", "was never made"))
        new = shops.Shop(s)
        tap.contains(old.call("get_order", order_id=1)["error"], "does not exist")
        tap.contains(new.call("get_order", order_id=1)["error"], "was never made")

        with open(path, "w") as f:
            f.write("-- name: get_order\nSELECT ' AS result;\n")
        tap.equal(s.post("/sandbox/shop", {}).status >= 500, True)
        s.log_with("app could not be loaded")
        tap.contains(new.call("get_order", order_id=1)["error"], "was never made")
        with open(path, "w") as f:
            f.write(text)
        tap.contains(shops.Shop(s).call("get_order", order_id=1)["error"], "does not exist")


def test_an_app_of_the_users_own():
    """Folders in the state directory come before the built-in ones, and need no restart."""
    with shops.running() as s:
        own = os.path.join(s.state, "apps", "own")
        os.makedirs(own, exist_ok=True)
        tap.equal(s.post("/sandbox/my_shop", {}).status, 422)
        os.symlink(shops.APP, os.path.join(own, "my_shop"))
        answer = s.post("/sandbox/my_shop", {})
        tap.equal(answer.status, 201, answer)
        tap.equal(answer.json["server_name"], "my_shop")


def test_an_own_app_that_fails_its_check():
    """The list of the service says what is wrong with it, and that it was mended."""
    def lines(s):
        return {x["name"]: x.get("error") for x in s.get("/api/v1/apps").json["data"]}

    with shops.running() as s:
        tap.equal(s.post("/api/v1/apps", {"name": "mine"}).status, 200)
        path = os.path.join(s.state, "apps", "own", "mine", "tools.sql")
        tap.equal(lines(s), {"mine": None, "shop": None})
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(re.sub("(\n-- name: .*\n)", r"\1SELECT datetime('now') AS x;\n", text, count=1))
        tap.contains(lines(s)["mine"], "datetime() of the machine's time is not the instance's")
        tap.contains(lines(s)["mine"], "tools.sql: ")
        with open(path, "w") as f:
            f.write(text)
        tap.equal(lines(s), {"mine": None, "shop": None})


def tools_of(s, target):
    answer = s.post(target, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                    headers=shops.RPC)
    return [x["name"] for x in answer.json["result"]["tools"]]


def test_a_benchmark_may_have_tools_of_its_own():
    """For the same content; also after a restart, in a fork, and when the files have changed."""
    with shops.running() as s:
        one, other = shops.Shop(s, benchmark="Toolathlon"), shops.Shop(s, benchmark="MCP_Atlas")
        tap.equal(tools_of(s, one.target), ["order", "buy", "price"])
        tap.equal(tools_of(s, other.target), ["get_order", "create_order", "find_products"])
        one.stock_up("ink")
        tap.equal(one.call("price", product="ink"), {"price": 1})
        s.stop()
        s.start()
        one.close()
        tap.equal(tools_of(s, one.target), ["order", "buy", "price"])
        tap.equal(one.call("price", product="ink"), {"price": 1})
        fork = s.post("/sandbox/shop/%s/fork" % one.id, {}).json
        tap.equal(tools_of(s, "/" + fork["server_url"].split("/", 3)[3]), ["order", "buy", "price"])
        path = os.path.join(s.apps, "shop", "counter", "tools.json")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text.replace('"price"', '"cost",\n    "script": "price"', 1))
        tap.equal(tools_of(s, one.target), ["order", "buy", "price"])
        new = shops.Shop(s, benchmark="Toolathlon")
        tap.equal(tools_of(s, new.target), ["order", "buy", "cost"])


SLOW = """
-- name: count_up
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :to)
SELECT count(*) AS result FROM n;
"""


def test_slow_calls_hold_up_nobody():
    """What passes the limits of the loop's thread is done on another one, and comes out right."""
    with shops.running() as s:
        path = os.path.join(s.apps, "shop")
        with open(os.path.join(path, "tools.sql"), "a") as f:
            f.write(SLOW)
        with open(os.path.join(path, "tools.json")) as f:
            tools = json.load(f)
        tools.append({"name": "count_up", "description": "Counts.", "inputSchema": {
            "type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]},
            "annotations": {"readOnlyHint": True}})
        with open(os.path.join(path, "tools.json"), "w") as f:
            json.dump(tools, f)
        one, other = shops.Shop(s), shops.Shop(s)
        other.stock_up("tea")
        counted = []
        slow = threading.Thread(
            target=lambda: counted.extend(one.call("count_up", to=200000) for _ in range(3)))
        slow.start()
        for i in range(20):
            tap.equal(int(other.order("tea")["id"]), 1001 + i)
        slow.join()
        tap.equal(counted, [200000] * 3)
        tap.equal(one.call("count_up", to=7), 7)
        answer = s.post(one.target, json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "count_up", "arguments": {"to": 10 ** 12}}}),
            key=None, headers=shops.RPC)
        tap.contains(answer.body.decode(), "error")


def test_a_batch():
    with shops.running(env={"TIDEPOOL_APPS_MAX_LIVE": "250"}) as s:
        answer = s.post("/sandbox/shop", {"count": 250})
        tap.equal(answer.status, 201, answer)
        tap.equal(len({x["sandbox_id"] for x in answer.json}), 250)
        answer = s.post("/sandbox/shop", {})
        tap.equal(answer.status, 503, answer)
        assert int(answer.headers["Retry-After"]) > 0, answer.headers
        tap.equal(s.get("/sandbox").json["total_count"], 250)
        some = s.get("/sandbox").json["sandboxes"][0]
        tap.equal(s.delete("/sandbox/shop/" + some["sandbox_id"]).status, 200)
        tap.equal([s.post("/sandbox/shop", {}).status for _ in range(2)], [201, 503])


def acquire(s, idem, body=None, **more):
    return s.post("/sandbox/shop", body or {}, headers={"Idempotency-Key": idem}, **more)


def leases(s):
    return sorted(x["sandbox_id"] for x in s.get("/sandbox").json["sandboxes"])


def test_the_same_acquire_again():
    with shops.running() as s:
        first = acquire(s, "a")
        tap.equal((first.status, first.json["status"]), (201, "occupied"))
        again = acquire(s, "a")
        tap.equal((again.status, again.body), (201, first.body))
        tap.equal(again.headers["Idempotency-Replayed"], "true")
        tap.equal(acquire(s, "a", {"seed": 3}).status, 422)
        tap.equal(len(leases(s)), 1)
        many = acquire(s, "b", {"count": 200})
        tap.equal((many.status, len(many.json)), (201, 200))
        s.kill()
        s.start()
        tap.equal(acquire(s, "b", {"count": 200}).body, many.body)
        tap.equal(len(leases(s)), 201)
        tap.equal(acquire(s, "c", {"count": 201}).status, 400)
        fork = "/sandbox/shop/%s/fork" % first.json["sandbox_id"]
        made = s.post(fork, {}, headers={"Idempotency-Key": "a"})
        tap.equal(made.status, 201, made)
        tap.equal(s.post(fork, {}, headers={"Idempotency-Key": "a"}).body, made.body)
        tap.equal(len(leases(s)), 202)


def test_acquires_when_the_service_is_killed():
    """Some are lent but never answered. Repeated, each has one sandbox and no other is lent."""
    with shops.running() as s:
        tap.equal(acquire(s, "first").status, 201)
        for turn in range(4):
            known = {}

            def work(i):
                try:
                    known[i] = acquire(s, "t%d-%d" % (turn, i), timeout=5).body
                except (OSError, http.client.HTTPException):
                    pass

            before = len(leases(s))
            threads = [threading.Thread(target=work, args=(i,)) for i in range(24)]
            for t in threads:
                t.start()
            time.sleep(0.01 + 0.015 * turn)
            s.kill()
            for t in threads:
                t.join()
            s.start()
            answers = [acquire(s, "t%d-%d" % (turn, i)) for i in range(24)]
            tap.equal({a.status for a in answers}, {201})
            for i, body in known.items():
                tap.equal(answers[i].body, body)
            mine = {a.json["sandbox_id"] for a in answers}
            tap.equal(len(mine), 24)
            tap.equal(mine <= set(leases(s)), True)
            tap.equal(len(leases(s)), before + 24)


if __name__ == "__main__":
    tap.main(globals())
