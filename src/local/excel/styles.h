/* SPDX-License-Identifier: MIT */
/* Styles of cells. A cell has the number of a style; what is the same is there once. */
#pragma once

#include "local/excel/book.h"

enum style_time { STYLE_NO_TIME, STYLE_TIME, STYLE_SPAN };
/* Whether numbers in cells of that style are dates or times. */
enum style_time style_time(struct book *b, int64_t style);

/* What is to be different; what is NULL stays. */
struct style_change {
    bool has_font;
    bool is_bold, is_italic, is_underlined;
    int64_t font_size;        /* 0: as it is */
    const char *font_color;   /* eight hexadecimal digits; NULL: none */
    const char *fill_color;   /* likewise */
    const char *border_style; /* on all four sides */
    const char *border_color; /* with it */
    const char *number_format;
    bool has_alignment, is_wrapped;
    const char *horizontal; /* NULL: none */
    bool has_protection, is_locked, is_hidden;
};

/* The number of the style BASE with the changes; -1 when memory ran out. */
int64_t style_changed(struct book *b, int64_t base, const struct style_change *change);
/* The number of a differential style (of conditional formats) with that fill. */
int64_t style_dxf_fill(struct book *b, const char *color);
/* One with what XML, the children of dxf, says. */
int64_t style_dxf(struct book *b, const char *xml);
