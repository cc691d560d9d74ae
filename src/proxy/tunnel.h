/* SPDX-License-Identifier: MIT */
/* Two streams pumped into each other, as after a protocol upgrade. What arrives at one side goes
 * out at the other; a side whose output is full holds back the other's input, so a tunnel never
 * keeps more than two queues. An end is passed on as an end, a reset as a reset. */
#pragma once

#include "net/stream.h"

struct tunnel;

/* How long the second direction may be silent when the first has ended. */
#define TUNNEL_HALF_MS 60000
/* How long the last bytes may take to leave when one side is gone. */
#define TUNNEL_LINGER_MS 30000

/* Joins A and B, which now belong to the tunnel; both must be on the same loop. DONE is called once
 * both are gone, never before this returns. NULL when memory ran out: both are closed and DONE is
 * not called. */
struct tunnel *tunnel_open(struct stream *a, struct stream *b, void (*done)(void *ctx), void *ctx);
/* Closes both sides at once. */
void tunnel_close(struct tunnel *t);
