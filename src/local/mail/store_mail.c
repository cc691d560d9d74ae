/* SPDX-License-Identifier: MIT */
/* Folders and messages. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "local/mail/store_internal.h"
#include "sys/io.h"

/* ---- with the lock held ---- */

int store_set_text(char **field, struct str value)
{
    char *copy = mem_strndup(value.p ? value.p : "", value.len);

    if (!copy)
        return -ENOMEM;
    free(*field);
    *field = copy;
    return 0;
}

void store_changed(struct mail_store *s, struct folder *f)
{
    const uint64_t one = 1;

    s->change++;
    if (f)
        f->info.change = s->change;
    list_each(node, &s->watches)(void)
        io_write(list_entry(node, struct mail_watch, node)->fd, &one, sizeof one);
}

uint32_t store_validity(const struct mail_account *a)
{
    uint32_t now = (uint32_t)(clock_real_us() / 1000000);

    return now > a->last_validity ? now : a->last_validity + 1;
}

struct folder *store_folder(struct mail_account *a, uint32_t id)
{
    for (size_t i = 0; i < a->n_folders; i++) {
        if (a->folders[i]->info.id == id)
            return a->folders[i];
    }
    return NULL;
}

int store_name_folder(struct folder *f, struct str name)
{
    char *copy = (char *)(uintptr_t)f->info.name.p;
    int r = store_set_text(&copy, name);

    if (r == 0)
        f->info.name = str_n(copy, name.len);
    return r;
}

struct folder *store_add_folder(struct mail_account *a, struct str name, uint32_t id,
                                uint32_t validity)
{
    if (a->n_folders == a->cap_folders) {
        size_t cap = a->cap_folders ? 2 * a->cap_folders : 8;
        struct folder **grown = mem_realloc(a->folders, cap * sizeof *grown);
        if (!grown)
            return NULL;
        a->folders = grown;
        a->cap_folders = cap;
    }
    struct folder *f = mem_zalloc(1, sizeof *f);
    if (!f || store_name_folder(f, name) < 0) {
        free(f);
        return NULL;
    }
    f->info.id = id;
    f->info.uid_validity = validity;
    f->info.uid_next = f->info.recent_from = 1;
    f->info.is_subscribed = true;
    if (id > a->last_folder)
        a->last_folder = id;
    if (validity > a->last_validity)
        a->last_validity = validity;
    a->folders[a->n_folders++] = f;
    return f;
}

static const char *file_path(const struct mail_account *a, uint32_t file, char out[4096])
{
    (void)snprintf(out, 4096, "%s/m%u", a->dir, file);
    return out;
}

static void unlink_message(struct mail_account *a, const struct mail_message *m)
{
    a->store->n_messages--;
    a->store->n_bytes -= m->size;
}

/* Only memory: the files are the caller's business. */
void store_drop_folder(struct mail_account *a, struct folder *f)
{
    size_t i = 0;

    for (size_t k = 0; k < f->n; k++)
        unlink_message(a, &f->messages[k]);
    while (a->folders[i] != f)
        i++;
    for (; i + 1 < a->n_folders; i++)
        a->folders[i] = a->folders[i + 1];
    a->n_folders--;
    free(f->messages);
    free((char *)(uintptr_t)f->info.name.p);
    free(f);
}

struct mail_message *store_message(struct folder *f, uint32_t uid)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (f->messages[mid].uid < uid)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->n && f->messages[low].uid == uid ? &f->messages[low] : NULL;
}

int store_put(struct mail_account *a, struct folder *f, const struct mail_message *m)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 16;
        struct mail_message *grown = mem_realloc(f->messages, cap * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        f->messages = grown;
        f->cap = cap;
    }
    f->messages[f->n++] = *m;
    f->info.uid_next = m->uid + 1;
    a->store->n_messages++;
    a->store->n_bytes += m->size;
    store_changed(a->store, f);
    return 0;
}

void store_take(struct mail_account *a, struct folder *f, struct mail_message *m)
{
    size_t i = (size_t)(m - f->messages);

    unlink_message(a, m);
    memmove(m, m + 1, (f->n - i - 1) * sizeof *m);
    f->n--;
    store_changed(a->store, f);
}

void store_flag(struct mail_account *a, struct folder *f, struct mail_message *m, uint32_t flags)
{
    m->flags = flags;
    store_changed(a->store, f);
    m->change = f->info.change;
}

static struct folder *find_folder_named(struct mail_account *a, struct str name)
{
    for (size_t i = 0; i < a->n_folders; i++) {
        struct str have = a->folders[i]->info.name;
        if (str_eq(have, name) || (str_is(have, "INBOX") && str_iis(name, "INBOX")))
            return a->folders[i];
    }
    return NULL;
}

static void describe_folder(const struct folder *f, struct mail_folder *ret)
{
    *ret = f->info;
    ret->n = (uint32_t)f->n;
    ret->n_unseen = ret->n_recent = 0;
    for (size_t i = 0; i < f->n; i++) {
        ret->n_unseen += !(f->messages[i].flags & MAIL_SEEN);
        ret->n_recent += f->messages[i].uid >= f->info.recent_from;
    }
}

static bool is_folder_name(struct str name)
{
    if (name.len == 0 || name.len > MAIL_FOLDER_NAME_MAX || name.p[0] == '/' ||
        name.p[name.len - 1] == '/' || !str_is_utf8(name))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f)
            return false;
    }
    return str_find(name, STR("//")) < 0;
}

/* ---- folders ---- */

static void lock(struct mail_account *a)
{
    (void)pthread_mutex_lock(&a->store->lock);
}

static int unlock(struct mail_account *a, int r)
{
    (void)pthread_mutex_unlock(&a->store->lock);
    return r;
}

int mail_folder_find(struct mail_account *a, struct str name, struct mail_folder *ret)
{
    lock(a);
    struct folder *f = find_folder_named(a, name);
    if (f && ret)
        describe_folder(f, ret);
    return unlock(a, f ? 0 : -ENOENT);
}

int mail_folder_get(struct mail_account *a, uint32_t id, struct mail_folder *ret)
{
    lock(a);
    struct folder *f = store_folder(a, id);
    if (f)
        describe_folder(f, ret);
    return unlock(a, f ? 0 : -ENOENT);
}

struct mail_folder *mail_folders(struct mail_account *a, struct arena *arena, size_t *n)
{
    lock(a);
    struct mail_folder *all = arena_zalloc(arena, a->n_folders + 1, sizeof *all);
    *n = all ? a->n_folders : 0;
    for (size_t i = 0; i < *n; i++) {
        describe_folder(a->folders[i], &all[i]);
        all[i].name = arena_str(arena, all[i].name);
    }
    (void)unlock(a, 0);
    return all;
}

static int create_folder(struct mail_account *a, struct str name, uint32_t *ret_id)
{
    struct arena arena auto_arena = {0};
    uint32_t id = a->last_folder + 1, validity = store_validity(a);

    if (!is_folder_name(name))
        return -EINVAL;
    if (find_folder_named(a, name))
        return -EEXIST;
    if (a->n_folders >= MAIL_FOLDERS_MAX)
        return -ENOSPC;
    arena_init(&arena, 1 << 16);
    int r = journal_add(a, "F %u %u %s\nU %u 1", id, validity, journal_word(&arena, name), id);
    if (r == 0 && !store_add_folder(a, name, id, validity))
        r = -ENOMEM;
    if (r == 0 && ret_id)
        *ret_id = id;
    return r;
}

int mail_folder_create(struct mail_account *a, struct str name, uint32_t *ret_id)
{
    lock(a);
    return unlock(a, create_folder(a, name, ret_id));
}

int mail_folder_delete(struct mail_account *a, struct str name)
{
    char path[4096];

    lock(a);
    struct folder *f = find_folder_named(a, name);
    if (!f || str_is(f->info.name, "INBOX"))
        return unlock(a, f ? -EPERM : -ENOENT);
    int r = journal_add(a, "X %u", f->info.id);
    for (size_t i = 0; r == 0 && i < f->n; i++)
        (void)unlink(file_path(a, f->messages[i].file, path));
    if (r == 0)
        store_drop_folder(a, f);
    store_changed(a->store, NULL);
    return unlock(a, r);
}

/* F and what is below it. */
static int rename_tree(struct mail_account *a, struct str from, struct str to)
{
    struct arena arena auto_arena = {0};
    int r = 0;

    arena_init(&arena, 4 << 20);
    for (size_t i = 0; r == 0 && i < a->n_folders; i++) {
        struct folder *f = a->folders[i];
        struct str name = f->info.name;
        bool is_below = str_starts(name, from) && name.len > from.len && name.p[from.len] == '/';
        if (!str_eq(name, from) && !is_below)
            continue;
        struct str renamed =
            arena_printf(&arena, STR_FMT STR_FMT, STR_ARG(to), STR_ARG(str_skip(name, from.len)));
        r = is_folder_name(renamed) && !find_folder_named(a, renamed) ? 0 : -EINVAL;
        if (r == 0)
            r = journal_add(a, "R %u %s", f->info.id, journal_word(&arena, renamed));
        if (r == 0)
            r = store_name_folder(f, renamed);
    }
    return r;
}

int mail_folder_rename(struct mail_account *a, struct str from, struct str to)
{
    lock(a);
    struct folder *f = find_folder_named(a, from);
    if (!f || str_is(f->info.name, "INBOX"))
        return unlock(a, f ? -EPERM : -ENOENT);
    if (!is_folder_name(to) || find_folder_named(a, to))
        return unlock(a, is_folder_name(to) ? -EEXIST : -EINVAL);
    return unlock(a, rename_tree(a, from, to));
}

int mail_folder_subscribe(struct mail_account *a, struct str name, bool on)
{
    lock(a);
    struct folder *f = find_folder_named(a, name);
    int r = f ? journal_add(a, "U %u %d", f->info.id, on) : -ENOENT;
    if (r == 0)
        f->info.is_subscribed = on;
    return unlock(a, r);
}

void mail_folder_shown(struct mail_account *a, uint32_t id)
{
    lock(a);
    struct folder *f = store_folder(a, id);
    if (f)
        f->info.recent_from = f->info.uid_next;
    (void)unlock(a, 0);
}

/* ---- messages ---- */

struct mail_message *mail_messages(struct mail_account *a, uint32_t folder, struct arena *arena,
                                   size_t *n)
{
    lock(a);
    struct folder *f = store_folder(a, folder);
    size_t have = f ? f->n : 0;
    struct mail_message *all = arena_zalloc(arena, have + 1, sizeof *all);
    *n = all ? have : 0;
    if (*n > 0)
        memcpy(all, f->messages, *n * sizeof *all);
    (void)unlock(a, 0);
    return all;
}

static bool has_store_room(const struct mail_store *s, size_t bytes)
{
    return s->n_messages < MAIL_MESSAGES_MAX && s->n_bytes + bytes <= MAIL_BYTES_MAX;
}

/* The file is there: now it counts. */
static int enter_message(struct mail_account *a, struct folder *f, struct mail_message *m)
{
    m->uid = f->info.uid_next;
    int r = journal_add(a, "A %u %u %u %u %" PRId64 " %u", f->info.id, m->uid, m->file, m->size,
                        m->date_s, m->flags);
    return r < 0 ? r : store_put(a, f, m);
}

static int write_message_file(const char *path, struct str raw)
{
    int fd auto_close = io_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    return fd < 0 ? fd : io_write_all(fd, raw.p, raw.len);
}

int mail_add(struct mail_account *a, uint32_t folder, struct str raw, const struct mail_message *as,
             uint32_t *ret_uid)
{
    char path[4096];
    struct mail_message m = {.size = (uint32_t)raw.len, .flags = as->flags, .date_s = as->date_s};

    if (raw.len > MAIL_MESSAGE_MAX)
        return -EFBIG;
    lock(a);
    struct folder *f = store_folder(a, folder);
    int r = !f ? -ENOENT : has_store_room(a->store, raw.len) ? 0 : -ENOSPC;
    if (r == 0) {
        m.file = ++a->last_file;
        r = write_message_file(file_path(a, m.file, path), raw);
    }
    if (r == 0)
        r = enter_message(a, f, &m);
    if (r < 0 && m.file)
        (void)unlink(path);
    if (r == 0 && ret_uid)
        *ret_uid = m.uid;
    return unlock(a, r);
}

int mail_copy(struct mail_account *a, uint32_t from, uint32_t uid, uint32_t to, uint32_t *ret_uid)
{
    char path[4096], copy[4096];

    lock(a);
    struct folder *source = store_folder(a, from), *target = store_folder(a, to);
    const struct mail_message *have = source ? store_message(source, uid) : NULL;
    if (!have || !target)
        return unlock(a, -ENOENT);
    if (!has_store_room(a->store, have->size))
        return unlock(a, -ENOSPC);
    struct mail_message m = *have;
    m.file = ++a->last_file;
    m.change = 0;
    int r = link(file_path(a, have->file, path), file_path(a, m.file, copy)) < 0 ? -errno : 0;
    if (r == 0)
        r = enter_message(a, target, &m);
    if (r == 0 && ret_uid)
        *ret_uid = m.uid;
    return unlock(a, r);
}

int mail_set_flags(struct mail_account *a, uint32_t folder, uint32_t uid,
                   const uint32_t keep_set[2], struct mail_message *ret)
{
    lock(a);
    struct folder *f = store_folder(a, folder);
    struct mail_message *m = f ? store_message(f, uid) : NULL;
    uint32_t flags = m ? (m->flags & keep_set[0]) | keep_set[1] : 0;
    int r = m ? 0 : -ENOENT;
    if (m && flags != m->flags)
        r = journal_add(a, "S %u %u %u", folder, uid, flags);
    if (r == 0 && flags != m->flags)
        store_flag(a, f, m, flags);
    if (r == 0)
        *ret = *m;
    return unlock(a, r);
}

int mail_remove(struct mail_account *a, uint32_t folder, uint32_t uid)
{
    char path[4096];

    lock(a);
    struct folder *f = store_folder(a, folder);
    struct mail_message *m = f ? store_message(f, uid) : NULL;
    int r = m ? journal_add(a, "D %u %u", folder, uid) : -ENOENT;
    if (r == 0) {
        (void)unlink(file_path(a, m->file, path));
        store_take(a, f, m);
    }
    return unlock(a, r);
}

int mail_read(struct mail_account *a, uint32_t file, struct arena *arena, struct str *ret)
{
    struct stat st;
    char path[4096];
    int fd auto_close = io_open(file_path(a, file, path), O_RDONLY, 0);

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_size > MAIL_MESSAGE_MAX)
        return -EFBIG;
    size_t size = (size_t)st.st_size, n = 0;
    char *p = arena_alloc(arena, size + 1);
    while (p && n < size) {
        ssize_t got = io_read(fd, p + n, size - n);
        if (got <= 0)
            return got < 0 ? (int)got : -EIO;
        n += (size_t)got;
    }
    *ret = str_n(p, n);
    return p ? 0 : -ENOMEM;
}

/* ---- keywords ---- */

uint32_t mail_keyword(struct mail_account *a, struct str name, bool make)
{
    struct arena arena auto_arena = {0};
    uint32_t bit = 0;

    arena_init(&arena, 1 << 16);
    lock(a);
    for (unsigned i = 0; i < MAIL_KEYWORDS_MAX && !bit; i++) {
        if (a->keywords[i] && str_iis(name, a->keywords[i]))
            bit = (uint32_t)MAIL_KEYWORD << i;
        if (a->keywords[i] || bit || !make)
            continue;
        make = store_set_text(&a->keywords[i], name) == 0 &&
               journal_add(a, "K %u %s", i, journal_word(&arena, name)) == 0;
        bit = make ? (uint32_t)MAIL_KEYWORD << i : 0;
        make = false;
    }
    (void)unlock(a, 0);
    return bit;
}

struct str mail_keyword_at(struct mail_account *a, size_t k, struct arena *arena)
{
    lock(a);
    const char *name = k < MAIL_KEYWORDS_MAX ? a->keywords[k] : NULL;
    struct str s = name ? arena_str(arena, str_of(name)) : STR_NULL;
    (void)unlock(a, 0);
    return s;
}
