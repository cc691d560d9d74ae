# SPDX-License-Identifier: MIT
"""The examples in README.md and docs/E2B.md, run as somebody would who has just read them: in an
empty folder, with nothing but the client and the environment that they name."""

import json
import os
import re
import subprocess

import clients
import domain
import internet
import service
import tap

LINES_MAX = {"README.md": 6, "docs/E2B.md": 15}
PARTS = {"README.md": ("hello from", "kept"),
         "docs/E2B.md": ("hello from", "watch: create note.txt", "watch: write note.txt", "80",
                         "kept true")}


def example(page, language="js"):
    with open(os.path.join(clients.SOURCE, page)) as f:
        blocks = re.findall(r"```%s\n(.*?)```" % language, f.read(), re.S)
    tap.equal(len(blocks), 1, "examples in %s" % page)
    return blocks[0]


def run_example(page, env):
    with service.folder() as folder:
        os.makedirs(os.path.join(folder, "node_modules"))
        for name in os.listdir(clients.MODULES):  # what `npm i e2b` does
            os.symlink(os.path.join(clients.MODULES, name),
                       os.path.join(folder, "node_modules", name))
        with open(os.path.join(folder, "example.mjs"), "w") as f:
            f.write(example(page))
        done = subprocess.run(clients.node("example.mjs"), cwd=folder, env=env, timeout=120,
                              capture_output=True, text=True)
    tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout, done.stderr))
    for part in PARTS[page]:
        tap.contains(done.stdout, part)


def test_they_are_short():
    for page, most in LINES_MAX.items():
        lines = example(page).splitlines()
        assert len(lines) <= most, "%s: %d lines" % (page, len(lines))
    lines = example("README.md", "sh").splitlines()
    assert len(lines) <= 6, "%d lines" % len(lines)


def test_they_run_by_addresses():
    with domain.running() as s:
        for page in PARTS:
            run_example(page, domain.client_env(s))
            tap.equal(s.names(), [], "sandboxes that are left")


def test_they_run_by_domain():
    with domain.running_tls() as s:
        for page in PARTS:
            run_example(page, domain.client_env(s))
            tap.equal(s.names(), [], "sandboxes that are left")


def test_the_first_app():
    with domain.running() as s:
        env = dict(os.environ, URL=s.url, KEY=s.key)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", example("README.md", "sh")],
                              env=env, timeout=120, capture_output=True, text=True)
        tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout, done.stderr))
        found, changes, released = [json.loads(x) for x in
                                    done.stdout.replace("}{", "}\n{").splitlines()]
        tap.contains(found["result"]["content"][0]["text"], "ATLAS-")
        tap.equal((changes["inserted"], changes["updated"], changes["deleted"]), (0, 0, 0))
        tap.contains(released["message"], "released")
        tap.equal(json.loads(s.get("/sandbox").body)["sandboxes"], [])


try:
    clients.install()
    internet.open()
except tap.Skip as e:
    print("1..0 # SKIP %s" % e)
    raise SystemExit(0)
tap.main(globals())
