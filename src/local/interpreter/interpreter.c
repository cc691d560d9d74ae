/* SPDX-License-Identifier: MIT */
/* The program code-interpreter: see interpreter.h. */
#include "local/interpreter/interpreter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "local/interpreter/server.h"
#include "loop/loop.h"
#include "net/listen.h"
#include "sys/io.h"

enum { ADOPT_MAX = 4 << 20, RESTART_US = 100000 };

/* ---- serving ---- */

static int serve_code(const char *address, const char *adopting, bool is_warm)
{
    struct err e = ERR_INIT;
    struct loop *loop = loop_new(&e);
    const struct interpreter_server_args args = {
        .loop = loop, .address = address, .adopt = adopting, .is_warm = is_warm};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGCHLD, SIG_IGN); /* nobody waits for the processes of contexts */
    (void)umask(022);
    struct interpreter_server *s = loop ? interpreter_server_new(&args, &e) : NULL;
    if (!s) {
        (void)fprintf(stderr, "code-interpreter: %s\n", err_text(&e));
        return 1;
    }
    int r = loop_run(loop);
    interpreter_server_free(s);
    loop_free(loop);
    return r < 0;
}

/* A process stays that starts the other one again when it dies: whoever runs code may kill it. */
static void keep_serving(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            return;
        }
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        (void)usleep(RESTART_US);
    }
}

/* ---- handing over an environment ---- */

static void put_environment(struct buf *out)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    for (char **pair = environ; *pair; pair++) {
        struct str value = str_of(*pair), name = str_cut(&value, '=');
        if (!value.p || !str_is_utf8(name) || !str_is_utf8(value))
            continue;
        jw_key_str(&w, name);
        jw_str(&w, value);
    }
    jw_end(&w);
}

static int connect_adopter(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *name = strchr(INTERPRETER_ADOPT, '@') + 1;
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path + 1, name, strlen(name));
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, len) < 0)
        return -errno;
    return take_fd(fd);
}

static int adopt(void)
{
    struct buf body auto_buf = BUF_INIT(ADOPT_MAX), text auto_buf = BUF_INIT(ADOPT_MAX);
    char answer[64] = "";
    auto_close int fd = connect_adopter();

    put_environment(&body);
    (void)buf_printf(&text,
                     "POST / HTTP/1.1\r\nHost: interpreter\r\nConnection: close\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     body.len);
    (void)buf_add_str(&text, buf_str(&body));
    int r = fd < 0 ? fd : body.error;
    if (r == 0)
        r = buf_ok(&text) ? io_write_all(fd, text.p, text.len) : text.error;
    ssize_t n = r < 0 ? r : io_read(fd, answer, sizeof answer - 1);
    if (n > 0 && strncmp(answer, "HTTP/1.1 200", 12) == 0)
        return 0;
    (void)fprintf(stderr, "code-interpreter: the environment was not adopted: %s\n",
                  n < 0 ? strerror((int)-n) : answer);
    return 1;
}

/* ---- arguments ---- */

static int print_interpreter_usage(void)
{
    (void)fprintf(stderr, "usage: code-interpreter [--warm] [--listen ADDRESS]\n"
                          "       code-interpreter --adopt\n");
    return 2;
}

int interpreter_main(int argc, char **argv)
{
    char address[64];
    const char *listen_on = NULL;
    bool is_warm = false;

    (void)snprintf(address, sizeof address, "*:%d", INTERPRETER_PORT);
    if (argc == 2 && strcmp(argv[1], "--adopt") == 0)
        return adopt();
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--warm") == 0)
            is_warm = true;
        else if (strcmp(argv[i], "--listen") == 0 && i + 1 < argc)
            listen_on = argv[++i];
        else
            return print_interpreter_usage();
    keep_serving();
    /* The name exists once in a network: it belongs to the one on the port that clients know. */
    return serve_code(listen_on ? listen_on : address, listen_on ? NULL : INTERPRETER_ADOPT,
                      is_warm);
}
