/* SPDX-License-Identifier: MIT */
/* One way of writing, for some seconds, on a new database: see run.
 *
 *     bench_store MODE SECONDS PATH
 *
 * A claim and a release are a transaction each: a value is set and an event is written. Prints
 * transactions, commits, seconds and CPU seconds. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/str.h"
#include "loop/loop.h"
#include "store/store.h"

enum { N_OPEN = 256 /* transactions on their way, or in one bare commit */ };

static int64_t end_us;

struct tally {
    uint64_t transactions, commits;
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_store: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static bool is_over(void)
{
    return clock_mono_us() >= end_us;
}

/* Slots are claimed and released in turn. */
static struct str slot_name(char out[32], uint64_t n)
{
    return str_n(out, (size_t)snprintf(out, 32, "slot-%" PRIu64, n / 2 % 1000));
}

static struct str verb(uint64_t n)
{
    return n % 2 == 0 ? STR("claimed by acme") : STR("free");
}

/* ---- through the store ---- */

static struct store_tx *make_tx(uint64_t n)
{
    struct store_tx *tx = store_tx_new();
    char name[32];
    struct str slot = slot_name(name, n);
    const struct store_event ev = {.at_us = clock_real_us(),
                                   .account = STR_INIT("acme"),
                                   .sandbox = slot,
                                   .kind = STR_INIT("Sandbox"),
                                   .type = STR_INIT("Normal"),
                                   .reason = STR_INIT("PoolAcquired"),
                                   .message = verb(n)};

    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, slot);
    store_tx_text(tx, verb(n));
    store_tx_expect(tx, 1, -1);
    store_tx_event(tx, &ev);
    return tx;
}

static struct store *open_store(const char *path)
{
    const struct store_opts opts = {.path = path};
    struct err e = ERR_INIT;
    struct store *s = store_open(&opts, &e);

    if (!s)
        die(err_text(&e));
    return s;
}

static struct tally close_store(struct store *s)
{
    struct store_stats st = store_stats(s);

    store_close(s);
    return (struct tally){st.transactions, st.commits};
}

/* One after another: each waits for its commit. */
static struct tally store_single(const char *path)
{
    struct store *s = open_store(path);

    for (uint64_t n = 0; !is_over(); n++) {
        struct store_tx *tx = make_tx(n);
        if (store_run(s, tx, NULL) < 0)
            die("transaction");
        store_tx_free(tx);
    }
    return close_store(s);
}

struct flight {
    struct store *store;
    struct loop *loop;
    uint64_t n;
    int n_open;
};

static void fly(struct flight *f);

static void on_done(struct store_tx *tx, int result, void *ctx)
{
    struct flight *f = ctx;

    (void)tx;
    if (result < 0)
        die("transaction");
    f->n_open--;
    if (!is_over())
        fly(f);
    else if (f->n_open == 0)
        loop_stop(f->loop);
}

static void fly(struct flight *f)
{
    f->n_open++;
    if (store_submit(f->store, make_tx(f->n++), f->loop, on_done, f) < 0)
        die("submit");
}

/* As the service does it: many clients wait at once. */
static struct tally store_grouped(const char *path)
{
    struct flight f = {.store = open_store(path), .loop = loop_new(NULL)};

    if (!f.loop)
        die("loop");
    for (int i = 0; i < N_OPEN; i++)
        fly(&f);
    (void)loop_run(f.loop);
    struct tally t = close_store(f.store);
    loop_free(f.loop);
    return t;
}

/* ---- bare SQLite ---- */

static void run_sql(sqlite3 *c, const char *sql)
{
    if (sqlite3_exec(c, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(c));
}

static sqlite3_stmt *prepare(sqlite3 *c, const char *sql)
{
    sqlite3_stmt *stmt;

    if (sqlite3_prepare_v3(c, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(c));
    return stmt;
}

static void step(sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        die("step");
    (void)sqlite3_reset(stmt);
}

static void bind(sqlite3_stmt *stmt, int at, struct str s)
{
    (void)sqlite3_bind_text(stmt, at, s.p, (int)s.len, SQLITE_TRANSIENT);
}

/* The tables and indexes of the store, without its chain, and its settings. */
static sqlite3 *open_bare(const char *path)
{
    sqlite3 *c;

    store_close(open_store(path));
    if (sqlite3_open(path, &c) != SQLITE_OK)
        die("open");
    run_sql(c, "PRAGMA synchronous = FULL");
    return c;
}

struct bare {
    sqlite3_stmt *begin, *commit, *set, *add;
};

static void bare_tx(const struct bare *b, uint64_t n)
{
    char name[32];
    struct str slot = slot_name(name, n);

    bind(b->set, 1, slot);
    bind(b->set, 2, verb(n));
    step(b->set);
    (void)sqlite3_bind_int64(b->add, 1, (sqlite3_int64)n + 1);
    (void)sqlite3_bind_int64(b->add, 2, clock_real_us());
    bind(b->add, 3, slot);
    bind(b->add, 4, verb(n));
    step(b->add);
}

static struct tally bare(const char *path, int per_commit)
{
    sqlite3 *c = open_bare(path);
    struct tally t = {0};
    struct bare b = {
        .begin = prepare(c, "BEGIN"),
        .commit = prepare(c, "COMMIT"),
        .set = prepare(c, "INSERT INTO meta (name, value) VALUES (?1, ?2)"
                          " ON CONFLICT (name) DO UPDATE SET value = excluded.value"),
        .add = prepare(c, "INSERT INTO event VALUES (?1, ?2, 'acme', ?3, 'Sandbox', 'Normal',"
                          " 'PoolAcquired', ?4, zeroblob(32), zeroblob(32))"),
    };

    while (!is_over()) {
        step(b.begin);
        for (int i = 0; i < per_commit; i++)
            bare_tx(&b, t.transactions++);
        step(b.commit);
        t.commits++;
    }
    (void)sqlite3_finalize(b.begin);
    (void)sqlite3_finalize(b.commit);
    (void)sqlite3_finalize(b.set);
    (void)sqlite3_finalize(b.add);
    (void)sqlite3_close(c);
    return t;
}

static struct tally bare_single(const char *path)
{
    return bare(path, 1);
}

static struct tally bare_grouped(const char *path)
{
    return bare(path, N_OPEN);
}

static const struct {
    const char *name;
    struct tally (*run)(const char *path);
} modes[] = {
    {"bare-single", bare_single},
    {"bare-grouped", bare_grouped},
    {"store-single", store_single},
    {"store-grouped", store_grouped},
};

int main(int argc, char **argv)
{
    if (argc != 4)
        die("usage: bench_store MODE SECONDS PATH");
    int64_t start_us = clock_mono_us();
    end_us = start_us + (int64_t)(strtod(argv[2], NULL) * 1e6);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(argv[1], modes[i].name) != 0)
            continue;
        struct tally t = modes[i].run(argv[3]);
        double seconds = (double)(clock_mono_us() - start_us) / 1e6;
        (void)printf("%" PRIu64 " %" PRIu64 " %.6f %.6f\n", t.transactions, t.commits, seconds,
                     cpu_seconds());
        return 0;
    }
    die("no such mode");
}
