# SPDX-License-Identifier: MIT
"""GET /api/v1/events: shape, order, limits, filters, and who sees what."""

import re

import service
import tap

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def events(s, query="", **more):
    answer = s.get("/api/v1/events" + query, **more)
    tap.equal(answer.status, 200, query)
    return answer.json["data"]


def test_shape():
    with service.running() as s:
        made = s.make_key(account="alice")
        answer = s.get("/api/v1/events")
        tap.equal(sorted(answer.json), ["code", "data", "fetchedAt"])
        tap.equal(answer.json["code"], "0")
        assert TIME.match(answer.json["fetchedAt"]), answer
        newest = answer.json["data"][0]
        tap.equal(sorted(newest), sorted(["name", "reason", "type", "message", "count", "eventTime",
                                          "firstTimestamp", "lastTimestamp", "involvedObject"]))
        tap.equal(newest["reason"], "KeyCreated")
        tap.equal(newest["type"], "Normal")
        tap.equal(newest["count"], 1)
        tap.equal(newest["involvedObject"],
                  {"kind": "Key", "name": made["id"], "namespace": "default", "apiVersion": "v1",
                   "fieldPath": ""})
        for name in ("eventTime", "firstTimestamp", "lastTimestamp"):
            assert TIME.match(newest[name]), newest
        reasons = [e["reason"] for e in answer.json["data"]]
        tap.equal(reasons, ["KeyCreated", "ServiceStarted", "KeyCreated"])


def test_limits():
    with service.running() as s:
        for i in range(120):
            s.make_key(name="k%d" % i)
        tap.equal(len(events(s)), 100)
        tap.equal(len(events(s, "?limit=")), 100)
        tap.equal(len(events(s, "?limit=1")), 1)
        tap.equal(len(events(s, "?limit=7")), 7)
        tap.equal(len(events(s, "?limit=9999")), 122)
        tap.equal(len(events(s, "?limit=500")), 122)
        for limit in ("0", "-1", "-9999"):
            answer = s.get("/api/v1/events?limit=" + limit)
            tap.equal((answer.status, answer.json),
                      (400, {"code": 400, "message": "limit must be a positive integer"}))
        for limit in ("x", "1.5", "1x", "%201", "99999999999999999999"):
            answer = s.get("/api/v1/events?limit=" + limit)
            tap.equal(answer.status, 400, limit)
            assert answer.json["message"].startswith("invalid limit: "), answer
        times = [e["eventTime"] for e in events(s, "?limit=500")]
        tap.equal(times, sorted(times, reverse=True))


def test_filter_by_object():
    with service.running() as s:
        one, two = s.make_key(), s.make_key()
        s.delete("/api/v1/keys/" + one["id"])
        reasons = [e["reason"] for e in events(s, "?sandbox=" + one["id"])]
        tap.equal(reasons, ["KeyRevoked", "KeyCreated"])
        tap.equal(len(events(s, "?sandbox=" + two["id"])), 1)
        tap.equal(events(s, "?sandbox=no-such-thing"), [])


def test_accounts_see_their_own():
    with service.running() as s:
        alice, bob = s.make_key(account="alice"), s.make_key(account="bob")
        seen = events(s, key=alice["key"])
        tap.equal([e["involvedObject"]["name"] for e in seen], [alice["id"]])
        tap.equal(events(s, "?sandbox=" + bob["id"], key=alice["key"]), [])
        tap.equal(len(events(s, "?sandbox=" + bob["id"], key=bob["key"])), 1)
        tap.equal(len(events(s)), 4)


tap.main(globals())
