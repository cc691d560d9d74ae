/* SPDX-License-Identifier: MIT */
/* A program to be killed: three threads write to a store as fast as it takes it, and say on
 * standard output what is durable, one "SEQ WRITER NUMBER" a line. What they wrote is checked after
 * the kill by test_store_kill.py.
 *
 *     store_kill write PATH KEEP    until it is killed; KEEP events stay (-1: all)
 *     store_kill check PATH         opens, verifies the chain, closes; says "ok N events to SEQ" */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "loop/loop.h"
#include "store/chain.h"
#include "sys/io.h"

enum { N_WRITERS = 3, N_OPEN = 64 /* transactions of a writer on their way */ };

struct writer {
    struct store *store;
    struct loop *loop;
    pthread_t thread;
    int id;
    int64_t next;
};

/* What is told of one transaction. */
struct ticket {
    struct writer *w;
    int64_t number;
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "store_kill: %s\n", what);
    exit(1);
}

static void submit(struct ticket *t);

static void on_done(struct store_tx *tx, int result, void *ctx)
{
    struct ticket *t = ctx;
    char line[80];

    if (result < 0)
        die("a transaction failed");
    int n = snprintf(line, sizeof line, "%" PRId64 " %d %" PRId64 "\n", store_tx_seq(tx, 0),
                     t->w->id, t->number);
    if (io_write_all(STDOUT_FILENO, line, (size_t)n) < 0)
        exit(0); /* nobody listens any more */
    submit(t);
}

/* The writer's number goes into an event and, in the same transaction, into a value of its own: one
 * without the other would be half a transaction. */
static void submit(struct ticket *t)
{
    struct store_tx *tx = store_tx_new();
    char name[16], number[24];

    t->number = t->w->next++;
    (void)snprintf(name, sizeof name, "writer%d", t->w->id);
    (void)snprintf(number, sizeof number, "%" PRId64, t->number);
    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, str_of(name));
    store_tx_text(tx, str_of(number));
    const struct store_event ev = {.at_us = clock_real_us(),
                                   .account = STR_INIT("acme"),
                                   .sandbox = str_of(name),
                                   .kind = STR_INIT("Sandbox"),
                                   .type = STR_INIT("Normal"),
                                   .reason = STR_INIT("SandboxCreated"),
                                   .message = str_of(number)};
    store_tx_event(tx, &ev);
    if (store_submit(t->w->store, tx, t->w->loop, on_done, t) < 0)
        die("submit");
}

/* Goes on with the number after the last one that is in the store. */
static int64_t first_number(struct store *s, int id)
{
    struct store_tx *tx = store_tx_new();
    char name[16];
    int64_t last = 0;

    (void)snprintf(name, sizeof name, "writer%d", id);
    store_tx_add(tx, STORE_META_GET);
    store_tx_text(tx, str_of(name));
    if (store_run(s, tx, NULL) < 0)
        die("read");
    if (store_tx_n_rows(tx, 0) > 0 && str_to_i64(store_tx_row(tx, 0, 0).cols[0].s, &last) < 0)
        die("a value is not a number");
    store_tx_free(tx);
    return last + 1;
}

static void *write_on(void *arg)
{
    struct writer *w = arg;
    struct ticket tickets[N_OPEN];

    w->loop = loop_new(NULL);
    if (!w->loop)
        die("loop");
    for (int i = 0; i < N_OPEN; i++) {
        tickets[i].w = w;
        submit(&tickets[i]);
    }
    (void)loop_run(w->loop);
    return NULL;
}

static void write_all(struct store *s)
{
    struct writer writers[N_WRITERS];

    for (int i = 0; i < N_WRITERS; i++) {
        writers[i] = (struct writer){.store = s, .id = i, .next = first_number(s, i)};
        if (pthread_create(&writers[i].thread, NULL, write_on, &writers[i]) != 0)
            die("thread");
    }
    for (int i = 0; i < N_WRITERS; i++)
        (void)pthread_join(writers[i].thread, NULL);
}

static int check(struct store *s)
{
    struct chain_report rep;
    struct err e = ERR_INIT;

    if (chain_verify(s, &rep, &e) < 0)
        die(err_text(&e));
    if (rep.fault != CHAIN_OK) {
        (void)printf("broken at %" PRId64 ": %s\n", rep.seq, chain_fault_text(rep.fault));
        return 1;
    }
    (void)printf("ok %" PRId64 " events to %" PRId64 "\n", rep.n_events, rep.head.seq);
    return 0;
}

int main(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct store_opts opts = {.path = argc > 2 ? argv[2] : NULL, .keep_events = -1};
    bool is_writer = argc == 4 && strcmp(argv[1], "write") == 0;

    if (!is_writer && !(argc == 3 && strcmp(argv[1], "check") == 0))
        die("usage: store_kill write PATH KEEP | check PATH");
    if (is_writer && str_to_i64(str_of(argv[3]), &opts.keep_events) < 0)
        die("KEEP is a number");
    struct store *s = store_open(&opts, &e);
    if (!s)
        die(err_text(&e));
    int r = 0;
    if (is_writer)
        write_all(s);
    else
        r = check(s);
    store_close(s);
    return r;
}
