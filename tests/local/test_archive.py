# SPDX-License-Identifier: MIT
"""The workspace as an archive: what is unpacked, what is refused as a whole, and what a packed one
looks like to Python."""

import contextlib
import gzip
import io
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import tarfile
import tempfile
import time

import local_tools
import tap


@contextlib.contextmanager
def workspace():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            yield tools
    finally:
        shutil.rmtree(root)


def member(name, data=None, **fields):
    info = tarfile.TarInfo(name)
    info.mode = 0o644
    info.size = len(data or b"")
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def archive(*members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data) if data is not None else None)
    return out.getvalue()


def unpack(tools, data, query=""):
    return tools.request("POST", "/_unpack" + query, data)


def tree(root):
    """What is below ROOT: names, kinds, modes, contents."""
    found = {}
    for base, dirs, files in os.walk(root):
        for name in dirs + files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                what = ("link", os.readlink(path))
            elif stat.S_ISDIR(st.st_mode):
                what = ("dir", st.st_mode & 0o777)
            else:
                with open(path, "rb") as f:
                    what = ("file", st.st_mode & 0o777, int(st.st_mtime), f.read())
            found[os.path.relpath(path, root)] = what
    return found


def pack(tools):
    status, data = tools.request("POST", "/_pack", "")
    tap.equal(status, 200, data[:200])
    return data


def carefully(data):
    """What Python's careful way of unpacking makes of an archive, where it is new enough."""
    out = os.path.realpath(tempfile.mkdtemp())
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            names = tar.getnames()
            tar.extractall(out, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return names, tree(out)
    finally:
        shutil.rmtree(out)


LONG = "/".join(["a-directory-with-a-rather-long-name-%d" % i for i in range(12)]) + "/file"


def some_files():
    noise = random.Random(7).randbytes(700000)
    return [member("dir", type=tarfile.DIRTYPE, mode=0o755),
            member("dir/empty", b"", mtime=1000000000),
            member("dir/text.txt", "hello, wörld\n".encode() * 50000, mtime=1700000000),
            member("run.sh", b"#!/bin/sh\n", mode=0o755),
            member("noise", noise, mtime=5),
            member(LONG, b"deep"),
            member("dir/up", type=tarfile.SYMTYPE, linkname="../run.sh"),
            member("same", type=tarfile.LNKTYPE, linkname="run.sh"),
            member("wörld-ü.txt", b"x")]


def test_formats_of_tar():
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        members = some_files()
        if form == tarfile.USTAR_FORMAT:
            members = [x for x in members if x[0].name != LONG]
        with workspace() as tools:
            status, text = unpack(tools, archive(*members, form=form))
            tap.equal((status, text), (200, b'{"entries":%d}' % len(members)))
            got = tree(tools.root)
            tap.equal(got["dir/text.txt"], ("file", 0o644, 1700000000,
                                            "hello, wörld\n".encode() * 50000))
            tap.equal(got["run.sh"][:2], ("file", 0o755))
            tap.equal(got["noise"][2:], (5, members[4][1]))
            tap.equal(got["dir/up"], ("link", "../run.sh"))
            tap.equal(os.path.samefile(tools.root + "/same", tools.root + "/run.sh"), True)
            if form != tarfile.USTAR_FORMAT:
                tap.equal(got[LONG][3], b"deep")


def test_what_tar_itself_makes():
    with workspace() as tools, workspace() as other:
        for name in ("a b", "d/e/f", "x" * 200, "d/" + "y" * 150 + "/z"):
            path = os.path.join(other.root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(name)
        for form in ("gnu", "ustar", "posix", "v7", "oldgnu"):
            packed = subprocess.run(["tar", "--format=" + form, "--ignore-failed-read", "-C",
                                     other.root, "-czf", "-", "."],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            status, text = unpack(tools, packed)
            tap.equal(status, 200, (form, text))
        tap.equal(tree(tools.root), tree(other.root))


def test_what_is_there_stays_unless_it_is_replaced():
    with workspace() as tools:
        for name, data in (("keep", "1"), ("d/keep", "2"), ("d/old", "3"), ("file", "4"),
                           ("folder/x/y", "5")):
            path = os.path.join(tools.root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(data)
        os.symlink("keep", os.path.join(tools.root, "link"))
        status, text = unpack(tools, archive(
            member("d/old", b"new"), member("d/more/z", b"z"), member("file/below", b"f"),
            member("folder", b"now a file"), member("link", b"no link"),
            member("twice", b"first"), member("twice", b"second")))
        tap.equal(status, 200, text)
        got = {k: v[3] for k, v in tree(tools.root).items() if v[0] == "file"}
        tap.equal(got, {"keep": b"1", "d/keep": b"2", "d/old": b"new", "d/more/z": b"z",
                        "file/below": b"f", "folder": b"now a file", "link": b"no link",
                        "twice": b"second"})


def header(kind, name=b"x", size=0, extra=b""):
    """A header that tarfile would not write."""
    block = bytearray(512)
    block[0:len(name)] = name
    block[100:108] = b"0000644\0"
    block[124:136] = b"%011o\0" % size
    block[136:148] = b"%011o\0" % 0
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + extra


def raw(*blocks):
    return gzip.compress(b"".join(blocks) + bytes(1024))


def pax(*records):
    body = b""
    for key, value in records:
        length = len(key) + len(value) + 3
        while len(b"%d" % (length)) + len(key) + len(value) + 3 != length:
            length = len(b"%d" % length) + len(key) + len(value) + 3
        body += b"%d %s=%s\n" % (length, key, value)
    return header(b"x", b"pax", len(body), body + bytes(-len(body) % 512))


EVIL = {
    "absolute": archive(member("good", b"1"), member("/etc/x", b"1")),
    "parent": archive(member("good", b"1"), member("a/../../x", b"1")),
    "parent inside": archive(member("a/../x", b"1")),
    "only dots": archive(member("..", type=tarfile.DIRTYPE)),
    "link out": archive(member("l", type=tarfile.SYMTYPE, linkname="../x")),
    "link to etc": archive(member("l", type=tarfile.SYMTYPE, linkname="/etc/passwd")),
    "link through link": archive(member("a/b", type=tarfile.SYMTYPE, linkname=".."),
                                 member("l", type=tarfile.SYMTYPE, linkname="a/b/../..")),
    "file through link": archive(member("d", type=tarfile.SYMTYPE, linkname="."),
                                 member("d/x", b"1")),
    "hard link out": archive(member("l", type=tarfile.LNKTYPE, linkname="../x")),
    "hard link to etc": archive(member("l", type=tarfile.LNKTYPE, linkname="/etc/passwd")),
    "hard link to nothing": archive(member("l", type=tarfile.LNKTYPE, linkname="later")),
    "hard link to link": archive(member("s", type=tarfile.SYMTYPE, linkname="t"),
                                 member("l", type=tarfile.LNKTYPE, linkname="s")),
    "character device": archive(member("dev", type=tarfile.CHRTYPE)),
    "block device": archive(member("dev", type=tarfile.BLKTYPE)),
    "pipe": archive(member("pipe", type=tarfile.FIFOTYPE)),
    "reserved": archive(member(".tidepool/commit/x", b"1")),
    "long component": archive(member("n" * 256, b"1")),
    "long name": archive(member("/".join(["n" * 200] * 30), b"1")),
    "deep": archive(member("/".join(["n"] * 300), b"1")),
    "dir over file": archive(member("x", b"1"), member("x", type=tarfile.DIRTYPE)),
    "file over dir": archive(member("x", type=tarfile.DIRTYPE), member("x", b"1")),
    "below file": archive(member("x", b"1"), member("x/y", b"1")),
    "gnu sparse": raw(header(b"S")),
    "pax sparse": raw(pax((b"GNU.sparse.major", b"1")), header(b"0")),
    "unknown kind": raw(header(b"Z")),
    "multi volume": raw(header(b"M")),
    "huge size": raw(header(b"0", size=0o77777777777)),
    "pax size": raw(pax((b"size", b"99999999999999999999")), header(b"0")),
    "pax broken": raw(header(b"x", b"p", 10, b"99 path=xx" + bytes(502)), header(b"0")),
    "pax for all": raw(header(b"g", b"p", 13, b"13 path=evil\n" + bytes(499)), header(b"0")),
    "pax nul": raw(pax((b"path", b"a\0b")), header(b"0")),
    "pax absolute": raw(pax((b"path", b"/etc/x")), header(b"0")),
    "pax huge": raw(header(b"x", b"p", 2 << 20)),
    "no checksum": gzip.compress(b"x" * 512 + bytes(1024)),
    "no tar": gzip.compress(b"hello world"),
    "no gzip": b"hello world, this is no archive at all",
    "nothing": b"",
    "cut": archive(member("x", random.Random(1).randbytes(100000)))[:50000],
    "cut inside": gzip.compress(header(b"0", size=5000) + bytes(700)),
    "damaged": bytes(b ^ (i == 3000) for i, b in enumerate(
        archive(member("x", random.Random(1).randbytes(100000))))),
    "bomb by ratio": gzip.compress(header(b"0", size=120 << 20) + bytes(120 << 20)),
}


def test_evil_archives_are_refused_and_change_nothing():
    with workspace() as tools:
        with open(os.path.join(tools.root, "mine"), "w") as f:
            f.write("precious")
        before = tree(tools.root)
        for name, data in EVIL.items():
            status, text = unpack(tools, data)
            tap.equal(status, 400, (name, text))
            tap.equal(len(text) > 10, True, (name, text))
            tap.equal(tree(tools.root), before, name)
        status, text = unpack(tools, archive(member("x", bytes(2000))), "?max_bytes=1999")
        tap.equal((status, text), (400, b"the archive unpacks to more than 1999 bytes"))
        tap.equal(unpack(tools, archive(member("x", bytes(1999))), "?max_bytes=1999")[0], 200)


def test_bombs_by_count():
    data = archive(*[member("d%d" % i, type=tarfile.DIRTYPE) for i in range(1000)])
    with workspace() as tools:
        tap.equal(unpack(tools, data, "?max_entries=999"),
                  (400, b"the archive has more than 999 entries"))
        tap.equal(os.listdir(tools.root), [])
        tap.equal(unpack(tools, data, "?max_entries=1000")[0], 200)


def test_links_into_the_workspace_become_relative():
    with workspace() as tools:
        data = archive(member("d/l", type=tarfile.SYMTYPE, linkname=tools.root + "/x/y"),
                       member("x/y", b"1"))
        tap.equal(unpack(tools, data)[0], 200)
        tap.equal(os.readlink(tools.root + "/d/l"), "../x/y")


def test_a_packed_workspace():
    with workspace() as tools:
        tap.equal(unpack(tools, archive(*some_files()))[0], 200)
        os.symlink("/etc/passwd", tools.root + "/out")
        os.symlink("../../../../etc", tools.root + "/dir/far")
        os.symlink("gone", tools.root + "/broken")
        os.symlink(tools.root + "/dir", tools.root + "/dir/home")
        os.mkdir(tools.root + "/empty")
        want = tree(tools.root)
        os.mkfifo(tools.root + "/pipe")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(tools.root + "/socket")
        for left_out in ("out", "dir/far"):
            want.pop(left_out)
        want["dir/home"] = ("link", "../dir")
        names, got = carefully(pack(tools))
        tap.equal(got, want)
        tap.equal((names[0], all(x.startswith("./") for x in names[1:])), (".", True), names[:5])


def test_there_and_back():
    noise = random.Random(9)
    files = [member("f%04d" % i, noise.randbytes(noise.randrange(3000))) for i in range(500)]
    files += [member("large", noise.randbytes(3 << 20) + bytes(9 << 20) + b"end")]
    with workspace() as tools, workspace() as other:
        tap.equal(unpack(tools, archive(*files))[0], 200)
        tap.equal(unpack(other, pack(tools))[0], 200)
        tap.equal(tree(other.root) == tree(tools.root), True)
        listed = subprocess.run(["tar", "-tzf", "-"], input=pack(other), stdout=subprocess.PIPE)
        tap.equal((listed.returncode, len(listed.stdout.splitlines())), (0, len(files) + 1))


def test_an_empty_workspace():
    with workspace() as tools:
        tap.equal(carefully(pack(tools)), (["."], {}))


def test_what_was_broken_off():
    """A new process removes what is not whole, and finishes what is."""
    with workspace() as tools:
        os.makedirs(tools.root + "/.tidepool/new/half")
        os.makedirs(tools.root + "/.tidepool/commit/d")
        os.makedirs(tools.root + "/d")
        for name in (".tidepool/commit/d/x", "d/y"):
            with open(os.path.join(tools.root, name), "w") as f:
                f.write("1")
        with local_tools.running(tools.root):
            tap.equal(sorted(tree(tools.root)), ["d", "d/x", "d/y"])


def test_a_client_that_leaves_changes_nothing():
    data = archive(member("x", random.Random(1).randbytes(1 << 20)))
    with workspace() as tools:
        sock = socket.create_connection(("127.0.0.1", tools.port), timeout=60)
        sock.sendall(b"POST /_unpack HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(data))
        sock.sendall(data[:500000])
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        end = time.monotonic() + 60
        tap.equal(unpack(tools, archive(member("y", b"1")))[0], 200)
        while os.listdir(tools.root) != ["y"] and time.monotonic() < end:
            time.sleep(0.01)
        tap.equal(os.listdir(tools.root), ["y"])


tap.main(globals())
