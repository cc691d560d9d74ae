# SPDX-License-Identifier: MIT
"""The MCP engine from outside: what no well-behaved client does, and what a client may rely on."""

import json
import socket

import mcp_server
import tap


def error(answer):
    return answer.json["error"]["code"]


def test_not_json():
    with mcp_server.running() as s:
        for body in ("", "{", "nul", '{"jsonrpc":"2.0"} x', "[" * 100, b"\xff\xfe"):
            a = s.send(body=body)
            tap.equal((a.status, error(a)), (400, -32700), repr(body))


def test_not_json_rpc():
    with mcp_server.running() as s:
        for message in (1, '"x"', {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"},
                        {"jsonrpc": "2.0", "id": None, "method": "ping"},
                        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
                        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
                        {"jsonrpc": "2.0", "id": 1, "method": 7},
                        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
                        {"jsonrpc": "2.0", "id": "x" * 300, "method": "ping"},
                        {"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}):
            a = s.send(body=message)
            tap.equal((a.status, error(a)), (400, -32600), repr(message))


def test_ids_come_back():
    with mcp_server.running() as s:
        for number in (0, -1, 2 ** 53, "a", 'with "quotes"', "ü"):
            tap.equal(s.call("ping", number=number).json,
                      {"jsonrpc": "2.0", "id": number, "result": {}})


def test_http_head():
    with mcp_server.running() as s:
        tap.equal(s.send("PUT").status, 405)
        tap.equal(s.send("GET").status, 405, "GET without a session")
        tap.equal(s.send("DELETE").status, 405, "DELETE without a session")
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        tap.equal(s.send(body=ping, headers={"Content-Type": "text/plain"}).status, 415)
        tap.equal(s.send(body=ping, headers={"Accept": "text/html"}).status, 406)
        tap.equal(s.send(body=ping, headers={"Accept": "application/json"}).status, 200)
        only = s.send(body=ping, headers={"Accept": "text/event-stream"})
        tap.equal(only.headers["content-type"], "text/event-stream")
        tap.equal(only.events[-1]["result"], {})
        tap.equal(s.send(body=b"x" * (5 << 20)).status, 413)


def test_origins():
    with mcp_server.running() as s:
        for origin, status in (("http://localhost:6274", 200), ("http://127.0.0.1", 200),
                               ("http://[::1]:80", 200), ("http://evil.example", 403),
                               ("http://localhost.evil.example", 403), ("null", 403)):
            a = s.call("ping", headers={"Origin": origin})
            tap.equal(a.status, status, origin)


def test_versions():
    with mcp_server.running() as s:
        for asked, got in (("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"),
                           ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"),
                           ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")):
            a = s.call("initialize", {"protocolVersion": asked, "capabilities": {}})
            tap.equal(a.json["result"]["protocolVersion"], got, asked)
        tap.equal(error(s.call("initialize", {})), -32602)


def test_sessions():
    with mcp_server.running() as s:
        one = s.begin()
        tap.equal(len(one), 32)
        tap.equal(s.call("ping", session=one).status, 200)
        a = s.send(body={"jsonrpc": "2.0", "method": "notifications/initialized"},
                   headers={"Mcp-Session-Id": one})
        tap.equal((a.status, a.body), (202, b""))
        tap.equal(s.call("ping", session="0" * 32).status, 404)
        tap.equal(s.send("DELETE", headers={"Mcp-Session-Id": one}).status, 204)
        tap.equal(s.send("DELETE", headers={"Mcp-Session-Id": one}).status, 404)
        tap.equal(s.call("ping", session=one).status, 404)
        tap.equal(s.call("tools/call", {"name": "sum", "arguments": {"a": 1}}).status, 200,
                  "without a session")


def test_oldest_session_goes_first():
    with mcp_server.running() as s:  # which keeps 100
        ids = [s.begin() for _ in range(100)]
        tap.equal(s.call("ping", session=ids[0]).status, 200)
        ids.append(s.begin())
        tap.equal(s.call("ping", session=ids[0]).status, 200, "used just now")
        tap.equal(s.call("ping", session=ids[1]).status, 404, "not used for longest")
        tap.equal(s.call("ping", session=ids[2]).status, 200)


def test_batches():
    with mcp_server.running() as s:
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"},
                 {"jsonrpc": "2.0", "method": "notifications/x"}, 7,
                 {"jsonrpc": "2.0", "id": 2, "method": "nothing"}]
        a = s.send(body=batch, headers={"Mcp-Session-Id": s.begin("2025-03-26")})
        tap.equal([(x["id"], "result" in x) for x in a.json],
                  [(1, True), (None, False), (2, False)])
        notes = s.send(body=batch[1:2], headers={"Mcp-Session-Id": s.begin("2025-03-26")})
        tap.equal((notes.status, notes.body), (202, b""))
        late = [{"jsonrpc": "2.0", "id": n, "method": "tools/call",
                 "params": {"name": "test_tool_with_progress"}} for n in (1, 2)]
        a = s.send(body=late, headers={"Mcp-Session-Id": s.begin("2025-03-26")})
        tap.equal(sorted(x["id"] for x in a.json), [1, 2])
        for version in ("2025-06-18", "2025-11-25"):
            a = s.send(body=batch, headers={"Mcp-Session-Id": s.begin(version)})
            tap.equal((a.status, error(a)), (400, -32600), version)
        old = {"Mcp-Session-Id": s.begin("2025-03-26")}
        tap.equal(s.send(body=[], headers=old).status, 400, "empty")
        tap.equal(s.send(body=batch[:1] * 64, headers=old).status, 200, "64")
        tap.equal(s.send(body=batch[:1] * 65, headers=old).status, 400, "65")


def test_arguments():
    with mcp_server.running() as s:
        def call(arguments, name="sum"):
            return s.call("tools/call", {"name": name, "arguments": arguments}).json
        tap.equal(call({"a": 2, "b": 3})["result"]["structuredContent"], {"sum": 5})
        tap.equal(call({"a": 2})["result"]["structuredContent"], {"sum": 3}, "default")
        for bad in ({}, {"a": "2"}, {"a": 1, "c": 2}, {"a": 1, "b": None}):
            tap.equal(call(bad)["result"]["isError"], True, repr(bad))
        tap.contains(call({"a": "2"})["result"]["content"][0]["text"], "a: ")
        tap.equal(call([])["error"]["code"], -32602)
        tap.equal(call({}, "none")["error"]["code"], -32602)
        tap.equal(call({}, 7)["error"]["code"], -32602)
        tap.equal(call({}, "x" * 5000)["error"]["code"], -32602)


def test_pages():
    with mcp_server.running(page=7) as s:
        names, cursor, pages = [], None, 0
        while True:
            r = s.call("tools/list", {"cursor": cursor} if cursor else {}).json["result"]
            names += [t["name"] for t in r["tools"]]
            pages += 1
            cursor = r.get("nextCursor")
            if not cursor:
                break
        tap.equal((len(set(names)), pages), (s.n_tools, 6))
        for bad in ("x", "-1", "99999", "", 7):
            tap.equal(error(s.call("tools/list", {"cursor": bad})), -32602, repr(bad))


def read_some(conn, until):
    text = b""
    while until not in text:
        got = conn.read1(4096)
        if not got:
            break
        text += got
    return text.decode()


def last_id(text):
    return [x[4:] for x in text.splitlines() if x.startswith("id: ")][-1]


def test_resuming_a_stream():
    with mcp_server.running() as s:
        session = s.begin()
        a = s.call("tools/call", {"name": "test_reconnection"}, session=session)
        tap.equal(a.headers["content-type"], "text/event-stream")
        tap.equal(a.events, [], "hung up before the answer")
        head = {"Mcp-Session-Id": session, "Last-Event-ID": last_id(a.body.decode())}
        got = s.send("GET", headers=head)
        tap.equal(got.events[0]["result"]["content"][0]["text"], "Reconnection test completed")
        again = s.send("GET", headers=head)
        tap.equal(again.events, got.events, "kept for another time")
        other = s.begin()
        conn = s.connect()
        conn.request("GET", "/mcp", headers={"Accept": "text/event-stream",
                                             "Mcp-Session-Id": other,
                                             "Last-Event-ID": head["Last-Event-ID"]})
        r = conn.getresponse()
        tap.equal(r.status, 200)
        s.call("tools/call", {"name": "test_trigger_tool_change"})
        tap.contains(read_some(r, b"list_changed"), "list_changed")
        conn.close()


def open_call(s, session, name, arguments):
    """A call whose answer does not come: its connection and the begun answer."""
    conn = s.connect()
    conn.request("POST", "/mcp", body=json.dumps(
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": name, "arguments": arguments, "_meta": {"progressToken": "p"}}}),
        headers={"Accept": mcp_server.ACCEPT, "Content-Type": "application/json",
                 "Mcp-Session-Id": session})
    return conn, conn.getresponse()


def test_a_lost_connection_is_no_cancellation_in_a_session():
    with mcp_server.running() as s:
        session = s.begin()
        conn, r = open_call(s, session, "forever", {})
        tap.contains(read_some(r, b"progressToken"), '"progressToken":"p"')
        conn.sock.shutdown(socket.SHUT_RDWR)
        conn.close()
        tap.equal(s.wait_for("cancelled", 1, seconds=0.3), False)
        s.send(body={"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": 6}}, headers={"Mcp-Session-Id": session})
        tap.equal(s.wait_for("cancelled", 1, seconds=0.2), False, "of another call")
        s.send(body={"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": 5}}, headers={"Mcp-Session-Id": session})
        tap.equal(s.wait_for("cancelled", 1), True)


def test_the_end_of_a_session_cancels():
    with mcp_server.running() as s:
        session = s.begin(capabilities={"elicitation": {}})
        one, asked = open_call(s, session, "test_elicitation", {"message": "?"})
        tap.contains(read_some(asked, b"elicitation/create"), "elicitation/create")
        two, endless = open_call(s, session, "forever", {})
        tap.contains(read_some(endless, b"progress"), "progress")
        tap.equal(s.send("DELETE", headers={"Mcp-Session-Id": session}).status, 204)
        tap.equal(s.wait_for("cancelled", 1), True)
        tap.equal((asked.read(), endless.read()), (b"", b""), "the streams end")
        one.close()
        two.close()


def test_a_closed_stream_is_a_cancellation_without_sessions():
    with mcp_server.running() as s:
        params = {"name": "forever", "_meta": {
            "progressToken": 1, mcp_server.META + "protocolVersion": "2026-07-28",
            mcp_server.META + "clientCapabilities": {}}}
        conn = s.connect()
        conn.request("POST", "/mcp", body=json.dumps(
            {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}),
            headers={"Accept": mcp_server.ACCEPT, "Content-Type": "application/json",
                     "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
                     "Mcp-Name": "forever"})
        read_some(conn.getresponse(), b"progress")
        conn.sock.shutdown(socket.SHUT_RDWR)
        conn.close()
        tap.equal(s.wait_for("cancelled", 1), True)


def test_questions_need_their_client():
    with mcp_server.running() as s:
        a = s.call("tools/call", {"name": "test_sampling", "arguments": {"prompt": "x"}},
                   session=s.begin())
        tap.equal(error(a), -32600, "a client that cannot sample")
        a = s.modern("tools/call", {"name": "test_sampling", "arguments": {"prompt": "x"}})
        tap.equal((a.status, error(a)), (400, -32021))


def test_request_state():
    name = "test_input_required_result_multi_round"
    can = {"elicitation": {}}
    with mcp_server.running() as s:
        def call(tool=name, **more):
            return s.modern("tools/call", {"name": tool, **more}, capabilities=can).json
        one = call()["result"]
        tap.equal(list(one["inputRequests"]), ["step1"])
        given = {"step1": {"action": "accept", "content": {"name": "Ann"}}}
        two = call(inputResponses=given, requestState=one["requestState"])["result"]
        tap.equal(list(two["inputRequests"]), ["step2"])
        given = {"step2": {"action": "accept", "content": {"color": "red"}}}
        three = call(inputResponses=given, requestState=two["requestState"])["result"]
        tap.contains(three["content"][0]["text"], "Ann")
        tap.contains(three["content"][0]["text"], "red")
        state = two["requestState"]
        flipped = state[:50] + ("A" if state[50] != "A" else "B") + state[51:]
        for bad in (state + "AA", flipped, "", "x", state[:20], 7):
            tap.equal(call(inputResponses=given, requestState=bad)["error"]["code"], -32602,
                      repr(bad))
        elsewhere = call("test_input_required_result_elicitation", requestState=state)
        tap.equal(elsewhere["error"]["code"], -32602, "the state of another tool")


def test_checks_of_2026_07_28():
    with mcp_server.running() as s:
        tap.equal(s.modern("tools/list").status, 200)
        for headers, code in (({"Mcp-Method": None}, -32020), ({"Mcp-Method": "ping"}, -32020),
                              ({"MCP-Protocol-Version": None}, -32020),
                              ({"MCP-Protocol-Version": "2025-11-25"}, -32020)):
            a = s.modern("tools/list", headers=headers)
            tap.equal((a.status, error(a)), (400, code), repr(headers))
        a = s.modern("tools/call", {"name": "test_header", "arguments": {"region": "ü"}},
                     headers={"Mcp-Param-Region": "=?base64?w7w=?="})
        tap.equal(a.json["result"]["content"][0]["text"], "ü")
        for bad in (None, "u", "=?base64?w7w?=", "=?base64?!!!!?=", "=?base64??="):
            a = s.modern("tools/call", {"name": "test_header", "arguments": {"region": "ü"}},
                         headers={"Mcp-Param-Region": bad})
            tap.equal((a.status, error(a)), (400, -32020), repr(bad))
        tap.equal(s.modern("ping").status, 404)
        tap.equal("mcp-session-id" in s.modern("tools/list").headers, False)


def test_older_pair():
    with mcp_server.running() as s:
        conn = s.connect()
        conn.request("GET", "/sse", headers={"Accept": "text/event-stream"})
        stream = conn.getresponse()
        path = read_some(stream, b"\n\n").split("data: ")[1].strip()
        tap.contains(path, "/messages?sessionId=")
        ping = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
        tap.equal(s.send(path=path, body=ping).status, 202)
        tap.contains(read_some(stream, b"\n\n"), '"id":9')
        tap.equal(s.send(path=path, body="{").status, 400)
        tap.equal(s.send(path="/messages?sessionId=0", body=ping).status, 404)
        tap.equal(s.call("ping", session=path.split("=")[1]).status, 200)
        conn.sock.shutdown(socket.SHUT_RDWR)
        conn.close()
        for _ in range(200):
            if s.send(path=path, body=ping).status == 404:
                break
        tap.equal(s.send(path=path, body=ping).status, 404, "gone with its stream")


tap.main(globals())
