# SPDX-License-Identifier: MIT
"""Snapshots and forks: the files of a sandbox in others, while it runs on."""

import os
import time

import cells
import tap

BASE = "/e2b/v1"


class E2b:
    """The calls of one key."""

    def __init__(self, s, key=""):
        self.s, self.key = s, key

    def call(self, method, path, body=None, status=None):
        answer = self.s.request(method, BASE + path, body, key=self.key, timeout=120)
        if status is not None:
            tap.equal(answer.status, status, "%s %s: %r" % (method, path, answer.body))
        return answer

    def create(self, template="base", **fields):
        fields = {"templateID": template, "timeout": 600, **fields}
        return self.call("POST", "/v2/sandboxes", fields, 201).json

    def snapshot(self, box, **fields):
        return self.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], fields, 201).json

    def fork(self, box, **fields):
        path = "/sandboxes/%s/fork" % box["sandboxID"]
        return self.call("POST", path, {"timeout": 600, **fields}, 201).json

    def sh(self, box, command, user="root"):
        answer = self.s.run(box["metadata"]["name"], command, user=user)
        return answer["output"]

    def snapshots(self, query=""):
        return [x["snapshotID"] for x in self.call("GET", "/snapshots" + query, None, 200).json]


def stored(s, what):
    """How many layers or roots there are."""
    path = os.path.join(s.state, what)
    return len([x for x in os.listdir(path) if not x.startswith(".")])


def test_a_snapshot_has_the_files():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(envVars={"WHO": "origin"})
        e.sh(box, "echo kept >/home/user/file; mkdir -p /opt/deep/er; echo x >/opt/deep/er/f;"
                  "ln -s /home/user/file /opt/link; echo tool >/usr/local/bin/own;"
                  "chmod 4755 /usr/local/bin/own; chown user /opt/deep; rm /etc/profile;"
                  "rm -rf /etc/skel; mkdir /etc/skel; echo s >/etc/skel/only;"
                  "setfattr -n user.note -v hello /opt/deep/er/f 2>/dev/null; true")
        e.sh(box, "echo mine >/home/user/own", user="user")
        info = e.snapshot(box)
        tap.equal(info["names"], [])
        tap.equal(info["memory"], False)
        tap.equal(info["snapshotID"].split(":")[1], "default")
        e.sh(box, "echo changed >/home/user/file; rm -rf /opt/deep")
        copy = e.create(info["snapshotID"])
        tap.equal(e.sh(copy, "cat /home/user/file /opt/link /opt/deep/er/f /usr/local/bin/own"),
                  "kept\nkept\nx\ntool\n")
        tap.equal(e.sh(copy, "stat -c '%a %U' /usr/local/bin/own /opt/deep /home/user/own"),
                  "4755 root\n755 user\n644 user\n")
        tap.equal(e.sh(copy, "ls /etc/skel; test -e /etc/profile || echo gone"), "only\ngone\n")
        tap.equal(e.sh(copy, "cat /etc/hostname"), copy["metadata"]["name"] + "\n")
        tap.equal(e.sh(copy, "id -un", user="user"), "user\n")
        tap.equal(e.sh(box, "cat /home/user/file"), "changed\n")
        e.call("DELETE", "/sandboxes/" + box["sandboxID"])
        tap.equal(e.sh(copy, "cat /opt/deep/er/f"), "x\n", "it does not need the first one")


def test_a_snapshot_of_one_that_came_from_a_snapshot():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        for i in range(5):
            e.sh(box, "echo %d >/home/user/%d; rm -f /home/user/%d; echo %d >>/root/all"
                 % (i, i, i - 2, i))
            box = e.create(e.snapshot(box)["snapshotID"])
        tap.equal(e.sh(box, "ls /home/user | tr '\\n' ' '; cat /root/all"),
                  "3 4 0\n1\n2\n3\n4\n")


def test_names_lists_and_deletion():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        tap.equal(e.snapshots(), [])
        e.sh(box, "echo 1 >/which")
        one = e.snapshot(box, name="My-Snap")
        tap.equal(one, {"snapshotID": "my-snap:default", "names": ["my-snap:default"],
                        "memory": False})
        e.sh(box, "echo 2 >/which")
        two = e.snapshot(box, name="my-snap:v2")
        plain = e.snapshot(box)
        tap.equal(e.snapshots(), [plain["snapshotID"], "my-snap:v2", "my-snap:default"])
        tap.equal(e.snapshots("?name=my-snap"), ["my-snap:default"])
        tap.equal(e.snapshots("?name=unknown"), [])
        tap.equal(len(e.snapshots("?sandboxID=" + box["sandboxID"])), 3)
        tap.equal(e.snapshots("?sandboxID=" + "0" * 32), [])
        page = e.call("GET", "/snapshots?limit=2", None, 200)
        tap.equal(len(page.json), 2)
        rest = e.call("GET", "/snapshots?limit=2&nextToken=" + page.headers["X-Next-Token"], None,
                      200)
        tap.equal([x["snapshotID"] for x in rest.json], ["my-snap:default"])
        tap.equal(rest.headers.get("X-Next-Token"), None)
        e.call("GET", "/snapshots?limit=0", None, 400)
        e.call("GET", "/snapshots?nextToken=nothing", None, 400)
        tap.equal(e.sh(e.create("my-snap"), "cat /which"), "1\n")
        tap.equal(e.sh(e.create(two["snapshotID"]), "cat /which"), "2\n")
        # The same name again is the newer one.
        e.sh(box, "echo 3 >/which")
        e.snapshot(box, name="my-snap")
        tap.equal(len(e.snapshots()), 3)
        used = e.create("my-snap")
        tap.equal(e.sh(used, "cat /which"), "3\n")
        for i in ("my-snap:default", "my-snap:v2", plain["snapshotID"]):
            e.call("DELETE", "/templates/" + i.replace(":", "%3A"), None, 204)
            answer = e.call("DELETE", "/templates/" + i, None, 404)
            tap.equal(answer.json["code"], 404)
        tap.equal(e.snapshots(), [])
        e.call("POST", "/v2/sandboxes", {"templateID": "my-snap"}, 404)
        tap.equal(e.sh(used, "cat /which; ls /usr/bin/env"), "3\n/usr/bin/env\n", "it goes on")
        for name in ("a b", "../x", "x:", "base", "other/x"):
            e.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], {"name": name}, 400)
        e.call("POST", "/sandboxes/%s/snapshots" % ("0" * 32), {}, 404)


def test_files_go_with_their_last_user():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        info = e.snapshot(box)
        copy = e.create(info["snapshotID"])
        other = e.snapshot(copy)
        tap.equal(stored(s, "layers"), 2)
        e.call("DELETE", "/templates/" + info["snapshotID"], None, 204)
        time.sleep(0.5)
        tap.equal(stored(s, "layers"), 2, "in use")
        tap.equal(e.sh(copy, "ls /usr/bin/env"), "/usr/bin/env\n")
        e.call("DELETE", "/sandboxes/" + copy["sandboxID"])
        time.sleep(0.5)
        tap.equal(stored(s, "layers"), 2, "the other snapshot lies on it")
        e.call("DELETE", "/templates/" + other["snapshotID"], None, 204)
        s.until(lambda: stored(s, "layers") == 0 and stored(s, "roots") == 0)


def test_snapshots_survive_restarts():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        e.sh(box, "echo kept >/root/file")
        e.snapshot(box, name="lasting")
        gone = e.snapshot(box, name="gone")
        user = e.create(gone["snapshotID"])
        e.call("DELETE", "/templates/gone", None, 204)
        s.kill()
        s.start()
        tap.equal(e.snapshots(), ["lasting:default"])
        tap.equal(e.sh(user, "cat /root/file; ls /usr/bin/env"), "kept\n/usr/bin/env\n")
        tap.equal(e.sh(e.create("lasting"), "cat /root/file"), "kept\n")
        tap.equal(stored(s, "roots"), 2)
        e.call("DELETE", "/sandboxes/" + user["sandboxID"])
        s.until(lambda: stored(s, "roots") == 1)


def test_forks():
    with cells.running() as s:
        e = E2b(s)
        box = e.create(envVars={"WHO": "origin"}, metadata={"team": "blue"})
        e.sh(box, "echo before >/data/f; (while :; do date +%s%N >/tmp/t; sleep 0.05; done) "
                  ">/dev/null 2>&1 &")
        end = box["endAt"]
        forks = e.fork(box, count=5)
        tap.equal(len(forks), 5)
        boxes = [x["sandbox"] for x in forks]
        tap.equal(len({x["sandboxID"] for x in boxes}), 5)
        tap.equal([x["memory"] for x in forks], [False] * 5)
        for i, x in enumerate(boxes):
            e.sh(x, "echo %d >>/data/f" % i)
            tap.equal(x["metadata"]["team"], "blue")
        for i, x in enumerate(boxes):
            tap.equal(e.sh(x, "cat /data/f; echo $WHO"), "before\n%d\norigin\n" % i)
        shown = e.call("GET", "/sandboxes/" + box["sandboxID"], None, 200).json
        tap.equal((shown["state"], shown["endAt"]), ("running", end))
        first = e.sh(box, "cat /tmp/t")
        s.until(lambda: e.sh(box, "cat /tmp/t") != first)
        tap.equal(e.snapshots(), [], "nobody sees what they start from")
        for x in boxes:
            e.call("DELETE", "/sandboxes/" + x["sandboxID"])
        s.until(lambda: stored(s, "layers") == 0)


def test_forks_of_a_paused_one():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        e.sh(box, "echo before >/data/f")
        e.call("POST", "/sandboxes/%s/pause" % box["sandboxID"], {}, 204)
        [one, two] = e.fork(box, count=2)
        tap.equal(e.sh(one["sandbox"], "cat /data/f"), "before\n")
        tap.equal(e.sh(e.create(e.snapshot(box)["snapshotID"]), "cat /data/f"), "before\n")
        shown = e.call("GET", "/sandboxes/" + box["sandboxID"], None, 200).json
        tap.equal(shown["state"], "paused")
        [again] = e.fork(two["sandbox"])
        tap.equal(e.sh(again["sandbox"], "cat /data/f"), "before\n")


def test_what_cannot_be_forked():
    with cells.running() as s:
        e = E2b(s)
        box = e.create()
        path = "/sandboxes/%s/fork" % box["sandboxID"]
        answer = e.call("POST", "/sandboxes/%s/fork" % ("0" * 32), {}, 404)
        tap.equal(answer.json["code"], 404)
        for body in ({"count": 0}, {"count": 101}, {"count": "x"}, {"timeout": 0},
                     {"timeout": 10 ** 9}):
            e.call("POST", path, body, 400)
        # What would be lost silently is refused.
        for target in (path, "/sandboxes/%s/snapshots" % box["sandboxID"]):
            answer = e.call("POST", target, {"memory": True}, 501)
            tap.contains(answer.json["message"], "memory is not kept")
            e.call("POST", target, {"memory": "yes"}, 400)
        tap.equal(e.snapshots(), [])
        e.call("POST", path, {"memory": False}, 201)
        other = E2b(s, s.make_key(account="stranger")["key"])
        other.call("POST", path, {}, 404)
        info = e.snapshot(box, name="private")
        tap.equal(other.snapshots(), [])
        other.call("POST", "/v2/sandboxes", {"templateID": info["snapshotID"]}, 404)
        other.call("DELETE", "/templates/" + info["snapshotID"], None, 404)


def test_the_quota_counts_snapshots():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_SNAPSHOTS": "1MiB"}) as s:
        e = E2b(s, s.make_key(account="tenant")["key"])
        box = e.create()
        e.sh(box, "head -c 600000 /dev/urandom >/root/big")
        e.snapshot(box, name="fits")
        answer = e.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], {}, 429)
        tap.contains(answer.json["message"], "snapshots")
        e.call("DELETE", "/templates/fits", None, 204)
        s.until(lambda: stored(s, "layers") == 0)
        e.snapshot(box)
        # Files without content are not free.
        other = e.create()
        e.sh(other, "mkdir /root/many && cd /root/many && touch $(seq 1500)")
        answer = e.call("POST", "/sandboxes/%s/snapshots" % other["sandboxID"], {}, 429)
        tap.contains(answer.json["message"], "snapshots")


def test_how_many_an_account_can_have():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_ROOTS": "3"}) as s:
        e = E2b(s, s.make_key(account="tenant")["key"])
        box = e.create()
        for i in range(3):
            e.snapshot(box, name="n%d" % i)
        answer = e.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], {}, 429)
        tap.contains(answer.json["message"], "saved file systems")
        s.until(lambda: stored(s, "layers") == 3)
        # Those of others are their own.
        other = E2b(s, s.make_key(account="other")["key"])
        other.snapshot(other.create())
        s.stop()
        s.start()
        e.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], {}, 429)
        e.call("DELETE", "/templates/n0", None, 204)
        e.snapshot(box)


def test_snapshots_have_a_maximum():
    """In number as well: empty ones take room from others, too."""
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_ROOTS": "2"}) as s:
        one, two = (E2b(s, s.make_key(account=x)["key"]) for x in ("one", "two"))
        box = one.create()
        one.snapshot(box, name="first")
        one.snapshot(box, name="second")
        path = "/sandboxes/%s/snapshots" % box["sandboxID"]
        answer = one.call("POST", path, {"name": "third"}, 429)
        tap.contains(answer.json["message"], "saved file systems (2/2)")
        answer = one.call("POST", "/sandboxes/%s/fork" % box["sandboxID"], {"count": 1}, 429)
        two.snapshot(two.create(), name="first")
        one.call("DELETE", "/templates/first", None, 204)
        one.snapshot(box, name="third")


def test_many_files_count():
    """Also without a byte in them."""
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_SNAPSHOTS": "4MiB"}) as s:
        e = E2b(s, s.make_key(account="tenant")["key"])
        box = e.create()
        e.sh(box, "mkdir many; cd many; seq 2000 | xargs touch")
        answer = e.call("POST", "/sandboxes/%s/snapshots" % box["sandboxID"], {}, 429)
        tap.contains(answer.json["message"], "no room for a copy of the files")
        e.sh(box, "rm -r many")
        e.snapshot(box)


tap.main(globals())
