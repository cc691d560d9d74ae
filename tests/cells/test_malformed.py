# SPDX-License-Identifier: MIT
"""Ten thousand malformed envelopes, bodies and paths against the E2B control plane and the service
inside of a sandbox. Each gets a clean answer: a whole HTTP response, an error in the shape of its
surface, a stream with its end. Afterwards everything works, and the log has no complaint.

    tests/cells/test_malformed.py [COUNT] [SEED]
"""

import http.client
import json
import os
import random
import socket
import struct
import sys

import cells
import tap

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SECONDS = 30
CODES = {"canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found",
         "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
         "aborted", "out_of_range", "unimplemented", "internal", "unavailable", "data_loss",
         "unauthenticated"}

STREAMS = [
    ("/process.Process/Start", {"process": {"cmd": "/bin/true", "args": ["-l"], "envs": {"A": "b"},
                                            "cwd": "/tmp"}, "stdin": False, "tag": "t"}),
    ("/process.Process/Start", {"process": {"cmd": "/bin/true"}, "pty": {"size": {"cols": 80,
                                                                                   "rows": 24}}}),
    ("/process.Process/Connect", {"process": {"pid": 999999}}),
    ("/filesystem.Filesystem/WatchDir", {"path": "/nope", "recursive": True}),
]
UNARIES = [
    ("/process.Process/List", {}),
    ("/process.Process/SendInput", {"process": {"pid": 999999}, "input": {"stdin": "aGk="}}),
    ("/process.Process/SendSignal", {"process": {"tag": "none"}, "signal": "SIGNAL_SIGTERM"}),
    ("/process.Process/Update", {"process": {"pid": 999999}, "pty": {"size": {"cols": 1}}}),
    ("/process.Process/CloseStdin", {"process": {"pid": 999999}}),
    ("/filesystem.Filesystem/Stat", {"path": "/etc/passwd"}),
    ("/filesystem.Filesystem/ListDir", {"path": "/etc", "depth": 1}),
    ("/filesystem.Filesystem/MakeDir", {"path": "/tmp/made"}),
    ("/filesystem.Filesystem/Move", {"source": "/tmp/a", "destination": "/tmp/b"}),
    ("/filesystem.Filesystem/Remove", {"path": "/tmp/nothing"}),
    ("/filesystem.Filesystem/GetWatcherEvents", {"watcherId": "w0"}),
    ("/filesystem.Filesystem/RemoveWatcher", {"watcher_id": "w0"}),
]
NEW = {"templateID": "base", "timeout": 60, "secure": True, "metadata": {"a": "b"},
       "envVars": {"C": "d"}, "autoPause": True, "autoResume": {"enabled": True},
       "network": {"allowOut": ["192.0.2.1"], "denyOut": ["0.0.0.0/0"]}}
CONTROLS = [
    ("POST", "/sandboxes", NEW),
    ("POST", "/v2/sandboxes", NEW),
    ("POST", "/sandboxes/{id}/timeout", {"timeout": 600}),
    ("POST", "/sandboxes/{id}/refreshes", {"duration": 60}),
    ("POST", "/sandboxes/none/pause", {"memory": True}),
    ("POST", "/sandboxes/{id}/resume", {"timeout": 60}),
    ("POST", "/sandboxes/{id}/connect", {"timeout": 600}),
    ("POST", "/v2/sandboxes/{id}/connect", {"timeout": 600}),
    ("PUT", "/sandboxes/{id}/network", {"denyOut": ["192.0.2.0/24"]}),
]
PATHS = [
    "/e2b/v1/sandboxes/{id}", "/e2b/v1/v2/sandboxes?limit=1&metadata=a%253Db&state=running",
    "/e2b/v1/sandboxes/{id}/metrics?start=1&end=2", "/e2b/v1/sandboxes/metrics?sandbox_ids={id}",
    "/e2b/v1/sandboxes/{id}/logs?start=1&limit=1", "/e2b/v1/v2/sandboxes/{id}/logs?cursor=1",
    "/sandboxes/router/{id}/49983/health", "/files?path=x&signature=v1_AAAA", "/e2b/v1/health",
]
INSIDE = ["/files?path=/etc/hostname", "/files?path=~/x&username=user", "/health", "/metrics",
          "/envs", "/files?path=a&signature=v1_x&signature_expiration=1", "/init"]
ODD = [b"\x00", b"\xff\xfe", b"{", b"}", b"[" * 300, b'"', b"\\u0000", b"null", b"-1", b"1e999",
       b"99999999999999999999", b"true", b"{}", b"[]", b"../" * 20, b"%00", b"%", b"%2e%2e%2f",
       b"\r\n", b"&", b"=", b"a" * 5000, "\u202e".encode()]


class Wire:
    """One kept connection; opened again when the service closed it."""

    def __init__(self, s):
        self.s, self.sock = s, None

    def send(self, head, body):
        if not self.sock:
            self.sock = socket.create_connection((self.s.host, self.s.port), SECONDS)
        self.sock.sendall(head + body)
        answer = http.client.HTTPResponse(self.sock)
        answer.begin()
        data = answer.read()
        return answer, data

    def ask(self, method, target, headers, body):
        """Status, type and body. A refusal may come before all was read, then the rest breaks."""
        lines = [b"%s %s HTTP/1.1" % (method, target), b"Host: 127.0.0.1",
                 b"Content-Length: %d" % len(body)]
        lines += [b"%s: %s" % (k.encode(), v.encode()) for k, v in headers.items()]
        head = b"\r\n".join(lines) + b"\r\n\r\n"
        is_kept = self.sock is not None
        try:
            answer, data = self.send(head, body)
        except (OSError, http.client.HTTPException):
            self.close()
            if not is_kept:
                raise
            answer, data = self.send(head, body)  # the kept connection was too old
        if answer.will_close:
            self.close()
        return answer.status, answer.headers.get("Content-Type", ""), data

    def close(self):
        if self.sock:
            self.sock.close()
            self.sock = None


# ---- how requests go wrong ----


def mangle(r, data):
    """DATA with one to three things wrong."""
    data = bytearray(data)
    for _ in range(r.randint(1, 3)):
        at = r.randrange(len(data) + 1)
        kind = r.randrange(5)
        if kind == 0 and data:
            data[at % len(data)] = r.randrange(256)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = r.choice(ODD)
        elif kind == 3:
            del data[at:at + r.randint(1, 8)]
        else:
            data[at:at] = data[:at][-r.randint(1, 40):]
    return bytes(data)


def swap_value(r, value):
    """The same JSON with one value of another type."""
    others = [None, -1, 1.5, 2**63, "", "x", [], {}, [[]], True, "\ud7ff", {"a": {"b": []}}]
    if isinstance(value, dict) and value and r.random() < 0.9:
        key = r.choice(list(value))
        return {**value, key: swap_value(r, value[key])}
    if isinstance(value, list) and value and r.random() < 0.5:
        return [swap_value(r, value[0]), *value[1:]]
    return r.choice(others)


def wrong_json(r, value):
    if r.random() < 0.5:
        return json.dumps(swap_value(r, value)).encode()
    return mangle(r, json.dumps(value).encode())


def wrong_envelope(r, value):
    text = wrong_json(r, value)
    flags, length = 0, len(text)
    kind = r.randrange(8)
    if kind == 0:
        flags = r.randrange(256)
    elif kind == 1:
        length = r.choice([0, 1, length + 1, length * 2, 2**31, 2**32 - 1, max(0, length - 3)])
    elif kind == 2:
        return struct.pack(">BI", 0, length)[:r.randrange(5)]
    elif kind == 3:
        text += struct.pack(">BI", r.choice([0, 1, 2]), r.choice([0, 5, 2**32 - 1]))
    return struct.pack(">BI", flags, length) + text


def wrong_path(r, path):
    """Bytes that may stand in a request line: what may not is another test's."""
    bad = mangle(r, path.encode())
    return b"/" + bytes(c for c in bad.lstrip(b"/") if 0x21 <= c <= 0x7e or c >= 0x80)[:6000]


# ---- what is asked, and what a clean answer is ----


class Asker:
    def __init__(self, s, box, seed):
        self.s, self.r, self.wire = s, random.Random(seed), Wire(s)
        self.id, self.token = box["sandboxID"], box["envdAccessToken"]
        self.key = {"X-API-Key": s.key}
        self.inside = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": "49983",
                       "X-Access-Token": self.token, "Connect-Protocol-Version": "1"}
        self.made = []
        self.victim = None

    def stream(self):
        path, value = self.r.choice(STREAMS)
        headers = {**self.inside, "Content-Type": "application/connect+json",
                   "Connect-Timeout-Ms": self.r.choice(["2000", "2000", "1", "-1", "x"])}
        return "POST", path.encode(), headers, wrong_envelope(self.r, value)

    def unary(self):
        path, value = self.r.choice(UNARIES)
        kind = self.r.choice(["application/json", "application/json", "application/proto", "x"])
        headers = {**self.inside, "Content-Type": kind}
        return "POST", path.encode(), headers, wrong_json(self.r, value)

    def control(self):
        method, path, value = self.r.choice(CONTROLS)
        if not self.victim:
            self.victim = create(self.s)["sandboxID"]
        target = "/e2b/v1" + path.replace("{id}", self.victim)
        headers = {**self.key, "Content-Type": "application/json"}
        return method, target.encode(), headers, wrong_json(self.r, value)

    def path(self):
        path = self.r.choice(PATHS).replace("{id}", self.id)
        method = self.r.choice(["GET", "GET", "POST", "PATCH", "OPTIONS", "HEADX"])
        return method, wrong_path(self.r, path), self.key, b""

    def file(self):
        method = self.r.choice(["GET", "POST"])
        kind = self.r.choice(["multipart/form-data; boundary=b", "multipart/form-data", "text/html",
                              "application/octet-stream"])
        body = (b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n'
                b'--b--\r\n')
        headers = {**self.inside, "Content-Type": kind, "Range": self.r.choice(
            ["bytes=1-", "bytes=9-1", "bytes=", "x", "bytes=0-0,2-3"])}
        if self.r.random() < 0.3:
            headers["Content-Encoding"] = self.r.choice(["gzip", "br", "identity", ""])
        target = wrong_path(self.r, self.r.choice(INSIDE))
        return method, target, headers, mangle(self.r, body) if method == "POST" else b""

    def step(self):
        """One request; what is wrong with its answer, or None."""
        kind = self.r.choice(["stream", "stream", "unary", "unary", "control", "control", "path",
                              "file"])
        method, target, headers, body = getattr(self, kind)()
        what = "%s %s %r %r" % (method, target[:200], headers.get("Content-Type"), body[:300])
        try:
            status, mime, data = self.wire.ask(method.encode(), target, headers, body)
        except (OSError, http.client.HTTPException) as e:
            return "%s\n  no answer: %r" % (what, e)
        fault = self.judge(kind, status, mime, data)
        return "%s\n  %d %s %r: %s" % (what, status, mime, data[:300], fault) if fault else None

    def judge(self, kind, status, mime, data):
        if status == 201 and b"sandboxID" in data:
            self.made.append(json.loads(data)["sandboxID"])
        if kind == "control" and status == 404:
            self.victim = None  # some requests are right after all, and end it
        if kind == "stream" and status == 200 and mime.startswith("application/connect"):
            return judge_stream(data)
        if status < 400:
            return None
        if mime.startswith("application/json"):
            return judge_error(status, data)
        # Go's texts for paths that do not exist, and for kinds of bodies that are none.
        return None if status in (400, 404, 405, 406, 414, 415, 416, 431) else "not clean"


def judge_error(status, data):
    body = json.loads(data)
    code = body.get("code")
    if code in CODES:
        return None
    if code != status and not isinstance(code, str):
        return "the code is not the status"
    if status in (500, 504) and not body.get("message", "").startswith("error opening file"):
        return "not clean"
    return None if body.get("message") or body.get("error") else "no message"


def judge_stream(data):
    flags = None
    while data:
        if len(data) < 5:
            return "a cut envelope"
        flags, length = struct.unpack(">BI", data[:5])
        text, data = data[5:5 + length], data[5 + length:]
        if len(text) != length:
            return "a cut message"
        body = json.loads(text)
        if flags == 2 and "error" in body and body["error"].get("code") not in CODES:
            return "an unknown code"
    return None if flags == 2 else "no end"


def create(s):
    made = s.post("/e2b/v1/v2/sandboxes", {"templateID": "base", "timeout": 3000})
    assert made.status == 201, made
    return made.json


def test_clean_answers():
    with cells.running() as s:
        pid = s.process.pid
        asker = Asker(s, create(s), SEED)
        faults = []
        for _ in range(COUNT):
            fault = asker.step()
            if fault:
                faults.append(fault)
                asker.wire.close()
            while asker.made:
                s.delete("/e2b/v1/sandboxes/" + asker.made.pop())
        asker.wire.close()
        assert not faults, "%d of %d:\n%s" % (len(faults), COUNT, "\n".join(faults[:12]))
        tap.equal(s.process.poll(), None, "the service ended")
        tap.equal(s.process.pid, pid)
        check_health(s, asker)


def check_health(s, asker):
    tap.equal(s.get("/healthz", key=None).status, 200, "health")
    body = json.dumps({"process": {"cmd": "/bin/echo", "args": ["alive"]}}).encode()
    headers = {**asker.inside, "Content-Type": "application/connect+json"}
    status, _, data = Wire(s).ask(b"POST", b"/process.Process/Start", headers,
                                  struct.pack(">BI", 0, len(body)) + body)
    tap.equal(status, 200)
    tap.contains(data.decode(), "YWxpdmUK")  # "alive\n"
    bad = [x for x in s.log().splitlines() if '"level":"error"' in x or "level=error" in x]
    tap.equal(bad[:5], [], "errors in the log")


if os.geteuid() == 0:
    tap.main(globals())
print("1..0 # SKIP cells need root")
