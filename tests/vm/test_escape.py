# SPDX-License-Identifier: MIT
"""The escape suite, as it was built, against the kernel and the systemd of this machine."""

import os
import subprocess
import sys
import tempfile

import guest

BUILD = "/opt/run/escape/"
ENV = {"TIDEPOOL_ENVD": "/usr/lib/tidepool/tidepool-envd",
       "TIDEPOOL_PROBE": BUILD + "probe"}
ORDINARY = 1000  # a user of the machine without rights
ATTRIBUTE = "files: security attribute"


def anybody_sets_security_attributes():
    """Linux before 6.10 leaves the check out where the LSM of BPF is on: that is no way out of a
    sandbox, as every user outside may do the same."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, ORDINARY, ORDINARY)
        done = subprocess.run(
            [sys.executable, "-c", "import os, sys; open(sys.argv[1], 'w').close();"
             "os.setxattr(sys.argv[1], 'security.probe', b'x')", folder + "/file"],
            user=ORDINARY, group=ORDINARY, extra_groups=[], stderr=subprocess.DEVNULL)
    return done.returncode == 0


def main():
    guest.installed()
    is_known = anybody_sets_security_attributes()
    suite = subprocess.Popen([BUILD + "test_escape"], stdout=subprocess.PIPE,
                             text=True, env={**os.environ, **ENV})
    n_failed = n_known = 0
    for line in suite.stdout:
        line = line.rstrip("\n")
        if is_known and line.startswith("not ok") and line.endswith(ATTRIBUTE):
            line = line[4:] + " # SKIP this kernel lets every user set them"
            n_known += 1
        n_failed += line.startswith("not ok")
        print(line)
    status = suite.wait()
    sys.exit(1 if n_failed or (status != 0 and not n_known) else 0)


main()
