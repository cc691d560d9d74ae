/* SPDX-License-Identifier: MIT */
/* Runs every probe in a child and prints a line for each: "ok NAME" when it was denied, "FAIL NAME"
 * when it got through or hung. The test outside turns them into TAP. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

struct target target;

enum { MAX_SECONDS = 10 };

static int (*child_body)(const void *arg);

/* Runs BODY in a child. A child that the kernel kills was denied; one that hangs was not. */
static void judge(const char *group, const char *name, const void *arg)
{
    int status = 0;

    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(MAX_SECONDS);
        _exit(child_body(arg));
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        (void)printf("FAIL %s: %s (no child)\n", group, name);
        return;
    }
    bool is_denied = WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) != SIGALRM;
    (void)printf("%s %s: %s\n", is_denied ? "ok" : "FAIL", group, name);
}

static int run_probe(const void *arg)
{
    return ((const struct probe *)arg)->gets_through();
}

static int run_file(const void *arg)
{
    return file_probe_gets_through(arg);
}

static int run_call(const void *arg)
{
    return call_probe_gets_through(arg);
}

static void run_all(void)
{
    const struct probe_group *groups[] = {&probes_files,  &probes_devices,   &probes_mounts,
                                          &probes_spaces, &probes_processes, &probes_network};

    child_body = run_probe;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (size_t i = 0; i < groups[g]->n; i++)
            judge(groups[g]->name, groups[g]->probes[i].name, &groups[g]->probes[i]);
    child_body = run_file;
    for (size_t i = 0; i < n_file_probes; i++) {
        char name[256];
        (void)snprintf(name, sizeof name, "%s %s",
                       file_probes[i].mode == 'w'   ? "write"
                       : file_probes[i].mode == 'x' ? "see"
                                                    : "read",
                       file_probes[i].path);
        judge("knobs", name, &file_probes[i]);
    }
    child_body = run_call;
    for (size_t i = 0; i < n_call_probes; i++)
        judge("calls", call_probes[i].name, &call_probes[i]);
}

int main(int argc, char **argv)
{
    if (argc != 9)
        return 2;
    target = (struct target){.canary = argv[1],
                             .canary_text = argv[2],
                             .state = argv[3],
                             .host_socket = argv[4],
                             .sibling_socket = argv[5],
                             .host_pid = (int)strtol(argv[6], NULL, 10),
                             .host_port = (int)strtol(argv[7], NULL, 10),
                             .sibling_port = (int)strtol(argv[8], NULL, 10)};
    run_all();
    (void)printf("end\n");
    return 0;
}
