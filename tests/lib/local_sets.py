# SPDX-License-Identifier: MIT
"""Which tools the servers of local sandboxes have, by benchmark, and with which arguments:
tests/local/tools.json. Of each tool its arguments, those that are required with a "!", and a
digest of its schema without the words for people.

    local_sets.expected()["filesystem"]["Toolathlon"]["read_file"]
    local_sets.describe(schema)
"""

import hashlib
import json
import os

BENCHMARKS = ("", "MCP_Atlas", "Toolathlon")


def expected():
    path = os.path.join(os.path.dirname(__file__), "..", "local", "tools.json")
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def without_words(value):
    """A schema without descriptions; an argument may have that name, too."""
    if isinstance(value, list):
        return [without_words(x) for x in value]
    if not isinstance(value, dict):
        return value
    return {k: {n: without_words(x) for n, x in v.items()} if k == "properties" else
            without_words(v) for k, v in value.items()
            if k not in ("description", "title", "$schema")}


def describe(schema):
    required = schema.get("required", [])
    words = [n + "!" * (n in required) for n in schema.get("properties", {})]
    text = json.dumps(without_words(schema), sort_keys=True, separators=(",", ":"))
    return " ".join(words + [hashlib.sha256(text.encode()).hexdigest()[:12]])
