# SPDX-License-Identifier: MIT
"""The OpenAPI document: whole, valid by a validator of others, and true of live answers."""

import json
import os
import re
import shutil
import subprocess
import tempfile

import cells
import clients
import service
import shops
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
BODILESS = {101, 202, 204, 301}
# POSTs that take nothing but their path.
NO_REQUEST = {
    "/api/v1/backup", "/api/v1/image-gc", "/api/v1/sandbox/pause/{name}",
    "/api/v1/sandbox/resume/{name}",
    "/api/v1/config/templates/restore/{revision}",
    "/api/v1/config/sandbox-template/restore/{revision}",
    "/sandbox/prepare", "/sandbox/{server_name}/{sandbox_id}/reset",
    "/local-sandbox/{local_sandbox_id}/reset", "/local-sandbox/{local_sandbox_id}/upload-url",
    "/local-sandbox/{local_sandbox_id}/initialize", "/sandbox/local_dev/{local_sandbox_id}/reset",
    "/sandbox/local_dev/{local_sandbox_id}/upload-url",
    "/sandbox/local_dev/{local_sandbox_id}/initialize",
    "/sandbox/local_memory/{local_sandbox_id}/upload-url",
    "/sandbox/localmemory/{local_sandbox_id}/reset", "/e2b/v1/volumecontent/{id}/dir"}


def validate(doc, answers):
    """What the validators say; Node finds packages from where a script is."""
    folder = os.path.dirname(clients.install())
    script = os.path.join(folder, "openapi.mjs")
    shutil.copy(os.path.join(HERE, "openapi.mjs"), script)
    with tempfile.TemporaryDirectory() as tmp:
        paths = [os.path.join(tmp, name) for name in ("doc.json", "answers.json")]
        for path, value in zip(paths, (doc, answers)):
            with open(path, "w") as f:
                json.dump(value, f)
        done = subprocess.run(clients.node(script, *paths), capture_output=True, text=True,
                              timeout=120, cwd=folder)
    tap.equal(done.returncode, 0, done.stderr[-2000:])
    return json.loads(done.stdout)


def operations(doc):
    for path, item in doc["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def document(s):
    return s.get("/openapi.json", key=None).json


def test_nothing_is_missing():
    with service.running() as s:
        doc = document(s)
    tap.equal([x["url"] for x in doc["servers"]], ["/"])
    unsaid, unasked, ids, shapes = [], set(), set(), set()
    for method, path, o in operations(doc):
        if method in ("post", "put", "patch") and "requestBody" not in o:
            unasked.add(path)
        for status, response in o["responses"].items():
            if status != "default" and int(status) not in BODILESS and "content" not in response:
                unsaid.append((method, path, status))
        assert o["operationId"] not in ids, o["operationId"]
        ids.add(o["operationId"])
        shape = re.sub(r"\{[^}]*\}", "{}", path)
        assert (method, shape) not in shapes, (method, path)
        shapes.add((method, shape))
    tap.equal(len({re.sub(r"\{[^}]*\}", "{}", p) for p in doc["paths"]}), len(doc["paths"]))
    tap.equal((unsaid, unasked - NO_REQUEST), ([], set()))
    # Every schema is used, by an operation or by another one.
    text = json.dumps(doc)
    tap.equal([x for x in doc["components"]["schemas"]
               if '"#/components/schemas/%s"' % x not in text and not x.startswith("Query")], [])


def test_the_validators_find_faults():
    with service.running() as s:
        doc = document(s)
    health = {"method": "get", "path": "/healthz", "status": 200, "request": None}
    answers = [{**health, "body": {"status": "ok", "version": "1"}},
               {**health, "body": {"status": "ok"}},
               {**health, "body": {"status": "ok", "version": "1", "more": 1}},
               {**health, "path": "/nowhere", "body": {}},
               {**health, "status": 201, "body": {"code": 1, "message": "x"}}]
    tap.equal([bool(x) for x in validate(doc, answers)["answers"]],
              [False, True, True, True, True])
    tap.equal(validate({**doc, "servers": 5}, [])["valid"], False)


class Recorder:
    """Requests that are answered with JSON, and the operations that they are of."""

    def __init__(self, s):
        self.s, self.answers = s, []

    def __call__(self, method, path, target, body=None, status=None):
        answer = self.s.request(method, target, body)
        if status:
            tap.equal(answer.status, status, (method, target, answer))
        self.answers.append({"method": method.lower(), "path": path, "status": answer.status,
                             "request": body, "body": answer.json})
        return answer.json

    def check(self):
        said = validate(document(self.s), self.answers)
        tap.equal((said["valid"], said["errors"]), (True, []))
        wrong = [(a["method"], a["path"], x) for a, x in zip(self.answers, said["answers"]) if x]
        tap.equal(wrong, [])
        assert len(said["answers"]) == len(self.answers) > 0


def test_answers_of_apps():
    one = "/sandbox/{server_name}/{sandbox_id}"
    with shops.running() as s:
        ask = Recorder(s)
        made = ask("POST", "/sandbox/{server_name}", "/sandbox/shop",
                   {"data": "default", "seed": 1, "tag": "a", "ttl_seconds": 600}, 201)
        at = "/sandbox/shop/" + made["sandbox_id"]
        other, _ = ask("POST", "/sandbox/{server_name}", "/sandbox/shop", {"count": 2}, 201)
        ask("POST", "/sandbox/{server_name}", "/sandbox/shop", {"ttl_seconds": 1}, 422)
        ask("GET", one, at)
        ask("GET", "/sandbox", "/sandbox?tag=a", None, 200)
        dump = ask("GET", one + "/dump", at + "/dump")
        ask("POST", one + "/initialize", "/sandbox/shop/%s/initialize" % other["sandbox_id"], dump,
            200)
        ask("POST", one + "/reset", at + "/reset", None, 200)
        ask("POST", one + "/snapshot", at + "/snapshot", {"name": "x"}, 200)
        ask("GET", one + "/snapshots", at + "/snapshots", None, 200)
        ask("POST", one + "/restore", at + "/restore", {"name": "x"}, 200)
        ask("POST", one + "/fork", at + "/fork", {"snapshot": "x"}, 201)
        ask("POST", one + "/verify", at + "/verify",
            {"checks": [{"name": "n", "sql": "SELECT 1", "equals": 1}]}, 200)
        ask("GET", one + "/diff", at + "/diff", None, 200)
        ask("GET", one + "/calls", at + "/calls", None, 200)
        ask("POST", "/sandbox/prepare", "/sandbox/prepare?server_name=shop", None, 200)
        ask("DELETE", "/sandbox", "/sandbox?tag=a", None, 200)
        ask("DELETE", one, at, None, 200)
        ask("GET", "/local-sandbox", "/local-sandbox", None, 200)
        ask("GET", "/healthz", "/healthz", None, 200)
        ask("POST", "/api/v1/keys", "/api/v1/keys",
            {"account": "ann", "name": "x", "limits": {"max_rps": 5}}, 200)
        ask("GET", "/api/v1/keys", "/api/v1/keys", None, 200)
        ask("GET", "/api/v1/events", "/api/v1/events", None, 200)
        ask("GET", "/api/v1/audit", "/api/v1/audit", None, 200)
        ask("GET", "/api/v1/audit/verify", "/api/v1/audit/verify", None, 200)
        ask("GET", "/api/v1/apps", "/api/v1/apps", None, 200)
        ask("GET", "/api/v1/apps/{name}", "/api/v1/apps/shop", None, 200)
        ask("GET", "/api/v1/sandbox/{name}", "/api/v1/sandbox/none", None, 404)
        ask("GET", "/e2b/v1/templates", "/e2b/v1/templates", None, 200)
        ask("GET", "/e2b/v1/teams", "/e2b/v1/teams", None, 200)
        ask.check()


def test_answers_of_sandboxes():
    box, many = "/e2b/v1/sandboxes/{id}", "/e2b/v1/v2/sandboxes"
    with cells.running() as s:
        ask = Recorder(s)
        ask("POST", "/api/v1/sandbox", "/api/v1/sandbox",
            {"name": "one", "timeout": 600, "envVars": {"A": "1"}, "metadata": {"k": "v"}}, 200)
        ask("GET", "/api/v1/sandbox", "/api/v1/sandbox", None, 200)
        ask("GET", "/api/v1/sandbox/{name}", "/api/v1/sandbox/one", None, 200)
        ask("PATCH", "/api/v1/sandbox/{name}", "/api/v1/sandbox/one", {"timeout": 300}, 200)
        ask("POST", "/api/v1/terminal/sandbox/{name}", "/api/v1/terminal/sandbox/one",
            {"command": "echo hi"}, 200)
        ask("POST", "/api/v1/sandbox/metrics", "/api/v1/sandbox/metrics", {"names": ["one"]}, 200)
        ask("GET", "/api/v1/sandbox/files/{name}", "/api/v1/sandbox/files/one?path=/etc", None, 200)
        ask("GET", "/api/v1/logs/sandbox/{name}", "/api/v1/logs/sandbox/one", None, 200)
        ask("POST", "/api/v1/sandbox/pause/{name}", "/api/v1/sandbox/pause/one", None, 200)
        ask("POST", "/api/v1/sandbox/resume/{name}", "/api/v1/sandbox/resume/one", None, 200)
        ask("DELETE", "/api/v1/sandbox/{name}", "/api/v1/sandbox/one", None, 200)
        made = ask("POST", many, many, {"templateID": "base", "timeout": 60,
                                        "metadata": {"a": "b"}}, 201)
        at = "/e2b/v1/sandboxes/" + made["sandboxID"]
        ask("GET", box, at, None, 200)
        ask("GET", many, many, None, 200)
        ask("POST", box + "/connect", at + "/connect", {"timeout": 120}, None)
        ask("GET", box + "/metrics", at + "/metrics", None, 200)
        ask("GET", box + "/logs", at + "/logs", None, 200)
        local = ask("POST", "/local-sandbox", "/local-sandbox",
                    {"server_names": ["filesystem", "localmemory"]}, 201)
        at, one = "/local-sandbox/" + local["local_sandbox_id"], "/local-sandbox/{local_sandbox_id}"
        ask("GET", one, at, None, 200)
        ask("GET", "/local-sandbox", "/local-sandbox", None, 200)
        ask("POST", one + "/upload-url", at + "/upload-url", None, 200)
        ask("GET", one + "/dump", at + "/dump", None, 200)
        reset = ask("POST", one + "/reset", at + "/reset", None, 200)
        tap.equal(reset["initialized_data"], "kept")
        ask("DELETE", one, at, None, 200)
        ask.check()


tap.main(globals())
