# SPDX-License-Identifier: MIT
"""What was meant for a sandbox ends with it, with an error, and never reaches another one: not by a
connection that was kept, not by a slot that is used again, not by a stream that is still open."""

import contextlib
import glob
import http.client
import os
import shutil
import signal
import socket
import threading
import time

import census
import cells
import tap
import websocket
from open_request import Stream

MIB = 1 << 20


def score(pid):
    with open("/proc/%d/oom_score_adj" % pid) as f:
        return int(f.read())


# ---- greetings ----

def ask(path, first):
    """What a control socket answers to FIRST and a request."""
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(10)
        c.connect(path)
        c.sendall(first + b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            return c.recv(65536).partition(b"\r\n")[0]
        except ConnectionResetError:
            return b""


def test_a_first_process_takes_what_is_meant_for_it():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        s.create(name="a")
        s.create(name="b")
        root = "/proc/%d/root/sock" % cells.spawner_pid(s.state)
        slots = [census.slot_of(cells.first_process(s, name)) for name in ("a", "b")]
        a, b = ([os.path.basename(x) for x in glob.glob("%s/%s.*" % (root, slot))][0]
                for slot in slots)
        greetings = {name: b"tidepool %s\n" % name.encode() for name in (a, b)}
        tap.equal(ask(root + "/" + a, greetings[a]), b"HTTP/1.1 200 OK")
        tap.equal(ask(root + "/" + a, greetings[b]), b"", "meant for another")
        tap.equal(ask(root + "/" + a, b""), b"", "meant for nobody")
        generation = int(a.partition(".")[2])
        other = greetings[a].replace(b".%d\n" % generation, b".%d\n" % (generation + 1))
        tap.equal(ask(root + "/" + a, other), b"", "meant for the next one of the slot")
        tap.equal(s.run("a", "echo fine")["output"], "fine\n")


# ---- open streams ----

def streams_of(s, name):
    """Every kind of request that can be open for long, each with its beginning behind it."""
    files = "/api/v1/sandbox/files/%s/" % name
    s.run(name, "truncate -s 4G /data/big")
    upload = Stream(s, "POST", files + "upload?path=/data/up", 1 << 30,
                    {"Content-Type": "application/octet-stream"})
    upload.c.send(b"x" * MIB)
    download = Stream(s, "GET", files + "download?path=/data/big")
    follow = Stream(s, "GET", "/api/v1/logs/sandbox/%s?follow=true" % name)
    port = Stream(s, "GET", "/sandbox/%s/wait" % name)
    run = Stream(s, "POST", "/api/v1/terminal/sandbox/" + name,
                 len(b'{"command":"sleep 1000"}'), {"Content-Type": "application/json"})
    run.c.send(b'{"command":"sleep 1000"}')
    shell = websocket.Socket(s, "/api/v1/terminal/sandbox/%s/ws" % name,
                             "Authorization: Bearer %s\r\n" % s.key)
    tap.equal(shell.status, 101)
    return {"upload": upload, "download": download, "follow": follow, "port": port,
            "run": run}, shell


def check_streams(how):
    with cells.running() as s:
        s.create(name="own", cmd=Stream.SILENT)
        s.until(lambda: "listens" in s.get("/api/v1/logs/sandbox/own").body.decode())
        streams, shell = streams_of(s, "own")
        s.until(lambda: "up" in s.run("own", "ls -A /data /tmp")["output"])
        how(s)
        for what, stream in streams.items():
            status, is_whole, body = stream.answer()
            assert not is_whole or status >= 400, (what, status, body)
            if is_whole:
                words = (b"ended", b"gone", b"not found") + ((b"reset",) if what == "port" else ())
                assert any(x in body for x in words), (what, body)
        with contextlib.suppress(ConnectionResetError):
            while shell.receive()[0] is not None:
                pass
        shell.close()
        s.until(lambda: s.show("own").status == 404)
        # Nothing of it is left behind for the next one.
        s.create(name="next")
        tap.equal(s.run("next", "ls -A /data")["output"], "")


def test_streams_end_when_it_is_deleted():
    def delete(s):
        tap.equal(s.remove("own").status, 200)
    check_streams(delete)


def test_streams_end_when_its_first_process_is_killed():
    check_streams(lambda s: os.kill(cells.first_process(s, "own"), signal.SIGKILL))


# ---- the attack ----

def test_uploads_to_a_dead_sandbox_reach_nobody():
    """Somebody's own sandbox dies while the service is busy; a connection that was kept sends an
    upload to it, and at the same time another account's sandbox is made, in the same slot."""
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        attacker = s.make_key(name="attacker", role="user")["key"]
        other = s.make_key(name="other", role="user")["key"]
        slots = set()
        for i in range(8):
            s.create(key=attacker, name="mine")
            pid = cells.first_process(s, "mine")
            slots.add(census.slot_of(pid))
            kept = http.client.HTTPConnection(s.host, s.port, timeout=30)
            target = "/api/v1/sandbox/files/mine/upload?path=/data/stolen"
            headers = {"Authorization": "Bearer " + attacker,
                       "Content-Type": "application/octet-stream"}
            kept.request("POST", target, b"first", headers)
            tap.equal(kept.getresponse().read() != b"", True)
            s.signal(signal.SIGSTOP)
            os.kill(pid, signal.SIGKILL)
            kept.request("POST", target, b"for my own sandbox", headers)
            found = []
            maker = threading.Thread(target=lambda n=i: found.append(
                s.create(key=other, name="theirs%d" % n)))
            maker.start()
            time.sleep(0.1)
            s.signal(signal.SIGCONT)
            status = kept.getresponse().status
            kept.close()
            maker.join()
            assert status >= 400, "the upload was carried out: %d" % status
            slots.add(census.slot_of(cells.first_process(s, "theirs%d" % i)))
            tap.equal(s.run("theirs%d" % i, "ls -A /data", key=other)["output"], "", "nothing came")
            tap.equal(s.remove("theirs%d" % i).status, 200)
            s.until(lambda: s.show("mine").status == 404)
        assert len(slots) < 8, "slots are used again: %r" % slots


FILL = """
cat > /tmp/fill.py <<'X'
import os
f = open("/dev/shm/fill", "wb", buffering=0)
try:
    while True:
        f.write(b"x" * 65536)
except OSError:
    pass
hold = []
while True:
    hold.append(b"y" * (1 << 20))
X
python3 /tmp/fill.py; echo "status $?"
"""


def test_a_full_memory_takes_commands_before_the_first_process():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        s.create(name="full", memory_limit="96Mi")
        pid = cells.first_process(s, "full")
        s.run("full", "sleep 1000 >/dev/null 2>&1 &")
        children = census.children(pid)
        assert children and all(score(x) > score(pid) > 0 for x in children), \
            (score(pid), [score(x) for x in children])
        if not has_memory_limit(pid):
            return
        tap.equal(s.run("full", FILL, timeout=60)["output"], "status 137\n")
        # It was killed for its memory, and the sandbox is still there.
        tap.equal(cells.first_process(s, "full"), pid)
        tap.equal(s.run("full", "rm /dev/shm/fill; echo fine")["output"], "fine\n")


def has_memory_limit(pid):
    with open("/proc/%d/cgroup" % pid) as f:
        return any("memory" in line.split(":")[1] or line.startswith("0::/") for line in f)


def weight(pid):
    """What all sandboxes together weigh, as one of a hundred; None: processors are not shared."""
    with open("/proc/%d/cgroup" % pid) as f:
        rows = [x.rstrip("\n").split(":", 2) for x in f]
    for _, controllers, path in rows:
        ours = path.partition("/tidepool/")[0] + "/tidepool/"
        for place, file, all_of in ((controllers, "cpu.shares", 1024), (".", "cpu.weight", 100)):
            found = os.path.join(cells.GROUPS, place) + ours + file
            if os.path.exists(found):
                return 100 * int(census.read(found)) // all_of
    return None


def test_sandboxes_together_weigh_less_than_the_service():
    with cells.running() as s:
        s.create(name="light")
        pid = cells.first_process(s, "light")
        if weight(pid) is not None:
            tap.equal(weight(pid), 50)


# ---- what is missing ----

def test_a_create_that_misses_something_is_unavailable():
    """Not a sandbox without a name that was not found."""
    env = {"TIDEPOOL_CELLS_WARM": "0", "TIDEPOOL_CELLS_DISK_KIND": "dir"}
    with cells.running(env=env) as s:
        s.create(name="before")
        tap.equal(s.remove("before").status, 200)
        for place in cells.places(s.state):
            path = os.path.join(place, "cells")
            # What the sandbox left is being removed at the same time.
            s.until(lambda p=path: shutil.rmtree(p, ignore_errors=True) or not os.path.exists(p))
        answer = s.post("/api/v1/sandbox", {"name": "after"})
        tap.equal(answer.status, 503, answer)
        assert b"No such file" in answer.body and b"not found" not in answer.body, answer


tap.main(globals())
