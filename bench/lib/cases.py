# SPDX-License-Identifier: MIT
"""The requests that the HTTP benchmarks make of the service."""

import os

import side

# About what a client sends to create something.
SMALL_JSON = ('{"templateID":"base","timeout":300,"metadata":{"run":"bench","user":"someone"},'
              '"envVars":{"LANG":"C.UTF-8","DEBUG":"0"},"secure":true,"autoPause":false}')


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


def post(server):
    return Call("/healthz", "POST", SMALL_JSON, body_of_answer=healthz(server).body_of_answer)


def many_connections(n):
    """Sets the service's limit of connections to N: it has a setting but no flag."""
    os.environ["TIDEPOOL_LIMITS_MAX_CONNECTIONS"] = str(n)
    return ()


ALL = [
    Case("GET /healthz", healthz),
    Case("POST small JSON", post),
]
