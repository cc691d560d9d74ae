# SPDX-License-Identifier: MIT
"""process.Process of the E2B protocol and the plain paths beside it, spoken directly to the service
of a cell. Needs root."""

import base64
import json
import random
import struct
import time

import connect
import tap
from connect import code, envelope, text

LAB, CELL = connect.open_cell()
box = connect.Cell(CELL["socket"])
inner = connect.Cell(CELL["socket"], "")


def only_in_a_cell(test):
    """Leaves a test out where the service runs on the host, for the sanitizers to see it: the same
    file runs in a cell too."""
    return None if CELL.get("host") else test


def wait_for(is_so, seconds=20):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.02)


def rpc(method, message, headers=None):
    return box.unary("process.Process/" + method, message, headers)


def start(cmd, *args, headers=None, **fields):
    """A stream whose first event is read: (stream, pid)."""
    process = {"cmd": cmd, "args": list(args)}
    for key in ("cwd", "envs"):
        if key in fields:
            process[key] = fields.pop(key)
    s = box.stream("process.Process/Start", {"process": process, **fields}, headers)
    first = s.next()
    if first is None:
        return s, None
    return s, first["event"]["start"]["pid"]


def sh(script, **fields):
    return start("/bin/bash", "-c", script, **fields)


def reattach(pid, **headers):
    s = box.stream("process.Process/Connect", {"process": {"pid": pid}},
                   {k.replace("_", "-"): v for k, v in headers.items()})
    first = s.next()
    if first:
        tap.equal(first, {"event": {"start": {"pid": pid}}})
    return s


def rest(s):
    """What is left of a stream: (outputs by name, end event)."""
    out, end = {}, None
    for m in s:
        event = m["event"]
        assert end is None, "an event behind the end"
        for name, data in event.get("data", {}).items():
            out[name] = out.get(name, "") + text(data)
        end = event.get("end")
    return out, end


def run(script, **fields):
    s, _ = sh(script, stdin=False, **fields)
    out, end = rest(s)
    tap.equal(s.end, {}, "end of the stream")
    return out, end


def error_of(s):
    for _ in s:
        pass
    return s.end.get("error", {}).get("code"), s.end.get("error", {}).get("message")


def refused(fields, headers=None):
    s = box.stream("process.Process/Start", fields, headers)
    tap.equal(s.next(), None, "an event before the refusal")
    return s.end["error"]["code"], s.end["error"]["message"]


def fails(got, status, name, message):
    tap.equal(got, (status, {"code": name, "message": message}))


EXIT_0 = {"exited": True, "status": "exit status 0"}
KILLED = {"exitCode": -1, "status": "signal: killed", "error": "signal: killed"}


# ---- login shells ----

LOGINS = (("/bin/sh", "-lc"), ("/bin/bash", "-l", "-c"))


def login(shell, command, user="user", **fields):
    name = base64.b64encode(b"%s:" % user.encode()).decode()
    s, _ = start(*shell, command, stdin=False, headers={"Authorization": "Basic " + name}, **fields)
    out, end = rest(s)
    return out.get("stdout", ""), out.get("stderr", ""), end


def same_by_a_shell(shell, command, **more):
    """Plain commands are started without a shell; behind a semicolon there is one."""
    out, err, end = login(shell, command, **more)
    real_out, real_err, real_end = login(shell, command + " ;", **more)
    tap.equal((sorted(out.split("\n")), err, end),
              (sorted(real_out.split("\n")), real_err, real_end), repr((shell, command, more)))
    return out


@only_in_a_cell
def test_what_needs_no_shell_is_the_same_without_one():
    run("mkdir -p /tmp/real; ln -sfn /tmp/real /tmp/link; printf 'id\\n' > /tmp/script;"
        "chmod 755 /tmp/script; chmod 600 /tmp/real; chmod 755 /tmp/real")
    variables = ({}, {"A": "1"}, {"PATH": "/usr/bin:/bin"}, {"HOME": "/tmp"}, {"SHLVL": "5"},
                 {"f": "x"}, {"PS1": "x"}, {"BASH_ENV": "/tmp/nothing"}, {"PWD": "/tmp/link"})
    for shell in LOGINS:
        for user in ("user", "root"):
            for envs in variables:
                text_ = same_by_a_shell(shell, "env", user=user, envs=envs, cwd="/tmp/link")
                tap.contains(text_, "PATH=")
            for command in ("true", "false", "echo a b", "nosuch -x", "ls /nosuch", "/tmp",
                            "/tmp/x", "/tmp/script", "id -u", "cat /proc/self/cmdline",
                            "readlink /proc/self/exe",
                            "cat /proc/self/limits", "env"):
                same_by_a_shell(shell, command, user=user)


@only_in_a_cell
def test_what_a_login_reads_is_read_when_it_has_changed():
    files = (("/home/user/.profile", LOGINS), ("/etc/profile", LOGINS),
             ("/etc/profile.d/more.sh", LOGINS), ("/home/user/.bashrc", LOGINS[1:]),
             ("/home/user/.bash_login", LOGINS[1:]), ("/home/user/.bash_profile", LOGINS[1:]))
    as_root = {"Authorization": "Basic " + base64.b64encode(b"root:").decode()}
    for path, shells in files:
        for shell in shells:
            tap.equal(login(shell, "printenv SEEN")[0], "", path)
        s, _ = sh("cp -a %s /tmp/kept 2>/dev/null; echo 'export SEEN=%s' >> %s" %
                  (path, path, path), stdin=False, headers=as_root)
        tap.equal(rest(s)[1]["exited"], True)
        for shell in shells:
            tap.equal(login(shell, "printenv SEEN")[0], path + "\n", path)
        s, _ = sh("rm %s; mv /tmp/kept %s 2>/dev/null; true" % (path, path), stdin=False,
                  headers=as_root)
        rest(s)


# ---- requests ----


def test_health_needs_nothing():
    status, headers, body = box.call("GET", "/health")
    tap.equal((status, body, headers["cache-control"]), (204, b"", "no-store"))
    tap.equal(headers["access-control-allow-origin"], "*")


def test_what_is_not_there_and_how_it_may_not_be_asked():
    status, headers, body = box.call("GET", "/nope")
    tap.equal((status, body.strip()), (404, b"404 page not found"))
    tap.contains(headers["content-type"], "text/plain")
    for path in ("/init", "/process.Process/Nope", "/process.Process", "/", "//health"):
        tap.equal(box.call("POST", path)[0], 404, path)
    status, headers, _ = box.call("GET", "/process.Process/List")
    tap.equal((status, headers["allow"]), (405, "POST"))
    tap.equal(box.call("POST", "/health")[0], 405)
    for name, kind in (("List", "application/json"), ("Start", "application/connect+json")):
        status, headers, _ = box.call("POST", "/process.Process/" + name, b"{}",
                                      {"Content-Type": "application/proto"})
        tap.equal((status, headers["accept-post"]), (415, kind))


def test_browsers_may_ask_from_anywhere():
    status, headers, body = box.call("OPTIONS", "/process.Process/Start", None, {
        "Origin": "https://x.test", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type, x-access-token"})
    tap.equal((status, body), (204, b""))
    tap.equal(headers["access-control-allow-methods"], "HEAD, GET, POST, PUT, PATCH, DELETE")
    tap.equal(headers["access-control-allow-headers"], "content-type, x-access-token")
    tap.equal(headers["access-control-max-age"], "7200")
    tap.contains(box.call("GET", "/nope")[1]["access-control-expose-headers"], "Location")


def test_what_is_wrong_with_a_unary_request():
    empty = "unmarshal message: zero-length payload is not a valid JSON object"
    fails(rpc("List", b""), 400, "invalid_argument", empty)
    status, answer = rpc("List", b"{")
    tap.equal((status, answer["code"]), (400, "invalid_argument"))
    tap.equal(rpc("List", b"[]")[0], 400)
    tap.equal(rpc("List", {"unknown": 1})[0], 200)
    fails(rpc("List", {}, {"Connect-Protocol-Version": "2"}), 400, "invalid_argument",
          'connect-protocol-version must be "1": got "2"')
    for value in ("1", "60000", "60000.0", "9999999999"):
        tap.equal(rpc("List", {}, {"Connect-Timeout-Ms": value})[0], 200, value)
    for value in ("12345678901", "soon", "-1", "1.x", ""):
        tap.equal(rpc("List", {}, {"Connect-Timeout-Ms": value})[1].get("code"),
                  "invalid_argument", value)
    tap.equal(rpc("List", {}, {"Content-Encoding": "identity"})[0], 200)
    tap.equal(rpc("List", b"x", {"Content-Encoding": "gzip"})[1]["code"], "unimplemented")
    tap.equal(rpc("List", {}, {"Content-Type": "application/json; charset=utf-8"})[0], 200)


def test_what_is_wrong_with_a_stream_is_told_in_its_end():
    good = envelope({"process": {"cmd": "true"}})
    cases = [(b"", "unimplemented"), (good[:3], "invalid_argument"),
             (good[:-1], "invalid_argument"), (good + good, "unimplemented"),
             (envelope(b"{}", 1), "internal"), (envelope(b"{}", 2), "invalid_argument"),
             (envelope(b"nope"), "invalid_argument"), (envelope(b""), "invalid_argument"),
             (struct.pack(">BI", 0, 0xffffffff), "resource_exhausted")]
    for body, name in cases:
        tap.equal(refused(body)[0], name, body)
    tap.equal(refused({}, {"Connect-Protocol-Version": "3"})[0], "invalid_argument")


def test_a_message_is_read_leniently():
    s = box.stream("process.Process/Start", {
        "process": {"cmd": "cat", "args": None, "future": [1]}, "stdin": True, "tag": "lenient"})
    pid = s.next()["event"]["start"]["pid"]
    bare = base64.urlsafe_b64encode(b"\xff\xfe?>").decode().rstrip("=")
    tap.equal(rpc("SendInput", {"process": {"pid": str(pid)}, "input": {"stdin": bare}}),
              (200, {}))
    tap.equal(rpc("CloseStdin", {"process": {"tag": "lenient"}}), (200, {}))
    data = [m["event"]["data"]["stdout"] for m in s if "data" in m["event"]]
    tap.equal(b"".join(map(base64.b64decode, data)), b"\xff\xfe?>")
    tap.equal(rpc("Update", {"process": {"pid": 1, "tag": "x"}})[1]["code"], "invalid_argument")
    tap.equal(rpc("Update", {"process": {"pid": -1}})[1]["code"], "invalid_argument")
    tap.equal(rpc("Update", {"process": {"pid": 1.5}})[1]["code"], "invalid_argument")


# ---- users, directories, environment ----


def basic(name):
    return {"Authorization": "Basic " + code(name + ":")}


def test_users():
    tap.equal(run("id -un; pwd; echo $HOME")[0]["stdout"], "user\n/home/user\n/home/user\n")
    tap.equal(run("id -un; pwd", headers=basic("root"))[0]["stdout"], "root\n/root\n")
    tap.equal(run("id -un", headers={"Authorization": "Bearer x"})[0]["stdout"], "user\n")
    nobody = "invalid username: 'no-such'"
    tap.equal(refused({"process": {"cmd": "id"}}, basic("no-such")), ("unauthenticated", nobody))
    fails(rpc("List", {}, basic("no-such")), 401, "unauthenticated", nobody)
    tap.equal(box.call("GET", "/health", None, basic("no-such"))[0], 401)
    tap.equal(rpc("List", {}, basic("1000"))[0], 401)


@only_in_a_cell
def test_users_are_those_of_the_files_now():
    """Who was found is remembered until one of the files changes, also within the same tick."""
    def home():
        return run("pwd", headers=basic("guest"))[0]["stdout"]

    tap.equal(refused({"process": {"cmd": "id"}}, basic("guest"))[0], "unauthenticated")
    run("echo guest:x:1234:1234::/tmp:/bin/sh >> /etc/passwd", headers=basic("root"))
    tap.equal(home(), "/tmp\n")
    tap.equal(run("id -G", headers=basic("guest"))[0]["stdout"], "1234\n")
    for place in ("/usr", "/etc") * 3:
        run("sed 's#^guest.*#guest:x:1234:1234::%s:/bin/sh#' /etc/passwd > /tmp/new; "
            "cat /tmp/new > /etc/passwd" % place, headers=basic("root"))
        tap.equal(home(), place + "\n")
    run("echo extra:x:4321:guest >> /etc/group", headers=basic("root"))
    tap.equal(run("id -G", headers=basic("guest"))[0]["stdout"], "1234 4321\n")
    run("sed -i /^guest:/d /etc/passwd; sed -i /^extra:/d /etc/group", headers=basic("root"))
    tap.equal(refused({"process": {"cmd": "id"}}, basic("guest"))[0], "unauthenticated")


def test_directories():
    tap.equal(run("pwd", cwd="/tmp")[0]["stdout"], "/tmp\n")
    tap.equal(run("pwd", cwd="~")[0]["stdout"], "/home/user\n")
    run("mkdir -p a/b /tmp/closed; chmod 0 /tmp/closed")
    tap.equal(run("pwd", cwd="a/../a/b")[0]["stdout"], "/home/user/a/b\n")
    tap.equal(run("pwd", cwd="~/a")[0]["stdout"], "/home/user/a\n")
    tap.equal(refused({"process": {"cmd": "pwd", "cwd": "/nope"}}),
              ("invalid_argument", "cwd '/nope' does not exist"))
    tap.equal(refused({"process": {"cmd": "pwd", "cwd": "sub"}})[1],
              "cwd '/home/user/sub' does not exist")
    tap.equal(refused({"process": {"cmd": "pwd", "cwd": "~root/x"}})[0], "invalid_argument")
    name, message = refused({"process": {"cmd": "ls", "args": ["-l"], "cwd": "/etc/passwd"}})
    tap.equal(name, "invalid_argument")
    tap.contains(message, "error starting process 'ls -l': ")
    tap.contains(refused({"process": {"cmd": "ls", "cwd": "/etc/passwd"},
                          "pty": {"size": {"cols": 90, "rows": 30}}})[1],
                 "error starting pty with command 'ls' in dir '/etc/passwd' with '90' cols and "
                 "'30' rows: ")
    run("chmod 700 /tmp/closed; chown root /tmp/closed", headers=basic("root"))
    tap.contains(refused({"process": {"cmd": "ls", "cwd": "/tmp/closed"}})[1], "permission denied")


def test_the_environment_holds_nothing_else():
    tap.equal(inner.unary("claim", {"e2b": {
        "sandboxID": "sb1", "templateID": "base", "defaultUser": "user",
        "envVars": {"A": "sandbox", "B": "sandbox", "E2B_SANDBOX": "fake"}}}), (200, {}))
    out, _ = rest(start("env", envs={"B": "request", "E2B_SANDBOX_ID": "mine"}, stdin=False)[0])
    env = dict(line.split("=", 1) for line in out["stdout"].splitlines())
    tap.equal(env.pop("PATH"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    tap.equal(env, {"HOME": "/home/user", "USER": "user", "LOGNAME": "user", "A": "sandbox",
                    "B": "request", "E2B_SANDBOX": "true", "E2B_SANDBOX_ID": "mine",
                    "E2B_TEMPLATE_ID": "base"})
    tap.equal(json.loads(box.call("GET", "/envs")[2]),
              {"E2B_SANDBOX": "true", "E2B_SANDBOX_ID": "sb1", "E2B_TEMPLATE_ID": "base",
               "A": "sandbox", "B": "sandbox"})
    tap.equal(refused({"process": {"cmd": "env", "envs": {"A=B": "x"}}})[0], "invalid_argument")


@only_in_a_cell
def test_the_facts_are_files_too():
    tap.equal(run("cd /run/e2b; cat .E2B_SANDBOX .E2B_SANDBOX_ID .E2B_TEMPLATE_ID")[0]["stdout"],
              "truesb1base")


@only_in_a_cell
def test_the_file_system_has_what_clients_expect():
    tap.equal(run("python -c 'print(6 * 7)'")[0], {"stdout": "42\n"})
    tap.equal(run("stat -c %a /code /usr/local; ls -A ~ | grep -c '^\\.'")[0]["stdout"],
              "777\n777\n3\n")
    tap.equal(run("touch /usr/local/mine /code/mine; ls /usr/local /usr/local/bin >/dev/null")[1],
              EXIT_0)


def test_a_default_user_that_is_not_there():
    tap.equal(inner.unary("update", {"e2b": {"defaultUser": "ghost"}}), (200, {}))
    tap.equal(refused({"process": {"cmd": "id"}}),
              ("unauthenticated", "invalid default user: 'ghost'"))
    tap.equal(rpc("List", {})[0], 200)
    tap.equal(inner.unary("update", {"e2b": {"defaultUser": None, "defaultWorkdir": "/tmp"}})[0],
              200)
    tap.equal(run("pwd")[0]["stdout"], "/tmp\n")
    inner.unary("update", {"e2b": {"defaultWorkdir": None}})
    tap.equal(inner.unary("update", {"e2b": {"envVars": 5}})[0], 400)
    tap.equal(inner.unary("update", {"e2b": "x"})[0], 400)


# ---- events ----


def test_events_come_in_order():
    s, pid = sh("echo hi; echo oops >&2; exit 3", stdin=False)
    assert pid > 1
    tap.equal(rest(s), ({"stdout": "hi\n", "stderr": "oops\n"},
                        {"exitCode": 3, "exited": True, "status": "exit status 3",
                         "error": "exit status 3"}))
    tap.equal(run("true"), ({}, EXIT_0))


def test_signals_have_the_names_that_clients_know():
    for signo, name in ((9, "killed"), (15, "terminated"), (1, "hangup"), (2, "interrupt"),
                        (10, "user defined signal 1"), (14, "alarm clock"), (40, "signal 40")):
        end = run("kill -%d $$" % signo)[1]
        tap.equal(end, {"exitCode": -1, "status": "signal: " + name, "error": "signal: " + name})


def test_a_program_that_is_not_there_ends_as_under_a_shell():
    out, end = rest(start("no-such-program", stdin=False)[0])
    tap.equal(end["exitCode"], 127)
    tap.contains(out["stderr"], "no-such-program: No such file or directory")
    out, end = rest(start("/etc/passwd", stdin=False)[0])
    tap.equal(end["exitCode"], 126)
    tap.equal(rest(start("", stdin=False)[0])[1]["exitCode"], 127)


def test_the_end_waits_for_the_output():
    s, _ = sh("(sleep 0.4; echo late) & echo early", stdin=False)
    tap.equal(rest(s), ({"stdout": "early\nlate\n"}, EXIT_0))
    s, pid = sh("sleep 30 & echo early", stdin=False)
    tap.equal(text(s.next()["event"]["data"]["stdout"]), "early\n")
    wait_for(lambda: run("kill -0 %d 2>/dev/null" % pid)[1].get("exitCode") == 1)
    assert pid in pids(), "it is still there for those who read"
    tap.equal(rpc("SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"}), (200, {}))
    tap.equal(rest(s), ({}, EXIT_0))


def test_killing_does_not_wait_for_the_output():
    for name, text_of in (("SIGNAL_SIGKILL", "killed"), (15, "terminated")):
        s, pid = sh("sleep 30 & echo on; exec sleep 30", stdin=False)
        s.next()
        tap.equal(rpc("SendSignal", {"process": {"pid": pid}, "signal": name}), (200, {}))
        tap.equal(rest(s)[1]["status"], "signal: " + text_of)
        if name == "SIGNAL_SIGKILL":
            tap.equal(run("kill -0 %d 2>/dev/null" % pid)[1].get("exitCode"), 1, "at once")
        assert pid not in pids()


def test_a_deadline_ends_the_stream_and_the_process():
    s, pid = sh("echo on; sleep 30", stdin=False, headers={"Connect-Timeout-Ms": "400"})
    tap.equal(error_of(s), ("deadline_exceeded", "context deadline exceeded"))
    wait_for(lambda: pid not in pids())
    # Also when nobody waits for it any more, and only then.
    s, pid = sh("sleep 30", stdin=False, headers={"Connect-Timeout-Ms": "1500"})
    s.close()
    again = reattach(pid)
    assert pid in pids()
    tap.equal(rest(again)[1], KILLED)
    s, pid = sh("sleep 30", stdin=False)
    again = box.stream("process.Process/Connect", {"process": {"pid": pid}},
                       {"Connect-Timeout-Ms": "200"})
    tap.equal(error_of(again)[0], "deadline_exceeded")
    assert pid in pids(), "only the stream ended"
    rpc("SendSignal", {"process": {"pid": pid}, "signal": 9})
    tap.equal(rest(s)[1], KILLED)


def test_silence_is_filled():
    s, pid = sh("read x; echo $x", stdin=True, headers={"Keepalive-Ping-Interval": "1"})
    tap.equal(s.next(), {"event": {"keepalive": {}}})
    tap.equal(s.next(), {"event": {"keepalive": {}}})
    rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code("done\n")}})
    tap.equal(rest(s), ({"stdout": "done\n"}, EXIT_0))


def test_much_output_arrives_whole():
    s, _ = sh("head -c 8000000 /dev/zero | tr '\\0' x; printf END >&2", stdin=False)
    out, end = rest(s)
    tap.equal((len(out["stdout"]), out["stderr"], end), (8000000, "END", EXIT_0))


def test_a_slow_reader_holds_the_process_back_and_an_absent_one_does_not():
    script = "i=0; while [ $i -lt 300 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >%s; done"
    s, pid = sh(script % "/tmp/slow", stdin=False)

    def written():
        return int(run("cat /tmp/slow 2>/dev/null")[0].get("stdout", 0))

    wait_for(lambda: written() > 0)
    before = -1
    while before != written():
        before = written()
        time.sleep(0.3)
    assert before < 250, "the process was not held back"
    s.close()
    wait_for(lambda: written() == 300)
    wait_for(lambda: pid not in pids())


# ---- connecting ----


def pids():
    status, answer = rpc("List", {})
    tap.equal(status, 200)
    return [p["pid"] for p in answer.get("processes", [])]


def test_the_list():
    s, pid = start("sleep", "30", envs={"A": "1"}, cwd="/tmp", tag="listed", stdin=False)
    mine = [p for p in rpc("List", {})[1]["processes"] if p["pid"] == pid]
    tap.equal(mine, [{"config": {"cmd": "sleep", "args": ["30"], "envs": {"A": "1"},
                                 "cwd": "/tmp"}, "pid": pid, "tag": "listed"}])
    tap.equal(rpc("SendSignal", {"process": {"tag": "listed"}, "signal": 9}), (200, {}))
    rest(s)
    wait_for(lambda: pid not in pids())
    tap.equal(rpc("SendSignal", {"process": {"tag": "listed"}, "signal": 9})[0], 404)


def test_who_is_not_there():
    gone = "process with pid 999999 not found"
    none = {"process": {"pid": 999999}}
    tap.equal(error_of(reattach(999999)), ("not_found", gone))
    s = box.stream("process.Process/Connect", {"process": {"tag": "t"}})
    tap.equal(error_of(s), ("not_found", "process with tag t not found"))
    for method, more in (("SendInput", {"input": {"stdin": ""}}), ("SendSignal", {"signal": 9}),
                         ("Update", {}), ("CloseStdin", {})):
        fails(rpc(method, {**none, **more}), 404, "not_found", gone)
        tap.equal(rpc(method, more)[0], 501, method)
    tap.equal(error_of(box.stream("process.Process/Connect", {}))[0], "unimplemented")
    tap.equal(error_of(reattach(1))[0], "not_found")


def test_several_read_everything_that_is_new():
    s, pid = sh("echo before; read x; echo $x; read x; echo $x", stdin=True)
    tap.equal(text(s.next()["event"]["data"]["stdout"]), "before\n")
    others = [reattach(pid) for _ in range(3)]
    for line in ("one\n", "two\n"):
        rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code(line)}})
    for each in [s] + others:
        tap.equal(rest(each), ({"stdout": "one\ntwo\n"}, EXIT_0))


def test_the_end_is_kept_for_a_while():
    s, pid = sh("exit 4", stdin=False, tag="short")
    rest(s)
    tap.equal(rest(reattach(pid))[1]["exitCode"], 4)
    by_tag = box.stream("process.Process/Connect", {"process": {"tag": "short"}})
    tap.equal(by_tag.next()["event"]["start"]["pid"], pid)
    tap.equal(rest(by_tag)[1]["exitCode"], 4)
    other, other_pid = sh("exit 5", stdin=False, tag="short")
    rest(other)
    by_tag = box.stream("process.Process/Connect", {"process": {"tag": "short"}})
    tap.equal(by_tag.next()["event"]["start"]["pid"], other_pid)
    by_tag.close()


def test_what_nobody_was_given_is_given_to_who_connects():
    s, pid = sh("echo one; read x; echo two; read x; echo three", stdin=True)
    tap.equal(text(s.next()["event"]["data"]["stdout"]), "one\n")
    s.close()
    for _ in range(2):
        rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code("x\n")}})
    wait_for(lambda: pid not in pids())
    tap.equal(rest(reattach(pid)), ({"stdout": "two\nthree\n"}, EXIT_0))


def test_after_the_death_of_a_daemon_no_line_is_missing():
    s, pid = sh("for i in 1 2 3; do echo $i; done; read x; echo 4; read x", stdin=True,
                headers={"X-Tidepool-Boot": "first"})
    s.close()  # without reading anything: what was sent is lost with its connection
    rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code("x\n")}})
    again = reattach(pid, X_Tidepool_Boot="second")
    got = ""
    while not got.endswith("4\n"):
        got += text(again.next()["event"]["data"]["stdout"])
    tap.equal(got, "1\n2\n3\n4\n")
    # The same daemon does not repeat what it was given.
    third = reattach(pid, X_Tidepool_Boot="second")
    rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code("x\n")}})
    tap.equal((rest(third), rest(again)), (({}, EXIT_0), ({}, EXIT_0)))


# ---- input ----


def test_input_and_its_end():
    s, pid = start("cat")
    for part in ("hello ", "", "w\u00f6rld\n"):
        tap.equal(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": code(part)}}),
                  (200, {}))
    for _ in range(2):
        tap.equal(rpc("CloseStdin", {"process": {"pid": pid}})[0] in (200, 404), True)
    tap.equal(rest(s), ({"stdout": "hello w\u00f6rld\n"}, EXIT_0))


def test_input_that_cannot_be_taken():
    s, pid = start("sleep", "30", stdin=False)
    closed = "error writing to stdin: stdin not enabled or closed"
    fails(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": "eA=="}}), 500,
          "internal", closed)
    tap.equal(rpc("CloseStdin", {"process": {"pid": pid}}), (200, {}))
    fails(rpc("SendInput", {"process": {"pid": pid}, "input": {"pty": "eA=="}}), 500, "internal",
          "error writing to tty: tty not assigned to process — input should be written to the "
          "stdin, not the tty")
    fails(rpc("Update", {"process": {"pid": pid}, "pty": {"size": {"cols": 9, "rows": 9}}}), 500,
          "internal", "error resizing tty: tty not assigned to process")
    tap.equal(rpc("Update", {"process": {"pid": pid}}), (200, {}))
    for message in ({}, {"input": {}}):
        tap.equal(rpc("SendInput", {"process": {"pid": pid}, **message})[0], 501)
    tap.equal(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": "", "pty": ""}})[0],
              400)
    tap.equal(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": "?"}})[0], 400)
    fails(rpc("SendSignal", {"process": {"pid": pid}}), 501, "unimplemented",
          "invalid signal: SIGNAL_UNSPECIFIED")
    tap.equal(rpc("SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_NOPE"})[0], 501)
    tap.equal(rpc("SendSignal", {"process": {"pid": pid}, "signal": 2})[0], 501)
    rpc("SendSignal", {"process": {"pid": pid}, "signal": 9})
    rest(s)


def test_read_without_stdin_fails():
    tap.equal(run("read x")[1]["exitCode"], 1)


def test_an_answer_to_input_waits_until_it_is_taken():
    s, pid = sh("sleep 0.5; wc -c", stdin=True)
    data = code(b"x" * 300000)
    tap.equal(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": data}}), (200, {}))
    rpc("CloseStdin", {"process": {"pid": pid}})
    tap.equal(rest(s), ({"stdout": "300000\n"}, EXIT_0))
    s, pid = sh("exec <&-; sleep 30", stdin=True)
    wait_for(lambda: rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": "eA=="}})[0]
             == 500)
    s2, pid2 = sh("sleep 0.3", stdin=True)
    tap.equal(rpc("SendInput", {"process": {"pid": pid2}, "input": {"stdin": data}})[1]["code"],
              "internal")
    rpc("SendSignal", {"process": {"pid": pid}, "signal": 9})
    rest(s)
    rest(s2)


def test_a_stream_of_input():
    s, pid = start("cat")
    parts = [{"start": {"process": {"pid": pid}}}, {"keepalive": {}}]
    parts += [{"data": {"input": {"stdin": code("%d\n" % i)}}} for i in range(500)]
    body = b"".join(map(envelope, parts))
    c = box.connection()
    c.request("POST", "/e2b/process.Process/StreamInput",
              iter([body[i:i + 997] for i in range(0, len(body), 997)]),
              {"Content-Type": "application/connect+json"}, encode_chunked=True)
    answer = connect.Stream(c, c.getresponse())
    tap.equal((list(answer), answer.end), ([{}], {}))
    rpc("CloseStdin", {"process": {"pid": pid}})
    tap.equal(rest(s)[0]["stdout"], "".join("%d\n" % i for i in range(500)))
    for messages, name in (([parts[2]], "unimplemented"), ([b"{"], "invalid_argument"),
                           ([{"start": {"process": {"pid": 999999}}}], "not_found")):
        answer = box.stream("process.Process/StreamInput", b"".join(map(envelope, messages)))
        tap.equal(error_of(answer)[0], name)
    answer = box.stream("process.Process/StreamInput", envelope(parts[1]) + b"\0\0")
    tap.equal(error_of(answer)[0], "invalid_argument")
    answer = box.stream("process.Process/StreamInput", b"")
    tap.equal((list(answer), answer.end), ([{}], {}))


# ---- terminals ----


def test_a_terminal():
    s, pid = start("/bin/bash", "--norc", "-i", envs={"TERM": "xterm-256color", "PS1": "> "},
                   pty={"size": {"cols": 80, "rows": 24}})

    def type_in(line):
        tap.equal(rpc("SendInput", {"process": {"pid": pid}, "input": {"pty": code(line)}}),
                  (200, {}))

    type_in("stty size\n")
    seen = ""
    while "24 80" not in seen:
        seen += text(s.next()["event"]["data"]["pty"])
    tap.equal(rpc("Update", {"process": {"pid": pid}, "pty": {"size": {"cols": 100, "rows": 30}}}),
              (200, {}))
    type_in("stty size; test -t 0 && tty\n")
    while "30 100" not in seen or "/dev/pts/" not in seen:
        seen += text(s.next()["event"]["data"]["pty"])
    fails(rpc("SendInput", {"process": {"pid": pid}, "input": {"stdin": "eA=="}}), 500, "internal",
          "error writing to stdin: tty assigned to process — input should be written to the pty, "
          "not the stdin")
    fails(rpc("CloseStdin", {"process": {"pid": pid}}), 500, "unknown",
          "error closing stdin: cannot close stdin for PTY process — send Ctrl+D (0x04) instead")
    s.close()
    again = reattach(pid)
    type_in("exit 7\n")
    tap.equal(rest(again)[1]["exitCode"], 7)
    s, pid = start("/bin/bash", "-i", pty={})
    tap.equal(rpc("SendSignal", {"process": {"pid": pid}, "signal": 9}), (200, {}))
    tap.equal(run("kill -0 %d 2>/dev/null" % pid)[1].get("exitCode"), 1)
    tap.equal(rest(s)[1], KILLED)


# ---- many, and anything ----


def test_a_thousand_streams():
    n = 200 if CELL.get("host") else 900
    streams = [start("cat", stdin=True) for _ in range(n)]
    tap.equal(len(set(pid for _, pid in streams)), n)
    for s, pid in streams:
        tap.equal(rpc("CloseStdin", {"process": {"pid": pid}}), (200, {}))
    for s, _ in streams:
        tap.equal(rest(s)[1], EXIT_0)


def mangled(rng, text_of):
    data = bytearray(text_of)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(4)
        if what == 0:
            data[at:at] = bytes([rng.randrange(256)])
        elif what == 1:
            del data[at:at + rng.randrange(8)]
        elif what == 2 and at < len(data):
            data[at] = rng.randrange(256)
        else:
            data[at:at] = rng.choice([b"{", b"[", b"null", b'"', b"\\u0000", b"1e999", b"\0" * 5])
    return bytes(data)


def test_anything_gets_a_clean_answer():
    rng = random.Random(4)
    seeds = [("Start", {"process": {"cmd": "true", "args": ["-l"], "envs": {"A": "b"}, "cwd": "/"},
                        "pty": {"size": {"cols": 1, "rows": 2}}, "tag": "x", "stdin": False}),
             ("Connect", {"process": {"pid": 7}}), ("List", {}),
             ("SendInput", {"process": {"tag": "t"}, "input": {"stdin": "aGk="}}),
             ("StreamInput", {"start": {"process": {"pid": 3}}}),
             ("SendSignal", {"process": {"pid": 9}, "signal": "SIGNAL_SIGKILL"}),
             ("Update", {"process": {"pid": 5}, "pty": {"size": {"cols": 3}}}),
             ("CloseStdin", {"process": {"tag": ""}})]
    for i in range(2000):
        name, message = rng.choice(seeds)
        is_stream = name in ("Start", "Connect", "StreamInput")
        body = json.dumps(message).encode()
        body = mangled(rng, envelope(body) if is_stream else body)
        path = "/process.Process/" + name
        if i % 10 == 0:
            path = mangled(rng, path.encode()).decode("latin-1")
            path = "/" + "".join(c for c in path if "!" <= c <= "~" and c != "#").lstrip("/")
        status, headers, answer = box.call("POST", path, body, {
            "Content-Type": "application/connect+json" if is_stream else "application/json",
            "Connect-Timeout-Ms": "2000"})
        assert status in (200, 400, 401, 404, 405, 414, 415, 500, 501), (status, path, body)
        if status == 200 and is_stream and "connect+json" in headers["content-type"]:
            assert answer[-2:] in (b"{}", b"}}"), answer
        elif status in (200, 400, 500, 501):
            json.loads(answer)
    tap.equal(box.call("GET", "/health")[0], 204)


# ---- the cell as a whole ----


def test_a_token_is_asked_for():
    unary = {"Content-Type": "application/json"}
    tap.equal(inner.unary("claim", {"e2b": {"accessToken": "secret"}}), (200, {}))
    refusal = {"code": 401, "message": "unauthorized access, please provide a valid access token "
               "or method signing if supported"}
    for headers in ({}, {"X-Access-Token": "secre"}, {"X-Access-Token": "secret2"},
                    {"X-Access-Token": ""}):
        for method, path in (("POST", "/process.Process/List"), ("POST", "/process.Process/Start"),
                             ("GET", "/metrics"), ("GET", "/nope"), ("POST", "/health")):
            status, got, body = box.call(method, path, b"{}", dict(unary, **headers))
            tap.equal((status, json.loads(body)), (401, refusal))
            tap.equal(got["content-type"], "application/json; charset=utf-8")
            tap.equal(got["x-content-type-options"], "nosniff")
    tap.equal(box.call("GET", "/health")[0], 204)
    tap.equal(box.call("OPTIONS", "/process.Process/Start")[0], 204)
    box.headers = {"X-Access-Token": "secret"}
    tap.equal(run("echo in")[0], {"stdout": "in\n"})
    tap.equal(inner.unary("update", {"e2b": {"accessToken": "other"}}), (200, {}))
    tap.equal(box.call("GET", "/metrics")[0], 401)
    tap.equal(inner.unary("update", {"e2b": {"accessToken": None}}), (200, {}))
    box.headers = {}
    tap.equal(box.call("GET", "/metrics")[0], 200)


def test_figures():
    inner.unary("update", {"e2b": {"cpuCount": 2, "memoryBytes": 512 << 20}})
    box.call("GET", "/metrics")
    run("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    m = json.loads(box.call("GET", "/metrics")[2])
    tap.equal((m["cpu_count"], m["mem_total"], m["mem_total_mib"]), (2, 512 << 20, 512))
    assert abs(m["ts"] - time.time()) < 60 and 0 < m["cpu_used_pct"] <= 100, m
    assert 0 < m["mem_used"] <= m["mem_total"] and 0 < m["disk_used"] <= m["disk_total"], m
    assert "mem_cache" in m and m["mem_used_mib"] == m["mem_used"] >> 20


@only_in_a_cell
def test_the_same_is_at_a_port_of_the_cell():
    ask = ("curl -s -o /dev/null -w '%%{http_code}' http://%s:49983/health")
    tap.equal(inner.unary("claim", {"e2b": {"port": 49983}}), (200, {}))
    tap.equal(inner.unary("claim", {"e2b": {"port": 49983}}), (200, {}))
    for host in ("127.0.0.1", "[::1]", "localhost"):
        tap.equal(run(ask % host)[0], {"stdout": "204"}, host)
    tap.equal(run("curl -s http://localhost:49983/stats")[0], {"stdout": "404 page not found\n"})
    tap.equal(run("curl -s -H 'Content-Type: application/json' -d '{\"process\":{\"pid\":999}}' "
                  "http://localhost:49983/process.Process/SendSignal")[0]["stdout"],
              '{"code":"not_found","message":"process with pid 999 not found"}')


def test_a_halt_ends_every_process_but_the_first():
    s, pid = sh("setsid sleep 300 & trap '' TERM HUP; echo on; sleep 300", stdin=False)
    s.next()
    tap.equal(inner.unary("halt", {}), (200, {}))
    tap.equal(rest(s)[1], KILLED)
    tap.equal(rpc("List", {}), (200, {}))
    tap.equal(run("ls -d /proc/[0-9]* | wc -l")[1], EXIT_0)
    tap.equal(inner.unary("halt", {}), (200, {}))


def test_commands_that_are_too_long_say_so():
    for n, fields, end in ((131072 + 100, {}, ": argument list too long"),
                           (70000, {"cwd": "/nope"}, "cwd '/nope' does not exist")):
        name, message = refused({"process": {"cmd": "/bin/bash", "args": ["-c", "x" * n],
                                             **fields}})
        tap.equal(name, "invalid_argument")
        assert message.endswith(end) and len(message) < 10000, (message[:80], message[-80:])


def test_the_service_ends_in_order():
    LAB.stdin.close()
    tap.equal(LAB.wait(60), 0)


tap.main({k: v for k, v in globals().items() if v is not None})
