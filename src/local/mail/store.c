/* SPDX-License-Identifier: MIT */
/* Accounts, and the store as a whole. */
#include "local/mail/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "local/mail/store_internal.h"
#include "sys/io.h"

static const char *const first_folders[] = {"INBOX", "Drafts", "Sent", "Junk", "Trash"};

static struct str account_dir(const struct mail_store *s, struct str address, struct buf *b)
{
    (void)buf_printf(b, "%s/", s->dir);
    (void)enc_percent(b, address);
    return buf_str(b);
}

/* A file that stays is found when the store is opened again, and is then of no use only. */
static void remove_mail_files(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(dir);
}

/* ---- one account ---- */

static void free_account(struct mail_account *a)
{
    if (!a)
        return;
    while (a->n_folders > 0)
        store_drop_folder(a, a->folders[a->n_folders - 1]);
    for (size_t i = 0; i < MAIL_KEYWORDS_MAX; i++)
        free(a->keywords[i]);
    free(a->folders);
    free(a->password);
    free(a->dir);
    free(a);
}

/* Lower case; false: no address. */
static bool read_mail_address(struct str text, char out[MAIL_ADDRESS_MAX + 1])
{
    text = str_trim(text);
    if (text.len == 0 || text.len > MAIL_ADDRESS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if ((unsigned char)c <= ' ' || c == '/' || c == 0x7f)
            return false;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    out[text.len] = '\0';
    return true;
}

static struct mail_account *find_account(const struct mail_store *s, const char *address)
{
    for (size_t i = 0; i < s->n_accounts; i++) {
        if (strcmp(s->accounts[i]->address, address) == 0)
            return s->accounts[i];
    }
    return NULL;
}

static int add_first_folders(struct mail_account *a)
{
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(first_folders) && r == 0; i++) {
        uint32_t id = a->last_folder + 1, validity = store_validity(a);
        if (!store_add_folder(a, str_of(first_folders[i]), id, validity))
            r = -ENOMEM;
        else
            r = journal_add(a, "F %u %u %s\nU %u 1", id, validity, first_folders[i], id);
    }
    return r;
}

/* Brings A into memory, or makes it. */
static int open_account(struct mail_store *s, struct mail_account *a)
{
    auto_buf struct buf dir = BUF_INIT(4096);

    if (s->n_accounts == MAIL_ACCOUNTS_MAX)
        return -ENOSPC;
    (void)account_dir(s, str_of(a->address), &dir);
    a->store = s;
    a->dir = buf_ok(&dir) ? mem_strndup(dir.p, dir.len) : NULL;
    if (!a->dir)
        return -ENOMEM;
    if (mkdir(a->dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    int r = journal_load(a);
    if (r == 0 && a->n_folders == 0)
        r = add_first_folders(a);
    if (r == 0)
        s->accounts[s->n_accounts++] = a;
    return r;
}

/* One that was wiped is used again: it counts as new. */
static void revive(struct mail_store *s, struct mail_account *a)
{
    size_t i = 0;

    while (s->accounts[i] != a)
        i++;
    for (; i + 1 < s->n_accounts; i++)
        s->accounts[i] = s->accounts[i + 1];
    s->accounts[i] = a;
    a->is_gone = false;
}

static struct mail_account *get_account(struct mail_store *s, struct str text, bool create,
                                        int *why)
{
    char address[MAIL_ADDRESS_MAX + 1];

    *why = -EINVAL;
    if (!read_mail_address(text, address))
        return NULL;
    struct mail_account *a = find_account(s, address);
    bool is_there = a && !a->is_gone;
    *why = is_there ? 0 : -ENOENT;
    if (is_there || !create)
        return is_there ? a : NULL;
    if (a) {
        *why = 0;
        revive(s, a);
        return a;
    }
    a = mem_zalloc(1, sizeof *a);
    if (a)
        memcpy(a->address, address, sizeof address);
    *why = a ? open_account(s, a) : -ENOMEM;
    if (*why == 0)
        return a;
    free_account(a);
    return NULL;
}

struct mail_account *mail_account(struct mail_store *s, struct str address, bool create, int *why)
{
    (void)pthread_mutex_lock(&s->lock);
    struct mail_account *a = get_account(s, address, create, why);
    (void)pthread_mutex_unlock(&s->lock);
    return a;
}

/* The first password is recorded. */
static int check_password(struct mail_account *a, struct str password)
{
    struct arena arena auto_arena = {0};

    if (password.len > MAIL_PASSWORD_MAX)
        return -EACCES;
    if (a->password)
        return str_is(password, a->password) ? 0 : -EACCES;
    arena_init(&arena, 1 << 16);
    int r = store_set_text(&a->password, password);
    return r < 0 ? r : journal_add(a, "P %s", journal_word(&arena, password));
}

struct mail_account *mail_login(struct mail_store *s, struct str address, struct str password,
                                int *why)
{
    (void)pthread_mutex_lock(&s->lock);
    struct mail_account *a = get_account(s, address, true, why);
    if (a)
        *why = check_password(a, password);
    (void)pthread_mutex_unlock(&s->lock);
    return *why == 0 ? a : NULL;
}

struct mail_account *mail_account_at(struct mail_store *s, size_t k)
{
    (void)pthread_mutex_lock(&s->lock);
    struct mail_account *a = NULL;
    for (size_t i = 0; i < s->n_accounts && !a; i++) {
        if (!s->accounts[i]->is_gone && k-- == 0)
            a = s->accounts[i];
    }
    (void)pthread_mutex_unlock(&s->lock);
    return a;
}

struct str mail_account_address(const struct mail_account *a)
{
    return str_of(a->address);
}

/* ---- the store ---- */

static int load_all_mail(struct mail_store *s)
{
    DIR *d = opendir(s->dir);
    struct dirent *entry;
    int why;

    if (!d)
        return -errno;
    while ((entry = readdir(d))) {
        auto_buf struct buf b = BUF_INIT(1024);
        if (entry->d_name[0] == '.' || enc_unpercent(&b, str_of(entry->d_name), false) < 0)
            continue;
        /* What cannot be read is left alone. */
        (void)get_account(s, buf_str(&b), true, &why);
    }
    (void)closedir(d);
    return 0;
}

struct mail_store *mail_store_new(const char *dir, struct err *e)
{
    struct mail_store *s = mem_zalloc(1, sizeof *s);

    if (!s || !(s->dir = mem_strndup(dir, strlen(dir)))) {
        free(s);
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    (void)pthread_mutex_init(&s->lock, NULL);
    list_init(&s->watches);
    int r = io_mkdirs(dir, 0700, e);
    if (r == 0)
        r = load_all_mail(s);
    if (r == 0)
        return s;
    (void)err_ctx(e, r, "mail in '%s'", dir);
    mail_store_free(s);
    return NULL;
}

void mail_store_free(struct mail_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_accounts; i++)
        free_account(s->accounts[i]);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->dir);
    free(s);
}

/* Sessions may hold accounts: they stay, empty and as if never used. */
static int wipe(struct mail_account *a)
{
    while (a->n_folders > 0)
        store_drop_folder(a, a->folders[a->n_folders - 1]);
    free(a->password);
    a->password = NULL;
    remove_mail_files(a->dir);
    a->n_lines = 0;
    a->is_gone = true;
    if (mkdir(a->dir, 0700) < 0 && errno != EEXIST)
        return -errno;
    return add_first_folders(a);
}

int mail_store_wipe(struct mail_store *s)
{
    int r = 0;

    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_accounts && r == 0; i++)
        r = wipe(s->accounts[i]);
    store_changed(s, NULL);
    (void)pthread_mutex_unlock(&s->lock);
    return r;
}

int mail_account_wipe(struct mail_account *a)
{
    (void)pthread_mutex_lock(&a->store->lock);
    int r = wipe(a);
    a->is_gone = false;
    store_changed(a->store, NULL);
    (void)pthread_mutex_unlock(&a->store->lock);
    return r;
}

void mail_watch_start(struct mail_store *s, struct mail_watch *w)
{
    (void)pthread_mutex_lock(&s->lock);
    list_append(&s->watches, &w->node);
    (void)pthread_mutex_unlock(&s->lock);
}

void mail_watch_stop(struct mail_store *s, struct mail_watch *w)
{
    (void)pthread_mutex_lock(&s->lock);
    list_del(&w->node);
    (void)pthread_mutex_unlock(&s->lock);
}
