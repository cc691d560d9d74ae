/* SPDX-License-Identifier: MIT */
/* A call of an app's tool: arguments are checked and completed, the script is run, and what comes
 * of it is reported as the product does. */
#pragma once

#include "apps/db/db.h"
#include "apps/engine/app.h"

enum app_answer_kind {
    APP_ANSWER_TEXT,    /* a result of one text */
    APP_ANSWER_CONTENT, /* a result: a JSON array of content items */
    APP_ANSWER_ERROR,   /* a result of one text with isError */
    APP_ANSWER_RPC      /* an error of the protocol with this message */
};

struct app_answer {
    enum app_answer_kind kind;
    struct str text;
    bool is_failure; /* the product says that it failed, in whichever way */
    bool is_fixed;   /* it is the same until the database changes */
    /* What the engine says of a call that the script could not cope with: for the log and for who
     * writes apps, never for clients. .p NULL: nothing. */
    struct str fault;
};

struct app_handle;

/* Checks the arguments of C->tool, of APP, and adds their defaults; runs its script in X; reports
 * what came of it the way the product does. This is the only place where arguments of an app's
 * tools are checked. 0, or -errno with E when the fault is ours: nothing was changed then. -EAGAIN:
 * it was brief and would take longer; to be done again with the usual limits, on another thread. */
int app_call(struct app_handle *x, const struct app *app, struct app_call *c,
             struct app_answer *ret, struct err *e);
/* The answer to a call of an unknown tool. -ENOMEM. */
int app_call_unknown(const struct app *app, struct str name, struct arena *a,
                     struct app_answer *ret);
