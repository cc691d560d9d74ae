/* SPDX-License-Identifier: MIT */
/* Kept logs: see sandbox_log.h. A file is called by the id of its sandbox; its first line holds
 * name and account, the others are lines of the log, each with its time in front. The time of the
 * file is that of the end. */
#include "core/sandbox_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/sandbox_internal.h"
#include "sys/io.h"

#define LOGS_DIR "logs"
enum { LOGS_MAX = 4096, HEAD_MAX = 512, COUNTED_MIN = 16 << 10 };

struct sandbox_log {
    struct list node; /* in the set, oldest first */
    char id[SANDBOX_ID_LEN + 1];
    char name[SANDBOX_NAME_MAX + 1];
    char account[ACCOUNT_ID_MAX + 1];
    size_t size;
    struct tally *tally; /* where it counts */
    int64_t saved_us;
    int64_t ended_us; /* 0: its sandbox is paused */
};

/* The path of a log, or of the directory when ID is NULL; false when it is too long. */
static bool log_path(const struct sandboxes *set, const char *id, char out[PATH_MAX])
{
    const char *state = set->core->config->state;

    return snprintf(out, PATH_MAX, "%s/" LOGS_DIR "%s%s", state, id ? "/" : "", id ? id : "") <
           PATH_MAX;
}

static struct sandbox_log *find_log_id(const struct sandboxes *set, const char *id)
{
    list_each(node, &set->logs)
    {
        struct sandbox_log *log = list_entry(node, struct sandbox_log, node);
        if (strcmp(log->id, id) == 0)
            return log;
    }
    return NULL;
}

/* ---- keeping ---- */

static struct tally *tally_of(const struct sandboxes *set, const char *account)
{
    struct core *core = set->core;

    return limits_tally(core->limits, accounts_account(core->accounts, str_of(account)),
                        LIMIT_ACCOUNT_LOGS);
}

/* Many small ones push out others as well as a few large ones do. */
static int64_t counted(size_t size)
{
    return size > COUNTED_MIN ? (int64_t)size : COUNTED_MIN;
}

static void drop_log(struct sandboxes *set, struct sandbox_log *log)
{
    char path[PATH_MAX];

    if (log_path(set, log->id, path))
        (void)unlink(path);
    tally_give(log->tally, counted(log->size));
    set->logs_size -= log->size;
    set->n_logs--;
    list_del(&log->node);
    free(log);
}

/* Of those that count in TALLY the oldest one that nobody can resume, else the oldest; or NULL. */
static struct sandbox_log *choose_victim(const struct sandboxes *set, const struct tally *tally)
{
    struct sandbox_log *oldest = NULL;

    list_each(node, &set->logs)
    {
        struct sandbox_log *log = list_entry(node, struct sandbox_log, node);
        if (log->tally == tally && log->ended_us)
            return log;
        if (log->tally == tally && !oldest)
            oldest = log;
    }
    return oldest;
}

/* Who has the most of all logs, or NULL when there are none. */
static const struct tally *find_largest(const struct sandboxes *set)
{
    const struct tally *most = NULL;

    list_each(node, &set->logs)
    {
        const struct tally *t = list_entry(node, struct sandbox_log, node)->tally;
        if (!most || t->n > most->n)
            most = t;
    }
    return most;
}

/* First an account has to keep to its share; then whoever has the most gives way. */
static void make_log_room(struct sandboxes *set, const struct tally *tally, size_t size)
{
    size_t max = (size_t)set->core->config->logs.max;
    struct sandbox_log *log;

    while (tally && tally->max > 0 && tally->n + counted(size) > tally->max &&
           (log = choose_victim(set, tally)))
        drop_log(set, log);
    while ((set->logs_size + size > max || set->n_logs >= LOGS_MAX) &&
           (log = choose_victim(set, find_largest(set))))
        drop_log(set, log);
}

/* Puts it where its age belongs. */
static void insert_log(struct sandboxes *set, struct sandbox_log *log)
{
    struct list *before = set->logs.prev;

    while (before != &set->logs &&
           list_entry(before, struct sandbox_log, node)->saved_us > log->saved_us)
        before = before->prev;
    list_add(before, &log->node);
    tally_add(log->tally, counted(log->size));
    set->logs_size += log->size;
    set->n_logs++;
}

static int write_log(const char *path, struct str head, struct str text)
{
    auto_close int fd = io_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int r = fd < 0 ? fd : io_write_all(fd, head.p, head.len);

    return r < 0 ? r : io_write_all(fd, text.p, text.len);
}

void sandbox_log_store(struct sandbox *sb, struct str text)
{
    struct sandboxes *set = sb->set;
    char path[PATH_MAX], head[HEAD_MAX];
    int n = snprintf(head, sizeof head, "%s %s\n", sb->name, sb->account);
    size_t size = (size_t)n + text.len;

    struct tally *tally = tally_of(set, sb->account);
    bool is_too_large =
        size > (size_t)set->core->config->logs.max || (tally->max > 0 && size > (size_t)tally->max);

    sandbox_log_forget(sb);
    if (n >= HEAD_MAX || is_too_large || !log_path(set, sb->id, path))
        return;
    make_log_room(set, tally, size);
    struct sandbox_log *log = mem_zalloc(1, sizeof *log);
    if (!log)
        return;
    if (write_log(path, str_n(head, (size_t)n), text) < 0) {
        (void)unlink(path);
        free(log);
        return;
    }
    (void)snprintf(log->id, sizeof log->id, "%s", sb->id);
    (void)snprintf(log->name, sizeof log->name, "%s", sb->name);
    (void)snprintf(log->account, sizeof log->account, "%s", sb->account);
    log->size = size;
    log->tally = tally;
    log->saved_us = clock_real_us();
    insert_log(set, log);
}

void sandbox_log_forget(struct sandbox *sb)
{
    struct sandbox_log *log = find_log_id(sb->set, sb->id);

    if (log)
        drop_log(sb->set, log);
}

void sandbox_log_end(struct sandbox *sb)
{
    struct sandbox_log *log = find_log_id(sb->set, sb->id);
    char path[PATH_MAX];

    if (!log)
        return;
    if (sb->set->core->config->logs.keep == 0) {
        drop_log(sb->set, log);
        return;
    }
    log->ended_us = clock_real_us();
    if (log_path(sb->set, log->id, path))
        (void)utimensat(AT_FDCWD, path, NULL, 0);
}

void sandboxes_sweep_logs(struct sandboxes *set)
{
    int64_t now_us = clock_real_us(), keep_us = set->core->config->logs.keep * 1000;

    list_each(node, &set->logs)
    {
        struct sandbox_log *log = list_entry(node, struct sandbox_log, node);
        if (log->ended_us && log->ended_us + keep_us < now_us)
            drop_log(set, log);
    }
}

/* ---- after a restart ---- */

static int read_head(const char *path, struct sandbox_log *log)
{
    char head[HEAD_MAX];
    struct stat st;
    auto_close int fd = io_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? fd : io_read(fd, head, sizeof head);

    if (n < 0 || fstat(fd, &st) < 0)
        return -EIO;
    struct str rest = str_n(head, (size_t)n), line = str_cut(&rest, '\n');
    struct str name = str_cut(&line, ' ');
    if (!rest.p || !line.p || name.len > SANDBOX_NAME_MAX || line.len > ACCOUNT_ID_MAX)
        return -EBADMSG;
    (void)snprintf(log->name, sizeof log->name, STR_FMT, STR_ARG(name));
    (void)snprintf(log->account, sizeof log->account, STR_FMT, STR_ARG(line));
    log->size = (size_t)st.st_size;
    log->saved_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
    return 0;
}

/* A log of a sandbox that runs is older than what the sandbox itself reports. */
static void load_log(struct sandboxes *set, const char *id)
{
    const struct sandbox *sb = map_get(&set->by_id, str_of(id));
    bool is_stale = sb && sandbox_state(sb) == SANDBOX_RUNNING;
    struct sandbox_log *log = mem_zalloc(1, sizeof *log);
    char path[PATH_MAX];

    if (!log || !log_path(set, id, path)) {
        free(log);
        return;
    }
    (void)snprintf(log->id, sizeof log->id, "%s", id);
    if (is_stale || read_head(path, log) < 0 || set->n_logs >= LOGS_MAX) {
        (void)unlink(path);
        free(log);
        return;
    }
    log->ended_us = sb ? 0 : log->saved_us;
    log->tally = tally_of(set, log->account);
    insert_log(set, log);
}

static void close_dir(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

void sandboxes_open_logs(struct sandboxes *set)
{
    char path[PATH_MAX];

    /* Without a directory nothing can be kept; everything else works. */
    if (!log_path(set, NULL, path) || (mkdir(path, 0700) < 0 && errno != EEXIST))
        return;
    __attribute__((cleanup(close_dir))) DIR *d = opendir(path);
    for (const struct dirent *entry; d && (entry = readdir(d));)
        if (strspn(entry->d_name, "0123456789abcdef") == SANDBOX_ID_LEN &&
            strlen(entry->d_name) == SANDBOX_ID_LEN)
            load_log(set, entry->d_name);
    make_log_room(set, NULL, 0);
    sandboxes_sweep_logs(set);
}

void sandboxes_close_logs(struct sandboxes *set)
{
    for (struct list *node; (node = list_pop(&set->logs));)
        free(list_entry(node, struct sandbox_log, node));
}

/* ---- reading ---- */

static bool is_visible(const struct sandbox_log *log, const struct account_key *key)
{
    return key &&
           (key->account->role == ACCOUNT_SYSTEM || strcmp(log->account, key->account->id) == 0);
}

const struct sandbox_log *sandbox_log_find(const struct sandboxes *set, struct str name,
                                           const struct account_key *key)
{
    for (const struct list *node = set->logs.prev; node != &set->logs; node = node->prev) {
        const struct sandbox_log *log = list_entry(node, const struct sandbox_log, node);
        if ((str_is(name, log->name) || str_is(name, log->id)) && is_visible(log, key))
            return log;
    }
    return NULL;
}

const char *sandbox_log_name(const struct sandbox_log *log)
{
    return log->name;
}

/* Where the last N lines begin. */
static struct str last_lines(struct str text, int64_t n)
{
    size_t at = text.len;

    /* The end of the last line begins none. */
    if (at > 0 && text.p[at - 1] == '\n')
        at--;
    while (at > 0 && (text.p[at - 1] != '\n' || --n > 0))
        at--;
    return str_skip(text, at);
}

static bool is_younger(struct str time, struct str since)
{
    struct str stem = str_ends(time, STR("Z")) ? str_slice(time, 0, time.len - 1) : time;

    /* Both are written alike, so that their order is that of their letters. */
    return str_cmp(stem, since) >= 0;
}

int sandbox_log_read(const struct sandboxes *set, const struct sandbox_log *log,
                     const struct sandbox_log_view *v, struct buf *out)
{
    struct buf file auto_buf = BUF_INIT(SANDBOX_LOG_MAX + HEAD_MAX);
    char path[PATH_MAX];
    int r = log_path(set, log->id, path) ? io_read_file(path, &file, NULL) : -ENAMETOOLONG;

    if (r < 0)
        return r;
    struct str text = buf_str(&file);
    (void)str_cut(&text, '\n');
    for (text = last_lines(text, v->tail); text.p && text.len > 0;) {
        struct str line = str_cut(&text, '\n');
        struct str rest = line, time = str_cut(&rest, ' ');
        if (v->since.len > 0 && !is_younger(time, v->since))
            continue;
        (void)buf_add_str(out, v->has_times ? line : rest.p ? rest : STR(""));
        if (text.p) /* else it has no end */
            (void)buf_add_char(out, '\n');
    }
    return out->error;
}
