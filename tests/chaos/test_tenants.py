# SPDX-License-Identifier: MIT
"""Several accounts send whatever comes to mind on all surfaces, while another works and watches.

Nothing may end or stall the service, be answered with its own fault (500), or show or change what
belongs to the bystander; afterwards nothing of the tenants is left, and the service stops in order.
What is sent follows from the seed (tests/lib/tenant.py); a finding comes with seed, tenant and
number of its request. The line on stalls holds for the ordinary program, a sanitized one is slower.

    tests/chaos/test_tenants.py [SECONDS] [SEED] [TENANTS]
"""

import multiprocessing
import os
import re
import sys
import time

import bystander
import cells
import census
import service
import tap
import tenant

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 15
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 13
TENANTS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
LONGER = 180  # seconds that a tenant may need to tidy up
with open(service.PROGRAM, "rb") as program:
    IS_SANITIZED = b"__asan_init" in program.read()
MOST = 0.05  # seconds of CPU of a round of the loop; a sanitized program is not measured


def play(pipe, *arguments):
    os.nice(10)  # a tenant is another machine: it should not take the processors from the service
    try:
        pipe.send(tenant.Tenant(*arguments).run(SECONDS))
    except BaseException as e:
        pipe.send({
            "findings": ["the tenant itself failed: %r" % e], "requests": 0, "counts": {},
            "slowest": (0, ""), "number": -1
        })
        raise


def metric(s, name):
    found = re.search(r"^%s (\S+)" % name, s.get("/metrics").body.decode(), re.M)
    return float(found[1]) if found else 0.0


def start_tenants(s, watcher):
    doc = s.get("/openapi.json", key=None).json
    context = multiprocessing.get_context("fork")
    players = []
    for number in range(TENANTS):
        hints = {
            "key": s.make_key(account="tenant-%d" % number)["key"], "secrets": watcher.secrets,
            "others": [watcher.facts["box"], watcher.facts["id"], watcher.facts["instance"]]
        }
        ours, theirs = context.Pipe()
        process = context.Process(target=play, daemon=True,
                                  args=(theirs, (s.host, s.port), doc, SEED, number, hints))
        process.start()
        players.append((process, ours))
    return players


def collect(players):
    reports = []
    for process, pipe in players:
        if pipe.poll(LONGER):
            reports.append(pipe.recv())
        else:
            reports.append({
                "findings": ["a tenant did not come to its end"], "requests": 0, "counts": {},
                "slowest": (0, ""), "number": -1
            })
            process.kill()
        process.join(10)
    return reports


def watch(s, watcher, players):
    """While the tenants play: the service lives, and the bystander's data stay."""
    faults, next_look = [], time.monotonic() + 3
    while any(p.is_alive() for p, _ in players) and not all(pipe.poll() for _, pipe in players):
        time.sleep(0.2)
        if s.process.poll() is not None:
            return faults + ["the service ended: %s" % s.process.poll()]
        if time.monotonic() > next_look:
            next_look = time.monotonic() + 10
            now = watcher.end()
            faults += now["failures"]
            try:
                watcher.check()
            except bystander.Failed as e:
                faults.append(str(e))
            note(now)
            watcher.begin()
    return faults


def note(figures):
    shown = [
        "%s %.1f/%.1f ms (%d)" %
        (k, bystander.quantile(v, 0.5), bystander.quantile(v, 0.99), len(v))
        for k, v in figures["times"].items()
    ]
    print("# bystander, median/p99: " + ", ".join(shown), flush=True)


def tell(reports):
    print("# seed %d, %d s, %d tenants, %d requests" %
          (SEED, SECONDS, TENANTS, sum(r["requests"] for r in reports)))
    counts = {}
    for r in reports:
        for k, v in r["counts"].items():
            counts[k] = counts.get(k, 0) + v
        print("# tenant %d: slowest %.2f s: %s" %
              (r["number"], r["slowest"][0], r["slowest"][1][:200]))
    for area in sorted({k.split()[0] for k in counts}):
        print(
            "# %-9s %s" %
            (area, ", ".join("%s: %d" % (k.split()[-1], v)
                             for k, v in sorted(counts.items()) if k.split()[0] == area)),
            flush=True)


def complaints(s):
    """Lines of the log that say that something is wrong with the service itself."""
    bad = re.compile(r"level=error|\berror\b.*assert|assertion|loop is stuck|Sanitizer")
    return [x for x in s.log().splitlines() if bad.search(x)]


def find_spawner(state):
    """The parent of the cells. On a machine that has too much to do it may have been taken for one
    that hangs, and there is another one then, without cells."""
    pids = list(filter(None, map(cells.pid_at, cells.places(state))))
    return max(pids, key=lambda pid: len(census.children(pid)), default=0)


def add_pool(s):
    """A template with a pool, which tenants take from; what there was before."""
    path = "/api/v1/config/templates"
    before = s.get(path).json["data"]
    pooled = {"name": "pooled", "image": "tidepool/default:latest", "description": "For tenants",
              "pool": {"size": 2}}
    answer = s.post(path, before + [pooled])
    assert answer.status == 200, answer
    return lambda: s.post(path, before)


def test_tenants():
    env = {"TIDEPOOL_CELLS_INTERNET": "false", "TIDEPOOL_CELLS_VOLUME_DISK": "16MiB"}
    with cells.running(env=env) as s:
        remove_pool = add_pool(s)
        counted = census.Census(s, find_spawner)
        watcher = bystander.Bystander(s)
        try:
            watcher.begin()
            players = start_tenants(s, watcher)
            faults = watch(s, watcher, players)
            reports = collect(players)
            tell(reports)
            for line in complaints(s)[:20]:
                print("# log: " + line)
            last = watcher.end()
            note(last)
            faults += last["failures"] + [f for r in reports for f in r["findings"]]
            stall = metric(s, "tidepool_loop_stall_cpu_seconds")
            print("# longest round of the loop: %.0f ms, of CPU %.0f ms; %d MiB, %d descriptors" %
                  (1000 * metric(s, "tidepool_loop_stall_seconds"), 1000 * stall,
                   metric(s, "process_resident_memory_bytes") /
                   (1 << 20), metric(s, "process_open_fds")))
            if stall > MOST and not IS_SANITIZED:
                faults.append("a round of the loop took %.0f ms of CPU" % (1000 * stall))
            watcher.check()
        finally:
            watcher.close()
        tap.equal(faults[:10], [], "%d findings" % len(faults))
        tap.equal(s.names(), ["bystanders-own"], "sandboxes that are left")
        tap.equal(os.listdir(os.path.join(s.state, "volumes")), [], "volumes that are left")
        tap.equal(remove_pool().status, 200)
        counted.settle(1 + cells.WARM)


if __name__ == "__main__":
    tap.main(globals())
