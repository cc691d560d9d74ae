/* SPDX-License-Identifier: MIT */
/* The text of a cell's own /proc and /sys files. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/view_text.h"

static cpu_set_t set_of(const int *cpus, size_t n)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (size_t i = 0; i < n; i++)
        CPU_SET((size_t)cpus[i], &set);
    return set;
}

#define SET(...)                                                                                   \
    set_of((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void check_text(const struct buf *b, const char *want)
{
    char got[4096];

    assert_true(buf_ok(b) && b->len < sizeof got);
    (void)snprintf(got, sizeof got, STR_FMT, STR_ARG(buf_str(b)));
    assert_string_equal(got, want);
}

static void processors_are_listed(void **state)
{
    const struct {
        cpu_set_t set;
        const char *list, *mask;
    } rows[] = {
        {SET(0), "0", "1"},
        {SET(1), "1", "2"},
        {SET(0, 1), "0-1", "3"},
        {SET(0, 2), "0,2", "5"},
        {SET(0, 1, 2, 5, 7, 8), "0-2,5,7-8", "1a7"},
        {SET(31, 32), "31-32", "1,80000000"},
        {SET(64), "64", "1,00000000,00000000"},
        {SET(1023), "1023",
         "80000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000,"
         "00000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000,"
         "00000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000,"
         "00000000,00000000,00000000,00000000,00000000,00000000,00000000,00000000"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf list = BUF_INIT(4096), mask = BUF_INIT(4096);
        view_text_list(&list, &rows[i].set);
        check_text(&list, rows[i].list);
        view_text_mask(&mask, &rows[i].set);
        check_text(&mask, rows[i].mask);
    }
}

static const struct {
    enum view_kind kind;
    struct view_facts facts;
    const char *text;
} rows[] = {
    {VIEW_UPTIME, {.up_us = 12345678}, "12.34 12.34\n"},
    {VIEW_UPTIME, {.up_us = 10000000, .user_us = 2500000, .system_us = 1500000}, "10.00 6.00\n"},
    /* More than the machine's clock allows: a cell that was busier than we thought. */
    {VIEW_UPTIME, {.up_us = 1000000, .user_us = 2000000}, "1.00 0.00\n"},
    {VIEW_LOADAVG, {.load = {0.5, 1.254, 12}, .n_procs = 7}, "0.50 1.25 12.00 1/7 7\n"},
    {VIEW_ONLINE, {.up_us = 1}, "0\n"},
    {VIEW_STAT,
     {.up_us = 10000000,
      .user_us = 1500000,
      .system_us = 500000,
      .boot_s = 1700000000,
      .n_procs = 3},
     "cpu  150 0 50 800 0 0 0 0 0 0\n"
     "cpu0 150 0 50 800 0 0 0 0 0 0\n"
     "intr 0\nctxt 0\nbtime 1700000000\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n"
     "softirq 0 0 0 0 0 0 0 0 0 0 0\n"},
    {VIEW_CPUS, {.up_us = 1}, ""},
};

static void facts_become_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(4096);
        struct view_facts f = rows[i].facts;
        f.cpus = SET(0);
        view_text(&b, rows[i].kind, &f);
        check_text(&b, rows[i].text);
    }
}

/* The lines of all processors add up to the first one, whatever there is to share. */
static void time_is_shared_out(void **state)
{
    auto_buf struct buf b = BUF_INIT(4096);
    struct view_facts f = {
        .cpus = SET(1, 3, 6), .up_us = 1000000, .user_us = 1000000, .system_us = 50000};

    (void)state;
    view_text(&b, VIEW_STAT, &f);
    check_text(&b, "cpu  100 0 5 195 0 0 0 0 0 0\n"
                   "cpu1 34 0 2 64 0 0 0 0 0 0\n"
                   "cpu3 33 0 2 65 0 0 0 0 0 0\n"
                   "cpu6 33 0 1 66 0 0 0 0 0 0\n"
                   "intr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n"
                   "softirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

#define MIB (1024ULL * 1024)

static const struct {
    const char *line;
    struct view_facts facts;
} memory_rows[] = {
    {"MemTotal:         524288 kB\n", {.memory_total = 512 * MIB}},
    {"MemFree:          523264 kB\n", {.memory_total = 512 * MIB, .memory_used = MIB}},
    {"MemFree:               0 kB\n", {.memory_total = MIB, .memory_used = 2 * MIB}},
    /* What is cached is as good as free. */
    {"MemAvailable:       3072 kB\n",
     {.memory_total = 4 * MIB,
      .memory_used = 3 * MIB,
      .memory = {[VIEW_MEM_ACTIVE_FILE] = MIB, [VIEW_MEM_INACTIVE_FILE] = MIB}}},
    {"MemAvailable:       1024 kB\n",
     {.memory_total = MIB, .memory = {[VIEW_MEM_INACTIVE_FILE] = 4 * MIB}}},
    {"Cached:             2048 kB\n", {.memory = {[VIEW_MEM_FILE] = 2 * MIB}}},
    {"Inactive(anon):     2048 kB\n", {.memory = {[VIEW_MEM_INACTIVE_ANON] = 2 * MIB}}},
    {"Active:             3072 kB\n",
     {.memory = {[VIEW_MEM_ACTIVE_ANON] = 2 * MIB, [VIEW_MEM_ACTIVE_FILE] = MIB}}},
    {"Shmem:              1024 kB\n", {.memory = {[VIEW_MEM_SHMEM] = MIB}}},
    {"SwapTotal:             0 kB\n", {.memory_total = MIB}},
    {"MemTotal:       1073741824 kB\n", {.memory_total = 1024 * 1024 * MIB}},
};

static void memory_has_its_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(memory_rows); i++) {
        auto_buf struct buf b = BUF_INIT(4096);
        view_text(&b, VIEW_MEMINFO, &memory_rows[i].facts);
        if (str_find(buf_str(&b), str_of(memory_rows[i].line)) < 0)
            fail_msg("no line '%s' in\n" STR_FMT, memory_rows[i].line, STR_ARG(buf_str(&b)));
    }
}

#define CPU(n, cores)                                                                              \
    "processor\t: " n "\nmodel name\t: X\nphysical id\t: " n "\nsiblings\t: 4\ncore id\t\t: 9\n"   \
    "cpu cores\t: " cores "\nflags\t\t: a b\n\n"
#define SHOWN(n, cores)                                                                            \
    "processor\t: " n "\nmodel name\t: X\nphysical id\t: 0\nsiblings\t: " cores                    \
    "\ncore id\t\t: " n "\ncpu cores\t: " cores "\nflags\t\t: a b\n\n"

static void only_own_processors_are_described(void **state)
{
    const struct {
        cpu_set_t cpus;
        const char *text;
    } cases[] = {
        {SET(1), SHOWN("1", "1")},
        {SET(0, 2), SHOWN("0", "2") SHOWN("2", "2")},
        {SET(0, 1, 2), SHOWN("0", "3") SHOWN("1", "3") SHOWN("2", "3")},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf b = BUF_INIT(4096);
        struct view_facts f = {.cpus = cases[i].cpus,
                               .cpuinfo = STR(CPU("0", "4") CPU("1", "4") CPU("2", "4"))};
        view_text(&b, VIEW_CPUINFO, &f);
        check_text(&b, cases[i].text);
    }
}

static void load_follows_use(void **state)
{
    const struct {
        double before;
        uint64_t busy_us, passed_us;
        double after; /* of one minute */
    } cases[] = {
        {0, 0, 0, 0},
        {1, 0, 0, 1},
        {1, 60000000, 60000000, 1},
        {0, 60000000, 60000000, 0.632},
        {1, 0, 60000000, 0.368},
        {0, 1000000, 1000000, 0.0165},
        {3, 0, 36000000000, 0},
        {0, 72000000000, 36000000000, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double load[VIEW_LOADS] = {cases[i].before};
        view_text_load(load, cases[i].busy_us, cases[i].passed_us);
        double off = load[0] - cases[i].after;
        if (off > 0.01 || off < -0.01)
            fail_msg("case %zu: %f, not %f", i, load[0], cases[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_listed),
        cmocka_unit_test(facts_become_text),
        cmocka_unit_test(time_is_shared_out),
        cmocka_unit_test(memory_has_its_lines),
        cmocka_unit_test(only_own_processors_are_described),
        cmocka_unit_test(load_follows_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
