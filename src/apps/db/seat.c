/* SPDX-License-Identifier: MIT */
#include "apps/db/seat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/db/clocks.h"
#include "base/cleanup.h"
#include "sys/io.h"

/* As SQLite sees it: a file that it opened. */
struct seat {
    sqlite3_file base;
    struct seat_file file; /* .at.fd -1: empty */
    struct redo redo;
    uint64_t size;   /* of the file as the transaction under way sees it */
    bool is_failed;  /* the transaction under way: SQLite rolls it back */
    uint32_t n_torn; /* pages that its commit may have overwritten before it failed */
};

static struct seat *seat_at(sqlite3_file *f)
{
    return (struct seat *)(void *)f;
}

static int sqlite_code(int e, int otherwise)
{
    switch (e) {
    case -ENOSPC:
    case -EDQUOT:
    case -EFBIG: return SQLITE_FULL;
    case -ENOMEM: return SQLITE_IOERR_NOMEM;
    default: return otherwise;
    }
}

/* ---- reading ---- */

static int read_seat_bytes(const struct seat *s, void *p, size_t n, uint64_t at, size_t *ret_n)
{
    int kept = s->is_failed ? 0 : redo_get(&s->redo, p, n, at);

    *ret_n = n;
    if (kept != 0)
        return kept < 0 ? kept : 0;
    if (at + n <= s->file.n_head) {
        memcpy(p, s->file.head + at, n);
        return 0;
    }
    ssize_t got = s->file.at.fd < 0 ? 0 : io_read_at(s->file.at.fd, p, n, (off_t)at);
    *ret_n = got < 0 ? 0 : (size_t)got;
    return got < 0 ? (int)got : 0;
}

static int seat_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    size_t got;
    int e = read_seat_bytes(seat_at(f), p, (size_t)n, (uint64_t)at, &got);

    if (e < 0)
        return SQLITE_IOERR_READ;
    if (got == (size_t)n)
        return SQLITE_OK;
    memset((char *)p + got, 0, (size_t)n - got);
    return SQLITE_IOERR_SHORT_READ;
}

static int seat_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)seat_at(f)->size;
    return SQLITE_OK;
}

/* ---- writing ---- */

static void note_head(struct seat *s, const void *p, size_t n, uint64_t at)
{
    if (at != 0)
        return;
    s->file.n_head = n < SEAT_HEAD ? n : SEAT_HEAD;
    memcpy(s->file.head, p, s->file.n_head);
}

static int write_through(struct seat *s, const void *p, size_t n, uint64_t at)
{
    int e = io_write_at(s->file.at.fd, p, n, (off_t)at);

    if (e < 0)
        return sqlite_code(e, SQLITE_IOERR_WRITE);
    note_head(s, p, n, at);
    if (at + n > s->size)
        s->size = s->file.at.size = at + n;
    return SQLITE_OK;
}

/* Nothing more of this transaction is collected. */
static int fail_seat(struct seat *s, int e)
{
    s->is_failed = true;
    return sqlite_code(e, SQLITE_IOERR_WRITE);
}

static int seat_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    struct seat *s = seat_at(f);

    if (s->file.is_read_only || s->file.at.fd < 0)
        return SQLITE_READONLY;
    /* SQLite puts back what was there; what was not overwritten still is. */
    if (s->is_failed && !redo_has(&s->redo, (uint64_t)at, s->n_torn))
        return SQLITE_OK;
    if (s->is_failed || !s->redo.path)
        return write_through(s, p, (size_t)n, (uint64_t)at);
    int e = redo_put(&s->redo, p, (size_t)n, (uint64_t)at);
    if (e < 0)
        return fail_seat(s, e);
    if ((uint64_t)(at + n) > s->size)
        s->size = (uint64_t)(at + n);
    return SQLITE_OK;
}

static int cut_file(struct seat *s, uint64_t size)
{
    if (s->file.at.size == size)
        return SQLITE_OK;
    if (ftruncate(s->file.at.fd, (off_t)size) < 0)
        return SQLITE_IOERR_TRUNCATE;
    s->file.at.size = size;
    return SQLITE_OK;
}

/* With the commit. */
static int seat_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    struct seat *s = seat_at(f);

    if (s->file.is_read_only || s->file.at.fd < 0)
        return SQLITE_READONLY;
    s->size = (uint64_t)size;
    return s->redo.path ? SQLITE_OK : cut_file(s, s->size);
}

/* All of a transaction. What fails here, SQLite rolls back. */
static int commit_seat(struct seat *s)
{
    unsigned char head[SEAT_HEAD];

    if (s->redo.n == 0 || s->is_failed)
        return SQLITE_OK;
    int kept = redo_get(&s->redo, head, s->redo.page < SEAT_HEAD ? s->redo.page : SEAT_HEAD, 0);
    int e = kept < 0 ? kept : redo_write(&s->redo, &s->file.at, s->size);
    if (e < 0)
        return fail_seat(s, e);
    e = redo_apply(&s->redo, &s->file.at, s->size, &s->n_torn);
    if (e < 0)
        return fail_seat(s, e);
    s->file.at.size = s->size;
    if (kept > 0)
        note_head(s, head, s->redo.page, 0);
    redo_drop(&s->redo);
    redo_clear(&s->redo);
    s->n_torn = 0;
    return SQLITE_OK;
}

/* The end of a transaction that did not come to its commit. */
static void forget_changes(struct seat *s)
{
    /* New pages may be there already, of a commit that failed. */
    if (s->is_failed && s->file.at.fd >= 0 && ftruncate(s->file.at.fd, (off_t)s->file.at.size) < 0)
        s->file.at.size = s->size; /* which does no harm: SQLite knows where its pages end */
    if (s->is_failed)
        redo_clear(&s->redo);
    s->is_failed = false;
    s->n_torn = 0;
    s->size = s->file.at.size;
    redo_drop(&s->redo);
}

/* ---- what else SQLite asks of a file ---- */

static int seat_lock(sqlite3_file *f, int level)
{
    return level > SQLITE_LOCK_SHARED && seat_at(f)->file.is_read_only ? SQLITE_READONLY
                                                                       : SQLITE_OK;
}

static int seat_unlock(sqlite3_file *f, int level)
{
    struct seat *s = seat_at(f);

    if (level <= SQLITE_LOCK_SHARED &&
        (s->redo.n > 0 || s->is_failed || s->size != s->file.at.size))
        forget_changes(s);
    return SQLITE_OK;
}

static int seat_check_lock(sqlite3_file *f, int *ret)
{
    (void)f;
    *ret = 0;
    return SQLITE_OK;
}

static int seat_sync(sqlite3_file *f, int flags)
{
    (void)f;
    (void)flags;
    return SQLITE_OK;
}

/* SQLite says so when all pages of a commit are written, and would then sync. */
static int seat_control(sqlite3_file *f, int op, void *arg)
{
    (void)arg;
    return op == SQLITE_FCNTL_SYNC ? commit_seat(seat_at(f)) : SQLITE_NOTFOUND;
}

static int seat_sector(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int seat_traits(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int seat_close(sqlite3_file *f)
{
    struct seat *s = seat_at(f);

    seat_file_close(&s->file);
    redo_done(&s->redo);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = seat_close,
    .xRead = seat_read,
    .xWrite = seat_write,
    .xTruncate = seat_truncate,
    .xSync = seat_sync,
    .xFileSize = seat_size,
    .xLock = seat_lock,
    .xUnlock = seat_unlock,
    .xCheckReservedLock = seat_check_lock,
    .xFileControl = seat_control,
    .xSectorSize = seat_sector,
    .xDeviceCharacteristics = seat_traits,
};

/* ---- the VFS ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs vfs, *usual;

/* Files for sorting and the like are the usual ones. */
static int open_seat(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    struct seat *s = seat_at(f);

    (void)v;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return usual->xOpen(usual, name, f, flags, ret_flags);
    memset(s, 0, sizeof *s);
    s->file.at.fd = -1;
    (void)redo_init(&s->redo, NULL);
    s->base.pMethods = &methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

/* There is nothing beside a seat. */
static int find_beside(sqlite3_vfs *v, const char *name, int flags, int *ret)
{
    (void)v;
    (void)name;
    (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int name_seat(sqlite3_vfs *v, const char *name, int n, char *out)
{
    (void)v;
    return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void register_seats(void)
{
    usual = sqlite3_vfs_find(clocks_vfs());
    if (!usual)
        return;
    vfs = *usual;
    vfs.pNext = NULL;
    vfs.szOsFile =
        usual->szOsFile > (int)sizeof(struct seat) ? usual->szOsFile : (int)sizeof(struct seat);
    vfs.zName = "tidepool-seat";
    vfs.xOpen = open_seat;
    vfs.xAccess = find_beside;
    vfs.xFullPathname = name_seat;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK)
        vfs.zName = NULL;
}

const char *seat_vfs(void)
{
    (void)pthread_once(&once, register_seats);
    return vfs.zName;
}

/* ---- files ---- */

static void put_seat_name(struct seat_file *f, const char *path, const char *home)
{
    size_t n = home ? strlen(home) : 0;

    if (home && strncmp(path, home, n) == 0 && path[n] == '/')
        (void)snprintf(f->at.name, sizeof f->at.name, "%s", path + n + 1);
}

int seat_file_open(struct seat_file *f, const char *path, const char *home, bool is_read_only)
{
    auto_close int fd = io_open(path, is_read_only ? O_RDONLY : O_RDWR, 0);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    f->is_read_only = is_read_only;
    f->at = (struct redo_target){.inode = st.st_ino, .size = (uint64_t)st.st_size};
    put_seat_name(f, path, home);
    ssize_t n = io_read_at(fd, f->head, SEAT_HEAD, 0);
    if (n < 0)
        return (int)n;
    f->n_head = (size_t)n;
    f->at.fd = take_fd(fd);
    return 0;
}

void seat_file_close(struct seat_file *f)
{
    if (f->at.fd >= 0)
        (void)close(f->at.fd);
    f->at.fd = -1;
    f->at.size = 0;
    f->n_head = 0;
}

/* Of the header that the format of SQLite's files begins with: where, and how many bytes. */
static const struct {
    size_t at, n;
} schema_fields[] = {
    {16, 2}, /* bytes of a page */
    {20, 1}, /* of which are not used */
    {40, 8}, /* number of the schema, its format */
    {52, 4}, /* whether it is vacuumed by itself */
    {56, 4}, /* encoding of texts */
    {60, 4}, /* two that are free to be used: the fingerprint */
    {68, 4},
};

struct seat_schema seat_schema_of(const struct seat_file *f)
{
    struct seat_schema s = {{0}};
    size_t n = 0;

    for (size_t i = 0; f->n_head >= 100 && i < ARRAY_LEN(schema_fields); i++) {
        memcpy(s.bytes + n, f->head + schema_fields[i].at, schema_fields[i].n);
        n += schema_fields[i].n;
    }
    return s;
}

bool seat_file_is_old(const struct seat_file *f)
{
    static const unsigned char none[4] = {0};
    bool has_log = f->n_head >= 100 && (f->head[18] != 1 || f->head[19] != 1);

    return has_log || f->n_head < 100 ||
           (memcmp(f->head + 60, none, 4) == 0 && memcmp(f->head + 68, none, 4) == 0);
}

/* ---- seats ---- */

int seat_of(sqlite3 *c, const char *home, struct seat **ret)
{
    sqlite3_file *f = NULL;

    if (sqlite3_file_control(c, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&f) != SQLITE_OK || !f ||
        f->pMethods != &methods)
        return -EINVAL;
    *ret = seat_at(f);
    return redo_init(&(*ret)->redo, home);
}

void seat_take(struct seat *s, sqlite3 *c, struct seat_file *f)
{
    seat_file_close(&s->file);
    if (f) {
        s->file = *f;
        f->at.fd = -1;
    }
    s->size = s->file.at.size;
    (void)sqlite3_file_control(c, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
}

bool seat_is_read_only(const struct seat *s)
{
    return s->file.is_read_only;
}

/* ---- fingerprints ---- */

/* FNV-1a, 64 bits. */
static uint64_t add_print(uint64_t print, const unsigned char *p, int n)
{
    for (int i = 0; i < n; i++)
        print = (print ^ p[i]) * UINT64_C(0x100000001b3);
    return (print ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Of all that the schema says, with the places of its tables in the file. */
static int take_print(sqlite3 *c, uint64_t *ret)
{
    uint64_t print = UINT64_C(0xcbf29ce484222325);
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(
        c, "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid", -1, &st,
        NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        for (int i = 0; i < 5; i++) {
            const unsigned char *p = sqlite3_column_text(st, i);
            print =
                add_print(print, p ? p : (const unsigned char *)"", sqlite3_column_bytes(st, i));
        }
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(st);
    *ret = print;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int seat_mark(sqlite3 *c)
{
    char sql[96];
    uint64_t print;
    int rc = take_print(c, &print);

    if (rc != SQLITE_OK)
        return rc;
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d; PRAGMA application_id = %d",
                   (int)(uint32_t)print | 1, (int)(uint32_t)(print >> 32));
    return sqlite3_exec(c, sql, NULL, NULL, NULL);
}

int seat_settle(const char *path, struct err *e)
{
    sqlite3 *c = NULL;
    int rc = sqlite3_open_v2(path, &c, SQLITE_OPEN_READWRITE, NULL);

    (void)sqlite3_busy_timeout(c, 5000);
    /* Ends its log, which is moved into it. */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c, "PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE", NULL, NULL,
                          NULL);
    if (rc == SQLITE_OK)
        rc = seat_mark(c);
    int r = 0;
    if (rc != SQLITE_OK)
        r = err_set(e, (rc & 0xff) == SQLITE_FULL ? -ENOSPC : -EIO, "'%s': %s", path,
                    c ? sqlite3_errmsg(c) : sqlite3_errstr(rc));
    (void)sqlite3_close(c);
    return r;
}
