/* SPDX-License-Identifier: MIT */
/* The service inside a cell: HTTP/1.1 on the cell's control socket, which only the daemon can
 * reach; so there is no key to check here (but for E2B's). Paths, query and JSON are ours; what the
 * outside sees is made by the daemon.
 *
 *   POST   /claim                       name, environment and main process of a handed-out cell
 *   POST   /run                         a command, answered when it has ended
 *   GET    /terminal                    WebSocket: a shell on a terminal
 *   GET    /fs/list     ?path=          a directory
 *   POST   /fs/upload   ?path=          multipart files, or one raw body
 *   GET    /fs/download ?path=          a file (Range), or a directory as tar.gz
 *   DELETE /fs/entry    ?path=&recursive=
 *   GET    /log         ?tailLines=&follow=&since=&timestamps=
 *   GET    /procs, POST /signal         processes that were started here
 *   GET    /health, /stats
 *   POST   /mountpoints                 {"paths": […]}: directories for volumes, before the claim
 *   POST   /halt                        ends every process but this one
 *   POST   /update                      {"e2b": …}: changes what the claim said about it
 *   *      /e2b/…                       the E2B protocol (envd/e2b.h), with its own errors and keys
 *
 * Errors are {"code": status, "message": text, "errno": number}. Everything runs on one thread;
 * reads and writes of regular files block it for the length of one chunk. */
#pragma once

#include "base/err.h"
#include "envd/claim.h"
#include "envd/e2b.h"
#include "envd/e2b_fs.h"
#include "envd/forget.h"
#include "envd/log.h"
#include "envd/proc.h"
#include "loop/loop.h"
#include "runtime/proto.h"

struct http_server;

struct serve {
    struct loop *loop;
    struct http_server *http;
    struct proc_table procs;
    struct claim claim;
    struct log log;
    struct e2b e2b;
    struct e2b_watches watches;
    struct list uploads;               /* of e2b_upload.c */
    struct forget_place forget;        /* zeros: nothing is forgotten by a halt */
    int64_t started_ms;                /* monotonic */
    char greeting[PROTO_GREETING_MAX]; /* that connections begin with; "": none */
};

/* Accepts connections on LISTEN_FD for ever. S is zeros, but for the greeting. */
int serve_start(struct serve *s, struct loop *l, int listen_fd, struct err *e);
