/* SPDX-License-Identifier: MIT */
/* A small internet for tests. The test's process moves to a network namespace of its own, the
 * "host", whose only link leads to a second one, the "internet", where every address answers. No
 * packet can leave the machine, whatever a policy does wrong. Needs root and ip(8).
 *
 * The internet, on every address: ports 22, 80, 443 and 8080 say "ADDRESS PORT\n" and then echo;
 * port NETLAB_SUM reads to the end and says "COUNT SUM\n"; port NETLAB_FLOOD reads a number, sends
 * as many bytes of netlab_byte() and closes; port 53 answers for the names in netlab.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/loop.h"

enum { NETLAB_SUM = 5001, NETLAB_FLOOD = 5002 };

#define NETLAB_DNS   "198.51.100.2"
#define NETLAB_HOST  "198.51.100.1" /* of the host itself, on the link */
#define NETLAB_HOST6 "2001:db8:1::1"
#define NETLAB_VIP   "203.0.113.200" /* also the host, though no interface says so */
#define NETLAB_VIP6  "2001:db8::200"

/* Moves this process to the host of a new internet. -errno with E filled: skip the test. */
int netlab_open(struct err *e);
void netlab_close(void);

/* A new namespace with loopback up, as cells have: a descriptor or -errno. */
int netlab_cell(void);

/* Runs FN in a child inside of namespace NETNS_FD (-1: here) while L runs. FN returns 0 or the line
 * that failed; so does this. When FN calls netlab_ask(N), ON_ASK(N) is called here. */
int netlab_inside(struct loop *l, int netns_fd, int (*fn)(void), void (*on_ask)(int n));
void netlab_ask(int n);

/* ---- for use in FN ---- */

/* A connection, with a time-out of 10 s for all its reads: descriptor or -errno. */
int netlab_dial(const char *addr, uint16_t port);
/* One line without its end; -errno, or -EPIPE at the end of the connection. */
int netlab_read_line(int fd, char *out, size_t max);
/* Connects, sends SAY (may be NULL), and returns 0 when the first line is "WANT PORT"; else -errno
 * of whoever refused. */
int netlab_reaches(const char *addr, uint16_t port, const char *say, const char *want);
/* Asks the DNS server at SERVER by UDP or TCP for A (or AAAA when the first is not found):
 * the first address as text, and the code of the answer, or -errno. */
int netlab_resolve(const char *server, bool is_tcp, const char *name, char out[64]);
/* The byte at AT of what NETLAB_FLOOD sends, and the sum that NETLAB_SUM makes. */
uint8_t netlab_byte(uint64_t at);
uint32_t netlab_sum(uint32_t sum, const uint8_t *p, size_t len);
