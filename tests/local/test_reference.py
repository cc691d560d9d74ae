# SPDX-License-Identifier: MIT
"""The tools of a workspace beside npm's own servers: the same calls on the same files give the same
texts. What is different on purpose is listed here, with the reason."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import clients
import local_tools
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
PINS = clients.Pins(HERE, "npm-local", oldest=(20, 0, 0), version="20.20.2")
SERVERS = {
    "filesystem": "@modelcontextprotocol/server-filesystem/dist/index.js",
    "memory": "@modelcontextprotocol/server-memory/dist/index.js",
    "desktop-commander": "@wonderwhy-er/desktop-commander/dist/index.js",
}


class Theirs:
    """One of npm's servers, spoken to over its pipes."""

    def __init__(self, name, root, *arguments):
        self.root, self.number = root, 0
        program = os.path.join(PINS.install(), SERVERS[name])
        environment = dict(os.environ, MEMORY_FILE_PATH=os.path.join(root, "memory.json"), TZ="UTC",
                           HOME=os.path.dirname(root))
        self.process = subprocess.Popen(
            [*PINS.node(program), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment, cwd=root)
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "reference", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the reference server ended")
            message = json.loads(line)
            if message.get("id") == self.number:
                return message.get("result") or {"content": [], "isError": True}

    def call(self, _, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def make_files(root):
    """The same tree for both."""
    os.makedirs(os.path.join(root, "sub", "deep"))
    os.makedirs(os.path.join(root, ".hidden"))
    for name, data in {
            "a.txt": b"a\nb\nc\n", "b.txt": b"no newline", "B.txt": b"B\n", "empty": b"",
            "crlf.txt": b"one\r\ntwo\r\n", "sub/x.py": b"def f():\n    if a:\n        b()\n",
            "sub/deep/y.py": b"q\n", "p.png": b"\x89PNG\r\n", "s.wav": b"RIFF", "data.bin": b"\0\1",
            "long.txt": b"".join(b"line %d\n" % i for i in range(1, 41)),
            "kilo.bin": b"x" * 3000, "_under": b"u", "9lives": b"9",
            "umlaut \u00e4.txt": b"\xc3\xa4\n", "bad.txt": b"\xff\xfe ok\n"}.items():
        with open(os.path.join(root, name), "wb") as f:
            f.write(data)
    os.symlink("a.txt", os.path.join(root, "link"))
    os.symlink("/etc", os.path.join(root, "out"))


@contextlib.contextmanager
def pair(server, *arguments):
    folder = tempfile.mkdtemp()
    ours = theirs = None
    try:
        roots = [os.path.join(folder, x) for x in ("ours", "npms")]
        for root in roots:
            os.mkdir(root)
            make_files(root)
        ours = local_tools.Tools(roots[0])
        theirs = Theirs(server, roots[1], *(x.replace("$ROOT", roots[1]) for x in arguments))
        yield ours, theirs
    finally:
        for side in filter(None, (ours, theirs)):
            side.close()
        shutil.rmtree(folder)


def placed(value, root):
    """VALUE with $ROOT filled in, however deep."""
    return json.loads(json.dumps(value).replace("$ROOT", root))


def texts(answer, root):
    """What a client would show of an answer; the two roots are the same to it."""
    shown = json.dumps(answer.get("content"), ensure_ascii=False).replace(root, "$ROOT")
    return ("failed" if answer.get("isError") else "ok", json.loads(shown))


def compare(both, server, calls):
    n, different = 0, []
    for tool, arguments, *reason in calls:
        got, want = (texts(side.call(server, tool, placed(arguments, side.root)), side.root)
                     for side in both)
        what = "%s %s" % (tool, json.dumps(arguments))
        if reason:
            if got == want:
                raise AssertionError("%s: no longer different: %r" % (what, got))
            tap.equal(got[0], want[0], what)
            continue
        if got != want:
            different.append("%s:\n  got  %r\n  want %r" % (what, got, want))
        n += 1
    if different:
        raise AssertionError("\n".join(different))
    return n


def edit(old, new, path="$ROOT/sub/x.py", **more):
    return "edit_file", {"path": path, "edits": [{"oldText": old, "newText": new}], **more}


NO_TEMPORARY_NAME = "theirs tells the random name of its temporary file"

FILES = [
    *[("read_text_file", {"path": "$ROOT/" + name, **more}) for name, more in (
        ("a.txt", {}), ("a.txt", {"head": 1}), ("a.txt", {"head": 2}), ("a.txt", {"head": 9}),
        ("a.txt", {"tail": 1}), ("a.txt", {"tail": 2}), ("a.txt", {"tail": 9}),
        ("b.txt", {"tail": 3}), ("b.txt", {"head": 1}), ("empty", {}), ("empty", {"head": 3}),
        ("a.txt", {"head": 1, "tail": 1}), ("crlf.txt", {}), ("bad.txt", {}),
        ("umlaut \u00e4.txt", {}), ("link", {}), ("nope", {}), ("no/such/file", {}), ("sub", {}),
        ("out/passwd", {}), ("../escape", {}), ("./sub/../a.txt", {}), ("a.txt/x", {}),
        ("long.txt", {"head": 3}), ("long.txt", {"tail": 3}))],
    ("read_text_file", {"path": "/etc/passwd"}),
    ("read_text_file", {"path": "a.txt"}),
    ("read_text_file", {"path": ""}),
    ("read_file", {"path": "$ROOT/a.txt"}),
    ("read_media_file", {"path": "$ROOT/p.png"}),
    ("read_media_file", {"path": "$ROOT/s.wav"}),
    ("read_media_file", {"path": "$ROOT/data.bin"}),
    ("read_media_file", {"path": "$ROOT/nope.png"}),
    ("read_multiple_files", {"paths": ["$ROOT/a.txt", "$ROOT/nope", "/etc/passwd", "$ROOT/b.txt"]}),
    ("write_file", {"path": "$ROOT/new.txt", "content": "hello\n"}),
    ("write_file", {"path": "$ROOT/a.txt", "content": "over\n"}),
    ("read_text_file", {"path": "$ROOT/a.txt"}),
    ("write_file", {"path": "$ROOT/no/dir.txt", "content": "x"}),
    ("write_file", {"path": "$ROOT/sub", "content": "x"}, NO_TEMPORARY_NAME),
    ("write_file", {"path": "$ROOT/out/zzz", "content": "x"}),
    ("write_file", {"path": "$ROOT/a.txt", "content": "a\nb\nc\n"}),
    edit("b", "B\nB2", path="$ROOT/a.txt", dryRun=True),
    edit("zz", "B", path="$ROOT/a.txt"),
    edit("b", "b```", path="$ROOT/a.txt"),
    edit("  b```", "  b", path="$ROOT/a.txt"),
    edit("no", "yes", path="$ROOT/b.txt"),
    edit("if a:\n    b()", "if c:\n    d()\n    e()"),
    edit("two", "2", path="$ROOT/crlf.txt"),
    edit("line 20\n", "line twenty\n", path="$ROOT/long.txt"),
    edit("line 3\n", "", path="$ROOT/long.txt"),
    edit("x", "y", path="$ROOT/nope"),
    ("edit_file", {"path": "$ROOT/long.txt", "edits": [
        {"oldText": "line 2\n", "newText": "two\n"}, {"oldText": "line 39\n", "newText": "39\n"}]}),
    ("edit_file", {"path": "$ROOT/long.txt", "edits": []}),
    ("read_text_file", {"path": "$ROOT/long.txt"}),
    ("create_directory", {"path": "$ROOT/n1/n2"}),
    ("create_directory", {"path": "$ROOT/n1/n2"}),
    ("create_directory", {"path": "$ROOT/a.txt"}),
    ("create_directory", {"path": "/elsewhere"}),
    ("list_directory", {"path": "$ROOT"}),
    ("list_directory", {"path": "$ROOT/n1/n2"}),
    ("list_directory", {"path": "$ROOT/a.txt"}),
    ("list_directory", {"path": "$ROOT/nope"}),
    ("list_directory_with_sizes", {"path": "$ROOT"}),
    ("list_directory_with_sizes", {"path": "$ROOT", "sortBy": "size"}),
    ("list_directory_with_sizes", {"path": "$ROOT/n1/n2"}),
    ("directory_tree", {"path": "$ROOT"}),
    ("directory_tree", {"path": "$ROOT", "excludePatterns": ["sub", "*.txt"]}),
    ("directory_tree", {"path": "$ROOT", "excludePatterns": ["deep"]}),
    ("directory_tree", {"path": "$ROOT/a.txt"}),
    ("move_file", {"source": "$ROOT/new.txt", "destination": "$ROOT/sub/new.txt"}),
    ("move_file", {"source": "$ROOT/nope", "destination": "$ROOT/b2.txt"}),
    ("move_file", {"source": "$ROOT/sub", "destination": "$ROOT/sub2"}),
    ("move_file", {"source": "$ROOT/sub2", "destination": "/etc/sub2"}),
    *[("search_files", {"path": "$ROOT", "pattern": pattern, **more}) for pattern, more in (
        ("*.txt", {}), ("**/*.py", {}), ("**/*", {"excludePatterns": ["sub2"]}), ("sub2", {}),
        ("y.py", {}), ("zzz", {}), ("**/deep/**", {}), ("*.{txt,png}", {}), ("?.txt", {}),
        ("[ab].txt", {}), ("[!ab].*", {}), ("**/*", {"excludePatterns": ["**/*.py", "*.txt"]}),
        ("sub2/**", {}), ("**", {}))],
    ("search_files", {"path": "$ROOT/nope", "pattern": "*"}),
    ("get_file_info", {"path": "$ROOT/nope"}),
    ("list_allowed_directories", {}),
]


def test_filesystem_gives_the_same_texts():
    with pair("filesystem", "$ROOT") as both:
        n = compare(both, "filesystem", FILES)
    if n < 60:
        raise AssertionError("only %d calls were compared" % n)


def test_file_info_has_the_same_lines():
    """All but the times, which two files cannot share."""
    with pair("filesystem", "$ROOT") as both:
        for name in ("a.txt", "sub", "p.png"):
            shown = []
            for side in both:
                os.chmod(os.path.join(side.root, "p.png"), 0o600)
                answer = side.call("filesystem", "get_file_info",
                                   {"path": os.path.join(side.root, name)})
                shown.append(re.sub(r"\d\d:\d\d:\d\d", "TIME", answer["content"][0]["text"]))
            tap.equal(shown[0], shown[1], name)


def test_move_does_not_destroy():
    """Theirs says in its description that it fails, and overwrites."""
    with pair("filesystem", "$ROOT") as (ours, _):
        answer = ours.call("filesystem", "move_file", {"source": "a.txt", "destination": "b.txt"})
        tap.equal(texts(answer, ours.root),
                  ("failed", [{"type": "text", "text": "Destination already exists: b.txt"}]))
        tap.equal(sorted(set(os.listdir(ours.root)) & {"a.txt", "b.txt"}), ["a.txt", "b.txt"])


def test_wrong_requests_are_refused():
    with pair("filesystem", "$ROOT") as (ours, _):
        for method, path, body, status in (
                ("GET", "/filesystem/read_file", None, 405), ("POST", "/nope/x", "{}", 404),
                ("POST", "/filesystem/nope", "{}", 404), ("POST", "/filesystem", "{}", 404),
                ("POST", "/filesystem/read_file", "{", 400),
                ("POST", "/filesystem/filesystem_read_file", '{"args": []}', 400)):
            tap.equal(ours.request(method, path, body)[0], status, path)


NO_LOG_FILE = "theirs writes a log file and tells its name"


def block(old, new, path="$ROOT/long.txt", *reason, **more):
    return ("edit_block",
            {"file_path": path, "old_string": old, "new_string": new, **more}, *reason)


COMMANDER = [
    *[("read_file", {"path": "$ROOT/" + name, **more}) for name, more in (
        ("a.txt", {}), ("a.txt", {"offset": 1, "length": 1}), ("a.txt", {"offset": -2}),
        ("long.txt", {"length": 3}), ("long.txt", {"offset": 38}), ("nope", {}), ("p.png", {}),
        ("sub", {}), ("empty", {}), ("b.txt", {}), ("a.txt", {"offset": 10}))],
    ("read_file", {"path": "/etc/passwd"}),
    ("read_multiple_files", {"paths": ["$ROOT/a.txt", "$ROOT/nope", "$ROOT/b.txt"]}),
    ("write_file", {"path": "$ROOT/new.txt", "content": "x\ny\n"}),
    ("write_file", {"path": "$ROOT/new.txt", "content": "z", "mode": "append"}),
    ("write_file", {"path": "$ROOT/no/new.txt", "content": "x"}),
    ("write_file", {"path": "$ROOT/big.txt", "content": "l\n" * 60}),
    ("create_directory", {"path": "$ROOT/n1/n2"}),
    ("list_directory", {"path": "$ROOT"}),
    ("list_directory", {"path": "$ROOT/nope"}),
    ("move_file", {"source": "$ROOT/new.txt", "destination": "$ROOT/moved.txt"}),
    ("move_file", {"source": "$ROOT/nope", "destination": "$ROOT/q"}),
    ("search_files", {"path": "$ROOT", "pattern": "Y.P"}),
    ("search_files", {"path": "$ROOT", "pattern": "zzzz"}),
    ("search_files", {"path": "$ROOT/nope", "pattern": "x"}),
    ("search_code", {"path": "$ROOT", "pattern": "if a"}),
    ("search_code", {"path": "$ROOT", "pattern": "zzzz"}),
    block("line 7\n", "line seven\n"),
    block("line 1", "line one"),
    block("line 2", "zwei", expected_replacements=11),
    block("", "x"),
    block("zzz qqq", "x", "$ROOT/a.txt", NO_LOG_FILE),
    block("x", "y", "$ROOT/nope"),
    ("start_process", {"command": "sudo ls", "timeout_ms": 1000}),
    ("force_terminate", {"pid": 99999999}),
    ("interact_with_process", {"pid": 99999999, "input": "x"}),
    ("read_process_output", {"pid": 99999999}),
    ("kill_process", {"pid": 99999999}),
]


def test_desktop_commander_gives_the_same_texts():
    with pair("desktop-commander") as both:
        both[1].call("", "set_config_value", {"key": "telemetryEnabled", "value": False})
        for side in both:
            side.call("desktop-commander", "set_config_value",
                      {"key": "allowedDirectories", "value": [side.root]})
        compare(both, "desktop-commander", COMMANDER)


def entity(name, kind, *observations):
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(source, kind, target):
    return {"from": source, "to": target, "relationType": kind}


GRAPH = [
    ("read_graph", {}),
    ("create_entities", {"entities": [entity("Ada", "person", "writes", "\u00e4\"\n"),
                                      entity("Engine", "machine"),
                                      entity("Bob", "person", "reads")]}),
    ("create_entities", {"entities": [entity("Ada", "person", "again"), entity("New", "thing")]}),
    ("create_relations", {"relations": [relation("Ada", "built", "Engine"),
                                        relation("Bob", "knows", "Ada"),
                                        relation("Bob", "knows", "Nobody")]}),
    ("create_relations", {"relations": [relation("Ada", "built", "Engine")]}),
    ("add_observations", {"observations": [
        {"entityName": "Ada", "contents": ["writes", "thinks"]}]}),
    ("add_observations", {"observations": [{"entityName": "Zed", "contents": ["x"]}]}),
    ("search_nodes", {"query": "THINK"}),
    ("search_nodes", {"query": "person"}),
    ("search_nodes", {"query": "nothing at all"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Ada"]}),
    ("open_nodes", {"names": ["Ada", "Engine", "Nobody"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["writes"]},
                                           {"entityName": "Zed", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [relation("Bob", "knows", "Ada")]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Ada", "Zed"]}),
    ("read_graph", {}),
]


def test_memory_gives_the_same_texts_and_the_same_file():
    with pair("memory") as both:
        compare(both, "localmemory", GRAPH)
        files = []
        for side in both:
            with open(os.path.join(side.root, "memory.json"), "rb") as f:
                files.append(f.read())
        tap.equal(files[0], files[1], "memory.json")


tap.main(globals())
