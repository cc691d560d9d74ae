# SPDX-License-Identifier: MIT
"""Counts which tools of local sandboxes the tests called, and how often each did its work or told
what was wrong. Where TIDEPOOL_CENSUS names a folder, a test leaves its counts there.

    local_census.note("git", "git_status", answer)
    local_census.read(folder, "test_pdf")["pdf-tools"]["merge_pdfs"]  # [successes, failures]
"""

import atexit
import json
import os
import re
import sys

# Many products tell what went wrong as an ordinary text, in front of it or as a member.
TROUBLE = re.compile(
    r"(error|failed|cannot|could not|invalid|unknown|no |not |access denied|security violation"
    r"|already on|missing|unsupported)", re.IGNORECASE)
LATER = re.compile(r"(not found|does not exist|: Error - )")
MEMBER = re.compile(r'\s*\{\s*"(error"|status":\s*"error|success":\s*false)')

_counts = {}


def is_trouble(answer):
    if answer.get("isError"):
        return True
    text = next((x["text"] for x in answer.get("content", []) if x.get("type") == "text"), "")
    if text.lstrip().startswith("{"):
        return bool(MEMBER.match(text))
    return bool(TROUBLE.match(text) or "\nError: " in text or LATER.search(text.split("\n")[0]))


def note(server, tool, answer):
    counts = _counts.setdefault(server, {}).setdefault(tool, [0, 0])
    counts[is_trouble(answer)] += 1


def read(folder, script):
    with open(os.path.join(folder, script + ".json"), encoding="utf-8") as f:
        return json.load(f)


@atexit.register
def _leave():
    folder = os.environ.get("TIDEPOOL_CENSUS")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    path = os.path.join(folder, script + ".json")
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(_counts, f)
    os.replace(path + ".new", path)
