# SPDX-License-Identifier: MIT
"""The template desktop with npm's @e2b/desktop, unmodified; and on a host that lacks what it
needs."""

import json
import os
import subprocess
import urllib.parse

import clients
import domain
import tap
import websocket

HERE = os.path.dirname(os.path.abspath(__file__))


def requirements(s):
    """What the template asks of the host, the first choice of each."""
    [desktop] = [t for t in s.get("/api/v1/config/templates").json["data"]
                 if t["name"] == "desktop"]
    return [x.split("|")[0].strip() for x in desktop["requires"]]


def is_listed(s):
    listed = s.get("/e2b/v1/templates").json
    return "desktop" in [t["templateID"] for t in listed]


def look_at(s, url):
    """The page of the stream, and the first bytes of the screen behind it."""
    there = urllib.parse.urlsplit(url)
    page = s.get(there.path, headers={"Host": there.netloc}, key=None)
    tap.equal(page.status, 200)
    tap.contains(page.body.decode(), "noVNC")
    screen = websocket.Socket(s, "/websockify", "Sec-WebSocket-Protocol: binary\r\n",
                              host=there.netloc)
    tap.equal(screen.status, 101)
    return screen.receive()


def test_the_desktop_client():
    clients.install()
    with domain.running() as s:
        lacks = [x for x in requirements(s) if not is_installed(x)]
        if lacks:
            raise tap.Skip("needs %s; ./dev test installs them" % " ".join(lacks))
        tap.equal(is_listed(s), True)
        env = dict(domain.client_env(s), SDK_MODULES=clients.MODULES)
        with subprocess.Popen(clients.node(os.path.join(HERE, "desktop.mjs")), env=env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as client:
            line = client.stdout.readline()
            if line:
                got = json.loads(line)
                tap.equal(look_at(s, got["stream"]), (2, b"RFB 003.008\n"))
            _, text = client.communicate(timeout=120)
            tap.equal(client.returncode, 0, "status\n" + text[-3000:])
        tap.equal(s.names(), [], "it was killed")
    tap.equal(got["user"].split(), ["user", "user"])
    tap.equal(got["size"], {"width": 1280, "height": 720})
    tap.equal((got["cursor"], got["dropped"]), ({"x": 20, "y": 30}, {"x": 350, "y": 300}))
    tap.equal(got["focus"], [True, "Events"])
    tap.equal(got["events"][:20],
              ["1", "Shift_L", "H", "i", "comma", "space", "a", "l", "l", "Return", "Control_L",
               "c", "1", "1", "3", "2", "4", "4", "5", "1"])
    assert int(got["dragged"]) > 0, got["dragged"]
    tap.equal((got["browsers"], got["picture"]), (1, ["PNG", 1280, 720]))
    # A screen of one colour takes less.
    assert got["bytes"] > 10000, got["bytes"]
    tap.contains(got["stream"], "password=")
    tap.equal(got["again"], "Stream is already running")


def is_installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package],
                          capture_output=True, text=True)
    return done.stdout == "installed"


def test_a_host_that_lacks_them():
    """A package that there is not stands for one that is not installed."""
    with domain.running() as s:
        templates = s.get("/api/v1/config/templates").json["data"]
        for t in templates:
            if t["name"] == "desktop":
                t["requires"].append("no-such-desktop")
        tap.equal(s.post("/api/v1/config/templates", templates).status, 200)
        tap.equal(is_listed(s), False)
        answer = s.post("/e2b/v1/sandboxes", {"templateID": "desktop"})
        tap.equal(answer.status, 501)
        tap.contains(answer.json["message"], "apt-get install ")
        assert answer.json["message"].endswith(" no-such-desktop"), answer.json


tap.main(globals())
