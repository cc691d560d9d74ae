# SPDX-License-Identifier: MIT
"""The real program, run on a state directory of its own and a free port.

    with service.running() as s:
        answer = s.get("/api/v1/events")
        tap.equal(answer.status, 200)
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time

import contract

PROGRAM = os.environ.get("TIDEPOOL") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "tidepool")
SEED_TOKEN = "sys-2492a85b10ed4cb083b2c76b181eac96"
START_SECONDS = 30


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def is_json(self):
        return self.headers.get("Content-Type", "").startswith("application/json") and self.body

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:500])


def clean_env(extra=None):
    """The environment without anything that could configure the program."""
    own = ("TIDEPOOL_", "SERVER_ADDR", "SYSTEM_TOKEN", "API_TOKENS", "RATE_LIMIT", "E2B_",
           "LOG_LEVEL")
    env = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    # Cells outlive the service and need root: only the tests of cells have them.
    env["TIDEPOOL_CELLS_ENABLED"] = "false"
    env.update(extra or {})
    return env


class Service:
    """One start of the program; .url, .key and .process while it runs."""

    program = PROGRAM

    def __init__(self, state, *options, env=None, listen="127.0.0.1:0"):
        self.state = state
        self.options, self.env, self.listen = options, env, listen
        self.start()

    def start(self):
        os.makedirs(self.state, exist_ok=True)
        info = os.path.join(self.state, "service.json")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(info)
        self.log_path = self.state + ".log"
        command = [PROGRAM, "serve", "--listen", self.listen, "--state", self.state, *self.options]
        with open(self.log_path, "ab") as log, open(self.state + ".out", "ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=log,
                                            stdin=subprocess.DEVNULL, env=clean_env(self.env))
        end = time.monotonic() + START_SECONDS
        while not os.path.exists(info):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("the service did not start:\n" + self.log())
            time.sleep(0.005)
        with open(info) as f:
            self.info = json.load(f)
        self.url = self.info["url"]
        self.host, _, port = self.url.partition("//")[2].rpartition(":")
        self.port = int(port)
        with open(os.path.join(self.state, "system.key")) as f:
            self.key = f.read().strip()

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def log_with(self, text, seconds=10):
        """The log, once it holds TEXT: lines are written just after the answer."""
        end = time.monotonic() + seconds
        while text not in self.log():
            assert time.monotonic() < end, "%r is not in:\n%s" % (text, self.log())
            time.sleep(0.01)
        return self.log()

    def output(self):
        with open(self.state + ".out") as f:
            return f.read()

    def connect(self, timeout):
        if not self.url.startswith("https:"):
            return http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        # Whose certificate it is, is a matter of the tests that are about it.
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=trusting)

    def request(self, method, path, body=None, key="", headers=None, timeout=30):
        """KEY "" is the system key, None is no key."""
        headers = dict(headers or {})
        if key is not None:
            headers["Authorization"] = "Bearer " + (key or self.key)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            answer = Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()
        if answer.is_json() and method != "HEAD" and not contract.leads_inside(path, headers):
            contract.check(self.program, method, path, answer.status, answer.body)
        return answer

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.request("POST", path, body=body, **more)

    def delete(self, path, **more):
        return self.request("DELETE", path, **more)

    def make_key(self, **fields):
        answer = self.post("/api/v1/keys", fields)
        assert answer.status == 200, answer
        return answer.json["data"]

    def signal(self, signo):
        self.process.send_signal(signo)

    def wait(self, timeout=30):
        return self.process.wait(timeout)

    def stop(self):
        """Orderly stop; the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


def tidepool(*arguments, env=None, timeout=60):
    """Runs a verb; (exit status, standard output, standard error)."""
    done = subprocess.run([PROGRAM, *arguments], env=clean_env(env), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="tidepool-test-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def running(*options, **more):
    """A service on an empty state directory; it must end in order when nobody ended it before."""
    with folder() as path:
        s = Service(os.path.join(path, "state"), *options, **more)
        try:
            yield s
            if s.process.poll() is None:
                status = s.stop()
                assert status == 0, "exit status %d\n%s" % (status, s.log())
        except BaseException:
            print("# the service's log:\n# " + s.log()[-3000:].replace("\n", "\n# "))
            raise
        finally:
            if s.process.poll() is None:
                s.kill()
