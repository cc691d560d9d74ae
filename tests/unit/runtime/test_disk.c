/* SPDX-License-Identifier: MIT */
/* Disks of cells where /dev does not follow the kernel, as in a container. */
#include "../check.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/disk.h"
#include "sys/io.h"

/* A /dev of its own (it must allow devices) and a state directory, for this process alone. */
static void enter_lab(const char *dir)
{
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    assert_int_equal(mount("tmpfs", dir, "tmpfs", 0, "mode=700"), 0);
}

static void a_loop_device_without_a_node_gets_one(void **state)
{
    const struct disk_spec spec = {.kind = DISK_IMAGE, .bytes = DISK_MIN_BYTES};
    char template[] = "/tmp/tidepool-disk-XXXXXX", path[64], control[64];
    const char *dir = mkdtemp(template);
    struct disk_image image = {.fd = -1, .file = -1};
    struct err e = ERR_INIT;
    struct stat st;

    (void)state;
    assert_non_null(dir);
    enter_lab(dir);
    (void)snprintf(path, sizeof path, "%s/dev", dir);
    (void)snprintf(control, sizeof control, "%s/dev/loop-control", dir);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(stat("/dev/loop-control", &st), 0);
    assert_int_equal(mknod(control, S_IFCHR | 0600, st.st_rdev), 0);
    assert_int_equal(disk_prepare(&spec, dir, &e), 0);
    auto_close int dev = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    (void)snprintf(path, sizeof path, "%s/cells", dir);
    auto_close int cells = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    const struct disk_dirs dirs = {.cells = cells, .images = cells, .dev = dev, .owner = "test"};

    int r = disk_mount_image(&dirs, spec.bytes, &image, &e);
    if (r < 0)
        fail_msg("%s", err_text(&e));
    (void)snprintf(path, sizeof path, "%s/dev/loop%d", dir, image.loop);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISBLK(st.st_mode) && minor(st.st_rdev) == (unsigned)image.loop);
    (void)close(image.fd);
    (void)close(image.file);
    assert_int_equal(umount2(dir, MNT_DETACH), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void sizes_are_few(void **state)
{
    const uint64_t mebi = 1 << 20;

    (void)state;
    assert_int_equal(disk_round(1), 64 * mebi);
    assert_int_equal(disk_round(64 * mebi), 64 * mebi);
    assert_int_equal(disk_round(64 * mebi + 1), 256 * mebi);
    assert_int_equal(disk_round(5 * 1024 * mebi), 5 * 1024 * mebi);
    assert_int_equal(disk_round(mebi << 24), mebi << 24);
    assert_int_equal(disk_round((mebi << 24) + 1), 0);
}

static void a_sweep_leaves_what_is_kept(void **state)
{
    static const char *const names[] = {"64.img", "65.img",  "64.img.new",
                                        "x.img",  "content", "copy"};
    char template[] = "/tmp/tidepool-disk-XXXXXX", path[128];
    const char *dir = mkdtemp(template);
    const uint64_t keep[] = {1, 64};
    struct err e = ERR_INIT;

    (void)state;
    assert_non_null(dir);
    (void)snprintf(path, sizeof path, "%s/cells/.images", dir);
    assert_int_equal(io_mkdirs(path, 0700, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(path, sizeof path, "%s/cells/.images/%s", dir, names[i]);
        assert_int_equal(io_write_file(path, STR("x"), 0600, &e), 0);
    }
    disk_sweep(dir, keep, ARRAY_LEN(keep));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool is_left = i == 0 || i > 3;
        (void)snprintf(path, sizeof path, "%s/cells/.images/%s", dir, names[i]);
        assert_int_equal(unlink(path) == 0, is_left);
    }
    (void)snprintf(path, sizeof path, "%s/cells/.images", dir);
    assert_int_equal(rmdir(path), 0);
    (void)snprintf(path, sizeof path, "%s/cells", dir);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_few),
        cmocka_unit_test(a_sweep_leaves_what_is_kept),
        cmocka_unit_test(a_loop_device_without_a_node_gets_one),
    };

    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP loop devices need root\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
