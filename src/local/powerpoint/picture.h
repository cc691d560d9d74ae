/* SPDX-License-Identifier: MIT */
/* Pictures on slides: PNG, JPEG, GIF, BMP and TIFF, known by their first bytes. */
#pragma once

#include "local/powerpoint/shape.h"

struct picture {
    const char *extension, *type; /* "png", "image/png" */
    int64_t width, height;        /* pixels */
    int64_t dpi_x, dpi_y;
};

/* 0, or -EINVAL when it is none of them or has no size. */
int picture_measure(struct str bytes, struct picture *ret);
/* A picture at BOX; a CX or CY of 0 follows from the other one, or from the picture's own size.
 * BYTES are copied. NULL with E. */
struct xml *picture_add(struct deck *d, struct slide *s, struct box box, struct str bytes,
                        struct err *e);
