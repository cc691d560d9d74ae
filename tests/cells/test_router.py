# SPDX-License-Identifier: MIT
"""/sandbox/{name}/…: services inside of sandboxes, reached through the service. Needs root."""

import atexit
import contextlib
import gzip
import hashlib
import http.client
import os
import re
import socket
import time

import cells
import tap
from websocket import Socket

HERE = os.path.dirname(os.path.abspath(__file__))
stack = contextlib.ExitStack()
atexit.register(stack.close)
state = {}


def start_app(s, name, host="127.0.0.1", port=8080, key=""):
    with open(os.path.join(HERE, "web_app.py")) as f:
        answer = s.run(name, "cat > /tmp/web_app.py", stdin=f.read(), key=key)
    tap.equal(answer["exitCode"], 0, answer)
    answer = s.run(name, "python3 /tmp/web_app.py %s %d bg </dev/null >/tmp/app.log 2>&1"
                   % (host, port), key=key)
    tap.equal(answer["exitCode"], 0, answer)


def lab():
    """One service with a private sandbox "box", a public one, and a key that owns neither."""
    if "s" not in state:
        s = stack.enter_context(cells.running())
        s.create(name="box")
        s.create(name="open", metadata={"public": "true"})
        start_app(s, "box")
        start_app(s, "box", "::1", 3000)
        start_app(s, "open")
        state["other"] = s.make_key(account="other", role="user")["key"]
        state["s"] = s
    return state["s"]


def echo(target, method="GET", **more):
    answer = lab().request(method, target, **more)
    tap.equal(answer.status, 200, answer)
    return answer.json


def value(got, name):
    return [v for k, v in got["headers"] if k == name]


def test_any_method_reaches_the_app():
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"):
        got = echo("/sandbox/box/x/y%2Fz?y=1&b=%20+", method)
        tap.equal((got["method"], got["target"]), (method, "/x/y%2Fz?y=1&b=%20+"))
    answer = lab().request("HEAD", "/sandbox/box/x")
    tap.equal((answer.status, answer.body, answer.headers["X-App"]), (200, b"", "yes"))
    assert int(answer.headers["Content-Length"]) > 0
    tap.equal(echo("/sandbox/box/")["target"], "/")


def test_headers_tell_where_a_request_came_from():
    got = echo("/sandbox/box/", headers={"X-Forwarded-For": "192.0.2.1", "X-Mine": "1"})
    tap.equal(value(got, "x-forwarded-for"), ["192.0.2.1, 127.0.0.1"])
    tap.equal(value(got, "x-forwarded-proto"), ["http"])
    tap.equal(value(got, "x-forwarded-host"), ["%s:%d" % (lab().host, lab().port)])
    tap.equal(value(got, "x-forwarded-prefix"), ["/sandbox/box"])
    tap.equal(value(got, "host"), ["localhost:8080"])
    tap.equal(value(got, "x-mine"), ["1"])
    assert value(got, "x-request-id")[0]


def test_bodies_are_streamed_both_ways():
    body = os.urandom(3 << 20)
    digest = hashlib.sha256(body).hexdigest()
    got = echo("/sandbox/box/", "POST", body=body)
    tap.equal((got["length"], got["sha256"]), (len(body), digest))
    pieces = iter([body[:1000], body[1000:2 << 20], body[2 << 20:]])
    got = echo("/sandbox/box/", "PUT", body=pieces)
    tap.equal((got["length"], got["sha256"]), (len(body), digest))
    packed = gzip.compress(b"x" * 100)
    got = echo("/sandbox/box/", "POST", body=packed, headers={"Content-Encoding": "gzip"})
    tap.equal(got["length"], len(packed))


def test_connections_are_kept():
    s = lab()
    c = http.client.HTTPConnection(s.host, s.port, timeout=10)
    ports = set()
    for _ in range(5):
        c.request("GET", "/sandbox/box/", headers={"X-API-Key": s.key})
        tap.equal(c.getresponse().read()[:1], b"{")
        ports.add(c.sock.getsockname()[1])
    tap.equal(len(ports), 1, "connections")
    c.close()


def test_other_ports():
    got = echo("/sandbox/box/a?x=1&port=3000&y=2")
    tap.equal((got["port"], got["target"]), (3000, "/a?x=1&y=2"))
    for bad in ("0", "65536", "-1", "abc", ""):
        tap.equal(lab().get("/sandbox/box/?port=" + bad).status, 400, "status for %r" % bad)
    answer = lab().get("/sandbox/box/?port=81")
    tap.equal((answer.status, answer.json["code"]), (502, 502))
    tap.contains(answer.json["message"], "port 81")


def test_without_slash_and_unknown_names():
    answer = lab().get("/sandbox/box?a=1", key=None)
    tap.equal((answer.status, answer.headers["Location"]), (301, "/sandbox/box/?a=1"))
    answer = lab().get("/sandbox/nobody/")
    tap.equal((answer.status, answer.json), (404, {"code": 404,
                                                   "message": "sandbox nobody not found"}))


def test_keys_are_needed_and_never_seen_by_the_app():
    s = lab()
    view = cookie_of(s.get("/sandbox/box/?api_key=" + s.key, key=None))
    for name in ("box", "nobody"):
        answer = s.get("/sandbox/%s/" % name, key=None)
        tap.equal((answer.status, answer.json), (401, {"code": 401, "message": "Unauthorized"}))
        tap.equal(s.get("/sandbox/%s/" % name, key="wrong-key").status, 401)
        tap.equal(s.get("/sandbox/%s/" % name, key=state["other"]).status, 404)
    ways = [({"Authorization": "Bearer " + s.key}, ""),
            ({"X-API-Key": s.key}, ""),
            ({}, "?api_key=" + s.key),
            ({"X-API-Key": s.key, "Authorization": "Bearer " + s.key,
              "Referer": s.url + "/sandbox/box/?api_key=%s&a=1" % s.key}, "?api_key=" + s.key),
            ({"Cookie": "a=1; %s; tidepool_key=%s; b=2" % (view, s.key)}, "")]
    for headers, query in ways:
        answer = s.get("/sandbox/box/" + query, key=None, headers=headers)
        tap.equal(answer.status, 200, headers)
        assert s.key not in answer.body.decode(), (headers, answer.body)
    tap.equal(value(answer.json, "cookie"), ["a=1; b=2"])
    # The app's own credentials are none of our business.
    got = echo("/sandbox/box/", key=None,
               headers={"X-API-Key": s.key, "Authorization": "Bearer of-the-app"})
    tap.equal(value(got, "authorization"), ["Bearer of-the-app"])


def cookie_of(answer):
    return answer.headers["Set-Cookie"].split(";")[0]


PAGE = {"Accept": "text/html,*/*"}
TOKEN = r"~[0-9a-f]+\.[0-9a-f]{16}\.[0-9a-f]{64}"


def view_of(s, name, key=""):
    """The address that a browser is led to, and its cookie."""
    answer = s.get("/sandbox/%s/?api_key=%s" % (name, key or s.key), key=None, headers=PAGE)
    tap.equal(answer.status, 302, answer)
    return answer.headers["Location"], cookie_of(answer)


def test_a_key_in_the_address_becomes_a_cookie():
    s = lab()
    answer = s.get("/sandbox/box/?api_key=" + s.key, key=None)
    cookie = answer.headers["Set-Cookie"]
    assert re.fullmatch("tidepool_view=%s; Path=/sandbox/box/; HttpOnly; SameSite=Strict"
                        % TOKEN[1:], cookie), cookie
    tap.equal(s.get("/sandbox/box/asset", key=None,
                    headers={"Cookie": cookie.split(";")[0]}).status, 200)
    tap.contains(s.get("/sandbox/box/?api_key=" + s.key, key=None,
                       headers={"X-Forwarded-Proto": "https"}).headers["Set-Cookie"],
                 "; Path=/sandbox/box/; HttpOnly; SameSite=Strict; Secure")
    # A browser is sent to an address that scripts may read.
    for path, headers in (("p/q?x=1&api_key=%s&port=8080" % s.key, PAGE),
                          ("p/q?x=1&port=8080", {**PAGE, "Cookie": cookie.split(";")[0]})):
        answer = s.get("/sandbox/box/" + path, key=None, headers=headers)
        tap.equal((answer.status, answer.headers["Cache-Control"]), (302, "no-store"))
        at = "/sandbox/box/%s/p/q\\?x=1&port=8080" % TOKEN
        assert re.fullmatch(at, answer.headers["Location"]), answer.headers["Location"]
        got = s.get(answer.headers["Location"], key=None)
        tap.equal((got.status, got.json["target"]), (200, "/p/q?x=1"))
        tap.equal(value(got.json, "x-forwarded-prefix"),
                  [re.match("/sandbox/box/" + TOKEN, answer.headers["Location"])[0]])
    assert s.get("/sandbox/box/?api_key=wrong", key=None).headers["Set-Cookie"] is None


def test_a_view_is_of_one_sandbox():
    s = lab()
    s.create(name="next")
    start_app(s, "next")
    place, cookie = view_of(s, "box")
    tap.equal(s.get(place, key=None).status, 200)
    for path in (place.replace("/box/", "/next/"), place.replace("/box/", "/nobody/"),
                 re.sub(r"~[0-9a-f]", "~f", place), place[:-2] + "0/", place[:-2] + "1/"):
        if path != place:
            tap.equal(s.get(path, key=None).status, 401, path)
    for name in ("next", "nobody"):
        tap.equal(s.get("/sandbox/%s/" % name, key=None, headers={"Cookie": cookie}).status, 401)
    # The API takes neither.
    for headers in ({"Cookie": cookie}, {"Authorization": "Bearer " + cookie.split("=")[1]},
                    {"Cookie": "tidepool_key=" + s.key}):
        tap.equal(s.get("/api/v1/sandbox", key=None, headers=headers).status, 401, headers)
    # Another one of that name does not keep the viewer out, and one of another name lets nobody in.
    both = {"Cookie": "tidepool_view=x; %s; tidepool_view=y" % cookie}
    tap.equal(s.get("/sandbox/box/", key=None, headers=both).status, 200)
    tap.equal(s.get("/sandbox/box/", key=None, headers={"Cookie": "tidepool_key=" + s.key}).status,
              401)
    # It ends with its sandbox, though another one gets the name.
    place, cookie = view_of(s, "next")
    tap.equal(s.remove("next").status, 200)
    s.create(name="next")
    start_app(s, "next")
    tap.equal(s.get(place, key=None).status, 401)
    tap.equal(s.get("/sandbox/next/", key=None, headers={"Cookie": cookie}).status, 401)
    tap.equal(s.remove("next").status, 200)


def test_a_view_ends_with_its_key():
    s = lab()
    made = s.make_key(account="viewer", role="user")
    s.create(name="theirs", key=made["key"])
    start_app(s, "theirs", key=made["key"])
    place, cookie = view_of(s, "theirs", made["key"])
    tap.equal(s.get(place, key=None).status, 200)
    tap.equal(s.delete("/api/v1/keys/" + made["id"]).status, 200)
    tap.equal(s.get(place, key=None).status, 401)
    tap.equal(s.get("/sandbox/theirs/", key=None, headers={"Cookie": cookie}).status, 401)


def test_views_are_not_logged():
    s = lab()
    place, _ = view_of(s, "box")
    tap.equal(s.get(place + "logged-here", key=None).status, 200)
    log = s.log_with("logged-here")
    tap.contains(log, "/sandbox/box/~***/logged-here")
    assert place.split("/")[3] not in log, place


def test_a_cookie_counts_for_its_own_origin_alone():
    s = lab()
    _, cookie = view_of(s, "box")
    host, other = "http://%s:%d" % (s.host, s.port), "http://8080-x.pool.test"
    browser = {"User-Agent": "Mozilla/5.0 (X11)"}
    for headers, status in (({}, 200), ({"Origin": host}, 200), ({"Origin": other}, 401),
                            ({"Origin": "null"}, 401), ({"Sec-Fetch-Site": "same-origin"}, 200),
                            ({"Sec-Fetch-Site": "same-site"}, 401),
                            ({"Sec-Fetch-Site": "cross-site"}, 401),
                            ({"Sec-Fetch-Site": "cross-site", **PAGE}, 401),
                            ({"Sec-Fetch-Site": "none", **PAGE}, 302),
                            (browser, 401), ({**browser, **PAGE}, 302)):
        answer = s.get("/sandbox/box/", key=None, headers={"Cookie": cookie, **headers})
        tap.equal(answer.status, status, headers)


POLICY = "sandbox allow-scripts "


def test_pages_have_no_origin():
    """Whatever a sandbox answers on an address that it shares with others."""
    s = lab()
    id = s.show("box").json["data"]["id"]
    place, _ = view_of(s, "box")
    by_headers = {"E2b-Sandbox-Id": id, "E2b-Sandbox-Port": "8080"}
    for path, headers in (("/sandbox/box/page", {}), (place + "page", {}), (place + "packed", {}),
                          ("/sandbox/open/page", {}), ("/", by_headers),
                          ("/sandboxes/router/%s/8080/page" % id, {}),
                          ("/sandboxes/router/%s/81/" % id, {}),
                          ("/api/v1/sandbox/files/box/download?path=/tmp/web_app.py", {}),
                          ("/api/v1/logs/sandbox/box", {})):
        policies = s.get(path, headers=headers).headers.get_all("Content-Security-Policy") or []
        ours = [x for x in policies if x.startswith(POLICY)]
        assert len(ours) == 1 and "allow-same-origin" not in ours[0], (path, policies)
    tap.equal(s.get("/", headers=by_headers).headers["Vary"], "E2b-Sandbox-Id, E2b-Sandbox-Port")
    own = s.get("/page", key=None, headers={"Host": "8080-%s.localhost" % id}).headers
    tap.equal((own["Content-Security-Policy"], own["Vary"]), (None, None))


def test_pages_without_an_origin_ask_their_own_sandbox():
    s = lab()
    id = s.show("box").json["data"]["id"]
    place, _ = view_of(s, "box")
    allowed, credentials = "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"
    for path, origin, want in ((place, "null", ("null", "true")),
                               ("/sandboxes/router/%s/8080/" % id, "null", ("null", "true")),
                               ("/sandbox/open/", "null", ("null", None)),
                               (place, "http://elsewhere.test", (None, None)),
                               ("/sandbox/box/", "null", (None, None))):
        for more in ("", "nothing?port=81"):
            got = s.get(path + more, key=None if path != "/sandbox/box/" else "",
                        headers={"Origin": origin}).headers
            if not more:
                tap.equal((got[allowed], got[credentials]), want, (path, origin))
            assert len(got.get_all(allowed) or []) <= 1, (path, more)
    # Questions before a request are answered here: the service is not asked.
    ask = {"Origin": "null", "Access-Control-Request-Method": "PUT",
           "Access-Control-Request-Headers": "x-a, content-type"}
    answer = s.request("OPTIONS", place + "x", key=None, headers=ask)
    tap.equal((answer.status, answer.headers["Access-Control-Allow-Methods"],
               answer.headers["Access-Control-Allow-Headers"], answer.headers["X-App"]),
              (204, "PUT", "x-a, content-type", None))
    tap.equal(s.request("OPTIONS", "/sandbox/box/x", key=None, headers=ask).status, 401)


def test_answers_change_nothing_for_others():
    s = lab()
    id = s.show("box").json["data"]["id"]
    place, _ = view_of(s, "box")
    whole = ("Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "NEL", "Report-To",
             "Service-Worker-Allowed")
    router = "/sandboxes/router/%s/8080" % id
    for path, top in (("/sandbox/box/", "/sandbox/box"), (place, "/sandbox/box"),
                      (router + "/", router)):
        got = s.get(path + "reaching").headers
        tap.equal([got[x] for x in whole], [None] * len(whole), path)
        tap.equal(got.get_all("Set-Cookie"),
                  ["root=1; Path=%s/; HttpOnly" % top, "deep=1; Path=%s/x" % top,
                   "other=1; Path=%s/sandbox/boxes/" % top, "up=1; Secure", "bare=1"], path)
    got = s.get("/reaching", key=None, headers={"Host": "8080-%s.localhost" % id}).headers
    tap.equal([x for x in whole if got[x]], list(whole[1:]))
    tap.equal(got.get_all("Set-Cookie"),
              ["root=1; Path=/; HttpOnly", "deep=1; path=/x", "other=1; Path=/sandbox/boxes/",
               "up=1; Secure", "bare=1"])


def test_browsers_are_led_to_the_sandboxs_own_host():
    s = lab()
    id = s.show("box").json["data"]["id"]
    _, cookie = view_of(s, "box")
    want = "//8080-%s.localhost" % id
    for host, port in (("localhost:%d" % s.port, ":%d" % s.port), ("localhost", ""),
                       ("API.localhost", "")):
        for name, headers, query in (("box", {}, "api_key=" + s.key),
                                     ("box", {"Cookie": cookie}, ""), ("open", {}, "")):
            answer = s.get("/sandbox/%s/a/b?x=1&%s" % (name, query), key=None,
                           headers={"Host": host, **PAGE, **headers})
            led = want.replace(id, s.show(name).json["data"]["id"]) + port + "/a/b?x=1"
            tap.equal((answer.status, answer.headers["Location"].rstrip("&")), (302, led))
    answer = s.get("/sandbox/box/?port=3000&api_key=" + s.key, key=None,
                   headers={"Host": "localhost", **PAGE})
    tap.equal(answer.headers["Location"], "//3000-%s.localhost/" % id)
    # Not programs, not what a page loads, not by an address, nor by a name of somebody else's.
    for host, more, key in (("localhost", PAGE, ""), ("localhost", {"Accept": "*/*"}, ""),
                            ("127.0.0.1", {**PAGE, "Cookie": cookie}, None),
                            ("notlocalhost", {**PAGE, "Cookie": cookie}, None)):
        answer = s.get("/sandbox/box/", key=key, headers={"Host": host, **more})
        tap.equal(answer.status, 200 if key == "" else 302, (host, more))
        assert "//" not in (answer.headers["Location"] or ""), answer.headers["Location"]


def test_a_cell_cannot_set_the_cookie_of_keys():
    """Else a page could make a browser look at others' sandboxes with a key of its choice."""
    s = lab()
    id = s.show("box").json["data"]["id"]
    for path, headers in (("/sandbox/box/cookies", {}),
                          ("/cookies", {"E2b-Sandbox-Id": id, "E2b-Sandbox-Port": "8080",
                                        "Cookie": "tidepool_key=" + s.key})):
        answer = s.get(path, headers=headers)
        tap.equal(answer.status, 200, answer)
        tap.equal(answer.headers.get_all("Set-Cookie"),
                  ["own=1; Path=" + ("/sandbox/box/" if path.startswith("/sandbox/") else "/")])
    headers = {"E2b-Sandbox-Id": id, "E2b-Sandbox-Port": "8080",
               "Cookie": "a=1; tidepool_key=" + s.key}
    tap.equal(value(s.get("/", headers=headers).json, "cookie"), ["a=1"])


def test_two_names_of_a_sandbox_are_refused():
    s = lab()
    id = s.show("box").json["data"]["id"]
    for twice in ("E2b-Sandbox-Id", "E2b-Sandbox-Port"):
        connection = s.connect(30)
        connection.putrequest("GET", "/")
        for name, text in (("E2b-Sandbox-Id", id), ("E2b-Sandbox-Port", "8080"),
                           (twice, id if twice == "E2b-Sandbox-Id" else "8080")):
            connection.putheader(name, text)
        connection.endheaders()
        answer = connection.getresponse()
        tap.equal(answer.status, 400, twice)
        tap.contains(answer.read().decode(), "more than one header " + twice)
        connection.close()


def test_a_cookie_over_tls_has_a_name_that_only_tls_sets():
    s = lab()
    answer = s.get("/sandbox/box/?api_key=" + s.key, key=None,
                   headers={"X-Forwarded-Proto": "https"})
    cookie = cookie_of(answer)
    assert cookie.startswith("__Secure-tidepool_view="), cookie
    got = s.get("/sandbox/box/", key=None, headers={"Cookie": cookie + "; a=1"})
    tap.equal((got.status, value(got.json, "cookie")), (200, ["a=1"]))


def test_mcp_of_a_port_is_the_services():
    got = echo("/sandbox/box/mcp?port=8080", "POST", body=b"{}")
    tap.equal((got["method"], got["target"]), ("POST", "/mcp"))


def test_public_sandboxes_are_open():
    tap.equal(lab().get("/sandbox/open/", key=None).status, 200)
    got = echo("/sandbox/open/", key="of-the-app")
    tap.equal(value(got, "authorization"), ["Bearer of-the-app"])
    got = echo("/sandbox/open/", key=state["other"])
    tap.equal(value(got, "authorization"), [])


def test_pages_get_a_base():
    answer = lab().get("/sandbox/box/page")
    tap.contains(answer.body.decode(), '<head><base href="/sandbox/box/"><title>page</title>')
    # Links of a page of another port lead to that port again.
    answer = lab().get("/sandbox/box/page?port=3000")
    tap.contains(answer.body.decode(), '<head><base href="/sandbox/box/~3000/"><title>page</title>')
    answer = lab().get("/sandbox/box/~3000/page")
    tap.contains(answer.body.decode(), '<head><base href="/sandbox/box/~3000/"><title>page</title>')
    got = echo("/sandbox/box/~3000/a/b?x=1")
    tap.equal((got["port"], got["target"]), (3000, "/a/b?x=1"))
    got = echo("/sandbox/box/~65536/a")
    tap.equal((got["port"], got["target"]), (8080, "/~65536/a"))
    answer = lab().get("/sandbox/box/packed")
    tap.equal(answer.headers["Content-Encoding"], "gzip")
    assert b"<base" not in gzip.decompress(answer.body)
    answer = lab().get("/sandbox/box/headless")
    tap.equal(answer.body, b"<p>no head here</p>" * 10)


def test_events_come_at_once():
    s = lab()
    c = http.client.HTTPConnection(s.host, s.port, timeout=10)
    c.request("GET", "/sandbox/box/events", headers={"X-API-Key": s.key})
    answer = c.getresponse()
    times = []
    for i in range(3):
        tap.equal(answer.readline(), b"data: %d\n" % i)
        answer.readline()
        times.append(time.monotonic())
    tap.equal(answer.read(), b"")
    assert times[2] - times[0] > 0.6, times
    c.close()


def test_websockets_pass_through():
    s = lab()
    w = Socket(s, "/sandbox/box/socket", "X-API-Key: %s\r\n" % s.key)
    tap.equal((w.status, w.is_accepted), (101, True))
    for data in (b"hello", b"x" * 60000, "ünicode".encode()):
        w.send(data)
        tap.equal(w.receive(), (1, data))
    w.send(b"\x03\xe8", 8)
    tap.equal(w.receive()[0], 8)
    tap.equal(w.receive()[0], None)
    w.close()
    w = Socket(s, "/sandbox/box/socket?api_key=" + s.key)
    tap.equal(w.status, 101)
    w.close()
    tap.equal(Socket(s, "/sandbox/box/socket").status, 401)
    tap.equal(Socket(s, "/sandbox/box/socket?port=81", "X-API-Key: %s\r\n" % s.key).status, 502)


def test_a_part_of_an_answer_is_not_taken_for_all():
    try:
        answer = lab().get("/sandbox/box/cut")
    except (http.client.IncompleteRead, ConnectionResetError):
        return
    raise AssertionError("complete: %r" % answer)


def test_clients_that_leave_stop_the_app():
    s = lab()
    rss = cells_rss(s)
    with socket.create_connection((s.host, s.port)) as c:
        c.sendall(("GET /sandbox/box/flood HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n"
                   % s.key).encode())
        assert c.recv(1000).startswith(b"HTTP/1.1 200")
        time.sleep(1)
        # The client does not read: little is kept for it.
        assert cells_rss(s) - rss < 16 << 20, cells_rss(s) - rss
    s.until(lambda: s.run("box", "cat /tmp/flood-ended")["output"] == "yes")


def cells_rss(s):
    with open("/proc/%d/statm" % s.process.pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_at_once():
    s = lab()
    connections = []
    for _ in range(60):
        c = http.client.HTTPConnection(s.host, s.port, timeout=30)
        c.request("GET", "/sandbox/box/", headers={"X-API-Key": s.key})
        connections.append(c)
    for c in connections:
        answer = c.getresponse()
        tap.equal((answer.status, answer.read()[:1]), (200, b"{"))
        c.close()


def test_paused_sandboxes():
    s = lab()
    s.create(name="sleepy")
    s.create(name="waking", autoResume=True)
    for name in ("sleepy", "waking"):
        start_app(s, name)
        tap.equal(s.post("/api/v1/sandbox/pause/" + name).status, 200)
    tap.equal(s.get("/sandbox/sleepy/").status, 409)
    tap.equal(s.get("/sandbox/waking/").status, 200)
    tap.equal(s.show("waking").json["data"]["status"], "running")


def test_names_of_servers_belong_to_the_other_surface():
    s = lab()
    for path, status, text in (("/sandbox/github/x", 404, "Sandbox x not found"),
                               ("/sandbox/google_sheets/x/reset", 405, "Method Not Allowed"),
                               ("/sandbox/jira", 405, "Method Not Allowed"),
                               ("/sandbox/jira/x/nowhere", 404, "Not Found")):
        answer = s.get(path)
        tap.equal((answer.status, answer.json), (status, {"detail": text}), path)
    tap.equal(s.post("/sandbox/nobody").status, 422)
    for name in ("github", "jira", "12306"):
        tap.equal(s.post("/api/v1/sandbox", {"name": name}).status, 400)


def test_a_deleted_sandbox_ends_its_connections():
    s = lab()
    w = Socket(s, "/sandbox/open/socket")
    tap.equal(w.status, 101)
    tap.equal(s.remove("open").status, 200)
    try:
        tap.equal(w.receive()[0], None)
    except ConnectionResetError:
        pass
    w.close()
    tap.equal(s.get("/sandbox/open/").status, 404)


def test_the_service_stops_in_order():
    """With a tunnel and an answer under way."""
    s = lab()
    w = Socket(s, "/sandbox/box/socket?api_key=" + s.key)
    tap.equal(w.status, 101)
    c = socket.create_connection((s.host, s.port))
    c.sendall(("GET /sandbox/box/flood HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n\r\n"
               % s.key).encode())
    c.recv(1000)
    stack.close()
    w.close()
    c.close()


tap.main(globals())
