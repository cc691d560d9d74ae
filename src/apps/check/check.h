/* SPDX-License-Identifier: MIT */
/* The test of an app: every statement is prepared, and the cases are run.
 *
 * A file of cases begins with the default seed, the seed 1 and the clock at 2026-01-15T09:00:00Z.
 * Each line of it is a call and what has to come of it:
 *
 *     {"tool": "get_order", "args": {"id": "7"}, "result": {"id": "7", "total": 3}}
 *
 * "result" is compared as JSON, "text" byte by byte, "has" is a part of the result (the members
 * that it names; of arrays: as many items from the first on), "error" is the failure in the
 * product's own way; "save" {"name": "/pointer"} keeps a value of the result, which "$name" stands
 * for in later lines. What the lines left behind has to come out of a dump and in again unchanged.
 */
#pragma once

#include "apps/engine/app.h"

struct app_home;

struct app_check {
    const struct app *app;
    /* Told of each finding: "cases/get.jsonl:3: …". */
    void (*finding)(void *ctx, const char *text);
    void *ctx;

    struct app_home *home; /* of the app's engine, while it is checked */
    unsigned n_cases, n_findings;
};

/* Uses the directory DIR for its databases, which are removed again. -errno when it could not be
 * done at all. */
int app_check(struct app_check *c, const char *dir, struct err *e);
