# SPDX-License-Identifier: MIT
"""Ways to harm a neighbour with an account's key, or with the sandboxes that it may make.

    with attacks.under_way(s, key, "regexes"):
        …                         # measure what others notice

An attack is a function that prepares it and gives back steps; each step is repeated on a thread of
its own, in a process that is killed at the end. Whatever a step is refused does not matter.
"""

import contextlib
import http.client
import json
import multiprocessing
import os
import socket
import threading
import time

RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
PREPARE_S = 120
NICE = 10
LONGEST_S = 40  # that an attack lasts inside of a sandbox


class Attacker:
    def __init__(self, host, port, key):
        self.place, self.key = (host, port), key

    def ask(self, method, path, body=None, **headers):
        """(status, body) on a connection of its own."""
        c = http.client.HTTPConnection(*self.place, timeout=60)
        try:
            text = json.dumps(body) if isinstance(body, (dict, list)) else body
            c.request(method, path, text, {"Authorization": "Bearer " + self.key, **headers})
            answer = c.getresponse()
            return answer.status, answer.read()
        finally:
            c.close()

    def sandbox(self, name, **fields):
        status, body = self.ask("POST", "/api/v1/sandbox", {"name": name, **fields})
        assert status == 200, (status, body)
        return name

    def execute(self, name, command):
        return self.ask("POST", "/api/v1/terminal/sandbox/" + name, {"command": command})

    def leave_running(self, name, script):
        """Starts a Python program inside that stays; is_on() is false when it has to end, so that
        none goes on for ever when the test is killed."""
        begin = "import ctypes,os,time\nend=time.time()+%d\ndef is_on(): return time.time()<end\n"
        self.ask("POST", "/api/v1/terminal/sandbox/" + name, {
            "command": "cat >/tmp/a.py; (python3 /tmp/a.py </dev/null >/dev/null 2>&1 &)",
            "stdin": begin % LONGEST_S + script})

    def instance(self, app):
        """(target of its MCP endpoint, path of the instance)"""
        status, body = self.ask("POST", "/sandbox/" + app, {"data": "default"})
        assert status == 201, (status, body)
        got = json.loads(body)
        target = "/" + got["server_url"].partition("//")[2].partition("/")[2]
        return target, "/sandbox/%s/%s" % (app, got["sandbox_id"])

    def call(self, target, tool, **arguments):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        return self.ask("POST", target, message, **RPC)

    def connect(self, text, size=None):
        """A connection that has sent TEXT, with a small window of what it takes in return."""
        sock = socket.socket()
        if size:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        sock.settimeout(10)
        sock.connect(self.place)
        sock.sendall(text.encode())
        return sock

    def head(self, method, target, more=""):
        return "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n" % (
            method, target, self.key, more)


# ---- the twelve ----


def regexes(a):
    target, _ = a.instance("google_cloud")
    queries = ["SELECT REGEXP_CONTAINS(REPEAT('a',100000)||'b','(a+)+$')",
               "SELECT REGEXP_REPLACE(REPEAT('a',100000),'a*?b|a','x')",
               "SELECT LENGTH(REPLACE(REPEAT('a',1000000),REPEAT('a',500000)||'b','c'))"]
    return [lambda q=q: a.call(target, "bigquery_run_query", query=q) for q in queries]


def searches(a):
    target, path = a.instance("motion")
    status, body = a.call(target, "motion_get_workspaces")
    workspace = body.decode().partition('\\"id\\": \\"')[2].partition("\\")[0]
    a.call(target, "motion_create_task", name="long", workspace_id=workspace,
           description="a" * 3000000)
    slow = "SELECT instr(printf('%.*c',8000000,'a'), printf('%.*c',4000000,'a')||'b')"
    return [lambda: a.call(target, "motion_search_tasks", query="a" * 500000 + "b"),
            lambda: a.ask("POST", path + "/verify", {"checks": [{"sql": slow, "equals": 1}] * 4}),
            lambda: a.ask("POST", path + "/verify", {"checks": [{"sql": slow, "equals": 1}] * 4})]


def forks(a):
    a.sandbox("fork", pids=400)
    a.leave_running("fork", "while is_on():\n  try: os.fork()\n  except OSError: pass\n")
    return [lambda: a.execute("fork", "true")]


def memory(a):
    for i in range(2):
        a.sandbox("memory-%d" % i, memory_limit="256Mi")

    def eat(name):
        a.execute(name, "python3 -c 'x=[]\nwhile 1: x.append(bytearray(1<<20))'; "
                  "head -c 400M /dev/zero >/dev/shm/x; rm -f /dev/shm/x")

    return [lambda: eat("memory-0"), lambda: eat("memory-1")]


def disk(a):
    a.sandbox("disk")
    command = ("cd /home/user; for i in $(seq 300); do head -c 3000 /dev/zero >f$i; done; "
               "head -c 150M /dev/zero >big; sync; rm -f f* big")
    return [lambda: a.execute("disk", command), lambda: a.execute("disk", "sync")]


def descriptors(a):
    a.sandbox("files")
    a.leave_running("files", "held=[]\nwhile is_on():\n  try:\n"
                    "    held.append(os.open('/dev/null',0)); held += os.pipe()\n"
                    "  except OSError:\n    if os.fork() == 0: held=[]\n    time.sleep(0.05)\n")
    held = []

    def knock():
        held.append(a.connect("GET /healthz HTTP/1.1\r\nHost: x\r\n"))
        if len(held) > 800:
            held.pop(0).close()

    return [knock]


def inotify(a):
    a.sandbox("watch")
    a.leave_running("watch", "c=ctypes.CDLL(None)\nwhile is_on():\n"
                    "  fd=c.inotify_init()\n  for d,_,_ in os.walk('/usr/lib'):\n"
                    "    c.inotify_add_watch(fd,d.encode(),0xfff)\n  if fd<0: time.sleep(0.05)\n")
    return [lambda: a.execute("watch", "touch /tmp/x /dev/null; true")]


def pauses(a):
    for i in range(3):
        a.sandbox("pause-%d" % i)
        a.leave_running("pause-%d" % i, "for i in range(60):\n  if os.fork()==0: break\n"
                        "while is_on():\n  if os.fork()==0: os._exit(0)\n"
                        "  try: os.wait()\n  except OSError: pass\n")

    def nap(name):
        a.ask("POST", "/api/v1/sandbox/pause/" + name)
        a.ask("POST", "/api/v1/sandbox/resume/" + name)

    return [lambda i=i: nap("pause-%d" % i) for i in range(3)]


def slow_readers(a):
    a.sandbox("big")
    a.execute("big", "head -c 50M /dev/urandom >/tmp/big")
    held = []

    def ask():
        target = "/api/v1/sandbox/files/big/download?path=/tmp/big"
        held.append(a.connect(a.head("GET", target), 4096))
        held.append(a.connect(a.head("GET", "/openapi.json") * 20, 4096))
        if len(held) > 100:
            held.pop(0).close()
            held.pop(0).close()

    return [ask]


def huge_bodies(a):
    _, path = a.instance("jira")
    a.sandbox("upload")
    rows = json.dumps({"issues": [{"summary": "x" * 200}] * 200000})

    def raw(target):
        a.ask("POST", target, b"x" * (48 << 20), **{"Content-Type": "application/octet-stream"})

    return [lambda: a.ask("POST", path + "/initialize", rows),
            lambda: raw("/api/v1/sandbox/files/upload/upload?path=/tmp/x"),
            lambda: a.ask("POST", "/api/v1/sandbox", '{"metadata":{"a":"' + "x" * (30 << 20))]


def mcp_streams(a):
    target, _ = a.instance("slack")
    held = []

    def listen():
        for place in (target, "/mcp"):
            held.append(a.connect(a.head("GET", place, "Accept: text/event-stream\r\n")))
        if len(held) > 600:
            held.pop(0).close()

    def begin():
        a.ask("POST", target, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"}}}, **RPC)

    return [listen, begin, begin]


def pg_sleep(a):
    targets = [a.instance("postgres")[0] for _ in range(5)]
    return [lambda t=t: a.call(t, "execute_sql", sql="SELECT pg_sleep(9)") for t in targets]


ALL = {f.__name__: f for f in (regexes, searches, forks, memory, disk, descriptors, inotify, pauses,
                               slow_readers, huge_bodies, mcp_streams, pg_sleep)}


# ---- running one ----


def repeat(step):
    while True:
        try:
            step()
        except (OSError, http.client.HTTPException, AssertionError):
            time.sleep(0.02)


def go(pipe, host, port, key, name):
    os.nice(NICE)  # an attacker is another machine: it should not take the processors itself
    try:
        steps = ALL[name](Attacker(host, port, key))
        pipe.send("")
    except BaseException as e:
        pipe.send("%s: %r" % (name, e))
        raise
    for step in steps[1:]:
        threading.Thread(target=repeat, args=(step,), daemon=True).start()
    repeat(steps[0])


def clean(s, key):
    """Removes what the attacker made, however its sandboxes are."""
    for box in s.get("/api/v1/sandbox", key=key, timeout=60).json["data"]:
        s.delete("/api/v1/sandbox/" + box["name"], key=key, timeout=60)
    s.delete("/sandbox", key=key, timeout=60)


@contextlib.contextmanager
def under_way(s, key, name):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=go, args=(theirs, s.host, s.port, key, name), daemon=True)
    process.start()
    try:
        assert ours.poll(PREPARE_S), "%s is not ready" % name
        fault = ours.recv()
        assert fault == "", fault
        yield
    finally:
        process.kill()
        process.join()
        clean(s, key)
