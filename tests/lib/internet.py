# SPDX-License-Identifier: MIT
"""A small internet for tests from outside. open() moves the test's process to a network namespace
of its own, the host, whose only link leads to a second one where every address answers: HTTP on
port 80 with "reached ADDRESS", and DNS on port 53 for NAMES. No packet can leave the machine."""

import ctypes
import ipaddress
import os
import signal
import socket
import struct
import subprocess
import threading

import tap

DNS = "198.51.100.2"
HOST = "198.51.100.1"
NAMES = {"a.example": "203.0.113.10", "b.example": "203.0.113.11",
         "x.wild.example": "203.0.113.20", "meta.example": "169.254.169.254",
         "six.example": "2001:db8::10"}
CLONE_NEWNET = 0x40000000


def unshare():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) < 0:
        raise tap.Skip("network namespaces: " + os.strerror(ctypes.get_errno()))


def ip(lines):
    done = subprocess.run(["ip", "-batch", "-"], input=lines, text=True, capture_output=True)
    if done.returncode != 0:
        raise tap.Skip("ip: " + done.stderr)


def answer_http(conn):
    with conn:
        conn.settimeout(20)
        head = b""
        while b"\r\n\r\n" not in head:
            try:
                more = conn.recv(4096)
            except OSError:
                return
            if not more:
                return
            head += more
        here = ipaddress.ip_address(conn.getsockname()[0])
        body = ("reached %s" % (getattr(here, "ipv4_mapped", None) or here)).encode()
        conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))


def answer_dns(sock):
    while True:
        query, peer = sock.recvfrom(4096)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
            at += 1 + query[at]
        kind = struct.unpack_from(">H", query, at + 1)[0]
        address = NAMES.get(".".join(labels))
        data = ipaddress.ip_address(address).packed if address else b""
        fits = {1: 4, 28: 16}.get(kind) == len(data)
        record = struct.pack(">HHHIH", 0xc00c, kind, 1, 60, len(data)) + data if fits else b""
        head = query[:2] + struct.pack(">HHHHH", 0x8180 if address else 0x8183, 1, fits, 0, 0)
        sock.sendto(head + query[12:at + 5] + record, peer)


def serve(ready):
    web = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    dns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    for s in web, dns:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    web.bind(("::", 80))
    web.listen(256)
    dns.bind(("::", 53))
    threading.Thread(target=answer_dns, args=(dns,), daemon=True).start()
    os.write(ready, b"r")
    while True:
        conn, _ = web.accept()
        threading.Thread(target=answer_http, args=(conn,), daemon=True).start()


def run_internet(ready, go):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the test
    unshare()
    os.write(ready, b"u")
    os.read(go, 1)
    ip("link set lo up\naddr add 198.51.100.2/24 dev v1\n"
       "addr add 2001:db8:1::2/64 dev v1 nodad\nlink set v1 up\n"
       "route add local 0.0.0.0/0 dev lo table main\nroute add local ::/0 dev lo table main\n")
    serve(ready)


def open():
    """Moves this process; all later ones that it starts are there, too."""
    if os.geteuid() != 0:
        raise tap.Skip("network namespaces need root")
    unshare()
    heard, ready = os.pipe()
    go, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            run_internet(ready, go)
        finally:
            os._exit(1)
    os.close(ready)
    if os.read(heard, 1) != b"u":
        raise tap.Skip("no second network namespace")
    ip("link set lo up\nlink add v0 type veth peer name v1 netns %d\n"
       "addr add 198.51.100.1/24 dev v0\naddr add 2001:db8:1::1/64 dev v0 nodad\nlink set v0 up\n"
       "route add default via 198.51.100.2\nroute add ::/0 via 2001:db8:1::2\n" % pid)
    os.write(say, b"g")
    if os.read(heard, 1) != b"r":
        raise tap.Skip("the internet did not start")
