# SPDX-License-Identifier: MIT
"""What tools leave in the workspace, and that they see what others leave there."""

import contextlib
import os
import shutil
import stat
import tempfile
import time

import local_tools
import tap

LINE = '{"type":"entity","name":"%s","entityType":"t","observations":["%s"]}'


@contextlib.contextmanager
def workspace():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            yield tools, root
    finally:
        shutil.rmtree(root)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def settle():
    """What was written a moment ago is read anew for every call; a little later it stays."""
    time.sleep(0.15)


def test_a_graph_is_what_its_file_says():
    """Also when it was read before, has the same size and the same time of its last change."""
    with workspace() as (tools, root):
        path = os.path.join(root, "memory.json")

        def found():
            return [x for x in ("Ann", "Bob", "Cid")
                    if x in tools.text("localmemory", "search_nodes", {"query": "LIKES"})]

        write(path, LINE % ("Ann", "likes") + "\n{broken\n" + LINE % ("Bob", "hates"))
        settle()
        for _ in range(3):
            tap.equal(found(), ["Ann"])
        before = os.stat(path)
        write(path, LINE % ("Ann", "hates") + "\n{broken\n" + LINE % ("Bob", "likes"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        tap.equal(os.stat(path).st_size, before.st_size)
        tap.equal(found(), ["Bob"])
        settle()
        tap.equal(found(), ["Bob"])
        # Changed by a tool, by another server, twice in a moment, and gone.
        tools.call("localmemory", "add_observations",
                   {"observations": [{"entityName": "Ann", "contents": ["likes"]}]})
        tap.equal(found(), ["Ann", "Bob"])
        for name in ("Ann", "Bob", "Cid"):
            tools.call("filesystem", "write_file",
                       {"path": path, "content": LINE % (name, "likes")})
            tap.equal(found(), [name])
        settle()
        tap.equal(found(), ["Cid"])
        tools.call("localmemory", "delete_entities", {"entityNames": ["Cid"]})
        tap.equal(found(), [])
        os.remove(path)
        tap.equal(found(), [])


def test_a_change_that_fails_leaves_no_trace():
    with workspace() as (tools, root):
        write(os.path.join(root, "memory.json"), LINE % ("Ann", "likes"))
        settle()
        first = tools.text("localmemory", "read_graph", {})
        tools.failure("localmemory", "add_observations",
                      {"observations": [{"entityName": "Ann", "contents": ["new"]},
                                        {"entityName": "nobody", "contents": ["new"]}]})
        tap.equal(tools.text("localmemory", "read_graph", {}), first)


def test_a_written_file_replaces_the_old_one():
    """Its rights stay, other names keep the old content, and nothing else is left."""
    with workspace() as (tools, root):
        path, other = os.path.join(root, "a.txt"), os.path.join(root, "b.txt")
        write(path, "old")
        os.link(path, other)
        for mode in (0o640, 0o666, 0o755):
            os.chmod(path, mode)
            tools.text("filesystem", "write_file", {"path": "a.txt", "content": "new"})
            tap.equal(stat.S_IMODE(os.stat(path).st_mode), mode)
        tools.text("filesystem", "edit_file",
                   {"path": "a.txt", "edits": [{"oldText": "new", "newText": ""}]})
        with open(path) as f, open(other) as g:
            tap.equal((f.read(), g.read()), ("", "old"))
        tap.equal(sorted(os.listdir(root)), ["a.txt", "b.txt"])
        tools.text("filesystem", "write_file", {"path": "c.txt", "content": "1"})
        tap.equal(stat.S_IMODE(os.stat(os.path.join(root, "c.txt")).st_mode), 0o644)


def test_links_are_followed_inside_only():
    with workspace() as (tools, root):
        os.mkdir(os.path.join(root, "d"))
        write(os.path.join(root, "d", "a.txt"), "text")
        os.symlink("d", os.path.join(root, "in"))
        os.symlink("a.txt", os.path.join(root, "d", "b.txt"))
        os.symlink("/etc", os.path.join(root, "out"))
        os.symlink("nowhere", os.path.join(root, "broken"))
        os.symlink("loop", os.path.join(root, "loop"))
        for path in ("d/a.txt", "in/a.txt", "in/b.txt", "d/../in/./b.txt", root + "/in//a.txt"):
            tap.equal(tools.text("filesystem", "read_text_file", {"path": path}), "text")
        tap.equal(tools.text("filesystem", "list_directory", {"path": "in"}),
                  "[FILE] a.txt\n[FILE] b.txt")
        for path, why in (("out/passwd", "Access denied - symlink target outside"),
                          ("loop/x", "ELOOP"), ("d/a.txt/x", "ENOTDIR"),
                          ("none/x", "Parent directory does not exist"),
                          ("broken/x", "Parent directory does not exist")):
            tap.contains(tools.failure("filesystem", "read_text_file", {"path": path}), why)


def test_long_listings_are_whole():
    with workspace() as (tools, root):
        names = ["%s-%04d" % ("n" * 60, i) for i in range(500)]
        for name in names:
            write(os.path.join(root, name), "")
        tap.equal(tools.text("filesystem", "list_directory", {"path": root}).split("\n"),
                  ["[FILE] " + x for x in names])


tap.main(globals())
