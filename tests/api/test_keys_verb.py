# SPDX-License-Identifier: MIT
"""tidepool keys: the same with a running service and without one."""

import json
import os

import service
import tap


def run(state, *arguments):
    status, out, err = service.tidepool("keys", *arguments, "--state", state)
    return status, out, err


def make(state, *arguments):
    status, out, err = run(state, "create", "--json", *arguments)
    assert status == 0, err
    return json.loads(out)


def ids(state, *arguments):
    status, out, err = run(state, "ls", "--json", *arguments)
    assert status == 0, err
    return [k["id"] for k in json.loads(out)]


def check_all(state):
    """What holds in both cases; returns a valid key."""
    made = make(state, "--account", "alice", "--name", "laptop", "--max-rps", "7")
    tap.equal((made["account"], made["role"], made["name"]), ("alice", "user", "laptop"))
    tap.equal(made["limits"]["max_rps"], 7)
    assert made["key"].startswith("e2b_") and len(made["key"]) == 44, made
    assert made["id"] in ids(state)
    tap.equal(ids(state, "--account", "alice")[-1:], [made["id"]])
    tap.equal(ids(state, "--account", "no body"), [])

    status, out, _ = run(state, "ls")
    tap.equal(status, 0)
    tap.contains(out, made["id"])
    assert made["key"] not in out
    status, out, _ = run(state, "create", "--role", "system", "--name", "for people")
    tap.equal(status, 0)
    tap.contains(out, "Key      e2b_")
    tap.contains(out, "system (system)")

    gone = make(state)
    status, out, _ = run(state, "revoke", gone["id"])
    tap.equal((status, out), (0, "Key %s is revoked.\n" % gone["id"]))
    assert gone["id"] not in ids(state)
    assert gone["id"] in ids(state, "--all")
    for bad in (gone["id"], "nope", "a/b"):
        status, _, err = run(state, "revoke", bad)
        tap.equal(status, 1, bad)
        tap.contains(err, "not found")
    status, _, err = run(state, "create", "--account", "alice", "--role", "system")
    tap.equal(status, 1)
    tap.contains(err, "account 'alice' has the role user")
    tap.equal(run(state, "create", "--account", "Not Valid")[0], 1)
    tap.equal(run(state, "create", "--role", "king")[0], 2)
    return made, gone


def test_with_a_service():
    with service.running() as s:
        made, gone = check_all(s.state)
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=gone["key"]).status, 401)


def test_without_a_service():
    with service.folder() as path:
        state = os.path.join(path, "state")
        made, gone = check_all(state)
        s = service.Service(state)
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=gone["key"]).status, 401)
        tap.equal(s.stop(), 0)
        status, out, _ = service.tidepool("audit", "verify", "--state", state)
        tap.equal(status, 0)


def test_after_a_crash():
    """The socket of a killed service is still there, and nobody behind it."""
    with service.running() as s:
        s.kill()
        made = make(s.state)
        s.start()
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)


def test_with_tls():
    with service.folder() as path:
        cert, key = os.path.join(path, "cert.pem"), os.path.join(path, "key.pem")
        assert os.system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                         "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost "
                         "-keyout %s -out %s 2>/dev/null" % (key, cert)) == 0
        with service.running("--tls-cert", cert, "--tls-key", key) as s:
            tap.contains(s.url, "https://")
            made = make(s.state)
            import http.client
            import ssl
            context = ssl.create_default_context(cafile=cert)
            c = http.client.HTTPSConnection("localhost", s.port, context=context, timeout=10)
            c.request("GET", "/api/v1/events", headers={"X-API-Key": made["key"]})
            tap.equal(c.getresponse().status, 200)
            c.close()


tap.main(globals())
