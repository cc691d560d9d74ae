/* SPDX-License-Identifier: MIT */
#include "core/instance_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/instance_backup.h"
#include "core/instance_internal.h"
#include "sys/io.h"

static void calls_flush(struct instance *in);

enum {
    FILE_CALLS = INSTANCE_MAX_CALLS / 2,
    FILE_MAX = 8 << 20,     /* bytes of a file; it may pass that by one flush */
    PENDING_MAX = 64 << 10, /* bytes that wait */
    LINE_MAX_BYTES = 256 << 10,
    ANSWER_MAX = 24 << 20
};

struct instance_calls {
    struct buf pending;
    int64_t n;        /* calls so far */
    unsigned in_file; /* lines in the present file, and its bytes */
    size_t size;
};

static void put_call_path(const struct instance *in, const char *suffix, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/calls/%s%s", in->set->dir, in->id, suffix);
}

/* ---- reading ---- */

/* Calls FN for every whole line of the file; FN says whether to go on. */
static int each_line(const char *path, bool (*fn)(void *ctx, struct str line), void *ctx,
                     size_t *ret_size)
{
    auto_buf struct buf text = BUF_INIT(2 * (size_t)FILE_MAX + LINE_MAX_BYTES);
    int r = io_read_file(path, &text, NULL);
    struct str rest = buf_str(&text);
    ptrdiff_t end;

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (ret_size)
        *ret_size = text.len;
    while ((end = str_chr(rest, '\n')) >= 0 && fn(ctx, str_slice(rest, 0, (size_t)end)))
        rest = str_skip(rest, (size_t)end + 1);
    return 0;
}

/* The number of a line; 0 when it is none of ours. */
static int64_t call_number_of(struct str line)
{
    static const struct str head = STR_INIT("{\"n\":");
    int64_t n = 0;

    if (!str_starts(line, head) || !str_ends(line, STR("}")))
        return 0;
    struct str rest = str_skip(line, head.len);
    return str_to_i64(str_cut(&rest, ','), &n) == 0 ? n : 0;
}

static bool count_line(void *ctx, struct str line)
{
    struct instance_calls *c = ctx;
    int64_t n = call_number_of(line);

    c->in_file++;
    c->n = n > c->n ? n : c->n;
    return true;
}

/* False after a kill in the middle of a line. */
static bool ends_a_line(const char *path)
{
    auto_close int fd = io_open(path, O_RDONLY, 0);
    char last = 0;

    return fd >= 0 && lseek(fd, -1, SEEK_END) >= 0 && io_read(fd, &last, 1) == 1 && last == '\n';
}

/* With what a service before this one wrote down. */
static struct instance_calls *calls_of(struct instance *in)
{
    struct instance_own *own = in->own;
    char path[PATH_MAX];

    if (own->calls)
        return own->calls;
    own->calls = mem_zalloc(1, sizeof *own->calls);
    if (!own->calls)
        return NULL;
    buf_init(&own->calls->pending, PENDING_MAX + LINE_MAX_BYTES);
    put_call_path(in, ".jsonl", path);
    if (access(path, F_OK) == 0)
        (void)each_line(path, count_line, own->calls, &own->calls->size);
    if (own->calls->size > 0 && !ends_a_line(path))
        (void)buf_add_char(&own->calls->pending, '\n');
    return own->calls;
}

struct call_page {
    const struct instance_op *op;
    struct jw *w;
    int64_t n;
};

static bool put_call_line(void *ctx, struct str line)
{
    struct call_page *p = ctx;

    if (call_number_of(line) <= p->op->after)
        return true;
    if (p->n >= p->op->limit || !buf_ok(p->w->out))
        return false;
    jw_raw(p->w, line);
    p->n++;
    return true;
}

int calls_read(struct instance *in, struct instance_op *op, struct err *e)
{
    static const char *const suffixes[] = {".old", ".jsonl"};
    auto_buf struct buf text = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&text);
    struct call_page p = {op, &w, 0};
    char path[PATH_MAX];
    int r = 0;

    calls_flush(in);
    jw_array(&w);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(suffixes); i++) {
        put_call_path(in, suffixes[i], path);
        r = each_line(path, put_call_line, &p, NULL);
    }
    jw_end(&w);
    if (r < 0)
        return err_sys(e, r, "read the calls");
    op->text = buf_ok(&text) ? arena_str(op->arena, buf_str(&text)) : STR_NULL;
    return op->text.p ? 0 : err_set(e, -E2BIG, "the calls are too large: request fewer");
}

/* ---- writing ---- */

static int append_calls(const char *path, struct str text)
{
    auto_close int fd = io_open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);

    return fd < 0 ? fd : io_write_all(fd, text.p, text.len);
}

static void make_call_room(struct instance *in, struct instance_calls *c)
{
    char path[PATH_MAX], old[PATH_MAX];

    if (c->in_file < FILE_CALLS && c->size < FILE_MAX)
        return;
    put_call_path(in, ".jsonl", path);
    put_call_path(in, ".old", old);
    if (rename(path, old) == 0)
        c->in_file = 0;
    c->size = 0;
}

static void calls_flush(struct instance *in)
{
    struct instance_calls *c = in->own->calls;
    char path[PATH_MAX];

    if (!c || c->pending.len == 0)
        return;
    put_call_path(in, ".jsonl", path);
    /* What cannot be written is lost: the call itself is done. */
    if (append_calls(path, buf_str(&c->pending)) == 0)
        c->size += c->pending.len;
    buf_clear(&c->pending);
    make_call_room(in, c);
}

/* An idle instance keeps no memory for it. */
void calls_flush_all(struct instances *set)
{
    list_each(node, &set->unwritten)
    {
        struct instance_own *own = list_entry(node, struct instance_own, unwritten);
        if (own->is_busy)
            continue;
        calls_flush(own->in);
        buf_done(&own->calls->pending);
        list_del(node);
    }
}

/* TEXT up to the maximum, not cut within a character. */
static struct str cut_long_text(struct str text, bool *is_cut)
{
    size_t n = INSTANCE_CALL_TEXT_MAX;

    if (text.len <= n)
        return text;
    while (n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
        n--;
    *is_cut = true;
    return str_n(text.p, n);
}

static void put_arguments(struct jw *w, const struct json *args, bool *is_cut)
{
    auto_buf struct buf text = BUF_INIT(INSTANCE_CALL_TEXT_MAX);

    jw_key(w, "arguments");
    if (json_write(&text, args, JSON_COMPACT) == 0) {
        jw_raw(w, buf_str(&text));
    } else {
        *is_cut = true;
        jw_null(w);
    }
}

static void put_call(struct buf *out, const struct instance_op *op, int64_t n)
{
    char at[CLOCK_RFC3339_MAX];
    struct jw w = jw_to(out);
    bool is_cut = false;

    clock_rfc3339_us(at, clock_real_us());
    jw_object(&w);
    jw_key(&w, "n");
    jw_int(&w, n);
    jw_key(&w, "at");
    jw_cstr(&w, at);
    jw_key(&w, "tool");
    jw_str(&w, op->name);
    put_arguments(&w, op->args, &is_cut);
    jw_key(&w, "result");
    jw_str(&w, cut_long_text(op->answer.text, &is_cut));
    jw_key(&w, "is_error");
    jw_bool(&w, op->answer.is_failure);
    jw_key(&w, "us");
    jw_int(&w, clock_mono_us() - op->begun_us);
    if (is_cut) {
        jw_key(&w, "is_cut");
        jw_bool(&w, true);
    }
    jw_end(&w);
    (void)buf_add_char(out, '\n');
}

void calls_record(struct instance *in, const struct instance_op *op)
{
    struct instance_calls *c = calls_of(in);
    const struct app_tool *tool = app_tool(instance_app(in), op->name);

    if (!c)
        return;
    put_call(&c->pending, op, ++c->n);
    c->in_file++;
    list_del(&in->own->unwritten);
    list_append(&in->set->unwritten, &in->own->unwritten);
    if (!buf_ok(&c->pending))
        buf_clear(&c->pending);
    else if (c->pending.len > PENDING_MAX || (tool && !tool->is_read_only))
        calls_flush(in);
}

int calls_save(struct instance *in, struct err *e)
{
    static const char *const suffixes[] = {".old", ".jsonl"};
    char dir[PATH_MAX], from[PATH_MAX], to[PATH_MAX];

    calls_flush(in);
    (void)snprintf(dir, sizeof dir, "%s/" INSTANCES_SAVED "/calls", in->set->dir);
    int r = io_mkdirs(dir, 0700, e);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(suffixes); i++) {
        auto_buf struct buf text = BUF_INIT(2 * (size_t)FILE_MAX + LINE_MAX_BYTES);
        put_call_path(in, suffixes[i], from);
        if (snprintf(to, sizeof to, "%s/%s%s", dir, in->id, suffixes[i]) >= (int)sizeof to)
            return err_sys(e, -ENAMETOOLONG, "calls");
        r = io_read_file(from, &text, NULL);
        if (r == 0)
            r = append_calls(to, buf_str(&text));
        r = r == -ENOENT ? 0 : r;
    }
    return r < 0 && !(e && e->code) ? err_sys(e, r, "save the calls") : r;
}

void calls_drop(struct instance *in)
{
    struct instance_calls *c = in->own->calls;
    char path[PATH_MAX];

    put_call_path(in, ".jsonl", path);
    (void)unlink(path);
    put_call_path(in, ".old", path);
    (void)unlink(path);
    if (c)
        buf_clear(&c->pending);
    calls_free(in);
}

void calls_free(struct instance *in)
{
    struct instance_calls *c = in->own->calls;

    if (!c)
        return;
    calls_flush(in);
    list_del(&in->own->unwritten);
    buf_done(&c->pending);
    free(take(in->own->calls));
}
