/* SPDX-License-Identifier: MIT */
#include "base/tar_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LEN = 100 };
#define NUMBER_MAX UINT64_C(077777777777) /* of eleven octal digits */

static void put_tar_text(char *at, size_t len, struct str s)
{
    if (s.len > 0)
        memcpy(at, s.p, s.len < len ? s.len : len);
}

/* WIDTH octal digits, a NUL behind them. */
static void put_octal(char *at, int width, uint64_t value)
{
    char digits[32];

    (void)snprintf(digits, sizeof digits, "%0*llo", width, (unsigned long long)value);
    memcpy(at, digits, (size_t)width + 1);
}

static int put_header(struct buf *out, char type, const struct tar_entry *t)
{
    static const char magic[8] = {'u', 's', 't', 'a', 'r', '\0', '0', '0'};
    char b[TAR_BLOCK] = {0};
    unsigned sum = 0;

    put_tar_text(b, NAME_LEN, t->name);
    put_octal(b + 100, 7, t->mode & 07777);
    put_octal(b + 108, 7, 0);
    put_octal(b + 116, 7, 0);
    put_octal(b + 124, 11, t->size <= NUMBER_MAX ? t->size : 0);
    put_octal(b + 136, 11, t->mtime_s < 0 ? 0 : (uint64_t)t->mtime_s & NUMBER_MAX);
    b[156] = type;
    put_tar_text(b + 157, NAME_LEN, t->link);
    memcpy(b + 257, magic, sizeof magic);
    memset(b + 148, ' ', 8);
    for (size_t i = 0; i < sizeof b; i++)
        sum += (unsigned char)b[i];
    put_octal(b + 148, 6, sum);
    b[155] = ' ';
    return buf_add(out, b, sizeof b);
}

/* "LENGTH KEY=VALUE\n": the length counts its own digits. */
static void put_record(struct buf *out, const char *key, struct str value)
{
    size_t rest = 1 + strlen(key) + 1 + value.len + 1, len = rest + 1;

    for (size_t limit = 10; len >= limit; limit *= 10)
        len++;
    /* One digit more may itself be what needs it. */
    char digits[24];
    len = rest + (size_t)snprintf(digits, sizeof digits, "%zu", len);
    (void)buf_printf(out, "%zu %s=", len, key);
    (void)buf_add_str(out, value);
    (void)buf_add_char(out, '\n');
}

static int put_pax(struct buf *out, const struct tar_entry *t)
{
    auto_buf struct buf records = BUF_INIT(4 * (size_t)TAR_NAME_MAX);
    char size[24];

    if (!str_is_utf8(t->name) || !str_is_utf8(t->link))
        put_record(&records, "hdrcharset", STR("BINARY"));
    if (t->name.len > NAME_LEN)
        put_record(&records, "path", t->name);
    if (t->link.len > NAME_LEN)
        put_record(&records, "linkpath", t->link);
    (void)snprintf(size, sizeof size, "%llu", (unsigned long long)t->size);
    if (t->size > NUMBER_MAX)
        put_record(&records, "size", str_of(size));
    const struct tar_entry head = {
        .name = STR_INIT("PaxHeaders/entry"), .size = records.len, .mode = 0644};
    (void)put_header(out, 'x', &head);
    (void)buf_add_str(out, buf_str(&records));
    return buf_ok(&records) ? tar_put_padding(out, records.len) : records.error;
}

int tar_put_entry(struct buf *out, const struct tar_entry *t)
{
    bool needs_pax = t->name.len > NAME_LEN || t->link.len > NAME_LEN || t->size > NUMBER_MAX;

    if (needs_pax && put_pax(out, t) < 0)
        return out->error ? out->error : -ENOBUFS;
    return put_header(out, (char)t->type, t);
}

int tar_put_padding(struct buf *out, uint64_t size)
{
    static const char zeros[TAR_BLOCK];

    return buf_add(out, zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

int tar_put_end(struct buf *out)
{
    static const char zeros[2 * TAR_BLOCK];

    return buf_add(out, zeros, sizeof zeros);
}
