/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/image.h"

#include <errno.h>

int image_enhance(struct str png, const struct image_change *how, struct buf *out, struct err *e)
{
    (void)png;
    (void)how;
    (void)out;
    return err_set(e, -ENOTSUP, "only PNG files of 8 bits can be enhanced");
}
