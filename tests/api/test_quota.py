# SPDX-License-Identifier: MIT
"""Limits of a key: off by default, 429 with Retry-After where they are set."""

import socket
import time

import service
import tap


def burst(s, n, **more):
    return [s.get("/api/v1/events?limit=1", **more) for _ in range(n)]


def test_off_by_default():
    with service.running() as s:
        tap.equal({a.status for a in burst(s, 60)}, {200})


def test_requests_a_second():
    with service.running() as s:
        slow = s.make_key(limits={"max_rps": 3})["key"]
        refused = [a for a in burst(s, 20, key=slow) if a.status == 429]
        assert len(refused) >= 5, len(refused)
        answer = refused[0]
        assert int(answer.headers["Retry-After"]) >= 1, answer.headers
        tap.equal(answer.json["code"], 429)
        tap.contains(answer.json["message"], "rate limit exceeded")
        # Others are not touched, and it passes.
        tap.equal({a.status for a in burst(s, 20)}, {200})
        time.sleep(1.1)
        tap.equal(s.get("/api/v1/events", key=slow).status, 200)


def test_shapes_of_other_surfaces():
    with service.running() as s:
        slow = s.make_key(limits={"max_rps": 1})["key"]
        for path, read in (("/e2b/v1/sandboxes", lambda j: j["code"]),
                           ("/mcp", lambda j: j["error"]["code"])):
            time.sleep(1.1)
            answers = [s.get(path, key=slow) for _ in range(4)]
            refused = [a for a in answers if a.status == 429]
            assert refused, answers
            assert read(refused[0].json) in (429, -32000)
            assert "Retry-After" in refused[0].headers


def test_defaults_come_from_the_configuration():
    env = {"TIDEPOOL_QUOTA_MAX_RPS": "2"}
    with service.running(env=env) as s:
        # The first key has no limits, so that the operator is never locked out.
        tap.equal({a.status for a in burst(s, 20)}, {200})
        assert 429 in {a.status for a in burst(s, 20, key=s.make_key()["key"])}
        own = s.make_key(limits={"max_rps": 0})["key"]
        tap.equal({a.status for a in burst(s, 20, key=own)}, {200})


def test_creates_under_way():
    with service.running() as s:
        key = s.make_key(role="system", limits={"max_creates": 2})["key"]
        head = ("POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                "Content-Length: 2\r\n\r\n" % key).encode()
        held = [socket.create_connection((s.host, s.port), timeout=10) for _ in range(2)]
        for c in held:
            c.sendall(head)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            answer = s.post("/api/v1/keys", {}, key=key)
            if answer.status == 429:
                break
            time.sleep(0.05)
        tap.equal(answer.status, 429)
        tap.contains(answer.json["message"], "(2/2), please retry later")
        assert "Retry-After" in answer.headers
        tap.equal(s.get("/api/v1/keys", key=key).status, 200)
        for c in held:
            c.sendall(b"{}")
            assert c.recv(65536).startswith(b"HTTP/1.1 200"), "held create"
            c.close()
        tap.equal(s.post("/api/v1/keys", {}, key=key).status, 200)
        # A client that leaves gives its place back.
        c = socket.create_connection((s.host, s.port), timeout=10)
        c.sendall(head)
        time.sleep(0.1)
        c.close()
        time.sleep(0.2)
        tap.equal([s.post("/api/v1/keys", {}, key=key).status for _ in range(4)], [200] * 4)


tap.main(globals())
