# SPDX-License-Identifier: MIT
"""Machines that lack something, by mount namespaces: a program that runs the service, or one of its
verbs, where it is not to be found.

    with lacking.program(lacking.MKFS) as path:
        subprocess.run([path, "doctor"])
"""

import contextlib
import os
import stat
import tempfile

import service

# Version 1 has a mount for each controller, version 2 one for all.
CPU = "umount /sys/fs/cgroup/cpu 2>/dev/null || umount /sys/fs/cgroup/cpu,cpuacct 2>/dev/null || " \
      "umount -R /sys/fs/cgroup"
GROUPS = "umount -R /sys/fs/cgroup"
MKFS = "mount --bind /dev/null /usr/sbin/mkfs.ext4"


@contextlib.contextmanager
def program(lack):
    """A script that runs the program where LACK has been done, in a mount namespace."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "tidepool")
        with open(path, "w") as f:
            f.write("#!/bin/sh\nexec unshare --mount --propagation private sh -c '{ %s; } && "
                    "exec \"$0\" \"$@\"' '%s' \"$@\"\n" % (lack, os.path.abspath(service.PROGRAM)))
        os.chmod(path, stat.S_IRWXU)
        yield path


@contextlib.contextmanager
def everywhere(lack):
    """All services that are started meanwhile."""
    whole = service.PROGRAM
    with program(lack) as path:
        service.PROGRAM = path
        try:
            yield
        finally:
            service.PROGRAM = whole
