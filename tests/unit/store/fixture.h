/* SPDX-License-Identifier: MIT */
/* A directory of its own for every store test, and short names for what they all do. */
#pragma once

#include "../check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/store.h"
#include "sys/io.h"

static char fixture_dir[64];

/* In memory where that is possible: these tests make thousands of commits. */
static inline int fixture_setup(void **state)
{
    const char *parent = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";

    (void)state;
    (void)snprintf(fixture_dir, sizeof fixture_dir, "%s/tidepool-test-XXXXXX", parent);
    return mkdtemp(fixture_dir) ? 0 : -1;
}

/* The path of a file in the directory; valid until the fourth call after it. */
static inline const char *fixture_path(const char *name)
{
    static char paths[4][160];
    static unsigned at;
    char *path = paths[at++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", fixture_dir, name);
    return path;
}

static inline int fixture_teardown(void **state)
{
    DIR *d = opendir(fixture_dir);
    const struct dirent *entry;

    (void)state;
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            (void)unlink(fixture_path(entry->d_name));
    if (d)
        (void)closedir(d);
    return rmdir(fixture_dir);
}

static inline struct store *fixture_open_with(struct store_opts opts)
{
    struct err e = ERR_INIT;

    opts.path = fixture_path("db");
    struct store *s = store_open(&opts, &e);
    if (!s)
        fail_msg("%s", err_text(&e));
    return s;
}

static inline struct store *fixture_open(void)
{
    return fixture_open_with((struct store_opts){0});
}

static inline struct store *fixture_audit(void)
{
    return fixture_open_with((struct store_opts){.is_read_only = true});
}

/* A transaction that sets a name in the meta table. */
static inline struct store_tx *fixture_set(const char *name, const char *value)
{
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, str_of(name));
    store_tx_text(tx, str_of(value));
    return tx;
}

/* Runs and frees. */
static inline int fixture_run(struct store *s, struct store_tx *tx)
{
    int r = store_run(s, tx, NULL);

    store_tx_free(tx);
    return r;
}

/* True when NAME has VALUE; NULL means that it is not there. */
static inline bool fixture_has(struct store *s, const char *name, const char *value)
{
    struct store_tx *tx = store_tx_new();
    bool has;

    store_tx_add(tx, STORE_META_GET);
    store_tx_text(tx, str_of(name));
    assert_int_equal(store_run(s, tx, NULL), 0);
    if (store_tx_n_rows(tx, 0) == 0)
        has = value == NULL;
    else
        has = value && str_is(store_tx_row(tx, 0, 0).cols[0].s, value);
    store_tx_free(tx);
    return has;
}

static inline int64_t fixture_count(struct store *s)
{
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_EVENT_COUNT);
    assert_int_equal(store_run(s, tx, NULL), 0);
    int64_t n = store_tx_row(tx, 0, 0).cols[0].i;
    store_tx_free(tx);
    return n;
}

static inline void fixture_event(struct store_tx *tx, const char *sandbox, const char *message)
{
    const struct store_event ev = {.at_us = 1769508000000000,
                                   .account = STR_INIT("acme"),
                                   .sandbox = str_of(sandbox),
                                   .kind = STR_INIT("Sandbox"),
                                   .type = STR_INIT("Normal"),
                                   .reason = STR_INIT("SandboxCreated"),
                                   .message = str_of(message)};

    store_tx_event(tx, &ev);
}

static inline int fixture_log(struct store *s, const char *message)
{
    struct store_tx *tx = store_tx_new();

    fixture_event(tx, "box", message);
    return fixture_run(s, tx);
}
