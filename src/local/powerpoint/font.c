/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/font.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/utf8.h"

enum { TABLES_MAX = 128, DEPTH_MAX = 8, LETTERS_MAX = 64 << 10 /* bytes of text */ };

struct font_table {
    char tag[4];
    struct str data;
};

struct font {
    struct font_table tables[TABLES_MAX];
    size_t n;
    char version[4];
};

/* ---- numbers; 0 behind the end ---- */

static uint32_t u16(struct str s, size_t at)
{
    if (at + 2 > s.len)
        return 0;
    return (uint32_t)(unsigned char)s.p[at] << 8 | (unsigned char)s.p[at + 1];
}

static uint32_t u32(struct str s, size_t at)
{
    return u16(s, at) << 16 | u16(s, at + 2);
}

/* ---- tables ---- */

static struct font_table *find_font_table(struct font *f, const char *tag)
{
    for (size_t i = 0; i < f->n; i++) {
        if (memcmp(f->tables[i].tag, tag, 4) == 0)
            return &f->tables[i];
    }
    return NULL;
}

static struct str font_data_of(struct font *f, const char *tag)
{
    struct font_table *t = find_font_table(f, tag);

    return t ? t->data : STR_NULL;
}

static int read_font_tables(struct font *f, struct str bytes, struct err *e)
{
    size_t at = str_starts(bytes, STR("ttcf")) ? u32(bytes, 12) : 0;
    uint32_t version = u32(bytes, at), n = u16(bytes, at + 4);

    if (version != 0x00010000 && version != 0x74727565 && version != 0x4f54544f)
        return err_set(e, -EINVAL, "Not a TrueType or OpenType font (bad sfntVersion)");
    if (n == 0 || n > TABLES_MAX)
        return err_set(e, -EINVAL, "the font has no tables, or too many");
    memcpy(f->version, bytes.p + at, 4);
    for (uint32_t i = 0; i < n; i++) {
        size_t row = at + 12 + i * 16UL;
        uint32_t from = u32(bytes, row + 8), len = u32(bytes, row + 12);
        if (row + 16 > bytes.len || from > bytes.len || len > bytes.len - from)
            return err_set(e, -EINVAL, "a table of the font is cut off");
        memcpy(f->tables[f->n].tag, bytes.p + row, 4);
        f->tables[f->n++].data = str_n(bytes.p + from, len);
    }
    return 0;
}

/* ---- names ---- */

static struct str utf16(struct arena *a, struct str s)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char out[UTF8_MAX];

    for (size_t i = 0; i + 2 <= s.len; i += 2) {
        uint32_t c = u16(s, i), low = u16(s, i + 2);
        if (c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            i += 2;
        }
        if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd;
        (void)buf_add(&b, out, utf8_encode(out, c));
    }
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR("");
}

static struct str latin(struct arena *a, struct str s)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char out[UTF8_MAX];

    for (size_t i = 0; i < s.len; i++)
        (void)buf_add(&b, out, utf8_encode(out, (unsigned char)s.p[i]));
    return buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR("");
}

/* The last name of that number, as the original takes it. */
static struct str font_name_of(struct arena *a, struct str table, uint32_t id)
{
    uint32_t n = u16(table, 2), texts = u16(table, 4);
    struct str name = STR("");

    for (uint32_t i = 0; i < n && 6 + (i + 1) * 12UL <= table.len; i++) {
        size_t row = 6 + i * 12UL, from = texts + u16(table, row + 10), len = u16(table, row + 8);
        if (u16(table, row + 6) != id || from + len > table.len)
            continue;
        struct str raw = str_n(table.p + from, len);
        name = u16(table, row) == 1 ? latin(a, raw) : utf16(a, raw);
    }
    return name;
}

int font_look(struct arena *a, struct str bytes, struct font_info *ret, struct err *e)
{
    struct font f = {0};
    int r = read_font_tables(&f, bytes, e);

    if (r < 0)
        return r;
    ret->family = font_name_of(a, font_data_of(&f, "name"), 1);
    ret->style = font_name_of(a, font_data_of(&f, "name"), 2);
    ret->n_glyphs = u16(font_data_of(&f, "maxp"), 4);
    return 0;
}

/* ---- letters ---- */

static uint32_t glyph_in_4(struct str t, uint32_t c)
{
    uint32_t n = u16(t, 6) / 2;

    for (uint32_t i = 0; i < n; i++) {
        size_t end = 14 + i * 2UL, start = end + n * 2UL + 2, delta = start + n * 2UL;
        size_t offset = delta + n * 2UL;
        if (c > u16(t, end) || c < u16(t, start))
            continue;
        if (u16(t, offset) == 0)
            return (c + u16(t, delta)) & 0xffff;
        uint32_t g = u16(t, offset + u16(t, offset) + (c - u16(t, start)) * 2UL);
        return g ? (g + u16(t, delta)) & 0xffff : 0;
    }
    return 0;
}

static uint32_t glyph_in_12(struct str t, uint32_t c)
{
    uint32_t n = u32(t, 12);

    for (uint32_t i = 0; i < n && 16 + (i + 1) * 12UL <= t.len; i++) {
        size_t row = 16 + i * 12UL;
        if (c >= u32(t, row) && c <= u32(t, row + 4))
            return u32(t, row + 8) + (c - u32(t, row));
    }
    return 0;
}

/* The number of the outline of a letter; 0: none. */
static uint32_t glyph_of(struct str cmap, uint32_t c)
{
    uint32_t n = u16(cmap, 2), g = 0;

    for (uint32_t i = 0; i < n && g == 0; i++) {
        struct str t = str_skip(cmap, u32(cmap, 4 + i * 8UL + 4));
        if (u16(t, 0) == 4 && c < 0x10000)
            g = glyph_in_4(t, c);
        else if (u16(t, 0) == 12)
            g = glyph_in_12(t, c);
    }
    return g;
}

/* ---- outlines ---- */

struct outlines {
    struct str glyf, loca;
    bool is_long;
    uint32_t n;
    bool *used;
};

static struct str read_outline(const struct outlines *o, uint32_t g)
{
    size_t from = o->is_long ? u32(o->loca, g * 4UL) : u16(o->loca, g * 2UL) * 2UL;
    size_t to = o->is_long ? u32(o->loca, g * 4UL + 4) : u16(o->loca, g * 2UL + 2) * 2UL;

    return from <= to && to <= o->glyf.len ? str_n(o->glyf.p + from, to - from) : STR("");
}

/* G, and the outlines that it is put together from. */
static void use(struct outlines *o, uint32_t g, int depth)
{
    if (g >= o->n || o->used[g] || depth > DEPTH_MAX)
        return;
    o->used[g] = true;
    struct str s = read_outline(o, g);
    if (s.len < 10 || u16(s, 0) < 0x8000)
        return;
    for (size_t at = 10; at + 4 <= s.len;) {
        uint32_t flags = u16(s, at);
        use(o, u16(s, at + 2), depth + 1);
        if (!(flags & 0x20))
            return;
        at += 4U + (flags & 1 ? 4U : 2U) +
              (flags & 8     ? 2U
               : flags & 64  ? 4U
               : flags & 128 ? 8U
                             : 0U);
    }
}

static void add_big(struct buf *b, uint32_t v, int n)
{
    while (n-- > 0)
        (void)buf_add_char(b, (char)(v >> (8 * n)));
}

/* Rewrites outlines and their places, empty where they are not used. */
static int rewrite_outlines(struct arena *a, struct font *f, const struct outlines *o)
{
    auto_buf struct buf glyf = BUF_INIT(64 << 20), loca = BUF_INIT(1 << 20);

    for (uint32_t g = 0; g <= o->n; g++) {
        add_big(&loca, (uint32_t)(o->is_long ? glyf.len : glyf.len / 2), o->is_long ? 4 : 2);
        if (g < o->n && o->used[g])
            (void)buf_add_str(&glyf, read_outline(o, g));
        while (glyf.len % 4 != 0 && buf_ok(&glyf))
            (void)buf_add_char(&glyf, 0);
    }
    if (glyf.len == 0)
        (void)buf_add_char(&glyf, 0);
    if (!buf_ok(&glyf) || !buf_ok(&loca))
        return -ENOMEM;
    /* Padding could make more of it than short places can express. */
    if (!o->is_long && glyf.len > 0x1fffe)
        return 0;
    find_font_table(f, "glyf")->data = arena_str(a, buf_str(&glyf));
    find_font_table(f, "loca")->data = arena_str(a, buf_str(&loca));
    return find_font_table(f, "glyf")->data.p && find_font_table(f, "loca")->data.p ? 0 : -ENOMEM;
}

/* False for fonts whose outlines are of another kind. */
static bool has_outlines(struct font *f)
{
    return find_font_table(f, "glyf") && find_font_table(f, "loca") && find_font_table(f, "cmap") &&
           find_font_table(f, "head") && find_font_table(f, "maxp");
}

static int keep_letters(struct arena *a, struct font *f, struct str text)
{
    struct outlines o = {font_data_of(f, "glyf"), font_data_of(f, "loca"),
                         u16(font_data_of(f, "head"), 50) != 0, u16(font_data_of(f, "maxp"), 4),
                         NULL};
    struct str cmap = font_data_of(f, "cmap");

    text = str_slice(text, 0, LETTERS_MAX);
    o.used = arena_zalloc(a, o.n + 1UL, sizeof *o.used);
    if (!o.used)
        return -ENOMEM;
    use(&o, 0, 0);
    while (text.len > 0) {
        uint32_t c = 0;
        size_t n = utf8_decode(text.p, text.len, &c);
        if (n > 0)
            use(&o, glyph_of(cmap, c), 0);
        text = str_skip(text, n > 0 ? n : 1);
    }
    return rewrite_outlines(a, f, &o);
}

/* ---- writing ---- */

static uint32_t sum_of(struct str s)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < s.len; i++)
        sum += (uint32_t)(unsigned char)s.p[i] << (24 - 8 * (i % 4));
    return sum;
}

static void drop_font_table(struct font *f, const char *tag)
{
    struct font_table *t = find_font_table(f, tag);

    if (t)
        memmove(t, t + 1, (size_t)(f->tables + f->n-- - t - 1) * sizeof *t);
}

static void write_font(struct font *f, struct buf *out)
{
    size_t at = 12 + f->n * 16, start = out->len, log = 0, head = 0;

    while (2UL << log <= f->n)
        log++;
    (void)buf_add(out, f->version, 4);
    add_big(out, (uint32_t)f->n, 2);
    add_big(out, 16U << log, 2);
    add_big(out, (uint32_t)log, 2);
    add_big(out, (uint32_t)(f->n * 16 - (16UL << log)), 2);
    for (size_t i = 0; i < f->n; i++) {
        (void)buf_add(out, f->tables[i].tag, 4);
        add_big(out, sum_of(f->tables[i].data), 4);
        add_big(out, (uint32_t)at, 4);
        add_big(out, (uint32_t)f->tables[i].data.len, 4);
        if (memcmp(f->tables[i].tag, "head", 4) == 0)
            head = at;
        at += (f->tables[i].data.len + 3) & ~(size_t)3;
    }
    for (size_t i = 0; i < f->n; i++) {
        (void)buf_add_str(out, f->tables[i].data);
        while ((out->len - start) % 4 != 0 && buf_ok(out))
            (void)buf_add_char(out, 0);
    }
    /* The sum of the whole file makes a constant, by a number in "head" that counts as 0. */
    if (!buf_ok(out) || head == 0 || start + head + 12 > out->len)
        return;
    uint32_t rest = 0xb1b0afbaU - sum_of(str_n(out->p + start, out->len - start));
    for (int i = 0; i < 4; i++)
        out->p[start + head + 8 + (size_t)i] = (char)(rest >> (24 - 8 * i));
}

int font_shrink(struct arena *a, struct str bytes, struct str text, struct buf *out, struct err *e)
{
    static const char *const unneeded[] = {"DSIG", "hdmx", "VDMX", "LTSH", "PCLT", "FFTM"};
    struct font f = {0};
    int r = read_font_tables(&f, bytes, e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(unneeded); i++)
        drop_font_table(&f, unneeded[i]);
    struct font_table *head = find_font_table(&f, "head");
    if (head && head->data.len >= 12) {
        char *copy = (char *)(uintptr_t)arena_str(a, head->data).p;
        if (!copy)
            return err_set(e, -ENOMEM, "out of memory");
        memset(copy + 8, 0, 4);
        head->data.p = copy;
    }
    if (text.len > 0 && has_outlines(&f)) {
        /* Substitutions would lead to outlines that are gone. */
        drop_font_table(&f, "GSUB");
        r = keep_letters(a, &f, text);
    }
    if (r == 0) {
        write_font(&f, out);
        r = out->error;
    }
    return r < 0 ? err_set(e, r, "the font is too large") : 0;
}
