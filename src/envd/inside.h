/* SPDX-License-Identifier: MIT */
/* The cell's own side of its birth and life: what runs in the process that the spawner forked. */
#pragma once

#include "base/err.h"

struct cell;
struct cell_info;

/* The new process of C: builds its world, reports on peer_fd, becomes the first process of the
 * cell. Does not return. */
void inside_main(struct cell *c) __attribute__((noreturn));
/* Takes away what the cell must not have. */
int confine(const struct cell *c, struct err *e);
/* Remembers where the arguments and the environment of the program are, for init_main(). */
void init_note_args(int argc, char **argv);
/* Serves requests on LISTEN_FD and reaps for ever. */
void init_main(int listen_fd, const struct cell_info *info) __attribute__((noreturn));
