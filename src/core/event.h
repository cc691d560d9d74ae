/* SPDX-License-Identifier: MIT */
/* Events: what happened to whom. They are written into the audit chain together with the effect
 * that they tell of (store_tx_event()), and read back as the API shows them. */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "store/store.h"

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
