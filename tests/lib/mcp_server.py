# SPDX-License-Identifier: MIT
"""The test server of the MCP engine, and messages to it.

    with mcp_server.running() as s:
        answer = s.call("ping", session=s.begin())
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import threading
import time

PROGRAM = os.environ.get("MCP_SERVER", "")
ACCEPT = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        """The messages of a stream."""
        lines = [x[6:] for x in self.body.decode().splitlines() if x.startswith("data: ")]
        return [json.loads(x) for x in lines if x]


class Server:
    n_tools = 37

    def __init__(self, page):
        self.process = subprocess.Popen([PROGRAM, "127.0.0.1:0", str(page)],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = "http://127.0.0.1:%d" % self.port
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def wait_for(self, line, times, seconds=10):
        end = time.monotonic() + seconds
        while self.lines.count(line) < times and time.monotonic() < end:
            time.sleep(0.01)
        return self.lines.count(line) >= times

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def send(self, method="POST", path="/mcp", body=None, headers=None):
        conn = self.connect()
        given = {"Accept": ACCEPT, "Content-Type": "application/json"}
        given.update(headers or {})
        text = body if isinstance(body, (bytes, str)) or body is None else json.dumps(body)
        conn.request(method, path, body=text, headers={k: v for k, v in given.items() if v})
        r = conn.getresponse()
        answer = Answer(r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read())
        conn.close()
        return answer

    def call(self, method, params=None, session=None, number=1, headers=None):
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        given = {"Mcp-Session-Id": session} if session else {}
        given.update(headers or {})
        return self.send(body=message, headers=given)

    def begin(self, version="2025-11-25", capabilities=None):
        a = self.call("initialize", {"protocolVersion": version, "clientInfo": {
            "name": "t", "version": "1"}, "capabilities": capabilities or {}})
        return a.headers["mcp-session-id"]

    def modern(self, method, params=None, headers=None, capabilities=None, number=1):
        params = dict(params or {})
        params["_meta"] = {META + "protocolVersion": "2026-07-28",
                           META + "clientCapabilities": capabilities or {},
                           **params.get("_meta", {})}
        given = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        name = params.get("name", params.get("uri", params.get("taskId")))
        if name:
            given["Mcp-Name"] = name
        given.update(headers or {})
        return self.call(method, params, number=number, headers=given)


@contextlib.contextmanager
def running(page=0):
    s = Server(page)
    try:
        yield s
        if s.process.poll() is not None:
            raise AssertionError("the server ended by itself: %d" % s.process.returncode)
    finally:
        s.process.send_signal(signal.SIGTERM)
        code = s.process.wait(timeout=20)
        s.reader.join()
        s.process.stdout.close()
    if code != 0:
        raise AssertionError("the server ended with %d" % code)
