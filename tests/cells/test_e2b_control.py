# SPDX-License-Identifier: MIT
"""The E2B control plane, /e2b/v1: every row, every default, every refusal."""

import datetime
import json
import re
import signal
import time
import urllib.parse

import cells
import tap

BASE = "/e2b/v1"
SEED_FIELDS = ("sandboxID", "clientID", "envdVersion", "envdAccessToken", "templateID",
               "trafficAccessToken", "domain", "metadata", "cpuCount", "memoryMB", "diskSizeMB",
               "startedAt", "endAt", "state")


class E2b:
    """The calls of one key."""

    def __init__(self, s, key=""):
        self.s, self.key = s, key

    def call(self, method, path, body=None, **more):
        return self.s.request(method, BASE + path, body, key=self.key, timeout=60, **more)

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None, **more):
        return self.call("POST", path, body, **more)

    def create(self, wire="/v2", **fields):
        answer = self.post(wire + "/sandboxes", {"templateID": "base", **fields})
        assert answer.status == 201, answer
        return answer.json

    def show(self, box):
        answer = self.get("/sandboxes/" + box["sandboxID"])
        assert answer.status == 200, answer
        return answer.json

    def ids(self, query="", path="/v2/sandboxes"):
        answer = self.get(path + query)
        assert answer.status == 200, answer
        return [x["sandboxID"] for x in answer.json]

    def move(self, box, what, body=None, status=204, method="POST", wire=""):
        answer = self.call(method, "%s/sandboxes/%s/%s" % (wire, box["sandboxID"], what), body)
        tap.equal(answer.status, status, "%s: %r" % (what, answer.body))
        return answer


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def lifetime(box):
    return round(at(box["endAt"]) - at(box["startedAt"]), 3)


def refused(answer, status, text):
    """An error in the shape that clients look into."""
    tap.equal(answer.status, status, repr(answer))
    tap.equal(answer.json["code"], status)
    tap.contains(answer.json["message"], text)
    tap.contains(answer.headers["Content-Type"], "application/json")


def encoded(pairs):
    """Metadata as the SDKs send it: three times encoded."""
    quote = urllib.parse.quote
    inner = "&".join("%s=%s" % (quote(quote(k, ""), ""), quote(quote(v, ""), ""))
                     for k, v in pairs.items())
    return quote(inner, "")


# ---- create ----

def test_the_documented_create():
    with cells.running(env={"E2B_DOMAIN": "sbx.test:8443"}) as s:
        e = E2b(s)
        answer = e.post("/sandboxes", {"templateID": "code-interpreter", "timeout": 300})
        tap.equal(answer.status, 201)
        box = answer.json
        for field in SEED_FIELDS:
            assert field in box, field
        assert re.fullmatch("[0-9a-f]{32}", box["sandboxID"]), box
        assert re.fullmatch("[0-9a-f]{64}", box["envdAccessToken"]), box
        assert re.fullmatch("[0-9a-f]{64}", box["trafficAccessToken"]), box
        assert box["envdAccessToken"] != box["trafficAccessToken"], box
        tap.equal(box["templateID"], "code-interpreter")
        tap.equal(box["domain"], "sbx.test:8443")
        tap.equal(box["state"], "running")
        tap.equal(box["envdVersion"], "0.6.4")
        tap.equal(box["clientID"], "6532622b")
        tap.equal((box["cpuCount"], box["memoryMB"], box["diskSizeMB"]), (2000, 4096, 5120))
        tap.equal(lifetime(box), 300)
        tap.equal(box["lifecycle"], {"onTimeout": "kill", "autoResume": False})
        tap.equal(box["network"], {"allowOut": [], "denyOut": [], "allowPublicTraffic": True})
        tap.equal(box["allowInternetAccess"], True)
        # The native API knows it by the name that metadata tells.
        shown = s.show(box["metadata"]["name"])
        tap.equal(shown.json["data"]["id"], box["sandboxID"])
        tap.equal(e.show(box), box)
        # Behind the id the client's may follow; names are no ids.
        tap.equal(e.get("/sandboxes/%s-%s" % (box["sandboxID"], box["clientID"])).json, box)
        refused(e.get("/sandboxes/" + box["metadata"]["name"]), 400, "Invalid sandbox ID")
        refused(e.get("/sandboxes/" + "0" * 32), 404, "sandbox %s not found" % ("0" * 32))


def test_the_domain_is_that_of_the_listener():
    with cells.running() as s:
        other = s.post("/e2b/v1/sandboxes", {"templateID": "base"}).json
        tap.equal(other["domain"], "localhost:%d" % s.port)
        # The host that clients make of it is that of a port of the sandbox.
        answer = s.get("/health", key=None,
                       headers={"Host": "49983-%s.%s" % (other["sandboxID"], other["domain"])})
        tap.equal(answer.status, 204)


def test_defaults_of_both_wires():
    with cells.running() as s:
        e = E2b(s)
        tap.equal(lifetime(e.create("")), 15)
        tap.equal(lifetime(e.create("/v2")), 300)
        # Exactly what e2b@2.51 and Python's 2.34 send unasked.
        tap.equal(e.post("/v2/sandboxes", {"templateID": "base"}).status, 201)
        body = {"templateID": "base", "timeout": 300, "secure": True, "autoPause": False,
                "autoResume": {"enabled": False}, "envVars": {}, "metadata": {}, "mcp": None,
                "allow_internet_access": True, "network": None, "volumeMounts": [], "iam": None}
        answer = e.post("/sandboxes", body)
        tap.equal((answer.status, answer.headers.get("Tidepool-Warning")), (201, None))
        # What newer clients may send is never refused, and the answer has nothing new in it.
        body = {"templateID": "base", "mcp": {"github": {"token": "x"}}, "timeot": 1}
        answer = e.post("/v2/sandboxes", body)
        tap.equal((answer.status, answer.headers["Tidepool-Warning"], "warnings" in answer.json),
                  (201, "unknown field 'timeot'; did you mean 'timeout'?", False), answer)
        # Bodies come in chunks from npm's client.
        answer = s.request("POST", BASE + "/v2/sandboxes", iter([b'{"templateID"', b':"base"}']))
        tap.equal(answer.status, 201)
        # The native API makes sandboxes that the other surface can join.
        made = s.create(name="native-one")
        box = e.get("/sandboxes/" + made["id"]).json
        assert re.fullmatch("[0-9a-f]{64}", box["envdAccessToken"]), box


def test_templates():
    with cells.running() as s:
        e = E2b(s)
        for given, shown in (("code-interpreter-v1", "code-interpreter"), ("base", "base"),
                             ("base-v12", "base"), ("BASE", "base"), ("base:default", "base")):
            tap.equal(e.create(templateID=given)["templateID"], shown)
        for bad in ("", "a_b", "a/b", "../x", "a b", "base:"):
            tap.equal(e.post("/sandboxes", {"templateID": bad}).status, 400, bad)
        refused(e.post("/sandboxes", {"templateID": "a_b"}), 400,
                "invalid template ID format, only alphanumeric characters and hyphens are allowed")
        refused(e.post("/sandboxes", {}), 400, "templateID is required")
        refused(e.post("/sandboxes"), 400, "templateID is required")
        refused(e.post("/sandboxes", {"templateID": 7}), 400, "templateID must be a string")
        refused(e.post("/sandboxes", {"templateID": "my-vscode"}), 404,
                "template 'my-vscode' not found")
        refused(e.post("/sandboxes", {"templateID": "base:x"}), 404,
                "tag 'x' does not exist for template 'base'")
        listed = e.get("/templates").json
        tap.equal(e.get("/v2/templates").json, listed)
        assert "base" in [x["templateID"] for x in listed], listed
        tap.equal(e.get("/templates/aliases/code-interpreter-v1").json,
                  {"templateID": "code-interpreter", "public": True})
        refused(e.get("/templates/aliases/nope"), 404, "not found")
        teams = e.get("/teams").json
        tap.equal([(x["teamID"], x["isDefault"], x["apiKey"] == s.key) for x in teams],
                  [("system", True, True)])


def test_what_create_refuses():
    with cells.running() as s:
        e = E2b(s)
        rows = (
            ({"timeout": 0}, "Timeout must be greater than 0"),
            ({"timeout": -5}, "Timeout must be greater than 0"),
            ({"timeout": 86401}, "Timeout cannot be greater than 24 hours"),
            ({"timeout": "5"}, "timeout must be an integer"),
            ({"timeout": 1.5}, "timeout must be an integer"),
            ({"envVars": []}, "envVars must be an object of strings"),
            ({"envVars": {"A": 1}}, "envVars must be an object of strings"),
            ({"envVars": {"A=B": "x"}}, "is not a valid environment variable"),
            ({"metadata": {"a": None}}, "metadata must be an object of strings"),
            ({"metadata": {"idleTimeout": "x"}},
             "invalid idleTimeout value, must be an integer"),
            ({"secure": "yes"}, "secure must be true or false"),
            ({"autoPause": 1}, "autoPause must be true or false"),
            ({"autoResume": True}, "autoResume must be an object"),
            ({"autoResume": {"enabled": 1}}, "autoResume must be an object"),
            ({"autoPauseMemory": False}, "autoPauseMemory=false requires autoPause=true"),
            ({"autoPauseMemory": False, "autoPause": True, "autoResume": {"enabled": True}},
             "autoPauseMemory=false cannot be used together with autoResume"),
            ({"allowInternetAccess": "no"}, "allowInternetAccess must be true or false"),
            ({"network": 1}, "network must be an object"),
            ({"network": {"allowOut": "x"}}, "network.allowOut must be an array of strings"),
            ({"network": {"allowOut": [1]}}, "network.allowOut must be an array of strings"),
            ({"network": {"denyOut": ["example.com"]}}, "invalid denied CIDR example.com"),
            ({"network": {"denyOut": ["0.0.0.0"]}}, "invalid denied CIDR 0.0.0.0"),
            ({"network": {"denyOut": ["10.0.0.0/40"]}}, "invalid denied CIDR 10.0.0.0/40"),
            ({"network": {"allowOut": ["0.0.0.0"]}}, "0.0.0.0"),
            ({"network": {"allowOut": ["example.com"]}},
             "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in "
             "deny out to block all other traffic."),
            ({"network": {"allowPublicTraffic": 1}}, "allowPublicTraffic must be true or false"),
            ({"network": {"allowPublicTraffic": False}},
             "You cannot create a sandbox without public access unless you enable secure envd "
             "access via 'secure' flag."),
            ({"network": {"maskRequestHost": "a\r\nb"}}, "invalid maskRequestHost"),
            ({"network": {"maskRequestHost": 1}}, "invalid maskRequestHost"),
            ({"network": {"maskRequestHost": "x" * 256}}, "invalid maskRequestHost"),
            ({"network": {"rules": {"a.example": [{}]}}}, "rules are not enabled"),
            ({"network": {"egressProxy": {"address": "a:1"}}}, "egressProxy is not enabled"),
            ({"network": {"httpsPorts": [443]}}, "httpsPorts is not enabled"),
            ({"volumeMounts": [{"name": "v", "path": "/v"}]}, "Volume 'v' not found"),
            ({"volumeMounts": {"/v": "v"}}, "volumeMounts must be an array"),
            ({"iam": {"tokens": {"x": {}}}}, "iam is not enabled"),
            ({"mcp": []}, "mcp must be an object"),
        )
        for fields, text in rows:
            refused(e.post("/sandboxes", {"templateID": "base", **fields}), 400, text)
        refused(e.post("/sandboxes", []), 400, "it must be an object")
        refused(e.post("/sandboxes", "{"), 400, "failed to decode request body")
        tap.equal(e.ids(), [])
        # Private without public access is in order where everything is secured.
        box = e.create(network={"allowPublicTraffic": False, "maskRequestHost": "app:${PORT}",
                                "rules": {}, "egressProxy": None})
        tap.equal(box["network"], {"allowOut": [], "denyOut": [], "allowPublicTraffic": False,
                                   "maskRequestHost": "app:${PORT}"})


def test_environment_and_metadata():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(envVars={"A": "b c"}, metadata={"k": "v", "name": "mine"})
        tap.equal(box["metadata"], {"k": "v", "name": "mine"})
        name = s.get("/api/v1/sandbox").json["data"][0]["name"]
        out = s.run(name, "echo $A; echo $AGENT_SANDBOX_ID")["output"]
        tap.equal(out, "b c\n%s\n" % box["sandboxID"])


# ---- lists ----

def test_lists():
    with cells.running() as s:
        e = E2b(s)
        tap.equal(e.get("/v2/sandboxes").json, [])
        boxes = [e.create(metadata={"n": str(i), "odd": "yes" if i % 2 else "no"})
                 for i in range(5)]
        special = e.create(metadata={"k ey": "v&l=1 +%", "b": "c"}, templateID="code-interpreter")
        ids = [x["sandboxID"] for x in boxes] + [special["sandboxID"]]
        newest = ids[::-1]
        answer = e.get("/v2/sandboxes")
        tap.equal([x["sandboxID"] for x in answer.json], newest)
        tap.equal(answer.headers["X-Total-Running"], "6")
        tap.equal(answer.headers["X-Next-Token"], None)
        tap.equal(answer.json[0], special)
        tap.equal(e.ids("?order=asc"), ids)
        e.move(boxes[1], "pause")
        tap.equal(set(e.ids()), set(ids))
        tap.equal(e.ids("?state=paused"), [ids[1]])
        running = [x for x in newest if x != ids[1]]
        tap.equal(e.ids("?state=running"), running)
        tap.equal(set(e.ids("?state=running%2Cpaused")), set(ids))
        tap.equal(set(e.ids("?state=running&state=paused")), set(ids))
        tap.equal(e.get("/v2/sandboxes?state=paused").headers["X-Total-Running"], "5")
        tap.equal(e.ids(path="/sandboxes"), running)
        # Metadata, as all clients encode it.
        tap.equal(e.ids("?metadata=" + encoded({"k ey": "v&l=1 +%"})), [ids[5]])
        tap.equal(e.ids("?metadata=" + encoded({"k ey": "v&l=1 +%", "b": "c"})), [ids[5]])
        tap.equal(e.ids("?metadata=" + encoded({"k ey": "v&l=1 +%", "b": "d"})), [])
        tap.equal(e.ids("?metadata=" + encoded({"odd": "yes"})), [ids[3], ids[1]])
        tap.equal(e.ids("?metadata=" + encoded({"odd": "yes"}), "/sandboxes"), [ids[3]])
        tap.equal(e.ids("?metadata=" + encoded({"name": special["metadata"]["name"]})), [ids[5]])
        tap.equal(e.ids("?template=code-interpreter"), [ids[5]])
        tap.equal(e.ids("?template=code-interpreter-v1"), [ids[5]])
        tap.equal(e.ids("?template=nope"), [])
        since = urllib.parse.quote(boxes[3]["startedAt"])
        tap.equal(e.ids("?startedAfter=" + since), newest[:3])
        tap.equal(e.ids("?startedAfter=2999-01-01T00:00:00Z"), [])


def test_pages():
    with cells.running() as s:
        e = E2b(s)
        ids = [e.create()["sandboxID"] for _ in range(7)]
        for order, want in (("desc", ids[::-1]), ("asc", ids)):
            got, token = [], ""
            for _ in range(10):
                answer = e.get("/v2/sandboxes?limit=3&order=%s%s" % (
                    order, "&nextToken=" + urllib.parse.quote(token) if token else ""))
                tap.equal(answer.status, 200)
                got.append([x["sandboxID"] for x in answer.json])
                tap.equal(answer.headers["X-Total-Running"], "7")
                token = answer.headers["X-Next-Token"]
                if not token:
                    break
            tap.equal(got, [want[:3], want[3:6], want[6:]])
        # What was killed meanwhile leaves the other places as they are.
        token = e.get("/v2/sandboxes?limit=3").headers["X-Next-Token"]
        e.call("DELETE", "/sandboxes/" + ids[4])
        tap.equal(e.ids("?nextToken=" + token), ids[3::-1])
        refused(e.get("/v2/sandboxes?order=asc&nextToken=" + token), 400, "Invalid next token")
        for query, text in (("nextToken=x", "Invalid next token"), ("limit=0", "Invalid limit"),
                            ("limit=101", "Invalid limit"), ("limit=x", "Invalid limit"),
                            ("limit=-1", "Invalid limit"), ("order=up", "Invalid order"),
                            ("state=creating", "Invalid state"),
                            ("startedAfter=yesterday", "Invalid startedAfter"),
                            ("metadata=nopair", "invalid metadata filter"),
                            ("metadata=a%3D%2525zz", "invalid metadata filter")):
            refused(e.get("/v2/sandboxes?" + query), 400, text)


# ---- moves ----

def test_kill():
    with cells.running() as s:
        e = E2b(s)
        for pauses in (False, True):
            box = e.create()
            if pauses:
                e.move(box, "pause")
            answer = e.call("DELETE", "/sandboxes/" + box["sandboxID"])
            tap.equal((answer.status, answer.body, answer.headers["Content-Length"]),
                      (200, b"", "0"))
            refused(e.call("DELETE", "/sandboxes/" + box["sandboxID"]), 404,
                    "sandbox %s not found" % box["sandboxID"])
        refused(e.call("DELETE", "/sandboxes/NOT.AN-ID"), 400, "Invalid sandbox ID")


def test_timeouts():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(timeout=100)
        for seconds, want in ((500, 500), (50, 50), (999999, 86400)):
            e.move(box, "timeout", {"timeout": seconds})
            left = at(e.show(box)["endAt"]) - time.time()
            assert want - 5 < left <= want, left
        tap.equal(e.show(box)["startedAt"], box["startedAt"])
        for body in (None, {}, {"timeout": "5"}, []):
            tap.equal(e.move(box, "timeout", body, 400).json["code"], 400)
        # Refreshes and connects only ever add.
        e.move(box, "timeout", {"timeout": 1000})
        before = e.show(box)["endAt"]
        e.move(box, "refreshes", {"duration": 60})
        e.move(box, "refreshes")
        tap.equal(e.show(box)["endAt"], before)
        tap.equal(e.move(box, "connect", {"timeout": 60}, 201).json["endAt"], before)
        tap.equal(e.move(box, "connect", None, 201, wire="/v2").json["endAt"], before)
        tap.equal(e.move(box, "connect", {"timeout": 0}, 201).json["endAt"], before)
        e.move(box, "refreshes", {"duration": 3600})
        after = e.move(box, "connect", {"timeout": 5000}, 201).json
        assert at(after["endAt"]) > at(before) + 3000, after
        e.move(box, "refreshes", {"duration": -1}, 400)
        e.move(box, "refreshes", {"duration": 3601}, 400)
        e.move(box, "connect", {"timeout": -1}, 400)
        e.move(box, "connect", {"timeout": 86401}, 400)
        e.move(box, "connect", {"memory": 1}, 400)
        # Less than nothing is now.
        e.move(box, "timeout", {"timeout": -3})
        s.until(lambda: e.ids() == [])
        for what, body in (("timeout", {"timeout": 5}), ("refreshes", None), ("pause", None),
                           ("resume", None)):
            refused(e.move(box, what, body, 404), 404, "Sandbox \"%s\" doesn't exist or you don't "
                    "have access to it" % box["sandboxID"])
        refused(e.move(box, "connect", {"timeout": 5}, 404), 404, "not found")


def test_time_is_up():
    with cells.running() as s:
        e = E2b(s)
        kills = e.create(timeout=1)
        pauses = e.create(timeout=1, autoPause=True)
        idle = e.create(metadata={"idleTimeout": "1"})
        tap.equal(pauses["lifecycle"]["onTimeout"], "pause")
        s.until(lambda: e.ids() == [pauses["sandboxID"]])
        s.until(lambda: e.show(pauses)["state"] == "paused")
        tap.equal([e.get("/sandboxes/" + x["sandboxID"]).status for x in (kills, idle)],
                  [404, 404])
        # It pauses again after it was connected to.
        e.move(pauses, "connect", {"timeout": 1}, 201)
        tap.equal(e.show(pauses)["lifecycle"]["onTimeout"], "pause")
        s.until(lambda: e.show(pauses)["state"] == "paused")


def test_pause_and_resume():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(timeout=600)
        name = box["metadata"]["name"]
        s.run(name, "sleep 1000 >/dev/null 2>&1 & echo hi > /tmp/f")
        e.move(box, "pause", {})
        paused = e.show(box)
        tap.equal(paused["state"], "paused")
        assert abs(at(paused["endAt"]) - time.time()) < 30, paused
        tap.equal(paused["envdAccessToken"], box["envdAccessToken"])
        refused(e.move(box, "pause", {}, 409), 409, "is already paused")
        refused(e.move(box, "pause", {"memory": False}, 409), 409, "is already paused")
        refused(e.move(box, "timeout", {"timeout": 5}, 404), 404, "doesn't exist")
        resumed = e.move(box, "connect", {"timeout": 50}, 201).json
        tap.equal(resumed["state"], "running")
        tap.equal(lifetime(resumed), 50)
        tap.equal(resumed["trafficAccessToken"], box["trafficAccessToken"])
        tap.equal(s.run(name, "cat /tmp/f; pgrep -c sleep")["output"], "hi\n1\n")
        refused(e.move(box, "resume", None, 409), 409,
                "Sandbox %s is already running" % box["sandboxID"])
        e.move(box, "pause")
        again = e.move(box, "resume", {"autoPause": True}, 201).json
        tap.equal((lifetime(again), again["lifecycle"]["onTimeout"]), (15, "pause"))
        e.move(box, "pause")
        tap.equal(lifetime(e.move(box, "connect", None, 201, wire="/v2").json), 300)
        e.move(box, "pause", {"memory": "no"}, 400)


SHARED = "mkdir -p /dev/shm/d/e; echo >/dev/shm/a; echo >/dev/shm/d/e/f; " \
    "ipcmk -M 4096 -Q -S 1 >/dev/null"


def shared(s, name):
    """What is shared in memory: names below /dev/shm, and how many objects of each kind."""
    return s.run(name, "ls /dev/shm; for k in m q s; do ipcs -$k | grep -c ^0x; done")[
        "output"].split()


def test_pause_without_memory():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(timeout=600, autoResume={"enabled": True})
        name = box["metadata"]["name"]
        s.run(name, "sleep 1000 >/dev/null 2>&1 & echo hi > /tmp/f")
        s.run(name, SHARED)
        tap.equal(shared(s, name), ["a", "d", "1", "1", "1"])
        e.move(box, "pause", {"memory": False})
        tap.equal(e.show(box)["state"], "paused")
        # Use does not wake it, though it may wake others.
        tap.equal(s.post("/api/v1/terminal/sandbox/" + name, {"command": "true"}).status, 409)
        s.signal(signal.SIGKILL)
        s.wait()
        s.start()
        tap.equal(e.show(box)["state"], "paused")
        tap.equal(s.post("/api/v1/terminal/sandbox/" + name, {"command": "true"}).status, 409)
        e.move(box, "connect", {"timeout": 60}, 201)
        tap.equal(s.run(name, "cat /tmp/f; pgrep -c sleep")["output"], "hi\n0\n")
        tap.equal(shared(s, name), ["0", "0", "0"])
        # A reboot of one that was paused with its memory.
        s.run(name, "sleep 1000 >/dev/null 2>&1 &")
        e.move(box, "pause")
        e.move(box, "connect", {"memory": False}, 201, wire="/v2")
        tap.equal(s.run(name, "cat /tmp/f; pgrep -c sleep")["output"], "hi\n0\n")
        # By itself, when the time is up.
        auto = e.create(timeout=1, autoPause=True, autoPauseMemory=False)
        s.until(lambda: e.show(auto)["state"] == "paused")
        e.move(auto, "connect", {"timeout": 60}, 201)
        # The main process of a native sandbox starts again.
        made = s.create(name="main", cmd="sh -c 'echo begun; sleep 1000'")
        main = {"sandboxID": made["id"]}

        def starts():
            return s.get("/api/v1/logs/sandbox/main").json["data"]["logs"].count("begun")

        s.until(lambda: starts() == 1)
        e.move(main, "pause", {"memory": False})
        e.move(main, "connect", {}, 201)
        s.until(lambda: starts() == 2)


def test_what_is_woken_by_use_lasts():
    """Its own time may be too short for anything."""
    with cells.running() as s:
        e = E2b(s)
        box = e.create(timeout=2, autoPause=True, autoResume={"enabled": True})
        s.until(lambda: e.show(box)["state"] == "paused")
        s.run(box["metadata"]["name"], "true")
        tap.equal((e.show(box)["state"], lifetime(e.show(box))), ("running", 300))
        # By name, for as long as that says.
        e.move(box, "pause")
        e.move(box, "connect", {"timeout": 60}, 201)
        tap.equal(lifetime(e.show(box)), 60)
        long = e.create(timeout=900, autoPause=True, autoResume={"enabled": True})
        e.move(long, "pause")
        s.run(long["metadata"]["name"], "true")
        tap.equal(lifetime(e.show(long)), 900)


def test_secrets_survive():
    with cells.running() as s:
        e = E2b(s)
        running = e.create(timeout=600, network={"allowPublicTraffic": False, "denyOut": [
            "0.0.0.0/0"], "allowOut": ["*.example.com"]}, autoResume={"enabled": True})
        paused = e.create(timeout=600)
        e.move(paused, "pause")
        paused = e.show(paused)
        for how in (signal.SIGTERM, signal.SIGKILL):
            s.signal(how)
            s.wait()
            s.start()
            # Its port is another one.
            running["domain"] = paused["domain"] = "localhost:%d" % s.port
            tap.equal(e.show(running), running)
            tap.equal(e.show(paused), paused)


# ---- network ----

def test_network():
    with cells.running() as s:
        e = E2b(s)
        offline = [e.create("", allowInternetAccess=False), e.create(allow_internet_access=False)]
        for box in offline:
            tap.equal(box["allowInternetAccess"], False)
        box = e.create()
        rows = (
            ({"denyOut": ["0.0.0.0/0"], "allowOut": ["1.1.1.1", "10.0.0.0/8", "*.example.com"]},
             True, ["1.1.1.1", "10.0.0.0/8", "*.example.com"], ["0.0.0.0/0"]),
            ({"allow_internet_access": False, "allowOut": ["a.example"]}, False, ["a.example"],
             []),
            ({"rules": {}, "egressProxy": None}, True, [], []),
            ({"denyOut": ["192.0.2.0/24"]}, True, [], ["192.0.2.0/24"]),
            ({}, True, [], []),
        )
        for body, internet, allow, deny in rows:
            e.move(box, "network", body, method="PUT")
            shown = e.show(box)
            tap.equal((shown["allowInternetAccess"], shown["network"]["allowOut"],
                       shown["network"]["denyOut"]), (internet, allow, deny))
        for body, text in (({"denyOut": ["a.example"]}, "invalid denied CIDR a.example"),
                           ({"allowOut": ["a.example"]}, "you must include 'ALL_TRAFFIC'"),
                           ({"rules": {"a.example": [{}]}}, "rules are not enabled"),
                           ({"egressProxy": {"address": "x"}}, "egressProxy is not enabled"),
                           ([], "it must be an object")):
            refused(e.move(box, "network", body, 400, "PUT"), 400, text)
        # Many changes leave no trace, and the last one survives.
        many = {"denyOut": ["10.%d.%d.0/24" % (i // 200, i % 200) for i in range(600)]}
        for _ in range(30):
            e.move(box, "network", many, method="PUT")
        s.signal(signal.SIGKILL)
        s.wait()
        s.start()
        tap.equal(e.show(box)["network"]["denyOut"], many["denyOut"])
        e.move({"sandboxID": "0" * 32}, "network", {}, 404, "PUT")


# ---- figures and logs ----

POINT = {"timestamp": str, "timestampUnix": int, "cpuCount": int, "cpuUsedPct": float,
         "memUsed": int, "memTotal": int, "memCache": int, "diskUsed": int, "diskTotal": int}


def test_metrics():
    with cells.running() as s:
        e = E2b(s)
        box, other = e.create(), e.create()
        s.run(box["metadata"]["name"], "head -c 1000000 /dev/zero > /tmp/f; sync")
        path = "/sandboxes/%s/metrics" % box["sandboxID"]
        s.until(lambda: len(e.get(path).json) >= 2, 30)
        points = e.get(path).json
        for p in points:
            tap.equal({k: type(v) for k, v in p.items()}, POINT)
            tap.equal(at(p["timestamp"]), p["timestampUnix"])
            assert 0 < p["memUsed"] < p["memTotal"] == 4 << 30, p
            assert 0 < p["diskUsed"] < p["diskTotal"], p
            tap.equal(p["cpuCount"], 2)
        first, last = points[0]["timestampUnix"], points[-1]["timestampUnix"]
        assert 4 <= points[1]["timestampUnix"] - first <= 20, points
        tap.equal(e.get(path + "?end=%d" % first).json, points[:1])
        tap.equal(e.get(path + "?start=%d&end=%d" % (first, last)).json, points)
        tap.equal(e.get(path + "?start=%d" % (last + 1000)).json, [])
        for query in ("?start=x", "?end=-1", "?start=5&end=4"):
            refused(e.get(path + query), 400, "Invalid")
        many = e.get("/sandboxes/metrics?sandbox_ids=%s,%s,%s" % (
            box["sandboxID"], other["sandboxID"], "0" * 32)).json
        tap.equal(set(many["sandboxes"]), {box["sandboxID"], other["sandboxID"]})
        tap.equal({k: type(v) for k, v in many["sandboxes"][box["sandboxID"]].items()}, POINT)
        refused(e.get("/sandboxes/metrics"), 400, "sandbox_ids")
        refused(e.get("/sandboxes/metrics?sandbox_ids=" + ",".join("a" * 101)), 400, "sandbox_ids")
        refused(e.get("/sandboxes/%s/metrics" % ("0" * 32)), 404, "doesn't exist")


def test_logs():
    with cells.running() as s:
        e = E2b(s)
        made = s.create(name="talks", cmd="sh -c 'echo one; echo \"two \\\"2\\\"\"; sleep 1000'")
        path = "/sandboxes/%s/logs" % made["id"]
        s.until(lambda: "two" in json.dumps(e.get(path).json))
        answer = e.get(path).json
        tap.equal(len(answer["logs"]), len(answer["logEntries"]))
        for raw, entry in zip(answer["logs"], answer["logEntries"]):
            line = json.loads(raw["line"])  # what E2B's command line does with it
            tap.equal(line["level"].upper(), "INFO")
            tap.equal((line["message"], line["logger"]),
                      (entry["message"], entry["fields"]["logger"]))
            tap.equal(raw["timestamp"], entry["timestamp"])
        messages = [x["message"] for x in answer["logEntries"]]
        # A main process may write before the sandbox is written down.
        assert any("created from template" in x for x in messages), messages
        tap.equal([x for x in messages if x in ("one", 'two "2"')], ["one", 'two "2"'])
        tap.equal(messages, [x["message"] for x in sorted(
            answer["logEntries"], key=lambda x: x["timestamp"])])
        last = int(at(answer["logs"][-1]["timestamp"]) * 1000) + 1
        tap.equal(e.get(path + "?start=%d" % last).json, {"logs": [], "logEntries": []})
        tap.equal(len(e.get(path + "?limit=1").json["logs"]), 1)
        v2 = "/v2" + path
        backward = [x["message"] for x in e.get(v2 + "?direction=backward").json["logs"]]
        tap.equal(backward, messages[::-1])
        tap.equal([x["message"] for x in e.get(v2 + "?search=tw").json["logs"]], ['two "2"'])
        tap.equal(e.get(v2 + "?level=warn").json, {"logs": []})
        e.move({"sandboxID": made["id"]}, "pause")
        paused = [x["message"] for x in e.get(path).json["logEntries"]]
        tap.contains(paused[-1], "paused")
        tap.equal([x for x in paused if x in ("one", 'two "2"')], ["one", 'two "2"'])
        for query in ("?limit=x", "?limit=1001", "?start=-1"):
            refused(e.get(path + query), 400, "Invalid")
        for query in ("?direction=up", "?level=loud", "?cursor=x"):
            refused(e.get(v2 + query), 400, "Invalid")
        refused(e.get("/sandboxes/%s/logs" % ("0" * 32)), 404, "doesn't exist")


# ---- who may what ----

def test_tenants_and_quotas():
    with cells.running() as s:
        one = E2b(s, s.make_key(account="one", limits={"max_live": 2})["key"])
        two = E2b(s, s.make_key(account="two")["key"])
        box = one.create()
        tap.equal(two.ids(), [])
        tap.equal(two.get("/v2/sandboxes").headers["X-Total-Running"], "0")
        path = "/sandboxes/" + box["sandboxID"]
        for method, rest, body in (
                ("GET", "", None), ("DELETE", "", None), ("POST", "/timeout", {"timeout": 5}),
                ("POST", "/refreshes", {}), ("POST", "/pause", {}), ("POST", "/resume", {}),
                ("POST", "/connect", {"timeout": 5}), ("PUT", "/network", {}),
                ("GET", "/metrics", None), ("GET", "/logs", None)):
            tap.equal(two.call(method, path + rest, body).status, 404, rest)
        tap.equal(two.get("/v2%s/logs" % path).status, 404)
        tap.equal(two.post("/v2%s/connect" % path, {}).status, 404)
        many = two.get("/sandboxes/metrics?sandbox_ids=" + box["sandboxID"])
        tap.equal(many.json, {"sandboxes": {}})
        tap.equal(one.show(box), box)
        tap.equal(E2b(s).ids(), [box["sandboxID"]])
        one.create()
        answer = one.post("/v2/sandboxes", {"templateID": "base"})
        refused(answer, 429,
                "you have reached the maximum number of concurrent E2B sandboxes (2)")
        tap.equal(answer.headers["Retry-After"], None)
        refused(s.get(BASE + "/v2/sandboxes", key=None), 401, "Unauthorized")
        refused(s.get(BASE + "/v2/sandboxes", key="wrong-key"), 401, "Unauthorized")
        tap.equal(s.get(BASE + "/v2/sandboxes", key=None,
                        headers={"X-API-KEY": one.key}).status, 200)
        slow = E2b(s, s.make_key(account="three", limits={"max_rps": 1})["key"])
        answers = [slow.get("/v2/sandboxes") for _ in range(5)]
        late = [a for a in answers if a.status == 429]
        refused(late[0], 429, "Rate limit exceeded")
        assert int(late[0].headers["Retry-After"]) >= 1, late[0].headers
        tap.equal((late[0].headers["RateLimit-Limit"], late[0].headers["RateLimit-Remaining"]),
                  ("1", "0"))


def test_repeated_creates():
    with cells.running() as s:
        e = E2b(s)
        for wire in ("", "/v2"):
            answers = [e.post(wire + "/sandboxes", {"templateID": "base", "timeout": 99},
                              headers={"Idempotency-Key": "once"}) for _ in range(2)]
            tap.equal([a.status for a in answers], [201, 201])
            tap.equal(answers[0].json, answers[1].json)
            other = e.post(wire + "/sandboxes", {"templateID": "base"},
                           headers={"Idempotency-Key": "once"})
            tap.equal(other.status, 422)
        tap.equal(len(e.ids()), 2)


def test_what_is_not_served():
    with cells.running() as s:
        e = E2b(s)
        refused(e.get("/secrets"), 501, "secrets")
        refused(e.get("/nothing"), 404, "no such path")
        refused(e.call("PATCH", "/v2/sandboxes"), 405, "method not allowed")
        tap.equal(s.get(BASE + "/health", key=None).status, 204)


tap.main(globals())
