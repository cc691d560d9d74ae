#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packages are installed in a sandbox as on any machine, from sources on its loopback, and stay
there: dpkg, apt, pip, npm and gem, by the default user."""

import contextlib
import io
import os
import shutil
import subprocess
import zipfile
from base64 import b64encode

import cells
import tap

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# A package as many are: a program, a configuration file, a user of its own, and scripts that want
# to start something.
DEB = r"""
set -e
cd /tmp && mkdir -p p/DEBIAN p/usr/bin p/etc/hello-cell repo
cat >p/DEBIAN/control <<END
Package: hello-cell
Version: 1.0
Architecture: all
Maintainer: Jane Doe <jane@example.org>
Depends: adduser
Description: greets
END
echo /etc/hello-cell/conf >p/DEBIAN/conffiles
echo greeting=hello >p/etc/hello-cell/conf
cat >p/DEBIAN/postinst <<'END'
#!/bin/sh
set -e
adduser --system --group --quiet --no-create-home --home /nonexistent _hello
mkdir -p /var/lib/hello && chown _hello:_hello /var/lib/hello
ldconfig
if [ -x /usr/sbin/invoke-rc.d ]; then invoke-rc.d hello-cell start || true; fi
END
printf '#!/bin/sh\n. /etc/hello-cell/conf; echo $greeting from a package\n' >p/usr/bin/hello-cell
cp /usr/bin/id p/usr/bin/hello-id
chmod 755 p/DEBIAN/postinst p/usr/bin/hello-cell
chmod 4755 p/usr/bin/hello-id
dpkg-deb --root-owner-group -b p repo/hello-cell_1.0_all.deb >/dev/null
cd repo && { dpkg-deb -f hello-cell_1.0_all.deb
  echo "Filename: ./hello-cell_1.0_all.deb"
  echo "Size: $(stat -c %s hello-cell_1.0_all.deb)"
  echo "SHA256: $(sha256sum hello-cell_1.0_all.deb | cut -d' ' -f1)"; echo; } >Packages
"""

SERVE = """
import functools, http.server, os, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[1] + ".port", "w") as f:
    f.write(str(server.server_port))
if os.fork() == 0:
    os.setsid()
    for fd in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), fd)
    server.serve_forever()
"""


class Cell:
    """A sandbox that commands have to succeed in."""

    def __init__(self, service, name):
        self.service, self.name = service, name
        service.create(name=name)

    def run(self, command):
        done = self.service.run(self.name, command, timeout=100)
        assert done["exitCode"] == 0, "%s\n%s%s" % (command, done["output"], done["errorOutput"])
        return done["output"]

    def put(self, path, data):
        self.run("mkdir -p $(dirname %s) && echo %s | base64 -d >%s"
                 % (path, b64encode(data).decode(), path))

    def serve(self, path):
        """The address of an HTTP server inside that has the files below PATH."""
        self.put("/tmp/serve.py", SERVE.encode())
        self.run("python3 /tmp/serve.py " + path)
        return "http://127.0.0.1:" + self.run("cat %s.port" % path)


@contextlib.contextmanager
def running(*needed):
    for program in needed:
        if not shutil.which(program, path=PATH):
            raise tap.Skip("this host has no " + program)
    with cells.running() as s:
        yield Cell(s, "one")


def wheel():
    file = io.BytesIO()
    info = "hello_wheel-1.0.dist-info/"
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("hello_wheel.py", "def main():\n    print('hello from a wheel')\n")
        z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: hello-wheel\nVersion: 1.0\n")
        z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\n"
                                   "Tag: py3-none-any\n")
        z.writestr(info + "entry_points.txt",
                   "[console_scripts]\nhello-wheel = hello_wheel:main\n")
        z.writestr(info + "RECORD", "")
    return file.getvalue()


def test_dpkg_knows_the_hosts_packages():
    with running("dpkg") as c:
        here = subprocess.run(["dpkg", "-s", "libc6"], stdout=subprocess.PIPE, text=True).stdout
        tap.equal(c.run("dpkg -s libc6"), here)
        tap.equal(c.run("dpkg --audit"), "")
        c.run("sudo apt-get check")


def test_a_file_of_a_package():
    with running("sudo", "apt-get") as c:
        c.run(DEB)
        c.run("cd /tmp/repo && sudo apt-get install -y ./hello-cell_1.0_all.deb")
        tap.equal(c.run("hello-cell"), "hello from a package\n")
        tap.contains(c.run("hello-id"), "euid=0(root)")
        tap.equal(c.run("stat -c %U /var/lib/hello"), "_hello\n")
        tap.contains(c.run("dpkg -s hello-cell"), "Status: install ok installed")
        # What was changed is kept, and nobody is asked.
        c.run("echo greeting=moin | sudo tee /etc/hello-cell/conf; cd /tmp"
              " && echo greeting=servus >p/etc/hello-cell/conf"
              " && sed -i s/1.0/1.1/ p/DEBIAN/control && dpkg-deb --root-owner-group -b p . &&"
              " sudo dpkg -i hello-cell_1.1_all.deb </dev/null")
        tap.equal(c.run("hello-cell"), "moin from a package\n")
        c.run("sudo apt-get purge -y hello-cell && ! test -e /usr/bin/hello-cell")


def test_a_repository():
    with running("sudo", "apt-get") as c:
        c.run(DEB)
        url = c.serve("/tmp/repo")
        c.run("sudo rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*")
        c.run("echo 'deb [trusted=yes] %s ./' | sudo tee /etc/apt/sources.list.d/local.list" % url)
        # Downloads are done by a user without rights.
        tap.equal(c.run("apt-config dump APT::Sandbox::User"), 'APT::Sandbox::User "_apt";\n')
        c.run("sudo apt-get update")
        c.run("sudo apt-get install -y hello-cell")
        tap.equal(c.run("hello-cell"), "hello from a package\n")
        # Neither the host nor another sandbox has it.
        assert not os.path.exists("/usr/bin/hello-cell")
        here = subprocess.run(["dpkg", "-s", "hello-cell"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        tap.equal(here.returncode, 1)
        other = Cell(c.service, "two")
        other.run("! dpkg -s hello-cell 2>/dev/null && ! which hello-cell")


def test_pip():
    with running("pip3") as c:
        c.put("/tmp/index/hello-wheel/hello_wheel-1.0-py3-none-any.whl", wheel())
        c.run("rm -f /tmp/index/*.port")
        pip = "pip install --no-cache-dir --disable-pip-version-check -i %s/ hello-wheel" \
            % c.serve("/tmp/index")
        hello = "hello from a wheel\n"
        c.run(pip)
        tap.equal(c.run("hello-wheel"), hello)
        tap.equal(c.run("which hello-wheel"), "/usr/local/bin/hello-wheel\n")
        c.run("pip uninstall -y hello-wheel && ! which hello-wheel")
        c.run(pip + " --user")
        tap.equal(c.run("hello-wheel; which hello-wheel"),
                  hello + c.run("echo ~/.local/bin/hello-wheel"))
        c.run("pip uninstall -y hello-wheel")
        c.run("sudo " + pip)
        tap.equal(c.run("hello-wheel"), hello)
        c.run("sudo pip uninstall -y hello-wheel")
        if c.service.run("one", "python3 -c 'import ensurepip'")["exitCode"] != 0:
            print("# this host has no python3-venv")
            return
        c.run("python3 -m venv ~/venv && ~/venv/bin/" + pip)
        tap.equal(c.run("~/venv/bin/hello-wheel"), hello)


def test_npm():
    with running("npm", "sudo") as c:
        c.run("""mkdir -p /tmp/n && cd /tmp/n && cat >package.json <<END
            {"name": "hello-npm", "version": "1.0.0", "bin": {"hello-npm": "hello.js"}}
END
            printf '#!/usr/bin/env node\\nconsole.log("hello from npm")\\n' >hello.js
            chmod 755 hello.js
            mkdir -p /tmp/registry && npm pack --silent --pack-destination /tmp/registry""")
        url = c.serve("/tmp/registry")
        c.run("""cat >/tmp/registry/hello-npm <<END
            {"name": "hello-npm", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
              "name": "hello-npm", "version": "1.0.0", "bin": {"hello-npm": "hello.js"},
              "dist": {"tarball": "%s/hello-npm-1.0.0.tgz"}}}}
END""" % url)
        npm = "npm install --silent --registry %s hello-npm" % url
        c.run("sudo %s -g" % npm)
        tap.equal(c.run("hello-npm"), "hello from npm\n")
        # Where Debian's own npm would put it anyway, nobody needs to be root.
        c.run("sudo npm uninstall -g hello-npm; %s -g --prefix /usr/local" % npm)
        tap.equal(c.run("which hello-npm && hello-npm"),
                  "/usr/local/bin/hello-npm\nhello from npm\n")
        c.run("mkdir ~/project && cd ~/project && %s && npx --no-install hello-npm" % npm)


def test_gem():
    with running("gem", "sudo") as c:
        c.run("""mkdir -p /tmp/g/lib && cd /tmp/g && cat >hello.gemspec <<'END'
Gem::Specification.new do |s|
  s.name, s.version, s.summary, s.authors = "hello-gem", "1.0", "greets", ["Jane"]
  s.files = ["lib/hello_gem.rb"]
end
END
            echo 'puts "hello from a gem"' >lib/hello_gem.rb
            gem build -q hello.gemspec 2>/dev/null""")
        c.run("cd /tmp/g && sudo gem install --local --no-document hello-gem-1.0.gem")
        tap.equal(c.run("ruby -e 'require \"hello_gem\"'"), "hello from a gem\n")
        c.run("sudo gem uninstall -x hello-gem && cd /tmp/g"
              " && gem install --local --no-document --user-install hello-gem-1.0.gem")
        tap.equal(c.run("ruby -e 'require \"hello_gem\"'"), "hello from a gem\n")


def test_an_authority_of_ones_own():
    """What `update-ca-certificates` is told, programs believe."""
    with running("update-ca-certificates", "curl", "openssl") as c:
        c.run("""mkdir -p /tmp/ca && cd /tmp/ca && exec 2>&1
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \\
                -keyout ca.key -out ca.crt
            openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout s.key -out s.csr
            printf 'subjectAltName=DNS:localhost' >ext
            openssl x509 -req -in s.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \\
                -extfile ext -out s.crt
            """)
        c.put("/tmp/tls.py", b"""
import http.server, os, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/tmp/ca/s.crt", "/tmp/ca/s.key")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
if os.fork() == 0:
    os.setsid()
    for fd in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), fd)
    server.serve_forever()
""")
        port = c.run("cd /tmp/ca && python3 /tmp/tls.py").strip()
        fetch = "curl -sS https://localhost:%s/ext" % port
        done = c.service.run("one", fetch)
        tap.equal(done["exitCode"], 60, "curl on an unknown authority")
        c.run("sudo cp /tmp/ca/ca.crt /usr/local/share/ca-certificates/ca.crt"
              " && sudo update-ca-certificates")
        tap.equal(c.run(fetch), "subjectAltName=DNS:localhost")
        tap.equal(c.run("python3 -c 'import urllib.request as u;"
                        " print(u.urlopen(\"https://localhost:%s/ext\").status)'" % port), "200\n")


tap.main(globals())
