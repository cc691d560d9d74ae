# SPDX-License-Identifier: MIT
"""Volumes: their size, whose they are, what is left of them after restarts and kills. What clients
of E2B do with them is in tests/sdk/suite/volumes.mjs."""

import os
import shutil
import signal

import cells
import stalls
import tap

SMALL = {"TIDEPOOL_CELLS_VOLUME_DISK": "16MiB"}


def make(s, name, key="", status=201):
    answer = s.post("/e2b/v1/volumes", {"name": name}, key=key, timeout=60)
    tap.equal(answer.status, status, answer)
    return answer.json


def content(s, method, volume, what, body=None, **query):
    text = "&".join("%s=%s" % x for x in query.items())
    return s.request(method, "/e2b/v1/volumecontent/%s/%s?%s" % (volume["volumeID"], what, text),
                     body=body, key=volume["token"], timeout=60)


def mounted(s, volume, key="", path="/mnt/v"):
    """A sandbox with the volume; its name and id."""
    answer = s.post("/e2b/v1/v2/sandboxes", {
        "templateID": "base", "volumeMounts": [{"name": volume["name"], "path": path}]},
        key=key, timeout=60)
    tap.equal(answer.status, 201, answer)
    return answer.json["metadata"]["name"], answer.json["sandboxID"]


def files_of(s):
    return sorted(os.listdir(os.path.join(s.state, "volumes")))


def test_the_size_is_kept():
    with cells.running(env=SMALL) as s:
        volume = make(s, "small")
        name, _ = mounted(s, volume)
        out = s.run(name, "dd if=/dev/zero of=/mnt/v/big bs=1M count=64 2>&1; rm /mnt/v/big")
        assert "No space left" in out["output"], out
        written = content(s, "PUT", volume, "file", body=b"x" * (32 << 20), path="/big")
        tap.equal(written.status, 507, written)
        tap.equal(content(s, "GET", volume, "dir", path="/").json, [], "nothing is left of it")
        tap.equal(content(s, "PUT", volume, "file", body=b"y", path="/ok").status, 201)


def test_long_lists_hold_up_nobody():
    with cells.running() as s:
        volume = make(s, "long")
        name, _ = mounted(s, volume)
        s.run(name, "cd /mnt/v && mkdir -p d && cd d && seq -f %0200.0f 9900 | xargs touch")
        with stalls.Watched(s, "a list of 9900 files"):
            for _ in range(3):
                tap.equal(len(content(s, "GET", volume, "dir", path="/d").json), 9900)
        s.run(name, "cd /mnt/v/d && seq -f %0100.0f 200 | xargs touch")
        answer = content(s, "GET", volume, "dir", path="/d")
        tap.equal((answer.status, "10000 entries" in answer.json["message"]), (400, True))


def test_restarts():
    for how in (signal.SIGTERM, signal.SIGKILL):
        with cells.running(env=SMALL) as s:
            volume = make(s, "lasting")
            name, _ = mounted(s, volume)
            s.run(name, "echo before > /mnt/v/file")
            s.signal(how)
            s.wait()
            s.start()
            tap.equal(s.get("/e2b/v1/volumes/" + volume["volumeID"]).json, volume)
            # The cell has it mounted still: it must be the same file system.
            tap.equal(content(s, "GET", volume, "file", path="/file").body, b"before\n")
            s.run(name, "echo after >> /mnt/v/file")
            tap.equal(content(s, "GET", volume, "file", path="/file").body, b"before\nafter\n")
            tap.equal(content(s, "PUT", volume, "file", body=b"2", path="/two").status, 201)
            tap.equal(s.run(name, "cat /mnt/v/two")["output"], "2")
            tap.equal(s.delete("/e2b/v1/volumes/" + volume["volumeID"]).status, 409, "in use")
            s.remove(name)
            tap.equal(s.delete("/e2b/v1/volumes/" + volume["volumeID"]).status, 204)
            s.until(lambda: files_of(s) == [])


def test_files_and_rows_that_lack_each_other():
    with cells.running(env=SMALL) as s:
        lost, kept = make(s, "lost"), make(s, "kept")
        s.signal(signal.SIGTERM)
        s.wait()
        os.unlink(os.path.join(s.state, "volumes", lost["volumeID"] + ".img"))
        shutil.copy(os.path.join(s.state, "volumes", kept["volumeID"] + ".img"),
                    os.path.join(s.state, "volumes", "0" * 24 + ".img"))
        s.start()
        tap.equal([x["name"] for x in s.get("/e2b/v1/volumes").json], ["kept"])
        tap.equal(files_of(s), [kept["volumeID"] + ".img"])
        reasons = [x["reason"] for x in s.get("/api/v1/events?sandbox=lost").json["data"]]
        tap.equal(reasons, ["VolumeLost", "VolumeCreated"])


def test_whose_they_are():
    with cells.running(env=SMALL) as s:
        one, two = (s.make_key(account=x)["key"] for x in ("one", "two"))
        volume = make(s, "same", key=one)
        other = make(s, "same", key=two)
        assert other["volumeID"] != volume["volumeID"]
        path = "/e2b/v1/volumes/" + volume["volumeID"]
        tap.equal(s.get(path, key=two).status, 404)
        tap.equal(s.delete(path, key=two).status, 404)
        tap.equal([x["volumeID"] for x in s.get("/e2b/v1/volumes", key=two).json],
                  [other["volumeID"]])
        stolen = dict(volume, token=other["token"])
        tap.equal(content(s, "GET", stolen, "dir", path="/").status, 401)
        name, _ = mounted(s, volume, key=one)
        s.run(name, "echo one > /mnt/v/mine", key=one)
        theirs, _ = mounted(s, other, key=two)
        tap.equal(s.run(theirs, "ls /mnt/v", key=two)["output"], "")


def test_limits():
    env = dict(SMALL, TIDEPOOL_QUOTA_ACCOUNT_VOLUMES="2", TIDEPOOL_QUOTA_ACCOUNT_DISK="20MiB")
    with cells.running(env=env) as s:
        key = s.make_key(account="one")["key"]
        volume = make(s, "a", key=key)
        refused = make(s, "b", key=key, status=429)
        assert "disk" in refused["message"], refused
        tap.equal(s.delete("/e2b/v1/volumes/" + volume["volumeID"], key=key).status, 204)
        make(s, "b", key=key)
    with cells.running(env=dict(SMALL, TIDEPOOL_QUOTA_ACCOUNT_VOLUMES="1")) as s:
        key = s.make_key(account="one")["key"]
        make(s, "a", key=key)
        refused = make(s, "b", key=key, status=429)
        assert "volumes" in refused["message"], refused
        tap.equal([x["name"] for x in s.get("/e2b/v1/volumes", key=key).json], ["a"])


def test_plain_directories():
    with cells.running(env={"TIDEPOOL_CELLS_DISK_KIND": "dir"}) as s:
        volume = make(s, "plain")
        name, _ = mounted(s, volume)
        s.run(name, "echo hi > /mnt/v/file; ln -s / /mnt/v/root")
        tap.equal(content(s, "GET", volume, "file", path="/file").body, b"hi\n")
        tap.equal(content(s, "GET", volume, "file", path="/root/etc/passwd").status, 400)
        tap.equal(files_of(s), [volume["volumeID"]])
        owner = os.stat(os.path.join(s.state, "volumes", volume["volumeID"], "file"))
        tap.equal(owner.st_uid < 65536, True, "uids are those of the inside")


def test_a_failed_create_leaves_nothing():
    with cells.running(env=SMALL) as s:
        volume = make(s, "v")
        answer = s.post("/e2b/v1/v2/sandboxes", {
            "templateID": "base", "volumeMounts": [{"name": "v", "path": "/etc/passwd/x"}]})
        tap.equal(answer.status, 400, answer)
        tap.equal(s.names(), [])
        tap.equal(s.delete("/e2b/v1/volumes/" + volume["volumeID"]).status, 204)


tap.main(globals())
