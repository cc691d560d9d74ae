# SPDX-License-Identifier: MIT
"""A tenant who sends whatever comes to mind, on every surface, within bounds of count and time.

What is sent follows from a seed: every request has a random source of its own, named by the seed,
the tenant and the request's number. What the service answers (ids, leases) goes into later
requests, so that two runs with one seed are alike, and the same in what does not depend on answers.

    report = Tenant(place, doc, 7, 0, hints).run(seconds)
    report["findings"]   what must not happen, with the request that was answered so
"""

import base64
import collections
import gzip
import io
import json
import random
import re
import socket
import struct
import tarfile
import time
import urllib.parse

from odd import Odd

LIVE_MAX = 5  # of each kind of object
PATIENCE = 60  # seconds for an answer
ANSWER_MAX = 8 << 20
JOURNAL = 40  # requests that a finding comes with
GLANCE = 0.1  # seconds that are spent on a stream
FAULT = 500  # the status that says: this was our fault; all others are said on purpose
APPS = [
    "jira", "google_cloud", "motion", "salesforce", "airtable", "outlook_mail", "google_sheets",
    "notion", "slack", "gmail", "github", "linear", "google_drive", "google_calendar", "calculator",
    "google_docs", "shopify", "monday", "quickbooks", "youtube", "confluence", "hubspot"
]
LOCALS = [
    "filesystem", "git", "terminal", "code-executor", "code-runner", "localmemory", "excel", "word",
    "powerpoint", "pdf-tools", "desktop-commander", "arxiv", "google_cloud",
    "poste_email_toolathlon"
]
STEPS = [
    {"type": "RUN", "args": ["echo built > /home/user/built"]},
    {"type": "RUN", "args": ["echo; seq 3000; exit 3"]},
    {"type": "RUN", "args": ["head -c 100000 /dev/urandom"]},
    {"type": "ENV", "args": ["A", "b"]},
    {"type": "WORKDIR", "args": ["/tmp/deep/er"]},
    {"type": "USER", "args": ["root"]},
    {"type": "COPY", "args": ["*", "/tmp/copied", "", ""], "filesHash": "0" * 64},
    {"type": "NOPE", "args": []},
]
STREAMS = [
    ("process.Process/Start", {
        "process": {"cmd": "/bin/sh", "args": ["-c", "echo hi"], "envs": {"A": "b"}, "cwd": "/tmp"},
        "stdin": False, "tag": "t"
    }),
    ("process.Process/Start",
     {"process": {"cmd": "/bin/cat"}, "pty": {"size": {"cols": 80, "rows": 24}}}),
    ("process.Process/Connect", {"process": {"tag": "t"}}),
    ("filesystem.Filesystem/WatchDir", {"path": "/tmp", "recursive": True}),
]
UNARIES = [
    ("process.Process/List", {}),
    ("process.Process/SendInput", {"process": {"tag": "t"}, "input": {"stdin": "aGk="}}),
    ("process.Process/SendSignal", {"process": {"tag": "t"}, "signal": "SIGNAL_SIGTERM"}),
    ("process.Process/Update", {"process": {"tag": "t"}, "pty": {"size": {"cols": 1, "rows": 1}}}),
    ("process.Process/CloseStdin", {"process": {"tag": "t"}}),
    ("filesystem.Filesystem/Stat", {"path": "/etc/passwd"}),
    ("filesystem.Filesystem/ListDir", {"path": "/", "depth": 2}),
    ("filesystem.Filesystem/MakeDir", {"path": "/tmp/made"}),
    ("filesystem.Filesystem/Move", {"source": "/tmp/a", "destination": "/tmp/b"}),
    ("filesystem.Filesystem/Remove", {"path": "/tmp/a"}),
    ("filesystem.Filesystem/CreateWatcher", {"path": "/tmp", "recursive": True}),
    ("filesystem.Filesystem/GetWatcherEvents", {"watcherId": "w0"}),
]
METHODS = [
    "initialize", "ping", "tools/list", "resources/list", "resources/read", "prompts/list",
    "prompts/get", "completion/complete", "logging/setLevel", "notifications/initialized",
    "notifications/cancelled", "resources/subscribe", "roots/list", "sampling/createMessage",
    "server/discover", "nope", ""
]
HEADS = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /api/v1/sandbox HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
    b"POST /sandbox/jira HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /sandbox/jira HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n{",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n" * 50,
    b"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 99999999999999999999\r\n\r\n",
    b"GET /console HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /console/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /ui/ HTTP/1.1\r\nHost: x\r\nCookie: tidepool_key=x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    b"GET /sandbox/x/ HTTP/1.1\r\nHost: 49983-" + b"0" * 32 +
    b".localhost\r\nUpgrade: websocket\r\n\r\n",
    b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET http://evil/ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3000 + b"\r\n",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
]


class Broken(Exception):
    """No whole answer came."""


class Answer:
    def __init__(self, status, headers, body, is_whole):
        self.status, self.headers, self.body, self.is_whole = status, headers, body, is_whole

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def read_answer(sock, until, most=ANSWER_MAX):
    """Reads one answer, but for streams only their beginning."""
    f = sock.makefile("rb")
    line = f.readline(70000).split(None, 2)
    if len(line) < 2 or not line[1].isdigit():
        raise Broken("no status line")
    headers = {}
    while True:
        text = f.readline(70000)
        if text in (b"\r\n", b""):
            break
        name, _, value = text.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    status = int(line[1])
    if status in (204, 304) or status < 200:
        return Answer(status, headers, b"", True)
    return Answer(status, headers, *read_body(f, headers, until, most))


def read_body(f, headers, until, most):
    if "content-length" in headers:
        want = int(headers["content-length"])
        data = f.read(min(want, most))
        return data, len(data) == want
    parts, size = [], 0
    try:
        while size < most and time.monotonic() < until:
            if headers.get("transfer-encoding") != "chunked":
                piece = f.read1(65536)
                if not piece:
                    return b"".join(parts), True
            else:
                length = int(f.readline(100).split(b";")[0] or b"0", 16)
                piece = f.read(length)
                f.readline(100)
                if length == 0:
                    return b"".join(parts), True
            parts.append(piece)
            size += len(piece)
    except (OSError, ValueError):
        pass
    return b"".join(parts), False


class Tenant:
    def __init__(self, place, doc, seed, number, hints):
        """PLACE is (host, port), DOC the OpenAPI document, HINTS have "key", "others" (words that
        belong to somebody else) and "secrets" (what no answer may hold)."""
        self.place, self.doc, self.seed, self.number, self.hints = place, doc, seed, number, hints
        self.n = 0
        self.odd = Odd(random.Random(0), doc["components"]["schemas"])
        self.r = self.odd.r
        self.known = collections.deque(hints["others"], 400)
        self.boxes, self.instances, self.locals = [], [], []  # E2B and native; apps; local ones
        self.volumes, self.builds = [], []
        self.held = collections.deque()  # connections that are left open for a while
        self.counts = collections.Counter()
        self.findings, self.journal = [], collections.deque(maxlen=JOURNAL)
        self.operations = [(m.upper(), p, o) for p, item in doc["paths"].items()
                           for m, o in item.items()]
        self.slowest = (0.0, "")

    # ---- one request ----

    def source(self):
        """The random source of the next request."""
        self.n += 1
        self.r = self.odd.r = random.Random("%d/%d/%d" % (self.seed, self.number, self.n))
        self.odd.known = list(self.known)

    def finding(self, text):
        if len(self.findings) < 30:
            self.findings.append(
                "tenant %d, request %d of seed %d: %s\n    %s" %
                (self.number, self.n, self.seed, text, "\n    ".join(list(self.journal)[-3:])))

    def headers(self, extra):
        kind = self.r.random()
        key = self.hints["key"] if kind < 0.95 else self.r.choice(["", "x", self.odd.text(50)])
        names = {"Authorization": "Bearer " + key} if self.r.random() < 0.6 else {"X-API-Key": key}
        if self.r.random() < 0.03:
            names[self.r.choice([
                "Idempotency-Key", "Mcp-Session-Id", "Origin", "Range", "Accept-Encoding",
                "If-None-Match", "Expect", "X-Forwarded-For", "Content-Encoding", "Cookie",
                "Last-Event-ID", "Mcp-Protocol-Version", "Connection"
            ])] = self.odd.text(200)
        return {**names, **extra}

    def bytes_of(self, method, target, headers, body):
        safe = "".join(c for c in target if 0x21 <= ord(c) <= 0x7e)[:60000]
        lines = ["%s %s HTTP/1.1" % (method, safe), "Host: 127.0.0.1"]
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        for name, value in headers.items():
            lines.append("%s: %s" % (name, "".join(c
                                                   for c in str(value) if 0x20 <= ord(c) <= 0x7e)))
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")

    def send(self, data, what, patience=PATIENCE, is_stream=False):
        """Sends bytes on a new connection; the answer, or None when the tenant was rude."""
        self.journal.append("%s %r" % (what, data[:700]))
        start = time.monotonic()
        try:
            sock = socket.create_connection(self.place, 5)
        except OSError as e:
            self.finding("no connection: %r" % e)
            raise Broken() from e
        try:
            sock.settimeout(patience)
            if self.be_rude(sock, data):
                return None
            self.push(sock, data)
            if is_stream:
                sock.settimeout(GLANCE)
            answer = read_answer(sock, start + (GLANCE if is_stream else patience))
        except (OSError, ValueError, Broken) as e:
            sock.close()
            took = time.monotonic() - start
            if not is_stream and took >= patience - 1:
                self.finding("no answer within %d s (%s)" % (patience, what))
            self.counts["%s broken" % what.split()[0]] += 1
            return None
        if is_stream and len(self.held) < 20:
            self.held.append(sock)
        else:
            sock.close()
        took = time.monotonic() - start
        self.slowest = max(self.slowest, (took, what))
        self.look(answer, what)
        return answer

    def push(self, sock, data):
        """An early refusal may break the rest off; its answer can be read all the same."""
        try:
            if self.r.random() < 0.05 and len(data) > 20:
                at = self.r.randrange(1, len(data))
                sock.sendall(data[:at])
                time.sleep(0.01)
                sock.sendall(data[at:])
            else:
                sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def be_rude(self, sock, data):
        """Goes away in the middle, with or without a reset."""
        kind = self.r.random()
        if kind > 0.06:
            return False
        try:
            sock.sendall(data[:self.r.randrange(len(data) + 1)] if kind < 0.03 else data)
        except OSError:
            pass
        if kind < 0.04:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        return True

    def look(self, answer, what):
        self.counts["%s %d" % (what.split(" ", 1)[0], answer.status)] += 1
        # E2B's clients expect this status where the kernel refused something inside of a sandbox.
        is_kernels = what.startswith("envd") and b'"message":"error ' in answer.body
        if answer.status == FAULT and not is_kernels and not what.startswith("port"):
            self.finding("%s: %d %r" % (what, answer.status, answer.body[:300]))
        for secret in self.hints["secrets"]:
            if secret.encode() in answer.body:
                self.finding("%s: the answer holds what is another's (%s)" % (what, secret[:12]))
        is_json = (answer.headers.get("content-type", "").startswith("application/json") and
                   answer.is_whole and not what.startswith("port"))
        if is_json and answer.body and answer.json is None:
            self.finding("%s: no JSON: %r" % (what, answer.body[:300]))
        if is_json and answer.status < 300:
            self.harvest(answer.body)

    def harvest(self, body):
        """Words that look like ids, for later."""
        words = re.findall(rb'\\?"([A-Za-z0-9_.:/=-]{2,64})\\?"', body[:40000])
        for word in self.r.sample(words, min(len(words), 6)):
            self.known.append(word.decode())

    # ---- surfaces ----

    def by_document(self):
        """Any operation of the OpenAPI document, with what its schemas ask for."""
        method, path, operation = self.r.choice(self.operations)
        if path.startswith("/api/v1/backup") or (method == "DELETE" and self.r.random() < 0.7):
            return
        target = re.sub(r"\{(\w+)\}",
                        lambda m: urllib.parse.quote(self.word_for(m[1], path)[:3000], safe=""),
                        path)
        query = [(p["name"], self.odd.of(p.get("schema", True)))
                 for p in operation.get("parameters", [])
                 if p["in"] == "query" and self.r.random() < 0.5]
        if query:
            target += "?" + urllib.parse.urlencode([(k, str(v)[:5000]) for k, v in query])
        if self.r.random() < 0.02:
            target = "/" + self.odd.mangle(target.encode()).decode("latin-1").lstrip("/")
        extra, body = {}, None
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            extra["Content-Type"] = kind
            body = self.odd.body(content.get("schema", True))
        self.keep_bounds(path, body)
        is_stream = (path.endswith(("/stream", "/sse", "/ws")) or "follow" in target or
                     (method == "GET" and "mcp" in path))
        answer = self.send(self.bytes_of(method, target, self.headers(extra), body),
                           "%s %s" % (self.area(path), method + " " + path), is_stream=is_stream)
        if answer and method == "POST" and answer.status in (200, 201):
            self.adopt(path, answer.json)

    def area(self, path):
        return {
            "api": "native", "e2b": "e2b", "sandbox": "klavis", "local-sandbox": "local",
            "mcp": "mcp"
        }.get(path.split("/")[1], "other")

    def word_for(self, name, path):
        """A value of a path: mostly of one's own, sometimes somebody else's, or nonsense."""
        kind = self.r.random()
        if kind < 0.15:
            return self.odd.text(300) or "x"
        if kind < 0.25:
            return self.r.choice(self.hints["others"])
        if name == "server_name":
            return self.r.choice(APPS)
        if name == "sandbox_id" and self.instances:
            return self.r.choice(self.instances)["sandbox_id"]
        if name == "local_sandbox_id" and self.locals:
            return self.r.choice(self.locals)["local_sandbox_id"]
        if name == "port":
            return self.r.choice(["49983", "80", "0", "65536", "-1", "8080"])
        if name in ("id", "build", "alias") and self.builds and "/templates" in path:
            made = self.r.choice(self.builds)
            return made["buildID" if name == "build" else "templateID"]
        if name == "id" and self.volumes and "/volume" in path:
            return self.r.choice(self.volumes)["volumeID"]
        if name == "hash":
            return self.r.choice(["0" * 64, "f" * 63, "../" * 20])
        if name in ("name", "id") and self.boxes:
            box = self.r.choice(self.boxes)
            return box["name"] if name == "name" else box["id"]
        return self.odd.text(300) or "x"

    def keep_bounds(self, path, body):
        """Lets go of the oldest where a create would make too many."""
        if path in ("/api/v1/sandbox", "/e2b/v1/sandboxes", "/e2b/v1/v2/sandboxes") and body:
            while len(self.boxes) >= LIVE_MAX:
                self.request("DELETE", "/api/v1/sandbox/" + self.boxes.pop(0)["name"])
        elif path.startswith("/sandbox/{server_name}") and body:
            while len(self.instances) >= LIVE_MAX:
                old = self.instances.pop(0)
                self.request("DELETE", "/sandbox/%s/%s" % (old["server_name"], old["sandbox_id"]))
        elif path == "/e2b/v1/volumes" and body:
            while len(self.volumes) >= 2:
                self.request("DELETE", "/e2b/v1/volumes/" + self.volumes.pop(0)["volumeID"])
        elif path in ("/local-sandbox", "/sandbox/local_dev", "/sandbox/localmemory") and body:
            while len(self.locals) >= 2:
                self.request("DELETE", "/local-sandbox/" + self.locals.pop(0)["local_sandbox_id"])

    def adopt(self, path, got):
        """Keeps what a create made."""
        if not isinstance(got, dict):
            return
        if isinstance(got.get("sandbox"), dict) and "name" in got["sandbox"]:
            self.boxes.append(
                {"name": got["sandbox"]["name"], "id": got["sandbox"].get("id", ""), "token": ""})
        elif "sandboxID" in got and path.endswith("/sandboxes"):
            self.boxes.append({
                "name": got.get("alias") or got["sandboxID"], "id": got["sandboxID"],
                "token": got.get("envdAccessToken") or ""
            })
        elif "volumeID" in got:
            self.volumes.append(got)
        elif "buildID" in got and "templateID" in got:
            self.builds = self.builds[-LIVE_MAX:] + [got]
        elif "local_sandbox_id" in got and "servers" in got:
            self.locals.append(got)
        elif "server_url" in got and "sandbox_id" in got:
            self.instances.append(
                {**got, "server_name": got.get("server_name") or path.rpartition("/")[2]})

    def request(self, method, target, value=None, **more):
        """A well-meant request."""
        headers = {
            "Authorization": "Bearer " + self.hints["key"], "Content-Type": "application/json",
            **more
        }
        body = None if value is None else json.dumps(value).encode()
        return self.send(self.bytes_of(method, target, headers, body),
                         "plain %s %s" % (method, target[:100]))

    # Objects to work on: without them most of the rest is a 404.

    def new_box(self):
        self.keep_bounds("/api/v1/sandbox", b"x")
        if self.r.random() < 0.25:
            answer = self.request("POST", "/api/v1/sandbox", {"timeout": 120})
            path = "/api/v1/sandbox"
        else:
            answer = self.request("POST", "/e2b/v1/sandboxes",
                                  {"templateID": self.r.choice(["base", "pooled"]), "timeout": 120})
            path = "/e2b/v1/sandboxes"
        if answer and answer.status in (200, 201):
            self.adopt(path, answer.json)

    def new_instance(self):
        app = self.r.choice(APPS)
        self.keep_bounds("/sandbox/{server_name}", b"x")
        answer = self.request("POST", "/sandbox/" + app, {"data": "default"})
        if answer and answer.status == 201:
            self.adopt("/sandbox/" + app, answer.json)

    def new_local(self):
        self.keep_bounds("/local-sandbox", b"x")
        answer = self.request("POST", "/local-sandbox", {"server_names": self.r.sample(LOCALS, 4)})
        if answer and answer.status == 201:
            self.adopt("/local-sandbox", answer.json)

    # ---- what outlives sandboxes: templates, snapshots, volumes ----

    def build(self):
        """Asks for a build, and starts it or not."""
        name = self.r.choice(["one", "two:v1", "three", self.odd.text(40)])
        answer = self.request("POST", "/e2b/v1/v3/templates",
                              {"name": name, "tags": self.r.choice([[], ["a"], ["b.c", "d"]])})
        if not answer or answer.status != 202:
            return
        self.adopt("/e2b/v1/v3/templates", answer.json)
        made = self.builds[-1]
        if self.r.random() < 0.5:
            self.build_files(made)
        spec = {
            "fromImage": self.r.choice(["e2bdev/base", "", "nope"]),
            "steps": self.r.choices(STEPS, k=self.r.randint(0, 3)),
            "startCmd": self.r.choice(["", "sleep 1"]),
            "readyCmd": self.r.choice(["", "true"]),
            "force": self.r.random() < 0.3
        }
        if self.r.random() < 0.3:
            spec = {"fromTemplate": self.r.choice(["one", "two:v1", "base", self.odd.text(40)]),
                    "steps": [self.vary(x) for x in spec["steps"]]}
        self.request("POST", "/e2b/v1/v2/templates/%s/builds/%s" %
                     (made["templateID"], made["buildID"]), spec)

    def build_files(self, made):
        place = "/e2b/v1/templates/%s/files/%s" % (made["templateID"], "0" * 64)
        answer = self.request("GET", place)
        got = answer.json if answer else None
        if not isinstance(got, dict) or "url" not in got:
            return
        target = "/" + got["url"].partition("//")[2].partition("/")[2]
        data = self.tar() if self.r.random() < 0.7 else self.odd.mangle(self.tar())
        if self.r.random() < 0.2:
            target = target.replace("signature=", "signature=0")
        self.send(self.bytes_of("PUT", target, {}, data), "build files")

    def template(self):
        """Looks at builds, and moves their tags."""
        if not self.builds:
            return
        made = self.r.choice(self.builds)
        place = "/e2b/v1/templates/%s" % made["templateID"]
        kind = self.r.randrange(6)
        if kind == 0:
            self.request("GET", "%s/builds/%s/status?logsOffset=%s" % (
                place, made["buildID"], self.r.choice(["0", "5", "-1", "99999999999999"])))
        elif kind == 1:
            self.request("GET", "%s/builds/%s/logs" % (place, made["buildID"]))
        elif kind == 2:
            self.request("POST", "/e2b/v1/templates/tags", {
                "target": self.r.choice(["one", "two:v1", made["templateID"]]),
                "tags": ["t%d" % i for i in range(self.r.choice([1, 2, 16, 17]))]})
        elif kind == 3:
            self.request("DELETE", "/e2b/v1/templates/tags", {"name": "one", "tags": ["t0"]})
        elif kind == 4:
            self.request("GET", self.r.choice([place + "/tags", "/e2b/v1/templates", place]))
        elif self.r.random() < 0.3:
            self.request("DELETE", place)

    def copy_box(self):
        """A snapshot, and a sandbox from it; or a fork."""
        if not self.boxes:
            return
        place = "/e2b/v1/sandboxes/%s" % self.r.choice(self.boxes)["id"]
        if self.r.random() < 0.3:
            self.keep_bounds("/e2b/v1/sandboxes", b"x")
            answer = self.request("POST", place + "/fork", self.vary({"count": 2, "timeout": 60}))
            for one in (answer.json if answer and answer.status == 201 else None) or []:
                self.adopt("/e2b/v1/sandboxes", one.get("sandbox"))
            return
        name = self.r.choice([None, "shot", "shot:v2", self.odd.text(40)])
        answer = self.request("POST", place + "/snapshots", {"name": name} if name else {})
        self.request("GET", "/e2b/v1/snapshots?limit=%s" % self.r.choice([1, 100, 0, "x"]))
        if not answer or answer.status != 201:
            return
        shot = answer.json["snapshotID"]
        self.keep_bounds("/e2b/v1/sandboxes", b"x")
        answer = self.request("POST", "/e2b/v1/sandboxes", {"templateID": shot, "timeout": 60})
        if answer and answer.status == 201:
            self.adopt("/e2b/v1/sandboxes", answer.json)
        if self.r.random() < 0.7:
            self.request("DELETE", "/e2b/v1/templates/" + urllib.parse.quote(shot, safe=""))

    def new_volume(self):
        self.keep_bounds("/e2b/v1/volumes", b"x")
        name = "v%d-%d" % (self.number, self.n)
        answer = self.request("POST", "/e2b/v1/volumes", {"name": name})
        if not answer or answer.status != 201:
            return
        self.adopt("/e2b/v1/volumes", answer.json)
        self.keep_bounds("/e2b/v1/sandboxes", b"x")
        answer = self.request("POST", "/e2b/v1/sandboxes", {
            "templateID": "base", "timeout": 60,
            "volumeMounts": [{"name": name, "path": self.r.choice(["/mnt/v", "/home/user/v"])}]})
        if answer and answer.status == 201:
            self.adopt("/e2b/v1/sandboxes", answer.json)

    def volume(self):
        """The files of a volume, with its token, with none or with another."""
        if not self.volumes:
            return
        made = self.r.choice(self.volumes)
        token = made["token"]
        if self.r.random() < 0.1:
            token = self.r.choice(["", "x", self.hints["key"]])
        path = urllib.parse.quote(self.r.choice(
            ["/", "/a", "/a/b", "/a/b/c", "../x", "/l", self.odd.text(300)]))
        place = "/e2b/v1/volumecontent/%s/" % made["volumeID"]
        headers = {"Authorization": "Bearer " + token}
        kind = self.r.randrange(7)
        method, target, body = [
            ("GET", "dir?depth=%s&path=" % self.r.choice([1, 3, 64, 65, "x"]), None),
            ("POST", "dir?force=true&path=", None),
            ("PUT", "file?force=true&path=",
             self.r.randbytes(self.r.choice([0, 10, 70000, 1 << 20]))),
            ("GET", "file?path=", None),
            ("PATCH", "path?path=",
             json.dumps(self.vary({"uid": 1, "gid": 2, "mode": 420})).encode()),
            ("DELETE", "path?path=", None),
            ("GET", "path?path=", None),
        ][kind]
        if method == "PATCH":
            headers["Content-Type"] = "application/json"
        self.send(self.bytes_of(method, place + target + path, headers, body), "volume " + method)

    # ---- MCP ----

    def an_endpoint(self):
        """(target, headers, the place where its tools are kept)"""
        kind = self.r.random()
        if kind < 0.6 and self.instances:
            owner = self.r.choice(self.instances)
            url = owner["server_url"]
        elif kind < 0.9 and any(x["servers"] for x in self.locals):
            owner = self.r.choice([server for x in self.locals for server in x["servers"]])
            url = owner["mcp_server_url"]
        else:
            return "/mcp", {"Authorization": "Bearer " + self.hints["key"]}, self.hints
        return "/" + url.partition("//")[2].partition("/")[2], {}, owner

    def rpc(self, target, headers, message, is_stream=False):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        if self.r.random() < 0.05:
            text = self.odd.mangle(text)
        headers = {
            "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
            **headers
        }
        what = "mcp " + (message.get("method") or "?")[:40] if isinstance(message,
                                                                          dict) else "mcp batch"
        if isinstance(message, dict) and message.get("method") == "tools/call":
            what += " %s" % message["params"].get("name")
        answer = self.send(self.bytes_of("POST", target, headers, text), what, is_stream=is_stream)
        if answer and answer.body.startswith((b"event:", b"data:", b"id:")):
            lines = re.findall(rb"^data: ?(.*)$", answer.body, re.M)
            answer.body = lines[-1] if lines else b""
        if answer and b'"internal error"' in answer.body[:2000]:
            self.finding("%s: internal error" % what)
        return answer

    def mcp_call(self):
        target, headers, owner = self.an_endpoint()
        if "tools" not in owner:
            answer = self.rpc(target, headers,
                              {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
            got = answer.json if answer else None
            tools = (got.get("result") or {}).get("tools") if isinstance(got, dict) else None
            if not tools:
                return
            owner["tools"] = tools
        tool = self.r.choice(owner["tools"])
        if "release_all" in tool["name"]:
            return
        message = {
            "jsonrpc": "2.0", "id": self.n, "method": "tools/call", "params": {
                "name": tool["name"], "arguments": self.odd.of(tool.get("inputSchema", True))
            }
        }
        answer = self.rpc(target, headers, message)
        if answer and answer.is_whole:
            self.harvest(answer.body)

    def mcp_other(self):
        target, headers, _ = self.an_endpoint()
        kind = self.r.random()
        if kind < 0.2:
            self.send(
                self.bytes_of("GET", target, {**headers, "Accept": "text/event-stream"}, None),
                "mcp stream", is_stream=True)
            return
        message = {
            "jsonrpc": "2.0", "id": self.r.choice([1, "a", None, 1.5, 2**70, [1]]),
            "method": self.r.choice(METHODS), "params": self.odd.any()
        }
        if kind < 0.3:
            message = json.dumps([message] * self.r.choice([0, 1, 2, 500])).encode()
        self.rpc(target, headers, message)

    # ---- the service inside of a sandbox ----

    def inside(self):
        if not self.boxes:
            return
        box = self.r.choice(self.boxes)
        headers = {
            "E2b-Sandbox-Id": box["id"], "E2b-Sandbox-Port": "49983",
            "X-Access-Token": box["token"], "Connect-Protocol-Version": "1"
        }
        kind = self.r.random()
        if kind < 0.3:
            path, value = self.r.choice(STREAMS)
            text = json.dumps(self.vary(value)).encode()
            body = struct.pack(">BI", self.r.choice([0, 0, 0, 0, 1, 2, 255]), len(text)) + text
            if self.r.random() < 0.1:
                body = self.odd.mangle(body)
            headers.update(
                {"Content-Type": "application/connect+json", "Connect-Timeout-Ms": "1500"})
            self.send(self.bytes_of("POST", "/" + path, headers, body), "envd " + path,
                      is_stream=True)
        elif kind < 0.7:
            path, value = self.r.choice(UNARIES)
            headers["Content-Type"] = "application/json"
            self.send(
                self.bytes_of("POST", "/" + path, headers,
                              json.dumps(self.vary(value)).encode()), "envd " + path)
        else:
            target = "/files?" + urllib.parse.urlencode({
                "path": self.r.choice(
                    ["/tmp/a", "~/b", "/etc/passwd", "/dev/null",
                     self.odd.text(300)]), "username": self.r.choice(
                         ["user", "root", "user", self.odd.text(30)])
            })
            if self.r.random() < 0.5:
                self.send(self.bytes_of("GET", target, headers, None), "envd files", is_stream=True)
            else:
                self.send(
                    self.bytes_of("POST", target, {**headers, **self.form()[0]},
                                  self.form()[1]), "envd files")

    def form(self):
        data = self.r.randbytes(self.r.choice([0, 1, 1000, 70000, 1 << 20]))
        if self.r.random() < 0.3:
            return {"Content-Type": "application/octet-stream"}, data
        part = (
            b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n" %
            self.r.choice([b"a", b"../../x", b"/etc/x", b"", b"a/b/c"])) + data + b"\r\n--b--\r\n"
        if self.r.random() < 0.2:
            part = self.odd.mangle(part)
        return {"Content-Type": "multipart/form-data; boundary=b"}, part

    def vary(self, value):
        """The same JSON with some value changed."""
        if isinstance(value, dict) and value:
            key = self.r.choice(list(value))
            return {**value, key: self.vary(value[key])} if self.r.random() < 0.8 else value
        if isinstance(value, list) and value:
            return [self.vary(value[0]), *value[1:]]
        return self.odd.any() if self.r.random() < 0.4 else value

    # ---- files, archives, terminals, ports, bytes ----

    def files(self):
        if not self.boxes:
            return
        name = self.r.choice(self.boxes)["name"]
        path = urllib.parse.quote(
            self.r.choice(["/tmp/a", "/home/user/x/y", "/", "/proc/1/mem",
                           self.odd.text(500)]))
        base = "/api/v1/sandbox/files/" + name
        kind = self.r.randrange(4)
        if kind == 0:
            extra, body = self.form()
            self.send(
                self.bytes_of("POST", base + "/upload?path=" + path, self.headers(extra), body),
                "native upload")
        elif kind == 1:
            target = base + "/download?path=" + path + self.r.choice(
                ["", "&archive=tar.gz", "&archive=zip", "&archive=x"])
            self.send(self.bytes_of("GET", target, self.headers({}), None), "native download",
                      is_stream=True)
        elif kind == 2:
            self.send(
                self.bytes_of("DELETE", base + "?recursive=true&path=" + path, self.headers({}),
                              None), "native rm")
        else:
            self.send(self.bytes_of("GET", base + "?path=" + path, self.headers({}), None),
                      "native ls")

    def archive(self):
        """A tar.gz of odd entries, or what is none, into a workspace."""
        if not self.locals:
            return
        local = self.r.choice(self.locals)["local_sandbox_id"]
        answer = self.request("POST", "/local-sandbox/%s/upload-url" % local)
        got = answer.json if answer else None
        if not isinstance(got, dict) or "upload_url" not in got:
            return
        target = "/" + got["upload_url"].partition("//")[2].partition("/")[2]
        data = self.tar()
        if self.r.random() < 0.3:
            data = self.odd.mangle(data)
        self.send(self.bytes_of("PUT", target, {"Content-Type": "application/gzip"}, data),
                  "local PUT archive")
        self.request("POST", "/local-sandbox/%s/initialize" % local)
        if self.r.random() < 0.3:
            self.request("GET", "/local-sandbox/%s/dump" % local)

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as t:
            for _ in range(self.r.randint(0, 6)):
                info = tarfile.TarInfo(
                    self.r.choice(["a", "a/b", "../x", "/etc/x", "a" * 300, "l", "l/x", "."]))
                info.type = self.r.choice([tarfile.REGTYPE] * 4 + [
                    tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE,
                    tarfile.CHRTYPE
                ])
                info.linkname = self.r.choice(["", "a", "..", "/", "l", "../../etc/passwd"])
                info.mode = self.r.choice([0o644, 0o4755, 0o000, 0o777])
                data = self.r.randbytes(self.r.choice([0, 10, 5000
                                                       ])) if info.type == tarfile.REGTYPE else b""
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
        return gzip.compress(out.getvalue(), 1)

    def terminal(self):
        """A WebSocket with frames of all kinds."""
        if not self.boxes:
            return
        name = self.r.choice(self.boxes)["name"]
        head = self.bytes_of(
            "GET", "/api/v1/terminal/sandbox/%s/ws" % name,
            self.headers({
                "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": base64.b64encode(self.r.randbytes(16)).decode()
            }), None)
        frames = b""
        for _ in range(self.r.randint(0, 8)):
            text = self.r.choice([
                b'{"type":"input","data":"ls\\n"}', b'{"type":"resize","cols":1,"rows":99999}',
                b"exit\n",
                self.r.randbytes(40), b"{",
                self.odd.text(3000).encode()[:60000]
            ])
            frames += bytes([self.r.choice([0x81, 0x82, 0x80, 0x01, 0x88, 0x89, 0xf1, 0x8f])])
            frames += struct.pack(">BH", 0x80 | 126, len(text)) + b"\0\0\0\0" + text
        self.send(head + frames, "terminal ws", is_stream=True)

    def port(self):
        """Through the router to whatever listens, or does not."""
        if not self.boxes:
            return
        box = self.r.choice(self.boxes)
        target = self.r.choice([
            "/sandboxes/router/%s/%d/x" % (box["id"], self.r.choice([80, 49983, 8080, 1])),
            "/sandbox/%s/%s" % (box["name"], self.r.choice(["", "x", "mcp", "../", "mcp?port=x"]))
        ])
        self.send(
            self.bytes_of(self.r.choice(["GET", "POST", "HEAD", "OPTIONS", "PATCH"]), target,
                          self.headers({}), self.r.choice([None, b"x" * 1000])),
            "port " + target[:40], is_stream=True)

    def raw(self):
        """Bytes that are nearly HTTP, or not at all."""
        data = self.r.choice(HEADS)
        if self.r.random() < 0.6:
            data = self.odd.mangle(data)
        self.send(data, "raw", is_stream=True)

    def mail(self):
        """The ports of a local sandbox's mail server."""
        ports = [
            x for local in self.locals for x in re.findall(r'(?:imap|smtp)\w*port"?: ?"?(\d{4,5})',
                                                           json.dumps(local).lower())
        ]
        if not ports:
            return
        try:
            with socket.create_connection((self.place[0], int(self.r.choice(ports))), 2) as sock:
                sock.settimeout(0.2)
                for line in self.r.sample([
                        b"EHLO x\r\n", b"a LOGIN a@b c\r\n", b"a SELECT INBOX\r\n",
                        b"a FETCH 1:* (BODY[])\r\n", b"MAIL FROM:<a@b>\r\n", b"RCPT TO:<b@c>\r\n",
                        b"DATA\r\n", b".\r\n", b"a APPEND x {999999}\r\n", b"x" * 70000,
                        b"\x00\xff\r\n", b"a SEARCH " + b"OR " * 900 + b"\r\n"
                ], 5):
                    sock.sendall(line)
                sock.recv(4000)
        except OSError:
            pass
        self.counts["mail"] += 1

    def hold(self):
        """Lets go of streams that were left open."""
        while len(self.held) > self.r.randint(0, 12):
            self.held.popleft().close()

    WAYS = [("by_document", 40), ("mcp_call", 40), ("mcp_other", 8), ("inside", 20), ("files", 8),
            ("archive", 2), ("terminal", 3), ("port", 5), ("raw", 12), ("mail", 1), ("hold", 4),
            ("new_box", 2), ("new_instance", 3), ("new_local", 1), ("build", 2), ("template", 6),
            ("copy_box", 2), ("new_volume", 1), ("volume", 10)]

    def run(self, seconds, most=10**9):
        """Until the time or the count is over; a dictionary of what happened."""
        end = time.monotonic() + seconds
        for first in ("new_box", "new_instance", "new_instance", "new_local", "new_volume",
                      "build"):
            self.source()
            self.attempt(first)
        names, weights = zip(*self.WAYS)
        while time.monotonic() < end and self.n < most:
            self.source()
            self.attempt(self.r.choices(names, weights)[0])
        while self.held:
            self.held.popleft().close()
        self.tidy()
        return {
            "requests": self.n, "counts": dict(self.counts), "findings": self.findings,
            "slowest": self.slowest, "number": self.number
        }

    def attempt(self, name):
        try:
            getattr(self, name)()
        except Broken:
            time.sleep(0.2)

    def tidy(self):
        """Nothing of it stays; also what it made without reading the answer."""
        self.r = self.odd.r = random.Random(1.5)  # not rude any more
        self.be_rude = lambda *_: False
        answer = self.request("GET", "/api/v1/sandbox")
        for box in (answer.json or {}).get("data", []) if answer else []:
            self.request("DELETE", "/api/v1/sandbox/" + box["name"])
        answer = self.request("GET", "/local-sandbox")
        for box in (answer.json or {}).get("sandboxes", []) if answer else []:
            self.request("DELETE", "/local-sandbox/" + box["local_sandbox_id"])
        self.request("DELETE", "/sandbox")
        self.tidy_kept()

    def tidy_kept(self):
        """What outlives sandboxes: nothing of it is left either."""
        answer = self.request("GET", "/e2b/v1/volumes")
        for volume in (answer.json or []) if answer else []:
            self.request("DELETE", "/e2b/v1/volumes/" + volume["volumeID"])
        answer = self.request("GET", "/e2b/v1/snapshots")
        for shot in (answer.json or []) if answer else []:
            self.request("DELETE",
                         "/e2b/v1/templates/" + urllib.parse.quote(shot["snapshotID"], safe=""))
        answer = self.request("GET", "/e2b/v1/templates")
        for one in (answer.json or []) if answer else []:
            self.request("DELETE", "/e2b/v1/templates/" + one["templateID"])
