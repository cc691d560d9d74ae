/* SPDX-License-Identifier: MIT */
/* The tools, which are in the files tool_*.c, and what those share. */
#pragma once

#include "local/powerpoint/pp.h"
#include "local/powerpoint/shape.h"
#include "local/powerpoint/text.h"

#define TOOL(name, needs) void pp_##name(struct pp *p);
#include "local/powerpoint/tools.def"
#undef TOOL

extern const size_t pp_n_tools;

/* ---- schemes of colors (schemes.c) ---- */

enum { SCHEME_ROLES = 8 };
extern const char *const scheme_roles[SCHEME_ROLES]; /* "primary", …; the first six are listed */
/* "RRGGBB" of ROLE; other schemes are the first one, other roles "primary". */
const char *scheme_color(struct str scheme, struct str role);
size_t scheme_count(void);
const char *scheme_name(size_t i);

/* ---- shared by tools ---- */

/* A gradient or a color as the background of a slide; DIRECTION "horizontal", … */
void pp_background(struct slide *s, const char *const rgb[2], struct str direction);
/* The font and colors that the arguments name; false when the answer is an error. */
bool pp_text_args(struct pp *p, struct text_format *f, char rgb[7]);
/* A shape of the kind that add_shape knows by that name; NULL when there is none. */
struct xml *pp_add_kind(struct slide *s, struct str type, struct box box);
/* The largest font at which TEXT, broken at the width of BOX, is not higher than it. */
int64_t pp_best_points(struct str text, const struct box *box, int64_t least, int64_t most);
/* The rectangle of "left", "top", "width" and "height". */
struct box pp_box(const struct pp *p);
