# SPDX-License-Identifier: MIT
"""A service for the tests of the router, run inside of a sandbox: tells what it got, and answers in
all the ways that a proxy can get wrong."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import socket
import struct
import sys
import time

PAGE = b"<!doctype html><html><head><title>page</title></head><body>text</body></html>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def read_chunks(self):
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            data = self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return
            yield data

    def read_body(self):
        """(length, sha256)"""
        digest, total = hashlib.sha256(), 0
        if self.headers.get("Transfer-Encoding") == "chunked":
            for data in self.read_chunks():
                digest.update(data)
                total += len(data)
            return total, digest.hexdigest()
        left = int(self.headers.get("Content-Length", 0))
        while left > 0:
            data = self.rfile.read(min(left, 1 << 16))
            if not data:
                break
            digest.update(data)
            total += len(data)
            left -= len(data)
        return total, digest.hexdigest()

    def send(self, body, kind="text/plain", status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def on_echo(self):
        length, digest = self.read_body()
        self.send(json.dumps({
            "method": self.command, "target": self.path, "length": length, "sha256": digest,
            "headers": [[k.lower(), v] for k, v in self.headers.items()],
            "port": self.server.server_address[1],
        }).encode(), "application/json", X_App="yes")

    def on_page(self):
        self.send(PAGE, "text/html; charset=utf-8")

    def on_cookies(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        for value in ("own=1; Path=/", "tidepool_key=of-the-cell; Path=/sandbox/other/",
                      "=tidepool_key=of-the-cell"):
            self.send_header("Set-Cookie", value)
        self.end_headers()

    def on_reaching(self):
        """What a browser would keep for more than this service."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        for name, value in (("Clear-Site-Data", '"*"'),
                            ("Strict-Transport-Security", "max-age=1"), ("Alt-Svc", 'h2=":1"'),
                            ("NEL", "{}"), ("Report-To", "{}"), ("Service-Worker-Allowed", "/"),
                            ("Set-Cookie", "root=1; Path=/; HttpOnly"),
                            ("Set-Cookie", "deep=1;path=/x"),
                            ("Set-Cookie", "other=1; Path=/sandbox/boxes/"),
                            ("Set-Cookie", "up=1; Domain=.localhost; Secure"),
                            ("Set-Cookie", "bare=1")):
            self.send_header(name, value)
        self.end_headers()

    def on_packed(self):
        self.send(gzip.compress(PAGE), "text/html", Content_Encoding="gzip")

    def on_headless(self):
        self.send(b"<p>no head here</p>" * 10, "text/html")

    def on_events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(3):
            data = b"data: %d\n\n" % i
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            time.sleep(0.5)
        self.wfile.write(b"0\r\n\r\n")

    def on_blob(self):
        self.send(b"b" * int(self.path.split("size=")[1]))

    def on_forever(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            self.wfile.write(b"4\r\ntick\r\n")
            time.sleep(0.1)

    def on_until_end(self):
        """Nothing but the end of the connection would end it."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"a part")
        time.sleep(600)

    def on_cut(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only a part")
        self.close_connection = True

    def on_flood(self):
        """Writes until the client leaves, then leaves a note."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            with open("/tmp/flood-ended", "w") as f:
                f.write("yes")

    def on_socket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept",
                         base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return
            size = head[1] & 127
            if size == 126:
                size = struct.unpack(">H", self.rfile.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.rfile.read(8))[0]
            mask, data = self.rfile.read(4), self.rfile.read(size)
            data = bytes(b ^ mask[i & 3] for i, b in enumerate(data))
            if size < 126:
                out = struct.pack("BB", head[0], size)
            else:
                out = struct.pack(">BBH", head[0], 126, size)
            self.wfile.write(out + data)
            if head[0] & 15 == 8:
                return

    def handle_any(self):
        name = self.path.split("?")[0].strip("/").split("/")[0] or "echo"
        getattr(self, "on_" + name, self.on_echo)()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any
    do_PROPFIND = handle_any


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class Server6(Server):
    address_family = socket.AF_INET6


if __name__ == "__main__":
    kind = Server6 if ":" in sys.argv[1] else Server
    server = kind((sys.argv[1], int(sys.argv[2])), Handler)
    if len(sys.argv) > 3 and os.fork() > 0:
        os._exit(0)
    server.serve_forever()
