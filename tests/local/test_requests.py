# SPDX-License-Identifier: MIT
"""Requests to the program of the tools that are no tools: bodies that are streamed."""

import contextlib
import os
import random
import shutil
import socket
import tempfile
import threading

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


def connect(tools, target, length):
    sock = socket.create_connection(("127.0.0.1", tools.port), timeout=120)
    sock.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                 % (target.encode(), length))
    return sock


def test_bodies_pass_in_both_directions_at_once():
    data = random.Random(1).randbytes(20 << 20)
    with workspace() as tools:
        sock = connect(tools, "/_echo", len(data))
        sender = threading.Thread(target=sock.sendall, args=(data,))
        sender.start()
        got = b"".join(iter(lambda: sock.recv(1 << 16), b""))
        sender.join()
        sock.close()
        head, _, body = got.partition(b"\r\n\r\n")
        tap.equal(head.split(b"\r\n")[0], b"HTTP/1.1 200 OK")
        plain, at = bytearray(), 0
        while at < len(body):
            end = body.index(b"\r\n", at)
            size = int(body[at:end], 16)
            plain += body[end + 2:end + 2 + size]
            at = end + 4 + size
        tap.equal(bytes(plain) == data, True, len(plain))


def test_small_and_empty_bodies():
    with workspace() as tools:
        tap.equal(tools.request("POST", "/_echo", "hello"), (200, b"hello"))
        tap.equal(tools.request("POST", "/_echo", ""), (200, b""))


def test_what_there_is_not_is_refused():
    with workspace() as tools:
        tap.equal(tools.request("POST", "/_nope", "x"), (404, b"no such request"))
        tap.equal(tools.request("GET", "/_echo", "")[0], 405)


def test_a_client_that_leaves_is_no_harm():
    with workspace() as tools:
        for _ in range(40):
            sock = connect(tools, "/_echo", 1 << 30)
            sock.sendall(b"x" * 100000)
            sock.close()
        tap.equal(tools.request("POST", "/_echo", "still there"), (200, b"still there"))


tap.main(globals())
