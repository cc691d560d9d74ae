# SPDX-License-Identifier: MIT
"""word: notes, comments, passwords, PDF files, and failures; python-docx and msoffcrypto read what
the tools wrote."""

import io
import json
import os
import shutil
import subprocess
import threading
import zipfile

import tap
from word_files import W, docx, table, text, texts, word, zipped

import msoffcrypto  # noqa: E402, behind word_files, which says where it is


# ---- notes ----

def notes(w, name="a.docx"):
    """The texts of the footnotes, in the order of their file, with their ids."""
    root = docx.oxml.parse_xml(w.parts(name)["word/footnotes.xml"])
    return [(n.get(W + "id"), "".join(t.text or "" for t in n.iter(W + "t")).strip())
            for n in root if n.get(W + "type") is None]


def references(w, name="a.docx"):
    return [[n.get(W + "id") for n in p._p.iter(W + "footnoteReference")]
            for p in w.open(name).paragraphs]


def test_footnotes():
    with text("One", "Two", "Three") as w:
        tap.equal(w.say("add_footnote_after_text", search_text="wo", footnote_text="second & so"),
                  "Successfully added footnote (ID: 2) to a.docx")
        tap.equal(w.say("add_footnote_before_text", search_text="One", footnote_text="first"),
                  "Successfully added footnote (ID: 3) to a.docx")
        tap.equal(w.say("add_footnote_enhanced", paragraph_index=2, footnote_text="third",
                        output_filename="b"),
                  "Successfully added footnote (ID: 4) to b.docx")
        # In the order of the text, because programs pair them by that.
        tap.equal(notes(w), [("3", "first"), ("2", "second & so")])
        tap.equal(notes(w, "b.docx"), [("3", "first"), ("2", "second & so"), ("4", "third")])
        tap.equal(references(w, "b.docx"), [["3"], ["2"], ["4"]])
        first = [x.tag[len(W):] for x in w.open().paragraphs[0].runs[0]._r]
        tap.equal(first, ["rPr", "footnoteReference"])
        tap.equal(w.say("add_footnote_after_text", search_text="Four", footnote_text="x"),
                  "Text 'Four' not found in document")
        tap.equal(w.say("add_footnote_before_text", search_text="", footnote_text="x"),
                  "Must provide either search_text or paragraph_index")
        tap.equal(w.say("add_footnote_enhanced", paragraph_index=3, footnote_text="x"),
                  "Paragraph index 3 out of range")
        tap.equal(w.say("delete_footnote_from_document", search_text="One"),
                  "Successfully deleted footnote 3")
        tap.equal((notes(w), references(w)), ([("2", "second & so")], [[], ["2"], []]))
        tap.equal(w.say("delete_footnote_from_document", footnote_id=9), "Footnote 9 not found")
        tap.equal(w.say("delete_footnote_from_document"),
                  "Must provide either footnote_id or search_text")


def test_robust_footnotes():
    with text("One", "Two") as w:
        tap.equal(w.json("delete_footnote_robust", footnote_id=2),
                  {"success": False, "message": "No footnotes in document", "details": None})
        tap.equal(w.json("add_footnote_robust", paragraph_index=1, footnote_text="x"), {
            "success": True, "message": "Successfully added footnote (ID: 2) to a.docx",
            "details": {"footnote_id": 2, "location": "paragraph_index",
                        "styles_created": ["FootnoteReference", "FootnoteText"],
                        "coherence_verified": True}})
        w.json("add_footnote_robust", search_text="One", footnote_text="y")
        report = w.json("validate_document_footnotes")
        tap.equal((report["valid"], report["report"]["total_references"],
                   report["report"]["total_content"]), (True, 2, 2))
        w.say("delete_paragraph", paragraph_index=1)
        report = w.json("validate_document_footnotes")
        tap.equal((report["valid"], report["message"], report["report"]["orphaned_content"]),
                  (False, "Document has footnote issues", ["2"]))
        tap.equal(w.json("delete_footnote_robust", search_text="One"), {
            "success": True, "message": "Successfully deleted footnote 3 and 1 orphaned footnotes",
            "details": {"footnote_id": 3, "references_removed": 1, "content_removed": 1,
                        "orphans_removed": ["2"]}})
        tap.equal(w.json("add_footnote_robust", search_text="One", paragraph_index=1), {
            "success": False, "message": "Cannot provide both search_text and paragraph_index",
            "details": None})
        tap.equal(w.json("add_footnote_robust", filename="no", search_text="One"), {
            "success": False, "message": "File not found: no.docx", "details": None})
        tap.equal(w.json("validate_document_footnotes", filename="no"), {
            "valid": False, "message": "Document no.docx does not exist", "report": {}})


def test_simple_notes():
    with text("One", "Two") as w:
        tap.equal(w.say("add_footnote_to_document", paragraph_index=0, footnote_text="note"),
                  "Footnote added to paragraph 0 in a.docx (simplified approach)")
        w.say("add_footnote_to_document", paragraph_index=1, footnote_text="more")
        tap.equal(texts(w.open()), ["One¹", "Two¹", "\n", "Footnotes:", "¹ note", "¹ more"])
        tap.equal(w.open().paragraphs[0].runs[1].font.superscript, True)
        tap.equal(w.say("customize_footnote_style", numbering_format="i, ii, iii", start_number=3,
                        font_name="Arial", font_size=9),
                  "Footnote style and numbering customized in a.docx")
        d = w.open()
        tap.equal(texts(d)[:2], ["Oneiii", "Twoiv"])
        tap.equal((d.styles["footnote text"].font.name, d.styles["footnote text"].font.size.pt),
                  ("Arial", 9))
        tap.contains(w.say("add_footnote_to_document", paragraph_index=99, footnote_text="x"),
                     "Invalid paragraph index.")
    with text("One") as w:
        tap.equal(w.say("add_endnote_to_document", paragraph_index=0, endnote_text="late"),
                  "Endnote added to paragraph 0 in a.docx")
        w.say("add_endnote_to_document", paragraph_index=0, endnote_text="later")
        got = w.open()
        tap.equal([t for t in texts(got) if t.strip()],
                  ["One††", "Endnotes:", "† late", "† later"])
        tap.equal(w.say("add_endnote_to_document", paragraph_index=7, endnote_text="x"),
                  "Invalid paragraph index. Document has 5 paragraphs (0-4).")


# ---- looking ----

def test_find_text():
    with table() as w:
        w.say("add_paragraph", text="Water, water water")
        tap.equal(w.json("find_text_in_document", text_to_find="water"), {
            "query": "water", "match_case": True, "whole_word": False, "total_count": 2,
            "occurrences": [{"paragraph_index": 0, "position": i, "context": "Water, water water"}
                            for i in (7, 13)]})
        got = w.json("find_text_in_document", text_to_find="WATER", match_case=False,
                     whole_word=True)
        tap.equal([x["position"] for x in got["occurrences"]], [1, 2])
        got = w.json("find_text_in_document", text_to_find="12")
        tap.equal(got["occurrences"], [{"location": "Table 0, Row 1, Column 2", "position": 0,
                                        "context": "12"}])
        tap.equal(w.say("find_text_in_document", text_to_find=""), "Search text cannot be empty")


def add_comments(path):
    """Comments as Word writes them, which python-docx of Debian cannot."""
    with zipfile.ZipFile(path) as z:
        parts = {x: z.read(x) for x in z.namelist()}
    parts["word/comments.xml"] = (
        '<w:comments xmlns:w="%s"><w:comment w:id="0" w:author="Ada" w:initials="A" '
        'w:date="2024-05-06T07:08:09Z"><w:p><w:r><w:t> Why? </w:t></w:r></w:p></w:comment>'
        '<w:comment w:id="7" w:author="Bob"><w:p><w:r><w:t>Because</w:t></w:r></w:p></w:comment>'
        '</w:comments>' % W[1:-1]).encode()
    body = parts["word/document.xml"]
    for i, number in (b"One", b"0"), (b"Two", b"7"):
        run = b"<w:r><w:t>" + i
        tap.equal(body.count(run), 1, body)
        body = body.replace(run, b'<w:commentRangeStart w:id="%s"/>' % number + run)
    parts["word/document.xml"] = body
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(
        b"</Types>", b'<Override PartName="/word/comments.xml" ContentType="application/vnd.'
        b'openxmlformats-officedocument.wordprocessingml.comments+xml"/></Types>')
    rels = "word/_rels/document.xml.rels"
    parts[rels] = parts[rels].replace(
        b"</Relationships>", b'<Relationship Id="rId900" Type="http://schemas.openxmlformats.org/'
        b'officeDocument/2006/relationships/comments" Target="comments.xml"/></Relationships>')
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts.items():
            z.writestr(name, data)


def test_comments():
    with text("Zero", "One", "Two") as w:
        tap.equal(w.json("get_all_comments"),
                  {"success": True, "comments": [], "total_comments": 0})
        add_comments(w.path("a.docx"))
        ada = {"id": "comment_1", "comment_id": "0", "author": "Ada", "initials": "A",
               "date": "2024-05-06T07:08:09+00:00", "text": "Why?", "paragraph_index": 1,
               "in_table": False, "reference_text": "One"}
        got = w.json("get_all_comments")
        tap.equal((got["total_comments"], got["comments"][0]), (2, ada))
        tap.equal(got["comments"][1]["date"], None)
        tap.equal(w.json("get_comments_by_author", author="ADA"),
                  {"success": True, "author": "ADA", "comments": [ada], "total_comments": 1})
        got = w.json("get_comments_for_paragraph", paragraph_index=2)
        tap.equal(([c["author"] for c in got["comments"]], got["paragraph_text"]),
                  (["Bob"], "Two"))
        for tool, arguments, why in (
                ("get_comments_by_author", {"author": " "}, "Author name cannot be empty"),
                ("get_comments_for_paragraph", {"paragraph_index": -1},
                 "Paragraph index must be non-negative"),
                ("get_comments_for_paragraph", {"paragraph_index": 3},
                 "Paragraph index 3 is out of range. Document has 3 paragraphs."),
                ("get_all_comments", {"filename": "no"}, "Document no.docx does not exist")):
            tap.equal(w.json(tool, **arguments), {"success": False, "error": why})


# ---- passwords and PDF ----

def test_password():
    for size in (1, 60000):
        with text("x" * size) as w:
            with open(w.path("a.docx"), "rb") as f:
                plain = f.read()
            tap.equal(w.say("protect_document", password="pässword"),
                      "Document a.docx encrypted successfully with password.")
            with open(w.path("a.docx"), "rb") as f:
                office = msoffcrypto.OfficeFile(f)
                office.load_key(password="pässword", verify_password=True)
                out = io.BytesIO()
                office.decrypt(out, verify_integrity=True)
            tap.equal(out.getvalue() == plain, True)
            tap.equal(w.say("get_document_text"),
                      "Failed to extract text: Package not found at 'a.docx'")
            tap.contains(w.say("protect_document", password="again"), "encrypted already")
            tap.equal(w.say("unprotect_document", password="password"),
                      "Failed to decrypt document a.docx: Incorrect password.")
            tap.equal(w.say("unprotect_document", password="pässword"),
                      "Document a.docx decrypted successfully.")
            with open(w.path("a.docx"), "rb") as f:
                tap.equal(f.read() == plain, True)
            tap.equal(w.say("unprotect_document", password="pässword"),
                      "Failed to decrypt document a.docx: "
                      "File is not encrypted or is not a supported Office format.")


def test_damaged_encryption():
    with text("x" * 60000) as w:
        w.say("protect_document", password="p")
        with open(w.path("a.docx"), "rb") as f:
            data = f.read()
        for at in (0, 30, 44, 76, 512, len(data) // 2, len(data) - 700):
            with open(w.path("b.docx"), "wb") as f:
                f.write(data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
            tap.contains(w.say("unprotect_document", filename="b", password="p"), "b.docx")
        for end in (100, 511, 5000, len(data) - 5000):
            with open(w.path("b.docx"), "wb") as f:
                f.write(data[:end])
            tap.contains(w.say("unprotect_document", filename="b", password="p"),
                         "Failed to decrypt document b.docx: ")


def test_pdf():
    with text("Flood and ebb") as w:
        if not shutil.which("soffice"):
            tap.contains(w.say("convert_to_pdf"), "LibreOffice errors: libreoffice error: ")
            return
        tap.equal(w.say("convert_to_pdf", output_filename="out"),
                  "Document successfully converted to PDF: " + w.path("out.pdf"))
        got = subprocess.run(["pdftotext", w.path("out.pdf"), "-"], check=True, text=True,
                             capture_output=True).stdout
        tap.contains(got, "Flood and ebb")
        tap.equal(sorted(os.listdir(w.root)), ["a.docx", "out.pdf"])


def test_pdf_without_libreoffice():
    path = os.environ["PATH"]
    try:
        os.environ["PATH"] = "/nowhere"
        with text("One") as w:
            got = w.say("convert_to_pdf")
            tap.contains(got, "Failed to convert document to PDF using LibreOffice or docx2pdf.\n"
                         "LibreOffice errors: libreoffice error: [Errno 2] No such file or "
                         "directory: 'libreoffice'; soffice error: ")
            tap.equal(os.listdir(w.root), ["a.docx"])
    finally:
        os.environ["PATH"] = path


# ---- failures that all have in common ----

TOOLS = json.load(open(os.path.join(os.environ["TIDEPOOL_SOURCE"], "local/word.json")))["tools"]
BLOCKS = ("replace_paragraph_block_below_header", "replace_block_between_manual_anchors")
APART = ("create_document", "copy_document", "list_available_documents", "add_footnote_robust",
         "delete_footnote_robust")
SAMPLES = {"string": "x", "integer": 0, "number": 1, "array": ["x"], "boolean": True}


def arguments_of(tool):
    schema = tool["inputSchema"]
    return {name: SAMPLES[schema["properties"][name]["type"]] for name in schema["required"]}


def test_no_document():
    with word(make=False) as w:
        for tool in TOOLS:
            if tool["name"] in APART:
                continue
            got = w.say(tool["name"], **dict(arguments_of(tool), filename="dir/no"))
            tap.contains(got, "Document dir/no.docx " + (
                "not found." if tool["name"] in BLOCKS else "does not exist"))


def test_no_office_file():
    with word() as w:
        data = {"text.docx": b"just text", "empty.docx": b"", "zip.docx": zipped({"a": b"b"}),
                "xml.docx": zipped({**w.parts(), "word/document.xml": b"<w:document"}),
                "body.docx": zipped({**w.parts(), "word/document.xml": b"<a/>"})}
        for name, content in data.items():
            with open(w.path(name), "wb") as f:
                f.write(content)
            for tool in TOOLS:
                if tool["name"] in APART or "protect" in tool["name"] or "pdf" in tool["name"]:
                    continue
                got = w.say(tool["name"], **dict(arguments_of(tool), filename=name))
                tap.equal("Failed to " in got or "Error " in got, True, (tool["name"], got))
            with open(w.path(name), "rb") as f:
                tap.equal(f.read(), content, name)


def test_outside_of_the_workspace():
    with word(make=False) as w:
        for tool in TOOLS:
            if tool["name"] in APART:
                continue
            got = w.failure(tool["name"], **dict(arguments_of(tool), filename="/etc/x.docx"))
            tap.contains(got, "Access denied")


def test_untouched_parts_survive():
    with text("One", "Two") as w:
        parts = dict(w.parts(), **{"customXml/item1.xml": b"<x a='1'  b=\"2\"/>",
                                   "word/vbaProject.bin": bytes(range(256))})
        with open(w.path("a.docx"), "wb") as f:
            f.write(zipped(parts))
        for tool, arguments, changed in (
                ("add_paragraph", {"text": "x"}, set()),
                ("format_text", {"paragraph_index": 0, "start_pos": 0, "end_pos": 1, "bold": True},
                 set()),
                ("create_custom_style", {"style_name": "S"}, {"word/styles.xml"})):
            before = w.parts()
            w.say(tool, **arguments)
            after = w.parts()
            tap.equal(list(after), list(before))
            tap.equal({n for n in after if after[n] != before[n]},
                      changed | {"word/document.xml"} - (
                          {"word/document.xml"} if tool == "create_custom_style" else set()), tool)


def test_calls_at_once_lose_nothing():
    with word() as w:
        threads = [threading.Thread(target=w.say, args=("add_paragraph",),
                                    kwargs={"text": "line %d" % i}) for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal(sorted(texts(w.open())), sorted("line %d" % i for i in range(16)))


tap.main(globals())
