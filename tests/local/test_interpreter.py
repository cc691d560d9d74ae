# SPDX-License-Identifier: MIT
"""The code interpreter as an ordinary program: bodies it refuses, limits, order of events.

What the unmodified client sees is in tests/sdk/test_interpreter.py.
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import tempfile
import time

import tap

JSON = {"Content-Type": "application/json"}
PROGRAM = os.environ["TIDEPOOL_LOCAL"]


class Interpreter:
    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        connection.request(method, path, text, JSON)
        answer = connection.getresponse()
        got = answer.status, answer.read().decode("ascii")
        connection.close()
        return got

    def run(self, code, **more):
        status, text = self.ask("POST", "/execute", {"code": code, **more})
        tap.equal(status, 200, text)
        return [json.loads(line) for line in text.splitlines()]


def is_at(folder, pid):
    try:
        return os.readlink("/proc/%s/cwd" % pid) == folder
    except OSError:
        return False


def wait_for_none(folder):
    """The processes of contexts end when the server has."""
    for _ in range(200):
        if not any(is_at(folder, pid) for pid in os.listdir("/proc") if pid.isdigit()):
            return
        time.sleep(0.05)
    raise AssertionError("processes of contexts are left")


@contextlib.contextmanager
def serving():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "code-interpreter")
        os.symlink(PROGRAM, program)
        env = dict(os.environ, HOME=folder, IPYTHONDIR=folder)
        process = subprocess.Popen([program, "--listen", "127.0.0.1:0"], cwd=folder, env=env,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            x = Interpreter(int(process.stdout.readline().split()[-1]))
            yield x
            x.run("1")  # Python is there, and goes when it finds nobody to talk to
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            wait_for_none(folder)


def types(events):
    return [e["type"] for e in events]


def test_bodies_that_are_refused():
    with serving() as x:
        tap.equal(x.ask("GET", "/health"), (200, '"OK"'))
        for body in ("", "[]", "{", {}, {"code": 1}, {"code": "1", "env_vars": {"A": 1}},
                     {"code": "1", "env_vars": {"A=B": "1"}}, {"code": "1", "context_id": 5},
                     {"code": "1", "env_vars": {str(i): "" for i in range(257)}}):
            status, text = x.ask("POST", "/execute", body)
            tap.equal(status, 422, str(body)[:40])
            assert json.loads(text)["detail"], text
        tap.equal(x.ask("POST", "/execute", {"code": "1", "context_id": "x", "language": "js"}),
                  (400, "Only one of context_id or language can be provided"))
        tap.equal(x.ask("POST", "/execute", {"code": "1", "context_id": "nope"}),
                  (404, "Context nope not found"))
        tap.equal(x.ask("DELETE", "/contexts/nope"), (404, "Context nope not found"))
        tap.equal(x.ask("POST", "/contexts/nope/restart"), (404, "Context nope not found"))
        tap.equal(x.ask("POST", "/contexts", {"language": "cobol"})[0], 500)
        tap.equal(x.ask("POST", "/contexts", {"cwd": "/nope"})[0], 500)
        tap.equal(x.ask("GET", "/nothing")[0], 404)


def test_contexts_have_a_maximum():
    with serving() as x:
        have = len(json.loads(x.ask("GET", "/contexts")[1]))
        for _ in range(32 - have):
            tap.equal(x.ask("POST", "/contexts", {"language": "bash"})[0], 200)
        status, text = x.ask("POST", "/contexts", {"language": "bash"})
        tap.equal(status, 500)
        tap.contains(text, "there are 32 contexts already")
        last = json.loads(x.ask("GET", "/contexts")[1])[-1]
        tap.equal(x.ask("DELETE", "/contexts/" + last["id"]), (200, "null"))
        tap.equal(x.ask("POST", "/contexts", {"language": "bash"})[0], 200)


def test_events_are_in_order():
    with serving() as x:
        events = x.run("echo out; echo err >&2; printf '\\303'; exit_status() { return 3; }; "
                       "exit_status", language="bash")
        tap.equal(types(events)[0], "number_of_executions")
        tap.equal(types(events)[-1], "end_of_execution")
        tap.equal("".join(e["text"] for e in events if e["type"] == "stdout"), "out\n\ufffd")
        tap.equal([e for e in events if e["type"] == "error"],
                  [{"type": "error", "name": "ExitStatus", "value": "3", "traceback": ""}])
        events = x.run("exit 4", language="bash")
        tap.equal([e.get("name") for e in events if e["type"] == "error"], ["ContextRestarting"])
        tap.equal(types(x.run("true", language="bash")),
                  ["number_of_executions", "end_of_execution"], "a new process")


tap.main(globals())
