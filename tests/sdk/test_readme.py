# SPDX-License-Identifier: MIT
"""The example in the README, run as somebody would who has just read it: in an empty folder, with
nothing but the client and the environment that the README names."""

import os
import re
import subprocess

import clients
import domain
import internet
import service
import tap

LINES_MAX = 15


def example():
    with open(os.path.join(clients.SOURCE, "README.md")) as f:
        blocks = re.findall(r"```js\n(.*?)```", f.read(), re.S)
    tap.equal(len(blocks), 1, "examples in the README")
    return blocks[0]


def run_example(env):
    with service.folder() as folder:
        os.makedirs(os.path.join(folder, "node_modules"))
        for name in os.listdir(clients.MODULES):  # what `npm i e2b` does
            os.symlink(os.path.join(clients.MODULES, name),
                       os.path.join(folder, "node_modules", name))
        with open(os.path.join(folder, "example.mjs"), "w") as f:
            f.write(example())
        done = subprocess.run(clients.node("example.mjs"), cwd=folder, env=env, timeout=120,
                              capture_output=True, text=True)
    tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout, done.stderr))
    return done.stdout


def check_output(text):
    for part in ("hello from", "watch: create note.txt", "watch: write note.txt", "80",
                 "kept true"):
        tap.contains(text, part)


def test_it_is_short():
    lines = example().splitlines()
    assert len(lines) <= LINES_MAX, "%d lines" % len(lines)


def test_it_runs_by_addresses():
    with domain.running() as s:
        check_output(run_example(domain.client_env(s)))
        tap.equal(s.names(), [], "sandboxes that are left")


def test_it_runs_by_domain():
    with domain.running_tls() as s:
        check_output(run_example(domain.client_env(s)))
        tap.equal(s.names(), [], "sandboxes that are left")


try:
    clients.install()
    internet.open()
except tap.Skip as e:
    print("1..0 # SKIP %s" % e)
    raise SystemExit(0)
tap.main(globals())
