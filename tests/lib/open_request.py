# SPDX-License-Identifier: MIT
"""Requests that stay open until somebody ends them."""

import http.client


class Stream:
    """A request to a sandbox whose answer, or whose body, does not end by itself."""

    # A main process: a server that takes connections and never answers.
    SILENT = "python3 -u -c 'import socket; s = socket.create_server((\"127.0.0.1\", 8080)); " \
             "print(\"listens\"); c = [s.accept() for i in range(99)]'"

    def __init__(self, s, method, path, length=0, headers=None):
        self.c = http.client.HTTPConnection(s.host, s.port, timeout=20)
        self.c.putrequest(method, path)
        self.c.putheader("Authorization", "Bearer " + s.key)
        for name, value in (headers or {}).items():
            self.c.putheader(name, value)
        if length:
            self.c.putheader("Content-Length", str(length))
        self.c.endheaders()

    def answer(self):
        """(status, is the body whole, the body); status 0: none."""
        try:
            answer = self.c.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            return 0, False, b""
        try:
            body = answer.read()
            return answer.status, True, body
        except (http.client.IncompleteRead, ConnectionError):
            return answer.status, False, b""
        finally:
            self.c.close()
