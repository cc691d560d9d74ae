/* SPDX-License-Identifier: MIT */
/* The files of a volume while a sandbox that has it mounted exchanges them: nothing outside is
 * touched. */
#include "../check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/volume_files.h"
#include "sys/io.h"

enum { ROUNDS = 3000, KEPT_MODE = 0600, WANTED_MODE = 0777 };

static char folder[64], outside[96], volume[96];
static bool is_over;

static int setup(void **unused)
{
    (void)unused;
    (void)snprintf(folder, sizeof folder, "/tmp/volume-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(outside, sizeof outside, "%s/outside", folder);
    (void)snprintf(volume, sizeof volume, "%s/volume", folder);
    assert_int_equal(mkdir(volume, 0777), 0);
    auto_close int fd = open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, KEPT_MODE);
    assert_true(fd >= 0);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    return io_remove_tree(folder);
}

/* Puts a link that leads out in the place of a directory as soon as there is one. */
static void *exchange(void *unused)
{
    auto_close int dir = open(volume, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        if (renameat(dir, "d", dir, "was") == 0)
            (void)symlinkat(outside, dir, "d");
    return NULL;
}

static void a_new_directory_that_becomes_a_link(void **unused)
{
    const struct volume_meta m = {.uid = 1000, .gid = 1000, .mode = WANTED_MODE};
    auto_close int root = open(volume, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    pthread_t thread;

    (void)unused;
    is_over = false;
    assert_int_equal(pthread_create(&thread, NULL, exchange, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        (void)volume_mkdir(root, "/d", &m, NULL);
        (void)unlinkat(root, "d", 0);
        (void)unlinkat(root, "d", AT_REMOVEDIR);
        (void)unlinkat(root, "was", AT_REMOVEDIR);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stat(outside, &st), 0);
    assert_int_equal(st.st_mode & 07777, KEPT_MODE);
    assert_int_equal(st.st_uid, 0);
}

static void a_directory_gets_owner_and_mode(void **unused)
{
    const struct volume_meta m = {.uid = 7, .gid = 8, .mode = 02750, .force = true};
    auto_close int root = open(volume, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    (void)unused;
    assert_int_equal(volume_mkdir(root, "/a/b", &m, NULL), 0);
    assert_int_equal(fstatat(root, "a/b", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 02750);
    assert_int_equal(st.st_uid, 7);
    assert_int_equal(st.st_gid, 8);
    assert_int_equal(fstatat(root, "a", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(st.st_uid, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_directory_that_becomes_a_link, setup, teardown),
        cmocka_unit_test_setup_teardown(a_directory_gets_owner_and_mode, setup, teardown),
    };

    if (getuid() != 0) {
        print_message("needs root, for owners\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
