# SPDX-License-Identifier: MIT
"""What the cells of one service have on the host, counted from outside: first processes, control
groups, directories, ways out, loop devices, mounts. Whatever else runs on the machine is
not looked at.

    census = Census(s)
    census.settle(len(s.names()) + cells.WARM)
"""

import contextlib
import fcntl
import os
import time

LOOP_GET_STATUS64 = 0x4C05
LOOP_MAJOR = 7


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def entries(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def children(pid):
    return [int(x) for x in read("/proc/%d/task/%d/children" % (pid, pid)).split()]


def links(pid):
    """What the descriptors of a process are."""
    return [link("/proc/%d/fd/%s" % (pid, fd)) for fd in entries("/proc/%d/fd" % pid)]


def is_slot(name):
    return name[:1] == "s" and name[1:].isdigit()


def slot_of(pid):
    """The slot of a cell by its first process."""
    for line in read("/proc/%d/cgroup" % pid).splitlines():
        name = line.rpartition("/")[2]
        if is_slot(name):
            return name
    return None


def loops_of(owner):
    """How many loop devices carry this name."""
    found = 0
    for name in entries("/sys/block"):
        if not name.startswith("loop") or not os.path.exists("/sys/block/%s/loop" % name):
            continue
        try:
            fd = os.open("/dev/" + name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            info = fcntl.ioctl(fd, LOOP_GET_STATUS64, b"\0" * 232)
            found += info[56:120].rstrip(b"\0") == owner.encode()
        except OSError:
            pass
        finally:
            os.close(fd)
    return found


def disks_held(pid, state):
    """How many loop devices, but for that of the state directory, a process has files of."""
    found = set()
    for fd in entries("/proc/%d/fd" % pid):
        with contextlib.suppress(OSError):
            found.add(os.stat("/proc/%d/fd/%s" % (pid, fd)).st_dev)
    return sum(os.major(dev) == LOOP_MAJOR for dev in found - {os.stat(state).st_dev})


class Census:
    def __init__(self, s, spawner_pid):
        """S runs; SPAWNER_PID(state) finds the parent of its cells."""
        self.s, self.find_spawner = s, spawner_pid
        self.alive = set()  # slots with a cell, as of the last look
        self.groups = sorted(x for x in links(s.process.pid) if x.startswith("/sys/fs/cgroup/"))
        # Groups are called after the state directory and the build, directories after the build.
        build = os.path.basename(self.groups[0]).rpartition("-")[2] if self.groups else ""
        self.cells_dir = os.path.join(s.state, "spawners", build, "cells")

    def look(self):
        """All of it, as a dictionary to compare."""
        spawner = self.find_spawner(self.s.state)
        home = link("/proc/self/ns/pid")
        firsts = [p for p in children(spawner)
                  if link("/proc/%d/ns/pid" % p) not in ("", home)] if spawner else []
        slots = sorted(filter(None, (slot_of(p) for p in firsts)))
        self.alive = set(slots)
        dirs = sorted(x for x in entries(self.cells_dir) if is_slot(x))
        daemon = links(self.s.process.pid) if self.s.process.poll() is None else []
        return {
            "cells": len(firsts),
            "slots": slots,
            "groups": [sorted(x for x in entries(g) if is_slot(x)) for g in self.groups],
            "directories": dirs,
            "trash": len(entries(os.path.join(self.cells_dir, ".trash"))),
            "loops": loops_of(os.path.basename(self.groups[0])) if self.groups else 0,
            "disks": disks_held(spawner, self.s.state) if spawner else 0,
            "mounts": len(read("/proc/%d/mountinfo" % spawner).splitlines()) if spawner else 0,
            "host mounts": sum(self.cells_dir in x
                               for x in read("/proc/self/mountinfo").splitlines()),
            "pidfds": daemon.count("anon_inode:[pidfd]"),
            "ways out": daemon.count("anon_inode:bpf_link"),
        }

    # A slot may wait for its next cell with an empty group.

    def spare_groups(self, group, names):
        empty = {n for n in names
                 if not read(os.path.join(group, n, "cgroup.procs")).strip()}
        return empty - self.alive

    def strays(self):
        """Processes in groups of ours that belong to no cell."""
        spawner = self.find_spawner(self.s.state)
        alive = {link("/proc/%d/ns/pid" % p) for p in children(spawner)} if spawner else set()
        mine = "/" + os.path.basename(self.groups[0]) + "/" if self.groups else "no groups here"
        return [int(p) for p in entries("/proc")
                if p.isdigit() and mine in read("/proc/%s/cgroup" % p)
                and link("/proc/%s/ns/pid" % p) not in alive]

    def faults(self, wanted):
        """What is wrong when WANTED cells are to be there; an empty list is right."""
        c = self.look()
        faults = []

        def expect(what, got, want):
            if got != want:
                faults.append("%s: %r instead of %r" % (what, got, want))

        expect("first processes", c["cells"], wanted)
        for g, names in zip(self.groups, c["groups"]):
            expect("groups in " + g, sorted(set(names) - self.spare_groups(g, names)), c["slots"])
        # Only some kinds of disks have one.
        expect("directories", sorted(set(c["directories"]) - set(c["slots"])), [])
        # The spawner holds the disk of every cell, and some for the next ones.
        expect("loop devices", c["loops"], c["disks"])
        expect("trash", c["trash"], 0)
        expect("mounts of the host", c["host mounts"], 0)
        if self.s.process.poll() is None:
            expect("pidfds of the service", c["pidfds"], wanted)
            if c["ways out"]:
                expect("ways out", c["ways out"], wanted)
        expect("strays", self.strays(), [])
        return faults

    def settle(self, wanted, seconds=20):
        """Waits until everything is as it has to be with WANTED cells, the stock included."""
        end = time.monotonic() + seconds
        while True:
            faults = self.faults(wanted)
            if not faults:
                return
            assert time.monotonic() < end, "the census does not come out:\n" + "\n".join(faults)
            time.sleep(0.05)
