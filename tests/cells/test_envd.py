# SPDX-License-Identifier: MIT
"""The service inside of a cell, spoken to directly over its control socket: commands, files,
terminals, log. Needs root."""

import base64
import concurrent.futures
import http.client
import json
import os
import socket
import subprocess
import sys
import time

import tap


class Unix(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path, timeout=60):
        super().__init__("cell", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


lab = subprocess.Popen([os.environ["CELL_LAB"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
first = lab.stdout.readline()
if not first or first.startswith(b"1..0"):
    print(first.decode() or "1..0 # SKIP no cell can be made here")
    sys.exit(0)
CELL = json.loads(first)


def call(method, target, body=None, headers=None, timeout=60):
    """(status, headers, body) of one request on a connection of its own."""
    c = Unix(CELL["socket"], timeout)
    try:
        c.request(method, target, body, headers or {})
        r = c.getresponse()
        return r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read()
    finally:
        c.close()


def post(target, value):
    status, _, body = call("POST", target, json.dumps(value))
    return status, json.loads(body)


def run(command, **more):
    status, answer = post("/run", dict(more, command=command))
    tap.equal(status, 200, answer)
    return answer


def fails(status, text, got):
    tap.equal(got[0], status, got)
    tap.contains(got[1]["message"], text)
    tap.equal(got[1]["code"], status)


# ---- commands ----


def test_a_command_is_answered_with_its_outputs_and_code():
    a = run("echo hi; echo oops >&2; exit 3")
    tap.equal((a["stdout"], a["stderr"], a["exitCode"]), ("hi\n", "oops\n", 3))
    tap.equal((a["signal"], a["timedOut"], a["truncated"]), (None, False, False))
    assert a["durationMs"] >= 0
    a = run("kill -TERM $$")
    tap.equal((a["exitCode"], a["signal"]), (143, 15))


def test_argv_is_not_a_shell():
    status, a = post("/run", {"argv": ["printf", "%s|", "a b", "$HOME", ""]})
    tap.equal((status, a["stdout"]), (200, "a b|$HOME||"))


def test_the_user_is_user_unless_asked_otherwise():
    tap.equal(run("id -un; pwd; echo $HOME $USER $LOGNAME")["stdout"],
              "user\n/home/user\n/home/user user user\n")
    tap.equal(run("id -un; pwd", user="root")["stdout"], "root\n/root\n")
    fails(400, "no user 'nobody-here'", post("/run", {"command": "id", "user": "nobody-here"}))


def test_environment_of_the_claim_and_of_the_request():
    status, _ = post("/claim", {"hostname": "boxed", "env": {"A": "claim", "B": "claim", "N": 5},
                                "user": "user"})
    tap.equal(status, 200)
    tap.equal(run("echo $A $B $N; hostname", env={"B": "request=1"})["stdout"],
              "claim request=1 5\nboxed\n")
    fails(400, "env", post("/run", {"command": "true", "env": {"A=B": "x"}}))
    fails(400, "env", post("/run", {"command": "true", "env": ["A"]}))
    env = run("env -0; true")["stdout"].split("\0")
    names = sorted(e.split("=")[0] for e in env if e)
    for name in names:
        assert name in ("A", "B", "N", "HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "PWD",
                        "SHLVL", "_", "OLDPWD"), names


def test_directories():
    tap.equal(run("pwd", cwd="/tmp")["stdout"], "/tmp\n")
    fails(400, "/nowhere", post("/run", {"command": "pwd", "cwd": "/nowhere"}))
    fails(400, "/etc/passwd", post("/run", {"command": "pwd", "cwd": "/etc/passwd"}))


def test_stdin_comes_whole_and_ends():
    tap.equal(run("cat; echo .", stdin="one\ntwo")["stdout"], "one\ntwo.\n")
    tap.equal(run("cat", stdin="")["stdout"], "")
    raw = bytes(range(256)) * 5000
    a = run("sha256sum | cut -c1-64", stdin_base64=base64.b64encode(raw).decode())
    import hashlib
    tap.equal(a["stdout"].strip(), hashlib.sha256(raw).hexdigest())
    # Somebody who does not read it is not waited for.
    tap.equal(run("exit 4", stdin="x" * 1000000)["exitCode"], 4)


def test_wrong_requests():
    for body in ("", "{}", '{"command":"  \\n"}', '{"command":""}', '{"argv":[]}'):
        status, _, text = call("POST", "/run", body)
        tap.equal((status, json.loads(text)["message"]), (400, "command is required"), body)
    for body in ("{", "[]", '{"argv":"ls"}', '{"argv":[1]}', '{"command":"a\\u0000b"}',
                 '{"command":"id","user":7}'):
        tap.equal(call("POST", "/run", body)[0], 400, body)
    fails(400, "no-such-program", post("/run", {"argv": ["no-such-program"]}))
    tap.equal(call("GET", "/run")[0], 405)
    tap.equal(call("GET", "/nothing")[0], 404)


def test_malformed_http_is_refused():
    for text in (b"GARBAGE\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /health HTTP/1.1\r\n\r\n",
                 b"POST /run HTTP/1.1\r\nHost: c\r\nContent-Length: x\r\n\r\n"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(CELL["socket"])
        s.sendall(text)
        tap.contains(s.recv(4096).decode(), "HTTP/1.1 ")
        s.close()
    tap.equal(call("GET", "/health")[0], 200)


def test_any_bytes_become_valid_json():
    a = run(r"printf 'a\000b\377\303\050\n'")
    tap.equal(a["stdout"], "a\0b\ufffd\ufffd(\n")
    a = run(r"printf 'a\000b\377'", encoding="base64")
    tap.equal(base64.b64decode(a["stdout"]), b"a\0b\xff")


def test_a_mebibyte_is_intact_and_twenty_are_cut():
    a = run("head -c 1048576 /dev/zero | tr '\\0' x; echo err >&2")
    tap.equal((len(a["stdout"]), a["truncated"], a["stderr"]), (1048576, False, "err\n"))
    a = run("head -c 20971520 /dev/zero | tr '\\0' x; echo err >&2")
    tap.equal((len(a["stdout"]), a["truncated"], a["stderr"]), (8 << 20, True, "err\n"))
    a = run("echo 123456", max_output=3)
    tap.equal((a["stdout"], a["truncated"]), ("123", True))


def test_a_timeout_kills_the_whole_tree():
    start = time.monotonic()
    a = run("echo begun; (sleep 7001 & setsid sleep 7002 & sleep 7003); echo never",
            timeout_ms=500)
    tap.equal((a["stdout"], a["timedOut"], a["signal"]), ("begun\n", True, 9))
    took = time.monotonic() - start
    assert 0.4 < took < 3, took
    time.sleep(0.2)
    tap.equal(run("pgrep -f 'sleep 700[123]' || echo none")["stdout"], "none\n")


def test_a_background_child_does_not_hold_the_answer():
    start = time.monotonic()
    a = run("sleep 60 & echo done")
    tap.equal(a["stdout"], "done\n")
    assert time.monotonic() - start < 5
    tap.equal(run("pkill -x sleep; true", user="root")["exitCode"], 0)


def test_two_hundred_at_once():
    def one(i):
        return run("sleep 0.2; echo %d" % i)["stdout"] == "%d\n" % i

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert all(pool.map(one, range(200)))


def test_orphans_are_reaped():
    run("for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'sleep 0.1' &) ; done; sleep 0.4")
    tap.equal(run("ps -eo stat | grep -c Z || true")["stdout"], "0\n")


def test_commands_inherit_nothing_of_the_first_process():
    a = run("ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status; "
            "grep SigBlk /proc/self/status; cat /proc/self/oom_score_adj")
    tap.equal(a["stdout"].split(),
              ["0", "1", "2", "3", "SigIgn:", "0" * 16, "SigBlk:", "0" * 16, "100"])


def test_processes_and_signals():
    c = Unix(CELL["socket"])
    c.request("POST", "/run", json.dumps({"argv": ["sleep", "7010"]}))
    for _ in range(100):
        procs = json.loads(call("GET", "/procs")[2])["processes"]
        if procs:
            break
        time.sleep(0.02)
    mine = [p for p in procs if p["name"] == "sleep"]
    tap.equal((len(mine), mine[0]["running"]), (1, True))
    tap.equal(post("/signal", {"pid": mine[0]["pid"], "signal": 15})[0], 200)
    tap.equal(json.loads(c.getresponse().read())["signal"], 15)
    c.close()
    tap.equal(post("/signal", {"pid": 1, "signal": 9})[0], 400)
    tap.equal(post("/signal", {"pid": 999999, "signal": 9})[0], 404)
    stats = json.loads(call("GET", "/stats")[2])
    assert stats["processes"] >= 1 and stats["diskTotal"] > 0, stats


def test_a_requester_that_leaves_does_no_harm():
    for _ in range(20):
        c = Unix(CELL["socket"])
        c.request("POST", "/run", json.dumps({"command": "sleep 0.1; head -c 300000 /dev/zero"}))
        c.close()
    time.sleep(0.5)
    tap.equal(run("echo alive")["stdout"], "alive\n")
    tap.equal(json.loads(call("GET", "/procs")[2])["processes"], [])


def test_an_idle_first_process_is_small():
    with open("/proc/%d/smaps_rollup" % CELL["pid"]) as f:
        figures = dict(l.split(":") for l in f.read().splitlines()[1:])
    private = sum(int(figures[k].split()[0]) for k in ("Private_Dirty", "Private_Clean"))
    print("# private memory of the first process after all this: %d KiB" % private)
    assert private < 1536, figures


try:
    tap.main(globals())
finally:
    lab.stdin.close()
    lab.wait(30)
