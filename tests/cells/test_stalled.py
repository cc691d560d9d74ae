# SPDX-License-Identifier: MIT
"""Clients that stop reading or sending: a live stream is held back for long, anything else is given
up soon, and nothing of an upload is left that could be taken for the whole."""

import http.client
import json
import socket
import time

import cells
import connect
import tap
from open_request import Stream

MIB = 1 << 20
LINES = 400000
HEADERS = {"Content-Type": "application/octet-stream"}


class Slow(http.client.HTTPConnection):
    """A connection with little room for what is not read."""

    def connect(self):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.settimeout(60)
        self.sock.connect((self.host, self.port))


def count(box):
    return box.stream("process.Process/Start", {"stdin": False, "process": {
        "cmd": "/usr/bin/seq", "args": [str(LINES)]}})


def read_lines(stream):
    text = "".join(connect.text(m["event"]["data"]["stdout"]) for m in stream
                   if "data" in m["event"])
    return text.count("\n"), stream.end


def test_a_live_stream_is_held_back():
    with cells.running(env={"TIDEPOOL_TIMEOUTS_WRITE": "300ms"}) as s:
        stream = count(connect.make_box(s, Slow))
        time.sleep(1.5)
        tap.equal(read_lines(stream), (LINES, {}))


def test_but_not_for_ever():
    env = {"TIDEPOOL_TIMEOUTS_WRITE": "300ms", "TIDEPOOL_TIMEOUTS_STREAM": "500ms"}
    with cells.running(env=env) as s:
        stream = count(connect.make_box(s, Slow))
        time.sleep(2)
        try:
            read_lines(stream)
        except (OSError, http.client.HTTPException, AssertionError, json.JSONDecodeError):
            return
        raise AssertionError("it was waited for")


def test_the_next_response_is_not_waited_for():
    """The patience is that of one response, not of its connection."""
    with cells.running(env={"TIDEPOOL_TIMEOUTS_WRITE": "300ms"}) as s:
        s.create(name="own")
        s.run("own", "truncate -s 64M /data/big")
        box = connect.make_box(s, Slow)
        stream = box.stream("process.Process/Start", {"stdin": False, "process": {
            "cmd": "/bin/true", "args": []}})
        while stream.end is None:
            head = stream.answer.read(5)
            stream.end = json.loads(stream.answer.read(int.from_bytes(head[1:], "big"))) \
                if head[0] & 2 else stream.answer.read(int.from_bytes(head[1:], "big")) and None
        stream.answer.read()
        c = stream.conn
        c.request("GET", "/api/v1/sandbox/files/own/download?path=/data/big", None,
                  {"Authorization": "Bearer " + s.key})
        answer = c.getresponse()
        time.sleep(1.5)
        try:
            n = len(answer.read())
        except (OSError, http.client.IncompleteRead):
            n = 0
        c.close()
        assert n < 64 * MIB, "it was waited for"


def test_uploads_that_stall_leave_nothing():
    with cells.running(env={"TIDEPOOL_TIMEOUTS_BODY": "300ms"}) as s:
        s.create(name="own")
        box = connect.make_box(s, Slow)
        tap.equal(box.call("POST", "/files?path=/tmp/old", b"old", HEADERS)[0], 200)
        for target, more in (("/api/v1/sandbox/files/own/upload?path=/data/new", {}),
                             (box.prefix + "/files?path=/tmp/new", box.headers),
                             (box.prefix + "/files?path=/tmp/old", box.headers)):
            upload = Stream(s, "POST", target, 1 << 30, {**HEADERS, **more})
            upload.c.send(b"x" * MIB)
            status, is_whole, body = upload.answer()
            tap.equal((status, is_whole), (408, True), body)
        s.until(lambda: s.run("own", "ls -A /data")["output"] == "")
        s.until(lambda: box.call("GET", "/files?path=/tmp/new")[0] == 404)
        tap.equal(box.call("GET", "/files?path=/tmp/old")[2], b"")


tap.main(globals())
