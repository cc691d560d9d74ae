/* SPDX-License-Identifier: MIT */
/* A worksheet in a workbook: byte 0 says what is done to it, the rest is the sheet's XML. Every
 * value is read, cells and rows are changed and moved, and the result must be well-formed. */
#include <stdlib.h>

#include "fuzz.h"
#include "local/excel/book.h"
#include "local/excel/styles.h"

enum { MAX = 128 << 20 };

static void read_all(struct book *b, struct sheet *s)
{
    auto_buf struct buf out = BUF_INIT(MAX);

    for (size_t i = 0; i < s->n_rows; i++) {
        struct xml *c = xml_child(s->rows[i].node, "c");
        for (; c; c = xml_next(c, "c")) {
            struct value v = cell_value(b, s, c);
            struct ref at = cell_at(c);
            if (at.row != s->rows[i].number || sheet_cell(s, at) != c)
                abort();
            value_json(&out, v);
            value_str(&out, v);
        }
    }
}

static void change(struct book *b, struct sheet *s, unsigned how)
{
    struct style_change bold = {.has_font = true, .is_bold = true, .number_format = "yyyy"};
    struct xml *c = sheet_need_cell(b, s, (struct ref){how % 7 + 1, how % 5 + 1});

    cell_set(b, s, c, value_text(how & 1 ? STR("=B2+1") : STR(" text")));
    xml_setf(s->doc, c, "s", "%lld", (long long)style_changed(b, 0, &bold));
    if (how & 2)
        sheet_move_rows(b, s, how % 11 + 4, how & 4 ? 3 : -3);
    if (how & 8)
        sheet_move_cols(b, s, how % 11 + 4, how & 16 ? 2 : -2);
    read_all(b, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out = BUF_INIT(MAX);
    struct err e = ERR_INIT;
    struct arena a;
    struct book b;

    if (size < 1)
        return 0;
    arena_init(&a, MAX);
    if (book_new(&b, &a, "Sheet1", &e) < 0)
        abort();
    struct sheet *s = b.sheets[0];
    part_set_bytes(&b.package, s->part, str_n((const char *)data + 1, size - 1));
    if (sheet_load(&b, s, &e) == 0) {
        read_all(&b, s);
        if (sheet_edit(&b, s, &e) == 0)
            change(&b, s, data[0]);
        book_finish(&b);
        if (package_write(&b.package, &out, &e) == 0 &&
            (book_read(&b, &a, buf_str(&out), &e) < 0 || sheet_load(&b, b.sheets[0], &e) < 0))
            abort();
    }
    buf_done(&out);
    arena_done(&a);
    return 0;
}
