# SPDX-License-Identifier: MIT
"""`tidepool doctor`: its report, its exit status, and that it leaves the machine alone."""

import ctypes
import json
import os
import resource
import socket
import subprocess
import tempfile
import threading
import time

import cells
import census
import lacking
import tap
import unheard

TIDEPOOL = os.environ["TIDEPOOL"]
CHECKS = ["kernel", "user namespaces", "pid namespace", "mount namespace", "network namespace",
          "ipc namespace", "uts namespace", "cgroup namespace", "cgroups", "overlay", "disk images",
          "idmapped mounts", "clone3", "pidfd", "openat2", "seccomp", "bpf sk_lookup", "nftables",
          "tun", "open files", "disk", "inodes", "memory",
          "sandboxes at once", "inotify instances", "files of all", "terminals", "socket memory",
          "sandbox", "limit memory", "limit processes", "limit cpu", "limit disk", "git", "bash",
          "python3", "pip", "venv", "node", "npm", "sudo", "curl", "ca-certificates", "cc", "tar",
          "state directory", "port", "certificate", "kvm"]
LIMITS = ["limit memory", "limit processes", "limit cpu", "limit disk"]
ENVD = os.environ.get("TIDEPOOL_ENVD") or os.path.join(os.path.dirname(TIDEPOOL), "tidepool-envd")


def run(*args, program=TIDEPOOL, cells=False, **more):
    """Sandboxes are made where a test is about them."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TIDEPOOL_CELLS_ENVD": ENVD,
           "TIDEPOOL_CELLS_ENABLED": str(cells).lower()}
    env.update(more.pop("env", {}))
    return subprocess.run([program, "doctor", *args], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, **more)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def report(*args, **more):
    """The checks by name, and the process."""
    with tempfile.TemporaryDirectory() as state:
        os.chmod(state, 0o700)
        args = list(args)
        if "--listen" not in args:
            args += ["--listen", "127.0.0.1:0"]
        if "--state" not in args:
            args += ["--state", state]
        p = run("--json", *args, **more)
    tap.equal(p.stderr, "", "standard error")
    doc = json.loads(p.stdout)
    by_name = {c["name"]: c for c in doc["checks"]}
    missing = [c for c in doc["checks"] if c["status"] == "missing"]
    tap.equal(doc["ok"], not missing, "ok")
    tap.equal(p.returncode, 1 if missing else 0, "status")
    return by_name, p


def mounts():
    with open("/proc/self/mountinfo") as f:
        return sorted(line.split(" - ")[0].split()[3:5] for line in f)


def test_every_check_reports():
    by_name, _ = report()
    tap.equal(list(by_name), CHECKS, "checks")
    assert all(len(c["fix"] or "") < 300 for c in by_name.values())
    for c in by_name.values():
        assert c["status"] in ("ok", "warn", "missing"), c
        assert c["detail"], c
        assert (c["fix"] is None) == (c["status"] == "ok"), c
        assert c["required"] or c["status"] != "missing", c


def test_what_the_tests_themselves_prove_is_ok():
    by_name, _ = report()
    for name in ("python3", "pidfd", "state directory", "port"):
        tap.equal(by_name[name]["status"], "ok", name)
    tap.contains(by_name["kernel"]["detail"], os.uname().release)


def test_how_many_sandboxes():
    """The first number is the least, and fewer descriptors make it less."""
    def numbers(**more):
        check = report(**more)[0]["sandboxes at once"]
        return check["status"], [int(w) for w in check["detail"].replace(",", "").split()
                                 if w.isdigit()], check["detail"]
    status, found, _ = numbers()
    tap.equal(found[0], min(found), "least")
    less = 2048 + 5 * 100
    limit = (less, less)

    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        if os.geteuid() == 0:  # without the right to raise it again
            ctypes.CDLL(None).prctl(24, 24, 0, 0, 0)
    status, found, detail = numbers(preexec_fn=lower)
    tap.equal((status, found[0]), ("warn", 100))
    tap.contains(detail, "by open files")


def test_text_says_what_to_do():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "file")
        open(path, "w").close()
        p = run("--state", path, "--listen", "127.0.0.1:0")
    tap.equal(p.returncode, 1, "status")
    lines = p.stdout.splitlines()
    at = [i for i, line in enumerate(lines) if line.startswith("missing  state directory")]
    tap.equal(len(at), 1, "lines about the state directory")
    tap.contains(lines[at[0]], "is not a directory")
    tap.contains(lines[at[0] + 1], "--state")
    tap.contains(lines[-1], " missing")


def test_nothing_is_left_behind():
    before = mounts()
    with tempfile.TemporaryDirectory() as d:
        state = os.path.join(d, "not", "there")
        by_name, _ = report("--state", state)
        assert not os.path.exists(os.path.join(d, "not"))
        tap.contains(by_name["state directory"]["detail"], "will be created")
    tap.equal(mounts(), before, "mounts")


def test_missing_tools_are_warnings():
    """Whatever PATH says: a sandbox sees the host's /usr."""
    if os.geteuid() != 0:
        raise tap.Skip("needs root to hide programs")
    tools = ("git", "bash", "python3", "pip3", "node", "npm", "sudo", "curl", "cc", "tar")
    hide = "; ".join("for f in /usr/bin/%s /usr/local/bin/%s; do "
                     "[ ! -e $f ] || mount --bind /dev/null $f; done" % (t, t) for t in tools)
    with lacking.program(hide) as program:
        by_name, _ = report(program=program)
    for tool in tools:
        check = by_name["pip" if tool == "pip3" else tool]
        tap.equal(check["status"], "warn", tool)
        tap.contains(check["fix"], "apt install")


def needs_root():
    if os.geteuid() != 0:
        raise tap.Skip("sandboxes need root")


def report_with_cells(**more):
    """The report, with a look at what is left of it."""
    needs_root()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as d:
        state = os.path.join(d, "not", "there")
        by_name, _ = report("--state", state, cells=True, **more)
        tap.equal(os.listdir(d), [], "files that are left")
        lines = [census.read("/proc/%s/cmdline" % pid) for pid in os.listdir("/proc")
                 if pid.isdigit()]
        tap.equal([x for x in lines if d in str(x)], [], "processes")
    return by_name


def missing(by_name):
    return [name for name, c in by_name.items() if c["status"] == "missing"]


def test_a_sandbox_is_made_and_its_limits_bite():
    before = mounts()
    by_name = report_with_cells()
    tap.equal(list(by_name), CHECKS, "checks")
    for name in ("sandbox", *LIMITS):
        tap.equal((by_name[name]["status"], name), ("ok", name), by_name[name]["detail"])
    tap.equal(mounts(), before, "mounts")


def test_the_running_service_is_asked():
    with cells.running() as s:
        by_name, _ = report("--state", s.state, cells=True)
        tap.equal(by_name["sandbox"]["status"], "ok")
        tap.contains(by_name["sandbox"]["detail"], "by the running service")
        for name in LIMITS:
            tap.equal((by_name[name]["status"], name), ("ok", name), by_name[name]["detail"])
        tap.equal(s.names(), [])


def test_without_the_cpu_controller():
    with lacking.program(lacking.CPU) as program:
        by_name = report_with_cells(program=program)
    for name in ("cgroups", "limit cpu"):
        tap.equal(by_name[name]["status"], "missing", name)
    tap.equal(by_name["sandbox"]["status"], "ok")
    tap.contains(by_name["cgroups"]["detail"], "without")
    tap.contains(by_name["cgroups"]["detail"], "cpu")
    tap.contains(by_name["cgroups"]["fix"], "Mount cgroup2")
    tap.contains(by_name["limit cpu"]["detail"], "cannot limit cpu")


def test_limits_that_do_not_bite():
    """The operator lets sandboxes be made all the same."""
    with lacking.program(lacking.GROUPS) as program:
        by_name = report_with_cells(program=program,
                                    env={"TIDEPOOL_CELLS_ALLOW_UNENFORCED": "true"})
    tap.equal(missing(by_name), ["cgroups", "limit memory", "limit processes", "limit cpu"])
    for name in missing(by_name)[1:]:
        tap.contains(by_name[name]["detail"], "not enforced")


def test_without_e2fsprogs():
    with lacking.program(lacking.MKFS) as program:
        by_name = report_with_cells(program=program)
    tap.equal(missing(by_name), ["disk images", "limit disk"])
    for name in missing(by_name):
        tap.contains(by_name[name]["fix"], "apt install e2fsprogs")


def test_without_overlay():
    with unheard.of("overlay") as preexec:
        by_name = report_with_cells(preexec_fn=preexec)
    tap.equal(missing(by_name), ["overlay", "sandbox"])
    tap.contains(by_name["overlay"]["fix"], "modprobe overlay")
    tap.contains(by_name["sandbox"]["detail"], "modprobe overlay")
    for name in LIMITS:
        tap.equal(by_name[name]["status"], "warn", name)
        tap.contains(by_name[name]["detail"], "not tested")


def test_sandboxes_that_are_switched_off():
    by_name, _ = report()
    tap.equal(by_name["sandbox"]["status"], "warn")
    tap.contains(by_name["sandbox"]["detail"], "cells.enabled")


def wait_for_service(state):
    """The URL of the service, once it has written it."""
    path = os.path.join(state, "service.json")
    for _ in range(300):
        if os.path.exists(path):
            with open(path) as f:
                return json.load(f)["url"]
        time.sleep(0.05)
    raise AssertionError("the service did not start")


def serve_once(listener, answer):
    conn, _ = listener.accept()
    with conn:
        conn.recv(4096)
        conn.sendall(answer)


def port_check(answer):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        t = threading.Thread(target=serve_once, args=(s, answer))
        t.start()
        by_name, _ = report("--listen", "127.0.0.1:%d" % s.getsockname()[1])
        t.join()
    return by_name["port"]


def test_a_port_that_is_taken():
    got = port_check(b"HTTP/1.1 200 OK\r\nServer: other\r\nContent-Length: 0\r\n\r\n")
    tap.equal(got["status"], "missing")
    tap.contains(got["detail"], "another program is listening")


def test_a_port_where_the_service_answers():
    with tempfile.TemporaryDirectory() as state:
        service = subprocess.Popen([TIDEPOOL, "serve", "--listen", "127.0.0.1:0", "--state", state],
                                   env={"PATH": os.environ["PATH"]}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            address = wait_for_service(state).split("//")[1]
            by_name, _ = report("--listen", address)
            secured, _ = report("--listen", address,
                                env={"TIDEPOOL_TLS_CERT": "/c", "TIDEPOOL_TLS_KEY": "/k"})
        finally:
            service.terminate()
            service.wait(30)
    tap.equal(by_name["port"]["status"], "ok")
    tap.contains(by_name["port"]["detail"], "Tidepool is running")
    tap.equal(secured["port"]["status"], "warn")


def test_a_free_port_and_other_addresses():
    port = free_port()
    by_name, _ = report("--listen", "localhost:%d" % port)
    tap.equal(by_name["port"]["status"], "ok")
    by_name, _ = report("--listen", "unix:/nonexistent/sock")
    tap.equal(by_name["port"]["status"], "ok")
    by_name, _ = report("--listen", "192.0.2.1:1")
    tap.equal(by_name["port"]["status"], "missing")


def test_without_root_it_says_what_it_could_not_check():
    if os.geteuid() != 0:
        raise tap.Skip("needs root to become somebody else")
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        program = os.path.join(d, "tidepool")
        with open(TIDEPOOL, "rb") as src, open(program, "wb") as dst:
            dst.write(src.read())
        os.chmod(program, 0o755)
        p = subprocess.run([program, "doctor", "--json", "--listen", "127.0.0.1:0", "--state",
                            "/tmp/tidepool-nobody"], env={"PATH": "/usr/bin"}, user=65534,
                           group=65534, extra_groups=[], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60, cwd="/")
    tap.equal(p.stderr, "", "standard error")
    by_name = {c["name"]: c for c in json.loads(p.stdout)["checks"]}
    tap.equal(list(by_name), CHECKS, "checks")
    tap.equal(by_name["idmapped mounts"]["status"], "warn")
    tap.contains(by_name["idmapped mounts"]["detail"], "requires root")
    tap.equal(p.returncode, 1)
    tap.equal(by_name["sandbox"]["status"], "missing")
    tap.contains(by_name["sandbox"]["detail"], "require root")
    tap.contains(by_name["sandbox"]["fix"], "sudo tidepool doctor")


tap.main(globals())
