/* SPDX-License-Identifier: MIT */
/* Ports of the host that lead into local sandboxes, for servers that programs also reach by another
 * protocol than HTTP. Which server has which is the table in ports.c. They are opened before the
 * sandbox is made and kept with it, in its "local", so that they are the same after a restart:
 *
 *     "ports": {"imap": 40001, "smtp": 40002}
 *
 * They listen on the setting local.address, loopback by default, and go with the sandbox. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct locals;
struct core;
struct ports;
struct sandbox;

enum {
    PORTS_DOORS_MAX = 8192,    /* listeners */
    PORTS_CONNECTIONS_MAX = 64 /* of a listener; of accounts and of all: limits.def */
};

/* Opens the ports of the sandboxes that there are. NULL with E filled. */
struct ports *ports_new(struct locals *l, struct core *core, struct err *e);
void ports_free(struct ports *p);

/* Opens what LOCAL, of a sandbox that is about to be made, needs, and notes it there. When the
 * sandbox is not made after all they close by themselves. 0 or -errno. */
int ports_open(struct ports *p, struct arena *a, struct json *local, struct err *e);
/* Opens those that SB has and that are not open: it was made again while nobody looked after them.
 */
void ports_restore(struct ports *p, const struct sandbox *sb);
/* Closes those of a sandbox that ends. */
void ports_close(struct ports *p, struct str id);
