/* SPDX-License-Identifier: MIT */
/* Images of registries, through skopeo: it knows their protocols, credentials and certificates. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "core/image_internal.h"
#include "sys/io.h"

enum { LOOK_US = 200000, OUTPUT_MAX = 4096, STALL_S = 600 };

static const char *find_skopeo(void)
{
    static const char *const places[] = {"/usr/bin/skopeo", "/usr/local/bin/skopeo"};

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

bool image_can_pull(struct err *e)
{
    if (find_skopeo())
        return true;
    (void)err_set(e, -EOPNOTSUPP,
                  "images of registries need skopeo, which is not installed: apt-get install "
                  "skopeo. Or import a file");
    return false;
}

/* What has arrived so far. */
static uint64_t count_pull_bytes(const char *layout)
{
    char path[PATH_MAX];
    uint64_t n = 0;
    struct stat st;

    (void)snprintf(path, sizeof path, "%s/blobs/sha256", layout);
    DIR *dir = opendir(path);
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.' && fstatat(dirfd(dir), d->d_name, &st, 0) == 0)
            n += (uint64_t)st.st_size;
    if (dir)
        (void)closedir(dir);
    return n;
}

/* Starts it with its errors going to FD. */
static int start_skopeo(const char *from, const char *to, int fd, pid_t *ret)
{
    const char *argv[] = {"skopeo", "copy", "--quiet", from, to, NULL};
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);

    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, fd, 2);
    if (r == 0)
        r = posix_spawn(ret, find_skopeo(), &actions, NULL, (char *const *)(uintptr_t)argv,
                        environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* The last line that it wrote, which says why it failed. */
static int explain_failure(const char *log, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(OUTPUT_MAX);

    (void)io_read_file(log, &text, NULL);
    struct str all = str_trim(buf_str(&text)), line = STR("");
    while (all.p)
        line = str_cut(&all, '\n');
    return err_set(e, -EIO, "skopeo: " STR_FMT,
                   STR_ARG(line.len > 0 ? str_slice(line, 0, 300) : STR("it failed")));
}

/* Waits for PID until it has ended, and ends it when it has to: 0 when all went well; -ECHILD when
 * it says itself why not; else -errno with E filled. */
static int watch_skopeo(pid_t pid, const char *to, const struct image_pull *p, struct err *e)
{
    int status = 0, r = 0;
    pid_t ended = 0;
    uint64_t before = 0;
    int64_t since_us = clock_mono_us();

    while (ended == 0) {
        (void)usleep(LOOK_US);
        uint64_t bytes = count_pull_bytes(to);
        __atomic_store_n(p->progress, bytes, __ATOMIC_RELAXED);
        if (bytes != before)
            since_us = clock_mono_us();
        before = bytes;
        if (r == 0 && bytes > p->max_bytes)
            r = err_set(e, -EFBIG, "larger than %llu bytes", (unsigned long long)p->max_bytes);
        else if (r == 0 && clock_mono_us() - since_us > STALL_S * INT64_C(1000000))
            r = err_set(e, -ETIMEDOUT, "the registry has sent nothing for %d s", STALL_S);
        else if (r == 0 && __atomic_load_n(p->is_stopped, __ATOMIC_RELAXED))
            r = err_sys(e, -ECANCELED, "pull");
        if (r < 0)
            (void)kill(pid, SIGKILL);
        ended = waitpid(pid, &status, WNOHANG);
    }
    bool is_good = ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return r < 0 || is_good ? r : -ECHILD;
}

int image_pull(const char *reference, const char *to, const struct image_pull *p, struct err *e)
{
    char target[PATH_MAX + 16], log[PATH_MAX + 8];
    pid_t pid = 0;

    if (!image_can_pull(e))
        return -EOPNOTSUPP;
    (void)snprintf(target, sizeof target, "oci:%s:image", to);
    (void)snprintf(log, sizeof log, "%s.log", to);
    auto_close int fd = io_open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int r = fd < 0 ? fd : start_skopeo(reference, target, fd, &pid);
    if (r < 0)
        (void)err_sys(e, r, "skopeo");
    else
        r = watch_skopeo(pid, to, p, e);
    if (r == -ECHILD)
        r = explain_failure(log, e);
    (void)unlink(log);
    return r;
}
