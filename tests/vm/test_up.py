# SPDX-License-Identifier: MIT
"""`./dev up` of a checkout, typed into a login on a terminal as a user would."""

import contextlib
import json
import os
import pty
import select
import signal
import time

import cells
import guest
import tap

STATE = "/var/tmp/up"
PROMPT = "ready> "


class Login:
    """A session that PAM knows, on a terminal of its own."""

    def __init__(self, user="root"):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp("login", ["login", "-f", user])
        self.seen = ""
        self.wait_for("# ")
        # In two halves, as what is typed is still echoed.
        self.type("PS1='%s''%s' PS2= TERM=dumb; stty -echo" % (PROMPT[:3], PROMPT[3:]))
        self.wait_for(PROMPT)

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def wait_for(self, text, seconds=120):
        """What came up to TEXT and behind it; the end of the command is the end of the wait."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert PROMPT not in self.seen, "no %r in:\n%s" % (text, self.seen[-3000:])
            if not select.select([self.fd], [], [], 1)[0]:
                assert time.monotonic() < end, "no %r in:\n%s" % (text, self.seen[-3000:])
                continue
            self.seen += self.read()
        seen, self.seen = self.seen, ""
        return seen

    def read(self):
        """What is there; nothing while login hangs the terminal up to have it for itself."""
        try:
            return os.read(self.fd, 65536).decode(errors="replace").replace("\r", "")
        except OSError:
            assert os.waitpid(self.pid, os.WNOHANG)[0] == 0, "login ended:\n" + self.seen
            time.sleep(0.1)
            return ""

    def run(self, command, seconds=120):
        self.type(command)
        return self.wait_for(PROMPT, seconds).replace(PROMPT, "")

    def close(self):
        with contextlib.suppress(OSError):
            os.close(self.fd)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGHUP)
        os.waitpid(self.pid, 0)


def checkout():
    """The checkout where it was built: there it is up to date, and nothing is compiled anew."""
    with open("/opt/run/source") as f:
        place = f.read().strip()
    if not os.path.exists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        guest.sh("cp -a /opt/run/checkout %s" % place)
    return place


class Up(cells.Service):
    """The service of the checkout, run in a login."""

    def __init__(self, login, url, place):
        self.program = os.path.join(place, "build", "tidepool")
        self.login, self.state, self.url, self.host = login, STATE, url, "127.0.0.1"
        self.port = int(url.rpartition(":")[2])
        with open(os.path.join(STATE, "system.key")) as f:
            self.key = f.read().strip()

    def log(self):
        return self.login.seen


@contextlib.contextmanager
def up():
    place, login = checkout(), Login()
    try:
        login.type("cd %s && ./dev up --listen 127.0.0.1:0 --state %s" % (place, STATE))
        said = login.wait_for("is running.", 900)
        guest.until(lambda: os.path.exists(STATE + "/service.json"), 60, "no service")
        with open(STATE + "/service.json") as f:
            yield Up(login, json.load(f)["url"], place), said
        login.type("\x03")
        login.wait_for(PROMPT, 120)
    finally:
        login.close()
        cells.end_spawner(STATE)
        guest.sh("rm -rf " + STATE)


def test_it_is_a_login_session():
    login = Login()
    try:
        tap.contains(login.run("cat /proc/self/cgroup"), "/user.slice/user-0.slice/session-")
        tap.contains(login.run("loginctl --no-pager list-sessions"), "root")
    finally:
        login.close()


def test_dev_up_and_the_first_sandbox():
    with up() as (s, said):
        assert "cannot" not in said, said
        s.create(name="sandbox-01")
        done = s.run("sandbox-01", "python3 -c 'print(6 * 7)'; id -un")
        tap.equal(done["output"], "42\nuser\n", "as the default user")
        s.create(name="small", cpu_limit="500m", memory_limit="128Mi", pids=50, disk="64Mi")
        tap.equal(s.run("small", "echo limited")["output"], "limited\n")
        tap.equal(s.post("/api/v1/sandbox/pause/small").status, 200, "pause")
        tap.equal(s.post("/api/v1/sandbox/resume/small").status, 200, "resume")
        s.remove_all()


tap.main(globals())
