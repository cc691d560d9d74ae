# SPDX-License-Identifier: MIT
"""One account's jobs never keep another's from being done, and the service stops in its time.

Nothing here measures time: while the attacker's jobs hold all threads that one account can have,
and more of them wait, the other's are done from the first to the last. None of the attacker's may
have ended by then."""

import contextlib
import json
import os
import signal
import threading
import time

import service
import tap

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps")
RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LONG = 120  # seconds
THREADS = 2
# Until a limit ends it: half a second or more.
SLOW = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
# Catches what should end it.
DEAF = """DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(1000);
          EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"""
ENDLESS = ("SET statement_timeout = 0; "
           "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000000000)) TO STDOUT")


def running():
    return service.running(env={"TIDEPOOL_APPS_DIR": APPS, "TIDEPOOL_APPS_THREADS": str(THREADS),
                                "TIDEPOOL_TIMEOUTS_SHUTDOWN": "500ms"})


class Account:
    def __init__(self, s, name, app):
        self.s, self.app = s, app
        self.key = s.make_key(name=name, account=name)["key"]

    def acquire(self):
        answer = self.s.post("/sandbox/" + self.app, {"data": "default"}, key=self.key,
                             timeout=LONG)
        tap.equal(answer.status, 201, answer)
        return answer.json

    def path(self, box, what):
        return "/sandbox/%s/%s/%s" % (self.app, box["sandbox_id"], what)

    def verify(self, box, *checks):
        return self.s.post(self.path(box, "verify"), {"checks": checks}, key=self.key, timeout=LONG)

    def call(self, box, tool, **arguments):
        path = "/" + box["server_url"].partition("//")[2].partition("/")[2]
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        answer = self.s.post(path, json.dumps(message), key=None, headers=RPC, timeout=LONG)
        tap.equal(answer.status, 200, answer)
        return answer.json


def jobs(s):
    """(those that run, those that wait)"""
    text = s.get("/metrics").body.decode()
    return tuple(int(text.partition("\ntidepool_apps_jobs_%s " % x)[2].partition("\n")[0])
                 for x in ("running", "waiting"))


class Attack:
    """More jobs at once than there are threads for one account."""

    def __init__(self, account, *checks):
        self.account, self.checks = account, checks
        self.boxes = [account.acquire() for _ in range(THREADS + 2)]
        self.ended = []

    def run(self, box):
        with contextlib.suppress(OSError):  # the service is stopped meanwhile
            self.ended.append(self.account.verify(box, *self.checks).status)

    def __enter__(self):
        self.threads = [threading.Thread(target=self.run, args=(x,)) for x in self.boxes]
        for t in self.threads:
            t.start()
        end = time.monotonic() + LONG
        while jobs(self.account.s) != (THREADS, 2):
            assert time.monotonic() < end, jobs(self.account.s)
            time.sleep(0.01)
        return self

    def __exit__(self, *why):
        for t in self.threads:
            t.join()


def stop_under_load(s, told="stopped"):
    """The process ends, and says so last."""
    tap.equal(s.stop(), 0, "exit status")
    last = [json.loads(x)["msg"] for x in s.log().splitlines() if x.startswith("{")][-1]
    tap.equal(last, told)


def use(account, box):
    """All kinds of jobs that another one may have."""
    for what in ("dump", "diff"):
        answer = account.s.get(account.path(box, what), key=account.key, timeout=LONG)
        tap.equal(answer.status, 200, answer)
    answer = account.verify(box, {"sql": "SELECT 1"})
    tap.equal(answer.json["passed"], True, answer)


def test_checks_that_take_long():
    with running() as s:
        other = Account(s, "other", "motion")
        box = other.acquire()
        with Attack(Account(s, "attacker", "motion"), *[{"sql": SLOW}] * 1000) as attack:
            for _ in range(3):
                use(other, box)
                other.call(box, "motion_get_workspaces")
            third = Account(s, "third", "motion")
            use(third, third.acquire())
            tap.equal(attack.ended, [], "of the attacker's")
            tap.equal(jobs(s), (THREADS, 2))
            stop_under_load(s)


def test_queries_that_sleep():
    with running() as s:
        other = Account(s, "other", "postgres")
        box = other.acquire()
        with Attack(Account(s, "attacker", "postgres"),
                    *[{"sql": "SELECT pg_sleep(9)"}] * 10) as attack:
            use(other, box)
            text = other.call(box, "execute_sql", sql="SELECT 1 AS n")
            tap.equal(text["result"]["content"][0]["text"], "[{'n': 1}]")
            tap.equal(attack.ended, [], "of the attacker's")
            stop_under_load(s)


def test_queries_that_do_not_hear():
    with running() as s:
        account = Account(s, "attacker", "postgres")
        boxes = [account.acquire() for _ in range(2)]

        def attack(box, sql):
            account.call(box, "execute_sql", sql=sql)

        threads = [threading.Thread(target=attack, args=x) for x in zip(boxes, (DEAF, ENDLESS))]
        for t in threads:
            t.start()
        for t in threads:
            t.join(LONG)
            tap.equal(t.is_alive(), False)
        for box in boxes:
            left = account.call(box, "execute_sql",
                                sql="SELECT count(*) AS n FROM pg_stat_activity WHERE "
                                    "usename = current_user AND state = 'active'")
            tap.equal(left["result"]["content"][0]["text"], "[{'n': 1}]", "only this one")


def test_a_server_that_hangs():
    """What cannot be ended is left behind when the service stops, and the log says so."""
    with running() as s:
        account = Account(s, "account", "postgres")
        box = account.acquire()
        with open(os.path.join(s.state, "apps/postgres/data/postmaster.pid")) as f:
            postmaster = int(f.readline())
        os.kill(postmaster, signal.SIGSTOP)

        def ask():
            with contextlib.suppress(OSError, ValueError):
                account.verify(box, {"sql": "SELECT 1"})

        t = threading.Thread(target=ask)
        t.start()
        end = time.monotonic() + LONG
        while jobs(s)[0] == 0:
            assert time.monotonic() < end
            time.sleep(0.01)
        stop_under_load(s, "stopped: jobs of apps did not end")
        t.join()
        tap.equal(os.path.exists("/proc/%d" % postmaster), False, "the server is gone too")


tap.main(globals())
