/* SPDX-License-Identifier: MIT */
/* The process of an execution. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "local/archive/execution.h"
#include "sys/io.h"

enum { LIST_BYTES = 64 << 10, PACKAGES_MAX = 500 };

static void log_execution(const char *text)
{
    (void)io_write_all(STDOUT_FILENO, text, strlen(text));
    (void)io_write_all(STDOUT_FILENO, "\n", 1);
}

/* Runs a program to its end, its output into the log or nowhere: its exit status. */
static int run_logged(const char *const *argv, bool is_quiet)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int status = 0;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return 127;
    for (int fd = STDOUT_FILENO; is_quiet && fd <= STDERR_FILENO; fd++)
        (void)posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (r != 0) {
        if (!is_quiet)
            (void)dprintf(STDOUT_FILENO, "%s: %s\n", argv[0], strerror(r));
        return 127;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- steps: each is true, or has said why not ---- */

static bool is_execution_installed(const char *package)
{
    const char *const argv[] = {"dpkg-query", "-W", "--", package, NULL};

    return run_logged(argv, true) == 0;
}

static bool apt_install(const char **packages, size_t n)
{
    const char *argv[PACKAGES_MAX + 8] = {"sudo",    "-n", "apt-get",
                                          "install", "-y", "--no-install-recommends"};
    size_t from = geteuid() == 0 ? 2 : 0, at = 6;

    argv[at++] = "--";
    for (size_t i = 0; i < n; i++)
        argv[at++] = packages[i];
    argv[at] = NULL;
    if (run_logged(argv + from, false) == 0)
        return true;
    log_execution(
        "The packages of packages.txt could not be installed: apt-get failed. Without a network, "
        "only packages that are there already can be used.");
    return false;
}

/* packages.txt: a name in each line. */
static bool install_packages(void)
{
    auto_buf struct buf b = BUF_INIT(LIST_BYTES);
    const char *missing[PACKAGES_MAX];
    size_t n = 0;
    char *save = NULL;

    if (access("packages.txt", F_OK) < 0)
        return true;
    if (io_read_file("packages.txt", &b, NULL) < 0 || !buf_cstr(&b)) {
        log_execution("packages.txt cannot be read, or is too large.");
        return false;
    }
    log_execution("Installing the packages of packages.txt");
    for (char *line = strtok_r(b.p, " \t\r\n", &save); line && n < PACKAGES_MAX;
         line = strtok_r(NULL, " \t\r\n", &save)) {
        if (line[0] != '#' && line[0] != '-' && !is_execution_installed(line))
            missing[n++] = line;
    }
    return n == 0 || apt_install(missing, n);
}

static bool install_requirements(void)
{
    const char *const argv[] = {"python3",
                                "-m",
                                "pip",
                                "install",
                                "--disable-pip-version-check",
                                "--no-input",
                                "-r",
                                "requirements.txt",
                                NULL};

    if (access("requirements.txt", F_OK) < 0)
        return true;
    log_execution("Installing the requirements of requirements.txt");
    int status = run_logged(argv, false);
    if (status == 0)
        return true;
    log_execution(
        "The requirements of requirements.txt could not be installed: pip failed or is not there. "
        "Without a network, only what is installed already can be used.");
    return false;
}

static bool run_execution_program(void)
{
    const char *const argv[] = {"python3", "-u", "main.py", NULL};
    char text[100];

    if (access("main.py", F_OK) < 0) {
        log_execution("main.py is missing: it has to be at the top of the archive.");
        return false;
    }
    int status = run_logged(argv, false);
    if (status == 0)
        return true;
    (void)snprintf(text, sizeof text, "main.py ended with status %d", status);
    log_execution(text);
    return false;
}

/* ---- the process ---- */

static void set_status(const char *dir, const char *word)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/status", dir);
    (void)io_write_file(path, str_of(word), 0644, NULL);
}

static int open_in(const char *dir, const char *name, int flags)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return io_open(path, flags | O_CREAT, 0644);
}

static void work_through_execution(const char *dir)
{
    static bool (*const steps[])(void) = {install_packages, install_requirements,
                                          run_execution_program};
    bool is_good = true;

    for (size_t i = 0; is_good && i < ARRAY_LEN(steps); i++)
        is_good = steps[i]();
    set_status(dir, is_good ? "completed" : "failed");
}

int execution_main(const char *dir, const char *root)
{
    char code[PATH_MAX];
    int lock = open_in(dir, "lock", O_RDWR), log = open_in(dir, "log", O_WRONLY | O_APPEND);
    int null = io_open("/dev/null", O_RDONLY, 0);

    (void)snprintf(code, sizeof code, "%s/code", dir);
    if (lock < 0 || log < 0 || null < 0 || chdir(code) < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
        return 1;
    (void)setenv("AGENT_WORKSPACE", root, 1);
    (void)setenv("PIP_BREAK_SYSTEM_PACKAGES", "1", 1);
    (void)setenv("DEBIAN_FRONTEND", "noninteractive", 1);
    (void)signal(SIGPIPE, SIG_DFL);
    set_status(dir, "running");
    /* The lock belongs to the open file, which both have until one of them ends. */
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0;
    (void)setsid();
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(log, STDOUT_FILENO);
    (void)dup2(log, STDERR_FILENO);
    work_through_execution(dir);
    return 0;
}
