# SPDX-License-Identifier: MIT
"""npm's code interpreter client of E2B, unchanged, with a sandbox of its template."""

import json
import os
import shutil
import subprocess

import clients
import domain
import tap

HERE = os.path.dirname(os.path.abspath(__file__))


def has(*packages):
    return all(subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", p],
                              capture_output=True, text=True).stdout == "installed"
               for p in packages)


def run_client():
    if not has("python3-ipython", "python3-pandas", "python3-matplotlib"):
        raise tap.Skip("python3-ipython and python3-pandas are not installed; ./dev test does")
    clients.install()
    with domain.running() as s:
        env = domain.client_env(s)
        env.update(E2B_MODULES=clients.MODULES)
        done = subprocess.run(clients.node(os.path.join(HERE, "interpreter.mjs")), env=env,
                              capture_output=True, text=True, timeout=400)
        tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout[-2000:], done.stderr[-3000:]))
    return json.loads(done.stdout)


def check_basics(got):
    tap.equal((got["first"], got["kept"], got["count"]), ("1", "2", 3))
    tap.equal(got["shell"], "/home/user\nuser\n")
    tap.equal((got["string"], got["home"]), ("héé ✓", "/home/user"))
    tap.equal(got["error"], ["ZeroDivisionError", "division by zero", True])
    tap.equal(got["syntax"], "SyntaxError")
    tap.equal(got["exit"], [None, "NameError"], "exit() loses the state")
    tap.equal(got["stream"], [["out", "1\n"], ["err", "e\n"], ["result", "2"]])
    tap.equal((got["isStreamed"], got["errorCallback"]), (True, "NameError"))
    tap.equal(got["large"], 1000001)


def check_results(got):
    tap.equal(got["frame"], [{"a": [1, 2], "f": [1.5, None],
                              "when": ["2024-01-01T00:00:00", "2024-02-03T00:00:00"]},
                             True, True])
    tap.equal(got["plot"], [[False, ["png"], True, "<Figure size 640x480 with 1 Axes>"],
                            [True, [], False, "value"]])
    tap.equal(got["png"], "PNG")
    line = got["line"]
    tap.equal([line[k] for k in ("type", "title", "x_label", "x_unit", "y_label", "y_unit",
                                 "x_scale", "y_scale")],
              ["line", "Rise", "Time (s)", "s", "Height [m]", "m", "linear", "linear"])
    tap.equal(line["elements"], [{"label": "up", "points": [[1, 4], [2, 5], [3, 6]]}])
    bars = [{"label": "a", "group": "Group 0", "value": 3},
            {"label": "b", "group": "Group 0", "value": 5}]
    tap.equal((got["bar"], got["barh"]), (bars, bars))
    tap.equal(got["scatter"], [{"label": "s", "points": [[1, 3], [2, 4]]}])
    tap.equal([(e["label"], round(e["angle"]), e["radius"]) for e in got["pie"]],
              [("x", 90, 1), ("y", 270, 1)])
    tap.equal(got["box"], [
        {"label": "p", "min": 1, "first_quartile": 2, "median": 3, "third_quartile": 4, "max": 4,
         "outliers": [30]},
        {"label": "q", "min": 2, "first_quartile": 2.5, "median": 3, "third_quartile": 3.5,
         "max": 4, "outliers": []}])
    tap.equal(got["super"], ["superchart", "Two", ["line", "bar"]])
    tap.equal((got["log"], got["unknown"]), ("log", "unknown"))
    tap.equal(got["dates"], ["2024-01-01", 1])
    tap.equal(got["kinds"], [["html"], ["markdown"], ["svg"], ["latex"], ["json"], ["javascript"],
                             ["latex"], ["json"]])
    tap.equal((got["extra"], got["json"]), ({}, {"d": [1]}), "the client drops other types")
    tap.equal(got["images"], [True, True])


def check_languages(got):
    tap.equal(got["js"], ["21", "20", "later", "/home/user", "y"])
    tap.equal((got["jsLog"], got["jsError"]), (["Hello World!\n"], ["TypeError", "bad"]))
    tap.equal(got["bash"], ["hi user\n", "7\n/tmp\n", "1"])
    for name, program, package, result in (
            ("ts", "esbuild", "node-typescript", "8"), ("r", "Rscript", "r-base-core", "[1] 3"),
            ("java", "jshell", "default-jdk-headless", "42")):
        if shutil.which(program, path="/usr/bin"):
            tap.equal(got[name], result, name)
        else:
            tap.contains(got[name], package, name)
    tap.equal(got["unknownLanguage"], ["SandboxError", "500 Internal Server Error"])


def check_contexts(got):
    tap.equal(got["list"], [["python", "/home/user"], ["javascript", "/home/user"]])
    work = "/home/user/work"
    tap.equal((got["newest"], got["cwd"]), (True, [work, work, work, work + "\n"]))
    tap.equal(got["apart"], "name 'only' is not defined")
    tap.equal((got["isParallel"], got["restarted"], got["cwdAfter"]), (True, "NameError", work))
    tap.equal(got["removed"][0], "NotFoundError")
    tap.contains(got["removed"][1], "not found")
    tap.equal(got["badCwd"][0], "SandboxError")
    tap.equal(got["env_python"], ["['sandbox', 'call', \"it's\"]", "['sandbox', 'sandbox', None]"])
    tap.equal(got["env_javascript"], ["sandbox,call,it's", "sandbox,sandbox,"])
    tap.equal(got["env_bash"], ["sandbox,call,it's\n", "sandbox,sandbox,\n"])


def check_ends(got):
    tap.equal(got["timeout"][0], "TimeoutError")
    tap.equal((got["afterTimeout"], got["afterJs"], got["afterAwait"], got["afterBash"]),
              ("4", "20", "21", "7\n"), "what was interrupted keeps its state")
    tap.equal((got["died"], got["afterDeath"]), ("ContextRestarting", "2"))
    tap.equal(got["killed"][0], "TimeoutError", got["killed"])
    tap.equal(got["second"], ["second", "NameError"])


def test_the_client():
    got = run_client()
    check_basics(got)
    check_results(got)
    check_languages(got)
    check_contexts(got)
    check_ends(got)


tap.main(globals())
