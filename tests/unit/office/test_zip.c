/* SPDX-License-Identifier: MIT */
/* ZIP archives: what was not touched stays as it was; what is damaged or too large is refused. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "office/zip.h"

enum { MAX = 8 << 20 };

/* "hello hello hello hello\n", deflated by zlib. */
static const char deflated[] = "\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00";
enum { PLAIN_LEN = sizeof "hello hello hello hello\n" };

static void put16(struct buf *b, unsigned v)
{
    (void)buf_add_char(b, (char)(v & 255));
    (void)buf_add_char(b, (char)(v >> 8));
}

static void put32(struct buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

struct made {
    const char *name;
    struct str packed;
    uint32_t size, crc;
    unsigned method, flags;
};

/* An archive by hand, with a comment and extra fields as other programs write them. */
static void make(struct buf *out, const struct made *entries, size_t n)
{
    struct buf directory = BUF_INIT(MAX);

    for (size_t i = 0; i < n; i++) {
        const struct made *m = &entries[i];
        bool has_descriptor = m->flags & 8;
        size_t at = out->len;
        put32(out, 0x04034b50);
        put16(out, 20);
        put16(out, m->flags);
        put16(out, m->method);
        put32(out, 0x5a8d1234);
        put32(out, has_descriptor ? 0 : m->crc);
        put32(out, has_descriptor ? 0 : (uint32_t)m->packed.len);
        put32(out, has_descriptor ? 0 : m->size);
        put16(out, (unsigned)strlen(m->name));
        put16(out, 4);
        (void)buf_printf(out, "%s", m->name);
        put32(out, 0xcafe);
        (void)buf_add_str(out, m->packed);
        if (has_descriptor) {
            put32(out, 0x08074b50);
            put32(out, m->crc);
            put32(out, (uint32_t)m->packed.len);
            put32(out, m->size);
        }
        put32(&directory, 0x02014b50);
        put32(&directory, 20 | 20 << 16);
        put16(&directory, m->flags);
        put16(&directory, m->method);
        put32(&directory, 0x5a8d1234);
        put32(&directory, m->crc);
        put32(&directory, (uint32_t)m->packed.len);
        put32(&directory, m->size);
        put16(&directory, (unsigned)strlen(m->name));
        put32(&directory, 0);
        put32(&directory, 0);
        put32(&directory, 0x20);
        put32(&directory, (uint32_t)at);
        (void)buf_printf(&directory, "%s", m->name);
    }
    size_t at = out->len;
    (void)buf_add_str(out, buf_str(&directory));
    put32(out, 0x06054b50);
    put32(out, 0);
    put16(out, (unsigned)n);
    put16(out, (unsigned)n);
    put32(out, (uint32_t)directory.len);
    put32(out, (uint32_t)at);
    put16(out, 7);
    (void)buf_add_lit(out, "comment");
    buf_done(&directory);
}

static const struct made sample[] = {
    {"a.txt", STR_INIT("plain"), 5, 0x192062cf, 0, 0},
    {"dir/b.txt", {deflated, sizeof deflated - 1}, PLAIN_LEN - 1, 0x0b598800, 8, 8},
    {"c.txt", STR_INIT(""), 0, 0, 0, 0},
};

static struct str data_of(struct zip *z, const char *name)
{
    struct err e = ERR_INIT;
    struct str data = STR_NULL;
    struct zip_entry *t = zip_find(z, str_of(name));

    assert_non_null(t);
    assert_int_equal(zip_data(z, t, &data, &e), 0);
    return data;
}

static void entries_are_unpacked(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct zip z;

    (void)state;
    arena_init(&a, MAX);
    make(&b, sample, 3);
    assert_int_equal(zip_read(&z, &a, buf_str(&b), &e), 0);
    assert_int_equal(z.n, 3);
    assert_str(data_of(&z, "a.txt"), "plain");
    assert_str(data_of(&z, "DIR/b.txt"), "hello hello hello hello\n");
    assert_str(data_of(&z, "c.txt"), "");
    assert_null(zip_find(&z, STR("nope")));
}

static void what_is_untouched_stays(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX), out = BUF_INIT(MAX);
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct zip z, again;

    (void)state;
    arena_init(&a, MAX);
    make(&b, sample, 3);
    assert_int_equal(zip_read(&z, &a, buf_str(&b), &e), 0);
    assert_non_null(zip_put(&z, STR("a.txt"), STR("changed")));
    assert_non_null(zip_put(&z, STR("new.txt"), STR("new")));
    zip_remove(&z, zip_find(&z, STR("c.txt")));
    assert_int_equal(zip_write(&z, &out, &e), 0);
    assert_int_equal(zip_read(&again, &a, buf_str(&out), &e), 0);
    assert_int_equal(again.n, 3);
    assert_str(again.entries[0]->name, "a.txt");
    assert_str(again.entries[1]->name, "dir/b.txt");
    assert_str(again.entries[2]->name, "new.txt");
    assert_true(str_eq(again.entries[1]->packed, str_n(deflated, sizeof deflated - 1)));
    assert_int_equal(again.entries[1]->time, 0x5a8d1234);
    assert_int_equal(again.entries[1]->attributes, 0x20);
    assert_str(data_of(&again, "a.txt"), "changed");
    assert_str(data_of(&again, "dir/b.txt"), "hello hello hello hello\n");
    assert_str(data_of(&again, "new.txt"), "new");
}

/* What zip_read() and reading all entries say. */
static int try(const struct made *entries, size_t n)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct str data;
    struct zip z;

    arena_init(&a, MAX);
    make(&b, entries, n);
    int r = zip_read(&z, &a, buf_str(&b), &e);
    for (size_t i = 0; r == 0 && i < z.n; i++)
        r = zip_data(&z, z.entries[i], &data, &e);
    return r;
}

static void bad_entries_are_refused(void **state)
{
    static const struct {
        struct made entry;
        int want;
    } cases[] = {
        {{"/etc/x", STR_INIT("plain"), 5, 0x192062cf, 0, 0}, -EINVAL},
        {{"a/../../x", STR_INIT("plain"), 5, 0x192062cf, 0, 0}, -EINVAL},
        {{"", STR_INIT("plain"), 5, 0x192062cf, 0, 0}, -EINVAL},
        {{"a", STR_INIT("plain"), 5, 1, 0, 0}, -EINVAL},
        {{"a", STR_INIT("plain"), 6, 0x192062cf, 0, 0}, -EINVAL},
        {{"a", STR_INIT("plain"), 5, 0x192062cf, 12, 0}, -ENOTSUP},
        {{"a", STR_INIT("plain"), 5, 0x192062cf, 0, 1}, -ENOTSUP},
        {{"a", {deflated, sizeof deflated - 1}, PLAIN_LEN, 0x0b598800, 8, 0}, -EINVAL},
        {{"a", {deflated, sizeof deflated - 1}, PLAIN_LEN - 2, 0x0b598800, 8, 0}, -EINVAL},
        {{"a", {deflated, sizeof deflated - 2}, PLAIN_LEN - 1, 0x0b598800, 8, 0}, -EINVAL},
        {{"a", {deflated, sizeof deflated - 1}, (1 << 20) + 1, 0x0b598800, 8, 0}, -E2BIG},
        {{"a", {deflated, sizeof deflated - 1}, ZIP_ENTRY_MAX + 1, 0x0b598800, 8, 0}, -E2BIG},
    };
    const struct made twice[] = {sample[0], sample[0]};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(try(&cases[i].entry, 1), cases[i].want);
    assert_int_equal(try(twice, 2), -EINVAL);
}

/* Any byte that is different, and any shorter file, gives an error or an archive, never a crash. */
static void damage_is_survived(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX), out = BUF_INIT(MAX);
    struct str data;
    struct zip z;

    (void)state;
    make(&b, sample, 3);
    for (size_t i = 0; i < 2 * b.len; i++) {
        struct arena a auto_arena;
        struct err e = ERR_INIT;
        arena_init(&a, MAX);
        buf_clear(&out);
        (void)buf_add_str(&out, i < b.len ? str_n(b.p, b.len) : str_n(b.p, i - b.len));
        if (i < b.len)
            out.p[i] ^= 0x55;
        if (zip_read(&z, &a, buf_str(&out), &e) < 0)
            continue;
        for (size_t k = 0; k < z.n; k++)
            (void)zip_data(&z, z.entries[k], &data, &e);
    }
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    arena_init(&a, MAX);
    assert_int_equal(zip_read(&z, &a, STR("no archive at all"), &e), -EINVAL);
    assert_string_equal(e.text, "File is not a zip file");
}

static void entries_are_counted(void **state)
{
    struct arena a auto_arena;
    struct zip z;
    char name[16];

    (void)state;
    arena_init(&a, MAX);
    zip_init(&z, &a);
    for (int i = 0; i < ZIP_ENTRIES_MAX; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        assert_non_null(zip_put(&z, str_of(name), STR("x")));
    }
    assert_null(zip_put(&z, STR("more"), STR("x")));
    assert_non_null(zip_put(&z, STR("17"), STR("y")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_unpacked),    cmocka_unit_test(what_is_untouched_stays),
        cmocka_unit_test(bad_entries_are_refused), cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(entries_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
