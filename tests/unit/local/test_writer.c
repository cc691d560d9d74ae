/* SPDX-License-Identifier: MIT */
#include "local/archive/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/io.h"

enum { FILES = 300, LARGE = 3 << 20, MTIME_S = 1000000000 };

static char dir[] = "/tmp/test_writer.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    return rmdir(dir);
}

static const char *path_of(unsigned i)
{
    static char path[64];

    (void)snprintf(path, sizeof path, "%s/%u", dir, i);
    return path;
}

static void begin(struct writer *w, unsigned i)
{
    int fd = open(path_of(i), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    writer_begin(w, fd, path_of(i), MTIME_S + i);
}

/* Byte AT of file I. */
static char byte_of(unsigned i, size_t at)
{
    return (char)(i * 31 + at * 7 + (at >> 12));
}

static size_t size_of(unsigned i)
{
    return i == FILES / 2 ? LARGE : i % 3 == 0 ? 0 : (size_t)i * i;
}

static unsigned n_open(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void check_file(unsigned i)
{
    auto_buf struct buf b = BUF_INIT(LARGE + 1);
    struct stat st;

    assert_int_equal(io_read_file(path_of(i), &b, NULL), 0);
    assert_int_equal(b.len, size_of(i));
    for (size_t at = 0; at < b.len; at++) {
        if (b.p[at] != byte_of(i, at))
            fail_msg("file %u, byte %zu", i, at);
    }
    assert_int_equal(stat(path_of(i), &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, MTIME_S + i);
    assert_int_equal(unlink(path_of(i)), 0);
}

static void many_files_and_a_large_one_arrive_whole(void **state)
{
    unsigned before = n_open();
    struct writer *w = writer_new();
    struct err e = ERR_INIT;

    (void)state;
    assert_non_null(w);
    for (unsigned i = 0; i < FILES; i++) {
        auto_buf struct buf b = BUF_INIT(LARGE);
        for (size_t at = 0; at < size_of(i); at++)
            (void)buf_add_char(&b, byte_of(i, at));
        begin(w, i);
        /* In pieces that fit nowhere. */
        for (size_t at = 0; at < b.len;) {
            size_t n = b.len - at < 70001 ? b.len - at : 70001;
            assert_int_equal(writer_data(w, b.p + at, n, &e), 0);
            at += n;
        }
        assert_int_equal(writer_end(w, &e), 0);
    }
    assert_int_equal(writer_finish(w, &e), 0);
    for (unsigned i = 0; i < FILES; i++)
        check_file(i);
    writer_free(w);
    assert_int_equal(n_open(), before);
}

static void a_failure_is_told_with_its_path(void **state)
{
    unsigned before = n_open();
    struct writer *w = writer_new();
    struct err e = ERR_INIT;

    (void)state;
    assert_non_null(w);
    writer_begin(w, open("/dev/full", O_WRONLY | O_CLOEXEC), "some/file", 0);
    assert_int_equal(writer_data(w, "text", 4, &e), 0);
    assert_int_equal(writer_end(w, &e), 0);
    for (unsigned i = 0; i < 2; i++) {
        begin(w, i);
        assert_int_equal(writer_data(w, "text", 4, &e), 0);
        assert_int_equal(writer_end(w, &e), 0);
    }
    assert_int_equal(writer_finish(w, &e), -ENOSPC);
    assert_non_null(strstr(err_text(&e), "'some/file': write"));
    /* From then on all of them. */
    begin(w, 2);
    assert_int_equal(writer_end(w, &e), 0);
    assert_int_equal(writer_finish(w, &e), -ENOSPC);
    writer_free(w);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(unlink(path_of(i)), 0);
    assert_int_equal(n_open(), before);
}

static void what_is_dropped_is_closed(void **state)
{
    unsigned before = n_open();
    struct writer *w = writer_new();

    (void)state;
    assert_non_null(w);
    for (unsigned i = 0; i < 3; i++) {
        begin(w, i);
        assert_int_equal(writer_data(w, "text", 4, NULL), 0);
        if (i < 2)
            assert_int_equal(writer_end(w, NULL), 0);
    }
    writer_free(w); /* in the middle of the third */
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(unlink(path_of(i)), 0);
    assert_int_equal(n_open(), before);
    writer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_files_and_a_large_one_arrive_whole),
        cmocka_unit_test(a_failure_is_told_with_its_path),
        cmocka_unit_test(what_is_dropped_is_closed),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
