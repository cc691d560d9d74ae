# SPDX-License-Identifier: MIT
"""What is left of successes and errors when the other tests have theirs: see test_counts.py."""

import contextlib
import json
import os
import shutil
import tempfile

import local_tools
import tap


@contextlib.contextmanager
def workspace():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            yield tools
    finally:
        shutil.rmtree(root)


def write(tools, name, data):
    path = os.path.join(tools.root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(data)


def test_filesystem():
    with workspace() as tools:
        tap.equal(tools.text("filesystem", "create_directory", {"path": "new"}),
                  "Successfully created directory new")
        tap.equal(os.path.isdir(os.path.join(tools.root, "new")), True)
        tap.contains(tools.failure("filesystem", "read_file", {"path": "nope"}), "ENOENT")
        tap.contains(tools.text("filesystem", "read_multiple_files", {"paths": ["nope"]}),
                     "nope: Error - ENOENT")


MEMORY = {
    "create_entities": {"entities": [{"name": "A", "entityType": "t", "observations": []}]},
    "create_relations": {"relations": [{"from": "A", "to": "B", "relationType": "r"}]},
    "add_observations": {"observations": [{"entityName": "A", "contents": ["x"]}]},
    "delete_entities": {"entityNames": ["A"]},
    "delete_observations": {"deletions": [{"entityName": "A", "observations": ["x"]}]},
    "delete_relations": {"relations": [{"from": "A", "to": "B", "relationType": "r"}]},
    "read_graph": {}, "search_nodes": {"query": "x"}, "open_nodes": {"names": ["A"]}}


def test_memory_without_its_file():
    for benchmark, name in ((None, "memory.json"), ("Toolathlon", "memory/memory.json"),
                            ("MCP_Atlas", "repos/memory_mcp_server/memories-for-mcp.json")):
        with workspace() as tools:
            os.makedirs(os.path.join(tools.root, name))
            for tool, arguments in MEMORY.items():
                tap.contains(tools.failure("localmemory", tool, arguments, benchmark=benchmark),
                             "EISDIR")


def test_desktop_commander():
    with workspace() as tools:
        for key, value in (("", 1), ("k" * 101, 1), ("big", "x" * (1 << 20))):
            tap.contains(tools.failure("desktop-commander", "set_config_value",
                                       {"key": key, "value": value}), "Error: ")
        tap.contains(tools.failure("desktop-commander", "get_file_info", {"path": "nope"}),
                     "ENOENT")
        tap.contains(tools.text("desktop-commander", "read_multiple_files", {"paths": ["nope"]}),
                     "nope: Error - ")
        write(tools, "a.txt", "x")
        tap.contains(tools.failure("desktop-commander", "create_directory",
                                   {"path": "a.txt/sub"}), "ENOTDIR")


def execute(tools, tool, **arguments):
    return json.loads(tools.text("code-executor", tool, arguments, benchmark="MCP_Atlas"))


def test_code_executor():
    with workspace() as tools:
        write(tools, "repos", "a file where a folder should be")
        got = execute(tools, "initialize_code_file", content="x")
        tap.equal(got["status"], "error", got)
        os.unlink(os.path.join(tools.root, "repos"))
        # The nearest module of that name is asked to install.
        for folder in ("", "repos/mcp_code_executor_workspace/"):
            write(tools, folder + "pip/__init__.py", "")
            write(tools, folder + "pip/__main__.py",
                  "import sys\nprint('Successfully installed', *sys.argv[3:])\n")
        got = execute(tools, "install_dependencies", packages=["tides", "moons"])
        tap.equal(got["status"], "success", got)
        tap.contains(json.dumps(got), "Successfully installed tides moons")
        got = execute(tools, "check_installed_packages", packages=["json"])
        tap.equal((got["status"], got["all_installed"]), ("success", True), got)


tap.main(globals())
