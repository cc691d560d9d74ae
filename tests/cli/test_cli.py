# SPDX-License-Identifier: MIT
"""The command line: verbs, options, help, exit statuses, settings from every source."""

import json
import os
import subprocess
import tempfile

import tap

TIDEPOOL = os.environ["TIDEPOOL"]
VERBS = ["serve", "audit verify", "audit ls", "config show", "config check", "config example",
         "domain", "doctor", "version", "help", "create", "ls", "show", "exec", "shell", "cp",
         "logs", "top", "pause", "resume", "rm", "mcp"]


def run(*args, env=None, stdout=subprocess.PIPE, cwd=None):
    """Runs the program with an environment that holds nothing but what the test says."""
    full = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    full.update(env or {})
    return subprocess.run([TIDEPOOL, *args], env=full, stdout=stdout, stderr=subprocess.PIPE,
                          text=True, timeout=30, cwd=cwd, stdin=subprocess.DEVNULL)


def succeed(*args, **more):
    p = run(*args, **more)
    tap.equal(p.returncode, 0, "status of %r (%s)" % (args, p.stderr))
    tap.equal(p.stderr, "", "standard error")
    return p.stdout


def refuse(*args, **more):
    """A wrong command line or configuration: status 2, nothing on standard output."""
    p = run(*args, **more)
    tap.equal(p.returncode, 2, "status of %r (%s)" % (args, p.stdout + p.stderr))
    tap.equal(p.stdout, "", "standard output")
    return p.stderr


def settings(*args, **more):
    with tempfile.TemporaryDirectory() as state:
        doc = json.loads(succeed("config", "show", "--json", "--state", state, *args, **more))
    return doc


def in_file(text, *args, **more):
    """Runs with TEXT as the configuration file; returns (path, process)."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "tidepool.yaml")
        with open(path, "w") as f:
            f.write(text)
        return path, run("config", "show", "--json", "--state", d, *args, **more)


# ---- help ----

def test_overview_lists_every_verb():
    for args in ([], ["help"], ["--help"], ["-h"]):
        out = succeed(*args)
        for verb in VERBS:
            tap.contains(out, "  %s " % verb)
        assert "__man" not in out


def test_every_verb_explains_itself():
    for verb in VERBS:
        for args in (verb.split() + ["--help"], verb.split() + ["-h"], ["help"] + verb.split()):
            out = succeed(*args)
            tap.contains(out, "Usage: tidepool %s" % verb)
            tap.contains(out, "--help")
            assert all(len(line) <= 80 for line in out.splitlines()), out


def test_help_wins_over_other_mistakes():
    tap.contains(succeed("config", "show", "--bogus", "--help"), "Usage: tidepool config show")


def test_group_without_verb():
    tap.contains(refuse("config"), "config show")
    tap.contains(succeed("config", "--help"), "config example")
    tap.contains(succeed("help", "config"), "config check")


# ---- mistakes ----

def test_unknown_verbs_are_answered_with_a_suggestion():
    tap.contains(refuse("versoin"), "unknown verb 'versoin' (did you mean 'version'?)")
    tap.contains(refuse("config", "shw"), "unknown verb 'shw' (did you mean 'show'?)")
    tap.contains(refuse("xyzzy"), "unknown verb 'xyzzy'\n")
    tap.contains(refuse("help", "xyzzy"), "unknown verb 'xyzzy'")
    tap.contains(refuse("--bogus"), "unknown option '--bogus'")
    tap.contains(refuse("config", "show", "extra"), "unexpected argument 'extra'")
    tap.contains(refuse("config", "check"), "expected FILE")


def test_unknown_options_are_answered_with_a_suggestion():
    err = refuse("config", "show", "--lissten", "x")
    tap.contains(err, "unknown option '--lissten' (did you mean '--listen'?)")
    tap.contains(err, "Try 'tidepool config show --help'.")
    tap.contains(refuse("version", "--listen=x"), "unknown option '--listen'")
    tap.contains(refuse("version", "-x"), "unknown option '-x'")
    tap.contains(refuse("config", "show", "--no-listen"), "unknown option '--no-listen'")


def test_options_and_their_values():
    tap.contains(refuse("config", "show", "--listen"), "--listen needs a value: ADDR:PORT")
    tap.contains(refuse("version", "--json=yes"), "--json takes no value")
    tap.equal(succeed("version", "--json", "--no-json"), succeed("version"))
    for args in (["--listen", "[::1]:1"], ["--listen=[::1]:1"],
                 ["--listen=:9", "--listen=[::1]:1"]):
        tap.equal(settings(*args)["settings"]["listen"],
                  {"value": "[::1]:1", "source": "flag --listen"})
    tap.contains(refuse("config", "check", "--", "--json"), "--json")


def test_output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w") as full:
        p = run("config", "example", stdout=full)
    tap.equal(p.returncode, 1, "status")
    tap.contains(p.stderr, "standard output: No space left on device")


# ---- version ----

def test_version():
    out = succeed("version")
    assert out.startswith("tidepool ") and out.count("\n") == 1, out
    tap.equal(succeed("--version"), out)
    doc = json.loads(succeed("version", "--json"))
    tap.equal("tidepool %s\n" % doc["version"], out)
    tap.equal(doc["kernel"], os.uname().release)


# ---- settings ----

def test_show_names_the_source_of_every_value():
    env = {"TIDEPOOL_LISTEN": ":2", "SERVER_ADDR": ":3", "E2B_DOMAIN": "e.example",
           "SYSTEM_TOKEN": "hush-hush", "API_TOKENS_RAW": "hush-one,hush-two", "ENV_NAME": "prod",
           "TIDEPOOL_LISTN": "x"}
    path, p = in_file("quota:\n  max_live: 7\n", "--log-level", "debug", env=env)
    tap.equal(p.returncode, 0, p.stderr)
    doc = json.loads(p.stdout)
    got = {k: (v["value"], v["source"]) for k, v in doc["settings"].items()}
    tap.equal(got["listen"], ("0.0.0.0:2", "environment TIDEPOOL_LISTEN"))
    tap.equal(got["domain"], ("e.example", "environment E2B_DOMAIN"))
    tap.equal(got["quota.max_live"], (7, "file %s:2" % path))
    tap.equal(got["log_level"], ("debug", "flag --log-level"))
    tap.equal(got["timeouts.head"], (10000, "default"))
    tap.equal(got["system_token"], ("set", "environment SYSTEM_TOKEN"))
    notes = {n["name"]: n["text"] for n in doc["notes"]}
    tap.contains(notes["ENV_NAME"], "is ignored: ")
    tap.contains(notes["TIDEPOOL_LISTN"], "did you mean TIDEPOOL_LISTEN?")
    assert "hush" not in p.stdout


def test_show_as_text():
    with tempfile.TemporaryDirectory() as state:
        out = succeed("config", "show", "--state", state,
                      env={"SYSTEM_TOKEN": "hush-hush", "CONFIGMAP_NAME": "x"})
    lines = {line.split()[0]: line.split(None, 2)[1:] for line in out.splitlines() if line}
    tap.equal(lines["listen"], ["127.0.0.1:10000", "default"])
    tap.equal(lines["state"][1], "flag --state")
    tap.equal(lines["limits.max_body"], ["64MiB", "default"])
    tap.equal(lines["system_token"], ["set", "environment SYSTEM_TOKEN"])
    tap.contains(out, "\nCONFIGMAP_NAME is ignored: ")
    assert "hush" not in out


def test_mistakes_name_the_file_and_line():
    for text, message in (
            ("domain: x\nlissten: y\n", ":2: unknown key 'lissten' (did you mean 'listen'?)"),
            ("timeouts:\n  head: soon\n", ":2: timeouts.head: expected a duration"),
            ("io_threads: 1000\n", ":1: io_threads: out of range: must be from 0 to 64"),
            ("a: [1\n", ":2: "),
            ("listen: &a :1\n", ":1: anchors and aliases are not supported")):
        path, p = in_file(text)
        tap.equal(p.returncode, 2, "status")
        tap.equal(p.stdout, "", "standard output")
        tap.contains(p.stderr, "tidepool config show: " + path + message)


def test_check_lists_every_mistake():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "bad.yaml")
        with open(path, "w") as f:
            f.write("lissten: y\ntimeouts:\n  head: soon\n  body: 10s\nio_threads: 1000\n"
                    "tls:\n  cert: /c\n")
        lines = refuse("config", "check", path).splitlines()
        tap.equal([x.split(path)[-1].split(" (")[0].split(", got")[0] for x in lines[:3]],
                  [":1: unknown key 'lissten'",
                   ":3: timeouts.head: expected a duration with its unit such as 250ms, 30s, "
                   "5m, 2h or 7d",
                   ":5: io_threads: out of range: must be from 0 to 64"])
        tap.contains(lines[3], "tls.cert needs tls.key as well")
        tap.equal(len(lines), 4)


def test_mistakes_name_the_flag_or_variable():
    tap.contains(refuse("config", "show", "--listen", "nowhere"),
                 "flag --listen: expected an address")
    tap.contains(refuse("config", "show", env={"TIDEPOOL_QUOTA_MAX_RPS": "-1"}),
                 "environment TIDEPOOL_QUOTA_MAX_RPS: out of range")
    tap.contains(refuse("config", "show", "--config", "/nonexistent/file"), "/nonexistent/file")
    tap.contains(refuse("config", "show", "--tls-cert", "/c"),
                 "flag --tls-cert: tls.cert needs tls.key as well")


def test_default_state_directory():
    doc = json.loads(succeed("config", "show", "--json", env={"HOME": "/srv/me"}))
    want = "/var/lib/tidepool" if os.geteuid() == 0 else "/srv/me/.local/state/tidepool"
    tap.equal(doc["settings"]["state"], {"value": want, "source": "default"})


def test_example_is_a_valid_file_and_check_reads_nothing_else():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "example.yaml")
        with open(path, "w") as f:
            f.write(succeed("config", "example"))
        tap.equal(succeed("config", "check", path, env={"TIDEPOOL_LISTEN": "bogus"}),
                  path + ": ok\n")
        with open(path, "a") as f:
            f.write("bogus: 1\n")
        lines = open(path).read().count("\n")
        tap.contains(refuse("config", "check", path), "%s:%d: unknown key 'bogus'" % (path, lines))
        tap.contains(refuse("config", "check", "example.yaml", cwd=d), " example.yaml:%d:" % lines)


tap.main(globals())
