/* SPDX-License-Identifier: MIT */
/* Workbooks: sheets, cells and their values, for the server "excel".
 *
 * A sheet is its part's tree; cells are found through an index of its rows and changed where they
 * are, so that everything else in the sheet stays. Values are those of Python, which is what the
 * texts of the server are made of. Everything lives in the call's arena. */
#pragma once

#include "base/python.h"
#include "local/excel/ref.h"
#include "local/local.h"
#include "office/package.h"

struct sheet_row {
    unsigned number;
    struct xml *node;
};

struct sheet {
    struct str name;
    struct xml *entry; /* in the workbook */
    struct part *part;
    struct xml_doc *doc; /* when it was asked for */
    struct xml *data;    /* sheetData */
    struct sheet_row *rows;
    size_t n_rows, cap;
    struct xml **shared; /* first cells of shared formulas, by number; NULL until needed */
    bool is_changed;
};

struct book {
    struct arena *arena;
    struct package package;
    struct part *part;
    struct xml_doc *doc;
    struct sheet **sheets;
    size_t n_sheets, cap;
    bool has_1904_dates;

    struct str *strings; /* the shared ones */
    size_t n_strings;
    bool are_strings_read;
    struct xml_doc *styles;     /* see styles.h */
    unsigned char *style_times; /* of each style, whether it shows a date */
    size_t n_styles;
};

enum value_kind {
    VALUE_NONE,
    VALUE_INT,
    VALUE_REAL,
    VALUE_BOOL,
    VALUE_TEXT, /* texts of formulas begin with "=" */
    VALUE_TIME  /* a date, time or span: in text as Python's str() has it */
};

struct value {
    enum value_kind kind;
    int64_t i; /* also of booleans */
    double d;
    struct str text;
    bool is_formula;
};

/* ---- books (book.c) ---- */

/* The texts of failures are those of Python's openpyxl. PATH is absolute. */
int book_open(struct book *b, struct arena *a, const char *path, struct err *e);
/* The same of a file's bytes, which must stay as long as the arena. */
int book_read(struct book *b, struct arena *a, struct str bytes, struct err *e);
/* With one empty sheet. */
int book_new(struct book *b, struct arena *a, const char *sheet, struct err *e);
int book_save(struct book *b, const char *path, struct err *e);
/* What a save does before the file is written: dimensions, results of formulas. */
void book_finish(struct book *b);

struct sheet *book_sheet(const struct book *b, struct str name); /* NULL: there is none */
struct sheet *book_add_sheet(struct book *b, struct str name, struct err *e);
void book_remove_sheet(struct book *b, struct sheet *s);
/* Whether a sheet may have that name: 0 or -EINVAL with E. */
int book_check_name(struct str name, struct err *e);
/* A shared string; empty when there is none of that number. */
struct str book_string(struct book *b, int64_t i);
/* All text of a string item, without phonetics. */
struct str book_item_text(struct book *b, struct xml_doc *d, const struct xml *item);

/* ---- sheets (sheet.c) ---- */

/* Reads the sheet and makes the index; 0 or -errno. */
int sheet_load(struct book *b, struct sheet *s, struct err *e);
/* The same, and it will be saved. */
int sheet_edit(struct book *b, struct sheet *s, struct err *e);
/* The range with cells; {1, 1, 1, 1} without any. */
struct range sheet_used(const struct sheet *s);

/* The first row at or behind a number, as an index. */
size_t sheet_row_at(const struct sheet *s, unsigned number);
struct xml *sheet_cell(struct sheet *s, struct ref at);
/* Made when there is none; NULL when memory ran out. */
struct xml *sheet_need_cell(struct book *b, struct sheet *s, struct ref at);
struct ref cell_at(const struct xml *cell);
/* The text of the formula F that is shared with an earlier cell. */
struct str sheet_shared_formula(struct book *b, struct sheet *s, const struct xml *f);

/* Gives the rows from FIRST on other numbers, BY more or less; those in between are removed. */
void sheet_move_rows(struct book *b, struct sheet *s, unsigned first, int64_t by);
void sheet_move_cols(struct book *b, struct sheet *s, unsigned first, int64_t by);

/* A child of the worksheet at its place in the schema's order. */
struct xml *sheet_child(struct sheet *s, const char *name);
struct xml *sheet_new_child(struct sheet *s, const char *name);

/* ---- values (value.c) ---- */

struct value cell_value(struct book *b, struct sheet *s, const struct xml *cell);
/* CELL may be NULL. A text that begins with "=" becomes a formula. */
void cell_set(struct book *b, struct sheet *s, struct xml *cell, struct value v);
struct value value_text(struct str s);
/* As Python's str() and repr() show it, and as its json.dumps() does. */
void value_str(struct buf *out, struct value v);
void value_json(struct buf *out, struct value v);
/* A number of days as Python shows the date, time (below 1) or span (IS_SPAN). */
struct str date_text(struct arena *a, double days, bool has_1904, bool is_span);
