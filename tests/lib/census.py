# SPDX-License-Identifier: MIT
"""What the cells of one service have on the host, counted from outside: first processes, control
groups, directories, ways out, loop devices, mounts. Whatever else runs on the machine is
not looked at.

    census = Census(s)
    census.settle(len(s.names()) + cells.WARM)
"""

import fcntl
import os
import struct
import time

LOOP_GET_STATUS64 = 0x4C05


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


def looped_files():
    """(device, inode) of the files behind loop devices, and whether the file was deleted."""
    found = {}
    for name in entries("/sys/block"):
        if not name.startswith("loop") or not os.path.exists("/sys/block/%s/loop" % name):
            continue
        try:
            fd = os.open("/dev/" + name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            info = fcntl.ioctl(fd, LOOP_GET_STATUS64, b"\0" * 232)
            found[struct.unpack("QQ", info[:16])[:2]] = read(
                "/sys/block/%s/loop/backing_file" % name).strip().endswith("(deleted)")
        except OSError:
            pass
        finally:
            os.close(fd)
    return found


class Census:
    def __init__(self, s, spawner_pid):
        """S runs; SPAWNER_PID(state) finds the parent of its cells."""
        self.s, self.find_spawner = s, spawner_pid
        self.cells_dir = os.path.join(s.state, "cells")
        self.images = set()  # (device, inode), all that were ever seen
        self.alive = set()  # slots with a cell, as of the last look
        self.groups = sorted(x for x in links(s.process.pid) if x.startswith("/sys/fs/cgroup/"))

    def look(self):
        """All of it, as a dictionary to compare."""
        spawner = self.find_spawner(self.s.state)
        home = link("/proc/self/ns/pid")
        firsts = [p for p in children(spawner)
                  if link("/proc/%d/ns/pid" % p) not in ("", home)] if spawner else []
        slots = sorted(filter(None, (slot_of(p) for p in firsts)))
        self.alive = set(slots)
        dirs = sorted(x for x in entries(self.cells_dir) if is_slot(x))
        images = self.images_of(dirs)
        self.images |= images
        daemon = links(self.s.process.pid) if self.s.process.poll() is None else []
        return {
            "cells": len(firsts),
            "slots": slots,
            "groups": [sorted(x for x in entries(g) if is_slot(x)) for g in self.groups],
            "directories": dirs,
            "trash": len(entries(os.path.join(self.cells_dir, ".trash"))),
            "loops": self.count_loops(images),
            "images": len(images),
            "mounts": len(read("/proc/%d/mountinfo" % spawner).splitlines()) if spawner else 0,
            "host mounts": sum(self.cells_dir in x
                               for x in read("/proc/self/mountinfo").splitlines()),
            "pidfds": daemon.count("anon_inode:[pidfd]"),
            "ways out": daemon.count("anon_inode:bpf_link"),
        }

    def count_loops(self, images):
        """Devices of living images, and of ours that were deleted. Another service's image may have
        got the number of one of ours, but it is not deleted."""
        return sum(file in images or (file in self.images and is_deleted)
                   for file, is_deleted in looped_files().items())

    def images_of(self, dirs):
        found = set()
        for name in dirs:
            try:
                st = os.stat(os.path.join(self.cells_dir, name, "disk.img"))
            except OSError:
                continue
            found.add((st.st_dev, st.st_ino))
        return found

    # A slot may wait for its next cell with an empty group and a directory that holds its socket.

    def spare_groups(self, group, names):
        empty = {n for n in names
                 if not read(os.path.join(group, n, "cgroup.procs")).strip()}
        return empty - self.alive

    def spare_directories(self, names):
        bare = {n for n in names
                if set(entries(os.path.join(self.cells_dir, n))) <= {"envd.sock"}}
        return bare - self.alive

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
        spare = self.spare_directories(c["directories"])
        expect("directories", sorted(set(c["directories"]) - spare), c["slots"])
        expect("loop devices", c["loops"], c["images"])
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
