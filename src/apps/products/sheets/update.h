/* SPDX-License-Identifier: MIT */
/* Requests of the Google Sheets API that change a spreadsheet (spreadsheets.batchUpdate), on one
 * that is in memory. Nothing is calculated here: values of formulas are those from before.
 *
 * A spreadsheet is
 *     {"title", "sheets": [[id, title, rows, columns], …],
 *      "cells": [[sheet, row, column, formula, type, value, look, format], …],
 *      "features": [[sheet, kind, row0, column0, row1, column1, body], …]}
 * where a sheet is the number of its place, and rows and columns count from 0. A feature is what an
 * area has besides values; its ends do not belong to it, and null is the sheet's own. Kinds:
 *     cell         members of CellData by their paths: {"userEnteredFormat.textFormat.bold": true}
 *     pattern      of numbers: a text, "" as they look
 *     merge        one cell, to look at
 *     conditional  {"index", "rule"}; a rule has one for each of its ranges
 *     filter       the basic filter of the sheet
 *     rows, columns, properties   members of DimensionProperties and SheetProperties by their paths
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum {
    SHEETS_MAX_REQUESTS = 1000,
    SHEETS_MAX_SHEETS = 200,
    SHEETS_MAX_FILL = 200000,    /* cells that one request writes */
    SHEETS_MAX_FEATURES = 10000, /* of a sheet */
    SHEETS_MAX_GRID = 10000000,  /* cells of all sheets, blank ones too */
    SHEETS_MAX_STEPS = 50000000  /* cells and features that all requests look at */
};

/* Appends the spreadsheet behind all REQUESTS, with "replies"; NUMBERS are taken for the ids of new
 * sheets. -EINVAL with what the API says, or that it is not done here; -ENOMEM. */
struct sheets_args {
    struct arena *arena;
    const struct json *state, *requests, *numbers;
};
int sheets_update(const struct sheets_args *args, struct buf *out, struct err *e);

/* Sets the member at PATH ("textFormat.bold") of OBJECT and makes objects on the way; null removes
 * it. 0, -ENOMEM. */
int sheets_set_path(struct arena *a, struct json *object, struct str path,
                    const struct json *value);
