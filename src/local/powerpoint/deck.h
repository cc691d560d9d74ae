/* SPDX-License-Identifier: MIT */
/* A presentation's slides, layouts and masters. Parts that lack what they must have count as having
 * nothing: no shapes, no name. */
#pragma once

#include "local/powerpoint/pp.h"

/* Makes D's package the default presentation: no slides, one master, eleven layouts. */
int deck_blank(struct deck *d, struct err *e);
/* Finds the main part of a package that was read: 0, or -EINVAL when it is no presentation. */
int deck_check(struct deck *d, struct err *e);

size_t deck_n_slides(struct deck *d);
int deck_slide(struct deck *d, size_t i, struct slide *ret, struct err *e);
/* Slides, layouts and masters all have a tree of shapes. */
int deck_open(struct deck *d, struct part *part, struct slide *ret, struct err *e);
/* A new slide behind the others, with the placeholders of LAYOUT. */
int deck_add_slide(struct deck *d, struct part *layout, struct slide *ret, struct err *e);

size_t deck_n_masters(struct deck *d);
struct part *deck_master(struct deck *d, size_t i);
size_t deck_n_layouts(struct deck *d, struct part *master);
struct part *deck_layout(struct deck *d, struct part *master, size_t i);
/* Of the first master, which is what tools mean by layouts. */
struct part *deck_first_layout(struct deck *d, size_t i, size_t *n);
/* The layout of a slide, or the master of a layout; NULL when there is none. */
struct part *deck_base(struct deck *d, struct part *part);
/* p:cSld's name, "" without one. */
struct str deck_part_name(struct deck *d, struct part *part);

void deck_size(struct deck *d, int64_t *width, int64_t *height);

/* Of docProps/core.xml; NAME is "dc:title", "cp:keywords", … STR_NULL when it is not there. */
struct str deck_property(struct deck *d, const char *name);
int deck_set_property(struct deck *d, const char *name, struct str value, struct err *e);
