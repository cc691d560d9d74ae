# SPDX-License-Identifier: MIT
"""The official client and conformance suite of MCP against the server of this folder."""

import json
import os
import re
import subprocess

import clients
import mcp_server
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
PINS = clients.Pins(HERE, "npm-mcp", oldest=(22,), version="22.23.3")


def run(server, *command):
    folder = PINS.install()
    done = subprocess.run(PINS.node(*command), capture_output=True, text=True, timeout=250,
                          cwd=os.path.dirname(folder))
    return done


def requirements(revision):
    with mcp_server.running() as server:
        program = os.path.join(PINS.install(), "@modelcontextprotocol", "conformance", "dist",
                               "index.js")
        done = run(server, program, "server", "--url", server.url + "/mcp", "--requirements",
                   revision)
    summary = done.stdout[done.stdout.find("=== SUMMARY ==="):]
    passed = re.findall(r"^✓ (\S+): [1-9]", summary, re.M)
    failed = [n for n in re.findall(r"^✗ (\S+):", summary, re.M) if not n.startswith("tasks-")]
    tap.equal(failed, [], "scenarios that fail")
    tap.equal(done.returncode, 0, "exit status of the suite")
    return passed


def test_requirements_of_2025_11_25():
    tap.equal(len(requirements("2025-11-25")) >= 30, True, "30 scenarios pass")


def test_requirements_of_2026_07_28():
    tap.equal(len(requirements("2026-07-28")) >= 37, True, "37 scenarios pass")


def check_use(got, tools):
    tap.equal(len(got["tools"]), tools, "tools, all pages")
    tap.equal(got["sum"], {"sum": 3})
    tap.equal(got["sampling"], "LLM response: sampled")
    tap.contains(got["elicitation"], '"username":"ann"')
    tap.equal(got["missing"], -32002)
    tap.equal(got["forever"], "cancelled")
    tap.contains(got["read"], '"id":"7"')


def test_client():
    folder = PINS.install()
    script = os.path.join(os.path.dirname(folder), "client.mjs")
    with open(os.path.join(HERE, "client.mjs"), encoding="utf-8") as f:
        text = f.read()
    with open(script, "w", encoding="utf-8") as f:
        f.write(text)
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


tap.main(globals())
