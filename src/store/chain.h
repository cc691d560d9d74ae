/* SPDX-License-Identifier: MIT */
/* The audit chain: every event carries the SHA-256 of itself and of the event before it, so that a
 * changed, removed or inserted row breaks a link. The newest link is also kept beside the rows, and
 * when old events are removed the last removed one, so that both ends are known.
 *
 * The chain shows damage and careless edits. It is no signature: who can write the whole file can
 * also compute a new chain, unless the head was noted elsewhere. */
#pragma once

#include <stdint.h>

#include "store/store.h"
#include "sys/digest.h"

/* An event's place in the chain. The one before the first event is all zeroes. */
struct chain_link {
    int64_t seq;
    unsigned char hash[DIGEST_SHA256_LEN];
};

/* The link of EV behind PREV: number and hash. */
struct chain_link chain_next(const struct chain_link *prev, const struct store_event *ev);

/* Links as text, "17:ab01…", and back (0 or -EINVAL). */
#define CHAIN_TEXT_MAX (22 + 2 * DIGEST_SHA256_LEN)
void chain_format(char out[CHAIN_TEXT_MAX], const struct chain_link *link);
int chain_parse(struct str text, struct chain_link *ret);

/* Names in the meta table: the newest link, and the newest that retention removed. */
#define CHAIN_META_HEAD   "event_head"
#define CHAIN_META_ANCHOR "event_anchor"

/* ---- verification ---- */

enum chain_fault {
    CHAIN_OK,
    CHAIN_BAD_HASH, /* the event was changed */
    CHAIN_BAD_PREV, /* it does not follow the one before */
    CHAIN_MISSING,  /* its number is absent, though newer ones are there */
    CHAIN_CUT,      /* the newest events are absent */
    CHAIN_BAD_HEAD, /* the note of the newest link is absent or disagrees */
    CHAIN_FAULT_COUNT
};
const char *chain_fault_text(enum chain_fault f);

struct chain_report {
    enum chain_fault fault;
    int64_t seq;            /* of the first broken link */
    int64_t n_events;       /* that were read and found whole */
    struct chain_link head; /* the last one of them */
};

/* Walks through all events, oldest first, up to the first broken link. 0 when RET says what was
 * found, or -errno when the store could not be read. Takes as long as it takes to read the store;
 * another process may write meanwhile. */
int chain_verify(struct store *s, struct chain_report *ret, struct err *e);
