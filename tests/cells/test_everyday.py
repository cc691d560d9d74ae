#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fresh sandbox is a whole machine to its default user: what is installed on the host runs there,
with the same result."""

import os
import shutil
import subprocess
import tempfile

import cells
import tap

ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
       "HOME": "/tmp"}

# The program, and what is run, in an empty directory, here and there. Without a program on the host
# the row is left out.
EVERYDAY = [
    ("awk", "echo 6 7 | awk '{ print $1 * $2 }'"),
    ("which", "which sh awk"),
    ("cc", "echo 'int main(void) { return 7; }' >a.c && cc -o a a.c && ./a; echo $?"),
    ("c++", "echo '#include <string>\nint main() { return std::string(\"abc\").size(); }' >a.cc"
            " && c++ -o a a.cc && ./a; echo $?"),
    ("vi", "echo old >f; vi -es -c 's/old/new/' -c wq f </dev/null; cat f"),
    ("editor", "readlink -f $(command -v editor)"),
    ("pager", "echo text | pager"),
    ("less", "echo text | less"),
    ("man", "man -w man; man man 2>&1 | grep -c MANPAGER"),
    ("ssh", "ssh -V 2>&1"),
    ("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -C me -f k && cut -d' ' -f1,3 k.pub"),
    ("curl", "curl --version | head -1; curl -s file:///usr/lib/os-release | head -1"),
    ("wget", "wget --version | head -1"),
    ("pip3", "/usr/bin/pip3 --version"),
    ("python3", "/usr/bin/python3 -c 'import ssl, sqlite3, ctypes, bz2, lzma, readline, pwd;"
                " print(ssl.OPENSSL_VERSION, pwd.getpwuid(0).pw_name)'"),
    ("python3", "/usr/bin/python3 -c 'import platform; print(platform.freedesktop_os_release())'"),
    ("python3", "/usr/bin/python3 -c 'import numpy; print(numpy.arange(6) @ range(6))'"),
    ("python3", "/usr/bin/python3 -c 'import matplotlib; print(len(matplotlib.rcParams))'"),
    ("perl", "perl -MPOSIX -MList::Util=sum -MData::Dumper -MTime::HiRes -e 'print sum(1..9)'"),
    ("perl", "perl -MXML::SAX -e 'print scalar @{XML::SAX->parsers}' 2>&1 | tail -1"),
    ("locale", "locale -a; LC_ALL=C.UTF-8 locale charmap"),
    ("getent", "getent passwd root _apt man www-data | cut -d: -f1,3; getent group tty shadow mail;"
               " getent services https ssh; getent protocols tcp"),
    ("make", "printf 'all:\\n\\techo made\\n' >Makefile && make -s"),
    ("git", "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"
            " && git log --format=%s"),
    ("tar", "echo a >a && tar czf a.tgz a && tar tzf a.tgz"),
    ("gzip", "echo a | gzip | gzip -d"),
    ("bzip2", "echo a | bzip2 | bzip2 -d"),
    ("xz", "echo a | xz | xz -d"),
    ("zstd", "echo a | zstd -q | zstd -dq"),
    ("zip", "echo a >a && zip -q a.zip a && unzip -l a.zip | tail -1 | tr -s ' '"),
    ("find", "mkdir -p a/b && find . | sort"),
    ("xargs", "echo 1 2 3 | xargs -n1 echo"),
    ("sed", "echo abc | sed 's/b/x/'"),
    ("grep", "printf 'a\\nb\\n' | grep -c b"),
    ("sort", "printf 'b\\na\\n' | sort"),
    ("diff", "echo a >a; echo b >b; diff a b"),
    ("patch", "echo a >a; echo b >b; diff -u a b >p; patch -s a p; cat a"),
    ("bc", "echo '2^70' | bc"),
    ("jq", "echo '{\"a\":[1,2]}' | jq -c '.a | add'"),
    ("file", "file -b /usr/bin/env | cut -d, -f1; printf '%%PDF-1.4\\n' | file -b -"),
    ("openssl", "echo text | openssl dgst -sha256; openssl version"),
    ("gpg", "gpg --version | head -1; HOME=$PWD gpg -k 2>&1 | grep -c created"),
    ("node", "/usr/bin/node -e 'console.log(process.version, require(\"os\").EOL.length)'"),
    ("npm", "/usr/bin/npm config get prefix"),
    ("ruby", "ruby -e 'require \"json\"; require \"openssl\"; puts JSON.generate([1])'"),
    ("gem", "gem --version; gem environment gemdir"),
    ("java", "java -version 2>&1; java -XshowSettings:locale -version 2>&1 | grep -c default"),
    ("javac", "echo 'class A { public static void main(String[] a) throws Exception {"
              " System.out.println(java.security.MessageDigest.getInstance(\"MD5\")); } }' >A.java"
              " && javac A.java && java A"),
    ("mvn", "mvn -version 2>&1 | head -1"),
    ("cobc", "cobc --version | head -1; cobc --list-reserved | wc -l"),
    ("fpc", "echo 'begin writeln(6*7) end.' >a.pas && fpc -v0 a.pas >/dev/null && ./a"),
    ("lua", "lua -e 'print(6 * 7)'"),
    ("php", "php -r 'echo json_encode([1]);'"),
    ("sqlite3", "sqlite3 :memory: 'select 6 * 7'"),
    ("psql", "psql --version"),
    ("gdb", "gdb -batch -ex 'print 6 * 7'"),
    ("strace", "strace -V | head -1"),
    ("ps", "ps -o comm= -p $$"),
    ("ip", "ip -br link show lo | cut -c1-2"),
    ("ldconfig", "/usr/sbin/ldconfig -p | wc -l"),
    ("fc-list", "fc-list : family | sort; fc-match sans"),
    ("dpkg", "dpkg --print-architecture; dpkg -S /usr/bin/env; dpkg -l | wc -l"),
    ("dpkg-query", "dpkg-query -W -f '${binary:Package} ${Version} ${Status}\\n'"),
    ("apt-cache", "apt-cache policy dpkg | grep Installed"),
    ("apt-config", "apt-config dump APT::Architecture"),
    ("update-alternatives", "update-alternatives --query awk"),
    ("lsb_release", "lsb_release -a 2>/dev/null"),
    ("date", "TZ=Europe/Berlin date -d @0"),
    ("id", "id -un 0; id -gn 0"),
    ("tput", "TERM=xterm-256color tput colors"),
    ("infocmp", "infocmp -1 screen | head -3"),
    ("nginx", "/usr/sbin/nginx -v 2>&1; grep -c worker /etc/nginx/nginx.conf"),
    ("update-ca-certificates", "cd /etc/ssl/certs; ls | wc -l; wc -c <ca-certificates.crt"),
    ("qpdf", "qpdf --version | head -1"),
    ("pdftotext", "pdftotext -v 2>&1 | head -1"),
    ("ffmpeg", "ffmpeg -version | head -1"),
    ("convert", "convert -list policy 2>&1 | head -1"),
    ("xmllint", "echo '<a/>' | xmllint --noout - && echo ok"),
]
LEAST = 40


def on_host(command):
    path = tempfile.mkdtemp(prefix="tidepool-everyday-")
    try:
        done = subprocess.run(["sh", "-c", command], cwd=path, env=ENV, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        return done.returncode, done.stdout.decode(errors="replace")
    finally:
        shutil.rmtree(path)


def in_cell(s, command):
    done = s.run("one", "d=$(mktemp -d) && cd $d && { %s\n}" % command, timeout=60)
    return done["exitCode"], done["output"], done["errorOutput"]


def test_directories_of_etc_are_open():
    """Whatever umask the service has, what it copies can be reached by everybody."""
    with cells.running() as s:
        s.create(name="one")
        tap.equal(s.run("one", "id -un")["output"], "user\n")
        found = s.run("one", "find /etc -type d ! -perm -005 ! -path /etc/sudoers.d")
        tap.equal(found["output"], "", "closed directories")
        tap.equal(s.run("one", "ls /etc/ssl/certs >/dev/null")["exitCode"], 0)


def test_everyday_programs():
    """Each gives what it gives on the host, to the default user."""
    with cells.running() as s:
        s.create(name="one")
        n, faults = 0, []
        for program, command in EVERYDAY:
            if not shutil.which(program, path=ENV["PATH"]):
                print("# this host has no " + program)
                continue
            n += 1
            want, got = on_host(command), in_cell(s, command)
            if got[:2] != want:
                faults.append("%s\n  here: %r\n  there: %r" % (command, want, got))
        assert not faults, "\n".join(faults)
        assert n >= LEAST, "only %d of them are installed" % n
        print("# %d programs" % n)


def test_what_users_have_of_their_own():
    """What differs from the host because it is the sandbox's."""
    with cells.running() as s:
        s.create(name="one")
        for command, want in [
                ("crontab -l 2>&1", "no crontab for user\n"),
                ("echo '0 1 * * * true' | crontab - && crontab -l", "0 1 * * * true\n"),
                ("sudo id -un", "root\n"),
                ("sudo -u www-data id -un", "www-data\n"),
                ("sudo su - user -c 'id -un'", "user\n"),
                ("python -c 'print(1)'", "1\n"),
                ("touch /usr/local/bin/mine /usr/local/lib/mine && echo ok", "ok\n"),
                ("sudo adduser --quiet --disabled-password --gecos '' jane; id -un jane", "jane\n"),
                ("sudo useradd -m -s /bin/sh joe && ls ~joe/.. | grep joe", "joe\n"),
                ("hostname", "one\n"), ("getent hosts one | wc -l", "1\n")]:
            done = s.run("one", command)
            tap.equal((done["output"], done["errorOutput"]), (want, ""), command)


def run_program(s, program, command):
    """The output of a command in a new sandbox, if the host has the program."""
    if not shutil.which(program, path=ENV["PATH"]):
        raise tap.Skip("this host has no " + program)
    s.create(name="one")
    done = s.run("one", command, timeout=110)
    tap.equal(done["exitCode"], 0, done["output"] + done["errorOutput"])
    return done["output"]


def test_matplotlib_draws():
    if on_host("/usr/bin/python3 -c 'import matplotlib'")[0] != 0:
        raise tap.Skip("this host has no python3-matplotlib")
    with cells.running() as s:
        tap.equal(run_program(s, "python3", """python3 - <<'END'
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plot
plot.plot([1, 4, 9])
plot.title("squares")
plot.savefig("plot.png")
plot.savefig("plot.pdf")
print(open("plot.png", "rb").read(4))
END"""), "b'\\x89PNG'\n")


def test_libreoffice_converts():
    with cells.running() as s:
        found = run_program(s, "soffice", """printf 'a,b\n1,2\n' >t.csv &&
            soffice --headless --convert-to xlsx t.csv >/dev/null &&
            soffice --headless --convert-to pdf t.xlsx >/dev/null && head -c 4 t.pdf""")
        tap.equal(found, "%PDF")


def test_chromium_takes_a_screenshot():
    with cells.running() as s:
        found = run_program(s, "chromium", """echo '<h1>hello</h1>' >a.html &&
            chromium --headless --no-sandbox --disable-gpu --screenshot=a.png a.html 2>err ||
            { cat err; exit 1; }
            head -c 4 a.png | tail -c 3""")
        tap.equal(found, "PNG")


def test_secrets_of_the_host_stay_there():
    with cells.running() as s:
        s.create(name="one")
        with open("/etc/machine-id") as f:
            identity = f.read().strip()
        done = s.run("one", "cat /etc/machine-id 2>&1; sudo cut -d: -f2 /etc/shadow | sort -u;"
                            " ls -d /etc/tidepool /etc/ssl/private /etc/crontab 2>/dev/null")
        assert not identity or identity not in done["output"], done
        tap.equal(done["output"].splitlines()[-1], "*")


tap.main(globals())
