# SPDX-License-Identifier: MIT
"""The test runner itself: what it counts as passed, failed and skipped."""

import json
import os
import subprocess
import sys
import tempfile

import tap

RUNNER = os.path.join(os.environ["TIDEPOOL_SOURCE"], "tools", "run-tests")


def run(script, *options, timeout=20, suite="unit"):
    """Runs the runner over a made-up build whose one test is a shell script."""
    with tempfile.TemporaryDirectory() as build:
        os.mkdir(os.path.join(build, "meson-info"))
        entry = dict(entry_of("sample", script), timeout=timeout, suite=["tidepool:" + suite])
        with open(os.path.join(build, "meson-info", "intro-tests.json"), "w") as f:
            json.dump([entry], f)
        done = subprocess.run([sys.executable, RUNNER, *options, build + ":unit"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def entry_of(name, script):
    return {"name": name, "cmd": ["/bin/sh", "-c", script], "env": {}, "workdir": None,
            "timeout": 20, "suite": ["tidepool:unit"], "is_parallel": True, "priority": 0}


def commands():
    """The command lines of all processes, arguments ended by a space each."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name) as f:
                found.append(f.read().replace("\0", " "))
        except OSError:
            pass
    return found


def expect(script, status, last_line, *parts, **options):
    got_status, output = run(script, **options)
    tap.equal(output.splitlines()[-1], last_line, output)
    tap.equal(got_status, status, "status")
    for part in parts:
        tap.contains(output, part)


def test_each_tap_line_is_a_test():
    expect("echo 1..3; echo ok 1 - a; echo ok 2; echo 'ok 3 - c # SKIP no disk'", 0,
           "2 passed, 0 failed, 1 skipped", "skip", "no disk")


def test_not_ok_is_a_failure_and_its_output_is_shown():
    expect("echo 1..2; echo ok 1; echo not ok 2 - broken; echo '# why it broke'", 1,
           "1 passed, 1 failed, 0 skipped", "broken", "# why it broke")


def test_program_without_tap_counts_by_status():
    expect("echo hello", 0, "1 passed, 0 failed, 0 skipped")
    expect("exit 3", 1, "0 passed, 1 failed, 0 skipped", "exit status 3")


def test_status_77_skips_with_the_last_line_as_reason():
    expect("echo needs a second machine; exit 77", 1, "0 passed, 0 failed, 1 skipped",
           "needs a second machine")


def test_status_after_good_tap_counts():
    expect("echo 1..1; echo ok 1; exit 23", 1, "1 passed, 1 failed, 0 skipped", "exit status 23")


def test_short_plan_fails():
    expect("echo 1..3; echo ok 1", 1, "1 passed, 1 failed, 0 skipped", "planned 3 tests, ran 1")


def test_missing_plan_fails():
    expect("echo ok 1", 1, "1 passed, 1 failed, 0 skipped", "no plan")


def test_several_plans_add_up():
    expect("echo 1..1; echo ok 1; echo 1..2; echo ok 1; echo ok 2", 0,
           "3 passed, 0 failed, 0 skipped")


def test_bail_out_fails():
    expect("echo 'Bail out! no corpus folder'; exit 1", 1, "0 passed, 1 failed, 0 skipped")


def test_crash_fails():
    expect("echo 1..1; echo ok 1; kill -SEGV $$", 1, "1 passed, 1 failed, 0 skipped", "SIGSEGV")


def test_time_out_fails():
    expect("sleep 60", 1, "0 passed, 1 failed, 0 skipped", "timed out after 1 s", timeout=1)


def test_process_left_behind_fails_and_is_ended():
    command = "sleep 4711.%d" % os.getpid()
    expect("setsid %s & echo 1..1; echo ok 1" % command, 1, "1 passed, 1 failed, 0 skipped",
           "left a process behind", command)
    tap.equal(commands().count(command + " "), 0, "processes")


def test_file_left_behind_fails():
    expect("touch $TMPDIR/junk", 1, "1 passed, 1 failed, 0 skipped", "left files behind: junk")


def test_sanitizer_report_of_any_process_fails():
    expect("p=${ASAN_OPTIONS#log_path=}; echo 'heap-use-after-free' > ${p%%:*}.1", 1,
           "1 passed, 1 failed, 0 skipped", "sanitizer report", "heap-use-after-free")


def once(first):
    """A script that does FIRST in its first run and passes in the second."""
    mark = os.path.join(tempfile.gettempdir(), "once.%d" % os.getpid())
    return "if rm %s 2>/dev/null; then exit 0; fi; touch %s; %s" % (mark, mark, first), mark


def test_failure_in_company_is_tried_again_alone():
    script, _ = once("echo a reason; exit 3")
    expect(script, 0, "1 passed, 0 failed, 0 skipped", "a reason", "once", "exit status 3")


def test_crash_and_report_are_not_tried_again():
    for first in "kill -SEGV $$", "p=${ASAN_OPTIONS#log_path=}; echo overflow > ${p%%:*}.1":
        script, mark = once(first)
        tap.equal(run(script)[0], 1, first)
        os.unlink(mark)


def test_nothing_run_is_a_failure():
    expect("true", 1, "0 passed, 0 failed, 0 skipped", suite="other")


def test_only_chooses_by_name():
    tap.equal(run("true", "--only", "sample")[1].splitlines()[-1], "1 passed, 0 failed, 0 skipped")
    tap.equal(run("true", "--only", "else")[1].splitlines()[-1], "0 passed, 0 failed, 0 skipped")


def test_names_come_from_a_file():
    with tempfile.NamedTemporaryFile("w") as f:
        for text, count in (("other\nsample\n", 1), ("sam\n", 0)):
            f.seek(0)
            f.truncate()
            f.write(text)
            f.flush()
            tap.equal(run("true", "--names", f.name)[1].splitlines()[-1],
                      "%d passed, 0 failed, 0 skipped" % count, text)


def test_what_took_longest_starts_first():
    with tempfile.TemporaryDirectory() as build:
        os.mkdir(os.path.join(build, "meson-info"))
        with open(os.path.join(build, "meson-info", "intro-tests.json"), "w") as f:
            json.dump([entry_of("short", "true"), entry_of("long", "sleep 0.5")], f)
        order = []
        for _ in range(2):
            done = subprocess.run([sys.executable, RUNNER, "--jobs", "1", build + ":unit"],
                                  stdout=subprocess.PIPE, text=True, check=True)
            order.append([line.split()[1].split("/")[1] for line in done.stdout.splitlines()
                          if line.startswith("ok")])
        tap.equal(order, [["short", "long"], ["long", "short"]])
        with open(os.path.join(build, ".test-seconds.json"), "w") as f:
            f.write("{")  # a damaged one does not matter
        tap.equal(subprocess.run([sys.executable, RUNNER, build + ":unit"],
                                 stdout=subprocess.DEVNULL).returncode, 0)


tap.main(globals())
