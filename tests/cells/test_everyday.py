#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fresh sandbox is a whole machine to its default user."""

import cells
import tap


def test_directories_of_etc_are_open():
    """Whatever umask the service has, what it copies can be reached by everybody."""
    with cells.running() as s:
        s.create(name="one")
        tap.equal(s.run("one", "id -un")["output"], "user\n")
        found = s.run("one", "find /etc -type d ! -perm -005 ! -path /etc/sudoers.d")
        tap.equal(found["output"], "", "closed directories")
        tap.equal(s.run("one", "awk 'BEGIN { print 6 * 7 }'")["output"], "42\n")
        tap.equal(s.run("one", "ls /etc/ssl/certs >/dev/null")["exitCode"], 0)


tap.main(globals())
