# SPDX-License-Identifier: MIT
"""tools/check-layers, check-src, check-tests: each rule finds what breaks it, and nothing else; and
the documents agree with the sources."""

import os
import re
import subprocess
import sys
import tempfile

import tap

TOOLS = os.path.join(os.environ["TIDEPOOL_SOURCE"], "tools")
HEAD = "/* SPDX-License-Identifier: MIT */\n"


def findings(tool, files):
    """Runs a checker over a made-up tree; the lines it prints."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as f:
                f.write(text.replace("@ROOT@", root))
        done = subprocess.run([sys.executable, os.path.join(TOOLS, tool), root],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    tap.equal(done.returncode, 1 if lines else 0, "status")
    return lines


def layers(**files):
    return findings("check-layers", {"src/" + k.replace("__", "/").replace("_h", ".h")
                                     .replace("_c", ".c"): v for k, v in files.items()})


def rules(path, text, **more):
    """The names of the rules that a file breaks."""
    files = {path: text}
    files.update(more)
    return [line.split(": ")[1] for line in findings("check-src", files)]


def test_downward_includes_are_fine():
    tap.equal(layers(base__a_h="", loop__b_c='#include "base/a.h"\n#include <stdio.h>\n'), [])


def test_upward_include_is_found():
    tap.equal(layers(base__a_c='\n#include "loop/b.h"\n', loop__b_h=""),
              ["src/base/a.c:2: base may not include loop (loop/b.h)"])


def test_layers_of_one_rank_do_not_know_each_other():
    tap.equal(len(layers(net__a_c='#include "store/b.h"\n', store__b_h="")), 1)


def test_folder_without_a_row_is_found():
    tap.contains(layers(extra__a_c='#include "base/b.h"\n', base__b_h="")[0], "no row")


def test_relative_include_is_found():
    tap.contains(layers(base__a_c='#include "b.h"\n', base__b_h="")[0], "relative to src/")


def test_rooms_of_a_layer_keep_their_order():
    tap.equal(layers(apps__lang__a_c='#include "apps/db/b.h"\n', apps__db__b_h=""), [])
    tap.equal(layers(apps__db__a_c='#include "apps/lang/b.h"\n', apps__lang__b_h=""),
              ["src/apps/db/a.c:1: room db of apps may not include lang (apps/lang/b.h)"])
    tap.equal(layers(apps__products__sheets__a_c='#include "apps/formula/b.h"\n',
                     apps__formula__b_h=""), [])
    tap.equal(len(layers(local__git__a_c='#include "local/word/b.h"\n', local__word__b_h="")), 1)
    tap.equal(layers(local__main_c='#include "local/service/b.h"\n', local__service__b_h=""), [])


def test_room_without_a_row_is_found():
    tap.contains(layers(apps__a_c='#include "apps/b.h"\n', apps__b_h="")[0], "no row")
    tap.contains(layers(apps__attic__a_c='#include "apps/db/b.h"\n', apps__db__b_h="")[0], "no row")


def test_library_header_outside_its_place_is_found():
    tap.equal(layers(store__a_c="#include <sqlite3.h>\n"), [])
    tap.contains(layers(core__a_c="#include <sqlite3.h>\n")[0], "sqlite3.h belongs to store")


def test_include_cycle_is_found():
    got = layers(base__a_h='#include "base/b.h"\n', base__b_h='#include "base/a.h"\n')
    tap.contains(got[0], "base/a.h -> base/b.h -> base/a.h")


def test_clean_source_has_no_findings():
    tap.equal(rules("src/base/a.c", HEAD + "int f(void)\n{\n    return 0;\n}\n"), [])


def test_banned_calls_are_found_in_code_only():
    tap.equal(rules("src/base/a.c", HEAD + "int f(char *s)\n{\n    return atoi(s);\n}\n"),
              ["banned"])
    tap.equal(rules("src/base/a.c", HEAD + '/* atoi(s) */\nchar *s = "system(x)";\n'), [])
    tap.equal(rules("src/base/a.c", HEAD + "int x = io_rand(1) + o->system(2);\n"), [])


def test_long_function_is_found():
    body = "    x++;\n" * 80
    tap.equal(rules("src/base/a.c", HEAD + "void f(int x)\n{\n" + body + "}\n"),
              ["function-length"])


def test_complex_function_is_found():
    body = "    if (x > 1)\n        x++;\n" * 16
    tap.equal(rules("src/base/a.c", HEAD + "void f(int x)\n{\n" + body + "}\n"), ["complexity"])


def test_deep_nesting_is_found():
    def nested(levels):
        lines = ["    " * n + "if (x)\n" for n in range(1, levels + 1)]
        return HEAD + "void f(int x)\n{\n" + "".join(lines) + "    " * (levels + 1) + "x++;\n}\n"
    tap.equal(rules("src/base/a.c", nested(4)), [])
    tap.equal(rules("src/base/a.c", nested(5)), ["nesting"])


def test_long_files_are_found():
    tap.equal(rules("src/base/a.c", HEAD + "int a;\n" * 800), ["file-length"])
    tap.equal(rules("src/base/a.h", HEAD + "#pragma once\n" + "int a;\n" * 150), ["file-length"])


def test_wide_line_is_found():
    tap.equal(rules("src/base/a.c", HEAD + "int " + "a" * 96 + ";\n"), ["columns"])


def test_missing_licence_is_found():
    tap.equal(rules("src/base/a.c", "int a;\n"), ["spdx"])
    tap.equal(rules("tools/x", "#!/bin/sh\ntrue\n"), ["spdx"])
    tap.equal(rules("tools/x", "#!/bin/sh\n# SPDX-License-Identifier: MIT\n"), [])


def test_unfinished_work_is_found():
    tap.equal(rules("docs/a.md", "TO" + "DO: write this\n"), ["unfinished"])


def test_path_of_this_machine_is_found():
    tap.equal(rules("docs/a.md", "see @ROOT@/x\n"), ["machine-path"])
    tap.equal(rules("docs/a.md", "see /home/" + "somebody/x\n"), ["machine-path"])
    tap.equal(rules("docs/a.md", "see /home/user/x\n"), [])


def test_log_and_exit_belong_above():
    tap.equal(rules("src/net/a.c", HEAD + 'void f(void)\n{\n    log_info("x");\n}\n'), ["log"])
    tap.equal(rules("src/api/a.c", HEAD + 'void f(void)\n{\n    log_info("x");\n}\n'), [])
    tap.equal(rules("src/net/a.c", HEAD + "void f(void)\n{\n    exit(1);\n}\n"), ["exit"])


def test_own_header_comes_first():
    header = {"src/base/a.h": HEAD + "#pragma once\n"}
    tap.equal(rules("src/base/a.c", HEAD + '#include <stdio.h>\n#include "base/a.h"\n', **header),
              ["own-header"])
    tap.equal(rules("src/base/a.c", HEAD + '#include "base/a.h"\n', **header), [])


def test_exception_needs_a_reason_and_a_use():
    wide = HEAD + "int " + "a" * 96 + ";\n"
    row = {"tools/exceptions": "columns src/base/a.c a table that reads better so\n"}
    tap.equal(rules("src/base/a.c", wide, **row), [])
    tap.equal(rules("src/base/a.c", HEAD, **row), ["exceptions"])
    row = {"tools/exceptions": "columns src/base/a.c\n"}
    tap.equal(sorted(rules("src/base/a.c", wide, **row)), ["columns", "exceptions"])


def test_tests_without_assertions_are_found():
    c = HEAD + ("static void test_good(void **state)\n{\n    helper(1);\n}\n\n"
                "static void helper(int n)\n{\n    assert_int_equal(n, 1);\n}\n\n"
                "static void test_idle(void **state)\n{\n    (void)state;\n}\n")
    python = ("import lib\n\n\ndef test_good():\n    lib.must(1)\n\n\n"
              "def test_idle():\n    print(1)\n")
    tap.equal(findings("check-tests", {
        "tests/unit/base/test_a.c": c, "tests/api/test_b.py": python,
        "tests/lib/lib.py": "def must(x):\n    assert x\n"}),
        ["tests/unit/base/test_a.c: test_idle asserts nothing",
         "tests/api/test_b.py: test_idle asserts nothing"])


def test_turns_that_are_no_english_are_found():
    bad = "It runs inside" + " of it.\n"
    tap.equal(rules("docs/A.md", bad), ["english"])
    tap.equal(rules("docs/A.md", "It runs inside it.\n"), [])
    tap.equal(rules("src/base/a.c", HEAD + 'const char *a = "%s";\n' % bad[:-1]), ["english"])
    tap.equal(rules("tests/a.c", HEAD + 'const char *a = "%s";\n' % bad[:-1]), [])


def test_files_that_documents_name_exist():
    tap.equal(rules("docs/A.md", "See `src/base/a.c`, base/a.c and [it](../src/base/a.c).\n",
                    **{"src/base/a.c": HEAD}), [])
    for text in ("See src/base/b.c", "See base/b.c", "See `b.sql`", "See [it](b.md)"):
        tap.equal(rules("docs/A.md", text + "\n", **{"src/base/a.c": HEAD}), ["path"], text)
    tap.equal(rules("docs/A.md", "`tests/unit/LAYER/test_X.c`, `apps/NAME/README.md`\n"), [])


def test_the_table_of_apps_is_that_of_the_apps():
    done = subprocess.run([sys.executable, os.path.join(TOOLS, "compat"), "--check-apps"],
                          stdout=subprocess.PIPE, text=True)
    tap.equal((done.returncode, done.stdout), (0, ""), "run tools/compat --apps")


def test_the_documents_have_the_order_of_the_layers():
    """Includes go from left to right in the one line that both documents show."""
    source = os.path.dirname(TOOLS)
    with open(os.path.join(TOOLS, "check-layers")) as f:
        table = dict(re.findall(r'^    "(\w+)": "([\w ]*)",$', f.read(), re.M))
    lines = set()
    for page in ("docs/PRINCIPLES.md", "ARCHITECTURE.md"):
        with open(os.path.join(source, page)) as f:
            lines.update(re.findall(r"main → .* → base", f.read()))
    tap.equal(len(lines), 1, "orders in the documents: %s" % lines)
    ranks = {name: rank for rank, names in enumerate(lines.pop().split(" → "))
             for name in names.split(", ")}
    for layer, below in table.items():
        for other in below.split() if layer in ranks else ():
            assert ranks[other] > ranks[layer], "%s includes %s" % (layer, other)
    tap.equal(sorted(set(table) - set(ranks)), ["envd", "local", "office"], "beside the order")


tap.main(globals())
