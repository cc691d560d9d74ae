# SPDX-License-Identifier: MIT
"""What sandboxes reach, on a machine whose internet is a namespace beside it, where every address
answers: a denial is the service's own, and nothing leaves the machine when one is missing."""

import signal

import cells
import internet
import maxima
import tap

PUBLIC = "203.0.113.10"
SIX = "2001:db8::10"
GUARDED = ["10.1.2.3", "172.16.5.5", "192.168.7.7", "100.64.1.1", "169.254.169.254",
           internet.HOST, "fd00::1", "2001:db8:1::1", "64:ff9b::a9fe:a9fe"]
ALL = "0.0.0.0/0"
ENV = {"TIDEPOOL_CELLS_DNS": internet.DNS}


def running(**env):
    return cells.running(env={**ENV, **env})


def fetch(s, name, host, user="user"):
    """What the sandbox gets from http://HOST/, or "" when it gets nothing."""
    host = "[%s]" % host if ":" in host else host
    return s.run(name, "curl -gsS -m 10 http://%s/ 2>/dev/null || true" % host,
                 user=user)["output"]


def reaches(s, name, *hosts, user="user"):
    for host in hosts:
        tap.equal(fetch(s, name, host, user), "reached " + internet.NAMES.get(host, host), host)


def misses(s, name, *hosts, user="user"):
    for host in hosts:
        tap.equal(fetch(s, name, host, user), "", host)


def test_the_internet_and_nothing_else():
    with running() as s:
        s.create(name="open")
        reaches(s, "open", PUBLIC, SIX, "a.example", "six.example")
        misses(s, "open", *GUARDED, "meta.example", "nowhere.example")
        # The service itself, by all its names.
        for host in ("127.0.0.1", "localhost", internet.HOST):
            command = "curl -s -m 5 http://%s:%d/ready; echo $?" % (host, s.port)
            assert s.run("open", command)["output"] != "0\n", host
        # A service of its own is reached on loopback, from inside only.
        s.create(name="other")
        s.run("open", "cd /tmp && (python3 -m http.server 8000 >/dev/null 2>&1 &)")
        own = "curl -s -o /dev/null http://127.0.0.1:8000/"
        s.until(lambda: s.run("open", own)["exitCode"] == 0)
        assert s.run("other", "curl -s -m 5 http://127.0.0.1:8000/")["exitCode"] != 0


def test_offline():
    with running() as s:
        made = s.create(name="off", allowInternetAccess=False)
        tap.equal(made["allowInternetAccess"], False)
        misses(s, "off", PUBLIC, SIX, "a.example")
    with running(TIDEPOOL_CELLS_INTERNET="false") as s:
        s.create(name="none", network={"allowOut": [PUBLIC], "denyOut": [ALL]})
        misses(s, "none", PUBLIC, SIX, "a.example", user="root")


def test_rules():
    with running() as s:
        s.create(name="nets", network={"allowOut": ["203.0.113.0/28", "10.0.0.0/8"],
                                       "denyOut": [ALL]})
        reaches(s, "nets", PUBLIC)
        misses(s, "nets", "203.0.113.99", "10.1.2.3", SIX, "a.example")
        s.create(name="names", network={"allowOut": ["a.example", "*.wild.example"],
                                        "denyOut": [ALL]})
        reaches(s, "names", "a.example", "x.wild.example")
        misses(s, "names", "b.example", "203.0.113.11")
        stated = "curl -sS -m 10 -H 'Host: %s' http://203.0.113.77/ 2>&1; true"
        tap.equal(s.run("names", stated % "a.example")["output"], "reached " + PUBLIC)
        tap.contains(s.run("names", stated % "b.example")["output"], "reset")
        s.create(name="deny", network={"denyOut": ["203.0.113.0/24"]})
        misses(s, "deny", PUBLIC)
        reaches(s, "deny", SIX, "192.0.2.1")


def test_bad_rules():
    rows = [
        ({"denyOut": ["a.example"]}, "invalid denied CIDR a.example"),
        ({"denyOut": ["0.0.0.0"]}, "invalid denied CIDR 0.0.0.0"),
        ({"allowOut": ["a.example"]}, "you must include 'ALL_TRAFFIC' in deny out"),
        ({"allowOut": ["http://a.example"]}, "'http://a.example' is not an address"),
        ({"allowOut": "a.example"}, "network.allowOut must be an array of strings"),
        ({"allowOut": [1]}, "network.allowOut must be an array of strings"),
        ([], "network must be an object"),
    ]
    with running() as s:
        for network, text in rows:
            answer = s.post("/api/v1/sandbox", {"network": network})
            tap.equal(answer.status, 400, str(network))
            tap.contains(answer.json["error"] if "error" in answer.json else answer.body.decode(),
                         text)
        tap.equal(s.names(), [])


def test_root_inside_changes_nothing():
    attempts = [
        "ip route del local default dev lo table local",
        "ip route add default dev lo",
        "ip addr add 203.0.113.10/32 dev lo",
        "ip link set lo down",
        "ip link add d0 type dummy",
        "ip rule add from all lookup main pref 1",
        "sysctl -w net.ipv4.ip_forward=1",
        "echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_all",
        "unshare -n true",
        # BPF_LINK_GET_NEXT_ID, BPF_PROG_LOAD; raw and packet sockets.
        "python3 -c 'import ctypes, sys; l = ctypes.CDLL(None, use_errno=True);"
        " bpf = lambda n: l.syscall(321, n, bytes(128), 128);"
        " sys.exit(bpf(31) < 0 and bpf(5) < 0)'",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
    ]
    with running() as s:
        s.create(name="root", network={"allowOut": [PUBLIC], "denyOut": [ALL]})
        for tool in ("ip", "sysctl", "unshare", "python3"):
            tap.equal(s.run("root", "command -v " + tool, user="root")["exitCode"], 0, tool)
        for command in attempts:
            done = s.run("root", command, user="root")
            assert done["exitCode"] != 0, command
        reaches(s, "root", PUBLIC, user="root")
        misses(s, "root", "203.0.113.11", "169.254.169.254", SIX, user="root")


def test_policies_survive_the_service():
    with running() as s:
        s.create(name="off", allowInternetAccess=False)
        s.create(name="one", network={"allowOut": [PUBLIC], "denyOut": [ALL]})
        s.create(name="open")
        s.signal(signal.SIGKILL)
        s.wait()
        s.start()
        misses(s, "off", PUBLIC)
        reaches(s, "one", PUBLIC)
        misses(s, "one", SIX)
        reaches(s, "open", PUBLIC, SIX, "a.example")
        misses(s, "open", *GUARDED)


def test_rules_change():
    with running() as s:
        def change(**fields):
            return s.request("PATCH", "/api/v1/sandbox/moving", fields)
        s.create(name="moving")
        reaches(s, "moving", PUBLIC, SIX)
        answer = change(network={"allowOut": [PUBLIC], "denyOut": [ALL]})
        tap.equal((answer.status, answer.json["data"]["network"]),
                  (200, {"allowOut": [PUBLIC], "denyOut": [ALL]}))
        reaches(s, "moving", PUBLIC)
        misses(s, "moving", SIX)
        # Each part stays when only the other one is named.
        answer = change(allowInternetAccess=False, timeout=600)
        tap.equal((answer.json["data"]["allowInternetAccess"], answer.json["data"]["timeout"]),
                  (False, 600))
        tap.equal(answer.json["data"]["network"]["allowOut"], [PUBLIC])
        tap.equal(change(network={"denyOut": ["a.example"]}).status, 400)
        tap.equal(change(network={}).json["data"]["network"], {})
        misses(s, "moving", PUBLIC, SIX)
        s.kill()
        s.start()
        shown = s.show("moving").json["data"]
        tap.equal((shown["allowInternetAccess"], shown["network"], shown["timeout"]),
                  (False, {}, 600))
        misses(s, "moving", PUBLIC, SIX)
        tap.equal(change(allowInternetAccess=True).status, 200)
        reaches(s, "moving", PUBLIC, SIX)


def figures(s):
    """The figures of the way out."""
    rows = [x.split() for x in s.get("/metrics").body.decode().splitlines() if "_egress_" in x]
    return {r[0].replace("tidepool_egress_", ""): int(r[1]) for r in rows if r[0] != "#"}


def test_figures():
    with running() as s:
        tap.equal(set(figures(s).values()), {0})
        s.create(name="counted", network={"denyOut": ["203.0.113.11"]})
        reaches(s, "counted", PUBLIC, "a.example")
        misses(s, "counted", "203.0.113.11", "nowhere.example")
        s.until(lambda: figures(s)["connections"] == 0)
        before = figures(s)
        tap.equal((before["connections_total"], before["denied_total"]), (2, 1))
        assert before["dns_queries_total"] >= 2, before
        assert before["sent_bytes_total"] > 100 and before["received_bytes_total"] > 100, before
        s.remove("counted")
        tap.equal(figures(s), before)


# A question for a.example over TCP, and the address in the answer.
ASK_TCP = """python3 -c '
import socket, struct
q = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + b"\\1a\\7example\\0" + struct.pack(">2H", 1, 1)
s = socket.create_connection(("%s", 53), 10)
s.sendall(struct.pack(">H", len(q)) + q)
print(".".join(map(str, s.recv(4096)[-4:])))
'"""


def test_names_by_tcp():
    with running() as s:
        s.create(name="asks")
        for address in ("127.0.0.1", "::1"):
            tap.equal(s.run("asks", ASK_TCP % address)["output"], PUBLIC + "\n", address)
        # Nobody inside can take the place of the server.
        bind = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 53))'"
        s.run("asks", bind, user="root")
        tap.equal(s.run("asks", ASK_TCP % "127.0.0.1")["output"], PUBLIC + "\n")


def test_by_the_e2b_surface():
    base = "/e2b/v1"
    with running() as s:
        rows = (
            ({"allowInternetAccess": False}, [], [PUBLIC, "a.example"]),
            ({"allow_internet_access": False, "network": {"allowOut": [PUBLIC]}}, [PUBLIC],
             ["b.example"]),
            ({"network": {"denyOut": [PUBLIC + "/32"]}}, ["b.example"], [PUBLIC, "a.example"]),
            ({"network": {"denyOut": [ALL], "allowOut": ["*.wild.example", "203.0.113.11"]}},
             ["x.wild.example", "203.0.113.11"], [PUBLIC, "a.example"]),
        )
        for fields, near, far in rows:
            box = s.post(base + "/v2/sandboxes", {"templateID": "base", **fields}).json
            name = box["metadata"]["name"]
            reaches(s, name, *near)
            misses(s, name, *far)
        # While it lives; everything is replaced each time.
        for body, near, far in (
                ({"denyOut": [ALL], "allowOut": ["a.example"]}, ["a.example"], ["b.example"]),
                ({}, ["a.example", "b.example"], ["meta.example"]),
                ({"allow_internet_access": False}, [], ["a.example"])):
            answer = s.request("PUT", "%s/sandboxes/%s/network" % (base, box["sandboxID"]), body)
            tap.equal(answer.status, 204)
            reaches(s, name, *near)
            misses(s, name, *far)


def test_many_at_once():
    with running() as s:
        s.create(name="busy")
        script = ("import concurrent.futures as c, urllib.request as u\n"
                  "get = lambda i: u.urlopen(\"http://203.0.113.%d/\" % (i % 200 + 1), timeout=30)"
                  ".read()\n"
                  "with c.ThreadPoolExecutor(50) as p:\n"
                  "    all = list(p.map(get, range(500)))\n"
                  "print(sum(a == b\"reached 203.0.113.%d\" % (i % 200 + 1) "
                  "for i, a in enumerate(all)))")
        tap.equal(s.run("busy", "python3 -c '%s'" % script)["output"], "500\n")


# Opens argv[1] connections and says how many of them stay open; then keeps them busy.
HOLD = """import socket, sys, time
held = []
for _ in range(int(sys.argv[1])):
    try:
        c = socket.create_connection(("%s", 80), timeout=10)
        c.settimeout(0.5)
        c.recv(1)
    except TimeoutError:
        held.append(c)
    except OSError:
        pass
print(len(held), flush=True)
while True:
    time.sleep(1)
    for c in held:
        c.send(b"G")
""" % PUBLIC


def hold(s, name, n, key):
    """Holds up to N connections of a sandbox open; how many there are."""
    s.run(name, "cat >/tmp/hold.py <<'E'\n%sE\n" % HOLD, key=key)
    s.run(name, "(python3 /tmp/hold.py %d >/tmp/held 2>&1 &)" % n, key=key)
    s.until(lambda: s.run(name, "cat /tmp/held", key=key)["output"].endswith("\n"), 60)
    return int(s.run(name, "cat /tmp/held", key=key)["output"])


def test_one_account_takes_its_connections():
    with running(TIDEPOOL_QUOTA_ACCOUNT_CONNECTIONS="6",
                 TIDEPOOL_QUOTA_SANDBOX_CONNECTIONS="4") as s:
        ada, bob = (s.make_key(account=x)["key"] for x in ("ada", "bob"))
        s.create(ada, name="a1")
        s.create(ada, name="a2")
        s.create(bob, name="b")
        tap.equal(hold(s, "a1", 7, ada), 4)
        tap.equal(hold(s, "a2", 7, ada), 2)
        tap.equal([maxima.used(s, "connections", of) for of in ("account", "service")], [6, 6])
        tap.equal([maxima.refused(s, "connections", of) for of in ("sandbox", "account")], [3, 5])
        tap.equal(fetch(s, "a2", PUBLIC), "")
        # Bob has his share; what ends makes room; after a restart it is counted as before.
        tap.equal(hold(s, "b", 3, bob), 3)
        tap.equal(s.remove("a1", key=ada).status, 200)
        s.until(lambda: maxima.used(s, "connections") == 5)
        reaches(s, "a2", PUBLIC)
        s.stop()
        s.start()
        tap.equal(maxima.used(s, "connections"), 0)
        s.run("a2", "pkill -f hold.py; rm /tmp/held; true", key=ada)
        tap.equal(hold(s, "a2", 7, ada), 4)
        tap.equal(maxima.used(s, "connections", "account"), 4)


try:
    internet.open()
except tap.Skip as e:
    print("1..0 # SKIP %s" % e)
    raise SystemExit(0)
tap.main(globals())
