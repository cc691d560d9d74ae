# SPDX-License-Identifier: MIT
"""Nobody holds up the service by what a tool is asked for.

An agent has a URL and nothing else. What it sends here takes long on purpose; meanwhile another
client asks, and the event loop must not stand still. That is measured by the service itself
(tidepool_loop_stall_cpu_seconds), in CPU time of the loop's thread, so that a busy machine does not
matter."""

import http.client
import json
import re
import socket
import threading

import service
import stalls
import tap

RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
A_LONG_TIME = 120


class Agent:
    """An instance of an app with its default data, by its URL alone."""

    def __init__(self, s, app):
        answer = s.post("/sandbox/" + app, {"data": "default"})
        tap.equal(answer.status, 201, answer)
        self.s = s
        self.target = "/" + answer.json["server_url"].partition("//")[2].partition("/")[2]

    def call(self, tool, **arguments):
        """(is it an error, its text); the service itself must not fail."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments}}
        c = http.client.HTTPConnection(self.s.host, self.s.port, timeout=A_LONG_TIME)
        c.request("POST", self.target, json.dumps(message), RPC)
        answer = c.getresponse()
        body = answer.read()
        c.close()
        tap.equal(answer.status, 200, body[:300])
        if answer.getheader("Content-Type").startswith("text/event-stream"):
            body = re.findall(rb"^data: (.*)$", body, re.M)[-1]
        got = json.loads(body)
        if "error" in got:
            assert got["error"]["message"] != "internal error", tool
            return True, got["error"]["message"]
        return got["result"].get("isError", False), got["result"]["content"][0]["text"]


QUERIES = [
    "SELECT REGEXP_CONTAINS(REPEAT('a',40000)||'b','a+$')",
    "SELECT REGEXP_CONTAINS(REPEAT('a',100000)||'b','(a+)+$')",
    "SELECT REGEXP_REPLACE(REPEAT('a',100000),'a*?b|a','x')",
    "SELECT ARRAY_LENGTH(REGEXP_EXTRACT_ALL(REPEAT('a',100000),'a|a.*b'))",
    "SELECT LENGTH(REPLACE(REPEAT('a',1000000),REPEAT('a',500000)||'b','c'))",
    "SELECT LENGTH(REPLACE(REPEAT('a',1000000),'a',REPEAT('b',1000)))",
    "SELECT STRPOS(REPEAT('a',1000000),REPEAT('a',500000)||'b')",
    "SELECT REPEAT('a',1000000) LIKE CONCAT('%',REPEAT('a%',4000),'b')",
    "SELECT LENGTH(TRIM(REPEAT('é',400000),CONCAT(REPEAT('b',400000),'é')))",
    "SELECT SPLIT(REPEAT('a,',400000),',')",
    "SELECT LENGTH(FORMAT('%999999d', 1))",
    "SELECT LPAD('a',1000000,'b')",
    "SELECT x FROM UNNEST(GENERATE_ARRAY(1,1000000)) AS x ORDER BY -x LIMIT 1",
    "SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1,10000)), UNNEST(GENERATE_ARRAY(1,10000))",
    "SELECT " + "UPPER(" * 200 + "REPEAT('a',1000000)" + ")" * 200,
    "SELECT " + ",".join("LOWER(REPEAT('A',%d))" % (60000 + i) for i in range(500)),
    "SELECT " + "(" * 60000,
    "SELECT " + "1+" * 15000 + "1",
]


def test_queries_of_bigquery():
    with service.running() as s:
        agent = Agent(s, "google_cloud")
        for query in QUERIES:
            with stalls.Watched(s, query[:100]):
                agent.call("bigquery_run_query", query=query)
        # The instance still works.
        is_error, text = agent.call("bigquery_run_query", query="SELECT REGEXP_EXTRACT('ab','(b)')")
        assert not is_error and "'b'" in text, text


def test_long_texts_and_searches():
    with service.running() as s:
        agent = Agent(s, "motion")
        _, text = agent.call("motion_get_workspaces")
        workspace = re.search(r'"id": *"([^"]+)"', text)[1]
        with stalls.Watched(s, "a description of 3 MB"):
            is_error, text = agent.call("motion_create_task", name="long", workspace_id=workspace,
                                        description="a" * 3000000)
            assert not is_error, text[:300]
        with stalls.Watched(s, "a search for 500 000 letters"):
            agent.call("motion_search_tasks", query="a" * 500000 + "b")
        with stalls.Watched(s, "a search that finds"):
            is_error, text = agent.call("motion_search_tasks", query="a" * 5000)


def test_messages_of_many_values():
    """As long as a message may be, and all of it is small values."""
    texts = [
        '{"query":"a","x":[' + "1," * 499000 + "1]}",
        '{"query":"a","x":[' + "1," * 1900000 + "1]}",
        '{"query":"a",' + ",".join('"k%d":1' % i for i in range(330000)) + "}",
        '{"query":"a","x":[' + '{"a":1},' * 480000 + "1]}",
        '{"query":"' + "\\u0061" * 650000 + '"}',
    ]
    with service.running() as s:
        agent = Agent(s, "motion")
        for text in texts:
            with stalls.Watched(s, text[:100]):
                message = ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
                           '{"name":"motion_search_tasks","arguments":%s}}' % text)
                c = http.client.HTTPConnection(s.host, s.port, timeout=A_LONG_TIME)
                c.request("POST", agent.target, message, RPC)
                answer = c.getresponse()
                assert answer.status in (200, 400), (answer.status, answer.read())
                c.close()


def test_lists_of_apps():
    """All of them are loaded for that, which is as much work as there are apps."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "listApps", "arguments": {}}}
    with service.running() as s:
        with stalls.Watched(s, "GET /api/v1/apps"):
            names = [x["name"] for x in s.get("/api/v1/apps").json["data"]]
    assert len(names) > 20, names
    with service.running() as s:
        with stalls.Watched(s, "listApps"):
            answer = s.post("/mcp", message, headers=RPC)
        listed = json.loads(answer.json["result"]["content"][0]["text"])["apps"]
        tap.equal([x["name"] for x in listed], names)


def pipelined(s, path, n):
    """A connection that has sent N requests at once, and reads nothing yet."""
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    c.settimeout(A_LONG_TIME)
    c.connect((s.host, s.port))
    c.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path * n)
    return c


def resident(s):
    text = s.get("/metrics").body.decode()
    return float(re.search(r"^process_resident_memory_bytes (\S+)", text, re.M)[1])


def test_pipelined_requests():
    """Who does not read what it asked for makes the service keep a little, not all of it; and many
    requests at once are answered in turn with those of others."""
    with service.running() as s:
        size = len(s.get("/openapi.json").body)
        before = resident(s)
        with stalls.Watched(s, "answers that nobody reads"):
            held = [pipelined(s, b"/openapi.json", 300) for _ in range(20)]
            for _ in range(20):
                s.get("/healthz")
        grown = resident(s) - before
        # A quarter of what they asked for: the address sanitizer keeps freed memory for a while.
        assert grown < 20 * 300 * size / 4, "%d MiB for answers" % (grown / (1 << 20))
        for c in held[1:]:
            c.close()
        heads = bodies = 0
        with held[0].makefile("rb") as f:
            for _ in range(300):
                answer = http.client.HTTPResponse(held[0])
                answer.fp = f
                answer.begin()
                heads, bodies = heads + (answer.status == 200), bodies + len(f.read(size))
                answer.fp = None
        held[0].close()
        tap.equal((heads, bodies), (300, 300 * size))
        with stalls.Watched(s, "many small requests at once"):
            for c in [pipelined(s, b"/healthz", 1500) for _ in range(60)]:
                got = b""
                while got.count(b"HTTP/1.1 200") < 1500:
                    data = c.recv(1 << 20)
                    assert data, "closed after %d" % got.count(b"HTTP/1.1 200")
                    got += data
                c.close()


def nested(n, inner, before, after):
    return before * n + inner + after * n


def test_languages():
    """Queries that are as long, as deep and as full of wildcards as they may be."""
    long = "a%" * 8000
    cases = [
        ("salesforce", "salesforce_query", "query", [
            "SELECT Id FROM Account WHERE Name LIKE '%%%s'" % long,
            "SELECT Id FROM Account WHERE " + " OR ".join(["Name LIKE '%a%'"] * 900),
            "SELECT Id FROM Account WHERE " + nested(3000, "Name = 'a'", "(", ")"),
            "SELECT " + ",".join(["Id"] * 10000) + " FROM Account",
        ]),
        ("jira", "jira_search", "jql", [
            "summary ~ \"%s\"" % ("a* " * 5000),
            " OR ".join(["summary ~ \"a\""] * 900),
            nested(3000, "project = X", "(", ")"),
            "NOT " * 5000 + "project = X",
        ]),
        ("outlook_mail", "outlookMail_list_messages", "filter_query", [
            " or ".join(["contains(subject,'a')"] * 900),
            nested(3000, "isRead eq true", "(", ")"),
            "contains(subject,'%s')" % ("a" * 60000),
        ]),
    ]
    with service.running() as s:
        for app, tool, argument, texts in cases:
            agent = Agent(s, app)
            for text in texts:
                for _ in range(2):
                    with stalls.Watched(s, "%s: %s" % (tool, text[:80])):
                        agent.call(tool, **{argument: text})


def test_formulas():
    with service.running() as s:
        agent = Agent(s, "airtable")
        _, text = agent.call("airtable_list_bases_info")
        base = re.search(r"\bapp\w{14}", text)[0]
        _, text = agent.call("airtable_list_tables_info", base_id=base)
        table = re.search(r"\btbl\w{14}", text)[0]
        formulas = [
            "REGEX_MATCH(REPT('a', 100000), '(a+)+b$')",
            "REGEX_MATCH(REPT('a', 30000), '(a|b|ab)*c')",
            "FIND(REPT('a', 50000) & 'b', REPT('a', 100000))",
            "SUBSTITUTE(REPT('a', 100000), 'a', REPT('b', 100))",
            nested(2000, "1", "(", ")"),
            nested(60, "REPT('a', 1000)", "REPT(", ", 10)"),
            "+".join(["1"] * 10000),
            "OR(" + ",".join(["FIND('a', 'b')"] * 900) + ")",
        ]
        for formula in formulas:
            with stalls.Watched(s, formula[:100]):
                agent.call("airtable_list_records", base_id=base, table_id=table,
                           filter_by_formula=formula)


def column(*cells):
    """Cells of the column A, from the first row on."""
    return {str(i + 1): {"A": x} for i, x in enumerate(cells)}


def test_sheets():
    """Formulas that are deep, long, of large areas, or that make much of little."""
    books = [
        column("=" + nested(5000, "1", "(", ")")),
        column("=" + nested(3000, "1", "IF(1,", ")")),
        column("=" + "1+" * 20000 + "1"),
        column("=SUM(B1:ZZZ9999999)", "=SUMPRODUCT((B1:Z100000>0)*(B1:Z100000<5))"),
        column('=REPT("a",32000)', "=REPT(A1,30000)", '=SUBSTITUTE(A1,"a",A1)'),
        column('=REGEXMATCH(REPT("a",30000),"(a+)+$b")',
               '=REGEXREPLACE(REPT("a",30000),"a*?","bb")'),
        column("=SUM(SEQUENCE(100000,100))", "=INDEX(SORT(SEQUENCE(1000000)),1)"),
        column('=LEN(TEXTJOIN(REPT("x",30000),FALSE,SEQUENCE(10000)))'),
        column("abcdefgh", *["=A%d&A%d" % (i, i) for i in range(1, 60)]),
        column(1, *["=SUM(A$1:A%d)" % i for i in range(1, 2000)]),
        column(*['=COUNTIF(B$1:B$5000,"*a*b*c*")' for _ in range(1000)]),
        column(*["=VLOOKUP(7,B$1:C$5000,1,FALSE)" for _ in range(1000)]),
    ]
    with service.running() as s:
        agent = Agent(s, "google_sheets")
        for n, book in enumerate(books):
            with stalls.Watched(s, "book %d: %.80s" % (n, book["1"]["A"])):
                agent.call("google_sheets_create_spreadsheet", title="%d" % n,
                           data=json.dumps(book))


def test_what_keys_bring():
    """Data to add, and checks with many results: for who has a key."""
    many = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 1000) "
            "SELECT x, x FROM c")
    bodies = [
        ("too many values", '{"workspaces":[' + "1," * 7000000 + "1]}", 413),
        ("many records", '{"workspaces":[' + '{"a":1},' * 300000 + "1]}", None),
        ("one long text", '{"workspaces":[{"name":"' + "\\n" * 7000000 + '"}]}', None),
    ]
    with service.running() as s:
        box = s.post("/sandbox/motion", {"data": "default"}).json
        path = "/sandbox/motion/" + box["sandbox_id"]
        with stalls.Watched(s, "results"):
            answer = s.post(path + "/verify", {"checks": [{"sql": many, "rows": []}] * 900},
                            timeout=A_LONG_TIME)
            tap.equal((answer.status, answer.json["n_failed"]), (200, 900))
        for name, body, status in bodies:
            with stalls.Watched(s, name):
                answer = s.post(path + "/initialize", body, timeout=A_LONG_TIME,
                                headers={"Content-Type": "application/json"})
                tap.equal(answer.status, status or answer.status, name)
                assert answer.status < 500, (name, answer)


tap.main(globals())
