# SPDX-License-Identifier: MIT
"""Watching the service: metrics by app, the key that only reads them, and that the dashboard and
the alert rules name nothing that does not exist."""

import json
import os
import re

import service
import tap

SOURCE = os.environ.get("TIDEPOOL_SOURCE") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
DASHBOARD = os.path.join(SOURCE, "deploy", "grafana", "tidepool.json")
RULES = os.path.join(SOURCE, "deploy", "prometheus", "tidepool.rules.yml")
HISTOGRAM = re.compile(r"_(bucket|sum|count)$")


def call(s, url, tool, arguments):
    path = "/" + url.partition("//")[2].partition("/")[2]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}
    answer = s.post(path, body, key=None, headers={
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
    tap.equal(answer.status, 200, answer)
    return answer.json.get("result", {})


def acquire(s, app, **more):
    answer = s.post("/sandbox/" + app, dict(more))
    tap.equal(answer.status, 201, answer)
    return answer.json


def series(text):
    """{'name{labels}': value} without comments."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if line and not line.startswith("#")}


def use_apps(s):
    """Two instances of two apps; two calls that work and one that the product refuses."""
    jira = acquire(s, "jira", data="default")
    acquire(s, "slack")
    for _ in range(2):
        assert not call(s, jira["server_url"], "jira_search_fields", {}).get("isError")
    call(s, jira["server_url"], "jira_get_issue", {"issue_key": "NONE-1"})


def test_calls_and_acquires_by_app():
    with service.running() as s:
        use_apps(s)
        got = series(s.get("/metrics").body.decode())
        tap.equal(got['tidepool_app_acquires_total{app="jira"}'], 1)
        tap.equal(got['tidepool_app_acquires_total{app="slack"}'], 1)
        tap.equal(got['tidepool_app_calls_total{app="jira",result="ok"}'], 2)
        tap.equal(got['tidepool_app_calls_total{app="jira",result="error"}'], 1)
        tap.equal(got['tidepool_app_calls_total{app="jira",result="failed"}'], 0)
        tap.equal(got['tidepool_app_call_duration_seconds_count{app="jira"}'], 3)
        tap.equal(got['tidepool_app_call_duration_seconds_bucket{app="jira",le="+Inf"}'], 3)
        # What a client calls an app is no label: only apps that exist become one.
        tap.equal(s.post("/sandbox/nowhere", {}).status != 200, True)
        assert b"nowhere" not in s.get("/metrics").body


def test_a_key_that_only_reads_metrics():
    with service.running() as s:
        lease = acquire(s, "jira")
        made = s.make_key(role="metrics", name="prometheus")
        tap.equal(made["role"], "metrics")
        key = made["key"]
        tap.equal(s.get("/metrics", key=key).status, 200)
        tap.equal(s.get("/healthz", key=key).status, 200)
        for method, path in [("GET", "/api/v1/events"), ("GET", "/api/v1/keys"),
                             ("POST", "/api/v1/keys"), ("GET", "/api/v1/sandbox"),
                             ("GET", "/sandbox"), ("POST", "/sandbox/jira"),
                             ("GET", "/sandbox/jira/" + lease["sandbox_id"]),
                             ("GET", "/sandbox/jira/%s/calls" % lease["sandbox_id"]),
                             ("GET", "/e2b/v1/sandboxes"), ("POST", "/mcp"),
                             ("POST", "/local-sandbox")]:
            answer = s.request(method, path, body="{}" if method == "POST" else None, key=key)
            tap.equal(answer.status, 403, "%s %s %r" % (method, path, answer))
        # A user's key is still no key for the metrics.
        tap.equal(s.get("/metrics", key=s.make_key()["key"]).status, 403)
        tap.equal(s.post("/api/v1/keys", {"role": "nobody"}).status, 400)


def test_a_metrics_key_from_the_shell():
    with service.running() as s:
        status, out, err = service.tidepool("keys", "create", "--role", "metrics", "--json",
                                            "--state", s.state)
        tap.equal(status, 0, err)
        tap.equal(s.get("/metrics", key=json.loads(out)["key"]).status, 200)


def test_what_is_not_built_is_no_error():
    with service.running() as s:
        answer = s.get("/e2b/v1/secrets")
        tap.equal(answer.status, 501, answer)
        log = s.log_with(answer.headers["X-Request-Id"])
        line = [x for x in map(json.loads, log.splitlines())
                if x.get("id") == answer.headers["X-Request-Id"]][0]
        tap.equal((line["level"], line["status"]), ("info", 501))


# ---- what is made of them ----

def types(text):
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))


def expressions():
    """(where, PromQL) of the dashboard and the rules."""
    with open(DASHBOARD) as f:
        board = json.load(f)
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    with open(RULES) as f:
        text = f.read()
    for at in re.finditer(r"expr:(?: \|\n((?:          .*\n)+)| (.*)\n)", text):
        yield "rule", at.group(1) or at.group(2)


def test_every_metric_that_is_shown_exists():
    with service.running() as s:
        use_apps(s)
        known = types(s.get("/metrics").body.decode())
    n = 0
    for where, expr in expressions():
        names = re.findall(r"\b((?:tidepool|process)_[a-z_]+)\b", expr)
        assert names or "up{" in expr, (where, expr)
        for name in names:
            base = HISTOGRAM.sub("", name)
            is_known = name in known or known.get(base) == "histogram"
            assert is_known, "%s: there is no metric %s" % (where, name)
            n += 1
    assert n > 50, n
    tap.equal(len([1 for where, _ in expressions() if where == "rule"]), 16)


tap.main(globals())
