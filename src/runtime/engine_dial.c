/* SPDX-License-Identifier: MIT */
/* The way to the first process of a cell. Slots are used again, and whoever connects may be late:
 * the cell may have ended, its slot may be another tenant's by now, the spawner or this service may
 * be another one. So we connect only to a cell that we know by slot and generation and whose first
 * process lives; its socket has a name that no other cell ever has; and what listens there takes
 * connections only that begin with the name of its own cell. Either of the last two would do alone,
 * in every order of events: tests/unit/runtime/test_reuse.c. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/engine_internal.h"

bool engine_cell_is_alive(const struct engine_cell *c)
{
    struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

    return poll(&p, 1, 0) == 0;
}

/* ADDRESS is "SOCKET/SPAWNER". */
static struct engine_cell *find_dialled_cell(struct engine *en, const char *address)
{
    struct str id = str_of(address), name = str_cut(&id, '/');
    uint64_t link = 0, generation = 0;
    uint32_t slot = 0;

    if (!id.p || str_to_u64(id, &link) < 0 || link > UINT32_MAX ||
        proto_read_socket_name(name, &slot, &generation) < 0)
        return NULL;
    struct spawner_link *s = spawner_link_find(en, (uint32_t)link);
    return s ? spawner_link_cell(s, slot, generation) : NULL;
}

/* It fits into the buffer of any new connection. */
static int greet_cell(int fd, const struct cell_info *info)
{
    char text[PROTO_GREETING_MAX];
    size_t len = proto_greeting(text, info->slot, info->generation);
    ssize_t n = send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return -errno;
    return (size_t)n == len ? 0 : -EIO;
}

int engine_dial(void *ctx, const char *address, struct err *e)
{
    const struct engine_cell *c = find_dialled_cell(ctx, address);
    char name[PROTO_SOCKET_NAME_MAX];

    if (!c || !engine_cell_is_alive(c))
        return err_set(e, -ESHUTDOWN, "the sandbox has ended");
    proto_socket_name(name, c->info.slot, c->info.generation);
    auto_close int fd =
        packet_connect_at(c->spawner->sockets_fd, name, SOCK_STREAM | SOCK_NONBLOCK);
    int r = fd < 0 ? fd : c->spawner->version < 4 ? 0 : greet_cell(fd, &c->info);
    return r < 0 ? err_sys(e, r, "connect to the sandbox") : take_fd(fd);
}
