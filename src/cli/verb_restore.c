/* SPDX-License-Identifier: MIT */
/* tidepool restore */
#include "cli/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/backup.h"
#include "core/core.h"
#include "store/chain.h"
#include "store/store.h"
#include "sys/io.h"

enum { ARENA_MAX = 1 << 20 };

DEFINE_CLEANUP(struct store *, store_close)

/* ---- the target ---- */

/* 0 when DIR is not there or empty. */
static int check_target(const char *dir, struct err *e)
{
    const struct dirent *d;
    int r = 0;
    DIR *all = opendir(dir);

    if (!all)
        return errno == ENOENT ? 0 : err_sys(e, -errno, "'%s'", dir);
    while (r == 0 && (d = readdir(all)))
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            r = err_set(e, -ENOTEMPTY,
                        "'%s' is not empty: stop the service and move the directory away first, "
                        "or choose another one with --state",
                        dir);
    (void)closedir(all);
    return r;
}

/* ---- building beside it ---- */

static int sync_tree(const char *dir, struct err *e)
{
    auto_close int fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0 || syncfs(fd) < 0)
        return err_sys(e, fd < 0 ? fd : -errno, "write '%s'", dir);
    return 0;
}

/* The store opens, and its chain of events is whole. */
static int check_store(const char *state, struct chain_report *ret, struct err *e)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" CORE_STORE_FILE, state) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "'%s'", state);
    const struct store_opts opts = {.path = path, .is_read_only = true, .keep_events = -1};
    struct store *s auto_(store_close) = store_open(&opts, e);
    int r = s ? chain_verify(s, ret, e) : e->code;
    if (r == 0 && ret->fault != CHAIN_OK)
        r = err_set(e, -EBADMSG, "the audit chain in the backup is broken at event %lld: %s",
                    (long long)ret->seq, chain_fault_text(ret->fault));
    return r;
}

/* A reader of a database leaves files beside it, which the next one would take for a log. */
static void drop_traces(const char *state)
{
    static const char *const names[] = {CORE_STORE_FILE "-shm", CORE_STORE_FILE "-wal"};
    char path[PATH_MAX];

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (snprintf(path, sizeof path, "%s/%s", state, names[i]) < (int)sizeof path)
            (void)unlink(path);
}

struct restoring {
    const char *file;
    char target[PATH_MAX], draft[PATH_MAX], state[PATH_MAX], workspaces[PATH_MAX];
    struct backup_info info;
    struct chain_report chain;
    bool has_workspaces;
};

/* Workspaces go into the state directory, too: the service leaves them alone. */
static int place_workspaces(struct restoring *t, struct err *e)
{
    char to[PATH_MAX];

    if (access(t->workspaces, F_OK) < 0)
        return 0;
    if (snprintf(to, sizeof to, "%s/" BACKUP_WORKSPACES, t->state) >= (int)sizeof to)
        return err_sys(e, -ENAMETOOLONG, "'%s'", t->state);
    t->has_workspaces = true;
    return rename(t->workspaces, to) < 0 ? err_sys(e, -errno, "rename '%s'", to) : 0;
}

static int build_restored_state(struct restoring *t, struct arena *a, struct err *e)
{
    int r = backup_read(t->file, t->draft, a, &t->info, e);

    if (r == 0)
        r = check_store(t->state, &t->chain, e);
    if (r < 0)
        return r;
    drop_traces(t->state);
    r = place_workspaces(t, e);
    return r < 0 ? r : sync_tree(t->draft, e);
}

/* ---- all of it ---- */

static int put_in_place(const struct restoring *t, struct err *e)
{
    if (chmod(t->state, 0700) < 0 || rename(t->state, t->target) < 0) {
        if (errno == EBUSY || errno == EXDEV)
            return err_set(e, -EBUSY,
                           "'%s' is a mount point: restore into a directory below it, and use "
                           "that as the state directory",
                           t->target);
        return err_sys(e, -errno, "rename to '%s'", t->target);
    }
    (void)io_sync_parent(t->target);
    return 0;
}

static int make_draft(struct restoring *t, struct err *e)
{
    char parent[PATH_MAX];

    (void)snprintf(parent, sizeof parent, "%s", t->target);
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent)
        *slash = 0;
    int r = slash && slash != parent ? io_mkdirs(parent, 0755, e) : 0;
    if (r < 0)
        return r;
    if (snprintf(t->draft, sizeof t->draft, "%s.restore-XXXXXX", t->target) >= (int)sizeof t->draft)
        return err_sys(e, -ENAMETOOLONG, "'%s'", t->target);
    if (!mkdtemp(t->draft))
        return err_sys(e, -errno, "make '%s'", t->draft);
    (void)snprintf(t->state, sizeof t->state, "%s/" BACKUP_STATE, t->draft);
    (void)snprintf(t->workspaces, sizeof t->workspaces, "%s/" BACKUP_WORKSPACES, t->draft);
    return 0;
}

/* Read twice: nothing is written before all of it was found whole. */
static int restore_archive(struct restoring *t, struct arena *a, struct err *e)
{
    int r = check_target(t->target, e);

    if (r == 0)
        r = backup_read(t->file, NULL, a, &t->info, e);
    if (r == 0)
        r = make_draft(t, e);
    if (r < 0)
        return r;
    r = build_restored_state(t, a, e);
    if (r == 0)
        r = put_in_place(t, e);
    (void)io_remove_tree(t->draft);
    return r;
}

static void put_restore_summary(struct buf *out, const struct restoring *t)
{
    const struct json *head = t->info.head;

    (void)buf_printf(out,
                     "Restored into %s: the state of " STR_FMT " (tidepool " STR_FMT
                     "), %llu files. The audit chain of %lld events is intact.\n",
                     t->target, STR_ARG(json_str(json_get(head, "made_at"), STR("?"))),
                     STR_ARG(json_str(json_get(head, "tidepool"), STR("?"))),
                     (unsigned long long)t->info.n_files, (long long)t->chain.n_events);
    if (t->has_workspaces)
        (void)buf_printf(out, "Files of sandboxes are in %s/" BACKUP_WORKSPACES ".\n", t->target);
    (void)buf_add_lit(out, "Start the service: apps and keys work as before; the sandboxes of "
                           "that time are recorded as lost.\n");
}

static int run_backup_restore(struct cli_call *call)
{
    struct arena arena auto_arena;
    struct restoring t = {.file = call->args[0]};
    struct err e = ERR_INIT;

    arena_init(&arena, ARENA_MAX);
    size_t len = (size_t)snprintf(t.target, sizeof t.target, "%s", call->config.state);
    while (len > 1 && len < sizeof t.target && t.target[len - 1] == '/')
        t.target[--len] = 0;
    if (restore_archive(&t, &arena, &e) < 0)
        return cli_fail(call, &e);
    put_restore_summary(&call->out, &t);
    return CLI_OK;
}

const struct cli_verb verb_restore = {
    .name = "restore",
    .summary = "Restore a backup",
    .help = "Restores FILE, created by 'tidepool backup', into the state directory, which must be "
            "missing or empty; stop the service first. All digests in FILE are verified before "
            "anything is written. The directory is built next to its final place and then renamed, "
            "so either everything is restored or nothing changes.\n"
            "\n"
            "Then start the service: keys, apps, their URLs and the event log are as they were. "
            "Sandboxes that were running are recorded as lost; if the backup includes their files, "
            "these are archives in the state directory, under workspaces/.",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .settings = CLI_STATE_SETTINGS,
    .run = run_backup_restore,
};
