# SPDX-License-Identifier: MIT
"""Runs inside of the machine: does what tools/vm asks for over a virtio port, one thing at a time.

A line from the host is a JSON object, and so is each line of the answer:

    {"op": "hello"}                                         {"boot": ID}
    {"op": "run", "argv": […], "stdin": BASE64, "timeout": S}  {"out": TEXT} …, {"exit": STATUS}

STATUS is negative for a signal, and null when the time was up: then all that the command started
in its session was killed.
"""

import base64
import json
import os
import select
import signal
import subprocess
import tempfile
import time

PORT = "/dev/virtio-ports/vm-tests"


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as f:
        return f.read().strip()


def send(port, **message):
    data = (json.dumps(message) + "\n").encode()
    while data:
        data = data[os.write(port, data):]


def run(port, message):
    with tempfile.TemporaryFile() as stdin:
        stdin.write(base64.b64decode(message.get("stdin", "")))
        stdin.seek(0)
        env = dict(os.environ, HOME="/root", PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                   "/usr/bin:/sbin:/bin", LANG="C.UTF-8", **message.get("env", {}))
        try:
            child = subprocess.Popen(message["argv"], stdin=stdin, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, start_new_session=True, env=env,
                                     cwd="/root")
        except OSError as e:
            send(port, out="%s\n" % e)
            send(port, exit=127)
            return
    follow(port, child, time.monotonic() + message.get("timeout", 600))


def follow(port, child, end):
    """Passes the output on until the command is done; what it left running may keep the pipe."""
    pipe = child.stdout.fileno()
    os.set_blocking(pipe, False)
    is_late = False
    while True:
        is_done = child.poll() is not None
        select.select([pipe], [], [], 0 if is_done else 0.1)
        try:
            data = os.read(pipe, 65536)
        except BlockingIOError:
            data = None
        if data:
            send(port, out=data.decode(errors="replace"))
        elif is_done:
            break
        elif data == b"":
            time.sleep(0.02)
        if not is_done and time.monotonic() > end:
            is_late = True
            os.killpg(child.pid, signal.SIGKILL)
    child.stdout.close()
    send(port, exit=None if is_late else child.returncode)


def main():
    # One open for both directions; a reboot of the machine is all that ends it.
    port = os.open(PORT, os.O_RDWR)
    rest = b""
    while True:
        data = os.read(port, 65536)
        if not data:
            time.sleep(0.1)  # nobody is connected on the other side
            continue
        rest += data
        while b"\n" in rest:
            line, _, rest = rest.partition(b"\n")
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the rest of something that was sent before we were there
            if message["op"] == "hello":
                send(port, boot=boot_id())
            elif message["op"] == "run":
                run(port, message)


if __name__ == "__main__":
    main()
