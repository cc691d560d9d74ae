# SPDX-License-Identifier: MIT
"""A Debian as its installer leaves it: the package, then the first sandbox."""

import guest
import tap


def test_control_groups_are_those_of_systemd():
    """What the other tests rely on: this is the machine that people have."""
    tap.equal(guest.sh("stat -f -c %T /sys/fs/cgroup").strip(), "cgroup2fs")
    tap.contains(guest.sh("ps -o comm= -p 1"), "systemd")


def test_the_package_installs():
    guest.install()
    tap.equal(guest.is_installed(), True)


def test_the_service_runs_and_starts_with_the_machine():
    guest.wait_for_service()
    tap.equal(guest.sh("systemctl is-active tidepool").strip(), "active")
    tap.equal(guest.sh("systemctl is-enabled tidepool").strip(), "enabled")


def test_the_first_sandbox_answers():
    with guest.service() as s:
        s.create(name="sandbox-01")
        done = s.run("sandbox-01", "python3 -c 'print(6 * 7)'; id -u")
        tap.equal(done["output"].splitlines()[0], "42", "what the command printed")


def test_the_first_sandbox_by_the_command_line():
    """Root on the machine itself needs neither an address nor a key."""
    with guest.service():
        guest.sh("tidepool create --name lab")
        tap.equal(guest.sh("tidepool exec lab -- echo hello"), "hello\n")
        guest.sh("tidepool rm lab")


def test_doctor_finds_nothing_wrong():
    tap.contains(guest.sh("tidepool doctor"), "cgroups")


tap.main(globals())
