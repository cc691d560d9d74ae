/* SPDX-License-Identifier: MIT */
/* The terminal: see tty.h. */
#include "cli/tty.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loop/loop.h"

enum { COLS_DEFAULT = 80, ROWS_DEFAULT = 24 };

bool tty_size(int fd, int *ret_cols, int *ret_rows)
{
    struct winsize ws = {0};

    if (ioctl(fd, TIOCGWINSZ, &ws) < 0)
        return false;
    *ret_cols = ws.ws_col ? ws.ws_col : COLS_DEFAULT;
    *ret_rows = ws.ws_row ? ws.ws_row : ROWS_DEFAULT;
    return true;
}

size_t tty_width(int fd)
{
    struct winsize ws = {0};

    return ioctl(fd, TIOCGWINSZ, &ws) < 0 ? 0 : ws.ws_col;
}

static int apply_tty(const struct tty *t)
{
    struct termios now = t->before;

    if (t->mode == TTY_RAW)
        cfmakeraw(&now);
    else
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    return tcsetattr(t->fd, TCSADRAIN, &now) < 0 ? -errno : 0;
}

int tty_set(struct tty *t, int fd, enum tty_mode mode, struct err *e)
{
    *t = (struct tty){.fd = fd, .mode = mode};
    if (tcgetattr(fd, &t->before) < 0)
        return err_sys(e, -errno, "terminal");
    int r = apply_tty(t);
    if (r < 0)
        return err_sys(e, r, "terminal");
    t->is_changed = true;
    return 0;
}

void tty_restore(struct tty *t)
{
    if (!t->is_changed)
        return;
    (void)tcsetattr(t->fd, TCSADRAIN, &t->before);
    t->is_changed = false;
}

int tty_on_end(struct loop *l, void (*fn)(int signo, void *ctx), void *ctx)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(signals); i++)
        r = loop_on_signal(l, signals[i], fn, ctx);
    return r;
}

void tty_suspend(struct tty *t)
{
    bool was_changed = t->is_changed;

    tty_restore(t);
    (void)kill(getpid(), SIGSTOP);
    if (was_changed)
        t->is_changed = apply_tty(t) == 0;
}
