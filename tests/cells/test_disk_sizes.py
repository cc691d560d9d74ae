# SPDX-License-Identifier: MIT
"""Disks of sandboxes have a few sizes and a maximum; the image of a size is made while everybody
else goes on, once, and goes when nobody has it any more."""

import concurrent.futures
import contextlib
import glob
import os
import stat
import tempfile
import time

import cells
import lacking
import service
import tap

ENVD = os.environ.get("TIDEPOOL_ENVD") or os.path.join(os.path.dirname(service.PROGRAM),
                                                       "tidepool-envd")
Mi, Gi = 1 << 20, 1 << 30


def images(s):
    """The sizes that there are images of."""
    found = glob.glob(os.path.join(s.state, "spawners", "*", "cells", ".images", "*.img*"))
    return sorted(os.path.basename(x) for x in found)


def image(size):
    return "%d.img" % size


def asked(s, disk, key=""):
    return s.post("/api/v1/sandbox", {"disk": disk}, key=key, timeout=60)


def has(s, name):
    """The bytes of its root."""
    out = s.run(name, "df -B1 --output=size / | tail -1", user="root")["output"]
    return int(out)


def metric(s, name):
    line = [x for x in s.get("/metrics").body.decode().splitlines() if x.startswith(name + " ")]
    return float(line[0].split()[1])


class SlowMkfs:
    """The mkfs of a host that takes as long as the test wants it to."""

    def __init__(self, folder):
        self.folder = folder
        self.held, self.runs = os.path.join(folder, "held"), os.path.join(folder, "runs")
        self.script = os.path.join(folder, "slow")
        with open(self.script, "w") as f:
            f.write("#!/bin/sh\nfor last; do :; done\necho \"$last\" >>%s\n"
                    "while [ -e %s ]; do sleep 0.02; done\nexec %s/mkfs.ext4 \"$@\"\n"
                    % (self.runs, self.held, folder))
        os.chmod(self.script, stat.S_IRWXU)

    def lack(self):
        # Once: what a service before this one started may still run.
        copy = "{ [ -e %s/mkfs.ext4 ] || cp /usr/sbin/mkfs.ext4 %s/mkfs.ext4; }" % (
            self.folder, self.folder)
        return copy + " && mount --bind %s /usr/sbin/mkfs.ext4" % self.script

    def hold(self):
        with open(self.held, "w"):
            pass

    def release(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.held)

    def made(self):
        """The sizes that it was run for, in order."""
        with contextlib.suppress(FileNotFoundError), open(self.runs) as f:
            return [int(os.path.basename(x).split(".")[0]) for x in f.read().split()]
        return []


@contextlib.contextmanager
def slow(**env):
    with tempfile.TemporaryDirectory() as folder:
        mkfs = SlowMkfs(folder)
        with lacking.everywhere(mkfs.lack()), cells.running(
                env={"TIDEPOOL_CELLS_ENVD": ENVD, **env}) as s:
            try:
                yield s, mkfs
            finally:
                mkfs.release()


def test_sizes_are_rounded_up_to_a_few():
    with cells.running() as s:
        user = s.make_key(account="u")["key"]
        rows = {"16Mi": 64 * Mi, "64Mi": 64 * Mi, "65Mi": 256 * Mi, "300000000": Gi, "1Gi": Gi,
                "1.5Gi": 2 * Gi, "3Gi": 5 * Gi, "5Gi": 5 * Gi, "6Gi": 10 * Gi, "20Gi": 20 * Gi}
        for disk, size in rows.items():
            answer = asked(s, disk, user)
            tap.equal(answer.status, 200, answer)
            made = answer.json["sandbox"]
            shown = made["disk"]
            tap.equal(shown == disk, size == {"16Mi": 16 * Mi, "64Mi": 64 * Mi, "1Gi": Gi,
                                              "5Gi": 5 * Gi, "20Gi": 20 * Gi}.get(disk), shown)
            got = has(s, made["name"])
            assert 0.8 * size < got <= size, (disk, size, got)
            tap.equal(s.remove(made["name"]).status, 200)
        tap.equal(images(s), sorted(image(x) for x in set(rows.values())))


def test_a_maximum_and_what_the_host_holds():
    with cells.running(env={"TIDEPOOL_QUOTA_SANDBOX_DISK": "7GiB"}) as s:
        user = s.make_key(account="u")["key"]
        answer = asked(s, "7Gi", user)
        tap.equal((answer.status, answer.json["sandbox"]["disk"]), (200, "7Gi"))
        # More than the maximum is refused, though not to the operator.
        for disk in ("7168.1Mi", "15Ti", "0"):
            refused = asked(s, disk, user)
            tap.equal(refused.status, 400, refused)
        tap.contains(asked(s, "8Gi", user).json["message"], "too much, at most 7168Mi")
        tap.equal(asked(s, "8Gi").status, 200)
        # More than the file system has is refused to everybody.
        fs = os.statvfs(s.state)
        whole = fs.f_blocks * fs.f_frsize
        tap.equal(asked(s, str(whole + 1)).status, 400)
        tap.contains(asked(s, "15Ti").json["message"], "the disk of this host has")


def test_what_an_account_is_promised():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_DISK": "12GiB"}) as s:
        one, two = (s.make_key(account="u")["key"] for _ in range(2))
        other = s.make_key(account="other")["key"]
        for key in (one, two):
            s.create(key=key, name="by" + key[-6:])
        refused = asked(s, "5Gi", one)
        tap.equal(refused.status, 413, refused)
        tap.contains(refused.json["message"], "maximum of disk (%d/%d)" % (10 * Gi, 12 * Gi))
        e2b = s.post("/e2b/v1/sandboxes", {"templateID": "base"}, key=None,
                     headers={"X-API-Key": two})
        tap.equal(e2b.status, 429, e2b)
        tap.equal(asked(s, "2Gi", one).status, 200)
        tap.equal(asked(s, "64Mi", two).status, 413)
        tap.equal(asked(s, "5Gi", other).status, 200)
        tap.equal(asked(s, "20Gi").status, 200)
        # What lives counts after a restart, and no longer when it is deleted.
        s.stop()
        s.start()
        tap.equal(asked(s, "64Mi", two).status, 413)
        s.remove("by" + one[-6:])
        tap.equal(asked(s, "5Gi", two).status, 200)


def test_nobody_else_waits_for_mkfs():
    with slow() as (s, mkfs):
        user = s.make_key(account="u")["key"]
        s.create(name="ready", disk="1Gi")
        mkfs.hold()
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            waiting = [pool.submit(s.create, name="w%d" % i, disk="256Mi", key=user)
                       for i in range(4)]
            s.until(lambda: 256 * Mi in mkfs.made())
            # All of this comes to its end while mkfs does not.
            for i in range(5):
                tap.equal(s.get("/healthz").status, 200)
                s.create(name="d%d" % i)
                s.create(name="e%d" % i, disk="1Gi")
            tap.equal(s.run("d0", "echo hi")["output"], "hi\n")
            tap.equal([x.done() for x in waiting], [False] * 4)
            assert metric(s, "tidepool_cells_building") >= 4
            took = time.monotonic() - began
            mkfs.release()
            for x in waiting:
                tap.equal(x.result()["disk"], "256Mi")
        tap.equal(mkfs.made().count(256 * Mi), 1)
        # The loop stood still at no time as long as mkfs took.
        stall = metric(s, "tidepool_loop_stall_seconds")
        assert stall < took / 2, (stall, took)


def test_a_stop_while_mkfs_runs():
    with slow() as (s, mkfs):
        mkfs.hold()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asking = pool.submit(asked, s, "256Mi")
            s.until(lambda: 256 * Mi in mkfs.made())
            s.kill()
            assert isinstance(asking.exception(), ConnectionError), asking
        mkfs.release()
        # What is half made is no image: the next start makes it again.
        s.start()
        s.create(name="a", disk="256Mi")
        assert has(s, "a") > 200 * Mi
        assert image(256 * Mi) in images(s)


def test_a_mkfs_that_fails():
    with slow() as (s, mkfs):
        with open(mkfs.script) as f:
            whole = f.read()
        with open(mkfs.script, "w") as f:
            f.write("#!/bin/sh\nexit 1\n")
        refused = asked(s, "256Mi")
        assert refused.status >= 500, refused
        with open(mkfs.script, "w") as f:
            f.write(whole)
        tap.equal(asked(s, "256Mi").status, 200)


def test_images_go_when_nobody_has_them():
    env = {"TIDEPOOL_CELLS_KEEP_IMAGES": "0s"}
    with cells.running(env=env) as s:
        s.create(name="a", disk="64Mi")
        s.create(name="b", disk="256Mi")
        s.remove("a")
        s.until(lambda: image(64 * Mi) not in images(s))
        tap.equal(images(s), [image(256 * Mi), image(5 * Gi)])
        # One that was removed is made again, and a restart finds what is used and what is not.
        s.create(name="a", disk="64Mi")
        s.kill()
        place = os.path.dirname(glob.glob(os.path.join(
            s.state, "spawners", "*", "cells", ".images", image(5 * Gi)))[0])
        for left in ("1073741824.img", "2147483648.img.new"):
            with open(os.path.join(place, left), "w"):
                pass
        s.start()
        s.until(lambda: images(s) == sorted([image(64 * Mi), image(256 * Mi), image(5 * Gi)]))
        s.remove("b")
        s.until(lambda: image(256 * Mi) not in images(s))
        tap.equal(s.run("a", "echo hi >~/f; cat ~/f")["output"], "hi\n")


tap.main(globals())
