# SPDX-License-Identifier: MIT
"""Apps with the clients that people have: npm's client of Klavis, the official client of MCP, and
the Inspector."""

import json
import os
import shutil
import subprocess

import clients
import service
import tap

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
# The same packages as tests/conformance.
PINS = clients.Pins(os.path.join(TESTS, "conformance"), "npm-mcp", oldest=(22,),
                    version="22.23.3")


def run(*command):
    folder = PINS.install()
    done = subprocess.run(PINS.node(*command), capture_output=True, text=True, timeout=250,
                          cwd=os.path.dirname(folder))
    tap.equal(done.returncode, 0, "status\n%s%s" % (done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def run_script(name, *arguments):
    """Scripts find packages from where they are, so they are run beside them."""
    folder = os.path.dirname(PINS.install())
    shutil.copy(os.path.join(HERE, name), folder)
    return json.loads(run(os.path.join(folder, name), *arguments))


def test_klavis():
    with service.folder() as apps:
        # The client has initialize and dump for snowflake alone: any app can have that name.
        shutil.copytree(os.path.join(clients.SOURCE, "apps", "slack"),
                        os.path.join(apps, "slack"))
        shutil.copytree(os.path.join(TESTS, "lib", "shop"), os.path.join(apps, "snowflake"))
        with service.running(env={"TIDEPOOL_APPS_DIR": apps}) as s:
            got = run_script("klavis.mjs", s.url, s.key)
    tap.equal(got["made"]["status"], "occupied")
    tap.equal(got["made"]["server_urls"], {"slack": got["made"]["server_url"]})
    tap.equal(got["info"]["sandbox_id"], got["made"]["sandbox_id"])
    tap.equal(got["info"]["server_url"], got["made"]["server_url"])
    tap.equal(got["reset"]["status"], "occupied")
    tap.equal(got["released"]["status"], "idle")
    tap.equal((got["unknown"]["name"], got["unknown"]["status"]),
              ("UnprocessableEntityError", 422))
    tap.equal(got["unknown"]["body"]["detail"][0]["type"], "enum")
    tap.equal((got["none"]["name"], got["none"]["status"]), ("KlavisError", 404))
    tap.equal(got["stranger"]["status"], 403)
    tap.equal(got["initialized"]["records_created"], {"products": 1})
    tap.equal(got["dumped"]["data"]["products"], [{"name": "tea", "price": 5, "stock": 1}])


def rows(diff):
    """{"table": [inserted, updated, deleted]}"""
    return {name: [len(t.get(kind, [])) for kind in ("inserted", "updated", "deleted")]
            for name, t in diff["tables"].items()}


def test_an_agent_at_work():
    with service.running() as s:
        got = run_script("apps.mjs", s.url, s.key)
    tap.contains(got["first"]["found"], got["first"]["key"])
    # Exactly what was done: an issue (which its project counts), a comment, a message.
    tap.equal(rows(got["diffs"]["jira"]),
              {"issue": [1, 0, 0], "comment": [1, 0, 0], "project": [0, 1, 0]})
    summaries = [row["summary"] for row in got["diffs"]["jira"]["tables"]["issue"]["inserted"]]
    tap.equal(summaries, ["Check drift at -20 C"])
    tap.equal(rows(got["diffs"]["slack"]), {"message": [1, 0, 0]})
    message, = got["diffs"]["slack"]["tables"]["message"]["inserted"]
    tap.equal(message["text"], "Filed " + got["first"]["key"])
    tap.equal(got["calls"], ["jira_create_issue", "jira_add_comment", "jira_search"])
    tap.equal(got["verified"]["passed"], True, got["verified"])
    # Reset: nothing is different, and the same work gives the same bytes.
    for app in ("jira", "slack"):
        tap.equal(got["after"][app], {"inserted": 0, "updated": 0, "deleted": 0, "tables": {}})
    tap.equal(got["said"], 5)
    tap.equal(got["isSame"], [True, True])


def inspect(url, *arguments):
    program = os.path.join(PINS.install(), "@modelcontextprotocol", "inspector", "cli", "build",
                           "index.js")
    return json.loads(run(program, url, "--transport", "http", *arguments))


def test_inspector():
    with open(os.path.join(clients.SOURCE, "apps", "jira", "tools.json")) as f:
        names = [t["name"] for t in json.load(f)]
    with service.running() as s:
        url = s.post("/sandbox/jira", {"data": "default"}).json["server_url"]
        tap.equal([t["name"] for t in inspect(url, "--method", "tools/list")["tools"]], names)
        got = inspect(url, "--method", "tools/call", "--tool-name", "jira_search", "--tool-arg",
                      "jql=project = ATLAS", "limit=2")
        tap.equal(len(json.loads(got["content"][0]["text"])["issues"]), 2)


tap.main(globals())
