# SPDX-License-Identifier: MIT
"""Backup and restore: one moment of a service that goes on, and back again elsewhere."""

import hashlib
import io
import json
import os
import resource
import signal
import stat
import subprocess
import tarfile
import threading

import service
import tap

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def call(s, path, tool, arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}
    answer = s.post(path, body, key=None, headers=HEADERS)
    tap.equal(answer.status, 200, answer)
    return answer.json


def path_of(lease):
    """The agent's URL without the address, which is another one after a restart."""
    return "/" + lease["server_url"].partition("//")[2].partition("/")[2]


def acquire(s, app="jira", **more):
    answer = s.post("/sandbox/" + app, dict(more))
    tap.equal(answer.status, 201, answer)
    return answer.json


def file_issue(s, lease, text):
    answer = call(s, path_of(lease), "jira_create_issue",
                  {"project_key": "ATLAS", "summary": text, "issue_type": "Task"})
    assert "result" in answer and not answer["result"].get("isError"), answer


def issues(s, lease):
    """Summaries of all issues, from the dump."""
    answer = s.get("/sandbox/jira/%s/dump" % lease["sandbox_id"])
    tap.equal(answer.status, 200, answer)
    return answer.body.decode()


def backup(s_or_state, path, *options, **more):
    """One that was broken off may take a moment to end."""
    state = getattr(s_or_state, "state", s_or_state)
    for _ in range(500):
        status, out, err = service.tidepool("backup", path, "--state", state, *options, **more)
        if "another backup" not in err:
            break
        threading.Event().wait(0.01)
    return status, out, err


def restore(path, state):
    return service.tidepool("restore", path, "--state", state)


def make_world(s):
    """An instance with an import, a snapshot and a later write, one that was never written to, and
    a key."""
    lease = acquire(s, data="default", tag="kept")
    file_issue(s, lease, "before the snapshot")
    at = "/sandbox/jira/%s" % lease["sandbox_id"]
    tap.equal(s.post(at + "/snapshot", {"name": "one"}).status, 200)
    file_issue(s, lease, "after the snapshot")
    return lease, acquire(s, data="default"), s.make_key(account="ann")["key"]


def test_there_and_back():
    with service.folder() as folder:
        file, elsewhere = os.path.join(folder, "b.tar"), os.path.join(folder, "elsewhere")
        with service.running() as s:
            lease, unused, key = make_world(s)
            status, out, err = backup(s, file)
            tap.equal(status, 0, err)
            tap.contains(out, "Not included")
            tap.equal(stat.S_IMODE(os.stat(file).st_mode), 0o600)
            tap.equal(os.listdir(folder), ["b.tar"])
            before = {name: s.get(name).json for name in (
                "/sandbox/jira/%s/dump" % lease["sandbox_id"],
                "/sandbox/jira/%s/calls" % lease["sandbox_id"],
                "/sandbox/jira/%s/diff" % lease["sandbox_id"],
                "/sandbox/jira/%s" % unused["sandbox_id"])}
            tap.contains(s.get("/api/v1/events?limit=5").body.decode(), "BackupMade")
            tap.contains(s.get("/metrics").body.decode(), "tidepool_backups_total 1")
            # Nothing is left of the copies.
            for name in ("backup", "apps/backup"):
                wait_gone(os.path.join(s.state, name))
            system = s.key
        status, out, err = restore(file, elsewhere)
        tap.equal(status, 0, err)
        tap.contains(out, "is intact")
        tap.equal(stat.S_IMODE(os.stat(elsewhere).st_mode), 0o700)
        tap.equal(sorted(os.listdir(folder)), ["b.tar", "elsewhere"])
        other = service.Service(elsewhere)
        try:
            tap.equal(other.key, system)
            tap.equal(other.get("/sandbox", key=key).status, 200)
            for name, was in before.items():
                now = other.get(name)
                tap.equal(now.status, 200, name)
                tap.equal(without_url(now.json), without_url(was), name)
            file_issue(other, lease, "after the restore")
            tap.contains(issues(other, lease), "after the restore")
            at = "/sandbox/jira/%s" % lease["sandbox_id"]
            tap.equal(other.post(at + "/restore", {"name": "one"}).status, 200)
            text = issues(other, lease)
            tap.contains(text, "before the snapshot")
            assert "after the snapshot" not in text and "after the restore" not in text
            status, out, err = service.tidepool("audit", "verify", "--state", elsewhere)
            tap.equal(status, 0, out + err)
        finally:
            tap.equal(other.stop(), 0)


def wait_gone(path):
    for _ in range(500):
        if not os.path.exists(path):
            return
        threading.Event().wait(0.01)
    raise AssertionError("%s is still there" % path)


def without_url(value):
    """The address is another one, and so are all URLs; and it is later."""
    if isinstance(value, dict):
        return {k: without_url(v) for k, v in value.items()
                if "url" not in k and k != "dumped_at"}
    if isinstance(value, list):
        return [without_url(v) for v in value]
    return value


class Writer(threading.Thread):
    """Files issues and makes keys until it is told to stop; what was acknowledged is in .done."""

    def __init__(self, s, lease, name):
        super().__init__()
        self.s, self.lease, self.name_ = s, lease, name
        self.done, self.keys, self.error, self.is_over = [], [], None, False

    def run(self):
        try:
            n = 0
            while not self.is_over:
                text = "%s-%06d." % (self.name_, n)
                file_issue(self.s, self.lease, text)
                self.done.append(text)
                if n % 10 == 0:
                    self.keys.append(self.s.make_key()["key"])
                n += 1
        except BaseException as e:  # reported by the test's own thread
            self.error = e


def test_while_writers_write():
    with service.folder() as folder:
        file, elsewhere = os.path.join(folder, "b.tar"), os.path.join(folder, "elsewhere")
        with service.running() as s:
            writers = [Writer(s, acquire(s, data="default"), "w%d" % i) for i in range(4)]
            for w in writers:
                w.start()
            try:
                while any(len(w.done) < 25 for w in writers) and not any(w.error for w in writers):
                    threading.Event().wait(0.01)
                acked = [(w.lease, list(w.done), list(w.keys)) for w in writers]
                status, out, err = backup(s, file)
                after = [len(w.done) for w in writers]
            finally:
                for w in writers:
                    w.is_over = True
                    w.join()
            for w in writers:
                assert not w.error, w.error
            tap.equal(status, 0, err)
            # They went on meanwhile and afterwards.
            assert all(n >= len(a[1]) for n, a in zip(after, acked))
        status, out, err = restore(file, elsewhere)
        tap.equal(status, 0, err)
        other = service.Service(elsewhere)
        try:
            for lease, done, keys in acked:
                text = issues(other, lease)
                missing = [x for x in done if x not in text]
                tap.equal(missing, [], "%d acknowledged writes" % len(done))
                for key in keys:
                    tap.equal(other.get("/sandbox", key=key).status, 200)
            status, out, err = service.tidepool("audit", "verify", "--state", elsewhere)
            tap.equal(status, 0, out + err)
        finally:
            tap.equal(other.stop(), 0)


def test_without_a_service():
    with service.folder() as folder:
        file, elsewhere = os.path.join(folder, "b.tar"), os.path.join(folder, "elsewhere")
        state = os.path.join(folder, "state")
        s = service.Service(state)
        try:
            lease, _, key = make_world(s)
        finally:
            s.kill()  # in the middle: logs of databases are left beside them
        status, out, err = backup(state, file)
        tap.equal(status, 0, err)
        assert not os.path.exists(os.path.join(state, "backup"))
        tap.equal(restore(file, elsewhere)[0], 0)
        other = service.Service(elsewhere)
        try:
            tap.contains(issues(other, lease), "after the snapshot")
            tap.equal(other.get("/sandbox", key=key).status, 200)
        finally:
            tap.equal(other.stop(), 0)
        # No state, no backup: nothing is made on the way.
        nowhere = os.path.join(folder, "nowhere")
        status, out, err = backup(nowhere, file + "2")
        tap.equal(status, 1)
        tap.contains(err, "nowhere")
        assert not os.path.exists(nowhere) and not os.path.exists(file + "2")


def good_backup(folder):
    file = os.path.join(folder, "good.tar")
    with service.running() as s:
        make_world(s)
        status, _, err = backup(s, file)
        tap.equal(status, 0, err)
    with open(file, "rb") as f:
        return f.read()


def entries(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as t:
        return [(m.name, t.extractfile(m).read()) for m in t.getmembers()]


def pack(items):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name, data in items:
            m = tarfile.TarInfo(name)
            m.size = len(data)
            t.addfile(m, io.BytesIO(data))
    return out.getvalue()


def sums(items):
    return "".join("%s  %s\n" % (hashlib.sha256(d).hexdigest(), n) for n, d in items).encode()


def test_what_is_damaged_is_refused():
    with service.folder() as folder:
        data = good_backup(folder)
        items = entries(data)
        names = [n for n, _ in items]
        tap.equal(names[0], "backup.json")
        tap.equal(names[-1], "SHA256SUMS")
        tap.equal(items[-1][1], sums(items[:-1]))
        for name in ("state/tidepool.db", "state/server.secret", "state/system.key"):
            assert name in names, name
        head = json.loads(items[0][1])
        newer = dict(head, version=2)

        def with_head(other):
            changed = [("backup.json", json.dumps(other).encode())] + items[1:-1]
            return pack(changed + [("SHA256SUMS", sums(changed))])

        def with_entry(name):
            changed = items[:-1] + [(name, b"x")]
            return pack(changed + [("SHA256SUMS", sums(changed))])

        def flipped(at):
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]

        secret = data.index(dict(items)["state/server.secret"])
        db = data.index(b"SQLite format 3")
        cases = [
            ("cut short", data[:-1], "cut short"),
            ("cut at a block", data[:-1024], "cut short"),
            ("half", data[:len(data) // 2], "cut short"),
            ("no sums", pack(items[:-1]), "cut short"),
            ("empty", b"", "cut short"),
            ("no archive", os.urandom(8192), "not a tar archive"),
            ("another archive", pack([("a", b"b")]), "not a Tidepool backup"),
            ("secret", flipped(secret + 3), "state/server.secret is not what was saved"),
            ("store", flipped(db + 5000), "state/tidepool.db is not what was saved"),
            ("sums", flipped(data.rindex(b"state/system.key")), "damaged"),
            ("a file less", pack([x for x in items if x[0] != "state/system.key"]),
             "state/system.key is missing"),
            ("a file more", pack(items[:-1] + [("state/more", b"x"), items[-1]]),
             "state/more is in no list"),
            ("newer", with_head(newer),
             "format version 2 is not supported; this program reads version 1"),
            ("other format", with_head(dict(head, format="x")), "not a Tidepool backup"),
            ("climbing", with_entry("state/../../x"), "has no place"),
            ("absolute", with_entry("/etc/x"), "has no place"),
            ("elsewhere", with_entry("etc/x"), "has no place"),
        ]
        for what, content, words in cases:
            path, target = os.path.join(folder, "bad.tar"), os.path.join(folder, "target")
            with open(path, "wb") as f:
                f.write(content)
            was = sorted(os.listdir(folder))
            status, out, err = restore(path, target)
            tap.equal(status, 1, what + ": " + err)
            assert words in err, "%s: %r is not in %r" % (what, words, err)
            tap.equal(sorted(os.listdir(folder)), was, what)
        # The same bytes without a change are fine.
        with open(os.path.join(folder, "bad.tar"), "wb") as f:
            f.write(pack(items))
        tap.equal(restore(os.path.join(folder, "bad.tar"), os.path.join(folder, "target"))[0], 0)


def test_restore_needs_an_empty_place():
    with service.folder() as folder:
        file = os.path.join(folder, "b.tar")
        with service.running() as s:
            tap.equal(backup(s, file)[0], 0)
            status, _, err = restore(file, s.state)
            tap.equal(status, 1)
            tap.contains(err, "is not empty")
            tap.equal(s.get("/api/v1/keys").status, 200)
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        tap.equal(restore(file, empty + "/")[0], 0)
        assert os.path.exists(os.path.join(empty, "tidepool.db"))
        status, _, err = restore(file, empty)
        tap.equal(status, 1)
        status, _, err = restore(os.path.join(folder, "none"), os.path.join(folder, "x"))
        tap.equal(status, 1)
        tap.contains(err, "No such file")


def small_files():
    """Files of this process and what it starts have at most so many bytes: a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def test_a_full_disk_leaves_nothing():
    with service.folder() as folder:
        target = os.path.join(folder, "out")
        os.mkdir(target)
        file = os.path.join(target, "b.tar")
        with service.running() as s:
            make_world(s)
            done = subprocess.run([service.PROGRAM, "backup", file, "--state", s.state],
                                  env=service.clean_env(), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, preexec_fn=small_files)
            tap.equal(done.returncode, 1, done.stderr)
            tap.contains(done.stderr, "File too large")
            tap.equal(os.listdir(target), [])
            # One that was there stays as it was, and the service goes on.
            tap.equal(backup(s, file)[0], 0)
            with open(file, "rb") as f:
                was = f.read()
            done = subprocess.run([service.PROGRAM, "backup", file, "--state", s.state],
                                  env=service.clean_env(), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, preexec_fn=small_files)
            tap.equal(done.returncode, 1)
            with open(file, "rb") as f:
                assert f.read() == was
            tap.equal(backup(s, file)[0], 0)
        elsewhere = os.path.join(folder, "elsewhere")
        done = subprocess.run([service.PROGRAM, "restore", file, "--state", elsewhere],
                              env=service.clean_env(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, preexec_fn=small_files)
        tap.equal(done.returncode, 1)
        tap.equal(os.listdir(folder), ["out"])
        status, _, err = backup(os.path.join(folder, "gone"), os.path.join(folder, "no", "b.tar"))
        tap.equal(status, 1)
        tap.contains(err, "No such file")


def test_who_may():
    with service.running() as s:
        make_world(s)
        for key in (s.make_key()["key"], s.make_key(role="grader", grades="ann")["key"],
                    s.make_key(role="metrics")["key"]):
            tap.equal(s.post("/api/v1/backup", key=key).status, 403)
        tap.equal(s.post("/api/v1/backup", key=None).status, 401)
        answer = s.post("/api/v1/backup")
        tap.equal((answer.status, answer.headers["Content-Type"]), (200, "application/x-tar"))
        tap.equal(entries(answer.body)[-1][0], "SHA256SUMS")
        # To standard output, and by URL.
        done = subprocess.run([service.PROGRAM, "backup", "-", "--url", s.url, "--key", s.key],
                              env=service.clean_env(), stdin=subprocess.DEVNULL,
                              capture_output=True)
        tap.equal(done.returncode, 0, done.stderr)
        tap.equal(entries(done.stdout)[-1][0], "SHA256SUMS")


def test_a_client_that_leaves():
    with service.running() as s:
        make_world(s)
        for _ in range(3):
            connection = s.connect(30)
            connection.request("POST", "/api/v1/backup",
                               headers={"Authorization": "Bearer " + s.key})
            connection.close()
        for _ in range(500):
            answer = s.post("/api/v1/backup")
            if answer.status != 409:
                break
            threading.Event().wait(0.01)
        tap.equal(answer.status, 200, answer)
        wait_gone(os.path.join(s.state, "apps", "backup"))


def test_what_a_killed_service_left_is_swept():
    with service.folder() as folder:
        state = os.path.join(folder, "state")
        for name in ("backup", "apps/backup/instances"):
            os.makedirs(os.path.join(state, name))
            with open(os.path.join(state, name, "x.db"), "w") as f:
                f.write("x")
        s = service.Service(state)
        try:
            assert not os.path.exists(os.path.join(state, "backup"))
            assert not os.path.exists(os.path.join(state, "apps", "backup"))
        finally:
            s.stop()


tap.main(globals())
