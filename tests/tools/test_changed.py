# SPDX-License-Identifier: MIT
"""Which tests a change selects: tools/changed-tests, on a small project of its own and on made-up
lists of tests."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile

import tap

TOOL = os.path.join(os.environ["TIDEPOOL_SOURCE"], "tools", "changed-tests")

# Two libraries; a.h is included by both a.c and b.c. Of a library a test gets what it calls.
PROJECT = {
    "meson.build": """
project('small', 'c')
low = static_library('low', 'src/low/a.c', 'src/low/unused.c', include_directories: 'src')
high = static_library('high', 'src/high/b.c', include_directories: 'src', link_with: low)
foreach t : [['a', low], ['b', high], ['none', high]]
  test(t[0], executable('test_' + t[0], 'tests/unit/test_' + t[0] + '.c',
       include_directories: 'src', link_with: t[1]), suite: 'unit')
endforeach
test('corpus_a', executable('replay', 'tests/replay.c'), suite: 'corpus',
     args: meson.current_source_dir() / 'corpus/a')
test('api_b', find_program('python3'), suite: 'api', args: files('tests/api/test_b.py'))
test('api_other', find_program('python3'), suite: 'api', args: files('tests/api/test_other.py'))
test('tools_x', find_program('python3'), suite: 'tools', args: files('tests/tools/test_x.py'))
""",
    "src/low/a.h": "int a(void);\n",
    "src/low/a.c": '#include "low/a.h"\nint a(void) { return 1; }\n',
    "src/low/unused.c": "int unused(void);\nint unused(void) { return 2; }\n",
    "src/high/b.h": "int b(void);\n",
    "src/high/b.c": '#include "high/b.h"\n#include "low/a.h"\nint b(void) { return a(); }\n',
    "tests/unit/test_a.c": '#include "low/a.h"\nint main(void) { return a() != 1; }\n',
    "tests/unit/test_b.c": '#include "high/b.h"\nint main(void) { return b() != 1; }\n',
    "tests/unit/test_none.c": "int main(void) { return 0; }\n",
    "tests/replay.c": "int main(void) { return 0; }\n",
    "tests/api/test_b.py": "",
    "tests/api/test_other.py": "",
    "tests/tools/test_x.py": "",
    "corpus/a/one": "x",
    "README.md": "words\n",
    ".gitignore": "build\n",
}


def load_tool():
    loader = importlib.machinery.SourceFileLoader("changed_tests", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def write(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as f:
        f.write(text)


def run(root, *command):
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root):
    run(root, "git", "add", "-A")
    run(root, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "x")


def selected(root, *ref):
    return run(root, sys.executable, TOOL, "build", *ref).split()


def after(root, path, text):
    """What is selected when PATH has TEXT at its end; the file is put back."""
    full = os.path.join(root, path)
    old = open(full).read() if os.path.exists(full) else None
    write(root, path, (old or "") + text)
    try:
        return selected(root)
    finally:
        if old is None:
            os.unlink(full)
        else:
            write(root, path, old)


def test_a_small_project():
    with tempfile.TemporaryDirectory() as root:
        for path, text in PROJECT.items():
            write(root, path, text)
        run(root, "git", "init", "-q")
        commit(root)
        run(root, "meson", "setup", "build")
        run(root, "ninja", "-C", "build")
        tap.equal(selected(root), [], "nothing changed")
        tap.equal(after(root, "README.md", "more\n"), [], "words")
        tap.equal(after(root, "src/low/a.c", "\n"), ["a", "b"], "a source, through a library")
        tap.equal(after(root, "src/high/b.c", "\n"), ["b", "api_b"], "and what has its name")
        tap.equal(after(root, "src/low/a.h", "\n"), ["a", "b"], "a header of both")
        tap.equal(after(root, "src/high/b.h", "\n"), ["b", "api_b"], "a header of one")
        tap.equal(after(root, "src/low/unused.c", "\n"), [], "an object that nobody links")
        tap.equal(after(root, "tests/unit/test_none.c", "\n"), ["none"], "the test itself")
        tap.equal(after(root, "corpus/a/two", "y"), ["corpus_a"], "a new file of a corpus")
        tap.equal(after(root, "tests/api/test_other.py", "\n"), ["api_other"], "a script")
        tap.equal(after(root, "tests/api/helper.py", "\n"), ["api_b", "api_other"], "its helper")
        tap.equal(after(root, "tools/x", "\n"), ["tools_x"], "a tool")
        tap.equal(after(root, "meson.build", "\n"), ["a", "b", "none", "corpus_a"], "the build")
        # A program that was never built may contain anything.
        os.unlink(os.path.join(root, "build", "test_none"))
        tap.equal(after(root, "src/low/a.c", "\n"), ["a", "b", "none"], "not built")


def test_commits_since_a_ref_count_too():
    tool = load_tool()
    with tempfile.TemporaryDirectory() as root:
        run(root, "git", "init", "-q")
        write(root, "src/old", "x")
        commit(root)
        write(root, "src/committed", "x")
        commit(root)
        write(root, "src/new", "x")
        tap.equal(tool.changed_files(root, "HEAD"), {"src/new"})
        tap.equal(tool.changed_files(root, "HEAD~1"), {"src/new", "src/committed"})


def test_names_are_compared_word_by_word():
    tool = load_tool()
    tap.equal(tool.words_of("src/local/excel/book.c"), {"book", "excel"})
    tap.equal(tool.words_of("apps/gmail/tools.sql"), {"tools", "gmail"})
    for name, word, is_after in [("local_excel", "excel", True), ("local_excel_x", "excel", True),
                                 ("local_excels", "excel", False), ("e2b_files", "file", False)]:
        tap.equal(tool.is_named_after(name, {word}), is_after, "%s %s" % (name, word))


def test_programs_of_tests_are_those_in_the_build():
    tool = load_tool()
    tests = [{"name": "x", "cmd": ["/b/tests/x", "/src/corpus"], "env": {}},
             {"name": "y", "cmd": ["/usr/bin/python3"], "env": {"P": "/b/prog", "Q": "/bc/no"}},
             {"name": "z", "cmd": ["/b/z"], "env": {}}]
    tap.equal(tool.programs_of(tests, {"x", "y"}, "/b"), ["prog", "tests/x"])


tap.main(globals())
