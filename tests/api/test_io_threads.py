# SPDX-License-Identifier: MIT
"""Connections that are taken by threads of their own and served by the main one."""

import concurrent.futures
import os
import socket
import ssl
import subprocess
import time

import service
import tap

THREADS = ("--io-threads", "3")


def read_all(c):
    out = b""
    while True:
        part = c.recv(65536)
        if not part:
            return out
        out += part


def connect(s):
    return socket.create_connection((s.host, s.port), timeout=10)


def test_many_clients_at_once():
    with service.running(*THREADS) as s:
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            made = list(pool.map(lambda i: s.post("/api/v1/keys", {"name": "k%d" % i}), range(64)))
        tap.equal({a.status for a in made}, {200})
        tap.equal(len(s.get("/api/v1/keys").json["data"]), 64 + 1 + 1)  # system key, seed token


def test_a_connection_serves_many_requests_in_order():
    with service.running(*THREADS) as s, connect(s) as c:
        request = "GET /api/v1/events?limit=%d HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n%s\r\n"
        last = request % (0, s.key, "Connection: close\r\n")
        c.sendall(((request % (1, s.key, "")) * 20 + last).encode())
        answers = read_all(c)
        tap.equal(answers.count(b"HTTP/1.1 200 OK"), 20)
        assert answers.rpartition(b"HTTP/1.1 ")[2].startswith(b"400"), answers[-500:]


def test_faults_in_the_head_have_the_surface_s_shape():
    with service.running(*THREADS) as s, connect(s) as c:
        c.sendall(b"GET /sandbox HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n")
        answer = read_all(c)
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        tap.contains(s.log_with('"status":400'), '"msg":"request"')


def test_peers_that_leave_early_harm_nobody():
    with service.running(*THREADS) as s:
        for i in range(60):
            with connect(s) as c:
                c.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"[:i])
        tap.equal(s.get("/healthz", key=None).status, 200)


def test_a_request_under_way_is_finished_at_the_end():
    with service.running(*THREADS) as s, connect(s) as c:
        c.sendall(b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
        time.sleep(0.3)
        s.signal(15)
        time.sleep(0.3)
        c.sendall(b"}")
        assert read_all(c).startswith(b"HTTP/1.1 200 "), s.log()
        tap.equal(s.wait(), 0)


def test_tls_handshakes():
    with service.folder() as path:
        key, cert = os.path.join(path, "key.pem"), os.path.join(path, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-days",
                        "2", "-keyout", key, "-out", cert], check=True, capture_output=True)
        with service.running(*THREADS, "--tls-cert", cert, "--tls-key", key) as s:
            trust = ssl.create_default_context(cafile=cert)
            trust.check_hostname = False
            for _ in range(20):
                with trust.wrap_socket(connect(s)) as c:
                    c.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    assert read_all(c).startswith(b"HTTP/1.1 200 OK")


tap.main(globals())
