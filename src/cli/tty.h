/* SPDX-License-Identifier: MIT */
/* The terminal that the command line runs on: its size, its modes, and the signals that would leave
 * it in a wrong one. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/err.h"

struct loop;

/* Columns of the terminal behind FD; 0 when it is none, or does not know. */
size_t tty_width(int fd);
/* Columns and rows; false when FD is no terminal. Unknown sizes are 80 by 24. */
bool tty_size(int fd, int *ret_cols, int *ret_rows);

enum tty_mode {
    TTY_KEYS, /* keys come one by one and are not shown; signals and output as usual */
    TTY_RAW,  /* every byte goes through untouched, in both directions */
};

struct tty {
    int fd;
    bool is_changed;
    enum tty_mode mode;
    struct termios before;
};

/* Switches FD. 0, or -errno with E filled. */
int tty_set(struct tty *t, int fd, enum tty_mode mode, struct err *e);
/* Puts back what was before; safe when nothing was changed, and twice. */
void tty_restore(struct tty *t);

/* Has FN called on L for every signal that would otherwise end the program. 0 or -errno. */
int tty_on_end(struct loop *l, void (*fn)(int signo, void *ctx), void *ctx);
/* Stops the program as SIGTSTP would, with the terminal as it was meanwhile. */
void tty_suspend(struct tty *t);
