# SPDX-License-Identifier: MIT
"""A reboot with sandboxes, one of them paused: nothing is waited for, and the service is back."""

import sys

import guest
import tap


def before_reboot():
    guest.installed()
    s = guest.Service()
    s.remove_all()
    guest.fill(s, 3)
    tap.equal(s.post("/api/v1/sandbox/pause/box-02").status, 200, "pause")


def test_nothing_was_waited_for():
    """What the first process of the last boot said: no unit ran into its time-out."""
    said = guest.sh("journalctl --no-pager -b -1 _PID=1")
    tap.contains(said, "tidepool.service: Deactivated successfully")
    late = [line for line in said.splitlines() if "timed out" in line.lower()]
    tap.equal(late, [], "what timed out")


def test_the_service_is_back():
    guest.wait_for_service()
    s = guest.Service()
    guest.until(lambda: not s.names(), 60, lambda: "still there: %r" % s.names())
    for name in guest.names(3):
        tap.equal(s.reasons(name)[-1], "SandboxExited", "the last event of " + name)
    with guest.service() as s:
        s.create(name="after")
        tap.equal(s.run("after", "echo back")["output"], "back\n")


def test_no_unit_failed():
    tap.equal(guest.sh("systemctl --failed --no-legend --no-pager"), "", "failed units")


if sys.argv[1:] == ["before_reboot"]:
    before_reboot()
else:
    tap.main(globals())
