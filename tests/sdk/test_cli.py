# SPDX-License-Identifier: MIT
"""The npm program @e2b/cli, unmodified, against a real service; its terminals are typed into."""

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import time

import clients
import domain
import internet
import tap

PROGRAM = os.path.join(clients.MODULES, "@e2b", "cli", "dist", "index.js")
SECONDS = 60
COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07")


class Cli:
    """The program in an empty home."""

    def __init__(self, s, home):
        self.env = domain.client_env(s)
        self.env.update(HOME=home, E2B_PROJECT_ID="", NO_COLOR="1", CI="1", TERM="xterm")
        self.home = home
        self.command = clients.node(PROGRAM, "sandbox")

    def run(self, *arguments, status=0, stdin=""):
        done = subprocess.run([*self.command, *arguments], env=self.env, cwd=self.home,
                              input=stdin, capture_output=True, text=True, timeout=SECONDS)
        if status is not None:
            tap.equal(done.returncode, status, "status of %s\n%s%s" % (
                " ".join(arguments), done.stdout, done.stderr))
        return COLOURS.sub("", done.stdout)

    def typed(self, *arguments):
        return Typed([*self.command, *arguments], self.env, self.home)

    def create(self, *arguments):
        return sandbox_id(self.run("create", "base", "--detach", *arguments))

    def ids(self, *arguments):
        return [x["sandboxId"] for x in json.loads(self.run("list", "-f", "json", *arguments))]


def sandbox_id(text):
    found = re.search(r"\b[0-9a-f]{32}\b", text)
    assert found, "no id in %r" % text
    return found.group(0)


class Typed:
    """The program on a terminal."""

    def __init__(self, command, env, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                os.execve(command[0], command, env)
            finally:
                os._exit(127)
        self.text = ""

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                more = os.read(self.fd, 65536)
            except OSError:
                more = b""
            self.text += COLOURS.sub("", more.decode(errors="replace"))
            return bool(more)
        return True

    def expect(self, pattern):
        end = time.monotonic() + SECONDS
        while not re.search(pattern, self.text):
            is_open = self.read(0.2)
            assert is_open and time.monotonic() < end, "%r is not in %r" % (pattern, self.text)

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self):
        """The exit status."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        raise AssertionError("it does not end: %r" % self.text)

    def close(self):
        if self.pid:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@contextlib.contextmanager
def terminal(cli, *arguments):
    t = cli.typed(*arguments)
    try:
        yield t
    finally:
        t.close()


def test_create_list_kill():
    one = CLI.create()
    two = CLI.create("--timeout", "120", "--lifecycle.ontimeout", "pause")
    ids = CLI.ids()
    assert one in ids and two in ids, ids
    tap.contains(CLI.run("list"), one)
    tap.contains(CLI.run("kill", one), one)
    assert one not in CLI.ids(), "it is still listed"
    CLI.run("kill", one, status=None)
    CLI.run("kill", two)
    assert two not in CLI.ids("-s", "running,paused")


def test_exec():
    box = CLI.create()
    tap.equal(CLI.run("exec", box, "echo", "hello there"), "hello there\n")
    tap.equal(CLI.run("exec", "-u", "root", "-c", "/tmp", "-e", "A=b", box, "sh", "-c",
                      "id -un; pwd; echo $A"), "root\n/tmp\nb\n")
    CLI.run("exec", box, "sh", "-c", "exit 9", status=9)
    tap.equal(CLI.run("exec", box, "cat", stdin="piped in\n"), "piped in\n")
    CLI.run("exec", "-b", box, "sh", "-c", "sleep 0.2; echo done >/tmp/mark")
    tap.equal(CLI.run("exec", box, "sh", "-c",
                      "until [ -s /tmp/mark ]; do sleep 0.05; done; cat /tmp/mark"), "done\n")
    CLI.run("kill", box)


def test_connect():
    box = CLI.create()
    with terminal(CLI, "connect", box) as t:
        t.expect(r"\$ ")
        t.type("echo sum=$((40 + 2)) $(hostname >/dev/null && echo inside)\n")
        t.expect(r"sum=42 inside")
        t.type("cd /tmp && pwd && tty\n")
        t.expect(r"/tmp\s+/dev/pts/\d")
        t.type("sleep 100\n")
        time.sleep(0.3)
        t.type("\x03")
        t.type("echo status=$?\n")
        t.expect(r"status=130")
        t.type("exit\n")
        tap.equal(t.wait(), 0, "status")
    assert box in CLI.ids(), "it does not outlive the terminal"
    CLI.run("kill", box)


def test_create_with_terminal():
    with terminal(CLI, "create", "base") as t:
        t.expect(r"\$ ")
        t.type("echo me=$(id -un) $E2B_SANDBOX\n")
        t.expect(r"me=user true")
        t.type("exit\n")
        tap.equal(t.wait(), 0, "status")


def test_logs_and_metrics():
    box = CLI.create()
    CLI.run("exec", box, "true")
    assert CLI.run("logs", "--level", "DEBUG", box).strip(), "no logs"
    entries = CLI.run("logs", "--format", "json", "--level", "DEBUG", box).strip().splitlines()
    assert all(json.loads(x) for x in entries), entries
    end = time.monotonic() + 40
    while time.monotonic() < end:
        points = CLI.run("metrics", "--format", "json", box).strip()
        if points:
            break
        time.sleep(0.5)
    assert points, "no metrics"
    tap.contains(CLI.run("metrics", box), "CPU")
    CLI.run("kill", box)


def test_errors():
    CLI.run("exec", "0" * 32, "true", status=1)
    out = subprocess.run([*CLI.command, "list"], cwd=CLI.home, capture_output=True, text=True,
                         env={**CLI.env, "E2B_API_KEY": "e2b_0123456789abcdef"}, timeout=SECONDS)
    assert out.returncode != 0, out
    tap.contains(out.stdout + out.stderr, "Unauthorized")


def template(*arguments, **more):
    sandbox, CLI.command = CLI.command, clients.node(PROGRAM, "template")
    try:
        return CLI.run(*arguments, **more)
    finally:
        CLI.command = sandbox


def dockerfile(text):
    with open(os.path.join(CLI.home, "e2b.Dockerfile"), "w") as f:
        f.write("FROM e2bdev/base\n%s\n" % text)


def aliases():
    return [name for x in json.loads(template("list", "-f", "json")) for name in x["aliases"]]


def test_template_create():
    dockerfile("RUN echo made by the CLI > /home/user/made")
    out = template("create", "from-cli", "-d", "e2b.Dockerfile", "--cpu-count", "1",
                   "--memory-mb", "512")
    tap.contains(out, "from-cli")
    tap.contains(aliases(), "from-cli")
    box = sandbox_id(CLI.run("create", "from-cli", "--detach"))
    tap.contains(CLI.run("exec", box, "cat", "/home/user/made"), "made by the CLI")
    CLI.run("kill", box)
    dockerfile("RUN echo going to fail && exit 9")
    tap.contains(template("create", "fails-cli", "-d", "e2b.Dockerfile", status=1),
                 "going to fail")
    template("delete", "-y", "from-cli")
    assert "from-cli" not in aliases() and "fails-cli" not in aliases()


def test_by_name():
    """With nothing but E2B_DOMAIN, over TLS."""
    with domain.running_tls() as s:
        named = Cli(s, CLI.home)
        box = named.create()
        tap.equal(named.run("exec", box, "echo", "by name"), "by name\n")
        assert box in named.ids()
        named.run("kill", box)


def test_kill_all():
    CLI.create()
    CLI.create()
    CLI.run("kill", "--all")
    tap.equal(CLI.ids(), [])


try:
    clients.install()
    internet.open()
except tap.Skip as e:
    print("1..0 # SKIP %s" % e)
    raise SystemExit(0)
with domain.running() as SERVICE, domain.service.folder() as HOME:
    CLI = Cli(SERVICE, HOME)
    tap.main(globals())
