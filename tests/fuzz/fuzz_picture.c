/* SPDX-License-Identifier: MIT */
/* Pictures and fonts: any bytes are refused or read; what was read can be written. */
#include <stdlib.h>

#include "local/powerpoint/font.h"
#include "local/powerpoint/image.h"
#include "office/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_n((const char *)data, size);
    struct image_change how = {1.1, 0.9, 1.2, 1.5, (double)(size % 3), STR("SHARPEN")};
    auto_buf struct buf out = BUF_INIT(16 << 20), font = BUF_INIT(16 << 20);
    struct arena a auto_arena;
    struct font_info info;
    struct picture look;

    arena_init(&a, 64 << 20);
    (void)picture_look(s, &look);
    /* A head that promises millions of pixels is not what this looks for. */
    if (size < 24 || (data[16] == 0 && data[17] == 0 && data[20] == 0 && data[21] == 0)) {
        struct image m;
        if (image_enhance(s, &how, &out, NULL) == 0) {
            if (image_decode(buf_str(&out), &m, NULL) < 0)
                abort();
            image_done(&m);
        }
    }
    if (font_look(&a, s, &info, NULL) == 0)
        (void)font_shrink(&a, s, STR("Aa\xc3\xa9"), &font, NULL);
    return 0;
}
