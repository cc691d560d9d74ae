# SPDX-License-Identifier: MIT
"""The real program as clients of E2B reach it: plain by its address, or by TLS under a domain.

    internet.open()                         # a machine of its own, where port 443 is free
    with domain.running() as s:             # http://127.0.0.1:PORT
        subprocess.run([…], env=domain.client_env(s))
    with domain.running_tls() as s:         # https://api.sbx.test
        subprocess.run([…], env=domain.client_env(s))
"""

import contextlib
import os

import cells
import service

NAME = "sbx.test"
# Makes names below NAME this machine for a Node program; see there.
RESOLVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sdk", "suite",
                       "resolve.cjs")


@contextlib.contextmanager
def running(env=None, **more):
    with cells.running(env=env, **more) as s:
        s.e2b_key, s.is_named = make_key(s), False
        yield s


@contextlib.contextmanager
def running_tls(env=None):
    with service.folder() as folder:
        status, out, text = service.tidepool("domain", NAME, "--dir", folder)
        assert status == 0, out + text
        options = ["--domain", NAME, "--tls-cert", folder + "/cert.pem",
                   "--tls-key", folder + "/key.pem"]
        with cells.running(*options, listen="127.0.0.1:443", env=env) as s:
            s.e2b_key, s.is_named, s.ca = make_key(s), True, folder + "/ca.pem"
            yield s


def make_key(s):
    """A key of somebody who is not the operator."""
    return s.make_key(account="sdk", name="tests")["key"]


def client_env(s):
    """The environment of a client: SDK_… for our own programs, the rest for theirs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("E2B_", "SDK_", "TIDEPOOL_"))}
    env["E2B_API_KEY"] = s.e2b_key
    if s.is_named:
        env.update(E2B_DOMAIN=NAME, SDK_DOMAIN=NAME, NODE_EXTRA_CA_CERTS=s.ca,
                   NODE_OPTIONS="--require " + RESOLVE, SDK_API_URL="https://api." + NAME,
                   SDK_SANDBOX_URL="https://sandbox." + NAME)
    else:
        env.update(E2B_API_URL=s.url + "/e2b/v1", E2B_SANDBOX_URL=s.url,
                   E2B_VOLUME_API_URL=s.url + "/e2b/v1",
                   SDK_API_URL=s.url + "/e2b/v1", SDK_SANDBOX_URL=s.url)
    return env
