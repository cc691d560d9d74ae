# SPDX-License-Identifier: MIT
"""A backup outlives the package, and a purge leaves nothing, whatever ran."""

import os

import guest
import tap

BACKUP = "/root/tidepool.backup"


def processes():
    """Programs of the package that run, also those whose file is gone."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            exe = os.readlink("/proc/%s/exe" % pid)
        except OSError:
            continue
        if "/tidepool" in exe and not exe.startswith("/opt/"):
            found.append(exe)
    return found


def files():
    """Whatever has our name, but for logs and what the test brought along."""
    found = guest.sh("find / -xdev -iname '*tidepool*' -not -path '/opt/*' -not -path '/root/*' "
                     "-not -path '/var/log/*' -not -path '/var/cache/apt/*' -print; "
                     "find /run /tmp /dev/shm /sys/fs/cgroup -iname '*tidepool*' 2>/dev/null",
                     check=False)
    return [line for line in found.splitlines() if line]


def test_backup_purge_install_restore():
    with guest.service() as s:
        key = s.make_key(account="ada", name="laptop")
        made = s.post("/sandbox/jira", {"data": "default", "tag": "kept"}, timeout=300)
        assert made.status in (200, 201), made
        path = "/sandbox/jira/%s/dump" % made.json["sandbox_id"]
        dump = s.get(path).json["data"]
        guest.fill(s, 1)
        guest.sh("tidepool backup -q " + BACKUP)
    guest.apt("purge", "tidepool")
    assert not os.path.exists(guest.STATE), "the state is still there"
    guest.install()
    guest.sh("systemctl stop tidepool; rm -rf %s" % guest.STATE)
    guest.sh("tidepool restore " + BACKUP)
    guest.sh("systemctl start tidepool")
    guest.wait_for_service()
    s = guest.Service()
    tap.equal(s.get(path).json["data"], dump, "the dump")
    tap.equal(s.get("/api/v1/sandbox", key=key["key"]).status, 200, "with the key from before")
    tap.equal(s.reasons("box-00")[-1], "SandboxExited", "the last event")
    guest.sh("tidepool audit verify")


def test_a_purge_leaves_nothing():
    guest.installed()
    s = guest.Service()
    s.remove_all()
    guest.fill(s, 3)
    tap.equal(s.post("/api/v1/sandbox/pause/box-02").status, 200, "pause")
    links = guest.sh("ip -br link")
    guest.apt("purge", "tidepool")
    tap.equal(processes(), [], "processes")
    tap.equal(files(), [], "files and groups")
    tap.equal(guest.sh("grep -i tidepool /proc/self/mountinfo", check=False), "", "mounts")
    tap.equal(guest.sh("losetup -a"), "", "loop devices")
    tap.equal(guest.sh("systemctl list-units --all --no-legend --no-pager 'tidepool*'"), "",
              "units")
    tap.equal(guest.sh("ip -br link"), links, "links of the network")
    tap.equal(guest.status("getent passwd tidepool"), 2, "an account")


tap.main(globals())
