# SPDX-License-Identifier: MIT
"""Pages of sandboxes in a browser, Debian's Chromium: what they need works, and one sandbox's page
gets neither at another's nor at the API nor at what the browser keeps for them. Needs root."""

import atexit
import contextlib
import json
import os
import re
import shutil
import subprocess

import cells
import clients
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = (os.path.join(HERE, "..", "cells", "web_app.py"), os.path.join(HERE, "site.py"))
stack = contextlib.ExitStack()
atexit.register(stack.close)
state = {}


def start_site(s, name):
    for path in SITE:
        with open(path) as f:
            answer = s.run(name, "cat > /tmp/" + os.path.basename(path), stdin=f.read())
        tap.equal(answer["exitCode"], 0, answer)
    answer = s.run(name, "cd /tmp && python3 site.py %s 8080 </dev/null >site.log 2>&1" % name)
    tap.equal(answer["exitCode"], 0, answer)


def lab():
    if "s" not in state:
        if not shutil.which("chromium"):
            raise tap.Skip("chromium is not installed; ./dev test installs it")
        clients.install()
        s = stack.enter_context(cells.running("--domain", "pool.test"))
        ids = {name: s.create(name=name)["id"] for name in ("a", "b")}
        made = s.post("/e2b/v1/v2/sandboxes", {"templateID": "base", "timeout": 600,
                                               "network": {"allowPublicTraffic": False}})
        tap.equal(made.status, 201, made)
        ids["closed"] = made.json["sandboxID"]
        for name in ("a", "b", ids["closed"]):
            start_site(s, name)
        state.update(s=s, ids=ids)
    return state["s"]


def hits(s, name):
    return s.get("/sandbox/%s/hits" % name).json


def visit(host, **more):
    s = lab()
    want = {"url": "http://%s:%d" % (host, s.port), "key": s.key, "service": s.url,
            "ids": state["ids"],
            "screenshot": os.environ.get("SCREENSHOT"), **more}
    folder = os.path.dirname(clients.install())
    shutil.copy(os.path.join(HERE, "origins.mjs"), folder)
    done = subprocess.run(clients.node(os.path.join(folder, "origins.mjs"), json.dumps(want)),
                          capture_output=True, text=True, timeout=300, cwd=folder)
    tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout[-2000:], done.stderr[-4000:]))
    return json.loads(done.stdout)


WORKS = {"plain": "yes", "module": "yes", "style": "rgb(1, 2, 3)", "image": 7,
         "fetch": '{"secret": "%s"}', "include": '{"secret": "%s"}', "json": "PUT",
         "xhr": '{"secret": "%s"}', "events": "0", "socket": "hi"}


def check_works(got, name, origin, status=502):
    """Everything that a page loads and asks for at its own sandbox is there."""
    want = {k: v % name if k in ("fetch", "include", "xhr") else v for k, v in WORKS.items()}
    tap.equal(got, {**want, "origin": origin, "status": status})


NOTHING = ("TypeError", "failed", "closed", "SecurityError", "refused", "sent", "loaded")


def check_attack(got):
    """Nothing of another sandbox was read, no key or cookie was of use, no socket was opened."""
    learned = {k: v for k, v in got.items() if k == "script code" and v != "failed"}
    for how, text in got.items():
        is_open = text.startswith("401 ") or \
            (how.endswith(" console") and text.startswith('200 {"status":"ok"'))
        if text not in NOTHING and not is_open:
            learned[how] = text
    tap.equal(learned, {})


def test_pages_by_path():
    got = state["path"] = visit("127.0.0.1")
    check_attack(got["attack"])
    for name in ("a", "b"):
        at = r"http://127\.0\.0\.1:%d/sandbox/%s/~[0-9a-f.]+/" % (lab().port, name)
        assert re.fullmatch(at, got[name]["url"]), got[name]["url"]
        check_works(got[name]["works"], name, "null")
    tap.equal(got["kept"], {"cookie": "SecurityError", "set": "SecurityError",
                            "storage": "SecurityError", "worker": "SecurityError"})
    # Nor is it anybody else in a document of its own making.
    nobody = ["null", "SecurityError", "SecurityError"]
    said = {k: v for k, v in got["disguises"].items() if v != "silent"}
    for how, what in said.items():
        assert what[:3] == nobody and what[3] in ("401", "TypeError"), (how, what)
    assert {"frame blob", "frame data", "frame text", "popup blob"} <= set(said), got["disguises"]
    # The other sandbox was asked for its own page, by the viewer, and for nothing else.
    want = ["GET /", "GET /style.css", "GET /plain.js", "GET /module.js", "GET /part.js",
            "GET /dot.svg", *["GET /data.json"] * 3, "PUT /echo", "GET /events", "GET /socket"]
    tap.equal(sorted(got["hits"]), sorted(want))
    tap.equal(got["again"], {"status": 200, "title": "b"})
    tap.equal((got["link"], got["form"]), ("second", "sent"))


def test_what_the_browser_keeps():
    got = state["path"]
    want = {"name": "tidepool_view", "domain": "127.0.0.1", "httpOnly": True, "secure": False,
            "sameSite": "Strict"}
    tap.equal(got["before"], [{**want, "path": "/sandbox/%s/" % x} for x in ("b", "a")])
    tap.equal(got["reach"], "ok")
    tap.equal(got["login"], "of the console")
    # What its answer set is kept for its own addresses alone.
    assert got["after"][:2] == got["before"], got["after"]
    added = got["after"][2:]
    for cookie in added:
        assert cookie["path"].startswith("/sandbox/a/"), cookie
        assert cookie["name"] in ("root", "other", "up", "own"), cookie


def test_the_router_of_ids():
    got = state["path"]["router"]
    check_works(got["works"], "a", "null", status=200)
    check_attack(got["attack"])


def test_headers_do_not_spoil_what_is_kept():
    tap.equal((state["path"]["poison"], state["path"]["fresh"]),
              ("<title>poisoned</title>", False))


def test_pages_by_domain():
    """They are led to a host, and an origin, of their own."""
    s = lab()
    before = len(hits(s, "b"))
    got = visit("pool.test", hosts=True, closed=True)
    check_attack(got["attack"])
    for name in ("a", "b"):
        origin = "http://8080-%s.pool.test:%d" % (state["ids"][name], s.port)
        tap.equal(got[name]["url"], origin + "/")
        check_works(got[name]["works"], name, origin, status=200)
    tap.equal(got["fresh"], False)
    tap.equal(got["login"], "of the console")
    # A script may set a cookie for all hosts of the domain; none of the answers can.
    for cookie in got["after"]:
        if cookie["domain"].startswith("."):
            assert cookie["name"] in ("planted", "tidepool_view", "tidepool_key"), cookie
    tap.equal(got["again"], {"status": 200, "title": "b"})
    tap.equal((got["link"], got["form"]), ("second", "sent"))
    # Pages of the same site have its cookie with them: it is not taken for more than a visit.
    tap.equal([x for x in got["hits"][before:] if not x.startswith("GET ")], ["PUT /echo"])
    check_attack(got["host"])
    # A sandbox whose ports ask for a token stays where the viewer's key lets in.
    closed = state["ids"]["closed"]
    at = r"http://pool\.test:%d/sandbox/%s/~[0-9a-f.]+/" % (s.port, closed)
    assert re.fullmatch(at, got["closed"]["url"]), got["closed"]["url"]
    check_works(got["closed"]["works"], closed, "null")


tap.main(globals())
