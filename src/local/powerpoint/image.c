/* SPDX-License-Identifier: MIT */
/* Brightness, contrast, colors and sharpness, as the Python Imaging Library means them. */
#include "local/powerpoint/image.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"

static uint8_t clamp_channel(double v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)v;
}

static double gray(const uint8_t *p)
{
    return (p[0] * 299.0 + p[1] * 587.0 + p[2] * 114.0) / 1000.0;
}

static size_t n_pixels(const struct image *m)
{
    return (size_t)m->width * m->height;
}

/* Each channel moves away from a gray, or towards it: FACTOR 1 leaves it. GRAY below 0: the pixel's
 * own. */
static void spread(struct image *m, double factor, double middle)
{
    for (size_t i = 0; i < n_pixels(m); i++) {
        uint8_t *p = m->rgba + i * 4;
        double to = middle < 0 ? gray(p) : middle;
        for (size_t k = 0; k < 3; k++)
            p[k] = clamp_channel(to + (p[k] - to) * factor);
    }
}

static double mean(const struct image *m)
{
    double sum = 0;

    for (size_t i = 0; i < n_pixels(m); i++)
        sum += gray(m->rgba + i * 4);
    return floor(sum / (double)n_pixels(m) + 0.5);
}

/* ---- kernels ---- */

struct kernel {
    const char *name;
    int side, scale;
    signed char weights[25];
};

static const struct kernel kernels[] = {
    {"SMOOTH", 3, 13, {1, 1, 1, 1, 5, 1, 1, 1, 1}},
    {"SHARPEN", 3, 16, {-2, -2, -2, -2, 32, -2, -2, -2, -2}},
    {"EDGE_ENHANCE", 3, 2, {-1, -1, -1, -1, 10, -1, -1, -1, -1}},
    {"BLUR", 5, 16, {1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1}},
};

static int sum_at(const struct image *m, const uint8_t *center, const struct kernel *k)
{
    int sum = 0, half = k->side / 2;

    for (int y = 0; y < k->side; y++) {
        const uint8_t *row = center + ((ptrdiff_t)(y - half) * m->width - half) * 4;
        for (int x = 0; x < k->side; x++)
            sum += k->weights[y * k->side + x] * row[x * 4];
    }
    return sum;
}

/* The picture with a kernel laid over each pixel; those at the edges stay. New bytes, or NULL. */
static uint8_t *filtered(const struct image *m, const struct kernel *k)
{
    uint32_t half = (uint32_t)k->side / 2;
    uint8_t *out = mem_alloc(n_pixels(m) * 4);

    if (!out)
        return NULL;
    memcpy(out, m->rgba, n_pixels(m) * 4);
    for (uint32_t y = half; y + half < m->height; y++) {
        for (uint32_t x = half; x + half < m->width; x++) {
            size_t at = ((size_t)y * m->width + x) * 4;
            for (size_t c = 0; c < 3; c++)
                out[at + c] = clamp_channel((double)sum_at(m, m->rgba + at + c, k) / k->scale);
        }
    }
    return out;
}

static int filter_image(struct image *m, const struct kernel *k)
{
    uint8_t *out = filtered(m, k);

    if (!out)
        return -ENOMEM;
    free(m->rgba);
    m->rgba = out;
    return 0;
}

/* Away from the smoothed picture, or towards it. */
static int sharpen(struct image *m, double factor)
{
    uint8_t *smooth auto_free = filtered(m, &kernels[0]);

    if (!smooth)
        return -ENOMEM;
    for (size_t i = 0; i < n_pixels(m) * 4; i++) {
        if (i % 4 != 3)
            m->rgba[i] = clamp_channel(smooth[i] + (m->rgba[i] - smooth[i]) * factor);
    }
    return 0;
}

/* ---- blur ---- */

/* The mean of 2 * RADIUS + 1 pixels along N of them that are STEP bytes apart; a sliding sum. */
static void blur_line(uint8_t *p, uint8_t *copy, size_t n, size_t step, size_t radius)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        copy[i] = p[i * step];
    sum = (uint64_t)copy[0] * radius;
    for (size_t i = 0; i <= radius; i++)
        sum += copy[i < n ? i : n - 1];
    for (size_t i = 0; i < n; i++) {
        p[i * step] = (uint8_t)(sum / (2 * radius + 1));
        sum += copy[i + radius + 1 < n ? i + radius + 1 : n - 1];
        sum -= copy[i >= radius ? i - radius : 0];
    }
}

/* Three means in a row are close to a bell curve. */
static int blur(struct image *m, double radius)
{
    uint32_t side = m->width > m->height ? m->width : m->height;
    uint8_t *copy auto_free = mem_alloc(side);
    size_t r = (size_t)(radius < 1 ? 1 : radius > 200 ? 200 : radius);

    if (!copy)
        return -ENOMEM;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t c = 0; c < 3; c++) {
            for (uint32_t y = 0; y < m->height; y++)
                blur_line(m->rgba + (size_t)y * m->width * 4 + c, copy, m->width, 4, r);
            for (uint32_t x = 0; x < m->width; x++)
                blur_line(m->rgba + (size_t)x * 4 + c, copy, m->height, (size_t)m->width * 4, r);
        }
    }
    return 0;
}

/* ---- all of it ---- */

static bool is_sane(const struct image_change *how)
{
    const double values[] = {how->brightness, how->contrast, how->saturation, how->sharpness,
                             how->blur};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if (!(values[i] >= 0 && values[i] <= 1000))
            return false;
    }
    return true;
}

static int change(struct image *m, const struct image_change *how)
{
    int r = 0;

    spread(m, how->brightness, 0);
    spread(m, how->contrast, mean(m));
    spread(m, how->saturation, -1);
    if (how->sharpness < 1 || how->sharpness > 1)
        r = sharpen(m, how->sharpness);
    if (r == 0 && how->blur > 0)
        r = blur(m, how->blur);
    for (size_t i = 0; r == 0 && how->filter.p && i < ARRAY_LEN(kernels); i++) {
        if (str_iis(how->filter, kernels[i].name))
            r = filter_image(m, &kernels[i]);
    }
    return r;
}

int image_enhance(struct str png, const struct image_change *how, struct buf *out, struct err *e)
{
    struct image m;

    if (!is_sane(how))
        return err_set(e, -EINVAL, "factors must be 0 to 1000");
    int r = image_decode(png, &m, e);
    if (r < 0)
        return r;
    r = change(&m, how);
    if (r == 0)
        r = image_encode(&m, out);
    image_done(&m);
    return r < 0 ? err_set(e, r, "out of memory") : 0;
}
