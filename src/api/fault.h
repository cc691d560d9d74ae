/* SPDX-License-Identifier: MIT */
/* What can be wrong with a request, before anybody decides how to say it. The general part of the
 * program and the handlers name a fault; the surface gives it status and shape (its shape.c). */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum api_fault_kind {
    API_FAULT_PLAIN,        /* the status and the text say it all */
    API_FAULT_NO_KEY,       /* no API key was sent */
    API_FAULT_BAD_KEY,      /* one was, but it is not known */
    API_FAULT_NOT_SYSTEM,   /* a system key is needed */
    API_FAULT_ONLY_GRADES,  /* the key is a grader's, who may only look */
    API_FAULT_ONLY_METRICS, /* the key may only read the metrics */
    API_FAULT_NO_ROUTE,     /* unknown path */
    API_FAULT_BAD_METHOD,   /* known path, other method */
    API_FAULT_BAD_PATH,     /* dot segments, malformed escapes */
    API_FAULT_BODY_JSON,    /* the body is no JSON */
    API_FAULT_BODY_NONE,    /* a body is needed */
    API_FAULT_IDEM_REUSED,  /* the Idempotency-Key belongs to another request */
    API_FAULT_IDEM_BUSY,    /* the request of that Idempotency-Key is still under way */
    API_FAULT_RATE,         /* the key asks too often, or for too much at once: 429 */
    API_FAULT_BUSY,         /* a queue of the service is full: 503 */
    API_FAULT_FULL,         /* the disk of the service is full: 507 */
    API_FAULT_COUNT
};

struct api_fault {
    enum api_fault_kind kind;
    int status;      /* 0: the kind's own */
    struct str text; /* empty: the kind's own */
};

/* The status and text that a fault has when its surface has no other wishes. */
int api_fault_status(const struct api_fault *f);
struct str api_fault_text(const struct api_fault *f);

struct buf;
/* The shape of native, E2B and operations: {"code":404,"message":"…"}. */
int api_fault_code_message(struct buf *out, const struct api_fault *f);
