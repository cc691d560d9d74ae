# SPDX-License-Identifier: MIT
"""The Python driver of the code interpreter, run behind charts.py in one program.

It imports IPython once and then forks a process for each context, so that a context starts in
milliseconds. Its descriptor 3 is a socket: each message is a wish for a process, with the four
descriptors that it gets (requests, output, errors, messages), and is answered by its pid.

A process reads requests: a line "NAME LENGTH", then that many bytes. See interpreter/frame.h for
them, and interpreter/kernel.h for the messages that it writes, one JSON object a line.
"""

import array
import builtins
import gc
import importlib.abc
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import traceback

# What IPython would import for completion only, which is not offered here.
sys.modules["jedi"] = None
try:
    from IPython.core import page
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.error import StdinNotImplementedError
    from IPython.core.formatters import BaseFormatter
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import ObjectName, Type, Unicode
    from traitlets.config import Config
except ImportError as e:
    socket.socket(fileno=3).send(("!IPython cannot be imported (%s): apt install "
                                  "python3-ipython" % e).encode())
    sys.exit(1)
del sys.modules["jedi"]

MAX_MESSAGE = 32 << 20
MAX_ROWS = 100_000
IMAGES = ("image/png", "image/jpeg", "application/pdf")


# ---- messages ----


def jsonable(value, depth=0):
    """VALUE without what JSON cannot say: NaN, other keys than text, objects of all kinds."""
    if depth > 60:
        return None
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) \
            and type(value).__module__ == "numpy":
        value = value.item() if getattr(value, "ndim", 0) == 0 else value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, int) or abs(value) < 1 << 63 else float(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {str(k): jsonable(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [jsonable(v, depth + 1) for v in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class Wire:
    """Where messages go; set when a process becomes a context."""

    fd = -1

    def send(self, message):
        text = json.dumps(message, ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "replace")
        if len(data) > MAX_MESSAGE:
            data = json.dumps({"type": "error", "name": "ResultTooLarge", "traceback": "",
                               "value": "the result has %d bytes; at most %d can be shown"
                               % (len(data), MAX_MESSAGE)}).encode()
        data += b"\n"
        while data:
            data = data[os.write(self.fd, data):]

    def result(self, bundle, is_main):
        sys.stdout.flush()
        sys.stderr.flush()
        self.send({"type": "result", "main": is_main, "data": jsonable_bundle(bundle)})


def jsonable_bundle(bundle):
    import base64

    out = {}
    for mime, value in bundle.items():
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode()
        out[mime] = value.rstrip("\n") if isinstance(value, str) and mime in IMAGES \
            else value if isinstance(value, str) else jsonable(value)
    return out


wire = Wire()


# ---- IPython ----


class Hook(DisplayHook):
    """The value of the last expression."""

    bundle = None

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self.bundle = format_dict

    def finish_displayhook(self):
        if self.bundle:
            wire.result(self.bundle, True)
        self.bundle = None


class Publisher(DisplayPublisher):
    """What display() shows."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_):
        if not update:
            wire.result(data, False)

    def clear_output(self, wait=False):
        pass


class Shell(InteractiveShell):
    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)
    is_over = False

    def _showtraceback(self, etype, evalue, stb):
        sys.stdout.flush()
        sys.stderr.flush()
        wire.send({"type": "error", "name": etype.__name__, "value": str(evalue),
                   "traceback": "".join(stb)})

    def enable_gui(self, gui=None):
        pass

    def ask_exit(self):
        self.is_over = True

    def init_virtualenv(self):
        pass

    def system(self, cmd):
        """!command: without a terminal in between."""
        sys.stdout.flush()
        shell = "/bin/bash" if os.path.exists("/bin/bash") else None
        code = subprocess.call(self.var_expand(cmd, depth=1), shell=True, executable=shell)
        self.user_ns["_exit_code"] = code


class DataFormatter(BaseFormatter):
    format_type = Unicode("e2b/data")
    print_method = ObjectName("_e2b_data_")
    _return_type = dict


class ChartFormatter(BaseFormatter):
    format_type = Unicode("e2b/chart")
    print_method = ObjectName("_e2b_chart_")
    _return_type = dict

    def pop(self, typ, default=None):
        """Stays when matplotlib's own formats are chosen, for which all formatters are asked."""
        return default


def frame_data(frame):
    return jsonable(frame.head(MAX_ROWS).to_dict(orient="list"))


def chart_data(figure):
    try:
        return jsonable(chart_of_figure(figure))  # noqa: F821 (charts.py)
    except Exception:  # the picture is shown all the same
        return {}


def json_data(value):
    """As it is shown by clients: expanded."""
    return jsonable(value), {"expanded": True}


def add_formatters(shell):
    formatters = shell.display_formatter.formatters
    data = DataFormatter(parent=shell.display_formatter)
    data.for_type_by_name("pandas.core.frame", "DataFrame", frame_data)
    chart = ChartFormatter(parent=shell.display_formatter)
    chart.for_type_by_name("matplotlib.figure", "Figure", chart_data)
    formatters["e2b/data"] = data
    formatters["e2b/chart"] = chart
    for kind in (list, dict):
        formatters["application/json"].for_type(kind, json_data)


# ---- pictures of PIL: shown instead of opened in a viewer ----


def patch_pil(module):
    from IPython.display import display

    save = module.Image.save

    def save_and_show(self, fp, *args, **kwargs):
        if isinstance(fp, (str, os.PathLike)):
            display(self)
        return save(self, fp, *args, **kwargs)

    module.Image.save = save_and_show
    module.Image.show = lambda self, *args, **kwargs: display(self)


class PatchPil(importlib.abc.MetaPathFinder):
    """Changes PIL.Image when it is imported."""

    def find_spec(self, name, path, target=None):
        if name != "PIL.Image":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            patch_pil(module)

        spec.loader.exec_module = exec_module
        return spec


# ---- the shell ----


def refuse_input(prompt=""):
    raise StdinNotImplementedError("input() cannot be used here: nobody can answer")


def make_shell():
    c = Config()
    c.InteractiveShell.colors = "NoColor"
    c.InteractiveShell.banner1 = ""
    c.PlainTextFormatter.max_seq_length = 0
    c.HistoryManager.enabled = False
    c.Completer.use_jedi = False
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    shell = Shell.instance(config=c)
    shell.set_hook("show_in_pager", page.as_hook(page.display_page), 99)
    builtins.input = refuse_input
    add_formatters(shell)
    sys.meta_path.insert(0, PatchPil())
    # What the first cell would otherwise wait for.
    shell.run_cell("1", store_history=False, silent=True)
    shell.execution_count = 1
    return shell


# ---- a context ----


class Context:
    def __init__(self, shell, requests):
        self.shell = shell
        self.requests = os.fdopen(requests, "rb")
        self.is_running = False
        signal.signal(signal.SIGINT, self.on_interrupt)

    def on_interrupt(self, signum, frame):
        if self.is_running:
            raise KeyboardInterrupt

    def execute(self, payload):
        try:
            self.is_running = True
            self.shell.run_cell(payload.decode("utf-8", "replace"), store_history=True)
            self.is_running = False
        except KeyboardInterrupt:
            self.is_running = False
            wire.send({"type": "error", "name": "KeyboardInterrupt", "value": "",
                       "traceback": ""})
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                pass  # closed by the code
        if self.shell.is_over:  # exit(): the state goes, the process stays
            self.shell.reset()
            self.shell.is_over = False
        wire.send({"type": "done"})

    def env(self, payload):
        name, equals, value = payload.partition(b"=")
        if equals:
            os.environb[name] = value
        else:
            os.environb.pop(name, None)

    def cwd(self, payload):
        try:
            os.chdir(payload)
        except OSError:
            pass  # the server has checked it

    def serve(self):
        acts = {b"execute": self.execute, b"env": self.env, b"cwd": self.cwd}
        while True:
            head = self.requests.readline().split()
            if len(head) != 2:
                os._exit(0)
            payload = self.requests.read(int(head[1]))
            acts[head[0]](payload)


def become_context(shell, fds):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    requests, out, err, messages = fds
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for source, target in ((out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)
    wire.fd = messages
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = open(fd, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)
    wire.send({"type": "ready"})
    Context(shell, requests).serve()


def receive_wish(control):
    data, parts, _, _ = control.recvmsg(16, socket.CMSG_SPACE(4 * 4))
    fds = array.array("i")
    for level, kind, content in parts:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
    return data, list(fds)


def main():
    os.set_inheritable(3, False)
    control = socket.socket(fileno=3)
    shell = make_shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    while True:
        data, fds = receive_wish(control)
        if not data:
            return
        pid = os.fork() if len(fds) == 4 else 0
        if pid == 0:
            try:
                control.close()
                become_context(shell, fds)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        for fd in fds:
            os.close(fd)
        try:
            control.send(b"%d" % pid)
        except OSError:
            return  # nobody serves any more


main()
