/* SPDX-License-Identifier: MIT */
/* Keeps one cell for a test in another language: prints a line of JSON that says where its control
 * socket is, and ends the cell when stdin does. */
#include <stdio.h>
#include <unistd.h>

#include "../lib/lab.h"

static struct lab lab;

static void on_input(struct loop_io *io, uint32_t events)
{
    char byte;

    (void)events;
    if (read(io->fd, &byte, 1) <= 0)
        loop_stop(io->loop);
}

static int fail(const struct err *e)
{
    (void)fprintf(stderr, "%s\n", err_text(e));
    if (lab.engine)
        lab_close(&lab);
    return 1;
}

int main(void)
{
    struct err e = ERR_INIT;
    struct loop_io input = {0};
    struct cell_spec spec = lab_spec();

    if (lab_must_skip())
        return 77;
    spec.limits.memory_bytes = 1024 << 20;
    spec.limits.pids = 1024;
    spec.disk.bytes = 700 << 20;
    if (lab_open(&lab, 0, CGROUP_NONE, &e) < 0)
        return fail(&e);
    struct engine_cell *c = lab_create(&lab, "box", &spec, &e);
    if (!c || loop_io_start(lab.loop, &input, STDIN_FILENO, EPOLLIN, on_input) < 0)
        return fail(&e);
    const struct cell_info *info = engine_cell_info(c);
    char name[PROTO_SOCKET_NAME_MAX], greeting[PROTO_GREETING_MAX];
    proto_socket_name(name, info->slot, info->generation);
    /* Without the end of its line, which JSON writes in another way. */
    int len = (int)proto_greeting(greeting, info->slot, info->generation) - 1;
    (void)printf(
        "{\"socket\": \"/proc/%u/root/sock/%s\", \"pid\": %u, \"greeting\": \"%.*s\\n\"}\n",
        engine_spawner_pid(lab.engine), name, info->pid, len, greeting);
    (void)fflush(stdout);
    (void)loop_run(lab.loop);
    loop_io_stop(&input);
    lab_close(&lab);
    return 0;
}
