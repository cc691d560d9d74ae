# SPDX-License-Identifier: MIT
"""The server powerpoint: what its tools answer, and what is in the files that they save."""

import base64
import contextlib
import io
import json
import os
import re
import shutil
import struct
import tempfile
import xml.etree.ElementTree as ET
import zipfile
import zlib

import local_tools
import tap

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
NONE = "No presentation is currently loaded or the specified ID is invalid"


def png(width=8, height=4, color=(200, 100, 50)):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = (b"\0" + bytes(color) * width) * height
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def defaults():
    """What the service fills in before a call reaches the tool."""
    path = os.path.join(os.environ["TIDEPOOL_SOURCE"], "local", "powerpoint.json")
    with open(path) as f:
        tools = json.load(f)["tools"]
    return {t["name"]: {n: s["default"] for n, s in t["inputSchema"]["properties"].items()
                        if "default" in s} for t in tools}


class Office:
    def __init__(self, tools):
        self.tools = tools
        self.defaults = defaults()

    def call(self, tool, **arguments):
        CALLED.add(tool)
        text = self.tools.text("powerpoint", tool, {**self.defaults[tool], **arguments})
        return json.loads(text)

    def ok(self, tool, **arguments):
        answer = self.call(tool, **arguments)
        if "error" in answer:
            raise AssertionError("%s: %s" % (tool, answer))
        return answer

    def error(self, tool, **arguments):
        return self.call(tool, **arguments).get("error")

    def path(self, name):
        return os.path.join(self.tools.root, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(data)

    def saved(self, name="out.pptx"):
        self.ok("save_presentation", file_path=name)
        return Package(self.path(name))


class Package:
    def __init__(self, path):
        with zipfile.ZipFile(path) as z:
            self.parts = {n: z.read(n) for n in z.namelist()}

    def xml(self, name):
        return ET.fromstring(self.parts[name])

    def slide(self, i):
        return self.xml("ppt/slides/slide%d.xml" % (i + 1))

    def shape(self, slide, i):
        tree = self.slide(slide).find(P + "cSld/" + P + "spTree")
        return list(tree)[2 + i]

    def rels(self, name):
        folder, base = os.path.split(name)
        rels = self.xml("%s/_rels/%s.rels" % (folder, base))
        return {x.get("Id"): x.get("Target") for x in rels}


@contextlib.contextmanager
def office(slides=0):
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            o = Office(tools)
            if slides > 0:
                o.ok("create_presentation")
            for _ in range(slides):
                o.ok("add_slide", layout_index=5)
            yield o
            tap.equal(tools.process.poll(), None, "the program ended")
    finally:
        shutil.rmtree(root)


# ---- presentations ----

LAYOUTS = ["Title Slide", "Title and Content", "Section Header", "Two Content", "Comparison",
           "Title Only", "Blank", "Content with Caption", "Picture with Caption",
           "Title and Vertical Text", "Vertical Title and Text"]


def test_presentations_are_held_by_id():
    with office() as o:
        tap.equal(o.error("save_presentation", file_path="x.pptx"), NONE)
        tap.equal(o.error("get_presentation_info"), NONE)
        tap.equal(o.error("set_core_properties", title="x"), NONE)
        tap.equal(o.ok("create_presentation"), {
            "presentation_id": "presentation_1", "slide_count": 0,
            "message": "Created new presentation with ID: presentation_1"})
        tap.equal(o.ok("create_presentation", id="mine")["presentation_id"], "mine")
        tap.equal(o.ok("create_presentation")["presentation_id"], "presentation_3")
        tap.equal(o.ok("list_presentations"), {
            "presentations": [{"id": n, "slide_count": 0, "is_current": n == "presentation_3"}
                              for n in ("presentation_1", "mine", "presentation_3")],
            "current_presentation_id": "presentation_3", "total_presentations": 3})
        tap.equal(o.ok("switch_presentation", presentation_id="mine")["message"],
                  "Switched from presentation 'presentation_3' to 'mine'")
        tap.equal(o.error("switch_presentation", presentation_id="no"),
                  "Presentation 'no' not found. Available presentations: "
                  "['presentation_1', 'mine', 'presentation_3']")
        o.ok("add_slide", presentation_id="presentation_1")
        tap.equal(o.ok("get_presentation_info", presentation_id="presentation_1")["slide_count"],
                  1)
        tap.equal(o.ok("get_presentation_info")["slide_count"], 0)
        info = o.ok("get_server_info")
        tap.equal((info["version"], info["total_tools"], info["loaded_presentations"]),
                  ("2.0.6", 37, 3))


def test_their_number_is_bounded():
    with office() as o:
        for i in range(32):
            o.ok("create_presentation")
        tap.contains(o.error("create_presentation"), "32 presentations are in memory")
        o.ok("create_presentation", id="presentation_7")
        tap.contains(o.error("create_presentation", id="x" * 500), "id is too long")


def test_a_new_presentation_has_the_known_layouts():
    with office() as o:
        o.ok("create_presentation")
        info = o.ok("get_presentation_info")
        tap.equal([x["name"] for x in info["slide_layouts"]], LAYOUTS)
        tap.equal([x["placeholder_count"] for x in info["slide_layouts"]],
                  [5, 5, 5, 6, 8, 4, 3, 6, 6, 5, 5])
        tap.equal((info["slide_width"], info["slide_height"], info["layout_count"]),
                  (9144000, 6858000, 11))
        tap.equal(info["core_properties"]["title"], "PowerPoint Presentation")
        tap.equal(bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
                                    info["core_properties"]["created"])), True)
        package = o.saved()
        for name, data in package.parts.items():
            if name.endswith((".xml", ".rels")):
                ET.fromstring(data)
        known = package.parts["[Content_Types].xml"].decode()
        for i in range(11):
            tap.contains(known, "/ppt/slideLayouts/slideLayout%d.xml" % (i + 1))


def test_open_save_and_templates():
    with office() as o:
        o.ok("create_presentation")
        o.ok("add_slide", title="First")
        o.ok("set_core_properties", title="A & B", author="Maya", keywords="k", comments="c",
             subject="s")
        tap.contains(o.error("set_core_properties", title="x" * 256), "255 char limit")
        tap.equal(o.ok("save_presentation", file_path="a.pptx"),
                  {"message": "Presentation saved to a.pptx", "file_path": "a.pptx"})
        tap.equal(o.ok("open_presentation", file_path="a.pptx", id="b"), {
            "presentation_id": "b", "message": "Opened presentation from a.pptx with ID: b",
            "slide_count": 1})
        properties = o.ok("get_presentation_info")["core_properties"]
        tap.equal([properties[k] for k in ("title", "author", "keywords", "comments", "subject")],
                  ["A & B", "Maya", "k", "c", "s"])
        tap.equal(o.error("open_presentation", file_path="no.pptx"), "File not found: no.pptx")
        tap.contains(o.error("open_presentation", file_path="/etc/passwd"), "Access denied")
        o.write("bad.pptx", b"no archive at all")
        tap.contains(o.error("open_presentation", file_path="bad.pptx"),
                     "Failed to open presentation: ")
        tap.contains(o.error("save_presentation", file_path="no/dir/x.pptx"),
                     "Failed to save presentation: ")
        os.mkdir(o.path("templates"))
        os.rename(o.path("a.pptx"), o.path("templates/t.pptx"))
        made = o.ok("create_presentation_from_template", template_path="t.pptx")
        tap.equal((made["slide_count"], made["layout_count"], made["template_path"]),
                  (1, 11, "templates/t.pptx"))
        info = o.ok("get_template_file_info", template_path="templates/t.pptx")
        tap.equal((info["slide_count"], info["layout_count"], info["file_size_bytes"]),
                  (1, 11, os.path.getsize(o.path("templates/t.pptx"))))
        for tool in ("create_presentation_from_template", "get_template_file_info"):
            tap.contains(o.error(tool, template_path="zzz.pptx"),
                         "Template file not found: zzz.pptx. Searched in ./templates")
        o.write("t.txt", b"x")
        tap.contains(o.error("create_presentation_from_template", template_path="t.txt"),
                     "must be a .pptx or .potx file")


def foreign(extra):
    """A small presentation as another program might write it, with parts nobody here knows."""
    space = ('xmlns:q="http://schemas.openxmlformats.org/presentationml/2006/main" '
             'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/main" '
             'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"')
    tree = ('<q:cSld name="%s"><q:spTree><q:nvGrpSpPr><q:cNvPr id="1" name=""/>'
            '<q:cNvGrpSpPr/><q:nvPr/></q:nvGrpSpPr><q:grpSpPr/>%s</q:spTree></q:cSld>')
    title = ('<q:sp><q:nvSpPr><q:cNvPr id="2" name="T"/><q:cNvSpPr/><q:nvPr><q:ph type="title"/>'
             '</q:nvPr></q:nvSpPr><q:spPr>%s</q:spPr><q:txBody><d:bodyPr/><d:p><d:r><d:t>%s</d:t>'
             '</d:r></d:p></q:txBody></q:sp>')
    place = '<d:xfrm><d:off x="1" y="2"/><d:ext cx="3" cy="4"/></d:xfrm>'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    rels = ('<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '%s</Relationships>')
    rel = '<Relationship Id="%s" Type="' + kind + '%s" Target="%s"/>'
    types = "application/vnd.openxmlformats-officedocument.presentationml."
    override = '<Override PartName="%s" ContentType="' + types + '%s+xml"/>'
    return {
        "[Content_Types].xml":
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
            override % ("/ppt/p.xml", "presentation.main") +
            override % ("/ppt/m.xml", "slideMaster") + override % ("/ppt/l.xml", "slideLayout") +
            override % ("/ppt/s1.xml", "slide") + override % ("/ppt/s2.xml", "slide") + "</Types>",
        "_rels/.rels": rels % (rel % ("a", "officeDocument", "ppt/p.xml")),
        "ppt/p.xml": '<q:presentation %s><q:sldMasterIdLst><q:sldMasterId id="9" r:id="m"/>'
                     '</q:sldMasterIdLst><q:sldIdLst><q:sldId id="300" r:id="two"/>'
                     '<q:sldId id="301" r:id="one"/></q:sldIdLst></q:presentation>' % space,
        "ppt/_rels/p.xml.rels": rels % (
            rel % ("m", "slideMaster", "m.xml") + rel % ("one", "slide", "s1.xml") +
            rel % ("two", "slide", "/ppt/s2.xml")),
        "ppt/m.xml": '<q:sldMaster %s>%s<q:sldLayoutIdLst><q:sldLayoutId r:id="l"/>'
                     '</q:sldLayoutIdLst></q:sldMaster>' % (
                         space, tree % ("M", title % (place, "m"))),
        "ppt/_rels/m.xml.rels": rels % (rel % ("l", "slideLayout", "l.xml")),
        "ppt/l.xml": '<q:sldLayout %s>%s</q:sldLayout>' % (
            space, tree % ("Only", title % ("", "l"))),
        "ppt/_rels/l.xml.rels": rels % (rel % ("m", "slideMaster", "m.xml")),
        "ppt/s1.xml": '<q:sld %s>%s</q:sld>' % (space, tree % ("", title % ("", "Last"))),
        "ppt/_rels/s1.xml.rels": rels % (rel % ("l", "slideLayout", "l.xml")),
        "ppt/s2.xml": '<q:sld %s>%s</q:sld>' % (space, tree % ("", title % ("", "First"))),
        "ppt/_rels/s2.xml.rels": rels % (rel % ("l", "slideLayout", "l.xml")),
        "custom/odd.bin": extra,
    }


def test_untouched_parts_survive_byte_for_byte():
    with office() as o:
        parts = foreign(os.urandom(5000))
        with zipfile.ZipFile(o.path("f.pptx"), "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in parts.items():
                z.writestr(name, data)
        o.ok("open_presentation", file_path="f.pptx")
        tap.equal(o.ok("extract_slide_text", slide_index=0)["text_content"]["slide_title"],
                  "First")
        tap.equal(o.ok("get_slide_info", slide_index=1)["shapes"][0]["left"], 1)
        before = Package(o.path("f.pptx")).parts
        tap.equal(o.saved("same.pptx").parts, before, "opened and saved")
        o.ok("populate_placeholder", slide_index=1, placeholder_idx=0, text="New & better")
        o.ok("add_slide", layout_index=0, title="Third")
        after = o.saved("changed.pptx").parts
        changed = {"[Content_Types].xml", "ppt/p.xml", "ppt/_rels/p.xml.rels", "ppt/s1.xml"}
        for name, data in before.items():
            tap.equal(after[name] == data, name not in changed, name)
        tap.contains(after["ppt/s1.xml"].decode(), "<d:t>New &amp; better</d:t>")
        o.ok("open_presentation", file_path="changed.pptx")
        text = o.ok("extract_presentation_text")["all_presentation_text_combined"]
        tap.equal([x for x in text.split("\n") if x and "===" not in x],
                  ["First", "First", "New & better", "New & better", "Third", "Third"])


def test_damaged_files_are_refused():
    with office() as o:
        o.ok("create_presentation")
        o.ok("add_slide", title="x")
        good = o.saved()
        for name, data in (("ppt/presentation.xml", b"<a"), ("ppt/presentation.xml", b"<x/>"),
                           ("_rels/.rels", b"<Relationships/>"), ("[Content_Types].xml", b"")):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as z:
                for part in good.parts:
                    z.writestr(part, data if part == name else good.parts[part])
            o.write("bad.pptx", buffer.getvalue())
            tap.contains(o.error("open_presentation", file_path="bad.pptx") or name,
                         "Failed to open presentation: ")
        for name, data in (("ppt/slides/slide1.xml", b"<p:sld/>"),
                           ("ppt/slides/slide1.xml", b"\xff\xfe")):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as z:
                for part in good.parts:
                    z.writestr(part, data if part == name else good.parts[part])
            o.write("bad.pptx", buffer.getvalue())
            o.ok("open_presentation", file_path="bad.pptx")
            tap.contains(o.error("get_slide_info", slide_index=0), "Failed to read slide 0: ")
            tap.equal(o.ok("extract_presentation_text")["slides_text"][0]["text_content"], None)


# ---- slides and texts ----

def test_slides():
    with office() as o:
        tap.equal(o.error("add_slide"), NONE)
        o.ok("create_presentation")
        tap.equal(o.ok("add_slide", title="Hello & <you>"), {
            "message": "Added slide 0 with layout 1", "slide_index": 0,
            "layout_name": "Title and Content"})
        tap.equal(o.error("add_slide", layout_index=11),
                  "Invalid layout index: 11. Available layouts: 0-10")
        tap.equal(o.ok("get_slide_info", slide_index=0), {
            "slide_index": 0, "layout_name": "Title and Content", "placeholder_count": 2,
            "placeholders": [{"idx": 0, "type": "TITLE (1)", "name": "Title 1"},
                             {"idx": 1, "type": "OBJECT (7)", "name": "Content Placeholder 2"}],
            "shape_count": 2,
            "shapes": [
                {"index": 0, "name": "Title 1", "shape_type": "PLACEHOLDER (14)", "left": 457200,
                 "top": 274638, "width": 8229600, "height": 1143000},
                {"index": 1, "name": "Content Placeholder 2", "shape_type": "PLACEHOLDER (14)",
                 "left": 457200, "top": 1600200, "width": 8229600, "height": 4525963}]})
        tap.equal(o.error("get_slide_info", slide_index=1),
                  "Invalid slide index: 1. Available slides: 0-0")
        o.ok("add_slide", layout_index=6, background_type="gradient",
             background_colors=[[1, 2, 3], [255, 0, 0]], gradient_direction="vertical")
        o.ok("add_slide", layout_index=6, background_type="solid", background_colors=[[9, 8, 7]])
        o.ok("add_slide", layout_index=6, background_type="professional_gradient")
        package = o.saved()
        fills = [package.slide(i).find(".//" + P + "bgPr") for i in range(1, 4)]
        tap.equal([x.get("val") for x in fills[0].iter(A + "srgbClr")], ["010203", "FF0000"])
        tap.equal([x.get("val") for x in fills[1].iter(A + "srgbClr")], ["090807"])
        tap.equal(len(list(fills[2].iter(A + "gs"))), 2)


def test_placeholders_and_points():
    with office() as o:
        o.ok("create_presentation")
        o.ok("add_slide")
        tap.equal(o.ok("populate_placeholder", slide_index=0, placeholder_idx=1,
                       text="one\ntwo\u000bhalf \u00e4")["message"],
                  "Populated placeholder 1 on slide 0")
        got = o.ok("extract_slide_text", slide_index=0)
        tap.equal(got["text_content"]["placeholders"][0]["text"], "one\ntwo\u000bhalf \u00e4")
        tap.equal(o.error("populate_placeholder", slide_index=0, placeholder_idx=7, text="x"),
                  "Failed to populate placeholder: 'no placeholder on this slide with idx == 7'")
        tap.equal(o.ok("add_bullet_points", slide_index=0, placeholder_idx=1,
                       bullet_points=["a", "b"])["message"],
                  "Added 2 bullet points to placeholder 1 on slide 0")
        tap.contains(o.error("add_bullet_points", slide_index=0, placeholder_idx=7,
                             bullet_points=["a"]), "Failed to add bullet points: ")
        body = o.saved().shape(0, 1).find(P + "txBody")
        tap.equal(["".join(t.text for t in p.iter(A + "t")) for p in body.findall(A + "p")],
                  ["a", "b"])


def test_extracting_texts():
    with office() as o:
        o.ok("create_presentation")
        o.ok("add_slide", layout_index=5, title="Top")
        o.ok("manage_text", slide_index=0, operation="add", text="  boxed  ")
        o.ok("add_table", slide_index=0, rows=2, cols=2, left=1, top=1, width=2, height=1,
             data=[["a", ""], ["", "d"]])
        o.ok("add_slide", layout_index=6)
        got = o.ok("extract_slide_text", slide_index=0)
        tap.equal((got["success"], got["has_title"], got["has_tables"], got["slide_index"],
                   got["total_text_shapes"]), (True, True, True, 0, 2))
        tap.equal(got["text_content"], {
            "slide_title": "Top",
            "placeholders": [{"shape_index": 0, "shape_name": "Title 1",
                              "shape_type": "PLACEHOLDER (14)", "text": "Top",
                              "placeholder_type": "TITLE (1)", "placeholder_idx": 0}],
            "text_shapes": [{"shape_index": 1, "shape_name": "TextBox 2",
                             "shape_type": "TEXT_BOX (17)", "text": "boxed"}],
            "table_text": [{"shape_index": 2, "shape_name": "Table 3", "table_content": [
                {"row": 0, "cells": ["a"]}, {"row": 1, "cells": ["d"]}]}],
            "all_text_combined": "Top\nTop\nboxed\na\nd"})
        whole = o.ok("extract_presentation_text")
        tap.equal(whole["all_presentation_text_combined"],
                  "=== SLIDE 1 ===\nTop\nTop\nboxed\na\nd\n")
        tap.equal([whole[k] for k in ("total_slides", "slides_with_text", "total_text_shapes",
                                      "slides_with_titles", "slides_with_tables")],
                  [2, 2, 2, 1, 1])
        tap.equal(whole["slides_text"][1]["layout_name"], "Blank")
        brief = o.ok("extract_presentation_text", include_slide_info=False)
        tap.equal(sorted(brief["slides_text"][0]), ["slide_index", "text_content"])
        tap.equal(o.error("extract_presentation_text", presentation_id="no"), NONE)
        tap.contains(o.error("extract_slide_text", slide_index=9), "Invalid slide index: 9")


def test_text_boxes_and_formats():
    with office(1) as o:
        tap.equal(o.ok("manage_text", slide_index=0, operation="add", text="one\ntwo",
                       font_size=20, font_name="Arial", bold=True, italic=False, underline=True,
                       color=[255, 0, 16], bg_color=[1, 2, 3], alignment="center",
                       vertical_alignment="middle"),
                  {"message": "Added text box to slide 0", "shape_index": 1, "text": "one\ntwo"})
        box = o.saved().shape(0, 1)
        look = box.find(".//" + A + "rPr")
        tap.equal((look.get("sz"), look.get("b"), look.get("i"), look.get("u")),
                  ("2000", "1", "0", "sng"))
        tap.equal(look.find(A + "solidFill/" + A + "srgbClr").get("val"), "FF0010")
        tap.equal(look.find(A + "latin").get("typeface"), "Arial")
        tap.equal([x.get("algn") for x in box.iter(A + "pPr")], ["ctr", "ctr"])
        tap.equal(box.find(".//" + A + "bodyPr").get("anchor"), "ctr")
        tap.equal(box.find(P + "spPr/" + A + "solidFill/" + A + "srgbClr").get("val"), "010203")
        off = box.find(".//" + A + "off")
        tap.equal((off.get("x"), off.get("y")), ("914400", "914400"))
        tap.equal(o.ok("manage_text", slide_index=0, operation="format", shape_index=1,
                       font_size=9)["message"], "Formatted text shape 1 on slide 0")
        tap.equal({x.get("sz") for x in o.saved().shape(0, 1).iter(A + "rPr")}, {"900"})
        runs = [{"text": "x", "bold": True, "color": [0, 0, 255]}, {"odd": 1},
                {"text": "y", "font_size": 30, "hyperlink": "https://larkspur.example/?a=1&b=2"}]
        got = o.ok("manage_text", slide_index=0, operation="format_runs", shape_index=1,
                   text_runs=runs)
        tap.equal(got["message"], "Applied formatting to 2 text runs on shape 1")
        tap.equal(got["formatted_runs"][0],
                  {"text": "x", "formatting_applied": {"bold": True, "color": [0, 0, 255]}})
        for arguments, why in (
                ({"operation": "zap"}, "Invalid operation: zap. Must be 'add', 'format', "
                                       "'validate', or 'format_runs'"),
                ({"operation": "format"},
                 "Invalid shape index for formatting: None. Available shapes: 0-1"),
                ({"operation": "validate", "shape_index": 5},
                 "Invalid shape index for validation: 5. Available shapes: 0-1"),
                ({"operation": "format_runs", "shape_index": 1},
                 "text_runs parameter is required for format_runs operation"),
                ({"operation": "add", "font_size": 0},
                 "Parameter 'font_size': must be a positive integer"),
                ({"operation": "add", "color": [1, 2]},
                 "Parameter 'color': must be a valid RGB list [R, G, B] with values 0-255"),
                ({"operation": "add", "bg_color": [1, 2, 256]},
                 "Parameter 'bg_color': must be a valid RGB list [R, G, B] with values 0-255")):
            tap.equal(o.error("manage_text", slide_index=0, **arguments), why)


def test_texts_that_do_not_fit():
    with office(1) as o:
        o.ok("manage_text", slide_index=0, operation="add", text="word " * 60, width=1)
        fits = o.ok("manage_text", slide_index=0, operation="validate", shape_index=1,
                    text="a", validation_only=True)
        tap.equal((fits["fits"], fits["suggested_font_size"], fits["warnings"]), (True, 12, []))
        got = o.ok("manage_text", slide_index=0, operation="validate", shape_index=1)
        tap.equal((got["fits"], got["suggested_font_size"], got["fixes_applied"]),
                  (False, 8, ["Shape 1: Adjusted font size to 8pt"]))
        tap.equal({x.get("sz") for x in o.saved().shape(0, 1).iter(A + "rPr")}, {"800"})
        got = o.ok("optimize_slide_text", slide_index=0, min_font_size=7)
        tap.equal(got["optimizations_applied"], [
            {"shape_index": 1, "optimizations": ["Font resized to 7pt",
                                                 "Line spacing set to 1.3"]}])
        tap.equal(got["settings"]["font_size_range"], "7-36pt")
        tap.contains(o.error("optimize_slide_text", slide_index=0, min_font_size=50),
                     "Failed to optimize slide text")
        tap.contains(o.error("optimize_slide_text", slide_index=4), "Invalid slide index: 4")


def test_hyperlinks():
    with office(1) as o:
        o.ok("manage_text", slide_index=0, operation="add", text="see ")
        url = "https://larkspur.example/?a=1&b=\u00e4"
        added = o.ok("manage_hyperlinks", operation="add", slide_index=0, shape_index=1,
                     text="there", url=url)
        tap.equal(added, {"message": "Added hyperlink 'there' -> '%s' to shape 1" % url,
                          "text": "there", "url": url})
        tap.equal(o.ok("manage_hyperlinks", operation="list", slide_index=0), {
            "message": "Found 1 hyperlinks on slide 0", "hyperlinks": [
                {"shape_index": 1, "paragraph_index": 0, "run_index": 1, "text": "there",
                 "url": url}]})
        changed = o.ok("manage_hyperlinks", operation="update", slide_index=0, shape_index=1,
                       run_index=1, url="https://x.example")
        tap.equal((changed["old_url"], changed["new_url"], changed["text"]),
                  (url, "https://x.example", "there"))
        gone = o.ok("manage_hyperlinks", operation="remove", slide_index=0, shape_index=1,
                    run_index=1)
        tap.equal(gone["removed_url"], "https://x.example")
        tap.equal(o.ok("manage_hyperlinks", operation="list", slide_index=0)["hyperlinks"], [])
        for arguments, why in (
                ({"operation": "add", "shape_index": 1},
                 "Both 'text' and 'url' are required for adding hyperlinks"),
                ({"operation": "update", "shape_index": 1},
                 "URL is required for updating hyperlinks"),
                ({"operation": "remove", "shape_index": 1, "run_index": 9},
                 "Run index 9 out of range"),
                ({"operation": "remove"}, "Shape index None out of range"),
                ({"operation": "remove", "shape_index": 8}, "Shape index 8 out of range"),
                ({"operation": "odd", "shape_index": 1}, "Unsupported operation: odd. Use 'add', "
                                                         "'remove', 'list', or 'update'"),
                ({"operation": "list", "slide_index": 3}, "Slide index 3 out of range"),
                ({"operation": "list", "presentation_id": "no"}, "Presentation not found")):
            tap.equal(o.error("manage_hyperlinks", **{"slide_index": 0, **arguments}), why)


# ---- objects ----

def test_pictures():
    with office(1) as o:
        o.write("p.png", png(144, 72))
        tap.equal(o.ok("manage_image", slide_index=0, operation="add", image_source="p.png"), {
            "message": "Added image to slide 0", "shape_index": 1, "image_path": "p.png"})
        o.ok("manage_image", slide_index=0, operation="add", image_source="p.png", width=1)
        o.ok("manage_image", slide_index=0, operation="add", source_type="base64", height=1,
             image_source=base64.b64encode(png(2, 2)).decode())
        package = o.saved()
        sizes = [package.shape(0, i).find(".//" + A + "ext").attrib for i in (1, 2, 3)]
        tap.equal([(int(x["cx"]), int(x["cy"])) for x in sizes],
                  [(1828800, 914400), (914400, 457200), (914400, 914400)])
        media = {n: d for n, d in package.parts.items() if n.startswith("ppt/media/")}
        tap.equal(sorted(media.values()), sorted([png(144, 72), png(2, 2)]))
        tap.equal(package.rels("ppt/slides/slide1.xml")[
            package.shape(0, 3).find(".//" + A + "blip").get(R + "embed")],
            "../media/image2.png")
        o.write("t.txt", b"hello")
        for arguments, why in (
                ({"image_source": "no.png"}, "Image file not found: no.png"),
                ({"image_source": "t.txt"}, "Failed to add image: the image is no PNG"),
                ({"image_source": "!", "source_type": "base64"},
                 "Failed to process base64 image: "),
                ({"image_source": "p.png", "operation": "odd"},
                 "Invalid operation: odd. Must be 'add' or 'enhance'"),
                ({"image_source": "p.png", "operation": "enhance", "source_type": "base64"},
                 "Enhancement operation requires file path, not base64 data")):
            tap.contains(o.error("manage_image", **{"slide_index": 0, "operation": "add",
                                                    **arguments}), why)


def test_tables():
    with office(1) as o:
        place = {"slide_index": 0, "left": 1, "top": 1, "width": 5, "height": 2}
        tap.equal(o.ok("add_table", rows=2, cols=3, data=[["a", "b", "c"], ["d", "e", "<f>"]],
                       header_bg_color=[0, 0, 255], border_color=[1, 1, 1], **place), {
            "message": "Added 2x3 table to slide 0", "shape_index": 1, "rows": 2, "cols": 3})
        tap.equal(o.ok("format_table_cell", slide_index=0, shape_index=1, row=1, col=2,
                       font_size=7, bg_color=[255, 255, 0], alignment="right",
                       vertical_alignment="bottom")["message"],
                  "Formatted cell at row 1, column 2 in table at shape index 1 on slide 0")
        table = o.saved().shape(0, 1).find(".//" + A + "tbl")
        cells = list(table.iter(A + "tc"))
        tap.equal(["".join(t.text for t in c.iter(A + "t")) for c in cells],
                  ["a", "b", "c", "d", "e", "<f>"])
        tap.equal(sum(int(x.get("w")) for x in table.iter(A + "gridCol")), 5 * 914400)
        tap.equal([c.find(".//" + A + "rPr").get("sz") for c in cells],
                  ["1200"] * 3 + ["1000"] * 2 + ["700"])
        last = cells[5].find(A + "tcPr")
        tap.equal((last.get("anchor"), last.find(A + "solidFill/" + A + "srgbClr").get("val")),
                  ("b", "FFFF00"))
        tap.equal([x.tag for x in last],
                  [A + n for n in ("lnL", "lnR", "lnT", "lnB", "solidFill")])
        for arguments, why in (
                ({"rows": 0, "cols": 1}, "Parameter 'rows': must be a positive integer"),
                ({"rows": 1, "cols": 1, "left": -1}, "Parameter 'left': must be non-negative"),
                ({"rows": 999, "cols": 999}, "Failed to add table: "),
                ({"rows": 1, "cols": 1, "data": [["a"], ["b"]]},
                 "Data has 2 rows but table should have 1 rows"),
                ({"rows": 1, "cols": 1, "data": [["a", "b"]]},
                 "Row 0 has 2 columns but table should have 1 columns"),
                ({"rows": 1, "cols": 1, "border_color": [1]}, "Parameter 'border_color': ")):
            tap.contains(o.error("add_table", **{**place, **arguments}), why)
        for arguments, why in (
                ({"shape_index": 0}, "Shape at index 0 is not a table"),
                ({"shape_index": 7}, "Invalid shape index: 7. Available shapes: 0-1"),
                ({"shape_index": 1, "row": 2}, "Invalid row index: 2. Available rows: 0-1"),
                ({"shape_index": 1, "col": 3}, "Invalid column index: 3. Available columns: 0-2")):
            tap.equal(o.error("format_table_cell", **{"slide_index": 0, "row": 0, "col": 0,
                                                      **arguments}), why)


def test_shapes_and_connectors():
    with office(1) as o:
        place = {"slide_index": 0, "left": 1, "top": 1, "width": 2, "height": 2}
        tap.equal(o.ok("add_shape", shape_type="star", fill_color=[1, 2, 3], line_color=[4, 5, 6],
                       line_width=2, text="S", font_size=11, font_color=[7, 8, 9], **place),
                  {"message": "Added star shape to slide 0", "shape_index": 1})
        tap.contains(o.error("add_shape", shape_type="blob", **place),
                     "Unsupported shape type: 'blob'. Available shape types: arrow, cloud, ")
        for kind in ("arrow", "cloud", "diamond", "flowchart_data", "flowchart_decision",
                     "flowchart_document", "flowchart_process", "heart", "heptagon", "hexagon",
                     "lightning_bolt", "moon", "no_symbol", "octagon", "oval", "pentagon",
                     "rectangle", "right_triangle", "rounded_rectangle", "smiley_face", "sun",
                     "triangle"):
            o.ok("add_shape", shape_type=kind, **place)
        got = o.ok("add_connector", slide_index=0, connector_type="curved", start_x=5, start_y=1,
                   end_x=1.5, end_y=3, color=[0, 128, 0])
        tap.equal(got, {"message": "Added curved connector to slide 0", "connector_type": "curved",
                        "start_point": [5.0, 1.0], "end_point": [1.5, 3.0], "shape_index": 24})
        tap.equal(o.error("add_connector", slide_index=0, connector_type="odd", start_x=0,
                          start_y=0, end_x=1, end_y=1),
                  "Invalid connector type. Use: ['straight', 'elbow', 'curved']")
        tap.equal(o.error("add_connector", slide_index=9, connector_type="odd", start_x=0,
                          start_y=0, end_x=1, end_y=1), "Slide index 9 out of range")
        package = o.saved()
        star, line = package.shape(0, 1), package.shape(0, 24)
        tap.equal(star.find(".//" + A + "prstGeom").get("prst"), "star5")
        tap.equal([x.tag for x in star.find(P + "spPr")],
                  [A + n for n in ("xfrm", "prstGeom", "solidFill", "ln")])
        tap.equal(star.find(".//" + A + "ln").get("w"), "25400")
        x = line.find(".//" + A + "xfrm")
        tap.equal((x.get("flipH"), x.get("flipV"), x.find(A + "off").get("x"),
                   x.find(A + "ext").get("cx")), ("1", None, "1371600", "3200400"))
        info = o.ok("get_slide_info", slide_index=0)["shapes"]
        tap.equal((info[1]["name"], info[1]["shape_type"], info[24]["shape_type"]),
                  ("5-Point Star 2", "AUTO_SHAPE (1)", "LINE (9)"))


KINDS = {"column": "barChart", "stacked_column": "barChart", "bar": "barChart",
         "stacked_bar": "barChart", "line": "lineChart", "line_markers": "lineChart",
         "pie": "pieChart", "doughnut": "doughnutChart", "area": "areaChart",
         "stacked_area": "areaChart", "scatter": "scatterChart", "radar": "radarChart",
         "radar_markers": "radarChart"}
DATA = {"categories": ["x", "y&z"], "series_names": ["A", "B"],
        "series_values": [[1, 2.5], [3, -4]]}


def sheet(package, chart):
    """The cells of the workbook in a chart."""
    rels = package.rels(chart)
    link = package.xml(chart).find(C + "externalData").get(R + "id")
    data = package.parts[os.path.normpath("ppt/charts/" + rels[link])]
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        rows = ET.fromstring(z.read("xl/worksheets/sheet1.xml"))
    return {c.get("r"): "".join(c.itertext()) for c in rows.iter() if c.get("r") and
            c.tag.endswith("}c")}


def test_charts():
    with office(1) as o:
        place = {"slide_index": 0, "left": 1, "top": 1, "width": 4, "height": 3}
        for i, kind in enumerate(KINDS):
            got = o.ok("add_chart", chart_type=kind, title="T", x_axis_title="X",
                       y_axis_title="Y", has_data_labels=True, color_scheme="warm_red",
                       legend_position="bottom", **place, **DATA)
            tap.equal(got, {"message": "Added %s chart to slide 0" % kind, "shape_index": i + 1,
                            "chart_type": kind, "series_count": 2, "categories_count": 2})
        package = o.saved()
        for i, kind in enumerate(KINDS):
            name = "ppt/charts/chart%d.xml" % (i + 1)
            plot = package.xml(name).find(C + "chart/" + C + "plotArea/" + C + KINDS[kind])
            values = [[v.text for v in s.find(C + ("yVal" if kind == "scatter" else "val"))
                       .iter(C + "v")] for s in plot.findall(C + "ser")]
            tap.equal(values, [["1", "2.5"], ["3", "-4"]], kind)
            tap.equal(package.xml(name).find(".//" + C + "legendPos").get("val"), "b")
            tap.equal(sheet(package, name), {
                "A2": "x", "A3": "y&z", "B1": "A", "C1": "B", "B2": "1", "B3": "2.5", "C2": "3",
                "C3": "-4"}, kind)
        tap.equal(o.ok("get_slide_info", slide_index=0)["shapes"][1]["shape_type"], "CHART (3)")
        for arguments, why in (
                ({"chart_type": "cube"}, "Invalid chart type: 'cube'. Valid types are: column, "),
                ({"series_names": ["A"]},
                 "Number of series names (1) must match number of series values (2)"),
                ({"categories": []}, "Categories list cannot be empty"),
                ({"series_values": [[1], [2]]},
                 "Series 'A' has 1 values but there are 2 categories")):
            tap.contains(o.error("add_chart", **{"chart_type": "pie", **place, **DATA,
                                                 **arguments}), why)


def test_new_data_for_charts():
    with office(1) as o:
        o.ok("add_chart", chart_type="column", slide_index=0, left=1, top=1, width=4, height=3,
             color_scheme="modern_blue", **DATA)
        before = o.saved().parts
        series = [{"name": "N", "values": [5, None, 7]}, {"name": "M", "values": [1, 2, 3]},
                  {"name": "O", "values": [9, 9, 9]}]
        got = o.ok("update_chart_data", slide_index=0, shape_index=1, categories=["p", "q", "r"],
                   series_data=series)
        tap.equal(got, {"message": "Updated chart data on slide 0, shape 1",
                        "categories": ["p", "q", "r"], "series_count": 3,
                        "series_names": ["N", "M", "O"]})
        package = o.saved()
        chart = package.xml("ppt/charts/chart1.xml")
        tap.equal([[v.text for v in s.find(C + "val").iter(C + "v")]
                   for s in chart.iter(C + "ser")], [["5", "7"], ["1", "2", "3"], ["9"] * 3])
        tap.equal([s.find(".//" + C + "f").text for s in chart.iter(C + "ser")],
                  ["Sheet1!$B$1", "Sheet1!$C$1", "Sheet1!$D$1"])
        tap.equal(len(list(chart.iter(A + "solidFill"))), 3, "colors")
        tap.equal(sheet(package, "ppt/charts/chart1.xml")["D4"], "9")
        changed = {n for n in before if before[n] != package.parts[n]}
        tap.equal(changed, {"ppt/charts/chart1.xml", "ppt/embeddings/Microsoft_Excel_Sheet1.xlsx"})
        o.ok("update_chart_data", slide_index=0, shape_index=1, categories=["p"],
             series_data=[{"name": "N", "values": [5]}])
        tap.equal(len(list(o.saved().xml("ppt/charts/chart1.xml").iter(C + "ser"))), 1)
        for arguments, why in (
                ({"shape_index": 0}, "Shape is not a chart"),
                ({"shape_index": 5}, "Shape index 5 out of range"),
                ({"series_data": [{"name": "N"}]},
                 "Each series must have 'name' and 'values' keys")):
            tap.equal(o.error("update_chart_data", **{"slide_index": 0, "shape_index": 1,
                                                      "categories": ["p"], "series_data": [],
                                                      **arguments}), why)


# ---- looks ----

def test_designs():
    with office(1) as o:
        schemes = o.ok("apply_professional_design", operation="get_schemes")
        tap.equal(schemes["available_schemes"],
                  ["modern_blue", "corporate_gray", "elegant_green", "warm_red"])
        tap.equal(schemes["schemes"]["warm_red"]["primary"], [192, 80, 77])
        tap.equal(o.ok("apply_professional_design", operation="professional_slide", title="P",
                       content=["a", "b"]), {
            "message": "Added professional title_content slide", "slide_index": 1,
            "color_scheme": "modern_blue", "slide_type": "title_content"})
        o.ok("add_shape", slide_index=0, shape_type="oval", left=1, top=1, width=1, height=1)
        tap.equal(o.ok("apply_professional_design", operation="enhance", slide_index=0,
                       color_scheme="warm_red")["enhancements_applied"],
                  ["title", "content", "shapes"])
        tap.equal(o.ok("apply_professional_design", operation="theme",
                       color_scheme="elegant_green"), {
            "message": "Applied elegant_green theme to presentation",
            "color_scheme": "elegant_green", "applied_to_existing": True})
        package = o.saved()
        accent = package.xml("ppt/theme/theme1.xml").find(".//" + A + "accent1/" + A + "srgbClr")
        tap.equal(accent.get("val"), "468847")
        tap.equal(package.shape(0, 1).find(P + "spPr/" + A + "solidFill/" + A + "srgbClr")
                  .get("val"), "C0504D")
        for arguments, why in (
                ({"operation": "odd"}, "Invalid operation: odd. Must be 'slide', 'theme', "
                                       "'enhance', or 'get_schemes'"),
                ({"operation": "enhance"}, "slide_index is required for enhance operation"),
                ({"operation": "enhance", "slide_index": 7},
                 "Invalid slide index: 7. Available slides: 0-1"),
                ({"operation": "theme", "presentation_id": "no"}, NONE)):
            tap.equal(o.error("apply_professional_design", **arguments), why)


def test_effects():
    with office(1) as o:
        o.write("p.png", png())
        o.ok("manage_image", slide_index=0, operation="add", image_source="p.png")
        got = o.ok("apply_picture_effects", slide_index=0, shape_index=1, effects={
            "shadow": {"color": [1, 2, 3], "transparency": 0.25}, "reflection": {},
            "glow": {"size": 8}, "soft_edges": {"radius": 3}, "rotation": {"rotation": 45},
            "transparency": {"transparency": 0.5}, "bevel": {"bevel_type": "slope"},
            "filter": {"filter_type": "grayscale"}, "sparkle": {}})
        tap.equal(got["message"], "Applied 8 effects to shape 1 on slide 0")
        tap.equal(got["warnings"], ["Unknown effect type: sparkle"])
        picture = o.saved().shape(0, 1)
        tap.equal([x.tag for x in picture.find(".//" + A + "effectLst")],
                  [A + n for n in ("glow", "outerShdw", "reflection", "softEdge")])
        tap.equal(picture.find(".//" + A + "outerShdw/" + A + "srgbClr/" + A + "alpha")
                  .get("val"), "75000")
        tap.equal(picture.find(".//" + A + "xfrm").get("rot"), "2700000")
        tap.equal(sorted(x.tag for x in picture.find(".//" + A + "blip")),
                  [A + "alphaModFix", A + "grayscl"])
        tap.equal(picture.find(".//" + A + "bevelT").get("prst"), "slope")
        again = o.ok("apply_picture_effects", slide_index=0, shape_index=0,
                     effects={"filter": {"filter_type": "sepia"}})
        tap.equal(again["warnings"], ["Failed to apply filter effect: the shape is no picture"])
        tap.contains(o.error("apply_picture_effects", slide_index=0, shape_index=9, effects={}),
                     "Invalid shape index: 9")


def pixels(data):
    """Size and pixels of a PNG file whose rows are filtered by the left neighbour or not."""
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        tap.equal(struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0],
                  zlib.crc32(kind + body), kind)
        if kind == b"IHDR":
            width, height, _, color = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    step = {2: 3, 6: 4}[color]
    rows, out = zlib.decompress(packed), []
    for y in range(height):
        row = bytearray(rows[y * (width * step + 1):(y + 1) * (width * step + 1)])
        for x in range(1 + step, len(row) if row[0] == 1 else 0):
            row[x] = (row[x] + row[x - step]) % 256
        out += [tuple(row[x:x + step]) for x in range(1, len(row), step)]
    return (width, height), out


def test_enhanced_pictures():
    with office(1) as o:
        o.write("p.png", png(9, 5, (200, 100, 50)))
        before = o.saved().parts
        got = o.ok("manage_image", slide_index=0, operation="enhance", image_source="p.png",
                   brightness=0.5, output_path="half.png")
        tap.equal(got, {"message": "Enhanced image: p.png", "enhanced_path": "half.png"})
        for name, want, more in (
                ("half.png", (100, 50, 25), {"brightness": 0.5}),
                ("gray.png", (124, 124, 124), {"saturation": 0}),
                ("same.png", (200, 100, 50), {"sharpness": 2, "blur_radius": 3}),
                ("smooth.png", (200, 100, 50), {"filter_type": "BLUR"}),
                ("flat.png", (124, 124, 124), {"contrast": 0})):
            o.ok("manage_image", slide_index=0, operation="enhance", image_source="p.png",
                 output_path=name, **more)
            with open(o.path(name), "rb") as f:
                size, seen = pixels(f.read())
            tap.equal((size, set(seen)), ((9, 5), {want}), name)
        preset = o.ok("manage_image", slide_index=0, operation="enhance", image_source="p.png",
                      enhancement_style="presentation")
        tap.equal(os.path.exists(o.path(preset["enhanced_path"])), True)
        tap.equal(o.saved().parts, before, "the slide stays")
        o.write("cut.png", png()[:-30])
        o.write("j.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 40)
        for name, why in (("cut.png", "Failed to enhance image: the PNG file is cut off"),
                          ("j.jpg", "Failed to enhance image: only PNG files can be enhanced"),
                          ("no.png", "Image file not found: no.png")):
            tap.equal(o.error("manage_image", slide_index=0, operation="enhance",
                              image_source=name), why)


def font():
    """A font of three outlines: none, and those of A and B."""
    outline = struct.pack(">hhhhh", 1, 0, 0, 10, 10) + b"\1" * 22
    tables = {
        b"DSIG": b"x" * 500,
        b"cmap": struct.pack(">HHHHL", 0, 1, 3, 1, 12) +
        struct.pack(">HHHHHHH", 4, 32, 0, 4, 4, 1, 0) +
        struct.pack(">HHHHHHHHH", 66, 65535, 0, 65, 65535, 65536 - 64, 1, 0, 0),
        b"glyf": outline * 3,
        b"head": b"\0" * 50 + struct.pack(">hh", 1, 0),
        b"loca": struct.pack(">LLLL", 0, 32, 64, 96),
        b"maxp": struct.pack(">LH", 0x10000, 3),
        b"name": struct.pack(">HHH", 0, 2, 30) +
        struct.pack(">HHHHHH", 3, 1, 1033, 1, 16, 0) +
        struct.pack(">HHHHHH", 1, 0, 0, 2, 4, 16) + "Larkspur".encode("utf-16-be") + b"Bold",
    }
    at, head, body = 12 + 16 * len(tables), b"", b""
    for tag, data in tables.items():
        head += tag + struct.pack(">LLL", 0, at + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    return struct.pack(">LHHHH", 0x10000, len(tables), 64, 2, 48) + head + body


def font_tables(data):
    rows = [struct.unpack(">4sLLL", data[12 + i * 16:28 + i * 16])
            for i in range(struct.unpack(">H", data[4:6])[0])]
    return {tag: data[at:at + size] for tag, _, at, size in rows}


def test_fonts():
    with office() as o:
        o.write("f.ttf", font())
        tap.equal(o.ok("manage_fonts", operation="analyze", font_path="f.ttf"), {
            "file_path": "f.ttf", "font_family": "Larkspur", "font_style": "Bold",
            "num_glyphs": 3, "file_size": len(font()), "analysis_success": True})
        got = o.ok("manage_fonts", operation="optimize", font_path="f.ttf", text_content="B",
                   output_path="small.ttf")
        tap.equal(got, {"message": "Optimized font: f.ttf", "original_path": "f.ttf",
                        "optimized_path": "small.ttf"})
        with open(o.path("small.ttf"), "rb") as f:
            small = f.read()
        tables = font_tables(small)
        tap.equal((b"DSIG" in tables, struct.unpack(">LLLL", tables[b"loca"])),
                  (False, (0, 32, 32, 64)))
        total = sum(struct.unpack(">%dL" % (len(small) // 4), small)) % 2 ** 32
        tap.equal(total, 0xb1b0afba, "sum of the file")
        got = o.ok("manage_fonts", operation="recommend", font_path="f.ttf",
                   presentation_type="academic")
        tap.equal((got["font_analysis"]["font_family"], got["presentation_type"]),
                  ("Larkspur", "academic"))
        o.write("bad.ttf", b"no font at all")
        wrong = o.call("manage_fonts", operation="analyze", font_path="bad.ttf")
        tap.equal((wrong["analysis_success"], wrong["error"]),
                  (False, "Not a TrueType or OpenType font (bad sfntVersion)"))
        tap.contains(o.error("manage_fonts", operation="optimize", font_path="no.ttf"),
                     "Failed to optimize font: Font optimization failed: ENOENT")
        tap.equal(o.error("manage_fonts", operation="odd", font_path="f.ttf"),
                  "Invalid operation: odd. Must be 'analyze', 'optimize', or 'recommend'")


def test_masters_and_transitions():
    with office(1) as o:
        tap.equal(o.ok("manage_slide_masters", operation="list"), {
            "message": "Found 1 slide masters",
            "masters": [{"index": 0, "layout_count": 11, "name": ""}], "total_masters": 1})
        layouts = o.ok("manage_slide_masters", operation="get_layouts")["layouts"]
        tap.equal([x["name"] for x in layouts], LAYOUTS)
        info = o.ok("manage_slide_masters", operation="get_info", layout_index=0)
        tap.equal([(x["idx"], x["type"]) for x in info["placeholders"]],
                  [(0, "CENTER_TITLE (3)"), (1, "SUBTITLE (4)"), (10, "DATE (16)"),
                   (11, "FOOTER (15)"), (12, "SLIDE_NUMBER (13)")])
        tap.equal(o.ok("manage_slide_masters", operation="get_info")["layout_count"], 11)
        for arguments, why in (
                ({"operation": "get_info", "layout_index": 11}, "Layout index 11 out of range"),
                ({"operation": "get_info", "master_index": 1}, "Master index 1 out of range"),
                ({"operation": "odd"}, "Unsupported operation: odd. Use 'list', 'get_layouts', "
                                       "or 'get_info'"),
                ({"operation": "list", "presentation_id": "no"}, "Presentation not found")):
            tap.equal(o.error("manage_slide_masters", **arguments), why)
        tap.equal(o.ok("manage_slide_transitions", slide_index=0, operation="get")
                  ["transition_type"], None)
        o.ok("manage_slide_transitions", slide_index=0, operation="set",
             transition_type="push", duration=0.8)
        o.ok("manage_slide_transitions", slide_index=0, operation="set", transition_type="Wipe",
             duration=2.5)
        got = o.ok("manage_slide_transitions", slide_index=0, operation="get")
        tap.equal((got["transition_type"], got["duration"]), ("wipe", 2.5))
        tap.equal([x.get("spd") for x in o.saved().slide(0).iter(P + "transition")],
                  ["slow", "slow"])
        o.ok("manage_slide_transitions", slide_index=0, operation="remove")
        tap.equal(list(o.saved().slide(0).iter(P + "transition")), [])
        for arguments, why in (
                ({"operation": "set", "transition_type": "zap"},
                 "Unsupported transition type: zap. Use one of: blinds, "),
                ({"operation": "odd"}, "Unsupported operation: odd. Use 'set', 'remove', or 'get'"),
                ({"operation": "get", "slide_index": 5}, "Slide index 5 out of range")):
            tap.contains(o.error("manage_slide_transitions",
                                 **{"slide_index": 0, **arguments}), why)


# ---- templates ----

def test_templates():
    with office(1) as o:
        o.write("p.png", png())
        listed = o.ok("list_slide_templates")
        tap.equal(listed["total_templates"], 17)
        for row in listed["available_templates"]:
            info = o.ok("get_template_info", template_id=row["id"])
            tap.equal(info["element_count"], row["element_count"], row)
            got = o.ok("create_slide_from_template", template_id=row["id"], layout_index=6,
                       content_mapping={"title": "Mapped " + row["id"]})
            made = got["template_applied"]["elements_created"]
            tap.equal([x["index"] for x in made], list(range(row["element_count"])), row)
            tap.equal([x["role"] for x in made], [x["role"] for x in info["elements"]])
        wrong = o.call("get_template_info", template_id="no")
        tap.equal((wrong["error"], len(wrong["available_templates"])),
                  ("Template 'no' not found", 17))
        got = o.ok("apply_slide_template", slide_index=0, template_id="text_with_image",
                   color_scheme="warm_red", image_paths={"supporting": "p.png"},
                   content_mapping={"content": "alpha\nbeta"})
        tap.equal(got["message"], "Applied template 'text_with_image' to slide 0")
        package = o.saved()
        tap.equal(len(list(package.slide(0).iter(P + "pic"))), 1)
        text = o.ok("extract_slide_text", slide_index=0)["text_content"]["all_text_combined"]
        tap.contains(text, "alpha\nbeta")
        tap.equal(o.error("apply_slide_template", slide_index=0, template_id="no"),
                  "Failed to apply template: Template 'no' not found")
        tap.equal(o.error("create_slide_from_template", template_id="no"),
                  "Failed to apply template to new slide: Template 'no' not found")
        tap.contains(o.error("create_slide_from_template", template_id="title_slide",
                             layout_index=99), "Invalid layout index: 99")


def test_presentations_of_templates():
    with office() as o:
        tap.equal(o.error("auto_generate_presentation", topic="x"), NONE)
        o.ok("create_presentation")
        got = o.ok("create_presentation_from_templates", presentation_title="Deck",
                   template_sequence=[{"template_id": "title_slide", "content": {"title": "One"}},
                                      {"template_id": "data_table_slide"}])
        tap.equal((got["message"], got["total_slides"], got["creation_result"]["success"]),
                  ("Created presentation with 2 slides", 2, True))
        tap.equal(o.ok("get_presentation_info")["core_properties"]["title"], "Deck")
        got = o.ok("create_presentation_from_templates",
                   template_sequence=[{"template_id": "no"}, {}])
        tap.equal((got["warning"], got["creation_result"]["slides_created"][1]["error"]),
                  ("Presentation created with some errors", "No template_id specified"))
        tap.equal(o.error("create_presentation_from_templates", template_sequence=[]),
                  "Template sequence cannot be empty")
        for kind in ("business", "academic", "creative"):
            for count in (3, 12):
                o.ok("create_presentation")
                got = o.ok("auto_generate_presentation", topic="Tides & moons", slide_count=count,
                           presentation_type=kind, include_charts=False)
                tap.equal((len(got["templates_used"]), got["generation_result"]["success"]),
                          (count, True))
                tap.equal(o.ok("get_presentation_info")["slide_count"], count)
                tap.contains(o.ok("extract_presentation_text")["all_presentation_text_combined"],
                             "Tides & moons")
        tap.equal(o.error("auto_generate_presentation", topic="x", slide_count=2),
                  "Slide count must be between 3 and 20")


# ---- limits ----

CALLED = set()


def test_every_tool_was_called():
    tap.equal(sorted(set(defaults()) - CALLED), [])



def test_a_long_session_keeps_its_memory():
    """Edits that leave waste behind do not fill the presentation's memory."""
    with office(1) as o:
        o.ok("manage_text", slide_index=0, operation="add", text="x")
        big = "lorem ipsum " * 200000
        for i in range(60):
            o.ok("manage_hyperlinks", operation="list", slide_index=0)
            o.ok("populate_placeholder", slide_index=0, placeholder_idx=0, text="%d%s" % (i, big))
        o.ok("populate_placeholder", slide_index=0, placeholder_idx=0, text="end")
        tap.equal(o.ok("extract_slide_text", slide_index=0)["text_content"]["slide_title"], "end")


tap.main(globals())
