/* SPDX-License-Identifier: MIT */
/* Faults under SQLite: see faults.h. */
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int io_left, alloc_left;
static atomic_bool has_fired, no_space;

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static enum gate { GATE_OPEN, GATE_CLOSED, GATE_HELD } gate;

static sqlite3_vfs *real_vfs;
static sqlite3_mem_methods real_mem;

/* ---- control ---- */

static bool counts_down(atomic_int *left)
{
    if (atomic_load(left) == 0 || atomic_fetch_sub(left, 1) != 1)
        return false;
    atomic_store(&has_fired, true);
    return true;
}

static void arm(atomic_int *left, int nth)
{
    atomic_store(&has_fired, false);
    atomic_store(left, nth);
}

void faults_fail_io(int nth)
{
    arm(&io_left, nth);
}

void faults_fail_alloc(int nth)
{
    arm(&alloc_left, nth);
}

bool faults_fired(void)
{
    return atomic_load(&has_fired);
}

void faults_set_full(bool is_full)
{
    atomic_store(&no_space, is_full);
}

static void gate_set(enum gate to)
{
    (void)pthread_mutex_lock(&gate_lock);
    gate = to;
    (void)pthread_cond_broadcast(&gate_moved);
    (void)pthread_mutex_unlock(&gate_lock);
}

void faults_hold_sync(void)
{
    gate_set(GATE_CLOSED);
}

void faults_release_sync(void)
{
    gate_set(GATE_OPEN);
}

void faults_wait_until_held(void)
{
    (void)pthread_mutex_lock(&gate_lock);
    while (gate != GATE_HELD)
        (void)pthread_cond_wait(&gate_moved, &gate_lock);
    (void)pthread_mutex_unlock(&gate_lock);
}

static void pass_gate(void)
{
    (void)pthread_mutex_lock(&gate_lock);
    if (gate == GATE_CLOSED) {
        gate = GATE_HELD;
        (void)pthread_cond_broadcast(&gate_moved);
    }
    while (gate == GATE_HELD)
        (void)pthread_cond_wait(&gate_moved, &gate_lock);
    (void)pthread_mutex_unlock(&gate_lock);
}

/* ---- files ---- */

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static int file_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (atomic_load(&no_space))
        return SQLITE_FULL;
    if (counts_down(&io_left))
        return SQLITE_IOERR_WRITE;
    return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (counts_down(&io_left))
        return SQLITE_IOERR_TRUNCATE;
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
    pass_gate();
    if (counts_down(&io_left))
        return SQLITE_IOERR_FSYNC;
    return real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int file_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int file_check_lock(sqlite3_file *f, int *ret)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int file_sector_size(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int file_traits(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), at, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int file_shm_unmap(sqlite3_file *f, int delete)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    struct file *file = (struct file *)f;

    (void)v;
    file->real = (sqlite3_file *)(file + 1);
    int rc = real_vfs->xOpen(real_vfs, name, file->real, flags, ret_flags);
    file->base.pMethods = file->real->pMethods ? &methods : NULL;
    return rc;
}

static int vfs_last_error(sqlite3_vfs *v, int n, char *out)
{
    (void)v;
    (void)n;
    (void)out;
    return EIO;
}

static int vfs_delete(sqlite3_vfs *v, const char *name, int sync)
{
    (void)v;
    return real_vfs->xDelete(real_vfs, name, sync);
}

static int vfs_access(sqlite3_vfs *v, const char *name, int flags, int *ret)
{
    (void)v;
    return real_vfs->xAccess(real_vfs, name, flags, ret);
}

static int vfs_full_path(sqlite3_vfs *v, const char *name, int n, char *out)
{
    (void)v;
    return real_vfs->xFullPathname(real_vfs, name, n, out);
}

/* ---- memory ---- */

static void *mem_get(int n)
{
    return counts_down(&alloc_left) ? NULL : real_mem.xMalloc(n);
}

static void *mem_resize(void *p, int n)
{
    return counts_down(&alloc_left) ? NULL : real_mem.xRealloc(p, n);
}

void faults_install(void)
{
    static sqlite3_vfs vfs;
    sqlite3_mem_methods mem;

    (void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_mem);
    mem = real_mem;
    mem.xMalloc = mem_get;
    mem.xRealloc = mem_resize;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &mem);
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "faults";
    vfs.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xAccess = vfs_access;
    vfs.xFullPathname = vfs_full_path;
    vfs.xGetLastError = vfs_last_error;
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        abort();
}
