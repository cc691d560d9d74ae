# SPDX-License-Identifier: MIT
"""kill -9 of the service, of the parent of cells and of first processes of cells, at random, while
clients use everything that there is: sandboxes (also of a pool), local sandboxes, uploads of files
and of archives, volumes, snapshots, builds, instances of an app, keys. After each kill:

- what was acknowledged is so: sandboxes in their state and with their files, workspaces with what
  was unpacked, files of volumes, snapshots, templates that were built, orders in the instances,
  keys. A sandbox may be lost with the process that it lives in, and then it says so; nothing may be
  lost with the service, and what outlives sandboxes with nothing;
- nothing is there that nobody made, or that was deleted (ghosts);
- nothing on the host is without a sandbox (orphans: processes, groups, mounts, disks);
- the audit chain is whole.

    tests/chaos/test_all_kill.py [SECONDS] [SEED]
"""

import contextlib
import http.client
import io
import json
import os
import random
import shutil
import signal
import sys
import tarfile
import threading
import time

import cells
import census
import service
import shops
import tap

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
CLIENTS = 4
PROBES = CLIENTS + 2
RPC = shops.RPC
E2B = "/e2b/v1"
CONFIG = "/api/v1/config/templates"
POOL = 1  # sandboxes in the pool of the template "pooled"
STEP_S = 120  # that a build may take on a busy machine
KILLS = ["service", "service", "cell", "cell", "spawner"]


class Lost(Exception):
    """The service went away with a request."""


class Refused(Exception):
    """An answer that is no success."""


def archive(text):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo("unpacked.txt")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Books:
    """What one client knows; it outlives the client's thread.

    .boxes[name] and .locals[id] are {"state", "text"}; "?" is the state while a request is under
    way or when its answer is missing. .text is what the file inside must hold, None: not known.
    """

    def __init__(self, number):
        self.number, self.made, self.acknowledged = number, 0, 0
        self.boxes, self.locals, self.keys, self.orders = {}, {}, [], []
        # What outlives sandboxes, by name: {"state", "text"} again, of volumes also "id", "token".
        self.volumes, self.shots, self.built = {}, {}, {}
        self.n_asked_locals = 0  # acquires without an answer
        self.shop = None


class Client(threading.Thread):
    def __init__(self, s, books, r):
        super().__init__()
        self.s, self.b, self.r = s, books, r
        self.is_over, self.faults = False, []
        self.is_disrupted = False  # something below the service is killed: refusals are allowed

    def call(self, method, path, body=None, key="", **headers):
        """The answer's JSON, or bytes."""
        if key is not None:
            headers["Authorization"] = "Bearer " + self.s.key
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        try:
            self.c.request(method, path, text, headers)
            answer = self.c.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise Lost() from e
        if answer.status not in (200, 201, 202, 204):
            raise Refused("%s %s: %d %r" % (method, path, answer.status, data[:300]))
        self.b.acknowledged += 1
        return json.loads(data) if data[:1] == b"{" else data

    def word(self):
        return "%d-%d-%x" % (self.b.number, self.b.made, self.r.getrandbits(64))

    # ---- sandboxes ----

    def create(self):
        name = "all%d-%d" % (self.b.number, self.b.made)
        self.b.made += 1
        self.b.boxes[name] = {"state": "?", "text": ""}
        template = self.r.choice(["default", "default", "pooled"])
        got = self.call("POST", "/api/v1/sandbox", {"name": name, "template": template},
                        **{"Idempotency-Key": name})
        self.b.boxes[name].update(state="running", id=got["sandbox"]["id"])
        self.write(name)

    def write(self, name):
        """An upload; while it is not answered the file may be the old one or the new one."""
        box, text = self.b.boxes[name], self.word()
        box["text"] = None
        self.call("POST", "/api/v1/sandbox/files/%s/upload?path=/home/user/kept" % name, text,
                  **{"Content-Type": "application/octet-stream"})
        box["text"] = text

    def move(self, name, to, method, path):
        self.b.boxes[name]["state"] = "?"
        self.call(method, path + name)
        self.b.boxes[name]["state"] = to

    def use_box(self):
        live = {n: b for n, b in self.b.boxes.items() if b["state"] in ("running", "paused")}
        if len(live) < 3 and (not live or self.r.random() < 0.5):
            self.create()
            return
        name = self.r.choice(sorted(live))
        kind = self.r.random()
        if live[name]["state"] == "paused":
            self.move(name, "running", "POST", "/api/v1/sandbox/resume/")
        elif kind < 0.3:
            self.move(name, "paused", "POST", "/api/v1/sandbox/pause/")
        elif kind < 0.5:
            self.move(name, "gone", "DELETE", "/api/v1/sandbox/")
        else:
            self.write(name)

    # ---- local sandboxes ----

    def use_local(self):
        live = [k for k, x in self.b.locals.items() if x["state"] == "running"]
        if not live:
            self.b.n_asked_locals += 1
            got = self.call("POST", "/local-sandbox", {"server_names": ["filesystem"]})
            self.b.n_asked_locals -= 1
            self.b.locals[got["local_sandbox_id"]] = {"state": "running", "text": ""}
            return
        key = self.r.choice(live)
        if self.r.random() < 0.2:
            self.b.locals[key]["state"] = "?"
            self.call("DELETE", "/local-sandbox/" + key)
            self.b.locals[key]["state"] = "gone"
            return
        text = self.word()
        got = self.call("POST", "/local-sandbox/%s/upload-url" % key)
        target = "/" + got["upload_url"].partition("//")[2].partition("/")[2]
        self.call("PUT", target, archive(text), key=None, **{"Content-Type": "application/gzip"})
        self.b.locals[key]["text"] = None
        self.call("POST", "/local-sandbox/%s/initialize" % key)
        self.b.locals[key]["text"] = text

    # ---- what outlives sandboxes ----

    def use_volume(self):
        live = [n for n, v in self.b.volumes.items() if v["state"] == "ready"]
        if not live:
            name = "volume%d-%d" % (self.b.number, self.b.made)
            self.b.made += 1
            self.b.volumes[name] = {"state": "?", "text": ""}
            got = self.call("POST", E2B + "/volumes", {"name": name})
            self.b.volumes[name].update(state="ready", id=got["volumeID"], token=got["token"])
            return
        volume, text = self.b.volumes[live[0]], self.word()
        if self.r.random() < 0.2:
            volume["state"] = "?"
            self.call("DELETE", E2B + "/volumes/" + volume["id"])
            volume["state"] = "gone"
            return
        volume["text"] = None
        self.call("PUT", E2B + "/volumecontent/%s/file?force=true&path=/kept" % volume["id"], text,
                  key=None, Authorization="Bearer " + volume["token"])
        volume["text"] = text

    def use_shot(self):
        live = [b for b in self.b.boxes.values() if b["state"] == "running" and b["text"]]
        kept = [n for n, x in self.b.shots.items() if x["state"] == "ready"]
        if len(kept) >= 2:
            self.b.shots[kept[0]]["state"] = "?"
            self.call("DELETE", E2B + "/templates/" + kept[0])
            self.b.shots[kept[0]]["state"] = "gone"
        elif live:
            box = self.r.choice(live)
            name = "shot%d-%d" % (self.b.number, self.b.made)
            self.b.made += 1
            self.b.shots[name] = {"state": "?", "text": box["text"]}
            self.call("POST", E2B + "/sandboxes/%s/snapshots" % box["id"], {"name": name})
            self.b.shots[name]["state"] = "ready"

    def use_build(self):
        """A template that is built again and again: it is the last one, or the one before while
        nobody has said that the new one is ready."""
        name, text = "built%d" % self.b.number, self.word()
        made = self.call("POST", E2B + "/v3/templates", {"name": name})
        place = E2B + "%s/templates/" + "%s/builds/%s" % (made["templateID"], made["buildID"])
        before = self.b.built.setdefault(name, {"state": "?", "text": None})
        before["text"] = None
        self.call("POST", place % "/v2", {"steps": [
            {"type": "RUN", "args": ["echo -n %s > /home/user/kept" % text]}]})
        end = time.monotonic() + STEP_S
        status = "building"
        while status in ("waiting", "building") and time.monotonic() < end:
            time.sleep(0.05)
            got = self.call("GET", place % "" + "/status")
            status = got["status"]
        if status != "ready":
            raise Refused("a build is %s: %r" % (status, got.get("reason")))
        before.update(state="ready", text=text)

    # ---- apps and keys ----

    def use_app(self):
        for _ in range(5):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "create_order", "arguments": {"product": "tea", "quantity": 1}}}
            got = self.call("POST", self.b.shop.target, message, key=None, **RPC)
            self.b.orders.append(json.loads(got["result"]["content"][0]["text"]))

    def use_keys(self):
        got = self.call("POST", "/api/v1/keys", {"account": "chaos"})
        self.b.keys.append(got["data"]["id"])

    def run(self):
        self.c = http.client.HTTPConnection(self.s.host, self.s.port, timeout=120)
        ways = [self.use_box] * 5 + [self.use_local] * 2 + [self.use_app] * 2 + [
            self.use_keys, self.use_volume, self.use_volume, self.use_shot, self.use_build]
        try:
            while not self.is_over:
                try:
                    self.r.choice(ways)()
                except Refused as e:
                    if not self.is_disrupted:
                        raise
                    # It belongs to a process that was killed; the main thread looks at it.
                    self.c.close()
        except Lost:
            if not self.is_disrupted and not self.is_over:
                self.faults.append("the connection broke")
        except Exception as e:
            self.faults.append(repr(e))
        finally:
            self.c.close()


# ---- after a kill ----


def story(s, name):
    items = s.get("/api/v1/events?limit=500&sandbox=" + name).json["data"]
    return [x["reason"] for x in reversed(items)]


def read_local(s, key):
    """The file that was unpacked; None when the sandbox does not answer."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "filesystem_read_file", "arguments": {"path": "/data/unpacked.txt"}}}
    answer = s.post("/filesystem/mcp?local_sandbox_id=" + key, message, key=None, headers=RPC,
                    timeout=60)
    if answer.status != 200:
        return None
    text = answer.body.decode()
    if not text.startswith("{"):
        text = [x[6:] for x in text.splitlines() if x.startswith("data: ")][-1]
    return json.loads(text)["result"]["content"][0]["text"]


def check_box(s, name, box, listed, may_be_lost):
    """Whether the sandbox is still there."""
    if box["state"] == "gone":
        assert name not in listed, "%s came back after %r" % (name, story(s, name))
        return False
    if box["state"] == "?":
        status = s.remove(name, timeout=60).status
        assert status in (200, 404), "delete of %s: %d" % (name, status)
        tap.equal(s.show(name).status, 404, name)
        return False
    if name in listed:
        tap.equal(listed[name], box["state"], "state of %s after %r" % (name, story(s, name)))
        if box["state"] == "paused":
            status = s.post("/api/v1/sandbox/resume/" + name, timeout=60).status
            assert status == 200 or may_be_lost, "resume of %s: %d" % (name, status)
            box["state"] = "running"
        answer = s.post("/api/v1/terminal/sandbox/" + name, {"command": "cat /home/user/kept"},
                        timeout=60)
        if answer.status == 200:
            if box["text"]:
                tap.equal(answer.json["data"]["output"], box["text"], "file of " + name)
            return True
        # A frozen process dies when it is thawed, with some kernels earlier.
        assert may_be_lost, "%s: %r" % (name, answer)
    assert may_be_lost, "%s is lost after %r" % (name, story(s, name))
    s.until(lambda: s.show(name).status == 404)
    s.until(lambda: story(s, name)[-1:] == ["SandboxExited"])
    return False


def check_local(s, key, local, may_be_lost):
    answer = s.get("/local-sandbox/" + key)
    if local["state"] == "gone":
        tap.equal(answer.status, 404, "%s came back" % key)
        return False
    if local["state"] == "?":
        assert s.delete("/local-sandbox/" + key).status in (200, 404)
        return False
    if answer.status == 404:
        assert may_be_lost, "%s is lost" % key
        return False
    tap.equal(answer.status, 200, answer)
    if local["text"]:
        got = read_local(s, key)
        if got is None and may_be_lost:
            s.until(lambda: s.get("/local-sandbox/" + key).status == 404)
            return False
        tap.equal(got, local["text"], "workspace of " + key)
    return True


def is_there(s, kind, name, x):
    """What became of a volume, a snapshot or a template; False: it is gone, as it should."""
    there = {"volume": lambda: {v["name"] for v in s.get(E2B + "/volumes").json},
             "shot": lambda: {n.partition(":")[0] for v in s.get(E2B + "/snapshots").json
                              for n in v["names"]},
             "built": lambda: {a for v in s.get(E2B + "/templates").json
                               for a in v["aliases"]}}[kind]()
    if x["state"] == "ready":
        assert name in there, "%s is lost" % name
    elif x["state"] == "gone":
        assert name not in there, "%s came back" % name
    elif name in there and kind == "volume":
        found = [v["volumeID"] for v in s.get(E2B + "/volumes").json if v["name"] == name]
        tap.equal(s.delete(E2B + "/volumes/" + found[0]).status, 204, name)
    elif name in there and kind == "shot":
        tap.equal(s.delete(E2B + "/templates/" + name).status, 204, name)
    return x["state"] == "ready" or kind == "built"


def check_root(s, name, text):
    """A sandbox that is created from it has the file."""
    answer = s.post(E2B + "/v2/sandboxes", {"templateID": name}, timeout=60)
    tap.equal(answer.status, 201, answer)
    box = answer.json["metadata"]["name"]
    tap.equal(s.run(box, "cat /home/user/kept")["output"], text, "file of " + name)
    tap.equal(s.remove(box, timeout=60).status, 200)


def check_kept(s, b, r):
    """What outlives sandboxes is lost with nothing that is killed."""
    for kind, all_of in (("volume", b.volumes), ("shot", b.shots), ("built", b.built)):
        for name in [n for n, x in all_of.items() if not is_there(s, kind, n, x)]:
            del all_of[name]
    for v in b.volumes.values():
        if v["text"]:
            got = s.get(E2B + "/volumecontent/%s/file?path=/kept" % v["id"], key=v["token"])
            tap.equal(got.body.decode(), v["text"], "file of a volume")
    roots = {n: x["text"] for n, x in (*b.shots.items(), *b.built.items())
             if x["state"] == "ready" and x["text"]}
    if roots:
        name = r.choice(sorted(roots))
        check_root(s, name, roots[name])


def check_books(s, b, may_be_lost):
    listed = {x["name"]: x["status"] for x in s.get("/api/v1/sandbox").json["data"]}
    b.boxes = {n: x for n, x in b.boxes.items() if check_box(s, n, x, listed, may_be_lost)}
    b.locals = {k: x for k, x in b.locals.items() if check_local(s, k, x, may_be_lost)}
    there = {row[0] for row in b.shop.rows("SELECT id FROM orders ORDER BY id DESC LIMIT 1000")}
    lost = [o["id"] for o in b.orders[-900:] if int(o["id"]) not in there]
    tap.equal(lost, [], "orders that were acknowledged and are lost")
    keys = {k["id"] for k in s.get("/api/v1/keys?account=chaos").json["data"]}
    tap.equal([k for k in b.keys if k not in keys], [], "keys that were acknowledged and are lost")


def check_ghosts(s, books):
    """What is there was made by a client; of local sandboxes also what was not answered."""
    known = {n for b in books for n in b.boxes}
    known |= {"local-" + k.replace("-", "") for b in books for k in b.locals}
    others = set(s.names()) - known
    # Sandboxes of builds that were cut short go at the start, or with their build.
    s.until(lambda: all(n in known or n.startswith("local-") for n in s.names()), 30)
    others = set(s.names()) - known
    n_asked = sum(b.n_asked_locals for b in books)
    assert len(others) <= n_asked, "ghosts: %r for %d requests" % (others, n_asked)
    for name in others:
        tap.equal(s.remove(name, timeout=60).status, 200, name)
    for b in books:
        b.n_asked_locals = 0


def check_audit(s):
    status, out, err = service.tidepool("audit", "verify", "--state", s.state)
    tap.equal(status, 0, out + err)


def check_creates(s, what):
    """They work again; while the parent of cells is started anew they are refused. As many as this
    also use up cells that were made for requests that died, and that are kept ready since."""
    end = time.monotonic() + 60
    for i in range(PROBES):
        answer = s.post("/api/v1/sandbox", {"name": "probe-%d" % i}, timeout=60)
        while answer.status != 200:
            assert time.monotonic() < end, "no create after the kill of: %s: %r" % (what, answer)
            time.sleep(0.05)
            answer = s.post("/api/v1/sandbox", {"name": "probe-%d" % i}, timeout=60)
    for i in range(PROBES):
        tap.equal(s.remove("probe-%d" % i, timeout=60).status, 200)


def kill_cell(s, r):
    """The first process of some cell, lent or in stock."""
    spawner = cells.spawner_pid(s.state)
    firsts = [p for p in census.children(spawner) if census.slot_of(p)] if spawner else []
    if firsts:
        with contextlib.suppress(ProcessLookupError):
            os.kill(r.choice(firsts), signal.SIGKILL)


def kill(s, what, r, clients):
    if what == "service":
        for c in clients:
            c.is_over = True  # what breaks now breaks by this
        s.kill()
        return
    for c in clients:
        c.is_disrupted = True
    if what == "spawner":
        os.kill(cells.spawner_pid(s.state), signal.SIGKILL)
    else:
        kill_cell(s, r)
    time.sleep(r.uniform(0, 0.3))
    if r.random() < 0.3:
        s.kill()  # one right after the other


def run_round(s, books, r):
    clients = [Client(s, b, random.Random(r.getrandbits(64))) for b in books]
    for c in clients:
        c.start()
    time.sleep(r.uniform(0.2, 2.0))
    what = r.choice(KILLS)
    kill(s, what, r, clients)
    for c in clients:
        c.is_over = True
    for c in clients:
        c.join()
        c.b.shop.close()
    if s.process.poll() is not None:
        s.start()
    check_creates(s, what)
    for c in clients:
        tap.equal(c.faults, [], "client %d, with the kill of: %s" % (c.b.number, what))
        check_books(s, c.b, what != "service")
        check_kept(s, c.b, r)
    check_ghosts(s, books)
    check_audit(s)
    return what


@contextlib.contextmanager
def running():
    with service.folder() as apps:
        shutil.copytree(shops.APP, os.path.join(apps, "shop"))
        env = {"TIDEPOOL_APPS_DIR": apps, "TIDEPOOL_CELLS_VOLUME_DISK": "16MiB"}
        with cells.running(env=env) as s:
            pooled = {"name": "pooled", "image": "tidepool/default:latest", "description": "Ready",
                      "pool": {"size": POOL}}
            s.shipped = s.get(CONFIG).json["data"]
            tap.equal(s.post(CONFIG, s.shipped + [pooled]).status, 200)
            yield s


def test_everything_under_kills():
    r = random.Random(SEED)
    print("# seed %d" % SEED, flush=True)
    end, n_rounds, kills = time.monotonic() + SECONDS, 0, {}
    with running() as s:
        counted = census.Census(s, cells.spawner_pid)
        books = [Books(i) for i in range(CLIENTS)]
        for b in books:
            b.shop = shops.Shop(s)
            b.shop.stock_up("tea")
        while n_rounds == 0 or time.monotonic() < end:
            what = run_round(s, books, r)
            counted.settle(len(s.names()) + cells.WARM + POOL, 60)
            n_rounds += 1
            kills[what] = kills.get(what, 0) + 1
            if n_rounds % 10 == 1:
                print("# round %d (%s): %d acknowledged, %d sandboxes, %d orders, %d keys" % (
                    n_rounds, what, sum(b.acknowledged for b in books), len(s.names()),
                    sum(len(b.orders) for b in books), sum(len(b.keys) for b in books)), flush=True)
        n = sum(b.acknowledged for b in books)
        print("# %d rounds, kills %r, %d requests acknowledged" % (n_rounds, kills, n))
        s.remove_all()
        tap.equal(s.post(CONFIG, s.shipped).status, 200)
        counted.settle(cells.WARM, 60)
        groups = counted.groups
    tap.equal([g for g in groups if os.path.exists(g)], [], "groups after the end")
    tap.equal(counted.strays(), [], "processes after the end")
    assert n >= 5 * n_rounds, "no load: %d requests" % n


if __name__ == "__main__":
    tap.main(globals())
