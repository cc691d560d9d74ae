# SPDX-License-Identifier: MIT
"""kill -9 of the service under a client whose command prints numbered lines: after the restart the
client connects to the process again, and no line is missing."""

import json
import os
import subprocess

import clients
import domain
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ("2.45", "2.51")


class Client:
    """suite/reattach.mjs, told what to do line by line."""

    def __init__(self, s, version):
        env = domain.client_env(s)
        env.update(SDK_VERSION=version, SDK_MODULES=clients.MODULES)
        self.process = subprocess.Popen(
            clients.node(os.path.join(HERE, "suite", "reattach.mjs")), env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the client ended"
        answer = json.loads(line)
        assert "error" not in answer, answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(30)


def check_lines(text, last):
    """Every line from the first to the last, whole; some may come twice."""
    seen = set()
    for line in text.split("\n")[:-1]:
        if line.isdigit():
            seen.add(int(line))
    missing = [n for n in range(1, last + 1) if n not in seen]
    tap.equal(missing[:20], [], "missing lines of %d" % last)


def reattach(version, n_kills=2):
    with domain.running() as s:
        client = Client(s, version)
        try:
            started = client.ask(do="start")
            before = 0
            for _ in range(n_kills):
                before = client.ask(do="wait", lines=before + 50)["last"]
                s.kill()
                client.ask(do="lost")
                s.listen = "%s:%d" % (s.host, s.port)
                s.start()
                connected = client.ask(do="connect")
                tap.equal(connected["pid"], started["pid"], "pid")
            client.ask(do="wait", lines=before + 50)
            end = client.ask(do="end")
            tap.equal(end["exitCode"], 0, "exit status")
            check_lines(end["text"], end["last"])
        finally:
            client.close()


def test_no_line_is_missing():
    for version in VERSIONS:
        reattach(version)


try:
    clients.install()
except tap.Skip as e:
    print("1..0 # SKIP %s" % e)
    raise SystemExit(0)
tap.main(globals())
