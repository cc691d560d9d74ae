# SPDX-License-Identifier: MIT
"""MCP servers of the operator's own in local sandboxes: from the configuration to their log."""

import json
import os
import signal

import cells
import service
import tap

with open(os.path.join(os.path.dirname(service.__file__), "stdio_server.py")) as f:
    SOURCE = f.read()

OWN = {
    "small": {"command": "python3", "args": ["-c", SOURCE], "env": {"GREETING": "hi"},
              "title": "A small one", "timeout": "30s"},
    "broken": {"command": "/no/such/program"},
}


def running(own=None, **more):
    return cells.running(env={"TIDEPOOL_LOCAL_SERVERS": json.dumps(own or OWN)}, **more)


def path_of(url):
    return url[url.index("/", len("http://")):]


class Server:
    def __init__(self, s, item):
        self.s, self.path, self.session = s, path_of(item["mcp_server_url"]), {}

    def post(self, message, **headers):
        return self.s.post(self.path, {"jsonrpc": "2.0", **message}, key=None, timeout=120,
                           headers={"Accept": "application/json, text/event-stream",
                                    **self.session, **headers})

    def ask(self, method, params=None, number=1):
        answer = self.post({"id": number, "method": method, "params": params or {}})
        tap.equal(answer.status, 200, answer)
        return answer.json

    def text(self, tool, **arguments):
        got = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return got["result"]["content"][0]["text"] if "result" in got else got

    def initialize(self):
        hello = self.post({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}})
        tap.equal(hello.status, 200, hello)
        self.session = {"Mcp-Session-Id": hello.headers["Mcp-Session-Id"]}
        tap.equal(self.post({"method": "notifications/initialized"}).status, 202)
        return hello.json["result"]


def test_hangup_reads_them_again():
    with service.folder() as d:
        path = os.path.join(d, "t.yaml")

        def write(text):
            with open(path, "w") as f:
                f.write(text)
        own = json.dumps({"command": "python3", "args": ["-c", SOURCE]})
        write("local:\n  servers:\n    first: %s\n" % own)
        with cells.running("--config", path) as s:
            acquire(s, "first")
            tap.equal(s.post("/local-sandbox", {"server_names": ["second"]}).status, 422)
            write("local:\n  servers:\n    second: %s\n" % own)
            s.signal(signal.SIGHUP)
            s.log_with("local.servers reloaded")
            _, servers = acquire(s, "second")
            server = Server(s, servers["second"])
            server.initialize()
            assert server.ask("tools/list")["result"]["tools"]
            tap.equal(s.post("/local-sandbox", {"server_names": ["first"]}).status, 422)
            write("local:\n  servers:\n    Wrong Name: %s\n" % own)
            s.signal(signal.SIGHUP)
            s.log_with("local.servers kept unchanged")
            acquire(s, "second")


def acquire(s, *names):
    answer = s.post("/local-sandbox", {"server_names": list(names)}, timeout=120)
    tap.equal(answer.status, 201, answer)
    return answer.json, {x["server_name"]: x for x in answer.json["servers"]}


def test_own_servers_work_beside_the_others():
    with running() as s:
        sandbox, servers = acquire(s, "small", "filesystem")
        small = Server(s, servers["small"])
        tap.equal(small.initialize()["serverInfo"]["name"], "small")
        tap.equal([x["name"] for x in small.ask("tools/list")["result"]["tools"]], ["echo"])
        tap.equal(small.text("where").split()[:2], ["/data", "hi"])
        # Another client, without a session, talks to the same program.
        other = Server(s, servers["small"])
        tap.equal(other.text("where"), small.text("where"))
        tap.equal(other.text("write", fd=2, text="from a tool\n"), "written")
        log = "/local-sandbox/%s/servers/small/log" % sandbox["local_sandbox_id"]
        s.until(lambda: "from a tool" in s.get(log).json["log"], 60)
        tap.contains(s.get(log).json["log"], "ready")
        tap.equal(s.get(log, key=None).status, 401)
        tap.equal(s.get(log.replace("small", "filesystem")).status, 404)
        # When it dies, the next request starts it again.
        pid = small.text("where").split()[2]
        s.run("local-" + sandbox["local_sandbox_id"].replace("-", ""), "kill -9 " + pid)
        s.until(lambda: "signal 9" in s.get(log).json["log"], 60)
        tap.equal(small.text("where").split()[2] == pid, False)
        tap.equal(s.delete(small.path, key=None).status, 200)


def test_what_cannot_be_used_is_told():
    with running() as s:
        sandbox, servers = acquire(s, "broken")
        broken = Server(s, servers["broken"])
        tap.contains(broken.text("x")["error"]["message"], "No such file or directory")
        tap.equal(s.post("/local-sandbox", {"server_names": ["other"]}).status, 422)
        # It was not asked for.
        path = broken.path.replace("/broken/", "/small/")
        tap.equal(s.post(path, {}, key=None).status, 404)
        tap.equal(s.post("/broken/mcp/?local_sandbox_id=x", {}, key=None).status, 404)
        # "ALL" is all that come with the program.
        every = s.post("/local-sandbox", {"server_names": "ALL"}, timeout=120).json["servers"]
        tap.equal([x["server_name"] for x in every if x["server_name"] in OWN], [])


def test_a_stream_of_notices_and_progress():
    with running() as s:
        small = Server(s, acquire(s, "small")[1]["small"])
        small.ask("ping")
        answer = small.post({"id": 1, "method": "tools/call", "params": {
            "name": "wait", "arguments": {"path": "/data"}, "_meta": {"progressToken": 9}}})
        events = [json.loads(x[6:]) for x in answer.body.decode().splitlines()
                  if x.startswith("data: ")]
        tap.equal([x.get("method", "answer") for x in events],
                  ["notifications/progress"] * 3 + ["answer"])


def test_bad_configurations_are_refused():
    for own, why in (({"git": {"command": "x"}}, "'git' is the name of a built-in server"),
                     ({"jira": {"command": "x"}}, "'jira' is the name of an app"),
                     ({"mcp": {"command": "x"}}, "invalid server name 'mcp'"),
                     ({"a": {}}, "command"), ({"A b": {"command": "x"}}, "A b"),
                     ({"a": {"command": "x", "timeout": "1d"}}, "timeout")):
        try:
            with running(own):
                pass
        except AssertionError as e:
            tap.contains(str(e), why)
        else:
            raise AssertionError("it started with %s" % own)


tap.main(globals())
