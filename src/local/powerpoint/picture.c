/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/picture.h"

#include <errno.h>

#include "office/picture.h"

static void set_picture_size(struct box *box, const struct picture *p)
{
    int64_t cx = (int64_t)p->width * PP_EMU_INCH / p->dpi_x;
    int64_t cy = (int64_t)p->height * PP_EMU_INCH / p->dpi_y;

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

    if (!picture_look(bytes, &look)) {
        (void)err_set(e, -EINVAL, "the image is no PNG, JPEG, GIF, BMP or TIFF, or it is damaged");
        return NULL;
    }
    struct part *part = find_media(d, bytes);
    if (!part)
        part = add_media(d, &look, bytes);
    struct str id = part ? rel_add(&d->package, s->part, "image", part) : STR_NULL;
    set_picture_size(&box, &look);
    struct shape_new n = {.name = "Picture", .box = box};
    struct xml *shape = id.p ? shape_add_picture(s, &n, id) : NULL;
    if (!shape)
        (void)err_set(e, -ENOMEM, "the slide or the memory is full");
    return shape;
}
