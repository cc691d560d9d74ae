# SPDX-License-Identifier: MIT
"""Tools of local sandboxes do not hold up the service, however long what they get and give is."""

import json
import re

import cells
import service
import tap

RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
# Seconds; a sanitized program takes several times as long for the same.
with open(service.PROGRAM, "rb") as program:
    MOST = 0.25 if b"__asan_init" in program.read() else 0.05


def acquire(s, *names):
    answer = s.post("/local-sandbox", {"server_names": list(names)}, timeout=120)
    tap.equal(answer.status, 201, answer)
    return {x["server_name"]: x["mcp_server_url"][x["mcp_server_url"].index("/", 7):]
            for x in answer.json["servers"]}


def call(s, server, tool, **arguments):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments}}
    return s.post(server, json.dumps(message), key=None, headers=RPC, timeout=120)


def stall(s):
    """The most CPU time that a round of the loop took so far, in seconds."""
    text = s.get("/metrics").body.decode()
    return float(re.search(r"^tidepool_loop_stall_cpu_seconds (\S+)", text, re.M)[1])


def test_long_answers():
    with cells.running() as s:
        servers = acquire(s, "filesystem")
        s.run(s.names()[0], "yes '' | head -c 16000000 > /data/lines.txt")
        before = stall(s)
        answer = call(s, servers["filesystem"], "read_text_file", path="/data/lines.txt")
        tap.equal(answer.status, 200, answer)
        text = answer.json["result"]["content"][0]["text"]
        tap.equal((len(text), set(text)), (16000000, {"\n"}))
        took = stall(s)
        assert took < MOST, "a round of the loop took %.0f ms of CPU, %.0f before" % (
            took * 1000, before * 1000)


def test_long_messages():
    with cells.running() as s:
        servers = acquire(s, "filesystem")
        write = {"server": servers["filesystem"], "tool": "write_file", "path": "/data/a"}
        answer = call(s, **write, content="\n" * 2000000)
        tap.equal(answer.json["result"]["isError"], False, answer)
        answer = call(s, **write, content="\n" * 8000000)
        tap.equal(answer.status, 413, answer)
        assert stall(s) < MOST, stall(s)


tap.main(globals())
