# SPDX-License-Identifier: MIT
"""kill -9 of the service while keys are being made by several clients, again and again. After each
restart every key that was acknowledged works and its event is there, and the audit chain is whole.

    tests/chaos/test_daemon_kill.py [ROUNDS]
"""

import http.client
import json
import os
import random
import sys
import threading
import time

import service
import tap

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
CLIENTS = 8


class Client(threading.Thread):
    """Makes keys on one connection until the service is gone."""

    def __init__(self, s):
        super().__init__()
        self.s, self.made = s, []

    def run(self):
        connection = http.client.HTTPConnection(self.s.host, self.s.port, timeout=10)
        try:
            while True:
                connection.request("POST", "/api/v1/keys", body='{"account":"chaos"}',
                                   headers={"Authorization": "Bearer " + self.s.key})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    raise AssertionError("%d %r" % (answer.status, body))
                self.made.append(json.loads(body)["data"])
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()


def audit_events(s):
    status, out, err = service.tidepool("audit", "ls", "--state", s.state, "--json", "--limit",
                                        "100000")
    assert status == 0, err
    return {e["object"] for e in map(json.loads, out.splitlines()) if e["reason"] == "KeyCreated"}


def test_acknowledged_keys_survive():
    known = []
    with service.running() as s:
        for number in range(ROUNDS):
            clients = [Client(s) for _ in range(CLIENTS)]
            for c in clients:
                c.start()
            time.sleep(random.uniform(0.02, 0.4))
            s.kill()
            for c in clients:
                c.join()
            fresh = [k for c in clients for k in c.made]
            known += fresh
            s.start()
            listed = {k["id"] for k in s.get("/api/v1/keys?account=chaos").json["data"]}
            missing = [k["id"] for k in known if k["id"] not in listed]
            tap.equal(missing, [], "keys lost in round %d" % number)
            for k in random.sample(fresh, min(50, len(fresh))):
                tap.equal(s.get("/api/v1/events?limit=1", key=k["key"]).status, 200)
            logged = audit_events(s)
            tap.equal([i for i in listed if i not in logged], [], "keys without an event")
            valid = {k["id"] for k in s.get("/api/v1/keys").json["data"]}
            tap.equal([i for i in logged if i not in valid], [], "events without a key")
            status, out, err = service.tidepool("audit", "verify", "--state", s.state)
            tap.equal(status, 0, out + err)
            print("# round %d: %d acknowledged, %d in all" % (number + 1, len(fresh), len(listed)))
    assert len(known) >= ROUNDS, "no load: %d keys" % len(known)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    tap.main(globals())
