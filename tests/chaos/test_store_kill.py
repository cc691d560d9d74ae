#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills a writing store at random moments: what was acknowledged must be there.

    tests/chaos/test_store_kill.py [--rounds N] [--seed N]

Needs the helper program store_kill, $STORE_KILL.
"""

import argparse
import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import tap

PROGRAM = os.environ["STORE_KILL"]
FRESH_EVERY = 10  # rounds on one database: checking reads all of it
WAIT_S = 20

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=25)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
args = parser.parse_args()
chance = random.Random(args.seed)
print("# --rounds %d --seed %d" % (args.rounds, args.seed))


class Database:
    """A store in a directory of its own, and what it has acknowledged."""

    def __init__(self, keep):
        self.directory = tempfile.mkdtemp(prefix="tidepool-test-")
        self.path = os.path.join(self.directory, "db")
        self.keep = keep
        self.acked = {}  # seq: (writer, number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def write_and_kill(self, wait_for_first):
        """Runs the writer for a random time, kills it, and notes what it said."""
        with subprocess.Popen([PROGRAM, "write", self.path, str(self.keep)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            if wait_for_first and not select.select([process.stdout], [], [], WAIT_S)[0]:
                process.kill()
                raise AssertionError("nothing was acknowledged in %d s" % WAIT_S)
            text = read_for(process.stdout, chance.uniform(0, 0.1))
            process.kill()
            text += process.stdout.read()
            errors = process.stderr.read().decode()
            tap.equal((process.wait(), errors), (-signal.SIGKILL, ""), "end of the writer")
        lines = text.split(b"\n")[:-1]  # the last line may be cut
        for line in lines:
            seq, writer, number = map(int, line.split())
            self.acked[seq] = (writer, number)
        return len(lines)

    def check(self):
        """The chain verifies, every acknowledged event is there, no transaction is halved."""
        done = subprocess.run([PROGRAM, "check", self.path], capture_output=True, timeout=60,
                              check=False)
        tap.equal(done.returncode, 0, "check: %r" % (done.stdout + done.stderr))
        with sqlite3.connect(self.path) as c:
            rows = c.execute("SELECT seq, sandbox, message FROM event").fetchall()
            values = dict(c.execute("SELECT name, value FROM meta WHERE name LIKE 'writer%'"))
            anchor = c.execute("SELECT value FROM meta WHERE name = 'event_anchor'").fetchone()
        c.close()
        removed = int(anchor[0].split(":")[0]) if anchor else 0
        events = {seq: (int(name[len("writer"):]), int(message)) for seq, name, message in rows}
        for seq, what in self.acked.items():
            if seq > removed:
                tap.equal(events.get(seq), what, "acknowledged event %d" % seq)
        last = {}
        for writer, number in events.values():
            last["writer%d" % writer] = str(max(number, int(last.get("writer%d" % writer, 0))))
        for name, value in values.items():
            if name in last or removed == 0:
                tap.equal(last.get(name), value, "last event of " + name)


def read_for(pipe, seconds):
    text = b""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            text += os.read(pipe.fileno(), 65536)
    return text


def run(rounds, keep, wait_for_first=True):
    n_acked = n_rounds = 0
    while n_rounds < rounds:
        with Database(keep) as db:
            for _ in range(min(FRESH_EVERY, rounds - n_rounds)):
                n_acked += db.write_and_kill(wait_for_first)
                db.check()
                n_rounds += 1
    print("# %d rounds, %d acknowledged transactions" % (n_rounds, n_acked))
    return n_acked


def test_acknowledged_events_survive():
    assert run(args.rounds, -1) >= args.rounds


def test_retention_survives():
    assert run((args.rounds + 2) // 3, 300) >= args.rounds // 3


def test_a_kill_while_opening_does_no_harm():
    for _ in range((args.rounds + 2) // 3):
        with Database(-1) as db:
            for _ in range(2):
                db.write_and_kill(wait_for_first=False)
            db.check()


tap.main(globals())
