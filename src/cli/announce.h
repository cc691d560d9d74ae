/* SPDX-License-Identifier: MIT */
/* How others learn of a running service: service.json in the state directory for programs, a banner
 * for people. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/config.h"

struct core;

struct announce {
    char url[256];
    char e2b_url[256]; /* of the second address; "": there is none */
    bool is_loopback;  /* only this machine can reach it */
    bool is_e2b_far;   /* the second address can be reached from elsewhere */
    char *file;        /* service.json, once it was written */
    char *socket;      /* of the command line, once there may be one */
};

/* Finds out what the listening FD is reached under: the second address, then the main one. */
int announce_e2b(struct announce *a, int fd, const struct config *config, struct err *e);
int announce_address(struct announce *a, int fd, const struct config *config, struct err *e);
/* Writes service.json: url, pid, version, and the socket of the command line. */
int announce_publish(struct announce *a, const struct core *core, struct err *e);
/* Prints URL and commands to try; the key on a terminal, else where it is. */
void announce_banner(const struct announce *a, const struct core *core);
/* Removes service.json and the socket. */
void announce_done(struct announce *a);
