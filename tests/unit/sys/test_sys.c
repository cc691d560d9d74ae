/* SPDX-License-Identifier: MIT */
/* Files and digests. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/enc.h"
#include "base/fault.h"
#include "sys/digest.h"
#include "sys/io.h"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/tidepool-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static const char *in_dir(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(in_dir("file"));
    return rmdir(dir);
}

static void file_is_replaced_whole(void **state)
{
    struct buf b auto_buf = BUF_INIT(100);
    struct err e = ERR_INIT;
    struct stat st;

    (void)state;
    assert_int_equal(io_write_file(in_dir("file"), STR("one"), 0600, &e), 0);
    assert_int_equal(io_write_file(in_dir("file"), STR("two!"), 0600, &e), 0);
    assert_int_equal(io_read_file(in_dir("file"), &b, &e), 0);
    assert_str(buf_str(&b), "two!");
    assert_int_equal(stat(in_dir("file"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void file_larger_than_the_buffer_is_an_error(void **state)
{
    struct buf b auto_buf = BUF_INIT(3);
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(io_write_file(in_dir("file"), STR("four"), 0600, &e), 0);
    assert_int_equal(io_read_file(in_dir("file"), &b, &e), -ENOBUFS);
    assert_int_equal(io_read_file(in_dir("none"), &b, &e), -ENOENT);
}

static void directories_are_made_with_their_parents(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(io_mkdirs(in_dir("a/b/c"), 0700, &e), 0);
    assert_int_equal(io_mkdirs(in_dir("a/b/c"), 0700, &e), 0);
    assert_int_equal(rmdir(in_dir("a/b/c")), 0);
    assert_int_equal(rmdir(in_dir("a/b")), 0);
    assert_int_equal(rmdir(in_dir("a")), 0);
}

#ifdef TIDEPOOL_FAULT
static void a_failing_write_leaves_the_old_file(void **state)
{
    bool fired = true;

    (void)state;
    assert_int_equal(io_write_file(in_dir("file"), STR("old"), 0600, NULL), 0);
    for (unsigned n = 1; fired; n++) {
        struct buf b auto_buf = BUF_INIT(100);
        fault_arm(FAULT_IO, n);
        int r = io_write_file(in_dir("file"), STR("new"), 0600, NULL);
        fired = fault_fired(FAULT_IO);
        fault_arm(FAULT_IO, 0);
        assert_int_equal(r, fired ? -EIO : 0);
        assert_int_equal(io_read_file(in_dir("file"), &b, NULL), 0);
        assert_true(str_is(buf_str(&b), "old") || str_is(buf_str(&b), "new"));
    }
}
#endif

static void digests_match_published_vectors(void **state)
{
    unsigned char out[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    const struct str parts[] = {STR_INIT("a"), STR_INIT(""), STR_INIT("bc")};

    (void)state;
    digest_sha1(out, STR("abc"));
    enc_hex(hex, out, DIGEST_SHA1_LEN);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    digest_sha256_parts(out, parts, 3);
    enc_hex(hex, out, DIGEST_SHA256_LEN);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_sha256(out, STR_NULL);
    enc_hex(hex, out, DIGEST_SHA256_LEN);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_hmac_sha256(out, STR("Jefe"), STR("what do ya want for nothing?"));
    enc_hex(hex, out, DIGEST_SHA256_LEN);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_is_replaced_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(file_larger_than_the_buffer_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(directories_are_made_with_their_parents, setup, teardown),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test_setup_teardown(a_failing_write_leaves_the_old_file, setup, teardown),
#endif
        cmocka_unit_test(digests_match_published_vectors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
