/* SPDX-License-Identifier: MIT */
/* A server, a clock that stands still, and clients over socket pairs: for the tests of the HTTP
 * server. Everything runs on the test's own thread, so nothing here waits or races. */
#pragma once

#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "net/http_server.h"
#include "sys/io.h"

enum { CLIENTS = 4 };

struct world {
    struct loop *loop;
    struct http_server *server;
    struct http_server_opts opts;
    int fds[CLIENTS];
    struct buf in[CLIENTS];
    http_handler *handler;
    struct http_req *held; /* a request that is answered later */
    int n_handled, n_done, n_aborts, n_drains, n_pieces;
    int done_status;
    uint64_t done_bytes;
    struct buf body; /* what a sink got */
};

extern struct world world;
extern int64_t fake_us; /* the clock */

int world_setup(void **state);
int world_teardown(void **state);
/* A new server by world.opts. */
void restart_server(void);
/* Runs the loop until all that was sent is dealt with / and moves the clock before. */
void turn(void);
void pass_ms(int64_t ms);

void connect_client(int i);
void hang_up(int i);
/* Sends without asking whether the server still listens. */
void say(int i, const char *text);
/* Reads all there is; true when the server has closed (or reset) the connection. */
bool hear(int i);
/* All that was received so far; forgets it. */
struct str heard(int i);
bool holds(struct str s, const char *part);

/* "HTTP/1.1 200 …": the status of the first answer in S, or 0. */
int status_of(struct str s);
struct str body_of(struct str s);

/* ---- handlers ---- */

void answer_path(struct http_req *r, void *ctx);
void answer_body(struct http_req *r, void *ctx);
void echo_body(struct http_req *r, void *ctx);

/* Keeps the request in world.held. */
void hold(struct http_req *r, void *ctx);
void answer_held(int status);
void note_abort(struct http_req *r);

/* A long answer, made as fast as the peer reads it. */
enum { PIECE = 32 * 1024, PIECES = 256 };
void start_pieces(struct http_req *r, void *ctx);

/* Sinks that collect into world.body and answer "thanks". */
extern const struct http_body_sink plain_sink, pausing_sink;
void sink_end(struct http_req *r, void *ctx);
/* Streams the body to the chosen one and holds the request. */
extern const struct http_body_sink *sink;
void stream_body(struct http_req *r, void *ctx);

#define GET(path)        "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
