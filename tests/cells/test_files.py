# SPDX-License-Identifier: MIT
"""Files of sandboxes through the native API. Needs root."""

import atexit
import concurrent.futures
import contextlib
import hashlib
import http.client
import io
import os
import tarfile
import threading
import time
import urllib.parse

import cells
import tap

stack = contextlib.ExitStack()
atexit.register(stack.close)
state = {}

BIG = int(os.environ.get("TIDEPOOL_BIG_MB", "300")) << 20
GROWTH = 20 << 20
DOWNLOAD_NAME = "attachment; filename=\"%s\""


def lab():
    """One service with the sandbox "box", and a key that does not own it."""
    if "s" not in state:
        # Memory that the checker of a sanitized build keeps is not the service's.
        env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        s = stack.enter_context(cells.running(env=env))
        s.create(name="box")
        state["other"] = s.make_key(account="other", role="user")["key"]
        state["s"] = s
    return state["s"]


def path_of(action, path=None, name="box", **more):
    query = urllib.parse.urlencode(dict(({} if path is None else {"path": path}), **more))
    return "/api/v1/sandbox/files/%s%s?%s" % (name, action, query)


def form(*files, field="file"):
    """(body, headers) of a multipart form."""
    body = b""
    for name, data in files:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "%0A")
        body += (b'--b0undary\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n'
                 b"Content-Type: application/octet-stream\r\n\r\n%s\r\n"
                 % (field.encode(), quoted.encode(), data))
    return body + b"--b0undary--\r\n", {"Content-Type": "multipart/form-data; boundary=b0undary"}


def upload(path, *files, **more):
    body, headers = form(*files)
    return lab().post(path_of("/upload", path), body, headers=headers, **more)


def listing(path):
    answer = lab().get(path_of("", path))
    tap.equal(answer.status, 200, answer)
    return answer.json["data"]


def download(path, **more):
    return lab().get(path_of("/download", path), **more)


def check_place(data):
    tap.equal((data["sandbox"], data["pod"], data["container"]), ("box", "box", "sandbox"))


def test_upload_and_list():
    answer = upload("/tmp", ("one.txt", b"hello"))
    tap.equal((answer.status, answer.json["code"]), (200, "0"), answer)
    data = answer.json["data"]
    check_place(data)
    tap.equal((data["path"], data["fileName"]), ("/tmp", "one.txt"))
    assert data["uploadedAt"].endswith("Z"), data
    data = listing("/tmp")
    check_place(data)
    tap.equal(data["path"], "/tmp")
    entry = [e for e in data["entries"] if e["name"] == "one.txt"][0]
    tap.equal([entry[k] for k in ("path", "isDir", "size")], ["/tmp/one.txt", False, 5])


def test_download():
    answer = download("/tmp/one.txt")
    tap.equal((answer.status, answer.body), (200, b"hello"))
    tap.equal(answer.headers["Content-Type"], "application/octet-stream")
    tap.equal(answer.headers["Content-Disposition"], DOWNLOAD_NAME % "one.txt")
    tap.equal(answer.headers["Content-Length"], "5")
    answer = download("/tmp/one.txt", headers={"Range": "bytes=1-3"})
    tap.equal((answer.status, answer.body), (206, b"ell"))
    tap.equal(answer.headers["Content-Range"], "bytes 1-3/5")
    tap.equal(download("/tmp/one.txt", headers={"Range": "bytes=9-"}).status, 416)
    answer = lab().request("HEAD", path_of("/download", "/tmp/one.txt"))
    tap.equal((answer.status, answer.headers["Content-Length"], answer.body), (200, "5", b""))


def test_delete():
    answer = lab().delete(path_of("", "/tmp/one.txt"))
    tap.equal(answer.status, 200, answer)
    check_place(answer.json["data"])
    tap.equal(answer.json["data"]["path"], "/tmp/one.txt")
    assert "deletedAt" in answer.json["data"]
    for answer in (download("/tmp/one.txt"), lab().delete(path_of("", "/tmp/one.txt"))):
        tap.equal((answer.status, answer.json["code"]), (404, 404))
    lab().run("box", "mkdir -p /tmp/tree/a; touch /tmp/tree/a/b")
    tap.equal(lab().delete(path_of("", "/tmp/tree")).status, 400)
    tap.equal(lab().delete(path_of("", "/tmp/tree", recursive="true")).status, 200)
    tap.equal(lab().get(path_of("", "/tmp/tree")).status, 404)


def test_lists_are_sorted():
    lab().run("box", "mkdir -p /tmp/s/Zdir /tmp/s/adir; cd /tmp/s; touch B a .dot C; "
                     "ln -s a link; ln -s /nowhere dangling")
    names = [e["name"] for e in listing("/tmp/s")["entries"]]
    tap.equal([n for n in names if n != "dangling"],
              ["adir", "Zdir", ".dot", "a", "B", "C", "link"])
    tap.equal(listing(None)["path"], "/")
    names = [e["name"] for e in listing("")["entries"]]
    assert "tmp" in names and "usr" in names, names
    for path in ("../../tmp/s", " /tmp/s ", "/tmp//./s/", "/tmp/x/../s"):
        tap.equal(listing(path)["path"], "/tmp/s")


def test_lists_of_what_is_no_directory():
    lab().run("box", "touch /tmp/plain")
    for path, status in (("/tmp/nowhere", 404), ("/tmp/plain", 400)):
        answer = lab().get(path_of("", path))
        tap.equal((answer.status, answer.json["code"]), (status, status))
        tap.equal(sorted(answer.json), ["code", "message"])
        assert answer.json["message"], answer
    answer = lab().request("HEAD", path_of("", "/tmp"))
    tap.equal((answer.status, answer.body), (200, b""))


def test_odd_uploads():
    s = lab()
    body, headers = form(("x", b"1"), field="other")
    answer = s.post(path_of("/upload", "/tmp"), body, headers=headers)
    tap.equal((answer.status, answer.json["code"]), (400, 400))
    tap.contains(answer.json["message"], "file is required")
    tap.equal(upload("/tmp/new/deep", ("x", b"1")).status, 200)
    tap.equal(download("/tmp/new/deep/x").body, b"1")
    tap.equal(upload("/tmp/new", ("../../up", b"2")).status, 200)
    tap.equal(download("/tmp/new/up").body, b"2")
    tap.equal(upload("/tmp/plain", ("x", b"1")).status, 400)
    tap.equal(upload("/tmp/new", ("..", b"1")).status, 400)
    answer = upload("/tmp/several", ("a", b"1"), ("b", b"22"))
    tap.equal(answer.status, 200, answer)
    tap.equal([e["size"] for e in listing("/tmp/several")["entries"]], [1, 2])
    answer = s.post(path_of("/upload", "/tmp/raw/file.bin"), b"\0raw\xff")
    tap.equal(answer.status, 200, answer)
    tap.equal(download("/tmp/raw/file.bin").body, b"\0raw\xff")
    # The form may say where, before its file or behind it; the address comes first.
    field = b'--b0undary\r\nContent-Disposition: form-data; name="path"\r\n\r\n%s\r\n'
    body, headers = form(("in-form", b"here"))
    end = b"--b0undary--\r\n"
    for path, parts, where in (
            (None, (field % b"/tmp/by/form", body), "/tmp/by/form/in-form"),
            (None, (body[:-len(end)], field % b"/tmp/by/tail", end), "/tmp/by/tail/in-form"),
            (None, (body,), "/in-form"),
            ("/tmp/by/query", (field % b"/tmp/by/none", body), "/tmp/by/query/in-form")):
        answer = s.post(path_of("/upload", path), b"".join(parts), headers=headers)
        tap.equal((answer.status, answer.json["data"]["path"]),
                  (200, where.rpartition("/")[0] or "/"), where)
        tap.equal(download(where).body, b"here", where)
    tap.equal([e["name"] for e in listing("/tmp/by")["entries"]], ["form", "query", "tail"])
    answer = s.post(path_of("/upload"), field % b"/tmp/plain" + body, headers=headers)
    tap.equal(answer.status, 400, answer)
    tap.equal(s.post(path_of("/upload", "/tmp"), b"--b\r\nbroken",
                     headers={"Content-Type": "multipart/form-data; boundary=b"}).status, 400)


def test_paths_that_are_needed():
    s = lab()
    for method, action in (("GET", "/download"), ("DELETE", "")):
        for path in (None, "", "/", "  ", "/..", "/tmp/.."):
            answer = s.request(method, path_of(action, path))
            tap.equal((answer.status, answer.json), (400, {"code": 400,
                                                           "message": "path is required"}))


def test_relative_paths_are_where_commands_start():
    s = lab()
    s.create(name="placed", workdir="/srv/desk")
    for name, start in (("box", "/home/user"), ("placed", "/srv/desk")):
        tap.equal(s.run(name, "pwd")["output"].strip(), start)
        for path, full in (("rel/a.txt", start + "/rel/a.txt"), ("./b", start + "/b"),
                           ("~/c", "/home/user/c"), ("rel/../d", start + "/d"),
                           ("~tilde", start + "/~tilde")):
            answer = s.post(path_of("/upload", path, name), path.encode())
            tap.equal((answer.status, answer.json["data"]["files"][0]["path"]), (200, full), path)
            tap.equal(s.run(name, "cat '%s'" % full)["output"], path)
            tap.equal(s.get(path_of("/download", path, name)).body, path.encode())
        answer = s.get(path_of("", "rel", name)).json["data"]
        tap.equal((answer["path"], len(answer["entries"])), (start + "/rel", 1))
        tap.equal(s.get(path_of("", "~", name)).json["data"]["path"], "/home/user")
        tap.equal(s.get(path_of("", ".", name)).json["data"]["path"], start)
        body, headers = form(("x", b"1"))
        answer = s.post(path_of("/upload", "forms", name), body, headers=headers)
        tap.equal(answer.json["data"]["path"], start + "/forms")
        tap.equal(s.delete(path_of("", "b", name)).json["data"]["path"], start + "/b")
        tap.equal(s.run(name, "pwd", cwd="rel")["output"].strip(), start + "/rel")
        tap.equal(s.run(name, "pwd", cwd="~")["output"].strip(), "/home/user")
    s.remove("placed")


def test_nothing_leads_out():
    s = lab()
    with open("/etc/shadow") as f:
        host = f.read()
    with open("/var/tmp/tidepool-canary", "w") as f:
        f.write("host")
    try:
        s.run("box", "cd /tmp; ln -sf /etc/shadow shadow; ln -sf /proc/1/root/etc/shadow p1; "
                     "ln -sf ../../../../../../etc/shadow up; ln -sf / root")
        for path in ("/tmp/shadow", "/tmp/p1", "/tmp/up", "/tmp/root/etc/shadow",
                     "/../../../etc/shadow", "/tmp/../../../../etc/shadow",
                     "/proc/1/root/etc/shadow", "/proc/self/root/etc/shadow",
                     "/var/tmp/tidepool-canary"):
            answer = download(path)
            assert answer.body.decode(errors="replace") not in (host, "host"), path
        tap.equal(upload("/tmp/root/var/tmp", ("tidepool-canary", b"cell")).status, 200)
        with open("/var/tmp/tidepool-canary") as f:
            tap.equal(f.read(), "host")
    finally:
        os.unlink("/var/tmp/tidepool-canary")


def test_names_and_contents_of_all_kinds():
    data = bytes(range(256)) * 100
    for name in ("with space", "qu\"ote", "ünï-文字", "new\nline", "semi;colon", "per%41cent",
                 "a" * 255, "-dash", "tab\there", "back\\slash"):
        answer = lab().post(path_of("/upload", "/tmp/names/" + name), data)
        tap.equal(answer.status, 200, name)
        answer = download("/tmp/names/" + name)
        tap.equal((answer.status, answer.body == data), (200, True), name)
        assert name in [e["name"] for e in listing("/tmp/names")["entries"]], name
    tap.equal(lab().post(path_of("/upload", "/tmp/empty"), b"").status, 200)
    answer = download("/tmp/empty")
    tap.equal((answer.status, answer.body), (200, b""))


def test_directories_come_as_archives():
    lab().run("box", "mkdir -p /tmp/arch/sub; echo one > /tmp/arch/1; echo two > /tmp/arch/sub/2")
    for more in ({}, {"archive": "tar.gz"}):
        answer = lab().get(path_of("/download", "/tmp/arch", **more))
        tap.equal(answer.status, 200, answer)
        with tarfile.open(fileobj=io.BytesIO(answer.body), mode="r:gz") as t:
            files = {m.name: t.extractfile(m).read() for m in t.getmembers() if m.isfile()}
        tap.equal(sorted(files.values()), [b"one\n", b"two\n"])


def test_directories_with_holes():
    """What was never written is not read either: a file of 4 TB that takes no room."""
    lab().run("box", "mkdir /tmp/holes; cd /tmp/holes; echo one >a; truncate -s 4T b; "
                     "printf end | dd of=b bs=1 seek=1048576 conv=notrunc status=none; echo two >c")
    answer = lab().get(path_of("/download", "/tmp/holes"), timeout=20)
    tap.equal(answer.status, 200)
    with tarfile.open(fileobj=io.BytesIO(answer.body), mode="r:gz") as t:
        tap.equal({m.name: m.size for m in t.getmembers() if m.isfile()},
                  {"holes/a": 4, "holes/b": 4 << 40, "holes/c": 4})
        tap.equal([t.extractfile("holes/" + x).read() for x in "ac"], [b"one\n", b"two\n"])
        b = t.extractfile("holes/b")
        b.seek(1048574)
        tap.equal(b.read(7), b"\0\0end\0\0")
    lab().run("box", "rm -r /tmp/holes")


def test_unknown_and_foreign_sandboxes():
    s = lab()
    body, headers = form(("x", b"1"))
    for name, key in (("nobody", ""), ("box", state["other"])):
        for method, action, more in (("GET", "", {}), ("GET", "/download", {}), ("DELETE", "", {}),
                                     ("POST", "/upload", {"body": body, "headers": headers})):
            answer = s.request(method, path_of(action, "/tmp/x", name), key=key, **more)
            tap.equal((answer.status, answer.json),
                      (404, {"code": 404, "message": "sandbox %s not found" % name}))
    tap.equal(s.get(path_of("", "/"), key=None).status, 401)


def rss(s):
    with open("/proc/%d/statm" % s.process.pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watch(threading.Thread):
    """The largest memory use while something goes on."""

    def __init__(self, s):
        super().__init__(daemon=True)
        self.s, self.most, self.is_over = s, rss(s), False

    def __enter__(self):
        self.before = self.most
        self.start()
        return self

    def run(self):
        while not self.is_over:
            self.most = max(self.most, rss(self.s))
            time.sleep(0.02)

    def __exit__(self, *_):
        self.is_over = True
        self.join()

    @property
    def growth(self):
        return self.most - self.before


def test_large_files_take_no_memory():
    s = lab()
    piece = os.urandom(1 << 20)
    digest = hashlib.sha256()
    with Watch(s) as w:
        c = http.client.HTTPConnection(s.host, s.port, timeout=300)
        c.putrequest("POST", path_of("/upload", "/home/user/big"))
        c.putheader("X-API-Key", s.key)
        c.putheader("Content-Length", str(BIG))
        c.endheaders()
        for i in range(BIG >> 20):
            digest.update(piece)
            c.send(piece)
        answer = c.getresponse()
        tap.equal(answer.status, 200, answer.read())
        answer.read()
        c.request("GET", path_of("/download", "/home/user/big"), headers={"X-API-Key": s.key})
        answer = c.getresponse()
        tap.equal(int(answer.headers["Content-Length"]), BIG)
        got = hashlib.sha256()
        while True:
            data = answer.read(1 << 20)
            if not data:
                break
            got.update(data)
        c.close()
    tap.equal(got.hexdigest(), digest.hexdigest())
    print("# the service grew by %.1f MB for 2 x %d MB" % (w.growth / 1e6, BIG >> 20))
    assert w.growth < GROWTH, w.growth
    tap.equal(s.delete(path_of("", "/home/user/big")).status, 200)


def test_uploads_that_break_off_leave_nothing():
    s = lab()
    c = http.client.HTTPConnection(s.host, s.port, timeout=30)
    c.putrequest("POST", path_of("/upload", "/tmp/half/file"))
    c.putheader("X-API-Key", s.key)
    c.putheader("Content-Length", "1000000")
    c.endheaders()
    c.send(b"x" * 200000)
    time.sleep(0.2)
    c.close()
    s.until(lambda: listing("/tmp/half")["entries"] == [])


def test_uploads_at_once():
    def one(i):
        data = os.urandom(100000)
        answer = lab().post(path_of("/upload", "/tmp/many/%d" % i), data)
        return answer.status == 200 and download("/tmp/many/%d" % i).body == data

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        tap.equal(all(pool.map(one, range(32))), True)


def test_the_service_stops_in_order():
    lab()
    stack.close()


tap.main(globals())
