# SPDX-License-Identifier: MIT
"""The Klavis API: endpoints, the forms of their answers, and what is said of malformed requests.
The apps are fixtures, so that nothing here depends on a product."""

import contextlib
import json
import os
import re
import shutil
import threading

import service
import tap

SHOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib", "shop")
RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
DATA = {"type": "object", "properties": {
    "products": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Product"}},
                           {"type": "null"}]}},
    "$defs": {"Product": {"type": "object", "required": ["name", "price"], "properties": {
        "name": {"type": "string"}, "price": {"type": "integer", "minimum": 0},
        "stock": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}}}}


@contextlib.contextmanager
def running(*options, **more):
    """A service whose apps are the shop, under several names."""
    with service.folder() as apps:
        for name in ("shop", "jira", "slack", "cal.com", "snowflake"):
            shutil.copytree(SHOP, os.path.join(apps, name))
            with open(os.path.join(apps, name, "data.json"), "w") as f:
                json.dump(DATA, f)
        env = {"TIDEPOOL_APPS_DIR": apps, **more.pop("env", {})}
        with service.running(*options, env=env, **more) as s:
            yield s


def acquire(s, name="shop", body=None, **more):
    answer = s.post("/sandbox/" + name, body, **more)
    tap.equal(answer.status, 201, answer)
    return answer.json


def path_of(url):
    return "/" + url.partition("//")[2].partition("/")[2]


def call(s, url, method, params=None, **more):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return s.post(path_of(url), json.dumps(message), key=None, headers=RPC, **more)


def tool(s, url, name, **arguments):
    answer = call(s, url, "tools/call", {"name": name, "arguments": arguments})
    tap.equal(answer.status, 200, answer)
    return json.loads(answer.json["result"]["content"][0]["text"])


# ---- the endpoints ----

def test_acquire():
    with running() as s:
        # npm's client sends no body and no content type.
        got = acquire(s)
        assert re.fullmatch(UUID, got["sandbox_id"]), got
        assert re.fullmatch(re.escape(s.url) + "/shop/mcp/\\?instance_id=" + UUID,
                            got["server_url"]), got
        tap.equal(got["server_urls"], {"shop": got["server_url"]})
        tap.equal((got["server_name"], got["status"]), ("shop", "occupied"))
        tap.equal(got["message"], "Sandbox acquired successfully. Use server_urls to connect to "
                                  "the MCP server.")
        for body in ("{}", "null", {"unknown": 1}, {"ttl_seconds": "90"}, {"ttl_seconds": None},
                     {"benchmark": None, "test_account_email": None, "tag": None, "tags": None}):
            acquire(s, body=body)


def test_names():
    with running() as s:
        for name, server in (("jira", "jira"), ("JIRA", "jira"), ("Cal.com", "cal.com"),
                             ("cal.com", "cal.com"), ("calcom", "cal.com")):
            got = acquire(s, name)
            tap.equal(got["server_name"], name)
            tap.equal(list(got["server_urls"]), [name])
            tap.contains(got["server_url"], "/%s/mcp/?instance_id=" % server)
            info = s.get("/sandbox/%s/%s" % (name, got["sandbox_id"]))
            tap.equal((info.status, info.json["server_name"]), (200, name))
            dump = s.get("/sandbox/%s/%s/dump" % (server.upper(), got["sandbox_id"]))
            tap.equal((dump.status, dump.json["server_name"]), (200, name))
        # A product that this installation does not have.
        answer = s.post("/sandbox/monday")
        tap.equal(answer.status, 503)
        tap.equal(answer.json, {"detail": "monday is not available on this server"})
        tap.equal(answer.headers["Retry-After"], None)


def test_details():
    with running() as s:
        got = acquire(s, body={"tags": {"env": "prod"}, "benchmark": "MCP_Atlas",
                               "ttl_seconds": None, "test_account_email": "a@b.example"})
        info = s.get("/sandbox/shop/" + got["sandbox_id"])
        tap.equal(info.status, 200)
        info = info.json
        for key, value in (("sandbox_id", got["sandbox_id"]), ("server_url", got["server_url"]),
                           ("server_name", "shop"), ("status", "occupied"),
                           ("benchmark", "MCP_Atlas"), ("tags", {"env": "prod"})):
            tap.equal(info[key], value, key)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", info["updated_at"])
        tap.equal(info["metadata"]["test_account_email"], "a@b.example")
        tap.equal(info["metadata"]["expires_at"], None)
        token, reader = info["auth_data"]["access_token"], info["metadata"]["reader_key"]
        assert re.fullmatch("shop_[0-9a-f]{40}", token), token
        assert re.fullmatch("[0-9a-f]{40}", reader) and reader not in token, reader
        tap.equal(info["auth_data"]["site_url"], "https://shop.example")
        more = s.get("/sandbox/shop/" + acquire(s)["sandbox_id"]).json
        assert more["auth_data"]["access_token"] != token, "a token of another lease"
        other = acquire(s, "jira")
        for path in ("/sandbox/shop/" + other["sandbox_id"], "/sandbox/shop/none"):
            answer = s.get(path)
            tap.equal(answer.status, 404)
            tap.contains(answer.json["detail"], "not found")


def test_list():
    with running() as s:
        one = acquire(s, body={"tag": "x"})
        two = acquire(s, "jira", {"tags": {"env": "prod", "n": 1}})
        acquire(s, "Slack")

        def ids(query=""):
            answer = s.get("/sandbox" + query)
            tap.equal(answer.status, 200, answer)
            tap.equal(answer.json["total_count"], len(answer.json["sandboxes"]))
            for item in answer.json["sandboxes"]:
                tap.equal(sorted(item), ["benchmark", "sandbox_id", "server_name", "status",
                                         "tags", "updated_at"])
            return [item["sandbox_id"] for item in answer.json["sandboxes"]]

        tap.equal(len(ids()), 3)
        tap.equal(ids("?tag=x"), [one["sandbox_id"]])
        tap.equal(ids("?tag=prod"), [two["sandbox_id"]])
        tap.equal(ids("?tag=none"), [])
        tap.equal(ids("?tags=%7B%22env%22%3A%22prod%22%7D"), [two["sandbox_id"]])
        tap.equal(ids("?tags=%7B%22env%22%3A%22test%22%7D"), [])
        tap.equal(ids("?server_name=JIRA"), [two["sandbox_id"]])
        tap.equal(ids("?server_name=nope"), [])
        tags = {item["sandbox_id"]: item["tags"] for item in s.get("/sandbox").json["sandboxes"]}
        tap.equal(tags[one["sandbox_id"]], ["x"])
        tap.equal(tags[two["sandbox_id"]], {"env": "prod", "n": 1})
        answer = s.get("/sandbox?tags=%7B")
        tap.equal(answer.status, 400)
        assert isinstance(answer.json["detail"], str)


def test_accounts_see_their_own():
    with running() as s:
        ann, bob = (s.make_key(account=name)["key"] for name in ("ann", "bob"))
        got = acquire(s, key=ann)
        path = "/sandbox/shop/" + got["sandbox_id"]
        tap.equal(s.get("/sandbox", key=bob).json["total_count"], 0)
        tap.equal(s.get("/sandbox", key=ann).json["total_count"], 1)
        for method, tail in (("GET", ""), ("DELETE", ""), ("POST", "/reset"), ("GET", "/dump"),
                             ("POST", "/initialize"), ("GET", "/diff"), ("GET", "/calls"),
                             ("POST", "/snapshot"), ("POST", "/fork")):
            answer = s.request(method, path + tail, key=bob)
            tap.equal(answer.status, 404, (method, tail, answer))
        tap.equal(s.get(path, key=ann).json["status"], "occupied")


def test_release():
    with running() as s:
        got = acquire(s)
        path = "/sandbox/shop/" + got["sandbox_id"]
        lease = got["server_url"].rpartition("=")[2]
        answer = s.delete(path + "?is_ttl=true&instance_id=another")
        tap.equal((answer.status, answer.json["status"]), (200, "occupied"))
        tap.equal(call(s, got["server_url"], "ping").status, 200)
        answer = s.delete(path + "?is_ttl=1&instance_id=" + lease)
        tap.equal(answer.status, 200)
        tap.equal(answer.json, {
            "sandbox_id": got["sandbox_id"], "status": "idle",
            "message": "Sandbox %s released successfully and is now available for reuse"
                       % got["sandbox_id"]})
        # The lease is over, the slot stays.
        dead = call(s, got["server_url"], "ping")
        tap.equal(dead.status, 404)
        tap.equal(dead.json["error"]["code"], -32000)
        info = s.get(path).json
        tap.equal((info["status"], info["server_url"], info["tags"]), ("idle", None, None))
        tap.equal(s.get("/sandbox").json["total_count"], 0)
        again = acquire(s)
        assert again["server_url"] != got["server_url"]
        tap.equal(call(s, got["server_url"], "ping").status, 404)


def account_of(s, made):
    return s.get("/sandbox/shop/" + made["sandbox_id"]).json["metadata"]["test_account_email"]


def test_a_late_release_is_nobody_elses():
    """Whoever lets go twice, or too late, does nothing to the one who has the slot now."""
    with running() as s:
        old = acquire(s)
        account, path = account_of(s, old), "/sandbox/shop/" + old["sandbox_id"]
        for _ in range(2):
            answer = s.delete(path)
            tap.equal((answer.status, answer.json["status"]), (200, "idle"), answer)
        new = acquire(s, body={"data": "default"})
        tap.equal(account_of(s, new), account, "idle slots are used again")
        tool(s, new["server_url"], "create_order", product="tea")
        before = s.get("/sandbox/shop/%s/dump" % new["sandbox_id"]).json["data"]
        for method, tail in (("DELETE", ""), ("DELETE", "?is_ttl=true"), ("POST", "/reset"),
                             ("POST", "/initialize?init_default_data=true"), ("GET", ""),
                             ("POST", "/fork"), ("GET", "/calls"), ("GET", "/dump")):
            answer = s.request(method, path + tail)
            tap.equal(answer.status, 404, (method, tail, answer))
        tap.equal(s.get("/sandbox/shop/%s/dump" % new["sandbox_id"]).json["data"], before)
        tap.equal(call(s, new["server_url"], "ping").status, 200)

        # Nor after a restart, which finds the slot by its new name.
        s.stop()
        s.start()
        tap.equal(s.delete(path).status, 404)
        tap.equal(s.get("/sandbox/shop/%s/dump" % new["sandbox_id"]).json["data"], before)
        tap.equal(s.delete("/sandbox/shop/" + new["sandbox_id"]).status, 200)
        s.stop()
        s.start()
        tap.equal(s.get("/sandbox/shop/" + new["sandbox_id"]).json["status"], "idle")
        tap.equal(account_of(s, acquire(s)), account)
        tap.equal(s.get("/sandbox").json["total_count"], 1)


def test_a_repeated_acquire_names_the_same_sandbox():
    """An Idempotency-Key gets the first answer again; what it names may be gone by then."""
    with running() as s:
        keyed = {"Idempotency-Key": "one"}
        first = s.post("/sandbox/shop", {}, headers=keyed).json
        tap.equal(s.post("/sandbox/shop", {}, headers=keyed).json, first)
        s.delete("/sandbox/shop/" + first["sandbox_id"])
        new = acquire(s)
        tap.equal(s.post("/sandbox/shop", {}, headers=keyed).json, first)
        tap.equal(s.delete("/sandbox/shop/" + first["sandbox_id"]).status, 404)
        tap.equal(s.get("/sandbox/shop/" + new["sandbox_id"]).json["status"], "occupied")


def test_release_by_tag():
    with running() as s:
        ann, bob = (s.make_key(account=x)["key"] for x in ("ann", "bob"))
        mine = [acquire(s, name, {"tag": "run-1"}, key=ann) for name in ("shop", "jira", "shop")]
        other = acquire(s, body={"tag": "run-2"}, key=ann)
        acquire(s, body={"tag": "run-1"}, key=bob)
        acquire(s, body={"tag": "run-1"})
        for query in ("", "?tag=", "?tga=run-1", "?tags=%7B%7D", "?server_name=shop"):
            answer = s.delete("/sandbox" + query, key=ann)
            tap.equal(answer.status, 400, (query, answer))
        tap.equal(s.delete("/sandbox?tag=nobody", key=ann).json,
                  {"released": [], "total_count": 0, "message": "Released 0 sandboxes"})
        answer = s.delete("/sandbox?tag=run-1&server_name=JIRA", key=ann)
        tap.equal((answer.status, answer.json["released"]), (200, [mine[1]["sandbox_id"]]))
        answer = s.delete("/sandbox?tag=run-1", key=ann)
        tap.equal((answer.json["total_count"], sorted(answer.json["released"])),
                  (2, sorted(x["sandbox_id"] for x in (mine[0], mine[2]))), answer)
        for x in mine:
            tap.equal(call(s, x["server_url"], "ping").status, 404)
        tap.equal(call(s, other["server_url"], "ping").status, 200)
        tap.equal([s.get("/sandbox?tag=run-1", key=k).json["total_count"] for k in (ann, bob)],
                  [0, 1])
        # An operator sees all, and releases its own.
        tap.equal(s.delete("/sandbox?tag=run-1").json["total_count"], 1)
        tap.equal(s.get("/sandbox?tag=run-1", key=bob).json["total_count"], 1)
        many = s.post("/sandbox/shop", {"count": 150, "tags": {"team": "x"}}, key=bob)
        tap.equal(many.status, 201)
        answer = s.delete("/sandbox?tags=%7B%22team%22%3A%22x%22%7D", key=bob)
        tap.equal(answer.json["total_count"], 150, answer)


def test_a_dump_goes_in_again_as_it_came():
    with running() as s:
        one, two = acquire(s, body={"data": "default"}), acquire(s)
        path = "/sandbox/shop/%s/" % two["sandbox_id"]
        dump = s.get("/sandbox/shop/%s/dump" % one["sandbox_id"]).json
        n = len(dump["data"]["products"])
        answer = s.post(path + "initialize", dump)
        tap.equal((answer.status, answer.json["message"]),
                  (200, "Initialized sandbox with %d records" % n), answer)
        tap.equal(s.get(path + "dump").json["data"], dump["data"])
        s.post(path + "reset")
        answer = s.post(path + "initialize", {"data": dump["data"]})
        tap.equal(answer.json["records_created"], {"products": n}, answer)
        # What is wrong in it is found; a dump of another server is no mistake to be silent about.
        bad = s.post(path + "initialize", {**dump, "data": {"products": [{"name": "x"}]}})
        tap.equal((bad.status, bad.json["detail"][0]["loc"]),
                  (422, ["body", "products", 0, "price"]), bad)
        bad = s.post(path + "initialize", {**dump, "server_name": "jira"})
        tap.equal((bad.status, bad.json["detail"][0]["loc"]), (422, ["body", "server_name"]), bad)
        # Something else that has a member of that name is no dump.
        odd = s.post(path + "initialize", {"data": {}, "other": 1})
        tap.equal(odd.json["warnings"], ["unknown field 'data'", "unknown field 'other'"], odd)


def test_a_reset_says_what_became_of_the_data():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        path = "/sandbox/shop/" + got["sandbox_id"]
        first = s.get(path + "/dump").json["data"]
        s.post(path + "/initialize", {"products": [{"name": "milk", "price": 1}]})
        answer = s.post(path + "/reset").json
        tap.equal(answer["initialized_data"], "dropped", answer)
        tap.contains(answer["message"], "data set: default")
        tap.equal(s.get(path + "/dump").json["data"], first)


def test_fork_from_a_snapshot():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        path = "/sandbox/shop/" + got["sandbox_id"]
        before = s.get(path + "/dump").json["data"]
        s.post(path + "/snapshot", {"name": "before"})
        tool(s, got["server_url"], "create_order", product="tea")
        after = s.get(path + "/dump").json["data"]
        assert before != after
        for restarted in (False, True):
            if restarted:
                s.stop()
                s.start()
            for body, want in (({"snapshot": "before"}, before), ({}, after),
                               ({"snapshot": None}, after)):
                fork = s.post(path + "/fork", body)
                tap.equal(fork.status, 201, fork)
                at = "/sandbox/shop/%s/dump" % fork.json["sandbox_id"]
                tap.equal(s.get(at).json["data"], want, body)
        many = s.post(path + "/fork", {"snapshot": "before", "count": 3}).json
        tap.equal([s.get("/sandbox/shop/%s/dump" % x["sandbox_id"]).json["data"] for x in many],
                  [before] * 3)
        answer = s.post(path + "/fork", {"snapshot": "never"})
        tap.equal((answer.status, answer.json["detail"]), (404, "no snapshot named 'never'"))
        tap.equal(s.get(path + "/dump").json["data"], after, "the original is as it was")


def test_test_accounts():
    with running() as s:
        first = acquire(s, body={"test_account_email": "one@example.com"})
        other = acquire(s, body={"test_account_email": "two@example.com"})
        answer = s.post("/sandbox/shop", {"test_account_email": "one@example.com"})
        tap.equal(answer.status, 503, "taken")
        assert answer.headers["Retry-After"]
        s.delete("/sandbox/shop/" + first["sandbox_id"])
        s.delete("/sandbox/shop/" + other["sandbox_id"])
        again = acquire(s, body={"test_account_email": "one@example.com"})
        tap.equal(account_of(s, again), "one@example.com")
        tap.equal(s.delete("/sandbox/shop/" + first["sandbox_id"]).status, 404)
        tap.equal(s.get("/sandbox/shop/" + again["sandbox_id"]).json["status"], "occupied")


def test_prepare():
    with running() as s:
        for query in ("", "?benchmark=Toolathlon", "?server_name=SHOP&benchmark=MCP_Atlas"):
            answer = s.post("/sandbox/prepare" + query)
            tap.equal(answer.status, 200, answer)
        item, = s.post("/sandbox/prepare?server_name=x").json["detail"]
        tap.equal((item["type"], item["loc"]), ("enum", ["query", "server_name"]))
        item, = s.post("/sandbox/prepare?benchmark=x").json["detail"]
        tap.equal((item["type"], item["loc"]), ("enum", ["query", "benchmark"]))


def test_data():
    with running() as s:
        got = acquire(s)
        path = "/sandbox/shop/" + got["sandbox_id"]
        empty = s.get(path + "/dump")
        tap.equal(empty.status, 200, empty)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", empty.json["dumped_at"])
        tap.equal(empty.json["sandbox_id"], got["sandbox_id"])
        answer = s.post(path + "/initialize?init_default_data=true")
        tap.equal(answer.status, 200, answer)
        n = sum(answer.json["records_created"].values())
        tap.equal(answer.json["message"], "Initialized sandbox with %d records" % n)
        full = s.get(path + "/dump").json["data"]
        assert full != empty.json["data"]
        answer = s.post(path + "/reset")
        tap.equal((answer.status, answer.json["status"]), (200, "occupied"))
        tap.equal(s.get(path + "/dump").json["data"], empty.json["data"])
        tap.equal(call(s, got["server_url"], "ping").status, 200, "the lease goes on")
        # What was dumped can be put back, and is the same then.
        tap.equal(s.post(path + "/initialize", full).status, 200)
        tap.equal(s.get(path + "/dump").json["data"], full)
        for body in (None, "null"):
            answer = s.post(path + "/initialize?init_default_data=false", body)
            tap.equal((answer.status, answer.json["records_created"]), (200, {}))
        tap.equal(s.get(path + "/dump").json["data"], full)
        same = acquire(s, body={"data": "default"})
        tap.equal(s.get("/sandbox/shop/%s/dump" % same["sandbox_id"]).json["data"], full)


def test_the_rest_of_the_endpoints():
    """Those of local sandboxes, of which there are none yet."""
    with running() as s:
        tap.equal(s.get("/local-sandbox").json, {"local_sandboxes": [], "total_count": 0})
        answer = s.post("/local-sandbox", {"server_names": ["git"]})
        tap.equal((answer.status, sorted(answer.json)), (503, ["detail"]))
        for method, tail in (("GET", ""), ("DELETE", ""), ("POST", "/reset"),
                             ("POST", "/upload-url"), ("POST", "/initialize"), ("GET", "/dump")):
            answer = s.request(method, "/local-sandbox/x" + tail)
            tap.equal((answer.status, answer.json), (404, {"detail": "Local sandbox x not found"}))


# ---- what the original does not have ----

def test_differences():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        path = "/sandbox/shop/" + got["sandbox_id"]
        none = {"inserted": 0, "updated": 0, "deleted": 0, "tables": {}}
        tap.equal(s.get(path + "/diff").json, none)
        order = tool(s, got["server_url"], "create_order", product="tea", quantity=2)
        diff = s.get(path + "/diff").json
        tap.equal((diff["inserted"], diff["updated"], diff["deleted"]), (1, 1, 0))
        row, = diff["tables"]["orders"]["inserted"]
        tap.equal((row["id"], row["product"], row["quantity"]), (order["id"], "tea", 2))
        change, = diff["tables"]["product"]["updated"]
        tap.equal(change, {"key": {"name": "tea"}, "old": {"stock": 10}, "new": {"stock": 8}})
        tap.equal(s.get(path + "/diff?since=initial").json, diff)
        tap.equal(s.get(path + "/diff?since=now").status, 400)
        tap.equal(s.post(path + "/reset").status, 200)
        tap.equal(s.get(path + "/diff").json, none)


def test_checks():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        path = "/sandbox/shop/%s/verify" % got["sandbox_id"]
        tool(s, got["server_url"], "create_order", product="tea", quantity=2)
        checks = [
            {"name": "stock", "sql": "SELECT stock FROM product WHERE name = ?",
             "params": ["tea"], "equals": 8},
            {"sql": "SELECT product, quantity FROM orders", "rows": [["tea", 2]]},
            {"table": "orders", "where": {"product": "cup"}, "count": 0}]
        answer = s.post(path, {"checks": checks})
        tap.equal(answer.status, 200, answer)
        tap.equal((answer.json["passed"], answer.json["n_passed"]), (True, 3), answer)
        wrong = [{"name": "stock", "sql": "SELECT stock FROM product WHERE name = 'tea'",
                  "equals": 10},
                 {"sql": "DELETE FROM orders"}, {"sql": "SELECT * FROM nowhere"}]
        answer = s.post(path, {"checks": wrong}).json
        tap.equal((answer["passed"], answer["n_failed"]), (False, 3), answer)
        tap.equal(answer["results"][0]["actual"], 8)
        tap.equal([r["passed"] for r in answer["results"]], [False] * 3)
        for body, kind in ((None, "missing"), ({}, "missing"), ({"checks": 1}, "list_type")):
            item, = items(s.post(path, body))
            tap.equal(item["type"], kind)


def test_snapshots_and_forks():
    with running() as s:
        got = acquire(s, body={"data": "default", "seed": 3})
        path = "/sandbox/shop/" + got["sandbox_id"]

        def stock(at=path):
            return {p["name"]: p["stock"] for p in s.get(at + "/dump").json["data"]["products"]}

        tool(s, got["server_url"], "create_order", product="tea")
        tap.equal(s.post(path + "/snapshot", {"name": "one"}).json["snapshot"], "one")
        first = tool(s, got["server_url"], "create_order", product="tea")
        tap.equal(stock()["tea"], 8)
        fork = s.post(path + "/fork", {"tag": "fork"})
        tap.equal(fork.status, 201, fork)
        assert fork.json["sandbox_id"] != got["sandbox_id"]
        at = "/sandbox/shop/" + fork.json["sandbox_id"]
        tap.equal((stock(at)["tea"], s.get(at).json["tags"]), (8, ["fork"]))
        tool(s, fork.json["server_url"], "create_order", product="tea")
        tap.equal((stock(at)["tea"], stock()["tea"]), (7, 8))
        tap.equal(s.get(path + "/snapshots").json["snapshots"], ["one"])
        tap.equal(s.post(path + "/restore", {"name": "one"}).status, 200)
        tap.equal(stock()["tea"], 9)
        # Also the numbers that ids are made of are back.
        tap.equal(tool(s, got["server_url"], "create_order", product="tea"), first)
        tap.equal(s.post(path + "/restore", {"name": "none"}).status, 404)
        for name in ("../x", "", "x" * 100):
            tap.equal(s.post(path + "/snapshot", {"name": name}).status, 400, name)


def test_calls():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        path = "/sandbox/shop/%s/calls" % got["sandbox_id"]
        tap.equal(s.get(path).json["calls"], [])
        tool(s, got["server_url"], "create_order", product="tea")
        tool(s, got["server_url"], "find_products", query="cup")
        calls = s.get(path).json["calls"]
        tap.equal(len(calls), 2)
        tap.contains(json.dumps(calls[0]), "create_order")
        tap.equal(len(s.get(path + "?after=1").json["calls"]), 1)
        tap.equal(len(s.get(path + "?limit=1").json["calls"]), 1)
        item, = items(s.get(path + "?limit=x"))
        tap.equal((item["type"], item["loc"]), ("int_parsing", ["query", "limit"]))


def test_graders():
    """See what was done in the sandboxes of one account, and do nothing."""
    with running() as s:
        ann = s.make_key(account="ann")["key"]
        grader = s.make_key(role="grader", grades="ann")["key"]
        got = acquire(s, key=ann, body={"data": "default"})
        tool(s, got["server_url"], "create_order", product="tea")
        path = "/sandbox/shop/" + got["sandbox_id"]
        for method, tail, body in (("GET", "", None), ("GET", "/diff", None),
                                   ("GET", "/dump", None), ("GET", "/calls", None),
                                   ("GET", "/snapshots", None),
                                   ("POST", "/verify", {"checks": [{"table": "orders"}]})):
            answer = s.request(method, path + tail, body, key=grader)
            tap.equal(answer.status, 200, (tail, answer))
        tap.equal(s.get("/sandbox", key=grader).json["total_count"], 1)
        for method, at in (("POST", "/sandbox/shop"), ("DELETE", path), ("POST", path + "/reset"),
                           ("POST", path + "/initialize"), ("POST", path + "/restore"),
                           ("POST", path + "/fork"), ("POST", path + "/snapshot"),
                           ("POST", "/api/v1/sandbox"), ("GET", "/api/v1/keys"),
                           ("GET", "/api/v1/events"), ("POST", "/mcp"),
                           ("GET", "/e2b/v1/sandboxes"), ("GET", "/api/v1/nowhere")):
            answer = s.request(method, at, key=grader)
            tap.equal(answer.status, 403, (at, answer))


def test_graders_hold_no_lease():
    """Nothing that a grader can read opens the tools of the sandbox."""
    with running() as s:
        ann = s.make_key(account="ann")["key"]
        grader = s.make_key(role="grader", grades="ann")["key"]
        got = acquire(s, key=ann, body={"data": "default"})
        tool(s, got["server_url"], "create_order", product="tea")
        path, lease = "/sandbox/shop/" + got["sandbox_id"], got["server_url"].split("=")[1]
        tap.contains(s.get(path, key=ann).body.decode(), lease)
        secrets = [lease] + list(s.get(path, key=ann).json["auth_data"].values())
        for at in ("/sandbox", path, path + "/diff", path + "/dump", path + "/calls",
                   path + "/snapshots"):
            answer = s.get(at, key=grader)
            tap.equal(answer.status, 200, (at, answer))
            for secret in secrets:
                tap.equal(secret in answer.body.decode(), False, (at, secret))
        shown = s.get(path, key=grader).json
        tap.equal((shown["server_url"], shown["auth_data"]), (None, None))
        tap.equal(shown["metadata"]["test_account_email"],
                  s.get(path, key=ann).json["metadata"]["test_account_email"])


def test_graders_are_bound():
    """A grader's key sees the sandboxes of the account that it was made for."""
    with running() as s:
        ann, bob = s.make_key(account="ann")["key"], s.make_key(account="bob")["key"]
        made = s.make_key(role="grader", grades="ann")
        tap.equal(made["grades"], "ann")
        of_ann = acquire(s, key=ann)["sandbox_id"]
        of_bob = acquire(s, key=bob)["sandbox_id"]

        def look():
            listed = s.get("/sandbox", key=made["key"]).json["sandboxes"]
            tap.equal([item["sandbox_id"] for item in listed], [of_ann])
            tap.equal(s.get("/sandbox/shop/" + of_ann, key=made["key"]).status, 200)
            for tail in ("", "/dump", "/diff", "/calls", "/snapshots"):
                answer = s.get("/sandbox/shop/" + of_bob + tail, key=made["key"])
                tap.equal(answer.status, 404, (tail, answer))

        look()
        s.stop()
        s.start()
        look()
        for fields in ({"role": "grader"}, {"role": "grader", "grades": "Not A Name"},
                       {"role": "grader", "grades": 5}, {"role": "user", "grades": "ann"}):
            answer = s.post("/api/v1/keys", fields)
            tap.equal(answer.status, 400, (fields, answer))


def test_repeatable():
    with running() as s:
        told = []
        for _ in range(2):
            got = acquire(s, body={"data": "default", "seed": 7, "now": "2026-02-01T08:00:00Z"})
            order = call(s, got["server_url"], "tools/call",
                         {"name": "create_order", "arguments": {"product": "tea"}})
            shown = call(s, got["server_url"], "tools/call",
                         {"name": "get_order", "arguments": {"order_id": 1001}})
            told.append(order.body + shown.body)
        tap.equal(told[0], told[1])
        tap.contains(told[0].decode(), "2026-02-01T08:00:0")


def test_many_at_once():
    with running() as s:
        answer = s.post("/sandbox/shop", {"count": 50, "tag": "many"})
        tap.equal(answer.status, 201)
        tap.equal(len({item["sandbox_id"] for item in answer.json}), 50)
        tap.equal(len({item["server_url"] for item in answer.json}), 50)
        tap.equal(s.get("/sandbox?tag=many").json["total_count"], 50)
        tap.equal(type(s.post("/sandbox/shop", {"count": 1}).json), list)
        tap.equal(s.post("/sandbox/shop", {"data": "nowhere"}).status, 400)


# ---- what is wrong with requests ----

def items(answer):
    tap.equal(answer.status, 422, answer)
    return answer.json["detail"]


def test_unknown_servers():
    with running() as s:
        for name in ("foo", "Not_A-Server"):
            item, = items(s.post("/sandbox/" + name))
            expected = item["ctx"]["expected"]
            assert expected.startswith("'jira', 'github', 'salesforce'"), expected
            assert expected.endswith("'exa' or 'serper'"), expected
            tap.equal(len(expected.replace(" or ", ", ").split(", ")), 73)
            tap.equal(item, {"type": "enum", "loc": ["path", "server_name"],
                             "msg": "Input should be " + expected, "input": name,
                             "ctx": {"expected": expected}})


def test_bodies():
    with running() as s:
        for body, want in (
                ({"ttl_seconds": 5}, [
                    {"type": "greater_than_equal", "loc": ["body", "ttl_seconds"],
                     "msg": "Input should be greater than or equal to 60", "input": 5,
                     "ctx": {"ge": 60}}]),
                ({"ttl_seconds": 86401}, [
                    {"type": "less_than_equal", "loc": ["body", "ttl_seconds"],
                     "msg": "Input should be less than or equal to 86400", "input": 86401,
                     "ctx": {"le": 86400}}]),
                ({"ttl_seconds": "abc", "tag": 5}, [
                    {"type": "int_parsing", "loc": ["body", "ttl_seconds"],
                     "msg": "Input should be a valid integer, unable to parse string as an "
                            "integer", "input": "abc"},
                    {"type": "string_type", "loc": ["body", "tag"],
                     "msg": "Input should be a valid string", "input": 5}]),
                ({"benchmark": "x"}, [
                    {"type": "enum", "loc": ["body", "benchmark"],
                     "msg": "Input should be 'MCP_Atlas', 'Toolathlon' or 'MCP_Mark'",
                     "input": "x",
                     "ctx": {"expected": "'MCP_Atlas', 'Toolathlon' or 'MCP_Mark'"}}]),
                ("[]", [
                    {"type": "model_attributes_type", "loc": ["body"],
                     "msg": "Input should be a valid dictionary or object to extract fields from",
                     "input": []}]),
                ('{"a": }', [
                    {"type": "json_invalid", "loc": ["body", 6], "msg": "JSON decode error",
                     "input": {}, "ctx": {"error": "Expecting value"}}]),
                ('{\n"a" 1}', [
                    {"type": "json_invalid", "loc": ["body", 6], "msg": "JSON decode error",
                     "input": {}, "ctx": {"error": "Expecting ':' delimiter"}}]),
                ('{"a": 1', [
                    {"type": "json_invalid", "loc": ["body", 7], "msg": "JSON decode error",
                     "input": {}, "ctx": {"error": "Expecting ',' delimiter"}}]),
                ({"now": "yesterday"}, [
                    {"type": "datetime_parsing", "loc": ["body", "now"],
                     "msg": "Input should be a valid datetime", "input": "yesterday"}]),
                ({"count": 0}, [
                    {"type": "greater_than_equal", "loc": ["body", "count"],
                     "msg": "Input should be greater than or equal to 1", "input": 0,
                     "ctx": {"ge": 1}}])):
            tap.equal(items(s.post("/sandbox/shop", body)), want)
        # Path and body are told together.
        got = items(s.post("/sandbox/foo", {"ttl_seconds": 5}))
        tap.equal([item["loc"] for item in got], [["path", "server_name"],
                                                  ["body", "ttl_seconds"]])


def test_local_bodies():
    with running() as s:
        tap.equal(items(s.post("/local-sandbox")), [
            {"type": "missing", "loc": ["body"], "msg": "Field required", "input": None}])
        tap.equal(items(s.post("/local-sandbox", {})), [
            {"type": "missing", "loc": ["body", "server_names"], "msg": "Field required",
             "input": {}}])
        got = items(s.post("/local-sandbox", {"server_names": "x"}))
        tap.equal([(i["type"], i["loc"]) for i in got], [
            ("list_type", ["body", "server_names", "list[str-enum[LocalSandboxMCPServer]]"]),
            ("literal_error", ["body", "server_names", "literal['ALL']"])])


def test_query_parameters():
    with running() as s:
        path = "/sandbox/shop/" + acquire(s)["sandbox_id"]
        for method, tail, name in (("DELETE", "", "is_ttl"),
                                   ("POST", "/initialize", "init_default_data")):
            tap.equal(items(s.request(method, "%s%s?%s=maybe" % (path, tail, name))), [
                {"type": "bool_parsing", "loc": ["query", name],
                 "msg": "Input should be a valid boolean, unable to interpret input",
                 "input": "maybe"}])
        tap.equal(s.get(path).json["status"], "occupied")


def test_data_that_does_not_fit():
    with running() as s:
        path = "/sandbox/shop/" + acquire(s)["sandbox_id"]
        got = items(s.post(path + "/initialize",
                           {"products": [{"name": 1}, {"name": "a", "price": -1}]}))
        tap.equal([(i["type"], i["loc"]) for i in got], [
            ("string_type", ["body", "products", 0, "name"]),
            ("missing", ["body", "products", 0, "price"]),
            ("greater_than_equal", ["body", "products", 1, "price"])])


def test_other_refusals():
    with running() as s:
        for method, path, key, status, text in (
                ("POST", "/sandbox/shop", None, 401, "Not authenticated"),
                ("POST", "/sandbox/shop", "wrong", 403, "Invalid API key"),
                ("GET", "/sandbox", None, 401, "Not authenticated"),
                ("PUT", "/sandbox/shop/x", "", 405, "Method Not Allowed"),
                ("GET", "/sandbox/shop/x/reset", "", 405, "Method Not Allowed"),
                ("GET", "/sandbox/shop/x/nowhere", "", 404, "Not Found")):
            answer = s.request(method, path, key=key)
            tap.equal((answer.status, answer.json), (status, {"detail": text}), (method, path))
        tap.equal(s.get("/sandbox", key=None).headers["WWW-Authenticate"], "Bearer")


def test_capacity():
    with running(env={"TIDEPOOL_APPS_MAX_LIVE": "2"}) as s:
        acquire(s)
        acquire(s)
        answer = s.post("/sandbox/shop")
        tap.equal((answer.status, list(answer.json)), (503, ["detail"]))
        assert int(answer.headers["Retry-After"]) > 0


# ---- what agents reach ----

def test_mcp():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        url = got["server_url"]
        answer = call(s, url, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        tap.equal(answer.status, 200)
        tap.equal(answer.headers["Mcp-Session-Id"], None, "nothing is kept between calls")
        tap.equal(answer.json["result"]["serverInfo"]["name"], "shop")
        tap.equal(answer.json["result"]["protocolVersion"], "2025-06-18")
        tap.equal("tools" in answer.json["result"]["capabilities"], True)
        for variant in (url, url.replace("/mcp/?", "/mcp?"), url.replace("/shop/", "/Shop/")):
            names = [t["name"] for t in call(s, variant, "tools/list").json["result"]["tools"]]
            assert "get_order" in names or len(names) > 0, names
        tap.equal(s.get(path_of(url), key=None, headers={"Accept": "text/event-stream"}).status,
                  405)
        # 2026-07-28 needs no beginning at all.
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        answer = s.post(path_of(url), json.dumps(message), key=None,
                        headers={**RPC, "MCP-Protocol-Version": "2026-07-28",
                                 "Mcp-Method": "tools/list"})
        tap.equal(answer.status, 200, answer)
        tap.equal(answer.json["result"]["resultType"], "complete")
        # Faults of calls are told as the product does.
        answer = call(s, url, "tools/call", {"name": "nowhere", "arguments": {}}).json
        tap.contains(json.dumps(answer), "nowhere")


def test_agents_reach_nothing_else():
    with running() as s:
        one, two = acquire(s), acquire(s, "jira")
        lease = one["server_url"].rpartition("=")[2]
        for path in ("/jira/mcp/?instance_id=" + lease, "/shop/mcp/", "/shop/mcp/?instance_id=",
                     "/shop/mcp/?instance_id=" + one["sandbox_id"], "/shop/mcp/?instance_id=x",
                     "/shop/mcp/?instance_id=" + two["server_url"].rpartition("=")[2]):
            answer = call(s, "http://x" + path, "ping")
            tap.equal(answer.status, 404, path)
            tap.equal(answer.json["jsonrpc"], "2.0")
        for path in ("/diff", "/calls", "/dump", ""):
            for key in (None, lease):
                answer = s.get("/sandbox/shop/%s%s?instance_id=%s" % (one["sandbox_id"], path,
                                                                      lease), key=key)
                tap.equal(answer.status, 401 if key is None else 403, path)
        # Pages of other origins cannot use an address that they found.
        for origin, status in (("http://evil.example", 403), ("http://localhost:5173", 200)):
            answer = s.post(path_of(one["server_url"]),
                            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}), key=None,
                            headers={**RPC, "Origin": origin})
            tap.equal(answer.status, status, origin)


def test_the_older_transport():
    with running() as s:
        got = acquire(s, body={"data": "default"})
        query = got["server_url"].partition("?")[2]
        connection = s.connect(30)
        try:
            connection.request("GET", "/shop/sse?" + query, headers={"Accept": "text/event-stream"})
            stream = connection.getresponse()
            tap.equal(stream.status, 200)

            def event():
                lines = {}
                while True:
                    line = stream.readline().decode().strip()
                    if not line and lines:
                        return lines
                    key, _, value = line.partition(":")
                    if key:
                        lines[key] = value.strip()

            first = event()
            tap.equal(first["event"], "endpoint")
            tap.contains(first["data"], "/shop/messages?" + query)
            message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
            answer = s.post(first["data"], json.dumps(message), key=None, headers=RPC)
            tap.equal(answer.status, 202)
            got = json.loads(event()["data"])
            tap.equal(got["id"], 7)
            assert got["result"]["tools"]
        finally:
            connection.close()


def test_apps_of_ones_own():
    """A new folder is found while the service runs."""
    with running() as s:
        tap.equal(s.post("/sandbox/mine").status, 422)
        status, _, text = service.tidepool("app", "new", "--state", s.state, "mine")
        tap.equal(status, 0, text)
        got = acquire(s, "mine", {"data": "default"})
        tap.equal([n["title"] for n in tool(s, got["server_url"], "list_notes")],
                  ["Shopping", "Ideas"])
        tap.equal(s.post("/sandbox/mine/%s/initialize" % got["sandbox_id"],
                         {"notes": [{"title": "x"}]}).json["records_created"], {"notes": 1})
        item, = items(s.post("/sandbox/mine/%s/initialize" % got["sandbox_id"], {"notes": [{}]}))
        tap.equal(item["loc"], ["body", "notes", 0, "title"])


def test_configured_url():
    with running(env={"TIDEPOOL_APPS_URL": "https://apps.example"}) as s:
        assert acquire(s)["server_url"].startswith("https://apps.example/shop/mcp/?instance_id=")


def test_instances_are_apart():
    with running() as s:
        urls = [acquire(s, body={"data": "default"})["server_url"] for _ in range(32)]
        faults = []

        def use(url, quantity):
            """All order at the same time; each finds what it ordered itself, and nothing else."""
            try:
                order = tool(s, url, "create_order", product="tea", quantity=1 + quantity % 4)
                again = tool(s, url, "create_order", product="tea")
                ids = [order["id"], again["id"]]
                assert ids[1] == ids[0] + 1, ids
                got = tool(s, url, "get_order", order_id=ids[0])
                assert got["quantity"] == 1 + quantity % 4, got
                tap.contains(json.dumps(tool(s, url, "get_order", order_id=ids[1] + 1)), "error")
            except Exception as e:
                faults.append((quantity, repr(e)))

        threads = [threading.Thread(target=use, args=(url, i)) for i, url in enumerate(urls)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(faults, [])


tap.main(globals())
