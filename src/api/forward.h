/* SPDX-License-Identifier: MIT */
/* Requests that are answered inside a sandbox, whichever surface they came to. */
#pragma once

#include "api/origin.h"
#include "api/req.h"
#include "proxy/proxy.h"

struct sandbox;

/* The port of the sandbox's own service. */
#define FORWARD_OWN 0

struct forward {
    struct sandbox *sandbox;
    uint16_t port;
    enum origin_kind origin; /* that a page of the answer would have */
    struct proxy_pass pass;  /* address, fail, is_cut, done, ctx and the rules for cookies and
                              * answers are filled in */
    /* Answer R: the sandbox cannot be used (-ENOENT it is about to end, -EHOSTDOWN paused and not
     * resumed by use); or it can, but the service inside fails. */
    void (*refuse)(struct api_req *r, const struct forward *f, const struct err *e);
    void (*fail)(struct api_req *r, const struct forward *f, const struct proxy_fault *fault);
};

/* Resumes the sandbox if need be and passes R on, as F says. The request counts as use of the
 * sandbox until it is over. What F points to is in R's arena, or lives longer. */
void forward_start(struct api_req *r, const struct forward *f);

/* A sandbox begins to end, or is paused: what is passed on into it ends with an error, of code
 * -ESHUTDOWN or -EHOSTDOWN. Functions of a struct sandbox_watch. */
void forward_end(void *ctx, struct sandbox *sb);
void forward_pause(void *ctx, struct sandbox *sb);

/* dial() of the API's proxy; CTX is the struct core, an address "ID:PORT". */
int forward_dial(void *ctx, const char *address, struct err *e);
