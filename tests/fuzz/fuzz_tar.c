/* SPDX-License-Identifier: MIT */
/* Reading tar archives: whole and in pieces must give the same entries, names never get past their
 * checks, and what is written again is read as it was. Byte 0 is the size of the pieces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/tar_read.h"
#include "base/tar_write.h"
#include "fuzz.h"
#include "local/archive/names.h"

enum { OUT_MAX = 8 << 20 };

/* What was read, as an archive again. */
struct seen {
    struct buf out;
    uint64_t size, n_data;
};

static int on_entry(void *ctx, const struct tar_entry *t, struct err *e)
{
    struct seen *s = ctx;
    char path[TREE_PATH_MAX], target[TREE_PATH_MAX];

    if (names_clean(t->name, path, e) == 0 && (path[0] == '/' || strstr(path, "//")))
        abort();
    if (t->type == TAR_SYMLINK && names_target("/data", "a/b", t->link, target) == 0 &&
        (target[0] == '/' || strncmp(target, "../../", 6) == 0))
        abort();
    if (strlen(t->name.p) != t->name.len || t->name.len == 0 || t->name.len > TAR_NAME_MAX)
        abort();
    s->size = t->size;
    s->n_data = 0;
    (void)tar_put_entry(&s->out, t);
    return 0;
}

static int on_data(void *ctx, const char *p, size_t len, struct err *e)
{
    struct seen *s = ctx;

    (void)e;
    s->n_data += len;
    (void)buf_add(&s->out, p, len);
    return 0;
}

static int on_end(void *ctx, struct err *e)
{
    struct seen *s = ctx;

    (void)e;
    if (s->n_data != s->size)
        abort();
    (void)tar_put_padding(&s->out, s->size);
    return 0;
}

static int take_all(struct str data, size_t step, struct seen *s)
{
    static const struct tar_sink sink = {.entry = on_entry, .data = on_data, .end = on_end};
    struct tar_reader *r = tar_reader_new(&sink, s);
    struct err e = ERR_INIT;
    int c = 0;

    if (!r)
        abort();
    buf_init(&s->out, OUT_MAX);
    for (; c == 0 && data.len > 0; data = str_skip(data, step)) {
        struct str part = str_slice(data, 0, step);
        c = tar_reader_feed(r, part.p, part.len, &e);
    }
    if (c == 0)
        c = tar_reader_finish(r, &e);
    if (c < 0 && !e.text[0])
        abort();
    tar_reader_free(r);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen whole = {0}, parts = {0}, again = {0};

    if (size < 1)
        return 0;
    struct str input = str_n((const char *)data + 1, size - 1);
    int r = take_all(input, size, &whole), p = take_all(input, (size_t)data[0] + 1, &parts);
    if (r != p || (r == 0 && !str_eq(buf_str(&whole.out), buf_str(&parts.out))))
        abort();
    if (r == 0 && buf_ok(&whole.out)) {
        if (take_all(buf_str(&whole.out), 1000, &again) != 0 ||
            !str_eq(buf_str(&again.out), buf_str(&whole.out)))
            abort();
    }
    buf_done(&whole.out);
    buf_done(&parts.out);
    buf_done(&again.out);
    return 0;
}
