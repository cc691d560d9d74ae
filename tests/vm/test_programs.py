# SPDX-License-Identifier: MIT
"""What people do in a sandbox, as the default user, and what it sees of its own size."""

import guest
import tap

# A command, and a part of what it prints.
EVERYDAY = [
    ("id -un", "user"),
    ("echo 1 2 | awk '{print $1 + $2}'", "3"),
    ("which sh", "/bin/sh"),
    ("printf 'int main(void){return 7;}' >/tmp/a.c && cc -o /tmp/a /tmp/a.c && /tmp/a; echo $?",
     "7"),
    ("python3 -c 'import numpy; print(numpy.arange(4).sum())'", "6"),
    ("ls /etc/ssl/certs | grep -c pem", ""),
    ("openssl verify -CAfile /etc/ssl/certs/ca-certificates.crt "
     "/usr/share/ca-certificates/mozilla/ISRG_Root_X1.crt", "OK"),
    ("python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()) > 50)'",
     "True"),
    ("node -e 'console.log(6 * 7)'", "42"),
    ("git -c init.defaultBranch=main init -q /tmp/r && git -C /tmp/r status --short; echo $?", "0"),
    ("perl -MPOSIX -e 'print floor(3.7)'", "3"),
    ("getent passwd user", "user"),
    ("date +%Z", "UTC"),
    ("sudo -n id -un", "root"),
    ("dpkg -s bash | grep Status", "install ok installed"),
]


def test_everyday_programs():
    wrong = []
    with guest.service() as s:
        s.create(name="desk")
        for command, want in EVERYDAY:
            done = s.run("desk", command)
            if done["exitCode"] != 0 or want not in done["output"]:
                wrong.append((command, done["exitCode"], done["output"][-300:]))
    tap.equal(wrong, [], "what does not work")


def test_its_own_size():
    with guest.service() as s:
        s.create(name="small", memory_limit="512Mi", cpu_limit="1")
        tap.equal(s.run("small", "nproc")["output"], "1\n", "processors")
        total = s.run("small", "free -m | awk '/^Mem/ {print $2}'")["output"]
        assert 480 <= int(total) <= 512, "memory: " + total


def test_runtimes_size_themselves_by_it():
    """With control groups of version 2, which the tests of cells may not have."""
    with guest.service() as s:
        s.create(name="small", memory_limit="512Mi", cpu_limit="1")
        heap = "node -p 'v8.getHeapStatistics().heap_size_limit >> 20'"
        assert int(s.run("small", heap)["output"]) <= 512, "Node's heap"
        tap.equal(s.run("small", "node -p 'os.cpus().length'")["output"], "1\n")
        java = s.run("small", "java -XX:+PrintFlagsFinal -XshowSettings:system -version 2>&1 | "
                     "awk '/ MaxHeapSize / {print $2, $4} /Effective CPU|Memory Limit/'")["output"]
        tap.contains(java, "MaxHeapSize %d\n" % (128 << 20))
        tap.contains(java, "Effective CPU Count: 1\n")
        tap.contains(java, "Memory Limit: 512.00M\n")


tap.main(globals())
