# SPDX-License-Identifier: MIT
"""GET /api/v1/events/stream: events as they happen, and after a lost connection."""

import json
import signal

import service
import shops
import tap


class Stream:
    """A client of server-sent events; .next() is the next one's data."""

    def __init__(self, s, query="", key="", last=None):
        self.connection = s.connect(30)
        headers = {"Authorization": "Bearer " + (key or s.key)}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.connection.request("GET", "/api/v1/events/stream" + query, headers=headers)
        self.answer = self.connection.getresponse()
        self.last = None

    def __enter__(self):
        tap.equal(self.answer.status, 200, self.answer)
        tap.equal(self.answer.headers["Content-Type"], "text/event-stream")
        return self

    def __exit__(self, *unused):
        self.connection.close()

    def next(self):
        """None when the service ended the stream."""
        fields = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if not line and not fields and self.answer.isclosed():
                return None
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                event = json.loads(fields["data"])
                tap.equal(int(fields["id"]), event["id"])
                self.last = event["id"]
                return event
            else:
                fields = {}

    def some(self, n):
        return [self.next() for _ in range(n)]


def test_events_come_as_they_happen():
    with service.running() as s:
        with Stream(s) as stream:
            made = s.make_key(account="ann", name="one")
            event = stream.next()
            tap.equal(sorted(event), ["account", "id", "kind", "message", "name", "reason", "time",
                                      "type"])
            tap.equal((event["reason"], event["kind"], event["name"], event["account"]),
                      ("KeyCreated", "Key", made["id"], "ann"))
            s.delete("/api/v1/keys/" + made["id"])
            tap.equal(stream.next()["reason"], "KeyRevoked")
            newest = s.get("/api/v1/audit?limit=1").json["data"]
            tap.equal(stream.last, newest[-1]["seq"], newest)


def test_ends_and_expiries_of_leases():
    with shops.running() as s:
        ann = s.make_key(account="ann")["key"]
        with Stream(s, "?reasons=AppReleased,AppExpired", key=ann) as stream:
            first = s.post("/sandbox/shop", {}, key=ann).json
            s.post("/sandbox/shop", {}, key="")  # somebody else's
            s.delete("/sandbox/shop/" + first["sandbox_id"], key=ann)
            event = stream.next()
            tap.equal((event["reason"], event["kind"]), ("AppReleased", "App"))
            tap.contains(event["message"], "shop")


def test_everybody_sees_their_own():
    with service.running() as s:
        ann, bob = s.make_key(account="ann"), s.make_key(account="bob")
        with Stream(s, "?after=0", key=ann["key"]) as own, Stream(s, "?after=0") as all_:
            tap.equal([e["account"] for e in all_.some(4)], ["system", "", "ann", "bob"])
            tap.equal(own.next()["name"], ann["id"])
            s.make_key(account="bob")
            more = s.make_key(account="ann")
            tap.equal(own.next()["name"], more["id"])
            tap.equal([e["account"] for e in all_.some(2)], ["bob", "ann"])
        # Whose key is revoked is not told any more.
        with Stream(s, key=bob["key"]) as stream:
            s.delete("/api/v1/keys/" + bob["id"])
            while stream.next():
                pass


def test_after_a_lost_connection():
    """Nothing is missing and nothing comes twice, also over kill -9."""
    with service.running() as s:
        names = [s.make_key(account="ann")["id"] for _ in range(450)]
        got = []
        last = 0
        for _ in range(3):
            with Stream(s, last=last) as stream:
                for event in stream.some(150):
                    got.append(event["name"])
                last = stream.last
        s.kill()
        s.start()
        with Stream(s, last=last) as stream:
            while names[-1] not in got:
                got.append(stream.next()["name"])
            tap.equal(stream.next()["reason"], "ServiceStarted")
        tap.equal([x for x in got if x in set(names)], names)


def test_filters_and_faults():
    with service.running() as s:
        one, two = s.make_key(account="a"), s.make_key(account="b")
        with Stream(s, "?after=0&sandbox=" + two["id"]) as stream:
            tap.equal(stream.next()["name"], two["id"])
        with Stream(s, "?after=0&reasons=ServiceStarted,%20KeyRevoked") as stream:
            tap.equal(stream.next()["reason"], "ServiceStarted")
            s.delete("/api/v1/keys/" + one["id"])
            tap.equal(stream.next()["reason"], "KeyRevoked")
        for query in ("?after=x", "?after=-1", "?reasons=Nothing", "?reasons=" + ",".join(
                ["KeyCreated"] * 33)):
            tap.equal(s.get("/api/v1/events/stream" + query).status, 400, query)
        tap.equal(s.get("/api/v1/events/stream", headers={"Last-Event-ID": "z"}).status, 400)
        tap.equal(s.get("/api/v1/events/stream", key=None).status, 401)
        grader = s.make_key(role="grader", grades="ann")["key"]
        tap.equal(s.get("/api/v1/events/stream", key=grader).status, 403)
        tap.equal(s.request("HEAD", "/api/v1/events/stream").status, 200)


def test_an_account_has_so_many():
    with service.running() as s:
        ann = s.make_key(account="ann")["key"]
        streams = [Stream(s, key=ann) for _ in range(17)]
        tap.equal([x.answer.status for x in streams], [200] * 16 + [429])
        streams[0].connection.close()
        streams[0].answer.close()
        for _ in range(500):
            again = Stream(s, key=ann)
            if again.answer.status == 200:
                break
            again.connection.close()
        tap.equal(again.answer.status, 200)
        with Stream(s) as stream:
            s.make_key(account="x")
            tap.equal(stream.next()["account"], "x")
        for x in streams + [again]:
            x.connection.close()


def test_a_stop_ends_them():
    with service.running() as s:
        with Stream(s) as stream:
            s.signal(signal.SIGTERM)
            while stream.next():
                pass
            tap.equal(s.wait(), 0)


tap.main(globals())
