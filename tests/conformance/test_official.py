# SPDX-License-Identifier: MIT
"""The official client and conformance suite of MCP against the server of this folder, and the suite
against the app `conformance` of the service."""

import json
import os
import re
import subprocess

import clients
import mcp_server
import service
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
PINS = clients.Pins(HERE, "npm-mcp", oldest=(22,), version="22.23.3")


def run(server, *command):
    folder = PINS.install()
    done = subprocess.run(PINS.node(*command), capture_output=True, text=True, timeout=250,
                          cwd=os.path.dirname(folder))
    return done


TASKS = ["tasks-capability-negotiation", "tasks-dispatch-and-envelope", "tasks-lifecycle",
         "tasks-mrtr-composition", "tasks-mrtr-input", "tasks-request-headers",
         "tasks-request-state-removal", "tasks-required-task-error", "tasks-wire-fields"]


def requirements(url, revision):
    """The scenarios that pass; those that the suite does not count for REVISION may fail."""
    program = os.path.join(PINS.install(), "@modelcontextprotocol", "conformance", "dist",
                           "index.js")
    done = run(url, program, "server", "--url", url, "--requirements", revision)
    summary = done.stdout[done.stdout.find("=== SUMMARY ==="):]
    scored, _, rest = summary.partition("Not scored for")
    uncounted = re.findall(r"^ +[✓✗] (\S+)", rest, re.M)
    passed = re.findall(r"^✓ (\S+): [1-9]", scored, re.M)
    failed = [n for n in re.findall(r"^✗ (\S+):", scored, re.M) if n not in uncounted]
    tap.equal(failed, [], "scenarios that fail")
    tap.equal(done.returncode, 0, "exit status of the suite")
    return passed


def test_requirements_of_2025_11_25():
    with mcp_server.running() as server:
        passed = requirements(server.url + "/mcp", "2025-11-25")
    tap.equal(len(passed) >= 30, True, "30 scenarios pass")


def test_requirements_of_2026_07_28():
    with mcp_server.running() as server:
        passed = requirements(server.url + "/mcp", "2026-07-28")
    tap.equal(len(passed) >= 37, True, "37 scenarios pass")
    for name in ("http-header-validation", "http-custom-header-server-validation", *TASKS):
        tap.contains(passed, name)


def test_the_app():
    """Acquired like any other. Two scenarios that do not count lose the query of the URL."""
    with service.running() as s:
        for revision, n in (("2025-11-25", 30), ("2026-07-28", 35)):
            answer = s.post("/sandbox/conformance")
            tap.equal(answer.status, 201, answer)
            passed = requirements(answer.json["server_url"], revision)
            tap.equal(len(passed) >= n, True, "%d scenarios of %s pass" % (n, revision))
            if revision == "2026-07-28":
                for name in TASKS:
                    tap.contains(passed, name)


def check_use(got, tools):
    tap.equal(len(got["tools"]), tools, "tools, all pages")
    tap.equal(got["sum"], {"sum": 3})
    tap.equal(got["sampling"], "LLM response: sampled")
    tap.contains(got["elicitation"], '"username":"ann"')
    tap.equal(got["missing"], -32002)
    tap.equal(got["forever"], "cancelled")
    tap.contains(got["read"], '"id":"7"')


def script_of(name):
    """The script where it finds what npm installed."""
    script = os.path.join(os.path.dirname(PINS.install()), name)
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        text = f.read()
    with open(script, "w", encoding="utf-8") as f:
        f.write(text)
    return script


def test_client():
    script = script_of("client.mjs")
    with mcp_server.running(page=7) as server:
        done = run(server, script, server.url)
        tap.equal(done.returncode, 0, done.stderr[-2000:])
        got = json.loads(done.stdout)
        check_use(got["streamable"], server.n_tools)
        check_use(got["older"], server.n_tools)
        tap.equal(got["seen"]["logs"] >= 6, True, "log lines")
        tap.equal(got["seen"]["progress"], [0, 50, 100] * 2)
        tap.equal(got["seen"]["updated"], ["test://watched-resource"] * 2)
        tap.equal(got["seen"]["toolsChanged"], 2)
        tap.equal(server.wait_for("cancelled", 2), True, "calls that learned of it")


def check_tasks(got):
    tap.equal(got["capability"], {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}})
    tap.equal(got["support"], {"slow_compute": "optional", "failing_job": "required"})
    tap.equal(got["slow"][0], "taskCreated")
    tap.equal(got["slow"][-1], "result: Computed: sdk")
    tap.equal(got["asked"], "Deleted")
    tap.equal((got["failing"], got["broken"]), ("the job failed", "error"))
    tap.equal((got["cancelled"], got["again"]), ("cancelled", -32602))
    tap.equal((got["missing"], got["sync"], got["unneeded"]), (-32602, -32601, -32601))
    tap.equal(got["listed"], True)


def test_tasks_of_the_client():
    """The experimental tasks of the client, over both transports that it has."""
    script = script_of("tasks.mjs")
    with mcp_server.running() as server:
        done = run(server, script, server.url)
        tap.equal(done.returncode, 0, done.stderr[-2000:])
        got = json.loads(done.stdout)
        check_tasks(got["streamable"])
        check_tasks(got["older"])
        for status in ("completed", "cancelled", "input_required", "failed"):
            tap.contains(got["notices"], status)


tap.main(globals())
