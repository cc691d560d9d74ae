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


tap.main(globals())
