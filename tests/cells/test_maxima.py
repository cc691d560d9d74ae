# SPDX-License-Identifier: MIT
"""What callers can take at most: of one sandbox, and of one account before the service. Whoever has
his maximum is refused, and the next account still gets its share (docs/LIMITS.md)."""

import json
import os
import subprocess

import cells
import maxima
import service
import tap

MIB = 1 << 20
HOST_MIB = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
OPERATOR_ONLY = "only operator keys may ask for no limit"


def ask(s, key, **fields):
    return s.post("/api/v1/sandbox", fields, key=key, timeout=60)


def tool(s, key, name, **args):
    answer = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                             "params": {"name": name, "arguments": args}}, key=key, timeout=60,
                    headers={"Accept": "application/json, text/event-stream",
                             "Content-Type": "application/json"})
    assert answer.status == 200, answer
    text = answer.body.decode()
    if text.startswith("event:") or "data: " in text.split("\n")[0]:
        text = [x for x in text.splitlines() if x.startswith("data: ")][-1][6:]
    return json.loads(text)["result"]


def command(s, key, *args):
    env = dict(os.environ, TIDEPOOL_URL=s.url, TIDEPOOL_API_KEY=key)
    return subprocess.run([service.PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, env=env)


def test_what_a_sandbox_may_ask_for():
    env = {"TIDEPOOL_QUOTA_SANDBOX_PIDS": "2000"}
    with cells.running(env=env) as s:
        user = s.make_key()["key"]
        most = maxima.most(s, "memory", "sandbox") // MIB
        assert 0 < most <= HOST_MIB, most
        for fields, why in (({"memory_limit": "0"}, OPERATOR_ONLY),
                            ({"memory_limit": "0Gi"}, OPERATOR_ONLY),
                            ({"memory_limit": "500Gi"}, "this host has"),
                            ({"memory_limit": "%dMi" % (most + 1)}, "at most %dMi" % most),
                            ({"cpu_limit": "0"}, OPERATOR_ONLY),
                            ({"cpu_limit": "0m"}, OPERATOR_ONLY),
                            ({"pids": 2001}, "invalid pids 2001: 1 to 2000")):
            answer = ask(s, user, name="box", **fields)
            tap.equal(answer.status, 400, fields)
            tap.contains(answer.json["message"], why)
        for fields in ({"memory": "0"}, {"cpu": 0}, {"cpu": "0"}):
            result = tool(s, user, "createSandbox", sandbox_name="box", **fields)
            assert result.get("isError"), result
            tap.contains(result["content"][0]["text"], OPERATOR_ONLY)
        for args in (("--memory", "0"), ("--cpu", "0")):
            p = command(s, user, "create", "--name", "box", *args)
            tap.equal(p.returncode, 1, p)
            tap.contains(p.stderr, OPERATOR_ONLY)
        tap.equal(s.names(), [])
        tap.equal([maxima.refused(s, x, "sandbox") for x in ("memory", "cpu", "pids")], [5, 5, 1])
        # At the limit, and what the operator may.
        s.create(user, name="at", memory_limit="%dMi" % most, pids=2000, cpu_limit="4096")
        made = s.create(name="free", memory_limit="0", cpu_limit="0", pids=2001)
        tap.equal((made["memory_limit"], made["cpu_limit"], made["pids"]), ("0", "0", 2001))


def test_maxima_of_the_operator():
    env = {"TIDEPOOL_QUOTA_SANDBOX_CPU": "1", "TIDEPOOL_QUOTA_SANDBOX_MEMORY": "1GiB",
           "TIDEPOOL_QUOTA_SANDBOX_TIMEOUT": "10m"}
    with cells.running(env=env) as s:
        user = s.make_key()["key"]
        for fields, why in (({"cpu_limit": "1001m"}, "at most 1"),
                            ({"memory_limit": "1025Mi"}, "at most 1024Mi"),
                            ({"timeout": 601}, "must be <= 600"),
                            ({"timeout": -1}, "must be <= 600")):
            answer = ask(s, user, name="box", **fields)
            tap.equal(answer.status, 400, answer)
            tap.contains(answer.json["message"], why)
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "base", "timeout": 601}, key=user)
        tap.equal((answer.status, answer.json["code"]), (400, 400), answer)
        tap.contains(answer.json["message"], "must be <= 600")
        made = s.create(user, name="box", cpu_limit="1", memory_limit="1Gi")
        tap.equal(made["timeout"], 600)
        path = "/api/v1/sandbox/box"
        for value in (601, -1):
            answer = s.request("PATCH", path, {"timeout": value}, key=user)
            tap.equal(answer.status, 400, answer)
        tap.equal(s.request("PATCH", path, {"timeout": 599}, key=user).status, 200)
        answer = s.post("/e2b/v1/sandboxes/%s/connect" % made["id"], {"timeout": 601}, key=user)
        tap.equal(answer.status, 400, answer)
        # The operator's own are longer, and without an end.
        tap.equal(s.create(name="own", timeout=-1, cpu_limit="2")["timeout"], -1)


def test_one_account_takes_its_sandboxes():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_SANDBOXES": "2"}) as s:
        ada, ada_too = (s.make_key(account="ada")["key"] for _ in range(2))
        bob = s.make_key(account="bob")["key"]
        s.create(ada, name="a1")
        s.create(ada_too, name="a2")
        answer = ask(s, ada, name="a3")
        tap.equal(answer.status, 413, answer)
        tap.contains(answer.json["message"], "your account has reached its maximum of sandboxes "
                     "(2/2)")
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "base"}, key=ada_too)
        tap.equal((answer.status, answer.json["code"]), (429, 429), answer)
        tap.contains(answer.json["message"], "(2), please kill some")
        result = tool(s, ada, "createSandbox", sandbox_name="a3")
        assert result.get("isError"), result
        p = command(s, ada, "create", "--name", "a3")
        tap.equal(p.returncode, 1, p)
        tap.contains(p.stderr, "(2/2)")
        answer = s.post("/local-sandbox", {"server_names": ["filesystem"]}, key=ada, timeout=60)
        tap.equal(answer.status, 429, answer)
        tap.equal(maxima.refused(s, "sandboxes"), 5)
        tap.equal([maxima.used(s, "sandboxes", of) for of in ("account", "service")], [2, 2])
        # Bob has his share, and the operator no maximum.
        s.create(bob, name="b1")
        for i in range(3):
            s.create(name="own%d" % i)
        # Paused ones count, also after a restart.
        tap.equal(s.post("/api/v1/sandbox/pause/a1", key=ada).status, 200)
        s.stop()
        s.start()
        tap.equal(ask(s, ada, name="a3").status, 413)
        tap.equal(maxima.used(s, "sandboxes"), 6)
        tap.equal(s.remove("a2", key=ada).status, 200)
        s.create(ada_too, name="a3")


tap.main(globals())
