# SPDX-License-Identifier: MIT
"""One round of each interface: a local sandbox, an app, E2B's API and the protocol inside, and the
npm client e2b."""

import base64
import json
import os
import struct
import subprocess

import guest
import tap

MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def path_of(url):
    return url[url.index("/", len("http://")):]


def call(s, url, method, **params):
    """A message to an MCP server, without a key and without a session."""
    answer = s.post(path_of(url), {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
                    key=None, headers=MCP)
    tap.equal(answer.status, 200, answer)
    text = answer.body.decode()
    if not text.startswith("{"):
        text = [x[6:] for x in text.splitlines() if x.startswith("data: ")][-1]
    return json.loads(text)["result"]


def test_a_local_sandbox():
    with guest.service() as s:
        made = s.post("/local-sandbox", {"server_names": ["filesystem"]})
        tap.equal(made.status, 201, made)
        server = made.json["servers"][0]["mcp_server_url"]
        call(s, server, "tools/call", name="write_file",
             arguments={"path": "/data/a.txt", "content": "kept"})
        read = call(s, server, "tools/call", name="read_file", arguments={"path": "/data/a.txt"})
        tap.contains(json.dumps(read), "kept")
        tap.equal(s.delete("/local-sandbox/" + made.json["local_sandbox_id"]).status, 200)


def test_an_app():
    with guest.service() as s:
        made = s.post("/sandbox/jira", {"data": "default"})
        assert made.status in (200, 201), made
        url = made.json["server_url"]
        tools = [t["name"] for t in call(s, url, "tools/list")["tools"]]
        assert len(tools) > 5, tools
        found = call(s, url, "tools/call", name="jira_search", arguments={"jql": "order by key"})
        assert not found.get("isError"), found
        tap.equal(s.delete("/sandbox/jira/" + made.json["sandbox_id"]).status, 200)


def test_e2b():
    """What E2B's client sends: make, run a process, write and read a file, end."""
    with guest.service() as s:
        api = {"X-API-Key": s.key, "Content-Type": "application/json"}
        made = s.post("/e2b/v1/sandboxes", {"templateID": "base", "timeout": 300}, key=None,
                      headers=api)
        tap.equal(made.status, 201, made)
        box = made.json["sandboxID"]
        inside = {"E2b-Sandbox-Id": box, "E2b-Sandbox-Port": "49983",
                  "X-Access-Token": made.json.get("envdAccessToken") or "",
                  "Authorization": "Basic " + base64.b64encode(b"user:").decode()}
        message = json.dumps({"process": {"cmd": "/bin/bash",
                                          "args": ["-l", "-c", "echo $((6 * 7))"]}}).encode()
        ran = s.request("POST", "/process.Process/Start", key=None,
                        body=struct.pack(">BI", 0, len(message)) + message,
                        headers={**inside, "Content-Type": "application/connect+json",
                                 "Connect-Protocol-Version": "1"})
        tap.equal(ran.status, 200, ran)
        tap.contains(ran.body.decode(errors="replace"), base64.b64encode(b"42\n").decode())
        wrote = s.request("POST", "/files?path=note.txt&username=user", body=b"kept", key=None,
                          headers={**inside, "Content-Type": "application/octet-stream"})
        tap.equal(wrote.status, 200, wrote)
        read = s.get("/files?path=note.txt&username=user", key=None, headers=inside)
        tap.equal((read.status, read.body), (200, b"kept"))
        tap.equal(s.delete("/e2b/v1/sandboxes/" + box, key=None, headers=api).status, 200)


def run_e2b_client(area):
    """One area of tests/sdk with the newest client, unmodified."""
    npm = "/opt/run/npm/"
    suite = os.path.join(os.path.dirname(__file__), "..", "sdk", "suite", "main.mjs")
    with guest.service() as s:
        key = s.make_key(account="sdk", name="tests")["key"]
        env = dict(os.environ, E2B_API_KEY=key, E2B_API_URL=s.url + "/e2b/v1",
                   E2B_SANDBOX_URL=s.url, SDK_API_URL=s.url + "/e2b/v1", SDK_SANDBOX_URL=s.url,
                   SDK_MODULES=npm + "node_modules", SDK_VERSION="2.51", SDK_AREAS=area,
                   SDK_AT_ONCE="2")
        done = subprocess.run([npm + "node", suite], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600)
    failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    tap.equal(done.returncode, 0, "\n".join(failed)[-3000:])
    tap.contains(done.stdout, "\nok 10 ")


def test_the_e2b_client_runs_commands():
    run_e2b_client("commands")


def test_the_e2b_client_moves_files():
    run_e2b_client("files")


def test_the_e2b_client_pauses():
    run_e2b_client("pause")


tap.main(globals())
