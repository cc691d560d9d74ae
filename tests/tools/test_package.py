# SPDX-License-Identifier: MIT
"""What debian/ says twice: the version, and what the build needs."""

import os
import re
import subprocess

import tap

SOURCE = os.environ["TIDEPOOL_SOURCE"]
# Every build of a Debian package has these.
TAKEN_FOR_GRANTED = {"gcc", "libc6-dev"}


def read(*path):
    with open(os.path.join(SOURCE, *path)) as f:
        return f.read()


def field(name):
    """The packages of a field of debian/control."""
    text = re.sub("(?m)^#.*\n", "", read("debian", "control"))
    found = re.search("(?m)^%s:((?:.*\n)(?: .*\n)*)" % name, text).group(1)
    return {entry.split()[0] for entry in found.split(",")}


def test_the_package_has_the_version_of_the_program():
    version = re.search("version: '(.*)'", read("meson.build")).group(1)
    tap.equal(re.match(r"tidepool \((.*?)\)", read("debian", "changelog")).group(1), version)


def test_the_package_is_built_with_what_a_build_needs():
    needed = {line.split()[1] for line in read("tools", "packages").splitlines()
              if line.startswith("build ")}
    tap.equal(needed - field("Build-Depends") - TAKEN_FOR_GRANTED, set(),
              "packages of the group build that are not in Build-Depends")


def test_the_package_asks_for_what_cells_need():
    for package in ("e2fsprogs", "libsystemd0", "sudo", "ca-certificates"):
        tap.contains(field("Depends"), package)
    for package in ("python3", "git", "curl", "libpq5"):
        tap.contains(field("Recommends"), package)


def test_suffixes_are_checked():
    for suffix in ("-2", "+2 3", "/../x", "_"):
        p = subprocess.run([os.path.join(SOURCE, "tools", "package"), suffix], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.equal((p.returncode, p.stdout), (1, ""), "package " + suffix)
        tap.contains(p.stderr, "cannot be the version of a package")


tap.main(globals())
