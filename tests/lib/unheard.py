# SPDX-License-Identifier: MIT
"""A kernel without a file system: a supervisor answers for it when a process mounts or opens one
of that name, and lets everything else through.

    with unheard.of("overlay") as preexec:
        subprocess.run([...], preexec_fn=preexec)
"""

import array
import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import threading

# mount(2), its argument with the type; fsopen(2).
CALLS = {"x86_64": {165: 2, 430: 0}, "aarch64": {40: 2, 430: 0}}[platform.machine()]
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]
SET_MODE_FILTER, NEW_LISTENER = 1, 8
RET_ALLOW, RET_USER_NOTIF = 0x7fff0000, 0x7fc00000
NOTIF_RECV, NOTIF_SEND = 0xc0502100, 0xc0182101
GO_ON = 1


def rules():
    """BPF: the calls of the table go to the supervisor."""
    code = [(0x20, 0, 0, 0)]  # the number of the call
    for i, number in enumerate(CALLS):
        code.append((0x15, len(CALLS) - i, 0, number))
    code += [(0x06, 0, 0, RET_ALLOW), (0x06, 0, 0, RET_USER_NOTIF)]
    return b"".join(struct.pack("=HBBI", *x) for x in code), len(code)


def text_at(pid, address):
    if address == 0:
        return ""
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as f:
        f.seek(address)
        return f.read(32).split(b"\0")[0].decode("latin-1")


def answer(fd, name):
    """One call; False when nobody is left who could make one."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    if not any(events & select.POLLIN for _, events in poll.poll()):
        return False
    asked = bytearray(80)
    try:
        fcntl.ioctl(fd, NOTIF_RECV, asked)
        cookie, pid, _, number = struct.unpack_from("=QIIi", asked)
        argument = struct.unpack_from("=6Q", asked, 32)[CALLS[number]]
        is_it = text_at(pid, argument) == name
        fcntl.ioctl(fd, NOTIF_SEND, bytearray(struct.pack(
            "=QqiI", cookie, 0, -errno.ENODEV if is_it else 0, 0 if is_it else GO_ON)))
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ESRCH):  # it was killed meanwhile
            raise
    return True


def supervise(ours, name):
    data, more, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
    if not data:
        return
    fd = array.array("i", more[0][2])[0]
    while answer(fd, name):
        pass
    os.close(fd)


@contextlib.contextmanager
def of(name):
    """What has to be called in a child before it becomes the program."""
    libc = ctypes.CDLL(None, use_errno=True)
    code, n = rules()
    text = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", n, ctypes.addressof(text))
    ours, theirs = socket.socketpair()

    def preexec():
        fd = libc.syscall(SYS_SECCOMP, SET_MODE_FILTER, NEW_LISTENER, program)
        if fd < 0:
            os._exit(126)
        theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])

    thread = threading.Thread(target=supervise, args=(ours, name))
    thread.start()
    try:
        yield preexec
    finally:
        theirs.close()
        thread.join()
        ours.close()
