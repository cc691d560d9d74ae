/* SPDX-License-Identifier: MIT */
/* Events: what happened to whom. They are written into the audit chain together with the effect
 * that they describe (store_tx_event()), and read back as the API shows them. */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "store/store.h"

struct jw;

enum event_reason {
#define EVENT(name, reason, kind, type) EVENT_##name,
#include "core/event.def"
#undef EVENT
    EVENT_REASON_COUNT
};
/* "SandboxCreated" */
const char *event_reason_name(enum event_reason reason);

/* ---- writing ---- */

#define EVENT_MAX_MESSAGE 1024 /* bytes; longer ones are cut */

/* Adds an event to TX. OBJECT is the name of the sandbox, key, …; ACCOUNT may see the event, empty:
 * system only. The message is made valid UTF-8. Errors stick in TX. */
void event_add(struct store_tx *tx, enum event_reason reason, struct str account, struct str object,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* True when NAME is the reason of some event / of one that reports the end of a sandbox or a lease,
 * or that its time was over. */
bool event_reason_is_known(struct str name);
bool event_is_end(struct str name);

/* ---- reading ---- */

#define EVENT_DEFAULT_LIMIT 100
#define EVENT_MAX_LIMIT     500

struct event_filter {
    bool is_system;     /* sees everything; others what is their account's */
    struct str account; /* ignored for the system */
    struct str sandbox; /* name of the object; empty: all */
    unsigned limit;     /* items; 0 means the default, more than the maximum is clamped */
};

/* RESULT is 0 or -errno; ITEMS a JSON array, newest first, valid during the call. */
typedef void event_answer(int result, struct str items, void *ctx);

/* Reads events and calls FN on LOOP's thread. Consecutive ones that say the same of the same object
 * are one item with a count; at most EVENT_MAX_SCAN rows are read for that. 0, or -ENOMEM or -EBUSY
 * (then FN is not called). */
#define EVENT_MAX_SCAN 20000
int event_query(struct store *s, struct loop *loop, const struct event_filter *filter,
                event_answer *fn, void *ctx);

/* ---- following ---- */

/* An event as it is in the log; everything is valid during the call. */
struct event_row {
    int64_t seq, at_us;
    struct str account, object, kind, type, reason, message;
};

/* Writes it as an object. */
void event_row_write(struct jw *w, const struct event_row *ev);

struct event_page {
    bool is_system;     /* as in event_filter */
    struct str account; /* copied */
    int64_t after;      /* events with greater numbers */
    unsigned limit;
};

/* RESULT is 0 or -errno; ROWS the N oldest events that fit, oldest first. */
typedef void event_rows_fn(int result, const struct event_row *rows, size_t n, void *ctx);

#define EVENT_PAGE_MAX 200
/* Reads a page of at most EVENT_PAGE_MAX and calls FN on LOOP's thread. 0, or -ENOMEM or -EBUSY
 * (then FN is not called). */
int event_read(struct store *s, struct loop *loop, const struct event_page *page, event_rows_fn *fn,
               void *ctx);
