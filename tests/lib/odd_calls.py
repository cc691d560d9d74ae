# SPDX-License-Identifier: MIT
"""Odd calls of an app's tools, and odd bodies for its import, from a seeded source.

    player = Player(s, "jira", seed=7)
    player.play(100)
    player.findings, player.n_calls, player.slow
"""

import http.client
import json
import os
import random
import re
import time

import odd
import shops

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "apps")
# What the engine of databases says, and no product does.
ENGINE = re.compile(
    r"\bline \d+: |constraint failed|malformed JSON|datatype mismatch|JSON path error"
    r"|integer overflow|no such (?:table|column|function)|syntax error near|SQLITE_|sqlite3"
    r"|too many (?:SQL|terms|levels)|blob too big|bad JSON path|pattern too complex|fts5"
    r"|parser stack overflow|unable to use function|misuse of|cannot store|wrong number of arg"
    r"|no result\b|JSON cannot hold|callback requested|interrupted|database (?:is|disk)"
    r"|unknown special query|out of memory")
SLOW_S = 0.2  # worth a second look
KNOWN_MOST, NAMED_MOST = 400, 30
SHARP = ["\x00", "a\x00b", "{", "[1", "{}", "[]", "[null]", '{"a":1e999}', "1e308", "$.", "\"",
         "$[", "*", "AND", "\u2028", "a" * 300, "-9223372036854775808", "9223372036854775808",
         "0.1.2"]
BODIES_EVERY = 10  # calls between two bodies
FRESH_EVERY = 400  # calls between two new instances: what a body left behind is not for ever


def variants():
    """(app, benchmark or None): every set of tools."""
    for name in sorted(os.listdir(APPS)):
        path = os.path.join(APPS, name, "app.json")
        if not os.path.exists(path) or name in ("conformance", "common"):
            continue
        with open(path) as f:
            doc = json.load(f)
        yield name, None
        seen = set()
        for benchmark, folder in doc.get("benchmarks", {}).items():
            if folder not in seen:
                seen.add(folder)
                yield name, benchmark


class Fitting(odd.Odd):
    """Odd values, and in between those that an argument of that name would have: ids that exist
    lead calls deeper than any guess."""

    def __init__(self, r, schemas=None):
        super().__init__(r, schemas)
        self.by_name = {}

    def learn(self, value, most=400):
        stack = [("", value)]
        while stack and most > 0:
            name, x = stack.pop()
            if isinstance(x, dict):
                stack += [(k.lower().replace("_", ""), v) for k, v in x.items()]
            elif isinstance(x, list):
                stack += [(name, v) for v in x[:20]]
            elif isinstance(x, str) and 0 < len(x) <= 80 or type(x) in (int, float):
                most -= 1
                if isinstance(x, str):
                    self.known.append(x)
                self.by_name.setdefault(name, []).append(x)
                del self.by_name[name][:-NAMED_MOST]
        del self.known[:-KNOWN_MOST]

    def fitting(self, name):
        """A value of something that is called like that, or ends so: "id" for "page_id"."""
        name = name.lower().replace("_", "")
        for end in (name, name.rstrip("s"), "id" if name.endswith(("id", "ids", "key")) else ""):
            if self.by_name.get(end):
                return self.r.choice(self.by_name[end])
        return self.text()

    def of_type(self, kind, schema, depth, name):
        if kind in ("string", "integer", "number") and name and self.r.random() < 0.4:
            return self.fitting(name)
        if kind in ("integer", "number") and self.r.random() < 0.4:
            return self.r.choice(odd.NUMBERS)
        if kind == "string" and self.r.random() < 0.1:
            return self.r.choice(SHARP)
        return super().of_type(kind, schema, depth, name)

    def change(self, value, depth=0):
        """VALUE with something in it that is not as it was."""
        if isinstance(value, list) and value and self.r.random() < 0.9:
            at = self.r.randrange(len(value))
            if self.r.random() < 0.1:
                return value + [value[at]]
            return value[:at] + [self.change(value[at], depth + 1)] + value[at + 1:]
        if isinstance(value, dict) and value and self.r.random() < 0.9:
            name = self.r.choice(list(value))
            if self.r.random() < 0.1:
                return {k: v for k, v in value.items() if k != name}
            return {**value, name: self.change(value[name], depth + 1)}
        if isinstance(value, str) and self.r.random() < 0.6:
            return self.r.choice(SHARP + odd.TEXTS + self.known[-50:])
        if type(value) in (int, float) and self.r.random() < 0.6:
            return self.number()
        return self.any(depth)


class Player:
    def __init__(self, s, app, benchmark=None, seed=7):
        self.s, self.app, self.benchmark = s, app, benchmark
        self.r = random.Random("%d/%s/%s" % (seed, app, benchmark))
        self.odd = Fitting(self.r)
        self.findings, self.slow, self.n_calls, self.connection = [], [], 0, None
        path = os.path.join(APPS, app, "data.json")
        self.data = None
        if os.path.exists(path):
            with open(path) as f:
                self.data = json.load(f)
            self.odd.schemas = self.data.get("$defs", self.data.get("definitions", {}))
        self.seed = {}
        path = os.path.join(APPS, app, "seed", "default.json")
        if os.path.exists(path):
            with open(path) as f:
                self.seed = json.load(f)
        self.odd.learn(self.seed, 3000)
        self.acquire()

    # ---- the way there ----

    def acquire(self):
        body = {"data": "default"} if self.data else {}
        if self.benchmark:
            body["benchmark"] = self.benchmark
        answer = self.s.post("/sandbox/" + self.app, body)
        assert answer.status == 201, (self.app, answer)
        self.path = "/sandbox/%s/%s" % (self.app, answer.json["sandbox_id"])
        self.target = "/" + answer.json["server_url"].split("/", 3)[3]
        self.tools = self.rpc("tools/list", {})["result"]["tools"]
        self.ordinary = [t["name"] for t in self.tools
                         if not t["inputSchema"].get("required")
                         and not self.is_failure(self.call(t["name"], {}))]

    def release(self):
        self.s.delete(self.path)
        if self.connection:
            self.connection.close()
        self.connection = None

    def rpc(self, method, params):
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if not self.connection:
            self.connection = http.client.HTTPConnection(self.s.host, self.s.port, timeout=60)
        self.connection.request("POST", self.target, text, shops.RPC)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status >= 500:
            self.find("%d %r" % (answer.status, body[:200]), params)
        return json.loads(body) if body else {}

    def call(self, tool, args):
        return self.rpc("tools/call", {"name": tool, "arguments": args})

    def find(self, what, sent):
        shown = json.dumps(sent)
        self.findings.append("%s%s: %s <- %s" % (
            self.app, "/" + self.benchmark if self.benchmark else "", what,
            shown if len(shown) < 700 else shown[:700] + "…"))

    @staticmethod
    def is_failure(answer):
        return "error" in answer or answer.get("result", {}).get("isError", False)

    # ---- what is played ----

    def look(self, text, sent):
        found = ENGINE.search(text)
        # What was sent may come back.
        if found and found[0] not in json.dumps(sent, ensure_ascii=False):
            at = found.start()
            self.find("engine text: " + text[max(0, at - 120):at + 160], sent)

    def play_call(self):
        tool = self.r.choice(self.tools)
        args = self.odd.of(tool["inputSchema"])
        if not isinstance(args, dict) and self.r.random() < 0.7:
            args = {}
        start = time.monotonic()
        answer = self.call(tool["name"], args)
        took = time.monotonic() - start
        self.n_calls += 1
        if took > SLOW_S:
            self.slow.append((took, tool["name"], args))
        if self.app != "postgres":
            self.look(json.dumps(answer, ensure_ascii=False), args)
        if self.r.random() < 0.1:
            self.learn(answer)

    def learn(self, answer):
        try:
            self.odd.learn(json.loads(answer["result"]["content"][0]["text"]))
        except (KeyError, IndexError, TypeError, ValueError):
            return

    def play_body(self):
        """A body is taken, refused as the API refuses bodies, or was no JSON at all."""
        if self.seed and self.r.random() < 0.7:
            body = {k: v[:self.r.choice([1, 2, 5])] if isinstance(v, list) else v
                    for k, v in self.seed.items()}
            for _ in range(self.r.choice([1, 1, 2, 4])):
                body = self.odd.change(body)
        else:
            body = self.odd.of(self.data)
        text = json.dumps(body)
        answer = self.s.post(self.path + "/initialize", text,
                             headers={"Content-Type": "application/json"})
        self.n_calls += 1
        if answer.status not in (200, 400, 408, 413, 422):
            self.find("initialize: %r" % answer, body)
        elif answer.status == 422 and not all(
                x.get("loc") for x in answer.json.get("detail", [])):
            self.find("initialize without loc: %r" % answer, body)
        self.look(answer.body.decode(), body)

    def check(self):
        """What worked before still does."""
        for name in self.ordinary:
            answer = self.call(name, {})
            if self.is_failure(answer):
                self.find("poisoned: %s" % json.dumps(answer)[:300], name)
        if self.data:
            answer = self.s.get(self.path + "/dump")
            if answer.status != 200:
                self.find("poisoned: dump %r" % answer, {})
                return
            answer = self.s.post(self.path + "/initialize", answer.json["data"])
            if answer.status >= 500:
                self.find("poisoned: dump and initialize %r" % answer, {})
            self.look(answer.body.decode(), {})

    def play(self, n):
        for i in range(1, n + 1):
            if self.data and i % BODIES_EVERY == 0:
                self.play_body()
            else:
                self.play_call()
            if i % FRESH_EVERY == 0 and i < n:
                self.check()
                self.release()
                self.acquire()
        self.check()
        self.release()
