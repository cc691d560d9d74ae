/* SPDX-License-Identifier: MIT */
#include "apps/db/product_id.h"

#include <errno.h>
#include <stdint.h>

#include "apps/db/db_internal.h"

#define LEN_MAX 128

enum part { PART_SEQ, PART_HEX, PART_DIGITS, PART_UPPER, PART_BASE62, PART_UUID };

static const struct {
    struct str name;
    const char *alphabet;
} parts[] = {
    [PART_SEQ] = {STR_INIT("seq"), NULL},
    [PART_HEX] = {STR_INIT("hex"), "0123456789abcdef"},
    [PART_DIGITS] = {STR_INIT("digits"), "0123456789"},
    [PART_UPPER] = {STR_INIT("upper"), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    [PART_BASE62] = {STR_INIT("base62"),
                     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
    [PART_UUID] = {STR_INIT("uuid"), NULL},
};

struct product_id_found {
    enum part part;
    int64_t number;
};

/* "hex:16", what is between the braces. */
static int read_id_part(struct str in, struct product_id_found *ret)
{
    struct str name = str_cut(&in, ':');
    size_t i = 0;

    while (i < sizeof parts / sizeof parts[0] && !str_eq(name, parts[i].name))
        i++;
    if (i == sizeof parts / sizeof parts[0])
        return -EINVAL;
    *ret = (struct product_id_found){.part = (enum part)i};
    if (i == PART_UUID)
        return in.p ? -EINVAL : 0;
    if (str_to_i64(in, &ret->number) < 0 || ret->number < 0)
        return -EINVAL;
    return i == PART_SEQ || (ret->number > 0 && ret->number <= LEN_MAX) ? 0 : -EINVAL;
}

/* ---- making ---- */

static void add_random(struct appdb *db, const struct product_id_found *f, struct buf *out)
{
    const char *alphabet = parts[f->part].alphabet;
    uint64_t size = strlen(alphabet), left = 0;

    for (int64_t i = 0; i < f->number; i++) {
        /* Ten digits of one draw are far from its end, so that no digit is likelier than another.
         */
        if (i % 10 == 0)
            left = appdb_random(db);
        char c = alphabet[left % size];
        left /= size;
        if (i == 0 && f->part == PART_DIGITS && c == '0')
            c = '1';
        (void)buf_add_char(out, c);
    }
}

static void add_uuid(struct appdb *db, struct buf *out)
{
    uint64_t a = appdb_random(db), b = appdb_random(db);

    (void)buf_printf(out, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
                     (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                     (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                     (unsigned long long)(b & 0xffffffffffff));
}

/* The counters are rows, so that a call that fails gives its numbers back. */
static int next_in_sequence(struct appdb *db, struct str kind, int64_t first, int64_t *ret,
                            struct err *e)
{
    static const char sql[] = "INSERT INTO tidepool_meta VALUES ('seq:' || ?1, ?2) "
                              "ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value";
    sqlite3 *c = appdb_handle(db);
    int r = -EINVAL;

    if (!db->next_seq)
        (void)sqlite3_prepare_v3(c, sql, -1, SQLITE_PREPARE_PERSISTENT, &db->next_seq, NULL);
    sqlite3_stmt *st = db->next_seq;
    if (st) {
        (void)sqlite3_bind_text(st, 1, kind.p, (int)kind.len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(st, 2, first);
        if (sqlite3_step(st) == SQLITE_ROW) {
            *ret = sqlite3_column_int64(st, 0);
            r = sqlite3_step(st) == SQLITE_DONE ? 0 : -EIO;
        }
    }
    if (r < 0)
        (void)err_set(e, r, "new_id(" STR_FMT "): %s", STR_ARG(kind), sqlite3_errmsg(c));
    (void)sqlite3_reset(st);
    return r;
}

static int add_id_part(struct appdb *db, struct str kind, const struct product_id_found *f,
                       struct buf *out, struct err *e)
{
    int64_t n;

    switch (f->part) {
    case PART_SEQ:
        if (next_in_sequence(db, kind, f->number, &n, e) < 0)
            return -EINVAL;
        (void)buf_printf(out, "%lld", (long long)n);
        break;
    case PART_UUID: add_uuid(db, out); break;
    case PART_HEX:
    case PART_DIGITS:
    case PART_UPPER:
    case PART_BASE62: add_random(db, f, out); break;
    }
    return 0;
}

/* ---- formats ---- */

/* Walks through FORMAT: literal text goes to OUT, parts are made there. DB NULL: only looks. */
static int write_id_format(struct appdb *db, struct str kind, struct str format, struct buf *out,
                           struct err *e)
{
    while (format.len > 0) {
        struct str literal = str_cut(&format, '{');
        if (str_chr(literal, '}') >= 0)
            return err_set(e, -EINVAL, "'}' without '{'");
        (void)buf_add_str(out, literal);
        if (!format.p)
            break;
        ptrdiff_t end = str_chr(format, '}');
        struct product_id_found f;
        if (end < 0 || read_id_part(str_slice(format, 0, (size_t)end), &f) < 0)
            return err_set(e, -EINVAL, "'{" STR_FMT "' is not a part of an id", STR_ARG(format));
        format = str_skip(format, (size_t)end + 1);
        if (db && add_id_part(db, kind, &f, out, e) < 0)
            return -EINVAL;
    }
    return out->error;
}

int id_check(struct str format, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(1024);

    if (format.len == 0)
        return err_set(e, -EINVAL, "an id cannot be empty");
    return write_id_format(NULL, STR_NULL, format, &b, e);
}

int id_next(struct appdb *db, struct str kind, struct str format, struct buf *out, struct err *e)
{
    return write_id_format(db, kind, format, out, e);
}
