# SPDX-License-Identifier: MIT
"""The requests that the HTTP benchmarks make of the service."""

import side


class Call:
    """One request, and the answer that nginx has to imitate."""

    def __init__(self, path, method="GET", body="", headers=(), status=200, body_of_answer=""):
        self.path, self.method, self.body, self.headers = path, method, body, headers
        self.status, self.body_of_answer = status, body_of_answer


class Case:
    def __init__(self, name, prepare, options=()):
        self.name, self.prepare, self.options = name, prepare, options


def healthz(server):
    return Call("/healthz", body_of_answer=side.get(server.url("/healthz"))[1])


def many_connections(n):
    """Options of the service that let it take N connections at once."""
    return ()


ALL = [
    Case("GET /healthz", healthz),
]
