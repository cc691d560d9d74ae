/* SPDX-License-Identifier: MIT */
/* The service of a cell without a cell, so that it can run under the sanitizers, which the static
 * program cannot. It has mounts, processes and a host name of its own; what it sees of the host is
 * read-only. Stands in for cell_lab; ends with 0 only when the service ended in order. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/serve.h"
#include "runtime/kern.h"

static struct serve serve;
static char dir[] = "/var/tmp/tidepool-serve.XXXXXX";

static void must(bool is_good, const char *what)
{
    if (is_good)
        return;
    perror(what);
    _exit(1);
}

static void on_child(int signo, void *ctx)
{
    int status;

    (void)signo;
    (void)ctx;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        proc_reaped(&serve.procs, pid, status);
}

/* The test closes stdin when it is done. */
static void on_stdin(struct loop_io *io, uint32_t events)
{
    char byte;

    (void)events;
    if (read(io->fd, &byte, 1) <= 0)
        loop_stop(io->loop);
}

/* A small file of ours in the place of PATH. */
static void cover_file(const char *path, const char *text)
{
    char name[128];

    (void)snprintf(name, sizeof name, "%s/%s", dir, strrchr(path, '/') + 1);
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), name);
    (void)close(fd);
    must(mount(name, path, NULL, MS_BIND, NULL) == 0, path);
}

static void make_world(void)
{
    static const char *const covered[] = {"/tmp", "/srv", "/root", "/home"};
    struct kern_mount_attr read_only = {.set = KERN_ATTR_RDONLY};

    /* Not those of the parent, which removes the directory at the end. */
    must(unshare(CLONE_NEWNS) == 0, "unshare mounts");
    must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private mounts");
    cover_file("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n"
                              "user:x:1000:1000:user:/home/user:/bin/bash\n");
    cover_file("/etc/group", "root:x:0:\nuser:x:1000:\n");
    /* From here on nothing of the host can be changed, whatever the service is told. */
    must(kern_mount_setattr(AT_FDCWD, "/", KERN_TREE_RECURSIVE, &read_only) == 0, "read-only");
    must(mount("proc", "/proc", "proc", 0, NULL) == 0, "/proc");
    for (size_t i = 0; i < ARRAY_LEN(covered); i++)
        must(mount("tmpfs", covered[i], "tmpfs", 0, i == 0 ? "size=700m,mode=1777" : "mode=755") ==
                 0,
             covered[i]);
    must(mkdir("/home/user", 0755) == 0 && chown("/home/user", 1000, 1000) == 0, "/home/user");
    must(chdir("/") == 0, "/");
}

static int listen_at(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    must(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1024) == 0, path);
    return fd;
}

static int run_service(int listen_fd)
{
    struct loop *l = loop_new(NULL);
    struct loop_io input = {0};
    int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);

    must(in >= 0 && null >= 0 && dup2(null, STDIN_FILENO) == 0, "stdin");
    must(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "reaper");
    (void)signal(SIGPIPE, SIG_IGN);
    if (!l || loop_on_signal(l, SIGCHLD, on_child, NULL) < 0 ||
        loop_io_start(l, &input, in, EPOLLIN, on_stdin) < 0 ||
        serve_start(&serve, l, listen_fd, NULL) < 0)
        return 1;
    return loop_run(l) < 0;
}

/* Runs FN in a child; returns its exit code. */
static int in_child(int (*fn)(int fd), int fd)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0)
        exit(fn(fd));
    must(pid > 0 && waitpid(pid, &status, 0) == pid, "child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The first process cannot be looked at by the leak checker: the service is the second. */
static int run_init(int listen_fd)
{
    make_world();
    return in_child(run_service, listen_fd);
}

int main(void)
{
    static const char *const names[] = {"sock", "passwd", "group"};
    char path[64];
    int status = 1;

    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP name spaces need root\n");
        return 77;
    }
    must(mkdtemp(dir) != NULL, dir);
    (void)snprintf(path, sizeof path, "%s/sock", dir);
    int fd = listen_at(path);
    must(unshare(CLONE_NEWPID | CLONE_NEWUTS) == 0, "unshare");
    pid_t init = fork();
    if (init == 0)
        _exit(run_init(fd));
    must(init > 0, "fork");
    (void)printf("{\"socket\": \"%s\", \"pid\": %d, \"host\": true}\n", path, (int)init);
    (void)fflush(stdout);
    (void)waitpid(init, &status, 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
    /* Without the leak checker, which cannot start its helper after unshare(). */
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
