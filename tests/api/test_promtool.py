# SPDX-License-Identifier: MIT
"""What promtool says of /metrics and of the alert rules: nothing."""

import os
import shutil
import subprocess
import sys

import service
import tap

SOURCE = os.environ.get("TIDEPOOL_SOURCE") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
RULES = os.path.join(SOURCE, "deploy", "prometheus", "tidepool.rules.yml")


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True)


def metrics():
    with service.running() as s:
        lease = s.post("/sandbox/jira", {"data": "default"})
        tap.equal(lease.status, 201, lease)
        path = "/" + lease.json["server_url"].partition("//")[2].partition("/")[2]
        answer = s.post(path, {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                               "params": {"name": "jira_search_fields", "arguments": {}}},
                        key=None, headers={"Content-Type": "application/json",
                                           "Accept": "application/json, text/event-stream"})
        tap.equal(answer.status, 200, answer)
        s.get("/nowhere")
        return s.get("/metrics").body.decode()


def test_metrics():
    text = metrics()
    tap.contains(text, 'tidepool_app_calls_total{app="jira",result="ok"} 1')
    done = promtool("check", "metrics", text=text)
    tap.equal((done.returncode, done.stdout + done.stderr), (0, ""))
    # It is listening: a counter has to end in _total.
    worse = text.replace("tidepool_auth_failures_total", "tidepool_auth_failures")
    assert promtool("check", "metrics", text=worse).returncode != 0


def test_rules():
    done = promtool("check", "rules", RULES)
    tap.equal(done.returncode, 0, done.stdout + done.stderr)
    tap.contains(done.stdout, "16 rules found")


if not shutil.which("promtool"):
    print("promtool is not installed (package prometheus)")
    sys.exit(77)
tap.main(globals())
