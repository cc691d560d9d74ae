/* SPDX-License-Identifier: MIT */
/* tidepool-local: see local/local.h.
 *
 *     tidepool-local [--keep] --listen ADDRESS [--also ADDRESS] [--root DIR] [--mail DIR]
 *                    [--imap ADDRESS] [--smtp ADDRESS]
 *
 *     tidepool-local --execute DIR ROOT       see local/archive/execution.h
 *
 * Called mcp-gateway or code-interpreter it is another program: see local/gateway/gateway.h and
 * local/interpreter/interpreter.h.
 *
 * With --keep a process stays that does nothing but start the other one again when it dies. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/archive/execution.h"
#include "local/archive/extract.h"
#include "local/gateway/gateway.h"
#include "local/interpreter/interpreter.h"
#include "local/mail/mail.h"
#include "local/service/dispatch.h"
#include "net/listen.h"

static int print_local_usage(void)
{
    (void)fprintf(stderr, "usage: tidepool-local [--keep] --listen ADDRESS [--also ADDRESS]\n"
                          "                      [--root DIR] [--mail DIR] [--imap ADDRESS]\n"
                          "                      [--smtp ADDRESS]\n"
                          "       tidepool-local --execute DIR ROOT\n"
                          "       tidepool-local --version\n");
    return 2;
}

/* Whoever took the address answers in our place: what comes out of a cell is the cell's word. */
static void listen_also(struct local_serve *s, const char *address)
{
    struct err e = ERR_INIT;
    int fd = http_listen(address, false, &e);

    if (fd < 0 || local_serve_also(s, fd, &e) < 0)
        (void)fprintf(stderr, "tidepool-local: %s\n", err_text(&e));
}

static int run_local_service(const char *address, const char *also, const struct local *local)
{
    struct err e = ERR_INIT;
    struct loop *loop = loop_new(&e);

    (void)signal(SIGPIPE, SIG_IGN);
    (void)umask(022);
    if (chdir(local->root) < 0) {
        (void)fprintf(stderr, "tidepool-local: %s: %s\n", local->root, strerror(errno));
        return 1;
    }
    extract_recover(local->root);
    int fd = loop ? http_listen(address, false, &e) : -ENOMEM;
    struct local_serve *s = fd < 0 ? NULL : local_serve_new(loop, local, fd, &e);
    if (!s) {
        (void)fprintf(stderr, "tidepool-local: %s\n", err_text(&e));
        return 1;
    }
    if (also)
        listen_also(s, also);
    (void)printf("listening on port %d\n", http_listen_port(fd));
    /* The other servers do not depend on it. */
    if (mail_start(loop, local, &e) < 0)
        (void)fprintf(stderr, "tidepool-local: %s\n", err_text(&e));
    (void)fflush(stdout);
    return loop_run(loop) < 0;
}

/* Returns in the process that works. */
static void keep_running(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            return;
        }
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        (void)usleep(100000); /* one that dies at once does not use up the processor */
    }
}

/* What is no service of tools: the exit status, or -1 when it is one. */
static int run_other(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
    } others[] = {{"mcp-gateway", gateway_main}, {"code-interpreter", interpreter_main}};
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    for (size_t i = 0; argc > 0 && i < ARRAY_LEN(others); i++)
        if (strcmp(slash ? slash + 1 : argv[0], others[i].name) == 0)
            return others[i].main(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("tidepool-local %s\n", TIDEPOOL_VERSION);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--execute") == 0)
        return execution_main(argv[2], argv[3]);
    return -1;
}

int main(int argc, char **argv)
{
    const char *address = NULL, *also = NULL;
    struct local local = {.root = "/data", .home = getenv("HOME")};
    char mail[PATH_MAX];
    const struct {
        const char *name, **value;
    } options[] = {{"--listen", &address},  {"--also", &also},       {"--root", &local.root},
                   {"--mail", &local.mail}, {"--imap", &local.imap}, {"--smtp", &local.smtp}};

    int status = run_other(argc, argv);
    if (status >= 0)
        return status;
    if (argc > 1 && strcmp(argv[1], "--keep") == 0) {
        keep_running();
        argv++;
        argc--;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        size_t k = 0;
        while (k < ARRAY_LEN(options) && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k == ARRAY_LEN(options))
            return print_local_usage();
        *options[k].value = argv[i + 1];
    }
    if (!address || argc % 2 == 0)
        return print_local_usage();
    if (!local.home)
        local.home = "/";
    (void)snprintf(mail, sizeof mail, "%s/.local/state/tidepool-mail", local.home);
    if (!local.mail)
        local.mail = mail;
    return run_local_service(address, also, &local);
}
