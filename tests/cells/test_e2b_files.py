# SPDX-License-Identifier: MIT
"""Files of the E2B protocol, spoken to the service of a cell directly: the remote calls of
filesystem.Filesystem, its watches, and /files. Needs root."""

import base64
import gzip
import hashlib
import http.client
import json
import os
import random
import re
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

import connect
import tap

lab = subprocess.Popen([os.environ["CELL_LAB"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
first = lab.stdout.readline()
if not first or first.startswith(b"1..0"):
    print(first.decode() or "1..0 # SKIP no cell can be made here")
    sys.exit(0)
CELL = connect.know(json.loads(first))
SERVICE = "/e2b/filesystem.Filesystem/"
TOKEN = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"


class Unix(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, timeout=60):
        super().__init__("cell", timeout=timeout)

    def connect(self):
        self.sock = connect.dial(CELL["socket"], self.timeout)


def call(method, target, body=None, headers=None):
    """(status, headers, body) of one request on a connection of its own."""
    c = Unix()
    try:
        c.request(method, target, body, headers or {})
        r = c.getresponse()
        return r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read()
    finally:
        c.close()


def user_header(name):
    return {"Authorization": "Basic " + base64.b64encode((name + ":").encode()).decode()}


def rpc(name, user=None, headers=None, **message):
    """(status, answer) of a call."""
    headers = dict(headers or {}, **{"Content-Type": "application/json"})
    if user:
        headers.update(user_header(user))
    status, got, body = call("POST", SERVICE + name, json.dumps(message), headers)
    tap.equal(got["content-type"], "application/json")
    return status, json.loads(body)


def ask(name, **message):
    status, answer = rpc(name, **message)
    tap.equal(status, 200, answer)
    return answer


def fails(name, status, code, text, **message):
    tap.equal(rpc(name, **message), (status, {"code": code, "message": text}))


def query(**params):
    return "/e2b/files?" + urllib.parse.urlencode(params)


def refuses(got, status, text):
    """An answer of /files is this error, in exactly its shape."""
    tap.equal((got[0], got[2]), (status, json.dumps(
        {"code": status, "message": text}, separators=(",", ":")).encode() + b"\n"))
    tap.equal(got[1]["content-type"], "application/json; charset=utf-8")


def form(*files, boundary="xxBOUNDARYxx"):
    """A form's body and headers, of (filename, bytes) or (filename, bytes, field)."""
    out = b""
    for name, data, *field in files:
        out += ('--%s\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n"
                % (boundary, field[0] if field else "file", name)).encode() + data + b"\r\n"
    out += b"--" + boundary.encode() + b"--\r\n"
    return out, {"Content-Type": "multipart/form-data; boundary=" + boundary}


def upload(files, headers=None, **params):
    body, more = form(*files)
    return call("POST", query(**params), body, dict(more, **(headers or {})))


def put(path, data=b"", **params):
    """A raw body; the answer's array."""
    status, _, body = call("POST", query(path=path, **params), data,
                           {"Content-Type": "application/octet-stream"})
    tap.equal(status, 200, body)
    return json.loads(body)


def get(path, headers=None, **params):
    return call("GET", query(path=path, **params), headers=headers)


def run(command):
    """In the cell, as root."""
    status, _, body = call("POST", "/run", json.dumps({"command": command, "user": "root"}))
    tap.equal(status, 200, body)
    answer = json.loads(body)
    tap.equal(answer["exitCode"], 0, answer)
    return answer["stdout"]


# ---- the calls ----


def test_stat_describes_a_file():
    put("/tmp/file", b"thirteen byte")
    run("chmod 640 /tmp/file; chown root:54321 /tmp/file; touch -d @1700000000.123 /tmp/file")
    tap.equal(ask("Stat", path="/tmp/file"), {"entry": {
        "name": "file", "type": "FILE_TYPE_FILE", "path": "/tmp/file", "size": "13", "mode": 416,
        "permissions": "-rw-r-----", "owner": "root", "group": "54321",
        "modifiedTime": "2023-11-14T22:13:20.123Z"}})
    entry = ask("Stat", path="/tmp")["entry"]
    tap.equal((entry["type"], entry["permissions"], entry["mode"]),
              ("FILE_TYPE_DIRECTORY", "dtrwxrwxrwx", 0o777))
    tap.equal(ask("Stat", path="/dev/null")["entry"]["permissions"], "Dcrw-rw-rw-")
    assert "type" not in ask("Stat", path="/dev/null")["entry"]


def test_stat_of_links():
    put("/tmp/target", b"x")
    run("cd /tmp; ln -s target one; ln -s one two; ln -s gone broken; ln -s loop loop")
    entry = ask("Stat", path="/tmp/two")["entry"]
    tap.equal((entry["symlinkTarget"], entry["type"], entry["permissions"], entry["mode"]),
              ("/tmp/target", "FILE_TYPE_FILE", "Lrwxrwxrwx", 0o644))
    for name in ("broken", "loop"):
        entry = ask("Stat", path="/tmp/" + name)["entry"]
        tap.equal(entry["symlinkTarget"], "/tmp/" + name)
        assert "type" not in entry and "mode" not in entry, entry


def test_stat_fails():
    fails("Stat", 404, "not_found",
          "file not found: lstat /tmp/no: no such file or directory", path="/tmp/no")
    fails("Stat", 500, "internal",
          "error getting file info: lstat /tmp/file/x: not a directory", path="/tmp/file/x")
    fails("Stat", 400, "invalid_argument", "failed to expand path '~bob' for user 'user': "
          "cannot expand user-specific home dir", path="~bob")
    tap.equal(rpc("Stat", path="a\0b")[0], 400)
    tap.equal(rpc("Stat", path=7)[0], 400)
    tap.equal(rpc("Stat", path="/tmp", user="nobody-here"),
              (401, {"code": "unauthenticated", "message": "invalid username: 'nobody-here'"}))


def test_paths_are_resolved_by_user():
    put("inhome", b"")
    tap.equal(ask("Stat", path="inhome")["entry"]["path"], "/home/user/inhome")
    tap.equal(ask("Stat", path="~/inhome")["entry"]["path"], "/home/user/inhome")
    tap.equal(ask("Stat", path="x/../inhome")["entry"]["path"], "/home/user/inhome")
    tap.equal(ask("Stat", path="/home/user/../user/inhome")["entry"]["path"],
              "/home/user/../user/inhome")
    tap.equal(ask("Stat", path="~")["entry"]["path"], "/home/user")
    tap.equal(ask("Stat", path="")["entry"]["path"], "/home/user")
    tap.equal(rpc("Stat", path="~", user="root")[1]["entry"]["path"], "/root")


def test_old_clients_get_what_they_know():
    status, answer = rpc("Stat", path="/tmp/two", headers={"User-Agent": "connect-python"})
    tap.equal((status, answer), (200, {"entry": {"name": "two", "type": "FILE_TYPE_FILE",
                                                 "path": "/tmp/two"}}))


def test_make_dir():
    entry = ask("MakeDir", path="made/a/b")["entry"]
    tap.equal((entry["path"], entry["type"], entry["permissions"], entry["owner"], entry["group"]),
              ("/home/user/made/a/b", "FILE_TYPE_DIRECTORY", "drwxr-xr-x", "user", "user"))
    tap.equal(ask("Stat", path="made")["entry"]["owner"], "user")
    status, answer = rpc("MakeDir", path="/tmp/rootly", user="root")
    tap.equal(answer["entry"]["owner"], "root")
    fails("MakeDir", 409, "already_exists",
          "directory already exists: /home/user/made", path="made")
    fails("MakeDir", 400, "invalid_argument",
          "path already exists but it is not a directory: /tmp/file", path="/tmp/file")
    fails("MakeDir", 500, "internal", "path is a file: /tmp/file", path="/tmp/file/x/y")


def test_move():
    put("/tmp/m1", b"1")
    put("/tmp/m2", b"2")
    entry = ask("Move", source="/tmp/m1", destination="/tmp/m2")["entry"]
    tap.equal((entry["name"], entry["path"], entry["size"]), ("m2", "/tmp/m2", "1"))
    tap.equal(get("/tmp/m2")[2], b"1")
    tap.equal(ask("Move", source="/tmp/m2", destination="/tmp/moved/far/m")["entry"]["path"],
              "/tmp/moved/far/m")
    tap.equal(ask("Stat", path="/tmp/moved/far")["entry"]["owner"], "user")
    fails("Move", 404, "not_found", "source file not found: rename /tmp/m1 /tmp/m3: "
          "no such file or directory", source="/tmp/m1", destination="/tmp/m3")
    fails("Move", 500, "internal", "error renaming: rename /tmp/file /tmp/moved: file exists",
          source="/tmp/file", destination="/tmp/moved")


def names(path, **more):
    return [e["path"][len(path) + 1:] for e in ask("ListDir", path=path, **more).get("entries", [])]


def test_list_has_an_order_and_a_depth():
    run("mkdir -p /tmp/l/b/deep/er /tmp/l/a; cd /tmp/l; touch B b.txt b/x a/1; ln -s a to_a; "
        "ln -s l /tmp/ll")
    flat = ["B", "a", "b", "b.txt", "to_a"]
    tap.equal(names("/tmp/l"), flat)
    tap.equal(names("/tmp/l", depth=1), flat)
    tap.equal(names("/tmp/l", depth=2), ["B", "a", "a/1", "b", "b/deep", "b/x", "b.txt", "to_a"])
    tap.equal(names("/tmp/l", depth=3),
              ["B", "a", "a/1", "b", "b/deep", "b/deep/er", "b/x", "b.txt", "to_a"])
    tap.equal(names("/tmp/ll"), flat)
    run("mkdir /tmp/empty")
    tap.equal(ask("ListDir", path="/tmp/empty"), {})
    tap.equal([e["type"] for e in ask("ListDir", path="/tmp/l")["entries"]][-1],
              "FILE_TYPE_DIRECTORY")


def test_list_fails():
    fails("ListDir", 404, "not_found",
          "path not found: lstat /tmp/no: no such file or directory", path="/tmp/no")
    fails("ListDir", 404, "not_found",
          "path not found: lstat /tmp/no: no such file or directory", path="/tmp/no/such")
    fails("ListDir", 400, "invalid_argument",
          "path is not a directory: /tmp/file", path="/tmp/file")
    fails("ListDir", 400, "failed_precondition",
          'cyclic symlink or chain >255 links at "/tmp/loop"', path="/tmp/loop")
    tap.equal(rpc("ListDir", path="/proc/1/root")[1]["code"], "permission_denied")


def test_list_of_proc():
    """The first process would list it, with its own rights."""
    run("ln -sfn /proc/1/fd /tmp/fds")
    for path in ("/proc", "/proc/self", "/proc/1/fd", "/tmp/fds"):
        assert rpc("ListDir", path=path)[0] in (400, 403), path


def test_remove():
    put("/tmp/r/a/b", b"")
    run("mkdir /tmp/re; ln -s /tmp/r /tmp/rl")
    for path in ("/tmp/rl", "/tmp/r", "/tmp/r", "/tmp/re", "/tmp/no/such"):
        tap.equal(ask("Remove", path=path), {})
    tap.equal(run("ls -d /tmp/r* | tr '\\n' ' '"), "/tmp/rootly ")
    # Not everything can go.
    status, answer = rpc("Remove", path="/dev/shm" if not CELL.get("host") else "/srv")
    tap.equal((status, answer["code"]), (500, "internal"))
    tap.contains(answer["message"], "error removing file or directory: ")


# ---- watches ----


class Stream:
    """A WatchDir call."""

    def __init__(self, timeout_ms=0, **message):
        payload = json.dumps(message).encode()
        headers = {"Content-Type": "application/connect+json"}
        if timeout_ms:
            headers["Connect-Timeout-Ms"] = str(timeout_ms)
        self.conn = Unix()
        self.conn.request("POST", SERVICE + "WatchDir",
                          b"\0" + struct.pack(">I", len(payload)) + payload, headers)
        self.answer = self.conn.getresponse()
        tap.equal(self.answer.status, 200)
        tap.equal(self.answer.getheader("content-type"), "application/connect+json")

    def next(self):
        """(flags, message)"""
        head = self.answer.read(5)
        return head[0], json.loads(self.answer.read(struct.unpack(">I", head[1:])[0]))

    def event(self):
        flags, message = self.next()
        tap.equal(flags, 0, message)
        return message["filesystem"]

    def short(self):
        e = self.event()
        return "%s %s" % (e["type"][len("EVENT_TYPE_"):], e["name"])

    def until(self, wanted):
        """Reads up to an event; those before it, and it."""
        seen = []
        while not seen or seen[-1] != wanted:
            seen.append(self.short())
        return seen

    def __enter__(self):
        tap.equal(self.next(), (0, {"start": {}}))
        return self

    def __exit__(self, *_):
        self.conn.close()


def watch_error(**message):
    s = Stream(**message)
    flags, end = s.next()
    tap.equal((flags, s.answer.read()), (2, b""))
    s.conn.close()
    return end["error"]


def test_watch_one_directory():
    run("mkdir -p /tmp/w/sub")
    with Stream(path="/tmp/w") as s:
        put("/tmp/w/f", b"x")
        tap.equal(s.until("WRITE f")[0], "CREATE f")
        put("/tmp/w/sub/g", b"x")
        put("/tmp/w/f", b"changed")
        seen = s.until("WRITE f")
        assert not [x for x in seen if "g" in x], seen
        ask("Move", source="/tmp/w/f", destination="/tmp/w/h")
        tap.equal(s.until("CREATE h")[-2:], ["RENAME f", "CREATE h"])
        ask("Remove", path="/tmp/w/h")
        s.until("REMOVE h")


def test_watch_a_tree_with_new_directories():
    with Stream(path="/tmp/w", recursive=True) as s:
        put("/tmp/w/sub/f", b"x")
        s.until("WRITE sub/f")
        run("mkdir -p /tmp/w/new/er; echo x > /tmp/w/new/er/f")
        seen = s.until("CREATE new/er/f")
        tap.equal([x for x in seen if x.startswith("CREATE")],
                  ["CREATE new", "CREATE new/er", "CREATE new/er/f"])
        put("/tmp/w/new/er/f", b"again")
        s.until("WRITE new/er/f")
        ask("Move", source="/tmp/w/new", destination="/tmp/w/sub/moved")
        put("/tmp/w/sub/moved/er/g", b"x")
        s.until("WRITE sub/moved/er/g")


def test_watch_with_entries():
    with Stream(path="/tmp/w", recursive=True, includeEntry=True) as s:
        put("/tmp/w/sub/e", b"12345")
        e = s.event()
        tap.equal((e["type"], e["name"]), ("EVENT_TYPE_CREATE", "sub/e"))
        tap.equal((e["entry"]["name"], e["entry"]["path"], e["entry"]["type"],
                   e["entry"]["owner"]), ("e", "/tmp/w/sub/e", "FILE_TYPE_FILE", "user"))
        ask("Remove", path="/tmp/w/sub/e")
        while e["type"] != "EVENT_TYPE_REMOVE":
            e = s.event()
        assert "entry" not in e, e


def test_a_watch_whose_client_reads_late_loses_nothing():
    run("mkdir /tmp/late")
    files = ["%s%d" % ("n" * 220, i) for i in range(100)]
    with Stream(path="/tmp/late") as s:
        run("cd /tmp/late && touch %s && for i in $(seq 100); do touch %s; done"
            % (" ".join(files), " ".join(files)))
        run("touch /tmp/late/last")
        seen = s.until("CREATE last")
        tap.equal([x for x in seen if x.startswith("CREATE")],
                  ["CREATE " + name for name in files + ["last"]])
        tap.equal(len([x for x in seen if x == "CHMOD " + files[50]]), 101)


def test_watch_ends_at_its_deadline():
    with Stream(path="/tmp/w", timeout_ms=50) as s:
        tap.equal(s.next(), (2, {"error": {"code": "deadline_exceeded",
                                           "message": "context deadline exceeded"}}))


def test_watch_fails():
    tap.equal(watch_error(path="/tmp/no"), {
        "code": "not_found",
        "message": "path /tmp/no not found: stat /tmp/no: no such file or directory"})
    e = watch_error(path="/tmp/file")
    tap.equal(e["code"], "invalid_argument")
    tap.contains(e["message"], "path /tmp/file not a directory: ")
    tap.equal(watch_error(path="~bob")["code"], "invalid_argument")


def test_polling():
    run("mkdir /tmp/p")
    watcher = ask("CreateWatcher", path="/tmp/p", recursive=True)["watcherId"]
    assert re.fullmatch("w[a-z0-9]{20}", watcher), watcher
    tap.equal(ask("GetWatcherEvents", watcherId=watcher), {})
    put("/tmp/p/f", b"x")
    events = ask("GetWatcherEvents", watcher_id=watcher)["events"]
    tap.equal(events[0], {"name": "f", "type": "EVENT_TYPE_CREATE"})
    tap.equal([e["type"] for e in events if e["name"] == "f"][-1], "EVENT_TYPE_WRITE")
    tap.equal(ask("GetWatcherEvents", watcherId=watcher), {})
    tap.equal(ask("RemoveWatcher", watcherId=watcher), {})
    text = "watcher with id %s not found" % watcher
    fails("GetWatcherEvents", 404, "not_found", text, watcherId=watcher)
    fails("RemoveWatcher", 404, "not_found", text, watcherId=watcher)
    fails("CreateWatcher", 404, "not_found",
          "path /tmp/no not found: stat /tmp/no: no such file or directory", path="/tmp/no")


def test_polling_sees_what_has_happened():
    """Also when the change and the question come at the same time."""
    run("mkdir /tmp/q")
    watcher = ask("CreateWatcher", path="/tmp/q")["watcherId"]
    asks = b""
    for name, message in (("MakeDir", {"path": "/tmp/q/d"}),
                          ("GetWatcherEvents", {"watcherId": watcher})):
        body = json.dumps(message).encode()
        asks += b"POST %s%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" \
                b"Content-Length: %d\r\n\r\n%s" % (SERVICE.encode(), name.encode(), len(body), body)
    with connect.dial(CELL["socket"], 60) as c:
        c.sendall(asks)
        answers = b""
        while b"EVENT_TYPE_CREATE" not in answers and not answers.endswith(b"{}"):
            answers += c.recv(65536)
    tap.contains(answers.decode(), '"events":[{"name":"d","type":"EVENT_TYPE_CREATE"}')
    ask("RemoveWatcher", watcherId=watcher)


def test_a_watcher_that_nobody_reads_is_bounded():
    run("mkdir /tmp/flood")
    watcher = ask("CreateWatcher", path="/tmp/flood")["watcherId"]
    command = ("cd /tmp/flood && i=0 && while [ $i -lt 400 ]; do touch %s; i=$((i+1)); done"
               % " ".join("%s%d" % ("n" * 220, i) for i in range(100)))
    run(command)
    status, answer = rpc("GetWatcherEvents", watcherId=watcher)
    tap.equal((status, answer.get("message")),
              (500, "watcher error: fsnotify: queue or buffer overflow"))
    # It stays so.
    tap.equal(rpc("GetWatcherEvents", watcherId=watcher)[0], 500)
    ask("RemoveWatcher", watcherId=watcher)


def test_there_are_only_so_many_watchers():
    made = []
    while True:
        status, answer = rpc("CreateWatcher", path="/tmp/empty")
        if status != 200:
            break
        made.append(answer["watcherId"])
    tap.equal((len(made), status, answer["code"]), (256, 429, "resource_exhausted"))
    for watcher in made:
        ask("RemoveWatcher", watcherId=watcher)
    ask("RemoveWatcher", watcherId=ask("CreateWatcher", path="/tmp/empty")["watcherId"])


# ---- reading ----


def test_read():
    put("/tmp/read.txt", b"0123456789")
    status, headers, body = get("/tmp/read.txt")
    tap.equal((status, body, headers["content-length"]), (200, b"0123456789", "10"))
    tap.equal(headers["content-disposition"], "inline; filename=read.txt")
    tap.equal(headers["content-type"], "text/plain; charset=utf-8")
    tap.equal((headers["vary"], headers["accept-ranges"]), ("Accept-Encoding", "bytes"))
    tap.equal(headers["access-control-allow-origin"], "*")
    assert headers["last-modified"].endswith(" GMT")
    put("/tmp/none", b"")
    status, headers, body = get("/tmp/none")
    tap.equal((status, headers["content-length"], body), (200, "0", b""))
    put("/tmp/a \u65e5.bin", b"\0\1")
    headers = get("/tmp/a \u65e5.bin")[1]
    tap.equal(headers["content-disposition"], "inline; filename*=utf-8''a%20%E6%97%A5.bin")
    tap.equal(headers["content-type"], "application/octet-stream")


def test_read_a_part():
    status, headers, body = get("/tmp/read.txt", {"Range": "bytes=2-4"})
    tap.equal((status, body, headers["content-range"]), (206, b"234", "bytes 2-4/10"))
    tap.equal(get("/tmp/read.txt", {"Range": "bytes=-3"})[2], b"789")
    status, headers, _ = get("/tmp/read.txt", {"Range": "bytes=10-"})
    tap.equal((status, headers["content-range"]), (416, "bytes */10"))
    changed = get("/tmp/read.txt")[1]["last-modified"]
    tap.equal(get("/tmp/read.txt", {"If-Modified-Since": changed})[::2], (304, b""))
    old = {"If-Modified-Since": "Tue, 27 Jan 2015 10:00:00 GMT"}
    tap.equal(get("/tmp/read.txt", old)[0], 200)
    tap.equal(get("/tmp/read.txt", {"Range": "bytes=0-1", "If-Range": changed})[0], 206)
    tap.equal(get("/tmp/read.txt", {"Range": "bytes=0-1", "If-Range": "x"})[0], 200)


def test_encodings():
    for value in ("gzip, deflate", "br", "identity", "gzip;q=0"):
        status, headers, body = get("/tmp/read.txt", {"Accept-Encoding": value})
        tap.equal((status, body, headers.get("content-encoding")), (200, b"0123456789", None))
    data = os.urandom(300000)
    put("/tmp/big", data)
    for path, want in (("/tmp/big", data), ("/tmp/none", b"")):
        status, headers, body = get(path, {"Accept-Encoding": "gzip, identity;q=0"})
        tap.equal((status, headers["content-encoding"]), (200, "gzip"))
        assert gzip.decompress(body) == want
    # What is empty comes compressed to those who can, plain to others.
    status, headers, body = get("/tmp/none", {"Accept-Encoding": "gzip, deflate"})
    tap.equal((status, headers.get("content-length"), gzip.decompress(body)), (200, None, b""))
    refuses(get("/tmp/big", {"Accept-Encoding": "identity;q=0"}), 406,
            "error parsing Accept-Encoding: no acceptable encoding found, supported: [gzip]")


def test_read_fails():
    refuses(get("/tmp/no"), 404, "path '/tmp/no' does not exist")
    refuses(get("demo/test.txt"), 404, "path '/home/user/demo/test.txt' does not exist")
    refuses(get("/tmp"), 400, "path '/tmp' is a directory")
    refuses(call("GET", "/e2b/files"), 400, "path '/home/user' is a directory")
    refuses(get("~bob"), 400, "error expanding and resolving path '~bob': failed to expand path "
            "'~bob' for user 'user': cannot expand user-specific home dir")
    refuses(get("x", username="ghost"), 401,
            "error looking up user 'ghost': user: unknown user ghost")
    tap.equal(get("/dev/zero")[0], 400)
    run("mkfifo /tmp/fifo")
    tap.equal(get("/tmp/fifo")[0], 400)
    first = [] if CELL.get("host") else ["environ", "maps", "mem", "auxv", "stack"]
    for path in (["/proc/1/" + x for x in first] +
                 ["/proc/self/mem", "/proc/self/maps", "/proc/self/auxv", "/proc/thread-self/maps",
                  "/proc/self/stat", "/proc/1/root/etc/passwd", "/proc/self/root/etc/passwd",
                  "/proc/self/exe", "/proc/self/fd/0"]):
        for user in ("user", "root"):
            assert get(path, username=user)[0] in (400, 403, 500), (path, user)
    tap.equal(get("/proc/none")[0], 404)
    refuses(get("/proc/self"), 400, "path '/proc/self' is a directory")


def test_read_proc():
    """As a command of that user would read it, and nothing that the first process alone may."""
    for path in ("/proc/cpuinfo", "/proc/version", "/proc/sys/kernel/ostype", "/proc/1/cmdline",
                 "/sys/devices/system/cpu/online", "/proc/meminfo"):
        status, _, body = get(path)
        text = run("cat " + path)
        tap.equal((status, body.decode()[:10]), (200, text[:10]), path)
        tap.equal(len(body.decode().split("\n")), len(text.split("\n")), path)
    for user, uid in (("user", int(run("id -u user"))), ("root", 0)):
        status, _, body = get("/proc/self/status", username=user)
        tap.equal((status, re.search(rb"Uid:\t(\d+)", body).group(1)), (200, b"%d" % uid))
    tap.equal(get("/proc/thread-self/limits")[0], 200)
    part = get("/proc/version", {"Range": "bytes=0-4"})
    tap.equal((part[0], part[2]), (206, b"Linux"))
    tap.equal(ask("Stat", path="/proc/version")["entry"]["type"], "FILE_TYPE_FILE")


# ---- writing ----


def test_write_a_form():
    status, _, body = upload([("hello.txt", b"Hello")])
    tap.equal((status, json.loads(body)), (200, [
        {"name": "hello.txt", "path": "/home/user/hello.txt", "type": "file"}]))
    entry = ask("Stat", path="hello.txt")["entry"]
    tap.equal((entry["owner"], entry["permissions"]), ("user", "-rw-r--r--"))
    # Into directories that are not there, as root, at the path of the query.
    status, _, body = upload([("x", b"1")], path="/tmp/u/v/w", username="root")
    tap.equal(json.loads(body), [{"name": "w", "path": "/tmp/u/v/w", "type": "file"}])
    tap.equal(ask("Stat", path="/tmp/u/v")["entry"]["owner"], "root")
    tap.equal(get("/tmp/u/v/w")[2], b"1")


def test_write_many_files():
    files = [("/tmp/0/multi_%d.txt" % i, b"%d" % i) for i in range(20)]
    status, _, body = upload(files + [("ignored", b"x", "other")])
    tap.equal((status, [x["path"] for x in json.loads(body)]),
              (200, ["/tmp/0/multi_%d.txt" % i for i in range(20)]))
    for i in range(20):
        tap.equal(get("/tmp/0/multi_%d.txt" % i)[2], b"%d" % i)
    refuses(upload([("twice", b"1"), ("once", b""), ("~/twice", b"2")]), 400,
            "you cannot upload multiple files to the same path '/home/user/twice' in one upload "
            "request, only the first specified file was uploaded")
    tap.equal(get("twice")[2], b"1")
    refuses(upload([("a", b"1"), ("b", b"2")], path="/tmp/same"), 400,
            "you cannot upload multiple files to the same path '/tmp/same' in one upload "
            "request, only the first specified file was uploaded")


def test_names_of_parts():
    body, headers = form(('a%22b', b"1"))
    tap.equal(json.loads(call("POST", query(), body, headers)[2])[0]["name"], "a%22b")
    body = (b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"; "
            b"filename*=utf-8''d%2F%E6%97%A5\r\n\r\nhi\r\n--b--\r\n")
    answer = call("POST", query(), body, {"Content-Type": "multipart/form-data; boundary=b"})
    tap.equal(json.loads(answer[2])[0]["path"], "/home/user/d/\u65e5")


def test_write_a_raw_body():
    tap.equal(put("raw/file", b"\0\1\2"), [
        {"name": "file", "path": "/home/user/raw/file", "type": "file"}])
    tap.equal(get("raw/file")[2], b"\0\1\2")
    # Shorter, in pieces, without a length.
    c = Unix()
    c.request("POST", query(path="raw/file"), iter([b"a", b"b"]),
              {"Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"},
              encode_chunked=True)
    tap.equal(c.getresponse().status, 200)
    c.close()
    tap.equal(get("raw/file")[2], b"ab")
    put("raw/file", b"")
    tap.equal(get("raw/file")[2], b"")


def test_overwriting_keeps_the_file():
    put("/tmp/keep", b"old", username="root")
    run("chmod 750 /tmp/keep; ln /tmp/keep /tmp/keep2; ln -s keep /tmp/keep3")
    put("/tmp/keep3", b"new")
    tap.equal(get("/tmp/keep2")[2], b"new")
    entry = ask("Stat", path="/tmp/keep")["entry"]
    tap.equal((entry["owner"], entry["permissions"]), ("user", "-rwxr-x---"))


def test_compressed_bodies():
    data = os.urandom(100000) + b"x" * 200000
    packed = gzip.compress(data)
    status, _, body = call("POST", query(path="/tmp/gz"), packed, {
        "Content-Type": "application/octet-stream", "Content-Encoding": "gzip"})
    tap.equal(status, 200, body)
    assert get("/tmp/gz")[2] == data
    body, headers = form(("/tmp/gz2", data), ("/tmp/gz3", b"three"))
    status, _, body = call("POST", query(), gzip.compress(body),
                           dict(headers, **{"Content-Encoding": "gzip"}))
    tap.equal(status, 200, body)
    assert get("/tmp/gz2")[2] == data and get("/tmp/gz3")[2] == b"three"
    raw = {"Content-Type": "application/octet-stream"}
    refuses(call("POST", query(path="/tmp/gz"), b"x", dict(raw, **{"Content-Encoding": "br"})), 400,
            "error decompressing request body: unsupported Content-Encoding: br, supported: [gzip]")
    for bad in (b"not gzip at all", packed[:1000], packed[:-1] + b"\xff"):
        status, _, body = call("POST", query(path="/tmp/gz"), bad,
                               dict(raw, **{"Content-Encoding": "gzip"}))
        tap.equal(status, 400)
        tap.contains(json.loads(body)["message"], "error decompressing request body: ")


def test_write_fails():
    raw = {"Content-Type": "application/octet-stream"}
    refuses(call("POST", query(), b"x", raw), 400,
            "path query parameter is required for raw body upload")
    refuses(call("POST", query(path="a"), b"x", {"Content-Type": "text/plain"}), 400,
            "unsupported content type: text/plain, expected multipart/form-data or "
            "application/octet-stream")
    refuses(call("POST", query(path="/tmp"), b"x", raw), 400, "path is a directory: /tmp")
    refuses(call("POST", query(path="/tmp/file/x"), b"x", raw), 500,
            "error ensuring directories: path is a file: /tmp/file")
    refuses(call("POST", query(path="~bob/x"), b"x", raw), 400,
            "error expanding and resolving path '~bob/x': failed to expand path '~bob/x' for user "
            "'user': cannot expand user-specific home dir")
    refuses(call("POST", query(path="x", username="ghost"), b"x", raw), 401,
            "error looking up user 'ghost': user: unknown user ghost")
    status, _, body = call("POST", query(), b"--b\r\n", {
        "Content-Type": "multipart/form-data; boundary=b"})
    tap.equal(status, 400)
    tap.contains(json.loads(body)["message"], "error parsing multipart form: ")
    for path in ("/proc/1/oom_score_adj", "/proc/self/root/tmp/x", "/dev/null", "/tmp/fifo"):
        assert call("POST", query(path=path), b"1", raw)[0] in (400, 403, 500), path


def test_a_full_disk():
    run("mkdir /tmp/small && mount -t tmpfs -o size=64k tmpfs /tmp/small")
    try:
        raw = {"Content-Type": "application/octet-stream"}
        refuses(call("POST", query(path="/tmp/small/f"), b"x" * 100000, raw), 507,
                "attempted to write 100000 bytes: not enough disk space available")
        c = Unix()
        c.request("POST", query(path="/tmp/small/f"), iter([b"x" * 100000]),
                  dict(raw, **{"Transfer-Encoding": "chunked"}), encode_chunked=True)
        r = c.getresponse()
        tap.equal((r.status, json.loads(r.read())["message"]),
                  (507, "not enough disk space available"))
        c.close()
    finally:
        run("umount /tmp/small")


def test_metadata():
    probe = "import os; os.setxattr('/tmp/file', 'user.e2b.probe', b'1')"
    status, _, body = call("POST", "/run", json.dumps({
        "argv": ["python3", "-c", probe], "user": "root"}))
    if status != 200 or json.loads(body)["exitCode"] != 0:
        raise tap.Skip("the file system has no attributes")
    tap.equal(ask("Stat", path="/tmp/file")["entry"]["metadata"], {"probe": "1"})
    meta = {"X-Metadata-Author": "Ann", "x-metadata-note": "a b"}
    want = {"author": "Ann", "note": "a b"}
    status, _, body = upload([("/tmp/m/1", b""), ("/tmp/m/2", b"")], meta)
    tap.equal([x["metadata"] for x in json.loads(body)], [want, want])
    tap.equal([e["metadata"] for e in ask("ListDir", path="/tmp/m")["entries"]], [want, want])
    tap.equal(ask("Move", source="/tmp/m/1", destination="/tmp/m/3")["entry"]["metadata"], want)
    # Replaced as a whole, and cleared.
    upload([("/tmp/m/3", b"")], {"X-Metadata-Other": "x"})
    tap.equal(ask("Stat", path="/tmp/m/3")["entry"]["metadata"], {"other": "x"})
    tap.equal(json.loads(upload([("/tmp/m/3", b"")])[2]),
              [{"name": "3", "path": "/tmp/m/3", "type": "file"}])
    assert "metadata" not in ask("Stat", path="/tmp/m/3")["entry"]


def test_bad_metadata():
    for headers in ({"X-Metadata-": "x"}, {"X-Metadata-A": "v" * 5000},
                    {"X-Metadata-" + "k" * 247: "x"}, {"X-Metadata-A": "\u00e4"}):
        status, _, body = upload([("/tmp/bad", b"")], headers)
        tap.equal(status, 400, body)
        tap.contains(json.loads(body)["message"], "invalid metadata: ")
    tap.equal(get("/tmp/bad")[0], 404)


def test_many_at_once_into_a_new_directory():
    results = []

    def one(i):
        results.append(upload([("/tmp/at/once/%d" % i, b"%d" % i)])[0])

    threads = [threading.Thread(target=one, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tap.equal(results, [200] * 16)
    tap.equal(len(names("/tmp/at/once")), 16)


def test_large_files():
    size = 64 << 20
    block = os.urandom(1 << 20)
    c = Unix()
    c.request("POST", query(path="/tmp/large"), (block for _ in range(size >> 20)),
              {"Content-Type": "application/octet-stream", "Content-Length": str(size)})
    tap.equal(c.getresponse().status, 200)
    c.close()
    c = Unix()
    c.request("GET", query(path="/tmp/large"))
    r = c.getresponse()
    digest = hashlib.sha256()
    while chunk := r.read(1 << 20):
        digest.update(chunk)
    c.close()
    want = hashlib.sha256()
    for _ in range(size >> 20):
        want.update(block)
    tap.equal(digest.hexdigest(), want.hexdigest())
    ask("Remove", path="/tmp/large")


def test_a_client_that_leaves():
    c = Unix()
    c.request("POST", query(path="/tmp/left"), None, {
        "Content-Type": "application/octet-stream", "Content-Length": "1000"})
    c.sock.sendall(b"x" * 10)
    c.close()
    put("/tmp/left", b"after")
    tap.equal(get("/tmp/left")[2], b"after")


# ---- composing ----


def compose(**body):
    return call("POST", "/e2b/files/compose", json.dumps(body),
                {"Content-Type": "application/json"})


def test_compose():
    for i in range(3):
        put("/tmp/c%d" % i, b"%d" % i * 100000)
    status, _, body = compose(source_paths=["/tmp/c2", "/tmp/c0", "/tmp/c1"],
                              destination="composed/all")
    tap.equal((status, json.loads(body)), (200, {"name": "all", "path": "/home/user/composed/all",
                                                 "type": "file"}))
    assert get("composed/all")[2] == b"2" * 100000 + b"0" * 100000 + b"1" * 100000
    tap.equal(get("/tmp/c0")[0], 404)
    tap.equal(names("/home/user/composed"), ["all"])
    tap.equal(ask("Stat", path="composed/all")["entry"]["owner"], "user")
    refuses(compose(source_paths=[], destination="x"), 400, "source_paths must not be empty")
    refuses(compose(source_paths=["/tmp/file"]), 400, "destination is required")
    refuses(compose(source_paths=["/tmp/no"], destination="x"), 404,
            "source file not found: /tmp/no")
    tap.equal(compose(source_paths=["/tmp"], destination="x")[0], 400)
    tap.equal(compose(source_paths=["/tmp/file"], destination="/tmp/file")[0], 400)
    tap.equal(compose(source_paths=["/tmp/file"], destination="x", username="ghost")[0], 401)
    tap.equal(call("POST", "/e2b/files/compose", "[")[0], 400)
    tap.equal(get("/tmp/file")[0], 200)


# ---- keys ----


def sign(path, operation, user="", expiration=None):
    raw = ":".join([path, operation, user, TOKEN])
    if expiration is not None:
        raw += ":%d" % expiration
    digest = base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode().rstrip("=")
    params = {"path": path, "signature": "v1_" + digest}
    if user:
        params["username"] = user
    if expiration is not None:
        params["signature_expiration"] = expiration
    return query(**params)


def test_signatures():
    status, _, body = call("POST", "/update", json.dumps({"e2b": {"accessToken": TOKEN}}))
    tap.equal(status, 200, body)
    try:
        refuses(get("hello.txt"), 401, "missing signature query parameter")
        refuses(get("hello.txt", {"X-Access-Token": "wrong"}), 401,
                "access token present in header but does not match")
        tap.equal(get("hello.txt", {"X-Access-Token": TOKEN})[2], b"Hello")
        refuses(get("hello.txt", signature="v1_wrong"), 401, "invalid signature")
        tap.equal(call("GET", sign("hello.txt", "read"))[2], b"Hello")
        tap.equal(call("GET", query(
            path="hello.txt", username="user",
            signature="v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E"))[2], b"Hello")
        later, before = int(time.time()) + 1000, int(time.time()) - 1000
        tap.equal(call("GET", sign("hello.txt", "read", "user", later))[2], b"Hello")
        refuses(call("GET", sign("hello.txt", "read", "user", before)), 401,
                "signature is already expired")
        refuses(call("GET", sign("hello.txt", "write")), 401, "invalid signature")
        body, headers = form(("hello.txt", b"signed"))
        status, _, answer = call("POST", sign("hello.txt", "write", "root", later), body, headers)
        tap.equal((status, json.loads(answer)), (200, [
            {"name": "hello.txt", "path": "/root/hello.txt", "type": "file"}]))
        refuses(call("POST", sign("hello.txt", "write", "", before), body, headers), 401,
                "signature is already expired")
        # Every other way asks for the token itself.
        tap.equal(rpc_status("Stat"), 401)
        tap.equal(compose(source_paths=["/tmp/file"], destination="x")[0], 401)
    finally:
        call("POST", "/update", json.dumps({"e2b": {"accessToken": None}}))
    tap.equal(get("hello.txt")[0], 200)
    tap.equal(get("hello.txt", signature_expiration="soon")[0], 400)


def rpc_status(name):
    return call("POST", SERVICE + name, "{}", {"Content-Type": "application/json"})[0]


def mutated(rng, data):
    """Some bytes of it changed, gone or twice."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        if rng.random() < 0.4:
            data[at:at + rng.randint(1, 8)] = b""
        else:
            odd = b'{}[]",:\\0aZ~/%&=;\r\n-\x00\xff\x1f'
            data[at:at] = bytes(rng.choice(odd) for _ in range(3))
    return bytes(data)


def test_requests_that_make_no_sense():
    rng = random.Random(7)
    body, form_type = form(("/tmp/fuzz/a", b"one"), ("/tmp/fuzz/b", b"two"))
    raw = {"Content-Type": "application/octet-stream"}
    rpc_type = {"Content-Type": "application/json"}
    message = b'{"path":"/tmp/fuzz/x","depth":2,"recursive":true,"watcherId":"w1"}'
    kinds = [
        lambda: ("POST", query(), mutated(rng, body), form_type),
        lambda: ("POST", query(path="/tmp/fuzz/c"), mutated(rng, gzip.compress(body)),
                 dict(raw, **{"Content-Encoding": "gzip"})),
        lambda: ("POST", SERVICE + rng.choice(["Stat", "ListDir", "CreateWatcher", "Move",
                                               "GetWatcherEvents"]), mutated(rng, message),
                 rpc_type),
        lambda: ("GET", "/e2b/files?" + urllib.parse.quote(mutated(
            rng, b"path=/tmp/fuzz/a&username=user&signature=v1_x&signature_expiration=9"),
            safe="=&%/+"), None, {}),
        lambda: ("GET", query(path="/tmp/fuzz/a"), None,
                 {"Range": "bytes=" + "".join(rng.choices("0123456789-, ", k=6)),
                  "Accept-Encoding": "".join(rng.choices(["gzip", ";q=0", ",", "*", " "], k=5))}),
    ]
    c = Unix()
    for i in range(2000):
        method, target, data, headers = kinds[i % len(kinds)]()
        c.request(method, target, data, headers)
        r = c.getresponse()
        answer = r.read()
        if r.status >= 400 and method == "POST":
            assert json.loads(answer)["message"], answer
        assert r.status < 500 or r.status in (500, 507), (r.status, target)
        if r.will_close:
            c.close()
            c = Unix()
    c.close()


def test_the_service_is_well_after_all_that():
    tap.equal(call("GET", "/e2b/health")[0], 204)
    tap.equal(run("echo ok"), "ok\n")


def finish():
    lab.stdin.close()
    return lab.wait()


def test_it_ends_in_order():
    tap.equal(finish(), 0)


# In a cell nothing can be mounted; the same program is tested on the host, too.
if not CELL.get("host"):
    del test_a_full_disk

tap.main(globals())
