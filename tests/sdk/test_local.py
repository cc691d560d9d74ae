# SPDX-License-Identifier: MIT
"""Local sandboxes with the official client of MCP and the Inspector, on the address of every server
that there is; and a server of npm's that the operator has added."""

import concurrent.futures
import io
import json
import os
import shutil
import subprocess
import tarfile

import cells
import clients
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
# The same packages as tests/conformance, and as tests/local.
PINS = clients.Pins(os.path.join(TESTS, "conformance"), "npm-mcp", oldest=(22,),
                    version="22.23.3")
SERVERS = clients.Pins(os.path.join(TESTS, "local"), "npm-local", oldest=(20, 0, 0),
                       version="20.20.2")
EVERYTHING = "@modelcontextprotocol/server-everything"


def run(*command):
    folder = PINS.install()
    done = subprocess.run(PINS.node(*command), capture_output=True, text=True, timeout=500,
                          cwd=os.path.dirname(folder))
    tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def run_script(urls):
    """Scripts find packages from where they are, so they are run beside them."""
    folder = os.path.dirname(PINS.install())
    shutil.copy(os.path.join(HERE, "local.mjs"), folder)
    return json.loads(run(os.path.join(folder, "local.mjs"), json.dumps(urls)))


def acquire(s, names, **fields):
    answer = s.post("/local-sandbox", {"server_names": names, **fields}, timeout=120)
    tap.equal(answer.status, 201, answer)
    urls = {x["server_name"]: x["mcp_server_url"] for x in answer.json["servers"]}
    return answer.json["local_sandbox_id"], urls


def tools_of(name):
    path = os.path.join(clients.SOURCE, "local", name + ".json")
    if not os.path.exists(path):  # it is an app
        with open(os.path.join(clients.SOURCE, "apps", name, "tools.json")) as f:
            return len(json.load(f))
    with open(path) as f:
        doc = json.load(f)
    without = doc.get("benchmarks", {}).get("MCP_Atlas", {}).get("without", [])
    return len([x for x in doc["tools"] if x["name"] not in without])


def test_the_official_client():
    with cells.running() as s:
        _, urls = acquire(s, "ALL", benchmark="MCP_Atlas")
        got = run_script(urls)
        tap.equal(sorted(got["visited"]), sorted(urls))
        for name, one in got["visited"].items():
            tap.equal(len(one["tools"]), tools_of(name), name)
            tap.equal(one["isKnown"] and one["isError"], False, one)
            tap.equal(one["code"] in (0, -32602), True, one)
        tap.equal(got["visited"]["code-runner"]["text"], "hi\n")
        tap.equal(set(got["hurried"].values()), {got["sessions"]})


def inspect(url):
    program = os.path.join(PINS.install(), "@modelcontextprotocol", "inspector", "cli", "build",
                           "index.js")
    return json.loads(run(program, url, "--transport", "http", "--method", "tools/list"))


def test_the_inspector():
    with cells.running() as s, concurrent.futures.ThreadPoolExecutor(2) as pool:
        _, urls = acquire(s, "ALL", benchmark="MCP_Atlas")
        PINS.install()
        for name, listed in zip(urls, pool.map(inspect, urls.values())):
            tap.equal(len(listed["tools"]), tools_of(name), name)


def closure(modules, name, found):
    """What a package needs to run, as npm has laid it out."""
    if name in found:
        return found
    found.add(name)
    with open(os.path.join(modules, name, "package.json")) as f:
        for other in json.load(f).get("dependencies", {}):
            if os.path.isdir(os.path.join(modules, other)):
                closure(modules, other, found)
    return found


def packed():
    modules, out = SERVERS.install(), io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for name in sorted(closure(modules, EVERYTHING, set())):
            tar.add(os.path.join(modules, name), "node_modules/" + name)
    return out.getvalue()


def test_a_server_of_npm():
    node = os.path.realpath(SERVERS.node("x")[0])
    if not node.startswith("/usr/"):
        raise tap.Skip("cells do not see a Node of " + node)
    own = {"everything": {"command": node, "args": [
        "/data/node_modules/%s/dist/index.js" % EVERYTHING, "stdio"]}}
    with cells.running(env={"TIDEPOOL_LOCAL_SERVERS": json.dumps(own)}) as s:
        sandbox, urls = acquire(s, ["everything"])
        place = s.post("/local-sandbox/%s/upload-url" % sandbox, {}).json["upload_url"]
        put = s.request("PUT", place[place.index("/", 8):], packed(), key=None, timeout=120)
        tap.equal(put.status, 200, put)
        done = s.post("/local-sandbox/%s/initialize" % sandbox, {}, timeout=120)
        tap.equal(done.status, 200, done)
        got = run_script(urls)["everything"]
        tap.contains(got["tools"], "echo")
        tap.equal(got["echo"], "Echo: hello")
        tap.contains(got["sum"], "5")
        tap.equal((got["structured"], got["image"], got["unknown"]), (True, True, True))
        tap.equal(got["progress"], [1, 2, 3, 4])
        tap.contains(got["long"], "completed")
        tap.equal((got["resources"] > 0, got["prompts"] > 0), (True, True))
        tap.equal(got["others"], ["Echo: from %d" % i for i in (1, 2, 3, 4)])
        log = s.get("/local-sandbox/%s/servers/everything/log" % sandbox).json["log"]
        tap.contains(log, "[started '%s'" % node)


tap.main(globals())
