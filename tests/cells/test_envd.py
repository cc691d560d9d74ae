# SPDX-License-Identifier: MIT
"""The service inside of a cell, spoken to directly over its control socket: commands, files,
terminals, log. Needs root."""

import base64
import concurrent.futures
import hashlib
import http.client
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
import urllib.parse

import connect
import tap


class Unix(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path, timeout=60):
        super().__init__("cell", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = connect.dial(self.path, self.timeout)


def be_in_the_background():
    """nohup and shells without job control ignore these for what they start. In a cell a terminal
    hangs up and interrupts by them."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


lab = subprocess.Popen([os.environ["CELL_LAB"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                       preexec_fn=be_in_the_background)
first = lab.stdout.readline()
if not first or first.startswith(b"1..0"):
    print(first.decode() or "1..0 # SKIP no cell can be made here")
    sys.exit(0)
CELL = connect.know(json.loads(first))


def only_in_a_cell(test):
    """Leaves a test out where the service runs on the host, for the sanitizers to see it: the same
    file runs in a cell too."""
    return None if CELL.get("host") else test


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


def wait_for(is_so, seconds=20):
    """The machine may be busy."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.02)


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


def stream(command, **more):
    """A connection and the answer that comes while the command runs."""
    c = Unix(CELL["socket"], 60)
    c.request("POST", "/run", json.dumps(dict(more, command=command, stream=True)))
    return c, c.getresponse()


def line_of(answer):
    line = json.loads(answer.readline())
    return {k: base64.b64decode(v) if k in ("stdout", "stderr") else v for k, v in line.items()}


def is_there(pattern):
    return run("pgrep -f '%s' || true" % pattern)["stdout"] != ""


def test_outputs_come_while_the_command_runs():
    run("rm -f /tmp/on")
    c, answer = stream("echo one; until [ -e /tmp/on ]; do sleep 0.05; done; echo two >&2; exit 5")
    tap.equal((answer.status, line_of(answer)), (200, {"stdout": b"one\n"}))
    run("touch /tmp/on")
    tap.equal(line_of(answer), {"stderr": b"two\n"})
    end = line_of(answer)
    tap.equal((end["exitCode"], end["signal"], end["timedOut"]), (5, 0, False))
    tap.equal(answer.read(), b"")
    c.close()
    c, answer = stream("sleep 7047", timeout_ms=200)
    end = line_of(answer)
    tap.equal((end["exitCode"], end["signal"], end["timedOut"]), (137, 9, True))
    c.close()
    fails(400, "nobody-x", post("/run", {"command": "true", "user": "nobody-x", "stream": True}))


def test_a_slow_reader_gets_all_of_a_long_output():
    c, answer = stream("head -c 20000000 /dev/zero")
    time.sleep(0.3)
    n = 0
    while "exitCode" not in (line := line_of(answer)):
        n += len(line["stdout"])
    tap.equal((n, line["exitCode"]), (20_000_000, 0))
    c.close()


def test_who_leaves_ends_a_command_that_is_tied():
    for more in ({"stream": True}, {"tied": True}):
        c = Unix(CELL["socket"], 60)
        c.request("POST", "/run", json.dumps(dict(more, command="sleep 7048; true")))
        wait_for(lambda: is_there("[s]leep 7048"))
        c.close()
        wait_for(lambda: not is_there("[s]leep 7048"))
    c, answer = stream("trap '' INT; echo on; sleep 7049; true")
    tap.equal(line_of(answer), {"stdout": b"on\n"})
    c.close()
    wait_for(lambda: not is_there("[s]leep 7049"))


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


@only_in_a_cell
def test_the_environment_has_nothing_of_the_host():
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
        s = connect.dial(CELL["socket"], 5)
        s.sendall(text)
        tap.contains(s.recv(4096).decode(), "HTTP/1.1 ")
        s.close()
    tap.equal(call("GET", "/health")[0], 200)


def test_any_bytes_become_valid_json():
    a = run(r"printf 'a\000b\377\303\050\n'")
    tap.equal(a["stdout"], "a\0b\ufffd\ufffd(\n")
    a = run(r"printf 'a\000b\377'", encoding="base64")
    tap.equal(base64.b64decode(a["stdout"]), b"a\0b\xff")


def test_streams_can_be_opened_by_name():
    a = run("echo o > /dev/stdout; echo e > /dev/stderr; cat /dev/stdin", stdin="i\n")
    tap.equal((a["stdout"], a["stderr"]), ("o\ni\n", "e\n"))


def test_a_mebibyte_is_intact_and_twenty_are_cut():
    a = run("head -c 1048576 /dev/zero | tr '\\0' x; echo err >&2")
    tap.equal((len(a["stdout"]), a["truncated"], a["stderr"]), (1048576, False, "err\n"))
    a = run("head -c 20971520 /dev/zero | tr '\\0' x; echo err >&2")
    tap.equal((len(a["stdout"]), a["truncated"], a["stderr"]), (8 << 20, True, "err\n"))
    a = run("echo 123456", max_output=3)
    tap.equal((a["stdout"], a["truncated"]), ("123", True))


def test_large_answers_take_little_memory():
    # Every byte of it becomes six in JSON: 96 MiB, more than there is if it were made at once.
    a = run("head -c 8388608 /dev/zero | tee /dev/stderr")
    tap.equal((a["stdout"] == "\0" * 8388608, a["stderr"] == a["stdout"]), (True, True))
    text = "\u00e4\u20ac\U0001f30a" * 100000
    tap.equal(run("cat", stdin=text)["stdout"] == text, True)
    raw = os.urandom(300001)
    a = run("cat", stdin_base64=base64.b64encode(raw).decode(), encoding="base64")
    tap.equal(base64.b64decode(a["stdout"]) == raw, True)
    c = Unix(CELL["socket"])
    c.request("POST", "/run", json.dumps({"command": "head -c 8388608 /dev/zero"}))
    c.getresponse().read(1000)
    c.close()


def test_a_timeout_kills_the_whole_tree():
    start = time.monotonic()
    a = run("echo begun; (sleep 7001 & setsid sleep 7002 & sleep 7003); echo never",
            timeout_ms=500)
    tap.equal((a["stdout"], a["timedOut"], a["signal"]), ("begun\n", True, 9))
    took = time.monotonic() - start
    assert 0.4 < took < 10, took
    wait_for(lambda: run("pgrep -f 'sleep 700[123]' || echo none")["stdout"] == "none\n")


def test_time_in_which_the_cell_stands_still_does_not_count():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(run, "sleep 2; echo done", timeout_ms=4000)
        time.sleep(1)
        os.kill(CELL["pid"], signal.SIGSTOP)
        time.sleep(4)
        os.kill(CELL["pid"], signal.SIGCONT)
        a = answer.result()
    tap.equal((a["stdout"], a["timedOut"]), ("done\n", False))


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
    run("for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'sleep 0.1' &) ; done")
    wait_for(lambda: run("ps -eo stat | grep -c Z || true")["stdout"] == "0\n")


def test_commands_inherit_nothing_of_the_first_process():
    a = run("ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status; "
            "grep SigBlk /proc/self/status")
    tap.equal(a["stdout"].split(),
              ["0", "1", "2", "3", "SigIgn:", "0" * 16, "SigBlk:", "0" * 16])


@only_in_a_cell
def test_memory_is_taken_from_commands_first():
    """The first process has the score of its commands only while it starts one."""
    a = run("cat /proc/self/oom_score_adj; for i in $(seq 500); do n=$(cat /proc/1/oom_score_adj); "
            "[ $n = 500 ] || break; sleep 0.01; done; echo $n", user="root")
    tap.equal(a["stdout"].split(), ["500", "100"])


@only_in_a_cell
def test_the_first_process_does_not_show_the_host():
    a = run("tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/environ", user="root")
    tap.equal(a["stdout"].strip(" "), "tidepool-envd")
    tap.contains(a["stderr"], "Permission denied")


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
    tap.equal(run("echo alive")["stdout"], "alive\n")
    wait_for(lambda: json.loads(call("GET", "/procs")[2])["processes"] == [])


# ---- files ----


def quoted(path):
    return urllib.parse.quote(path, safe="")


def form(*files, field="file"):
    """(body, headers) of a multipart form; a file is (name, bytes)."""
    edge = "edge7MA4YWxk"
    body = b""
    for name, data in files:
        body += ('--%s\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n'
                 % (edge, field, name)).encode() + data + b"\r\n"
    body += ("--%s--\r\n" % edge).encode()
    return body, {"Content-Type": "multipart/form-data; boundary=" + edge}


def upload(path, *files, **more):
    body, headers = form(*files, **more)
    status, _, text = call("POST", "/fs/upload?path=" + quoted(path), body, headers)
    return status, json.loads(text)


def put(path, data):
    status, _, text = call("POST", "/fs/upload?path=" + quoted(path), data,
                           {"Content-Type": "application/octet-stream"})
    return status, json.loads(text)


def get(path, more="", **headers):
    return call("GET", "/fs/download?path=" + quoted(path) + more, None,
                dict((k.replace("_", "-"), v) for k, v in headers.items()))


def delete(path, more=""):
    status, _, text = call("DELETE", "/fs/entry?path=" + quoted(path) + more)
    return status, json.loads(text)


def entries(path):
    status, _, text = call("GET", "/fs/list?path=" + quoted(path))
    tap.equal(status, 200, text)
    return json.loads(text)["entries"]


def test_upload_list_download_delete():
    status, a = upload("/tmp/f1", ("hello.txt", b"hello\n"))
    tap.equal((status, a["path"], a["fileName"]), (200, "/tmp/f1", "hello.txt"))
    assert a["uploadedAt"].endswith("Z")
    (e,) = entries("/tmp/f1")
    tap.equal((e["name"], e["path"], e["isDir"], e["size"], e["mode"]),
              ("hello.txt", "/tmp/f1/hello.txt", False, 6, "0644"))
    status, headers, body = get("/tmp/f1/hello.txt")
    tap.equal((status, body), (200, b"hello\n"))
    tap.equal(headers["content-type"], "application/octet-stream")
    tap.equal(headers["content-disposition"], 'attachment; filename="hello.txt"')
    tap.equal(headers["content-length"], "6")
    tap.equal(run("stat -c '%U %G' /tmp/f1 /tmp/f1/hello.txt")["stdout"], "user user\n" * 2)
    status, a = delete("/tmp/f1/hello.txt")
    tap.equal((status, a["path"]), (200, "/tmp/f1/hello.txt"))
    assert a["deletedAt"].endswith("Z")
    tap.equal(get("/tmp/f1/hello.txt")[0], 404)


def test_lists_are_sorted_and_complete():
    run("mkdir -p /tmp/l/Beta /tmp/l/alpha /tmp/l/.d; cd /tmp/l; touch b A .hidden c; "
        "ln -s alpha z; ln -s nowhere y; mkfifo p")
    got = [(e["name"], e["isDir"]) for e in entries("/tmp/l")]
    tap.equal(got, [(".d", True), ("alpha", True), ("Beta", True), ("z", True), (".hidden", False),
                    ("A", False), ("b", False), ("c", False), ("p", False), ("y", False)])
    links = dict((e["name"], e.get("target")) for e in entries("/tmp/l") if e["isSymlink"])
    tap.equal(links, {"z": "alpha", "y": "nowhere"})
    names = [e["name"] for e in entries("")]
    assert "tmp" in names and "usr" in names, names
    tap.equal(names, [e["name"] for e in entries("/")])
    tap.equal(entries("  ../../tmp//./l/../l/ "), entries("/tmp/l"))
    tap.equal(entries("/tmp/l/alpha"), [])


def test_lists_that_fail():
    put("/tmp/plain", b"x")
    status, _, text = call("GET", "/fs/list?path=/tmp/missing")
    tap.equal(status, 404)
    status, _, text = call("GET", "/fs/list?path=/tmp/plain")
    tap.equal((status, json.loads(text)["message"]), (400, "path is not a directory: /tmp/plain"))


def test_uploads_that_fail():
    fails(400, "file is required", upload("/tmp", ("a", b"x"), field="other"))
    fails(400, "file is required", upload("/tmp"))
    for name in ("..", ".", "a/", "/", ""):
        fails(400, "invalid filename", upload("/tmp", (name, b"x")))
    put("/tmp/plain", b"x")
    fails(400, "path is not a directory: /tmp/plain", upload("/tmp/plain", ("a", b"x")))
    fails(400, "path is not a directory", upload("/tmp/plain/deeper", ("a", b"x")))
    run("mkdir -p /tmp/isdir")
    fails(400, "is a directory", put("/tmp/isdir", b"x"))
    fails(400, "path is required", put("/", b"x"))
    fails(400, "255", put("/tmp/" + "n" * 256, b"x"))
    body, headers = form(("a", b"x"))
    for wrong in (body[:-10], body.replace(b"form-data", b"wrong")):
        status, _, text = call("POST", "/fs/upload?path=/tmp", wrong, headers)
        tap.equal(status, 400, text)
        tap.contains(json.loads(text)["message"], "failed to parse multipart form")
    leftovers = [e["name"] for e in entries("/tmp") if e["name"].startswith(".tidepool")]
    tap.equal(leftovers, [])


def test_names_are_reduced_to_their_last_part():
    status, a = upload("/tmp/n", ("../../etc/evil", b"1"), ("/abs/olute", b"2"), ("ok", b"3"))
    tap.equal((status, [f["path"] for f in a["files"]]),
              (200, ["/tmp/n/evil", "/tmp/n/olute", "/tmp/n/ok"]))
    tap.equal([f["size"] for f in a["files"]], [1, 1, 1])
    tap.equal(get("/etc/evil")[0], 404)
    tap.equal(get("/../../tmp/n/evil")[2], b"1")


def test_odd_names_and_contents():
    for name in ("with space", 'quo"te', "new\nline", "ta\tb", "grüße-日本", "-rf", "100%", "a+b",
                 "back\\slash", "n" * 255):
        data = name.encode() + bytes(range(256))
        tap.equal(put("/tmp/odd/" + name, data)[0], 200, name)
        status, headers, body = get("/tmp/odd/" + name)
        tap.equal((status, body), (200, data), name)
        assert headers["content-disposition"].startswith('attachment; filename="'), headers
        if "filename*=" in headers["content-disposition"]:
            text = headers["content-disposition"].split("UTF-8''")[1]
            tap.equal(urllib.parse.unquote(text), name)
        assert name in [e["name"] for e in entries("/tmp/odd")], name
        tap.equal(delete("/tmp/odd/" + name)[0], 200)
    tap.equal(entries("/tmp/odd"), [])
    tap.equal(put("/tmp/odd/empty", b"")[0], 200)
    status, headers, body = get("/tmp/odd/empty")
    tap.equal((status, headers["content-length"], body), (200, "0", b""))


def test_replacing_keeps_owner_and_mode():
    run("echo old > /tmp/rep; chmod 751 /tmp/rep", user="root")
    tap.equal(put("/tmp/rep", b"new")[0], 200)
    tap.equal(run("stat -c '%U %a' /tmp/rep; cat /tmp/rep", user="root")["stdout"],
              "root 751\nnew")


def test_ranges():
    data = bytes(range(200))
    put("/tmp/range", data)
    for value, want, header in (
            ("bytes=0-9", data[:10], "bytes 0-9/200"),
            ("bytes=190-", data[190:], "bytes 190-199/200"),
            ("bytes=-5", data[-5:], "bytes 195-199/200"), ("bytes=5-5", data[5:6], "bytes 5-5/200"),
            ("bytes=0-999", data, "bytes 0-199/200"), ("bytes=-999", data, "bytes 0-199/200")):
        status, headers, body = get("/tmp/range", Range=value)
        tap.equal((status, body, headers["content-range"]), (206, want, header), value)
    for value in ("bytes=200-", "bytes=-0", "bytes=999-1000"):
        status, headers, body = get("/tmp/range", Range=value)
        tap.equal((status, headers["content-range"]), (416, "bytes */200"), value)
    for value in ("bytes=9-0", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6", "bytes=", "bytes=-"):
        status, headers, body = get("/tmp/range", Range=value)
        tap.equal((status, body), (200, data), value)
    modified = get("/tmp/range")[1]["last-modified"]
    tap.equal(get("/tmp/range", Range="bytes=0-0", If_Range=modified)[0], 206)
    tap.equal(get("/tmp/range", Range="bytes=0-0", If_Range="other")[0], 200)
    status, headers, body = call("HEAD", "/fs/download?path=/tmp/range")
    tap.equal((status, headers["content-length"], body), (200, "200", b""))


def test_downloads_and_deletes_that_fail():
    for path in ("", "/", "/..", " "):
        fails(400, "path is required", (lambda a: (a[0], json.loads(a[2])))(get(path)))
        fails(400, "path is required", delete(path))
    fails(404, "file not found: /tmp/no", (lambda a: (a[0], json.loads(a[2])))(get("/tmp/no")))
    fails(404, "/tmp/no", delete("/tmp/no"))
    run("mkdir -p /tmp/tree/a/b; echo x > /tmp/tree/a/b/c; ln -s /etc/passwd /tmp/tree/link")
    fails(400, "not a regular file", delete("/tmp/tree"))
    tap.equal(delete("/tmp/tree/link")[0], 200)
    tap.equal(delete("/tmp/tree", "&recursive=true")[0], 200)
    tap.equal(run("ls -d /tmp/tree /etc/passwd")["stdout"], "/etc/passwd\n")


def test_special_files_do_not_block():
    run("mkfifo /tmp/fifo; python3 -c 'import socket;s=socket.socket(1);s.bind(\"/tmp/sock\")'")
    for path in ("/tmp/fifo", "/tmp/sock", "/dev/zero", "/dev/tty", "/dev/null"):
        status, _, text = get(path)
        assert status in (400, 403, 500), (path, status, text)
    run("ln -s loop /tmp/loop")
    tap.equal(get("/tmp/loop")[0], 400)
    tap.equal(call("GET", "/health")[0], 200)


def test_the_first_process_cannot_be_read_through_proc():
    run("ln -sf /proc/1/environ /tmp/env; ln -sf /proc/self/root /tmp/root; "
        "ln -sf /proc/1/fd/3 /tmp/fd")
    for path in ("/proc/1/environ", "/proc/self/environ", "/proc/self/mem", "/proc/1/maps",
                 "/proc/self/root/etc/passwd", "/proc/1/cwd/etc/passwd", "/tmp/env",
                 "/tmp/root/etc/passwd", "/tmp/fd"):
        status, _, body = get(path)
        assert status in (400, 403, 404), (path, status, body[:200])
    for path in ("/proc", "/proc/1", "/proc/self/fd", "/proc/self/root", "/tmp/root"):
        status = call("GET", "/fs/list?path=" + quoted(path))[0]
        assert status in (400, 403, 404), (path, status)
    assert put("/proc/sys/kernel/core_pattern", b"x")[0] in (400, 403)


def test_links_stay_inside():
    run("ln -sf /etc/hostname /tmp/abs; ln -sf ../../../../../../etc/passwd /tmp/up")
    tap.equal(get("/tmp/up")[2], run("cat /etc/passwd")["stdout"].encode())
    with open("/etc/passwd", "rb") as f:
        assert get("/tmp/up")[2] != f.read()


def test_directories_come_as_archives():
    run("mkdir -p '/tmp/arch/sub dir'; echo one > '/tmp/arch/sub dir/f'; cd /tmp/arch; ln -s f l; "
        "head -c 3000000 /dev/urandom > big")
    status, headers, body = get("/tmp/arch")
    tap.equal((status, headers["content-type"]), (200, "application/gzip"))
    tap.equal(headers["content-disposition"], 'attachment; filename="arch.tar.gz"')
    with tarfile.open(fileobj=io.BytesIO(body)) as t:
        tap.equal(sorted(t.getnames()), ["arch", "arch/big", "arch/l", "arch/sub dir",
                                         "arch/sub dir/f"])
        tap.equal(t.extractfile("arch/sub dir/f").read(), b"one\n")
        tap.equal(len(t.extractfile("arch/big").read()), 3000000)
    status, headers, body = get("/tmp/range", "&archive=tar.gz")
    with tarfile.open(fileobj=io.BytesIO(body)) as t:
        tap.equal(t.getnames(), ["range"])
    # One who leaves in the middle.
    for _ in range(3):
        c = Unix(CELL["socket"])
        c.request("GET", "/fs/download?path=/usr/share")
        c.getresponse().read(100000)
        c.close()
    wait_for(lambda: run("pgrep -x tar || echo none")["stdout"] == "none\n")


def memory_of_first():
    with open("/proc/%d/smaps_rollup" % CELL["pid"]) as f:
        figures = dict(l.split(":") for l in f.read().splitlines()[1:])
    return sum(int(figures[k].split()[0]) for k in ("Private_Dirty", "Private_Clean"))


def test_big_files_stream():
    block = os.urandom(1 << 20)
    total = 200
    digest = hashlib.sha256()
    edge, peak = "bigedge", 0

    def body():
        nonlocal peak
        yield ('--%s\r\nContent-Disposition: form-data; name="file"; filename="big"\r\n\r\n'
               % edge).encode()
        for i in range(total):
            piece = i.to_bytes(8, "big") + block[8:]
            digest.update(piece)
            if i % 20 == 0:
                peak = max(peak, memory_of_first())
            yield piece
        yield ("\r\n--%s--\r\n" % edge).encode()

    status, _, text = call("POST", "/fs/upload?path=/tmp/big", body(),
                           {"Content-Type": "multipart/form-data; boundary=" + edge})
    tap.equal(status, 200, text)
    tap.equal(json.loads(text)["files"][0]["size"], total << 20)
    c = Unix(CELL["socket"])
    c.request("GET", "/fs/download?path=/tmp/big/big")
    r = c.getresponse()
    got = hashlib.sha256()
    while True:
        piece = r.read(1 << 20)
        if not piece:
            break
        got.update(piece)
        peak = max(peak, memory_of_first()) if len(piece) % 7 == 0 else peak
    c.close()
    tap.equal(got.hexdigest(), digest.hexdigest())
    print("# private memory of the first process meanwhile: at most %d KiB" % peak)
    assert peak < 4096 or CELL.get("host"), peak
    tap.equal(delete("/tmp/big", "&recursive=1")[0], 200)


def test_a_full_disk_is_reported():
    status, a = put("/tmp/huge", b"\0" * (750 << 20))
    tap.equal(status, 507, a)
    tap.equal(get("/tmp/huge")[0], 404)
    tap.equal(run("ls -A /tmp | grep tidepool-upload || echo none")["stdout"], "none\n")


# ---- terminals ----


class Terminal:
    """A WebSocket client that is just good enough."""

    def __init__(self, query=""):
        self.sock = connect.dial(CELL["socket"], 20)
        self.sock.sendall(("GET /terminal%s HTTP/1.1\r\nHost: c\r\nConnection: Upgrade\r\n"
                           "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % query).encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.data += self.sock.recv(4096)
        self.head, _, self.data = self.data.partition(b"\r\n\r\n")

    def need(self, n):
        while len(self.data) < n:
            more = self.sock.recv(65536)
            if not more:
                raise EOFError
            self.data += more

    def frame(self):
        """(opcode, payload)"""
        self.need(2)
        op, n, at = self.data[0] & 15, self.data[1] & 127, 2
        if n >= 126:
            size = 2 if n == 126 else 8
            self.need(2 + size)
            n, at = int.from_bytes(self.data[2:2 + size], "big"), 2 + size
        self.need(at + n)
        payload, self.data = self.data[at:at + n], self.data[at + n:]
        return op, payload

    def message(self):
        op, payload = self.frame()
        return json.loads(payload.decode()) if op == 1 else {"type": "op%d" % op}

    def send(self, **message):
        payload = json.dumps(message).encode()
        head = bytes([0x81, 0x80 | len(payload)]) if len(payload) < 126 else \
            bytes([0x81, 0x80 | 127]) + len(payload).to_bytes(8, "big")
        self.sock.sendall(head + b"\0\0\0\0" + payload)

    def until(self, text):
        seen = ""
        while text not in seen:
            m = self.message()
            tap.equal(m["type"], "output", (m, seen))
            seen += m["data"]
        return seen


def test_a_terminal_from_ready_to_closed():
    t = Terminal()
    tap.contains(t.head.decode(), " 101 ")
    tap.contains(t.head.decode(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    tap.equal(t.message(), {"type": "ready", "data": "connected to boxed/sandbox"})
    t.send(type="init", cols=100, rows=30)
    t.send(type="input", data="stty size; tty; echo $TERM $A; id -un\n")
    seen = t.until("user\r\n")
    for part in ("30 100", "/dev/pts/", "xterm-256color claim"):
        tap.contains(seen, part)
    t.send(type="resize", cols=132, rows=43)
    t.send(type="input", data="stty size\n")
    t.until("43 132")
    t.send(type="nonsense")
    while True:
        m = t.message()
        if m["type"] != "output":
            break
    tap.equal(m, {"type": "error", "data": "unsupported message type: nonsense"})
    t.send(type="close")
    while m["type"] != "closed":
        m = t.message()
        assert m["type"] in ("output", "closed"), m
    tap.equal(t.message()["type"], "op8")
    t.sock.close()


def test_ctrl_c_and_exit_codes():
    t = Terminal("?cols=90&rows=20")
    tap.equal(t.message()["type"], "ready")
    t.send(type="input", data="sh -c 'echo b\"\"egin; exec sleep 7020'\n")
    t.until("begin\r\n")
    t.send(type="input", data="\x03")
    t.send(type="input", data="echo co''de=$?; exit 7\n")
    t.until("code=130")
    m = t.message()
    while m["type"] == "output":
        m = t.message()
    tap.equal(m, {"type": "exit", "code": 7})
    tap.equal(t.message(), {"type": "closed"})
    t.sock.close()


def test_split_characters_arrive_whole():
    t = Terminal("?shell=" + quoted("cat"))
    tap.equal(t.message()["type"], "ready")
    t.send(type="input", data="grüße 日本 🌊\n")
    t.until("grüße 日本 🌊\r\ngrüße 日本 🌊\r\n")
    t.sock.close()
    slow = r"printf 'a\360\237'; sleep 0.2; printf '\214\212b\303'; sleep 0.2; printf '\274|\377|'"
    t = Terminal("?shell=" + quoted("sh -c \"%s\"" % slow.replace("\\", "\\\\")))
    tap.equal(t.message()["type"], "ready")
    tap.contains(t.until("|\ufffd|"), "a🌊bü|\ufffd|")
    t.sock.close()


def test_a_flood_is_held_back_and_whole():
    t = Terminal("?shell=" + quoted("seq 1 200000"))
    tap.equal(t.message()["type"], "ready")
    time.sleep(0.5)
    seen = []
    while True:
        m = t.message()
        if m["type"] != "output":
            break
        seen.append(m["data"])
    tap.equal(m, {"type": "exit", "code": 0})
    tap.equal("".join(seen), "".join("%d\r\n" % i for i in range(1, 200001)))
    t.sock.close()


def test_a_terminal_that_leaves_hangs_up():
    t = Terminal()
    tap.equal(t.message()["type"], "ready")
    t.send(type="input", data="sh -c 'echo u\"\"p; exec sleep 7021'\n")
    t.until("up\r\n")
    t.sock.close()
    wait_for(lambda: run("pgrep -f 'sleep 702[1]' || echo none")["stdout"] == "none\n")


def test_terminals_that_fail():
    for query, status in (("?user=nobody-here", 400), ("?cwd=/nowhere", 400)):
        t = Terminal(query)
        tap.contains(t.head.decode(), "HTTP/1.1 %d " % status)
        t.sock.close()
    tap.equal(call("GET", "/terminal")[0], 426)


# ---- the main process and its log ----


def logs(query=""):
    status, _, text = call("GET", "/log" + query)
    return status, json.loads(text)


def test_no_main_process_has_an_empty_log():
    status, a = logs()
    tap.equal((status, a["logs"]), (200, ""))
    assert a["fetchedAt"].endswith("Z")
    tap.equal(call("GET", "/log?follow=true")[2], b"")


def test_a_main_process_is_logged():
    fails(400, "args", post("/claim", {"cmd": "sh", "args": "-c"}))
    fails(400, "no-such-main", post("/claim", {"cmd": "no-such-main"}))
    script = ("echo one; echo two >&2; i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); "
              "done; pwd; echo $A; printf partial; while [ ! -e /tmp/go ]; do sleep 0.02; done; "
              "echo; echo after; exec sleep 7030")
    status, a = post("/claim", {"cmd": "sh", "args": ["-c", script], "workdir": "/srv/made"})
    tap.equal(status, 200, a)
    wait_for(lambda: logs()[1]["logs"].endswith("partial"))
    lines = logs()[1]["logs"].split("\n")
    tap.equal((len(lines), lines[-3:]), (200, ["/srv/made", "claim", "partial"]))
    tap.equal(len(logs("?tailLines=2000")[1]["logs"].split("\n")), 2000)
    tap.equal(len(logs("?tailLines=99999")[1]["logs"].split("\n")), 2000)
    tap.equal(logs("?tailLines=1")[1]["logs"], "partial")
    tap.equal(run("stat -c %U /srv/made")["stdout"], "user\n")
    fails(409, "runs already", post("/claim", {"cmd": "sh"}))


def test_log_requests_that_fail():
    fails(400, "invalid tailLines: abc", logs("?tailLines=abc"))
    for value in ("0", "-1"):
        fails(400, "tailLines must be a positive integer", logs("?tailLines=" + value))
    fails(400, "invalid since", logs("?since=yesterday"))


def test_logs_with_times_and_since():
    text = logs("?tailLines=3&timestamps=true")[1]["logs"].split("\n")
    for line in text:
        stamp, _, rest = line.partition(" ")
        assert stamp.endswith("Z") and stamp.startswith("20") and rest, line
    tap.equal(logs("?since=%d" % (time.time() + 60))[1]["logs"], "")
    tap.equal(logs("?since=2999-01-01T00:00:00Z")[1]["logs"], "")
    assert logs("?since=2020-01-01T00:00:00.5Z&tailLines=5")[1]["logs"].endswith("partial")


def test_logs_can_be_followed_to_the_end():
    c = Unix(CELL["socket"])
    c.request("GET", "/log?follow=true&tailLines=2")
    r = c.getresponse()
    tap.equal(r.getheader("Content-Type"), "text/plain; charset=utf-8")
    tap.equal(r.readline(), b"claim\n")
    gone = Unix(CELL["socket"])
    gone.request("GET", "/log?follow=true")
    gone.getresponse().readline()
    gone.close()
    run("touch /tmp/go")
    tap.equal(r.readline(), b"partial\n")
    tap.equal(r.readline(), b"after\n")
    procs = json.loads(call("GET", "/procs")[2])["processes"]
    pid = [p["pid"] for p in procs if p["running"]][0]
    post("/signal", {"pid": pid, "signal": 9})
    tap.equal(r.read(), b"")
    c.close()
    (p,) = json.loads(call("GET", "/procs")[2])["processes"]
    tap.equal((p["running"], p["exitCode"]), (False, 137))
    assert call("GET", "/log?follow=true&tailLines=1")[2] == b"after\n"


# ---- the end ----


@only_in_a_cell
def test_an_idle_first_process_is_small():
    private = memory_of_first()
    print("# private memory of the first process after all this: %d KiB" % private)
    assert private < 1536, private


def test_the_end_is_in_order():
    lab.stdin.close()
    tap.equal(lab.wait(30), 0)


try:
    tap.main(globals())
finally:
    lab.stdin.close()
    lab.wait(30)
