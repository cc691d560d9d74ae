# SPDX-License-Identifier: MIT
"""Templates and pools on real cells: what sandboxes get of their template, members that are started
before somebody asks for them, and what is handed out."""

import concurrent.futures

import cells
import tap

CONFIG = "/api/v1/config/templates"
HOST = "tidepool/default:latest"
# Answers on a port after a moment, and says what it saw.
SERVER = ("echo warming >> /tmp/order; sleep 0.3; echo ready >> /tmp/order; "
          "exec python3 -m http.server 7777 --bind 127.0.0.1")


def template(name="warm", **fields):
    return dict({"name": name, "image": HOST, "description": "For a test"}, **fields)


def save(s, *templates):
    answer = s.post(CONFIG, list(templates))
    tap.equal((answer.status, answer.json["data"]), (200, "ok"), repr(answer))


def pool(s, name="warm"):
    found = [t for t in s.get("/api/v1/pool").json["data"] if t["name"] == name]
    return found[0]["pool"] if found else None


def members(s, name="warm"):
    return s.get("/api/v1/pool/sandbox/" + name).json["data"]


def wait_for(s, n, name="warm"):
    s.until(lambda: pool(s, name)["readySize"] == n, 30)


def test_a_template_is_used_at_once():
    with cells.running() as s:
        save(s, template("mine", port=9001, workdir="/srv/desk", user="root",
                         envVars={"A": "template", "B": "template"}, metadata={"of": "template"},
                         resources={"memoryLimit": "256Mi", "cpuLimit": "500m"},
                         args=["sh", "-c", "echo main in $PWD; sleep 1000"]))
        made = s.create(name="one", template="mine", envVars={"B": "request"},
                        metadata={"by": "request"})
        tap.equal((made["template"], made["port"], made["workdir"], made["memory_limit"],
                   made["cpu_limit"], made["metadata"]),
                  ("mine", 9001, "/srv/desk", "256Mi", "500m",
                   {"of": "template", "by": "request"}))
        tap.equal(s.run("one", "echo $A $B; pwd; id -un")["output"],
                  "template request\n/srv/desk\nroot\n")
        logs = "/api/v1/logs/sandbox/one"
        s.until(lambda: "main in /srv/desk" in s.get(logs).json["data"]["logs"])
        made = s.create(name="two", template="mine", memory_limit="300Mi", port=81)
        tap.equal((made["memory_limit"], made["port"]), ("300Mi", 81))
        # "default" is there without being saved, and what was saved before is gone.
        s.create(name="three")
        answer = s.post("/api/v1/sandbox", {"template": "base"})
        tap.equal((answer.status, answer.json["message"]),
                  (400, "failed to get Template by name base: Template  base not found"))
        # Its sandboxes outlive it.
        tap.equal(s.post(CONFIG + "/restore/0").status, 200)
        tap.equal(s.run("one", "id -un")["output"], "root\n")
        tap.equal(s.stop(), 0)
        s.start()
        tap.equal(s.run("one", "id -un; echo $A")["output"], "root\ntemplate\n")
        s.remove_all()


def test_the_sandbox_template_comes_last():
    with cells.running() as s:
        text = ("timeout: 77\nenvVars:\n  A: default\n"
                "  WHO: '{{.Sandbox.User}}/{{.Sandbox.Name}}'\n"
                "  T: {{.Sandbox.Template}}\n")
        tap.equal(s.post("/api/v1/config/blueprint", text).json["data"], "ok")
        save(s, template("mine", envVars={"A": "template"}))
        made = s.create(name="one", template="mine")
        tap.equal((made["timeout"], made["envVars"]["A"]), (77, "template"))
        tap.equal(s.run("one", "echo $A $WHO $T")["output"], "template system/one mine\n")
        made = s.create(name="two", timeout=99)
        tap.equal((made["timeout"], made["envVars"]["A"]), (99, "default"))
        s.remove_all()


def test_dynamic_templates():
    with cells.running() as s:
        pattern = r"^faas-code-(?P<name>[a-z]+)\.(?P<version>[0-9.]+)$"
        save(s, template("exact", image=HOST),
             template("faas", type="dynamic", pattern=pattern, image="reg.example/<name>:<version>",
                      envVars={"FROM": "faas"}),
             template("host", type="dynamic", image="tidepool/<name>:<version>",
                      pattern="^(?P<name>default)-(?P<version>latest)$"))
        answer = s.post("/api/v1/sandbox", {"template": "faas-code-python.3.11"})
        tap.equal(answer.status, 400)
        tap.contains(answer.json["message"], "reg.example/python:3.11")
        made = s.create(name="one", template="default-latest")
        tap.equal((made["template"], made["image"]), ("default-latest", HOST))
        answer = s.post("/api/v1/sandbox", {"template": "faas-code-python"})
        tap.contains(answer.json["message"], "not found")
        s.remove_all()


def test_what_the_host_lacks():
    with cells.running() as s:
        save(s, template("lacking", requires=["sh", "no-such-package", "no-such | nor-such"],
                         pool={"size": 1}))
        want = ("template lacking needs what this host lacks: no-such-package, no-such | nor-such; "
                "apt-get install no-such-package no-such")
        answer = s.post("/api/v1/sandbox", {"template": "lacking"})
        tap.equal((answer.status, answer.json["message"]), (501, want))
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "lacking"})
        tap.equal((answer.status, answer.json["message"]), (501, want))
        s.until(lambda: pool(s, "lacking").get("error") == want)
        tap.equal(s.names(), [])


def test_a_pool_on_demand():
    with cells.running() as s:
        save(s, template(pool={"size": 1, "onDemand": True}), template("always", pool={"size": 1}))
        s.until(lambda: pool(s, "always")["readySize"] == 1)
        got = pool(s)
        tap.equal((got["readySize"], got["building"], got["filled"]), (0, 0, 0), "nobody asked")
        s.create(template="warm")
        s.until(lambda: pool(s)["readySize"] == 1)
        s.create(template="warm")
        got = pool(s)
        tap.equal((got["misses"], got["hits"]), (1, 1))
        s.remove_all()


def test_names_of_e2b():
    with cells.running() as s:
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "code-interpreter", "timeout": 300})
        tap.equal((answer.status, answer.json["templateID"]), (201, "code-interpreter"))
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "code-interpreter-v1"})
        tap.equal((answer.status, answer.json["templateID"]), (201, "code-interpreter"))
        tap.equal(s.post("/e2b/v1/sandboxes", {"templateID": "base-vscode"}).status, 404)
        save(s, template("my-vscode"))
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "my-vscode"})
        tap.equal((answer.status, answer.json["templateID"]), (201, "my-vscode"))
        s.remove_all()


def test_a_pool_is_filled_and_handed_out():
    with cells.running() as s:
        user = s.make_key(account="alice")["key"]
        save(s, template(pool={"size": 2, "probePort": 7777, "warmupCmd": SERVER,
                               "startupCmd": "echo started $NAME >> /tmp/order"}))
        wait_for(s, 2)
        tap.equal(pool(s)["size"], 2)
        waiting = members(s)
        tap.equal([(m["isPool"], m["template"], m["status"]) for m in waiting],
                  [(True, "warm", "running")] * 2)
        tap.equal(s.names(), [])
        made = s.create(name="mine", template="warm", envVars={"NAME": "request"},
                        metadata={"by": "me"}, memory_limit="333Mi", key=user)
        tap.equal((made["name"], made["metadata"], made["user"], made["memory_limit"]),
                  ("mine", {"by": "me"}, "alice", "333Mi"))
        tap.equal(s.run("mine", "cat /tmp/order; hostname; echo $NAME $AGENT_SANDBOX_NAME",
                        key=user)["output"],
                  "warming\nready\nstarted request\nmine\nrequest mine\n")
        tap.equal(s.run("mine", "cat /sys/fs/cgroup/memory.max 2>/dev/null || "
                        "free -b | awk '/Mem:/{print $2}'", key=user)["output"].strip(),
                  str(333 << 20))
        tap.equal(s.names(key=user), ["mine"])
        # It serves, and its log is the warm-up's.
        answer = s.get("/sandbox/mine/?port=7777", key=user)
        tap.equal(answer.status, 200)
        wait_for(s, 2)
        now = pool(s)
        tap.equal((now["hits"], now["misses"], now["filled"]), (1, 0, 3))
        names = {m["name"] for m in members(s)}
        tap.equal(len(names), 2)
        tap.equal(len(names & {m["name"] for m in waiting}), 1)
        # The first in is the first out.
        assert waiting[0]["name"] not in names, (waiting, names)
        s.remove("mine", key=user)
        reasons = {e["reason"] for e in s.get("/api/v1/events?limit=500").json["data"]}
        assert {"PoolReplenished", "PoolAcquired"} <= reasons, reasons
        text = s.get("/metrics").body.decode()
        for line in ("tidepool_pool_size 2", "tidepool_pool_ready 2", "tidepool_pool_hits_total 1"):
            tap.contains(text, line)


def test_without_a_member_it_is_the_same():
    """On demand, the same happens in the same order."""
    with cells.running() as s:
        save(s, template(pool={"probePort": 7777, "warmupCmd": SERVER,
                               "startupCmd": "echo started $NAME >> /tmp/order"}))
        tap.equal(s.get("/api/v1/pool").json["data"], [])
        s.create(name="cold", template="warm", envVars={"NAME": "request"})
        tap.equal(s.run("cold", "cat /tmp/order")["output"], "warming\nready\nstarted request\n")
        # With a main process of its own there is nothing to warm up.
        s.create(name="own", template="warm", cmd="sleep", args=["1000"])
        tap.equal(s.run("own", "cat /tmp/order 2>/dev/null; echo $?")["output"], "1\n")
        # "program,arguments" as Agent-Sandbox has it.
        save(s, template("comma", pool={"warmupCmd": "touch,/tmp/a /tmp/b"}))
        s.create(name="comma", template="comma")
        s.until(lambda: s.run("comma", "ls /tmp/a /tmp/b")["exitCode"] == 0)
        s.remove_all()


def test_a_startup_command_that_fails():
    with cells.running() as s:
        save(s, template(pool={"size": 1, "startupCmd": "echo broken >&2; exit 3"}))
        wait_for(s, 1)
        answer = s.post("/api/v1/sandbox", {"name": "x", "template": "warm"})
        tap.equal((answer.status, answer.json["message"]),
                  (503, "startupCmd of template warm exited with status 3: broken"))
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "warm"})
        tap.equal(answer.status, 503)
        tap.equal(s.names(), [])
        tap.equal(s.reasons("x"), ["SandboxCreateFailed"])


def test_draining():
    with cells.running() as s:
        user = s.make_key(account="alice")["key"]
        save(s, template(pool={"size": 2}))
        wait_for(s, 2)
        s.create(name="used", template="warm")
        wait_for(s, 2)
        old = {m["id"] for m in members(s)}
        for method, path in (("GET", "/api/v1/pool"), ("GET", "/api/v1/pool/sandbox/warm"),
                             ("DELETE", "/api/v1/pool/warm")):
            tap.equal(s.request(method, path, key=user).status, 403, path)
        answer = s.delete("/api/v1/pool/warm")
        tap.equal((answer.status, answer.json), (200, {"code": "0", "data": "ok"}))
        assert not old & {m["id"] for m in members(s)}
        wait_for(s, 2)
        tap.equal(s.run("used", "echo still")["output"], "still\n")
        answer = s.delete("/api/v1/pool/nope")
        tap.equal((answer.status, answer.json["message"]), (404, "pool nope not found"))
        tap.equal(members(s, "nope"), [])
        # A change of the template ends the members from before it, the same text does not.
        old = {m["id"] for m in members(s)}
        save(s, template(pool={"size": 2}))
        tap.equal({m["id"] for m in members(s)}, old)
        save(s, template(pool={"size": 2}, envVars={"A": "new"}))
        assert not old & {m["id"] for m in members(s)}
        wait_for(s, 2)
        save(s, template(pool={"size": 0}))
        tap.equal(s.get("/api/v1/pool").json["data"], [])
        tap.equal(members(s), [])
        s.remove_all()


def test_more_creates_than_members():
    with cells.running() as s:
        save(s, template(pool={"size": 2}))
        wait_for(s, 2)

        def create(i):
            return s.create(name="s%d" % i, template="warm", envVars={"I": str(i)})
        with concurrent.futures.ThreadPoolExecutor(20) as threads:
            made = list(threads.map(create, range(20)))
        tap.equal(len({m["id"] for m in made}), 20)
        for i in range(20):
            tap.equal(s.run("s%d" % i, "echo $I; hostname")["output"], "%d\ns%d\n" % (i, i))
        now = pool(s)
        tap.equal((now["hits"] >= 2, now["hits"] + now["misses"]), (True, 20))
        wait_for(s, 2)
        s.remove_all()


def test_restarts_and_deaths():
    with cells.running() as s:
        save(s, template(pool={"size": 2}))
        wait_for(s, 2)
        s.create(name="kept", template="warm")
        wait_for(s, 2)
        old = {m["id"] for m in members(s)}
        s.kill()
        s.start()
        wait_for(s, 2)
        assert not old & {m["id"] for m in members(s)}
        tap.equal(s.run("kept", "hostname")["output"], "kept\n")
        tap.equal(s.names(), ["kept"])
        # What does not fit is built on demand.
        s.create(name="large", template="warm", disk="64Mi")
        tap.equal(pool(s)["hits"], 0)
        s.remove_all()


tap.main(globals())
