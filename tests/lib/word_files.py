# SPDX-License-Identifier: MIT
"""Documents for the tools of the server "word", and python-docx to look at them.

    with word_files.text("One", "Two") as w:
        w.say("delete_paragraph", paragraph_index=0)
        w.open().paragraphs
"""

import contextlib
import io
import json
import os
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib

import local_tools

sys.path.append("/usr/lib/python3/dist-packages")  # whichever Python 3.11 runs this
import docx  # noqa: E402
import docx.enum.text  # noqa: E402

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


class Word:
    """The tools on documents of a folder of their own."""

    def __init__(self, tools):
        self.tools = tools
        self.root = tools.root

    def path(self, name):
        return os.path.join(self.root, name)

    def open(self, name="a.docx"):
        return docx.Document(self.path(name))

    def parts(self, name="a.docx"):
        with zipfile.ZipFile(self.path(name)) as z:
            return {x: z.read(x) for x in z.namelist()}

    def say(self, tool, benchmark=None, **arguments):
        arguments.setdefault("filename", "a.docx")
        return self.tools.text("word", tool, arguments, benchmark=benchmark)

    def json(self, tool, **arguments):
        return json.loads(self.say(tool, **arguments))

    def failure(self, tool, **arguments):
        arguments.setdefault("filename", "a.docx")
        return self.tools.failure("word", tool, arguments)


@contextlib.contextmanager
def word(make=True):
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        with local_tools.running(root) as tools:
            w = Word(tools)
            if make:
                w.say("create_document", title="Tides", author="Ada Brook")
            yield w
    finally:
        shutil.rmtree(root)


@contextlib.contextmanager
def text(*paragraphs):
    """A document of python-docx with these paragraphs."""
    with word(make=False) as w:
        d = docx.Document()
        for p in paragraphs:
            d.add_paragraph(p)
        d.save(w.path("a.docx"))
        yield w


@contextlib.contextmanager
def table(rows=3, columns=3):
    with word(make=False) as w:
        d = docx.Document()
        t = d.add_table(rows, columns)
        for i in range(rows):
            for k in range(columns):
                t.cell(i, k).text = "%d%d" % (i, k)
        d.save(w.path("a.docx"))
        yield w


def texts(document):
    return [p.text for p in document.paragraphs]


def styles(document):
    return [p.style.name for p in document.paragraphs]


def png(width, height, dpi=None):
    def chunk(name, data):
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    phys = chunk(b"pHYs", struct.pack(">IIB", *(2 * [round(dpi / 0.0254)]), 1)) if dpi else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0,
                                                               0))
            + phys + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def zipped(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in parts.items():
            z.writestr(name, content)
    return out.getvalue()
