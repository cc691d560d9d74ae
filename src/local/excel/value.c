/* SPDX-License-Identifier: MIT */
/* Values of cells, read as openpyxl reads them and shown as Python shows them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/python.h"
#include "local/excel/book.h"
#include "local/excel/styles.h"

void value_str(struct buf *out, struct value v)
{
    switch (v.kind) {
    case VALUE_NONE: (void)buf_add_lit(out, "None"); break;
    case VALUE_INT: (void)buf_printf(out, "%lld", (long long)v.i); break;
    case VALUE_REAL: python_float(out, v.d); break;
    case VALUE_BOOL: (void)buf_add_str(out, v.i ? STR("True") : STR("False")); break;
    case VALUE_TEXT:
    case VALUE_TIME: (void)buf_add_str(out, v.text); break;
    default: break;
    }
}

void value_json(struct buf *out, struct value v)
{
    if (v.kind == VALUE_NONE)
        (void)buf_add_lit(out, "null");
    else if (v.kind == VALUE_BOOL)
        (void)buf_add_str(out, v.i ? STR("true") : STR("false"));
    else if (v.kind == VALUE_TEXT || v.kind == VALUE_TIME)
        python_json_str(out, v.text);
    else
        value_str(out, v);
}

/* ---- dates ---- */

static struct str clock_text(struct arena *a, int64_t ms, const char *before)
{
    int64_t s = ms / 1000;
    int h = (int)(s / 3600), m = (int)(s / 60 % 60), rest = (int)(s % 60);

    if (ms % 1000)
        return arena_printf(a, "%s%02d:%02d:%02d.%06d", before, h, m, rest,
                            (int)(ms % 1000) * 1000);
    return arena_printf(a, "%s%02d:%02d:%02d", before, h, m, rest);
}

/* Days since 1970-01-01 as year, month, day. */
static void civil_of(int64_t days, int64_t *year, int *month, int *day)
{
    /* Years begin in March here, so that the day that may be missing is the last one. */
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

static struct str span_text(struct arena *a, double days)
{
    int64_t ms = llround(days * 86400000.0), whole = ms / 86400000, rest = ms % 86400000;

    if (rest < 0) {
        rest += 86400000;
        whole--;
    }
    struct str clock = clock_text(a, rest, "");
    /* Python writes hours without a leading zero here. */
    if (clock.len > 0 && clock.p[0] == '0')
        clock = str_skip(clock, 1);
    if (whole == 0)
        return clock;
    return arena_printf(a, "%lld day%s, " STR_FMT, (long long)whole,
                        whole == 1 || whole == -1 ? "" : "s", STR_ARG(clock));
}

struct str date_text(struct arena *a, double days, bool has_1904, bool is_span)
{
    enum { FROM_1900 = -25569, FROM_1904 = -24107, DAY_MS = 86400000 };
    int64_t year;
    int month, day;
    char date[32];

    if (is_span)
        return span_text(a, days);
    double whole = floor(days);
    int64_t ms = llround((days - whole) * DAY_MS), n = (int64_t)whole;
    if (days >= 0 && days < 1)
        return clock_text(a, ms % DAY_MS, "");
    n += ms / DAY_MS;
    ms %= DAY_MS;
    /* There was no 29 February in 1900, but spreadsheets count it. */
    if (!has_1904 && n > 0 && n < 60)
        n++;
    civil_of(n + (has_1904 ? FROM_1904 : FROM_1900), &year, &month, &day);
    (void)snprintf(date, sizeof date, "%04lld-%02d-%02d ", (long long)year, month, day);
    return clock_text(a, ms, date);
}

/* ---- reading ---- */

struct value value_text(struct str s)
{
    return (struct value){.kind = VALUE_TEXT, .text = s};
}

/* What a number means in a cell of the style STYLE. */
static struct value read_cell_number(struct book *b, struct str text, int64_t style)
{
    struct value v = {.kind = VALUE_INT};
    auto_buf struct buf copy = BUF_INIT(512);
    enum style_time kind = style_time(b, style);

    (void)buf_add_str(&copy, text);
    const char *s = buf_cstr(&copy);
    if (text.len == 0 || !s)
        return (struct value){.kind = VALUE_NONE};
    v.d = strtod(s, NULL);
    if (kind != STYLE_NO_TIME && fabs(v.d) < 2958466) {
        v.kind = VALUE_TIME;
        v.text = date_text(b->arena, v.d, b->has_1904_dates, kind == STYLE_SPAN);
    } else if (str_to_i64(text, &v.i) < 0) {
        v.kind = VALUE_REAL;
    }
    return v;
}

static struct value formula(struct book *b, struct sheet *s, const struct xml *f)
{
    struct str text = xml_text(s->doc, f);

    if (text.len == 0 && str_is(xml_get(f, "t"), "shared"))
        text = sheet_shared_formula(b, s, f);
    struct value v = value_text(arena_printf(b->arena, "=" STR_FMT, STR_ARG(text)));
    v.is_formula = true;
    return v;
}

struct value cell_value(struct book *b, struct sheet *s, const struct xml *cell)
{
    struct xml *f = xml_child(cell, "f"), *v = xml_child(cell, "v");
    struct str type = xml_get(cell, "t"), text = xml_text(s->doc, v);
    int64_t i;

    if (f && (f->first || xml_get(f, "si").p))
        return formula(b, s, f);
    if (str_is(type, "inlineStr"))
        return value_text(book_item_text(b, s->doc, xml_child(cell, "is")));
    if (!v || !cell)
        return (struct value){.kind = VALUE_NONE};
    if (str_is(type, "s"))
        return value_text(book_string(b, str_to_i64(text, &i) == 0 ? i : -1));
    if (str_is(type, "b"))
        return (struct value){.kind = VALUE_BOOL, .i = str_is(text, "1") || str_is(text, "true")};
    if (str_is(type, "str") || str_is(type, "e") || str_is(type, "d"))
        return value_text(text);
    return read_cell_number(b, text, xml_get_int(cell, "s", 0));
}

/* ---- writing ---- */

static void set_cell_text(struct sheet *s, struct xml *cell, struct str text)
{
    struct xml_doc *d = s->doc;

    if (text.len > 1 && text.p[0] == '=') {
        xml_set_text(d, xml_add(d, cell, "f"), str_skip(text, 1));
        return;
    }
    xml_set(d, cell, "t", STR("inlineStr"));
    struct xml *t = xml_add(d, xml_add(d, cell, "is"), "t");
    xml_set_text(d, t, text);
    if (text.len > 0 && (text.p[0] <= ' ' || text.p[text.len - 1] <= ' ' ||
                         str_chr(text, '\n') >= 0 || str_find(text, STR("  ")) >= 0))
        xml_set(d, t, "xml:space", STR("preserve"));
}

void cell_set(struct book *b, struct sheet *s, struct xml *cell, struct value v)
{
    auto_buf struct buf text = BUF_INIT(64);

    (void)b;
    if (!cell)
        return;
    xml_clear(cell);
    xml_unset(cell, "t");
    xml_unset(cell, "cm");
    if (v.kind == VALUE_NONE)
        return;
    if (v.kind == VALUE_TEXT) {
        set_cell_text(s, cell, v.text);
        return;
    }
    if (v.kind == VALUE_BOOL)
        xml_set(s->doc, cell, "t", STR("b"));
    if (v.kind == VALUE_INT || v.kind == VALUE_BOOL)
        (void)buf_printf(&text, "%lld", (long long)v.i);
    else
        python_float(&text, v.d);
    xml_set_text(s->doc, xml_add(s->doc, cell, "v"), buf_str(&text));
}
