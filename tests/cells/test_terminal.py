# SPDX-License-Identifier: MIT
"""Logs and terminals of sandboxes through the native API. Needs root."""

import atexit
import contextlib
import http.client
import json
import urllib.parse

import cells
import tap
import websocket

stack = contextlib.ExitStack()
atexit.register(stack.close)
state = {}


def lab():
    """One service with the sandbox "box", and a key that does not own it."""
    if "s" not in state:
        s = stack.enter_context(cells.running())
        s.create(name="box")
        state["other"] = s.make_key(account="other", role="user")["key"]
        state["s"] = s
    return state["s"]


# ---- logs ----

def logs(name, **query):
    return lab().get("/api/v1/logs/sandbox/%s?%s" % (name, urllib.parse.urlencode(query)))


def test_logs():
    s = lab()
    s.create(name="talker", cmd="sh", args=["-c", "for i in 1 2 3; do echo line $i; done; "
                                            "echo bad >&2; sleep 1000"])
    s.until(lambda: "bad" in logs("talker").json["data"]["logs"])
    data = logs("talker").json["data"]
    tap.equal((data["sandbox"], data["pod"], data["container"]), ("talker", "talker", "sandbox"))
    tap.equal(data["logs"], "line 1\nline 2\nline 3\nbad\n")
    assert data["fetchedAt"].endswith("Z"), data


def test_log_limits():
    tap.equal(logs("talker", tailLines=1).json["data"]["logs"], "bad\n")
    for bad in ("0", "-1", "abc"):
        answer = logs("talker", tailLines=bad)
        tap.equal((answer.status, answer.json["code"]), (400, 400))
        tap.contains(answer.json["message"], "tailLines")
    tap.equal(logs("talker", tailLines=99999).status, 200)
    answer = logs("nobody")
    tap.equal((answer.status, answer.json["message"]), (404, "sandbox nobody not found"))


def test_logs_can_be_followed():
    s = lab()
    s.create(name="ticker", cmd="sh",
             args=["-c", "i=0; while sleep 0.2; do echo $((i += 1)); done"])
    c = http.client.HTTPConnection(s.host, s.port, timeout=20)
    c.request("GET", "/api/v1/logs/sandbox/ticker?follow=true", headers={"X-API-Key": s.key})
    answer = c.getresponse()
    tap.equal(answer.status, 200)
    tap.contains(answer.headers["Content-Type"], "text/plain")
    tap.equal([answer.readline() for _ in range(5)], [b"%d\n" % i for i in range(1, 6)])
    c.close()


# ---- terminals ----

def terminal(name, key=None):
    s = lab()
    query = "?api_key=" + (key or s.key) if key != "" else ""
    return websocket.Socket(s, "/api/v1/terminal/sandbox/%s/ws%s" % (name, query))


def messages(w, until):
    """JSON messages up to the one for which UNTIL(all of them) is true."""
    got = []
    while True:
        opcode, data = w.receive()
        assert opcode is not None, got
        if opcode == 8:
            return got
        got.append(json.loads(data))
        if until(got):
            return got


def output(got):
    return "".join(m.get("data", "") for m in got if m["type"] == "output")


def test_terminals():
    w = terminal("box")
    tap.equal((w.status, w.is_accepted), (101, True))
    got = messages(w, lambda g: g[-1]["type"] == "ready")
    tap.equal(got[-1]["data"], "connected to box/sandbox")
    w.say(type="init", cols=100, rows=30)
    w.say(type="input", data="stty size; echo mar''ker ünï\n")
    got = messages(w, lambda g: "marker ünï" in output(g))
    tap.contains(output(got), "30 100")
    w.say(type="resize", cols=120, rows=40)
    w.say(type="input", data="stty size; echo mar''ker2\n")
    tap.contains(output(messages(w, lambda g: "marker2" in output(g))), "40 120")
    w.say(type="dance")
    got = messages(w, lambda g: g[-1]["type"] == "error")
    tap.equal(got[-1]["data"], "unsupported message type: dance")
    w.say(type="input", data="exit 0\n")
    got = messages(w, lambda g: g[-1]["type"] == "exit")
    tap.equal(got[-1].get("code", 0), 0)
    w.close()
    w = terminal("box")
    w.say(type="close")
    messages(w, lambda g: g[-1]["type"] == "closed")
    w.close()


def test_terminals_that_are_refused():
    s = lab()
    tap.equal(terminal("nobody").status, 404)
    tap.equal(terminal("box", state["other"]).status, 404)
    tap.equal(terminal("box", "").status, 401)
    tap.equal(s.get("/api/v1/terminal/sandbox/box/ws").status, 400)


def test_the_service_stops_in_order():
    lab()
    stack.close()


tap.main(globals())
