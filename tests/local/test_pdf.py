# SPDX-License-Identifier: MIT
"""pdf-tools: poppler and qpdf behind the tools of two products."""

import contextlib
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading

import local_tools
import pdf_files
import tap

INFO = {"Title": "Tide tables", "Author": "Ada Brook", "Creator": "harbour",
        "CreationDate": "D:20240102030405Z"}
PAGES = ["Tides of the year\nHigh water 04:12", "Moon and sun", "", "High Water 16:40\nhigh water"]


@contextlib.contextmanager
def workspace():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        for name, data in {
                "a.pdf": pdf_files.make(PAGES, INFO), "b.pdf": pdf_files.make(["Only page"]),
                "blank.pdf": pdf_files.make([""]), "text.pdf": b"no pdf at all\n", "empty.pdf": b"",
                "cut.pdf": pdf_files.make(PAGES)[:400],
                "lies.pdf": b"%PDF-1.4\nnothing here\n%%EOF\n",
                "many.pdf": pdf_files.make(["word %d\nword again" % i for i in range(13)])}.items():
            with open(os.path.join(root, name), "wb") as f:
                f.write(data)
        os.mkdir(os.path.join(root, "folder.pdf"))
        with local_tools.running(root) as tools:
            yield tools
    finally:
        shutil.rmtree(root)


def plain(tools, tool, **arguments):
    return json.loads(tools.text("pdf-tools", "pdf_tools_" + tool, arguments))


def said(tools, tool, **arguments):
    return tools.text("pdf-tools", tool, arguments, benchmark="Toolathlon")


def check(tools, name, pages):
    """What a program of others says of a file that we made."""
    path = os.path.join(tools.root, name)
    subprocess.run(["qpdf", "--check", path], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(["pdftotext", "-raw", path, "-"], check=True, stdout=subprocess.PIPE)
    tap.equal([x.strip() for x in text.stdout.decode().split("\f")[:-1]], pages, name)
    left = [x for x in os.listdir(tools.root) if x.endswith((".tmp", ".part"))]
    tap.equal(left, [], "temporary files")


# ---- without a benchmark ----

def test_plain_tools_answer_objects():
    with workspace() as tools:
        got = plain(tools, "read_pdf", file_path="a.pdf")
        tap.equal(got, {
            "file_path": "a.pdf", "num_pages": 4,
            "metadata": {"title": "Tide tables", "author": "Ada Brook", "subject": "",
                         "creator": "harbour", "producer": "",
                         "creation_date": "D:20240102030405Z"},
            "pages": [{"page_number": i, "text": t} for i, t in enumerate(PAGES, 1)]})
        got = plain(tools, "get_pdf_info", file_path="b.pdf")
        tap.equal(got, {"file_path": "b.pdf", "num_pages": 1, "metadata": {},
                        "page_sizes": [{"page": 1, "width": 612, "height": 792}],
                        "is_encrypted": False})
        got = plain(tools, "extract_pages", input_file="a.pdf", output_file="new/deep/out.pdf",
                    page_numbers=[4, 1, 2, 1])
        tap.equal(got, {"success": True, "output_file": "new/deep/out.pdf", "pages_extracted": 4,
                        "message": "Successfully extracted 4 pages to new/deep/out.pdf"})
        check(tools, "new/deep/out.pdf", [PAGES[3], PAGES[0], PAGES[1], PAGES[0]])


def test_plain_tools_tell_what_went_wrong():
    with workspace() as tools:
        for tool, path, want in (
                ("read_pdf", "nope.pdf", "File not found: nope.pdf"),
                ("read_pdf", "../x.pdf", "Unexpected error: Access denied: ../x.pdf is outside "
                                         "workspace directory"),
                ("read_pdf", "text.pdf", "Failed to read PDF: invalid pdf header"),
                ("read_pdf", "empty.pdf", "Failed to read PDF: Cannot read an empty file"),
                ("read_pdf", "cut.pdf", "Failed to read PDF: EOF marker not found"),
                ("get_pdf_info", "nope/x.pdf", "File not found: nope/x.pdf"),
                ("get_pdf_info", "/etc/passwd", "Failed to get PDF info: Access denied: "
                                                "/etc/passwd is outside workspace directory")):
            tap.equal(plain(tools, tool, file_path=path), {"error": want}, (tool, path))
        tap.contains(plain(tools, "read_pdf", file_path="lies.pdf")["error"], "xref")
        tap.contains(plain(tools, "get_pdf_info", file_path="folder.pdf")["error"], "EISDIR")
        for arguments, want in (
                ({"page_numbers": [1, 9]}, "Invalid page number 9. PDF has 4 pages."),
                ({"input_file": "nope.pdf"}, "Input file not found: nope.pdf"),
                ({"output_file": "/x.pdf"}, "Failed to extract pages: Access denied: /x.pdf is "
                                            "outside workspace directory")):
            got = plain(tools, "extract_pages", **{
                "input_file": "a.pdf", "output_file": "o.pdf", "page_numbers": [1], **arguments})
            tap.equal(got, {"error": want}, arguments)
        tap.equal(os.path.exists(os.path.join(tools.root, "o.pdf")), False)
        tap.equal(tools.text("pdf-tools", "pdf_tools_extract_pages",
                             {"input_file": "a.pdf", "output_file": "o.pdf", "page_numbers": []}),
                  "Error: input_file, output_file, and page_numbers are required")


# ---- Toolathlon ----

def test_pages_are_read():
    with workspace() as tools:
        head = "PDF total pages: 4\nExtracted page range: "
        first, second = "=== Page 1 ===\n" + PAGES[0], "=== Page 2 ===\n" + PAGES[1]
        last = "=== Page 4 ===\n" + PAGES[3]
        for start, end, want in ((1, 1, "1-1\n\n" + first), (1, 2, "1-2\n\n%s\n\n%s" %
                                                             (first, second)),
                                 (2, 1, "1-2\n\n%s\n\n%s" % (first, second)),
                                 (-3, 1, "1-1\n\n" + first), (3, 44, "3-4\n\n" + last)):
            tap.equal(said(tools, "read_pdf_pages", pdf_file_path="a.pdf", start_page=start,
                           end_page=end), head + want, (start, end))
        tap.equal(said(tools, "read_pdf_pages", pdf_file_path="a.pdf", start_page=3, end_page=3),
                  "PDF total pages: 4\nSpecified page range (3-3) has no extractable text content.")
        many = said(tools, "read_pdf_pages", pdf_file_path=os.path.join(tools.root, "many.pdf"),
                    start_page=1, end_page=99)
        tap.contains(many, "Warning: Reading more than 50 pages at once may cause performance "
                           "issues or errors.\nPDF total pages: 13\n")
        tap.equal(said(tools, "get_pdf_info", pdf_file_path="a.pdf"),
                  "PDF file information:\nTotal pages: 4\nTitle: Tide tables\nAuthor: Ada Brook\n"
                  "Creator: harbour\nCreation date: D:20240102030405Z\n")
        tap.equal(said(tools, "get_pdf_info", pdf_file_path="b.pdf"),
                  "PDF file information:\nTotal pages: 1\n")


def test_files_that_cannot_be_read():
    with workspace() as tools:
        for tool, doing in (("read_pdf_pages", "Error processing PDF: "),
                            ("get_pdf_info", "Error getting PDF information: "),
                            ("search_pdf_content", "Error searching PDF: ")):
            for path, want in (
                    ("nope.pdf", "Error: File not found 'nope.pdf'"),
                    ("/etc/passwd", "Error: Path '/etc/passwd' is outside the allowed workspace "
                                    "'%s'" % tools.root),
                    ("text.pdf", doing + "invalid pdf header"),
                    ("cut.pdf", doing + "EOF marker not found")):
                tap.equal(said(tools, tool, pdf_file_path=path, pattern="x"), want, (tool, path))
        subprocess.run(["qpdf", "--encrypt", "secret", "secret", "256", "--",
                        os.path.join(tools.root, "a.pdf"), os.path.join(tools.root, "locked.pdf")],
                       check=True)
        tap.contains(said(tools, "read_pdf_pages", pdf_file_path="locked.pdf"),
                     "Incorrect password")


def test_files_are_made():
    with workspace() as tools:
        tap.equal(said(tools, "merge_pdfs", pdf_paths=["b.pdf", "a.pdf", "b.pdf"],
                       output_path="all.pdf"),
                  "Successfully merged 3 PDFs into 'all.pdf'\nTotal pages: 6")
        check(tools, "all.pdf", ["Only page", *PAGES, "Only page"])
        tap.equal(said(tools, "extract_pdf_pages", source_path="all.pdf",
                       page_numbers=[6, 0, 2, 3, 77], output_path="all.pdf"),
                  "Successfully extracted 3 pages from 'all.pdf' to 'all.pdf'\n"
                  "Extracted pages: [6, 2, 3]\nSource PDF total pages: 6")
        check(tools, "all.pdf", ["Only page", PAGES[0], PAGES[1]])


def test_files_that_cannot_be_made():
    with workspace() as tools:
        outside = "Error: Path '/x.pdf' is outside the allowed workspace '%s'" % tools.root
        for paths, output, want in (
                (["a.pdf"], "/x.pdf", outside), (["/x.pdf"], "o.pdf", outside),
                (["a.pdf", "nope.pdf"], "o.pdf", "Error reading PDF 'nope.pdf': [Errno 2] No such "
                                                 "file or directory: 'nope.pdf'"),
                (["text.pdf"], "o.pdf", "Error reading PDF 'text.pdf': invalid pdf header"),
                ([], "o.pdf", "Error merging PDFs: pdf_paths must name 1 to 500 files")):
            tap.equal(said(tools, "merge_pdfs", pdf_paths=paths, output_path=output), want, paths)
        for source, pages, output, want in (
                ("a.pdf", [5, -1], "o.pdf",
                 "Error: No valid pages to extract from PDF (total pages: 4)"),
                ("nope.pdf", [1], "o.pdf", "Error: File not found 'nope.pdf'"),
                ("a.pdf", [1], "/x.pdf", outside),
                ("lies.pdf", [1], "o.pdf", None)):
            got = said(tools, "extract_pdf_pages", source_path=source, page_numbers=pages,
                       output_path=output)
            tap.equal(got if want else got[:24], want or "Error extracting pages: ", source)
        tap.equal(os.path.exists(os.path.join(tools.root, "o.pdf")), False)
        tap.contains(said(tools, "merge_pdfs", pdf_paths=["a.pdf"], output_path="folder.pdf"),
                     "Error merging PDFs: EISDIR")


def test_searches_have_pages():
    with workspace() as tools:
        found = said(tools, "search_pdf_content", pdf_file_path="a.pdf", pattern=r"high\s+water")
        search = re.match("Search ID: ([0-9a-f]{8})\n", found).group(1)
        tap.equal(found, "Search ID: %s\nPattern: high\\s+water\nTotal matches: 3\nPage: 1/1\n"
                  "Results per page: 10\n\nMatch 1:\n  Page: 1\n  Text: \"High water\"\n  Context: "
                  "...Tides of the year\n[High water] 04:12...\n\nMatch 2:\n  Page: 4\n  Text: "
                  "\"High Water\"\n  Context: ...[High Water] 16:40\nhigh water...\n\nMatch 3:\n"
                  "  Page: 4\n  Text: \"high water\"\n  Context: ...High Water 16:40\n"
                  "[high water]...\n\n" % search)
        found = said(tools, "search_pdf_content", pdf_file_path="many.pdf", pattern="^word",
                     page_size=5)
        tap.contains(found, "Warning: Page size 5 is out of range (10-50). Using default value 10.")
        search = re.search("Search ID: ([0-9a-f]{8})\n", found).group(1)
        tap.contains(found, "Total matches: 26\nPage: 1/3\n")
        tap.contains(found, "search_pdf_go_page with search_id '%s' to navigate." % search)
        tap.equal(said(tools, "search_pdf_prev_page", search_id=search),
                  "Already on first page (1)")
        got = said(tools, "search_pdf_next_page", search_id=search)
        tap.contains(got, "Page: 2/3\n\nMatch 11:\n  Page: 6\n")
        got = said(tools, "search_pdf_go_page", search_id=search, page_number=3)
        tap.contains(got, "Page: 3/3\n\nMatch 21:\n")
        tap.equal(got.count("Match "), 6)
        tap.equal(said(tools, "search_pdf_next_page", search_id=search),
                  "Already on last page (3/3)")
        tap.contains(said(tools, "search_pdf_prev_page", search_id=search), "Page: 2/3\n")
        info = said(tools, "search_pdf_info", search_id=search)
        tap.equal(re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", info),
                  "Search Session Information:\nSearch ID: %s\nPDF Path: many.pdf\nPattern: ^word\n"
                  "Total matches: 26\nCurrent page: 2/3\nResults per page: 10\n"
                  "Last accessed: TIME\n" % search)


def test_searches_that_fail():
    with workspace() as tools:
        for tool in ("next_page", "prev_page", "go_page", "info"):
            tap.equal(said(tools, "search_pdf_" + tool, search_id="nope", page_number=1),
                      "Error: Search session 'nope' not found or expired", tool)
        tap.equal(said(tools, "search_pdf_content", pdf_file_path="a.pdf", pattern="zebra"),
                  "No matches found for pattern: zebra")
        tap.contains(said(tools, "search_pdf_content", pdf_file_path="a.pdf", pattern="(x"),
                     "Error searching PDF: Invalid regex pattern '(x': offset 0")
        found = said(tools, "search_pdf_content", pdf_file_path="a.pdf", pattern="water")
        search = re.match("Search ID: (.*)\n", found).group(1)
        tap.equal(said(tools, "search_pdf_go_page", search_id=search, page_number=2),
                  "Error: Page number 2 is out of range (1-1)")
        for i in range(20):  # which is as many as are kept
            said(tools, "search_pdf_content", pdf_file_path="b.pdf", pattern="page")
        tap.contains(said(tools, "search_pdf_info", search_id=search), "not found or expired")
        # A pattern on which a backtracking matcher would never end.
        tap.contains(said(tools, "search_pdf_content", pdf_file_path="many.pdf",
                          pattern="(w*)*(o*)*x"), "No matches found")


# ---- downloads ----

class Files(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Files.asked.append(self.path)
        data = {"/b.pdf": pdf_files.make(["From afar"])}.get(self.path)
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_):
        pass


def test_addresses_are_downloaded_once():
    with workspace() as tools:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            base = "http://127.0.0.1:%d" % server.server_address[1]
            for _ in range(2):
                tap.contains(said(tools, "read_pdf_pages", pdf_file_path=base + "/b.pdf"),
                             "=== Page 1 ===\nFrom afar")
            tap.contains(said(tools, "merge_pdfs", pdf_paths=["b.pdf", base + "/b.pdf"],
                              output_path="m.pdf"), "Total pages: 2")
            tap.equal(Files.asked, ["/b.pdf"])
            tap.equal(len(os.listdir(os.path.join(tools.root, ".pdf_tools_tempfiles"))), 1)
            got = said(tools, "get_pdf_info", pdf_file_path=base + "/nope.pdf")
            tap.contains(got, "Error getting PDF information: the download of %s/nope.pdf failed: "
                              "curl: (22)" % base)
        finally:
            server.shutdown()
            server.server_close()


def test_absent_programs_are_named():
    root = os.path.realpath(tempfile.mkdtemp())
    path = os.environ["PATH"]
    try:
        with open(os.path.join(root, "a.pdf"), "wb") as f:
            f.write(pdf_files.make(PAGES))
        os.environ["PATH"] = "/nonexistent"
        with local_tools.running(root) as tools:
            os.environ["PATH"] = path
            tap.equal(said(tools, "get_pdf_info", pdf_file_path="a.pdf"),
                      "Error getting PDF information: pdfinfo is not installed in this sandbox "
                      "(Debian package: poppler-utils)")
            tap.contains(said(tools, "get_pdf_info", pdf_file_path="http://127.0.0.1:1/x"),
                         "curl is not installed in this sandbox (Debian package: curl)")
    finally:
        os.environ["PATH"] = path
        shutil.rmtree(root)


tap.main(globals())
