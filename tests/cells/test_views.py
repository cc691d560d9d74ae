# SPDX-License-Identifier: MIT
"""What a sandbox says of its machine agrees with its limits: memory, processors, time, groups."""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import time

import cells
import census
import tap

MIB = 1 << 20
HOST_CPUS = len(os.sched_getaffinity(0))
HOST_MEMORY = int(re.search(r"MemTotal: +(\d+)", open("/proc/meminfo").read()).group(1)) * 1024
JAVA = "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"

# name, what is asked for, processors, memory
CASES = [
    ("half", {"cpu_limit": "500m", "memory_limit": "512Mi"}, 1, 512 * MIB),
    ("more", {"cpu_limit": "1500m", "memory_limit": "1Gi"}, 2, 1024 * MIB),
    ("none", {"cpu_limit": "0", "memory_limit": "0"}, HOST_CPUS, HOST_MEMORY),
]


def sh(s, name, command, user="user"):
    data = s.run(name, command, user=user, timeout=60)
    tap.equal(data["exitCode"], 0, data)
    return data["output"].strip()


def shown(s, name):
    """All that says how large a sandbox is: (processors, bytes of memory), by who says so."""
    text = sh(s, name, r"""
        nproc; python3 -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))'
        lscpu | sed -n 's/^CPU(s): *//p'; grep -c ^processor /proc/cpuinfo
        grep -c '^cpu[0-9]' /proc/stat; ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l
        free -b | sed -n 's/^Mem: *\([0-9]*\).*/\1/p'""")
    numbers = [int(x) for x in text.split()]
    return numbers[:-1], numbers[-1]


def check(s, name, cpus, memory):
    counts, total = shown(s, name)
    tap.equal(counts, [min(cpus, HOST_CPUS)] * 7, "processors of " + name)
    tap.equal(total // 1024, min(memory, HOST_MEMORY) // 1024, "memory of " + name)


def each_case(warm):
    with cells.running(env={"TIDEPOOL_CELLS_WARM": str(warm)}) as s:
        for name, limits, cpus, memory in CASES:
            s.create(name=name, **limits)
            check(s, name, cpus, memory)


def test_sandboxes_from_the_stock_show_their_limits():
    each_case(cells.WARM)


def test_sandboxes_built_on_demand_show_their_limits():
    each_case(0)


def test_control_groups_are_the_own_ones():
    with cells.running() as s:
        s.create(name="a", cpu_limit="500m", memory_limit="512Mi", pids=77)
        got = sh(s, "a", """cd /sys/fs/cgroup; if [ -f cgroup.controllers ]
            then cat memory.max cpu.max pids.max
            else cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us \
                     pids/pids.max; fi""")
        tap.equal(got.split(), [str(512 * MIB), "50000", "100000", "77"])
        for user in ("user", "root"):
            data = s.run("a", "for f in $(find /sys/fs/cgroup -type f); do"
                         " echo 1 2>/dev/null >$f && echo $f; done; mkdir /sys/fs/cgroup/x"
                         " 2>/dev/null || echo none", user=user)
            tap.equal(data["output"].strip(), "none", "what %s may write" % user)


def test_shared_memory_is_half_of_the_limit():
    with cells.running(env={"TIDEPOOL_CELLS_DISK_KIND": "image"}) as s:
        for name, limits, _, memory in CASES[:2]:
            s.create(name=name, **limits)
            tap.equal(int(sh(s, name, "df -B1 --output=size /dev/shm | tail -1")), memory // 2)
            sh(s, name, "head -c 100M /dev/zero >/dev/shm/x; rm /dev/shm/x")


def test_used_memory_shows():
    eat = "import time; x = b'x' * (100 << 20); print('ready', flush=True); time.sleep(60)"
    with cells.running() as s:
        s.create(name="a", memory_limit="512Mi")
        used = "free -b | sed -n 's/^Mem: *[0-9]* *\\([0-9]*\\).*/\\1/p'"
        before = int(sh(s, "a", used))
        sh(s, "a", "python3 -c \"%s\" >/tmp/out 2>&1 & until grep -q ready /tmp/out; do sleep 0.1;"
           " done" % eat)
        more = int(sh(s, "a", used)) - before
        assert 90 * MIB < more < 200 * MIB, more


def test_who_keeps_a_file_open_sees_it_change():
    """As top does: one descriptor, read again and again from its beginning."""
    program = ("f = open('/proc/meminfo', 'rb', 0)\n"
               "def free(): f.seek(0); return int(f.read().split(b'MemFree:')[1].split()[0])\n"
               "a = free(); x = b'x' * (64 << 20); import time; time.sleep(0.05)\n"
               "b = free(); print((a - b) // 1024)")
    with cells.running() as s:
        s.create(name="a", memory_limit="512Mi")
        less = int(sh(s, "a", "python3 -c \"%s\"" % program))
        assert 60 < less < 80, less


def test_time_begins_with_the_sandbox():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        s.create(name="a")
        begin = time.time()
        up, idle = map(float, sh(s, "a", "cat /proc/uptime").split())
        assert 0 <= up < 60 and 0 <= idle <= (up + 0.01) * HOST_CPUS, (up, idle)
        boot = int(sh(s, "a", "sed -n 's/^btime //p' /proc/stat"))
        assert abs(begin - boot) < 60, (begin, boot)
        # What ps works out from the boot time and a process's own start is the present.
        start = int(sh(s, "a", "date -d \"$(ps -o lstart= -p $$)\" +%s"))
        assert abs(time.time() - start) < 30, start
        time.sleep(1.1)
        assert float(sh(s, "a", "cut -d' ' -f1 /proc/uptime")) >= up + 1
        # Nothing of it when the machine itself started.
        assert float(sh(s, "a", "cut -d' ' -f1 /proc/uptime")) < 60


def test_nothing_of_the_machine():
    with cells.running() as s:
        s.create(name="a")
        s.create(name="b")
        ids = [sh(s, name, "cat /proc/sys/kernel/random/boot_id") for name in "ab"]
        ids.append(open("/proc/sys/kernel/random/boot_id").read().strip())
        tap.equal(len(set(ids)), 3, ids)
        tap.equal(sh(s, "a", "cat /proc/diskstats; ls /sys/block; ls /sys/class; lsblk"), "")
        tap.equal(len(sh(s, "a", "cat /proc/swaps").split("\n")), 1)
        load = float(sh(s, "a", "cut -d' ' -f1 /proc/loadavg"))
        assert load < 1, "an idle sandbox has no load, whatever the machine's is"


def test_use_shows_in_stat_and_load():
    with cells.running() as s:
        s.create(name="a")
        busy = "sed -n 's/^cpu  *\\([0-9]*\\) 0 \\([0-9]*\\) .*/\\1+\\2/p' /proc/stat"
        before = sum(map(int, sh(s, "a", busy).split("+")))
        sh(s, "a", "timeout 1.5 sh -c 'while :; do :; done'; true")
        after = sum(map(int, sh(s, "a", busy).split("+")))
        assert after >= before + 50, (before, after)
        assert float(sh(s, "a", "cut -d' ' -f1 /proc/loadavg")) > 0


def test_a_reused_slot_shows_nothing_of_the_last_one():
    with cells.running(env={"TIDEPOOL_CELLS_WARM": "0"}) as s:
        seen = set()
        for i in range(4):
            s.create(name="a", cpu_limit="500m", memory_limit="%dMi" % (100 + i))
            counts, total = shown(s, "a")
            tap.equal((counts[0], total), (1, (100 + i) * MIB))
            seen.add(sh(s, "a", "cat /proc/sys/kernel/random/boot_id"))
            tap.equal(s.remove("a").status, 200)
        tap.equal(len(seen), 4)


def test_processors_are_shared_out():
    """Cells of one processor do not all get the same one."""
    with cells.running() as s:
        where = []
        for i in range(2 * HOST_CPUS):
            s.create(name="a%d" % i, cpu_limit="1000m")
            where.append(sh(s, "a%d" % i, "cat /sys/devices/system/cpu/online"))
        tap.equal(sorted(where.count(x) for x in set(where)), [2] * HOST_CPUS, where)


def test_thousands_of_reads_at_once():
    reader = ("import threading\n"
              "def read():\n"
              "    for i in range(250):\n"
              "        for f in 'meminfo', 'stat', 'uptime', 'loadavg':\n"
              "            text = open('/proc/' + f).read()\n"
              "            assert text.endswith('\\n') and '\\0' not in text, (f, text)\n"
              "threads = [threading.Thread(target=read) for i in range(8)]\n"
              "[t.start() for t in threads]; [t.join() for t in threads]; print('done')")
    with cells.running() as s:
        for name in "ab":
            s.create(name=name)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            command = "python3 -c \"%s\" 2>&1" % reader
            got = list(pool.map(lambda x: s.run(x, command, user="user", timeout=110), "abab"))
        # Slow is not stuck: an emulated machine needs a minute, and the answer says which it was.
        tap.equal([(x["output"], x["timedOut"]) for x in got], [("done\n", False)] * 4, got)
        s.create(name="c", memory_limit="512Mi")
        tap.equal(shown(s, "c")[1], 512 * MIB)


def viewer_of(spawner):
    found = [p for p in census.children(spawner)
             if census.read("/proc/%d/comm" % p).strip() == "tidepool-viewer"]
    tap.equal(len(found), 1, "viewers")
    return found[0]


def test_the_end_of_the_viewer_stops_nobody():
    with cells.running() as s:
        s.create(name="a", memory_limit="512Mi")
        spawner = cells.spawner_pid(s.state)
        first = viewer_of(spawner)
        # Held up, it holds up who reads; its end lets them go on.
        os.kill(first, signal.SIGSTOP)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            reading = pool.submit(sh, s, "a", "cat /proc/meminfo >/dev/null; echo read")
            time.sleep(0.5)
            assert not reading.done(), "nobody reads past a viewer that does not answer"
            tap.equal(sh(s, "a", "echo others go on"), "others go on")
            os.kill(first, signal.SIGKILL)
            tap.equal(reading.result(timeout=30), "read")
        s.until(lambda: any(p != first and census.read("/proc/%d/comm" % p).strip() ==
                            "tidepool-viewer" for p in census.children(spawner)))
        s.create(name="b", memory_limit="256Mi")
        s.until(lambda: shown(s, "b")[1] == 256 * MIB)


def test_the_end_of_the_spawner_stops_nobody():
    with cells.running() as s:
        s.create(name="a", memory_limit="512Mi")
        pids = [p for p in census.children(cells.spawner_pid(s.state))]
        os.kill(viewer_of(cells.spawner_pid(s.state)), signal.SIGSTOP)
        spawner = cells.spawner_pid(s.state)
        s.post("/api/v1/terminal/sandbox/a", {"command": "cat /proc/stat & sleep 0.2; true"})
        os.kill(spawner, signal.SIGKILL)
        s.until(lambda: not any(cells.is_running(p) for p in pids))


def test_node_agrees():
    if not shutil.which("node"):
        raise tap.Skip("no node here")
    program = ("const os = require('os'); console.log(JSON.stringify([os.cpus().length, "
               "os.availableParallelism ? os.availableParallelism() : os.cpus().length, "
               "os.totalmem(), require('v8').getHeapStatistics().heap_size_limit, os.uptime()]))")
    with cells.running() as s:
        for name, limits, cpus, memory in CASES[:2]:
            s.create(name=name, **limits)
            n, parallel, total, heap, up = json.loads(sh(s, name, "node -e \"%s\"" % program))
            tap.equal((n, parallel, total), (min(cpus, HOST_CPUS), min(cpus, HOST_CPUS), memory))
            assert heap <= memory * 0.75, (heap, memory)
            assert up < 60, up


def test_java_agrees():
    if not os.path.exists(JAVA):
        raise tap.Skip("no java here")
    with cells.running() as s:
        for name, limits, cpus, memory in CASES[:2]:
            s.create(name=name, **limits)
            flags = sh(s, name, JAVA + " -XX:+PrintFlagsFinal -version 2>/dev/null")
            heap = int(re.search(r" MaxHeapSize += (\d+)", flags).group(1))
            assert 0 < heap <= memory // 2, (heap, memory)
            log = sh(s, name, JAVA + " -Xlog:os+container=trace -version 2>/dev/null", user="root")
            count = re.search(r"active_processor_count: (\d+)", log).group(1)
            tap.equal(int(count), min(cpus, HOST_CPUS), "Java's processors")


tap.main(globals())
