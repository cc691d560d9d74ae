# SPDX-License-Identifier: MIT
"""Commands and builds of /mcp as tasks, on both wires: they outlive the connection, end when they
are cancelled or expire, and belong to their account."""

import json
import subprocess
import time

import cells
import service
import tap

META = "io.modelcontextprotocol/"
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
TASKS = {"extensions": {META + "tasks": {}}}


def modern(s, method, params, key="", can=TASKS, path="/mcp"):
    """A message of 2026-07-28."""
    params = {**params, "_meta": {META + "protocolVersion": "2026-07-28",
                                  META + "clientCapabilities": can}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    named = params.get("name", params.get("taskId"))
    headers = {**HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
               "Mcp-Name": named}
    return s.post(path, json.dumps(message), headers=headers, key=key, timeout=60).json


def old(s, method, params=None, key="", session=None):
    """A message of 2025-11-25; without a session its header says the revision."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    headers = {**HEADERS, "MCP-Protocol-Version": "2025-11-25"}
    if session:
        headers["Mcp-Session-Id"] = session
    answer = s.post("/mcp", json.dumps(message), headers=headers, key=key, timeout=60)
    text = answer.body.decode()
    if answer.headers["Content-Type"] == "text/event-stream":
        text = [x for x in text.splitlines() if x.startswith("data: {")][-1][6:]
    return json.loads(text)


def begin(s, command, wire=modern, task=None, key="", **arguments):
    params = {"name": "runCommand", "arguments": {"sandbox_name": "one", "command": command,
                                                  **arguments}}
    if wire is old:
        params["task"] = task or {}
        return old(s, "tools/call", params, key=key)["result"]["task"]
    return modern(s, "tools/call", params, key=key)["result"]


def until_over(s, task_id, wire=modern):
    for _ in range(600):
        got = wire(s, "tasks/get", {"taskId": task_id})["result"]
        if got["status"] not in ("working", "input_required"):
            return got
        time.sleep(0.1)
    raise AssertionError("the task does not end: %r" % got)


def is_running(s, what):
    return s.run("one", "pgrep -fx '%s' || true" % what)["output"] != ""


def refused(answer):
    return answer["error"]["code"]


def test_a_long_command_becomes_a_task():
    with cells.running() as s:
        s.create(name="one")
        quick = begin(s, "echo quick")
        tap.equal((quick["resultType"], quick["structuredContent"]["stdout"]),
                  ("complete", "quick\n"))
        task = begin(s, "sleep 2; echo slow; exit 3")
        tap.equal((task["resultType"], task["status"]), ("task", "working"))
        tap.equal(task["ttlMs"], 60000 + 15 * 60000, "the command's timeout and a while")
        got = until_over(s, task["taskId"])
        tap.equal(got["status"], "completed", "an exit code is a result")
        tap.equal(got["result"]["structuredContent"]["stdout"], "slow\n")
        tap.equal(got["result"]["structuredContent"]["exitCode"], 3)
        plain = modern(s, "tools/call", {"name": "runCommand", "arguments": {
            "sandbox_name": "one", "command": "sleep 1; echo plain"}}, can={})["result"]
        tap.equal(plain["structuredContent"]["stdout"], "plain\n", "a client without tasks waits")


def test_the_wire_of_2025_11_25():
    with cells.running() as s:
        s.create(name="one")
        tools = {t["name"]: t for t in old(s, "tools/list")["result"]["tools"]}
        tap.equal(tools["runCommand"]["execution"], {"taskSupport": "optional"})
        tap.equal("execution" in tools["readFile"], False)
        hello = old(s, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        tap.equal(hello["result"]["capabilities"]["tasks"],
                  {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}})
        task = begin(s, "sleep 1; echo done", wire=old, task={"ttl": 60000})
        tap.equal((task["status"], task["ttl"]), ("working", 60000))
        tap.equal([t["taskId"] for t in old(s, "tasks/list")["result"]["tasks"]], [task["taskId"]])
        result = old(s, "tasks/result", {"taskId": task["taskId"]})["result"]
        tap.equal(result["structuredContent"]["stdout"], "done\n")
        tap.equal(result["_meta"], {META + "related-task": {"taskId": task["taskId"]}})
        tap.equal(until_over(s, task["taskId"], old)["status"], "completed")
        tap.equal(refused(old(s, "tasks/cancel", {"taskId": task["taskId"]})), -32602)
        tap.equal(refused(old(s, "tools/call", {"name": "listFiles", "task": {}, "arguments": {
            "sandbox_name": "one", "path": "/"}})), -32601, "a tool without tasks")
        tap.equal(refused(old(s, "tasks/list", {"cursor": "x"})), -32602)


def test_cancelling_ends_the_process():
    with cells.running() as s:
        s.create(name="one")
        for wire, seconds in ((modern, "4711"), (old, "4712")):
            task = begin(s, "exec sleep " + seconds, wire=wire, timeout=9000)
            s.until(lambda: is_running(s, "sleep " + seconds))
            answer = wire(s, "tasks/cancel", {"taskId": task["taskId"]})["result"]
            tap.equal(answer.get("status"), "cancelled" if wire is old else None)
            tap.equal(until_over(s, task["taskId"], wire)["status"], "cancelled")
            s.until(lambda: not is_running(s, "sleep " + seconds))
        tap.equal(modern(s, "tasks/cancel", {"taskId": task["taskId"]})["result"]["resultType"],
                  "complete", "once more")
        tap.equal(refused(old(s, "tasks/result", {"taskId": task["taskId"]})), -32603)


def test_expiry():
    with cells.running() as s:
        s.create(name="one")
        task = begin(s, "exec sleep 4713", wire=old, task={"ttl": 1500}, timeout=9000)
        s.until(lambda: is_running(s, "sleep 4713"))
        for _ in range(100):
            answer = old(s, "tasks/get", {"taskId": task["taskId"]})
            if "error" in answer:
                break
            time.sleep(0.1)
        tap.equal(refused(answer), -32602)
        s.until(lambda: not is_running(s, "sleep 4713"))


def test_wrong_ids_and_other_accounts():
    with cells.running() as s:
        s.create(name="one")
        task = begin(s, "sleep 30; echo mine")["taskId"]
        other = s.make_key(account="other")["key"]
        flipped = task[:-1] + ("0" if task[-1] != "0" else "1")
        for method in ("tasks/get", "tasks/cancel"):
            for wire in (modern, old):
                for bad, key in (("nothing", ""), (flipped, ""), (task, other), ("x" * 64, "")):
                    tap.equal(refused(wire(s, method, {"taskId": bad}, key=key)), -32602,
                              "%s %s" % (method, bad))
        tap.equal(refused(old(s, "tasks/result", {"taskId": task}, key=other)), -32602)
        tap.equal(refused(modern(s, "tasks/update", {"taskId": task, "inputResponses": {}},
                                 key=other)), -32602)
        tap.equal(old(s, "tasks/list", key=other)["result"]["tasks"], [])
        tap.equal(refused(old(s, "tasks/get", {})), -32602)
        tap.equal(refused(modern(s, "tasks/get", {"taskId": task}, can={})), -32021)
        tap.equal(modern(s, "tasks/get", {"taskId": task})["result"]["status"], "working",
                  "none of it ended the task")
        modern(s, "tasks/cancel", {"taskId": task})


def test_a_session_and_its_end():
    with cells.running() as s:
        s.create(name="one")
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}}}
        session = s.post("/mcp", json.dumps(message), headers=HEADERS).headers["Mcp-Session-Id"]
        task = old(s, "tools/call", {"name": "runCommand", "task": {}, "arguments": {
            "sandbox_name": "one", "command": "sleep 2; echo alone"}}, session=session)
        task = task["result"]["task"]["taskId"]
        tap.equal(s.delete("/mcp", headers={"Mcp-Session-Id": session}).status, 204)
        result = old(s, "tasks/result", {"taskId": task})["result"]
        tap.equal(result["structuredContent"]["stdout"], "alone\n", "it outlives the session")


def test_a_restart_loses_it_and_says_so():
    with cells.running() as s:
        s.create(name="one")
        task = begin(s, "exec sleep 4714", timeout=9000)["taskId"]
        s.until(lambda: is_running(s, "sleep 4714"))
        s.stop()
        s.start()
        got = modern(s, "tasks/get", {"taskId": task})["result"]
        tap.equal((got["status"], got["error"]["code"]), ("failed", -32603))
        tap.contains(got["error"]["message"], "restarted")
        other = s.make_key(account="other")["key"]
        tap.equal(refused(modern(s, "tasks/get", {"taskId": task}, key=other)), -32602)
        s.until(lambda: not is_running(s, "sleep 4714"))


def test_too_many():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_TASKS": "1"}) as s:
        s.create(name="one")
        user = s.make_key(account="user")["key"]
        s.create(name="two", key=user)
        arguments = {"sandbox_name": "two", "command": "sleep 20"}
        first = begin(s, "sleep 20", wire=old, key=user, sandbox_name="two")
        params = {"name": "runCommand", "arguments": arguments, "task": {}}
        tap.equal(refused(old(s, "tools/call", params, key=user)), -32000)
        tap.equal(begin(s, "sleep 1; echo waited", key=user, sandbox_name="two")
                  ["structuredContent"]["stdout"], "waited\n", "the client waits instead")
        old(s, "tasks/cancel", {"taskId": first["taskId"]}, key=user)
        for _ in range(50):
            answer = old(s, "tools/call", params, key=user)
            if "result" in answer:
                break
            time.sleep(0.1)
        tap.equal(answer["result"]["task"]["status"], "working", "there is room again")
        old(s, "tasks/cancel", {"taskId": answer["result"]["task"]["taskId"]}, key=user)


def test_of_one_sandbox():
    with cells.running() as s:
        s.create(name="one")
        path = "/sandbox/one/mcp"
        task = modern(s, "tools/call", {"name": "runCommand", "arguments": {
            "command": "sleep 1; echo cell"}}, path=path)["result"]
        for _ in range(100):
            got = modern(s, "tasks/get", {"taskId": task["taskId"]}, path=path)["result"]
            if got["status"] != "working":
                break
            time.sleep(0.1)
        tap.equal(got["result"]["structuredContent"]["stdout"], "cell\n")


def test_builds_of_templates():
    """They outlive the connection, and cancelling ends what they run."""
    with cells.running() as s:
        def build(name, *commands):
            return modern(s, "tools/call", {"name": "buildTemplate", "arguments": {
                "template": name, "commands": commands}})["result"]
        task = build("mine", "echo made > ~/made", "sleep 1")
        tap.equal(task["resultType"], "task", task)
        got = until_over(s, task["taskId"])
        tap.equal(got["result"].get("isError"), None, got)
        tap.equal(got["result"]["structuredContent"]["status"], "ready")
        tap.contains(got["result"]["structuredContent"]["log"], "echo made")
        made = modern(s, "tools/call", {"name": "createSandbox", "arguments": {
            "name": "one", "template": "mine"}}, can={})["result"]
        tap.equal(made.get("isError"), None, made)
        tap.equal(s.run("one", "cat /home/user/made")["output"], "made\n")
        s.remove("one")
        task = build("broken", "sleep 1; exit 7")
        got = until_over(s, task["taskId"])
        tap.equal((got["status"], got["result"]["isError"]), ("completed", True))
        task = build("endless", "sleep 4715")
        s.until(lambda: len(s.names()) == 1)
        modern(s, "tasks/cancel", {"taskId": task["taskId"]})
        s.until(lambda: s.names() == [])
        tap.equal(until_over(s, task["taskId"])["status"], "cancelled")
        refusal = build("Not A Name", "true")
        tap.equal(refusal["isError"], True)


def test_the_bridge():
    """tidepool mcp passes tasks on, on either wire."""
    with cells.running() as s:
        s.create(name="one")
        with subprocess.Popen([service.PROGRAM, "mcp", "--state", s.state], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=service.clean_env()) as p:
            def ask(method, params):
                p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                                          "params": params}) + "\n")
                p.stdin.flush()
                return json.loads(p.stdout.readline())
            meta = {"_meta": {META + "protocolVersion": "2026-07-28",
                              META + "clientCapabilities": TASKS}}
            call = {"name": "runCommand", "arguments": {"sandbox_name": "one",
                                                        "command": "sleep 1; echo over"}}
            task = ask("tools/call", {**call, **meta})["result"]["taskId"]
            for _ in range(100):
                got = ask("tasks/get", {"taskId": task, **meta})["result"]
                if got["status"] != "working":
                    break
                time.sleep(0.1)
            tap.equal(got["result"]["structuredContent"]["stdout"], "over\n")
            ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
            task = ask("tools/call", {**call, "task": {}})["result"]["task"]["taskId"]
            result = ask("tasks/result", {"taskId": task})["result"]
            tap.equal(result["structuredContent"]["stdout"], "over\n")
            p.stdin.close()
            tap.equal(p.wait(timeout=30), 0)


tap.main(globals())
