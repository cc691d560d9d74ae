/* SPDX-License-Identifier: MIT */
/* A laboratory for cells: see lab.h. */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/engine_internal.h"
#include "sys/io.h"

/* Commands of a test take as long as a busy machine makes them; one that is ended for its time has
 * status 137. */
enum { WAIT_MS = 90000, SHELL_MS = 60000 };

bool lab_must_skip(void)
{
    if (geteuid() == 0)
        return false;
    (void)printf("1..0 # SKIP cells need root\n");
    return true;
}

const char *lab_envd(void)
{
    const char *path = getenv("TIDEPOOL_ENVD");

    return path ? path : "build/tidepool-envd";
}

static void on_gone(void *ctx, struct engine_cell *c, int status)
{
    struct lab *l = ctx;

    (void)c;
    l->n_gone++;
    l->last_status = status;
}

static int open_engine(struct lab *l, unsigned stock, enum cgroup_version version, struct err *e)
{
    struct engine_options o = {.state = l->state,
                               .envd = l->envd ? l->envd : lab_envd(),
                               .cgroup = version,
                               .stock = stock,
                               .stock_spec = lab_spec(),
                               .allows_unenforced = version == CGROUP_V2,
                               .on_gone = on_gone,
                               .ctx = l};

    l->stock = stock;
    l->loop = loop_new(e);
    if (!l->loop)
        return -ENOMEM;
    l->engine = engine_open(l->loop, &o, e);
    if (l->engine)
        return 0;
    loop_free(l->loop);
    l->loop = NULL;
    return e && e->code ? e->code : -EIO;
}

int lab_open(struct lab *l, unsigned stock, enum cgroup_version version, struct err *e)
{
    *l = (struct lab){.state = "/var/tmp/tidepool-lab.XXXXXX"};
    if (!mkdtemp(l->state))
        return err_sys(e, -errno, "mkdtemp");
    return open_engine(l, stock, version, e);
}

int lab_reopen(struct lab *l, struct err *e)
{
    engine_close(l->engine);
    loop_free(l->loop);
    return open_engine(l, l->stock_again, CGROUP_NONE, e);
}

static void remove_tree(int dirfd, const char *name)
{
    if (unlinkat(dirfd, name, 0) == 0)
        return;
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            remove_tree(fd, d->d_name);
    (void)closedir(dir);
    (void)unlinkat(dirfd, name, AT_REMOVEDIR);
}

void lab_close(struct lab *l)
{
    if (l->engine)
        engine_shutdown(l->engine);
    loop_free(l->loop);
    remove_tree(AT_FDCWD, l->state);
}

struct cell_spec lab_spec(void)
{
    struct err e = ERR_INIT;
    struct cell_spec s = {.template_name = "default",
                          .limits = {.memory_bytes = 256 << 20, .pids = 128},
                          .disk = {.kind = DISK_TMPFS, .bytes = 64 << 20}};

    if (!disk_can(&s.disk, "", &e))
        s.disk.kind = DISK_IMAGE; /* the kernel of Debian 12 */
    return s;
}

/* ---- calls that wait ---- */

static bool wait_until(struct lab *l, const bool *flag)
{
    int64_t end_ms = clock_mono_ms() + WAIT_MS;

    while (!*flag && clock_mono_ms() < end_ms)
        (void)loop_run_once(l->loop, 100);
    return *flag;
}

struct creating {
    struct engine_cell *cell;
    struct err e;
    bool is_done;
};

static void on_created(void *ctx, struct engine_cell *c, const struct err *e)
{
    struct creating *w = ctx;

    w->cell = c;
    if (e)
        w->e = *e;
    w->is_done = true;
}

struct engine_cell *lab_create(struct lab *l, const char *label, const struct cell_spec *spec,
                               struct err *e)
{
    struct creating w = {0};
    struct err ignored = ERR_INIT;

    if (!e)
        e = &ignored;
    if (engine_create(l->engine, label, spec, on_created, &w, e) < 0)
        return NULL;
    if (!wait_until(l, &w.is_done))
        abort(); /* the callback would write to this frame */
    if (!w.cell)
        *e = w.e;
    return w.cell;
}

bool lab_wait_stock(struct lab *l)
{
    int64_t end_ms = clock_mono_ms() + WAIT_MS;

    while (engine_n_stock(l->engine) < l->stock && clock_mono_ms() < end_ms)
        (void)loop_run_once(l->loop, 20);
    return engine_n_stock(l->engine) == l->stock;
}

void lab_kill(struct lab *l, struct engine_cell *c)
{
    unsigned before = l->n_gone;
    int64_t end_ms = clock_mono_ms() + WAIT_MS;

    engine_cell_kill(c);
    while (l->n_gone == before && clock_mono_ms() < end_ms)
        (void)loop_run_once(l->loop, 100);
}

struct running {
    struct lab_result *r;
    bool is_done;
};

static void copy(char *to, size_t size, struct str s)
{
    size_t n = s.len < size - 1 ? s.len : size - 1;

    if (n)
        memcpy(to, s.p, n);
    to[n] = '\0';
}

static void on_result(void *ctx, const struct engine_result *res, const struct err *e)
{
    struct running *w = ctx;
    struct lab_result *r = w->r;

    w->is_done = true;
    r->out[0] = r->err[0] = '\0';
    if (!res) {
        r->e = *e;
        r->code = e->code;
        return;
    }
    r->code = WIFEXITED(res->status) ? WEXITSTATUS(res->status) : 128 + WTERMSIG(res->status);
    r->is_timed_out = res->is_timed_out;
    r->is_output_cut = res->is_output_cut;
    copy(r->out, sizeof r->out, res->out);
    copy(r->err, sizeof r->err, res->err);
}

int lab_run(struct lab *l, struct engine_cell *c, const struct engine_run *run,
            struct lab_result *r)
{
    static struct lab_result scratch;
    struct running w = {.r = r ? r : &scratch};
    int code = engine_cell_run(c, run, on_result, &w, &w.r->e);

    if (code < 0)
        return w.r->code = code;
    if (!wait_until(l, &w.is_done))
        abort();
    return w.r->code;
}

int lab_sh(struct lab *l, struct engine_cell *c, const char *user, const char *script,
           struct lab_result *r)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct engine_run run = {.user = user, .argv = argv, .timeout_ms = SHELL_MS};

    return lab_run(l, c, &run, r);
}

/* ---- census ---- */

static unsigned count_dir(const char *path)
{
    DIR *dir = opendir(path);
    unsigned n = 0;

    if (!dir)
        return 0;
    for (struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static void count_group(const char *name, void *ctx)
{
    (void)name;
    ++*(unsigned *)ctx;
}

/* Lines with WORD in them; all of them when it is empty. */
static unsigned count_lines(const char *path, const char *word)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    unsigned n = 0;

    (void)io_read_file(path, &b, NULL);
    struct str all = buf_str(&b);
    while (all.len > 0)
        n += str_find(str_cut(&all, '\n'), str_of(word)) >= 0;
    return n;
}

/* The one child of the spawner that is there for all cells (envd/view.h). */
static bool is_viewer(struct str pid)
{
    char path[64];
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)snprintf(path, sizeof path, "/proc/" STR_FMT "/comm", STR_ARG(pid));
    return io_read_file(path, &b, NULL) == 0 && str_is(buf_str(&b), "tidepool-viewer\n");
}

/* Children of the spawner, without the viewer. */
static unsigned count_children(uint32_t pid)
{
    char path[64];
    auto_buf struct buf b = BUF_INIT(1 << 20);
    unsigned n = 0;

    (void)snprintf(path, sizeof path, "/proc/%u/task/%u/children", pid, pid);
    (void)io_read_file(path, &b, NULL);
    struct str all = str_trim(buf_str(&b));
    while (all.len > 0)
        n += !is_viewer(str_cut(&all, ' '));
    return n;
}

void lab_count(struct lab *l, struct lab_census *ret)
{
    char path[128];
    uint32_t pid = engine_spawner_pid(l->engine);

    /* Others on this machine mount things, too; the spawner's view is its own. */
    *ret = (struct lab_census){.mounts = count_lines("/proc/self/mountinfo", l->state),
                               .own_fds = count_dir("/proc/self/fd"),
                               .processes = count_children(pid)};
    (void)snprintf(path, sizeof path, "/proc/%u/mountinfo", pid);
    ret->mounts += count_lines(path, "");
    (void)snprintf(path, sizeof path, "/proc/%u/fd", pid);
    ret->spawner_fds = count_dir(path);
    (void)snprintf(path, sizeof path, "%s/cells/.trash", l->engine->home);
    ret->files = count_dir(path);
    struct cgroup g;
    char instance[CGROUP_NAME_MAX];
    engine_place_instance(l->engine, l->engine->spawner->place, instance, sizeof instance);
    if (cgroup_open_self(&g, instance, CGROUP_NONE, NULL) == 0) {
        cgroup_each(&g, count_group, &ret->cgroups);
        cgroup_close(&g);
    }
}
