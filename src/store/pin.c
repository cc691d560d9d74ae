/* SPDX-License-Identifier: MIT */
/* Pins: see pin.h. */
#include "store/pin.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "store/sqlite.h"

enum { BUSY_MS = 5000 };

struct store_pin {
    sqlite3 *c;
};

static int fail_pin(sqlite3 *c, int rc, const char *what, struct err *e)
{
    return err_set(e, sqlite_errno(c, rc), "%s: %s", what,
                   c ? sqlite3_errmsg(c) : sqlite3_errstr(rc));
}

/* A read transaction begins with the first read. */
static int begin_pin(struct store_pin *p)
{
    int rc = sqlite3_exec(p->c, "BEGIN", NULL, NULL, NULL);

    return rc == SQLITE_OK ? sqlite3_exec(p->c, "SELECT count(*) FROM meta", NULL, NULL, NULL) : rc;
}

struct store_pin *store_pin(const char *path, struct err *e)
{
    struct store_pin *p = mem_zalloc(1, sizeof *p);

    if (!p) {
        (void)err_sys(e, -ENOMEM, "store");
        return NULL;
    }
    int rc = sqlite3_open_v2(path, &p->c, SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_busy_timeout(p->c, BUSY_MS);
        rc = begin_pin(p);
    }
    if (rc == SQLITE_OK)
        return p;
    (void)fail_pin(p->c, rc, path, e);
    store_pin_free(p);
    return NULL;
}

void store_pin_free(struct store_pin *p)
{
    if (!p)
        return;
    (void)sqlite3_close(p->c);
    free(p);
}

/* The source's transaction is open, so all steps copy the same moment. */
static int copy_pages(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");

    if (!b)
        return sqlite3_errcode(to);
    (void)sqlite3_backup_step(b, -1);
    return sqlite3_backup_finish(b);
}

int store_pin_copy(struct store_pin *p, const char *to, struct err *e)
{
    sqlite3 *c = NULL;
    int r = 0;
    int rc = sqlite3_open_v2(to, &c, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

    if (rc == SQLITE_OK)
        rc = copy_pages(c, p->c);
    if (rc != SQLITE_OK)
        r = fail_pin(c, rc, to, e);
    if (sqlite3_close(c) != SQLITE_OK && r == 0)
        r = err_set(e, -EIO, "%s: cannot be closed", to);
    if (r < 0)
        (void)unlink(to);
    return r;
}

int store_lock(const char *path, struct err *e)
{
    return sqlite_lock_file(path, e);
}
