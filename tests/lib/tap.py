# SPDX-License-Identifier: MIT
"""TAP for the tests from outside: a test is a function whose name begins with test_.

    import tap

    def test_addition():
        tap.equal(1 + 1, 2)

    tap.main(globals())
"""

import sys
import traceback


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


def contains(text, part):
    if part not in text:
        raise AssertionError("%r is not in:\n%s" % (part, text))


def main(names):
    """Runs the test functions of a module in the order of their definition, and exits."""
    tests = [f for n, f in names.items() if n.startswith("test_") and callable(f)]
    failed = 0
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        title = "%d - %s" % (number, test.__name__[len("test_"):])
        try:
            test()
            print("ok " + title)
        except Skip as e:
            print("ok %s # SKIP %s" % (title, e))
        except Exception:
            failed += 1
            print("not ok " + title)
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
