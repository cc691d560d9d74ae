# SPDX-License-Identifier: MIT
"""kill -9 of the service under bursts of create, exec, pause, resume and delete, again and again,
and sometimes once more while it starts. After each restart everything that was acknowledged is so,
every name can be used, and nothing is left on the host that the service does not know.

    tests/chaos/test_cells_kill.py [SECONDS]
"""

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time

import cells
import census
import service
import tap

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 25
CLIENTS = 5
EACH = 4  # sandboxes of one client
COUNT = ("n=0; while :; do n=$((n+1)); echo $n >/tmp/m; mv /tmp/m /tmp/n; sleep 0.2; done "
         ">/dev/null 2>&1 & until [ -s /tmp/n ]; do sleep 0.02; done; cat /tmp/n")


class Lost(Exception):
    """The service went away with a request."""


class Client(threading.Thread):
    """Works on sandboxes of its own on one connection until the service is gone, and keeps books:

    .books[name] is "running", "paused", "gone", or "?" when an answer is missing.
    """

    def __init__(self, s, number):
        super().__init__()
        self.s, self.number, self.made = s, number, 0
        self.books, self.counts, self.faults = {}, {}, []
        self.acknowledged = 0
        self.creating = None  # the name whose create was not answered

    # ---- requests ----

    def call(self, method, path, body=None, **headers):
        try:
            self.connection.request(method, path, body=body and json.dumps(body),
                                    headers={"Authorization": "Bearer " + self.s.key, **headers})
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise Lost() from e
        if answer.status != 200:
            raise AssertionError("%s %s: %d %r" % (method, path, answer.status, text))
        self.acknowledged += 1
        return json.loads(text)

    def move(self, name, to, method, path, body=None, **headers):
        """A request after which NAME is in state TO; nobody knows while it is under way."""
        self.books[name] = "?"
        self.call(method, path, body, **headers)
        self.books[name] = to

    def create(self):
        name = "c%d-%d" % (self.number, self.made)
        self.made += 1
        self.creating = name
        self.move(name, "running", "POST", "/api/v1/sandbox", {"name": name},
                  **{"Idempotency-Key": name})
        self.creating = None
        if not self.counts:
            self.counts[name] = int(self.execute(name, COUNT))

    def execute(self, name, command):
        data = self.call("POST", "/api/v1/terminal/sandbox/" + name, {"command": command})["data"]
        if data["exitCode"] != 0:
            raise AssertionError("%s: %r" % (name, data))
        return data["output"]

    def use(self, name):
        if name in self.counts:
            self.counts[name] = int(self.execute(name, "cat /tmp/n"))
        else:
            self.execute(name, "test $(hostname) = " + name)

    def pause(self, name):
        self.move(name, "paused", "POST", "/api/v1/sandbox/pause/" + name)

    def resume(self, name):
        self.move(name, "running", "POST", "/api/v1/sandbox/resume/" + name)

    def remove(self, name):
        self.counts.pop(name, None)
        self.move(name, "gone", "DELETE", "/api/v1/sandbox/" + name)

    # ---- work ----

    def step(self):
        live = [n for n, state in self.books.items() if state in ("running", "paused")]
        if len(live) < EACH and (not live or random.random() < 0.4):
            self.create()
            return
        name = random.choice(live)
        if self.books[name] == "paused":
            random.choice([self.resume, self.resume, self.remove])(name)
        else:
            random.choice([self.use, self.use, self.pause, self.remove])(name)

    def run(self):
        self.connection = http.client.HTTPConnection(self.s.host, self.s.port, timeout=60)
        try:
            while True:
                self.step()
        except Lost:
            pass
        except Exception as e:  # told by the main thread
            self.faults.append(repr(e))
        finally:
            self.connection.close()


# ---- after the restart ----


def story(s, name):
    items = s.get("/api/v1/events?limit=500&sandbox=" + name).json["data"]
    return "; ".join(x["message"] for x in reversed(items))


def check_names(s, client):
    listed = {x["name"]: x["status"] for x in s.get("/api/v1/sandbox").json["data"]}
    for name, state in client.books.items():
        if state == "gone":
            assert name not in listed, "%s came back" % name
        elif state != "?":
            tap.equal(listed.get(name), state, "state of %s after %s" % (name, story(s, name)))


def check_live(s, client):
    """Every acknowledged sandbox runs commands, and its counter went on."""
    for name, state in client.books.items():
        if state not in ("running", "paused"):
            continue
        if state == "paused":
            tap.equal(s.post("/api/v1/sandbox/resume/" + name).status, 200)
            client.books[name] = "running"
        if name in client.counts:
            before = client.counts[name]
            s.until(lambda n=name, b=before: int(s.run(n, "cat /tmp/n")["output"]) > b)
            client.counts[name] = int(s.run(name, "cat /tmp/n")["output"])
        else:
            tap.equal(s.run(name, "hostname")["output"], name + "\n")


def check_repeated(s, client):
    """A create without answer, sent again: what it confirms is there."""
    name = client.creating
    if not name:
        return
    answer = s.post("/api/v1/sandbox", {"name": name}, headers={"Idempotency-Key": name})
    tap.equal(answer.status, 200, answer)
    shown = s.show(name)
    tap.equal(shown.status, 200, "%s is confirmed, after %s" % (name, story(s, name)))
    tap.equal(shown.json["data"]["id"], answer.json["sandbox"]["id"])
    tap.equal(s.run(name, "hostname")["output"], name + "\n")


def check_unknown(s, client):
    """Whatever became of a request without answer: the name can be deleted and used."""
    for name in [n for n, state in client.books.items() if state == "?"]:
        status = s.remove(name).status
        assert status in (200, 404), "delete of %s: %d" % (name, status)
        tap.equal(s.show(name).status, 404)
        s.create(name=name)
        tap.equal(s.run(name, "hostname")["output"], name + "\n")
        client.counts.pop(name, None)
        client.books[name] = "running"


def forget(client):
    """Names that are gone need not be asked for for ever."""
    gone = [n for n, state in client.books.items() if state == "gone"]
    for name in gone[:-20]:
        del client.books[name]


def kill_while_starting(s):
    """One more start that ends before it is through."""
    command = [service.PROGRAM, "serve", "--listen", "127.0.0.1:0", "--state", s.state]
    with open(s.log_path, "ab") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log,
                                   stdin=subprocess.DEVNULL, env=service.clean_env(s.env))
    time.sleep(random.uniform(0.005, 0.15))
    process.kill()
    process.wait()


def run_round(s, clients):
    for c in clients:
        c.start()
    time.sleep(random.uniform(0.2, 2.5))
    s.kill()
    for c in clients:
        c.join()
    if random.random() < 0.3:
        kill_while_starting(s)
    s.start()
    for c in clients:
        tap.equal(c.faults, [], "client %d" % c.number)
        check_names(s, c)
        check_live(s, c)
        check_repeated(s, c)
        check_unknown(s, c)
        forget(c)


def heirs(s, clients):
    """Threads start only once: the next round's clients have the books of the last one's."""
    fresh = [Client(s, c.number) for c in clients]
    for old, new in zip(clients, fresh):
        new.books, new.counts, new.made = old.books, old.counts, old.made
    return fresh


def test_acknowledged_state_survives():
    end = time.monotonic() + SECONDS
    n_rounds = n_requests = 0
    with cells.running() as s:
        counted = census.Census(s, cells.spawner_pid)
        clients = [Client(s, i) for i in range(CLIENTS)]
        while n_rounds == 0 or time.monotonic() < end:
            run_round(s, clients)
            counted.settle(len(s.names()) + cells.WARM)
            n_rounds += 1
            n_requests += sum(c.acknowledged for c in clients)
            print("# round %d: %d requests acknowledged, %d sandboxes" %
                  (n_rounds, sum(c.acknowledged for c in clients), len(s.names())), flush=True)
            clients = heirs(s, clients)
        s.remove_all()
        counted.settle(cells.WARM)
        groups = counted.groups
    tap.equal([g for g in groups if os.path.exists(g)], [], "groups after the end")
    tap.equal(counted.strays(), [], "processes after the end")
    assert n_requests >= 5 * n_rounds, "no load: %d requests" % n_requests


if __name__ == "__main__":
    tap.main(globals())
