# SPDX-License-Identifier: MIT
"""One account attacks in twelve ways; another's requests are timed, quiet and under each attack.

    tests/chaos/test_neighbours.py [SECONDS [strict [ATTACK…]]]

prints a table of the other's p99. Always: all its requests succeed, its data are untouched, and no
round of the event loop takes long (in CPU time, which does not depend on what else the machine
does); it is not starved. With "strict", for a quiet machine (./dev bench neighbours): its p99 stays
within three times that of a busy machine and below 250 ms.

Attacker, victim and service share the processors here, which they do not in earnest. So that the
figures are those of the service: the victim's client never waits for a processor (it has a higher
priority than all others), the attacker's has a lower one, and what p99 are compared with is
measured while as many processes as there are processors calculate at the attacker's priority,
which harms nobody; "quiet" is the same without them. The stock of cells is the default one.
"made" is the part of "create" without the command.
"""

import contextlib
import multiprocessing
import os
import re
import sys
import time

import attacks
import bystander
import cells
import service
import tap

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.5
IS_STRICT = "strict" in sys.argv[2:3]
CHOSEN = sys.argv[3:] or list(attacks.ALL)
with open(service.PROGRAM, "rb") as program:
    STALL_MOST = 0.25 if b"__asan_init" in program.read() else 0.05  # seconds
STRICT_RATIO, STRICT_MOST = 3, 250  # ms
# What is noise on a quiet machine: a p99 of 0.3 ms may well be 1 ms in the next run.
STRICT_LEAST = 25
STARVED_RATIO, STARVED_LEAST = 30, 1000  # of medians, when the machine may be busy


def metric(s, name):
    text = s.get("/metrics").body.decode()
    return float(re.search(r"^%s (\S+)" % name, text, re.M)[1])


def measure(watcher, seconds):
    watcher.begin()
    time.sleep(seconds)
    return watcher.end()


def calculate():
    os.nice(attacks.NICE)
    while True:
        pass


@contextlib.contextmanager
def busy():
    """All processors have something to do."""
    context = multiprocessing.get_context("fork")
    all_of = [context.Process(target=calculate, daemon=True) for _ in range(os.cpu_count())]
    for process in all_of:
        process.start()
    try:
        yield
    finally:
        for process in all_of:
            process.kill()
            process.join()


def line(name, figures, quiet):
    shown = []
    for kind in bystander.KINDS + bystander.PARTS:
        now, times = bystander.quantile(figures["times"][kind], 0.99), figures["times"][kind]
        ratio = now / bystander.quantile(quiet["times"][kind], 0.99)
        shown.append("%8.1f %8.1f %5.1fx" % (bystander.quantile(times, 0.5), now, ratio))
    print("# %-13s %s" % (name, " |".join(shown)), flush=True)


def judge(name, figures, quiet):
    """What is wrong with the figures under an attack."""
    faults = ["%s: %s" % (name, x) for x in figures["failures"]]
    for kind in bystander.KINDS:
        before, times = quiet["times"][kind], figures["times"][kind]
        if not times:
            faults.append("%s: no answer to any %s" % (name, kind))
            continue
        q, ratio, least, most = ((0.99, STRICT_RATIO, STRICT_LEAST, STRICT_MOST) if IS_STRICT else
                                 (0.5, STARVED_RATIO, STARVED_LEAST, float("inf")))
        now, bound = bystander.quantile(times, q), ratio * bystander.quantile(before, q)
        bound = min(max(bound, least), most)
        if now > bound:
            faults.append("%s: %s takes %.1f ms, more than %.1f" % (name, kind, now, bound))
    return faults


def test_neighbours():
    faults = []
    env = {"TIDEPOOL_CELLS_INTERNET": "false"}
    if IS_STRICT:
        env["TIDEPOOL_CELLS_WARM"] = "8"
    with cells.running(env=env) as s:
        watcher = bystander.Bystander(s, nice=-15 if IS_STRICT else 0)
        try:
            key = s.make_key(account="attacker")["key"]
            measure(watcher, 1)  # what is done for the first time
            idle = measure(watcher, SECONDS)
            with busy():
                quiet = measure(watcher, 2 * SECONDS)
            print("# milliseconds, median and p99, and p99 over that of a busy machine")
            print("# %-13s %s" % ("", " |".join(
                "%24s" % k for k in bystander.KINDS + bystander.PARTS)))
            line("quiet", idle, quiet)
            line("busy", quiet, quiet)
            faults += judge("busy", quiet, quiet)
            for name in CHOSEN:
                with attacks.under_way(s, key, name):
                    figures = measure(watcher, SECONDS)
                line(name, figures, quiet)
                faults += judge(name, figures, quiet)
                watcher.check()
            line("afterwards", measure(watcher, SECONDS), quiet)
            print("# cells: %d from the stock, %d made for a request" % (
                metric(s, "tidepool_cells_hits_total"), metric(s, "tidepool_cells_misses_total")))
            stall = metric(s, "tidepool_loop_stall_cpu_seconds")
            print("# longest round of the loop: %.0f ms, of CPU %.0f ms" % (
                1000 * metric(s, "tidepool_loop_stall_seconds"), 1000 * stall))
            if stall > STALL_MOST:
                faults.append("a round of the loop took %.0f ms of CPU" % (1000 * stall))
            for x in s.log().splitlines():
                if "does not turn" in x:
                    print("# " + x)
        finally:
            watcher.close()
    tap.equal(faults, [], "%d findings" % len(faults))


if __name__ == "__main__":
    tap.main(globals())
