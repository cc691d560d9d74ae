# SPDX-License-Identifier: MIT
"""The tools of a workspace that run programs: terminal, git, code-runner, code-executor."""

import contextlib
import json
import os
import re
import shutil
import subprocess
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
    return path


# ---- terminal ----

def run(tools, command, benchmark=None):
    return tools.texts("terminal", "run_command", {"command": command}, benchmark=benchmark)


def done(code=0):
    return "\nCommand completed with return code: %d" % code


def test_terminal_runs_what_is_allowed():
    with workspace() as tools:
        write(tools, "a b.txt", "hello\n")
        tap.equal(run(tools, "cat 'a b.txt'"), ["hello\n", done()])
        tap.equal(run(tools, "ls"), ["a b.txt\n", done()])
        tap.equal(run(tools, "pwd"), [tools.root + "\n", done()])
        got = run(tools, "cat nope")
        tap.equal((len(got), got[-1]), (2, done(1)), got)
        tap.contains(got[0], "No such file")


def test_terminal_refuses_the_rest():
    with workspace() as tools:
        os.symlink("/etc", os.path.join(tools.root, "out"))
        for command, why in (
                ("rm -rf x", "Command 'rm' is not allowed"),
                ("ls -R", "Flag '-R' is not allowed"),
                ("cat /etc/passwd",
                 "Path '/etc/passwd' is outside of allowed directory: " + tools.root),
                ("cat ../x", "Path '../x' is outside of allowed directory: " + tools.root),
                ("cat out/passwd",
                 "Path 'out/passwd' is outside of allowed directory: " + tools.root),
                ("cat 'x", "Invalid command format: No closing quotation"),
                ("cat x\\", "Invalid command format: No escaped character"),
                ("", "Empty command"),
                ("x" * 1025, "Command exceeds maximum length of 1024"),
                ("ls && ls", "Shell operator '&&' is not supported. "
                             "Set ALLOW_SHELL_OPERATORS=true to enable.")):
            tap.equal(run(tools, command), ["Security violation: " + why], command)


def test_terminal_rules_follow_the_benchmark():
    with workspace() as tools:
        write(tools, "d/x.txt", "1\n2\n")
        tap.equal(run(tools, "find . -name x.txt", "MCP_Atlas"),
                  [os.path.join(tools.root, "d/x.txt") + "\n", done()])
        tap.equal(run(tools, "cat d/x.txt | wc -l && echo ok > out.txt; cat < out.txt",
                      "Toolathlon"), ["2\nok\n", done()])
        tap.equal(run(tools, "ls | shutdown", "Toolathlon"),
                  ["Security violation: Invalid command part 'shutdown': "
                   "Command 'shutdown' is not allowed"])
        got = run(tools, "echo x > /etc/tidepool-test", "Toolathlon")
        tap.contains(got[0], "outside of allowed directory")
        got = run(tools, "seq 1 100000 | cat", "Toolathlon")
        tap.equal(got[0].endswith("\n...[output truncated]"), True, got[0][-80:])
        tap.equal(len(got[0]) < 9000, True, len(got[0]))
        rules = tools.text("terminal", "show_security_rules", {}, benchmark="MCP_Atlas")
        tap.contains(rules, "Working Directory: %s\n" % tools.root)
        tap.contains(rules, "----------------\ncat, find, ls\n")
        tap.contains(rules, "All flags allowed")
        tap.contains(tools.text("terminal", "show_security_rules", {}), "--help, -a, -l\n")


# ---- git ----

def git(tools, tool, **arguments):
    arguments.setdefault("repo_path", os.path.join(tools.root, "repo"))
    return tools.text("git", "git_" + tool, arguments)


def git_failure(tools, tool, **arguments):
    arguments.setdefault("repo_path", os.path.join(tools.root, "repo"))
    return tools.failure("git", "git_" + tool, arguments)


@contextlib.contextmanager
def repository():
    with workspace() as tools:
        repo = os.path.join(tools.root, "repo")
        environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
        for command in (["init", "-q", "-b", "main", repo],
                        ["-C", repo, "config", "user.name", "Maya Chen"],
                        ["-C", repo, "config", "user.email", "maya@larkspur.example"]):
            subprocess.run(["git", *command], check=True, env=environment)
        yield tools


def test_git_from_the_first_commit_on():
    with repository() as tools:
        write(tools, "repo/a.txt", "one\n")
        tap.contains(git(tools, "status"), "Repository status:\nOn branch main\n")
        tap.equal(git(tools, "add", files=["a.txt"]), "Files staged successfully")
        tap.contains(git(tools, "diff_staged"), "Staged changes:\ndiff --git a/a.txt b/a.txt\n")
        first = git(tools, "commit", message="First\n\nWith 'body'")
        match = re.fullmatch("Changes committed successfully with hash ([0-9a-f]{40})", first)
        tap.equal(bool(match), True, first)
        write(tools, "repo/a.txt", "one\ntwo\n")
        tap.contains(git(tools, "diff_unstaged"), "Unstaged changes:\ndiff --git")
        tap.contains(git(tools, "diff_unstaged", context_lines=0), "@@ -1,0 +2 @@")
        git(tools, "add", files=["."])
        tap.equal(git(tools, "reset"), "All staged changes reset")
        tap.equal(git(tools, "diff_staged"), "Staged changes:\n")
        git(tools, "add", files=["."])
        git(tools, "commit", message="Second")
        tap.equal(git(tools, "create_branch", branch_name="topic"),
                  "Created branch 'topic' from 'main'")
        tap.equal(git(tools, "checkout", branch_name="topic"), "Switched to branch 'topic'")
        tap.equal(git(tools, "branch", branch_type="local"), "  main\n* topic")
        tap.equal(git(tools, "branch", branch_type="local", not_contains=match.group(1)), "")
        tap.equal(git(tools, "branch", branch_type="odd"), "Invalid branch type: odd")
        tap.contains(git(tools, "diff", target="HEAD~1"), "Diff with HEAD~1:\ndiff --git")


def test_git_log_and_show_print_values():
    with repository() as tools:
        write(tools, "repo/a.txt", "one\n")
        git(tools, "add", files=["a.txt"])
        sha = git(tools, "commit", message="It's \u00e4 \"start\"\n\nBody").split()[-1]
        log = git(tools, "log")
        entry = ("Commit: '%s'\nAuthor: <git.Actor \"Maya Chen <maya@larkspur.example>\">\n" % sha)
        tap.contains(log, "Commit history:\n" + entry)
        date = r"Date: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d\n"
        tap.equal(bool(re.search(date, log)), True, log)
        tap.contains(log, "Message: 'It\\'s \u00e4 \"start\"\\n\\nBody")
        plain = tools.text("git", "git_log", {"repo_path": os.path.join(tools.root, "repo")},
                           benchmark="Toolathlon")
        tap.contains(plain, "Author: Maya Chen <maya@larkspur.example>\n")
        dated = git(tools, "log", start_timestamp="1 day ago")
        tap.contains(dated, "Commit: %s\nAuthor: Maya Chen\n" % sha)
        tap.equal(git(tools, "log", end_timestamp="2001-01-01"), "Commit history:\n")
        shown = git(tools, "show", revision="HEAD")
        tap.equal(shown.startswith(entry), True, shown)
        tap.contains(shown, "\n--- a.txt\n+++ a.txt\n@@ -0,0 +1 @@\n+one")


def test_git_tells_what_went_wrong():
    with repository() as tools:
        write(tools, "repo/a.txt", "one\n")
        git(tools, "add", files=["a.txt"])
        git(tools, "commit", message="First")
        tap.equal(git_failure(tools, "checkout", branch_name="nope"),
                  "Cmd('git') failed due to: exit code(1)\n  cmdline: git checkout nope\n"
                  "  stderr: 'error: pathspec 'nope' did not match any file(s) known to git'")
        tap.contains(git_failure(tools, "add", files=["nope"]), "did not match any files")
        tap.contains(git_failure(tools, "diff", target="nope"), "nope")
        tap.contains(git_failure(tools, "show", revision="nope"), "nope")
        tap.contains(git_failure(tools, "create_branch", branch_name="a b"), "not a valid")
        for tool, arguments in (("diff", {"target": "--output=/tmp/x"}),
                                ("checkout", {"branch_name": "-b"}),
                                ("show", {"revision": "--all"}),
                                ("log", {"start_timestamp": "--output=x"})):
            tap.contains(git_failure(tools, tool, **arguments), "cannot start with '-'")
        for tool in ("status", "diff_unstaged", "diff_staged", "commit", "reset", "log", "branch"):
            arguments = {"repo_path": tools.root, "message": "x", "branch_type": "all"}
            tap.equal(git_failure(tools, tool, **arguments), tools.root, tool)
        tap.contains(git_failure(tools, "status", repo_path="/etc"), "Access denied")


def test_git_runs_nothing_of_a_repository():
    with repository() as tools:
        repo = os.path.join(tools.root, "repo")
        mark = os.path.join(tools.root, "ran")
        script = write(tools, "evil", "#!/bin/sh\ntouch %s\ncat\n" % mark)
        os.chmod(script, 0o755)
        for name in ("pre-commit", "post-checkout", "post-commit", "commit-msg"):
            shutil.copy(script, os.path.join(repo, ".git", "hooks", name))
        with open(os.path.join(repo, ".git", "config"), "a") as f:
            f.write('[filter "x"]\n\tclean = %s\n\tsmudge = %s\n[diff]\n\texternal = %s\n'
                    '[core]\n\tfsmonitor = %s\n\tpager = %s\n[diff "x"]\n\ttextconv = %s\n'
                    % ((script,) * 6))
        write(tools, "repo/.gitattributes", "* filter=x diff=x\n")
        write(tools, "repo/a.txt", "one\n")
        git(tools, "status")
        git(tools, "add", files=["."])
        git(tools, "commit", message="First")
        write(tools, "repo/a.txt", "two\n")
        git(tools, "diff_unstaged")
        git(tools, "diff", target="HEAD")
        git(tools, "show", revision="HEAD")
        git(tools, "create_branch", branch_name="b")
        git(tools, "checkout", branch_name="b")
        tap.equal(os.path.exists(mark), False, "something ran")


# ---- code-runner ----

def test_code_runner_runs_and_tells():
    with workspace() as tools:
        tap.equal(tools.text("code-runner", "run-code",
                             {"code": "print(6 * 7)", "languageId": "python"}), "42\n")
        tap.equal(tools.text("code-runner", "run-code",
                             {"code": "echo $((6 * 7))", "languageId": "shellscript"}), "42\n")
        tap.contains(tools.failure("code-runner", "run-code",
                                   {"code": "raise SystemExit(3)", "languageId": "python"}),
                     "Error: Command failed: python3 -u /tmp/mcp-code-runner-")
        tap.equal(tools.failure("code-runner", "run-code", {
            "code": "import sys; sys.stderr.write('x')", "languageId": "python"}), "Stderr: x")
        tap.equal(tools.failure("code-runner", "run-code", {"code": "x", "languageId": "autoit"}),
                  "Error: spawn autoit3 ENOENT: autoit3 is not installed in this sandbox")
        tap.equal(tools.failure("code-runner", "run-code", {"code": "", "languageId": "python"}),
                  "Code is required.")
        left = [x for x in os.listdir("/tmp") if x.startswith("mcp-code-runner-")]
        tap.equal(left, [], "folders")


# ---- code-executor ----

def execute(tools, tool, **arguments):
    return json.loads(tools.text("code-executor", tool, arguments))


def test_code_executor_keeps_files():
    with workspace() as tools:
        got = execute(tools, "execute_code", code="print('hi')", filename="x.py")
        tap.equal(bool(re.fullmatch(r"x_[0-9a-f]{8}\.py", got["generated_filename"])), True, got)
        tap.equal(got, {"status": "success", "output": "hi\n",
                        "file_path": os.path.join(tools.root, got["generated_filename"]),
                        "generated_filename": got["generated_filename"]})
        made = execute(tools, "initialize_code_file", content="a = 1\n", filename="../up")
        tap.equal(os.path.dirname(made["file_path"]), tools.root, made)
        path = made["file_path"]
        tap.equal(execute(tools, "append_to_code_file", file_path=path,
                          content="print(a + 1)\n")["status"], "success")
        tap.equal(execute(tools, "read_code_file", file_path=path)["content"],
                  "a = 1\nprint(a + 1)\n")
        tap.equal(execute(tools, "execute_code_file", file_path=path)["output"], "2\n")
        got = json.loads(tools.text("code-executor", "execute_code", {"code": "print(1)"},
                                    benchmark="MCP_Atlas"))
        tap.contains(got["file_path"], "/repos/mcp_code_executor_workspace/code_")


def test_code_executor_tells_what_went_wrong():
    with workspace() as tools:
        got = execute(tools, "execute_code", code="raise ValueError('no')")
        tap.equal(got["status"], "error")
        tap.contains(got["error"], "ValueError: no")
        for tool in ("read_code_file", "execute_code_file", "append_to_code_file"):
            got = execute(tools, tool, file_path="/etc/passwd", content="")
            tap.contains(got["error"], "Access denied")
        got = execute(tools, "read_code_file", file_path="nope.py")
        tap.contains(got["error"], "ENOENT")
        tap.equal(tools.failure("code-executor", "execute_code", {"code": ""}), "Code is required")
        tap.equal(execute(tools, "install_dependencies", packages=[])["error"],
                  "No packages specified")
        tap.equal(execute(tools, "check_installed_packages", packages=[])["error"],
                  "No packages specified")
        tap.contains(execute(tools, "configure_environment", type="venv")["error"],
                     "venv_path is required")


def test_code_executor_knows_packages_and_environments():
    with workspace() as tools:
        got = execute(tools, "check_installed_packages", packages=["json", "no_such_package"])
        tap.equal((got["env_type"], got["all_installed"], got["not_installed"]),
                  ("venv", False, ["no_such_package"]), got)
        tap.equal(got["package_details"]["json"]["installed"], True)
        got = execute(tools, "install_dependencies", packages=["/no/such/package"])
        tap.equal(got["status"], "error", got)
        got = execute(tools, "configure_environment", type="venv-uv", uv_venv_path="/data/v")
        tap.equal(got["previous"], {"type": "venv"})
        tap.equal(execute(tools, "get_environment_config")["config"],
                  {"type": "venv-uv", "uv_venv_path": "/data/v"})


# ---- desktop-commander ----

def command(tools, tool, **arguments):
    return tools.text("desktop-commander", tool, arguments)


def pid_of(text):
    return int(re.search(r"PID (\d+)", text).group(1))


def test_sessions_go_on_between_calls():
    with workspace() as tools:
        started = command(tools, "start_process", command="python3 -i -q", timeout_ms=60000)
        pid = pid_of(started)
        tap.contains(started, "Process %d is waiting for input (detected: \">>>\")" % pid)
        got = command(tools, "interact_with_process", pid=pid, input="6 * 7", timeout_ms=60000)
        tap.contains(got, "Input executed in process %d:" % pid)
        tap.contains(got, "Output:\n42\n\n")
        tap.contains(command(tools, "list_sessions"), "PID: %d, Blocked: true, Runtime: " % pid)
        got = command(tools, "interact_with_process", pid=pid, input="print('later')",
                      wait_for_prompt=False)
        tap.contains(got, "Input sent to process %d." % pid)
        tap.contains(command(tools, "read_process_output", pid=pid, timeout_ms=60000), "later")
        tap.equal(command(tools, "force_terminate", pid=pid),
                  "Successfully initiated termination of session %d" % pid)
        ended = command(tools, "read_process_output", pid=pid, timeout_ms=60000)
        tap.contains(ended, "Process completed with exit code null\nRuntime: ")
        tap.equal(command(tools, "list_sessions"), "No active sessions")


def test_short_processes_are_told_whole():
    with workspace() as tools:
        got = command(tools, "start_process", command="echo hi; echo err >&2", timeout_ms=60000)
        tap.equal(got, "Process started with PID %d (shell: /bin/sh)\nInitial output:\nhi\nerr\n"
                  % pid_of(got))
        got = command(tools, "start_process", command="exit 3", timeout_ms=60000)
        ended = command(tools, "read_process_output", pid=pid_of(got))
        tap.contains(ended, "Process completed with exit code 3")
        got = command(tools, "start_process", command="exec sleep 600", timeout_ms=10)
        tap.contains(got, "Process is running. Use read_process_output")
        tap.equal(command(tools, "kill_process", pid=pid_of(got)),
                  "Successfully terminated process %d" % pid_of(got))
        tap.contains(command(tools, "list_processes"), "PID: ")


def test_settings_are_kept():
    with workspace() as tools:
        tap.contains(command(tools, "get_config"), '"defaultShell": "/bin/sh"')
        got = command(tools, "set_config_value", key="blockedCommands", value=["ls"])
        tap.contains(got, 'Successfully set blockedCommands to [\n  "ls"\n]\n\nUpdated')
        tap.equal(tools.failure("desktop-commander", "start_process",
                                {"command": "true && /bin/ls", "timeout_ms": 10}),
                  "Error: Command not allowed: true && /bin/ls")
        tap.contains(command(tools, "get_usage_stats"), "Total calls: 3 (2 successful, 1 failed)")
        tap.contains(tools.text("desktop-commander", "give_feedback_to_desktop_commander", {}),
                     "cannot be sent")
        write(tools, "f.py", "def f():\n    return 1\n")
        tap.equal(command(tools, "search_code", path=".", pattern=r"return\s+\d"),
                  os.path.join(tools.root, "f.py") + ":\n  2:     return 1")
        tap.contains(tools.failure("desktop-commander", "search_code",
                                   {"path": ".", "pattern": "("}), "Error: the pattern")
        tap.contains(command(tools, "get_file_info", path="f.py"),
                     "lineCount: 3\nlastLine: 2\nappendPosition: 3")
        tap.contains(command(tools, "edit_block", file_path="f.py", old_string="retrun 1",
                             new_string="return 2"), "found a similar text with 75% similarity")


tap.main(globals())
