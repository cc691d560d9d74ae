# SPDX-License-Identifier: MIT
"""Whether the event loop turns, as the service itself measures it.

    with stalls.Watched(s, "a long search"):
        …                       # another client asks meanwhile
"""

import re
import threading

import service
import tap

with open(service.PROGRAM, "rb") as program:
    IS_SANITIZED = b"__asan_init" in program.read()
# Seconds of CPU of a round of the loop, which do not depend on what else the machine does; a
# sanitized program takes several times as long for the same.
MOST_CPU = 0.25 if IS_SANITIZED else 0.05


def longest(s):
    """The longest round so far, in seconds: of CPU, and by the clock."""
    text = s.get("/metrics").body.decode()
    return [float(re.search(r"^tidepool_loop_stall_%sseconds (\S+)" % x, text, re.M)[1])
            for x in ("cpu_", "")]


class Watched:
    """Another client asks all the time; at the end no round was long, by the clock neither where
    MOST is given: what was waited for took no CPU."""

    def __init__(self, s, name="", most=None):
        self.s, self.name, self.most = s, name, most
        self.n, self.is_over = 0, False

    def ask(self):
        while not self.is_over:
            tap.equal(self.s.get("/healthz").status, 200)
            self.n += 1

    def __enter__(self):
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()
        return self

    def __exit__(self, kind, *more):
        self.is_over = True
        self.thread.join()
        if kind:
            return
        cpu, clock = longest(self.s)
        assert cpu < MOST_CPU and (not self.most or clock < self.most), \
            "%s: a round of the loop took %.0f ms, %.0f ms of CPU" % (
                self.name, clock * 1000, cpu * 1000)
