# SPDX-License-Identifier: MIT
"""Office files that our servers wrote, converted to PDF by LibreOffice: it opens them, and their
content is on the pages. A file is a row of FILES: its name, what makes it, the texts that the PDF
must have, the fewest pages, and colors that must be seen on them. One start of LibreOffice converts
all, because a start takes seconds."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import local_tools
import tap
import word_files


def make_workbook(tools, path):
    def call(tool, **arguments):
        arguments = {"filepath": path, "sheet_name": "Tides", **arguments}
        text = tools.text("excel", tool, arguments)
        tap.equal(text.startswith("Error"), False, text)

    call("create_workbook")
    call("rename_worksheet", old_name="Sheet1", new_name="Tides")
    call("write_data_to_excel", data=[["Harbour", "High", "Low"], ["Larkspur", 4.5, 0.75],
                                      ["Penmarsh", 6.25, 1], ["\u00c5lesund & co", 2, 0.5],
                                      ["Total", "=SUM(B2:B4)", "=SUM(C2:C4)"]])
    call("format_range", start_cell="A1", end_cell="C1", bold=True, bg_color="4472C4",
         font_color="FFFFFF", alignment="center", border_style="medium")
    call("format_range", start_cell="B2", end_cell="C5", number_format="0.000")
    call("format_range", start_cell="B2", end_cell="B4", number_format="0.000",
         conditional_format={"type": "cell_is", "params": {"operator": ">", "formula": ["4"],
                                                           "fill": {"fgColor": "FFC7CE"}}})
    call("merge_cells", start_cell="A7", end_cell="C7")
    call("write_data_to_excel", data=[["A merged line"]], start_cell="A7")
    call("create_chart", data_range="A1:C4", chart_type="bar", target_cell="A9",
         title="Tides by harbour", x_axis="Place", y_axis="Metres")
    call("create_chart", data_range="A1:B4", chart_type="pie", target_cell="A26", title="Shares")
    call("create_table", data_range="A1:C5", table_name="TideTable")
    call("create_pivot_table", data_range="A1:C4", rows=["Harbour"], values=["High"],
         agg_func="max")


def make_document(tools, path):
    def call(tool, **arguments):
        text = tools.text("word", tool, {"filename": path, **arguments})
        tap.equal("Failed" in text or "nvalid" in text, False, text)

    with open(os.path.join(os.path.dirname(path), "square.png"), "wb") as f:
        f.write(word_files.png(40, 40))
    call("create_document", title="Tides")
    call("add_heading", text="Flood and ebb", level=1, border_bottom=True)
    call("add_paragraph", text="High water at \u00c5lesund & co", bold=True, color="C00000",
         font_size=20)
    call("insert_numbered_list_near_text", target_text="High water", list_items=["moor", "sail"],
         bullet_type="number")
    call("add_paragraph", text="a bullet", style="List Bullet")
    call("add_table", rows=3, cols=3, data=[["Harbour", "High", "Low"], ["Larkspur", 4.5, 0.75],
                                            ["Penmarsh", "merged", "away"]])
    call("highlight_table_header", table_index=0, header_color="4472C4")
    call("merge_table_cells", table_index=0, start_row=2, start_col=1, end_row=2, end_col=2)
    call("set_table_cell_shading", table_index=0, row_index=1, col_index=2, fill_color="FFC7CE")
    call("add_picture", image_path=os.path.join(os.path.dirname(path), "square.png"), width=1)
    call("add_footnote_after_text", search_text="High water", footnote_text="by the tables")
    call("add_page_break")
    call("add_paragraph", text="the last page", style="Quote")


def make_slides(tools, path):
    def call(tool, **arguments):
        text = tools.text("powerpoint", tool, {"slide_index": 0, **arguments})
        tap.equal("error" in json.loads(text), False, text)

    with open(os.path.join(os.path.dirname(path), "slide.png"), "wb") as f:
        f.write(word_files.png(40, 40))
    call("create_presentation")
    call("add_slide", layout_index=0, title="Tides & moons")
    call("populate_placeholder", placeholder_idx=1, text="\u00c5lesund")
    call("add_slide", layout_index=1, title="Points")
    call("add_bullet_points", slide_index=1, placeholder_idx=1, bullet_points=["flood", "ebb"])
    call("add_slide", layout_index=5, title="Objects")
    place = {"slide_index": 2, "top": 1.5, "width": 3, "height": 2}
    call("add_table", rows=2, cols=2, left=0.5, data=[["Harbour", "High"], ["Larkspur", "4.5"]],
         header_bg_color=[0, 80, 160], **place)
    call("add_shape", shape_type="oval", left=4, fill_color=[192, 80, 0], text="In a shape",
         **place)
    call("manage_image", slide_index=2, operation="add", left=7.5, top=1.5, width=1,
         image_source=os.path.join(os.path.dirname(path), "slide.png"))
    call("add_chart", slide_index=2, chart_type="column", left=0.5, top=4, width=6, height=3,
         categories=["May", "June"], series_names=["Springs", "Neaps"],
         series_values=[[1, 2], [3, 2.5]], title="Ranges", color_scheme="elegant_green")
    call("create_slide_from_template", template_id="key_metrics_dashboard", layout_index=6)
    call("manage_slide_transitions", operation="set", transition_type="push")
    call("save_presentation", file_path=path)


FILES = [
    ("slides.pptx", make_slides,
     ["Tides & moons", "\u00c5lesund", "\u2022 flood", "\u2022 ebb", "Harbour", "Larkspur",
      "In a shape", "Ranges", "Springs", "June", "Key figures", "+18%"], 4,
     ["0050A0", "C05000", "468847", "4080C0"]),  # the head, a shape, a series, the picture
    ("workbook.xlsx", make_workbook,
     ["Harbour", "Larkspur", "4.500", "12.750", "2.250", "\u00c5lesund & co", "A merged line",
      "Tides by harbour", "Metres", "Shares", "High (max)"], 2,
     ["4472C4", "ED7D31", "FFC7CE"]),  # the head and first series; the second; a condition
    ("document.docx", make_document,
     ["Flood and ebb", "High water at \u00c5lesund & co", "1. moor", "2. sail", "\u2022 a bullet",
      "Larkspur", "merged", "by the tables", "the last page"], 2,
     ["C00000", "4472C4", "FFC7CE", "4080C0"]),  # a text, the head, a cell, the picture
]


@contextlib.contextmanager
def made():
    """All files in a folder, with the names of the PDF files beside them."""
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            for name, make, *_ in FILES:
                make(tools, os.path.join(root, name))
        profile = "-env:UserInstallation=file://%s/profile" % root
        subprocess.run(["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", root,
                        *[os.path.join(root, f[0]) for f in FILES]],
                       check=True, timeout=280, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "HOME": root, "LC_ALL": "C.UTF-8"})
        yield root
    finally:
        shutil.rmtree(root)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def colors_of(pdf):
    """The colors on its pages, as hexadecimal digits."""
    folder = tempfile.mkdtemp(dir=os.path.dirname(pdf))
    run("pdftoppm", "-r", "40", "-aa", "no", "-aaVector", "no", pdf, os.path.join(folder, "p"))
    seen = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            pixels = f.read().split(b"\n", 3)[3]
        seen.update(pixels[i:i + 3] for i in range(0, len(pixels), 3))
    return {x.hex().upper() for x in seen}


def test_libreoffice_shows_what_we_wrote():
    with made() as root:
        for name, _, texts, pages, colors in FILES:
            pdf = os.path.join(root, os.path.splitext(name)[0] + ".pdf")
            tap.equal(os.path.exists(pdf), True, name)
            got = " ".join(run("pdftotext", "-layout", pdf, "-").split())
            for text in texts:
                tap.contains(got, text)
            count = re.search(r"^Pages:\s+(\d+)", run("pdfinfo", pdf), re.M)
            tap.equal(int(count.group(1)) >= pages, True, name)
            seen = colors_of(pdf)
            tap.equal([x for x in colors if x not in seen], [], name)
            keep = os.environ.get("TIDEPOOL_KEEP")
            if keep:
                shutil.copy(pdf, keep)
                shutil.copy(os.path.join(root, name), keep)


tap.main(globals())
