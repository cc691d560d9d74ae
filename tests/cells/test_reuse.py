# SPDX-License-Identifier: MIT
"""What an ended sandbox leaves to the next one, its disk and its network, shows nothing of it."""

import difflib
import os

import cells
import census
import tap

# Everything that a sandbox can see of its disk, its root directory and its network.
LOOK = r"""
stat -c '%a %u %g %F' / /etc /usr /data /home/user /tmp /usr/local
find / -xdev -printf '%p %m %U %G %y %l\n' 2>/dev/null | sort |
    grep -v -e '^/usr/' -e '^/etc/alternatives/'
ls -l /usr/bin/secret /usr/bin/yes 2>&1; ls -ld /usr/bin /usr/bin/python /usr | cut -d' ' -f1-4
df --output=iused,ipcent / | tail -1
getfattr -d -m - / /data /etc 2>/dev/null
cat /proc/net/dev /proc/net/snmp /proc/net/snmp6 /proc/net/tcp
cat /etc/hosts /etc/hostname | sed s/[ab][0-9][0-9]*/NAME/
"""
DIRTY = r"""
set -e
echo secret > /secret; echo secret > /etc/secret; echo x >> /etc/passwd; rm /etc/profile
mkdir -p /data/deep/er; echo secret > /data/deep/er/file; ln -s /data /data/deep/link
echo '#!/bin/sh' > /usr/bin/secret; chmod 4755 /usr/bin/secret; rm -f /usr/bin/yes
chmod 711 / /data /usr; chown user /data; mkfifo /tmp/pipe
mknod /tmp/hole c 0 0 2>/dev/null || true
ln /etc/secret /etc/again; touch -d 2001-01-01 /; rm /etc/hosts; mkdir /etc/hosts
"""
TALK = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); " \
       "c = socket.create_connection(s.getsockname()); c.sendall(b\"x\")'"


def run(s, name, command):
    data = s.run(name, command, user="root", timeout=60)
    tap.equal(data["exitCode"], 0, data)
    return data["output"]


def network(s, name):
    """Which network namespace a sandbox has."""
    spawner = cells.spawner_pid(s.state)
    hosts = {census.read("/proc/%d/root/etc/hostname" % p).strip(): p
             for p in census.children(spawner) if census.slot_of(p)}
    return os.readlink("/proc/%d/ns/net" % hosts[name])


def same(got, want, what):
    lines = difflib.unified_diff(want.split("\n"), got.split("\n"), lineterm="", n=0)
    tap.equal(list(lines), [], what)


def lives(s, dirty, kind):
    """(look, network) of a sandbox, of one that does DIRTY, and of the next ones."""
    found = []
    for i in range(6):
        name = "a%d" % i
        s.create(name=name)
        found.append((run(s, name, LOOK), network(s, name)))
        if i == 1 and dirty:
            run(s, name, dirty)
        tap.equal(s.remove(name).status, 200)
    assert len(found[0][0]) > 2000, "there is much to see with " + kind
    return found


def check(kind):
    env = {"TIDEPOOL_CELLS_WARM": "0", "TIDEPOOL_CELLS_DISK_KIND": kind}
    with cells.running(env=env) as s:
        seen = lives(s, DIRTY, kind)
        for i, (look, _) in enumerate(seen):
            same(look, seen[0][0], "sandbox %d" % i)
        assert len({net for _, net in seen}) < len(seen), "networks are used again"


def test_disks_show_nothing():
    check("image")


def test_memory_shows_nothing():
    check("tmpfs")


def test_used_networks_are_not_given_on():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        seen = lives(s, TALK, "network")
        assert seen[1][1] not in [net for _, net in seen[2:]], "a used network is gone"
        for look, _ in seen[2:]:
            same(look, seen[0][0], "after a used network")


def test_full_disks_are_not_given_on():
    """Neither many files nor much that was written and removed."""
    env = {"TIDEPOOL_CELLS_WARM": "0", "TIDEPOOL_CELLS_DISK_KIND": "image"}
    with cells.running(env=env) as s:
        s.create(name="b0")
        free = run(s, "b0", "df --output=avail,iavail / | tail -1")
        run(s, "b0", "cd /data; seq 3000 | xargs touch; head -c 100M /dev/zero > big; sync; rm big")
        tap.equal(s.remove("b0").status, 200)
        for i in range(1, 8):
            s.create(name="b%d" % i)
            tap.equal(run(s, "b%d" % i, "ls -A /data; df --output=avail,iavail / | tail -1"), free)


tap.main(globals())
