# SPDX-License-Identifier: MIT
"""The network policy: the tests of egress, with the installed program in this machine."""

import os
import sys

import guest

guest.installed()
TEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cells", "test_egress.py")
os.execve(sys.executable, [sys.executable, "-u", TEST],
          {**os.environ, "TIDEPOOL": "/usr/bin/tidepool",
           "TIDEPOOL_ENVD": "/usr/lib/tidepool/tidepool-envd"})
