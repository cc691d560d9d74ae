# SPDX-License-Identifier: MIT
"""Servers of others, which speak over their input and output, reached by HTTP."""

import base64
import contextlib
import http.client
import json
import os
import shutil
import sys
import tempfile
import threading
import time

import local_tools
import tap

SERVER = os.path.join(os.path.dirname(local_tools.__file__), "stdio_server.py")


class Server:
    """A client of one server."""

    def __init__(self, tools, name="small", **settings):
        self.tools, self.name = tools, name
        settings = {"command": sys.executable, "args": [SERVER], **settings}
        self.target = "/_stdio/%s?%s" % (
            name, base64.urlsafe_b64encode(json.dumps(settings).encode()).decode().rstrip("="))

    def send(self, message, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.tools.port, timeout=120)
        connection.request("POST", self.target, json.dumps(message), {
            "Accept": "application/json, text/event-stream", **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def ask(self, method, params=None, number=1, **headers):
        answer, body = self.send({"jsonrpc": "2.0", "id": number, "method": method,
                                  "params": params or {}}, **headers)
        tap.equal(answer.status, 200, body)
        if answer.headers["Content-Type"] == "text/event-stream":
            return [json.loads(x[6:]) for x in body.decode().splitlines()
                    if x.startswith("data: ")]
        got = json.loads(body)
        tap.equal(got["id"], number, got)
        return got

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool, **arguments):
        got = self.call(tool, **arguments)
        return got["result"]["content"][0]["text"] if "result" in got else got

    def log(self):
        status, body = self.tools.request("POST", "/_stdio/%s/log" % self.name, "")
        tap.equal(status, 200, body)
        return json.loads(body)["log"]

    def until_logged(self, words):
        end = time.monotonic() + 60
        while words not in self.log():
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)


@contextlib.contextmanager
def workspace():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            yield tools
    finally:
        shutil.rmtree(root)


def test_messages_pass():
    with workspace() as tools:
        server = Server(tools, env={"GREETING": "hi"})
        hello, body = server.send({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {}}})
        tap.equal(len(hello.headers["Mcp-Session-Id"]), 32)
        got = json.loads(body)
        tap.equal((got["id"], got["result"]["protocolVersion"], got["result"]["serverInfo"],
                   got["result"]["instructions"]),
                  ("a", "2025-03-26", {"name": "small", "version": "1"}, "Be kind."))
        note, body = server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tap.equal((note.status, body), (202, b""))
        tap.equal([x["name"] for x in server.ask("tools/list")["result"]["tools"]], ["echo"])
        tap.equal(server.text("echo", text="grüße\n"), "grüße\n")
        root, greeting, pid = server.text("where").split()
        tap.equal((root, greeting), (tools.root, "hi"))
        tap.equal(server.ask("nope", number=7)["error"],
                  {"code": -32601, "message": "Method not found"})
        big = "x" * (5 << 20)
        tap.equal(server.text("echo", text=big) == big, True)
        tap.equal(server.text("where").split()[2], pid)


def test_what_is_no_message_is_refused():
    with workspace() as tools:
        server = Server(tools)
        tap.equal(server.send([1])[0].status, 400)
        tap.equal(server.send({"id": None, "method": "x"})[0].status, 400)
        tap.equal(tools.request("PUT", server.target, "")[0], 405)
        tap.equal(tools.request("DELETE", server.target, "")[0], 200)
        bad = Server(tools, name="bad", command=None)
        tap.equal(bad.call("echo")["error"]["message"].split("; ")[0],
                  "the server 'bad' has settings that cannot be read")
        none = Server(tools, name="none", command="/no/such/program")
        message = none.call("echo")["error"]["message"]
        tap.contains(message, "No such file or directory")
        tap.contains(none.log(), "No such file or directory")


def test_clients_that_count_alike_are_told_apart():
    with workspace() as tools:
        server, got = Server(tools), {}
        server.ask("ping")
        threads = [threading.Thread(target=lambda i=i: got.update(
            {i: server.text("echo", text=str(i))})) for i in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(got, {i: str(i) for i in range(20)})


def test_progress_and_notices():
    with workspace() as tools:
        server = Server(tools)
        server.ask("ping")
        stream = http.client.HTTPConnection("127.0.0.1", tools.port, timeout=120)
        stream.request("GET", server.target)
        events = stream.getresponse()
        tap.equal(events.headers["Content-Type"], "text/event-stream")
        path = os.path.join(tools.root, "go")
        open(path, "w").close()
        got = server.ask("tools/call", {"name": "wait", "arguments": {"path": path},
                                        "_meta": {"progressToken": "mine"}}, number="n")
        tap.equal([x.get("params", {}).get("progressToken") for x in got],
                  ["mine", "mine", "mine", None])
        tap.equal((got[-1]["id"], got[-1]["result"]["content"][0]["text"]), ("n", "there"))
        server.call("tell")
        line = events.readline()
        while not line.startswith(b"data: "):
            line = events.readline()
        tap.equal(json.loads(line[6:])["params"]["data"], "told")
        stream.close()
        # It is offered nothing, so it may ask for nothing.
        server.call("ask", method="sampling/createMessage")
        server.until_logged('"Method not found"')
        server.call("ask", method="ping")
        server.until_logged('"id": "mine", "result": {}')


def test_requests_are_cancelled():
    with workspace() as tools:
        server, got = Server(tools), []
        server.ask("ping")
        session = {"Mcp-Session-Id": "a" * 32}
        thread = threading.Thread(target=lambda: got.append(server.ask(
            "tools/call", {"name": "wait", "arguments": {"path": "/no"}}, number=5, **session)))
        thread.start()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled",
                  "params": {"requestId": 5}}
        other = {"Mcp-Session-Id": "b" * 32}
        while thread.is_alive():
            tap.equal(server.send(cancel, **other)[0].status, 202)
            tap.equal(got, [])
            tap.equal(server.send(cancel, **session)[0].status, 202)
            thread.join(0.05)
        tap.equal(got[0]["result"]["content"][0]["text"], "cancelled")
        slow = Server(tools, name="slow", timeout_ms=200)
        late = slow.call("wait", path="/no")["error"]
        tap.equal((late["code"], late["message"].split(" within")[0]),
                  (-32001, "the server 'slow' did not answer"))


def test_a_server_that_ends_is_started_again():
    with workspace() as tools:
        server = Server(tools)
        first = server.text("where")
        gone = server.call("exit", status=3)["error"]
        tap.equal((gone["code"], gone["message"]), (
            -32000, "the server 'small' ended with status 3; its log may say why"))
        second = server.text("where")
        tap.equal(first == second, False)
        tap.contains(server.log(), "[ended with status 3]")
        # One that fails again and again is given time.
        broken = Server(tools, name="broken", args=["-c", "import sys; sys.exit('no luck')"])
        messages = [broken.call("echo")["error"]["message"] for _ in range(6)]
        tap.equal("is started again in" in messages[-1], True, messages)
        tap.contains(broken.log(), "no luck")
        end = time.monotonic() + 60
        while "is started again in" in broken.call("echo")["error"]["message"]:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_what_it_writes_has_limits():
    with workspace() as tools:
        server = Server(tools)
        server.call("write", fd=1, text="this is no message\n")
        tap.equal(server.text("echo", text="1"), "1")
        tap.contains(server.log(), "[not a message: this is no message]")
        server.call("write", fd=2, text="0123456789abcde\n", times=8192)
        server.call("write", fd=2, text="the end\n")
        server.until_logged("the end")
        tap.equal(len(server.log()), 65536)
        long = server.call("write", fd=1, text="x" * 1024, times=33 << 10)["error"]
        tap.contains(long["message"], "sent a line that is longer than 32 MiB")
        tap.equal(server.text("echo", text="2"), "2")


def test_other_settings_take_effect():
    with workspace() as tools:
        one, two = (Server(tools, env={"GREETING": x}) for x in ("one", "two"))
        tap.equal([s.text("where").split()[1] for s in (one, two, one)], ["one", "two", "one"])


tap.main(globals())
