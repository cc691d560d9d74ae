/* SPDX-License-Identifier: MIT */
/* runtime/shares.h: what a cell gets of what the machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "runtime/shares.h"
#include "sys/io.h"

static char proc[] = "/tmp/tidepool-shares.XXXXXX";

static const char *const dirs[] = {"sys", "sys/fs", "sys/kernel", "sys/kernel/pty"};
static const char *const files[] = {"sys/fs/file-max", "sys/kernel/pid_max", "sys/kernel/pty/max",
                                    "sys/kernel/pty/reserve"};

static void put(size_t which, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", proc, files[which]);
    (void)unlink(path);
    if (!text)
        return;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static int setup(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    if (!mkdtemp(proc))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", proc, dirs[i]);
        if (io_mkdirs(path, 0700, &e) < 0)
            return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        put(i, NULL);
    for (size_t i = ARRAY_LEN(dirs); i-- > 0;) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", proc, dirs[i]);
        (void)rmdir(path);
    }
    return rmdir(proc);
}

static struct shares with(const char *file_max, const char *pid_max, const char *ptys)
{
    struct shares s;

    put(0, file_max);
    put(1, pid_max);
    put(2, ptys);
    put(3, ptys ? "1024\n" : NULL);
    shares_read(&s, proc);
    return s;
}

static void test_terminals(void **state)
{
    static const struct {
        const char *max;
        int share;
    } rows[] = {{"4096\n", 96}, {"1048576\n", 256}, {"1100\n", 16}, {NULL, 96}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(with("1000\n", "32768\n", rows[i].max).ptys, rows[i].share);
}

static void test_files(void **state)
{
    static const struct {
        const char *file_max;
        uint32_t pids;
        int64_t each;
    } rows[] = {
        {"9223372036854775807\n", 1024, 16384},  /* as systemd sets it */
        {"18446744073709551615\n", 1024, 16384}, /* more than we can read */
        {NULL, 1024, 16384},
        {"2465780\n", 1024, 1805},
        {"2465780\n", 128, 14447},
        {"2465780\n", 10, 16384},
        {"2465780\n", 0, 1024}, /* no limit on processes: all that the kernel has */
        {"100000\n", 1024, 1024},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shares s = with(rows[i].file_max, "32768\n", "4096\n");
        assert_int_equal(shares_files(&s, rows[i].pids), rows[i].each);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminals),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("shares", tests, setup, teardown);
}
