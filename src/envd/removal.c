/* SPDX-License-Identifier: MIT */
/* Removing a directory: see removal.h. */
#include "envd/removal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/proc.h"

enum { ERROR_TEXT_MAX = 300 };

struct removal {
    struct proc_watch watch;
    void (*done)(void *ctx, const char *error);
    void *ctx;
    char text[ERROR_TEXT_MAX]; /* the beginning of what it said */
    size_t len;
};

void removal_drop(struct removal *r)
{
    proc_watch_stop(&r->watch);
    free(r);
}

static void on_removal_progress(struct proc_watch *watch)
{
    struct removal *r = container_of(watch, struct removal, watch);

    for (const struct ring_chunk *c; (c = proc_watch_read(watch));) {
        size_t room = sizeof r->text - 1 - r->len, len = c->len < room ? c->len : room;
        memcpy(r->text + r->len, c->data, len);
        r->len += len;
    }
    const struct proc_end *end = proc_end(watch->proc);
    if (!end)
        return;
    while (r->len && r->text[r->len - 1] == '\n')
        r->len--;
    r->text[r->len] = '\0';
    bool is_gone = end->status == 0;
    proc_watch_stop(watch);
    r->done(r->ctx, is_gone ? NULL : r->text);
    free(r);
}

struct removal *removal_start(struct proc_table *procs, const char *path,
                              void (*done)(void *ctx, const char *error), void *ctx, struct err *e)
{
    char name[] = "rm", flags[] = "-rf", end[] = "--";
    char *argv[] = {name, flags, end, (char *)(uintptr_t)path, NULL};
    struct proc_args args = {.user = "root", .cwd = "/", .argv = argv, .is_merged = true};
    struct removal *r = mem_zalloc(1, sizeof *r);

    if (!r) {
        (void)err_sys(e, -ENOMEM, "rm");
        return NULL;
    }
    struct proc *p = proc_start(procs, &args, e);
    if (!p) {
        free(r);
        return NULL;
    }
    r->done = done;
    r->ctx = ctx;
    r->watch.fn = on_removal_progress;
    proc_watch_start(p, &r->watch, 1);
    return r;
}
