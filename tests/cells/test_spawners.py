# SPDX-License-Identifier: MIT
"""The processes that sandboxes die with: several, so that one death is a bounded loss; the last
that the OOM killer takes; and never waited for, whether they die or hang."""

import contextlib
import fcntl
import os
import re
import signal
import threading

import census
import cells
import service
import stalls
import tap

# A round of the loop by the clock, in seconds, on a machine that others use as well. What used to
# be waited for took from half a second to for ever.
MOST = 0.4


def spawners(s):
    return sorted(filter(None, map(cells.pid_at, cells.places(s.state))))


def first_processes(pid):
    return [x for x in census.children(pid) if census.slot_of(x)]


def hosts(pid):
    return {census.read("/proc/%d/root/etc/hostname" % x).strip() for x in first_processes(pid)}


def score(pid):
    return int(census.read("/proc/%s/oom_score_adj" % pid))


def least():
    """What root may set here: a container may lack CAP_SYS_RESOURCE."""
    status = census.read("/proc/self/status")
    return -1000 if int(re.search(r"CapEff:\s*(\w+)", status)[1], 16) >> 24 & 1 else score("self")


def test_scores():
    with cells.running() as s:
        s.create(name="one")
        s.run("one", "sleep 1000 >/dev/null 2>&1 &")
        tap.equal(score(s.process.pid), least(), "the service")
        spawner, = spawners(s)
        tap.equal(score(spawner), least(), "the spawner")
        for pid in first_processes(spawner):
            # It has the score of its commands while it starts one.
            s.until(lambda x=pid: score(x) == 100)
            tap.equal({score(x) for x in census.children(pid)} - {500}, set(), "commands")


SEVERAL = {"TIDEPOOL_CELLS_PER_SPAWNER": "4", "TIDEPOOL_CELLS_WARM": "1"}


def test_one_death_is_a_bounded_loss():
    with cells.running(env=SEVERAL) as s:
        names = ["n%d" % i for i in range(10)]
        for name in names:
            s.create(name=name)
        s.until(lambda: all(len(first_processes(x)) <= 4 for x in spawners(s)))
        assert len(spawners(s)) >= 3, spawners(s)
        victim = max(spawners(s), key=lambda x: len(hosts(x) & set(names)))
        lost = hosts(victim) & set(names)
        with stalls.Watched(s, most=MOST):
            os.kill(victim, signal.SIGKILL)
            s.until(lambda: all(s.show(x).status == 404 for x in lost))
        assert 0 < len(lost) <= 4, lost
        for name in set(names) - lost:
            tap.equal(s.run(name, "echo fine")["output"], "fine\n")
        for name in lost:
            s.create(name=name)
        # A restart finds all of them again.
        tap.equal(s.stop(), 0)
        s.start()
        tap.equal(sorted(s.names()), names)
        for name in names:
            tap.equal(s.run(name, "hostname")["output"], name + "\n")
        for name in names:
            tap.equal(s.remove(name).status, 200)
        s.until(lambda: len(spawners(s)) <= 2)


def test_many_at_once():
    with cells.running(env=SEVERAL) as s:
        names = ["m%d" % i for i in range(24)]
        threads = [threading.Thread(target=s.create, kwargs={"name": x}) for x in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        tap.equal(sorted(s.names()), sorted(names))
        for pid in spawners(s):
            assert len(hosts(pid) & set(names)) <= 4, (pid, hosts(pid))


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_spawner_that_hangs():
    env = {"TIDEPOOL_CELLS_PER_SPAWNER": "0", "TIDEPOOL_CELLS_WARM": "0"}
    with cells.running(env=env) as s:
        s.create(name="before")
        s.create(name="gone")
        pid, = spawners(s)
        with stalls.Watched(s, most=MOST):
            with stopped(pid):
                answer = s.post("/api/v1/sandbox", {"name": "waits"}, timeout=60)
                tap.equal(answer.status, 503, answer)
                assert b"does not respond" in answer.body, answer
                answer = s.post("/api/v1/sandbox", {"name": "refused"})
                tap.equal(answer.status, 503, answer)
                # What needs no spawner works.
                tap.equal(s.run("before", "echo fine")["output"], "fine\n")
                tap.equal(s.remove("gone").status, 200)
            s.until(lambda: s.post("/api/v1/sandbox", {"name": "after"}).status == 200)
        tap.equal(sorted(s.names()), ["after", "before"])
        # What came too late is not kept.
        s.until(lambda: len(first_processes(pid)) == 2)


def test_another_one_takes_over_from_one_that_hangs():
    with cells.running(env=dict(SEVERAL, TIDEPOOL_CELLS_WARM="0")) as s:
        s.create(name="before")
        pid, = spawners(s)
        with stalls.Watched(s, most=MOST), stopped(pid):
            answer = s.post("/api/v1/sandbox", {"name": "waits"}, timeout=60)
            tap.equal(answer.status, 503, answer)
            s.until(lambda: s.post("/api/v1/sandbox", {"name": "after"}).status == 200, 20)
            tap.equal(s.run("after", "echo fine")["output"], "fine\n")


def test_a_stop_does_not_wait_for_one_that_hangs():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "2"}) as s:
        pid, = spawners(s)
        s.create(name="one")
        tap.equal(s.remove("one").status, 200)
        os.kill(pid, signal.SIGSTOP)
        tap.equal(s.stop(), 0)
        assert not cells.is_running(pid), "it is killed"


def test_a_stop_after_a_death_leaves_nothing():
    """Another spawner is being started then: it sweeps, and ends with the service."""
    for warm in ("0", "2"):
        with cells.running(env={"TIDEPOOL_CELLS_WARM": warm}) as s:
            s.create(name="one")
            pid, = spawners(s)
            groups = cells.groups_of(first_processes(pid))
            owner = os.path.basename(groups[0])
            os.kill(pid, signal.SIGKILL)
            s.until(lambda: not cells.is_running(pid))
            assert s.remove("one").status in (200, 404)
            tap.equal(s.stop(), 0)
            tap.equal(spawners(s), [])
            tap.equal([x for x in groups if os.path.exists(x)], [], "groups")
            tap.equal(census.loops_of(owner), 0, "loop devices")
            with open("/proc/self/mountinfo") as f:
                tap.equal([x for x in f if s.state in x], [], "mounts")


WRITE = ("import os, time; [os.write(1, bytes([1]) * 500 + b'\\n') for _ in range(2100)]; "
         "open('/tmp/done', 'w').close(); time.sleep(1e6)")


def test_the_largest_log_stalls_nobody():
    """As many lines as are kept, of bytes that are six each as JSON."""
    with cells.running() as s:
        s.create(name="one", cmd="python3", args=["-c", WRITE])
        s.until(lambda: s.run("one", "ls /tmp/done")["output"], 30)
        path = "/api/v1/logs/sandbox/one?tailLines=2000"
        logs = s.get(path).json["data"]["logs"]
        assert len(logs) > 900000, len(logs)
        with stalls.Watched(s, most=MOST):
            tap.equal(s.post("/api/v1/sandbox/pause/one").status, 200)
            tap.equal(s.get(path).json["data"]["logs"] == logs, True, "the log that was kept")
            tap.equal(s.remove("one").status, 200)
            tap.equal(s.get(path).json["data"]["logs"] == logs, True, "after the end")


def test_a_start_outlasts_another_spawner():
    """A service that dies right after its spawner leaves behind the next one, half started: it has
    the lock, and does not listen yet. This process takes its part for longer than one attempt."""
    with cells.running() as s:
        pid = cells.spawner_pid(s.state)
        s.kill()
        os.kill(pid, signal.SIGKILL)
        s.until(lambda: not cells.is_running(pid))
        place, = cells.places(s.state)
        with open(os.path.join(place, "spawner.lock"), "r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            release = threading.Timer(4, fcntl.flock, (held, fcntl.LOCK_UN))
            release.start()
            s.start()
            release.join()
        s.until(lambda: s.post("/api/v1/sandbox", {"name": "one"}).status == 200)


FORKS = "for i in 1 2 3 4 5 6; do (while :; do /bin/true; done) >/dev/null 2>&1 & done"


def test_pausing_what_resists():
    """Processes that fork and execute all the time are hard to stop; nobody else waits for it."""
    with cells.running() as s:
        s.create(name="one")
        s.run("one", FORKS)
        with stalls.Watched(s, most=MOST):
            for _ in range(20):
                answer = s.post("/api/v1/sandbox/pause/one")
                if answer.status == 200:
                    tap.equal(s.show("one").json["data"]["status"], "paused")
                    tap.equal(s.post("/api/v1/sandbox/resume/one").status, 200)
                else:
                    tap.equal(s.show("one").json["data"]["status"], "running", answer)
        tap.equal(s.run("one", "echo fine")["output"], "fine\n")


tap.main(globals())
