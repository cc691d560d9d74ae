# SPDX-License-Identifier: MIT
"""The tools of workbooks: each does its work and tells what is wrong. openpyxl, which nobody here
wrote, makes files for them and reads what they wrote."""

import contextlib
import datetime
import json
import os
import random
import shutil
import tempfile
import threading
import zipfile

import local_tools
import openpyxl
import tap
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font
from openpyxl.worksheet.datavalidation import DataValidation

SALES = [["Region", "Product", "Units", "Price"],
         ["North", "Kelp", 12, 1.5],
         ["South", "Kelp", 7, 1.5],
         ["North", "Coral", 3, 20],
         ["South", "Coral", 4, 20.25]]


class Books:
    """The server on a folder with a workbook "book.xlsx"."""

    def __init__(self, tools):
        self.tools = tools
        self.path = self.at("book.xlsx")

    def at(self, name):
        return os.path.join(self.tools.root, name)

    def arguments(self, arguments):
        return {"filepath": "book.xlsx", "sheet_name": "Sheet1", **arguments}

    def text(self, tool, **arguments):
        return self.tools.text("excel", tool, self.arguments(arguments))

    def failure(self, tool, **arguments):
        return self.tools.failure("excel", tool, self.arguments(arguments))

    def read(self, **arguments):
        return json.loads(self.text("read_data_from_excel", **arguments))

    def values(self, **arguments):
        return {c["address"]: c["value"] for c in self.read(**arguments)["cells"]}

    def load(self, **arguments):
        return openpyxl.load_workbook(self.path, **arguments)


@contextlib.contextmanager
def books():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            b = Books(tools)
            tap.equal(b.text("create_workbook"), "Created workbook at " + b.path)
            yield b
    finally:
        shutil.rmtree(root)


@contextlib.contextmanager
def sales():
    with books() as b:
        tap.equal(b.text("write_data_to_excel", data=SALES), "Data written to Sheet1")
        yield b


def parts(path):
    """Every entry of an archive as it is packed."""
    got = {}
    with zipfile.ZipFile(path) as z, open(path, "rb") as f:
        for info in z.infolist():
            f.seek(info.header_offset + 26)
            lengths = f.read(4)
            f.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
            got[info.filename] = f.read(info.compress_size)
        tap.equal(z.testzip(), None)
    return got


def test_workbooks_are_made():
    with books() as b:
        tap.equal(b.load().sheetnames, ["Sheet1"])
        deep = b.text("create_workbook", filepath="a/b/new.xlsx")
        tap.equal(deep, "Created workbook at " + b.at("a/b/new.xlsx"))
        tap.equal(openpyxl.load_workbook(b.at("a/b/new.xlsx")).active["A1"].value, None)
        tap.equal(b.failure("create_workbook", filepath="/etc/x.xlsx").startswith(
            "Error executing tool create_workbook: Access denied - path outside"), True)
        os.mkdir(b.at("dir.xlsx"))
        tap.contains(b.text("create_workbook", filepath="dir.xlsx"),
                     "Error: Failed to create workbook: ")


def test_values_come_back():
    with books() as b:
        values = ["text", 'q"<&>', "  spaces ", "two\nlines", "\u00e4\u4e2d\U0001f41f", 7, -2, 1.5,
                  1e300, 0.1, True, False, None, "=A6*2", "'quoted", "007"]
        b.text("write_data_to_excel", data=[values])
        got = [c.value for c in b.load().active[1]]
        tap.equal(got, values)
        cells = b.read()
        tap.equal(cells["range"], "A1:P1")
        tap.equal([c["value"] for c in cells["cells"]], values)
        tap.equal(cells["cells"][0], {"address": "A1", "value": "text", "row": 1, "column": 1,
                                      "validation": {"has_validation": False}})
        raw = b.text("read_data_from_excel")
        tap.equal(raw, json.dumps(cells, indent=2))


def test_numbers_are_shown_as_python_shows_them():
    with books() as b:
        random.seed(7)
        values = [random.uniform(-1, 1) * 10 ** random.randint(-30, 30) for _ in range(500)]
        b.text("write_data_to_excel", data=[values[i:i + 10] for i in range(0, 500, 10)])
        tap.equal([c.value for row in b.load().active for c in row], values)
        raw = b.text("read_data_from_excel")
        tap.equal(raw, json.dumps(json.loads(raw), indent=2))
        tap.equal([c["value"] for c in json.loads(raw)["cells"]], values)


def test_calls_at_once_lose_nothing():
    with books() as b:
        def write(i):
            b.text("write_data_to_excel", data=[[i]], start_cell="A%d" % (i + 1))
        threads = [threading.Thread(target=write, args=(i,)) for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        tap.equal([c.value for (c,) in b.load().active], list(range(16)))


def test_reading_finds_the_range():
    with sales() as b:
        tap.equal(b.read()["range"], "A1:D5")
        tap.equal(b.read(start_cell="B2", end_cell="C3")["range"], "B2:C3")
        tap.equal(b.read(start_cell="B2:C3")["range"], "B2:C3")
        tap.equal(b.read(start_cell="C2")["range"], "C2:D5")
        tap.equal(b.text("read_data_from_excel", start_cell="Z99"),
                  "No data found in specified range")
        tap.equal(b.failure("read_data_from_excel", start_cell="?"),
                  "Error executing tool read_data_from_excel: Invalid start cell format: "
                  "Invalid cell reference: ?")
        tap.equal(b.failure("read_data_from_excel", sheet_name="X"),
                  "Error executing tool read_data_from_excel: Sheet 'X' not found")
        tap.equal(b.failure("read_data_from_excel", filepath="no.xlsx"),
                  "Error executing tool read_data_from_excel: [Errno 2] No such file or directory:"
                  " '%s'" % b.at("no.xlsx"))
        tap.contains(b.failure("read_data_from_excel", filepath="no.csv"),
                     "openpyxl does not support .csv file format")
        with open(b.at("bad.xlsx"), "w") as f:
            f.write("nothing")
        tap.contains(b.failure("read_data_from_excel", filepath="bad.xlsx"),
                     "File is not a zip file")


def test_files_of_others_are_read():
    with books() as b:
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Data"
        sheet["A1"] = datetime.datetime(2024, 2, 29, 13, 30)
        sheet["A2"] = datetime.date(1999, 12, 31)
        sheet["A3"] = datetime.time(6, 15)
        sheet["A4"] = datetime.timedelta(hours=30)
        sheet["A5"] = 0.25
        sheet["A5"].number_format = "0%"
        sheet["A6"] = "=SUM(A5:A5)"
        sheet["B1"], sheet["B2"] = "on", True
        sheet["C9"].font = Font(bold=True)
        book.save(b.path)
        got = b.values(sheet_name="Data")
        want = {}
        for row in b.load()["Data"].iter_rows(min_row=1, max_row=9, max_col=3):
            for c in row:
                v = c.value
                want[c.coordinate] = v if v is None or isinstance(v, (int, float, str)) else str(v)
        tap.equal(got, want)
        tap.equal(got["A1"], "2024-02-29 13:30:00")


def test_writing():
    with sales() as b:
        b.text("write_data_to_excel", data=[[99]], start_cell="C2")
        tap.equal(b.values()["C2"], 99)
        tap.equal(b.text("write_data_to_excel", data=[["x"]], sheet_name="New"),
                  "Data written to New")
        tap.equal(b.load().sheetnames, ["Sheet1", "New"])
        tap.equal(b.text("write_data_to_excel", data=[]), "Error: No data provided to write")
        tap.equal(b.text("write_data_to_excel", data=[[1]], start_cell="1A"),
                  "Error: Invalid start cell format: Invalid cell reference: 1A")
        tap.equal(b.text("write_data_to_excel", data=[[[1]]]),
                  "Error: Cannot convert [1] to Excel")
        tap.equal(b.text("write_data_to_excel", data=[["\x01"]]),
                  "Error: \x01 cannot be used in worksheets.")
        tap.equal(b.text("write_data_to_excel", data=[[1]], sheet_name="a/b"),
                  "Error: Invalid character / found in sheet title")
        tap.equal(b.text("write_data_to_excel", data=[[1]], filepath="no.xlsx"),
                  "Error: [Errno 2] No such file or directory: '%s'" % b.at("no.xlsx"))


def test_formulas():
    with sales() as b:
        def check(formula, cell="E2"):
            return b.text("validate_formula_syntax", cell=cell, formula=formula)
        tap.equal(check("=C2*D2"), "Formula is valid but cell contains no formula")
        tap.equal(b.text("apply_formula", cell="E2", formula="=C2*D2"),
                  "Applied formula '=C2*D2' to cell E2")
        tap.equal(check("=C2*D2"), "Formula is valid and matches cell content")
        tap.equal(check("=C2"), "Formula is valid but doesn't match cell content")
        tap.equal(b.load().active["E2"].value, "=C2*D2")
        for formula, why in (("C2", "Formula must start with '='"),
                             ("=(C2", "Unclosed parenthesis"),
                             ("=C2)", "Unmatched closing parenthesis"),
                             ('=INDIRECT("A1")', "Unsafe function: INDIRECT")):
            want = "Error: Invalid formula syntax: " + why
            tap.equal(check(formula), want)
            tap.equal(b.text("apply_formula", cell="E3", formula=formula), want)
        tap.equal(check("=A1", cell="E"), "Error: Invalid cell reference: E")
        tap.equal(b.text("apply_formula", cell="E2", formula="=A1", sheet_name="X"),
                  "Error: Sheet 'X' not found")


def test_results_that_may_be_wrong_are_dropped():
    with books() as b:
        source = b.at("raw.xlsx")
        book = openpyxl.Workbook()
        book.active["A1"], book.active["A2"] = 1, "=A1*2"
        book.create_sheet("Other")["A1"] = "=Sheet!A2"
        book.create_sheet("Alone")["A1"] = "=1+1"
        book.save(source)
        with zipfile.ZipFile(source) as z, zipfile.ZipFile(b.path, "w") as out:
            for name in z.namelist():
                data = z.read(name)
                out.writestr(name, data.replace(b"<v></v>", b"<v>2</v>").replace(
                    b"<v />", b"<v>2</v>"))
        tap.equal(b.load(data_only=True)["Other"]["A1"].value, 2)
        b.text("write_data_to_excel", data=[[5]], sheet_name="Sheet")
        after = b.load(data_only=True)
        tap.equal((after["Sheet"]["A2"].value, after["Other"]["A1"].value,
                   after["Alone"]["A1"].value), (None, None, 2))


def test_shared_formulas_are_expanded():
    with books() as b:
        name = "xl/worksheets/sheet1.xml"
        with zipfile.ZipFile(b.path) as z:
            entries = {n: z.read(n) for n in z.namelist()}
        rows = "".join(
            '<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d">%s<v>0</v></c></row>' % (
                i, i, i, i, '<f t="shared" ref="B1:B3" si="0">A1+$A$1+LOG10(10)</f>' if i == 1
                else '<f t="shared" si="0"/>') for i in (1, 2, 3))
        entries[name] = entries[name].replace(
            b"<sheetData/>", b"<sheetData>%s</sheetData>" % rows.encode())
        with zipfile.ZipFile(b.path, "w") as z:
            for n, data in entries.items():
                z.writestr(n, data)
        want = {"B1": "=A1+$A$1+LOG10(10)", "B2": "=A2+$A$1+LOG10(10)",
                "B3": "=A3+$A$1+LOG10(10)"}
        tap.equal({k: v for k, v in b.values().items() if k[0] == "B"}, want)
        b.text("write_data_to_excel", data=[["gone"]], start_cell="B1")
        got = b.load().active
        tap.equal([got["B%d" % i].value for i in (1, 2, 3)], ["gone", want["B2"], want["B3"]])


def test_sheets():
    with sales() as b:
        tap.equal(b.text("create_worksheet", sheet_name="Two & three"),
                  "Sheet Two & three created successfully")
        tap.equal(b.text("create_worksheet", sheet_name="Sheet1"),
                  "Error: Sheet Sheet1 already exists")
        tap.equal(b.text("create_worksheet", sheet_name="a:b"),
                  "Error: Invalid character : found in sheet title")
        tap.equal(b.text("copy_worksheet", source_sheet="Sheet1", target_sheet="Copy"),
                  "Sheet 'Sheet1' copied to 'Copy'")
        tap.equal([[c.value for c in row] for row in b.load()["Copy"]], SALES)
        tap.equal(b.text("copy_worksheet", source_sheet="X", target_sheet="Y"),
                  "Error: Source sheet 'X' not found")
        tap.equal(b.text("copy_worksheet", source_sheet="Copy", target_sheet="Sheet1"),
                  "Error: Target sheet 'Sheet1' already exists")
        tap.equal(b.text("rename_worksheet", old_name="Copy", new_name="Other"),
                  "Sheet renamed from 'Copy' to 'Other'")
        tap.equal(b.text("rename_worksheet", old_name="Copy", new_name="Z"),
                  "Error: Sheet 'Copy' not found")
        tap.equal(b.text("rename_worksheet", old_name="Other", new_name="Sheet1"),
                  "Error: Sheet 'Sheet1' already exists")
        tap.equal(b.load().sheetnames, ["Sheet1", "Two & three", "Other"])
        tap.equal(b.text("delete_worksheet", sheet_name="Sheet1"), "Sheet 'Sheet1' deleted")
        tap.equal(b.text("delete_worksheet", sheet_name="Sheet1"),
                  "Error: Sheet 'Sheet1' not found")
        b.text("delete_worksheet", sheet_name="Other")
        tap.equal(b.text("delete_worksheet", sheet_name="Two & three"),
                  "Error: Cannot delete the only sheet in workbook")
        tap.equal(b.load().sheetnames, ["Two & three"])
        tap.equal("xl/worksheets/sheet1.xml" in parts(b.path), False)


def test_metadata():
    with sales() as b:
        st = os.stat(b.path)
        plain = {"filename": "book.xlsx", "sheets": ["Sheet1"], "size": st.st_size,
                 "modified": st.st_mtime}
        tap.equal(b.text("get_workbook_metadata"), str(plain))
        b.text("create_worksheet", sheet_name="It's")
        got = b.text("get_workbook_metadata", include_ranges=True)
        tap.contains(got, "'sheets': ['Sheet1', \"It's\"]")
        tap.contains(got, "'used_ranges': {'Sheet1': 'A1:D5', \"It's\": 'A1:A1'}}")
        tap.equal(b.text("get_workbook_metadata", filepath="no.xlsx"),
                  "Error: File not found: " + b.at("no.xlsx"))


def test_merging():
    with sales() as b:
        def call(tool, start="A1", end="B2"):
            return b.text(tool, start_cell=start, end_cell=end)
        tap.equal(b.text("get_merged_cells"), "[]")
        tap.equal(call("merge_cells"), "Range 'A1:B2' merged in sheet 'Sheet1'")
        call("merge_cells", "D1", "D5")
        tap.equal(b.text("get_merged_cells"), "['A1:B2', 'D1:D5']")
        tap.equal(sorted(str(r) for r in b.load().active.merged_cells.ranges), ["A1:B2", "D1:D5"])
        tap.equal(b.values()["B2"], None)
        tap.equal(b.text("write_data_to_excel", data=[[1]], start_cell="B2"),
                  "Error: 'MergedCell' object attribute 'value' is read-only")
        tap.equal(call("unmerge_cells"), "Range 'A1:B2' unmerged successfully")
        tap.equal(call("unmerge_cells"), "Error: Range 'A1:B2' is not merged")
        tap.equal(b.text("get_merged_cells"), "['D1:D5']")
        tap.equal(call("merge_cells", "?"), "Error: Invalid cell reference: ?")
        tap.equal(b.text("get_merged_cells", sheet_name="X"), "Error: Sheet 'X' not found")


def test_ranges():
    with sales() as b:
        b.text("format_range", start_cell="A1", end_cell="D1", bold=True)
        tap.equal(b.text("copy_range", source_start="A1", source_end="B2", target_start="F3"),
                  "Range copied successfully")
        sheet = b.load().active
        tap.equal([sheet[x].value for x in ("F3", "G3", "F4", "G4")],
                  ["Region", "Product", "North", "Kelp"])
        tap.equal((sheet["F3"].font.b, sheet["F4"].font.b), (True, False))
        b.text("create_worksheet", sheet_name="Two")
        b.text("copy_range", source_start="C2", source_end="D3", target_start="A1",
               target_sheet="Two")
        tap.equal([[c.value for c in r] for r in b.load()["Two"]], [[12, 1.5], [7, 1.5]])
        b.text("copy_range", source_start="A1", source_end="B2", target_start="B2")
        tap.equal(b.values()["C3"], "Kelp")
        tap.equal(b.text("copy_range", source_start="?", source_end="B2", target_start="B2"),
                  "Error: Invalid source range: Invalid cell reference: ?")
        tap.equal(b.text("copy_range", source_start="A1", source_end="B2", target_start="B2",
                         target_sheet="X"),
                  "Error: Failed to copy range: 'Worksheet X does not exist.'")
        tap.equal(b.text("validate_excel_range", start_cell="A1", end_cell="B2"),
                  "Range 'A1:B2' is valid. Sheet contains data in range 'A1:G5'")
        tap.equal(b.text("validate_excel_range", start_cell="A1"),
                  "Range 'A1' is valid. Sheet contains data in range 'A1:G5'")
        for start, end, why in (("A9", "B9", "Start row 9 out of bounds (1-5)"),
                                ("H1", "H1", "Start column H out of bounds (A-G)"),
                                ("A1", "A9", "End row 9 out of bounds (1-5)"),
                                ("A1", "H1", "End column H out of bounds (A-G)"),
                                ("A2", "A1", "End row cannot be before start row"),
                                ("A", "B", "Invalid range: Invalid cell reference: A")):
            tap.equal(b.text("validate_excel_range", start_cell=start, end_cell=end),
                      "Error: " + why)


def test_deleting():
    with sales() as b:
        def delete(**arguments):
            return b.text("delete_range", **arguments)
        tap.equal(delete(start_cell="A2", end_cell="B3"), "Range A2:B3 deleted successfully")
        tap.equal([r[1].value for r in b.load().active], ["Product", "Coral", "Coral"])
        tap.equal(delete(start_cell="A1", end_cell="A1", shift_direction="left"),
                  "Range A1:A1 deleted successfully")
        tap.equal([c.value for c in b.load().active[1]], ["Product", "Units", "Price"])
        tap.equal(delete(start_cell="A1", end_cell="A9"), "Error: End row 9 out of bounds (1-3)")
        tap.equal(delete(start_cell="A1", end_cell="A1", shift_direction="down"),
                  "Error: Invalid shift direction: down. Must be 'up' or 'left'")


def test_rows_and_columns():
    with sales() as b:
        tap.equal(b.text("insert_rows", start_row=2, count=2),
                  "Inserted 2 row(s) starting at row 2 in sheet 'Sheet1'")
        sheet = b.load().active
        tap.equal([sheet.cell(r, 1).value for r in range(1, 8)],
                  ["Region", None, None, "North", "South", "North", "South"])
        tap.equal(b.text("insert_columns", start_col=1, count=1),
                  "Inserted 1 column(s) starting at column 1 in sheet 'Sheet1'")
        tap.equal(b.values()["B4"], "North")
        tap.equal(b.text("delete_sheet_rows", start_row=2, count=2),
                  "Deleted 2 row(s) starting at row 2 in sheet 'Sheet1'")
        tap.equal(b.text("delete_sheet_columns", start_col=1, count=1),
                  "Deleted 1 column(s) starting at column 1 in sheet 'Sheet1'")
        tap.equal([[c.value for c in r] for r in b.load().active], SALES)
        for tool, name, what in (("insert_rows", "start_row", "row"),
                                 ("insert_columns", "start_col", "column"),
                                 ("delete_sheet_rows", "start_row", "row"),
                                 ("delete_sheet_columns", "start_col", "column")):
            tap.equal(b.text(tool, **{name: 0}), "Error: Start %s must be 1 or greater" % what)
            tap.equal(b.text(tool, **{name: 1, "count": 0}), "Error: Count must be 1 or greater")
            if tool.startswith("delete"):
                tap.contains(b.text(tool, **{name: 99}),
                             "Error: Start %s 99 exceeds worksheet bounds (max %s: " % (what, what))


def test_formats():
    with sales() as b:
        tap.equal(b.text("format_range", start_cell="A1", end_cell="D1", bold=True, font_size=14,
                         font_color="FFFFFF", bg_color="4472C4", alignment="center",
                         border_style="thin", wrap_text=True), "Range formatted successfully")
        b.text("format_range", start_cell="D2", end_cell="D5", number_format="$#,##0.00",
               italic=True, underline=True, protection={"locked": False})
        sheet = b.load().active
        head, price = sheet["A1"], sheet["D3"]
        tap.equal((head.font.b, head.font.sz, head.font.color.rgb), (True, 14, "00FFFFFF"))
        tap.equal((head.fill.fgColor.rgb, head.fill.fill_type), ("FF4472C4", "solid"))
        tap.equal((head.alignment.horizontal, head.alignment.wrap_text), ("center", True))
        tap.equal((head.border.left.style, head.border.bottom.color.rgb), ("thin", "FF000000"))
        tap.equal((price.number_format, price.font.i, price.font.u, price.protection.locked),
                  ("$#,##0.00", True, "single", False))
        before = zipfile.ZipFile(b.path).read("xl/styles.xml")
        b.text("format_range", start_cell="D2", end_cell="D5", number_format="$#,##0.00",
               italic=True, underline=True, protection={"locked": False})
        tap.equal(zipfile.ZipFile(b.path).read("xl/styles.xml"), before, "styles are there once")
        b.text("format_range", start_cell="A7", end_cell="B8", merge_cells=True)
        tap.equal(b.text("get_merged_cells"), "['A7:B8']")
        for arguments, why in (
                ({"start_cell": "?"}, "Invalid start cell reference: ?"),
                ({"end_cell": "?"}, "Invalid end cell reference: ?"),
                ({"sheet_name": "X"}, "Sheet 'X' not found"),
                ({"font_color": "#FF0000"},
                 "Invalid font color: Colors must be aRGB hex values"),
                ({"bg_color": "red"},
                 "Invalid background color: Colors must be aRGB hex values"),
                ({"border_style": "wavy"}, "Invalid border settings: Value must be one of {"),
                ({"alignment": "up"}, "Invalid alignment settings: Value must be one of {"),
                ({"protection": {"odd": 1}}, "__init__() got an unexpected keyword"),
                ({"end_cell": "ZZ90000"}, "The range has more than 1000000 cells")):
            tap.contains(b.text("format_range", **{"start_cell": "A1", **arguments}),
                         "Error: " + why)


def test_conditional_formats():
    with sales() as b:
        def add(kind, **params):
            return b.text("format_range", start_cell="C2", end_cell="C5",
                          conditional_format={"type": kind, "params": params})
        done = "Range formatted successfully"
        tap.equal(add("cell_is", operator=">", formula=["5"], fill={"fgColor": "FFC7CE"}), done)
        tap.equal(add("formula", formula=["C2>D2"], font={"bold": True, "color": "9C0006"}), done)
        tap.equal(add("color_scale", start_type="min", start_color="F8696B", end_type="max",
                      end_color="63BE7B"), done)
        tap.equal(add("data_bar", start_type="min", end_type="max", color="638EC6"), done)
        tap.equal(add("icon_set", icon_style="3Arrows", type="percent", values=[0, 33, 67]), done)
        rules = [r for rules in b.load().active.conditional_formatting for r in rules.rules]
        tap.equal([r.type for r in rules],
                  ["cellIs", "expression", "colorScale", "dataBar", "iconSet"])
        tap.equal((rules[0].operator, rules[0].formula), ("greaterThan", ["5"]))
        tap.equal(rules[0].dxf.fill.bgColor.rgb, "00FFC7CE")
        tap.equal(rules[1].dxf.font.b, True)
        tap.equal(add("rainbow"), "Error: Failed to apply conditional formatting: "
                                  "Invalid conditional format type: rainbow")
        tap.equal(add(""), "Error: Conditional format type not specified")
        tap.contains(add("cell_is", operator="~", formula=["1"]),
                     "Error: Failed to apply conditional formatting: ")


def test_charts():
    with sales() as b:
        for i, kind in enumerate(("line", "bar", "pie", "scatter", "area")):
            tap.equal(b.text("create_chart", data_range="B1:D5", chart_type=kind,
                             target_cell="F%d" % (1 + 16 * i), title="Chart <%s>" % kind,
                             x_axis="Product", y_axis="Number"),
                      "%s chart created successfully" % kind.capitalize())
        charts = b.load().active._charts
        tap.equal([type(c).__name__ for c in charts],
                  ["LineChart", "BarChart", "PieChart", "ScatterChart", "AreaChart"])
        tap.equal([len(c.series) for c in charts], [2] * 5)
        tap.equal(charts[1].series[0].val.numRef.f, "'Sheet1'!$C$2:$C$5")
        tap.equal(charts[1].series[0].tx.strRef.f, "'Sheet1'!$C$1")
        tap.equal((charts[1].anchor._from.col, charts[1].anchor._from.row), (5, 16))
        b.text("create_worksheet", sheet_name="Two")
        tap.equal(b.text("create_chart", sheet_name="Two", data_range="Sheet1!B1:C5",
                         chart_type="bar", target_cell="AA1"), "Bar chart created successfully")
        tap.equal(b.load()["Two"]._charts[0].anchor._from.col, 26)
        for arguments, why in (({"chart_type": "cube"}, "Unsupported chart type: cube. Supported "
                                                        "types: line, bar, pie, scatter, area"),
                               ({"data_range": "B1"}, "Invalid data range format: "),
                               ({"data_range": "No!B1:C2"},
                                "Sheet 'No' referenced in data range not found"),
                               ({"target_cell": "x"}, "Invalid target cell format: x"),
                               ({"sheet_name": "X"}, "Sheet 'X' not found")):
            tap.contains(b.text("create_chart", **{
                "data_range": "B1:D5", "chart_type": "bar", "target_cell": "F1", **arguments}),
                "Error: " + why)


def test_tables():
    with sales() as b:
        tap.equal(b.text("create_table", data_range="A1:D5", table_name="Sales"),
                  "Successfully created table 'Sales' in sheet 'Sheet1'.")
        table = b.load().active.tables["Sales"]
        tap.equal((table.ref, table.tableStyleInfo.name), ("A1:D5", "TableStyleMedium9"))
        tap.equal(table.column_names, SALES[0])
        tap.contains(b.text("create_table", data_range="F1:G3"), "Successfully created table "
                                                                 "'Table_")
        tap.equal(len(b.load().active.tables), 2)
        tap.equal(b.values()["G1"], "Column2")
        for arguments, why in (({"table_name": "sales"}, "Table with name sales already exists"),
                               ({"table_name": "a b"}, "Table names cannot have spaces"),
                               ({"data_range": "?"}, "? is not a valid coordinate or range"),
                               ({"sheet_name": "X"}, "Sheet 'X' not found.")):
            tap.equal(b.text("create_table", **{"data_range": "A1:B2", **arguments}),
                      "Error: " + why)


def test_pivots():
    with sales() as b:
        def pivot(**arguments):
            return b.text("create_pivot_table", **{
                "data_range": "A1:D5", "rows": ["Region"], "values": ["Units"],
                "agg_func": "sum", **arguments})
        done = "Summary table created successfully"
        tap.equal(pivot(), done)
        tap.equal([[c.value for c in r] for r in b.load()["Sheet1_pivot"]],
                  [["Region", "Units (sum)"], ["North", 15], ["South", 11]])
        tap.equal(pivot(rows=["Product", "Region"], values=["Units", "price"],
                        agg_func="average"), done)
        book = b.load()
        tap.equal(book.sheetnames, ["Sheet1", "Sheet1_pivot"])
        tap.equal([[c.value for c in r] for r in book["Sheet1_pivot"]],
                  [["Product", "Region", "Units (average)", "Price (average)"],
                   ["Coral", "North", 3, 20], ["Coral", "South", 4, 20.25],
                   ["Kelp", "North", 12, 1.5], ["Kelp", "South", 7, 1.5]])
        tap.equal(book["Sheet1_pivot"]["A1"].font.b, True)
        tap.equal(len(book["Sheet1_pivot"].tables), 1)
        for function, want in (("mean", 5.5), ("count", 2), ("min", 4), ("max", 7)):
            pivot(agg_func=function)
            tap.equal(b.load()["Sheet1_pivot"]["B3"].value, want, function)
        for arguments, why in (
                ({"agg_func": "median"}, "Invalid aggregation function. Must be one of: sum, "
                                         "average, count, min, max"),
                ({"rows": ["Colour"]}, "Invalid row field 'Colour'. Available fields: "
                                       "Price, Product, Region, Units"),
                ({"values": ["x"]}, "Invalid value field 'x'. Available fields: "),
                ({"columns": ["x"]}, "Invalid column field 'x'. Available fields: "),
                ({"data_range": "A1"}, "Data range must be in format 'A1:B2'"),
                ({"data_range": "A5:D9"}, "Failed to read or process source data: Source data "
                                          "must have a header row and at least one data row.")):
            tap.contains(pivot(**arguments), "Error: " + why)


def test_rules_for_values():
    with books() as b:
        tap.equal(b.text("get_data_validation_info"),
                  "No data validation rules found in this worksheet")
        tap.equal(b.text("get_data_validation_info", sheet_name="X"), "Error: Sheet 'X' not found")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Sheet1"
        for i, word in enumerate(("red", "green", 3)):
            sheet.cell(i + 1, 5, word)
        lists = DataValidation(type="list", formula1='"Yes, No,Maybe"', allow_blank=True)
        lists.prompt, lists.promptTitle = "Choose", "Answer"
        lists.add("A1:A3")
        lists.add("C1")
        cells = DataValidation(type="list", formula1="$E$1:$E$3")
        cells.add("B1")
        whole = DataValidation(type="whole", operator="between", formula1="1", formula2="9")
        whole.error, whole.errorTitle = "One to nine", "No"
        whole.add("D1")
        for rule in (lists, cells, whole):
            sheet.add_data_validation(rule)
        book.save(b.path)
        got = {c["address"]: c["validation"] for c in b.read(end_cell="E1")["cells"]}
        tap.equal(got["C1"], {
            "cell": "C1", "has_validation": True, "validation_type": "list", "allow_blank": True,
            "prompt": "Choose", "prompt_title": "Answer", "allowed_values": ["Yes", "No", "Maybe"]})
        tap.equal(got["B1"]["allowed_values"], ["red", "green", "3"])
        tap.equal(got["D1"], {
            "cell": "D1", "has_validation": True, "validation_type": "whole",
            "allow_blank": False, "operator": "between", "error_message": "One to nine",
            "error_title": "No", "formula1": "1", "formula2": "9"})
        tap.equal(got["E1"], {"has_validation": False})
        text = b.text("get_data_validation_info")
        rules = json.loads(text)
        tap.equal(text, json.dumps(rules, indent=2))
        tap.equal(rules["validation_rules"][0],
                  {"ranges": "A1:A3 C1", "validation_type": "list", "allow_blank": True,
                   "allowed_values": ["Yes", "No", "Maybe"]})
        tap.equal(len(rules["validation_rules"]), 3)


def test_what_is_not_touched_survives():
    with books() as b:
        book = openpyxl.Workbook()
        sheet = book.active
        for row in SALES:
            sheet.append(row)
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=3, min_row=1, max_row=5), titles_from_data=True)
        sheet.add_chart(chart, "F1")
        book.create_sheet("Other")["A1"] = "kept"
        book.save(b.path)
        with zipfile.ZipFile(b.path, "a", zipfile.ZIP_DEFLATED) as z:
            z.writestr("xl/vbaProject.bin", os.urandom(999))
            z.writestr("customXml/item1.xml", "<odd xmlns='urn:x'  a = '1' ></odd>")
            z.writestr("xl/unknown/part.dat", b"\0\1\2" * 500)
        before = parts(b.path)
        tap.equal(b.text("write_data_to_excel", sheet_name="Sheet", data=[[1]], start_cell="C2"),
                  "Data written to Sheet")
        after = parts(b.path)
        tap.equal(list(after), list(before), "entries and their order")
        changed = {n for n in before if before[n] != after[n]}
        tap.equal(changed, {"xl/worksheets/sheet1.xml"})
        b.text("format_range", sheet_name="Sheet", start_cell="A1", bold=True)
        changed = {n for n in before if before[n] != parts(b.path)[n]}
        tap.equal(changed, {"xl/worksheets/sheet1.xml", "xl/styles.xml"})
        got = b.load()
        tap.equal((got["Sheet"]["C2"].value, got["Sheet"]["A1"].font.b, got["Other"]["A1"].value,
                   len(got["Sheet"]._charts)), (1, True, "kept", 1))


def test_damaged_files_are_told_of():
    with sales() as b:
        with open(b.path, "rb") as f:
            good = f.read()
        for i in range(0, len(good), 97):
            with open(b.path, "wb") as f:
                f.write(good[:i] + bytes([good[i] ^ 0xff]) + good[i + 1:])
            answer = b.tools.call("excel", "read_data_from_excel", b.arguments({}))
            tap.equal(len(answer["content"]), 1)
        with zipfile.ZipFile(b.path, "w") as z:
            z.writestr("a", "b")
        tap.equal(b.text("get_merged_cells"),
                  "Error: There is no item named '[Content_Types].xml' in the archive")


tap.main(globals())
