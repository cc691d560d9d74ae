# SPDX-License-Identifier: MIT
"""The tools of the service's own MCP server on real cells."""

import base64
import json
import subprocess

import cells
import service
import tap

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
         "WjR9awAAAABJRU5ErkJggg==")


def use(s, tool, key="", **arguments):
    """The result of a tool."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments}}
    answer = s.post("/mcp", json.dumps(message), headers=HEADERS, key=key, timeout=90)
    tap.equal(answer.status, 200)
    text = answer.body.decode()
    if answer.headers["Content-Type"] == "text/event-stream":
        text = [x for x in text.splitlines() if x.startswith("data: {")][-1][6:]
    return json.loads(text)["result"]


def text(result):
    assert not result.get("isError"), result
    return result["content"][0]["text"]


def failure(result):
    tap.equal(result.get("isError"), True, repr(result)[:300])
    return result["content"][0]["text"]


def test_life_of_a_sandbox():
    with cells.running() as s:
        made = use(s, "createSandbox", name="mcp-1")
        tap.contains(text(made), "Sandbox created, Sandbox name:mcp-1, \n")
        tap.contains(text(made), '"name":"sandbox_execute_bash"')
        tap.equal(made["structuredContent"]["status"], "running")
        tap.contains(failure(use(s, "createSandbox", name="mcp-1")), "mcp-1")
        tap.contains(text(use(s, "getSandbox", name="mcp-1")), "Sandbox details:\n")
        listed = use(s, "listSandbox")["structuredContent"]["sandboxes"]
        tap.equal([x["name"] for x in listed], ["mcp-1"])
        tap.equal(text(use(s, "pauseSandbox", name="mcp-1")), "Sandbox mcp-1 paused successfully")
        tap.equal(s.show("mcp-1").json["data"]["status"], "paused")
        tap.equal(text(use(s, "resumeSandbox", name="mcp-1")), "Sandbox mcp-1 resumed successfully")
        tap.equal(text(use(s, "deleteSandbox", name="mcp-1")), "Sandbox mcp-1 deleted successfully")
        tap.equal(failure(use(s, "getSandbox", name="mcp-1")), "sandbox mcp-1 not found")


def test_commands():
    with cells.running() as s:
        s.create(name="one")
        result = use(s, "runCommand", sandbox_name="one", command="echo hi; echo no >&2; exit 3")
        tap.equal(result["structuredContent"], {
            "stdout": "hi\n", "stderr": "no\n", "exitCode": 3, "timedOut": False,
            "truncated": False})
        tap.equal(text(result), "hi\nstderr:\nno\nexit code 3\n")
        result = use(s, "runCommand", sandbox_name="one", command="cat; echo $A; pwd; id -un",
                     stdin="in ", env={"A": "b"}, cwd="/tmp", user="root")
        tap.equal(text(result), "in b\n/tmp\nroot\n")
        result = use(s, "runCommand", sandbox_name="one", command="sleep 100", timeout=0.2)
        tap.equal(result["structuredContent"]["timedOut"], True)
        tap.equal(failure(use(s, "runCommand", sandbox_name="one", command=" ")),
                  "command is required")
        failure(use(s, "runCommand", sandbox_name="one", command="x", user="nobody-x"))


def test_files():
    with cells.running() as s:
        s.create(name="one")
        tap.equal(text(use(s, "writeFile", sandbox_name="one", path="/home/user/a/b.txt",
                           content="ü\n")), "3 bytes written to /home/user/a/b.txt")
        tap.equal(text(use(s, "readFile", sandbox_name="one", path="/home/user/a/b.txt")), "ü\n")
        tap.equal(text(use(s, "writeFile", sandbox_name="one", path="/tmp/empty", content="")),
                  "0 bytes written to /tmp/empty")
        tap.equal(text(use(s, "readFile", sandbox_name="one", path="/tmp/empty")), "")
        use(s, "writeFile", sandbox_name="one", path="/tmp/p.png", content=PIXEL, encoding="base64")
        picture = use(s, "readFile", sandbox_name="one", path="/tmp/p.png")["content"][0]
        tap.equal(picture, {"type": "image", "mimeType": "image/png", "data": PIXEL})
        raw = base64.b64encode(bytes(range(256))).decode()
        use(s, "writeFile", sandbox_name="one", path="/tmp/raw", content=raw, encoding="base64")
        tap.equal(use(s, "readFile", sandbox_name="one", path="/tmp/raw")["content"][0]["resource"],
                  {"uri": "file:///tmp/raw", "mimeType": "application/octet-stream", "blob": raw})
        tap.equal(text(use(s, "readFile", sandbox_name="one", path="/tmp/raw", encoding="base64")),
                  raw)
        listed = use(s, "listFiles", sandbox_name="one", path="/home/user/a")["structuredContent"]
        tap.equal([e["name"] for e in listed["entries"]], ["b.txt"])
        assert "none" in failure(use(s, "readFile", sandbox_name="one", path="/tmp/none"))
        failure(use(s, "listFiles", sandbox_name="one", path="/tmp/raw"))
        failure(use(s, "writeFile", sandbox_name="one", path="/x", content="=", encoding="base64"))
        tap.equal(failure(use(s, "readFile", sandbox_name="one", path="/")), "path is required")
        s.run("one", "head -c 5000000 /dev/zero > /tmp/big")
        tap.contains(failure(use(s, "readFile", sandbox_name="one", path="/tmp/big")), "bytes")


def test_relative_paths_are_where_commands_start():
    with cells.running() as s:
        s.create(name="one")
        written = text(use(s, "writeFile", sandbox_name="one", path="a.py", content="print(6 * 7)"))
        tap.equal(written, "12 bytes written to /home/user/a.py")
        tap.equal(text(use(s, "runCommand", sandbox_name="one", command="python3 a.py")), "42\n")
        tap.equal(text(use(s, "readFile", sandbox_name="one", path="~/a.py")), "print(6 * 7)")
        for where in ({}, {"path": "."}, {"path": "~"}):
            listed = use(s, "listFiles", sandbox_name="one", **where)["structuredContent"]
            tap.equal((listed["path"], "a.py" in [e["name"] for e in listed["entries"]]),
                      ("/home/user", True))


def test_tools_inside():
    with cells.running() as s:
        s.create(name="one")

        def inside(tool, **arguments):
            return use(s, "sandboxExecutor", sandbox_name="one", tool_name=tool,
                       arguments=arguments)
        tap.equal(text(inside("sandbox_execute_bash", cmd="echo hi")), "hi\n")
        tap.equal(text(inside("sandbox_execute_bash", command="echo hi")), "hi\n")
        tap.equal(text(inside("sandbox_execute_code", language="python", code="print(42)")), "42\n")
        inside("sandbox_file_operations", action="write", path="/tmp/it's", content="needle\n")
        tap.equal(text(inside("sandbox_file_operations", action="read", path="/tmp/it's")),
                  "needle\n")
        tap.contains(text(inside("sandbox_file_operations", action="search", path="/tmp",
                                 pattern="need")), "needle")
        tap.equal(text(inside("sandbox_file_operations", action="find", path="/tmp",
                              pattern="it's")), "/tmp/it's\n")
        failure(inside("sandbox_file_operations", action="burn"))
        failure(inside("sandbox_execute_code", language="cobol", code="x"))
        failure(inside("sandbox_execute_bash", cmd="echo", env={"A": 1}))
        tap.contains(failure(inside("nothing")), "no tool named nothing")
        failure(use(s, "sandboxExecutor", sandbox_name="one", tool_name="sandbox_execute_bash"))


def test_create_takes_what_the_api_takes():
    with cells.running() as s:
        made = use(s, "createSandbox", sandbox_name="full", cpu=1.5, memory="256Mi", disk="64Mi",
                   timeout=500, idle_timeout=400, env={"A": "b"}, metadata={"k": "v"},
                   workdir="/srv/w", allowInternetAccess=False)["structuredContent"]
        tap.equal([made[k] for k in ("name", "cpu_limit", "memory_limit", "disk", "timeout",
                                     "idle_timeout", "metadata", "allowInternetAccess")],
                  ["full", "1.5", "256Mi", "64Mi", 500, 400, {"k": "v"}, False])
        tap.equal(text(use(s, "runCommand", sandbox_name="full", command="echo $A; pwd")),
                  "b\n/srv/w\n")
        made = use(s, "createSandbox", name="old", memory_limit="128Mi",
                   network={"denyOut": ["0.0.0.0/0"]})["structuredContent"]
        tap.equal((made["name"], made["memory_limit"]), ("old", "128Mi"))
        tap.equal(made["network"]["denyOut"], ["0.0.0.0/0"])
        made = use(s, "createSandbox", sandbox_name="rest", pids=50, port=9000, autoPause=True,
                   autoResume=True, app="x", cmd="sleep", args=["1000"])["structuredContent"]
        tap.equal([made[k] for k in ("pids", "port", "autoPause", "autoResume", "app", "cmd",
                                     "args")],
                  [50, 9000, True, True, "x", "sleep", ["1000"]])
        failure(use(s, "createSandbox", sandbox_name="bad", memory="lots"))
        failure(use(s, "createSandbox", sandbox_name="bad", env={"A": 1}))


class Bridge:
    """`tidepool mcp` as a client has it."""

    def __init__(self, s):
        self.process = subprocess.Popen(
            [service.PROGRAM, "mcp", "--state", s.state], env=service.clean_env(), text=True,
            bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send(1, "initialize", protocolVersion="2025-11-25", capabilities={})
        tap.equal(self.receive()["id"], 1)

    def send(self, number, method, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.process.stdin.write(json.dumps(message) + "\n")

    def use(self, number, tool, **arguments):
        self.send(number, "tools/call", name=tool, arguments=arguments)

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        return rest, self.process.wait(30)


def test_bridge_answers_in_parallel():
    with cells.running() as s:
        s.create(name="one")
        b = Bridge(s)
        b.use(2, "runCommand", sandbox_name="one",
              command="until [ -e go ]; do sleep 0.05; done; echo went")
        b.send(3, "ping")
        tap.equal(b.receive()["id"], 3)
        b.use(4, "writeFile", sandbox_name="one", path="go", content="")
        answers = {m["id"]: m["result"] for m in (b.receive(), b.receive())}
        tap.equal((sorted(answers), text(answers[2])), ([2, 4], "went\n"))
        tap.equal(b.close(), ("", 0))


def test_bridge_cancels():
    with cells.running() as s:
        s.create(name="one")
        b = Bridge(s)

        def is_running():
            return s.run("one", "pgrep -x sleep || true")["output"] != ""
        b.use(2, "runCommand", sandbox_name="one", command="sleep 7045; touch done")
        s.until(is_running)
        b.send(None, "notifications/cancelled", requestId=2, reason="enough")
        s.until(lambda: not is_running())
        b.send(3, "ping")
        tap.equal(b.receive(), {"jsonrpc": "2.0", "id": 3, "result": {}})
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}
        b.send("four", "tools/call", name="runCommand", _meta=meta,
               arguments={"sandbox_name": "one", "command": "sleep 7046"})
        s.until(is_running)
        b.send(None, "notifications/cancelled", requestId="four")
        s.until(lambda: not is_running())
        tap.equal(s.run("one", "ls")["output"], "")
        tap.equal(b.close(), ("", 0))


def test_tenants_do_not_see_each_other():
    with cells.running() as s:
        one, two = s.make_key(account="one")["key"], s.make_key(account="two")["key"]
        text(use(s, "createSandbox", name="hers", key=one))
        tap.equal(use(s, "listSandbox", key=two)["structuredContent"], {"sandboxes": []})
        for tool, arguments in (("getSandbox", {"name": "hers"}),
                                ("deleteSandbox", {"name": "hers"}),
                                ("pauseSandbox", {"name": "hers"}),
                                ("runCommand", {"sandbox_name": "hers", "command": "id"}),
                                ("readFile", {"sandbox_name": "hers", "path": "/etc/passwd"})):
            tap.equal(failure(use(s, tool, key=two, **arguments)), "sandbox hers not found")
        tap.equal(s.names(), ["hers"])


def call(s, path, method, key="", **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return s.post(path, json.dumps(message), headers=HEADERS, key=key, timeout=90)


def test_tools_of_one_sandbox():
    """/sandbox/NAME/mcp: no tool can name another sandbox."""
    with cells.running() as s:
        s.create(name="one")
        path = "/sandbox/one/mcp"
        tools = call(s, path, "tools/list").json["result"]["tools"]
        tap.equal([t["name"] for t in tools], ["runCommand", "readFile", "writeFile", "listFiles"])
        for t in tools:
            assert "sandbox_name" not in t["inputSchema"]["properties"]

        def use_here(name, **arguments):
            return call(s, path, "tools/call", name=name, arguments=arguments).json["result"]

        tap.contains(text(use_here("writeFile", path="/tmp/a/b", content="kept")), "4 bytes")
        tap.equal(text(use_here("readFile", path="/tmp/a/b")), "kept")
        result = use_here("runCommand", command="cat /tmp/a/b; exit 4")
        tap.equal(result["structuredContent"]["stdout"], "kept")
        tap.equal(result["structuredContent"]["exitCode"], 4)
        tap.contains(text(use_here("listFiles", path="/tmp/a")), '"b"')
        # Named all the same: it is not looked at.
        tap.equal(text(use_here("readFile", sandbox_name="other", path="/tmp/a/b")), "kept")
        stranger = s.make_key(account="stranger")["key"]
        for key, status in ((None, 401), ("wrong", 401), (stranger, 404)):
            answer = call(s, path, "ping", key=key)
            tap.equal(answer.status, status, key)
            tap.equal(answer.json["jsonrpc"], "2.0")
        tap.equal(call(s, "/sandbox/none/mcp", "ping").status, 404)
        # The rest of the paths, and what names a port, go inside as before.
        tap.equal(call(s, path + "?port=1", "ping").status, 502)


tap.main(globals())
