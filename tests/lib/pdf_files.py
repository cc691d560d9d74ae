# SPDX-License-Identifier: MIT
"""PDF files for tests, as small as they can be.

    pdf_files.make(["First page\\nsecond line", "Second page"], {"Title": "A title"})
"""


def _escape(text):
    for c in "\\()":
        text = text.replace(c, "\\" + c)
    return text.encode("latin-1")


def _page(number):
    return (b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % number)


def _stream(text):
    lines = b" ".join(b"(%s) Tj T*" % _escape(line) for line in text.split("\n"))
    data = b"BT /F1 12 Tf 72 720 Td 14 TL " + lines + b" ET"
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def make(pages, info=None):
    """The bytes of a file with a page for each text."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>",
               b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(pages), kids),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for i, text in enumerate(pages):
        objects += [_page(5 + 2 * i), _stream(text)]
    trailer = b""
    if info:
        objects.append(b"<< %s >>" % b" ".join(
            b"/%s (%s)" % (k.encode(), _escape(v)) for k, v in info.items()))
        trailer = b" /Info %d 0 R" % len(objects)
    data, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, body in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    n = len(objects) + 1
    return data + (b"xref\n0 %d\n%strailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n"
                   % (n, table, n, trailer, len(data)))
