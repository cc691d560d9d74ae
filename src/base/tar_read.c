/* SPDX-License-Identifier: MIT */
#include "base/tar_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"

/* Where the fields of a header are. */
enum {
    NAME = 0,
    NAME_LEN = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    SIZE = 124,
    MTIME = 136,
    CHECKSUM = 148,
    TYPE = 156,
    LINK = 157,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_LEN = 155,
    NUMBER_LEN = 12,
    SHORT_LEN = 8
};

enum state {
    HEADER, /* gathers a block */
    EXTRA,  /* gathers an extended header */
    DATA,
    PADDING,
    OVER /* behind the end: what follows does not count */
};

struct tar_reader {
    const struct tar_sink *sink;
    void *ctx;
    enum state state;
    char block[TAR_BLOCK];
    size_t n_block;
    uint64_t left;    /* bytes of data */
    unsigned padding; /* behind them */
    char extra_type;
    bool is_file; /* whose data they are */
    bool takes_all;
    struct buf extra;
    /* For the next entry; empty: nothing. */
    struct buf name, link;
    bool has_size, has_mtime, has_uid, has_gid;
    uint64_t size, uid, gid;
    int64_t mtime_s;
    struct buf attrs; /* each: two lengths, name, value */
};

struct tar_reader *tar_reader_new(const struct tar_sink *sink, void *ctx)
{
    struct tar_reader *r = mem_zalloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->sink = sink;
    r->ctx = ctx;
    buf_init(&r->extra, TAR_EXTRA_MAX + 1);
    buf_init(&r->name, TAR_NAME_MAX + 1);
    buf_init(&r->link, TAR_NAME_MAX + 1);
    buf_init(&r->attrs, TAR_EXTRA_MAX);
    return r;
}

void tar_reader_free(struct tar_reader *r)
{
    if (!r)
        return;
    buf_done(&r->extra);
    buf_done(&r->name);
    buf_done(&r->link);
    buf_done(&r->attrs);
    free(r);
}

void tar_reader_take_all(struct tar_reader *r)
{
    r->takes_all = true;
}

/* ---- numbers ---- */

/* Octal digits between spaces and NULs, or a number in base 256. */
static int read_tar_number(const char *p, size_t len, int64_t *ret)
{
    const unsigned char *u = (const unsigned char *)p;
    uint64_t v = 0;
    size_t i = 0;

    if (u[0] & 0x80) {
        bool is_negative = u[0] == 0xff;
        v = is_negative ? UINT64_MAX : u[0] & 0x7f;
        for (i = 1; i < len; i++) {
            if (v >> 55 != 0 && v >> 55 != 0x1ff)
                return -EINVAL;
            v = v << 8 | u[i];
        }
        *ret = (int64_t)v;
        return 0;
    }
    while (i < len && p[i] == ' ')
        i++;
    for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
        v = v << 3 | (uint64_t)(p[i] - '0');
    if (i < len && p[i] != ' ' && p[i] != '\0')
        return -EINVAL;
    *ret = (int64_t)v;
    return 0;
}

static bool has_good_sum(const char *block)
{
    int64_t want = 0, n = 0, n_signed = 0;

    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool is_sum = i >= CHECKSUM && i < CHECKSUM + SHORT_LEN;
        n += is_sum ? ' ' : (unsigned char)block[i];
        n_signed += is_sum ? ' ' : (signed char)block[i];
    }
    return read_tar_number(block + CHECKSUM, SHORT_LEN, &want) == 0 &&
           (want == n || want == n_signed);
}

static struct str field(const char *p, size_t len)
{
    return len > 0 ? str_n(p, strnlen(p, len)) : STR("");
}

/* ---- extended headers ---- */

static int set_name(struct buf *b, struct str s, struct err *e)
{
    buf_clear(b);
    if (s.len > TAR_NAME_MAX)
        return err_set(e, -EINVAL, "a name is longer than %d bytes", TAR_NAME_MAX);
    if (s.len == 0 || memchr(s.p, '\0', s.len))
        return err_set(e, -EINVAL, "a name is empty or holds a NUL byte");
    return buf_add_str(b, s) < 0 ? err_set(e, -ENOMEM, "out of memory") : 0;
}

/* Seconds; a fraction does not count. */
static bool read_tar_seconds(struct str s, int64_t *ret)
{
    struct str whole = str_cut(&s, '.');

    return str_to_i64(whole, ret) == 0;
}

bool tar_next_attr(struct str *attrs, struct str *ret_name, struct str *ret_value)
{
    uint32_t len[2];

    if (attrs->len < sizeof len)
        return false;
    memcpy(len, attrs->p, sizeof len);
    *attrs = str_skip(*attrs, sizeof len);
    *ret_name = str_slice(*attrs, 0, len[0]);
    *ret_value = str_slice(*attrs, len[0], (size_t)len[0] + len[1]);
    *attrs = str_skip(*attrs, (size_t)len[0] + len[1]);
    return true;
}

static int keep_attr(struct tar_reader *r, struct str name, struct str value, struct err *e)
{
    const uint32_t len[2] = {(uint32_t)name.len, (uint32_t)value.len};

    (void)buf_add(&r->attrs, len, sizeof len);
    (void)buf_add_str(&r->attrs, name);
    (void)buf_add_str(&r->attrs, value);
    return buf_ok(&r->attrs) ? 0 : err_set(e, -EINVAL, "an entry has too many attributes");
}

/* What is of no use is left out, as it is by everybody who reads archives. */
static void take_tar_number(struct tar_reader *r, struct str key, struct str value)
{
    if (str_is(key, "mtime"))
        r->has_mtime = read_tar_seconds(value, &r->mtime_s);
    else if (str_is(key, "uid"))
        r->has_uid = str_to_u64(value, &r->uid) == 0;
    else if (str_is(key, "gid"))
        r->has_gid = str_to_u64(value, &r->gid) == 0;
}

/* What differs between entries and has to be understood. */
static int take_own(struct tar_reader *r, struct str key, struct str value, struct err *e)
{
    if (r->extra_type == 'g')
        return err_set(e, -EINVAL, "a header for all entries sets what differs between them");
    if (!str_is(key, "size"))
        return set_name(str_is(key, "path") ? &r->name : &r->link, value, e);
    r->has_size = str_to_u64(value, &r->size) == 0 && r->size <= INT64_MAX;
    return r->has_size ? 0 : err_set(e, -EINVAL, "a size is malformed");
}

static int take_tar_record(struct tar_reader *r, struct str key, struct str value, struct err *e)
{
    const struct str attr = STR("SCHILY.xattr.");

    if (str_starts(key, STR("GNU.sparse.")) || str_is(key, "SCHILY.realsize"))
        return err_set(e, -EINVAL, "sparse files are not supported");
    if (str_is(key, "path") || str_is(key, "linkpath") || str_is(key, "size"))
        return take_own(r, key, value, e);
    if (r->extra_type == 'g')
        return 0;
    if (str_starts(key, attr))
        return keep_attr(r, str_skip(key, attr.len), value, e);
    take_tar_number(r, key, value);
    return 0;
}

/* "LENGTH KEY=VALUE\n", the length that of the whole. */
static int read_records(struct tar_reader *r, struct str s, struct err *e)
{
    while (s.len > 0) {
        struct str rest = s, digits = str_cut(&rest, ' ');
        uint64_t len = 0;
        if (!rest.p || str_to_u64(digits, &len) < 0 || len > s.len || len < digits.len + 3 ||
            s.p[len - 1] != '\n')
            return err_set(e, -EINVAL, "an extended header is malformed");
        struct str value = str_slice(s, digits.len + 1, len - 1), key = str_cut(&value, '=');
        if (!value.p)
            return err_set(e, -EINVAL, "an extended header is malformed");
        int c = take_tar_record(r, key, value, e);
        if (c < 0)
            return c;
        s = str_skip(s, len);
    }
    return 0;
}

static int take_extra(struct tar_reader *r, struct err *e)
{
    struct str s = buf_str(&r->extra);

    if (!buf_ok(&r->extra))
        return err_set(e, -ENOMEM, "out of memory");
    if (r->extra_type == 'L' || r->extra_type == 'K')
        return set_name(r->extra_type == 'L' ? &r->name : &r->link, field(s.p, s.len), e);
    return read_records(r, s, e);
}

/* ---- headers ---- */

static void begin_data(struct tar_reader *r, enum state state, uint64_t size)
{
    r->left = size;
    r->padding = (unsigned)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
    r->state = state;
}

static int begin_extra(struct tar_reader *r, char type, int64_t size, struct err *e)
{
    if (size > TAR_EXTRA_MAX)
        return err_set(e, -EINVAL, "an extended header is larger than %d bytes", TAR_EXTRA_MAX);
    r->extra_type = type;
    buf_clear(&r->extra);
    begin_data(r, EXTRA, (uint64_t)size);
    return 0;
}

static const char *refused(char type)
{
    switch (type) {
    case '3':
    case '4': return "devices are not allowed";
    case '6': return "named pipes are not allowed";
    case 'S': return "sparse files are not supported";
    default: return "an entry is of an unknown kind";
    }
}

/* What the header and those before it say of an entry; the names are in r->name and r->link. */
static int fill_entry(struct tar_reader *r, struct tar_entry *t, struct err *e)
{
    const char *b = r->block;
    struct str prefix = field(b + PREFIX, PREFIX_LEN), name = field(b + NAME, NAME_LEN);
    bool has_prefix = memcmp(b + MAGIC, "ustar\0", 6) == 0 && prefix.len > 0;
    char joined[NAME_LEN + PREFIX_LEN + 1];
    int c = 0;

    if (r->name.len == 0 && has_prefix) {
        memcpy(joined, prefix.p, prefix.len);
        joined[prefix.len] = '/';
        memcpy(joined + prefix.len + 1, name.p, name.len);
        c = set_name(&r->name, str_n(joined, prefix.len + 1 + name.len), e);
    } else if (r->name.len == 0) {
        c = set_name(&r->name, name, e);
    }
    bool is_link = t->type == TAR_HARD_LINK || t->type == TAR_SYMLINK;
    if (c == 0 && is_link && r->link.len == 0)
        c = set_name(&r->link, field(b + LINK, NAME_LEN), e);
    if (c < 0)
        return c;
    if (!buf_cstr(&r->name) || !buf_cstr(&r->link))
        return err_set(e, -ENOMEM, "out of memory");
    t->name = buf_str(&r->name);
    t->link = is_link ? buf_str(&r->link) : STR("");
    return 0;
}

/* Before POSIX, a directory was a file with a slash at its end. */
static bool is_old_directory(const struct tar_entry *t)
{
    return t->type == TAR_FILE && t->name.len > 0 && t->name.p[t->name.len - 1] == '/';
}

/* The numbers of a header, or of the extended one before it. */
static int fill_numbers(const struct tar_reader *r, struct tar_entry *t)
{
    int64_t mode = 0, mtime = 0, uid = 0, gid = 0;

    if (read_tar_number(r->block + MODE, SHORT_LEN, &mode) < 0 ||
        read_tar_number(r->block + MTIME, NUMBER_LEN, &mtime) < 0)
        return -EINVAL;
    /* Nobody has asked for owners before: one that cannot be read is nobody's. */
    if (read_tar_number(r->block + UID, SHORT_LEN, &uid) < 0)
        uid = 0;
    if (read_tar_number(r->block + GID, SHORT_LEN, &gid) < 0)
        gid = 0;
    t->mode = (unsigned)mode & 07777;
    t->mtime_s = r->has_mtime ? r->mtime_s : mtime;
    t->uid = r->has_uid ? r->uid : (uint64_t)uid;
    t->gid = r->has_gid ? r->gid : (uint64_t)gid;
    return 0;
}

static bool is_tar_special(char type)
{
    return type == '3' || type == '4' || type == '6';
}

static int begin_entry(struct tar_reader *r, char type, int64_t size, struct err *e)
{
    struct tar_entry t = {.type = TAR_FILE};

    if (type == '1' || type == '2' || type == '5' || (r->takes_all && is_tar_special(type)))
        t.type = (enum tar_type)type;
    else if (type != '0' && type != '\0' && type != '7')
        return err_set(e, -EINVAL, "%s", refused(type));
    if (fill_numbers(r, &t) < 0)
        return err_set(e, -EINVAL, "a header is malformed");
    int c = fill_entry(r, &t, e);
    if (c < 0)
        return c;
    if (is_old_directory(&t))
        t.type = TAR_DIRECTORY;
    r->is_file = t.type == TAR_FILE;
    t.attrs = buf_str(&r->attrs);
    uint64_t n = r->has_size ? r->size : (uint64_t)size;
    t.size = r->is_file ? n : 0;
    /* Links and directories may carry a size, though no data follow. */
    begin_data(r, DATA, t.size);
    c = r->sink->entry(r->ctx, &t, e);
    buf_clear(&r->name);
    buf_clear(&r->link);
    buf_clear(&r->attrs);
    r->has_size = r->has_mtime = r->has_uid = r->has_gid = false;
    return c;
}

static int take_tar_header(struct tar_reader *r, struct err *e)
{
    static const char zeros[TAR_BLOCK];
    char type = r->block[TYPE];
    int64_t size = 0;

    r->n_block = 0;
    if (memcmp(r->block, zeros, TAR_BLOCK) == 0) {
        r->state = OVER;
        return 0;
    }
    if (!has_good_sum(r->block))
        return err_set(e, -EINVAL, "not a tar archive, or damaged");
    if (read_tar_number(r->block + SIZE, NUMBER_LEN, &size) < 0 || size < 0)
        return err_set(e, -EINVAL, "a size is malformed");
    if (type != '\0' && strchr("xgLK", type))
        return begin_extra(r, type, size, e);
    return begin_entry(r, type, size, e);
}

/* ---- bytes ---- */

/* An end of data was reached, perhaps at once. */
static int end_tar_data(struct tar_reader *r, struct err *e)
{
    bool was_extra = r->state == EXTRA;

    r->state = r->padding > 0 ? PADDING : HEADER;
    if (was_extra)
        return take_extra(r, e);
    return r->is_file ? r->sink->end(r->ctx, e) : 0;
}

static int take_tar_data(struct tar_reader *r, const char *p, size_t len, struct err *e)
{
    if (r->state == EXTRA)
        return buf_add(&r->extra, p, len) < 0 ? err_set(e, -ENOMEM, "out of memory") : 0;
    return r->sink->data(r->ctx, p, len, e);
}

/* Takes some of the bytes; how many, or -errno. */
static ssize_t take_tar_step(struct tar_reader *r, const char *p, size_t len, struct err *e)
{
    size_t n = len;
    int c = 0;

    switch (r->state) {
    case HEADER:
        if (n > TAR_BLOCK - r->n_block)
            n = TAR_BLOCK - r->n_block;
        memcpy(r->block + r->n_block, p, n);
        r->n_block += n;
        if (r->n_block == TAR_BLOCK)
            c = take_tar_header(r, e);
        break;
    case EXTRA:
    case DATA:
        if (n > r->left)
            n = (size_t)r->left;
        c = n > 0 ? take_tar_data(r, p, n, e) : 0;
        r->left -= n;
        break;
    case PADDING:
        if (n > r->padding)
            n = r->padding;
        r->padding -= (unsigned)n;
        if (r->padding == 0)
            r->state = HEADER;
        break;
    case OVER: break;
    }
    return c < 0 ? c : (ssize_t)n;
}

int tar_reader_feed(struct tar_reader *r, const void *p, size_t len, struct err *e)
{
    const char *at = p;

    for (;;) {
        /* What has no data ends without waiting for more bytes. */
        while ((r->state == DATA || r->state == EXTRA) && r->left == 0) {
            int c = end_tar_data(r, e);
            if (c < 0)
                return c;
        }
        if (len == 0)
            return 0;
        ssize_t n = take_tar_step(r, at, len, e);
        if (n < 0)
            return (int)n;
        at += n;
        len -= (size_t)n;
    }
}

int tar_reader_finish(struct tar_reader *r, struct err *e)
{
    bool is_whole = r->state == OVER || (r->state == HEADER && r->n_block == 0);

    if (is_whole && r->name.len == 0 && r->link.len == 0 && !r->has_size)
        return 0;
    return err_set(e, -EINVAL, "the archive is cut off");
}
