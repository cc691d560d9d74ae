# SPDX-License-Identifier: MIT
"""Keys over the API: made, listed, used, revoked, and still there after a restart."""

import service
import tap


def listed(s, query=""):
    return {k["id"]: k for k in s.get("/api/v1/keys" + query).json["data"]}


def stored(s):
    """All keys but those of the configuration, which are made anew at each start."""
    return {i: k for i, k in listed(s, "?all=true").items() if not k["fixed"]}


def test_life():
    with service.running() as s:
        answer = s.post("/api/v1/keys", {"account": "alice", "name": "laptop",
                                         "limits": {"max_rps": 50}})
        tap.equal((answer.status, answer.json["code"]), (200, "0"))
        made = answer.json["data"]
        tap.equal((made["account"], made["role"], made["name"]), ("alice", "user", "laptop"))
        tap.equal(made["limits"], {"max_live": None, "max_creates": None, "max_rps": 50})
        tap.equal(made["hint"], made["key"][-4:])
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=made["key"][4:]).status, 200)

        shown = listed(s)[made["id"]]
        assert "key" not in shown, shown
        tap.equal(shown["account"], "alice")
        tap.equal(list(listed(s, "?account=alice")), [made["id"]])
        tap.equal(listed(s, "?account=nobody"), {})

        answer = s.delete("/api/v1/keys/" + made["id"])
        tap.equal(answer.json, {"code": "0", "data": "Key %s revoked successfully" % made["id"]})
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 401)
        tap.equal(s.delete("/api/v1/keys/" + made["id"]).status, 404)
        assert made["id"] not in listed(s)
        assert "revoked_at" in listed(s, "?all=true")[made["id"]]


def test_roles_and_accounts():
    with service.running() as s:
        one, two = s.make_key(), s.make_key()
        assert one["account"] != two["account"], (one, two)
        system = s.make_key(role="system")
        tap.equal(system["account"], "system")
        tap.equal(s.get("/api/v1/keys", key=system["key"]).status, 200)
        s.make_key(account="alice")
        answer = s.post("/api/v1/keys", {"account": "alice", "role": "system"})
        tap.equal((answer.status, answer.json["message"]),
                  (409, "account 'alice' has the role user"))
        tap.equal(s.make_key(account="alice")["account"], "alice")


def test_restart():
    with service.running() as s:
        keep, drop = s.make_key(account="a"), s.make_key(account="b")
        s.delete("/api/v1/keys/" + drop["id"])
        before, key = stored(s), s.key
        tap.equal(s.stop(), 0)
        s.start()
        tap.equal(s.key, key)
        tap.equal(stored(s), before)
        tap.equal(s.get("/api/v1/events", key=keep["key"]).status, 200)
        tap.equal(s.get("/api/v1/events", key=drop["key"]).status, 401)
        reasons = [e["reason"] for e in s.get("/api/v1/events").json["data"]]
        tap.equal(reasons[:2], ["ServiceStarted", "ServiceStopped"])


def test_a_revoked_system_key_is_replaced():
    with service.running() as s:
        old = s.key
        other = s.make_key(role="system")
        first = [k for k in listed(s).values() if k["name"] == "made at the first start"]
        s.delete("/api/v1/keys/" + first[0]["id"])
        tap.equal(s.get("/api/v1/keys").status, 401)
        # Another one is left: none is made.
        s.stop()
        s.start()
        tap.equal(s.get("/api/v1/keys", key=old).status, 401)
        tap.equal(s.delete("/api/v1/keys/" + other["id"], key=other["key"]).status, 200)
        # None is left: the next start makes one.
        s.stop()
        s.start()
        assert s.key != old, s.key
        tap.equal(s.get("/api/v1/keys").status, 200)
        tap.equal(s.get("/api/v1/keys", key=old).status, 401)


tap.main(globals())
