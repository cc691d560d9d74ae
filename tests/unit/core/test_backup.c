/* SPDX-License-Identifier: MIT */
/* The file of a backup: written and read back, with every allocation and every read and write made
 * to fail once. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "core/backup.h"
#include "sys/io.h"

#define HEAD "{\"format\":\"tidepool-backup\",\"version\":1}\n"

static char dir[PATH_MAX], source[PATH_MAX + 8], file[PATH_MAX + 8], target[PATH_MAX + 8];
static char large[700 << 10]; /* more than one piece */

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char path[PATH_MAX + 32];

    (void)state;
    (void)snprintf(dir, sizeof dir, "%s/tidepool-backup-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(source, sizeof source, "%s/source", dir);
    (void)snprintf(file, sizeof file, "%s/b.tar", dir);
    (void)snprintf(target, sizeof target, "%s/target", dir);
    (void)snprintf(path, sizeof path, "%s/deep", source);
    if (io_mkdirs(path, 0700, NULL) < 0)
        return -1;
    memset(large, 'x', sizeof large);
    (void)snprintf(path, sizeof path, "%s/deep/large", source);
    if (io_write_file(path, str_n(large, sizeof large), 0600, NULL) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/empty", source);
    return io_write_file(path, STR(""), 0600, NULL);
}

static int teardown(void **state)
{
    (void)state;
    return io_remove_tree(dir);
}

/* Writes a backup of SOURCE. 0 or -errno. */
static int write_backup(void)
{
    struct buf piece auto_buf = BUF_INIT(4 << 20);
    struct backup *b = backup_new(BACKUP_SUMS);
    auto_close int fd = b ? io_open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -ENOMEM;
    int r = fd < 0 ? fd : backup_add_text(b, BACKUP_HEAD, STR(HEAD));

    if (r == 0)
        r = backup_add_tree(b, BACKUP_STATE, source, NULL);
    for (r = r < 0 ? r : 1; r > 0;) {
        buf_clear(&piece);
        r = backup_next(b, &piece, NULL);
        int written = r < 0 ? r : io_write_all(fd, piece.p, piece.len);
        r = written < 0 ? written : r;
    }
    backup_free(b);
    return r;
}

static int read_backup(const char *into)
{
    struct arena a auto_arena;
    struct backup_info info;

    arena_init(&a, 1 << 20);
    int r = backup_read(file, into, &a, &info, NULL);
    if (r == 0) {
        assert_int_equal(info.n_files, 4);
        assert_int_equal(json_int(json_get(info.head, "version"), 0), 1);
    }
    return r;
}

static void there_and_back(void **state)
{
    struct buf text auto_buf = BUF_INIT(1 << 20);
    char path[PATH_MAX + 64];

    (void)state;
    assert_int_equal(write_backup(), 0);
    assert_int_equal(read_backup(NULL), 0);
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(read_backup(target), 0);
    (void)snprintf(path, sizeof path, "%s/state/deep/large", target);
    assert_int_equal(io_read_file(path, &text, NULL), 0);
    assert_int_equal(text.len, sizeof large);
    assert_memory_equal(text.p, large, sizeof large);
    /* Nothing is written over. */
    assert_int_equal(read_backup(target), -EEXIST);
}

/* Cut after every block and in between: never taken for a whole one. */
static void every_cut_is_noticed(void **state)
{
    struct buf whole auto_buf = BUF_INIT(4 << 20);

    (void)state;
    assert_int_equal(write_backup(), 0);
    assert_int_equal(io_read_file(file, &whole, NULL), 0);
    for (size_t len = 0; len < whole.len; len += len % 512 ? 1 : 511) {
        bool is_near = len < 8192 || len > whole.len - 8192;
        if (!is_near && len % (64 << 10) > 512)
            continue;
        assert_int_equal(truncate(file, (off_t)len), 0);
        assert_true(read_backup(NULL) < 0);
        assert_int_equal(io_write_file(file, buf_str(&whole), 0600, NULL), 0);
    }
    assert_int_equal(read_backup(NULL), 0);
}

#ifdef TIDEPOOL_FAULT
static void faults_are_told(void **state)
{
    static const enum fault_kind kinds[] = {FAULT_ALLOC, FAULT_IO};

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        bool has_fired = true;
        for (unsigned n = 1; has_fired; n++) {
            fault_arm(kinds[k], n);
            int r = write_backup();
            has_fired = fault_fired(kinds[k]);
            fault_arm(kinds[k], 0);
            assert_true(r == 0 || has_fired);
            assert_true(r < 0 || read_backup(NULL) == 0);
        }
        has_fired = true;
        for (unsigned n = 1; has_fired; n++) {
            fault_arm(kinds[k], n);
            int r = read_backup(target);
            has_fired = fault_fired(kinds[k]);
            fault_arm(kinds[k], 0);
            assert_true(r == 0 || has_fired);
            assert_int_equal(io_remove_tree(target), 0);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_noticed, setup, teardown),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test_setup_teardown(faults_are_told, setup, teardown),
#endif
    };

    return cmocka_run_group_tests_name("backup", tests, NULL, NULL);
}
