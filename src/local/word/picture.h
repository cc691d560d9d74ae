/* SPDX-License-Identifier: MIT */
/* Pictures: what kind they are of and how large, by their first bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct picture {
    const char *extension, *type; /* "png", "image/png" */
    uint32_t width, height;       /* pixels */
    double dpi_x, dpi_y;          /* 72 where the picture does not tell */
};

/* False: it is of no kind that is known (PNG, JPEG, GIF, BMP), or damaged. */
bool picture_look(struct str bytes, struct picture *ret);
