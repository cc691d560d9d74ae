/* SPDX-License-Identifier: MIT */
/* ZIP archives: see zip.h. The layout is that of APPNOTE.TXT 6.3. */
#include "office/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/deflate.h"
#include "base/gunzip.h"

enum {
    LOCAL_SIGN = 0x04034b50,
    CENTRAL_SIGN = 0x02014b50,
    END_SIGN = 0x06054b50,
    LOCAL_LEN = 30,
    CENTRAL_LEN = 46,
    END_LEN = 22,
    COMMENT_MAX = 65535,
    STORED = 0,
    DEFLATED = 8,
    FLAG_ENCRYPTED = 1,
    FLAG_DESCRIPTOR = 8, /* sizes are behind the data; never written */
    FLAG_PATCH = 32,
    FLAG_STRONG = 64,
    FLAG_UTF8 = 0x800,
    MADE_BY = 20,          /* version 2.0, MS-DOS attributes */
    DOS_TIME = 0x00210000, /* 1980-01-01, so that equal content gives equal files */
};

static uint16_t get16(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint16_t)(b[0] | b[1] << 8);
}

static uint32_t get32(const char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static void put16(struct buf *b, unsigned v)
{
    char bytes[2] = {(char)(v & 255), (char)(v >> 8 & 255)};

    (void)buf_add(b, bytes, sizeof bytes);
}

static void put_zip_u32(struct buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

/* ---- reading ---- */

void zip_init(struct zip *z, struct arena *a)
{
    *z = (struct zip){.arena = a};
}

/* The end record, which may have a comment behind it. NULL when there is none. */
static const char *find_zip_end(struct str bytes)
{
    size_t stop = bytes.len > END_LEN + COMMENT_MAX ? bytes.len - END_LEN - COMMENT_MAX : 0;

    if (bytes.len < END_LEN)
        return NULL;
    for (size_t at = bytes.len - END_LEN + 1; at-- > stop;) {
        const char *p = bytes.p + at;
        if (p[0] == 'P' && get32(p) == END_SIGN && get16(p + 20) <= bytes.len - at - END_LEN)
            return p;
    }
    return NULL;
}

static bool is_safe_name(struct str name)
{
    if (name.len == 0 || name.len > ZIP_NAME_MAX || name.p[0] == '/' ||
        memchr(name.p, '\0', name.len))
        return false;
    while (name.p) {
        if (str_is(str_cut(&name, '/'), ".."))
            return false;
    }
    return true;
}

static int check_entry(const struct zip_entry *t, struct err *e)
{
    if (!is_safe_name(t->name))
        return err_set(e, -EINVAL, "zip: a bad name of an entry");
    if (t->flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_PATCH))
        return err_set(e, -ENOTSUP, "zip: '" STR_FMT "' is encrypted", STR_ARG(t->name));
    if (t->method != STORED && t->method != DEFLATED)
        return err_set(e, -ENOTSUP, "zip: '" STR_FMT "': unknown method %u", STR_ARG(t->name),
                       t->method);
    if (t->method == STORED && t->size != t->packed.len)
        return err_set(e, -EINVAL, "zip: '" STR_FMT "': wrong size", STR_ARG(t->name));
    if (t->size > ZIP_ENTRY_MAX ||
        (t->size > ZIP_RATIO_FREE && t->size / ZIP_RATIO_MAX > t->packed.len))
        return err_set(e, -E2BIG, "zip: '" STR_FMT "' is too large when unpacked",
                       STR_ARG(t->name));
    return 0;
}

/* Finds the packed bytes of T by its local header at AT, which must end before LIMIT. */
static int find_packed(struct zip_entry *t, struct str bytes, size_t at, size_t packed_len)
{
    if (at > bytes.len || bytes.len - at < LOCAL_LEN || get32(bytes.p + at) != LOCAL_SIGN)
        return -EINVAL;
    size_t head = (size_t)LOCAL_LEN + get16(bytes.p + at + 26) + get16(bytes.p + at + 28);
    if (bytes.len - at < head || bytes.len - at - head < packed_len)
        return -EINVAL;
    t->packed = str_n(bytes.p + at + head, packed_len);
    return 0;
}

static int add_zip_entry(struct zip *z, struct zip_entry *t, struct err *e)
{
    if (z->n >= ZIP_ENTRIES_MAX)
        return err_set(e, -E2BIG, "zip: more than %d entries", ZIP_ENTRIES_MAX);
    void *grown = arena_grow(z->arena, z->entries, z->n, &z->cap, sizeof *z->entries);
    if (!grown || !t)
        return err_set(e, -ENOMEM, "zip: out of memory");
    z->entries = grown;
    z->entries[z->n++] = t;
    return 0;
}

/* Reads one record of the directory from *AT on, which is moved behind it. DATA is all before the
 * directory. */
static int read_record(struct zip *z, struct str *at, struct str data, struct err *e)
{
    const char *p = at->p;

    if (at->len < CENTRAL_LEN || get32(p) != CENTRAL_SIGN)
        return err_set(e, -EINVAL, "zip: damaged directory");
    size_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
    if (at->len - CENTRAL_LEN < name + extra + comment)
        return err_set(e, -EINVAL, "zip: damaged directory");
    struct zip_entry *t = arena_new(z->arena, struct zip_entry);
    if (!t)
        return err_set(e, -ENOMEM, "zip: out of memory");
    *t = (struct zip_entry){
        .name = str_n(p + CENTRAL_LEN, name),
        .extra = str_n(p + CENTRAL_LEN + name, extra),
        .made_by = get16(p + 4),
        .flags = get16(p + 8),
        .method = get16(p + 10),
        .time = get32(p + 12),
        .crc = get32(p + 16),
        .size = get32(p + 24),
        .internal = get16(p + 36),
        .attributes = get32(p + 38),
    };
    if (find_packed(t, data, get32(p + 42), get32(p + 20)) < 0)
        return err_set(e, -EINVAL, "zip: an entry is not where the directory says");
    int r = check_entry(t, e);
    if (r < 0)
        return r;
    *at = str_skip(*at, CENTRAL_LEN + name + extra + comment);
    return add_zip_entry(z, t, e);
}

static int by_zip_place(const void *a, const void *b)
{
    const struct zip_entry *x = *(struct zip_entry *const *)a, *y = *(struct zip_entry *const *)b;

    return x->packed.p < y->packed.p ? -1 : x->packed.p > y->packed.p;
}

static int by_name(const void *a, const void *b)
{
    const struct zip_entry *x = *(struct zip_entry *const *)a, *y = *(struct zip_entry *const *)b;

    return str_cmp(x->name, y->name);
}

/* No bytes may belong to two entries, which is how a small file becomes a huge one, and no name may
 * be there twice. */
static int check_together(struct zip *z, struct err *e)
{
    size_t n = z->n;
    struct zip_entry **sorted = arena_alloc(z->arena, n * sizeof *sorted);

    if (!sorted)
        return err_set(e, -ENOMEM, "zip: out of memory");
    if (n > 0)
        memcpy(sorted, z->entries, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_zip_place);
    for (size_t i = 1; i < n; i++) {
        if (sorted[i - 1]->packed.p + sorted[i - 1]->packed.len > sorted[i]->packed.p)
            return err_set(e, -EINVAL, "zip: entries overlap");
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++) {
        if (str_eq(sorted[i - 1]->name, sorted[i]->name))
            return err_set(e, -EINVAL, "zip: '" STR_FMT "' is there twice",
                           STR_ARG(sorted[i]->name));
    }
    return 0;
}

int zip_read(struct zip *z, struct arena *a, struct str bytes, struct err *e)
{
    const char *end = find_zip_end(bytes);

    zip_init(z, a);
    if (!end)
        return err_set(e, -EINVAL, "File is not a zip file");
    size_t n = get16(end + 10), len = get32(end + 12), at = get32(end + 16);
    if (get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != n || n == 0xffff ||
        at == 0xffffffff)
        return err_set(e, -ENOTSUP, "zip: several volumes or ZIP64");
    size_t limit = (size_t)(end - bytes.p);
    if (at > limit || len > limit - at)
        return err_set(e, -EINVAL, "zip: damaged directory");
    struct str directory = str_n(bytes.p + at, len), data = str_n(bytes.p, at);
    for (size_t i = 0; i < n; i++) {
        int r = read_record(z, &directory, data, e);
        if (r < 0)
            return r;
    }
    return check_together(z, e);
}

struct zip_entry *zip_find(const struct zip *z, struct str name)
{
    for (size_t i = 0; i < z->n; i++) {
        if (str_ieq(z->entries[i]->name, name))
            return z->entries[i];
    }
    return NULL;
}

/* ---- unpacking ---- */

struct unpacked {
    char *p;
    size_t len, size;
};

static int collect(void *ctx, const char *p, size_t len)
{
    struct unpacked *u = ctx;

    if (len > u->size - u->len)
        return -EINVAL;
    memcpy(u->p + u->len, p, len);
    u->len += len;
    return 0;
}

static int inflate(const struct zip_entry *t, struct unpacked *u)
{
    struct gunzip *gz = gunzip_new_raw(collect, u);

    if (!gz)
        return -ENOMEM;
    int r = gunzip_feed(gz, t->packed.p, t->packed.len);
    if (r == 0)
        r = gunzip_finish(gz);
    gunzip_free(gz);
    return r == 0 && u->len != u->size ? -EINVAL : r;
}

static uint32_t crc_of(struct str data)
{
    return crc32_add(0, data.p, data.len);
}

int zip_data(struct zip *z, struct zip_entry *t, struct str *ret, struct err *e)
{
    int r = 0;

    if (t->data.p) {
        *ret = t->data;
        return 0;
    }
    struct unpacked u = {arena_alloc(z->arena, (size_t)t->size + 1), 0, t->size};
    if (!u.p)
        return err_set(e, -ENOMEM, "zip: '" STR_FMT "': out of memory", STR_ARG(t->name));
    if (t->method == DEFLATED)
        r = inflate(t, &u);
    else
        (void)collect(&u, t->packed.p, t->packed.len);
    u.p[u.len] = '\0';
    if (r == 0 && crc_of(str_n(u.p, u.len)) != t->crc)
        r = -EINVAL;
    if (r < 0)
        return err_set(e, r, "zip: '" STR_FMT "' is damaged", STR_ARG(t->name));
    *ret = t->data = str_n(u.p, u.len);
    return 0;
}

/* ---- changing ---- */

struct zip_entry *zip_put(struct zip *z, struct str name, struct str data)
{
    struct zip_entry *t = zip_find(z, name);

    if (data.len > ZIP_ENTRY_MAX || !is_safe_name(name))
        return NULL;
    if (!t) {
        t = arena_new(z->arena, struct zip_entry);
        struct str copy = arena_str(z->arena, name);
        if (!copy.p || add_zip_entry(z, t, NULL) < 0)
            return NULL;
        *t = (struct zip_entry){.name = copy, .made_by = MADE_BY, .time = DOS_TIME};
    }
    t->data = data.p ? data : STR("");
    t->packed = STR_NULL;
    return t;
}

void zip_remove(struct zip *z, struct zip_entry *t)
{
    for (size_t i = 0; i < z->n; i++) {
        if (z->entries[i] != t)
            continue;
        z->n--;
        memmove(z->entries + i, z->entries + i + 1, (z->n - i) * sizeof *z->entries);
        return;
    }
}

/* ---- writing ---- */

static int add_packed(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

/* Appends DATA deflated to OUT, which fails when it gets larger than OUT's maximum. */
static int deflate(struct str data, struct buf *out)
{
    struct deflate *d = deflate_new(DEFLATE_RAW, add_packed, out);

    if (!d)
        return -ENOMEM;
    int r = deflate_feed(d, data.p, data.len);
    if (r == 0)
        r = deflate_finish(d);
    deflate_free(d);
    return r;
}

/* Makes the packed form of new content: stored where it is not shorter otherwise. */
static int pack(struct zip *z, struct zip_entry *t)
{
    auto_buf struct buf b = BUF_INIT(t->data.len);

    t->size = (uint32_t)t->data.len;
    t->crc = crc_of(t->data);
    t->method = STORED;
    t->packed = t->data;
    int r = deflate(t->data, &b);
    if (r < 0)
        return r == -ENOBUFS ? 0 : r;
    t->method = DEFLATED;
    t->packed = arena_str(z->arena, buf_str(&b));
    return t->packed.p ? 0 : -ENOMEM;
}

static unsigned version_of(const struct zip_entry *t)
{
    return t->method == DEFLATED ? 20 : 10;
}

/* What both kinds of header have in common, from the flags to the length of the name. */
static void put_common(struct buf *out, const struct zip_entry *t)
{
    put16(out, version_of(t));
    put16(out, t->flags & ~(unsigned)FLAG_DESCRIPTOR);
    put16(out, t->method);
    put_zip_u32(out, t->time);
    put_zip_u32(out, t->crc);
    put_zip_u32(out, (uint32_t)t->packed.len);
    put_zip_u32(out, t->size);
    put16(out, (unsigned)t->name.len);
}

static void put_central(struct buf *out, const struct zip_entry *t, uint32_t at)
{
    put_zip_u32(out, CENTRAL_SIGN);
    put16(out, t->made_by);
    put_common(out, t);
    put16(out, (unsigned)t->extra.len);
    put16(out, 0); /* comment */
    put16(out, 0); /* volume */
    put16(out, t->internal);
    put_zip_u32(out, t->attributes);
    put_zip_u32(out, at);
    (void)buf_add_str(out, t->name);
    (void)buf_add_str(out, t->extra);
}

int zip_write(struct zip *z, struct buf *out, struct err *e)
{
    auto_buf struct buf directory = BUF_INIT(out->max);
    size_t begin = out->len;

    for (size_t i = 0; i < z->n; i++) {
        struct zip_entry *t = z->entries[i];
        if (!t->packed.p && pack(z, t) < 0)
            return err_set(e, -ENOMEM, "zip: out of memory");
        put_central(&directory, t, (uint32_t)(out->len - begin));
        put_zip_u32(out, LOCAL_SIGN);
        put_common(out, t);
        put16(out, 0);
        (void)buf_add_str(out, t->name);
        (void)buf_add_str(out, t->packed);
    }
    size_t at = out->len - begin;
    (void)buf_add_str(out, buf_str(&directory));
    put_zip_u32(out, END_SIGN);
    put_zip_u32(out, 0);
    put16(out, (unsigned)z->n);
    put16(out, (unsigned)z->n);
    put_zip_u32(out, (uint32_t)directory.len);
    put_zip_u32(out, (uint32_t)at);
    put16(out, 0);
    int r = directory.error ? directory.error : out->error;
    return r < 0 ? err_set(e, r, "zip: the archive is too large") : 0;
}
