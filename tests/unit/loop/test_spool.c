/* SPDX-License-Identifier: MIT */
/* Files that worker threads write and read: order, limits, dropping, failures. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "loop/loop.h"
#include "loop/spool.h"
#include "loop/work.h"
#include "sys/io.h"

enum { SIZE = 5 << 20, STEP = 40001 };

struct world {
    struct loop *loop;
    struct work_pool *pool;
    char path[64];
    int n_done, result;
    int n_rooms;
    size_t n_read;
    bool is_good;
    struct spool_reader *reader;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    if (!w)
        return -1;
    w->loop = loop_new(NULL);
    w->pool = work_pool_new(2, 100, NULL);
    (void)snprintf(w->path, sizeof w->path, "/tmp/tidepool-spool-XXXXXX");
    int fd = mkstemp(w->path);
    (void)close(fd);
    *state = w;
    return w->loop && w->pool && fd >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
    struct world *w = *state;

    work_pool_free(w->pool);
    (void)loop_run_once(w->loop, 0); /* what the threads have left */
    loop_free(w->loop);
    (void)unlink(w->path);
    free(w);
    return 0;
}

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 31 + i / 1000);
}

static void on_end(void *ctx, int result)
{
    struct world *w = ctx;

    w->n_done++;
    w->result = result;
}

static void on_room(void *ctx)
{
    ((struct world *)ctx)->n_rooms++;
}

static void write_file(struct world *w)
{
    struct spool *s = spool_new(w->pool, w->loop, io_open(w->path, O_WRONLY | O_TRUNC, 0600));
    char piece[STEP];

    assert_non_null(s);
    for (size_t at = 0; at < SIZE; at += STEP) {
        size_t len = SIZE - at < STEP ? SIZE - at : STEP;
        for (size_t i = 0; i < len; i++)
            piece[i] = (char)byte_at(at + i);
        assert_int_equal(spool_write(s, piece, len), 0);
        int before = w->n_rooms;
        if (spool_is_full(s)) {
            spool_on_room(s, on_room, w);
            while (w->n_rooms == before)
                assert_true(loop_run_once(w->loop, 1000) >= 0);
        }
    }
    assert_int_equal(spool_size(s), SIZE);
    spool_end(s, on_end, w);
    assert_int_equal(w->n_done, 0);
    while (w->n_done == 0)
        assert_true(loop_run_once(w->loop, 1000) >= 0);
    assert_int_equal(w->result, 0);
}

static void on_piece(void *ctx, struct str piece, int result)
{
    struct world *w = ctx;

    for (size_t i = 0; i < piece.len; i++)
        w->is_good = w->is_good && (unsigned char)piece.p[i] == byte_at(w->n_read + i);
    w->n_read += piece.len;
    w->result = result;
    if (piece.len == 0 || result < 0)
        w->n_done++;
    else
        spool_read(w->reader, on_piece, w);
}

static void read_file(struct world *w, size_t at, size_t len)
{
    w->n_done = 0;
    w->is_good = true;
    w->n_read = at;
    w->reader = spool_reader_new(w->pool, w->loop, io_open(w->path, O_RDONLY, 0), at, len);
    assert_non_null(w->reader);
    spool_read(w->reader, on_piece, w);
    while (w->n_done == 0)
        assert_true(loop_run_once(w->loop, 1000) >= 0);
    spool_reader_free(w->reader);
}

static void what_is_written_is_read(void **state)
{
    struct world *w = *state;

    write_file(w);
    read_file(w, 0, SIZE);
    assert_int_equal(w->result, 0);
    assert_int_equal(w->n_read, SIZE);
    assert_true(w->is_good);
    read_file(w, 1000003, 700000);
    assert_int_equal(w->n_read, 1700003);
    assert_true(w->is_good);
    read_file(w, SIZE - 10, 11);
    assert_int_equal(w->result, -EIO);
}

static void dropped_ones_say_nothing(void **state)
{
    struct world *w = *state;
    char piece[STEP] = {0};

    for (int i = 0; i < 20; i++) {
        struct spool *s = spool_new(w->pool, w->loop, io_open(w->path, O_WRONLY, 0));
        assert_non_null(s);
        for (int k = 0; k < i; k++)
            assert_int_equal(spool_write(s, piece, sizeof piece), 0);
        spool_drop(s);
        struct spool_reader *r =
            spool_reader_new(w->pool, w->loop, io_open(w->path, O_RDONLY, 0), 0, 1);
        assert_non_null(r);
        if (i % 2)
            spool_read(r, on_piece, w);
        spool_reader_free(r);
        (void)loop_run_once(w->loop, 10);
    }
    for (int i = 0; i < 50; i++)
        (void)loop_run_once(w->loop, 1);
    assert_int_equal(w->n_done, 0);
}

static void failures_are_told(void **state)
{
    struct world *w = *state;
    char piece[STEP] = {0};
    int fd = io_open("/dev/full", O_WRONLY, 0);

    assert_true(fd >= 0);
    struct spool *s = spool_new(w->pool, w->loop, fd);
    assert_non_null(s);
    for (int i = 0; i < 20; i++)
        (void)spool_write(s, piece, sizeof piece);
    spool_end(s, on_end, w);
    while (w->n_done == 0)
        assert_true(loop_run_once(w->loop, 1000) >= 0);
    assert_int_equal(w->result, -ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(dropped_ones_say_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
