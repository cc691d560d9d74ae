# SPDX-License-Identifier: MIT
"""Every tool of every app, and every import, with arguments that nobody would send: no text of the
engine in an answer, no fault of the service, and what worked before works afterwards.

What is sent follows from the seed; tests/lib/odd_calls.py plays it. A run on request is longer,
says what was slow and, as it is run on a quiet machine, judges it.

    tests/api/test_odd_calls.py [CALLS] [SEED] [APP]
"""

import collections
import re
import sys

import odd_calls
import service
import tap

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 7
ONLY = sys.argv[3] if len(sys.argv) > 3 else None
SHOWN = 5


def test_odd_calls():
    sets = [x for x in odd_calls.variants() if x[0] == (ONLY or x[0])]
    each = max(CALLS // len(sets), 10)
    findings, slow, n = [], [], 0
    with service.running() as s:
        for app, benchmark in sets:
            player = odd_calls.Player(s, app, benchmark, SEED)
            player.play(each)
            n += player.n_calls
            if player.findings:
                print("# %s %s: %d findings" % (app, benchmark or "", len(player.findings)))
                for line in player.findings[:SHOWN]:
                    print("#   " + line, flush=True)
            findings += player.findings
            slow += [(took, app, *rest) for took, *rest in player.slow]
        faults = collections.Counter(re.findall(r"(?:could not use|not be imported).*error=(.*)",
                                                s.log()))
    for text, times in faults.most_common(40):
        print("# engine, in the log only, %d times: %s" % (times, text[:200]))
    for took, app, tool, args in sorted(slow, key=lambda x: -x[0])[:20]:
        print("# slow: %.0f ms %s %s %r" % (took * 1000, app, tool, str(args)[:300]))
    print("# seed %d: %d calls, %d findings, %d slow" % (SEED, n, len(findings), len(slow)))
    tap.equal(findings, [])


tap.main(globals())
