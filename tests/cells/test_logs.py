# SPDX-License-Identifier: MIT
"""Logs of sandboxes that cannot be asked: paused ones, and deleted ones for a while."""

import os

import cells
import maxima
import tap

LINES = ["first", "second line", "", "ünïcödé", "last"]
PRINT = "".join("echo '%s'; sleep 0.05; " % x for x in LINES) + "printf partial; sleep 1000"
ALL = "\n".join(LINES) + "\npartial"


def make(s, name, command=PRINT, **fields):
    """A sandbox whose main process has written everything."""
    made = s.create(name=name, cmd="sh", args=["-c", command], **fields)
    s.until(lambda: text(s, name, key=fields.get("key", "")) == ALL)
    return made


def logs(s, name, query="", **more):
    return s.get("/api/v1/logs/sandbox/" + name + query, **more)


def text(s, name, query="", **more):
    answer = logs(s, name, query, **more)
    tap.equal(answer.status, 200, "status of the log of " + name)
    data = answer.json["data"]
    tap.equal((data["pod"], data["container"]), (data["sandbox"], "sandbox"))
    return data["logs"]


def check_views(s, name):
    """All ways to look at it."""
    tap.equal(text(s, name), ALL)
    tap.equal(text(s, name, "?tailLines=1"), "partial")
    tap.equal(text(s, name, "?tailLines=2"), "last\npartial")
    tap.equal(text(s, name, "?tailLines=99999"), ALL)
    timed = [x.split(" ", 1) for x in text(s, name, "?timestamps=true").split("\n")]
    tap.equal([x[1] for x in timed], LINES + ["partial"])
    tap.equal(text(s, name, "?since=" + timed[4][0]), "last\npartial")
    tap.equal(text(s, name, "?since=2999-01-01T00:00:00Z"), "")
    tap.equal(text(s, name, "?since=1"), ALL)
    for query in ("tailLines=0", "tailLines=x", "since=yesterday", "since=2026-01-01"):
        tap.equal(logs(s, name, "?" + query).status, 400, query)


def test_paused():
    with cells.running() as s:
        made = make(s, "nap")
        tap.equal(s.post("/api/v1/sandbox/pause/nap").status, 200)
        check_views(s, "nap")
        tap.equal(text(s, made["id"]), ALL)
        followed = logs(s, "nap", "?follow=true")
        tap.equal((followed.headers["Content-Type"], followed.body.decode()),
                  ("text/plain; charset=utf-8", ALL))
        # Reading does not wake it, even if use does.
        make(s, "light", autoResume=True)
        s.post("/api/v1/sandbox/pause/light")
        tap.equal(text(s, "light"), ALL)
        tap.equal(s.show("light").json["data"]["status"], "paused")
        s.kill()
        s.start()
        check_views(s, "nap")
        s.post("/api/v1/sandbox/resume/nap")
        tap.equal(text(s, "nap"), ALL)
        tap.equal(kept(s), [s.show("light").json["data"]["id"]])


def kept(s):
    return sorted(os.listdir(os.path.join(s.state, "logs")))


def test_paused_by_its_timeout():
    with cells.running() as s:
        make(s, "tired", timeout=2, autoPause=True)
        s.until(lambda: s.show("tired").json["data"]["status"] == "paused")
        tap.equal(text(s, "tired"), ALL)


def test_deleted():
    with cells.running() as s:
        one, two = s.make_key(account="one")["key"], s.make_key(account="two")["key"]
        made = make(s, "gone", key=one)
        tap.equal(s.remove("gone", key=one).status, 200)
        tap.equal(s.show("gone").status, 404)
        check_views(s, "gone")
        tap.equal(text(s, made["id"], key=one), ALL)
        tap.equal(logs(s, "gone", key=two).status, 404)
        tap.equal(logs(s, "gone", key=None).status, 401)
        s.kill()
        s.start()
        tap.equal(text(s, "gone", key=one), ALL)
        tap.equal(logs(s, "gone", key=two).status, 404)
        # A new one of that name has a log of its own.
        s.create(name="gone", key=one)
        tap.equal(text(s, "gone", key=one), "")
        tap.equal(text(s, made["id"], key=one), ALL)
        s.remove("gone", key=one)
        # Paused first, ended by its timeout.
        make(s, "both")
        s.post("/api/v1/sandbox/pause/both")
        s.remove("both")
        tap.equal(text(s, "both"), ALL)
        make(s, "late", timeout=2)
        s.until(lambda: s.show("late").status == 404)
        s.until(lambda: logs(s, "late").status == 200)
        tap.equal(text(s, "late"), ALL)


def test_without_a_main_process():
    with cells.running() as s:
        s.create(name="plain")
        tap.equal(text(s, "plain"), "")
        s.post("/api/v1/sandbox/pause/plain")
        tap.equal(text(s, "plain"), "")
        s.remove("plain")
        tap.equal(logs(s, "plain").status, 404)
        tap.equal(kept(s), [])


def test_they_are_not_kept_for_ever():
    with cells.running(env={"TIDEPOOL_LOGS_KEEP": "1500ms"}) as s:
        make(s, "short")
        make(s, "nap")
        s.post("/api/v1/sandbox/pause/nap")
        s.remove("short")
        tap.equal(text(s, "short"), ALL)
        s.until(lambda: logs(s, "short").status == 404)
        s.until(lambda: len(kept(s)) == 1)
        tap.equal(text(s, "nap"), ALL)
    with cells.running(env={"TIDEPOOL_LOGS_KEEP": "0"}) as s:
        make(s, "none")
        s.remove("none")
        tap.equal((logs(s, "none").status, kept(s)), (404, []))


def test_they_have_a_bound():
    """Room for two: the oldest one of a deleted sandbox goes, not that of a paused one."""
    size = len(ALL.encode()) + 6 * len("2026-01-27T10:00:00.123456Z ") + 20
    with cells.running(env={"TIDEPOOL_LOGS_MAX": str(int(size * 2.5))}) as s:
        make(s, "nap")
        s.post("/api/v1/sandbox/pause/nap")
        for name in ("one", "two"):
            make(s, name)
            s.remove(name)
        tap.equal([logs(s, n).status for n in ("nap", "one", "two")], [200, 404, 200])
        tap.equal((text(s, "nap"), text(s, "two")), (ALL, ALL))
        tap.equal(len(kept(s)), 2)


def test_one_account_pushes_out_its_own():
    """Each log counts for 16 KiB at least: ada has room for two, whatever bob does."""
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_LOGS": "40KiB"}) as s:
        ada, bob = (s.make_key(account=x)["key"] for x in ("ada", "bob"))
        for key, names in ((ada, ("a1", "a2")), (bob, ("b1", "b2", "b3", "b4"))):
            for name in names:
                make(s, name, key=key)
                s.remove(name, key=key)
        tap.equal([logs(s, n, key=ada).status for n in ("a1", "a2")], [200, 200])
        tap.equal([logs(s, n, key=bob).status for n in ("b1", "b2", "b3", "b4")],
                  [404, 404, 200, 200])
        tap.equal(maxima.used(s, "logs"), 4 * 16384)
        s.stop()
        s.start()
        tap.equal(maxima.used(s, "logs"), 4 * 16384)
        make(s, "b5", key=bob)
        s.remove("b5", key=bob)
        tap.equal([logs(s, n, key=bob).status for n in ("b3", "b4", "b5")], [404, 200, 200])
        tap.equal(logs(s, "a1", key=ada).status, 200)


def test_who_has_the_most_gives_way():
    """Where all of them are full, and an account may have more."""
    size = len(ALL.encode()) + 6 * len("2026-01-27T10:00:00.123456Z ") + 20
    env = {"TIDEPOOL_LOGS_MAX": str(int(size * 3.5)), "TIDEPOOL_QUOTA_ACCOUNT_LOGS": "0"}
    with cells.running(env=env) as s:
        ada, bob = (s.make_key(account=x)["key"] for x in ("ada", "bob"))
        for key, names in ((ada, ("a1",)), (bob, ("b1", "b2", "b3", "b4"))):
            for name in names:
                make(s, name, key=key)
                s.remove(name, key=key)
        tap.equal(logs(s, "a1", key=ada).status, 200)
        tap.equal([logs(s, n, key=bob).status for n in ("b1", "b2", "b3", "b4")],
                  [404, 404, 200, 200])


tap.main(globals())
