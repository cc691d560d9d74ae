# SPDX-License-Identifier: MIT
"""Pauses that meet something: requests that are not answered yet, processes that do not stop, time
that is up. Nobody waits for ever, and no file is lost."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

import cells
import census
import connect
import tap
import websocket
from connect import make_box
from open_request import Stream

MIB = 1 << 20


# ---- in flight ----

def start(box, script):
    stream = box.stream("process.Process/Start", {
        "process": {"cmd": "/bin/sh", "args": ["-c", script]}, "stdin": False})
    return stream, stream.next()["event"]["start"]["pid"]


def error_of(stream):
    for _ in stream:
        pass
    return stream.end["error"]


def native_requests(s, name):
    files = "/api/v1/sandbox/files/%s/" % name
    upload = Stream(s, "POST", files + "upload?path=/data/up", 1 << 30,
                    {"Content-Type": "application/octet-stream"})
    upload.c.send(b"x" * MIB)
    port = Stream(s, "GET", "/sandbox/%s/wait" % name)
    body = b'{"command":"sleep 1; echo later >/tmp/later"}'
    run = Stream(s, "POST", "/api/v1/terminal/sandbox/" + name, len(body),
                 {"Content-Type": "application/json"})
    run.c.send(body)
    return {"upload": upload, "port": port, "run": run}


def test_native_requests_in_flight_are_refused():
    with cells.running() as s:
        s.create(name="own", cmd=Stream.SILENT)
        s.until(lambda: "listens" in s.get("/api/v1/logs/sandbox/own").body.decode())
        asked = native_requests(s, "own")
        s.until(lambda: "sleep" in s.run("own", "ps -eo args")["output"])
        s.until(lambda: "up" in s.run("own", "ls -A /data /tmp")["output"])
        tap.equal(s.post("/api/v1/sandbox/pause/own").status, 200)
        for what, stream in asked.items():
            status, is_whole, body = stream.answer()
            tap.equal((what, status, is_whole), (what, 409, True), body)
            assert b"was paused" in body, body
        tap.equal(s.post("/api/v1/sandbox/resume/own").status, 200)
        # The command went on, the upload did not.
        s.until(lambda: s.run("own", "cat /tmp/later 2>&1")["output"] == "later\n")
        s.until(lambda: s.run("own", "ls -A /data")["output"] == "")


def test_a_tool_in_flight_is_refused():
    with cells.running() as s:
        s.create(name="own")
        found = []

        def call():
            found.append(s.post("/sandbox/own/mcp", json.dumps({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "runCommand", "arguments": {"command": "sleep 50"}}}),
                headers={"Accept": "application/json, text/event-stream",
                         "Content-Type": "application/json"}, timeout=30))
        caller = threading.Thread(target=call)
        caller.start()
        s.until(lambda: "sleep" in s.run("own", "ps -eo args")["output"])
        tap.equal(s.post("/api/v1/sandbox/pause/own").status, 200)
        caller.join()
        assert b"was paused" in found[0].body, found
        tap.equal(s.post("/api/v1/sandbox/resume/own").status, 200)


def test_streams_of_a_paused_sandbox_end():
    with cells.running() as s:
        box = make_box(s)
        stream, pid = start(box, "while :; do echo tick; sleep 0.02; done")
        stream.next()
        upload = Stream(s, "POST", box.prefix + "/files?path=/tmp/up", 1 << 30,
                        {"Content-Type": "application/octet-stream", **box.headers})
        upload.c.send(b"x" * MIB)
        tap.equal(s.post("/e2b/v1/sandboxes/%s/pause" % box.id).status, 204)
        tap.equal(error_of(stream), {"code": "unavailable", "message": "the sandbox was paused"})
        status, is_whole, body = upload.answer()
        tap.equal((status, is_whole), (502, True))
        tap.equal(json.loads(body)["message"], "The sandbox was not found")
        tap.equal(s.post("/e2b/v1/sandboxes/%s/connect" % box.id, {"timeout": 600}).status, 201)
        again = box.stream("process.Process/Connect", {"process": {"pid": pid}})
        tap.equal(again.next()["event"]["start"]["pid"], pid)
        assert "data" in again.next()["event"], "it goes on"
        again.close()
        status, _, _ = box.call("GET", "/files?path=/tmp/up")
        tap.equal(status, 404, "nothing is left of an upload that was cut off")


def test_terminals_of_a_paused_sandbox_end():
    with cells.running() as s:
        s.create(name="own")
        shell = websocket.Socket(s, "/api/v1/terminal/sandbox/own/ws",
                                 "Authorization: Bearer %s\r\n" % s.key)
        tap.equal(shell.status, 101)
        tap.equal(s.post("/api/v1/sandbox/pause/own").status, 200)
        try:
            while shell.receive()[0] is not None:
                pass
        except (ConnectionError, EOFError):
            pass
        shell.close()
        tap.equal(s.show("own").json["data"]["status"], "paused")


# ---- ends ----

def test_streams_of_a_killed_sandbox_say_why():
    with cells.running() as s:
        for script in ("sleep 100", "while :; do echo tick; done"):
            box = make_box(s)
            stream, _ = start(box, script)
            tap.equal(s.delete("/e2b/v1/sandboxes/" + box.id).status // 100, 2)
            tap.equal(error_of(stream),
                      {"code": "unavailable", "message": "the sandbox was killed"})
        box = make_box(s, timeout=1)
        stream, _ = start(box, "sleep 100")
        tap.equal(error_of(stream),
                  {"code": "unavailable", "message": "the sandbox reached its timeout"})


# ---- processes that do not stop ----

def groups(pid):
    """The directories of a process's control groups below ours."""
    with open("/proc/%d/cgroup" % pid) as f:
        paths = {line.strip().split(":", 2)[2] for line in f if "/tidepool/" in line}
    return [x for path in paths for x in cells.group_dirs(path)]


def enter(pid, cell):
    """Moves a process of ours to where it is frozen with those of a cell."""
    for group in groups(cell):
        if os.path.exists(group + "/freezer.state") or os.path.exists(group + "/cgroup.freeze"):
            with open(group + "/cgroup.procs", "w") as f:
                f.write(str(pid))


def n_processes(pid):
    return max(len(census.read(x + "/cgroup.procs").split()) for x in groups(pid))


STUCK = r"""
import ctypes, os, subprocess, sys, threading, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = open(sys.argv[1] + "/x", "w+b")
file.truncate(4096)
page = ctypes.c_void_p(libc.mmap(None, 4096, 3, 1, file.fileno(), 0))
print("here", flush=True)
sys.stdin.readline()
subprocess.run(["fsfreeze", "-f", sys.argv[1]], check=True)
if os.fork() == 0:
    threading.Thread(target=ctypes.memset, args=(page, 1, 1), daemon=True).start()
    time.sleep(0.2)
    libc.munmap(page, 4096)
    os._exit(0)
sys.stdin.readline()
subprocess.run(["fsfreeze", "-u", sys.argv[1]], check=True)
"""


class Stuck:
    """A process that waits in the kernel, where no freezer reaches it: a thread of it writes to a
    mapped file of a file system that is frozen, another one wants to unmap that."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))
        image, place = self.folder + "/image", self.folder + "/place"
        os.mkdir(place)
        with open(image, "wb") as f:
            f.truncate(16 * MIB)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        self.p = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", 'mount -o loop "$1" "$2" && exec python3 -c "$3" "$2"',
             "sh", image, place, STUCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.p.stdout.readline() != b"here\n":
            self.__exit__()
            raise tap.Skip("no file system can be mounted here")
        self.send()
        self.pid = 0
        while not self.pid:
            self.pid = next((x for x in census.children(self.p.pid)
                             if "(python3) D " in census.read("/proc/%d/stat" % x)), 0)
            time.sleep(0.02)
        return self

    def send(self):
        self.p.stdin.write(b"\n")
        self.p.stdin.flush()

    def free(self):
        if self.p.poll() is None:
            self.send()
            self.p.wait()

    def __exit__(self, *_):
        self.free()
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()
        shutil.rmtree(self.folder)


# They begin together: the first ones would leave the others no time to be made.
BUSY = """exec python3 -c '
import os, signal
pids = []
for i in range(150):
    pids.append(os.fork())
    if pids[-1] == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            pass
for pid in pids:
    os.kill(pid, signal.SIGCONT)
signal.pause()
'"""


def test_many_busy_processes_are_paused():
    """Each has to run to get to where it stops, and they share a hundredth of a processor."""
    with cells.running() as s:
        s.create(name="slow", cpu_limit="10m", cmd=BUSY, timeout=3600)
        pid = cells.first_process(s, "slow")
        s.until(lambda: n_processes(pid) > 150, 60)
        for _ in range(2):
            answer = s.post("/api/v1/sandbox/pause/slow", timeout=60)
            tap.equal(answer.status, 200, answer)
            tap.equal(s.show("slow").json["data"]["status"], "paused")
            tap.equal(s.post("/api/v1/sandbox/resume/slow", timeout=60).status, 200)
        for group in groups(pid):
            quota = census.read(group + "/cpu.cfs_quota_us") or census.read(group + "/cpu.max")
            assert not quota or quota.split()[0] == "1000", "the limit is what it was: " + quota


def test_a_pause_that_does_not_come_about():
    """Its owner may try again; when its time is up it is tried again until it works."""
    with cells.running() as s, Stuck() as stuck, Stuck() as other:
        s.create(name="asked", timeout=3600)
        s.create(name="timed", timeout=1, autoPause=True)
        for name, process in (("asked", stuck), ("timed", other)):
            s.run(name, "echo kept >/data/file")
            enter(process.pid, cells.first_process(s, name))
        answer = s.post("/api/v1/sandbox/pause/asked", timeout=60)
        tap.equal((answer.status, answer.headers["Retry-After"]), (503, "5"), answer)
        assert b"did not stop" in answer.body, answer
        tap.equal(s.run("asked", "cat /data/file")["output"], "kept\n", "it goes on")
        s.until(lambda: "SandboxPausedFailed" in s.reasons("timed"), 30)
        tap.equal(s.show("timed").json["data"]["status"], "running")
        other.free()
        s.until(lambda: s.show("timed").json["data"]["status"] == "paused", 30)
        tap.equal(s.reasons("timed").count("SandboxPausedFailed"), 1)
        stuck.free()
        tap.equal(s.post("/api/v1/sandbox/pause/asked", timeout=60).status, 200)
        tap.equal(s.post("/api/v1/sandbox/resume/timed").status, 200)
        tap.equal(s.run("timed", "cat /data/file")["output"], "kept\n")


tap.main(globals())
