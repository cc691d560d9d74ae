# SPDX-License-Identifier: MIT
"""word: documents, paragraphs and tables; python-docx reads what the tools wrote."""

import json
import os
import shutil
import struct

import tap
from word_files import W, docx, png, styles, table, text, texts, word

WD_ALIGN_PARAGRAPH = docx.enum.text.WD_ALIGN_PARAGRAPH


# ---- whole documents ----

def test_create():
    with word(make=False) as w:
        tap.equal(w.say("create_document", filename="new", title="Tides", author="Ada"),
                  "Document new.docx created successfully")
        d = w.open("new.docx")
        tap.equal((d.core_properties.title, d.core_properties.author), ("Tides", "Ada"))
        tap.equal((texts(d), len(d.sections)), ([], 1))
        names = {s.name for s in d.styles}
        wanted = {"Normal", "Title", "Subtitle", "List Bullet", "List Number", "List Paragraph",
                  "Table Grid", "Quote", "Caption", "Header", "Footer", "Body Text", "Strong",
                  "No Spacing"} | {"Heading %d" % i for i in range(1, 10)}
        tap.equal(wanted - names, set())
        tap.equal(w.say("create_document", filename="no/x.docx"),
                  "Cannot create document: Directory of no/x.docx does not exist")
        tap.contains(w.failure("create_document", filename="../x.docx"), "Access denied")


def test_copy():
    with text("One") as w:
        def copy(**arguments):
            return w.tools.text("word", "copy_document", arguments)
        tap.equal(copy(source_filename="a"), "Document copied to a_copy.docx")
        tap.equal(copy(source_filename="a.docx", destination_filename="b"),
                  "Document copied to b.docx")
        tap.equal(texts(w.open("b.docx")), ["One"])
        tap.equal(copy(source_filename="nope"),
                  "Failed to copy document: Source document nope.docx does not exist")


def test_info():
    with word() as w:
        w.say("add_paragraph", text="three words here")
        w.say("add_table", rows=1, cols=1)
        got = w.json("get_document_info")
        del got["created"], got["modified"]
        tap.equal(got, {
            "title": "Tides", "author": "Ada Brook", "subject": "", "keywords": "",
            "last_modified_by": "", "revision": 1, "page_count": 1, "word_count": 3,
            "paragraph_count": 1, "table_count": 1})


def test_text_and_outline():
    with word() as w:
        w.say("add_heading", text="Tides", level=2)
        w.say("add_paragraph", text="High\twater\nü & <x> " + "y" * 120)
        w.say("add_table", rows=2, cols=2, data=[["a", 1], [True, None]])
        body = "High\twater\nü & <x> " + "y" * 120
        tap.equal(w.say("get_document_text"), "Tides\n%s\na\n1\nTrue\nNone" % body)
        answer = w.say("get_document_outline")
        tap.contains(answer, "\\u00fc")
        tap.equal(json.loads(answer), {
            "paragraphs": [
                {"index": 0, "text": "Tides", "style": "Heading 2"},
                {"index": 1, "text": body[:100] + "...", "style": "Normal"}],
            "tables": [{"index": 0, "rows": 2, "columns": 2,
                        "preview": [["a", "1"], ["True", "None"]]}]})
        tap.equal(w.json("get_paragraph_text_from_document", paragraph_index=0), {
            "index": 0, "text": "Tides", "style": "Heading 2", "is_heading": True})
        tap.equal(w.json("get_paragraph_text_from_document", paragraph_index=2), {
            "error": "Invalid paragraph index: 2. Document has 2 paragraphs."})
        xml = w.say("get_document_xml")
        tap.equal(xml.startswith("<w:body xmlns:w="), True, xml[:80])
        tap.contains(xml, '\n      <w:pStyle w:val="Heading2"/>\n')


def test_list():
    with text("One") as w:
        shutil.copy(w.path("a.docx"), w.path("b.docx"))
        size = os.path.getsize(w.path("a.docx")) / 1024
        tap.equal(w.say("list_available_documents", directory="."),
                  "Found 2 Word documents in .:\n- a.docx (%.2f KB)\n- b.docx (%.2f KB)\n"
                  % (size, size))
        os.mkdir(w.path("d"))
        tap.equal(w.say("list_available_documents", directory="d"),
                  "No Word documents found in d")
        tap.equal(w.say("list_available_documents", directory="e"),
                  "Directory e does not exist")


# ---- content ----

def test_paragraphs():
    with word() as w:
        tap.equal(w.say("add_paragraph", text="Plain"), "Paragraph added to a.docx")
        w.say("add_paragraph", text="Loud", style="Quote", font_name="Courier New", font_size=14,
              bold=True, italic=False, color="#ff8000")
        tap.equal(w.say("add_paragraph", text="x", style="Nope"),
                  "Style 'Nope' not found, paragraph added with default style to a.docx")
        tap.contains(w.say("add_paragraph", text="x", color="no colour"),
                     "Failed to add paragraph: ")
        tap.contains(w.say("add_paragraph", text="x", style="Table Grid"), "need type paragraph")
        d = w.open()
        tap.equal((texts(d), styles(d)), (["Plain", "Loud", "x"], ["Normal", "Quote", "Normal"]))
        run = d.paragraphs[1].runs[0]
        tap.equal((run.font.name, run.font.size.pt, run.bold, run.italic, str(run.font.color.rgb)),
                  ("Courier New", 14, True, False, "FF8000"))


def test_headings():
    with word() as w:
        tap.equal(w.say("add_heading", text="Top", level=1, font_size=20, border_bottom=True),
                  "Heading 'Top' (level 1) added to a.docx")
        tap.equal(w.say("add_heading", text="x", level=10),
                  "Invalid heading level: 10. Level must be between 1 and 9.")
        p = w.open().paragraphs[0]
        tap.equal((p.style.name, p.runs[0].font.size.pt), ("Heading 1", 20))
        tap.equal(p._p.pPr.find(W + "pBdr").find(W + "bottom").get(W + "val"), "single")


def test_heading_without_styles():
    with text("One") as w:
        d = w.open()
        for style in [s for s in d.styles if s.name.startswith("Heading")]:
            style.delete()
        d.save(w.path("a.docx"))
        w.say("add_heading", text="Two", level=3)
        p = w.open().paragraphs[1]
        tap.equal((p.style.name, p.style.font.bold, p.style.font.size.pt), ("Heading 3", True, 12))


def test_pictures():
    jpeg = (b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\1\0\x48\0\x48\0\0"
            b"\xff\xc0\0\x11\x08\0\x20\0\x40\3\1\x22\0\2\x11\1\3\x11\1\xff\xd9")
    with word() as w:
        for name, data in (("p.png", png(72, 36)), ("d.png", png(100, 50, 100)), ("j.jpg", jpeg),
                           ("g.gif", b"GIF89a" + struct.pack("<HH", 144, 72) + bytes(20)),
                           ("empty.png", b""), ("t.png", b"just text")):
            with open(w.path(name), "wb") as f:
                f.write(data)
        tap.equal(w.say("add_picture", image_path="p.png"), "Picture p.png added to a.docx")
        w.say("add_picture", image_path="d.png", width=2.5)
        w.say("add_picture", image_path="j.jpg")
        w.say("add_picture", image_path="g.gif")
        tap.equal([(s.width.inches, s.height.inches) for s in w.open().inline_shapes],
                  [(1, 0.5), (2.5, 1.25), (64 / 72, 32 / 72), (2, 1)])
        tap.equal(w.parts()["word/media/image1.png"], png(72, 36))
        tap.equal(w.say("add_picture", image_path="no.png"),
                  "Image file not found: " + w.path("no.png"))
        tap.equal(w.say("add_picture", image_path="empty.png"),
                  "Image file appears to be empty: %s (0 KB)" % w.path("empty.png"))
        tap.equal(w.say("add_picture", image_path="t.png"),
                  "Failed to add picture: UnrecognizedImageError - No error details available\n"
                  "Diagnostic info: Attempting to add image (%s, 0.01 KB) to document (%s)"
                  % (w.path("t.png"), w.path("a.docx")))


def test_page_breaks_and_deletion():
    with text("One", "Two") as w:
        tap.equal(w.say("add_page_break"), "Page break added to a.docx.")
        tap.contains(w.open().paragraphs[2]._p.xml, 'w:br w:type="page"')
        tap.equal(w.say("delete_paragraph", paragraph_index=0),
                  "Paragraph at index 0 deleted successfully.")
        tap.equal(texts(w.open())[:1], ["Two"])
        tap.equal(w.say("delete_paragraph", paragraph_index=2),
                  "Invalid paragraph index. Document has 2 paragraphs (0-1).")


def test_replacing_keeps_looks():
    with word(make=False) as w:
        d = docx.Document()
        p = d.add_paragraph("the ")
        p.add_run("high").bold = True
        p.add_run(" water").italic = True
        p.add_run(" and the high water")
        d.add_table(1, 1).cell(0, 0).text = "high water"
        d.save(w.path("a.docx"))
        tap.equal(w.say("search_and_replace", find_text="high water", replace_text="low tide!!"),
                  "Replaced 3 occurrence(s) of 'high water' with 'low tide!!'.")
        d = w.open()
        tap.equal([(r.text, r.bold, r.italic) for r in d.paragraphs[0].runs],
                  [("the ", None, None), ("low ", True, None), ("tide!!", None, True),
                   (" and the low tide!!", None, None)])
        tap.equal(d.tables[0].cell(0, 0).text, "low tide!!")
        tap.equal(w.say("search_and_replace", find_text="moon", replace_text=""),
                  "No occurrences of 'moon' found.")


def test_format_text():
    with text("Größe und Maß") as w:
        tap.equal(w.say("format_text", paragraph_index=0, start_pos=6, end_pos=9, bold=True,
                        underline=True, color="green", font_size=9, font_name="Arial"),
                  "Text 'und' formatted successfully in paragraph 0.")
        runs = w.open().paragraphs[0].runs
        tap.equal([(r.text, r.bold) for r in runs],
                  [("Größe ", None), ("und", True), (" Maß", None)])
        f = runs[1].font
        tap.equal((f.underline, str(f.color.rgb), f.size.pt, f.name), (True, "008000", 9, "Arial"))
        w.say("format_text", paragraph_index=0, start_pos=0, end_pos=13, italic=True)
        tap.equal([(r.text, r.bold, r.italic) for r in w.open().paragraphs[0].runs],
                  [("Größe ", None, True), ("und", True, True), (" Maß", None, True)])
        for begin, end in ((0, 14), (3, 3), (-1, 2)):
            tap.equal(w.say("format_text", paragraph_index=0, start_pos=begin, end_pos=end),
                      "Invalid text positions. Paragraph has 13 characters.")
        tap.equal(w.say("format_text", paragraph_index=1, start_pos=0, end_pos=1),
                  "Invalid paragraph index. Document has 1 paragraphs (0-0).")


def test_custom_style():
    with word() as w:
        tap.equal(w.say("create_custom_style", style_name="Sea Note", bold=True, font_size=11,
                        font_name="Arial", color="blue", base_style="Quote"),
                  "Style 'Sea Note' created successfully.")
        tap.equal(w.say("add_paragraph", text="x", style="Sea Note"), "Paragraph added to a.docx")
        s = w.open().paragraphs[0].style
        tap.equal((s.name, s.base_style.name, s.font.bold, s.font.size.pt, str(s.font.color.rgb)),
                  ("Sea Note", "Quote", True, 11, "0000FF"))
        tap.equal(w.say("create_custom_style", style_name="x", base_style="Nope"),
                  "Failed to create style: \"no style with name 'Nope'\"")


# ---- beside and in the place of others ----

def test_insert_header():
    with text("One", "Two") as w:
        tap.equal(w.say("insert_header_near_text", target_text="Two", header_title="H",
                        position="before"),
                  "Header 'H' (style: Heading 1) inserted before the target paragraph.")
        tap.equal(w.say("insert_header_near_text", target_paragraph_index=0, header_title="G",
                        position="after", header_style="Title"),
                  "Header 'G' (style: Title) inserted after paragraph (index 0).")
        d = w.open()
        tap.equal((texts(d), styles(d)),
                  (["One", "G", "H", "Two"], ["Normal", "Title", "Heading 1", "Normal"]))
        tap.equal(w.say("insert_header_near_text", target_text="Zero", header_title="H"),
                  "Target paragraph not found (by index or text). "
                  "(TOC paragraphs are skipped in text search)")
        tap.equal(w.say("insert_header_near_text", target_text="One", header_style="Nope"),
                  "Failed to insert header: \"no style with name 'Nope'\"")


def test_insert_line():
    with text("One") as w:
        d = w.open()
        d.paragraphs[0].style = "Quote"
        d.save(w.path("a.docx"))
        tap.equal(w.say("insert_line_or_paragraph_near_text", target_text="One", line_text="Two",
                        position="after"),
                  "Line/paragraph inserted after the target paragraph with style 'Quote'.")
        tap.equal(w.say("insert_line_or_paragraph_near_text", target_paragraph_index=0,
                        line_text="Zero", position="before", line_style="Body Text"),
                  "Line/paragraph inserted before paragraph (index 0) with style 'Body Text'.")
        d = w.open()
        tap.equal((texts(d), styles(d)), (["Zero", "One", "Two"], ["Body Text", "Quote", "Quote"]))
        tap.equal(w.say("insert_line_or_paragraph_near_text", target_paragraph_index=9),
                  "Invalid target_paragraph_index: 9. Document has 3 paragraphs.")


def formats(document):
    """What the lists of a document look like, by the ids of their paragraphs."""
    root = document.part.numbering_part.element
    looks = {n.get(W + "abstractNumId"): n.find(W + "lvl").find(W + "numFmt").get(W + "val")
             for n in root.findall(W + "abstractNum")}
    nums = {n.get(W + "numId"): looks[n.find(W + "abstractNumId").get(W + "val")]
            for n in root.findall(W + "num")}
    ids = [p._p.pPr.numPr.numId.val for p in document.paragraphs
           if p._p.pPr is not None and p._p.pPr.numPr is not None]
    return ids, [nums[str(i)] for i in ids]


def test_insert_lists():
    for make in (word, text):
        with make() as w:
            w.say("add_paragraph", text="One")
            tap.equal(w.say("insert_numbered_list_near_text", target_text="One",
                            list_items=["a", "b"], bullet_type="bullet", position="after"),
                      "Bulleted list with 2 items inserted after the target paragraph.")
            tap.equal(w.say("insert_numbered_list_near_text", target_paragraph_index=0,
                            list_items=["c", "d"], bullet_type="number", position="before"),
                      "Numbered list with 2 items inserted before paragraph (index 0).")
            tap.equal(w.say("insert_numbered_list_near_text", target_text="One", list_items=["e"],
                            benchmark="Toolathlon"),
                      "Numbered list inserted after the target paragraph.")
            d = w.open()
            tap.equal(texts(d), ["c", "d", "One", "e", "a", "b"])
            tap.equal(styles(d)[3:5], ["List Number", "List Paragraph"])
            ids, looks = formats(d)
            tap.equal(looks, ["decimal", "decimal", "decimal", "bullet", "bullet"])
            tap.equal((ids[0] == ids[1], ids[0] != ids[2]), (True, True))
            tap.contains(w.say("insert_numbered_list_near_text", target_text="Z"), "not found")


def test_replace_below_header():
    with word() as w:
        for heading, lines in (("A", ["a1", "a2"]), ("B", ["b1"])):
            w.say("add_heading", text=heading, level=1)
            for line in lines:
                w.say("add_paragraph", text=line)
        tap.equal(w.say("replace_paragraph_block_below_header", header_text=" a ",
                        new_paragraphs=["x", "y", "z"]),
                  "Replaced content under ' a ' with 3 paragraph(s), style: Normal, "
                  "removed 2 elements.")
        tap.equal(texts(w.open()), ["A", "x", "y", "z", "B", "b1"])
        tap.equal(w.say("replace_paragraph_block_below_header", header_text="C",
                        new_paragraphs=[]), "Header 'C' not found in document.")


def test_replace_between_anchors():
    with text("begin", "old", "old", "end", "tail") as w:
        tap.equal(w.say("replace_block_between_manual_anchors", start_anchor_text="begin",
                        end_anchor_text="end", new_paragraphs=["new"],
                        new_paragraph_style="Quote"),
                  "Replaced content between 'begin' and 'end' with 1 paragraph(s), "
                  "style: Quote, removed 2 elements.")
        d = w.open()
        tap.equal((texts(d), styles(d)[1]), (["begin", "new", "end", "tail"], "Quote"))
        d.paragraphs[3].runs[0].bold = True
        d.save(w.path("a.docx"))
        tap.equal(w.say("replace_block_between_manual_anchors", start_anchor_text="begin",
                        new_paragraphs=[]),
                  "Replaced content between 'begin' and 'next logical header' with 0 "
                  "paragraph(s), style: Normal, removed 2 elements.")
        tap.equal((texts(w.open()), len(w.open().sections)), (["begin", "tail"], 1))
        tap.equal(w.say("replace_block_between_manual_anchors", start_anchor_text="nope",
                        new_paragraphs=[]), "Start anchor 'nope' not found.")


# ---- tables ----

def cell_property(document, row, column, name):
    pr = document.tables[0].cell(row, column)._tc.tcPr
    return None if pr is None else pr.find(W + name)


def test_add_table():
    with word() as w:
        tap.equal(w.say("add_table", rows=2, cols=3, data=[["a", "b", "c", "d"], [1, 2.5, "z"],
                                                           ["no"]]),
                  "Table (2x3) added to a.docx")
        t = w.open().tables[0]
        tap.equal([[c.text for c in r.cells] for r in t.rows], [["a", "b", "c"], ["1", "2.5", "z"]])
        tap.equal(t.style.name, "Table Grid")
        for rows, columns in ((1, 0), (70000, 1), (1000, 1000)):
            tap.contains(w.say("add_table", rows=rows, cols=columns), "Failed to add table: ")


def test_table_looks():
    with table() as w:
        tap.equal(w.say("format_table", table_index=0, has_header_row=True, border_style="double",
                        shading=[["FF0000"], [None, "00FF00"]]),
                  "Table at index 0 formatted successfully.")
        d = w.open()
        tap.equal(d.tables[0].cell(0, 2).paragraphs[0].runs[0].bold, True)
        tap.equal(cell_property(d, 2, 2, "tcBorders").find(W + "left").get(W + "val"), "double")
        tap.equal([cell_property(d, i, i, "shd").get(W + "fill") for i in (0, 1)],
                  ["FF0000", "00FF00"])
        tap.equal(w.say("set_table_cell_shading", table_index=0, row_index=2, col_index=1,
                        fill_color="#abcdef", pattern="clear"),
                  "Cell shading applied successfully to table 0, row 2, column 1.")
        tap.equal(cell_property(w.open(), 2, 1, "shd").get(W + "fill"), "ABCDEF")
        tap.equal(w.say("apply_table_alternating_rows", table_index=0, color1="111111",
                        color2="222222"),
                  "Alternating row shading applied successfully to table 0.")
        d = w.open()
        tap.equal([cell_property(d, i, 1, "shd").get(W + "fill") for i in range(3)],
                  ["111111", "222222", "111111"])
        tap.equal(w.say("highlight_table_header", table_index=0),
                  "Header highlighting applied successfully to table 0.")
        d = w.open()
        run = d.tables[0].cell(0, 0).paragraphs[0].runs[0]
        tap.equal((run.bold, str(run.font.color.rgb),
                   cell_property(d, 0, 0, "shd").get(W + "fill")), (True, "FFFFFF", "4472C4"))


def test_merging():
    with table(4, 4) as w:
        tap.equal(w.say("merge_table_cells", table_index=0, start_row=0, start_col=0, end_row=1,
                        end_col=1),
                  "Cells merged successfully in table 0 from (0,0) to (1,1).")
        tap.equal(w.say("merge_table_cells_horizontal", table_index=0, row_index=2, start_col=1,
                        end_col=3),
                  "Cells merged horizontally in table 0, row 2, columns 1-3.")
        tap.equal(w.say("merge_table_cells_vertical", table_index=0, col_index=3, start_row=0,
                        end_row=1),
                  "Cells merged vertically in table 0, column 3, rows 0-1.")
        t = w.open().tables[0]
        tap.equal([[c.text for c in r.cells] for r in t.rows],
                  [["00\n01\n10\n11", "00\n01\n10\n11", "02", "03\n13"],
                   ["00\n01\n10\n11", "00\n01\n10\n11", "12", "03\n13"],
                   ["20", "21\n22\n23", "21\n22\n23", "21\n22\n23"], ["30", "31", "32", "33"]])
        for arguments, why in (
                ((1, 0, 0, 1), "Invalid merge range: start indices must be <= end indices"),
                ((1, 1, 1, 1), "Invalid merge range: cannot merge a single cell with itself"),
                ((0, 0, 9, 0), "Failed to merge cells. Check that indices are valid."),
                ((1, 1, 2, 2), "Failed to merge cells. Check that indices are valid.")):
            names = ("start_row", "start_col", "end_row", "end_col")
            tap.equal(w.say("merge_table_cells", table_index=0, **dict(zip(names, arguments))), why)
        tap.equal(w.say("merge_table_cells_horizontal", table_index=0, row_index=9, start_col=0,
                        end_col=1),
                  "Failed to merge cells horizontally. Check that indices are valid.")
        tap.equal(w.say("merge_table_cells_vertical", table_index=0, col_index=-1, start_row=0,
                        end_row=1),
                  "Failed to merge cells vertically. Check that indices are valid.")


def test_alignment():
    with table() as w:
        tap.equal(w.say("set_table_cell_alignment", table_index=0, row_index=1, col_index=2,
                        horizontal="Justify", vertical="bottom"),
                  "Cell alignment set successfully for table 0, cell (1,2) to Justify/bottom.")
        d = w.open()
        tap.equal((d.tables[0].cell(1, 2).paragraphs[0].alignment,
                   cell_property(d, 1, 2, "vAlign").get(W + "val")),
                  (WD_ALIGN_PARAGRAPH.JUSTIFY, "bottom"))
        tap.equal(w.say("set_table_alignment_all", table_index=0, horizontal="center",
                        vertical="center"),
                  "Table alignment set successfully for table 0 to center/center for all cells.")
        tap.equal({c.paragraphs[0].alignment for r in w.open().tables[0].rows for c in r.cells},
                  {WD_ALIGN_PARAGRAPH.CENTER})
        for tool in ("set_table_cell_alignment", "set_table_alignment_all"):
            where = {"table_index": 0, "row_index": 0, "col_index": 0}
            tap.equal(w.say(tool, horizontal="up", **where), "Invalid horizontal alignment. "
                      "Valid options: left, center, right, justify")
            tap.equal(w.say(tool, vertical="left", **where),
                      "Invalid vertical alignment. Valid options: top, center, bottom")
        tap.equal(w.say("set_table_cell_alignment", table_index=0, row_index=7, col_index=0),
                  "Failed to set cell alignment. Check that indices are valid.")


def test_widths():
    with table() as w:
        tap.equal(w.say("set_table_column_width", table_index=0, col_index=1, width=100),
                  "Column width set successfully for table 0, column 1 to 100.0 points.")
        tap.equal(w.say("set_table_column_widths", table_index=0, widths=[1, 2.5],
                        width_type="inches"),
                  "Column widths set successfully for table 0 with 2 columns in inches.")
        tap.equal(w.say("set_table_width", table_index=0, width=80.5, width_type="percent"),
                  "Table width set successfully for table 0 to 80.5 percent.")
        d = w.open()
        tap.equal([d.tables[0].cell(2, i).width.inches for i in (0, 1)], [1, 2.5])
        width = d.tables[0]._tbl.tblPr.find(W + "tblW")
        tap.equal((width.get(W + "w"), width.get(W + "type")), ("4025", "pct"))
        tap.equal(w.say("auto_fit_table_columns", table_index=0),
                  "Table 0 set to auto-fit columns based on content.")
        d = w.open()
        tap.equal((d.tables[0].autofit, cell_property(d, 0, 0, "tcW").get(W + "type")),
                  (True, "auto"))
        for tool in ("set_table_column_width", "set_table_column_widths", "set_table_width"):
            tap.equal(w.say(tool, table_index=0, col_index=0, width=1, widths=[1],
                            width_type="miles"),
                      "Invalid width type. Valid options: points, inches, cm, percent, auto")
        tap.equal(w.say("set_table_column_width", table_index=0, col_index=3, width=1),
                  "Invalid column index. Table has 3 columns (0-2).")
        tap.contains(w.say("set_table_column_widths", table_index=0, widths=["x"]),
                     "widths must be a list of numbers")


def test_cells():
    with table() as w:
        tap.equal(w.say("format_table_cell_text", table_index=0, row_index=1, col_index=1,
                        text_content="x" * 31, bold=True, color="red", font_size=8,
                        font_name="Arial", underline=False),
                  "Cell text formatted successfully in table 0, cell (1,1): content='%s...', "
                  "bold=True, underline=False, color=red, size=8pt, font=Arial." % ("x" * 30))
        run = w.open().tables[0].cell(1, 1).paragraphs[0].runs[0]
        tap.equal((run.text, run.bold, str(run.font.color.rgb), run.font.size.pt),
                  ("x" * 31, True, "FF0000", 8))
        tap.contains(w.say("format_table_cell_text", table_index=0, row_index=0, col_index=0),
                     "cell (0,0): no changes.")
        tap.equal(w.say("set_table_cell_padding", table_index=0, row_index=0, col_index=0, top=5,
                        right=2.5),
                  "Cell padding set successfully for table 0, cell (0,0): top=5.0, right=2.5 "
                  "points.")
        margins = cell_property(w.open(), 0, 0, "tcMar")
        tap.equal([(x.tag[len(W):], x.get(W + "w")) for x in margins],
                  [("top", "100"), ("right", "50")])
        tap.equal(w.say("set_table_cell_padding", table_index=0, row_index=0, col_index=0,
                        unit="inches"), "Invalid unit. Valid options: points, percent")


def test_which_table_and_cell():
    every = {"row_index": 0, "col_index": 0, "start_row": 0, "start_col": 0, "end_row": 1,
             "end_col": 1, "width": 1, "widths": [1], "fill_color": "FFFFFF"}
    with table() as w:
        for tool in ("format_table", "set_table_cell_shading", "apply_table_alternating_rows",
                     "highlight_table_header", "merge_table_cells", "merge_table_cells_horizontal",
                     "merge_table_cells_vertical", "set_table_cell_alignment",
                     "set_table_alignment_all", "set_table_column_width",
                     "set_table_column_widths", "set_table_width", "auto_fit_table_columns",
                     "format_table_cell_text", "set_table_cell_padding"):
            tap.equal(w.say(tool, table_index=1, **every),
                      "Invalid table index. Document has 1 tables (0-0).", tool)
        for tool in ("set_table_cell_shading", "format_table_cell_text", "set_table_cell_padding"):
            tap.equal(w.say(tool, table_index=0, **dict(every, row_index=3)),
                      "Invalid row index. Table has 3 rows (0-2).", tool)
            tap.equal(w.say(tool, table_index=0, **dict(every, col_index=-1)),
                      "Invalid column index. Row has 3 cells (0-2).", tool)


tap.main(globals())
