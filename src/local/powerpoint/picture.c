/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/picture.h"

#include <errno.h>

#include "base/cleanup.h"

enum { DPI = 72, PIXELS_MAX = 1 << 20 /* in a row or a column */ };

/* ---- numbers; 0 behind the end ---- */

static uint32_t big(struct str b, size_t at, size_t n)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | (at + i < b.len ? (unsigned char)b.p[at + i] : 0);
    return v;
}

static uint32_t little(struct str b, size_t at, size_t n)
{
    uint32_t v = 0;

    for (size_t i = n; i-- > 0;)
        v = v << 8 | (at + i < b.len ? (unsigned char)b.p[at + i] : 0);
    return v;
}

/* Dots per inch of dots per meter. */
static int64_t per_inch(uint32_t per_meter)
{
    return per_meter > 0 ? ((int64_t)per_meter * 254 + 5000) / 10000 : DPI;
}

/* ---- formats ---- */

static void look_png(struct str b, struct picture *p)
{
    p->width = big(b, 16, 4);
    p->height = big(b, 20, 4);
    for (size_t at = 8; at + 8 < b.len;) {
        uint32_t len = big(b, at, 4);
        struct str type = str_slice(b, at + 4, at + 8);
        if (str_is(type, "pHYs") && big(b, at + 16, 1) == 1) {
            p->dpi_x = per_inch(big(b, at + 8, 4));
            p->dpi_y = per_inch(big(b, at + 12, 4));
        }
        if (str_is(type, "pHYs") || str_is(type, "IDAT") || len > b.len)
            return;
        at += (size_t)len + 12;
    }
}

static void look_jpeg(struct str b, struct picture *p)
{
    for (size_t at = 2; at + 4 < b.len && (unsigned char)b.p[at] == 0xff;) {
        unsigned mark = (unsigned char)b.p[at + 1];
        size_t len = big(b, at + 2, 2);
        if (mark == 0xe0 && str_is(str_slice(b, at + 4, at + 8), "JFIF") && big(b, at + 11, 1)) {
            bool is_metric = big(b, at + 11, 1) == 2;
            p->dpi_x = is_metric ? big(b, at + 12, 2) * 254 / 100 : big(b, at + 12, 2);
            p->dpi_y = is_metric ? big(b, at + 14, 2) * 254 / 100 : big(b, at + 14, 2);
        }
        /* A frame of any kind; 0xc4, 0xc8 and 0xcc are no frames. */
        if (mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc) {
            p->height = big(b, at + 5, 2);
            p->width = big(b, at + 7, 2);
            return;
        }
        at += 2 + (len < 2 ? 2 : len);
    }
}

static void look_gif(struct str b, struct picture *p)
{
    p->width = little(b, 6, 2);
    p->height = little(b, 8, 2);
}

static void look_bmp(struct str b, struct picture *p)
{
    int32_t height = (int32_t)little(b, 22, 4);

    p->width = little(b, 18, 4);
    p->height = height < 0 ? -(int64_t)height : height;
    p->dpi_x = per_inch(little(b, 38, 4));
    p->dpi_y = per_inch(little(b, 42, 4));
}

static void look_tiff(struct str b, struct picture *p)
{
    uint32_t (*number)(struct str, size_t, size_t) = b.p[0] == 'I' ? little : big;
    size_t at = number(b, 4, 4), n = number(b, at, 2);

    for (size_t i = 0; i < n && at + 14 + i * 12 <= b.len; i++) {
        size_t entry = at + 2 + i * 12;
        uint32_t tag = number(b, entry, 2);
        uint32_t value = number(b, entry + 8, number(b, entry + 2, 2) == 3 ? 2 : 4);
        if (tag == 256)
            p->width = value;
        if (tag == 257)
            p->height = value;
    }
}

static const struct {
    struct str magic;
    const char *extension, *type;
    void (*look)(struct str b, struct picture *p);
} formats[] = {
    {STR_INIT("\x89PNG\r\n\x1a\n"), "png", "image/png", look_png},
    {STR_INIT("\xff\xd8\xff"), "jpg", "image/jpeg", look_jpeg},
    {STR_INIT("GIF8"), "gif", "image/gif", look_gif},
    {STR_INIT("BM"), "bmp", "image/bmp", look_bmp},
    {STR_INIT("II*\0"), "tiff", "image/tiff", look_tiff},
    {STR_INIT("MM\0*"), "tiff", "image/tiff", look_tiff},
};

int picture_measure(struct str bytes, struct picture *ret)
{
    struct picture p = {.dpi_x = DPI, .dpi_y = DPI};

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (!str_starts(bytes, formats[i].magic))
            continue;
        p.extension = formats[i].extension;
        p.type = formats[i].type;
        formats[i].look(bytes, &p);
        if (p.width <= 0 || p.height <= 0 || p.width > PIXELS_MAX || p.height > PIXELS_MAX)
            return -EINVAL;
        p.dpi_x = p.dpi_x > 0 ? p.dpi_x : DPI;
        p.dpi_y = p.dpi_y > 0 ? p.dpi_y : DPI;
        *ret = p;
        return 0;
    }
    return -EINVAL;
}

/* ---- on slides ---- */

static void set_size(struct box *box, const struct picture *p)
{
    int64_t cx = p->width * PP_EMU_INCH / p->dpi_x, cy = p->height * PP_EMU_INCH / p->dpi_y;

    cx = cx > 0 ? cx : 1;
    cy = cy > 0 ? cy : 1;
    if (box->cx <= 0 && box->cy <= 0) {
        box->cx = cx;
        box->cy = cy;
    } else if (box->cx <= 0) {
        box->cx = (int64_t)((double)cx * (double)box->cy / (double)cy);
    } else if (box->cy <= 0) {
        box->cy = (int64_t)((double)cy * (double)box->cx / (double)cx);
    }
}

/* The part that holds these bytes already. */
static struct part *find_media(struct deck *d, struct str bytes)
{
    struct zip *z = &d->package.zip;
    struct str here;

    for (size_t i = 0; i < z->n; i++) {
        struct zip_entry *e = z->entries[i];
        size_t size = e->data.p ? e->data.len : e->size;
        if (!str_starts(e->name, STR("ppt/media/")) || size != bytes.len)
            continue;
        if (zip_data(z, e, &here, NULL) == 0 && str_eq(here, bytes))
            return package_part(&d->package,
                                arena_printf(&d->arena, "/" STR_FMT, STR_ARG(e->name)));
    }
    return NULL;
}

static struct part *add_media(struct deck *d, const struct picture *p, struct str bytes)
{
    char behind[8] = ".";
    struct str own = arena_str(&d->arena, bytes);

    for (size_t i = 0; p->extension[i]; i++)
        behind[i + 1] = p->extension[i];
    struct str name = package_free_name(&d->package, "/ppt/media/image", behind);
    return own.p && name.p ? package_add(&d->package, name, p->type, own) : NULL;
}

struct xml *picture_add(struct deck *d, struct slide *s, struct box box, struct str bytes,
                        struct err *e)
{
    struct picture look;

    if (picture_measure(bytes, &look) < 0) {
        (void)err_set(e, -EINVAL, "the image is no PNG, JPEG, GIF, BMP or TIFF, or it is damaged");
        return NULL;
    }
    struct part *part = find_media(d, bytes);
    if (!part)
        part = add_media(d, &look, bytes);
    struct str id = part ? rel_add(&d->package, s->part, "image", part) : STR_NULL;
    set_size(&box, &look);
    struct shape_new n = {.name = "Picture", .box = box};
    struct xml *shape = id.p ? shape_add_picture(s, &n, id) : NULL;
    if (!shape)
        (void)err_set(e, -ENOMEM, "the slide or the memory is full");
    return shape;
}
