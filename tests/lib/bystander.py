# SPDX-License-Identifier: MIT
"""An account that does nothing wrong while others do, and what it notices: how long its requests
take, whether all of them succeed, and whether its data are as it left them.

It is a process of its own, so that neither the others' threads nor the test's are in its figures.

    b = Bystander(s)           # a sandbox with files, an instance with data
    b.begin("attack"); …; figures = b.end()
    b.check()                  # nothing was changed
    b.close()
"""

import contextlib
import hashlib
import http.client
import json
import multiprocessing
import os
import time

RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MARK = "f00dcafe-only-the-bystander-knows-this"
APP = "jira"
PATIENCE = 60
FILES = 20


class Failed(AssertionError):
    """What a bystander must never see."""


class Session:
    """One kept connection, with the bystander's key."""
    def __init__(self, host, port, key):
        self.place, self.key, self.c = (host, port), key, None

    def ask(self, method, path, body=None, want=200, **headers):
        if not self.c:
            self.c = http.client.HTTPConnection(*self.place, timeout=PATIENCE)
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        try:
            self.c.request(method, path, text, {"Authorization": "Bearer " + self.key, **headers})
            answer = self.c.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as e:
            self.c.close()
            self.c = None
            raise Failed("%s %s: %r" % (method, path, e)) from e
        if answer.status != want:
            raise Failed("%s %s: %d %r" % (method, path, answer.status, data[:300]))
        return json.loads(data) if data[:1] in (b"{", b"[") else data


class Work:
    """What it does all day; each kind of request is a method, and is timed."""
    def __init__(self, host, port, facts):
        self.session, self.facts, self.n = Session(host, port, facts["key"]), facts, 0

    def healthz(self):
        self.session.ask("GET", "/healthz")

    def call(self):
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "jira_search", "arguments": {"jql": "summary ~ \"%s\"" % MARK[:8]}}
        }
        got = self.session.ask("POST", self.facts["target"], message, **RPC)
        if "result" not in got or got["result"].get("isError"):
            raise Failed("tools/call: %r" % got)

    def dump(self):
        """Work that is not done on the loop's thread."""
        self.session.ask("GET", "/sandbox/%s/%s/dump" % (APP, self.facts["instance"]))

    def execute(self, name, command):
        got = self.session.ask("POST", "/api/v1/terminal/sandbox/" + name,
                               {"command": command})["data"]
        if got["exitCode"] != 0:
            raise Failed("%s: %r" % (command, got))
        return got["output"]

    def create(self):
        """To the first result of a command; the end is not in the time."""
        self.n += 1
        name = "bystander-%d-%d" % (os.getpid(), self.n)
        start = time.monotonic()
        self.session.ask("POST", "/api/v1/sandbox", {"name": name})
        self.made = time.monotonic() - start
        if self.execute(name, "echo $((6*7))") != "42\n":
            raise Failed("another answer than that of the command")
        return lambda: self.session.ask("DELETE", "/api/v1/sandbox/" + name)

    def digests(self):
        """Of the files and of the instance's data."""
        files = self.execute(self.facts["box"], "cd /home/user/kept && sha256sum * | sha256sum")
        dump = self.session.ask("GET", "/sandbox/%s/%s/dump" % (APP, self.facts["instance"]))
        text = json.dumps(dump["data"], sort_keys=True)
        return files, hashlib.sha256(text.encode()).hexdigest()


KINDS = ("healthz", "create", "call", "dump")
PARTS = ("made",)  # of "create": until the sandbox is there, without the command


def timed(work, kind, figures):
    start = time.monotonic()
    try:
        after = getattr(work, kind)()
        figures["times"][kind].append(time.monotonic() - start)
        if kind == "create":
            figures["times"]["made"].append(work.made)
        if after:
            after()
    except Failed as e:
        figures["failures"].append("%s after %.1f s: %s" % (kind, time.monotonic() - start, e))


def live(pipe, host, port, facts, nice):
    """The process: works while it is told to; the answer to "end" are the figures."""
    if nice < 0:
        with contextlib.suppress(OSError):
            os.nice(nice)
    work = Work(host, port, facts)
    figures, is_on = None, False
    while True:
        while pipe.poll(0 if is_on else None):
            word = pipe.recv()
            if word == "begin":
                figures, is_on = {"times": {k: [] for k in KINDS + PARTS}, "failures": []}, True
            elif word == "end":
                is_on = False
                pipe.send(figures)
            elif word == "digests":
                try:
                    pipe.send(work.digests())
                except Failed as e:
                    pipe.send(str(e))
            else:
                return
        if is_on:
            for kind in ("healthz", "call", "healthz", "call", "healthz", "call", "create",
                         "dump"):
                timed(work, kind, figures)
                time.sleep(0.002)


class Bystander:
    def __init__(self, s, account="bystander", nice=0):
        """With a negative NICE it does not wait for processors itself."""
        key = s.make_key(account=account)["key"]
        box = s.create(key=key, name="bystanders-own")
        s.run(
            "bystanders-own", "mkdir -p kept && cd kept && for i in $(seq %d); do head -c 20000 "
            "/dev/urandom >$i; done; echo %s >mark" % (FILES, MARK), key=key, cwd="/home/user")
        got = s.post("/sandbox/" + APP, {"data": "default"}, key=key)
        assert got.status == 201, got
        self.facts = {
            "key": key, "box": "bystanders-own", "id": box["id"],
            "instance": got.json["sandbox_id"],
            "target": "/" + got.json["server_url"].partition("//")[2].partition("/")[2]
        }
        # What no answer to somebody else may hold.
        self.secrets = [MARK, key, got.json["server_url"].rpartition("=")[2]]
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=live, daemon=True,
                                       args=(theirs, s.host, s.port, self.facts, nice))
        self.process.start()
        self.before = self.digests()

    def say(self, word):
        self.pipe.send(word)
        if not self.pipe.poll(2 * PATIENCE):
            raise Failed("the bystander waits for an answer for over %d s" % (2 * PATIENCE))
        return self.pipe.recv()

    def digests(self):
        got = self.say("digests")
        if isinstance(got, str):
            raise Failed(got)
        return got

    def begin(self):
        self.pipe.send("begin")

    def end(self):
        return self.say("end")

    def check(self):
        """Its data are as they were."""
        now = self.digests()
        if now != self.before:
            raise Failed("the bystander's data changed: %r instead of %r" % (now, self.before))

    def close(self):
        self.pipe.send("close")
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def quantile(times, q):
    """In milliseconds; of nothing it is nothing."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else float("nan")
