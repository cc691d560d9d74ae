/* SPDX-License-Identifier: MIT */
/* Files of cases, for check.c; see apps/check/check.h for what is in them. */
#pragma once

#include "apps/check/check.h"

/* Which tools were seen to succeed and to fail. */
struct coverage {
    bool has_success[APP_MAX_TOOLS], has_failure[APP_MAX_TOOLS];
};

/* The database that is made for each file, of C's home. */
#define CHECK_DATABASE "instances/check"

/* Runs cases/NAME. */
void cases_run(struct app_check *c, const char *name, struct coverage *seen);

void check_finding(struct app_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What was exported can be imported, and gives the same again. Uses a database at PATH. */
void check_dump(struct app_check *c, const char *what, struct str dump);
