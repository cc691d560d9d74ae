/* SPDX-License-Identifier: MIT */
/* Idempotency keys: a client that got no answer may send its request again, with the same
 * Idempotency-Key, and the effect happens once.
 *
 * The handler asks with idem_begin() first. When the key is new it does its work, puts the finished
 * answer into the same store transaction as the effect (idem_add()), and ends with idem_end(): a
 * crash between the commit and the answer loses neither. A repetition gets the recorded answer.
 * Keys count per account and route, for IDEM_KEEP_S.
 *
 * An idem belongs to one loop's thread. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "store/store.h"

#define IDEM_KEEP_S        (24 * 60 * 60)
#define IDEM_MAX_KEY       255
#define IDEM_MAX_BODY      (1UL << 20) /* of a recorded answer */
#define IDEM_MAX_IN_FLIGHT 16384

struct idem;
struct idem_op; /* a request that is being processed */

/* Also starts sweeping old records. NULL with E filled on failure. */
struct idem *idem_new(struct store *s, struct loop *loop, struct err *e);
/* Stops sweeping. What is under way may still end. NULL is allowed. */
void idem_free(struct idem *im);

/* 1 to IDEM_MAX_KEY visible ASCII characters. */
bool idem_key_is_valid(struct str key);

struct idem_request {
    struct str account;
    struct str route; /* method and path */
    struct str key;
    struct str body; /* of the request */
};

struct idem_answer {
    int status;
    struct str content_type, body;
    struct str thing; /* the id of what it is about, for idem_tx_forget(); may be empty */
};

enum idem_verdict {
    IDEM_NEW,       /* OP is yours: do it, then idem_end() */
    IDEM_REPLAY,    /* done before: repeat ANSWER, which is valid during the call */
    IDEM_MISMATCH,  /* the key was used for another body */
    IDEM_IN_FLIGHT, /* it is being done right now */
};

/* VERDICT is one of the above or -errno when the store failed. OP is NULL unless IDEM_NEW, ANSWER
 * unless IDEM_REPLAY. */
typedef void idem_begun(struct idem_op *op, int verdict, const struct idem_answer *answer,
                        void *ctx);

/* Looks the key up and calls FN on the loop's thread, possibly before this returns. 0; or -EINVAL
 * when the key is malformed, -ENOMEM, -EBUSY when too many requests are under way (then FN is not
 * called). */
int idem_begin(struct idem *im, const struct idem_request *rq, idem_begun *fn, void *ctx);
/* Records the answer in TX. 0, or -E2BIG when it is too long to be kept. Errors otherwise stick in
 * TX, which then fails as a whole. */
int idem_add(struct idem_op *op, struct store_tx *tx, const struct idem_answer *answer);
/* Adds to TX that answers about THING are forgotten: with what removes a thing that nobody
 * can have, so that a repetition creates it again instead of reporting that it exists. */
void idem_tx_forget(struct store_tx *tx, struct str thing);
/* Forgets that the request is being processed: after its transaction has ended or was given up. */
void idem_end(struct idem_op *op);
