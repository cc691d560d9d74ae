# SPDX-License-Identifier: MIT
"""A hostile process exchanges what paths mean while the service of its cell, which may do more than
root inside, works on them. Needs root."""

import concurrent.futures
import json
import time
import urllib.parse

import connect
import tap

lab, CELL = connect.open_cell()
box = connect.Cell(CELL["socket"], prefix="")
ROUNDS = 150
WORKERS = 6
HANGS_S = 20  # less than the kernel waits for whoever holds a lease
CONTENT = "of another name"

# In /tmp/race the name `x` is one thing after the other, always exchanged by a rename: files, one
# of them a hard link; a directory; links to what only the first process may read, and to itself;
# what can hang whoever opens it. Leases make openers wait that do not say that they will not.
HOSTILE = r"""
import contextlib, fcntl, os, random, shutil, signal, socket, sys, time
os.chdir('/tmp/race')
signal.signal(signal.SIGIO, signal.SIG_IGN)
def directory(p):
    os.mkdir(p)
    open(p + '/f', 'w').write('in a directory')
def leased(p):
    open(p, 'w').write('leased')
    fd = os.open(p, os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    kept.append(fd)
    if len(kept) > 50: os.close(kept.pop(0))
def bound(p):
    s = socket.socket(socket.AF_UNIX); s.bind(p); s.close()
kept = []
kinds = [lambda p: open(p, 'w').write('plain'), directory, leased, bound, os.mkfifo,
         lambda p: os.link('linked', p)]
kinds += [lambda p, to=to: os.symlink(to, p) for to in
          ('/proc/1', '/proc/1/fd', '/proc/1/environ', '/proc/self/mem', '/proc/self/root',
           '/dev/zero', '/dev/full', '/tmp/race/x', 'elsewhere')]
open('linked', 'w').write('linked')
os.mkdir('elsewhere')
open('elsewhere/f', 'w').write('elsewhere')
n = 0
while not os.path.exists('/tmp/race-over'):
    n += 1
    with contextlib.suppress(OSError):
        random.choice(kinds)('new')
    with contextlib.suppress(OSError):
        os.rename('x', 'old%d' % n)
    with contextlib.suppress(OSError):
        os.rename('new', 'x')
    for p in ('old%d' % n, 'new'):
        with contextlib.suppress(OSError):
            if os.path.isdir(p) and not os.path.islink(p): shutil.rmtree(p)
            else: os.unlink(p)
    if n % 50 == 0: time.sleep(0.001)
open('/tmp/race-count', 'w').write(str(n))
"""


def run(command, user="root", **more):
    status, _, body = box.call("POST", "/run", json.dumps(dict(more, command=command, user=user)))
    tap.equal(status, 200, body)
    return json.loads(body)


def fs(action, path, **more):
    return "/fs/%s?%s" % (action, urllib.parse.urlencode(dict(more, path=path)))


def e2b(name, **message):
    return box.call("POST", "/e2b/filesystem.Filesystem/" + name, json.dumps(message),
                    {"Content-Type": "application/json"})


def files(path):
    return "/e2b/files?" + urllib.parse.urlencode({"path": path})


RAW = {"Content-Type": "application/octet-stream"}
ATTEMPTS = [
    ("download", lambda p: box.call("GET", fs("download", p))),
    ("archive", lambda p: box.call("GET", fs("download", p, archive=1))),
    ("list", lambda p: box.call("GET", fs("list", p))),
    ("upload", lambda p: box.call("POST", fs("upload", p), b"uploaded", RAW)),
    ("remove", lambda p: box.call("DELETE", fs("entry", p, recursive="true"))),
    ("E2B get", lambda p: box.call("GET", files(p))),
    ("E2B put", lambda p: box.call("POST", files(p), b"uploaded", RAW)),
    ("E2B stat", lambda p: e2b("Stat", path=p)),
    ("E2B list", lambda p: e2b("ListDir", path=p, depth=3)),
    ("E2B make", lambda p: e2b("MakeDir", path=p)),
    ("E2B move", lambda p: e2b("Move", source=p, destination=p + "-moved")),
    ("E2B remove", lambda p: e2b("Remove", path=p)),
]


def attempt(job):
    (name, act), path = job
    begin = time.monotonic()
    try:
        status, _, body = act(path)
    except (ConnectionError, connect.http.client.HTTPException) as e:
        # An answer that began and cannot be completed ends the connection.
        status, body = 0, str(e).encode()
    return name, path, status, body, time.monotonic() - begin


def check_answer(name, path, status, body):
    what = (name, path, status, body[:300])
    assert status == 0 or 200 <= status < 600, what
    # Names of processes and descriptors; the target of a link of theirs anybody may read.
    for text in (b"tidepool-envd", b"socket:[", b"anon_inode", b'"oom_score_adj"'):
        assert status != 200 or text not in body, what


def test_exchanged_paths():
    run("rm -rf /tmp/race /tmp/race-*; mkdir -m 777 /tmp/race")
    run("python3 -c '%s' >/tmp/race-log 2>&1 &" % HOSTILE.replace("'", "'\"'\"'"), user="user")
    paths = ("/tmp/race/x", "/tmp/race/x/f")
    jobs = [(a, p) for _ in range(ROUNDS) for a in ATTEMPTS for p in paths]
    seen = {}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for name, path, status, body, _ in pool.map(attempt, jobs):
            check_answer(name, path, status, body)
            seen.setdefault(name, {}).setdefault(status, 0)
            seen[name][status] += 1
    run("touch /tmp/race-over; while ! [ -s /tmp/race-count ]; do sleep 0.02; done")
    print("# exchanged %s times" % run("cat /tmp/race-count; cat /tmp/race-log")["stdout"].strip())
    for name, counts in seen.items():
        print("#   %-10s %s" % (name, " ".join("%d:%d" % x for x in sorted(counts.items()))))
        # Some got through, or the test would be about nothing.
        assert 200 in counts, (name, counts)
    tap.equal(run("find /tmp -name '.tidepool-upload-*'")["stdout"], "", "left behind")
    tap.equal(run("echo alive")["stdout"], "alive\n")


def test_nothing_waits_for_a_lease():
    """A process that holds one is asked to give it up, and openers wait for it, 45 s if need be."""
    run("rm -f /tmp/lease*; python3 -c 'import fcntl,os,signal,time\n"
        "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
        "open(\"/tmp/lease\",\"w\").write(\"x\")\n"
        "fd=os.open(\"/tmp/lease\",os.O_RDONLY)\n"
        "fcntl.fcntl(fd,fcntl.F_SETLEASE,fcntl.F_WRLCK)\n"
        "open(\"/tmp/lease-up\",\"w\").write(\"1\")\ntime.sleep(1000)' >/dev/null 2>&1 &\n"
        "while ! [ -s /tmp/lease-up ]; do sleep 0.02; done", user="user")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for a in ATTEMPTS:
            if a[0] in ("archive", "remove", "E2B move", "E2B remove"):
                continue  # by a process of its own, or without opening
            # Answered: the service has one thread, and would answer nobody while it waits.
            asked = pool.submit(attempt, (a, "/tmp/lease"))
            c = connect.Unix(CELL["socket"], HANGS_S)
            c.request("GET", "/health")
            tap.equal(c.getresponse().status, 200, a[0])
            c.close()
            asked.result(HANGS_S)
    run("pkill -9 -u user python3; true")


def test_lists_do_not_enter_proc():
    status, _, body = e2b("ListDir", path="/", depth=2)
    tap.equal(status, 200, body)
    paths = [e["path"] for e in json.loads(body)["entries"]]
    assert "/proc" in paths and "/etc/passwd" in paths, paths[:50]
    tap.equal([p for p in paths if p.startswith("/proc/")][:5], [])


def test_replacing_a_hard_link_leaves_the_other_name():
    """An upload makes a new file; what else the old one was called stays as it was."""
    run("rm -rf /tmp/hard; mkdir -m 777 /tmp/hard; cd /tmp/hard; echo '%s' >own; ln own name" %
        CONTENT)
    status, _, body = box.call("POST", fs("upload", "/tmp/hard/name"), b"new", RAW)
    tap.equal(status, 200, body)
    tap.equal(run("cat /tmp/hard/name; cat /tmp/hard/own")["stdout"], "new" + CONTENT + "\n")


def test_the_service_ends_in_order():
    lab.stdin.close()
    tap.equal(lab.wait(60), 0)


tap.main(globals())
