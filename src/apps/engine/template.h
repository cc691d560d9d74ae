/* SPDX-License-Identifier: MIT */
/* Databases as files: made from an app's schema and a seed, and copied. */
#pragma once

#include "apps/db/db.h"
#include "apps/engine/app.h"

/* The clock of templates, so that they are made alike everywhere: 2026-01-15T09:00:00Z. */
#define TEMPLATE_START_US 1768467600000000

/* Makes the database PATH with APP's tables and, with SEED, what import makes of it. PATH must not
 * exist; it is removed again when this fails. */
int template_make(const struct app *app, const char *path, const struct json *seed, struct err *e);
/* What APP's databases are opened with. */
struct appdb_env template_env(const struct app *app, uint64_t seed, int64_t start_us);

/* Runs import on BODY and gives its result: a text in A with .p NULL on failure. -EINVAL also when
 * it says `error`: E has just that. */
struct str template_import(const struct app *app, struct appdb *db, const struct json *body,
                           struct arena *a, struct err *e);
/* What export gives: a text in A with .p NULL on failure. */
struct str template_export(const struct app *app, struct appdb *db, struct arena *a, struct err *e);
