/* SPDX-License-Identifier: MIT */
/* tidepool top */
#include "cli/verbs.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/human.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "loop/loop.h"
#include "sys/io.h"

enum { EVERY_MS = 2000, SCREEN_MAX = 4 << 20 };

static const struct table_col cols[] = {
    {.title = "NAME", .may_shrink = true}, {.title = "STATUS"},
    {.title = "CPU%", .is_right = true},   {.title = "MEM", .is_right = true},
    {.title = "LIMIT", .is_right = true},  {.title = "PROCS", .is_right = true},
};

struct top {
    struct remote *remote;
    struct loop *loop;
    struct tty tty;
    struct loop_io input;
    int status;
    bool is_over;
};

/* ---- the figures ---- */

static void put_top_names(const struct json *list, struct buf *out)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "names");
    jw_array(&w);
    for (size_t i = 0; json_at(list, i); i++)
        jw_value(&w, json_get(json_at(list, i), "name"));
    jw_end(&w);
    jw_end(&w);
}

/* All sandboxes, and their figures by name. */
static int sample(struct remote *r, const struct json **ret_list, const struct json **ret_items)
{
    struct buf body auto_buf = BUF_INIT(SCREEN_MAX);
    struct json *doc = NULL;
    int status = remote_ask(r, "GET", "/api/v1/sandbox", NULL, &doc);

    *ret_list = json_get(doc, "data");
    *ret_items = NULL;
    if (status != CLI_OK || !json_at(*ret_list, 0))
        return status;
    put_top_names(*ret_list, &body);
    status = remote_ask(r, "POST", "/api/v1/sandbox/metrics", &body, &doc);
    *ret_items = json_pointer(doc, "/data/items");
    return status;
}

static int64_t sandbox_cpu_of(const struct json *items, const struct json *sandbox)
{
    const struct json *m = json_get_str(items, json_str(json_get(sandbox, "name"), STR("")));

    return json_int(json_get(m, "cpuMilli"), 0);
}

static const struct json *sorted_by; /* qsort() has no other way to hand it over */

static int by_cpu(const void *a, const void *b)
{
    int64_t x = sandbox_cpu_of(sorted_by, a), y = sandbox_cpu_of(sorted_by, b);

    return x < y ? 1 : x > y ? -1 : 0;
}

static void add_top_row(struct remote *r, struct table *t, const struct json *items,
                        const struct json *sandbox)
{
    const struct json *m = json_get_str(items, remote_text(r, sandbox, "name"));
    char bytes[HUMAN_MAX];

    human_bytes(bytes, (uint64_t)json_int(json_get(m, "memoryBytes"), 0));
    table_add(t, remote_text(r, sandbox, "name"));
    table_add(t, remote_text(r, sandbox, "status"));
    table_addf(t, "%.1f", (double)sandbox_cpu_of(items, sandbox) / 10);
    table_add(t, str_of(bytes));
    table_add(t, remote_text(r, sandbox, "memory_limit"));
    table_add(t, remote_text(r, m, "processes"));
}

static int put_top_table(struct remote *r, size_t width, struct buf *out)
{
    const struct json *list, *items;
    struct table t = table_new(&r->arena, cols, ARRAY_LEN(cols));
    int status = sample(r, &list, &items);

    if (status != CLI_OK)
        return status;
    struct json *rows = json_copy(&r->arena, list);
    sorted_by = items;
    if (json_is(rows, JSON_ARRAY) && rows->n > 1)
        qsort(rows->items, rows->n, sizeof *rows->items, by_cpu);
    for (size_t i = 0; json_at(rows, i); i++)
        add_top_row(r, &t, items, json_at(rows, i));
    return table_write(&t, width, out) < 0 ? CLI_FAILED : CLI_OK;
}

/* ---- once ---- */

static int run_once(struct remote *r)
{
    const struct json *list, *items;

    if (!cli_is_on(r->call, "json"))
        return put_top_table(r, tty_width(STDOUT_FILENO), &r->call->out);
    int status = sample(r, &list, &items);
    if (status == CLI_OK)
        (void)cli_put_json(&r->call->out, items ? items : json_new_object(&r->arena));
    return status;
}

/* ---- for ever ---- */

static void on_key(struct loop_io *io, uint32_t events)
{
    struct top *t = container_of(io, struct top, input);
    char keys[64];
    ssize_t n = io_read(io->fd, keys, sizeof keys);

    (void)events;
    if (n <= 0 || memchr(keys, 'q', (size_t)n) || memchr(keys, 'Q', (size_t)n))
        t->is_over = true;
}

static void on_top_end(int signo, void *ctx)
{
    struct top *t = ctx;

    t->is_over = true;
    t->status = signo == SIGINT ? CLI_OK : 128 + signo;
}

static void show_screen(bool is_on)
{
    struct str sequence = is_on ? STR("\033[?1049h\033[?25l") : STR("\033[?25h\033[?1049l");

    (void)io_write_all(STDOUT_FILENO, sequence.p, sequence.len);
}

static void on_top_suspend(int signo, void *ctx)
{
    struct top *t = ctx;

    (void)signo;
    show_screen(false);
    tty_suspend(&t->tty);
    show_screen(true);
}

/* The table from the top of the screen on, as many lines as there are. */
static int draw(struct top *t)
{
    struct buf table auto_buf = BUF_INIT(SCREEN_MAX), screen auto_buf = BUF_INIT(2 * SCREEN_MAX);
    int n_cols = 0, n_rows = 0;

    (void)tty_size(STDOUT_FILENO, &n_cols, &n_rows);
    arena_reset(&t->remote->arena);
    int status = put_top_table(t->remote, (size_t)n_cols, &table);
    if (status != CLI_OK)
        return status;
    struct str rest = buf_str(&table);
    (void)buf_add_lit(&screen, "\033[H");
    for (int i = 0; i < n_rows - 1 && rest.len > 0; i++) {
        (void)buf_add_str(&screen, str_cut(&rest, '\n'));
        (void)buf_add_lit(&screen, "\033[K\r\n");
    }
    (void)buf_add_lit(&screen, "\033[Jq quits");
    return io_write_all(STDOUT_FILENO, screen.p, screen.len) < 0 ? CLI_FAILED : CLI_OK;
}

static int watch_sandboxes(struct top *t, struct err *e)
{
    int r = tty_on_end(t->loop, on_top_end, t);

    if (r == 0)
        r = loop_on_signal(t->loop, SIGTSTP, on_top_suspend, t);
    if (r == 0)
        r = loop_io_start(t->loop, &t->input, STDIN_FILENO, EPOLLIN, on_key);
    return r < 0 ? err_sys(e, r, "terminal") : tty_set(&t->tty, STDIN_FILENO, TTY_KEYS, e);
}

static void keep_drawing(struct top *t, int64_t every_ms)
{
    show_screen(true);
    while (!t->is_over) {
        int status = draw(t);
        if (status != CLI_OK) {
            t->status = status;
            break;
        }
        int64_t due = clock_mono_ms() + every_ms;
        for (int64_t now; !t->is_over && (now = clock_mono_ms()) < due;)
            (void)loop_run_once(t->loop, (int)(due - now));
    }
    show_screen(false);
}

static int run_for_ever(struct remote *r, int64_t every_ms)
{
    struct top t = {.remote = r, .loop = client_loop(r->client)};
    struct err e = ERR_INIT;
    int code = watch_sandboxes(&t, &e);

    if (code == 0)
        keep_drawing(&t, every_ms);
    loop_io_stop(&t.input);
    tty_restore(&t.tty);
    return code < 0 ? cli_fail(r->call, &e) : t.status;
}

static int run_top(struct cli_call *call)
{
    struct remote r auto_(remote_done) = {0};
    int64_t seconds;
    int status = cli_value_seconds(call, "interval", EVERY_MS / 1000, &seconds);

    if (status == CLI_OK && (seconds < 1 || seconds > 3600))
        return cli_usage(call, "--interval: expected 1 to 3600 seconds");
    if (status == CLI_OK)
        status = remote_open(&r, call);
    if (status != CLI_OK)
        return status;
    bool is_once = cli_is_on(call, "once") || cli_is_on(call, "json") || !isatty(STDIN_FILENO) ||
                   !isatty(STDOUT_FILENO);
    return is_once ? run_once(&r) : run_for_ever(&r, seconds * 1000);
}

static const struct cli_option options[] = {
    {.name = "once", .help = "Print the table once and exit; implied without a terminal."},
    {.name = "interval", .arg = "TIME", .help = "Seconds between updates (default 2)."},
    REMOTE_JSON,
    REMOTE_OPTIONS,
    {0},
};

const struct cli_verb verb_top = {
    .name = "top",
    .summary = "Watch the resource usage of sandboxes",
    .help = "Shows the CPU, memory and processes of all sandboxes, busiest first, and keeps "
            "updating. 100% is one CPU. Press q to quit.",
    .options = options,
    .settings = CLI_STATE_SETTINGS,
    .run = run_top,
};
