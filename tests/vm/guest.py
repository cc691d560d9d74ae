# SPDX-License-Identifier: MIT
"""What the tests inside of the machine share: commands, the installed service, what it leaves.

    with guest.service() as s:
        s.create(name="one")
        tap.equal(s.run("one", "echo hi")["output"], "hi\\n")
"""

import contextlib
import json
import os
import subprocess
import time
import urllib.request

import cells
import tap

PACKAGE = "/opt/run/tidepool.deb"
SECOND = "/opt/run/tidepool-second.deb"
STATE = "/var/lib/tidepool"
URL = "http://127.0.0.1:10000"


class Failed(AssertionError):
    """A command that had to work did not."""


def sh(command, check=True, timeout=300, stdin="", **more):
    """Runs a shell command; what it printed, both streams together."""
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, input=stdin,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, errors="replace",
                          **more)
    if check and done.returncode != 0:
        raise Failed("%s: exit status %d\n%s" % (command, done.returncode, done.stdout[-4000:]))
    return done.stdout


def status(command, **more):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=300, **more).returncode


def until(what, seconds=60, message="it did not happen"):
    """Waits until WHAT() is true; what it returned. The time is for a slow machine."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(message() if callable(message) else message)
        time.sleep(0.1)


def apt(*arguments):
    return sh("DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -y "
              "--no-install-recommends " + " ".join(arguments), timeout=900)


def is_installed():
    return sh("dpkg-query -W -f='${db:Status-Status}' tidepool 2>/dev/null", check=False) == \
        "installed"


def journal(unit="tidepool", boot="-b"):
    return sh("journalctl --no-pager %s -u %s" % (boot, unit), check=False)


def answers():
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(URL + "/healthz", timeout=30) as answer:
            return json.load(answer)["status"] == "ok"
    return False


def wait_for_service(seconds=120):
    until(answers, seconds, lambda: "the service does not answer:\n%s\n%s" % (
        sh("systemctl status --no-pager -l tidepool", check=False), journal()[-6000:]))


def install(package=PACKAGE):
    """As a user would: apt with the file, its dependencies from where apt finds them."""
    apt("update")
    apt("install", package)


def installed():
    """Makes sure that the package is there and its service answers."""
    if not is_installed():
        install()
    if status("systemctl is-active tidepool") != 0:
        sh("systemctl start tidepool")
    wait_for_service()


class Service(cells.Service):
    """The service that the package runs, as the tests from outside see one."""

    program = "/usr/bin/tidepool"

    def __init__(self):
        self.state, self.url, self.host, self.port = STATE, URL, "127.0.0.1", 10000
        with open(os.path.join(STATE, "system.key")) as f:
            self.key = f.read().strip()

    def log(self):
        return journal()

    def main_pid(self):
        return int(sh("systemctl show -p MainPID --value tidepool"))

    def request(self, method, path, body=None, key="", headers=None, timeout=120):
        return super().request(method, path, body=body, key=key, headers=headers, timeout=timeout)


@contextlib.contextmanager
def service():
    """The installed service without sandboxes, and without those of the test afterwards."""
    installed()
    s = Service()
    s.remove_all()
    try:
        yield s
    finally:
        with contextlib.suppress(OSError, AssertionError):
            s.remove_all()


# ---- sandboxes that have to outlive something ---------------------------------------------------


def names(n):
    return ["box-%02d" % i for i in range(n)]


def fill(s, n):
    """Makes N sandboxes, each with a process and a file of its own."""
    for name in names(n):
        s.create(name=name)
        done = s.run(name, "echo %s >/tmp/name; sleep 100000 >/dev/null 2>&1 &" % name)
        tap.equal(done["exitCode"], 0, "exit code in " + name)


def check(s, n):
    """All of them are there as they were left."""
    tap.equal(sorted(s.names()), names(n), "the sandboxes")
    for name in names(n):
        done = s.run(name, "cat /tmp/name; pgrep -c -x sleep")
        tap.equal(done["output"], name + "\n1\n", "what is left in " + name)
