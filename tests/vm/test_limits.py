# SPDX-License-Identifier: MIT
"""Limits bite, with the controllers as systemd hands them out. What the kernel counted is looked at
from outside of the sandbox; no time is measured."""

import glob
import os

import guest
import tap


def group_of(s, name):
    """The control group of a sandbox as the host sees it, found by a process with a mark."""
    mark = "1000%d" % len(name) + "".join(str(ord(c) % 10) for c in name)
    s.run(name, "sleep %s >/dev/null 2>&1 &" % mark)
    return guest.until(lambda: find_group(b"sleep\0" + mark.encode() + b"\0"), 30,
                       "no process of the sandbox on the host")


def find_group(command):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                if f.read() != command:
                    continue
            with open(os.path.dirname(path) + "/cgroup") as f:
                return "/sys/fs/cgroup" + f.read().strip().partition("::")[2]
        except OSError:
            continue
    return None


def figure(group, file, row):
    """One number of a file of a group or of the nearest one above that has the file."""
    while not os.path.exists(os.path.join(group, file)):
        group = os.path.dirname(group)
    with open(os.path.join(group, file)) as f:
        rows = dict(line.split() for line in f)
    return int(rows[row])


def test_memory():
    with guest.service() as s:
        s.create(name="hog", memory_limit="96Mi")
        done = s.run("hog", "python3 -c 'x = bytearray(400 << 20)'; echo status $?")
        assert done["output"].strip().splitlines()[-1] not in ("", "status 0"), done
        s.until(lambda: "SandboxOOMKilled" in s.reasons("hog"), 60)
        tap.equal(s.run("hog", "echo alive")["output"], "alive\n")


def test_cpu():
    with guest.service() as s:
        s.create(name="slow", cpu_limit="100m")
        group = group_of(s, "slow")
        before = figure(group, "cpu.stat", "nr_throttled")
        s.run("slow", "timeout 3 sh -c 'while :; do :; done'; true")
        assert figure(group, "cpu.stat", "nr_throttled") > before, "it was never held back"
        with open(group.partition("/tidepool/")[0] + "/tidepool/cpu.weight") as f:
            tap.equal(int(f.read()), 50, "what all sandboxes weigh")


def test_pids():
    with guest.service() as s:
        s.create(name="forks", pids=40)
        group = group_of(s, "forks")
        done = s.run("forks", "for i in $(seq 80); do sleep 60 & done", timeout=60)
        tap.contains(done["errorOutput"], "fork")
        with open(group + "/pids.current") as f:
            n = int(f.read())
        assert 30 <= n <= 40, "%d processes" % n
        s.create(name="beside")
        tap.equal(s.run("beside", "echo alive")["output"], "alive\n")


def test_disk():
    with guest.service() as s:
        s.create(name="full", disk="64Mi")
        done = s.run("full", "dd if=/dev/zero of=/tmp/big bs=1M count=200 2>&1; "
                             "stat -c %s /tmp/big")
        tap.contains(done["output"], "No space left on device")
        assert int(done["output"].split()[-1]) < 80 << 20, done


def test_pause_and_resume():
    """While it is paused no process of it runs, and afterwards they go on."""
    with guest.service() as s:
        s.create(name="sleeper")
        group = group_of(s, "sleeper")
        s.run("sleeper", "(while :; do date +%s%N >/tmp/now; sleep 0.05; done) >/dev/null 2>&1 &")
        tap.equal(s.post("/api/v1/sandbox/pause/sleeper").status, 200, "pause")
        tap.equal(s.show("sleeper").json["data"]["status"], "paused")
        tap.equal(figure(group, "cgroup.events", "frozen"), 1, "frozen")
        tap.equal(s.post("/api/v1/sandbox/resume/sleeper").status, 200, "resume")
        tap.equal(figure(group, "cgroup.events", "frozen"), 0, "frozen")
        seen = s.run("sleeper", "cat /tmp/now")["output"]
        s.until(lambda: s.run("sleeper", "cat /tmp/now")["output"] not in ("", seen), 60)


tap.main(globals())
