# SPDX-License-Identifier: MIT
"""Restarts of the service, orderly and by SIGKILL: sandboxes go on, deadlines hold, and nothing
half made is left.

    tests/cells/test_restart.py [COUNTERS]
"""

import concurrent.futures
import os
import shutil
import signal
import sys
import time

import cells
import census
import service
import tap

COUNTERS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
SERVE_EVERY = 10  # of these sandboxes one has a web server
COUNT = ("n=0; while :; do n=$((n+1)); echo $n >/tmp/m; mv /tmp/m /tmp/n; sleep 0.05; done "
         ">/dev/null 2>&1 &")


def count(s, name):
    text = s.run(name, "cat /tmp/n")["output"].strip()
    return int(text) if text else 0


def restart(s, how):
    s.signal(how)
    s.wait()
    s.start()


def test_sandboxes_survive():
    for how in (signal.SIGTERM, signal.SIGKILL):
        with cells.running() as s:
            key = s.make_key(account="one", limits={"max_live": 2})["key"]
            made = s.create(name="runs", timeout=600, envVars={"A": "b"}, metadata={"k": "v"},
                            workdir="/tmp", key=key)
            s.create(name="sleeps", key=key)
            s.run("runs", COUNT)
            s.run("sleeps", COUNT)
            s.post("/api/v1/sandbox/pause/sleeps")
            before = count(s, "runs")
            used = s.show("runs").json["data"]["last_active_at"]
            time.sleep(1.1)  # that another second would be told apart
            restart(s, how)
            tap.equal(s.names(), ["sleeps", "runs"])
            shown = s.show("runs").json["data"]
            active = shown.pop("last_active_at")
            assert made.pop("last_active_at") <= active <= used, (made, active, used)
            tap.equal(active == used or how == signal.SIGKILL, True, "exact after a stop")
            tap.equal(shown, made)
            tap.equal(s.show("sleeps").json["data"]["status"], "paused")
            s.until(lambda: count(s, "runs") > before)
            tap.equal(s.run("runs", "echo $A $AGENT_SANDBOX_NAME; pwd")["output"],
                      "b runs\n/tmp\n")
            # Owners and limits are known again.
            tap.equal(sorted(s.names(key=key)), ["runs", "sleeps"])
            tap.equal(s.post("/api/v1/sandbox", {}, key=key).status, 413)
            s.post("/api/v1/sandbox/resume/sleeps")
            first = count(s, "sleeps")
            s.until(lambda: count(s, "sleeps") > first)
            tap.equal(s.remove("runs", key=key).status, 200)
            s.create(name="runs", key=key)
            tap.equal(s.reasons("runs")[:3], ["SandboxCreated", "SandboxRunning", "SandboxDeleted"])


def create_once(s, name, **more):
    return s.post("/api/v1/sandbox", {"name": name}, headers={"Idempotency-Key": "k-" + name},
                  timeout=60, **more)


def test_a_lost_sandbox_is_not_confirmed():
    """The recorded answer of a create goes with its sandbox when that is lost."""
    with cells.running() as s:
        tap.equal(create_once(s, "one").status, 200)
        tap.equal(create_once(s, "one").headers["Idempotency-Replayed"], "true")
        tap.equal(create_once(s, "ended").status, 200)
        tap.equal(s.remove("ended").status, 200)
        s.kill()
        cells.end_spawner(s.state)
        s.start()
        tap.equal(s.names(), [])
        again = create_once(s, "one")
        tap.equal((again.status, again.headers["Idempotency-Replayed"]), (200, None), again)
        tap.equal(s.run("one", "echo here")["output"], "here\n")
        # What was used and ended is not made a second time.
        tap.equal(create_once(s, "ended").headers["Idempotency-Replayed"], "true")


def test_a_failed_create_is_not_confirmed():
    """A cell that dies while it is told who it is: the row was written already."""
    with cells.running() as s:
        s.until(lambda: metric(s, "tidepool_cells_warm") >= cells.WARM)
        pids = list(filter(census.slot_of, census.children(cells.spawner_pid(s.state))))
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            made = pool.submit(create_once, s, "one")
            s.until(lambda: "SandboxCreated" in s.reasons("one"))
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            tap.equal(made.result().status >= 500, True, made.result())
        # Until the service knows that all of them are dead, it may hand out another one.
        spawner = cells.spawner_pid(s.state)
        s.until(lambda: len(set(filter(census.slot_of, census.children(spawner))) - set(pids))
                >= cells.WARM, 30)
        again = create_once(s, "one")
        tap.equal((again.status, again.headers["Idempotency-Replayed"]), (200, None), again)
        tap.equal(s.run("one", "echo here")["output"], "here\n")


def serve_page(s, name):
    """A web server that tells which sandbox it is in."""
    s.run(name, "mkdir /tmp/www; hostname >/tmp/www/who; cd /tmp/www; "
                "python3 -m http.server --bind 127.0.0.1 8080 >/dev/null 2>&1 &")
    s.until(lambda: s.get("/sandbox/%s/who" % name).status == 200, 30)


def test_counters_go_on():
    """All processes, names and ports survive a SIGKILL of the service."""
    with cells.running() as s, concurrent.futures.ThreadPoolExecutor(10) as pool:
        names = ["count-%d" % i for i in range(COUNTERS)]
        ids = dict(zip(names, pool.map(lambda n: s.create(name=n, timeout=-1)["id"], names)))
        list(pool.map(lambda n: s.run(n, COUNT), names))
        list(pool.map(lambda n: serve_page(s, n), names[::SERVE_EVERY]))
        s.until(lambda: all(pool.map(lambda n: count(s, n) > 0, names)), 30)
        before = dict(zip(names, pool.map(lambda n: count(s, n), names)))
        pids = dict(zip(names, pool.map(lambda n: s.run(n, "pgrep -o sh")["output"], names)))
        restart(s, signal.SIGKILL)
        tap.equal({x["name"]: x["id"] for x in s.get("/api/v1/sandbox").json["data"]}, ids)
        s.until(lambda: all(pool.map(lambda n: count(s, n) > before[n], names)), 30)
        tap.equal(dict(zip(names, pool.map(lambda n: s.run(n, "pgrep -o sh")["output"], names))),
                  pids, "pids of the counters")
        for name in names[::SERVE_EVERY]:
            tap.equal(s.get("/sandbox/%s/who" % name).body.decode(), name + "\n", "page")
        tap.equal({s.post("/api/v1/sandbox", {"name": n}).status for n in names}, {409})
        tap.equal(set(a.status for a in pool.map(s.remove, names)), {200})


def test_deadlines_hold_over_a_restart():
    with cells.running() as s:
        s.create(name="short", timeout=1)
        s.create(name="pauses", timeout=1, autoPause=True)
        s.create(name="later", timeout=4)
        start = time.monotonic()
        s.kill()
        time.sleep(1.5)
        s.start()
        s.until(lambda: s.show("short").status == 404, 2)
        s.until(lambda: s.show("pauses").json["data"]["status"] == "paused", 2)
        tap.equal(s.show("later").status, 200)
        s.until(lambda: s.show("later").status == 404)
        assert 3.5 < time.monotonic() - start < 6, time.monotonic() - start
        s.until(lambda: s.reasons("short")[-2:] == ["SandboxTimeout", "SandboxDeleted"])


def test_lost_cells_are_recorded():
    with cells.running() as s:
        s.create(name="lost")
        s.create(name="lost-paused")
        s.post("/api/v1/sandbox/pause/lost-paused")
        s.kill()
        cells.end_spawner(s.state)  # as a reboot of the host does
        s.start()
        tap.equal(s.names(), [])
        tap.equal(s.reasons("lost")[-1], "SandboxExited")
        tap.equal(s.reasons("lost-paused")[-1], "SandboxExited")
        s.create(name="lost")
        tap.equal(s.run("lost", "echo new")["output"], "new\n")


def test_a_stop_while_sandboxes_end():
    """Nothing is left that needs the spawner, and the next start finishes what was begun."""
    with cells.running() as s:
        names = ["ends-%d" % i for i in range(12)]
        for name in names:
            s.create(name=name, timeout=1)
        s.until(lambda: s.names() == [], 5)
        tap.equal(s.stop(), 0)
        tap.equal(cells.spawner_pid(s.state), 0, "spawner")
        s.start()
        for name in names:
            tap.equal(s.show(name).status, 404)
            tap.equal(s.reasons(name)[-2:], ["SandboxTimeout", "SandboxDeleted"])
            s.create(name=name)


def test_the_spawner_dies():
    with cells.running() as s:
        s.create(name="lost")
        cells.end_spawner(s.state)
        s.until(lambda: s.show("lost").status == 404)
        s.until(lambda: s.reasons("lost")[-1] == "SandboxExited")
        s.until(lambda: s.post("/api/v1/sandbox", {"name": "lost"}).status == 200)
        tap.equal(s.run("lost", "echo new")["output"], "new\n")


def test_creates_that_nobody_heard_of():
    """SIGKILL in the middle of creates: each one is either there and works, or left nothing."""
    with cells.running() as s:
        for turn in range(3):
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                jobs = [pool.submit(s.post, "/api/v1/sandbox", {"name": "t%d-%d" % (turn, i)})
                        for i in range(24)]
                time.sleep(0.05 + 0.05 * turn)
                s.kill()
            told = set()
            for i, job in enumerate(jobs):
                if not job.exception() and job.result().status == 200:
                    told.add("t%d-%d" % (turn, i))
            s.start()
            names = set(s.names())
            assert told <= names, told - names
            for name in names:
                tap.equal(s.run(name, "echo ok")["output"], "ok\n")
            # Cells that were being made when it was killed join the stock.
            s.until(lambda: metric(s, "tidepool_cells_warm") >= cells.WARM)
            tap.equal(metric(s, "tidepool_sandboxes_running"), len(names))
            s.remove_all()


def build_of(path, mark):
    """Installs the program with something behind it, which makes it another build."""
    envd = os.environ.get("TIDEPOOL_ENVD") or os.path.join(
        os.path.dirname(service.PROGRAM), "tidepool-envd")
    os.makedirs(path, exist_ok=True)
    for name in ("tidepool-envd", "tidepool-local"):
        new = os.path.join(path, name + ".new")
        shutil.copy(os.path.join(os.path.dirname(envd), name), new)
        with open(new, "ab") as f:
            f.write(mark)
        os.rename(new, os.path.join(path, name))
    return os.path.join(path, "tidepool-envd")


def test_an_upgrade():
    """Sandboxes go on in the old program, new ones get the new one, and the old one ends with its
    last sandbox."""
    tail = "tail -c 8 /opt/tidepool/tidepool-local"
    with cells.running() as s:
        bin_dir = os.path.join(os.path.dirname(s.state), "bin")
        s.stop()
        s.env["TIDEPOOL_CELLS_ENVD"] = build_of(bin_dir, b"build 01")
        s.start()
        s.create(name="old", timeout=-1)
        s.run("old", COUNT)
        old = cells.spawner_pid(s.state)
        for how, mark in ((signal.SIGKILL, b"build 02"), (signal.SIGTERM, b"build 03")):
            before = count(s, "old")
            build_of(bin_dir, mark)
            restart(s, how)
            # Before the stock could be full of new ones, and after.
            s.create(name="new")
            tap.equal(s.run("new", tail)["output"], mark.decode())
            s.until(lambda: metric(s, "tidepool_cells_warm") >= cells.WARM)
            s.create(name="newer")
            tap.equal(s.run("newer", tail)["output"], mark.decode())
            s.until(lambda: count(s, "old") > before)
            tap.equal(s.run("old", tail)["output"], "build 01")
            tap.equal(metric(s, "tidepool_cells_old"), 1)
            tap.equal(cells.spawner_pid(s.state) == old, False, "a spawner of the new build")
            s.post("/api/v1/sandbox/pause/old")
            s.remove("new")
            s.remove("newer")
            tap.equal(s.post("/api/v1/sandbox/resume/old").status, 200)
        tap.equal(s.remove("old").status, 200)
        s.until(lambda: len(cells.places(s.state)) == 1)
        s.until(lambda: not cells.is_running(old))
        tap.equal(metric(s, "tidepool_cells_old"), 0)
        counted = census.Census(s, cells.spawner_pid)
        counted.settle(cells.WARM)


def metric(s, name):
    for line in s.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    return None


tap.main(globals())
