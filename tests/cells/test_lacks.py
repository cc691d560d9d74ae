# SPDX-License-Identifier: MIT
"""Hosts that cannot keep a limit: defaults are left off, which the log and /metrics say; what a
caller asks for is refused with the reason and what to do."""

import os

import cells
import lacking
import service
import tap

ENVD = os.environ.get("TIDEPOOL_ENVD") or os.path.join(os.path.dirname(service.PROGRAM),
                                                       "tidepool-envd")


def running(lack, **env):
    @cells.contextlib.contextmanager
    def both():
        with lacking.everywhere(lack), cells.running(
                env={"TIDEPOOL_CELLS_ENVD": ENVD, **env}) as s:
            yield s
    return both()


def unenforced(s):
    lines = s.get("/metrics").body.decode().splitlines()
    start = 'tidepool_limit_unenforced{limit="'
    return {x[len(start):].split('"')[0] for x in lines if x.startswith(start) and
            x.endswith(" 1")}


def warnings(s):
    return [x for x in s.log().splitlines() if "sandboxes run without a limit" in x]


def test_a_whole_host():
    with cells.running() as s:
        tap.equal(unenforced(s), set())
        tap.equal(warnings(s), [])
        tap.equal(s.create(name="a")["cpu_limit"], "2000m")
        assert "No sandboxes" not in s.output()


def test_without_the_cpu_controller():
    with running(lacking.CPU) as s:
        made = s.create(name="a")
        tap.equal(made["cpu_limit"], "0")
        tap.equal(s.run("a", "id -un")["output"], "user\n")
        assert "cpu" in unenforced(s) and "disk" not in unenforced(s), unenforced(s)
        tap.equal(len(warnings(s)), 1)
        tap.contains(warnings(s)[0], "cannot limit cpu")
        answer = s.post("/api/v1/sandbox", {"name": "b", "cpu_limit": "500m"})
        tap.equal(answer.status, 501)
        tap.contains(answer.body.decode(), "this host cannot limit cpu: ")
        tap.contains(answer.body.decode(), "mount")
        tap.equal(s.names(), ["a"])


def test_without_e2fsprogs():
    with running(lacking.MKFS) as s:
        tap.equal(s.create(name="a")["disk"], "0")
        tap.equal(s.run("a", "echo hi >~/f; cat ~/f")["output"], "hi\n")
        tap.equal(unenforced(s), {"disk"})
        tap.equal(len(warnings(s)), 1)
        tap.contains(warnings(s)[0], "apt install e2fsprogs")
        answer = s.post("/api/v1/sandbox", {"name": "b", "disk": "64Mi"})
        tap.equal(answer.status, 501)
        tap.contains(answer.body.decode(), "cannot limit disk")


def test_without_e2fsprogs_but_with_images_asked_for():
    with running(lacking.MKFS, TIDEPOOL_CELLS_DISK_KIND="image") as s:
        answer = s.post("/api/v1/sandbox", {"name": "a"})
        assert answer.status in (501, 503), answer
        tap.contains(answer.body.decode(), "apt install e2fsprogs")
        tap.contains(s.log(), "apt install e2fsprogs")
        tap.contains(s.output(), "No sandboxes: ")
        tap.contains(s.output(), "apt install e2fsprogs")


tap.main(globals())
