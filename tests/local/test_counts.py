# SPDX-License-Identifier: MIT
"""The tools of local sandboxes, counted: what there is is what the products have, and each of them
is called by a test that it does and by one that it refuses."""

import json
import os
import re
import subprocess
import sys

import local_census
import local_sets
import tap

SOURCE = os.environ["TIDEPOOL_SOURCE"]
TESTS = os.path.join(SOURCE, "tests", "local")
# Without a benchmark, for MCP_Atlas, for Toolathlon.
COUNTS = {
    "filesystem": (14, 14, 12), "git": (12, 12, 11), "terminal": (2, 2, 2),
    "desktop-commander": (21, 21, 21), "arxiv": (4, 4, 4), "excel": (25, 25, 20),
    "word": (54, 54, 47), "powerpoint": (37, 37, 37), "code-executor": (9, 9, 9),
    "code-runner": (1, 1, 1), "pdf-tools": (3, 3, 9), "google_cloud": (39, 39, 39),
    "localmemory": (9, 9, 9), "poste_email_toolathlon": (25, 25, 25)}
# What cannot go wrong.
ONE_SIDED = {
    "filesystem": {"list_allowed_directories"}, "terminal": {"show_security_rules"},
    "code-executor": {"get_environment_config"},
    "powerpoint": {"get_server_info", "list_presentations", "list_slide_templates"},
    "desktop-commander": {"get_config", "get_usage_stats", "list_sessions", "list_processes",
                          "give_feedback_to_desktop_commander"}}


def documents():
    """Those servers whose tools are data in local/, by name."""
    for name in COUNTS:
        try:
            with open(os.path.join(SOURCE, "local", name + ".json"), encoding="utf-8") as f:
                yield name, json.load(f)
        except FileNotFoundError:
            pass


def opened(value):
    """Without "additionalProperties", however deep."""
    if isinstance(value, list):
        return [opened(x) for x in value]
    if not isinstance(value, dict):
        return value
    return {k: opened(v) for k, v in value.items() if k != "additionalProperties"}


def schema_of(tool, changes):
    other = changes.get("schemas", {}).get(tool["name"])
    if not other and changes.get("has_no_schemas"):
        return {"type": "object", "properties": {}}
    schema = json.loads(json.dumps(other or tool["inputSchema"]))
    for name in changes.get("without_arguments", {}).get(tool["name"], []):
        schema["properties"].pop(name, None)
    return opened(schema) if changes.get("is_open") else schema


def tools_of(document, benchmark):
    """As src/api/local/toolset.h says."""
    changes = document.get("benchmarks", {}).get(benchmark, {})
    prefix = changes.get("prefix", document.get("prefix", ""))
    return {prefix + x["name"]: local_sets.describe(schema_of(x, changes))
            for x in changes.get("tools", document["tools"])
            if x["name"] not in changes.get("without", [])}


def test_tools_are_those_of_the_products():
    expected = local_sets.expected()
    tap.equal(sorted(expected), sorted(COUNTS))
    for name, document in documents():
        for benchmark in local_sets.BENCHMARKS:
            want = expected[name].get(benchmark, expected[name][""])
            got = tools_of(document, benchmark)
            wrong = {x: (got.get(x), want.get(x)) for x in {**got, **want}
                     if got.get(x) != want.get(x)}
            tap.equal(wrong, {}, (name, benchmark))


def test_counts_are_those_of_the_products():
    expected = local_sets.expected()
    for name, counts in COUNTS.items():
        got = [len(expected[name].get(x, expected[name][""])) for x in local_sets.BENCHMARKS]
        tap.equal(tuple(got), counts, name)
    for name, document in documents():
        got = [len(tools_of(document, x)) for x in local_sets.BENCHMARKS]
        tap.equal(tuple(got), COUNTS[name], name)


def newest(*paths):
    return max(os.stat(x).st_mtime for x in paths)


def calls_tools(text):
    """Whether a module uses local_tools, itself or through another one."""
    for name in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE):
        path = os.path.join(SOURCE, "tests", "lib", name + ".py")
        if name == "local_tools":
            return True
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                if calls_tools(f.read()):
                    return True
    return False


def run_again(path):
    """Whether it passes is not asked here."""
    subprocess.run([sys.executable, path], check=False, stdout=subprocess.DEVNULL)


def census():
    """What all tests of this folder counted; those that did not run lately are run."""
    folder = os.environ["TIDEPOOL_CENSUS"]
    total = {}
    for script in sorted(x[:-3] for x in os.listdir(TESTS) if x.startswith("test_")):
        path, left = os.path.join(TESTS, script + ".py"), os.path.join(folder, script + ".json")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if script == "test_counts" or not calls_tools(text):
            continue
        since = newest(path, os.environ["TIDEPOOL_LOCAL"], local_census.__file__)
        if not os.path.exists(left) or os.stat(left).st_mtime < since:
            run_again(path)
        for server, tools in local_census.read(folder, script).items():
            for tool, counts in tools.items():
                sums = total.setdefault(server, {}).setdefault(tool, [0, 0])
                sums[0] += counts[0]
                sums[1] += counts[1]
    return total


def test_every_tool_has_a_success_and_an_error():
    total, lacking = census(), []
    for name, document in documents():
        lists = [document["tools"], *(x.get("tools", []) for x in
                                      document.get("benchmarks", {}).values())]
        for tool in sorted({x["name"] for y in lists for x in y}):
            fine, wrong = total.get(name, {}).get(tool, [0, 0])
            if fine == 0:
                lacking.append("%s: %s never succeeds" % (name, tool))
            if wrong == 0 and tool not in ONE_SIDED.get(name, ()):
                lacking.append("%s: %s never fails" % (name, tool))
    tap.equal(lacking, [], "cases")


tap.main(globals())
