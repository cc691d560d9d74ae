/* SPDX-License-Identifier: MIT */
/* Pseudo-terminals: see pty.h. */
#include "envd/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/io.h"

/* TIOCGPTPEER: the terminal of a master, whatever is mounted where; musl does not name it. */
enum { GET_PEER = 0x5441, GID_TTY = 5 };

int pty_resize(int master, uint16_t cols, uint16_t rows)
{
    struct winsize size = {.ws_col = cols, .ws_row = rows};

    return ioctl(master, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

int pty_open(struct pty *ret, uid_t uid, uint16_t cols, uint16_t rows)
{
    int unlock = 0;
    auto_close int master = io_open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK, 0);

    if (master < 0)
        return master;
    if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
        return -errno;
    auto_close int slave = ioctl(master, GET_PEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return -errno;
    /* A cell without CAP_CHOWN would only lose `mesg` and the like. */
    (void)!fchown(slave, uid, GID_TTY);
    int r = pty_resize(master, cols, rows);
    if (r < 0)
        return r;
    *ret = (struct pty){take_fd(master), take_fd(slave)};
    return 0;
}

size_t pty_partial(struct str s)
{
    for (size_t n = 1; n <= PTY_PARTIAL_MAX && n <= s.len; n++) {
        unsigned char c = (unsigned char)s.p[s.len - n];
        if ((c & 0xc0) == 0x80)
            continue;
        size_t need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        return need > n && c <= 0xf4 ? n : 0;
    }
    return 0;
}
