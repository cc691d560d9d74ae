# SPDX-License-Identifier: MIT
"""/api/v1/config: templates and the sandbox template, what is refused, what is kept, and that a
save is whole or not there."""

import concurrent.futures
import json
import os
import sqlite3
import threading

import service
import tap

CONFIG = "/api/v1/config/templates"
BLUEPRINT = "/api/v1/config/sandbox-template"
ONE = {"name": "one", "image": "tidepool/default:latest", "description": "The first"}


def templates(s, **more):
    answer = s.get(CONFIG, **more)
    tap.equal((answer.status, answer.json["code"]), (200, "0"))
    return answer.json["data"]


def save(s, body, **more):
    answer = s.post(CONFIG, body, **more)
    tap.equal((answer.status, answer.json["code"], answer.json["data"]), (200, "0", "ok"))
    return answer


def refused(s, body, text):
    """That BODY is refused with TEXT, and that nothing has changed."""
    before = templates(s)
    answer = s.post(CONFIG, body)
    tap.equal((answer.status, answer.json["code"]), (400, 400), "%.200r" % (body,))
    tap.contains(answer.json["message"], text)
    tap.equal(templates(s), before)


def test_what_ships():
    with service.running() as s:
        names = [t["name"] for t in templates(s)]
        tap.equal(names[:2], ["default", "base"])
        for name in ("code-interpreter", "mcp-gateway", "desktop", "minimal"):
            assert name in names, names
        user = s.make_key(account="alice")["key"]
        tap.equal(templates(s, key=user), templates(s))
        tap.equal(s.get(CONFIG, key=None).status, 401)


def test_get_and_post_back():
    with service.running() as s:
        shipped = templates(s)
        save(s, shipped)
        tap.equal(templates(s), shipped)
        save(s, {"templates": [ONE]})
        tap.equal(templates(s), [ONE])
        save(s, json.dumps(json.dumps(shipped)))
        tap.equal(templates(s), shipped)
        raw = s.get(CONFIG + "?raw=1").json["data"]
        tap.equal(json.loads(raw), shipped)


def test_who_may():
    with service.running() as s:
        user = s.make_key(account="alice")["key"]
        for path in (CONFIG, BLUEPRINT, "/api/v1/config/blueprint", "/api/v1/config/runtime",
                     CONFIG + "/restore/0", BLUEPRINT + "/restore/0"):
            tap.equal(s.post(path, [ONE], key=user).status, 403, path)
            tap.equal(s.post(path, [ONE], key=None).status, 401, path)
        tap.equal(s.get(CONFIG + "/history", key=user).status, 403)


def test_wrong_lists():
    with service.running() as s:
        save(s, [ONE])
        refused(s, "{}", "templates: must be an array")
        refused(s, "7", "templates: must be an array")
        refused(s, "", "templates: must be an array")
        refused(s, json.dumps("[{"), "templates: ")
        refused(s, [], "templates: must have 1 to 256 entries")
        refused(s, [dict(ONE, name="t%d" % i) for i in range(257)], "1 to 256 entries")
        refused(s, [ONE, 7], "templates[1]: must be an object")
        refused(s, [ONE, ONE], 'templates[1].name: "one" is also templates[0]')
        refused(s, [ONE, dict(ONE, name="two", aliases=["one"])],
                'templates[1].aliases[0]: "one" is also templates[0]')
        refused(s, [dict(ONE, aliases=["one"])], "templates[0].aliases[0]")
        tap.equal(s.post(CONFIG, "[").status, 400)
        save(s, [dict(ONE, name="t%d" % i) for i in range(256)])
        tap.equal(len(templates(s)), 256)


def test_wrong_fields():
    wrong = [
        ("name", None, "templates[1].name: is required"),
        ("name", "", "templates[1].name: must be 1 to 63"),
        ("name", "Upper", "templates[1].name: must be 1 to 63"),
        ("name", "x" * 64, "templates[1].name: must be 1 to 63"),
        ("name", "-x", "templates[1].name: must be 1 to 63"),
        ("name", "a/b", "templates[1].name: must be 1 to 63"),
        ("name", 7, "templates[1].name: must be a string"),
        ("image", None, "templates[1].image: is required"),
        ("image", "", "templates[1].image: must not be empty"),
        ("description", None, "templates[1].description: is required"),
        ("description", "x" * 4097, "templates[1].description: must have at most 4096 bytes"),
        ("port", 0, "templates[1].port: must be a port"),
        ("port", 65536, "templates[1].port: must be a port"),
        ("port", "80", "templates[1].port: must be a port"),
        ("args", "x", "templates[1].args: must be an array of strings"),
        ("args", [1], "templates[1].args[0]: must be a string"),
        ("envVars", [], "templates[1].envVars: must be an object"),
        ("envVars", {"A": 1}, "templates[1].envVars.A: must be a string"),
        ("envVars", {"A=B": "1"}, "templates[1].envVars.A=B: is not a valid name"),
        ("metadata", {"a": None}, "templates[1].metadata.a: must be a string"),
        ("workdir", "x", "templates[1].workdir: must begin with '/'"),
        ("noStartupProbe", 1, "templates[1].noStartupProbe: must be true or false"),
        ("resources", 1, "templates[1].resources: must be an object"),
        ("resources", {"cpuLimit": "lots"}, "templates[1].resources.cpuLimit: must be a quantity"),
        ("resources", {"memory": -1}, "templates[1].resources.memory: must be a string"),
        ("pool", [], "templates[1].pool: must be an object"),
        ("pool", {"size": -1}, "templates[1].pool.size: must be 0 to 64"),
        ("pool", {"size": 65}, "templates[1].pool.size: must be 0 to 64"),
        ("pool", {"size": "2"}, "templates[1].pool.size: must be 0 to 64"),
        ("pool", {"probePort": 99999}, "templates[1].pool.probePort: must be a port"),
        ("pool", {"onDemand": 1}, "templates[1].pool.onDemand: must be true or false"),
        ("pool", {"warmupCmd": 1}, "templates[1].pool.warmupCmd: must be a string"),
        ("pool", {"resources": {"cpu": "x"}}, "templates[1].pool.resources.cpu: must be a quan"),
        ("type", "wild", 'templates[1].type: must be "static" or "dynamic"'),
        ("type", "dynamic", "templates[1].pattern: is required"),
        ("pattern", "x", 'templates[1].pattern: needs "type": "dynamic"'),
        ("requires", ["x", 7], "templates[1].requires[1]: must be a string"),
    ]
    with service.running() as s:
        for field, value, text in wrong:
            bad = dict(dict(ONE, name="two"), **{field: value})
            if value is None:
                del bad[field]
            refused(s, [ONE, bad], text)
        save(s, [ONE, dict(ONE, name="two", pool={"size": 64}, port=65535)])


def test_wrong_patterns():
    def dynamic(pattern):
        return [dict(ONE, type="dynamic", pattern=pattern)]
    with service.running() as s:
        refused(s, dynamic("(?P<name>[a-z]+"), "templates[0].pattern: ")
        refused(s, dynamic("(?P<name>[a-z]+)"),
                "templates[0].pattern: must have one group (?P<version>")
        refused(s, dynamic("(?P<version>[a-z]+)"),
                "templates[0].pattern: must have one group (?P<name>")
        refused(s, dynamic("(?P<name>a)(?P<name>b)(?P<version>c)"),
                "templates[0].pattern: must have one group (?P<name>")
        refused(s, dynamic(r"(?P<name>a)\1(?P<version>c)"), "templates[0].pattern: ")
        refused(s, dynamic("(?P<name>a)(?P<version>b)" + "x" * 600),
                "templates[0].pattern: must have at most 512 bytes")
        refused(s, [dict(ONE, type="dynamic", pattern="(?P<name>a)(?P<version>b)",
                         pool={"size": 1})], "templates[0].pool.size: must be 0")
        save(s, dynamic(r"^faas-(?P<name>[a-z(]+)\.(?P<version>(?:\d+\.)*\d+)$"))


def test_unknown_fields_are_warned_of():
    with service.running() as s:
        answer = save(s, [dict(ONE, imagee="x")])
        tap.contains(answer.headers["Tidepool-Warning"], "imagee")
        tap.contains(answer.headers["Tidepool-Warning"], "did you mean 'image'")


def test_history():
    with service.running() as s:
        shipped = templates(s)
        history = s.get(CONFIG + "/history").json["data"]
        tap.equal([(h["revision"], h["current"]) for h in history], [(0, True)])
        for i in range(1, 4):
            save(s, [dict(ONE, description="Number %d" % i)])
        history = s.get(CONFIG + "/history").json["data"]
        tap.equal([(h["revision"], h["current"]) for h in history],
                  [(3, True), (2, False), (1, False), (0, False)])
        tap.equal(history[0]["savedBy"], "system")
        tap.equal(s.get(CONFIG + "/history/2").json["data"][0]["description"], "Number 2")
        tap.equal(s.get(CONFIG + "/history/0").json["data"], shipped)
        tap.equal(s.get(CONFIG + "/history/9").status, 404)
        tap.equal(s.get(CONFIG + "/history/x").status, 400)
        tap.equal(s.post(CONFIG + "/restore/1").json["data"], "ok")
        tap.equal(templates(s)[0]["description"], "Number 1")
        tap.equal(s.post(CONFIG + "/restore/0").json["data"], "ok")
        tap.equal(templates(s), shipped)
        tap.equal(s.post(CONFIG + "/restore/99").status, 404)
        history = s.get(CONFIG + "/history").json["data"]
        tap.equal([h["revision"] for h in history if h["current"]], [5])
        reasons = [e["reason"] for e in s.get("/api/v1/events").json["data"]]
        tap.equal(reasons.count("TemplatesUpdated") > 0, True)


def test_only_so_many_revisions_are_kept():
    with service.running() as s:
        for i in range(103):
            save(s, [dict(ONE, description="Number %d" % i)])
        history = s.get(CONFIG + "/history").json["data"]
        tap.equal((len(history), history[0]["revision"], history[-2]["revision"]), (101, 103, 4))


def test_after_a_restart():
    with service.running() as s:
        save(s, [ONE])
        tap.equal(s.post(BLUEPRINT, "timeout: 60\n").status, 200)
        tap.equal(s.stop(), 0)
        s.start()
        tap.equal(templates(s), [ONE])
        tap.equal(s.get(BLUEPRINT).json["data"], "timeout: 60\n")
        tap.equal(s.get(CONFIG + "/history").json["data"][0]["revision"], 1)


def test_a_crash_in_the_middle_of_a_save():
    """Whatever was acknowledged is there after a kill, and what is there is whole."""
    big = {"A%d" % i: "x" * 1000 for i in range(200)}
    with service.running() as s:
        save(s, [dict(ONE, description="0", envVars=big)])
        for round_ in range(6):
            acknowledged = [int(templates(s)[0]["description"])]

            def saves(first):
                try:
                    for i in range(first, first + 200):
                        save(s, [dict(ONE, description=str(i), envVars=big)])
                        acknowledged.append(i)
                except OSError:
                    pass

            worker = threading.Thread(target=saves, args=(acknowledged[0] + 1,))
            worker.start()
            while len(acknowledged) < 3 + round_:
                pass
            s.kill()
            worker.join()
            s.start()
            now = templates(s)
            tap.equal((now[0]["envVars"], len(now)), (big, 1))
            assert int(now[0]["description"]) in (acknowledged[-1], acknowledged[-1] + 1), now
        tap.equal(s.stop(), 0)


def test_a_saved_list_that_cannot_be_read():
    """The one before it is used: an operator's edit of the database must not stop the service."""
    with service.running() as s:
        save(s, [ONE])
        save(s, [dict(ONE, name="two")])
        tap.equal(s.stop(), 0)
        with sqlite3.connect(os.path.join(s.state, "tidepool.db")) as db:
            db.execute("UPDATE revision SET body = '[{]' WHERE number = 2")
        db.close()
        s.start()
        tap.equal(templates(s), [ONE])
        save(s, [dict(ONE, name="three")])
        tap.equal(s.get(CONFIG + "/history").json["data"][0]["revision"], 3)


def test_saves_at_the_same_time():
    with service.running() as s:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: save(s, [dict(ONE, description=str(i))]), range(40)))
        history = s.get(CONFIG + "/history").json["data"]
        tap.equal([h["revision"] for h in history], list(range(40, -1, -1)))
        last = s.get(CONFIG + "/history/40").json["data"]
        tap.equal(templates(s), last)


def test_the_sandbox_template():
    text = ("# Ours\ntimeout: 60\nenvVars:\n  WHO: {{.Sandbox.User}}\n"
            "  NAME: \"{{ .Sandbox.Name }}\"\n")
    with service.running() as s:
        before = s.get(BLUEPRINT).json["data"]
        assert isinstance(before, str) and before, before
        tap.equal(s.post(BLUEPRINT, before).json["data"], "ok")
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        answer = s.post(BLUEPRINT, text, headers=headers)
        tap.equal((answer.status, answer.json["data"]), (200, "ok"))
        for path in (BLUEPRINT, "/api/v1/config/blueprint", "/api/v1/config/runtime"):
            tap.equal(s.get(path).json["data"], text, path)
        tap.equal(s.post("/api/v1/config/blueprint", {"content": "port: 81\n"}).json["data"], "ok")
        tap.equal(s.get(BLUEPRINT).json["data"], "port: 81\n")
        wrong = [
            ("", "sandbox template content is required"),
            (" \n", "sandbox template content is required"),
            ("a: [", "invalid sandbox template syntax: "),
            ("- x\n", "invalid sandbox template syntax: must be a map of fields"),
            ("port: 1\ncolour: red\n", "invalid sandbox template syntax: line 2: unknown field"),
            ("port: many\n", "invalid sandbox template syntax: line 1: port is out of range"),
            ("memory_limit: lots\n", "line 1: memory_limit must be a quantity"),
            ("envVars:\n  A: 1\n", "line 1: envVars must be a map of strings"),
            ("\napp: {{.Sandbox.Colour}}\n", "line 2: unknown value {{.Sandbox.Colour}}"),
            ("app: {{.Sandbox.Name\n", "line 1: \"{{\" without \"}}\""),
            ("app: x\0y\n", "UTF-8 text without NUL"),
            ("# " + "x" * 65536, "more than 65536 bytes"),
        ]
        for body, message in wrong:
            answer = s.post(BLUEPRINT, body)
            tap.equal((answer.status, answer.json["code"]), (400, 400), "%.60r" % body)
            tap.contains(answer.json["message"], message)
        tap.equal(s.get(BLUEPRINT).json["data"], "port: 81\n")
        tap.equal([h["revision"] for h in s.get(BLUEPRINT + "/history").json["data"]],
                  [3, 2, 1, 0])
        tap.equal(s.get(BLUEPRINT + "/history/2").json["data"], text)
        tap.equal(s.post(BLUEPRINT + "/restore/2").json["data"], "ok")
        tap.equal(s.get(BLUEPRINT).json["data"], text)


def test_templates_as_e2b_clients_see_them():
    with service.running() as s:
        lacking = dict(ONE, name="lacking", requires=["no-such-package | no-such-other"])
        dynamic = dict(ONE, name="dyn", type="dynamic", pattern="^d-(?P<name>a)-(?P<version>b)$")
        save(s, [dict(ONE, aliases=["uno"], resources={"cpuLimit": "500m", "memoryLimit": "256Mi"}),
                 lacking, dynamic])
        for path in ("/e2b/v1/templates", "/e2b/v1/v2/templates"):
            listed = s.get(path).json
            tap.equal([(t["templateID"], t["aliases"], t["cpuCount"], t["memoryMB"])
                       for t in listed], [("one", ["one", "uno"], 1, 256)])
        one = s.get("/e2b/v1/templates/one").json
        tap.equal((one["templateID"], one["buildStatus"], len(one["builds"])), ("one", "ready", 1))
        tap.equal(s.get("/e2b/v1/templates/uno").json["templateID"], "one")
        tap.equal(s.get("/e2b/v1/templates/one-v1").json["templateID"], "one")
        for name in ("lacking", "nope", "one-vscode"):
            answer = s.get("/e2b/v1/templates/" + name)
            tap.equal((answer.status, answer.json["message"]),
                      (404, "template '%s' not found" % name))
        tap.equal(s.get("/e2b/v1/templates/aliases/uno").json["templateID"], "uno")
        tap.equal(s.get("/e2b/v1/templates/aliases/one-v2").json["templateID"], "one")
        tap.equal(s.get("/e2b/v1/templates/aliases/two").status, 404)
        s.post(CONFIG + "/restore/0")
        tap.equal(s.get("/e2b/v1/templates/base").json["templateID"], "base")


tap.main(globals())
