# SPDX-License-Identifier: MIT
"""The escape suite, as it was built, against the kernel and the systemd of this machine."""

import os

import guest

guest.installed()
BUILD = "/opt/run/checkout/build/"
PROGRAM = BUILD + "tests/escape/test_escape"
os.execve(PROGRAM, [PROGRAM],
          {**os.environ, "TIDEPOOL_ENVD": "/usr/lib/tidepool/tidepool-envd",
           "TIDEPOOL_PROBE": BUILD + "tests/escape/probe"})
