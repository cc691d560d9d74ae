/* SPDX-License-Identifier: MIT */
/* Handlers of the native surface, and its envelope. */
#pragma once

#include "api/req.h"
#include "api/route.h"

api_handler native_events, native_keys_list, native_keys_create, native_keys_revoke;
api_replay native_keys_replay;

/* {"code":"0","data": … the caller's value … }: begins it, and ends it. */
struct jw native_begin(struct buf *out);
void native_end(struct jw *w);
/* {"code":"0","data":"text"} */
void native_reply_text(struct api_req *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A key as the API shows it, with the token itself unless that is NULL. */
void native_put_key(struct jw *w, const struct account_key *k, const char *secret);
