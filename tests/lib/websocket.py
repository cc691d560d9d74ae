# SPDX-License-Identifier: MIT
"""A WebSocket client, as small as can be."""

import base64
import hashlib
import http.client
import json
import os
import socket
import struct

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Socket:
    """A connection to PATH of a service; .status and .headers of the answer."""

    def __init__(self, s, path, headers="", host="x"):
        self.s = socket.create_connection((s.host, s.port), timeout=15)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: %s\r\n%s\r\n" % (path, host, key, headers)).encode())
        self.f = self.s.makefile("rb")
        self.status = int(self.f.readline().split()[1])
        self.headers = http.client.parse_headers(self.f)
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        self.is_accepted = self.headers["Sec-WebSocket-Accept"] == accept

    def send(self, data, opcode=1):
        mask = os.urandom(4)
        size = struct.pack(">B", 128 | len(data)) if len(data) < 126 else \
            struct.pack(">BH", 254, len(data))
        self.s.sendall(bytes([128 | opcode]) + size + mask +
                       bytes(b ^ mask[i & 3] for i, b in enumerate(data)))

    def say(self, **message):
        self.send(json.dumps(message).encode())

    def receive(self):
        """(opcode, data); (None, b"") at the end."""
        head = self.f.read(2)
        if len(head) < 2:
            return None, b""
        size = head[1] & 127
        if size == 126:
            size = struct.unpack(">H", self.f.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.f.read(8))[0]
        return head[0] & 15, self.f.read(size)

    def close(self):
        self.f.close()
        self.s.close()
