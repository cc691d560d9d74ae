# SPDX-License-Identifier: MIT
"""The disk below the state directory is full, or nearly. Disks of sandboxes are promised more than
there is: what a sandbox wrote must be what it reads, or the write must have failed. Nothing new is
made before it is too late; what is there can be used, stopped and deleted."""

import concurrent.futures
import contextlib
import os
import subprocess
import tempfile
import time

import cells
import tap

Mi, Gi = 1 << 20, 1 << 30
SIZE = 2 * Gi
RESERVE = SIZE // 16


class Host:
    """A small file system of its own for the state directory."""

    def __init__(self, folder):
        self.top = os.path.join(folder, "disk")
        image = os.path.join(folder, "disk.img")
        with open(image, "wb") as f:
            f.truncate(SIZE)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
        os.mkdir(self.top)
        subprocess.run(["mount", "-o", "loop", image, self.top], check=True)
        self.state = os.path.join(self.top, "state")
        self.filler = os.path.join(self.top, "filler")

    def free(self):
        fs = os.statvfs(self.top)
        return fs.f_bavail * fs.f_frsize

    def leave(self, free):
        """Takes all but so much of what is free."""
        with open(self.filler, "ab") as f:
            while (more := self.free() - free) > 0:
                # Maps of blocks need some as well.
                for part in (more, more // 2, 4096):
                    with contextlib.suppress(OSError):
                        os.posix_fallocate(f.fileno(), os.fstat(f.fileno()).st_size, max(part, 1))
                        break
                else:
                    return

    def give_back_some(self):
        os.truncate(self.filler, os.stat(self.filler).st_size - Mi)

    def give_back(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.filler)

    def close(self):
        end = time.monotonic() + 20
        while subprocess.run(["umount", self.top], stderr=subprocess.DEVNULL).returncode:
            assert time.monotonic() < end, "the disk is still in use"
            time.sleep(0.1)


@contextlib.contextmanager
def running(**env):
    if os.geteuid() != 0:
        raise tap.Skip("cells need root")
    with tempfile.TemporaryDirectory(prefix="tidepool-test-", dir="/var/tmp") as folder:
        host = Host(folder)
        try:
            with cells.running_at(host.state, env=env) as s:
                try:
                    yield s, host
                finally:
                    host.give_back()
        finally:
            host.close()


def metric(s, name):
    line = [x for x in s.get("/metrics").body.decode().splitlines() if x.startswith(name + " ")]
    return float(line[0].split()[1])


# Writes pieces, notes the hash of each that was written whole, and says how it ended.
WRITER = """
import hashlib, os, sys
n = 0
try:
    while n < int(sys.argv[1]):
        piece = os.urandom(1 << 20)
        with open("f%05d" % n, "wb") as f:
            f.write(piece)
            f.flush()
            os.fsync(f.fileno())
        print("f%05d" % n, hashlib.sha256(piece).hexdigest())
        n += 1
except OSError as e:
    print("end", e.errno)
"""


def write(s, name, pieces):
    out = s.run(name, "mkdir -p ~/w && cd ~/w && python3 -c '%s' %d" % (WRITER, pieces),
                timeout=110)["output"]
    rows = [x.split() for x in out.splitlines()]
    return {x[0]: x[1] for x in rows if x[0] != "end"}, [int(x[1]) for x in rows if x[0] == "end"]


# What is in the cache is dropped, so that the disk says what it has.
READER = """
import hashlib, os, sys
for name in sorted(os.listdir(".")):
    f = os.open(name, os.O_RDONLY)
    os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)
    print(name, hashlib.sha256(os.read(f, 2 << 20)).hexdigest())
    os.close(f)
"""


def read(s, name, files):
    """The hashes of those files, as they are on the disk now."""
    os.sync()
    out = s.run(name, "cd ~/w && python3 -c '%s'" % READER, timeout=110)["output"]
    found = {x.split()[0]: x.split()[1] for x in out.splitlines()}
    return {x: found.get(x) for x in files}


def test_what_was_written_is_what_is_read():
    with running() as (s, host):
        for name in ("a", "b"):
            s.create(name=name)
        before, _ = write(s, "b", 8)
        host.leave(RESERVE + 64 * Mi)
        files, end = write(s, "a", 700)
        tap.equal(end, [28], "ENOSPC")
        assert len(files) < 600, len(files)
        assert host.free() > RESERVE // 4, host.free()
        # Nobody lost anything, the one who filled the disk included.
        tap.equal(read(s, "a", files), files)
        tap.equal(read(s, "b", before), before)
        tap.equal(s.run("b", "echo more >~/more || echo full")["output"], "full\n")
        tap.equal(s.run("b", "cd ~/w && dd if=/dev/zero of=f00000 bs=1M count=1 conv=notrunc "
                             "&& echo same place")["output"], "same place\n")
        tap.equal(metric(s, "tidepool_disk_low"), 1.0)
        # With room again they go on where they were.
        host.give_back()
        s.until(lambda: metric(s, "tidepool_disk_low") == 0)
        s.until(lambda: s.run("b", "echo more >~/more && cat ~/more")["output"] == "more\n")
        more, end = write(s, "a", 16)
        tap.equal((len(more), end), (16, []))
        events = s.get("/api/v1/events?limit=500").json["data"]
        tap.equal([x["reason"] for x in reversed(events) if x["reason"].startswith("Disk")],
                  ["DiskLow", "DiskEnough"])


def test_nothing_new_is_made():
    with running() as (s, host):
        user = s.make_key(account="u")["key"]
        s.create(name="a", key=user)
        app = s.post("/sandbox/jira", {})
        tap.equal(app.status, 201, app)
        host.leave(RESERVE // 2)
        s.until(lambda: metric(s, "tidepool_disk_low") == 1)
        refused = {
            "native": s.post("/api/v1/sandbox", {"name": "b"}, key=user),
            "e2b": s.post("/e2b/v1/sandboxes", {"templateID": "base"}, key=None,
                          headers={"X-API-Key": user}),
            "local": s.post("/local-sandbox", {"server_names": ["filesystem"]}, key=user),
            "app": s.post("/sandbox/jira", {}, key=user),
            "key": s.post("/api/v1/keys", {"account": "new"}),
        }
        for name, answer in refused.items():
            tap.equal(answer.status, 507, (name, answer))
            body = answer.json
            tap.contains(body.get("message") or str(body.get("detail")), "nearly full")
            tap.equal(set(body), {"code", "message"} if "message" in body else {"detail"}, name)
        tool = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "createSandbox", "arguments": {}}}, key=user,
            headers={"Accept": "application/json, text/event-stream",
                     "Content-Type": "application/json"})
        tap.contains(tool.body.decode(), "nearly full")
        tap.equal(metric(s, "tidepool_disk_refused_total"), 6.0)
        # What is there can be used, paused, resumed and deleted.
        tap.equal(s.run("a", "echo hi", key=user)["output"], "hi\n")
        for move in ("pause", "resume"):
            tap.equal(s.post("/api/v1/sandbox/%s/a" % move, key=user).status, 200)
        tap.equal(s.remove("a", key=user).status, 200)
        tap.equal(s.delete("/sandbox/jira/" + app.json["sandbox_id"]).status, 200)
        tap.equal(s.names(), [])
        host.give_back()
        s.until(lambda: metric(s, "tidepool_disk_low") == 0)
        s.create(name="a", key=user)


def test_a_disk_without_a_single_block():
    with running() as (s, host):
        names = ["s%d" % i for i in range(6)]
        for name in names:
            s.create(name=name)
        keys = [s.make_key(account="u")["id"] for _ in range(3)]
        host.leave(0)
        assert host.free() < 16 * 4096, host.free()
        for name in names[:3]:
            tap.equal(s.remove(name).status, 200, name)
        tap.equal(s.delete("/e2b/v1/sandboxes/" + s.show(names[3]).json["data"]["id"], key=None,
                           headers={"X-API-Key": s.key}).status // 100, 2)
        tap.equal(s.delete("/api/v1/keys/" + keys[0]).status, 200)
        tap.equal(sorted(s.names()), names[4:])
        s.until(lambda: metric(s, "tidepool_disk_low") == 1)
        made = s.post("/api/v1/keys", {"account": "new"})
        tap.equal(made.status, 507, made)
        # A restart finds what lives, and not what was deleted. It needs a few blocks.
        s.kill()
        host.give_back_some()
        s.start()
        tap.equal(sorted(s.names()), names[4:])
        tap.equal(s.remove(names[4]).status, 200)
        tap.equal(s.names(), [names[5]])
        tap.equal(s.run(names[5], "echo hi")["output"], "hi\n")


def test_a_restart_while_it_is_full():
    with running() as (s, host):
        s.create(name="a")
        host.leave(RESERVE // 2)
        s.until(lambda: metric(s, "tidepool_disk_low") == 1)
        s.until(lambda: s.run("a", "echo x >~/x || echo full")["output"] == "full\n")
        s.kill()
        s.start()
        tap.equal(metric(s, "tidepool_disk_low"), 1.0)
        tap.equal(s.post("/api/v1/sandbox", {"name": "b"}).status, 507)
        s.kill()
        # The next one lets go of disks that the one before held.
        host.give_back()
        s.start()
        tap.equal(metric(s, "tidepool_disk_low"), 0.0)
        tap.equal(s.run("a", "echo x >~/x && cat ~/x")["output"], "x\n")
        s.create(name="b")


def test_many_writers_at_once():
    with running() as (s, host):
        names = ["w%d" % i for i in range(4)]
        for name in names:
            s.create(name=name)
        host.leave(RESERVE + 128 * Mi)
        with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
            wrote = dict(zip(names, pool.map(lambda name: write(s, name, 400), names)))
        for name, (files, end) in wrote.items():
            tap.equal(end, [28], name)
            tap.equal(read(s, name, files), files, name)


tap.main(globals())
