/* SPDX-License-Identifier: MIT */
/* What an account's journal says. A line is a letter and words:
 *
 *     P password                     K bit keyword
 *     F id validity name             R id name          X id           U id 0|1
 *     N id next                      the next UID
 *     A folder uid file size date flags                 S folder uid flags
 *     D folder uid
 *
 * Words are percent-encoded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "local/mail/store_internal.h"
#include "sys/io.h"

enum { WORDS = 6, JOURNAL_MAX = 64 << 20, LINE_MAX_BYTES = 4096, SLACK = 1000 };

static const char *account_path_of(const struct mail_account *a, const char *name, char out[4096])
{
    (void)snprintf(out, 4096, "%s/%s", a->dir, name);
    return out;
}

/* ---- reading ---- */

struct journal_line {
    struct mail_account *a;
    struct arena *arena;
    struct str words[WORDS];
};

static uint32_t journal_number(const struct journal_line *l, size_t i)
{
    uint64_t n;

    return str_to_u64(l->words[i], &n) == 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static struct str journal_text(const struct journal_line *l, size_t i)
{
    auto_buf struct buf b = BUF_INIT(LINE_MAX_BYTES);

    return enc_unpercent(&b, l->words[i], false) == 0 ? arena_str(l->arena, buf_str(&b)) : STR("");
}

static struct folder *folder_at(const struct journal_line *l, size_t i)
{
    return store_folder(l->a, journal_number(l, i));
}

static int on_password(const struct journal_line *l)
{
    return store_set_text(&l->a->password, journal_text(l, 0));
}

static int on_keyword(const struct journal_line *l)
{
    uint32_t bit = journal_number(l, 0);

    return bit < MAIL_KEYWORDS_MAX ? store_set_text(&l->a->keywords[bit], journal_text(l, 1)) : 0;
}

static int on_folder(const struct journal_line *l)
{
    return store_add_folder(l->a, journal_text(l, 2), journal_number(l, 0), journal_number(l, 1))
               ? 0
               : -ENOMEM;
}

static int on_rename(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);

    return f ? store_name_folder(f, journal_text(l, 1)) : 0;
}

static int replay_gone(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);

    if (f)
        store_drop_folder(l->a, f);
    return 0;
}

static int on_subscribe(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);

    if (f)
        f->info.is_subscribed = journal_number(l, 1) != 0;
    return 0;
}

static int on_journal_next(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);

    if (f && journal_number(l, 1) > f->info.uid_next)
        f->info.uid_next = journal_number(l, 1);
    return 0;
}

static int replay_message(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);
    struct mail_message m = {.uid = journal_number(l, 1),
                             .file = journal_number(l, 2),
                             .size = journal_number(l, 3),
                             .flags = journal_number(l, 5)};

    (void)str_to_i64(l->words[4], &m.date_s);
    if (m.file > l->a->last_file)
        l->a->last_file = m.file;
    return f && m.uid >= f->info.uid_next ? store_put(l->a, f, &m) : 0;
}

static int on_flags(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);
    struct mail_message *m = f ? store_message(f, journal_number(l, 1)) : NULL;

    if (m)
        store_flag(l->a, f, m, journal_number(l, 2));
    return 0;
}

static int replay_removed(const struct journal_line *l)
{
    struct folder *f = folder_at(l, 0);
    struct mail_message *m = f ? store_message(f, journal_number(l, 1)) : NULL;

    if (m)
        store_take(l->a, f, m);
    return 0;
}

static const struct {
    char letter;
    int (*fn)(const struct journal_line *l);
} kinds[] = {{'P', on_password},     {'K', on_keyword},     {'F', on_folder},
             {'R', on_rename},       {'X', replay_gone},    {'U', on_subscribe},
             {'N', on_journal_next}, {'A', replay_message}, {'S', on_flags},
             {'D', replay_removed}};

static int replay_line(struct journal_line *l, struct str text)
{
    struct str kind = str_cut(&text, ' ');

    for (size_t i = 0; i < WORDS; i++)
        l->words[i] = text.p ? str_cut(&text, ' ') : STR("");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kind.len == 1 && kind.p[0] == kinds[i].letter)
            return kinds[i].fn(l);
    }
    return 0;
}

int journal_load(struct mail_account *a)
{
    auto_buf struct buf b = BUF_INIT(JOURNAL_MAX);
    struct arena arena auto_arena = {0};
    struct err e = ERR_INIT;
    char path[4096];
    struct journal_line l = {.a = a, .arena = &arena};

    arena_init(&arena, 1 << 20);
    int r = io_read_file(account_path_of(a, "journal", path), &b, &e);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    struct str all = buf_str(&b);
    while (r == 0 && str_chr(all, '\n') >= 0) {
        r = replay_line(&l, str_cut(&all, '\n'));
        arena_reset(&arena);
        a->n_lines++;
    }
    /* A line without its end was being written. */
    if (r == 0 && all.len > 0 && truncate(path, (off_t)(b.len - all.len)) < 0)
        r = -errno;
    return r;
}

/* ---- writing ---- */

const char *journal_word(struct arena *arena, struct str name)
{
    auto_buf struct buf b = BUF_INIT(LINE_MAX_BYTES);

    (void)enc_percent(&b, name);
    const char *word = buf_ok(&b) ? arena_str(arena, buf_str(&b)).p : NULL;
    return word ? word : "";
}

static size_t n_needed(const struct mail_account *a)
{
    size_t n = 1 + MAIL_KEYWORDS_MAX;

    for (size_t i = 0; i < a->n_folders; i++)
        n += 3 + a->folders[i]->n;
    return n;
}

static void write_journal_folder(struct buf *b, const struct folder *f, struct arena *arena)
{
    uint32_t id = f->info.id;

    (void)buf_printf(b, "F %u %u %s\nU %u %d\n", id, f->info.uid_validity,
                     journal_word(arena, f->info.name), id, f->info.is_subscribed);
    for (size_t i = 0; i < f->n; i++) {
        const struct mail_message *m = &f->messages[i];
        (void)buf_printf(b, "A %u %u %u %u %" PRId64 " %u\n", id, m->uid, m->file, m->size,
                         m->date_s, m->flags);
    }
    (void)buf_printf(b, "N %u %u\n", id, f->info.uid_next);
}

/* The state as a journal of its own. */
static int rewrite_journal(struct mail_account *a)
{
    auto_buf struct buf b = BUF_INIT(JOURNAL_MAX);
    struct arena arena auto_arena = {0};
    struct err e = ERR_INIT;
    char path[4096];

    arena_init(&arena, 8 << 20);
    if (a->password)
        (void)buf_printf(&b, "P %s\n", journal_word(&arena, str_of(a->password)));
    for (unsigned i = 0; i < MAIL_KEYWORDS_MAX; i++) {
        if (a->keywords[i])
            (void)buf_printf(&b, "K %u %s\n", i, journal_word(&arena, str_of(a->keywords[i])));
    }
    for (size_t i = 0; i < a->n_folders; i++)
        write_journal_folder(&b, a->folders[i], &arena);
    int r = buf_ok(&b) ? io_write_file(account_path_of(a, "journal", path), buf_str(&b), 0600, &e)
                       : -EFBIG;
    if (r == 0)
        a->n_lines = n_needed(a);
    return r;
}

int journal_add(struct mail_account *a, const char *fmt, ...)
{
    auto_buf struct buf b = BUF_INIT(LINE_MAX_BYTES);
    char path[4096];
    va_list ap;

    va_start(ap, fmt);
    (void)buf_vprintf(&b, fmt, ap);
    va_end(ap);
    (void)buf_add_char(&b, '\n');
    if (!buf_ok(&b))
        return -ENAMETOOLONG;
    int fd auto_close =
        io_open(account_path_of(a, "journal", path), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0)
        return fd;
    int r = io_write_all(fd, b.p, b.len);
    a->n_lines++;
    /* The old one stays when the new one cannot be written. */
    if (r == 0 && a->n_lines > 4 * n_needed(a) + SLACK)
        (void)rewrite_journal(a);
    return r;
}
