# SPDX-License-Identifier: MIT
"""Backups of a service with sandboxes: what is kept of them, and what becomes of them."""

import os
import tarfile
import tempfile

import cells
import service
import tap


def tidepool(*arguments):
    return service.tidepool(*arguments, timeout=120)


def test_sandboxes_in_a_backup():
    with tempfile.TemporaryDirectory(prefix="tidepool-test-", dir="/var/tmp") as folder:
        file, elsewhere = os.path.join(folder, "b.tar"), os.path.join(folder, "elsewhere")
        with cells.running() as s:
            s.create(name="one")
            s.create(name="two")
            done = s.run("one", "mkdir -p ~/desk && echo kept > ~/desk/note; echo code > /code/c")
            tap.equal(done["exitCode"], 0, done)
            tap.equal(s.post("/api/v1/sandbox/pause/two").status, 200)
            status, out, err = tidepool("backup", file, "--state", s.state)
            tap.equal(status, 0, err)
            with tarfile.open(file) as t:
                assert not [x for x in t.getnames() if x.startswith("workspaces")], t.getnames()
            status, out, err = tidepool("backup", file, "--workspaces", "--state", s.state)
            tap.equal(status, 0, err)
            tap.contains(out, "With the files of 1 sandbox.")
            tap.contains(out, "sandbox two: paused")
            tap.equal(os.listdir(folder), ["b.tar"])
            # It goes on as it was.
            tap.equal(s.run("one", "cat ~/desk/note")["output"], "kept\n")
        with open(file, "rb") as f:
            whole = f.read()
        with tarfile.open(file) as t:
            names = t.getnames()
            tap.equal(names[-1], "workspaces/SHA256SUMS")
            end = [m for m in t.getmembers() if m.name == "SHA256SUMS"][0]
            cut_at = end.offset_data + (end.size + 511) // 512 * 512
        # The part with the workspaces cannot get lost unnoticed.
        with open(file + ".cut", "wb") as f:
            f.write(whole[:cut_at])
        status, out, err = tidepool("restore", file + ".cut", "--state", elsewhere)
        tap.equal(status, 1)
        tap.contains(err, "cut short")
        status, out, err = tidepool("restore", file, "--state", elsewhere)
        tap.equal(status, 0, err)
        tap.contains(out, elsewhere + "/workspaces")
        home = os.path.join(elsewhere, "workspaces", "one", "home.tar.gz")
        with tarfile.open(home) as t:
            note = [m for m in t.getmembers() if m.name.endswith("desk/note")]
            tap.equal(t.extractfile(note[0]).read(), b"kept\n")
        with tarfile.open(os.path.join(elsewhere, "workspaces", "one", "code.tar.gz")) as t:
            tap.equal([t.extractfile(m).read() for m in t.getmembers() if m.isfile()], [b"code\n"])
        check_lost(elsewhere)


def check_lost(state):
    """The sandboxes cannot come back: the next start says so."""
    s = cells.Service(state)
    try:
        tap.equal(s.names(), [])
        for name in ("one", "two"):
            tap.equal(s.reasons(name)[-1], "SandboxExited", s.reasons(name))
        s.create(name="one")
        tap.equal(s.run("one", "echo again")["output"], "again\n")
        s.remove_all()
        tap.equal(s.stop(), 0)
        assert os.path.exists(os.path.join(state, "workspaces", "one", "home.tar.gz"))
    finally:
        if s.process.poll() is None:
            s.kill()
        cells.end_spawner(state)


tap.main(globals())
