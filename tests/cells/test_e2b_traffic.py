# SPDX-License-Identifier: MIT
"""Traffic into sandboxes as clients of E2B address it: by host, by headers, by path. Needs root."""

import atexit
import base64
import contextlib
import hashlib
import json
import os
import socket
import time
import urllib.parse

import cells
import tap
from websocket import Socket

HERE = os.path.dirname(os.path.abspath(__file__))
DOMAIN = "pool.test"
NOBODY = "0" * 32
BROWSER = {"User-Agent": "Mozilla/5.0 (X11)", "Accept": "text/html,*/*"}
stack = contextlib.ExitStack()
atexit.register(stack.close)
state = {}


def start_app(s, name, host="127.0.0.1", port=8080):
    with open(os.path.join(HERE, "web_app.py")) as f:
        answer = s.run(name, "cat > /tmp/web_app.py", stdin=f.read())
    tap.equal(answer["exitCode"], 0, answer)
    answer = s.run(name, "python3 /tmp/web_app.py %s %d bg </dev/null >/tmp/app.log 2>&1"
                   % (host, port))
    tap.equal(answer["exitCode"], 0, answer)


def lab():
    """One service with a sandbox "box" that serves on 127.0.0.1:8080 and on [::1]:3000."""
    if "s" not in state:
        s = stack.enter_context(cells.running("--domain", DOMAIN + ":1234"))
        state["id"] = s.create(name="box")["id"]
        start_app(s, "box")
        start_app(s, "box", "::1", 3000)
        state["s"] = s
    return state["s"]


def host(port, sandbox=None):
    lab()
    return "%s-%s.%s" % (port, sandbox or state["id"], DOMAIN)


def ask(port, path="/", method="GET", sandbox=None, headers=None, **more):
    """A request by host name, without a key."""
    headers = {"Host": host(port, sandbox), **(headers or {})}
    return lab().request(method, path, key=None, headers=headers, **more)


def echo(port=8080, path="/", **more):
    answer = ask(port, path, **more)
    tap.equal(answer.status, 200, answer)
    return answer.json


def value(got, name):
    return [v for k, v in got["headers"] if k == name]


def fault(answer, status, message, **more):
    sandbox = more.pop("sandbox", state["id"])
    tap.equal(answer.status, status, answer)
    tap.equal(answer.headers["Content-Type"], "application/json; charset=utf-8")
    tap.equal(answer.json, {"sandboxId": sandbox, "message": message, "code": status, **more})


def by_headers(sandbox, port):
    return {"E2b-Sandbox-Id": sandbox, "E2b-Sandbox-Port": str(port)}


# ---- the ways in ----

def test_three_ways_lead_to_the_same_service():
    s = lab()
    got = echo(8080, "/a%2Fb/../c?x=1&y=%20")
    tap.equal((got["target"], got["port"]), ("/a%2Fb/../c?x=1&y=%20", 8080))
    tap.equal(echo(3000)["port"], 3000)
    tap.equal(echo(8080, sandbox=state["id"].upper())["port"], 8080)
    tap.equal(echo(8080, sandbox=state["id"] + "-6532622b")["port"], 8080)
    for name in ("127.0.0.1:%d" % s.port, "localhost", "[::1]", "sandbox." + DOMAIN, "tidepool"):
        answer = s.get("/q?z", key=None, headers={"Host": name, **by_headers(state["id"], 3000)})
        tap.equal((answer.status, answer.json["port"], answer.json["target"]), (200, 3000, "/q?z"))
    for path, target in (("/a/b?c=1", "/a/b?c=1"), ("/", "/"), ("", "/"), ("?q", "/?q")):
        answer = s.get("/sandboxes/router/%s/8080%s" % (state["id"], path), key=None)
        tap.equal((answer.status, answer.json["target"]), (200, target))


def test_the_path_of_a_sandbox_wins_over_its_headers():
    """Clients that were given such an address send the headers all the same."""
    for path, port in (("/sandboxes/router/%s/3000/a?b" % state["id"], 3000),
                       ("/sandboxes/router/%s/8080/a?b" % state["id"], 8080)):
        answer = lab().get(path, key=None, headers=by_headers(state["id"], 8080))
        tap.equal((answer.status, answer.json["port"], answer.json["target"]), (200, port, "/a?b"))


def test_a_preflight_without_the_headers_that_it_asks_for():
    s = lab()
    wanted = "content-type,e2b-sandbox-id,e2b-sandbox-port,x-access-token"
    asked = {"Origin": "http://page.example", "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": wanted}
    for path in ("/process.Process/Start", "/files?path=x", "/filesystem.Filesystem/Stat"):
        answer = s.request("OPTIONS", path, key=None, headers=asked)
        tap.equal((answer.status, answer.body), (204, b""), path)
        tap.equal(answer.headers["Access-Control-Allow-Origin"], "*")
        tap.equal(answer.headers["Access-Control-Allow-Headers"], wanted)
        tap.contains(answer.headers["Access-Control-Allow-Methods"], "POST")
    answer = s.request("OPTIONS", "/nowhere", key=None, headers={
        "Origin": "http://page.example", "Access-Control-Request-Method": "POST"})
    tap.equal(answer.status, 404)


def test_our_own_paths_do_not_shadow_those_of_a_service():
    for path in ("/healthz", "/mcp", "/api/v1/sandbox", "/e2b/v1/sandboxes", "/metrics", "/ui/",
                 "/sandbox/box/", "/openapi.json", "/files?signature=v1_x",
                 "/sandboxes/router/%s/1/" % NOBODY):
        tap.equal(echo(8080, path)["target"], path)
        answer = lab().get(path, headers=by_headers(lab() and state["id"], 8080), key=None)
        tap.equal(answer.json["target"], path)
    tap.equal(echo(8080, "/init")["target"], "/init")


def test_methods_and_preflights_are_the_services():
    for method in ("POST", "PUT", "PATCH", "DELETE", "PROPFIND"):
        tap.equal(echo(8080, "/x", method=method)["method"], method)
    answer = ask(8080, "/x", "OPTIONS", headers={
        "Origin": "http://x", "Access-Control-Request-Method": "POST"})
    tap.equal((answer.status, answer.json["method"]), (200, "OPTIONS"))
    tap.equal(answer.headers["Access-Control-Allow-Origin"], None)
    tap.equal(answer.headers["X-App"], "yes")


def test_half_of_an_address_is_a_mistake():
    s = lab()
    for headers, text in (
            ({"E2b-Sandbox-Id": NOBODY}, "missing header E2b-Sandbox-Port"),
            ({"E2b-Sandbox-Port": "80"}, "missing header E2b-Sandbox-Id"),
            (by_headers(NOBODY, 0), "invalid header E2b-Sandbox-Port: 1 to 65535"),
            (by_headers(NOBODY, 65536), "invalid header E2b-Sandbox-Port: 1 to 65535"),
            (by_headers("../x", 80), "invalid header E2b-Sandbox-Id"),
            ({"Host": "65536-%s.x.y" % NOBODY}, "invalid port in the host name: 1 to 65535")):
        answer = s.get("/healthz", key=None, headers=headers)
        tap.equal((answer.status, answer.json), (400, {"code": 400, "message": text}))
    answer = s.get("/sandboxes/router/%s/0/" % NOBODY, key=None)
    tap.equal((answer.status, answer.json["message"]), (400, 'invalid port "0": 1 to 65535'))
    # On a name of its own, half of an address means nothing.
    answer = s.get("/healthz", key=None, headers={"Host": "tidepool", "E2b-Sandbox-Id": NOBODY})
    tap.equal(answer.json["status"], "ok")


def test_the_control_plane_has_a_host_of_its_own():
    s = lab()
    headers = {"Host": "api.%s:1234" % DOMAIN}
    answer = s.get("/v9/nothing", key=None, headers=headers)
    tap.equal((answer.status, answer.json["code"]), (401, 401))
    answer = s.get("/v9/nothing", headers=headers)
    tap.equal((answer.status, answer.json["code"]), (404, 404))
    tap.equal(s.get("/healthz", key=None, headers=headers).json["status"], "ok")
    tap.equal(s.get("/api/v1/sandbox/box", headers=headers).status, 200)


# ---- what the service sees ----

def test_what_the_service_sees():
    got = echo(8080, "/", headers={"X-Forwarded-For": "192.0.2.1", "X-Mine": "1"})
    tap.equal(value(got, "host"), [host(8080)])
    tap.equal(value(got, "x-forwarded-host"), [host(8080)])
    tap.equal(value(got, "x-forwarded-for"), ["192.0.2.1, 127.0.0.1"])
    tap.equal(value(got, "x-forwarded-proto"), ["http"])
    tap.equal((value(got, "x-forwarded-prefix"), value(got, "x-mine")), ([], ["1"]))
    got = lab().get("/sandboxes/router/%s/8080/" % state["id"], key=None).json
    tap.equal(value(got, "host"), ["localhost:8080"])
    tap.equal(value(got, "x-forwarded-prefix"), ["/sandboxes/router/%s/8080" % state["id"]])


def test_keys_of_ours_stay_here_and_others_pass():
    s = lab()
    ours = {"Authorization": "Bearer " + s.key, "X-API-Key": s.key, "X-Tidepool-Boot": "mine",
            "E2B-Traffic-Access-Token": "t", "Referer": "http://h/?api_key=%s&a" % s.key}
    got = echo(8080, "/?a=1&api_key=%s&b" % s.key, headers=ours)
    assert s.key not in json.dumps(got), got
    tap.equal(got["target"], "/?a=1&b")
    for name in ("authorization", "x-api-key", "x-tidepool-boot", "e2b-traffic-access-token"):
        tap.equal(value(got, name), [])
    theirs = {"Authorization": "Bearer theirs", "X-API-Key": "theirs", "X-Access-Token": "t",
              "Cookie": "a=b"}
    got = echo(8080, "/?api_key=theirs", headers=theirs)
    tap.equal(got["target"], "/?api_key=theirs")
    for name, text in theirs.items():
        tap.equal(value(got, name.lower()), [text])
    tap.equal(value(echo(8080, headers={"Authorization": "Basic dXNlcjo="}), "authorization"),
              ["Basic dXNlcjo="])


# ---- faults ----

def test_who_is_not_there_is_502():
    lab()
    for port in (49983, 8080, 1):
        fault(ask(port, sandbox=NOBODY), 502, "The sandbox was not found", sandbox=NOBODY)
        answer = lab().post("/x", b"body", key=None, headers=by_headers("abc", port))
        fault(answer, 502, "The sandbox was not found", sandbox="abc")
    fault(lab().get("/sandboxes/router/%s/49983/health" % NOBODY, key=None), 502,
          "The sandbox was not found", sandbox=NOBODY)
    answer = lab().get("/sandboxes/router/%s/8080/" % NOBODY, key=None)
    tap.equal((answer.status, answer.json["message"]), (404, "sandbox %s not found" % NOBODY))
    answer = ask(8080, sandbox=NOBODY, headers=BROWSER)
    tap.equal((answer.status, answer.headers["Content-Type"]), (502, "text/html; charset=utf-8"))


def test_a_closed_port_is_502():
    text = "The sandbox is running but port is not open"
    fault(ask(3210), 502, text, port=3210)
    fault(ask(65535, "/", "POST", body=b"x" * 100000), 502, text, port=65535)
    answer = ask(3210, headers=BROWSER)
    tap.equal((answer.status, answer.headers["Content-Type"]), (502, "text/html; charset=utf-8"))
    assert b"3210" in answer.body and state["id"].encode() in answer.body, answer.body
    # A script of a page wants JSON.
    fault(ask(3210, headers={**BROWSER, "Accept": "*/*"}), 502, text, port=3210)
    answer = ask(3210, headers={"Origin": "http://x"})
    tap.equal(answer.headers["Access-Control-Allow-Origin"], "*")


def test_paths_of_the_other_control_plane_are_reserved():
    lab()
    for path in ("/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw",
                 "/upgrade", "/init?x=1"):
        for method in ("GET", "POST"):
            fault(ask(49983, path, method), 404,
                  "This endpoint is reserved for the E2B control plane and is not reachable "
                  "through the sandbox URL")


def test_the_inside_of_the_control_socket_is_out_of_reach():
    """What the daemon alone may ask the first process of a cell for."""
    lab()
    for path in ("/claim", "/run", "/procs", "/stats", "/../procs", "/%2e%2e/procs", "//procs",
                 "/e2b/../procs", "/log"):
        answer = ask(49983, path, "POST" if path == "/run" else "GET")
        tap.equal(answer.status in (401, 404), True, answer)


# ---- streams ----

def test_large_bodies_pass_both_ways():
    body = os.urandom(3 << 20)
    digest = hashlib.sha256(body).hexdigest()
    got = echo(8080, "/", method="POST", body=body)
    tap.equal((got["length"], got["sha256"]), (len(body), digest))

    def pieces():
        for i in range(0, len(body), 100000):
            yield body[i:i + 100000]
    got = echo(8080, "/", method="POST", body=pieces())
    tap.equal((got["length"], got["sha256"]), (len(body), digest))
    answer = ask(8080, "/blob?size=5000000")
    tap.equal((answer.status, len(answer.body)), (200, 5000000))


def test_events_come_one_by_one():
    lab()
    with socket.create_connection((lab().host, lab().port), timeout=20) as c:
        c.sendall(b"GET /events HTTP/1.1\r\nHost: %s\r\n\r\n" % host(8080).encode())
        data, times = b"", []
        while b"0\r\n\r\n" not in data:
            before = data.count(b"data:")
            data += c.recv(65536)
            times += [time.monotonic()] * (data.count(b"data:") - before)
    tap.equal(len(times), 3)
    assert times[2] - times[0] > 0.3, times


def test_web_sockets_are_tunnels():
    s = lab()
    headers = "".join("%s: %s\r\n" % x for x in by_headers(state["id"], 8080).items())
    for w in (Socket(s, "/socket", host=host(8080)), Socket(s, "/socket", headers, "localhost"),
              Socket(s, "/sandboxes/router/%s/8080/socket" % state["id"])):
        tap.equal((w.status, w.is_accepted), (101, True))
        w.send(b"hello")
        tap.equal(w.receive(), (1, b"hello"))
        w.send(b"x" * 1000, 2)
        tap.equal(w.receive(), (2, b"x" * 1000))
        w.close()


# ---- the life of a sandbox ----

def test_a_paused_sandbox_is_resumed_only_where_it_may():
    s = lab()
    for name, wakes in (("sleeper", False), ("waker", True)):
        sandbox = s.create(name=name, autoResume=wakes)["id"]
        start_app(s, name)
        tap.equal(s.post("/api/v1/sandbox/pause/" + name).status, 200)
        # Nobody without the token wakes it through its own service.
        fault(ask(49983, "/health", sandbox=sandbox), 502, "The sandbox was not found",
              sandbox=sandbox)
        fault(ask(49983, "/health", sandbox=sandbox, headers={"X-Access-Token": "a" * 64}), 502,
              "The sandbox was not found", sandbox=sandbox)
        tap.equal(s.show(name).json["data"]["status"], "paused")
        answer = ask(8080, sandbox=sandbox)
        if wakes:
            tap.equal(answer.status, 200, answer)
        else:
            fault(answer, 502, "The sandbox was not found", sandbox=sandbox)
        tap.equal(s.show(name).json["data"]["status"], "running" if wakes else "paused")
        s.remove(name)


def reset_by_peer(c):
    """Reads to the end: what came, and whether that was a reset."""
    data = b""
    while True:
        try:
            more = c.recv(65536)
        except ConnectionResetError:
            return data, True
        if not more:
            return data, False
        data += more


def test_a_killed_sandbox_resets_what_is_under_way():
    s = lab()
    sandbox = s.create(name="victim")["id"]
    start_app(s, "victim")
    streams = []
    for path in ("/forever", "/flood", "/until_end"):
        c = socket.create_connection((s.host, s.port), timeout=20)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"
                  % (path.encode(), host(8080, sandbox).encode()))
        assert c.recv(16).startswith(b"HTTP/1.1 200"), path
        streams.append(c)
    tap.equal(s.remove("victim").status, 200)
    for c in streams:
        data, is_reset = reset_by_peer(c)
        c.close()
        assert not data.endswith(b"0\r\n\r\n"), data[-100:]
        tap.equal(is_reset, True)
    fault(ask(8080, sandbox=sandbox), 502, "The sandbox was not found", sandbox=sandbox)
    fault(ask(49983, "/health", sandbox=sandbox), 502, "The sandbox was not found",
          sandbox=sandbox)


# ---- the sandbox's own service, and tokens ----

def make(**fields):
    """A sandbox by the control plane."""
    answer = lab().post("/e2b/v1/v2/sandboxes", {"templateID": "base", **fields}, timeout=60)
    tap.equal(answer.status, 201, answer)
    return answer.json


def end(box):
    assert lab().delete("/e2b/v1/sandboxes/" + box["sandboxID"]).status in (200, 204)


def start_app_in(box):
    start_app(lab(), lab().get("/e2b/v1/sandboxes/" + box["sandboxID"]).json["metadata"]["name"])


def signed(path, operation, token, user="", expires=None):
    """The address of a file, without anything that names the sandbox."""
    raw = ":".join([path, operation, user, token] + ([str(expires)] if expires else []))
    text = base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode().rstrip("=")
    query = {"path": path, "signature": "v1_" + text}
    if user:
        query["username"] = user
    if expires:
        query["signature_expiration"] = expires
    return "/files?" + urllib.parse.urlencode(query)


def stream_of(c):
    """Reads heads and messages of a streaming call that never ends."""
    f = c.makefile("rb")
    status = int(f.readline().split()[1])
    while f.readline().strip():
        pass
    return status, f


def test_the_service_of_a_sandbox_answers_in_every_way():
    box = make()
    sandbox, token = box["sandboxID"], {"X-Access-Token": box["envdAccessToken"]}
    tap.equal(ask(49983, "/health", sandbox=sandbox).status, 204)
    tap.equal(lab().get("/health", key=None, headers=by_headers(sandbox, 49983)).status, 204)
    tap.equal(lab().get("/sandboxes/router/%s/49983/health" % sandbox, key=None).status, 204)
    tap.equal(ask(49983, "/envs", sandbox=sandbox).status, 401)
    tap.equal(ask(49983, "/envs", sandbox=sandbox, headers=token).status, 200)
    answer = ask(49983, "/process.Process/List", "POST", sandbox=sandbox, body=b"{}",
                 headers={**token, "Content-Type": "application/json"})
    tap.equal((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
    # Clients of pages: the service itself answers the preflight.
    answer = ask(49983, "/files", "OPTIONS", sandbox=sandbox, headers={
        "Origin": "http://x", "Access-Control-Request-Method": "POST"})
    tap.equal((answer.status, answer.headers["Access-Control-Allow-Origin"]), (204, "*"))
    end(box)
    fault(ask(49983, "/health", sandbox=sandbox), 502, "The sandbox was not found",
          sandbox=sandbox)


def test_signed_addresses_need_no_sandbox():
    s, boxes = lab(), [make(), make()]
    for i, box in enumerate(boxes):
        token, text = box["envdAccessToken"], b"text %d" % i
        answer = s.post(signed("/tmp/a b.txt", "write", token), text, key=None,
                        headers={"Content-Type": "application/octet-stream"})
        tap.equal(answer.status, 200, answer)
        answer = s.get(signed("/tmp/a b.txt", "read", token), key=None)
        tap.equal((answer.status, answer.body), (200, text))
        answer = s.get(signed("/tmp/a b.txt", "read", token, "user", int(time.time()) + 60),
                       key=None)
        tap.equal((answer.status, answer.body), (200, text))
        answer = s.get(signed("/tmp/a b.txt", "read", token, "", 1000), key=None)
        tap.equal((answer.status, answer.json["message"]), (401, "signature is already expired"))
        answer = s.get(signed("/tmp/a b.txt", "write", token), key=None)
        tap.equal((answer.status, answer.json),
                  (401, {"code": 401, "message": "invalid signature"}))
    for box in boxes:
        end(box)
    answer = s.get(signed("/tmp/a b.txt", "read", boxes[0]["envdAccessToken"]), key=None)
    tap.equal((answer.status, answer.json["message"]), (401, "invalid signature"))
    tap.equal(s.get("/files?path=x", key=None).status, 404)


def test_private_ports_ask_for_their_token():
    s = lab()
    box = make(network={"allowPublicTraffic": False, "maskRequestHost": "app.internal:${PORT}"})
    start_app_in(box)
    sandbox, begin = box["sandboxID"], "Sandbox is secured with traffic access token. "
    missing = begin + "Token header 'e2b-traffic-access-token' is missing"
    wrong = begin + "Provided token in header 'e2b-traffic-access-token' is invalid"
    for port in (8080, 3210):
        fault(ask(port, sandbox=sandbox), 403, missing, sandbox=sandbox)
        for token in ("", "x", box["envdAccessToken"], box["trafficAccessToken"][:-1]):
            fault(ask(port, sandbox=sandbox, headers={"E2B-Traffic-Access-Token": token}), 403,
                  wrong, sandbox=sandbox)
    mine = {"e2b-traffic-access-token": box["trafficAccessToken"]}
    got = echo(8080, sandbox=sandbox, headers=mine)
    tap.equal(value(got, "host"), ["app.internal:8080"])
    tap.equal(value(got, "x-forwarded-host"), [host(8080, sandbox)])
    assert box["trafficAccessToken"] not in json.dumps(got), got
    tap.equal(ask(3210, sandbox=sandbox, headers=mine).status, 502)
    # Its own service never asks for it; a key of ours is no token.
    tap.equal(ask(49983, "/health", sandbox=sandbox).status, 204)
    fault(s.get("/", headers={"Host": host(8080, sandbox)}), 403, missing, sandbox=sandbox)
    end(box)


def test_only_the_token_wakes_a_sandbox_through_its_service():
    s = lab()
    box = make(autoPause=True, autoResume={"enabled": True})
    sandbox, token = box["sandboxID"], box["envdAccessToken"]
    tap.equal(s.post(signed("/tmp/x", "write", token), b"kept", key=None,
                     headers={"Content-Type": "application/octet-stream"}).status, 200)

    def pause():
        tap.equal(s.post("/e2b/v1/sandboxes/%s/pause" % sandbox).status, 204)

    def is_running():
        return s.get("/e2b/v1/sandboxes/" + sandbox).json["state"] == "running"
    pause()
    for headers in ({}, {"X-Access-Token": "0" * 64}):
        fault(ask(49983, "/health", sandbox=sandbox, headers=headers), 502,
              "The sandbox was not found", sandbox=sandbox)
    answer = ask(49983, signed("/tmp/x", "read", "0" * 64), sandbox=sandbox)
    tap.equal((answer.status, is_running()), (502, False))
    tap.equal(ask(49983, "/health", sandbox=sandbox, headers={"X-Access-Token": token}).status,
              204)
    tap.equal(is_running(), True)
    for by in (sandbox, None):
        pause()
        headers = {"Host": host(49983, by)} if by else {}
        answer = s.get(signed("/tmp/x", "read", token), key=None, headers=headers)
        tap.equal((answer.status, answer.body, is_running()), (200, b"kept", True))
    end(box)


tap.main(globals())
