# SPDX-License-Identifier: MIT
"""arxiv: papers from a corpus, and from a server that speaks as arXiv does."""

import contextlib
import http.server
import json
import os
import shutil
import tempfile
import threading
import urllib.parse

import local_tools
import pdf_files
import tap

NOWHERE = "http://127.0.0.1:1"
STORAGE = {None: ".arxiv-mcp-server/papers", "MCP_Atlas": ".arxiv-mcp-server/papers",
           "Toolathlon": "arxiv_local_storage"}


@contextlib.contextmanager
def workspace(url=NOWHERE, files=None):
    root = os.path.realpath(tempfile.mkdtemp())
    os.environ["TIDEPOOL_ARXIV_URL"] = url
    try:
        for name, data in (files or {}).items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else json.dumps(data).encode())
        with local_tools.running(root) as tools:
            yield tools
    finally:
        shutil.rmtree(root)


def ask(tools, tool, benchmark=None, **arguments):
    return tools.text("arxiv", tool, arguments, benchmark=benchmark)


def search(tools, query, **more):
    return json.loads(ask(tools, "search_papers", query=query, **more))["papers"]


def ids(papers):
    return [x["id"].split("v")[0] for x in papers]


# ---- search ----

def test_a_paper_is_described():
    with workspace() as tools:
        for benchmark in STORAGE:
            got = json.loads(ask(tools, "search_papers", benchmark, max_results=1,
                                 query='ti:"attention is all you need"'))
            paper = got["papers"][0]
            tap.equal(got["total_results"], 1)
            tap.equal(list(paper), ["id", "title", "authors", "abstract", "categories",
                                    "published", "url", "resource_uri"])
            tap.equal((paper["id"], paper["title"]), ("1706.03762v7", "Attention Is All You Need"))
            tap.equal((paper["authors"][0], len(paper["authors"])), ("Ashish Vaswani", 8))
            tap.equal(paper["categories"], ["cs.CL", "cs.LG"])
            tap.equal(paper["published"], "2017-06-12T00:00:00+00:00")
            tap.equal(paper["url"], "http://arxiv.org/pdf/1706.03762v7")
            tap.equal(paper["resource_uri"], "arxiv://1706.03762v7")


def test_queries_find_what_they_say():
    with workspace() as tools:
        for query, want in (
                ('ti:"graph attention networks"', ["1710.10903"]),
                ("au:Vaswani", ["1706.03762"]), ("au:Vaswani_A", ["1706.03762"]),
                ('au:"Perelman"', ["math/0211159"]), ("id:1706.03762", ["1706.03762"]),
                ("au:Kingma AND ti:adam", ["1412.6980"]),
                ("au:Kingma ANDNOT ti:adam", ["1312.6114"]),
                ("au:Maldacena OR au:Shor", ["hep-th/9711200", "quant-ph/9508027"]),
                ("cat:hep-ex AND ti:CMS", ["1207.7235"]),
                ("cat:quant-ph AND (ti:NISQ OR ti:factorization)",
                 ["1801.00862", "quant-ph/9508027"]),
                ("ti:(mask AND rcnn) OR abs:zzz", []),
                ("ti:\"adversarial networks\" ANDNOT (ti:style* OR ti:image)", ["1406.2661"]),
                ("abs:\"machine translation\" AND ti:transformers", []),
                ("gravitational wave black hole", ["1602.03837"]),
                ("submittedDate:[199001010000 TO 199912312359] AND cat:hep-th",
                 ["hep-th/9711200"])):
            tap.equal(sorted(ids(search(tools, query))), sorted(want), query)
        # Words of which no paper has all are looked for one by one.
        tap.equal(ids(search(tools, "supernovae zebra xylophone")), ["astro-ph/9812133"])
        # The best ones come first.
        tap.equal(ids(search(tools, '"residual learning"'))[0], "1512.03385")


def test_searches_are_narrowed():
    with workspace() as tools:
        papers = search(tools, "language model", max_results=50, categories=["cs.CL"])
        tap.equal(all("cs.CL" in x["categories"] for x in papers), True)
        tap.equal(len(papers) > 15, True, len(papers))
        tap.equal(len(search(tools, "language model", max_results=3)), 3)
        tap.equal(len(search(tools, "learning", max_results=500)) <= 50, True)
        papers = search(tools, "language model", max_results=50, date_from="2020-01-01",
                        date_to="2020-12-31")
        tap.equal({x["published"][:4] for x in papers}, {"2020"})
        tap.equal(ids(search(tools, "attention", date_from="2017-06-12", date_to="2017-06-12")),
                  ["1706.03762"])
        tap.equal(ids(search(tools, "higgs", categories=["hep-ex"], date_to="2012")),
                  ["1207.7214", "1207.7235"])


def test_searches_that_fail():
    with workspace() as tools:
        for benchmark in STORAGE:
            for arguments, want in (
                    ({"categories": ["nope.XX"]}, "Error: Invalid category provided. Please check "
                                                  "arXiv category names."),
                    ({"date_from": "soon"}, "Error: Invalid date_from format - Unknown string "
                                            "format: soon"),
                    ({"date_to": "2020-13-01"}, "Error: Invalid date_to format - Unknown string "
                                                "format: 2020-13-01"),
                    ({"query": " "}, "Error: No search criteria provided"),
                    ({"query": "(a"}, "Error: ArXiv API error - a parenthesis of the query is not "
                                      "closed"),
                    ({"query": "a AND"}, "Error: ArXiv API error - the query ends too early")):
                tap.equal(ask(tools, "search_papers", benchmark, **{"query": "x", **arguments}),
                          want, arguments)


# ---- papers that are kept ----

def test_papers_are_kept_where_the_benchmark_says():
    for benchmark, folder in STORAGE.items():
        with workspace() as tools:
            path = os.path.join(tools.root, folder, "1706.03762.md")
            unknown = json.loads(ask(tools, "download_paper", benchmark, paper_id="1706.03762",
                                     check_status=True))
            tap.equal(unknown, {"status": "unknown",
                                "message": "No download or conversion in progress"})
            for message in ("Paper is ready", "Paper already available"):
                got = json.loads(ask(tools, "download_paper", benchmark, paper_id="1706.03762"))
                tap.equal(got, {"status": "success", "message": message,
                                "resource_uri": "file://" + path})
            with open(path) as f:
                text = f.read()
            tap.equal(text.startswith("# Attention Is All You Need\n\nAshish Vaswani, "), True)
            tap.contains(text, "The full text is not here")
            got = json.loads(ask(tools, "read_paper", benchmark, paper_id="1706.03762"))
            tap.equal(got, {"status": "success", "paper_id": "1706.03762", "content": text})
            listed = json.loads(ask(tools, "list_papers", benchmark))
            tap.equal(listed["total_papers"], 1)
            tap.equal(list(listed["papers"][0]), ["title", "summary", "authors", "links",
                                                  "pdf_url"])
            tap.equal(listed["papers"][0]["title"], "Attention Is All You Need")
            tap.equal(listed["papers"][0]["pdf_url"], "http://arxiv.org/pdf/1706.03762v7")


def test_papers_that_are_not_there():
    with workspace() as tools:
        for benchmark in STORAGE:
            tap.equal(json.loads(ask(tools, "list_papers", benchmark)),
                      {"total_papers": 0, "papers": []})
            for name in ("2401.99999", "../../etc/passwd", ""):
                got = json.loads(ask(tools, "read_paper", benchmark, paper_id=name))
                tap.equal(got, {"status": "error", "message": "Paper %s not found in storage. You "
                                "may need to download it first using download_paper." % name})
            got = json.loads(ask(tools, "download_paper", benchmark, paper_id="2401.99999"))
            tap.equal(got["status"], "error")
            tap.contains(got["message"], "this sandbox cannot reach arXiv")
            got = json.loads(ask(tools, "download_paper", benchmark, paper_id="../x/1234"))
            tap.equal(got, {"status": "error", "message": "Error: '../x/1234' is not an arXiv id"})


def test_ids_with_a_slash():
    with workspace() as tools:
        got = json.loads(ask(tools, "download_paper", paper_id="hep-th/9711200"))
        tap.equal(got["resource_uri"].split("/")[-1], "hep-th_9711200.md", got)
        tap.contains(ask(tools, "read_paper", paper_id="hep-th/9711200"), "Large N Limit")
        listed = json.loads(ask(tools, "list_papers"))
        tap.equal(listed["papers"][0]["authors"], ["Juan M. Maldacena"])


# ---- a corpus of one's own ----

OWN = {"papers": [
    {"id": "2401.00001v1", "title": "On the tides of small harbours", "authors": ["Ada Brook"],
     "abstract": "Measures tides.", "categories": ["physics.ao-ph"], "published": "2024-01-01"},
    {"id": "2401.00002", "title": "Harbour lights", "authors": "Bo Reed; Cy Lind",
     "summary": "Counts lights.", "categories": "physics.optics math.PR",
     "published": "2024-01-02T10:00:00Z"}]}


def test_a_workspace_has_papers_of_its_own():
    files = {"arxiv_corpus.json": OWN,
             "arxiv_corpus/2401.00001.pdf": pdf_files.make(["One", "Two"]),
             "arxiv_corpus/more.json": [{"id": "2402.00003", "title": "Harbour walls"}]}
    with workspace(files=files) as tools:
        tap.equal(sorted(ids(search(tools, "harbour"))), ["2401.00001", "2401.00002", "2402.00003"])
        second = search(tools, 'au:"Bo Reed"')[0]
        tap.equal((second["authors"], second["categories"], second["published"]),
                  (["Bo Reed", "Cy Lind"], ["physics.optics", "math.PR"],
                   "2024-01-02T10:00:00+00:00"))
        tap.equal(ids(search(tools, "au:Vaswani")), ["1706.03762"])
        tap.equal(json.loads(ask(tools, "download_paper", paper_id="2401.00001"))["status"],
                  "success")
        text = json.loads(ask(tools, "read_paper", paper_id="2401.00001"))["content"]
        tap.equal([x for x in text.split("\n") if x],
                  ["# On the tides of small harbours", "One", "-----", "Two"])
        got = json.loads(ask(tools, "download_paper", paper_id="2409.11111"))
        tap.equal(got, {"status": "error", "message": "Paper 2409.11111 not found on arXiv"})


def test_a_corpus_that_cannot_be_read():
    with workspace(files={"arxiv_corpus.json": b'{"papers": 1}'}) as tools:
        want = "%s/arxiv_corpus.json is not a list of papers" % tools.root
        tap.equal(ask(tools, "search_papers", query="x"), "Error: " + want)
        tap.equal(ask(tools, "list_papers"), "Error: " + want)
        tap.contains(ask(tools, "download_paper", paper_id="1706.03762"), "Error: " + want)


# ---- the API ----

ENTRY = """<entry><id>http://arxiv.org/abs/%(id)s</id><published>2023-05-01T12:00:00Z</published>
<title>A paper\n  about %(id)s</title><summary> All about
it. </summary><author><name>Dee Moor</name></author><author><name>Ed &amp; Co</name></author>
<link href="http://arxiv.org/abs/%(id)s" rel="alternate"/><category term="cs.DB"/></entry>"""
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>query</title>%s</feed>"""
FAULT = """<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title>
<summary>incorrect id format for nonsense</summary></entry>"""


class Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        self.server.asked.append(url.path if url.path != "/api/query" else query)
        status, body = 200, b""
        if url.path.startswith("/pdf/"):
            body = pdf_files.make(["The text of " + url.path[5:]])
        elif "busy" in str(query):
            status = 503
        elif "nonsense" in str(query):
            body = (FEED % FAULT).encode()
        elif "garbage" in str(query):
            body = b"<html>"
        else:
            names = query.get("id_list", ["2305.00001v2"])[0].split(",")
            body = (FEED % "".join(ENTRY % {"id": x} for x in names if x != "2305.09999")).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def api():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "http://127.0.0.1:%d" % server.server_address[1], server.asked
    finally:
        server.shutdown()
        server.server_close()


def test_the_api_answers_where_it_is_reached():
    with api() as (url, asked), workspace(url) as tools:
        tap.equal(search(tools, 'ti:"a b" AND x', categories=["cs.DB", "stat"], max_results=7,
                         date_from="2023-01-02"), [
            {"id": "2305.00001v2", "title": "A paper about 2305.00001v2",
             "authors": ["Dee Moor", "Ed & Co"], "abstract": "All about it.",
             "categories": ["cs.DB"], "published": "2023-05-01T12:00:00+00:00",
             "url": "http://arxiv.org/pdf/2305.00001v2",
             "resource_uri": "arxiv://2305.00001v2"}])
        tap.equal((asked[0]["search_query"], asked[0]["max_results"]), (
            ['(ti:"a b" AND x) AND (cat:cs.DB OR cat:stat) AND '
             'submittedDate:[202301020000 TO 209912312359]'], ["7"]))
        for query, want in (("busy", "curl: (22)"), ("nonsense", "incorrect id format"),
                            ("garbage", "line 1")):
            tap.contains(ask(tools, "search_papers", query=query), "Error: ArXiv API error - ")
            tap.contains(ask(tools, "search_papers", query=query), want)


def test_papers_are_downloaded():
    with api() as (url, asked), workspace(url) as tools:
        got = json.loads(ask(tools, "download_paper", "Toolathlon", paper_id="2305.00007"))
        tap.equal(got["status"], "success", got)
        tap.equal("/pdf/2305.00007" in asked, True, asked)
        folder = os.path.join(tools.root, "arxiv_local_storage")
        tap.equal(os.listdir(folder), ["2305.00007.md"])
        text = json.loads(ask(tools, "read_paper", "Toolathlon", paper_id="2305.00007"))["content"]
        tap.equal(text.strip(), "# A paper about 2305.00007\n\nThe text of 2305.00007")
        listed = json.loads(ask(tools, "list_papers", "Toolathlon"))
        tap.equal([x["authors"] for x in listed["papers"]], [["Dee Moor", "Ed & Co"]])
        got = json.loads(ask(tools, "download_paper", paper_id="2305.09999"))
        tap.equal(got, {"status": "error", "message": "Paper 2305.09999 not found on arXiv"})


tap.main(globals())
