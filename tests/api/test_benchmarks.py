# SPDX-License-Identifier: MIT
"""Which tools a benchmark gets from a product, over the API; what they write is the product's."""

import json
import os

import service
import shops
import tap

APPS = os.path.join(os.environ["TIDEPOOL_SOURCE"], "apps")

# Benchmarks with tools of their own, and how many.
COUNTS = {
    "airtable": {"MCP_Atlas": 5},
    "github": {"MCP_Atlas": 33, "MCP_Mark": 93, "Toolathlon": 41},
    "google_calendar": {"Toolathlon": 5},
    "google_sheets": {"Toolathlon": 19},
    "notion": {"MCP_Atlas": 19, "MCP_Mark": 19, "Toolathlon": 19},
    "slack": {"MCP_Atlas": 5},
    "youtube": {"Toolathlon": 9},
}


def read(*words):
    with open(os.path.join(APPS, *words)) as f:
        return json.load(f)


class Instance:
    def __init__(self, s, name, **body):
        answer = s.post("/sandbox/" + name, body)
        tap.equal(answer.status, 201, answer)
        self.s, self.path = s, "/sandbox/%s/%s" % (name, answer.json["sandbox_id"])
        self.target = "/" + answer.json["server_url"].split("/", 3)[3]

    def rpc(self, method, **params):
        answer = self.s.post(self.target, {"jsonrpc": "2.0", "id": 1, "method": method,
                                           "params": params}, headers=shops.RPC)
        return answer.json["result"]

    def tools(self):
        return {x["name"]: x["inputSchema"] for x in self.rpc("tools/list")["tools"]}

    def call(self, tool, **arguments):
        return self.rpc("tools/call", name=tool, arguments=arguments)["content"][0]["text"]


def schemas(*words):
    return {x["name"]: x["inputSchema"] for x in read(*words, "tools.json")}


def test_tools():
    with service.running() as s:
        for name in sorted(set(os.listdir(APPS)) - {"common"}):  # what apps share
            variants = read(name, "app.json").get("benchmarks", {})
            counts = COUNTS.get(name, {})
            tap.equal(sorted(variants), sorted(counts), name)
            for benchmark, folder in variants.items():
                tools = Instance(s, name, benchmark=benchmark).tools()
                tap.equal(len(tools), counts[benchmark], (name, benchmark))
                tap.equal(tools, schemas(name, folder), (name, benchmark))
            if variants:
                tap.equal(Instance(s, name).tools(), schemas(name), name)


def test_what_they_write_is_the_products():
    with service.running() as s:
        one = Instance(s, "google_calendar", benchmark="Toolathlon", data="default")
        one.call("create_event", summary="Tide tables", start={"dateTime": "2026-02-03T10:00:00Z"},
                 end={"dateTime": "2026-02-03T11:00:00Z"})
        data = s.get(one.path + "/dump").json["data"]
        tap.contains(json.dumps(data), "Tide tables")
        other = Instance(s, "google_calendar")
        tap.equal(s.post(other.path + "/initialize", data).status, 200)
        found = other.call("google_calendar_list_events", min_end_datetime="2026-02-03T00:00:00Z",
                           max_start_datetime="2026-02-04T00:00:00Z", max_results=5)
        tap.contains(found, "Tide tables")


tap.main(globals())
