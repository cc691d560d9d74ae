# SPDX-License-Identifier: MIT
"""The suite in suite/ with one pinned version of the npm client e2b, unmodified, against real
services whose internet is a namespace beside them: one reached by its address, and one by TLS under
a domain. Version 1.13 knows only the latter.

    tests/sdk/test_e2b.py VERSION [TEXT]      only cases whose "area: title" holds TEXT
"""

import json
import os
import subprocess
import sys

import clients
import domain
import internet
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(clients.SOURCE, "build", "sdk")
ENV = {"TIDEPOOL_CELLS_DNS": internet.DNS}
OLD = "1.13"
NAMED = "hosts"  # the area of the suite that goes through the domain


def run_suite(s, version, areas, only):
    """Runs some areas; (exit status, result for the matrix)."""
    result = os.path.join(os.environ.get("TMPDIR", "/tmp"), "sdk-result-%d" % os.getpid())
    env = domain.client_env(s)
    env.update(SDK_VERSION=version, SDK_MODULES=clients.MODULES, SDK_RESULT=result,
               SDK_AREAS=areas)
    for name in ("SDK_TIMES", "SDK_AT_ONCE"):
        env.update({name: os.environ[name]} if name in os.environ else {})
    command = clients.node(os.path.join(HERE, "suite", "main.mjs"), only)
    status = subprocess.run(command, env=env, stdin=subprocess.DEVNULL).returncode
    if status and os.environ.get("SDK_LOG"):
        print("# the service's log:\n# " + s.log()[-4000:].replace("\n", "\n# "), flush=True)
    try:
        with open(result) as f:
            return status, json.load(f)
    finally:
        os.unlink(result)


def run_version(version, only):
    """Runs all; (exit status, result)."""
    if version == OLD:
        with domain.running_tls(env=ENV) as s:
            return run_suite(s, version, "", only)
    with domain.running(env=ENV) as s:
        status, result = run_suite(s, version, "-" + NAMED, only)
    with domain.running_tls(env=ENV) as s:
        more, named = run_suite(s, version, NAMED, only)
    result["areas"].update(named["areas"])
    return status or more, result


def save(version, result):
    """For tools/compat, which makes the matrix of it."""
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, "e2b-%s.json" % version), "w") as f:
        json.dump(result, f, indent=2)


def check_document(version):
    """docs/COMPAT.md tells what this run saw; as one more test."""
    done = subprocess.run([os.path.join(clients.SOURCE, "tools", "compat"), "--check", version],
                          stdout=subprocess.PIPE, text=True)
    print("1..1\n%s 1 - the matrix in docs/COMPAT.md" % ("not ok" if done.returncode else "ok"))
    print("".join("# %s\n" % line for line in done.stdout.splitlines()), end="", flush=True)
    return done.returncode


def main():
    version = sys.argv[1]
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    try:
        clients.install()
        internet.open()
    except tap.Skip as e:
        print("1..0 # SKIP %s" % e)
        return 0
    status, result = run_version(version, only)
    if not only:
        save(version, result)
        status = check_document(version) or status
    return status


sys.exit(main())
