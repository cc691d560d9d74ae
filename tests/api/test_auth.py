# SPDX-License-Identifier: MIT
"""Who may do what: where keys are read, which tokens are the same, roles."""

import os

import service
import tap

EVENTS = "/api/v1/events"
UNAUTHORIZED = {"code": 401, "message": "Unauthorized"}
HEX = service.SEED_TOKEN[4:]


def status(s, headers=None, path=EVENTS):
    return s.get(path, key=None, headers=headers).status


def test_without_a_key():
    with service.running() as s:
        answer = s.get(EVENTS, key=None)
        tap.equal((answer.status, answer.json), (401, UNAUTHORIZED))
        tap.equal(answer.headers["WWW-Authenticate"], "Bearer")
        tap.equal(answer.headers["Content-Type"], "application/json")
        tap.equal(s.get("/api/v1/no-such-path", key=None).json, UNAUTHORIZED)
        tap.equal(s.request("PUT", EVENTS, key=None).json, UNAUTHORIZED)
        tap.equal(s.get("/e2b/v1/sandboxes", key=None).json, UNAUTHORIZED)


def test_where_keys_are_read():
    with service.running() as s:
        k = s.key
        cases = [
            (200, {"Authorization": "Bearer " + k}, EVENTS),
            (200, {"Authorization": "bearer " + k}, EVENTS),
            (200, {"Authorization": "BEARER   " + k + "  "}, EVENTS),
            (401, {"Authorization": "Bearer"}, EVENTS),
            (401, {"Authorization": "Bearer "}, EVENTS),
            (401, {"Authorization": k}, EVENTS),
            (401, {"Authorization": "Basic " + k}, EVENTS),
            (401, {"Authorization": "Basic dXNlcjo="}, EVENTS),
            (401, {"Authorization": "Token " + k}, EVENTS),
            (401, {"Authorization": "Bearer " + k + "0"}, EVENTS),
            (401, {"Authorization": "Bearer " + k[:-1]}, EVENTS),
            (200, {"X-API-Key": k}, EVENTS),
            (200, {"x-api-key": " %s " % k}, EVENTS),
            (401, {"X-API-Key": "Bearer " + k}, EVENTS),
            (401, {"X-API-Key": "x" * 5000}, EVENTS),
            (200, {}, EVENTS + "?api_key=" + k),
            (200, {}, EVENTS + "?limit=1&api_key=" + k),
            (200, {}, EVENTS + "?api%5Fkey=" + k),
            (401, {}, EVENTS + "?api_key="),
            (401, {}, EVENTS + "?API_KEY=" + k),
            (401, {}, EVENTS + "?key=" + k),
            # The first that is not empty counts, even when a later one would do.
            (200, {"Authorization": "Bearer ", "X-API-Key": k}, EVENTS),
            (200, {"Authorization": "Basic dXNlcjo=", "X-API-Key": k}, EVENTS),
            (401, {"Authorization": "Bearer wrong", "X-API-Key": k}, EVENTS),
            (200, {"Authorization": "Bearer " + k, "X-API-Key": "wrong"}, EVENTS),
            (401, {"X-API-Key": "wrong"}, EVENTS + "?api_key=" + k),
        ]
        for want, headers, path in cases:
            tap.equal(status(s, headers, path), want, "%r %s" % (headers, path))


def test_the_documented_token_on_loopback():
    with service.running() as s:
        for token in (service.SEED_TOKEN, "e2b_" + service.SEED_TOKEN, "e2b_" + HEX):
            tap.equal(s.get("/api/v1/keys", key=token).status, 200, token)
        for token in (HEX, "e2b_" + HEX[1:], "sys-" + HEX.upper(), "e2b_" + HEX.upper(), "sys-"):
            tap.equal(s.get("/api/v1/keys", key=token).status, 401, token)


def test_the_documented_token_is_refused_elsewhere():
    for options in ({"listen": "0.0.0.0:0"}, {"env": {"SYSTEM_TOKEN": "my-own-token"}}):
        with service.running(**options) as s:
            s.host = "127.0.0.1"
            for token in (service.SEED_TOKEN, "e2b_" + service.SEED_TOKEN, "e2b_" + HEX):
                tap.equal(s.get(EVENTS, key=token).status, 401, "%r %s" % (options, token))
            tap.equal(s.get(EVENTS).status, 200)


def test_configured_tokens():
    user = "testuser-aef134ef-7aa1-945e-9399-7df9a4ad0c3f"
    hexed = "carol-00112233445566778899aabbccddeeff"
    env = {"SYSTEM_TOKEN": "root-token", "API_TOKENS_RAW": "%s,sys-second,%s" % (user, hexed)}
    with service.running(env=env) as s:
        for token, events, keys in [
                ("root-token", 200, 200), ("e2b_root-token", 200, 200), ("sys-second", 200, 200),
                (user, 200, 403), ("e2b_" + user, 200, 403), (hexed, 200, 403),
                ("e2b_00112233445566778899aabbccddeeff", 200, 403),
                ("e2b_7df9a4ad0c3f", 401, 401), ("testuser", 401, 401), ("root-toke", 401, 401)]:
            tap.equal(s.get(EVENTS, key=token).status, events, token)
            tap.equal(s.get("/api/v1/keys", key=token).status, keys, token)
        # They are in the list, without their text, and cannot be revoked here.
        answer = s.get("/api/v1/keys")
        for token in (user, hexed, "root-token"):
            assert token not in answer.body.decode(), answer
        fixed = [k for k in answer.json["data"] if k["fixed"]]
        tap.equal(len(fixed), 4)
        tap.equal(s.delete("/api/v1/keys/" + fixed[0]["id"]).status, 409)
        assert any(k["account"].startswith("testuser-") for k in fixed), fixed


def test_users_are_no_operators():
    with service.running() as s:
        user = s.make_key(account="alice")["key"]
        want = {"code": 403, "message": "this operation requires system token access"}
        for method, path in (("GET", "/api/v1/keys"), ("POST", "/api/v1/keys"),
                             ("DELETE", "/api/v1/keys/x"), ("GET", "/metrics")):
            answer = s.request(method, path, key=user)
            tap.equal((answer.status, answer.json), (403, want), method + " " + path)
        tap.equal(s.get(EVENTS, key=user).status, 200)


def test_keys_never_reach_the_log():
    with service.running("--log-level", "debug") as s:
        made = s.make_key(name="secret-holder")["key"]
        s.get(EVENTS + "?api_key=" + s.key, key=None)
        s.get(EVENTS + "?a=b&api%5fkey=" + made + "&limit=1", key=None)
        s.get(EVENTS, key=None, headers={"X-API-Key": made})
        s.get("/nowhere?api_key=" + made, key=None)
        log = s.log_with("/nowhere")
        for token in (s.key, made, s.key[4:], made[4:]):
            assert token not in log, log
        tap.contains(log, "api_key=***")
        tap.contains(log, "a=b&api%5fkey=***&limit=1")


def test_key_files():
    with service.running() as s:
        tap.equal(len(s.key), 44)
        assert s.key.startswith("e2b_") and int(s.key[4:], 16) >= 0
        tap.equal(os.stat(s.state).st_mode & 0o777, 0o700)
        for name in os.listdir(s.state):
            tap.equal(os.stat(os.path.join(s.state, name)).st_mode & 0o077, 0, name)
        # The store knows hashes only.
        made = s.make_key()["key"]
        s.post("/api/v1/keys", {"name": "again"}, headers={"Idempotency-Key": "k1"})
        again = s.post("/api/v1/keys", {"name": "again"}, headers={"Idempotency-Key": "k1"})
        for name in os.listdir(s.state):
            if name.startswith("tidepool.db"):
                with open(os.path.join(s.state, name), "rb") as f:
                    data = f.read()
                for token in (s.key, made, again.json["data"]["key"]):
                    assert token.encode() not in data, name
                    assert token[4:].encode() not in data, name


tap.main(globals())
