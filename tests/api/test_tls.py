# SPDX-License-Identifier: MIT
"""The domain helper, and the service behind TLS with its certificates: by name, exchanged while it
runs; the second address; the host of the E2B control plane."""

import json
import os
import shutil
import signal
import socket
import ssl
import stat
import time

import service
import tap

GET = b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"


def make(state, *args):
    status, out, error = service.tidepool("domain", "--state", state, "--json", *args)
    tap.equal(status, 0, error)
    return json.loads(out)


def connect(s, name, ca, alpn=("http/1.1",), **more):
    """A TLS connection that asks for NAME; the certificate must be for it."""
    trust = ssl.create_default_context(cafile=ca)
    if alpn:
        trust.set_alpn_protocols(list(alpn))
    for key, value in more.items():
        setattr(trust, key, value)
    return trust.wrap_socket(socket.create_connection((s.host, s.port), timeout=20),
                             server_hostname=name)


def names(s, name, ca):
    with connect(s, name, ca) as c:
        return sorted(v for k, v in c.getpeercert()["subjectAltName"] if k == "DNS")


def test_plain_http_is_told_so():
    with service.folder() as path:
        made = make(path + "/made", "cells.test")
        for more in ((), ("--io-threads", "2")):
            with service.running("--tls-cert", made["cert"], "--tls-key", made["key"], *more) as s:
                for head in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"DELETE /a HTTP/1.0\r\n\r\n",
                             b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"):
                    with socket.create_connection((s.host, s.port), timeout=20) as c:
                        c.sendall(head)
                        data = b""
                        while (more_data := c.recv(65536)):
                            data += more_data
                    tap.equal(data.split(b"\r\n")[0], b"HTTP/1.1 400 Bad Request")
                    tap.contains(data.decode(), "This port requires HTTPS")
                tap.equal(s.get("/healthz").status, 200)


def ask(c, path, host):
    c.sendall(GET % (path.encode(), host.encode()))
    data = b""
    while True:
        more = c.recv(65536)
        if not more:
            break
        data += more
    return int(data.split()[1]), data.split(b"\r\n\r\n", 1)[1]


def serial(s, name, ca):
    with connect(s, name, ca) as c:
        return c.getpeercert()["serialNumber"]


# ---- the helper ----

def test_files_are_made_with_the_right_modes():
    with service.folder() as path:
        got = make(path, "pool.test:4433")
        tap.equal((got["domain"], got["new_ca"]), ("pool.test:4433", True))
        folder = os.path.join(path, "domain", "pool.test")
        tap.equal(sorted(os.listdir(folder)), ["ca.key", "ca.pem", "cert.pem", "key.pem"])
        for name in os.listdir(folder):
            mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
            tap.equal(mode, 0o600 if name in ("ca.key", "key.pem") else 0o644, name)
        with open(got["ca"]) as f:
            before = f.read()
        with open(got["cert"]) as f:
            cert = f.read()
        again = make(path, "pool.test")
        tap.equal((again["domain"], again["new_ca"]), ("pool.test:10000", False))
        with open(got["ca"]) as f:
            tap.equal(f.read(), before)
        with open(got["cert"]) as f:
            assert f.read() != cert
        tap.equal(make(path, "pool.test", "--new")["new_ca"], True)
        with open(got["ca"]) as f:
            assert f.read() != before


def test_the_helper_says_what_to_do():
    with service.folder() as path:
        where = os.path.join(path, "my files")
        status, out, _ = service.tidepool("domain", "a.b-1.test", "--state", path, "--dir", where,
                                          "--listen", "127.0.0.1:443")
        tap.equal(status, 0)
        for text in ("tidepool serve --domain a.b-1.test", " --state '%s'" % path,
                     " --listen '127.0.0.1:443' ",
                     " --tls-cert '%s/cert.pem'" % where,
                     "export E2B_DOMAIN=a.b-1.test\n",
                     "export NODE_EXTRA_CA_CERTS='%s/ca.pem'\n" % where,
                     "127.0.0.1 a.b-1.test api.a.b-1.test", "address=/a.b-1.test/127.0.0.1"):
            tap.contains(out, text)
        for bad in ("localhost", "a..b", "A.test", "a-.test", "a_b.test", "10.0.0.1", "a.b.",
                    "x" * 64 + ".test", "a,DNS:evil.test"):
            status, _, error = service.tidepool("domain", bad, "--state", path)
            tap.equal(status, 2, bad)
            tap.contains(error, "is not a domain name")
        os.unlink(os.path.join(where, "ca.key"))
        status, _, error = service.tidepool("domain", "a.b-1.test", "--state", path, "--dir", where)
        tap.equal(status, 1)
        tap.contains(error, "ca.key")


def test_an_authority_is_for_its_domain_only():
    with service.folder() as path:
        got = make(path, "pool.test")
        status, _, error = service.tidepool("domain", "other.test", "--state", path, "--dir",
                                            os.path.dirname(got["ca"]))
        tap.equal(status, 1)
        tap.contains(error, "the authority was not made for 'other.test'")


# ---- the service ----

def test_names_of_the_domain_lead_to_the_service():
    with service.folder() as path:
        got = make(path, "pool.test")
        with service.running("--tls-cert", got["cert"], "--tls-key", got["key"], "--domain",
                             "pool.test") as s:
            for name in ("pool.test", "api.pool.test", "8080-%s.pool.test" % ("0" * 32),
                         "localhost", "127.0.0.1"):
                with connect(s, name, got["ca"]) as c:
                    tap.equal(c.selected_alpn_protocol(), "http/1.1")
                    status, body = ask(c, "/healthz", name)
                if name.startswith("8080"):
                    tap.equal((status, json.loads(body)["message"]),
                              (502, "The sandbox was not found"))
                else:
                    tap.equal((status, json.loads(body)["status"]), (200, "ok"))
            with connect(s, "api.pool.test", got["ca"]) as c:
                status, body = ask(c, "/sandboxes/nobody", "api.pool.test")
                tap.equal((status, json.loads(body)["code"]), (401, 401))


def test_the_protocol_is_agreed_on_or_refused():
    with service.folder() as path:
        got = make(path, "pool.test")
        with service.running("--tls-cert", got["cert"], "--tls-key", got["key"]) as s:
            for offered, agreed in ((("h2", "http/1.1"), "http/1.1"), ((), None)):
                with connect(s, "pool.test", got["ca"], offered) as c:
                    tap.equal(c.selected_alpn_protocol(), agreed)
                    tap.equal(ask(c, "/healthz", "x")[0], 200)
            try:
                connect(s, "pool.test", got["ca"], ("h2",)).close()
                assert False, "a connection with nothing to speak"
            except ssl.SSLError as e:
                tap.contains(str(e), "no application protocol")


def test_certificates_follow_the_name():
    with service.folder() as path:
        main, more = make(path, "pool.test"), [make(path, "a.test"), make(path, "b.test")]
        folder = os.path.join(path, "more")
        os.mkdir(folder)
        for i, got in enumerate(more):
            shutil.copy(got["cert"], os.path.join(folder, "%d.pem" % i))
            shutil.copy(got["key"], os.path.join(folder, "%d.key" % i))
        env = {"TIDEPOOL_TLS_DIR": folder}
        for options in (("--tls-cert", main["cert"], "--tls-key", main["key"]), ()):
            with service.running(*options, env=env) as s:
                first = main if options else more[0]
                assert s.url.startswith("https://"), s.url
                tap.equal(names(s, "x.a.test", more[0]["ca"]), ["*.a.test", "a.test", "localhost"])
                tap.equal(names(s, "b.test", more[1]["ca"]), ["*.b.test", "b.test", "localhost"])
                # Who asks for no name, or for another one, gets the one for everybody.
                with connect(s, None, first["ca"], check_hostname=False) as c:
                    tap.equal(ask(c, "/healthz", "x")[0], 200)
                with connect(s, "c.test", first["ca"], check_hostname=False) as c:
                    tap.equal(ask(c, "/healthz", "x")[0], 200)


def test_certificates_are_exchanged_while_it_runs():
    with service.folder() as path:
        got = make(path, "pool.test")
        with service.running("--io-threads", "1", "--tls-cert", got["cert"], "--tls-key",
                             got["key"]) as s:
            first = serial(s, "pool.test", got["ca"])
            old = connect(s, "pool.test", got["ca"])
            make(path, "pool.test")
            s.signal(signal.SIGHUP)
            s.log_with("certificates reloaded")
            second = serial(s, "pool.test", got["ca"])
            assert second != first
            tap.equal(ask(old, "/healthz", "x")[0], 200)
            # By themselves, when the files change.
            make(path, "pool.test")
            while serial(s, "pool.test", got["ca"]) == second:
                time.sleep(0.2)
            third = serial(s, "pool.test", got["ca"])
            # What cannot be read changes nothing.
            with open(got["cert"], "w") as f:
                f.write("nonsense")
            s.signal(signal.SIGHUP)
            s.log_with("certificates kept unchanged")
            tap.equal(serial(s, "pool.test", got["ca"]), third)


def test_hangup_without_certificates_is_harmless():
    with service.running() as s:
        s.signal(signal.SIGHUP)
        s.log_with("nothing to reload")
        tap.equal(s.get("/healthz").status, 200)


def test_a_second_address_has_the_control_plane_at_its_root():
    with service.running("--e2b-listen", "127.0.0.1:0") as s:
        assert s.info["e2b_url"].startswith("http://127.0.0.1:"), s.info
        main, s.port = s.port, int(s.info["e2b_url"].rpartition(":")[2])
        assert s.port != main
        tap.equal(s.get("/sandboxes/nobody", key=None).status, 401)
        tap.equal(s.get("/no/such/thing").json["code"], 404)
        tap.equal(s.get("/healthz").json["status"], "ok")
        tap.equal(s.get("/api/v1/events").status, 200)
        answer = s.get("/x", key=None, headers={"Host": "80-abc.x.y"})
        tap.equal((answer.status, answer.json["sandboxId"]), (502, "abc"))


tap.main(globals())
