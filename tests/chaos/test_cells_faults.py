# SPDX-License-Identifier: MIT
"""Things that break below the service: the first process of a cell, the parent of all cells, the
disk, the process numbers of a cell, its control groups. Each must be told as what it is, leave
nothing behind, and not keep the service from making the next sandbox.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import cells
import census
import tap

DISK_BYTES = 96 << 20


def first_process(s, name):
    """The process of the host that is number 1 in the sandbox."""
    inside = s.run(name, "readlink /proc/self/ns/pid")["output"].strip()
    for pid in census.children(cells.spawner_pid(s.state)):
        if census.link("/proc/%d/ns/pid" % pid) == inside:
            return pid
    raise AssertionError("no first process of %s" % name)


def is_dead(pid):
    """Gone, or not yet waited for."""
    status = census.read("/proc/%d/status" % pid)
    return not status or "State:\tZ" in status


def wait_gone(s, *names):
    s.until(lambda: not set(names) & set(s.names()))
    for name in names:
        tap.equal(s.show(name).status, 404)
        s.until(lambda n=name: s.reasons(n)[-1:] == ["SandboxExited"])


def check_name(s, name):
    """The name can be used."""
    s.create(name=name)
    tap.equal(s.run(name, "hostname")["output"], name + "\n")
    tap.equal(s.remove(name).status, 200)


# ---- processes ----


def test_first_process_killed():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        s.create(name="idle")
        os.kill(first_process(s, "idle"), signal.SIGKILL)
        wait_gone(s, "idle")
        check_name(s, "idle")
        counted.settle(cells.WARM)


def test_first_process_killed_under_a_command():
    with cells.running() as s:
        s.create(name="busy")
        answers = []
        pid = first_process(s, "busy")
        thread = threading.Thread(target=lambda: answers.append(
            s.post("/api/v1/terminal/sandbox/busy", {"command": "sleep 60"}, timeout=30)))
        thread.start()
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        thread.join()
        assert answers and answers[0].status >= 400, answers
        assert answers[0].json["message"], answers
        wait_gone(s, "busy")
        check_name(s, "busy")


def test_first_process_of_a_paused_sandbox_killed():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        s.create(name="asleep")
        pid = first_process(s, "asleep")
        tap.equal(s.post("/api/v1/sandbox/pause/asleep").status, 200)
        os.kill(pid, signal.SIGKILL)
        # A frozen process dies when it is thawed, with some kernels earlier.
        status = s.post("/api/v1/sandbox/resume/asleep").status
        assert status in (200, 404), status
        wait_gone(s, "asleep")
        check_name(s, "asleep")
        counted.settle(cells.WARM)


def test_cell_of_the_stock_killed():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        counted.settle(cells.WARM)
        stock = census.children(cells.spawner_pid(s.state))
        for pid in stock:
            os.kill(pid, signal.SIGKILL)
        s.until(lambda: all(is_dead(p) for p in stock))
        check_name(s, "next")
        counted.settle(cells.WARM)


def test_spawner_killed():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        for name in ("one", "two", "asleep"):
            s.create(name=name)
        s.run("one", "sleep 1000 >/dev/null 2>&1 &")
        tap.equal(s.post("/api/v1/sandbox/pause/asleep").status, 200)
        os.kill(cells.spawner_pid(s.state), signal.SIGKILL)
        wait_gone(s, "one", "two", "asleep")
        s.until(lambda: s.post("/api/v1/sandbox", {"name": "one"}).status == 200)
        tap.equal(s.run("one", "hostname")["output"], "one\n")
        check_name(s, "asleep")
        counted.settle(1 + cells.WARM)


def test_spawner_killed_while_the_service_is_down():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        for name in ("one", "asleep"):
            s.create(name=name)
        tap.equal(s.post("/api/v1/sandbox/pause/asleep").status, 200)
        s.kill()
        cells.end_spawner(s.state)
        s.start()
        tap.equal(s.names(), [])
        wait_gone(s, "one", "asleep")
        check_name(s, "one")
        counted.settle(cells.WARM)


def test_both_killed_with_a_paused_sandbox():
    """What is frozen does not die with its parent: nobody else is there to wake it."""
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        for name in ("one", "asleep"):
            s.create(name=name)
        tap.equal(s.post("/api/v1/sandbox/pause/asleep").status, 200)
        spawner = cells.spawner_pid(s.state)
        s.kill()
        os.kill(spawner, signal.SIGKILL)
        s.start()
        wait_gone(s, "one", "asleep")
        check_name(s, "asleep")
        counted.settle(cells.WARM)


# ---- the disk ----


@contextlib.contextmanager
def small_disk():
    """A service whose state is on a small file system; (service, directory)."""
    if os.geteuid() != 0:
        raise tap.Skip("cells need root")
    path = tempfile.mkdtemp(prefix="tidepool-test-", dir="/var/tmp")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % DISK_BYTES, "tmpfs", path],
                   check=True)
    s = None
    try:
        s = cells.Service(os.path.join(path, "state"), env={"TIDEPOOL_CELLS_DISK_KIND": "dir",
                                                            "TIDEPOOL_CELLS_WARM": "1"})
        yield s, path
        s.remove_all()
        tap.equal(s.stop(), 0, "exit status")
    except BaseException:
        if s:
            print("# the service's log:\n# " + s.log()[-3000:].replace("\n", "\n# "))
        raise
    finally:
        if s and s.process.poll() is None:
            s.kill()
        cells.end_spawner(os.path.join(path, "state"))
        subprocess.run(["umount", "-l", path], check=False)
        shutil.rmtree(path, ignore_errors=True)


def fill(path):
    with open(path, "wb", buffering=0) as f:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    f.write(b"x" * size)


def test_full_disk():
    with small_disk() as (s, path):
        for name in ("stays", "sleeps", "ends"):
            s.create(name=name)
        filler = os.path.join(path, "filler")
        fill(filler)
        # Enough tries to use up the stock and whatever room the database has kept.
        refused = None
        for number in range(50):
            answer = s.post("/api/v1/sandbox", {"name": "full-%d" % number})
            if answer.status != 200:
                refused = answer
                break
            fill(filler)
        assert refused and refused.status == 507, refused
        tap.contains(refused.json["message"], "disk of the service is nearly full")
        tap.equal(s.run("stays", "echo hi")["output"], "hi\n")
        tap.equal(s.show("stays").status, 200)
        paused = s.post("/api/v1/sandbox/pause/sleeps")
        assert paused.status == 200 or paused.json["message"], paused
        ended = s.remove("ends")
        tap.equal(ended.status, 200, "a delete on a full disk")
        print("# full: create %d, pause %d, delete %d" %
              (refused.status, paused.status, ended.status))

        os.unlink(filler)
        s.until(lambda: s.post("/api/v1/sandbox", {"name": "ends"}).status in (200, 409))
        tap.equal(s.run("stays", "echo hi")["output"], "hi\n")
        tap.equal(s.post("/api/v1/sandbox/resume/sleeps").status, 200)
        tap.equal(s.run("sleeps", "hostname")["output"], "sleeps\n")
        check_name(s, "full-%d" % number)
        s.remove("ends")
        check_name(s, "ends")

        before = sorted(s.names())
        s.kill()
        s.start()
        tap.equal(sorted(s.names()), before)


def test_full_disk_at_the_start():
    with small_disk() as (s, path):
        s.create(name="stays")
        s.kill()
        filler = os.path.join(path, "filler")
        fill(filler)
        with contextlib.suppress(AssertionError):
            s.start()
        if s.process.poll() is None:
            s.kill()
        os.unlink(filler)
        s.start()
        tap.equal(s.run("stays", "hostname")["output"], "stays\n")


# ---- limits of one cell ----


def test_out_of_process_numbers():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        s.create(name="bomb", pids=24)
        s.create(name="neighbour")
        s.post("/api/v1/terminal/sandbox/bomb",
               {"command": "for i in $(seq 100); do sleep 1000 >/dev/null 2>&1 & done"},
               timeout=60)
        answer = s.post("/api/v1/terminal/sandbox/bomb", {"command": "echo $(ls | wc -l)"},
                        timeout=30)
        assert answer.status == 200 or answer.json["message"], answer
        print("# a command without process numbers: %d %r" % (answer.status, answer.body[:200]))
        tap.equal(s.run("neighbour", "echo hi")["output"], "hi\n")
        tap.equal(s.post("/api/v1/sandbox/pause/bomb").status, 200)
        tap.equal(s.post("/api/v1/sandbox/resume/bomb").status, 200)
        tap.equal(s.remove("bomb").status, 200)
        check_name(s, "bomb")
        counted.settle(1 + cells.WARM)


def empty_group(group):
    """Moves all processes of a group to its parent, and removes it."""
    target = os.path.join(os.path.dirname(group), "cgroup.procs")
    for pid in census.read(os.path.join(group, "cgroup.procs")).split():
        with contextlib.suppress(OSError), open(target, "w") as f:
            f.write(pid)
    os.rmdir(group)


def test_groups_removed():
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        s.create(name="robbed")
        slot = census.slot_of(first_process(s, "robbed"))
        for tree in counted.groups:
            empty_group(os.path.join(tree, slot))
        tap.equal(s.run("robbed", "echo hi")["output"], "hi\n")
        answer = s.post("/api/v1/sandbox/pause/robbed")
        assert answer.status >= 400 and answer.json["message"], answer
        tap.equal(s.show("robbed").json["data"]["status"], "running")
        tap.equal(s.get("/api/v1/sandbox").status, 200)
        tap.equal(s.remove("robbed").status, 200)
        check_name(s, "robbed")
        counted.settle(cells.WARM)


if __name__ == "__main__":
    tap.main(globals())
