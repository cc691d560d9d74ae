# SPDX-License-Identifier: MIT
"""The real program with cells, which need root; cleans up whatever a test leaves.

    with cells.running() as s:
        s.create(name="one")
        tap.equal(s.run("one", "echo hi")["output"], "hi\\n")
"""

import contextlib
import glob
import os
import shutil
import socket
import struct
import tempfile
import time

import census
import service
import tap

GROUPS = "/sys/fs/cgroup"
WARM = 3


class Service(service.Service):
    def __init__(self, state, *options, env=None, **more):
        env = {"TIDEPOOL_CELLS_ENABLED": "true", "TIDEPOOL_CELLS_WARM": str(WARM), **(env or {})}
        envd = os.path.join(os.path.dirname(service.PROGRAM), "tidepool-envd")
        env.setdefault("TIDEPOOL_CELLS_ENVD", os.environ.get("TIDEPOOL_ENVD", envd))
        super().__init__(state, *options, env=env, **more)

    def create(self, key="", **fields):
        """Makes a sandbox; its object."""
        answer = self.post("/api/v1/sandbox", fields, key=key, timeout=60)
        assert answer.status == 200, answer
        return answer.json["sandbox"]

    def show(self, name, **more):
        return self.get("/api/v1/sandbox/" + name, **more)

    def run(self, name, command, **fields):
        """Runs a command; the data of the answer."""
        key = fields.pop("key", "")
        answer = self.post("/api/v1/terminal/sandbox/" + name, dict(fields, command=command),
                           key=key, timeout=120)
        assert answer.status == 200, answer
        return answer.json["data"]

    def remove(self, name, **more):
        return self.delete("/api/v1/sandbox/" + name, **more)

    def names(self, **more):
        return [x["name"] for x in self.get("/api/v1/sandbox", **more).json["data"]]

    def remove_all(self):
        for name in self.names():
            self.remove(name)

    def reasons(self, name):
        """What happened to a sandbox, oldest first."""
        items = self.get("/api/v1/events?limit=500&sandbox=" + name).json["data"]
        return [x["reason"] for x in reversed(items)]

    def until(self, what, seconds=10.0):
        """Waits until WHAT() is true; how long that took."""
        start = time.monotonic()
        while not what():
            assert time.monotonic() < start + seconds, "it did not happen\n" + self.log()[-2000:]
            time.sleep(0.02)
        return time.monotonic() - start


def places(state):
    """The directories of spawners, that of the build that was started last at the end."""
    found = glob.glob(os.path.join(state, "spawners", "*"))
    return sorted(found, key=lambda path: os.stat(path).st_ctime_ns)


def pid_at(place):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        try:
            s.connect(os.path.join(place, "spawner.sock"))
        except OSError:
            return 0
        return struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def spawner_pid(state):
    """The process that all new cells of a state directory die with, or 0."""
    found = places(state)
    return pid_at(found[-1]) if found else 0


def first_process(s, name):
    """The first process of a sandbox, by the name of its host."""
    for place in places(s.state):
        for pid in census.children(pid_at(place)):
            if census.slot_of(pid) and \
                    census.read("/proc/%d/root/etc/hostname" % pid).strip() == name:
                return pid
    raise AssertionError("no first process of " + name)


def group_dirs(path):
    """The directories of a control group: one for each hierarchy of version 1 that has it, and the
    one of version 2, which is mounted alone or, beside others, as `unified`."""
    return [x for x in (GROUPS + path, *glob.glob(GROUPS + "/*" + path)) if os.path.isdir(x)]


def thaw(pid):
    """A paused cell does not die with its parent before it is woken."""
    with contextlib.suppress(OSError):
        with open("/proc/%d/cgroup" % pid) as f:
            paths = {line.strip().split(":", 2)[2] for line in f if "/tidepool/" in line}
        for group in [x for path in paths for x in group_dirs(path)]:
            for name, value in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
                file = os.path.join(group, name)
                if os.path.exists(file):
                    with open(file, "w") as f:
                        f.write(value)


def is_running(pid):
    """What is dead has no program, also before somebody reaps it."""
    return census.link("/proc/%d/exe" % pid) != ""


def end_process(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        cells = [int(x) for x in f.read().split()]
    os.kill(pid, 9)
    for cell in cells:
        thaw(cell)
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)


def groups_of(pids):
    """The control groups that the cells with these first processes are below."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError), open("/proc/%d/cgroup" % pid) as f:
            paths = [line.strip().split(":", 2)[2] for line in f]
            found.update(os.path.dirname(x) for x in paths if "/tidepool/" in x)
    return [x for below in found for x in group_dirs(below)]


def remove_groups(groups):
    """What a spawner that was killed leaves until the next one starts: after that one, and no
    service, is there any more."""
    end = time.monotonic() + 5
    while any(map(os.path.exists, groups)) and time.monotonic() < end:
        for path in [x for group in groups for x in (*glob.glob(group + "/*/"), group)]:
            with contextlib.suppress(OSError):
                os.rmdir(path)
        time.sleep(0.005)


def end_spawner(state):
    """Ends all of them, also those of other builds."""
    for pid in filter(None, map(pid_at, places(state))):
        end_process(pid)


@contextlib.contextmanager
def running_at(state, *options, **more):
    """A service with cells on this state directory."""
    s = None
    try:
        s = Service(state, *options, **more)
        yield s
        if s.process.poll() is None:
            s.remove_all()
            status = s.stop()
            assert status == 0, "exit status %d\n%s" % (status, s.log()[-3000:])
            assert not any(map(pid_at, places(state))), "a spawner is still there"
    except BaseException:
        if s:
            print("# the service's log:\n# " + s.log()[-3000:].replace("\n", "\n# "))
        raise
    finally:
        if s and s.process.poll() is None:
            s.kill()
        groups = groups_of(c for pid in map(pid_at, places(state)) if pid
                           for c in census.children(pid))
        end_spawner(state)
        remove_groups(groups)


@contextlib.contextmanager
def running(*options, **more):
    """The same on an empty one."""
    if os.geteuid() != 0:
        raise tap.Skip("cells need root")
    # Not below /tmp: it may be a small file system in memory.
    path = tempfile.mkdtemp(prefix="tidepool-test-", dir="/var/tmp")
    try:
        with running_at(os.path.join(path, "state"), *options, **more) as s:
            yield s
    finally:
        shutil.rmtree(path, ignore_errors=True)
