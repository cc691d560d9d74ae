# SPDX-License-Identifier: MIT
"""Instances of the fixture app "shop" (tests/lib/shop), through the API and the MCP URLs.

    with shops.running() as s:
        one = shops.Shop(s)
        one.order("tea")
"""

import contextlib
import http.client
import json
import os
import shutil

import service

APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shop")
RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
PLENTY = 1000000


@contextlib.contextmanager
def running(*options, **more):
    """A service with the shop as its only app."""
    with service.folder() as apps:
        shutil.copytree(APP, os.path.join(apps, "shop"))
        env = {"TIDEPOOL_APPS_DIR": apps, **more.pop("env", {})}
        with service.running(*options, env=env, **more) as s:
            s.apps = apps
            yield s


class Shop:
    """One instance, and a connection to its MCP URL that is kept."""

    def __init__(self, s, **body):
        answer = s.post("/sandbox/shop", body)
        assert answer.status == 201, answer
        self.s, self.connection = s, None
        self.id = answer.json["sandbox_id"]
        self.url = answer.json["server_url"]
        self.target = "/" + self.url.partition("//")[2].partition("/")[2]

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def call(self, tool, **arguments):
        """The answer's JSON; OSError and HTTPException when the service is gone."""
        if not self.connection:
            self.connection = http.client.HTTPConnection(self.s.host, self.s.port, timeout=60)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        try:
            self.connection.request("POST", self.target, json.dumps(message), RPC)
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.status != 200:
            raise AssertionError("%d %r" % (answer.status, body))
        return json.loads(json.loads(body)["result"]["content"][0]["text"])

    def order(self, product, quantity=1):
        return self.call("create_order", product=product, quantity=quantity)

    def ask(self, method, what, body=None):
        """An endpoint of the sandbox's owner."""
        answer = self.s.request(method, "/sandbox/shop/%s/%s" % (self.id, what), body)
        assert answer.status == 200, answer
        return answer.json

    def stock_up(self, *products):
        self.ask("POST", "initialize", {"products": [
            {"name": p, "price": 1, "stock": PLENTY} for p in products]})

    def rows(self, sql):
        """What a query gives, by way of an assertion that may well be wrong."""
        result = self.ask("POST", "verify", {"checks": [{"sql": sql, "rows": []}]})["results"][0]
        assert "error" not in result, result
        return result["actual"]
