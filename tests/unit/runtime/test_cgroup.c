/* SPDX-License-Identifier: MIT */
/* Control groups on made-up trees of plain files: which hierarchies are found, and what is written
 * where. The real ones are exercised by test_engine.c. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/cgroup.h"
#include "sys/io.h"

static char top[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(top, sizeof top, "/tmp/tidepool-cgroup.XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
    char full[256];

    (void)snprintf(full, sizeof full, "%s/%s", top, path);
    char *slash = strrchr(full, '/');
    *slash = '\0';
    assert_int_equal(io_mkdirs(full, 0700, NULL), 0);
    *slash = '/';
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
    (void)close(fd);
}

static void expect(const char *path, const char *text)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char full[256];

    (void)snprintf(full, sizeof full, "%s/%s", top, path);
    assert_int_equal(io_read_file(full, &b, NULL), 0);
    assert_string_equal(buf_cstr(&b), text);
}

static const char *mounts_of(const char *format)
{
    static char text[4096];
    size_t len = 0;

    for (const char *at = format; *at; at++) {
        if (*at == '@')
            len += (size_t)snprintf(text + len, sizeof text - len, "%s", top);
        else
            text[len++] = *at;
        text[len] = '\0';
    }
    return text;
}

static int open_made_up(struct cgroup *g, const char *mounts, const char *self)
{
    struct cgroup_open_args args = {
        .instance = "test", .mountinfo = mounts_of(mounts), .self = self};
    struct err e = ERR_INIT;
    int r = cgroup_open(g, &args, &e);

    if (r < 0)
        print_message("%s\n", err_text(&e));
    return r;
}

#define V1_MOUNTS                                                                                  \
    "20 1 0:20 / / rw - ext4 /dev/vda rw\n"                                                        \
    "30 20 0:30 / @/memory rw,relatime - cgroup cgroup rw,memory\n"                                \
    "31 20 0:31 / @/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"                               \
    "32 20 0:32 / @/pids rw - cgroup cgroup rw,pids\n"                                             \
    "33 20 0:33 / @/freezer rw - cgroup cgroup rw,freezer\n"                                       \
    "34 20 0:34 / @/blkio rw - cgroup cgroup rw,blkio\n"                                           \
    "35 20 0:35 / @/unified rw - cgroup2 cgroup2 rw\n"                                             \
    "36 20 0:30 / @/again rw - cgroup cgroup rw,memory\n"

static void make_v1(void)
{
    const char *const dirs[] = {"memory", "cpu,cpuacct", "pids", "freezer"};
    const char *const files[][4] = {
        {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "cgroup.procs", NULL},
        {"cpu.cfs_quota_us", "cpuacct.usage", "cgroup.procs", NULL},
        {"pids.max", "pids.current", "cgroup.procs", NULL},
        {"freezer.state", "cgroup.procs", NULL, NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        for (size_t k = 0; k < 4 && files[i][k]; k++) {
            char path[128];
            (void)snprintf(path, sizeof path, "%s/tidepool/test/s0001/%s", dirs[i], files[i][k]);
            put(path, "");
            (void)snprintf(path, sizeof path, "%s/tidepool/test/s0001/tasks", dirs[i]);
            put(path, "");
        }
}

static void version_1_uses_each_hierarchy_once(void **state)
{
    struct cgroup g;
    int entries[CGROUP_HIERARCHIES];

    (void)state;
    make_v1();
    put("cpu,cpuacct/tidepool/cpu.shares", "");
    assert_int_equal(open_made_up(&g, V1_MOUNTS, "4:memory:/else\n0::/\n"), 0);
    expect("cpu,cpuacct/tidepool/cpu.shares", "512");
    assert_int_equal(g.version, CGROUP_V1);
    assert_int_equal(g.n_trees, 4);
    assert_int_equal(g.can, 31);
    struct cgroup_limits limits = {.memory_bytes = 1000000, .pids = 64, .cpu_milli = 250};
    assert_int_equal(cgroup_make(&g, "s0001", &limits, NULL), 0);
    expect("memory/tidepool/test/s0001/memory.limit_in_bytes", "1000000");
    expect("memory/tidepool/test/s0001/memory.memsw.limit_in_bytes", "1000000");
    expect("pids/tidepool/test/s0001/pids.max", "64");
    expect("cpu,cpuacct/tidepool/test/s0001/cpu.cfs_quota_us", "25000");
    /* Only what has changed is written; all processors together are no limit. */
    struct cgroup_limits later = {.memory_bytes = 1000000, .pids = 65, .cpu_milli = 64000000};
    put("memory/tidepool/test/s0001/memory.limit_in_bytes", "kept...");
    assert_int_equal(cgroup_limit(&g, "s0001", &limits, &later, NULL), 0);
    expect("memory/tidepool/test/s0001/memory.limit_in_bytes", "kept...");
    expect("pids/tidepool/test/s0001/pids.max", "65");
    expect("cpu,cpuacct/tidepool/test/s0001/cpu.cfs_quota_us", "-1000");
    put("cpu,cpuacct/tidepool/test/s0001/cpu.cfs_quota_us", "kept.");
    limits.cpu_milli = 0;
    assert_int_equal(cgroup_limit(&g, "s0001", &limits, &later, NULL), 0);
    expect("cpu,cpuacct/tidepool/test/s0001/cpu.cfs_quota_us", "kept.");
    assert_int_equal(cgroup_entries(&g, "s0001", entries, NULL), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(close(entries[i]), 0);
    put("pids/tidepool/test/s0001/pids.current", "12\n");
    put("memory/tidepool/test/s0001/memory.usage_in_bytes", "4096\n");
    put("memory/tidepool/test/s0001/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    put("cpu,cpuacct/tidepool/test/s0001/cpuacct.usage", "5000000\n");
    struct cgroup_usage u;
    assert_int_equal(cgroup_usage(&g, "s0001", &u, NULL), 0);
    assert_int_equal(u.pids, 12);
    assert_int_equal(u.memory_bytes, 4096);
    assert_int_equal(u.oom_kills, 3);
    assert_int_equal(u.cpu_us, 5000);
    assert_int_equal(cgroup_cache(&g, "s0001"), 0);
    put("memory/tidepool/test/s0001/memory.stat", "cache 8192\nrss 4096\n");
    assert_int_equal(cgroup_cache(&g, "s0001"), 8192);
    cgroup_close(&g);
}

static void version_2_uses_the_own_group(void **state)
{
    struct cgroup g;
    int entries[CGROUP_HIERARCHIES];
    const char *const files[] = {"cgroup.type", "cgroup.procs", "cgroup.subtree_control"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "v2/svc/%s", files[i]);
        put(path, "");
        (void)snprintf(path, sizeof path, "v2/svc/tidepool/%s", files[i]);
        put(path, "");
        (void)snprintf(path, sizeof path, "v2/svc/tidepool/test/%s", files[i]);
        /* The front is overwritten by the request for controllers, as no kernel stands behind. */
        put(path, i == 2 ? "------- cpu memory pids\n" : "");
    }
    put("v2/svc/tidepool/test/s0001/memory.max", "");
    put("v2/svc/tidepool/test/s0001/pids.max", "");
    put("v2/svc/tidepool/test/s0001/cpu.max", "");
    put("v2/svc/tidepool/test/s0001/memory.swap.max", "");
    put("v2/svc/supervisor/cgroup.procs", "");
    put("v2/svc/tidepool/cpu.weight", "");
    assert_int_equal(open_made_up(&g, "30 1 0:30 / @/v2 rw - cgroup2 cgroup2 rw,nsdelegate\n",
                                  "0::/svc/supervisor\n"),
                     0);
    assert_int_equal(g.version, CGROUP_V2);
    expect("v2/svc/tidepool/cpu.weight", "50");
    assert_int_equal(g.can & (CGROUP_CAN_MEMORY | CGROUP_CAN_PIDS | CGROUP_CAN_FREEZE), 11);
    struct cgroup_limits limits = {.memory_bytes = 1 << 20, .pids = 9, .cpu_milli = 900};
    assert_int_equal(cgroup_make(&g, "s0001", &limits, NULL), 0);
    expect("v2/svc/tidepool/test/s0001/memory.max", "1048576");
    expect("v2/svc/tidepool/test/s0001/memory.swap.max", "0");
    expect("v2/svc/tidepool/test/s0001/pids.max", "9");
    expect("v2/svc/tidepool/test/s0001/cpu.max", "90000 100000");
    struct cgroup_limits fewer = {.memory_bytes = 1 << 20, .cpu_milli = 900};
    assert_int_equal(cgroup_limit(&g, "s0001", &limits, &fewer, NULL), 0);
    expect("v2/svc/tidepool/test/s0001/pids.max", "max");
    assert_int_equal(cgroup_entries(&g, "s0001", entries, NULL), 1);
    assert_int_equal(close(entries[0]), 0);
    put("v2/svc/tidepool/test/s0001/memory.stat", "anon 4096\nfile 12288\n");
    assert_int_equal(cgroup_cache(&g, "s0001"), 12288);
    cgroup_close(&g);
}

static void no_hierarchy_is_not_an_error(void **state)
{
    struct cgroup g;
    struct err e = ERR_INIT;
    struct cgroup_usage u;

    (void)state;
    assert_int_equal(open_made_up(&g, "20 1 0:20 / / rw - ext4 /dev/vda rw\nnonsense\n\n", ""), 0);
    assert_int_equal(g.version, CGROUP_NONE);
    assert_int_equal(g.can, 0);
    assert_int_equal(cgroup_freeze(&g, "s0001", true, &e), -EOPNOTSUPP);
    assert_int_equal(cgroup_usage(&g, "s0001", &u, &e), -EOPNOTSUPP);
    cgroup_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(version_1_uses_each_hierarchy_once, setup, teardown),
        cmocka_unit_test_setup_teardown(version_2_uses_the_own_group, setup, teardown),
        cmocka_unit_test_setup_teardown(no_hierarchy_is_not_an_error, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
