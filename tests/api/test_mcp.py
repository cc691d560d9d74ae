# SPDX-License-Identifier: MIT
"""The service's own MCP server: who may call it, and what it says without sandboxes."""

import json
import subprocess

import service
import shops
import tap

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
TOOLS = ["createSandbox", "getSandbox", "listSandbox", "deleteSandbox", "sandboxExecutor",
         "runCommand", "readFile", "writeFile", "listFiles", "pauseSandbox", "resumeSandbox",
         "listApps", "acquireApp", "listAppTools", "callAppTool", "releaseApp", "resetApp",
         "buildTemplate"]


def call(s, method, params=None, path="/mcp", headers=None, **more):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return s.post(path, json.dumps(message), headers={**HEADERS, **(headers or {})}, **more)


def begin(s, **more):
    answer = call(s, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, **more)
    tap.equal(answer.status, 200)
    return answer.headers["Mcp-Session-Id"]


def test_a_key_is_needed():
    with service.running() as s:
        for key in (None, "wrong"):
            answer = call(s, "ping", key=key)
            tap.equal(answer.status, 401)
            tap.equal(answer.headers["WWW-Authenticate"], "Bearer")
            tap.equal(answer.json["error"]["code"], -32000)
        for path in ("/mcp", "/mcp/"):
            tap.equal(call(s, "ping", path=path).json, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_tools():
    with service.running() as s:
        tools = call(s, "tools/list").json["result"]["tools"]
        tap.equal([t["name"] for t in tools], TOOLS)
        for t in tools:
            assert t["description"] and t["annotations"] and t["inputSchema"]["type"] == "object"
        needed = {t["name"]: t["inputSchema"].get("required", []) for t in tools}
        tap.equal(needed["sandboxExecutor"], ["sandbox_name", "tool_name"])
        tap.equal(needed["createSandbox"], [])


def test_one_name_for_the_same_argument():
    with service.running() as s:
        tools = {t["name"]: t["inputSchema"] for t in call(s, "tools/list").json["result"]["tools"]}
        for name, schema in tools.items():
            assert "name" not in schema["properties"], name
            if name.endswith("Sandbox") and name not in ("createSandbox", "listSandbox"):
                tap.equal(schema["required"], ["sandbox_name"], name)
        for wanted in ("sandbox_name", "template", "cpu", "memory", "disk", "timeout",
                       "idle_timeout", "env", "metadata", "network", "allowInternetAccess"):
            assert wanted in tools["createSandbox"]["properties"], wanted


def test_the_templates_are_named():
    def about(s):
        tools = {t["name"]: t for t in call(s, "tools/list").json["result"]["tools"]}
        return tools["createSandbox"]["inputSchema"]["properties"]["template"]["description"]
    with service.running() as s:
        tap.contains(about(s), '{"name":"minimal","description":"A shell with small limits')
        saved = {"name": "mine", "image": "tidepool/default:latest", "description": "Of \"mine\""}
        tap.equal(s.post("/api/v1/config/templates",
                         [saved, dict(saved, name="lacking", requires=["no-such-package"]),
                          dict(saved, name="dyn", type="dynamic",
                               pattern="(?P<name>a)(?P<version>b)")]).status, 200)
        tap.contains(about(s), '[{"name":"mine","description":"Of \\"mine\\""}]')


def test_apps_by_one_connection():
    with shops.running() as s:
        own, other = s.make_key(account="one")["key"], s.make_key(account="two")["key"]

        def use(tool, key=own, **arguments):
            return call(s, "tools/call", {"name": tool, "arguments": arguments},
                        key=key).json["result"]
        listed = use("listApps")["structuredContent"]["apps"]
        shop, = [x for x in listed if x["name"] == "shop"]
        tap.equal((shop["title"], shop["tools"]), ("Shop", 3))
        made = use("acquireApp", server_name="shop", data="default")["structuredContent"]
        app = made["sandbox_id"]
        tools = use("listAppTools", sandbox_id=app)["structuredContent"]["tools"]
        tap.equal([t["name"] for t in tools], ["get_order", "create_order", "find_products"])
        tap.equal(tools[0]["inputSchema"]["required"], ["order_id"])
        answer = use("callAppTool", sandbox_id=app, tool_name="create_order",
                     arguments={"product": "tea"})
        assert not answer.get("isError"), answer
        # The same instance as by its own address.
        path = made["server_url"].split("/", 3)[3]
        direct = call(s, "tools/call", {"name": "get_order", "arguments": {"order_id": 1}},
                      path="/" + path, key=None).json["result"]
        tap.equal(use("callAppTool", sandbox_id=app, tool_name="get_order",
                      arguments={"order_id": 1})["content"], direct["content"])
        for key, tool, arguments in (
                (other, "callAppTool", {"sandbox_id": app, "tool_name": "get_order",
                                        "arguments": {"order_id": 1}}),
                (other, "listAppTools", {"sandbox_id": app}),
                (own, "listAppTools", {"sandbox_id": "none"})):
            tap.equal(use(tool, key=key, **arguments)["isError"], True, tool)
        answer = call(s, "tools/call", {"name": "callAppTool", "arguments": {
            "sandbox_id": app, "tool_name": "none"}}, key=own).json
        tap.contains(answer["result"]["content"][0]["text"], "Unknown tool: none")
        use("releaseApp", sandbox_id=app)
        tap.equal(use("listAppTools", sandbox_id=app)["isError"], True)


def test_addresses_over_the_socket_can_be_reached():
    with shops.running() as s:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "acquireApp", "arguments": {"server_name": "shop"}}}
        answer, = bridge([message], "--state", s.state)
        url = answer["result"]["structuredContent"]["server_url"]
        tap.equal(url.split("/shop/")[0], s.url)


def test_errors_of_tools():
    with service.running() as s:
        for name, arguments, text in (
                ("getSandbox", {}, "sandbox_name is required"),
                ("getSandbox", {"name": ""}, "sandbox_name is required"),
                ("getSandbox", {"sandbox_name": "none"}, "sandbox none not found"),
                ("releaseApp", {}, "sandbox_id is required"),
                ("callAppTool", {"sandbox_id": "x"}, "tool_name is required"),
                ("getSandbox", {"name": "none"}, "sandbox none not found"),
                ("deleteSandbox", {"name": "none"}, "sandbox none not found"),
                ("sandboxExecutor", {"tool_name": "x"}, "sandbox_name is required"),
                ("sandboxExecutor", {"sandbox_name": "x"}, "tool_name is required"),
                ("runCommand", {"sandbox_name": "x"}, "command is required"),
                ("writeFile", {"sandbox_name": "x", "path": "/a"}, "content is required"),
                ("runCommand", {"sandbox_name": 1, "command": "x"}, "sandbox_name: "),
                ("createSandbox", {"name": "Not Valid"}, "")):
            result = call(s, "tools/call", {"name": name, "arguments": arguments}).json["result"]
            tap.equal(result["isError"], True, name)
            tap.contains(result["content"][0]["text"], text)
        result = call(s, "tools/call", {"name": "listSandbox"}).json["result"]
        tap.equal(result["structuredContent"], {"sandboxes": []})


def test_sessions_belong_to_accounts():
    with service.running() as s:
        own, other = s.make_key(account="one")["key"], s.make_key(account="two")["key"]
        session = {"Mcp-Session-Id": begin(s, key=own)}
        tap.equal(call(s, "ping", headers=session, key=own).status, 200)
        tap.equal(call(s, "ping", headers=session, key=other).status, 404)
        tap.equal(s.delete("/mcp", headers=session, key=other).status, 404)
        tap.equal(s.delete("/mcp", headers=session, key=own).status, 204)
        tap.equal(call(s, "ping", headers=session, key=own).status, 404)


def test_sessions_outlive_the_service():
    with service.running() as s:
        own, other = s.make_key(account="one")["key"], s.make_key(account="two")["key"]
        session = {"Mcp-Session-Id": begin(s, key=own)}
        ended = {"Mcp-Session-Id": begin(s, key=own)}
        for stop in (s.stop, s.kill):
            stop()
            s.start()
            answer = call(s, "tools/list", headers=session, key=own)
            tap.equal((answer.status, len(answer.json["result"]["tools"])), (200, len(TOOLS)))
            tap.equal(call(s, "ping", headers=session, key=other).status, 404)
            tap.equal(call(s, "ping", headers={"Mcp-Session-Id": "0" * 64}, key=own).status, 404)
            last = "1" if session["Mcp-Session-Id"][0] == "0" else "0"
            changed = {"Mcp-Session-Id": last + session["Mcp-Session-Id"][1:]}
            tap.equal(call(s, "ping", headers=changed, key=own).status, 404)
        tap.equal(s.delete("/mcp", headers=ended, key=own).status, 204)
        tap.equal(call(s, "ping", headers=ended, key=own).status, 404)
        tap.equal(s.delete("/mcp", headers=session, key=own).status, 204)
        tap.equal(call(s, "ping", headers=session, key=own).status, 404)


def test_pages_of_browsers():
    with service.running() as s:
        answer = call(s, "ping", headers={"Origin": "http://localhost:6274"})
        tap.equal(answer.status, 200)
        tap.contains(answer.headers["Access-Control-Expose-Headers"], "Mcp-Session-Id")
        tap.equal(call(s, "ping", headers={"Origin": "https://evil.example"}).status, 403)
        # A name that somebody made to point here is not this service's, though Host says so too,
        # and no host is to be found in front of an "@".
        for origin, host, status in (
                ("http://rebound.example", "rebound.example", 403),
                ("http://rebound.example:%d" % s.port, "rebound.example:%d" % s.port, 403),
                ("http://127.0.0.1:%d@evil.example" % s.port, None, 403),
                ("http://localhost@evil.example", None, 403),
                ("http://[::1]evil.example", None, 403),
                ("http://localhost:80.evil.example", None, 403), ("ftp://localhost", None, 403),
                ("http://10.1.2.3:8000", "10.1.2.3:8000", 200),
                ("http://10.1.2.3:8000", "10.1.2.4:8000", 403)):
            more = {"Host": host} if host else {}
            tap.equal(call(s, "ping", headers={"Origin": origin, **more}).status, status, origin)
        asked = {"Origin": "http://localhost:6274", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization,mcp-session-id"}
        answer = s.request("OPTIONS", "/mcp", headers=asked, key=None)
        tap.equal(answer.status, 204)
        tap.contains(answer.headers["Access-Control-Allow-Headers"], "mcp-session-id")


def test_pages_of_the_own_domain():
    with service.running("--domain", "tide.example") as s:
        for name, status in (("tide.example", 200), ("api.tide.example", 200),
                             ("nottide.example", 403), ("tide.example.evil.example", 403)):
            answer = call(s, "ping", headers={"Origin": "http://" + name, "Host": name})
            tap.equal(answer.status, status, name)


def test_the_service_stops_with_a_stream_open():
    with service.running() as s:
        connection = s.connect(30)
        connection.request("GET", "/mcp", headers={
            "Accept": "text/event-stream", "Mcp-Session-Id": begin(s),
            "Authorization": "Bearer " + s.key})
        answer = connection.getresponse()
        tap.equal(answer.status, 200)
        tap.equal(s.stop(), 0)
        answer.read()
        connection.close()


def test_revision_without_sessions():
    with service.running() as s:
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
        answer = call(s, "server/discover", {"_meta": meta}, headers=headers)
        tap.equal(answer.json["result"]["resultType"], "complete")
        tap.contains(answer.json["result"]["supportedVersions"], "2026-07-28")


def test_older_transport():
    with service.running() as s:
        connection = s.connect(30)
        connection.request("GET", "/mcp/sse", headers={"Authorization": "Bearer " + s.key})
        stream = connection.getresponse()
        text = b""
        while b"\n\n" not in text:
            text += stream.read1(4096)
        path = text.decode().split("data: ")[1].strip()
        tap.contains(path, "/mcp/messages?sessionId=")
        tap.equal(call(s, "ping", path=path).status, 202)
        text = b""
        while b"\n\n" not in text:
            text += stream.read1(4096)
        tap.contains(text.decode(), '"result":{}')
        connection.close()


def bridge(messages, *options, key=None):
    """What `tidepool mcp` writes for these lines; JSON."""
    lines = "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)
    env = service.clean_env({"TIDEPOOL_API_KEY": key} if key else None)
    done = subprocess.run([service.PROGRAM, "mcp", *options], input=lines, env=env, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    tap.equal((done.returncode, done.stderr), (0, ""))
    return [json.loads(x) for x in done.stdout.splitlines()]


def test_bridge():
    def ask(number, method, **params):
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}
    messages = [ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}),
                {"jsonrpc": "2.0", "method": "notifications/initialized"}, "",
                ask(2, "tools/list"), ask("three", "tools/call", name="listSandbox"),
                "no JSON", ask(4, "nothing"),
                ask(5, "tools/call", name="listSandbox", _meta=meta),
                ask(6, "tools/call", name="grün", _meta=meta)]
    with service.running() as s:
        answers = bridge(messages, "--state", s.state)
        order = [1, 2, "three", None, 4, 5, 6]
        tap.equal((answers[0]["id"], len(answers)), (1, len(order)))
        answers.sort(key=lambda m: order.index(m["id"]))
        one, two, three, bad, four, five, six = answers
        tap.equal(one["result"]["protocolVersion"], "2025-11-25")
        tap.equal([t["name"] for t in two["result"]["tools"]], TOOLS)
        tap.equal((three["id"], three["result"]["structuredContent"]), ("three", {"sandboxes": []}))
        tap.equal(bad["error"]["code"], -32700)
        tap.equal((four["id"], four["error"]["code"]), (4, -32601))
        tap.equal(five["result"]["resultType"], "complete")
        tap.equal(six["error"]["message"], "Unknown tool: grün")
        far = bridge(messages[3:4], "--url", s.url, key=s.make_key()["key"])
        tap.equal(len(far[0]["result"]["tools"]), len(TOOLS))
        refused = bridge(messages[3:4], "--url", s.url, key="wrong")
        tap.equal(refused[0]["error"]["code"], -32000)
        s.stop()
        gone = bridge(messages[3:4], "--state", s.state)
        tap.equal((gone[0]["id"], gone[0]["error"]["code"]), (2, -32000))


tap.main(globals())
