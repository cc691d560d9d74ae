/* SPDX-License-Identifier: MIT */
#include "base/python.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void python_str(struct buf *out, struct str s)
{
    char quote = memchr(s.p, '\'', s.len) && !memchr(s.p, '"', s.len) ? '"' : '\'';

    (void)buf_add_char(out, quote);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\n')
            (void)buf_add_lit(out, "\\n");
        else if (c == '\r')
            (void)buf_add_lit(out, "\\r");
        else if (c == '\t')
            (void)buf_add_lit(out, "\\t");
        else if (c < 0x20 || c == 0x7F)
            (void)buf_printf(out, "\\x%02x", c);
        else {
            if (c == (unsigned char)quote || c == '\\')
                (void)buf_add_char(out, '\\');
            (void)buf_add_char(out, (char)c);
        }
    }
    (void)buf_add_char(out, quote);
}

/* D's digits and its exponent in the fewest digits that read back as D. */
static int shortest_digits(double d, char digits[static 32])
{
    char text[40];
    int precision = 0, n = 0;

    do
        (void)snprintf(text, sizeof text, "%.*e", precision, d);
    while (strtod(text, NULL) != d && ++precision < 17);
    char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++) {
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    }
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return (int)strtol(e + 1, NULL, 10);
}

void python_float(struct buf *out, double d)
{
    char digits[32] = "";

    if (!isfinite(d)) {
        (void)buf_add_str(out, isnan(d) ? STR("nan") : d < 0 ? STR("-inf") : STR("inf"));
        return;
    }
    int exponent = shortest_digits(fabs(d), digits), n = (int)strlen(digits);
    (void)buf_add_str(out, signbit(d) ? STR("-") : STR(""));
    if (exponent < -4 || exponent >= 16) {
        (void)buf_printf(out, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "", digits + 1,
                         exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        (void)buf_printf(out, "0.%.*s%s", -exponent - 1, "0000", digits);
        return;
    }
    for (int i = 0; i <= exponent; i++)
        (void)buf_add_char(out, i < n ? digits[i] : '0');
    (void)buf_printf(out, ".%s", n > exponent + 1 ? digits + exponent + 1 : "0");
}

void python_json_str(struct buf *out, struct str s)
{
    static const char escapes[128] = {['"'] = '"',  ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r',
                                      ['\t'] = 't', ['\b'] = 'b',  ['\f'] = 'f'};
    uint32_t c;

    (void)buf_add_char(out, '"');
    for (size_t i = 0, n; i < s.len; i += n) {
        n = utf8_decode(s.p + i, s.len - i, &c);
        if (n == 0) {
            n = 1;
            c = 0xfffd;
        }
        char escape = c < 128 ? escapes[c] : 0;
        if (escape)
            (void)buf_printf(out, "\\%c", escape);
        else if (c >= 0x10000)
            (void)buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                             0xdc00 + ((c - 0x10000) & 0x3ff));
        else if (c < 0x20 || c > 126)
            (void)buf_printf(out, "\\u%04x", c);
        else
            (void)buf_add_char(out, (char)c);
    }
    (void)buf_add_char(out, '"');
}
