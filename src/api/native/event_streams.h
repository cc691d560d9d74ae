/* SPDX-License-Identifier: MIT */
/* GET /api/v1/events/stream: events as they happen, for whoever would else have to ask again and
 * again. A stream begins behind the event that the client saw last, so that nothing is missed or
 * sent twice over a lost connection or a restart of the service; what was removed from the log
 * meanwhile (setting events.keep) is not sent.
 *
 * Every stream reads the log for itself, when there is something new in it, at most ten times a
 * second. */
#pragma once

struct event_streams;

enum {
    EVENT_STREAMS_MAX = 256,   /* in the service */
    EVENT_STREAMS_OF_ONE = 16, /* of one account */
    EVENT_STREAM_REASONS = 32  /* that one stream may ask for */
};

/* Ends all of them: their clients come back to the next service. NULL is allowed. */
void event_streams_stop(struct event_streams *all);
void event_streams_free(struct event_streams *all);
