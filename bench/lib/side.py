# SPDX-License-Identifier: MIT
"""What the benchmarks share: two servers side by side on loopback, load, CPU time and memory.

Each server runs on its own core (when there are two) and the load on another, so that they do not
take time from each other; what counts is requests per second of the server's CPU time.
"""

import contextlib
import json
import os
import platform
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESULTS = os.path.join(ROOT, "build", "bench")
TICKS = os.sysconf("SC_CLK_TCK")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = {CORES[0]}, {CORES[-1]}
START_S = 10


def prepare(core, n_files=None):
    """What a child does before it becomes the program."""
    def run():
        os.sched_setaffinity(0, core)
        if n_files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, n_files))
    return run


def files_limit(wanted):
    """The number of descriptors a process may have, at most WANTED."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(condition, what, seconds=START_S):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise SystemExit("%s did not happen within %d s" % (what, seconds))


class Server:
    """A running server: where it answers, and the process that does the work."""

    def __init__(self, name, host, port, pid):
        self.name, self.host, self.port, self.pid = name, host, port, pid

    def url(self, path):
        return "http://%s:%d%s" % (self.host, self.port, path)

    def is_open(self):
        with socket.socket() as s:
            return s.connect_ex((self.host, self.port)) == 0

    def cpu_seconds(self):
        """User and system time of all threads."""
        with open("/proc/%d/stat" % self.pid) as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_kib(self):
        with open("/proc/%d/status" % self.pid) as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        return 0


@contextlib.contextmanager
def child(command, **options):
    """A process that is gone afterwards."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


NGINX_CONF = """
daemon off;
worker_processes 1;
pid {dir}/pid;
error_log {dir}/error.log;
worker_rlimit_nofile {n_files};
events {{ worker_connections {n_files}; }}
http {{
    access_log {access_log};
    keepalive_requests 1000000000;
    keepalive_timeout 75s;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    default_type application/json;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            return {status} '{body}';
        }}
    }}
}}
"""


@contextlib.contextmanager
def nginx(body, status=200, n_files=4096, has_access_log=False):
    """nginx with one worker that answers everything with BODY. It reads a request body and drops
    it; it looks into nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        port, conf = free_port(), os.path.join(folder, "nginx.conf")
        access_log = folder + "/access.log" if has_access_log else "off"
        with open(conf, "w") as f:
            f.write(NGINX_CONF.format(dir=folder, port=port, body=body, status=status,
                                      n_files=n_files, access_log=access_log))
        command = ["nginx", "-p", folder, "-c", conf, "-e", folder + "/error.log"]
        with child(command, stderr=subprocess.DEVNULL,
                   preexec_fn=prepare(SERVER_CORE, n_files)) as master:
            worker = wait_for(lambda: first_child(master.pid), "nginx's start")
            server = Server("nginx", "127.0.0.1", port, worker)
            wait_for(server.is_open, "nginx's listening")
            yield server


def first_child(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        children = f.read().split()
    return int(children[0]) if children else None


@contextlib.contextmanager
def tidepool(*options, n_files=4096):
    """The service on an empty state directory; .state names it."""
    program = os.environ.get("TIDEPOOL") or os.path.join(ROOT, "build", "tidepool")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        state = os.path.join(folder, "state")
        log = open(os.path.join(folder, "log"), "wb")
        command = [program, "serve", "--listen", "127.0.0.1:0", "--state", state, *options]
        with log, child(command, stdout=log, stderr=log,
                        preexec_fn=prepare(SERVER_CORE, n_files)) as process:
            info = wait_for(lambda: read_json(os.path.join(state, "service.json")),
                            "the start of tidepool")
            host, _, port = info["url"].rpartition("//")[2].rstrip("/").partition(":")
            server = Server("tidepool", host, int(port), process.pid)
            server.state = state
            wait_for(server.is_open, "tidepool's listening")
            yield server


def read_json(path):
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def get(url):
    """Status and body text."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(url, timeout=5) as answer:
        return answer.status, answer.read().decode()


def load(server, path, seconds, connections, method="GET", body="", headers=()):
    """One round of wrk; its figures, with the server's CPU time beside them."""
    before = server.cpu_seconds()
    done = subprocess.run(
        ["wrk", "-t1", "-c%d" % connections, "-d%ds" % seconds, "--timeout", "10s",
         "-s", os.path.join(HERE, "load.lua"), server.url(path), "--", method, body, *headers],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
        preexec_fn=prepare(LOAD_CORE))
    lines = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
    if not lines:
        raise SystemExit("wrk failed:\n" + done.stdout)
    result = json.loads(lines[0][len("RESULT "):])
    result["cpu_seconds"] = server.cpu_seconds() - before
    result["per_cpu_second"] = result["requests"] / max(result["cpu_seconds"], 1 / TICKS)
    result["per_second"] = result["requests"] / result["seconds"]
    return result


def middle(rounds, key):
    return statistics.median(r[key] for r in rounds)


def table(rows):
    """Prints rows of cells, the first one as the head; all but the first column to the right."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for number, row in enumerate(cells):
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))))
        if number == 0:
            print("  ".join("-" * w for w in widths))
    sys.stdout.flush()


def save(name, result):
    """Writes build/bench/NAME.json, with what the machine was."""
    os.makedirs(RESULTS, exist_ok=True)
    result["machine"] = {"kernel": platform.release(), "cores": len(CORES)}
    path = os.path.join(RESULTS, name + ".json")
    with open(path, "w") as f:
        json.dump(result, f, indent=2)
        f.write("\n")
    print("written: " + os.path.relpath(path, ROOT))
