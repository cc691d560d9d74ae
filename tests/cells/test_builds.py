# SPDX-License-Identifier: MIT
"""Builds of templates past the clients: restarts, other accounts, limits, and malformed requests.
What clients of E2B do with them is in tests/sdk/suite/builds.mjs."""

import os
import re
import signal
import socket
import time

import cells
import maxima
import tap

BASE = "/e2b/v1"


def request(s, name, key="", **more):
    answer = s.post(BASE + "/v3/templates", dict(more, name=name), key=key)
    tap.equal(answer.status, 202, answer)
    return answer.json


def start(s, made, key="", status=202, **spec):
    path = BASE + "/v2/templates/%s/builds/%s" % (made["templateID"], made["buildID"])
    answer = s.post(path, spec, key=key)
    tap.equal(answer.status, status, answer)
    return answer


def state_of(s, made, key=""):
    return s.get(BASE + "/templates/%s/builds/%s/status" % (made["templateID"], made["buildID"]),
                 key=key)


def wait(s, made, key=""):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        got = state_of(s, made, key).json
        if got["status"] in ("ready", "error"):
            return got
        time.sleep(0.05)
    raise AssertionError("the build does not end")


def build(s, name, key="", **spec):
    made = request(s, name, key)
    start(s, made, key, **spec)
    return made, wait(s, made, key)


def run_step(command, *user):
    return {"type": "RUN", "args": [command, *user]}


def create(s, name, key="", status=201):
    answer = s.post(BASE + "/v2/sandboxes", {"templateID": name}, key=key, timeout=60)
    tap.equal(answer.status, status, answer)
    return answer.json


def test_what_was_built_survives():
    for how in (signal.SIGTERM, signal.SIGKILL):
        with cells.running() as s:
            made, got = build(s, "lasting:v2", fromImage="e2bdev/base",
                              steps=[run_step("echo kept > /home/user/kept")])
            tap.equal(got["status"], "ready", got)
            s.signal(how)
            s.wait()
            s.start()
            box = create(s, "lasting:v2")
            tap.equal(s.run(box["metadata"]["name"], "cat /home/user/kept")["output"], "kept\n")
            tags = s.get(BASE + "/templates/lasting/tags").json
            tap.equal([(x["tag"], x["buildID"]) for x in tags], [("v2", made["buildID"])])
            create(s, "lasting", status=404)


def test_a_restart_in_the_middle():
    with cells.running() as s:
        made = request(s, "broken")
        start(s, made, steps=[run_step("sleep 60")])
        s.until(lambda: len(s.names()) == 1)
        s.signal(signal.SIGKILL)
        s.wait()
        s.start()
        s.until(lambda: s.names() == [])
        tap.equal(state_of(s, made).status, 404)
        create(s, "broken", status=404)


def test_whose_they_are():
    with cells.running() as s:
        one, two = (s.make_key(account=x)["key"] for x in ("one", "two"))
        made, got = build(s, "mine", one, steps=[run_step("true")])
        tap.equal(got["status"], "ready", got)
        tap.equal(state_of(s, made, two).status, 404)
        create(s, "mine", two, status=404)
        tap.equal(s.delete(BASE + "/templates/mine", key=two).status, 404)
        names = [x["aliases"] for x in s.get(BASE + "/templates", key=two).json]
        tap.equal(["mine"] in names, False)
        tap.equal(["mine"] in [x["aliases"] for x in s.get(BASE + "/templates", key=one).json],
                  True)


def test_records_of_others_stay():
    """There is room for 256 in all: who asks for more pushes out his own."""
    with cells.running() as s:
        one, two = (s.make_key(account=x)["key"] for x in ("one", "two"))
        waiting = request(s, "mine", one)
        done, _ = build(s, "done", one, steps=[run_step("true")])
        first = request(s, "flood", two)
        for _ in range(300):
            last = request(s, "flood", two)
        tap.equal([state_of(s, x, two).status for x in (first, last)], [404, 200])
        tap.equal([state_of(s, x, one).json["status"] for x in (waiting, done)],
                  ["waiting", "ready"])
        tap.equal(maxima.used(s, "builds", "account"), 64)
        start(s, waiting, one, steps=[])
        tap.equal(wait(s, waiting, one)["status"], "ready")


def test_tags_have_a_maximum():
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_TAGS": "3"}) as s:
        one, two = (s.make_key(account=x)["key"] for x in ("one", "two"))

        def tag(*tags, key=one):
            return s.post(BASE + "/templates/tags", {"target": "mine", "tags": tags},
                          key=key).status

        for key in (one, two):
            tap.equal(build(s, "mine", key, steps=[])[1]["status"], "ready")
        tap.equal([tag("a", "b"), tag("c"), tag("a"), tag("a", "c")], [201, 429, 201, 429])
        tap.equal(len(s.get(BASE + "/templates/mine/tags", key=one).json), 3)
        tap.equal(tag("a", key=two), 201)
        answer = s.request("DELETE", BASE + "/templates/tags",
                           body={"name": "mine", "tags": ["b"]}, key=one)
        tap.equal(answer.status, 204, answer)
        s.signal(signal.SIGTERM)
        s.wait()
        s.start()
        tap.equal([tag("c"), tag("d")], [201, 429], "also after a restart")
        _, got = build(s, "mine:e", one, steps=[])
        tap.equal(got["status"], "error")
        tap.contains(got["reason"]["message"], "template tags (3/3)")


def test_long_lines_of_the_log():
    with cells.running() as s:
        _, got = build(s, "long", steps=[run_step("head -c 300000 /dev/zero | tr '\\0' '\\1'")])
        tap.equal(got["status"], "ready", got)
        lines = [x["message"] for x in got["logEntries"] if x["message"].startswith("\1")]
        tap.equal({len(x) for x in lines[:10]}, {8192})


def test_files_have_a_maximum():
    """Each counts for 1 MiB at least; the oldest go."""
    with cells.running(env={"TIDEPOOL_QUOTA_ACCOUNT_BUILD_FILES": "2MiB"}) as s:
        key, other = (s.make_key(account=x)["key"] for x in ("one", "two"))

        def place(i, key):
            return s.get(BASE + "/templates/x/files/" + "%064x" % i, key=key).json

        for i, whose in ((1, other), (1, key), (2, key), (3, key)):
            url = place(i, whose)["url"][len(s.url):]
            tap.equal(s.request("PUT", url, body=b"x", key=None).status, 200)
        s.until(lambda: not place(1, key)["present"])
        tap.equal([place(i, key)["present"] for i in (2, 3)], [True, True])
        tap.equal(place(1, other)["present"], True)


def test_files_are_uploaded_once():
    with cells.running() as s:
        key = s.make_key(account="one")["key"]
        made = request(s, "copies", key)
        path = BASE + "/templates/%s/files/%s" % (made["templateID"], "ab" * 32)
        tap.equal(s.get(path.replace("ab" * 32, "xyz"), key=key).status, 400)
        first = s.get(path, key=key)
        tap.equal((first.status, first.json["present"]), (201, False))
        url = first.json["url"][len(s.url):]
        tap.equal(s.request("PUT", url[:-3] + "000", body=b"x", key=None).status, 403)
        later = re.sub("expires=[0-9]+", lambda x: x[0] + "0", url)
        tap.equal(s.request("PUT", later, body=b"x", key=None).status, 403)
        tap.equal(s.request("PUT", url.replace("expires", "x"), body=b"x", key=None).status, 403)
        tap.equal(s.request("PUT", url, body=b"not an archive", key=None).status, 200)
        tap.equal(s.get(path, key=key).json, {"present": True})
        start(s, made, key, steps=[{"type": "COPY", "args": ["a", "/a", "", ""],
                                    "filesHash": "ab" * 32}])
        got = wait(s, made, key)
        tap.equal((got["status"], got["reason"]["step"]), ("error", "1"))
        made = request(s, "copies", key)
        start(s, made, key, steps=[{"type": "COPY", "args": ["a", "/a"], "filesHash": "cd" * 32}])
        tap.equal(wait(s, made, key)["reason"]["message"], "its files were not uploaded")


def test_uploads_have_limits():
    with cells.running() as s:
        key = s.make_key(account="one")["key"]
        made = request(s, "copies", key)

        def url(i):
            path = BASE + "/templates/%s/files/%064x" % (made["templateID"], i)
            return s.get(path, key=key).json["url"][len(s.url):]
        open_ones = []
        for i in range(16):
            c = socket.create_connection((s.host, s.port), timeout=30)
            c.sendall(("PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"
                       % url(i)).encode())
            open_ones.append(c)
        folder = os.path.join(s.state, "builds")
        s.until(lambda: len(os.listdir(folder)) == 16)
        answer = s.request("PUT", url(16), body=b"x", key=None)
        tap.equal(answer.status, 429, answer)
        other = s.make_key(account="two")["key"]
        path = s.get(BASE + "/templates/x/files/" + "ab" * 32, key=other).json["url"][len(s.url):]
        tap.equal(s.request("PUT", path, body=b"x", key=None).status, 200)
        for c in open_ones:
            c.close()
        s.until(lambda: len(os.listdir(folder)) == 1, 30)


def test_records_of_one_account_stay():
    """One account's builds do not push out those of another."""
    with cells.running() as s:
        one, two = (s.make_key(account=x)["key"] for x in ("one", "two"))
        mine, first = request(s, "mine", two), request(s, "first", one)
        for i in range(64):
            last = request(s, "n%d" % i, one)
        tap.equal([state_of(s, x, k).status for x, k in ((mine, two), (first, one), (last, one))],
                  [200, 404, 200])


def test_every_step_has_the_environment():
    """However many there are, and however large it is."""
    with cells.running() as s:
        steps = [{"type": "ENV", "args": ["BIG", "x" * 100000]}]
        steps += [run_step("test ${#BIG} = 100000")] * 100
        _, got = build(s, "large", steps=steps)
        tap.equal(got["status"], "ready", got)


def test_slow_steps_are_cached():
    with cells.running() as s:
        slow, fails = run_step("sleep 2.2; date +%N > /home/user/when"), run_step("false")
        _, got = build(s, "cached", steps=[slow, fails])
        tap.equal((got["status"], got["reason"]["step"]), ("error", "2"))
        _, got = build(s, "cached", steps=[slow, run_step("cat /home/user/when")])
        tap.equal(got["status"], "ready", got)
        lines = [x["message"] for x in got["logEntries"]]
        tap.equal(any(x.startswith("CACHED [1/2] RUN sleep") for x in lines), True, lines)
        _, got = build(s, "cached", steps=[slow, run_step("cat /home/user/when")], force=True)
        lines = [x["message"] for x in got["logEntries"]]
        tap.equal(any(x.startswith("CACHED") for x in lines), False, lines)


def test_malformed():
    with cells.running() as s:
        for name in ("", "no spaces", "a/b", "x" * 200):
            tap.equal(s.post(BASE + "/v3/templates", {"name": name}).status, 400, name)
        made = request(s, "once", tags=["a", "b"])
        tap.equal(made["tags"], ["a", "b"])
        start(s, made, status=400, steps=7)
        start(s, made, status=400, steps=[{"type": "RUN", "args": [7]}])
        start(s, made, status=400, steps=[run_step("true")] * 257)
        start(s, made, steps=[{"type": "DANCE", "args": []}])
        got = wait(s, made)
        tap.equal((got["reason"]["step"], got["reason"]["message"]),
                  ("1", 'unknown kind of step "DANCE"'))
        start(s, made, status=400)
        tap.equal(s.get(BASE + "/templates/x/builds/y/status").status, 404)
        tap.equal(s.request("DELETE", BASE + "/templates/tags",
                            body={"name": "once", "tags": ["default"]}).status, 400)


tap.main(globals())
