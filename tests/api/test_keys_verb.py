# SPDX-License-Identifier: MIT
"""tidepool keys, audit and app new: with a service by its address or by its state directory, and on
the state directory of one that is stopped. Where no service is meant nothing is made."""

import json
import os
import shutil
import subprocess

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
    tap.equal((status, out), (0, "Key %s was revoked.\n" % gone["id"]))
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
    tap.equal(make(state, "--role", "grader", "--grades", "alice")["grades"], "alice")
    status, _, err = run(state, "create", "--role", "grader")
    tap.equal(status, 1)
    tap.contains(err, "requires 'grades'")
    tap.equal(run(state, "create", "--grades", "alice")[0], 1)
    return made, gone


def test_with_a_service():
    with service.running() as s:
        made, gone = check_all(s.state)
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=gone["key"]).status, 401)


def test_without_a_service():
    with service.folder() as path:
        state = os.path.join(path, "state")
        s = service.Service(state)
        tap.equal(s.stop(), 0)
        made, gone = check_all(state)
        s.start()
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=gone["key"]).status, 401)
        tap.equal(s.stop(), 0)
        status, out, _ = service.tidepool("audit", "verify", "--state", state)
        tap.equal(status, 0)


def test_by_address():
    """The URL of the environment counts, and no store is made anywhere else."""
    with service.running() as s, service.folder() as path:
        other = os.path.join(path, "other")
        env = {"TIDEPOOL_URL": s.url, "TIDEPOOL_API_KEY": s.key, "TIDEPOOL_STATE": other}

        def call(*words, status=0):
            got, out, err = service.tidepool(*words, env=env)
            tap.equal(got, status, "%s: %s" % (" ".join(words), err))
            return out if status == 0 else err

        made = json.loads(call("keys", "create", "--json", "--account", "ada"))
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200, "the new key")
        tap.contains(call("keys", "ls"), made["id"])
        call("keys", "revoke", made["id"])
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 401, "the revoked key")
        tap.contains(call("audit", "verify"), "The chain is intact: ")
        tap.equal(json.loads(call("audit", "verify", "--json"))["ok"], True)
        lines = [json.loads(x) for x in call("audit", "ls", "--json").splitlines()]
        tap.equal([x["reason"] for x in lines if x["object"] == made["id"]],
                  ["KeyCreated", "KeyRevoked"])
        tap.equal([x["seq"] for x in lines], sorted(x["seq"] for x in lines), "the order")
        last = lines[-1]["seq"]
        tap.equal(call("audit", "ls", "--after", str(last)), "")
        tap.contains(call("audit", "ls", "--limit", "1"), "%d  " % last)
        own = os.path.join(s.state, "apps", "own", "mine")
        tap.contains(call("app", "new", "mine"), own)
        assert os.path.exists(os.path.join(own, "app.json")), own
        tap.contains(call("app", "ls"), "mine ")
        tap.contains(call("app", "show", "mine"), own)
        tap.contains(call("app", "new", "mine", status=1), "exists already")
        tap.contains(call("app", "show", "nowhere", status=1), "nowhere")
        tap.contains(call("keys", "revoke", "nope", status=1), "not found")
        assert not os.path.exists(other), os.listdir(other)

        env["TIDEPOOL_API_KEY"] = "e2b_" + 40 * "0"
        tap.contains(call("keys", "ls", status=1), "rejected the key")
        del env["TIDEPOOL_API_KEY"]
        tap.contains(call("keys", "ls", status=2), "requires a key")
        # A flag is stronger than the environment.
        tap.contains(call("keys", "ls", "--state", s.state), "made at the first start")
        user = s.make_key(account="bob")
        env["TIDEPOOL_API_KEY"] = user["key"]
        for words in (("keys", "ls"), ("audit", "ls"), ("audit", "verify"), ("app", "new", "x")):
            tap.contains(call(*words, status=1), "system")


def test_no_service_is_no_place():
    """A state directory that no service made is refused, and stays as it was."""
    with service.folder() as path:
        missing = os.path.join(path, "missing")
        for words in (("keys", "create"), ("keys", "ls"), ("keys", "revoke", "x"),
                      ("audit", "verify"), ("audit", "ls"), ("app", "new", "mine")):
            status, out, err = service.tidepool(*words, "--state", missing)
            tap.equal((status, out), (1, ""), " ".join(words))
            tap.contains(err, "no service has used the state directory '%s'" % missing)
        assert not os.path.exists(missing)


def test_the_default_place_needs_a_service():
    """Without a word on where, a stopped service's store is not written to."""
    with service.folder() as path:
        program = shutil.copy(service.PROGRAM, path)
        os.chmod(path, 0o755)
        home = os.path.join(path, "home")
        os.mkdir(home)
        os.chown(home, 65534 if os.geteuid() == 0 else -1, -1)

        def be_nobody():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        for words in (("keys", "create"), ("app", "new", "mine"), ("audit", "verify")):
            p = subprocess.run([program, *words], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                               env=service.clean_env({"HOME": home}), preexec_fn=be_nobody,
                               cwd="/")
            tap.equal((p.returncode, p.stdout), (1, ""), " ".join(words))
            tap.contains(p.stderr, "no service is running on the state directory '%s" % home)
        tap.equal(os.listdir(home), [])


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
