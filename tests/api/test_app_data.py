# SPDX-License-Identifier: MIT
"""The data of every app over the API: what is dumped can be initialized again, and nothing of it
is lost on the way; what is not in the format is said to be wrong."""

import json
import os

import service
import shops
import tap

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps")


def names():
    """The apps that have data: a format, scripts and a default seed."""
    return [name for name in sorted(os.listdir(APPS))
            if all(os.path.exists(os.path.join(APPS, name, part))
                   for part in ("data.json", "data.sql", "seed/default.json"))]


def acquire(s, name, **body):
    answer = s.post("/sandbox/" + name, body)
    tap.equal(answer.status, 201, answer)
    return "/sandbox/%s/%s" % (name, answer.json["sandbox_id"])


def dump(s, path):
    answer = s.get(path + "/dump")
    tap.equal(answer.status, 200, answer)
    return answer.json["data"]


def test_round_trip():
    with service.running() as s:
        assert names(), "no apps"
        for name in names():
            first = dump(s, acquire(s, name, data="default"))
            again = acquire(s, name)
            answer = s.post(again + "/initialize", first)
            tap.equal(answer.status, 200, (name, answer))
            assert sum(answer.json["records_created"].values()) > 0, (name, answer.json)
            tap.equal(json.dumps(dump(s, again)), json.dumps(first), name)


def test_seed_as_body():
    """The default seeds are bodies that the API takes, and say the same as the data set."""
    with service.running() as s:
        for name in names():
            with open(os.path.join(APPS, name, "seed", "default.json")) as f:
                seed = json.load(f)
            path = acquire(s, name)
            empty = dump(s, path)
            answer = s.post(path + "/initialize", seed)
            tap.equal(answer.status, 200, (name, answer))
            tap.equal(dump(s, path), dump(s, acquire(s, name, data="default")), name)
            tap.equal(s.post(path + "/reset").status, 200)
            tap.equal(dump(s, path), empty, name)


def may_be_null(schema):
    return schema.get("type") == "null" or any(may_be_null(x) for x in schema.get("anyOf", []))


def test_null_is_as_good_as_absent():
    """What may be null in a body, next to nothing else, is no reason to fail."""
    with service.running() as s:
        n = 0
        for name in names():
            with open(os.path.join(APPS, name, "data.json")) as f:
                parts = json.load(f).get("properties", {})
            if not parts or not all(may_be_null(x) for x in parts.values()):
                continue
            n += 1
            path = acquire(s, name)
            empty = dump(s, path)
            answer = s.post(path + "/initialize", dict.fromkeys(parts))
            tap.equal(answer.status, 200, (name, answer))
            tap.equal(dump(s, path), empty, name)
        assert n > 10, n


def test_newcomers():
    """Whom a body names and nobody knows yet is made, and comes back in dumps under that name."""
    mail = "zoe.park@elsewhere.example"
    bodies = {
        "linear": {"projects": [{"name": "P", "issues": [{"title": "x", "assignee": mail}]}]},
        "clickup": {"spaces": [{"name": "S", "lists": [
            {"name": "L", "tasks": [{"name": "t", "assignees": [mail]}]}]}]},
        "confluence": {"spaces": [{"identifier": "ZZ", "name": "Z", "pages": [
            {"title": "T", "content": "c", "author": mail}]}]},
        "motion": {"workspaces": [{"name": "W", "tasks": [{"name": "t", "assignee": mail}]}]},
        "jira": {"projects": [{"key": "ZZ", "name": "Z", "issues": [
            {"summary": "s", "issue_type": "Task", "assignee": mail, "comments": [
                {"body": "hi", "author": mail}]}]}]},
    }
    with service.running() as s:
        for name, body in bodies.items():
            path = acquire(s, name)
            answer = s.post(path + "/initialize", body)
            tap.equal(answer.status, 200, (name, answer))
            out = dump(s, path)
            tap.contains(json.dumps(out), mail)
            again = acquire(s, name)
            tap.equal(s.post(again + "/initialize", out).status, 200, name)
            tap.equal(dump(s, again), out, name)


def test_unfit_values():
    """What the database refuses is said in the way of the API and of the product, without SQL."""
    with shops.running() as s:
        shop = shops.Shop(s)
        tea = {"name": "tea", "price": 1, "stock": 5}
        answer = s.post("/sandbox/shop/%s/initialize" % shop.id, {"products": [tea, tea]})
        tap.equal(answer.status, 422, answer)
        tap.equal(answer.json["detail"][0]["loc"], ["body", "products"])
        shop.stock_up("tea")
        tap.equal(shop.call("find_products", query="tea", limit=-1e300),
                  {"error": "Invalid request: an argument has a value that cannot be used"})
        tap.equal(shop.call("find_products", query="tea", limit=1), ["tea"])
        for text in ("UNIQUE", "constraint failed", "datatype mismatch"):
            assert text not in answer.body.decode(), answer
        s.log_with("datatype mismatch")
        shop.close()


def test_views_of_bigquery():
    """A view comes in with its query alone; what it shows, and its type, go out."""
    with service.running() as s:
        view = {"dataset_id": "d", "id": "a_view", "view_query": "SELECT n, w + 1 FROM d.b_view",
                "view_columns": ["n", "w"]}
        body = {"datasets": [{"id": "d"}], "tables": [view, {
            "dataset_id": "d", "id": "b_view",
            "view_query": "SELECT x AS n, LENGTH(y) AS w FROM d.t"
        }, {"dataset_id": "d", "id": "t", "rows": [[1, "one"]], "fields": [
            {"name": "x", "type": "INTEGER"}, {"name": "y", "type": "STRING"}]}]}
        path = acquire(s, "google_cloud")
        tap.equal(s.post(path + "/initialize", body).status, 200)
        out = dump(s, path)
        tap.equal([(x["id"], x.get("type"), x.get("view_query"), "rows" in x)
                   for x in out["tables"]],
                  [("a_view", "VIEW", view["view_query"], False),
                   ("b_view", "VIEW", body["tables"][1]["view_query"], False),
                   ("t", None, None, True)])
        tap.equal([(x["name"], x["type"]) for x in out["tables"][0]["fields"]],
                  [("n", "INTEGER"), ("w", "INTEGER")])
        again = acquire(s, "google_cloud")
        tap.equal(s.post(again + "/initialize", out).status, 200)
        tap.equal(json.dumps(dump(s, again)), json.dumps(out))
        for wrong, text in ({"view_query": "SELECT z FROM d.t"}, "Unrecognized name: z"), \
                ({"view_query": "SELECT"}, "Syntax error"), ({"view_query": 5}, "is no text"), \
                ({"view_query": "SELECT 1 AS n", "rows": [[1]]}, "has no rows"):
            answer = s.post(path + "/initialize", {"tables": [
                {"dataset_id": "d", "id": "x", **wrong}]})
            tap.equal(answer.status, 400, answer)
            tap.contains(answer.body.decode(), text)


def test_folders_of_spreadsheets():
    """Folders and what they hold come from bodies; a request's header says which is the usual."""
    body = {"folders": ["Empty"], "spreadsheets": [
        {"title": "Plan", "folder": "Finance/2026",
         "permissions": [{"email": "a@b.example", "role": "reader"}],
         "sheets": [{"title": "Sheet1", "cells": [{"row": 0, "col": 0, "value": 0.5}],
                     "features": [{"kind": "pattern", "endColumn": 1, "value": "0%"}]}]},
        {"title": "Loose"}]}
    with service.running() as s:
        answer = s.post("/sandbox/google_sheets", {"benchmark": "Toolathlon"})
        path = "/sandbox/google_sheets/" + answer.json["sandbox_id"]
        target = "/" + answer.json["server_url"].split("/", 3)[3]
        headers = dict(shops.RPC)

        def call(tool, **args):
            answer = s.post(target, {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                     "params": {"name": tool, "arguments": args}}, headers=headers)
            return json.loads(answer.json["result"]["content"][0]["text"])

        tap.equal(s.post(path + "/initialize", body).status, 200)
        tap.equal(dump(s, path)["folders"], ["Empty", "Finance", "Finance/2026"])
        tap.equal(s.post(acquire(s, "google_sheets") + "/initialize", dump(s, path)).status, 200)
        top = call("list_folders")
        tap.equal([x["name"] for x in top], ["Empty", "Finance"])
        year, = call("list_folders", parent_folder_id=top[1]["id"])
        tap.equal((year["name"], year["parent"]), ("2026", top[1]["id"]))
        plan, = call("list_spreadsheets", folder_id=year["id"])
        tap.equal(plan["title"], "Plan")
        values = call("get_sheet_data", spreadsheet_id=plan["id"], sheet="Sheet1")
        tap.equal(values["valueRanges"][0]["values"], [["50%"]])
        tap.equal([x["title"] for x in call("list_spreadsheets")], ["Plan", "Loose"])
        headers["x-sheets-folder-id"] = "the-usual"
        tap.equal(call("list_spreadsheets"), [])
        tap.equal(call("create_spreadsheet", title="New")["folder"], "the-usual")
        tap.equal([x["title"] for x in call("list_spreadsheets")], ["New"])
        tap.equal(dump(s, path)["spreadsheets"][0]["folder"], "the-usual")
        bad = {"spreadsheets": [{"title": "x", "sheets": [
            {"title": "y", "features": [{"kind": "chart"}]}]}]}
        tap.equal(s.post(path + "/initialize", bad).status, 400)


tap.main(globals())
