# SPDX-License-Identifier: MIT
"""Archives of local sandboxes: upload, initialize, dump, reset and executions, as a client with
nothing but HTTP sees them."""

import contextlib
import gzip
import http.client
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
import urllib.parse

import cells
import maxima
import service
import tap


def acquire(s, names=("filesystem",), **fields):
    answer = s.post("/local-sandbox", {"server_names": list(names), **fields}, timeout=120)
    tap.equal(answer.status, 201, answer)
    return answer.json["local_sandbox_id"], answer.json


def send(url, method="GET", body=None, headers=None):
    """A request to a signed URL: no key."""
    u = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(u.hostname, u.port, timeout=120)
    connection.request(method, u.path + "?" + u.query, body, headers or {})
    answer = connection.getresponse()
    got = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return got


def archive(files, mode="w:gz"):
    """A tar.gz of names and bytes; a TarInfo as value is added as it is."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, data in files.items():
            if isinstance(data, tarfile.TarInfo):
                tar.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1700000000
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def upload(s, key, data, action="upload-url", body=None):
    answer = s.post("/local-sandbox/%s/%s" % (key, action), body)
    tap.equal((answer.status, answer.json.get("expires_in_minutes")), (200, 30), answer)
    url = answer.json["upload_url"]
    return send(url, "PUT", data, {"Content-Type": "application/gzip"})


def initialize(s, key):
    return s.post("/local-sandbox/%s/initialize" % key, timeout=120)


def dump(s, key):
    answer = s.get("/local-sandbox/%s/dump" % key, timeout=120)
    tap.equal((answer.status, answer.json.get("expires_in_minutes")), (200, 30), answer)
    return answer.json["download_url"]


def files_of(data):
    """The files of a dump, taken the careful way."""
    with tempfile.TemporaryDirectory() as out:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            tar.extractall(out, filter="data")
        found = {}
        for base, _, names in os.walk(out):
            for name in names:
                path = os.path.join(base, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, out)] = f.read()
        return found


def workspace(s, key):
    status, data, _ = send(dump(s, key))
    tap.equal(status, 200)
    return files_of(data)


def name_of(key):
    return "local-" + key.replace("-", "")


def vault(s):
    folder = os.path.join(s.state, "local")
    return sorted(x.split(".", 1)[1] for x in os.listdir(folder))


FILES = {"a.txt": b"hello\n", "d/b.bin": random.Random(1).randbytes(300000), "d/e/c": b""}


@contextlib.contextmanager
def mounted(image, folder):
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_an_upload_outlives_a_power_cut():
    """What was acknowledged is on the disk, not only on its way to it."""
    data = archive({"big": random.Random(2).randbytes(3 << 20)})
    with service.folder() as folder, cells.running() as s:
        disk, cut = folder + "/disk.img", folder + "/cut.img"
        with open(disk, "wb") as f:
            f.truncate(64 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
        s.stop()
        with mounted(disk, s.state + "/local"):
            s.start()
            key, _ = acquire(s)
            tap.equal(upload(s, key, data)[0], 200)
            shutil.copyfile(disk, cut)  # the machine stops here
            with mounted(cut, folder + "/after") as after:
                with open("%s/%s.upload" % (after, key), "rb") as f:
                    tap.equal(f.read() == data, True, "the archive is whole")
            s.remove_all()
            s.stop()


def test_there_and_back():
    with cells.running() as s:
        key, _ = acquire(s)
        tap.equal(upload(s, key, archive(FILES))[:2], (200, b""))
        answer = initialize(s, key)
        tap.equal((answer.status, answer.json), (200, {
            "sandbox_id": key, "status": "occupied",
            "message": "Extracted archive from GCS to workspace"}))
        tap.equal(s.run(name_of(key), "cat /data/a.txt")["output"], "hello\n")
        s.run(name_of(key), "cd /data; echo new > new; ln -s /etc/passwd out; rm a.txt")
        want = {k: v for k, v in FILES.items() if k != "a.txt"}
        tap.equal(workspace(s, key), {**want, "new": b"new\n"})
        # Asked once more without a new upload, the same is unpacked again.
        tap.equal(initialize(s, key).status, 200)
        tap.equal(workspace(s, key), {**FILES, "new": b"new\n"})
        # A second archive is added to what is there.
        tap.equal(upload(s, key, archive({"new": b"2", "x": b"3"}))[0], 200)
        tap.equal(initialize(s, key).status, 200)
        tap.equal(workspace(s, key), {**FILES, "new": b"2", "x": b"3"})
        tap.equal(s.delete("/local-sandbox/" + key).status, 200)
        s.until(lambda: not vault(s), 30)


def test_downloads_can_be_resumed():
    with cells.running() as s:
        key, _ = acquire(s)
        upload(s, key, archive(FILES))
        initialize(s, key)
        url = dump(s, key)
        status, whole, head = send(url)
        tap.equal((status, head["Accept-Ranges"], head["Content-Type"]),
                  (200, "bytes", "application/gzip"))
        n, tag = len(whole), head["ETag"]
        for asked, want in (("bytes=0-9", whole[:10]), ("bytes=100-", whole[100:]),
                            ("bytes=-7", whole[-7:]), ("bytes=5-%d" % (n + 9), whole[5:]),
                            ("bytes=%d-%d" % (n - 1, n - 1), whole[-1:])):
            status, part, head = send(url, headers={"Range": asked})
            tap.equal((status, part == want), (206, True), (asked, status))
            tap.equal(head["Content-Range"].split("/")[1], str(n))
        status, _, head = send(url, headers={"Range": "bytes=%d-" % n})
        tap.equal((status, head["Content-Range"]), (416, "bytes */%d" % n))
        for asked in ("bytes=9-2", "bytes=x-", "bytes=0-1,4-5", "lines=1-2"):
            tap.equal(send(url, headers={"Range": asked})[0], 200, asked)
        asked = {"Range": "bytes=10-"}
        tap.equal(send(url, headers={**asked, "If-Range": tag})[0], 206)
        tap.equal(send(url, headers={**asked, "If-Range": '"other"'})[:2], (200, whole))
        status, body, head = send(url, "HEAD")
        tap.equal((status, body, head["Content-Length"]), (200, b"", str(n)))


def moved(s, url):
    """URL at the address that the service has now."""
    return urllib.parse.urlsplit(url)._replace(netloc="%s:%d" % (s.host, s.port)).geturl()


def changed(url, name, value):
    u = urllib.parse.urlsplit(url)
    query = dict(urllib.parse.parse_qsl(u.query))
    query[name] = value
    return u._replace(query=urllib.parse.urlencode(query)).geturl()


def test_wrong_urls_are_refused():
    with cells.running() as s:
        key, _ = acquire(s)
        other, _ = acquire(s)
        data = archive(FILES)
        url = s.post("/local-sandbox/%s/upload-url" % key).json["upload_url"]
        wrong = b"signature does not match"
        for bad in (changed(url, "signature", "0" * 64), changed(url, "expires", "9999999999"),
                    changed(url, "purpose", "execution"), changed(url, "purpose", "download"),
                    changed(url, "purpose", "x"), url.replace(key, other),
                    url.replace("/workspace?", "/other?"), url.split("?")[0]):
            status, text, _ = send(bad, "PUT", data)
            tap.equal((status, wrong in text), (403, True), (bad, status, text))
        upload(s, key, data)
        initialize(s, key)
        down = dump(s, key)
        tap.equal(send(down, "PUT", data)[0], 403)
        tap.equal(send(url)[0], 403)
        tap.equal(send(changed(down, "expires", "1"))[0], 403)
        tap.equal(send(changed(down, "signature", "f" * 64))[0], 403)
        # The signature outlives a restart, not the sandbox.
        s.stop()
        s.start()
        tap.equal(send(moved(s, down))[0], 200)
        tap.equal(s.delete("/local-sandbox/" + key).status, 200)
        gone = moved(s, down)
        s.until(lambda: send(gone)[0] == 404, 30)
        tap.equal(send(moved(s, url), "PUT", data)[0], 404)


def test_late_urls_are_refused():
    """A clock that is half an hour ahead: faketime is not there, so the signature is made here."""
    import hashlib
    import hmac
    with cells.running() as s:
        key, _ = acquire(s)
        with open(os.path.join(s.state, "server.secret"), "rb") as f:
            secret = f.read()
        secret = bytes.fromhex(secret.decode()) if len(secret) > 32 else secret
        url = s.post("/local-sandbox/%s/upload-url" % key).json["upload_url"]
        u = urllib.parse.urlsplit(url)
        query = dict(urllib.parse.parse_qsl(u.query))
        own = hmac.new(secret, b"URLs of archives", hashlib.sha256).digest()

        def signature(expires):
            text = "upload\n%s\n%s" % (u.path, expires)
            return hmac.new(own, text.encode(), hashlib.sha256).hexdigest()
        tap.equal(signature(query["expires"]), query["signature"])
        late = changed(changed(url, "expires", "1700000000"), "signature",
                       signature("1700000000"))
        status, text, _ = send(late, "PUT", archive(FILES))
        tap.equal((status, b"has expired" in text), (403, True), text)


def link(name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def special(name, kind):
    info = tarfile.TarInfo(name)
    info.type = kind
    return info


def test_evil_archives_change_nothing():
    with cells.running(env={"TIDEPOOL_LOCAL_MAX_UNPACKED": "1MiB",
                            "TIDEPOOL_LOCAL_MAX_ARCHIVE": "2MiB"}) as s:
        key, _ = acquire(s)
        tap.equal(initialize(s, key).status, 400)
        upload(s, key, archive(FILES))
        tap.equal(initialize(s, key).status, 200)
        for data in (archive({"ok": b"1", "/etc/x": b"1"}), archive({"ok": b"1", "../x": b"1"}),
                     archive({"l": link("l", "/etc/passwd")}),
                     archive({"l": link("l", "../../x")}),
                     archive({"d": special("d", tarfile.CHRTYPE)}),
                     archive({"f": special("f", tarfile.FIFOTYPE)}),
                     archive({"large": bytes(1 << 21)}), gzip.compress(b"no tar"), b"no gzip",
                     archive(FILES)[:1000], archive(FILES, "w")):
            tap.equal(upload(s, key, data)[0], 200)
            answer = initialize(s, key)
            tap.equal((answer.status, len(answer.json["detail"]) > 10), (400, True), answer)
        tap.equal(workspace(s, key), FILES)
        tap.equal(upload(s, key, b"")[0], 400)
        tap.equal(upload(s, key, bytes(3 << 20))[0], 413)
        sent = io.BytesIO(bytes(3 << 20))
        url = s.post("/local-sandbox/%s/upload-url" % key).json["upload_url"]
        try:
            tap.equal(send(url, "PUT", iter(lambda: sent.read(65536), b""))[0], 413)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was told before all was sent
        tap.equal(s.post("/local-sandbox/%s/upload-url?region=mars" % key).status, 422)
        tap.equal(s.post("/local-sandbox/%s/upload-url?region=asia" % key).status, 200)
        for action in ("upload-url", "initialize"):
            unknown = "/local-sandbox/%s/%s" % (key[:-4] + "0000", action)
            tap.equal(s.post(unknown).status, 404)
            tap.equal(s.post("/local-sandbox/%s/%s" % (key, action), key=None).status, 401)


def test_the_service_dies_in_between():
    with cells.running() as s:
        key, _ = acquire(s)
        tap.equal(upload(s, key, archive(FILES))[0], 200)
        s.kill()
        s.start()
        tap.equal(initialize(s, key).status, 200)
        url = dump(s, key)
        s.kill()
        with open(os.path.join(s.state, "local", key + ".part-0123456789abcdef"), "w") as f:
            f.write("half")
        s.start()
        tap.equal([x for x in vault(s) if x.startswith("part-")], [])
        tap.equal(files_of(send(moved(s, url))[1]), FILES)


def test_one_account_takes_its_bytes():
    noise = random.Random(7).randbytes
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_ARCHIVES": "2MiB"}) as s:
        owners = [s.make_key(account=x)["key"] for x in ("ada", "bob")]

        def box(owner):
            answer = s.post("/local-sandbox", {"server_names": ["filesystem"]}, timeout=120,
                            key=owner)
            tap.equal(answer.status, 201, answer)
            return answer.json["local_sandbox_id"]

        first, second, other = box(owners[0]), box(owners[0]), box(owners[1])
        large = archive({"large": noise(1300 << 10)})
        tap.equal(upload(s, first, large)[0], 200)
        for body in (large, io.BytesIO(large)):
            # With its length it is refused at once, without as soon as there is no room.
            status, text, _ = upload(s, second, body)
            tap.equal(status, 429, text)
            tap.contains(text.decode(), "your account has its maximum of archives")
        tap.equal(maxima.refused(s, "archives"), 2)
        tap.equal(upload(s, other, large)[0], 200)
        tap.equal(initialize(s, other).status, 200)
        tap.equal(maxima.used(s, "archives"), 2 * len(large))
        # What is made of a sandbox counts like what is uploaded.
        answer = s.get("/local-sandbox/%s/dump" % other, timeout=120)
        tap.equal(answer.status, 429, answer)
        s.until(lambda: not [x for x in vault(s) if "part-" in x or "dump-" in x])
        # After a restart it is the same; what is replaced or goes makes room.
        s.stop()
        s.start()
        s.until(lambda: maxima.used(s, "archives") == 2 * len(large))
        tap.equal(upload(s, second, large)[0], 429)
        small = archive({"small": b"x"})
        tap.equal(upload(s, first, small)[0], 200)
        tap.equal(s.delete("/local-sandbox/" + other, timeout=120).status, 200)
        s.until(lambda: maxima.used(s, "archives") == len(small))
        tap.equal(upload(s, second, large)[0], 200)


def reset(s, key):
    return s.post("/local-sandbox/%s/reset" % key, timeout=120)


def call(s, url, tool, **arguments):
    u = urllib.parse.urlsplit(url)
    answer = s.post(u.path + "?" + u.query, {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}}, key=None, timeout=120,
        headers={"Accept": "application/json, text/event-stream",
                 "Content-Type": "application/json"})
    text = answer.body.decode()
    lines = [x[6:] for x in text.splitlines() if x.startswith("data: ")] or [text]
    return json.loads(lines[-1])["result"]["content"][0]["text"]


def test_reset_brings_the_beginning_back():
    with cells.running() as s:
        key, made = acquire(s, ["filesystem", "localmemory", "desktop-commander"])
        urls = {x["server_name"]: x["mcp_server_url"] for x in made["servers"]}
        before = s.get("/local-sandbox/" + key).json

        def disturb():
            call(s, urls["localmemory"], "create_entities", entities=[
                {"name": "A", "entityType": "t", "observations": []}])
            call(s, urls["desktop-commander"], "set_config_value", key="fileReadLineLimit",
                 value=7)
            call(s, urls["filesystem"], "write_file", path="/data/x", content="1")
            s.run(name_of(key), "cd /data; rm -rf a.txt d; touch /tmp/left /home/user/left;"
                                " sleep 1000 & ")
        disturb()
        answer = reset(s, key)
        tap.equal((answer.status, answer.json["sandbox_id"], answer.json["status"]),
                  (200, key, "occupied"), answer)
        tap.equal(workspace(s, key), {})
        upload(s, key, archive(FILES))
        tap.equal(initialize(s, key).status, 200)
        upload(s, key, archive({"a.txt": b"newer"}))
        tap.equal(initialize(s, key).status, 200)
        disturb()
        tap.equal(reset(s, key).status, 200)
        tap.equal(workspace(s, key), {**FILES, "a.txt": b"newer"})
        tap.equal(call(s, urls["filesystem"], "read_file", path="/data/a.txt"), "newer")
        tap.equal("7" in call(s, urls["desktop-commander"], "get_config").split(
            '"fileReadLineLimit":')[1].split(",")[0], False)
        left = s.run(name_of(key), "ls /tmp/left /home/user/left; pgrep -c sleep")["output"]
        tap.equal(left.splitlines()[-1], "0", left)
        after = s.get("/local-sandbox/" + key).json
        tap.equal(after["created_at"], before["created_at"])
        tap.equal([x["id"] for x in after["servers"]], [x["id"] for x in before["servers"]])
        tap.equal([x for x in vault(s) if x.startswith("reset")], [])
        tap.equal(s.post("/local-sandbox/%s/reset" % (key[:-4] + "0000")).status, 404)


def test_the_service_dies_during_a_reset():
    """Whenever it dies, what is found afterwards is the state before or that of the reset."""
    with cells.running() as s:
        key, _ = acquire(s)
        upload(s, key, archive(FILES))
        tap.equal(initialize(s, key).status, 200)
        for wait in (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15):
            s.run(name_of(key), "echo 1 > /data/extra")

            def quietly():
                with contextlib.suppress(OSError, http.client.HTTPException):
                    reset(s, key)
            thread = threading.Thread(target=quietly)
            thread.start()
            time.sleep(wait)
            s.kill()
            thread.join()
            s.start()
            s.until(lambda: s.get("/local-sandbox/" + key).status == 200, 60)
            got = workspace(s, key)
            tap.equal(got in (FILES, {**FILES, "extra": b"1\n"}), True, (wait, sorted(got)))
        tap.equal(reset(s, key).status, 200)
        tap.equal(workspace(s, key), FILES)


def execute(s, key, name, files):
    status, text, _ = upload(s, key, archive(files), "execution-upload-url",
                             {"execution_name": name})
    tap.equal(status, 200, text)
    return s.post("/local-sandbox/%s/execute" % key, {"execution_name": name}, timeout=120)


def ask(s, key, what, name, more=""):
    return s.get("/local-sandbox/%s/execution-%s?execution_name=%s%s" % (key, what, name, more),
                 timeout=120)


def ended(s, key, name):
    """Waits for the end of an execution: its status and its whole log, read by pieces."""
    s.until(lambda: ask(s, key, "status", name).json["status"] in ("completed", "failed"), 120)
    logs, cursor = "", 0
    while True:
        answer = ask(s, key, "logs", name, "&cursor=%d" % cursor).json
        if answer["cursor"] == cursor:
            return answer["status"], logs
        logs, cursor = logs + answer["logs"], answer["cursor"]


MAIN = b"""import os, sys
print("in", os.path.basename(os.getcwd()), "with", os.environ["AGENT_WORKSPACE"], "\xc3\xbc")
work = os.environ["AGENT_WORKSPACE"]
n = int(open(work + "/n").read()) if os.path.exists(work + "/n") else 0
open(work + "/n", "w").write(str(n + 1))
open("result.txt", "w").write("run %d" % n)
print("to stderr", file=sys.stderr)
"""


def test_executions():
    with cells.running() as s:
        key, _ = acquire(s)
        answer = execute(s, key, "first", {"main.py": MAIN})
        tap.equal((answer.status, answer.json["execution_name"]), (200, "first"), answer)
        tap.equal(ended(s, key, "first"),
                  ("completed", "in code with /data \u00fc\nto stderr\n"))
        # The workspace stays from one to the next.
        tap.equal(execute(s, key, "second", {"main.py": MAIN}).status, 200)
        tap.equal(ended(s, key, "second")[0], "completed")
        answer = s.post("/local-sandbox/%s/export-artifacts" % key, {"execution_name": "second"},
                        timeout=120)
        tap.equal((answer.status, answer.json["expires_in_minutes"]), (200, 30), answer)
        tap.equal(files_of(send(answer.json["download_url"])[1]),
                  {"main.py": MAIN, "result.txt": b"run 1"})
        tap.equal(workspace(s, key), {"n": b"2"})
        execute(s, key, "bad", {"main.py": b"import sys; sys.exit(3)"})
        tap.equal(ended(s, key, "bad"), ("failed", "main.py ended with status 3\n"))
        execute(s, key, "none", {"other.py": b""})
        status, logs = ended(s, key, "none")
        tap.equal((status, "main.py is missing" in logs), ("failed", True), logs)
        execute(s, key, "needs", {"main.py": b"print(1)",
                                  "requirements.txt": b"no-such-package-tidepool\n"})
        status, logs = ended(s, key, "needs")
        tap.equal((status, "requirements.txt could not be installed" in logs), ("failed", True),
                  logs)
        execute(s, key, "apt", {"main.py": b"print(1)",
                                "packages.txt": b"no-such-package-tidepool\n"})
        status, logs = ended(s, key, "apt")
        tap.equal((status, "packages.txt could not be installed" in logs), ("failed", True), logs)


def test_executions_that_are_wrong_or_long():
    with cells.running() as s:
        key, _ = acquire(s)
        body = {"execution_name": "x"}
        tap.equal(s.post("/local-sandbox/%s/execute" % key, body).status, 404)
        tap.equal(ask(s, key, "status", "x").status, 404)
        tap.equal(ask(s, key, "logs", "x").status, 404)
        tap.equal(s.post("/local-sandbox/%s/export-artifacts" % key, body).status, 404)
        for bad in ("../x", ".x", "a/b", "", "n" * 65, "a b"):
            answer = s.post("/local-sandbox/%s/execution-upload-url" % key,
                            {"execution_name": bad})
            tap.equal(answer.status, 422, bad)
        tap.equal(s.post("/local-sandbox/%s/execute" % key, {}).status, 422)
        tap.equal(s.get("/local-sandbox/%s/execution-status" % key).status, 422)
        upload(s, key, archive({"main.py": b""}), "execution-upload-url", body)
        tap.equal(ask(s, key, "status", "x").json, {"status": "pending"})
        upload(s, key, b"no archive", "execution-upload-url", body)
        tap.equal(s.post("/local-sandbox/%s/execute" % key, body).status, 400)
        code = b"import time\nprint('up')\ntime.sleep(1000)\n"
        tap.equal(execute(s, key, "long", {"main.py": code}).status, 200)
        s.until(lambda: ask(s, key, "logs", "long").json["logs"] == "up\n", 60)
        tap.equal(ask(s, key, "status", "long").json, {"status": "running"})
        tap.equal(s.post("/local-sandbox/%s/execute" % key,
                         {"execution_name": "long"}).status, 409)
        # It goes on when the tools and the service are started again, and a kill is seen.
        s.run(name_of(key), "kill -9 $(pgrep -n -f 'tidepool-local --keep')")
        s.stop()
        s.start()
        tap.equal(ask(s, key, "status", "long").json, {"status": "running"})
        s.run(name_of(key), "pkill -9 -f main.py")
        tap.equal(ended(s, key, "long"), ("failed", "up\nmain.py ended with status 137\n"))


tap.main(globals())
