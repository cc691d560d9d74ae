/* SPDX-License-Identifier: MIT */
/* The webhook: events are posted to an address of the operator's, for those who cannot hold a
 * stream open (native/event_streams.h).
 *
 *     POST URL
 *     Tidepool-Timestamp: 1700000000
 *     Tidepool-Signature: sha256=HEX     HMAC-SHA256 of "TIMESTAMP.BODY" with the secret
 *
 *     {"events": [{"id": 17, "time": "…", "reason": "AppExpired", …}, …]}
 *
 * Every event is posted at least once, in order: what is not answered with 2xx is posted again,
 * after a wait that grows from a second to five minutes. The queue is the log of events itself, so
 * it needs no memory and has its bound (events.keep). How far it got is in a file of the state
 * directory, written after each delivery; without that file it begins with what happens next. One
 * delivery at a time, on a thread of its own, because names have to be looked up. */
#pragma once

#include "base/err.h"

struct core;
struct webhook;

/* *RET is NULL when none is set. 0, or -errno with E filled when the setting makes no sense. */
int webhook_new(struct core *core, struct webhook **ret, struct err *e);
/* Begins nothing new. NULL is allowed, in both. */
void webhook_stop(struct webhook *w);
/* Waits for a delivery under way. */
void webhook_free(struct webhook *w);
