/* SPDX-License-Identifier: MIT */
/* Pictures of documents: what kind they are of and how large, by their first bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { PICTURE_SIDE_MAX = 1 << 20 }; /* pixels in a row or a column */

struct picture {
    const char *extension, *type; /* "png", "image/png" */
    uint32_t width, height;       /* pixels */
    uint32_t dpi_x, dpi_y;        /* 72 where the picture does not say */
};

/* False: it is of no kind that is known (PNG, JPEG, GIF, BMP, TIFF), damaged, or too large. */
bool picture_look(struct str bytes, struct picture *ret);
