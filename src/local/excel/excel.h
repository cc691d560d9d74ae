/* SPDX-License-Identifier: MIT */
/* Between the files of the server "excel". What goes wrong in a workbook is reported in an answer
 * that begins with "Error: " and is no failure to MCP, as the server that agents know does. */
#pragma once

#include "local/excel/book.h"

enum { EXCEL_CELLS_MAX = 1000000 }; /* of a range that a call touches */

/* A call's workbook. */
struct excel {
    struct local_call *call;
    const char *path;
    struct book book;
    struct sheet *sheet;
};

void excel_error(struct local_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A failure to MCP too. */
void excel_raise(struct local_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The argument "filepath" as an absolute path; NULL when the call failed. */
const char *excel_path(struct local_call *c);
/* Opens the workbook; false when the call has its answer. */
bool excel_open(struct local_call *c, struct excel *x);
/* The same with the sheet of the argument "sheet_name", to look at or to change. */
bool excel_open_sheet(struct local_call *c, struct excel *x);
bool excel_edit_sheet(struct local_call *c, struct excel *x);
/* Saves; the answer is TEXT, or what went wrong. */
void excel_save(struct excel *x, struct str text);
void excel_savef(struct excel *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The argument; what is null or absent is "". */
struct str excel_arg(const struct local_call *c, const char *name);
/* Two arguments as a range whose ends may be in any order; the second may be absent. Where a
 * prefix of a text is a cell, the rest does not matter. *BAD is the one that is none. */
bool excel_range(const struct local_call *c, const char *first, const char *second,
                 struct range *ret, struct str *bad);
/* The same; false with an answer that begins with INTRO. */
bool excel_take_range(struct local_call *c, const char *first, const char *second,
                      const char *intro, struct range *ret);
/* False with an answer when a range is too large. */
bool excel_check_size(struct local_call *c, struct range r);

/* ---- excel.c ---- */
/* ---- tool_cells.c ---- */
void excel_apply_formula(struct local_call *c);
void excel_validate_formula_syntax(struct local_call *c);
void excel_read_data(struct local_call *c);
void excel_write_data(struct local_call *c);
void excel_validate_range(struct local_call *c);
/* ---- tool_format.c, tool_condition.c ---- */
void excel_format_range(struct local_call *c);
/* Adds the conditional format; false with E. */
bool excel_condition(struct excel *x, struct str range, const struct json *condition,
                     struct err *e);
/* The eight digits of a color as openpyxl takes it; NULL when it is none. */
const char *excel_color(struct local_call *c, struct str given);
/* ---- tool_range.c ---- */
void excel_merge_cells(struct local_call *c);
void excel_unmerge_cells(struct local_call *c);
void excel_get_merged_cells(struct local_call *c);
void excel_copy_range(struct local_call *c);
void excel_delete_range(struct local_call *c);
void excel_insert_rows(struct local_call *c);
void excel_insert_columns(struct local_call *c);
void excel_delete_rows(struct local_call *c);
void excel_delete_columns(struct local_call *c);
void excel_merge(struct excel *x, struct range r);
/* Whether the cell is in a merged range and not its first one. */
bool excel_is_merged(const struct sheet *s, struct ref at);
/* ---- tool_chart.c ---- */
void excel_create_chart(struct local_call *c);
/* ---- tool_table.c ---- */
void excel_create_table(struct local_call *c);
/* A table over R, whose first row has the names. False with E. */
bool excel_add_table(struct excel *x, struct range r, struct str name, const char *style,
                     struct err *e);
/* "Table_1a2b3c4d" */
struct str excel_table_name(struct local_call *c, const char *prefix);
/* ---- tool_pivot.c ---- */
void excel_create_pivot_table(struct local_call *c);
/* ---- tool_validation.c ---- */
void excel_get_validation(struct local_call *c);
/* The rule of a cell as a JSON object with an indent of 6. */
void excel_write_rule(struct excel *x, struct ref at, struct buf *out);
