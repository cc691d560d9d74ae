/* SPDX-License-Identifier: MIT */
/* Pictures on slides. */
#pragma once

#include "local/powerpoint/shape.h"

/* A picture at BOX; a CX or CY of 0 follows from the other one, or from the picture's own size.
 * BYTES are copied. NULL with E. */
struct xml *picture_add(struct deck *d, struct slide *s, struct box box, struct str bytes,
                        struct err *e);
