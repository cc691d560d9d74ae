# SPDX-License-Identifier: MIT
"""Sandboxes live on whatever happens to the service: restarts, `kill -9`, an upgrade."""

import os
import signal

import cells
import guest
import tap

MANY = 20


def test_twenty_sandboxes_live_over_restarts():
    with guest.service() as s:
        guest.fill(s, MANY)
        for _ in range(3):
            before = s.main_pid()
            guest.sh("systemctl restart tidepool")
            guest.wait_for_service()
            assert s.main_pid() != before, "the same process"
        guest.check(s, MANY)


def test_a_stop_and_a_start():
    with guest.service() as s:
        guest.fill(s, 2)
        guest.sh("systemctl stop tidepool")
        tap.equal(guest.answers(), False, "answers after a stop")
        guest.sh("systemctl start tidepool")
        guest.wait_for_service()
        guest.check(s, 2)


def test_kill_9_of_the_service():
    with guest.service() as s:
        guest.fill(s, 3)
        before = s.main_pid()
        os.kill(before, signal.SIGKILL)
        guest.until(lambda: s.main_pid() not in (0, before), 60, "systemd did not start it again")
        guest.wait_for_service()
        guest.check(s, 3)
        tap.contains(guest.journal(), "status=9/KILL")


def test_kill_9_of_the_spawner():
    """Its sandboxes end with it and are recorded as lost; new ones are made at once."""
    with guest.service() as s:
        guest.fill(s, 2)
        os.kill(cells.spawner_pid(guest.STATE), signal.SIGKILL)
        guest.until(lambda: not s.names(), 60, lambda: "still there: %r" % s.names())
        tap.equal(s.reasons(guest.names(1)[0])[-1], "SandboxExited", "the last event")
        s.create(name="after")
        tap.equal(s.run("after", "echo new")["output"], "new\n")
        tap.equal(guest.sh("systemctl is-active tidepool").strip(), "active")


def test_an_upgrade():
    """The next build comes with programs of its own for new sandboxes; the old ones keep theirs."""
    with guest.service() as s:
        guest.fill(s, 5)
        before, old = s.main_pid(), cells.spawner_pid(guest.STATE)
        guest.apt("install", guest.SECOND)
        tap.contains(guest.sh("dpkg-query -W tidepool"), "+second")
        guest.wait_for_service()
        assert s.main_pid() != before, "the service was not restarted"
        guest.check(s, 5)
        s.create(name="new")
        tap.equal(s.run("new", "echo new")["output"], "new\n")
        assert cells.spawner_pid(guest.STATE) != old, "new sandboxes come from the old build"
        s.remove("new")
        guest.check(s, 5)


def test_the_groups_are_apart():
    """The service's own group has no children, so that systemd may start it again in there."""
    with guest.service() as s:
        guest.fill(s, 1)
        group = guest.sh("systemctl show -p ControlGroup --value tidepool").strip()
        below = [name for name in os.listdir("/sys/fs/cgroup" + group)
                 if os.path.isdir("/sys/fs/cgroup%s/%s" % (group, name))]
        tap.equal(below, [], "groups below that of the service")
        tap.contains(guest.sh("systemctl status --no-pager tidepool.slice"), ".scope")


tap.main(globals())
