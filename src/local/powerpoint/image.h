/* SPDX-License-Identifier: MIT */
/* Enhanced copies of pictures: PNG in, PNG out. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { IMAGE_PIXELS_MAX = 8 << 20 };

struct image {
    uint32_t width, height;
    uint8_t *rgba; /* four bytes for each pixel; from mem_alloc() */
    bool has_alpha;
};

struct image_change {
    double brightness, contrast, saturation, sharpness; /* 1: as it is */
    double blur;                                        /* radius in pixels */
    struct str filter; /* "BLUR", "SHARPEN", "SMOOTH", "EDGE_ENHANCE"; others do nothing */
};

/* Appends the changed picture. 0; -ENOTSUP when it is no PNG of 8 bits, -EINVAL when it is damaged,
 * -E2BIG, -ENOMEM; all with E. */
int image_enhance(struct str png, const struct image_change *how, struct buf *out, struct err *e);

/* image_png.c. What image_decode() made is freed by image_done(). */
int image_decode(struct str png, struct image *ret, struct err *e);
int image_encode(const struct image *m, struct buf *out);
void image_done(struct image *m);
