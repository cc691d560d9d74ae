# SPDX-License-Identifier: MIT
"""The verbs for sandboxes, on the real program and real cells. Needs root."""

import contextlib
import fcntl
import hashlib
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import cells
import service
import tap

server = None  # one service for all tests
ENV = {}


def run(*args, stdin=b"", env=None, timeout=100):
    """(exit status, standard output, standard error), the latter two as bytes."""
    done = subprocess.run([service.PROGRAM, *args], input=stdin, capture_output=True,
                          env=dict(ENV, **env or {}), timeout=timeout)
    return done.returncode, done.stdout, done.stderr


def digest(data):
    return "%d bytes %s" % (len(data), hashlib.sha256(data).hexdigest()[:16])


def digests(*args, **more):
    status, out, err = run(*args, **more)
    return status, digest(out), digest(err)


def good(*args, **more):
    """Standard output as text of a call that must succeed without a word."""
    status, out, err = run(*args, **more)
    tap.equal((status, err), (0, b""), "tidepool %s" % " ".join(args))
    return out.decode()


def bad(status, *args, **more):
    """Standard error of a call that must fail with STATUS and print nothing."""
    got, out, err = run(*args, **more)
    tap.equal((got, out), (status, b""), "tidepool %s: %r" % (" ".join(args), err))
    return err.decode()


@contextlib.contextmanager
def sandbox(*args):
    name = good("create", *args).strip()
    try:
        yield name
    finally:
        run("rm", name)


# ---- create, ls, show, rm ----

def test_create_prints_the_name():
    tap.equal(good("create", "--name", "made"), "made\n")
    tap.contains(bad(1, "create", "--name", "made"), "already exists")
    tap.equal(good("rm", "made"), "made\n")
    tap.contains(bad(1, "rm", "made"), "sandbox made not found")


def test_create_hands_over_every_option():
    shown = json.loads(good(
        "create", "--json", "--name", "full", "--env", "A=1", "-e", "B=x=y", "--metadata", "k=v",
        "--timeout", "500", "--idle-timeout", "400", "--auto-pause", "--auto-resume", "--cpu",
        "1500m", "--memory", "256Mi", "--pids", "100", "--port", "3000", "--workdir", "/tmp",
        "--app", "test", "sleep", "1000"))
    try:
        want = {"name": "full", "timeout": 500, "idle_timeout": 400, "autoPause": True,
                "autoResume": True, "cpu_limit": "1500m", "memory_limit": "256Mi", "pids": 100,
                "port": 3000, "workdir": "/tmp", "app": "test", "cmd": "sleep", "args": ["1000"],
                "metadata": {"k": "v"}, "status": "running"}
        tap.equal({k: shown.get(k) for k in want}, want)
        tap.equal((shown["envVars"]["A"], shown["envVars"]["B"]), ("1", "x=y"))
        tap.equal(good("exec", "full", "echo $A $B; pwd"), "1 x=y\n/tmp\n")
        again = json.loads(good("show", "--json", "full"))
        tap.equal(again["id"], shown["id"])
        text = good("show", "full")
        for part in ("Name            full\n", "Memory          256Mi\n", "B=x=y\n", "k=v\n"):
            tap.contains(text, part)
    finally:
        run("rm", "full")


def test_wrong_options_are_refused_before_anything_happens():
    tap.contains(bad(2, "create", "--env", "novalue"), "expected NAME=VALUE, got 'novalue'")
    tap.contains(bad(2, "create", "--timeout", "soon"), "expected a whole number")
    tap.contains(bad(2, "show"), "expected NAME")
    tap.contains(bad(2, "rm"), "expected NAME..., or --all")
    tap.contains(bad(2, "rm", "--all", "x"), "exclude each other")
    tap.contains(bad(2, "exec", "x"), "expected NAME [--] COMMAND")
    tap.contains(bad(2, "cp", "a", "b"), "NAME:PATH")
    tap.contains(bad(2, "cp", "a:b", "c:d"), "NAME:PATH")
    tap.contains(bad(2, "logs", "-x", "y"), "unknown option '-x'")
    tap.equal(good("ls", "-q"), "")


def test_the_services_words_are_passed_on():
    tap.contains(bad(1, "create", "--template", "nonsense"), "nonsense")
    tap.contains(bad(1, "create", "--name", "Wrong Name"), "invalid sandbox name")
    for verb in (["show"], ["exec"], ["pause"], ["resume"], ["rm"]):
        tail = ["true"] if verb == ["exec"] else []
        tap.contains(bad(1, *verb, "nobody", *tail), "sandbox nobody not found")


def test_ls_is_a_table_and_filters():
    with sandbox("--name", "one", "--metadata", "team=a"), sandbox("--name", "two"):
        run("pause", "two")
        lines = good("ls").splitlines()
        tap.equal(lines[0].split(), "NAME STATUS TEMPLATE AGE EXPIRES CPU MEM".split())
        tap.equal([x.split()[:3] for x in lines[1:]],
                  [["two", "paused", "default"], ["one", "running", "default"]])
        tap.equal(good("ls", "-q"), "two\none\n")
        tap.equal(good("ls", "-q", "--status", "paused"), "two\n")
        tap.equal(good("ls", "-q", "--metadata", "team=a"), "one\n")
        tap.equal(good("ls", "-q", "--metadata", "team"), "one\n")
        tap.equal(good("ls", "-q", "--metadata", "team=b"), "")
        tap.equal(good("ls", "-q", "--template", "other"), "")
        tap.equal([x["name"] for x in json.loads(good("ls", "--json"))], ["two", "one"])
    tap.equal(json.loads(good("ls", "--json")), [])


def test_rm_goes_on_and_takes_all():
    for name in ("r1", "r2", "r3"):
        good("create", "--name", name)
    run("pause", "r3")
    status, out, err = run("rm", "r1", "nobody", "r2")
    tap.equal((status, out), (1, b"r1\nr2\n"))
    tap.contains(err.decode(), "sandbox nobody not found")
    good("create", "--name", "r1")
    tap.equal(json.loads(good("rm", "--all", "--json")), ["r1", "r3"])
    tap.equal(good("ls", "-q"), "")
    tap.equal(good("rm", "--all"), "")


# ---- where the service is ----

def test_another_service_by_url_and_key():
    elsewhere = {"TIDEPOOL_STATE": "/nonexistent/state"}
    remote = dict(elsewhere, TIDEPOOL_URL=server.url, TIDEPOOL_API_KEY=server.key)
    key = server.make_key(account="ada")["key"]
    with sandbox("--name", "mine"):
        tap.equal(good("ls", "-q", env=remote), "mine\n")
        tap.equal(good("exec", "mine", "echo", "hi", env=remote), "hi\n")
        tap.equal(good("ls", "-q", "--url", server.url + "/", "--key", key, env=elsewhere), "")
        tap.contains(bad(1, "show", "mine", "--url", server.url, "--key", key), "not found")
    tap.contains(bad(1, "ls", env=elsewhere), "no service is running")
    tap.contains(bad(2, "ls", "--url", server.url), "a key is needed")
    tap.contains(bad(1, "ls", "--url", "ftp://x", "--key", key), "not a URL")
    tap.contains(bad(1, "ls", "--url", server.url, "--key", "wrong-key"), "does not know the key")
    tap.contains(bad(1, "ls", "--url", "http://127.0.0.1:1", "--key", key), "the service: ")


# ---- exec ----

def test_exec_passes_everything_through():
    with sandbox() as box:
        tap.equal(run("exec", box, "echo out; echo err >&2; exit 3"), (3, b"out\n", b"err\n"))
        tap.equal(run("exec", box, "kill -9 $$")[0], 137)
        tap.equal(good("exec", box, "--", "printf", "%s|", "a b", "it's", "$x", "-e", "--json"),
                  "a b|it's|$x|-e|--json|")
        tap.equal(good("exec", box, "ls", "-d", "/tmp"), "/tmp\n")
        tap.equal(good("exec", "--cwd", "/var", "-e", "K=v w", box, "pwd; echo $K"), "/var\nv w\n")
        tap.equal(good("exec", "-u", "root", box, "id -u"), "0\n")
        tap.equal(good("exec", box, "id -un"), "user\n")
        tap.equal(json.loads(good("exec", "--json", box, "exit 4"))["exitCode"], 4)


def test_exec_is_clean_for_any_byte():
    blob = bytes(range(256)) * 300
    with sandbox() as box:
        tap.equal(digests("exec", "-i", box, "cat", stdin=blob), (0, digest(blob), digest(b"")))
        tap.equal(digests("exec", "--stdin", box, "cat >&2", stdin=blob),
                  (0, digest(b""), digest(blob)))
        tap.equal(run("exec", box, "cat", stdin=b"not asked for"), (0, b"", b""))
        tap.equal(digests("exec", box, "head -c 5000000 /dev/zero | tr '\\0' '\\377'"),
                  (0, digest(b"\xff" * 5000000), digest(b"")))


def test_exec_ends_with_its_time():
    with sandbox() as box:
        start = time.monotonic()
        tap.equal(run("exec", "--timeout", "1", box, "echo early; sleep 60")[:2],
                  (124, b"early\n"))
        assert time.monotonic() - start < 20


# ---- pause, resume, top ----

def test_pause_and_resume():
    with sandbox() as box:
        tap.equal(good("pause", box), box + "\n")
        tap.equal(json.loads(good("show", "--json", box))["status"], "paused")
        tap.contains(bad(1, "exec", box, "true"), "is paused")
        tap.equal(json.loads(good("resume", "--json", box)), [box])
        tap.equal(good("exec", box, "echo", "on"), "on\n")


def test_top_once():
    tap.equal(json.loads(good("top", "--json")), {})
    with sandbox() as box:
        lines = good("top", "--once").splitlines()
        tap.equal(lines[0].split(), "NAME STATUS CPU% MEM LIMIT PROCS".split())
        tap.equal(lines[1].split()[:2], [box, "running"])
        assert json.loads(good("top", "--json"))[box]["memoryBytes"] > 0


class Terminal:
    """The program on a terminal of its own; what it shows is collected."""

    def __init__(self, *args, rows=24, cols=80):
        self.master, self.slave = pty.openpty()
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        self.process = subprocess.Popen([service.PROGRAM, *args], stdin=self.slave,
                                        stdout=self.slave, stderr=self.slave, env=ENV,
                                        preexec_fn=self.take_terminal)

    def take_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, text):
        os.write(self.master, text)

    def read(self, seconds=0.2):
        if select.select([self.master], [], [], seconds)[0]:
            self.shown += os.read(self.master, 65536)

    def wait_for(self, part, seconds=30):
        end = time.monotonic() + seconds
        while part not in self.shown:
            assert time.monotonic() < end, "%r is not in %r" % (part, self.shown[-2000:])
            self.read()

    def wait(self, seconds=30):
        """The exit status; the terminal must be as it was."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "still running: %r" % self.shown[-2000:]
            self.read()
        self.read(0)
        tap.equal(termios.tcgetattr(self.slave), self.before, "modes of the terminal")
        os.close(self.master)
        os.close(self.slave)
        return self.process.returncode


def test_top_refreshes_until_q():
    with sandbox("--name", "watched"):
        t = Terminal("top", "--interval", "1")
        t.wait_for(b"watched")
        t.wait_for(b"q quits")
        assert not termios.tcgetattr(t.slave)[3] & termios.ICANON
        t.shown = b""
        t.wait_for(b"watched")
        t.type(b"q")
        tap.equal(t.wait(), 0)
        for signo, status in ((signal.SIGINT, 0), (signal.SIGTERM, 143)):
            t = Terminal("top")
            t.wait_for(b"q quits")
            t.process.send_signal(signo)
            tap.equal(t.wait(), status)


def test_tables_fit_the_terminal():
    with sandbox("--name", "a-sandbox-with-a-rather-long-name-for-a-terminal"):
        t = Terminal("ls", cols=60)
        tap.equal(t.wait(), 0)
        lines = t.shown.decode().splitlines()
        tap.equal(len(lines), 2)
        assert max(len(x) for x in lines) <= 60, lines
        tap.contains(lines[1], "…")
        tap.contains(lines[1], "4096Mi")


# ---- all of them on one service ----

def test_nothing_is_left():
    tap.equal(good("ls", "-q"), "")


status = 0
try:
    with cells.running() as server:
        ENV = service.clean_env({"TIDEPOOL_STATE": server.state, "TERM": "dumb"})
        try:
            tap.main(globals())
        except SystemExit as end:
            status = end.code
except tap.Skip as reason:
    print("1..0 # SKIP %s" % reason)
sys.exit(status)
