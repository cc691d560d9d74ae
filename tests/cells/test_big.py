# SPDX-License-Identifier: MIT
"""Much memory and large files: a paused sandbox keeps a big process as it was, and files of any
size pass through the service without staying in it.

    tests/cells/test_big.py [PROCESS_MB [FILE_MB]]
"""

import hashlib
import http.client
import sys
import time

import cells
import service
import tap

PROCESS_MB = int(sys.argv[1]) if len(sys.argv) > 1 else 200
FILE_MB = int(sys.argv[2]) if len(sys.argv) > 2 else 256
GROWTH_MB = 20  # of the service
CHUNK = 1 << 20
TIMEOUT_S = 4

# Fills its memory with numbers of its own, counts, and answers with a digest of it when asked.
HOLD = """
import hashlib, os, random, signal, time
random.seed(7)
block = random.randbytes(1 << 20)
data = bytearray()
for i in range(%d):
    data += i.to_bytes(8, "big") + block[8:]
def tell(*_):
    with open("/tmp/m", "w") as f:
        f.write("%%d %%d %%s" %% (os.getpid(), len(data), hashlib.sha256(data).hexdigest()))
    os.rename("/tmp/m", "/tmp/digest")
signal.signal(signal.SIGUSR1, tell)
open("/tmp/pid", "w").write(str(os.getpid()))
while True:
    time.sleep(0.02)
"""


def ask(s, name):
    s.run(name, "rm -f /tmp/digest; kill -USR1 $(cat /tmp/pid)")
    s.until(lambda: s.run(name, "test -e /tmp/digest")["exitCode"] == 0, 30)
    return s.run(name, "cat /tmp/digest")["output"].split()


def test_a_paused_process_keeps_its_memory():
    with cells.running() as s:
        s.create(name="big", timeout=TIMEOUT_S + 600)
        s.run("big", "cat >/tmp/hold.py; nohup python3 /tmp/hold.py >/dev/null 2>&1 &",
              stdin=HOLD % PROCESS_MB)
        s.until(lambda: s.run("big", "cat /tmp/pid 2>/dev/null; true")["output"] != "", 60)
        before = ask(s, "big")
        tap.equal(int(before[1]), PROCESS_MB << 20, "bytes")
        tap.equal(s.request("PATCH", "/api/v1/sandbox/big", {"timeout": TIMEOUT_S}).status, 200)
        tap.equal(s.post("/api/v1/sandbox/pause/big").status, 200)
        # Its time does not run meanwhile, and a restart of the service changes nothing.
        time.sleep(TIMEOUT_S / 2)
        s.kill()
        s.start()
        time.sleep(TIMEOUT_S / 2 + 0.5)
        shown = s.show("big").json["data"]
        tap.equal((shown["status"], shown["timeout"]), ("paused", TIMEOUT_S))
        assert "expires_at" not in shown, shown
        tap.equal(s.post("/api/v1/sandbox/resume/big").status, 200)
        tap.equal(s.request("PATCH", "/api/v1/sandbox/big", {"timeout": 600}).status, 200)
        tap.equal(ask(s, "big"), before, "pid, bytes and digest")


def rss_mb(s):
    with open("/proc/%d/status" % s.process.pid) as f:
        fields = dict(line.split(":", 1) for line in f)
    # The highest of all times, which is what counts here.
    return int(fields["VmHWM"].split()[0]) / 1024


def is_checked():
    with open(service.PROGRAM, "rb") as f:
        return b"__asan_init" in f.read()


def blocks(n):
    """N different mebibytes."""
    block = bytes(range(256)) * (CHUNK // 256)
    for i in range(n):
        yield i.to_bytes(8, "big") + block[8:]


def upload(s, path, n):
    """Streams N MiB into a file; the digest."""
    digest = hashlib.sha256()

    def body():
        for block in blocks(n):
            digest.update(block)
            yield block
    connection = http.client.HTTPConnection(s.host, s.port, timeout=300)
    connection.request("POST", "/api/v1/sandbox/files/big/upload?path=" + path, body=body(),
                       headers={"Authorization": "Bearer " + s.key,
                                "Content-Type": "application/octet-stream",
                                "Content-Length": str(n * CHUNK)})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == 200, text
    return digest.hexdigest()


def download(s, path, n):
    digest = hashlib.sha256()
    connection = http.client.HTTPConnection(s.host, s.port, timeout=300)
    connection.request("GET", "/api/v1/sandbox/files/big/download?path=" + path,
                       headers={"Authorization": "Bearer " + s.key})
    answer = connection.getresponse()
    tap.equal((answer.status, answer.headers["Content-Length"]), (200, str(n * CHUNK)))
    for data in iter(lambda: answer.read(CHUNK), b""):
        digest.update(data)
    connection.close()
    return digest.hexdigest()


def test_large_files_pass_through():
    with cells.running() as s:
        s.create(name="big", timeout=-1)
        # Once with little, so that everything is there that is made at the first use.
        sent = upload(s, "/tmp/small", 1)
        tap.equal(download(s, "/tmp/small", 1), sent)
        before, begin = rss_mb(s), time.monotonic()
        sent = upload(s, "/home/user/large", FILE_MB)
        up = time.monotonic() - begin
        begin = time.monotonic()
        received = download(s, "/home/user/large", FILE_MB)
        down = time.monotonic() - begin
        grown = rss_mb(s) - before
        print("# %d MiB: up at %.0f MiB/s, down at %.0f MiB/s, the service grew by %.1f MiB" %
              (FILE_MB, FILE_MB / up, FILE_MB / down, grown))
        tap.equal(received, sent, "digest")
        tap.equal(s.run("big", "sha256sum </home/user/large", timeout=120)["output"].split()[0],
                  sent, "digest inside")
        # The address checker keeps freed memory for a while.
        assert grown < GROWTH_MB or is_checked(), "the service grew by %.1f MiB" % grown


tap.main(globals())
