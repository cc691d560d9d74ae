# SPDX-License-Identifier: MIT
"""Man pages and completion: complete, accepted by scdoc, loadable by bash."""

import json
import os
import re
import shutil
import subprocess
import tempfile

import tap

TIDEPOOL = os.environ["TIDEPOOL"]
SOURCE = os.environ["TIDEPOOL_SOURCE"]


def out(*args):
    p = subprocess.run([TIDEPOOL, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=30, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    tap.equal(p.returncode, 0, "status of %r (%s)" % (args, p.stderr))
    return p.stdout


def verbs():
    """Names of the visible verbs, from the overview."""
    section = out("help").split("Verbs:\n")[1].split("\n\n")[0]
    return [re.match(r"  (\S+(?: \S+)?)  ", line).group(1) for line in section.splitlines()]


def flags(verb):
    return re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", out(*verb.split(), "--help"), re.MULTILINE)


def plain(scdoc):
    return scdoc.replace("\\", "").replace("*", "")


def pages():
    return out("__man").split()


# ---- limits ----

def test_the_page_of_limits_is_what_the_program_has():
    with open(os.path.join(SOURCE, "docs", "LIMITS.md")) as f:
        tap.equal(f.read(), out("__limits"), "docs/LIMITS.md; tidepool __limits makes it")


def test_every_limit_is_enforced_somewhere():
    """A row that nobody asks for is a promise that nobody keeps."""
    source = os.path.join(SOURCE, "src")
    texts = []
    for where, _, names in os.walk(source):
        for name in names:
            if name.endswith(".c") and not name.startswith("limits"):
                with open(os.path.join(where, name)) as f:
                    texts.append(f.read())
    with open(os.path.join(source, "core", "limits.def")) as f:
        rows = re.findall(r"^LIMIT\((\w+), quota\.(\w+), \w+, (\w+),", f.read(), re.MULTILINE)
    assert len(rows) >= 8, rows
    for name, field, scope in rows:
        used = r"quota\.%s\b" % field if scope in ("KEY", "SHARE") else r"(?!)"
        used += r"|\bLIMIT_%s\b" % name
        assert any(re.search(used, text) for text in texts), "nothing keeps to %s" % name


# ---- man pages ----

def test_every_page_is_built():
    with open(os.path.join(SOURCE, "docs", "meson.build")) as f:
        listed = re.search(r"man_pages = \[(.*?)\]", f.read(), re.DOTALL).group(1)
    tap.equal(sorted(re.findall(r"'([^']+)'", listed)), sorted(pages()), "man_pages")


def test_every_verb_and_option_is_in_its_page():
    overview = plain(out("__man", "tidepool.1"))
    assert len(verbs()) >= 6, verbs()
    for verb in verbs():
        tap.contains(overview, "\n%s\n" % verb)
        page = plain(out("__man", "tidepool-%s.1" % verb.split()[0]))
        tap.contains(page, "\n## tidepool %s\n" % verb)
        section = page.split("\n## tidepool %s\n" % verb)[1].split("\n#")[0]
        for flag in flags(verb):
            tap.contains(section, "--%s" % flag)


def test_every_setting_is_in_its_page():
    with tempfile.TemporaryDirectory() as d:
        keys = json.loads(out("config", "show", "--json", "--state", d))["settings"]
    page = plain(out("__man", "tidepool.yaml.5"))
    overview = plain(out("__man", "tidepool.1"))
    for key in keys:
        variable = "TIDEPOOL_" + key.upper().replace(".", "_")
        tap.contains(overview, "\n" + variable)
        if key != "config":
            tap.contains(page, "\n%s (" % key)
            tap.contains(page, variable)


def test_scdoc_accepts_every_page():
    if not shutil.which("scdoc"):
        raise tap.Skip("scdoc is not installed")
    for page in pages():
        p = subprocess.run(["scdoc"], input=out("__man", page), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        tap.equal((p.returncode, p.stderr), (0, ""), page)
        tap.contains(p.stdout, '.TH "%s" "%s"' % (page[:-2], page[-1]))


def test_unknown_pages_and_shells_are_refused():
    for args in (["__man", "bogus.1"], ["__man", "tidepool-__man.1"], ["__completion", "fish"],
                 ["__completion"]):
        p = subprocess.run([TIDEPOOL, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tap.equal(p.returncode, 2, "status of %r" % args)


# ---- completion ----

def complete(*words):
    """What bash offers for the last of WORDS."""
    script = """
source /dev/stdin || exit 3
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tidepool
printf '%s\\n' "${COMPREPLY[@]}"
"""
    p = subprocess.run(["bash", "--norc", "-c", script, "bash", "tidepool", *words],
                       input=out("__completion", "bash"), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    tap.equal((p.returncode, p.stderr), (0, ""), "bash")
    return [w for w in p.stdout.split("\n") if w]


def test_verbs_are_completed():
    tap.equal(complete("ver"), ["version"])
    tap.equal(complete("doc"), ["doctor"])
    tap.equal(complete("se"), ["serve"])
    everything = complete("")
    for verb in verbs():
        assert verb.split()[0] in everything, verb
    tap.equal(len(everything), len(set(everything)), "words")
    tap.equal(complete("config", "sh"), ["show"])
    tap.equal(complete("help", "conf"), ["config"])
    tap.equal(complete("__"), [])


def test_every_option_is_completed():
    for verb in verbs():
        want = sorted("--" + f for f in flags(verb))
        tap.equal(sorted(complete(*verb.split(), "--")), want, verb)


def test_values_are_completed():
    tap.equal(complete("config", "show", "--log-level", "w"), ["warn"])
    tap.equal(complete("config", "show", "--log-level", "=", "de"), ["debug"])
    tap.equal(complete("config", "show", "--log-level", "="), ["debug", "info", "warn", "error"])
    tap.equal(complete("config", "show", "--domain", ""), [])
    with tempfile.TemporaryDirectory() as d:
        open(os.path.join(d, "a file.yaml"), "w").close()
        os.mkdir(os.path.join(d, "a-dir"))
        tap.equal(sorted(complete("config", "check", d + "/a")), [d + "/a file.yaml", d + "/a-dir"])
        tap.equal(complete("config", "show", "--state", d + "/"), [d + "/a-dir"])
        tap.equal(complete("config", "show", "--config", d + "/a "), [d + "/a file.yaml"])


def test_completion_passes_shellcheck():
    if not shutil.which("shellcheck"):
        raise tap.Skip("shellcheck is not installed")
    p = subprocess.run(["shellcheck", "--shell=bash", "-"], input=out("__completion", "bash"),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    tap.equal(p.stdout, "", "shellcheck")


tap.main(globals())
