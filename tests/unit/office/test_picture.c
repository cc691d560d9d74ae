/* SPDX-License-Identifier: MIT */
/* Pictures by their bytes. */
#include "../check.h"

#include "base/cleanup.h"
#include "office/picture.h"

static void pictures_tell_their_size(void **state)
{
    static const struct {
        struct str bytes;
        uint32_t width, height;
        uint32_t dpi;
    } rows[] = {
        {STR_INIT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x20"), 256, 32, 72},
        {STR_INIT("GIF89a\x10\0\x08\0"), 16, 8, 72},
        {STR_INIT("BM................\x07\0\0\0\xf7\xff\xff\xff........\x13\x0b\0\0\x13\x0b\0\0"),
         7, 9, 72},
        {STR_INIT("\xff\xd8\xff\xff\xe0\0\x10JFIF\0\1\1\2\0\x1c\0\x1c\0\0"
                  "\xff\xc4\0\4..\xff\xc2\0\x0b\x08\0\x30\0\x40\1"),
         64, 48, 71},
        /* 3780 dots in a metre. */
        {STR_INIT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03....."
                  "\0\0\0\0\0\0\0\tpHYs\0\0\x0e\xc4\0\0\x0e\xc4\1...."),
         2, 3, 96},
        {STR_INIT("II*\0\x08\0\0\0\2\0\0\1\3\0\1\0\0\0\5\0\0\0\1\1\4\0\1\0\0\0\6\0\0\0"), 5, 6, 72},
        {STR_INIT("MM\0*\0\0\0\x08\0\2\1\0\0\3\0\0\0\1\0\5\0\0\1\1\0\4\0\0\0\1\0\0\0\6"), 5, 6, 72},
        /* At the limit and past it. */
        {STR_INIT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x10\0\0\0\0\0\1"), 1 << 20, 1, 72},
        {STR_INIT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x10\0\1\0\0\0\1"), 0, 0, 0},
        /* Cut, empty, or of no kind. */
        {STR_INIT("\x89PNG\r\n\x1a\n"), 0, 0, 0},
        {STR_INIT("\xff\xd8\xff\xe0\xff\xff"), 0, 0, 0},
        {STR_INIT("GIF89a\0\0\1\0"), 0, 0, 0},
        {STR_INIT("BM"), 0, 0, 0},
        {STR_INIT(""), 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct picture p = {0};
        assert_int_equal(picture_look(rows[i].bytes, &p), rows[i].width > 0);
        assert_int_equal(p.width, rows[i].width);
        assert_int_equal(p.height, rows[i].height);
        assert_int_equal(p.dpi_x, rows[i].dpi);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_tell_their_size)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
