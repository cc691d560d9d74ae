# SPDX-License-Identifier: MIT
"""Local sandboxes: servers of tools over one workspace, through the Klavis API and MCP."""

import json
import os
import threading

import cells
import local_sets
import pdf_files
import tap

SERVERS = ["filesystem", "git", "terminal", "code-executor", "code-runner", "localmemory",
           "desktop-commander"]


def acquire(s, names="ALL", **fields):
    answer = s.post("/local-sandbox", {"server_names": names, **fields}, timeout=120)
    tap.equal(answer.status, 201, answer)
    return answer.json


def path_of(url):
    return url[url.index("/", len("http://")):]


def rpc(s, server, method, params=None, headers=None):
    """A message to a server of a local sandbox, without a key and without a session."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    answer = s.post(path_of(server["mcp_server_url"]), body, key=None, timeout=120, headers={
        "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
        **(headers or {})})
    tap.equal(answer.status, 200, answer)
    text = answer.body.decode()
    if text.startswith("event:") or text.startswith("data:") or text.startswith("id:"):
        text = [x[6:] for x in text.splitlines() if x.startswith("data: ")][-1]
    return json.loads(text)


def call(s, server, tool, **arguments):
    answer = rpc(s, server, "tools/call", {"name": tool, "arguments": arguments})
    return answer.get("result") or answer


def begin(s, server):
    """The id of a new session."""
    answer = s.post(path_of(server["mcp_server_url"]), {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}, key=None,
        headers={"Content-Type": "application/json"})
    tap.equal(answer.status, 200, answer)
    return answer.headers["Mcp-Session-Id"]


def texts(result):
    if "content" not in result:
        raise AssertionError(result)
    return [x["text"] for x in result["content"]]


def by_name(sandbox):
    return {x["server_name"]: x for x in sandbox["servers"]}


def test_servers_share_one_workspace():
    with cells.running() as s:
        sandbox = acquire(s)
        servers = by_name(sandbox)
        tap.equal([x for x in SERVERS if x not in servers], [])
        tap.equal(sandbox["message"], "Local sandbox environment acquired successfully")
        tap.equal(texts(call(s, servers["filesystem"], "filesystem_write_file",
                             path="/data/a.txt", content="hello\n")),
                  ["Successfully wrote to /data/a.txt"])
        tap.equal(texts(call(s, servers["terminal"], "run_command", command="cat a.txt"))[0],
                  "hello\n")
        tap.equal(texts(call(s, servers["code-runner"], "run-code", languageId="python",
                             code="print(open('/data/a.txt').read().upper())")), ["HELLO\n\n"])
        call(s, servers["localmemory"], "create_entities", entities=[
            {"name": "A", "entityType": "t", "observations": ["from memory"]}])
        listed = texts(call(s, servers["filesystem"], "list_directory", path="."))[0]
        tap.equal(listed, "[FILE] a.txt\n[FILE] memory.json")
        wrong = call(s, servers["filesystem"], "filesystem_read_file", path="/etc/passwd")
        tap.equal((wrong["isError"], texts(wrong)[0].split(":")[0]),
                  (True, "Access denied - path outside allowed directories"))


def test_the_log_does_not_show_ids():
    """Whoever has the id of a local sandbox has its tools: the log has its beginning only."""
    with cells.running() as s:
        sandbox = acquire(s)
        key = sandbox["local_sandbox_id"]
        name = "local-" + key.replace("-", "")
        call(s, by_name(sandbox)["filesystem"], "filesystem_list_directory", path="/data")
        for method, path in (("GET", "/local-sandbox/" + key),
                             ("GET", "/local-sandbox/%s/dump" % key),
                             ("POST", "/local-sandbox/%s/upload-url" % key),
                             ("GET", "/local-sandbox/%s/nowhere" % key),
                             ("GET", "/local-sandbox/%%%02x%s" % (ord(key[0]), key[1:])),
                             ("GET", "/sandbox/localmemory/%s/dump" % key),
                             ("GET", "/api/v1/sandbox/" + name), ("GET", "/sandbox/%s/x" % name),
                             ("DELETE", "/local-sandbox/" + key)):
            s.request(method, path, timeout=60)
        log = s.log()
        tap.contains(log, "/local-sandbox/%s***/dump" % key[:8])
        tap.contains(log, "/api/v1/sandbox/local-%s***" % key[:8])
        for secret in (key, key[1:], key.replace("-", "")):
            shown = [line for line in log.splitlines() if secret in line]
            tap.equal(shown, [], secret)


def test_tools_follow_the_benchmark():
    expected = local_sets.expected()
    with cells.running() as s:
        for benchmark in local_sets.BENCHMARKS:
            sandbox = acquire(s, benchmark=benchmark or None)
            servers = by_name(sandbox)
            for name in set(servers) & set(expected):
                tools = rpc(s, servers[name], "tools/list")["result"]["tools"]
                tap.equal({x["name"]: local_sets.describe(x["inputSchema"]) for x in tools},
                          expected[name].get(benchmark, expected[name][""]), (name, benchmark))
            answer = call(s, servers["filesystem"], "list_allowed_directories")
            tap.equal("structuredContent" in answer, benchmark == "MCP_Atlas", benchmark)
            tap.equal(s.delete("/local-sandbox/" + sandbox["local_sandbox_id"]).status, 200)


def test_pdf_files_in_a_cell():
    with cells.running() as s:
        for benchmark, count, tool, argument in (
                (None, 3, "read_pdf", "file_path"),
                ("Toolathlon", 9, "pdf_tools_read_pdf_pages", "pdf_file_path")):
            sandbox = acquire(s, ["pdf-tools", "filesystem"], benchmark=benchmark)
            servers = by_name(sandbox)
            tap.equal(len(rpc(s, servers["pdf-tools"], "tools/list")["result"]["tools"]), count)
            call(s, servers["filesystem"], "write_file", path="/data/a.pdf",
                 content=pdf_files.make(["Found in a cell"]).decode())
            got = texts(call(s, servers["pdf-tools"], tool, **{argument: "/data/a.pdf"}))[0]
            tap.contains(got, "Found in a cell")
            tap.equal(s.delete("/local-sandbox/" + sandbox["local_sandbox_id"]).status, 200)


def test_workbooks_in_a_cell():
    with cells.running() as s:
        for benchmark, count in ((None, 25), ("Toolathlon", 20)):
            sandbox = acquire(s, ["excel", "filesystem"], benchmark=benchmark)
            servers = by_name(sandbox)
            excel = servers["excel"]
            tap.equal(len(rpc(s, excel, "tools/list")["result"]["tools"]), count)
            book = {"filepath": "/data/a.xlsx", "sheet_name": "Sheet1"}
            tap.equal(texts(call(s, excel, "create_workbook", filepath="/data/a.xlsx")),
                      ["Created workbook at /data/a.xlsx"])
            call(s, excel, "write_data_to_excel", data=[["piers", 7]], **book)
            # With and without a prefix, with defaults that the schema of a benchmark does not take.
            for name in ("read_data_from_excel", "excel_read_data_from_excel"):
                cells_read = json.loads(texts(call(s, excel, name, **book))[0])["cells"]
                tap.equal([x["value"] for x in cells_read], ["piers", 7], name)
            tap.contains(texts(call(s, servers["filesystem"], "list_directory", path="/data"))[0],
                         "[FILE] a.xlsx")
            tap.equal(s.delete("/local-sandbox/" + sandbox["local_sandbox_id"]).status, 200)


def test_presentations_in_a_cell():
    with cells.running() as s:
        for benchmark in (None, "Toolathlon"):
            sandbox = acquire(s, ["powerpoint", "filesystem"], benchmark=benchmark)
            servers = by_name(sandbox)
            slides = servers["powerpoint"]
            tap.equal(len(rpc(s, slides, "tools/list")["result"]["tools"]), 37)
            # What is in memory outlives a session: each of these calls has its own.
            call(s, slides, "create_presentation")
            call(s, slides, "powerpoint_add_slide", title="Piers & boats")
            # Its arguments have defaults that its schema does not take.
            tap.contains(texts(call(s, slides, "manage_hyperlinks", operation="list",
                                    slide_index=0))[0], "Found 0 hyperlinks on slide 0")
            call(s, slides, "save_presentation", file_path="/data/a.pptx")
            opened = json.loads(texts(call(s, slides, "open_presentation",
                                           file_path="/data/a.pptx"))[0])
            tap.equal((opened["presentation_id"], opened["slide_count"]), ("presentation_2", 1))
            read = texts(call(s, slides, "extract_presentation_text"))[0]
            tap.equal(json.loads(read)["all_presentation_text_combined"],
                      "=== SLIDE 1 ===\nPiers & boats\nPiers & boats\n")
            tap.contains(texts(call(s, servers["filesystem"], "list_directory", path="/data"))[0],
                         "[FILE] a.pptx")
            tap.equal(s.delete("/local-sandbox/" + sandbox["local_sandbox_id"]).status, 200)


def test_papers_in_a_cell():
    with cells.running() as s:
        sandbox = acquire(s, ["arxiv", "filesystem"], benchmark="Toolathlon")
        servers = by_name(sandbox)
        tap.equal(len(rpc(s, servers["arxiv"], "tools/list")["result"]["tools"]), 4)
        # A workspace with papers of its own does not look outside.
        call(s, servers["filesystem"], "write_file", path="/data/arxiv_corpus.json",
             content='[{"id": "2401.00001", "title": "Harbours", "abstract": "On piers."}]')
        found = texts(call(s, servers["arxiv"], "search_papers", query="au:Vaswani OR piers"))[0]
        tap.equal(json.loads(found)["total_results"], 2, found)
        call(s, servers["arxiv"], "arxiv_download_paper", paper_id="2401.00001")
        tap.contains(texts(call(s, servers["filesystem"], "read_file",
                                path="/data/arxiv_local_storage/2401.00001.md"))[0], "# Harbours")


def test_documents_in_a_cell():
    with cells.running() as s:
        for benchmark, count in ((None, 54), ("Toolathlon", 47)):
            sandbox = acquire(s, ["word", "filesystem"], benchmark=benchmark)
            servers = by_name(sandbox)
            tools = rpc(s, servers["word"], "tools/list")["result"]["tools"]
            tap.equal(len(tools), count)
            bold = "bold" in {x["name"]: x for x in tools}["add_paragraph"]["inputSchema"][
                "properties"]
            tap.equal(bold, benchmark is None)
            call(s, servers["word"], "create_document", filename="/data/a.docx")
            tap.equal(texts(call(s, servers["word"], "word_add_heading", filename="a", text="Ebb")),
                      ["Heading 'Ebb' (level 1) added to a.docx"])
            tap.equal(texts(call(s, servers["word"], "get_document_text", filename="a.docx")),
                      ["Ebb"])
            tap.equal(s.delete("/local-sandbox/" + sandbox["local_sandbox_id"]).status, 200)


def test_life_of_a_local_sandbox():
    with cells.running() as s:
        sandbox = acquire(s, ["filesystem"], ttl_seconds=600)
        key = sandbox["local_sandbox_id"]
        shown = s.get("/local-sandbox/" + key)
        tap.equal((shown.status, shown.json["local_sandbox_id"], shown.json["status"]),
                  (200, key, "occupied"))
        tap.equal(s.get("/local-sandbox").json["total_count"], 1)
        url = path_of(sandbox["servers"][0]["mcp_server_url"])
        released = s.delete("/local-sandbox/" + key)
        tap.equal((released.status, released.json["message"]), (
            200, "Local sandbox release started for %s: it will be released asynchronously in "
                 "background." % key))
        tap.equal(s.post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                         key=None).status, 404)
        tap.equal(s.get("/local-sandbox/" + key).status, 404)
        tap.equal(s.get("/local-sandbox").json["total_count"], 0)


def test_what_was_released_does_not_come_back():
    """The answer leaves when the end is written."""
    with cells.running() as s:
        for path in ("/local-sandbox/", "/sandbox/local_dev/"):
            keys = [acquire(s, ["filesystem"])["local_sandbox_id"] for _ in range(3)]
            for key in keys:
                tap.equal(s.delete(path + key).status, 200)
            s.kill()
            s.start()
            tap.equal([s.get("/local-sandbox/" + key).status for key in keys], [404] * 3, path)


def test_what_is_wrong_is_told():
    with cells.running() as s:
        tap.equal(s.post("/local-sandbox", {"server_names": ["nope"]}).status, 422)
        tap.equal(s.post("/local-sandbox", {}).status, 422)
        short = {"server_names": ["filesystem"], "ttl_seconds": 5}
        tap.equal(s.post("/local-sandbox", short).status, 422)
        tap.equal(s.post("/local-sandbox", {"server_names": "ALL"}, key=None).status, 401)
        sandbox = acquire(s, ["git"])
        url = path_of(sandbox["servers"][0]["mcp_server_url"])
        other = url.replace("/git/", "/terminal/")
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        tap.equal(s.post(other, ping, key=None).status, 404)
        answer = rpc(s, sandbox["servers"][0], "tools/call",
                     {"name": "git_status", "arguments": {}})
        tap.equal(answer["result"]["isError"], True, answer)


def test_tools_come_back():
    """The program of the tools is started again when it dies, and a restart of the service finds
    everything."""
    with cells.running() as s:
        sandbox = acquire(s, ["filesystem", "code-runner"])
        servers = by_name(sandbox)
        call(s, servers["filesystem"], "filesystem_write_file", path="a", content="1")
        session = begin(s, servers["filesystem"])
        name = "local-" + sandbox["local_sandbox_id"].replace("-", "")
        # Calls come by the name, not by the port: who listens there, and a connection.
        found = s.run(name, "grep -c ' @tidepool-local$' /proc/net/unix")
        tap.equal(found["output"].strip(), "2", found)
        s.run(name, "kill -9 $(pgrep -n tidepool-local)")
        tap.equal(texts(call(s, servers["filesystem"], "filesystem_read_file", path="a")), ["1"])
        s.stop()
        s.start()
        tap.equal(texts(call(s, servers["filesystem"], "filesystem_read_file", path="a")), ["1"])
        for name, status in (("filesystem", 200), ("code-runner", 404)):
            answer = s.post(path_of(servers[name]["mcp_server_url"]),
                            {"jsonrpc": "2.0", "id": 1, "method": "ping"}, key=None,
                            headers={"Content-Type": "application/json", "Mcp-Session-Id": session})
            tap.equal(answer.status, status, answer)


def test_retired_paths_lead_to_local_sandboxes():
    with cells.running() as s:
        made = s.post("/sandbox/local_dev", {"benchmark": "Toolathlon"}, timeout=120)
        tap.equal((made.status, made.json["server_name"]), (201, "local_dev"), made)
        url = made.json["server_urls"]["filesystem"]
        tap.equal(url.endswith("/filesystem/mcp/?local_sandbox_id=" + made.json["sandbox_id"]),
                  True, url)
        server = {"mcp_server_url": url}
        tap.equal(texts(call(s, server, "write_file", path="/data/a", content="1")),
                  ["Successfully wrote to /data/a"])
        path = "/sandbox/local_dev/" + made.json["sandbox_id"]
        shown = s.get(path)
        tap.equal((shown.status, shown.json["status"], shown.json["auth_data"]),
                  (200, "occupied", None), shown)
        tap.equal(s.get("/local-sandbox").json["total_count"], 1)
        gone = s.delete(path)
        tap.equal((gone.status, gone.json["status"]), (200, "idle"), gone)
        tap.equal((s.get(path).status, s.post("/sandbox/local_dev", {"ttl_seconds": 1}).status),
                  (404, 422))


def test_a_graph_is_initialized_and_dumped():
    with cells.running() as s:
        made = s.post("/sandbox/localmemory", None, timeout=120)
        tap.equal((made.status, list(made.json["server_urls"])), (201, ["localmemory"]), made)
        tap.equal(made.json["server_url"], made.json["server_urls"]["localmemory"])
        path = "/sandbox/localmemory/" + made.json["sandbox_id"]
        entities = [{"name": "A", "entityType": "t", "observations": ["x"]},
                    {"name": "B", "entityType": "t"}]
        relations = [{"from": "A", "to": "B", "relationType": "knows"}]
        done = s.post(path + "/initialize", {"entities": entities, "relations": relations})
        tap.equal((done.status, done.json.get("records_created"), done.json.get("status")),
                  (200, {"entities": 2, "relations": 1}, "occupied"), done)
        again = s.post(path + "/initialize", {"entities": entities})
        tap.equal(again.json["records_created"], {"entities": 0, "relations": 0}, again)
        dump = s.get(path + "/dump")
        entities[1]["observations"] = []
        tap.equal((dump.status, dump.json["server_name"], dump.json["data"]),
                  (200, "localmemory", {"entities": entities, "relations": relations}))
        # As the servers' own id, too, and seen by the tools.
        item = s.get("/local-sandbox").json["local_sandboxes"][0]["servers"][0]
        tap.equal(s.get("/sandbox/localmemory/%s/dump" % item["id"]).json["data"],
                  dump.json["data"])
        tap.contains(texts(call(s, item, "search_nodes", query="knows B a"))[0], "[]")
        # As a file, for which there is an address without a key.
        place = s.post(path.replace("localmemory", "local_memory") + "/upload-url", None).json
        lines = '{"type":"entity","name":"Z","entityType":"t","observations":[]}'
        target = path_of(place["upload_url"])
        tap.equal(s.request("PUT", target, lines, key=None).status, 200)
        tap.equal([x["name"] for x in s.get(path + "/dump").json["data"]["entities"]], ["Z"])
        tap.equal(s.request("PUT", target.replace("=memory", "=upload"), lines, key=None).status,
                  403)
        wrong = s.post(path + "/initialize", {"entities": [{"name": "C"}]})
        tap.equal((wrong.status, wrong.json["detail"][0]["type"]), (422, "missing"), wrong)
        tap.equal(s.get("/sandbox/localmemory/nope/dump").status, 404)


# In place of tidepool-local: answers a call with its body.
MIRROR = """
import http.server, json
class Mirror(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        got = self.rfile.read(int(self.headers["Content-Length"])).decode()
        out = json.dumps({"content": [{"type": "text", "text": got}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)
http.server.ThreadingHTTPServer.allow_reuse_address = True
http.server.ThreadingHTTPServer(("127.0.0.1", 49984), Mirror).serve_forever()
"""


def test_tools_are_told_of_headers():
    with cells.running() as s:
        sandbox = acquire(s, ["filesystem"])
        server = sandbox["servers"][0]
        name = "local-" + sandbox["local_sandbox_id"].replace("-", "")
        call(s, server, "filesystem_write_file", path="/data/mirror.py", content=MIRROR)
        s.run(name, "kill -STOP $(pgrep -o tidepool-local); kill -9 $(pgrep -n tidepool-local)")
        s.run(name, "python3 /data/mirror.py >/dev/null 2>&1 & sleep 0.1")
        answer = rpc(s, server, "tools/call", {"name": "list_allowed_directories"},
                     headers={"X-Email-Config": "e30=", "x-a": "b"})
        told = json.loads(texts(answer["result"])[0])["headers"]
        tap.equal((told["x-email-config"], told["x-a"], "accept" in told), ("e30=", "b", False))
        many = {"x-%d" % i: "" for i in range(33)}
        tap.equal(s.post(path_of(server["mcp_server_url"]), {}, key=None, headers=many).status,
                  431)


def test_calls_run_beside_each_other():
    with cells.running() as s:
        servers = by_name(acquire(s, ["code-runner", "filesystem"]))
        slow = threading.Thread(target=call, args=(s, servers["code-runner"], "run-code"),
                                kwargs={"languageId": "shellscript", "code": "while [ ! -e "
                                        "/data/go ]; do sleep 0.05; done"})
        slow.start()
        call(s, servers["filesystem"], "filesystem_write_file", path="go", content="")
        slow.join(120)
        tap.equal(slow.is_alive(), False)


def test_the_same_acquire_again():
    with cells.running() as s:
        for path, body in (("/local-sandbox", {"server_names": ["filesystem"]}),
                           ("/sandbox/localmemory", {})):
            def ask(**fields):
                return s.post(path, dict(body, **fields), headers={"Idempotency-Key": "a"},
                              timeout=60)

            n = len(s.names())
            first = ask()
            tap.equal(first.status, 201, first)
            again = ask()
            tap.equal((again.status, again.body), (201, first.body))
            tap.equal(again.headers["Idempotency-Replayed"], "true")
            tap.equal(ask(ttl_seconds=600).status, 422)
            s.kill()
            s.start()
            tap.equal(ask().body, first.body)
            tap.equal(len(s.names()), n + 1)


tap.main(globals())
