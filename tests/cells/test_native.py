# SPDX-License-Identifier: MIT
"""The native API on real cells: creating, finding, running, pausing, deleting, and what clients may
see of it."""

import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time

import cells
import connect
import service
import tap

NAME = re.compile(r"^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$")
# A command that no other run of this test uses, to be found among the host's processes.
SLEEP = "sleep %d" % (100000 + os.getpid())
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


# The examples of the API's documentation, word for word.
CREATE = """curl -X POST http://<host>/api/v1/sandbox \\
  -H "Content-Type: application/json" \\
  -H "Authorization: Bearer <api-key>" \\
  -d '{"name":"sandbox-01"}'"""
LIST = """curl http://<host>/api/v1/sandbox \\
  -H "Authorization: Bearer <api-key>\""""
DELETE = """curl -X DELETE http://<host>/api/v1/sandbox/sandbox-01 \\
  -H "Authorization: Bearer <api-key>\""""
# Paths that it names without an example, asked in the same way.
TOOL = """curl -X %s 'http://<host>%s' -H "Authorization: Bearer <api-key>" %s"""


def shell(s, command, key=service.SEED_TOKEN):
    """Types a command; (status, answer)."""
    command = command.replace("<host>", "%s:%d" % (s.host, s.port)).replace("<api-key>", key)
    command = command.replace("curl ", "curl -s -w '\\n%{http_code}' ", 1)
    done = subprocess.run(["sh", "-c", command], timeout=30, stdout=subprocess.PIPE, text=True,
                          check=True)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body) if body.startswith("{") else body


def tool(s, method, path, more="", **keys):
    return shell(s, TOOL % (method, path, more), **keys)


def test_the_documented_examples():
    with cells.running() as s:
        status, answer = shell(s, CREATE)
        made = answer.pop("sandbox")  # more than is documented
        tap.equal((status, answer),
                  (200, {"code": "0", "data": "Sandbox sandbox-01 created successfully"}))
        tap.equal(shell(s, LIST), (200, {"code": "0", "data": [made]}))
        tap.equal(tool(s, "GET", "/api/v1/sandbox/sandbox-01"), (200, {"code": "0", "data": made}))
        tap.equal(shell(s, DELETE),
                  (200, {"code": "0", "data": "Sandbox sandbox-01 deleted successfully"}))
        tap.equal(shell(s, LIST), (200, {"code": "0", "data": []}))


def test_the_documented_errors():
    with cells.running() as s:
        status, answer = shell(s, CREATE.replace("sandbox-01", "Sandbox_01"))
        tap.equal((status, sorted(answer), answer["code"]), (400, ["code", "message"], 400))
        for command in (CREATE, LIST, DELETE):
            tap.equal(shell(s, command, key="wrong-key"),
                      (401, {"code": 401, "message": "Unauthorized"}))
        tap.equal(tool(s, "GET", "/api/v1/sandbox/sandbox-01"),
                  (404, {"code": 404, "message": "sandbox sandbox-01 not found"}))
        tap.equal(shell(s, DELETE), (404, {"code": 404, "message": "sandbox sandbox-01 not found"}))


def test_the_documented_tools():
    with cells.running() as s:
        tap.equal(shell(s, CREATE)[0], 200)
        files = "/api/v1/sandbox/files/sandbox-01"
        status, answer = tool(s, "POST", "/api/v1/terminal/sandbox/sandbox-01",
                              "-d '{\"command\":\"echo hi\"}'")
        tap.equal((status, answer["code"], answer["data"]["output"]), (200, "0", "hi\n"))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write("some text\n")
            f.flush()
            status, answer = tool(s, "POST", files + "/upload?path=/tmp", "-F file=@" + f.name)
            tap.equal((status, answer["data"]["fileName"]), (200, os.path.basename(f.name)))
            path = "?path=/tmp/" + os.path.basename(f.name)
        status, answer = tool(s, "GET", files + "?path=/tmp")
        tap.equal(status, 200)
        tap.equal([x["size"] for x in answer["data"]["entries"]], [10])
        tap.equal(tool(s, "GET", files + "/download" + path), (200, "some text\n"))
        tap.equal(tool(s, "DELETE", files + path)[0], 200)
        tap.equal(tool(s, "GET", files + "/download" + path)[0], 404)
        status, answer = tool(s, "GET", "/api/v1/logs/sandbox/sandbox-01")
        tap.equal((status, answer["data"]["logs"]), (200, ""))
        status, answer = tool(s, "GET", "/api/v1/events")
        tap.equal((status, [x["reason"] for x in answer["data"]][:2]),
                  (200, ["SandboxRunning", "SandboxCreated"]))
        status, answer = tool(s, "GET", "/healthz")
        tap.equal((status, list(answer), answer["status"]), (200, ["status", "version"], "ok"))


def test_names():
    with cells.running() as s:
        for body in (None, "", "{}", {"image": ""}):
            answer = s.post("/api/v1/sandbox", body)
            tap.equal(answer.status, 200, "status for %r" % body)
            assert NAME.match(answer.json["sandbox"]["name"]), answer
        longest = "a" * 50
        tap.equal(s.create(name=longest)["name"], longest)
        for bad in ("Upper", "under_score", "with space", "a" * 51, "-a", "a-", "", "ä", "a/b",
                    "github", "12306", "e2b"):
            answer = s.post("/api/v1/sandbox", {"name": bad})
            tap.equal(answer.status, 400, "status for %r" % bad)
            tap.equal(answer.json["code"], 400)
            tap.contains(answer.json["message"], "invalid sandbox name")
        tap.contains(s.post("/api/v1/sandbox", {"name": "A"}).json["message"],
                     'invalid sandbox name "A": only lowercase letters, numbers and \'-\', '
                     "max 50 chars")
        answer = s.post("/api/v1/sandbox", {"name": longest})
        tap.equal((answer.status, answer.json),
                  (409, {"code": 409, "message": "sandbox %s already exists" % longest}))
        tap.equal(s.show(longest).status, 200)


def test_what_is_refused():
    with cells.running() as s:
        for body in ("{", "[]", '"x"', {"name": 123}, {"timeout": "1"}, {"timeout": 1.5},
                     {"timeout": 86401}, {"idle_timeout": 86401}, {"envVars": []},
                     {"envVars": {"A": 1}}, {"envVars": {"A=B": "x"}}, {"envVars": {"": "x"}},
                     {"metadata": {"a": None}}, {"args": "x"}, {"args": [1]}, {"port": 65536},
                     {"port": -1}, {"cpu_limit": "many"}, {"cpu_limit": "1m"},
                     {"memory_limit": "1Mi"}, {"memory_limit": "-1"}, {"disk": "1Ki"},
                     {"autoPause": "yes"}, {"workdir": "relative"}, {"template": "nope"},
                     {"image": "python:3.12"}):
            answer = s.post("/api/v1/sandbox", body)
            tap.equal(answer.status, 400, "status for %r" % body)
            tap.equal(answer.json["code"], 400)
        tap.equal(s.post("/api/v1/sandbox", {"timeout": 86401}).json["message"],
                  "invalid timeout 86401, must be <= 60*60*24 (seconds), -1 is no timeout")
        tap.equal(s.post("/api/v1/sandbox", {"template": "nope"}).json["message"],
                  "failed to get Template by name nope: Template  nope not found")
        tap.contains(s.post("/api/v1/sandbox", {"name": 1}).json["message"],
                     "failed to decode request body: ")
        tap.equal(s.names(), [])
        for path in ("/api/v1/sandbox/nope", "/api/v1/sandbox/NOPE%20"):
            answer = s.get(path)
            tap.equal(answer.status, 404)
        tap.equal(s.show("nope").json, {"code": 404, "message": "sandbox nope not found"})
        tap.equal(s.remove("nope").status, 404)
        for path in ("/api/v1/terminal/sandbox/nope", "/api/v1/sandbox/pause/nope",
                     "/api/v1/sandbox/resume/nope"):
            tap.equal(s.post(path, {"command": "true"}).status, 404)
        answer = s.request("PUT", "/api/v1/sandbox", "{}")
        tap.equal(answer.status, 405)
        tap.contains(answer.headers["Allow"], "POST")
        tap.equal(s.get("/api/v1/nothing").status, 404)


def test_defaults_and_the_object():
    with cells.running() as s:
        for given, want in ((None, 1800), (0, 1800), (-1, -1), (-5, -1), (77, 77)):
            fields = {} if given is None else {"timeout": given}
            tap.equal(s.create(**fields)["timeout"], want)
        made = s.create(name="full", template="code-interpreter-v1", timeout=600, idle_timeout=300,
                        autoPause=True, autoResume=True, workdir="/tmp", cpu="0.5",
                        memory="256Mi", cpu_limit="1500m", memory_limit="1Gi", pids=64, port=9000,
                        app="test", envVars={"A": "1"}, metadata={"k": "v w"}, unknown={"x": 1})
        answer = s.post("/api/v1/sandbox", {"name": "odd", "memroy": "1Gi"})
        tap.equal((answer.status, answer.json["warnings"]),
                  (200, ["unknown field 'memroy'; did you mean 'memory'?"]), answer)
        s.delete("/api/v1/sandbox/odd")
        shown = s.show("full").json["data"]
        for x in (made, shown):
            for name, want in (("name", "full"), ("template", "code-interpreter-v1"),
                               ("timeout", 600), ("idle_timeout", 300), ("autoPause", True),
                               ("autoResume", True), ("workdir", "/tmp"), ("cpu", "0.5"),
                               ("memory", "256Mi"), ("cpu_limit", "1500m"),
                               ("memory_limit", "1Gi"), ("pids", 64), ("port", 9000),
                               ("app", "test"), ("metadata", {"k": "v w"}), ("status", "running"),
                               ("url", "/sandbox/full/"), ("user", "system")):
                tap.equal(x[name], want, name)
            assert re.fullmatch("[0-9a-f]{32}", x["id"]), x["id"]
            assert TIME.match(x["created_at"]) and TIME.match(x["expires_at"]), x
            tap.equal(x["envVars"]["A"], "1")
            tap.equal(x["envVars"]["AGENT_SANDBOX_NAME"], "full")
            tap.equal(x["envVars"]["AGENT_SANDBOX_ID"], x["id"])
        plain = s.create(name="plain")
        tap.equal((plain["template"], plain["port"], plain["metadata"]), ("default", 8080, {}))
        tap.equal((plain["cpu"], plain["memory"], plain["disk"]), ("200m", "500Mi", "5Gi"))
        # What is set aside for it is never more than it may use.
        small = s.create(name="small", memory_limit="256Mi", cpu_limit="100m")
        tap.equal((small["cpu"], small["memory"]), ("100m", "256Mi"))
        s.remove("small")
        assert isinstance(plain["image"], str) and plain["image"]
        # An image that names a template here replaces only the image.
        x = s.create(image="tidepool/base:latest")
        tap.equal((x["image"], x["template"]), ("tidepool/base:latest", "custom"))
        x = s.create(image="base", template="default")
        tap.equal((x["image"], x["template"]), ("base", "default"))
        # Newest first, and filters.
        tap.equal(s.names()[2:4], ["plain", "full"])
        tap.equal(s.get("/api/v1/sandbox?template=code-interpreter-v1").json["data"][0]["name"],
                  "full")
        tap.equal(s.get("/api/v1/sandbox?state=paused").json["data"], [])
        # By id, too.
        tap.equal(s.show(plain["id"]).json["data"]["name"], "plain")


def test_environment_and_commands():
    with cells.running() as s:
        made = s.create(name="env", envVars={"GREETING": "hello world", "EMPTY": ""})
        done = s.run("env", "echo hi")
        tap.equal((done["output"], done["errorOutput"], done["exitCode"]), ("hi\n", "", 0))
        tap.equal((done["sandbox"], done["pod"], done["container"], done["command"]),
                  ("env", "env", "sandbox", "echo hi"))
        assert TIME.match(done["executedAt"]), done
        done = s.run("env", "echo $GREETING-$EMPTY-; echo $AGENT_SANDBOX_ID $AGENT_SANDBOX_NAME "
                            "$INSTANCE_NAME; hostname; id -un; pwd")
        tap.equal(done["output"].split("\n"),
                  ["hello world--", "%s env env" % made["id"], "env", "user", "/home/user", ""])
        done = s.run("env", "echo e >&2; exit 3")
        tap.equal((done["output"], done["errorOutput"], done["exitCode"]), ("", "e\n", 3))
        tap.equal(s.run("env", "kill -9 $$")["exitCode"], 137)
        for body in ({"command": ""}, {}, {"command": "  \n "}, None):
            answer = s.post("/api/v1/terminal/sandbox/env", body)
            tap.equal((answer.status, answer.json),
                      (400, {"code": 400, "message": "command is required"}))
        for body in ({"command": 1}, {"command": "true", "timeout": "x"},
                     {"command": "true", "timeout": -1}, {"command": "true", "env": {"A": 1}},
                     {"command": "true", "cwd": "/nowhere"},
                     {"command": "true", "user": "nobody-x"}, {"command": "a\0b"}):
            tap.equal(s.post("/api/v1/terminal/sandbox/env", body).status, 400, "%r" % body)
        done = s.run("env", "cat; echo $X; pwd; id -u", stdin="in\n", env={"X": "y z"}, cwd="/usr",
                     user="root")
        tap.equal(done["output"], "in\ny z\n/usr\n0\n")
        # Files stay.
        s.run("env", "mkdir -p /tmp/d && echo kept >/tmp/d/file")
        tap.equal(s.run("env", "cat /tmp/d/file")["output"], "kept\n")


def test_output_of_every_kind():
    with cells.running() as s:
        s.create(name="out")
        text = "a 'quoted' \"text\" | with $pipes `and` ünïcödé 🐳 \\ \t"
        done = s.run("out", "cat | tr a-z a-z", stdin=text)
        tap.equal(done["output"], text)
        done = s.run("out", "head -c 1048576 /dev/zero | tr '\\0' x")
        tap.equal((len(done["output"]), done["truncated"]), (1048576, False))
        done = s.run("out", r"printf 'a\000b\377c'; printf '\342\202' >&2")
        tap.equal(done["output"], "a\0b\ufffdc")
        assert done["errorOutput"].startswith("\ufffd"), done
        start = time.monotonic()
        done = s.run("out", "echo begin; sleep 999", timeout=1)
        assert 0.9 < time.monotonic() - start < 3, "took %g s" % (time.monotonic() - start)
        tap.equal((done["timedOut"], done["output"]), (True, "begin\n"))
        s.until(lambda: s.run("out", "pgrep -x sleep || true")["output"] == "")


def test_main_process():
    with cells.running() as s:
        s.create(name="web", cmd="python3", args=["-m", "http.server", "8080"], workdir="/usr",
                 envVars={"A": "b"})
        fetch = ("import urllib.request as u; "
                 "print(u.urlopen(\"http://127.0.0.1:8080/\").status)")
        s.until(lambda: s.run("web", "python3 -c '%s'" % fetch)["output"] == "200\n")
        environ = s.run("web", "tr '\\0' '\\n' </proc/$(pgrep -f http.server -o)/environ")["output"]
        tap.contains(environ, "A=b\n")
        tap.contains(environ, "AGENT_SANDBOX_NAME=web\n")
        answer = s.post("/api/v1/sandbox", {"name": "bad", "cmd": "no-such-program"})
        tap.equal(answer.status, 400)
        tap.equal(s.names(), ["web"])
        tap.equal(s.reasons("bad"), ["SandboxCreateFailed"])
        s.create(name="bad")


def test_delete_ends_everything():
    with cells.running() as s:
        s.create(name="gone")
        s.run("gone", SLEEP + " >/dev/null 2>&1 & echo started")
        s.until(lambda: len(host_processes(SLEEP)) == 1)
        answer = s.remove("gone")
        tap.equal((answer.status, answer.json),
                  (200, {"code": "0", "data": "Sandbox gone deleted successfully"}))
        tap.equal(host_processes(SLEEP), [])
        tap.equal(s.show("gone").status, 404)
        tap.equal(s.remove("gone").status, 404)
        tap.equal(s.names(), [])
        # The name is free at once, and the new one is new.
        s.create(name="gone")
        tap.equal(s.run("gone", "ls /home/user | wc -l")["output"], "0\n")
        s.post("/api/v1/sandbox/pause/gone")
        tap.equal(s.remove("gone").status, 200)
        tap.equal(s.reasons("gone"), ["SandboxCreated", "SandboxRunning", "SandboxDeleted",
                                      "SandboxCreated", "SandboxRunning", "SandboxPaused",
                                      "SandboxDeleted"])


def host_processes(command):
    done = subprocess.run(["pgrep", "-fx", command], stdout=subprocess.PIPE, text=True)
    return done.stdout.split()


def test_owners():
    with cells.running() as s:
        one, two = s.make_key(account="one")["key"], s.make_key(account="two")["key"]
        s.create(name="mine", key=one)
        tap.equal(s.names(key=one), ["mine"])
        tap.equal(s.names(key=two), [])
        tap.equal(s.names(), ["mine"])
        for answer in (s.show("mine", key=two), s.remove("mine", key=two),
                       s.post("/api/v1/terminal/sandbox/mine", {"command": "true"}, key=two),
                       s.post("/api/v1/sandbox/pause/mine", key=two),
                       s.post("/api/v1/sandbox/resume/mine", key=two)):
            tap.equal((answer.status, answer.json["message"]), (404, "sandbox mine not found"))
        tap.equal(s.post("/api/v1/sandbox/metrics", {"names": ["mine"]}, key=two).json["data"],
                  {"items": {}})
        tap.equal(s.show("mine", key=one).json["data"]["status"], "running")
        tap.equal(s.show("mine", key=None).status, 401)
        # The name is taken for everybody, and nobody sees a token.
        tap.equal(s.post("/api/v1/sandbox", {"name": "mine"}, key=two).status, 409)
        tap.equal(s.show("mine").json["data"]["user"], "one")
        assert one.encode() not in s.show("mine").body
        tap.equal(s.remove("mine", key=one).status, 200)


def test_quota():
    with cells.running() as s:
        key = s.make_key(limits={"max_live": 2})["key"]
        s.create(name="a", key=key)
        s.create(name="b", key=key)
        answer = s.post("/api/v1/sandbox", {"name": "c"}, key=key)
        tap.equal((answer.status, answer.json["message"]),
                  (413, "capacity exceeded: you have reached the maximum sandbox limit (2/2), "
                        "please delete some sandboxes before creating new ones"))
        s.create(name="c")
        s.remove("a", key=key)
        s.create(name="d", key=key)
        # A refused create takes no place.
        tap.equal(s.post("/api/v1/sandbox", {"name": "B"}, key=key).status, 400)
        s.remove("d", key=key)
        tap.equal(s.post("/api/v1/sandbox", {"name": "b"}, key=key).status, 409)
        s.create(name="e", key=key)


def test_pause_keeps_everything():
    with cells.running() as s:
        s.create(name="nap", timeout=3)
        s.run("nap", "python3 -c 'import time,os\n"
                     "data = bytearray(b\"x\" * 50_000_000)\n"
                     "open(\"/tmp/pid\", \"w\").write(str(os.getpid()))\n"
                     "n = 0\n"
                     "while True:\n"
                     "    n += 1\n"
                     "    open(\"/tmp/m\", \"w\").write(f\"{n} {sum(data[::1000000])}\")\n"
                     "    os.rename(\"/tmp/m\", \"/tmp/n\")\n"
                     "    time.sleep(0.02)' >/dev/null 2>&1 &")
        s.until(lambda: s.run("nap", "cat /tmp/n 2>/dev/null; true")["output"] != "")
        pid = s.run("nap", "cat /tmp/pid")["output"]
        for _ in range(2):  # both are idempotent
            answer = s.post("/api/v1/sandbox/pause/nap")
            tap.equal((answer.status, answer.json["data"]),
                      (200, "Sandbox nap paused successfully"))
        shown = s.show("nap").json["data"]
        tap.equal(shown["status"], "paused")
        assert TIME.match(shown["paused_at"]) and "expires_at" not in shown, shown
        answer = s.post("/api/v1/terminal/sandbox/nap", {"command": "true"})
        tap.equal((answer.status, answer.json["message"]), (409, "sandbox nap is paused"))
        time.sleep(3.5)  # longer than its timeout
        tap.equal(s.show("nap").json["data"]["status"], "paused")
        for _ in range(2):
            answer = s.post("/api/v1/sandbox/resume/nap")
            tap.equal((answer.status, answer.json["data"]),
                      (200, "Sandbox nap resumed successfully"))
        before = s.run("nap", "cat /tmp/n")["output"].split()
        time.sleep(0.3)
        after = s.run("nap", "cat /tmp/n")["output"].split()
        assert int(after[0]) > int(before[0]), (before, after)
        tap.equal(int(after[1]), 50 * ord("x"))
        tap.equal(s.run("nap", "cat /tmp/pid")["output"], pid)
        # Its whole timeout begins again.
        took = s.until(lambda: s.show("nap").status == 404)
        assert 1.5 < took < 4, took
        s.until(lambda: s.reasons("nap") == ["SandboxCreated", "SandboxRunning", "SandboxPaused",
                                             "SandboxResumed", "SandboxTimeout",
                                             "SandboxDeleted"])


def test_timeouts():
    with cells.running() as s:
        start = time.monotonic()
        s.create(name="ttl", timeout=2)
        s.create(name="idle", idle_timeout=2, timeout=-1)
        s.create(name="sleeper", timeout=2, autoPause=True)
        s.create(name="waker", timeout=2, autoPause=True, autoResume=True)
        s.create(name="forever", timeout=-1)
        assert "expires_at" not in s.show("forever").json["data"]
        while time.monotonic() < start + 3:
            s.run("idle", "true")  # activity
            if time.monotonic() < start + 1.8:
                tap.equal(s.show("ttl").status, 200)
            time.sleep(0.1)
        tap.equal(s.show("ttl").status, 404)
        tap.equal(s.show("sleeper").json["data"]["status"], "paused")
        tap.equal(s.show("waker").json["data"]["status"], "paused")
        tap.equal(s.show("idle").status, 200)
        tap.equal(s.run("waker", "echo woke")["output"], "woke\n")
        tap.equal(s.show("waker").json["data"]["status"], "running")
        # A command that runs is activity for as long as it runs.
        tap.equal(s.run("idle", "sleep 3; echo done")["output"], "done\n")
        took = s.until(lambda: s.show("idle").status == 404)
        assert 1.5 < took < 3.2, took
        tap.equal(s.show("forever").status, 200)
        s.until(lambda: s.reasons("idle")[-2:] == ["SandboxIdleTimeout", "SandboxDeleted"])
        tap.equal(s.reasons("sleeper")[-2:], ["SandboxTimeout", "SandboxPaused"])


def test_a_new_timeout():
    with cells.running() as s:
        def change(body, name="t", **more):
            return s.request("PATCH", "/api/v1/sandbox/" + name, body, **more)
        s.create(name="t", timeout=600)
        for body, text in (({}, "nothing to change"), (None, "nothing to change"),
                           ({"timeout": 0}, "invalid timeout 0"),
                           ({"timeout": 86401}, "invalid timeout 86401"),
                           ({"timeout": "1"}, "must be an integer"), ([], "an object"),
                           ({"allowInternetAccess": 1}, "true or false"),
                           ({"network": []}, "network must be an object")):
            answer = change(body)
            tap.equal(answer.status, 400, "%r" % body)
            tap.contains(answer.json["message"], text)
        tap.equal(change({"timeout": 5}, "nope").status, 404)
        other = s.make_key(account="other")["key"]
        tap.equal(change({"timeout": 5}, key=other).status, 404)
        tap.equal(s.show("t").json["data"]["timeout"], 600)
        answer = change({"timeout": -1})
        tap.equal((answer.status, answer.json["data"]["timeout"]), (200, -1))
        assert "expires_at" not in answer.json["data"], answer
        # Of a paused one it counts from its resume on.
        s.post("/api/v1/sandbox/pause/t")
        tap.equal(change({"timeout": 1}).json["data"]["status"], "paused")
        s.post("/api/v1/sandbox/resume/t")
        s.until(lambda: s.show("t").status == 404, 5)


def test_names_of_ending_sandboxes():
    """What cannot be found any more is not in the way, either."""
    with cells.running() as s, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for turn in range(15):
            s.create(name="again")
            job = pool.submit(s.remove, "again")
            s.until(lambda: s.show("again").status == 404)
            if turn % 2:
                tap.equal(s.remove("again").status, 404)
            answer = s.post("/api/v1/sandbox", {"name": "again"})
            tap.equal(answer.status, 200, "turn %d: %r" % (turn, answer))
            tap.equal(job.result().status, 200)
            tap.equal(s.run("again", "hostname")["output"], "again\n")
            tap.equal(s.remove("again").status, 200)


def test_many_at_once():
    with cells.running() as s, concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(
            lambda i: s.post("/api/v1/sandbox", {"name": "box-%d" % i}, timeout=120), range(50)))
        tap.equal({a.status for a in answers}, {200})
        tap.equal(len({a.json["sandbox"]["id"] for a in answers}), 50)
        tap.equal(len(s.names()), 50)
        outputs = list(pool.map(lambda i: s.run("box-%d" % i, "hostname")["output"], range(50)))
        tap.equal(outputs, ["box-%d\n" % i for i in range(50)])
        tap.equal({a.status for a in pool.map(lambda i: s.remove("box-%d" % i), range(50))}, {200})
        answers = list(pool.map(lambda i: s.post("/api/v1/sandbox", {"name": "same"}), range(50)))
        tap.equal(sorted(a.status for a in answers), [200] + [409] * 49)
        answers = list(pool.map(lambda i: s.remove("same"), range(10)))
        tap.equal(sorted(a.status for a in answers), [200] + [404] * 9)


def test_idempotency():
    with cells.running() as s:
        headers = {"Idempotency-Key": "first"}
        one = s.post("/api/v1/sandbox", {"timeout": 60}, headers=headers)
        two = s.post("/api/v1/sandbox", {"timeout": 60}, headers=headers)
        tap.equal((one.status, two.status), (200, 200))
        tap.equal(one.body, two.body)
        tap.equal(len(s.names()), 1)
        tap.equal(s.post("/api/v1/sandbox", {"timeout": 61}, headers=headers).status, 422)


def test_memory_is_bounded():
    with cells.running() as s:
        s.create(name="hog", memory_limit="64Mi")
        done = s.run("hog", "python3 -c 'x = bytearray(200_000_000)'; echo $?")
        assert done["output"].strip() not in ("", "0"), done
        s.until(lambda: "SandboxOOMKilled" in s.reasons("hog"), 5)
        tap.equal(s.run("hog", "echo alive")["output"], "alive\n")
        s.create(name="forks", pids=40)
        done = s.run("forks", "for i in $(seq 100); do sleep 30 & done 2>&1; echo over", timeout=20)
        tap.equal(s.run("hog", "echo alive")["output"], "alive\n")


def test_metrics():
    with cells.running() as s:
        s.create(name="busy")
        s.run("busy", "sh -c 'while :; do :; done' >/dev/null 2>&1 &")
        answer = s.post("/api/v1/sandbox/metrics", {"names": ["busy", "nope"]})
        tap.equal(list(answer.json["data"]["items"]), ["busy"])
        item = answer.json["data"]["items"]["busy"]
        tap.equal((item["sandbox"], item["pod"]), ("busy", "busy"))
        assert item["memoryBytes"] > 0 and TIME.match(item["sampledAt"]), item

        def is_busy():
            a = s.post("/api/v1/sandbox/metrics", {"names": ["busy"]})
            return a.json["data"]["items"]["busy"]["cpuMilli"] > 50
        s.until(is_busy, 20)
        for body in ({"names": []}, {}, None):
            answer = s.post("/api/v1/sandbox/metrics", body)
            tap.equal((answer.status, answer.json["message"]), (400, "names is required"))
        text = s.get("/metrics").body.decode()
        tap.contains(text, "\ntidepool_sandboxes_running 1\n")
        tap.contains(text, "\ntidepool_sandbox_creates_total 1\n")
        tap.contains(text, "\ntidepool_cells_warm ")


def test_exit_of_the_cell():
    with cells.running() as s:
        x = s.create(name="dies")
        s.run("dies", SLEEP + " >/dev/null 2>&1 &")
        # From outside: the first process of the cell is the parent of all in it.
        s.until(lambda: host_processes(SLEEP))
        pid = host_processes(SLEEP)[0]
        with open("/proc/%s/stat" % pid) as f:
            parent = int(f.read().rpartition(")")[2].split()[1])
        subprocess.run(["kill", "-9", str(parent)], check=True)
        s.until(lambda: s.show("dies").status == 404)
        s.until(lambda: s.reasons("dies")[-1] == "SandboxExited")
        assert s.create(name="dies")["id"] != x["id"]


FILL = """cat >/tmp/fill.py <<'END'
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        open("/tmp/full", "w").close()
        time.sleep(0.01)
END
setsid python3 /tmp/fill.py >/dev/null 2>&1 & until [ -e /tmp/full ]; do :; done"""


def test_commands_at_the_limit_of_processes():
    """A sandbox that has used up its processes is no fault of the service."""
    with cells.running(env={"TIDEPOOL_CELLS_PIDS": "24"}) as s:
        for user in ("user", "root"):
            s.create(name="box")
            s.run("box", FILL, user=user)
            path = "/api/v1/terminal/sandbox/box"
            s.until(lambda u=user: s.post(path, {"command": "true", "user": u}).status != 200)
            for body in ({"command": "true"}, {"command": "echo $$; :"}, {"command": "exec x"},
                         {"command": "true", "stream": True}):
                answer = s.post(path, {"user": user, **body})
                tap.equal((answer.status, answer.json["message"]),
                          (429, "the sandbox has as many processes as it may have"), answer)
            tap.equal(s.remove("box").status, 200)


def test_starts_at_the_limit_of_processes():
    """Clients of E2B would show "rate limit exceeded" for another code."""
    with cells.running(env={"TIDEPOOL_CELLS_PIDS": "24"}) as s:
        box = connect.make_box(s)
        name = s.names()[0]
        s.run(name, FILL, user="user")
        s.until(lambda: s.post("/api/v1/terminal/sandbox/" + name,
                               {"command": "true", "user": "user"}).status != 200)
        stream = box.stream("process.Process/Start", {"process": {
            "cmd": "/bin/bash", "args": ["-l", "-c", "sort x | uniq"]}})
        tap.equal((stream.next(), stream.end["error"]["code"]), (None, "invalid_argument"))
        text = stream.end["error"]["message"]
        assert text.startswith("error starting process '") and text.endswith(
            ": resource temporarily unavailable: the sandbox has as many processes as it may "
            "have"), text


def test_forks_at_the_limit_are_refused_early():
    """By the limit of the user, not by the control group, for which all is copied before."""
    with cells.running() as s:
        for name, more, most in (("own", {"pids": 77}, 76), ("more", {"pids": 2000}, 1999)):
            s.create(name=name, **more)
            for user in ("user", "root"):
                output = s.run(name, "grep processes /proc/self/limits", user=user)["output"]
                tap.equal(output.split()[2:4], [str(most)] * 2, "%s %s" % (name, user))
        s.run("own", FILL)
        assert refusals(s, "own") == 0, "the control group refused"


def refusals(s, name):
    """How many forks the control group of a sandbox has refused."""
    with open("/proc/%d/cgroup" % cells.first_process(s, name)) as f:
        paths = {x.rstrip("\n").split(":", 2)[2] for x in f if "/tidepool/" in x}
    for group in [x for path in paths for x in cells.group_dirs(path)]:
        with contextlib.suppress(FileNotFoundError), open(group + "/pids.events") as f:
            return int(f.read().split()[1])
    raise AssertionError("no count of refusals")


def test_a_program_at_the_limit_of_processes():
    """The first process of a sandbox counts: with one in all, its program cannot start."""
    with cells.running() as s:
        answer = s.post("/api/v1/sandbox", {"name": "box", "cmd": "x", "pids": 1})
        want = {"code": 429, "message": "the sandbox has as many processes as it may have"}
        tap.equal((answer.status, answer.json), (429, want))
        tap.equal(s.show("box").status, 404)
        s.create(name="box", cmd="sleep 1000", pids=16)


def test_what_cannot_start_is_not_our_fault():
    with cells.running() as s:
        s.create(name="one")
        answer = s.post("/api/v1/terminal/sandbox/one", {"command": "true", "cwd": "x" * 300})
        tap.equal(answer.status, 400, answer)


tap.main(globals())
