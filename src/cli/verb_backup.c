/* SPDX-License-Identifier: MIT */
/* tidepool backup */
#include "cli/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/backup_workspaces.h"
#include "cli/client.h"
#include "cli/human.h"
#include "cli/progress.h"
#include "cli/remote.h"
#include "core/backup.h"
#include "core/backup_take.h"
#include "net/http.h"
#include "sys/io.h"

enum { ARENA_MAX = 1 << 20, PIECE_MAX = 8 << 20 };

DEFINE_CLEANUP(struct client *, client_free)

/* The file until it is whole; a signal removes it. */
static char temp[PATH_MAX];

static void on_backup_signal(int signo)
{
    if (temp[0])
        (void)unlink(temp);
    _exit(128 + signo);
}

struct backup_making {
    struct client_where where;
    bool has_workspaces, is_quiet;
    int fd;
    struct progress progress;
    struct buf left_out;
    unsigned n_sandboxes;
    struct err *e;
};

/* ---- from the service ---- */

static int on_backup_head(void *ctx, const struct http_head *head)
{
    struct backup_making *m = ctx;
    int64_t size = -1;

    (void)str_to_i64(http_header_get(&head->headers, "Tidepool-Size"), &size);
    progress_start(&m->progress, STR("backup"), size, m->is_quiet);
    return 0;
}

static int on_backup_data(void *ctx, const char *p, size_t n)
{
    struct backup_making *m = ctx;
    int r = io_write_all(m->fd, p, n);

    if (r < 0)
        return err_sys(m->e, r, "write");
    progress_add(&m->progress, n);
    return 0;
}

static int from_service(struct backup_making *m, struct client *c, struct err *e)
{
    const struct client_transfer t = {
        .method = "POST",
        .target = m->has_workspaces ? "/api/v1/backup?archives=true" : "/api/v1/backup",
        .head = on_backup_head,
        .write = on_backup_data,
        .ctx = m,
    };
    int r = client_transfer(c, &t, e);

    progress_end(&m->progress);
    if (r < 0 || !m->has_workspaces)
        return r;
    struct backup_workspaces w = {.client = c, .file = temp, .left_out = &m->left_out};
    r = backup_workspaces(&w, e);
    m->n_sandboxes = w.n_sandboxes;
    return r;
}

/* ---- from a state directory without a service ---- */

static int from_directory(struct backup_making *m, struct err *e)
{
    struct buf piece auto_buf = BUF_INIT(PIECE_MAX);
    struct backup_cold cold;
    int r = backup_take_cold(m->where.config, m->has_workspaces, &cold, e);

    if (r < 0)
        return r;
    progress_start(&m->progress, STR("backup"), (int64_t)backup_size(cold.file), m->is_quiet);
    do {
        buf_clear(&piece);
        r = backup_next(cold.file, &piece, e);
        int written = r < 0 ? 0 : on_backup_data(m, piece.p, piece.len);
        r = written < 0 ? written : r;
    } while (r > 0);
    progress_end(&m->progress);
    backup_cold_done(&cold);
    return r;
}

static int make_backup(struct backup_making *m, struct err *e)
{
    struct client *c auto_(client_free) =
        client_open(m->where.config, m->where.url, m->where.key, e);
    int r = c ? from_service(m, c, e) : e->code ? e->code : -ENOTCONN;

    if (r != -ENOTCONN || m->where.url)
        return r;
    *e = (struct err)ERR_INIT;
    return from_directory(m, e);
}

/* ---- the file ---- */

static void put_backup_summary(struct cli_call *call, const struct backup_making *m,
                               const struct backup_info *info)
{
    const struct json *left = json_get(info->head, "left_out");
    char size[HUMAN_MAX];

    human_bytes(size, info->bytes);
    (void)buf_printf(&call->out, "%s: %llu files, %s\n", call->args[0],
                     (unsigned long long)info->n_files, size);
    if (m->n_sandboxes > 0)
        (void)buf_printf(&call->out, "With the files of %u sandbox%s.\n", m->n_sandboxes,
                         m->n_sandboxes == 1 ? "" : "es");
    (void)buf_add_lit(&call->out, "Not included:\n");
    for (size_t i = 0; json_at(left, i); i++)
        (void)buf_printf(&call->out, "  " STR_FMT "\n",
                         STR_ARG(json_str(json_at(left, i), STR_NULL)));
    for (struct str rest = buf_str(&m->left_out); rest.len > 0;) {
        struct str line = str_cut(&rest, '\n');
        (void)buf_printf(&call->out, "  " STR_FMT "\n", STR_ARG(line));
    }
    (void)buf_add_lit(
        &call->out, "The backup contains keys and secrets: store it where only you can read it.\n");
}

/* All or nothing: what is there under its name was read back and is whole. */
static int make_file(struct cli_call *call, struct backup_making *m, struct err *e)
{
    const char *name = call->args[0];
    struct arena arena auto_arena;
    struct backup_info info;

    arena_init(&arena, ARENA_MAX);
    if (snprintf(temp, sizeof temp, "%s.part-XXXXXX", name) >= (int)sizeof temp)
        return err_sys(e, -ENAMETOOLONG, "'%s'", name);
    m->fd = mkostemp(temp, O_CLOEXEC);
    if (m->fd < 0) {
        int code = -errno;
        temp[0] = 0;
        return err_sys(e, code, "create '%s'", name);
    }
    int r = make_backup(m, e);
    if (r == 0 && fsync(m->fd) < 0)
        r = err_sys(e, -errno, "write '%s'", name);
    (void)close(take_fd(m->fd));
    if (r == 0)
        r = backup_read(temp, NULL, &arena, &info, e);
    if (r == 0 && rename(temp, name) < 0)
        r = err_sys(e, -errno, "rename to '%s'", name);
    if (r < 0)
        (void)unlink(temp);
    temp[0] = 0;
    if (r < 0)
        return r;
    (void)io_sync_parent(name);
    put_backup_summary(call, m, &info);
    return 0;
}

static int run_backup(struct cli_call *call)
{
    struct err e = ERR_INIT;
    struct backup_making m = {.has_workspaces = cli_is_on(call, "workspaces"),
                              .is_quiet = cli_is_on(call, "quiet"),
                              .fd = STDOUT_FILENO,
                              .e = &e};
    bool is_stdout = strcmp(call->args[0], "-") == 0;
    int r = remote_where(call, &m.where);

    if (r != CLI_OK)
        return r;
    if (is_stdout && m.has_workspaces)
        return cli_usage(call, "--workspaces requires a file");
    if (is_stdout && isatty(STDOUT_FILENO))
        return cli_usage(call,
                         "cannot write a backup to a terminal: give a file name, or use a pipe");
    buf_init(&m.left_out, 1 << 20);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, on_backup_signal);
    (void)signal(SIGTERM, on_backup_signal);
    (void)signal(SIGHUP, on_backup_signal);
    r = is_stdout ? make_backup(&m, &e) : make_file(call, &m, &e);
    buf_done(&m.left_out);
    if (r < 0 && !e.code)
        (void)err_sys(&e, r, "backup");
    return r < 0 ? cli_fail(call, &e) : CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "workspaces",
     .help = "Include the files of running sandboxes (/home/user, /data, /code, /root) and the "
             "archives of local sandboxes."},
    {.name = "quiet", .letter = 'q', .help = "Do not show progress."},
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_backup = {
    .name = "backup",
    .summary = "Back up everything to one file",
    .help = "Saves the database with its audit chain, keys and secrets, app instances with their "
            "snapshots, calls and apps, and retained logs to FILE, all as of one moment, while "
            "the service keeps running. FILE is a tar archive that includes the digests of its "
            "members; it appears under its final name once it is complete and was read back. Use "
            "- for standard output.\n"
            "\n"
            "The service does the work, so it can also be a remote one (--url, with a system "
            "key). If no service is running, the state directory is read directly.\n"
            "\n"
            "Sandboxes themselves are not backed up: their processes and memory are lost, and "
            "their files are included only with --workspaces. Use 'tidepool restore' to restore "
            "a backup.",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_backup,
};
