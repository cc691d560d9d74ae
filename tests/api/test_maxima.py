# SPDX-License-Identifier: MIT
"""What one account can take at most of the instances of apps: whoever has his maximum is refused,
and the next account still gets its share (docs/LIMITS.md)."""

import maxima
import shops
import tap


def acquire(s, key, **body):
    return s.post("/sandbox/shop", body, key=key)


def test_one_account_takes_its_instances():
    env = {"TIDEPOOL_APPS_MAX_LIVE": "12"}
    with shops.running(env=env) as s:
        ada, ada_too = (s.make_key(account="ada")["key"] for _ in range(2))
        bob = s.make_key(account="bob")["key"]
        tap.equal(maxima.most(s, "instances of apps", "account"), 3)
        held = [acquire(s, key) for key in (ada, ada_too, ada)]
        tap.equal([x.status for x in held], [201] * 3)
        for key in (ada, ada_too):
            answer = acquire(s, key)
            tap.equal(answer.status, 429, answer)
            tap.contains(str(answer.json), "maximum of instances of apps (3/3)")
        # A batch is lent as a whole or not at all.
        answer = acquire(s, bob, count=4)
        tap.equal(answer.status, 429, answer)
        tap.equal(maxima.used(s, "instances of apps"), 3)
        tap.equal(acquire(s, bob).status, 201)
        tap.equal(maxima.refused(s, "instances of apps"), 3)
        # The operator has what the service has.
        own = [acquire(s, "").status for _ in range(9)]
        tap.equal(own, [201] * 8 + [503])
        tap.equal(maxima.refused(s, "instances of apps", "service"), 1)
        # It counts after a restart as well, until it is released.
        s.stop()
        s.start()
        tap.equal(maxima.used(s, "instances of apps"), 12)
        tap.equal(acquire(s, ada).status, 429)
        tap.equal(s.delete("/sandbox/shop/" + held[0].json["sandbox_id"], key=ada).status, 200)
        tap.equal(acquire(s, ada).status, 201)


def test_slots_are_an_accounts_own():
    """Addresses and preparations make slots that stay; the oldest idle ones go."""
    with shops.running(env={"TIDEPOOL_QUOTA_ACCOUNT_APP_SLOTS": "3"}) as s:
        ada = s.make_key(account="ada")["key"]
        bob = s.make_key(account="bob")["key"]
        for i in range(8):
            answer = acquire(s, ada, test_account_email="a%d@larkspur.example" % i)
            tap.equal(answer.status, 201, answer)
            tap.equal(s.delete("/sandbox/shop/" + answer.json["sandbox_id"], key=ada).status, 200)
        for _ in range(5):
            tap.equal(s.post("/sandbox/prepare?server_name=shop", key=ada).status, 200)
        tap.equal(maxima.used(s, "slots of apps"), 3)
        # Those that are lent cannot go.
        tap.equal([acquire(s, ada).status for _ in range(4)], [201, 201, 201, 429])
        tap.equal(acquire(s, bob).status, 201)
        tap.equal(maxima.refused(s, "slots of apps"), 1)
        s.stop()
        s.start()
        tap.equal(maxima.used(s, "slots of apps"), 4)


def test_events_of_others_stay():
    """One account floods the events; the newest of the others stay, and the chain is whole."""
    env = {"TIDEPOOL_EVENTS_KEEP": "100", "TIDEPOOL_QUOTA_ACCOUNT_EVENTS": "5"}
    with shops.running(env=env) as s:
        ada, bob = (s.make_key(account=x)["key"] for x in ("ada", "bob"))
        ids = []
        for _ in range(4):
            ids.append(acquire(s, ada).json["sandbox_id"])
            tap.equal(s.delete("/sandbox/shop/" + ids[-1], key=ada).status, 200)
        wanted = [("AppReleased", ids[3]), ("AppAcquired", ids[3]), ("AppReleased", ids[2]),
                  ("AppAcquired", ids[2]), ("AppReleased", ids[1])]
        for _ in range(100):
            made = acquire(s, bob)
            s.delete("/sandbox/shop/" + made.json["sandbox_id"], key=bob)

        def shown(key):
            items = s.get("/api/v1/events?limit=500", key=key).json["data"]
            return [(x["reason"], x["involvedObject"]["name"]) for x in items]

        tap.equal(shown(ada), wanted)
        got = len(shown(bob))
        assert 90 <= got <= 130, got
        answer = s.get("/api/v1/audit/verify").json
        tap.contains(str(answer), "'ok': True")
        s.stop()
        s.start()
        tap.equal(shown(ada), wanted)
        for _ in range(60):
            made = acquire(s, bob)
            s.delete("/sandbox/shop/" + made.json["sandbox_id"], key=bob)
        tap.equal(shown(ada), wanted)
        tap.contains(str(s.get("/api/v1/audit/verify").json), "'ok': True")


tap.main(globals())
