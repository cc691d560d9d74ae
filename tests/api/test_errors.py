# SPDX-License-Identifier: MIT
"""What is refused, and in which shape: each surface has its own."""

import json
import socket

import service
import tap


def code(status, text=None):
    def check(answer):
        tap.equal(answer.status, status)
        tap.equal(answer.headers["Content-Type"], "application/json")
        tap.equal(sorted(answer.json), ["code", "message"])
        tap.equal(answer.json["code"], status)
        if text is not None:
            tap.equal(answer.json["message"], text)
    return check


def detail(status, text):
    def check(answer):
        tap.equal((answer.status, answer.json), (status, {"detail": text}))
    return check


def rpc(status, number):
    def check(answer):
        tap.equal(answer.status, status)
        tap.equal(sorted(answer.json), ["error", "id", "jsonrpc"])
        tap.equal((answer.json["id"], answer.json["error"]["code"]), (None, number))
    return check


def test_unknown_paths():
    with service.running() as s:
        for path, check in [
                ("/nowhere", code(404, "no such path")),
                ("/", code(404)),
                ("/api/v1/nowhere", code(404, "no such path")),
                ("/api/v1", code(404)),
                ("/api/v1x", code(404)),
                ("/e2b/v1/nowhere", code(404, "no such path")),
                ("/sandbox/nowhere/at/all", code(404, "sandbox nowhere not found")),
                ("/sandbox/github/at/all", detail(404, "Not Found")),
                ("/local-sandbox/x/nowhere", detail(404, "Not Found")),
                ("/mcp/x", rpc(404, -32000))]:
            check(s.get(path))


def test_without_a_key_on_every_surface():
    with service.running() as s:
        for path, check in [("/api/v1/x", code(401, "Unauthorized")),
                            ("/e2b/v1/x", code(401, "Unauthorized")),
                            ("/mcp", rpc(401, -32000)),
                            ("/metrics", code(401, "Unauthorized"))]:
            answer = s.get(path, key=None)
            check(answer)
            tap.equal(answer.headers["WWW-Authenticate"], "Bearer")


def test_other_methods():
    with service.running() as s:
        for method, path, allow in [
                ("POST", "/api/v1/events", "GET, HEAD, OPTIONS"),
                ("DELETE", "/api/v1/keys", "GET, HEAD, POST, OPTIONS"),
                ("GET", "/api/v1/keys/x", "DELETE, OPTIONS"),
                ("PURGE", "/api/v1/keys", "GET, HEAD, POST, OPTIONS"),
                ("POST", "/metrics", "GET, HEAD, OPTIONS")]:
            answer = s.request(method, path)
            code(405, "method not allowed")(answer)
            tap.equal(answer.headers["Allow"], allow)


def test_bad_bodies():
    with service.running() as s:
        for body, status in [("{", 400), ("[1,]", 400), ("nope", 400), ('{"name":1}', 400),
                             ('"text"', 400), ("[]", 400), ('{"role":"king"}', 400),
                             ('{"account":"No Spaces"}', 400), ('{"limits":{"max_rps":-1}}', 400),
                             ('{"limits":{"max_rps":"9"}}', 400), ('{"limits":7}', 400),
                             ('{"name":"%s"}' % ("x" * 101), 400), ("{}{}", 400),
                             ("", 200), ("  ", 200), ("{}", 200),
                             ('{"name":null,"unknown":[1,2]}', 400), ('{"name":null}', 200),
                             ('{"name":"%s"}' % ("x" * 100), 200)]:
            answer = s.post("/api/v1/keys", body)
            tap.equal(answer.status, status, body)
            if status == 400:
                code(400)(answer)
        # The content type is not looked at: curl's default works.
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        tap.equal(s.post("/api/v1/keys", "{}", headers=form).status, 200)
        answer = s.post("/api/v1/keys", "{")
        assert answer.json["message"].startswith("failed to decode request body: "), answer


def test_large_bodies():
    with service.running() as s:
        pad = 65536 - len('{"name":""}')
        tap.equal(s.post("/api/v1/keys", '{"name":"%s"}' % ("x" * pad)).status, 400)
        code(413)(s.post("/api/v1/keys", '{"name":"%s"}' % ("x" * (pad + 1))))
        code(413)(s.request("POST", "/api/v1/keys", body=iter([b"x" * 40000] * 2)))


def test_content_encoding():
    with service.running() as s:
        for coding, status in (("gzip", 415), ("br", 415), ("identity", 200)):
            answer = s.post("/api/v1/keys", "{}", headers={"Content-Encoding": coding})
            tap.equal(answer.status, status, coding)


def raw(s, data):
    """Sends bytes; the answer's status and parsed body."""
    with socket.create_connection((s.host, s.port), timeout=10) as c:
        c.sendall(data)
        text = b""
        while True:
            part = c.recv(65536)
            if not part:
                break
            text += part
    head, _, body = text.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_faults_that_the_server_finds():
    with service.running() as s:
        end = b"Host: x\r\nConnection: close\r\n\r\n"
        tap.equal(raw(s, b"GET / HTTP/1.1\r\nBad Header: x\r\n" + end)[0], 400)
        tap.equal(raw(s, b"GET /%s HTTP/1.1\r\n" % (b"x" * 9000) + end)[0], 414)
        status, body = raw(s, b"GET / HTTP/1.1\r\nX: %s\r\n" % (b"x" * 70000) + end)
        tap.equal((status, body["code"]), (431, 431))
        tap.equal(raw(s, b"GET / HTTP/3.0\r\n" + end)[0], 505)
        tap.equal(s.get("/healthz").status, 200)


def test_paths_with_tricks():
    with service.running() as s:
        end = b" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.key.encode() + \
            b"\r\nConnection: close\r\n\r\n"
        for path, status in [(b"/api/v1/../../healthz", 400), (b"/api/v1/%2e%2e/keys", 400),
                             (b"/./healthz", 400), (b"/api/v1/keys/%00", 400),
                             (b"/api/v1/keys/%zz", 400), (b"/api/v1%2fkeys", 404),
                             (b"//api/v1/keys", 404), (b"/api/v1//keys", 404),
                             (b"/%61pi/v1/keys", 200), (b"/api/v1/keys/", 200),
                             (b"/healthz/", 200)]:
            tap.equal(raw(s, b"GET " + path + end)[0], status, path)


def test_missing_things():
    with service.running() as s:
        code(404, "key nope not found")(s.delete("/api/v1/keys/nope"))
        code(404, "key a/b not found")(s.delete("/api/v1/keys/a%2Fb"))


def test_without_cells():
    """Where sandboxes cannot be made the rest is served, and a create says why."""
    with service.running() as s:
        answer = s.post("/api/v1/sandbox", {"name": "a"})
        tap.equal((answer.status, answer.json),
                  (503, {"code": 503, "message": "sandboxes are disabled (cells.enabled)"}))
        tap.equal(s.get("/api/v1/sandbox").json, {"code": "0", "data": []})
        tap.equal(s.get("/api/v1/sandbox/a").status, 404)
        tap.contains(s.log(), "no sandboxes")


tap.main(globals())
