# SPDX-License-Identifier: MIT
"""The verbs for sandboxes, on the real program and real cells. Needs root."""

import contextlib
import fcntl
import hashlib
import http.server
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
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


def test_the_banner_can_be_pasted():
    """Root needs neither URL nor key on the service's own machine."""
    ours = "  " + service.PROGRAM
    lines = [x.strip() for x in server.output().splitlines() if x.startswith(ours)]
    tap.equal([x[len(service.PROGRAM):].split()[0] for x in lines],
              ["create", "exec", "rm", "keys"])
    for line in lines:
        p = subprocess.run(["sh", "-c", line], env=service.clean_env(), capture_output=True,
                           timeout=100)
        tap.equal((p.returncode, p.stderr), (0, b""), line)


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
    tap.contains(bad(2, "create", "--timeout", "soon"), "expected a time")
    tap.contains(bad(2, "show"), "expected NAME")
    tap.contains(bad(2, "rm"), "expected NAME..., or --all")
    tap.contains(bad(2, "rm", "--all", "x"), "cannot be combined")
    tap.contains(bad(2, "exec", "x"), "expected NAME [--] COMMAND")
    tap.contains(bad(2, "cp", "a", "b"), "NAME:PATH")
    tap.contains(bad(2, "cp", "a:b", "c:d"), "NAME:PATH")
    tap.contains(bad(2, "logs", "-x", "y"), "unknown option '-x'")
    tap.equal(good("ls", "-q"), "")


def test_more_than_the_machine_has():
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for memory in ("%dKi" % (total // 512), "999999Gi"):
        tap.contains(bad(1, "create", "--memory", memory),
                     'invalid memory_limit "%s": this host has %dMi' % (memory, total >> 20))
        answer = server.post("/api/v1/sandbox", {"memory": memory})
        tap.equal(answer.status, 400, answer)
    tap.equal(good("ls", "-q"), "")
    with sandbox("--cpu", "1000", "--memory", "%dKi" % (total // 2048)) as box:
        tap.equal(good("exec", box, "echo fine"), "fine\n")


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
    tap.contains(bad(2, "ls", "--url", server.url), "requires a key")
    tap.contains(bad(1, "ls", "--url", "ftp://x", "--key", key), "not a URL")
    tap.contains(bad(1, "ls", "--url", server.url, "--key", "wrong-key"), "rejected the key")
    tap.contains(bad(1, "ls", "--url", "http://127.0.0.1:1", "--key", key), "the service: ")


def test_https_only_with_a_certificate_that_can_be_trusted():
    with service.folder() as d:
        cert, key = d + "/cert.pem", d + "/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days",
                        "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True)
        with service.running("--tls-cert", cert, "--tls-key", key) as s:
            where = ("--url", "https://localhost:%d" % s.port, "--key", s.key)
            tap.equal(good("ls", "-q", *where, env={"SSL_CERT_FILE": cert}), "")
            tap.contains(bad(1, "ls", *where), "the service: ")


class Between(http.server.BaseHTTPRequestHandler):
    """A proxy that serves below /pre, and badly elsewhere."""

    protocol_version = "HTTP/1.1"
    seen = []

    def answer(self, status, body, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.seen.append((self.path, self.headers["Authorization"]))
        if self.path.startswith("/pre/api/v1/sandbox/files/"):
            self.answer(200, b"only a part", 1000)
            self.close_connection = True
        elif self.path.startswith("/pre/"):
            self.answer(200, b'{"code":"0","data":[{"name":"far"}]}')
        elif self.path.startswith("/odd/"):
            self.answer(200, b"<html>")
        else:
            self.answer(502, b"<html>bad</html>")

    def log_message(self, *args):
        pass


def test_what_stands_between():
    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % proxy.server_port
    try:
        tap.equal(good("ls", "-q", "--url", url + "/pre/", "--key", "k-12345"), "far\n")
        tap.equal(Between.seen[0], ("/pre/api/v1/sandbox?state=&template=", "Bearer k-12345"))
        tap.contains(bad(1, "ls", "--url", url, "--key", "k"), "refused: 502 Bad Gateway")
        tap.contains(bad(1, "ls", "--url", url + "/odd", "--key", "k"), "answer of the service: ")
        with service.folder() as d:
            tap.contains(bad(1, "cp", "--url", url + "/pre", "--key", "k", "far:/x", d + "/x"),
                         "the service: ")
            tap.equal(os.listdir(d), [])
    finally:
        proxy.shutdown()
        proxy.server_close()


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


def test_the_api_takes_and_gives_base64():
    with sandbox() as box:
        def ask(**fields):
            return server.post("/api/v1/terminal/sandbox/" + box, dict(fields, command="cat"))

        answer = ask(stdin_base64="AP9h", encoding="base64").json["data"]
        tap.equal((answer["output"], answer["encoding"]), ("AP9h", "base64"))
        answer = ask(stdin_base64="AP9h").json["data"]
        tap.equal((answer["output"], "encoding" in answer), ("\0\ufffda", False))
        tap.equal(ask(stdin="x", encoding="utf-8").json["data"]["output"], "x")
        for wrong in ({"encoding": "hex"}, {"stdin_base64": "*"}, {"stdin_base64": 1}):
            tap.equal(ask(**wrong).status, 400)


def test_exec_passes_output_on_as_it_comes():
    with sandbox() as box:
        p = subprocess.Popen([service.PROGRAM, "exec", box, "--",
                              "sh", "-c", "echo one; echo two >&2; until [ -e go ]; do sleep 0.05; "
                              "done; echo three; exit 7"],
                             env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.equal(p.stdout.readline(), b"one\n")
        tap.equal(p.stderr.readline(), b"two\n")
        good("exec", box, "touch go")
        tap.equal((p.stdout.read(), p.stderr.read(), p.wait(20)), (b"three\n", b"", 7))
        p.stdout.close()
        p.stderr.close()


def test_exec_cuts_nothing():
    with sandbox() as box:
        status, out, err = run("exec", box, "head -c 30000000 /dev/zero; head -c 9000000 "
                                            "/dev/zero >&2")
        tap.equal((status, len(out), len(err)), (0, 30_000_000, 9_000_000))


def test_exec_is_interrupted():
    with sandbox() as box:
        for command, left in (("trap 'echo int > got; exit' INT; echo up; while :; do sleep 0.05; "
                               "done", "int\n"), ("trap '' INT; echo up; sleep 7043", "")):
            p = subprocess.Popen([service.PROGRAM, "exec", box, "--", "sh", "-c", command], env=ENV,
                                 stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(
                                     signal.SIGINT, signal.SIG_DFL))
            tap.equal(p.stdout.readline(), b"up\n")
            p.send_signal(signal.SIGINT)
            tap.equal(p.wait(20), -signal.SIGINT)
            p.stdout.close()
            server.until(lambda: good("exec", box, "pgrep -f '[s]leep 0.05|[s]leep 7043' || true")
                         == "", 20)
            tap.equal(good("exec", box, "cat got 2>/dev/null; rm -f got"), left)


def test_times_have_units():
    with sandbox("--timeout", "1h", "--idle-timeout", "1h30m") as box:
        shown = json.loads(good("show", "--json", box))
        tap.equal((shown["timeout"], shown["idle_timeout"]), (3600, 5400))
        tap.equal(good("exec", "--timeout", "1h", box, "echo hi"), "hi\n")
        tap.equal(run("exec", "--timeout", "1s", box, "sleep 100")[0], 124)
        for wrong in ("1x", "", "h", "-5", "2d"):
            err = bad(2, "exec", "--timeout", wrong, box, "true")
            tap.contains(err, "--timeout: expected a time")


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

    def suspend(self):
        """Stops the program, which must give the terminal back before, and lets it go on."""
        self.process.send_signal(signal.SIGTSTP)
        end = time.monotonic() + 20
        stopped = False
        while not stopped:
            assert time.monotonic() < end, "it did not stop"
            self.read(0.02)
            with open("/proc/%d/stat" % self.process.pid) as f:
                stopped = f.read().rpartition(")")[2].split()[0] == "T"
        tap.equal(termios.tcgetattr(self.slave), self.before, "modes of the terminal")
        self.process.send_signal(signal.SIGCONT)
        while termios.tcgetattr(self.slave)[3] & termios.ICANON:
            assert time.monotonic() < end, "it does not have the terminal again"
            time.sleep(0.02)

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
        t = Terminal("top")
        t.wait_for(b"q quits")
        t.suspend()
        tap.contains(t.shown, b"\x1b[?1049l")
        t.shown = b""
        t.wait_for(b"q quits")
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


# ---- shell ----

def shell(box, **more):
    """A shell that waits for its first command."""
    t = Terminal("shell", box, **more)
    t.wait_for(b"$ ")
    assert not termios.tcgetattr(t.slave)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)
    return t


def test_shell_is_a_terminal():
    with sandbox() as box:
        t = shell(box, rows=33, cols=101)
        t.type(b"tty; stty size\r")
        t.wait_for(b"/dev/pts/")
        t.wait_for(b"33 101")
        t.type("echo gr\u00fc\u00dfe | od -An -tx1\r".encode())
        t.wait_for(b"67 72 c3 bc c3 9f 65 0a")
        t.resize(50, 120)
        t.process.send_signal(signal.SIGWINCH)
        time.sleep(0.3)
        t.type(b"stty size\r")
        t.wait_for(b"50 120")
        t.type(b"sleep 1000\r")
        time.sleep(0.3)
        t.type(b"\x03echo still $((6 * 7))\r")  # control-C ends the command inside, nothing here
        t.wait_for(b"still 42")
        t.type(b"exit 7\r")
        tap.equal(t.wait(), 7)


def test_shell_ends_with_control_d_and_takes_much_output():
    with sandbox() as box:
        t = shell(box)
        t.type(b"seq 1 200000 | tail -n 150000; echo the-$((1 + 1))nd-end\r")
        t.wait_for(b"the-2nd-end", 60)
        tap.contains(t.shown, b"\r\n123456\r\n")
        t.type(b"\x04")
        tap.equal(t.wait(), 0)


def test_shell_gives_the_terminal_back_however_it_ends():
    with sandbox("--name", "lost") as box:
        for signo in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            t = shell(box)
            t.process.send_signal(signo)
            tap.equal(t.wait(), 128 + signo)
        t = shell(box)
        good("rm", box)
        tap.equal(t.wait() != 0, True)
    t = Terminal("shell", "lost")
    tap.equal(t.wait(), 1)
    tap.contains(t.shown, b"sandbox lost not found")
    tap.contains(bad(1, "shell", "lost"), "use 'tidepool exec'")


def test_shell_can_be_suspended():
    with sandbox() as box:
        t = shell(box)
        t.suspend()
        t.type(b"exit 3\r")
        tap.equal(t.wait(), 3)


# ---- cp ----

def random_file(path, size):
    with open("/dev/urandom", "rb") as source, open(path, "wb") as f:
        data = source.read(size)
        f.write(data)
    return hashlib.sha256(data).hexdigest()


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def test_cp_of_50_mb_both_ways():
    with sandbox() as box, service.folder() as d:
        want = random_file(d + "/big.bin", 50_000_000)
        tap.equal(good("cp", d + "/big.bin", box + ":/home/user/"), "")
        tap.equal(good("exec", box, "sha256sum < big.bin; stat -c %U big.bin"),
                  want + "  -\nuser\n")
        tap.equal(json.loads(good("cp", "--json", box + ":/home/user/big.bin", d + "/back")),
                  {"source": box + ":/home/user/big.bin", "destination": d + "/back",
                   "bytes": 50_000_000})
        tap.equal(sha256(d + "/back"), want)
        tap.equal(sorted(os.listdir(d)), ["back", "big.bin"])


def test_cp_of_files():
    with sandbox() as box, service.folder() as d:
        name = "with space's & \u00fc"
        with open(d + "/" + name, "w") as f:
            f.write("#!/bin/sh\necho ran\n")
        os.chmod(d + "/" + name, 0o755)
        os.makedirs(d + "/in")
        os.mkfifo(d + "/pipe")
        good("cp", d + "/" + name, box + ":/opt/new/dir/tool")
        tap.equal(good("exec", box, "/opt/new/dir/tool"), "ran\n")
        good("cp", d + "/" + name, box + ":/tmp")
        good("cp", box + ":/tmp/" + name, d + "/in")
        tap.equal(sha256(d + "/in/" + name), sha256(d + "/" + name))
        good("cp", "-", box + ":/tmp/typed", stdin=b"a\0b")
        tap.equal(run("cp", box + ":/tmp/typed", "-"), (0, b"a\0b", b""))
        good("exec", box, ": > /tmp/empty")
        good("cp", box + ":/tmp/empty", d + "/empty")
        tap.equal(os.path.getsize(d + "/empty"), 0)
        good("cp", d + "/empty", box + ":/tmp/empty2")
        tap.equal(good("exec", box, "stat -c %s /tmp/empty2"), "0\n")


def test_cp_of_directories():
    with sandbox() as box, service.folder() as d:
        os.makedirs(d + "/tree/sub/deep")
        want = random_file(d + "/tree/sub/deep/data", 300_000)
        os.symlink("sub/deep/data", d + "/tree/link")
        with open(d + "/tree/run", "w") as f:
            f.write("#!/bin/sh\n")
        os.chmod(d + "/tree/run", 0o750)
        good("cp", d + "/tree", box + ":/home/user/made")
        good("cp", d + "/tree/", box + ":/home/user/made")
        shown = good("exec", box, "cd made; find . -printf '%P %u %m %l\\n' | sort; ls -A /tmp")
        tree = ["link user 777 sub/deep/data", "run user 750 ", "sub user 755 ",
                "sub/deep user 755 ", "sub/deep/data user 644 "]
        want_lines = tree + ["tree user 755 "] + ["tree/" + x for x in tree]
        tap.equal(sorted(shown.splitlines()[1:]), sorted(want_lines))
        good("cp", box + ":/home/user/made", d + "/fetched")
        tap.equal(sha256(d + "/fetched/tree/link"), want)
        good("cp", box + ":/home/user/made", d + "/fetched")
        tap.equal(sha256(d + "/fetched/made/sub/deep/data"), want)


def test_cp_and_exec_mean_the_same_relative_path():
    with sandbox() as box, sandbox("--workdir", "/srv/w") as placed, service.folder() as d:
        os.makedirs(d + "/tree")
        for path in (d + "/file", d + "/tree/in"):
            with open(path, "w") as f:
                f.write("#!/bin/sh\necho ran\n")
            os.chmod(path, 0o755)
        for name, start in ((box, "/home/user"), (placed, "/srv/w")):
            good("cp", d + "/file", name + ":rel")
            good("cp", d + "/file", name + ":")
            good("cp", d + "/tree", name + ":dir/")
            good("cp", d + "/tree", name + ":~/kept")
            tap.equal(good("exec", name, "pwd; ./rel; ./file; dir/in; ~/kept/in"),
                      start + "\n" + 4 * "ran\n")
            tap.equal(good("exec", "--user", "root", name,
                           "ls -A / /root | grep -c -e ^rel -e ^dir -e ^file || true"), "0\n")
            good("cp", name + ":rel", d + "/back-" + name)
            good("cp", name + ":dir", d + "/tree-" + name)
            tap.equal(os.listdir(d + "/tree-" + name), ["in"])


def test_cp_says_what_is_wrong_and_leaves_nothing():
    with sandbox() as box, service.folder() as d:
        random_file(d + "/file", 1000)
        tap.contains(bad(1, "cp", d + "/none", box + ":/tmp"), "No such file")
        tap.contains(bad(1, "cp", d + "/file", "nobody:/tmp/x"), "sandbox nobody not found")
        tap.contains(bad(1, "cp", d, "nobody:/tmp/x"), "sandbox nobody not found")
        tap.contains(bad(1, "cp", box + ":/none", d + "/x"), "not found: /none")
        tap.contains(bad(1, "cp", box + ":/etc/passwd", d + "/no/x"), "No such file")
        tap.contains(bad(1, "cp", box + ":/etc", "-"), "is a directory")
        tap.contains(bad(1, "cp", "-", box + ":/tmp"), "give a file name")
        tap.contains(bad(1, "cp", d + "/file", box + ":/etc/passwd/x"), "not a directory")
        tap.equal(os.listdir(d), ["file"])
        tap.equal(good("exec", box, "ls -A /tmp"), "")


def test_cp_shows_progress_on_a_terminal_only():
    with sandbox() as box, service.folder() as d:
        random_file(d + "/big", 20_000_000)
        t = Terminal("cp", d + "/big", box + ":/tmp/big")
        tap.equal(t.wait(), 0)
        last = t.shown.decode().rstrip().split("\r")[-1]
        tap.contains(last, "100%")
        tap.contains(last, "19 MiB of 19 MiB")
        tap.contains(last, "/s  in 0:0")
        t = Terminal("cp", "--quiet", box + ":/tmp/big", d + "/back")
        tap.equal((t.wait(), t.shown), (0, b""))


def test_cp_that_is_broken_off_leaves_nothing_here():
    with sandbox() as box, service.folder() as d:
        good("exec", box, "mkfifo /tmp/p; truncate -s 4G /tmp/huge")
        p = subprocess.Popen([service.PROGRAM, "cp", box + ":/tmp/huge", d + "/huge"], env=ENV)
        end = time.monotonic() + 20
        while not os.listdir(d):
            assert time.monotonic() < end
            time.sleep(0.005)
        p.send_signal(signal.SIGINT)
        tap.equal(p.wait(20), 130)
        tap.equal(os.listdir(d), [])


# ---- logs ----

def test_logs_of_the_main_process():
    with sandbox("sh", "-c", "for i in 1 2 3 4 5; do echo line $i; done; echo wrong >&2; "
                             "sleep 1; echo late; sleep 1000") as box:
        end = time.monotonic() + 20
        while "wrong" not in good("logs", box):
            assert time.monotonic() < end
            time.sleep(0.05)
        tap.equal(good("logs", box).splitlines()[:6],
                  ["line %d" % i for i in range(1, 6)] + ["wrong"])
        p = subprocess.Popen([service.PROGRAM, "logs", "-f", "-n", "3", box], env=ENV,
                             stdout=subprocess.PIPE)
        got = b""
        while b"late\n" not in got:
            got += os.read(p.stdout.fileno(), 1000)
            assert time.monotonic() < end, got
        p.terminate()
        p.wait(20)
        p.stdout.close()
        tap.equal(good("logs", "--tail", "2", box), "wrong\nlate\n")
        tap.contains(json.loads(good("logs", "--json", box))["logs"], "line 1\n")
        tap.contains(good("logs", "--since", "1h", "--tail", "2000", box), "line 1\n")
        tap.contains(bad(1, "logs", "--tail", "0", box), "positive")
    tap.contains(bad(1, "logs", "nobody"), "sandbox nobody not found")
    tap.contains(bad(1, "logs", "-f", "nobody"), "sandbox nobody not found")


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
