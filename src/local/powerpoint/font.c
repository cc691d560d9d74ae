/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/font.h"

#include <errno.h>

int font_look(struct arena *a, struct str bytes, struct font_info *ret, struct err *e)
{
    (void)a;
    (void)bytes;
    (void)ret;
    return err_set(e, -EINVAL, "not a font");
}

int font_shrink(struct arena *a, struct str bytes, struct str text, struct buf *out, struct err *e)
{
    (void)a;
    (void)bytes;
    (void)text;
    (void)out;
    return err_set(e, -EINVAL, "not a font");
}
