# SPDX-License-Identifier: MIT
"""`mcp` at create with npm's client of E2B, and the official client of MCP at its address."""

import json
import os
import subprocess

import clients
import domain
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
# The same packages as tests/conformance.
PINS = clients.Pins(os.path.join(os.path.dirname(HERE), "conformance"), "npm-mcp", oldest=(22,),
                    version="22.23.3")


def test_the_gateway():
    clients.install()
    PINS.install()
    with domain.running_tls() as s:
        env = domain.client_env(s)
        env.update(E2B_MODULES=clients.MODULES, MCP_MODULES=PINS.modules)
        done = subprocess.run(PINS.node(os.path.join(HERE, "gateway.mjs")), env=env,
                              capture_output=True, text=True, timeout=250)
        tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout[-2000:], done.stderr[-3000:]))
    got = json.loads(done.stdout)
    tap.equal(got["url"], "https://50005-ID.sbx.test/mcp")
    for name in ("read_text_file", "write_file", "create_entities"):
        tap.contains(got["tools"], name)
    tap.equal(len(got["tools"]), len(set(got["tools"])), "each name once")
    tap.contains(got["wrote"], "Successfully wrote")
    tap.equal((got["note"], got["owner"]), ("from MCP", "user\n"))
    tap.equal(got["outside"][0], True, got["outside"])
    tap.equal((got["sameToken"], got["again"]), (True, len(got["tools"])))
    tap.contains(got["stranger"], "the token of the gateway is required")
    tap.equal(got["twice"][0], 1)
    tap.contains(got["twice"][1], "in use")
    tap.contains(got["unknown"], "Failed to start MCP gateway")
    tap.contains(got["unknown"], "unknown MCP server 'browserbase'")
    tap.equal(got["left"], 0, "what could not start is killed")
    tap.equal(got["installed"], "installed\n")
    tap.equal(got["both"], ["git_status", "shout"])
    tap.equal(got["shout"], "HEY!")
    tap.contains(got["dies"], "MCP server 'github/some/other' ended with status 3")
    tap.contains(got["dead"], "has ended")
    tap.equal(got["failing"][0], 1, got["failing"])


tap.main(globals())
