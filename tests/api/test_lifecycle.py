# SPDX-License-Identifier: MIT
"""Starting, stopping, and what is left behind."""

import json
import os
import pty
import signal
import socket
import subprocess
import tempfile
import time

import service
import tap


def hold(s, n=1):
    """Connections with a request whose body is still missing."""
    head = ("POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
            "Content-Length: 2\r\n\r\n" % s.key).encode()
    out = []
    for _ in range(n):
        c = socket.create_connection((s.host, s.port), timeout=10)
        c.sendall(head)
        out.append(c)
    time.sleep(0.2)
    return out


def test_first_start():
    with service.running() as s:
        out = s.output()
        for part in (s.url, "Key  in %s/system.key\n" % s.state, "%s/api/v1/events" % s.url,
                     "\n  %s keys create --state %s " % (service.PROGRAM, s.state)):
            tap.contains(out, part)
        tap.equal(s.info["pid"], s.process.pid)
        assert os.path.exists(s.info["socket"])
        s.stop()
        tap.equal(sorted(n for n in os.listdir(s.state) if n in
                         ("service.json", "tidepool.sock")), [])
        # Every start tells; the key is shown to nobody but a terminal.
        first = s.url
        s.start()
        tap.equal(s.output(), out + out.replace(first, s.url))
        assert s.key not in s.log() + s.output()
        s.stop()
        ours, theirs = pty.openpty()
        p = subprocess.Popen([service.PROGRAM, "serve", "--listen", "127.0.0.1:0", "--state",
                              s.state], stdin=subprocess.DEVNULL, stdout=theirs,
                             stderr=subprocess.DEVNULL, env=service.clean_env())
        os.close(theirs)
        shown = b""
        while b"/api/v1/events" not in shown:
            shown += os.read(ours, 4096)
        tap.contains(shown.decode(), "Key  " + s.key)
        p.terminate()
        tap.equal(p.wait(30), 0)
        os.close(ours)


def test_the_service_manager_is_told():
    """As systemd's Type=notify has it, by a path or an abstract name, once requests are served."""
    with tempfile.TemporaryDirectory() as d:
        for name in (os.path.join(d, "notify"), "@tidepool-test-%d" % os.getpid()):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(name.replace("@", "\0"))
                manager.settimeout(10)
                with service.running(env={"NOTIFY_SOCKET": name}) as s:
                    tap.equal(manager.recv(100), b"READY=1")
                    tap.equal(s.get("/healthz").status, 200)
    with service.running(env={"NOTIFY_SOCKET": "nowhere"}) as s:
        tap.contains(s.log(), "could not notify the service manager")


def test_requests_under_way_finish():
    with service.running() as s:
        c, = hold(s)
        idle = socket.create_connection((s.host, s.port), timeout=10)
        s.signal(signal.SIGTERM)
        time.sleep(0.3)
        tap.equal(s.process.poll(), None)
        tap.equal(idle.recv(1), b"")
        try:
            socket.create_connection((s.host, s.port), timeout=5).close()
            raise AssertionError("still listening")
        except ConnectionRefusedError:
            pass
        c.sendall(b"{}")
        answer = b""
        while True:
            part = c.recv(65536)
            if not part:
                break
            answer += part
        assert answer.startswith(b"HTTP/1.1 200"), answer
        tap.contains(answer.lower(), b"connection: close")
        tap.equal(s.wait(), 0)
        # What was answered is durable.
        made = json.loads(answer.partition(b"\r\n\r\n")[2])["data"]
        s.start()
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)


def test_grace_ends():
    with service.running(env={"TIDEPOOL_TIMEOUTS_SHUTDOWN": "300ms"}) as s:
        held = hold(s, 3)
        start = time.monotonic()
        s.signal(signal.SIGINT)
        tap.equal(s.wait(), 0)
        assert 0.2 < time.monotonic() - start < 10
        for c in held:
            c.close()


def test_second_signal():
    with service.running() as s:
        held = hold(s)
        s.signal(signal.SIGTERM)
        time.sleep(0.2)
        start = time.monotonic()
        s.signal(signal.SIGTERM)
        tap.equal(s.wait(), 1)
        assert time.monotonic() - start < 5
        held[0].close()
        s.start()
        tap.equal(s.get("/healthz").status, 200)


def test_one_service_for_one_state_directory():
    with service.running() as s:
        status, _, err = service.tidepool("serve", "--listen", "127.0.0.1:0", "--state", s.state)
        tap.equal(status, 1)
        tap.contains(err, "error")
        # The first one is not disturbed.
        tap.equal(s.get("/healthz").status, 200)
        assert os.path.exists(os.path.join(s.state, "service.json"))


def test_bad_addresses():
    with service.running() as s, service.folder() as path:
        status, _, err = service.tidepool("serve", "--listen", "127.0.0.1:%d" % s.port,
                                          "--state", os.path.join(path, "state"))
        tap.equal(status, 1)
        tap.contains(err, "Address already in use")


def test_crash_and_return():
    with service.running() as s:
        key, made = s.key, s.make_key()
        s.kill()
        assert os.path.exists(os.path.join(s.state, "tidepool.sock"))
        s.start()
        tap.equal(s.key, key)
        tap.equal(s.get("/api/v1/events", key=made["key"]).status, 200)


def test_half_made_first_start():
    """The key file is there but the store is not: a crash between the two."""
    with service.running() as s:
        s.stop()
        for name in os.listdir(s.state):
            if name.startswith("tidepool.db"):
                os.unlink(os.path.join(s.state, name))
        key = s.key
        s.start()
        tap.equal(s.key, key)
        tap.equal(s.get("/api/v1/keys").status, 200)


def test_unix_socket():
    with service.running() as s:
        c = socket.socket(socket.AF_UNIX)
        c.connect(s.info["socket"])
        c.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        tap.contains(c.recv(65536), b'"status":"ok"')
        c.close()


def test_warns_about_clear_text():
    with service.running(listen="0.0.0.0:0") as s:
        tap.contains(s.log(), "clear text")
        tap.contains(s.url, "127.0.0.1")
    with service.running() as s:
        assert "clear text" not in s.log()


def test_audit():
    with service.running() as s:
        s.make_key()
        status, out, err = service.tidepool("audit", "verify", "--state", s.state)
        tap.equal((status, err), (0, ""))
        tap.contains(out, "The chain is intact: 3 events")
        s.stop()
        status, out, _ = service.tidepool("audit", "verify", "--json", "--state", s.state)
        tap.equal((status, json.loads(out)["ok"], json.loads(out)["events"]), (0, True, 4))
        status, out, _ = service.tidepool("audit", "ls", "--json", "--state", s.state)
        tap.equal([json.loads(x)["seq"] for x in out.splitlines()], [1, 2, 3, 4])
        edit(s, "UPDATE event SET message = 'nothing happened' WHERE seq = 3")
        status, out, err = service.tidepool("audit", "verify", "--state", s.state)
        tap.equal(status, 1)
        tap.contains(err, "event 3")


def edit(s, sql):
    import sqlite3
    db = sqlite3.connect(os.path.join(s.state, "tidepool.db"))
    db.execute(sql)
    db.commit()
    db.close()


tap.main(globals())
