# SPDX-License-Identifier: MIT
"""google_cloud in local sandboxes: an app whose state belongs to the sandbox, and files of it."""

import json

import cells
import tap

NAMES = ["google_cloud", "filesystem"]
CSV = "robot,hours\nLR7-001,5210\nLR7-002,4980\n"


def acquire(s, names=None):
    answer = s.post("/local-sandbox", {"server_names": names or NAMES}, timeout=120)
    tap.equal(answer.status, 201, answer)
    return answer.json["local_sandbox_id"], {x["server_name"]: x for x in answer.json["servers"]}


def call(s, server, tool, headers=None, **arguments):
    """The text that a tool answers with."""
    url = server["mcp_server_url"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}
    answer = s.post(url[url.index("/", len("http://")):], body, key=None, timeout=120, headers={
        "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
        **(headers or {})})
    tap.equal(answer.status, 200, answer)
    text = answer.body.decode()
    if not text.startswith("{"):
        text = [x[6:] for x in text.splitlines() if x.startswith("data: ")][-1]
    answer = json.loads(text)
    if "result" not in answer:
        raise AssertionError(answer)
    return answer["result"]["content"][0]["text"]


def data_path(key, verb):
    return "/local-sandbox/google_cloud/%s/%s" % (key, verb)


SEED = {"datasets": [{"id": "fleet"}],
        "buckets": [{"name": "reports", "created_at": "2026-01-01T00:00:00Z"}],
        "objects": [{"bucket": "reports", "name": "a.txt", "content": "first\n"}],
        "log_entries": [{"log_name": "api", "message": "down", "severity": "ERROR"}]}


def test_files_come_from_the_workspace():
    with cells.running() as s:
        key, servers = acquire(s)
        cloud, files = servers["google_cloud"], servers["filesystem"]
        tap.equal(s.post(data_path(key, "initialize"), SEED).status, 200)
        call(s, files, "filesystem_write_file", path="/data/robots.csv", content=CSV)
        tap.equal(call(s, cloud, "bigquery_load_csv_data", dataset_id="fleet", table_id="robots",
                       csv_file_path="/data/robots.csv"),
                  "Successfully loaded CSV data from '/data/robots.csv' to table 'fleet.robots'")
        tap.contains(call(s, cloud, "bigquery_run_query",
                          query="SELECT SUM(hours) AS n FROM fleet.robots"), "Row 1: {'n': 10190}")
        call(s, cloud, "bigquery_export_table", dataset_id="fleet", table_id="robots",
             destination_bucket="reports", destination_path="out.csv")
        tap.equal(call(s, cloud, "storage_download_file", bucket_name="reports",
                       source_blob_name="out.csv", destination_file_path="out.csv"),
                  "Successfully downloaded 'reports/out.csv' to 'out.csv'")
        tap.equal(call(s, files, "filesystem_read_file", path="/data/out.csv"), CSV)
        s.run("local-" + key.replace("-", ""), "printf '\\0\\377' > /data/b.bin")
        call(s, cloud, "storage_upload_file", bucket_name="reports", source_file_path="b.bin",
             destination_blob_name="b.bin")
        call(s, cloud, "storage_download_file", bucket_name="reports", source_blob_name="b.bin",
             destination_file_path="/data/c.bin")
        same = s.run("local-" + key.replace("-", ""), "cmp /data/b.bin /data/c.bin && echo same")
        tap.equal(same["output"].strip(), "same")
        tap.equal(call(s, cloud, "storage_upload_file", bucket_name="reports",
                       source_file_path="nope.txt", destination_blob_name="x"),
                  "Error uploading file to bucket 'reports': [Errno 2] No such file or directory: "
                  "'nope.txt'")
        tap.contains(call(s, cloud, "storage_upload_file", bucket_name="reports",
                          source_file_path="/etc/passwd", destination_blob_name="x"), "Errno 13")
        tap.contains(call(s, cloud, "storage_download_file", bucket_name="reports",
                          source_blob_name="a.txt", destination_file_path="no/such/a.txt"),
                     "Error downloading file from bucket 'reports': [Errno 2]")
        # What only the service may say of a request, a client cannot.
        tap.contains(call(s, cloud, "storage_upload_file", bucket_name="reports",
                          source_file_path="nope.txt", destination_blob_name="x",
                          file={"text": "x", "size": 1}), "Errno 2")


def test_state_comes_in_and_goes_out():
    with cells.running() as s:
        key, servers = acquire(s)
        item = servers["google_cloud"]["id"]
        made = s.post(data_path(item, "initialize"), SEED)
        tap.equal((made.status, made.json["sandbox_id"], made.json["records_created"]["buckets"]),
                  (200, item, 1), made)
        wrong = s.post(data_path(key, "initialize"), {"buckets": [{"location": 5}]})
        tap.equal((wrong.status, sorted(x["loc"][-1] for x in wrong.json["detail"])),
                  (422, ["location", "name"]), wrong)
        tap.equal(s.post(data_path(key, "initialize"), SEED).status, 400)
        call(s, servers["google_cloud"], "logging_write_log", log_name="api", message="up")
        dump = s.get(data_path(key, "dump")).json
        tap.equal((dump["server_name"], dump["sandbox_id"], len(dump["data"]["log_entries"])),
                  ("google_cloud", key, 2))
        other, _ = acquire(s, ["google_cloud"])
        tap.equal(s.get(data_path(other, "dump")).json["data"]["buckets"], [])
        tap.equal(s.post(data_path(other, "initialize"), dump["data"]).status, 200)
        tap.equal(s.get(data_path(other, "dump")).json["data"], dump["data"])
        tap.equal(s.get(data_path("nope", "dump")).status, 404)


def test_lists_in_headers_limit_what_is_allowed():
    with cells.running() as s:
        _, servers = acquire(s, ["google_cloud"])
        cloud = servers["google_cloud"]
        only = {"x-google-cloud-allowed-buckets": "team-*, shared"}
        tap.equal(call(s, cloud, "storage_create_bucket", headers=only, bucket_name="other"),
                  "Access denied: Bucket 'other' is not in allowed buckets list")
        tap.equal(call(s, cloud, "storage_create_bucket", headers=only, bucket_name="team-a"),
                  "Successfully created bucket 'team-a' in location 'US'")
        call(s, cloud, "storage_create_bucket", bucket_name="other")
        tap.equal(call(s, cloud, "storage_list_buckets", headers=only),
                  "Found 1 buckets:\n- team-a: US")
        # A list that the client gives as an argument is none.
        tap.contains(call(s, cloud, "storage_list_buckets", allowed_buckets="x"), "Found 2")


def test_reset_and_restart():
    with cells.running() as s:
        key, servers = acquire(s)
        cloud = servers["google_cloud"]
        call(s, cloud, "storage_create_bucket", bucket_name="before")
        s.kill()
        s.start()
        tap.contains(call(s, cloud, "storage_list_buckets"), "- before")
        tap.equal(s.post("/local-sandbox/%s/reset" % key, timeout=120).status, 200)
        tap.equal(call(s, cloud, "storage_list_buckets"), "Found 0 buckets:\n")
        tap.equal(s.post(data_path(key, "initialize"), SEED).status, 200)
        call(s, cloud, "storage_create_bucket", bucket_name="later")
        tap.equal(s.post("/local-sandbox/%s/reset" % key, timeout=120).status, 200)
        tap.equal(call(s, cloud, "storage_list_buckets"), "Found 1 buckets:\n- reports: US")
        tap.equal(s.get("/sandbox").json["total_count"], 0)
        tap.equal(s.delete("/local-sandbox/" + key).status, 200)


def n_instances(s):
    """Instances of apps that are lent, those included that nobody sees."""
    line = [x for x in s.get("/metrics").body.decode().splitlines()
            if x.startswith("tidepool_apps_live ")]
    return int(float(line[0].split()[1]))


def test_the_state_belongs_to_the_sandbox():
    """It is in no list and counts against nothing; it ends when the sandbox does, however that
    comes."""
    with cells.running() as s:
        own = s.make_key(limits={"max_live": 1})["key"]
        answer = s.post("/local-sandbox", {"server_names": NAMES}, key=own, timeout=120)
        tap.equal(answer.status, 201, answer)
        cloud = answer.json["servers"][0]
        tap.contains(call(s, cloud, "storage_create_bucket", bucket_name="first"), "Success")
        tap.equal((n_instances(s), s.get("/sandbox").json["total_count"],
                   s.get("/sandbox", key=own).json["total_count"]), (1, 0, 0))
        events = s.get("/api/v1/events?limit=500").json["data"]
        tap.equal([x["reason"] for x in events if x["reason"].startswith("App")], [])
        tap.equal(s.delete("/local-sandbox/" + answer.json["local_sandbox_id"], key=own).status,
                  200)
        s.until(lambda: n_instances(s) == 0, 5)
        # Its time is over, or it is deleted as what it is underneath.
        for end in ("PATCH", {"timeout": 1}), ("DELETE", None):
            key, servers = acquire(s)
            call(s, servers["google_cloud"], "storage_list_buckets")
            tap.equal(n_instances(s), 1)
            answer = s.request(end[0], "/api/v1/sandbox/local-" + key.replace("-", ""), end[1])
            tap.equal(answer.status, 200, answer)
            s.until(lambda: n_instances(s) == 0, 10)


def test_the_sandbox_is_lost():
    with cells.running() as s:
        kept, servers = acquire(s)
        call(s, servers["google_cloud"], "storage_create_bucket", bucket_name="kept")
        s.kill()
        s.start()
        tap.equal(n_instances(s), 1)
        tap.contains(call(s, servers["google_cloud"], "storage_list_buckets"), "- kept")
        s.kill()
        cells.end_spawner(s.state)  # as a reboot of the host does
        s.start()
        s.until(lambda: n_instances(s) == 0, 5)
        tap.equal(s.get("/local-sandbox/" + kept).status, 404)


tap.main(globals())
