# SPDX-License-Identifier: MIT
"""Operations: health, metrics, documentation, CORS."""

import json
import re

import contract
import service
import tap


def test_health():
    with service.running() as s:
        want = None
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE"):
            answer = s.request(method, "/healthz", key=None)
            tap.equal(answer.status, 200, method)
            tap.equal(answer.headers["Content-Type"], "application/json")
            want = want or answer.body
            tap.equal(answer.body, want, method)
        tap.equal(list(json.loads(want)), ["status", "version"])
        tap.equal(json.loads(want)["status"], "ok")
        answer = s.request("HEAD", "/healthz", key=None)
        tap.equal((answer.status, answer.body), (200, b""))
        tap.equal(int(answer.headers["Content-Length"]), len(want))


def test_health_with_a_body():
    with service.running() as s:
        js = {"Content-Type": "application/json; charset=utf-8"}
        tap.equal(s.post("/healthz", '{"a":[1,2,{"b":null}]}', key=None, headers=js).status, 200)
        answer = s.post("/healthz", '{"a":', key=None, headers=js)
        tap.equal((answer.status, answer.json["code"]), (400, 400))
        tap.equal(s.post("/healthz", "not json", key=None).status, 200)
        tap.equal(s.post("/healthz", "x" * 70000, key=None).status, 413)


def series(text):
    out = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            m = re.fullmatch(r'([a-z_]+(?:\{[^}]*(?:\{[^}]*\})?[^}]*\})?) (\S+)', line)
            assert m, line
            out[m.group(1)] = float(m.group(2))
    return out


def test_metrics():
    with service.running() as s:
        s.get("/api/v1/events")
        s.get("/api/v1/events", key=None)
        s.get("/nowhere")
        s.make_key()
        answer = s.get("/metrics")
        tap.equal(answer.status, 200)
        tap.contains(answer.headers["Content-Type"], "text/plain; version=0.0.4")
        got = series(answer.body.decode())
        name = 'tidepool_http_requests_total{method="%s",route="%s",status="%d"}'
        tap.equal(got[name % ("GET", "/api/v1/events", 200)], 1)
        tap.equal(got[name % ("GET", "/api/v1/events", 401)], 1)
        tap.equal(got[name % ("", "none", 404)], 1)
        tap.equal(got[name % ("POST", "/api/v1/keys", 200)], 1)
        tap.equal(got["tidepool_auth_failures_total"], 1)
        assert got["process_resident_memory_bytes"] > 1e6
        assert got["tidepool_http_connections"] >= 1
        assert got["tidepool_store_commits_total"] >= 1
        assert "tidepool_store_queue_length" in got
        count = 'tidepool_http_request_duration_seconds_%s{method="GET",route="/api/v1/events"%s}'
        tap.equal(got[count % ("count", "")], 2)
        tap.equal(got[count % ("bucket", ',le="+Inf"')], 2)


def test_metrics_for_anybody():
    with service.running(env={"TIDEPOOL_METRICS_PUBLIC": "true"}) as s:
        tap.equal(s.get("/metrics", key=None).status, 200)


def test_unknown_paths_make_no_series():
    with service.running() as s:
        for i in range(50):
            s.get("/nowhere/%d" % i, key=None)
            s.get("/api/v1/keys/%d" % i)
        assert b"nowhere" not in s.get("/metrics").body


def test_answers_are_held_to_the_document():
    def says(body, status=200, method="GET", target="/healthz?x=1"):
        try:
            contract.check(service.PROGRAM, method, target, status, json.dumps(body))
            return True
        except AssertionError:
            return False

    tap.equal(says({"status": "ok", "version": "1"}), True)
    tap.equal(says({"status": "ok", "version": "1", "warnings": ["w"]}), True)
    tap.equal(says({"status": "ok", "version": "1", "warnings": [1]}), False)
    tap.equal(says({"status": "ok"}), False, "a member is missing")
    tap.equal(says({"status": "ok", "version": 1}), False, "a member of another type")
    tap.equal(says({"status": "no", "version": "1"}), False, "another constant")
    tap.equal(says({"status": "ok", "version": "1", "more": 1}), False, "an unknown member")
    tap.equal(says([]), False, "no object")
    tap.equal(says({"status": "ok", "version": "1"}, 206), False, "an unknown status")
    tap.equal(says({}, target="/nowhere/at/all"), True, "not in the document")


def test_openapi():
    with service.running() as s:
        answer = s.get("/openapi.json", key=None)
        tap.equal((answer.status, answer.headers["Content-Type"]), (200, "application/json"))
        doc = answer.json
        tap.equal(service.tidepool("__openapi")[1], answer.body.decode(), "what tests rely on")
        tap.equal(doc["openapi"], "3.1.0")
        tap.equal(doc["info"]["version"], s.get("/healthz").json["version"])
        for method, path in [("get", "/healthz"), ("post", "/healthz"), ("get", "/metrics"),
                             ("get", "/openapi.json"), ("get", "/api/v1/events"),
                             ("get", "/api/v1/keys"), ("post", "/api/v1/keys"),
                             ("delete", "/api/v1/keys/{id}")]:
            assert method in doc["paths"][path], path
        ids, schemas = [], doc["components"]["schemas"]
        for path, methods in doc["paths"].items():
            for method, op in methods.items():
                ids.append(op["operationId"])
                named = {p["name"] for p in op["parameters"] if p["in"] == "path"}
                tap.equal(named, set(re.findall(r"\{([^}]+)\}", path)), path)
                assert "default" in op["responses"] and op["summary"], path
                # What says it needs a key answers 401 without one, and nothing else does.
                if "{" not in path:
                    status = s.request(method.upper(), path, key=None).status
                    tap.equal(status == 401, bool(op["security"]), method + " " + path)
        tap.equal(len(ids), len(set(ids)))
        for ref in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(doc)):
            assert ref in schemas, ref


def test_cors():
    with service.running() as s:
        ask = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST",
               "Access-Control-Request-Headers": "authorization, content-type, x-custom"}
        answer = s.request("OPTIONS", "/api/v1/keys", key=None, headers=ask)
        tap.equal((answer.status, answer.body), (204, b""))
        tap.equal(answer.headers["Access-Control-Allow-Origin"], "*")
        tap.equal(answer.headers["Access-Control-Allow-Headers"],
                  "authorization, content-type, x-custom")
        tap.equal(answer.headers["Access-Control-Allow-Methods"], "GET, HEAD, POST, OPTIONS")
        tap.equal(answer.headers["Allow"], "GET, HEAD, POST, OPTIONS")
        assert int(answer.headers["Access-Control-Max-Age"]) > 0
        # Answers, errors too, can be read by the page; without an origin nothing is added.
        origin = {"Origin": "https://example.org"}
        for answer in (s.get("/api/v1/events", headers=origin),
                       s.get("/api/v1/events", key=None, headers=origin),
                       s.get("/e2b/v1/x", headers=origin)):
            tap.equal(answer.headers["Access-Control-Allow-Origin"], "*")
        tap.equal(s.get("/api/v1/events").headers["Access-Control-Allow-Origin"], None)
        tap.equal(s.request("OPTIONS", "/metrics", key=None).headers["Allow"],
                  "GET, HEAD, OPTIONS")
        tap.equal(s.request("OPTIONS", "/nowhere", key=None).status, 404)


def test_head_is_get_without_a_body():
    with service.running() as s:
        for path in ("/openapi.json", "/api/v1/keys"):
            got, head = s.get(path), s.request("HEAD", path)
            tap.equal((head.status, head.body), (200, b""))
            tap.equal(head.headers["Content-Length"], str(len(got.body)))


def test_request_ids_are_logged_once():
    with service.running() as s:
        ids = [s.get("/api/v1/events").headers["X-Request-Id"] for _ in range(5)]
        log = s.log_with(ids[-1])
        for i in ids:
            tap.equal(log.count(i), 1)
        for line in log.splitlines():
            json.loads(line)


tap.main(globals())
