# SPDX-License-Identifier: MIT
"""The app postgres behind the service: instances are databases of a real server that do not see
each other, and that go when they are released."""

import json
import os

import service
import tap

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps")
RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
SLOW = 120  # seconds: the server is made and started with the first instance


def acquire(s, **body):
    answer = s.post("/sandbox/postgres", json.dumps(body), timeout=SLOW)
    tap.equal(answer.status, 201, answer)
    return answer.json


def run(s, sandbox, tool, **arguments):
    path = "/" + sandbox["server_url"].partition("//")[2].partition("/")[2]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments}}
    answer = s.post(path, json.dumps(message), key=None, headers=RPC, timeout=SLOW)
    tap.equal(answer.status, 200, answer)
    return answer.json["result"]["content"][0]["text"]


def test_instances_are_databases():
    with service.running(env={"TIDEPOOL_APPS_DIR": APPS}) as s:
        first, second = acquire(s, data="default"), acquire(s, data="default")
        count = {"sql": "SELECT count(*) AS n FROM orders"}
        tap.equal(run(s, first, "execute_sql", sql="DELETE FROM orders"), "No results")
        tap.equal(run(s, first, "execute_sql", **count), "[{'n': 0}]")
        tap.equal(run(s, second, "execute_sql", **count), "[{'n': 5}]")
        path = "/sandbox/postgres/" + first["sandbox_id"]
        data = s.get(path + "/dump", timeout=SLOW).json["data"]
        tap.equal([x["name"] for x in data["schemas"]], ["public", "fleet"], "dump")
        tap.equal(s.post(path + "/reset", timeout=SLOW).status, 200, "reset")
        tap.equal(run(s, first, "execute_sql", **count), "[{'n': 5}]")
        tap.equal(s.delete(path, timeout=SLOW).status, 200, "release")


def test_graders_see_what_changed():
    with service.running(env={"TIDEPOOL_APPS_DIR": APPS}) as s:
        box = acquire(s, data="default")
        path = "/sandbox/postgres/" + box["sandbox_id"]

        def diff():
            answer = s.get(path + "/diff", timeout=SLOW)
            tap.equal(answer.status, 200, answer)
            return answer.json

        def verify(*checks):
            answer = s.post(path + "/verify", json.dumps({"checks": checks}), timeout=SLOW)
            tap.equal(answer.status, 200, answer)
            return answer.json["results"]

        tap.equal(diff()["tables"], {}, "untouched")
        for sql in ("DELETE FROM orders WHERE id = 102",
                    "UPDATE orders SET status = 'lost' WHERE id IN (101, 110, 103)",
                    "CREATE TABLE notes (text text)",
                    "INSERT INTO notes VALUES ('twice'), ('twice'), ('once')"):
            tap.equal(run(s, box, "execute_sql", sql=sql), "No results", sql)
        found = diff()
        tap.equal((found["inserted"], found["updated"], found["deleted"]), (3, 2, 1), found)
        orders = found["tables"]["orders"]
        tap.equal([x["key"] for x in orders["updated"]], [{"id": 101}, {"id": 103}])
        tap.equal(orders["updated"][0]["new"], {"status": "lost"})
        tap.equal([x["id"] for x in orders["deleted"]], [102])
        tap.equal(found["tables"]["notes"]["inserted"],
                  [{"text": "once"}, {"text": "twice"}, {"text": "twice"}])
        results = verify(
            {"sql": "SELECT count(*) FROM notes", "equals": 3},
            {"sql": "SELECT status FROM orders WHERE id = $1", "params": [101], "equals": "lost"},
            {"table": "notes", "where": {"text": "twice"}, "count": 2},
            {"table": "orders", "where": {"id": 102}, "count": 0},
            {"sql": "SELECT true, 1.5, null, '{\"a\": 1}'::jsonb",
             "rows": [[True, 1.5, None, {"a": 1}]]},
            {"sql": "SELECT count(*) FROM notes", "equals": 4},
            {"sql": "DELETE FROM notes"}, {"sql": "SELECT 1; SELECT 2"},
            {"sql": "SELECT nothing"})
        tap.equal([x["passed"] for x in results], [True] * 5 + [False] * 4, results)
        tap.equal(results[5]["actual"], 3)
        tap.contains(results[6]["error"], "read-only")
        tap.contains(results[8]["error"], "does not exist")
        tap.equal(s.post(path + "/reset", timeout=SLOW).status, 200, "reset")
        tap.equal(diff()["tables"], {}, "after a reset")


tap.main(globals())
