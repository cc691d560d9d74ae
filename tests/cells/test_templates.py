# SPDX-License-Identifier: MIT
"""The templates that ship, one sandbox of each: what it is for works in it, and what this host
cannot have is not listed. What clients of E2B do in some of them is in tests/sdk."""

import json

import cells
import tap

E2B = "/e2b/v1"
TOKEN = "token-of-the-gateway"


def create(s, template, status=201, **fields):
    fields = {"templateID": template, "timeout": 300, **fields}
    answer = s.post(E2B + "/v2/sandboxes", fields, timeout=60)
    tap.equal(answer.status, status, "%s: %r" % (template, answer.body))
    return answer.json


def run(s, box, command, **fields):
    done = s.run(box["metadata"]["name"], command, **fields)
    tap.equal(done["exitCode"], 0, repr(done))
    return done["output"]


def listed(s):
    return [t["templateID"] for t in s.get(E2B + "/templates").json]


def test_names_and_what_they_stand_for():
    names = {"default": "default", "aio": "aio", "base": "base", "sandbox-base": "sandbox-base",
             "sandbox-base-node": "sandbox-base-node", "sandbox-base-code": "sandbox-base-code",
             "code-interpreter": "code-interpreter", "mcp-gateway": "mcp-gateway",
             "minimal": "minimal"}
    with cells.running() as s:
        for name, shown in names.items():
            for asked in (name, name + "-v1", name + "-v23"):
                box = create(s, asked)
                tap.equal(box["templateID"], shown, asked)
            tap.equal(run(s, box, "id -un; pwd"), "user\n/home/user\n", name)
        for asked in ("none", "base-v", "base-vx", "base-v1-v1", "-v1"):
            answer = s.post(E2B + "/v2/sandboxes", {"templateID": asked})
            tap.equal(answer.status in (400, 404), True, "%s: %r" % (asked, answer))
        s.create(name="native", template="base-v1")
        tap.equal(s.run("native", "id -un")["output"], "user\n")
        s.remove_all()


def test_default_has_the_programs_of_the_host():
    with cells.running() as s:
        for name in ("aio", "base"):
            box = create(s, name)
            tap.equal(run(s, box, "python3 -c 'print(6 * 7)'; git --version | cut -c1-11"),
                      "42\ngit version\n")
            run(s, box, "echo kept > ~/file && sudo cp ~/file /usr/local/share/file")
            tap.equal(run(s, box, "cat /usr/local/share/file"), "kept\n")
        s.remove_all()


def test_minimal_has_small_limits():
    with cells.running() as s:
        box = create(s, "minimal")
        tap.equal(run(s, box, "free -b | awk '/Mem:/{print $2}'"), "%d\n" % (256 << 20))
        shown = s.show(box["metadata"]["name"]).json["data"]
        tap.equal((shown["memory_limit"], shown["cpu_limit"]), ("256Mi", "500m"))
        s.remove_all()


def test_the_gateway_serves():
    """The way the client starts it; tests/sdk/test_gateway.py is that client."""
    with cells.running() as s:
        box = create(s, "mcp-gateway", secure=False)
        config = json.dumps({"filesystem": {"paths": ["/home/user"]}})
        run(s, box, "GATEWAY_ACCESS_TOKEN=%s mcp-gateway --config '%s'" % (TOKEN, config),
            user="root")
        host = {"Host": "50005-%s.localhost" % box["sandboxID"], "Authorization": "Bearer " + TOKEN,
                "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}
        answer = s.post("/mcp", hello, headers=host, key=None)
        tap.equal(answer.status, 200, repr(answer))
        tap.contains(answer.body.decode(), '"serverInfo"')
        stranger = dict(host, Authorization="Bearer other")
        tap.equal(s.post("/mcp", hello, headers=stranger, key=None).status, 401)
        s.remove_all()


def test_what_is_listed_can_be_created():
    """By all who list them, and nothing else is."""
    with cells.running() as s:
        tools = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers={
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json"}).json["result"]["tools"]
        [tool] = [x for x in tools if x["name"] == "createSandbox"]
        shown = tool["inputSchema"]["properties"]["template"]["description"]
        for t in s.get("/api/v1/config/templates").json["data"]:
            is_listed = t["name"] in listed(s)
            tap.equal('{"name":"%s",' % t["name"] in shown, is_listed, t["name"])
            answer = s.post("/api/v1/sandbox", {"template": t["name"]}, timeout=60)
            tap.equal(answer.status, 200 if is_listed else 501, repr(answer))
            if not is_listed:
                tap.contains(answer.json["message"], "apt-get install ")
        s.remove_all()


tap.main(globals())
