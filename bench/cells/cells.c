/* SPDX-License-Identifier: MIT */
/* How long until a fresh cell has answered its first command, beside other ways to run a program in
 * isolation, in one run: the contestants take turns, so that whatever else the machine does falls
 * on all of them. Medians and 99th percentiles in milliseconds, ratios to bubblewrap's median.
 *
 *     cells [ROUNDS]
 *
 * What is not equal: the other tools are programs that have to be started, which is how they are
 * used; and none of bubblewrap's cells has control groups, an overlay, or a system call filter. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tests/lib/lab.h"
#include "../lib/program.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/engine_freeze.h"
#include "sys/io.h"

enum { ROUNDS = 150, STOCK = 8, WARM_UP = 5, CYCLES = 200, AT_ONCE = 8, LIVE = 200 };

struct bench {
    struct lab lab;
    struct cell_spec spec;
    char bundle[64];
    int n;
};

/* ---- contestants: each does one whole life and returns its microseconds, or -1 ---- */

static int64_t plain(struct bench *b)
{
    (void)b;
    return run_program((const char *const[]){"/bin/true", NULL});
}

static int64_t bubblewrap(struct bench *b)
{
    (void)b;
    return run_program((const char *const[]){
        "bwrap",     "--unshare-all", "--ro-bind", "/usr",    "/usr",   "--symlink",
        "usr/bin",   "/bin",          "--symlink", "usr/lib", "/lib",   "--symlink",
        "usr/lib64", "/lib64",        "--dev",     "/dev",    "--proc", "/proc",
        "--tmpfs",   "/tmp",          "/bin/true", NULL});
}

static int64_t crun(struct bench *b)
{
    char id[32];

    (void)snprintf(id, sizeof id, "tidepool-bench-%d-%d", (int)getpid(), b->n++);
    return run_program((const char *const[]){"crun", "run", "--bundle", b->bundle, id, NULL});
}

/* Create, first command, and (not counted) the end. */
static int64_t one_cell(struct bench *b)
{
    const char *const argv[] = {"/bin/true", NULL};
    struct engine_run run = {.argv = argv};
    char label[32];

    (void)snprintf(label, sizeof label, "bench%d", b->n++);
    int64_t start_us = clock_mono_us();
    struct engine_cell *c = lab_create(&b->lab, label, &b->spec, NULL);
    int code = c ? lab_run(&b->lab, c, &run, NULL) : -1;
    int64_t took_us = clock_mono_us() - start_us;
    if (c)
        lab_kill(&b->lab, c);
    return code == 0 ? took_us : -1;
}

/* The stock holds the usual cells; a different disk has to be built. */
static int64_t cold(struct bench *b)
{
    b->spec = lab_spec();
    b->spec.disk.bytes = 48 << 20;
    return one_cell(b);
}

static int64_t cold_on_disk(struct bench *b)
{
    b->spec = lab_spec();
    b->spec.disk = (struct disk_spec){DISK_DIR, 0};
    return one_cell(b);
}

static int64_t cold_image(struct bench *b)
{
    b->spec = lab_spec();
    b->spec.disk = (struct disk_spec){DISK_IMAGE, 256 << 20};
    return one_cell(b);
}

static int64_t warm(struct bench *b)
{
    b->spec = lab_spec();
    if (!lab_wait_stock(&b->lab))
        return -1;
    return one_cell(b);
}

static struct engine_cell *standing;

static int64_t again(struct bench *b)
{
    const char *const argv[] = {"/bin/true", NULL};
    struct engine_run run = {.argv = argv};

    b->spec = lab_spec();
    if (!standing)
        standing = lab_create(&b->lab, "standing", &b->spec, NULL);
    int64_t start_us = clock_mono_us();
    int code = standing ? lab_run(&b->lab, standing, &run, NULL) : -1;
    return code == 0 ? clock_mono_us() - start_us : -1;
}

static int64_t pause_resume(struct bench *b)
{
    (void)b;
    int64_t start_us = clock_mono_us();
    if (!standing || engine_cell_freeze(standing, true, NULL) < 0 ||
        engine_cell_freeze(standing, false, NULL) < 0)
        return -1;
    return clock_mono_us() - start_us;
}

static struct contestant {
    const char *name;
    int64_t (*run)(struct bench *b);
    int64_t *us;
    int n;
} contestants[] = {
    {"plain spawn, no isolation", plain, NULL, 0},
    {"bwrap --unshare-all", bubblewrap, NULL, 0},
    {"crun run", crun, NULL, 0},
    {"cell, warm (claim + command)", warm, NULL, 0},
    {"cell, cold (build + command)", cold, NULL, 0},
    {"cell, cold, directory on disk", cold_on_disk, NULL, 0},
    {"cell, cold, ext4 image", cold_image, NULL, 0},
    {"command in a living cell", again, NULL, 0},
    {"pause + resume", pause_resume, NULL, 0},
};

/* ---- preparation ---- */

/* A bundle for crun: the host's /usr and the links into it. */
static int make_bundle(struct bench *b)
{
    static const char config[] =
        "{\"ociVersion\":\"1.0.0\",\"process\":{\"user\":{\"uid\":0,\"gid\":0},\"args\":[\"/bin/"
        "true\"],\"cwd\":\"/\"},\"root\":{\"path\":\"rootfs\",\"readonly\":true},\"mounts\":[{"
        "\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},{\"destination\":\"/"
        "dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"},{\"destination\":\"/usr\",\"source\":\"/"
        "usr\",\"options\":[\"bind\",\"ro\"]}],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{"
        "\"type\":\"ipc\"},{\"type\":\"uts\"},{\"type\":\"mount\"},{\"type\":\"network\"}],"
        "\"resources\":{\"memory\":{\"limit\":268435456},\"pids\":{\"limit\":128}}}}";
    static const char *const dirs[] = {"rootfs", "rootfs/dev", "rootfs/proc", "rootfs/usr"};
    static const char *const links[][2] = {
        {"usr/bin", "rootfs/bin"}, {"usr/lib", "rootfs/lib"}, {"usr/lib64", "rootfs/lib64"}};
    char path[128];

    (void)snprintf(b->bundle, sizeof b->bundle, "/var/tmp/tidepool-bench.XXXXXX");
    if (!mkdtemp(b->bundle))
        return -errno;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", b->bundle, dirs[i]);
        if (mkdir(path, 0755) < 0)
            return -errno;
    }
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", b->bundle, links[i][1]);
        if (symlink(links[i][0], path) < 0)
            return -errno;
    }
    (void)snprintf(path, sizeof path, "%s/config.json", b->bundle);
    return io_write_file(path, str_of(config), 0644, NULL);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* crun refuses hosts where version 2 is mounted beside version 1: in a mount namespace of our own
 * it need not see that. The spawner was started before and is not concerned. */
static void hide_unified(void)
{
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        (void)umount2("/sys/fs/cgroup/unified", MNT_DETACH);
}

/* ---- figures ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static double percentile_ms(const struct contestant *c, double part)
{
    return (double)c->us[(size_t)((double)(c->n - 1) * part)] / 1000;
}

static void measure(struct bench *b, int rounds)
{
    for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
        contestants[i].us = calloc((size_t)rounds, sizeof(int64_t));
        for (int k = 0; k < WARM_UP; k++)
            (void)contestants[i].run(b);
    }
    /* The steps walk through all contestants, each time in another order, so that nobody always
     * runs in the wake of the same other one. */
    static const size_t steps[] = {1, 2, 4, 5, 7, 8};
    for (int k = 0; k < rounds; k++)
        for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
            size_t at = (i + (size_t)k) * steps[(size_t)k % ARRAY_LEN(steps)];
            struct contestant *c = &contestants[at % ARRAY_LEN(contestants)];
            int64_t us = c->run(b);
            if (us >= 0)
                c->us[c->n++] = us;
        }
}

static void print_table(int rounds)
{
    const struct contestant *base = &contestants[1];

    for (size_t i = 0; i < ARRAY_LEN(contestants); i++)
        qsort(contestants[i].us, (size_t)contestants[i].n, sizeof(int64_t), by_value);
    double reference_ms = base->n ? percentile_ms(base, 0.5) : 0;
    (void)printf("%-32s %9s %9s %9s %9s %7s\n", "", "p10 ms", "p50 ms", "p99 ms", "/ bwrap",
                 "runs");
    for (size_t i = 0; i < ARRAY_LEN(contestants); i++) {
        const struct contestant *c = &contestants[i];
        if (c->n == 0) {
            (void)printf("%-32s does not run here\n", c->name);
            continue;
        }
        double p50 = percentile_ms(c, 0.5);
        (void)printf("%-32s %9.3f %9.3f %9.3f %9.2f %3d/%d\n", c->name, percentile_ms(c, 0.1), p50,
                     percentile_ms(c, 0.99), reference_ms > 0 ? p50 / reference_ms : 0, c->n,
                     rounds);
    }
}

/* ---- sustained rate and memory ---- */

struct pipeline {
    struct bench *b;
    int started, finished, failed;
};

static void next_life(struct pipeline *p);

static void on_first_result(void *ctx, const struct engine_result *r, const struct err *e)
{
    struct pipeline *p = ctx;

    (void)e;
    p->failed += !r;
}

static void on_cell(void *ctx, struct engine_cell *c, const struct err *e)
{
    static const char *const argv[] = {"/bin/true", NULL};
    static const struct engine_run run = {.argv = argv};
    struct pipeline *p = ctx;

    (void)e;
    if (!c || engine_cell_run(c, &run, on_first_result, p, NULL) < 0)
        p->failed++;
}

static void next_life(struct pipeline *p)
{
    char label[32];

    (void)snprintf(label, sizeof label, "life%d", p->started++);
    p->b->spec = lab_spec();
    if (engine_create(p->b->lab.engine, label, &p->b->spec, on_cell, p, NULL) < 0)
        p->failed++;
}

struct life {
    struct pipeline *p;
    struct engine_cell *cell;
};

static void on_life_result(void *ctx, const struct engine_result *r, const struct err *e)
{
    struct life *l = ctx;

    (void)e;
    l->p->failed += !r;
    engine_cell_kill(l->cell);
    free(l);
}

static void on_life(void *ctx, struct engine_cell *c, const struct err *e)
{
    static const char *const argv[] = {"/bin/true", NULL};
    static const struct engine_run run = {.argv = argv};
    struct life *l = calloc(1, sizeof *l);
    struct pipeline *p = ctx;

    (void)e;
    *l = (struct life){.p = p, .cell = c};
    if (!c || engine_cell_run(c, &run, on_life_result, l, NULL) < 0)
        p->failed++;
}

/* Create, command, end; several at once. */
static void sustained(struct bench *b)
{
    struct pipeline p = {.b = b};
    unsigned gone = b->lab.n_gone;
    int64_t start_us = clock_mono_us();

    while ((int)(b->lab.n_gone - gone) + p.failed < CYCLES) {
        while (p.started < CYCLES && p.started - (int)(b->lab.n_gone - gone) < AT_ONCE) {
            char label[32];
            (void)snprintf(label, sizeof label, "cycle%d", p.started++);
            b->spec = lab_spec();
            (void)engine_create(b->lab.engine, label, &b->spec, on_life, &p, NULL);
        }
        (void)loop_run_once(b->lab.loop, 100);
    }
    double s = (double)(clock_mono_us() - start_us) / 1e6;
    (void)printf("create + command + end, %d at once:  %.0f a second (%d failed)\n", AT_ONCE,
                 CYCLES / s, p.failed);
}

static long free_kib(void)
{
    auto_buf struct buf b = BUF_INIT(65536);
    long kib = 0;

    (void)io_read_file("/proc/meminfo", &b, NULL);
    const char *text = buf_cstr(&b), *at = text ? strstr(text, "MemAvailable:") : NULL;
    return at && sscanf(at, "MemAvailable: %ld", &kib) == 1 ? kib : 0;
}

/* A burst of creates, all alive at the end. */
static void burst(struct bench *b, int n)
{
    struct pipeline p = {.b = b};
    long before_kib = free_kib();
    int64_t start_us = clock_mono_us();
    unsigned had = engine_n_cells(b->lab.engine);

    for (int i = 0; i < n; i++)
        next_life(&p);
    while (engine_n_cells(b->lab.engine) < had + (unsigned)n && p.failed == 0)
        (void)loop_run_once(b->lab.loop, 100);
    int64_t took_us = clock_mono_us() - start_us;
    (void)printf("burst of %d:  %.0f ms, %.0f a second, %d failed, %ld KiB each\n", n,
                 (double)took_us / 1000, n / ((double)took_us / 1e6), p.failed,
                 (before_kib - free_kib()) / n);
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct err e = ERR_INIT;
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : ROUNDS;

    if (lab_must_skip())
        return 77;
    if (make_bundle(&b) < 0 || lab_open(&b.lab, STOCK, CGROUP_NONE, &e) < 0) {
        (void)fprintf(stderr, "cells: %s\n", err_text(&e));
        return 1;
    }
    hide_unified();
    measure(&b, rounds > 0 ? rounds : ROUNDS);
    print_table(rounds);
    sustained(&b);
    burst(&b, LIVE);
    lab_close(&b.lab);
    (void)nftw(b.bundle, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return 0;
}
