/* SPDX-License-Identifier: MIT */
/* A laboratory for cells, for tests and benchmarks: an engine in a state directory of its own, with
 * calls that wait. Cleans up after itself; cells live in control groups of the instance only. */
#pragma once

#include <stdbool.h>

#include "loop/loop.h"
#include "runtime/engine.h"

struct lab {
    struct loop *loop;
    struct engine *engine;
    char state[64];
    const char *envd;            /* NULL: $TIDEPOOL_ENVD */
    unsigned stock, stock_again; /* now; after lab_reopen() */
    unsigned n_gone;             /* cells whose end was reported */
    int last_status;
};

struct lab_result {
    int code; /* exit code, 128 + signal, or -errno when the command did not start */
    bool is_timed_out, is_output_cut;
    char out[65536], err[4096];
    struct err e;
};

/* True, and a TAP line that skips all, when this machine cannot run cells. */
bool lab_must_skip(void);
/* The program that becomes cells. */
const char *lab_envd(void);
/* Opens an engine that keeps STOCK cells; VERSION CGROUP_NONE takes what the host has. */
int lab_open(struct lab *l, unsigned stock, enum cgroup_version version, struct err *e);
/* Connects again, as a restarted daemon does. */
int lab_reopen(struct lab *l, struct err *e);
/* Ends everything and removes the state directory. */
void lab_close(struct lab *l);

/* 256 MiB of memory, 128 processes, no cpu limit, 64 MiB of disk in memory. */
struct cell_spec lab_spec(void);
struct engine_cell *lab_create(struct lab *l, const char *label, const struct cell_spec *spec,
                               struct err *e);
/* Waits until the stock is full; false after 10 s. */
bool lab_wait_stock(struct lab *l);
/* Kills and waits for the report. */
void lab_kill(struct lab *l, struct engine_cell *c);
/* Runs a command; R may be NULL. Returns R->code. */
int lab_run(struct lab *l, struct engine_cell *c, const struct engine_run *run,
            struct lab_result *r);
/* `sh -c SCRIPT` as USER. */
int lab_sh(struct lab *l, struct engine_cell *c, const char *user, const char *script,
           struct lab_result *r);

/* What exists on the host that cells could leave behind. */
struct lab_census {
    unsigned mounts, cgroups, processes, own_fds, spawner_fds, files;
};
void lab_count(struct lab *l, struct lab_census *ret);
