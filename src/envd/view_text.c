/* SPDX-License-Identifier: MIT */
/* The text of a cell's own /proc and /sys files: see view_text.h. */
#include "envd/view_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

enum { TICK_US = 10000, WORD_BITS = 32 };

/* ---- processors ---- */

static int first_from(const cpu_set_t *set, int from)
{
    while (from < CPU_SETSIZE && !CPU_ISSET((size_t)from, set))
        from++;
    return from;
}

void view_text_list(struct buf *b, const cpu_set_t *set)
{
    const char *sep = "";

    for (int i = first_from(set, 0); i < CPU_SETSIZE; i = first_from(set, i)) {
        int first = i;
        while (i < CPU_SETSIZE && CPU_ISSET((size_t)i, set))
            i++;
        (void)buf_printf(b, "%s%d", sep, first);
        if (i - first > 1)
            (void)buf_printf(b, "-%d", i - 1);
        sep = ",";
    }
}

void view_text_mask(struct buf *b, const cpu_set_t *set)
{
    bool has_begun = false;

    for (int word = CPU_SETSIZE / WORD_BITS - 1; word >= 0; word--) {
        uint32_t bits = 0;
        for (int i = 0; i < WORD_BITS; i++)
            if (CPU_ISSET((size_t)(word * WORD_BITS + i), set))
                bits |= 1U << i;
        if (!has_begun && bits == 0 && word > 0)
            continue;
        (void)buf_printf(b, has_begun ? ",%08x" : "%x", (unsigned)bits);
        has_begun = true;
    }
}

static void write_online(struct buf *b, const struct view_facts *f)
{
    view_text_list(b, &f->cpus);
    (void)buf_add_char(b, '\n');
}

/* A line of one processor. What says how processors lie together would speak of ones that the cell
 * does not have: to it they are the cores of one package. */
static void write_cpuinfo_line(struct buf *b, struct str line, int cpu, int n_cpus)
{
    const struct {
        const char *key;
        int value;
    } own[] = {{"siblings", n_cpus}, {"cpu cores", n_cpus}, {"physical id", 0}, {"core id", cpu}};
    struct str value = line;
    struct str key = str_trim(str_cut(&value, ':'));

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (!str_is(key, own[i].key))
            continue;
        (void)buf_printf(b, STR_FMT "%s: %d\n", STR_ARG(key), key.len < 8 ? "\t\t" : "\t",
                         own[i].value);
        return;
    }
    (void)buf_add_str(b, line);
    (void)buf_add_char(b, '\n');
}

/* The number after "processor", or -1. */
static int view_cpu_of(struct str line)
{
    struct str value = line;
    uint64_t cpu;

    if (!str_is(str_trim(str_cut(&value, ':')), "processor") || !value.p)
        return -1;
    return str_to_u64(str_trim(value), &cpu) == 0 && cpu < CPU_SETSIZE ? (int)cpu : -1;
}

/* Sections of processors end with an empty line; what belongs to none is for everybody. */
static void write_cpuinfo(struct buf *b, const struct view_facts *f)
{
    struct str all = f->cpuinfo;
    int n_cpus = CPU_COUNT(&f->cpus), cpu = -1;

    while (all.p && all.len > 0) {
        struct str line = str_cut(&all, '\n');
        int begins = view_cpu_of(line);
        if (begins >= 0)
            cpu = begins;
        if (cpu < 0 || CPU_ISSET((size_t)cpu, &f->cpus))
            write_cpuinfo_line(b, line, cpu, n_cpus);
        if (line.len == 0)
            cpu = -1;
    }
}

/* ---- time ---- */

struct cpu_time {
    uint64_t user, system, idle;
};

static void write_cpu_time(struct buf *b, const struct cpu_time *t)
{
    (void)buf_printf(b, " %llu 0 %llu %llu 0 0 0 0 0 0\n", (unsigned long long)t->user,
                     (unsigned long long)t->system, (unsigned long long)t->idle);
}

/* The share of the processor that comes as number NTH of N: the first ones get what is left. */
static struct cpu_time cpu_time_of(const struct view_facts *f, uint64_t nth, uint64_t n)
{
    uint64_t user = f->user_us / TICK_US, system = f->system_us / TICK_US;
    struct cpu_time t = {.user = user / n + (nth < user % n),
                         .system = system / n + (nth < system % n)};
    uint64_t up = (uint64_t)f->up_us / TICK_US;

    t.idle = up > t.user + t.system ? up - t.user - t.system : 0;
    return t;
}

static void write_stat(struct buf *b, const struct view_facts *f)
{
    uint64_t n = (uint64_t)CPU_COUNT(&f->cpus), nth = 0;
    struct cpu_time sum = {0};

    for (uint64_t i = 0; i < n; i++) {
        struct cpu_time t = cpu_time_of(f, i, n);
        sum.user += t.user;
        sum.system += t.system;
        sum.idle += t.idle;
    }
    (void)buf_add_str(b, STR("cpu "));
    write_cpu_time(b, &sum);
    for (int i = first_from(&f->cpus, 0); i < CPU_SETSIZE; i = first_from(&f->cpus, i + 1)) {
        struct cpu_time t = cpu_time_of(f, nth++, n);
        (void)buf_printf(b, "cpu%d", i);
        write_cpu_time(b, &t);
    }
    (void)buf_printf(b,
                     "intr 0\nctxt 0\nbtime %lld\nprocesses %u\nprocs_running 1\nprocs_blocked 0\n"
                     "softirq 0 0 0 0 0 0 0 0 0 0 0\n",
                     (long long)f->boot_s, (unsigned)f->n_procs);
}

static void write_uptime(struct buf *b, const struct view_facts *f)
{
    uint64_t up = (uint64_t)f->up_us, all = up * (uint64_t)CPU_COUNT(&f->cpus);
    uint64_t busy = f->user_us + f->system_us, idle = all > busy ? all - busy : 0;

    (void)buf_printf(b, "%llu.%02u %llu.%02u\n", (unsigned long long)(up / 1000000),
                     (unsigned)(up % 1000000 / TICK_US), (unsigned long long)(idle / 1000000),
                     (unsigned)(idle % 1000000 / TICK_US));
}

static void write_loadavg(struct buf *b, const struct view_facts *f)
{
    (void)buf_printf(b, "%.2f %.2f %.2f 1/%u %u\n", f->load[0], f->load[1], f->load[2],
                     (unsigned)f->n_procs, (unsigned)f->n_procs);
}

/* e to the power of -X for X >= 0, good to a few thousandths: halved until it is small. */
static double decay(double x)
{
    if (x > 1)
        return x > 64 ? 0 : decay(x / 2) * decay(x / 2);
    return 1 / (1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4))));
}

void view_text_load(double load[VIEW_LOADS], uint64_t busy_us, uint64_t passed_us)
{
    static const double periods_us[VIEW_LOADS] = {60e6, 300e6, 900e6};

    if (passed_us == 0)
        return;
    double running = (double)busy_us / (double)passed_us;
    for (size_t i = 0; i < VIEW_LOADS; i++) {
        double keep = decay((double)passed_us / periods_us[i]);
        load[i] = load[i] * keep + running * (1 - keep);
    }
}

/* ---- memory ---- */

static void kib(struct buf *b, const char *name, uint64_t bytes)
{
    static const char blanks[] = "                ";
    size_t len = strlen(name);

    (void)buf_printf(b, "%s:%s%8llu kB\n", name, blanks + (len < 15 ? len + 1 : 15),
                     (unsigned long long)(bytes / 1024));
}

static void write_meminfo(struct buf *b, const struct view_facts *f)
{
    const uint64_t *m = f->memory;
    uint64_t free = f->memory_total > f->memory_used ? f->memory_total - f->memory_used : 0;
    uint64_t available =
        free + m[VIEW_MEM_ACTIVE_FILE] + m[VIEW_MEM_INACTIVE_FILE] + m[VIEW_MEM_SLAB_RECLAIMABLE];
    const struct {
        const char *name;
        uint64_t bytes;
    } lines[] = {
        {"MemTotal", f->memory_total},
        {"MemFree", free},
        {"MemAvailable", available < f->memory_total ? available : f->memory_total},
        {"Buffers", 0},
        {"Cached", m[VIEW_MEM_FILE]},
        {"SwapCached", 0},
        {"Active", m[VIEW_MEM_ACTIVE_ANON] + m[VIEW_MEM_ACTIVE_FILE]},
        {"Inactive", m[VIEW_MEM_INACTIVE_ANON] + m[VIEW_MEM_INACTIVE_FILE]},
        {"Active(anon)", m[VIEW_MEM_ACTIVE_ANON]},
        {"Inactive(anon)", m[VIEW_MEM_INACTIVE_ANON]},
        {"Active(file)", m[VIEW_MEM_ACTIVE_FILE]},
        {"Inactive(file)", m[VIEW_MEM_INACTIVE_FILE]},
        {"Unevictable", m[VIEW_MEM_UNEVICTABLE]},
        {"Mlocked", 0},
        {"SwapTotal", 0},
        {"SwapFree", 0},
        {"Dirty", m[VIEW_MEM_DIRTY]},
        {"Writeback", m[VIEW_MEM_WRITEBACK]},
        {"AnonPages", m[VIEW_MEM_ANON]},
        {"Mapped", m[VIEW_MEM_MAPPED]},
        {"Shmem", m[VIEW_MEM_SHMEM]},
        {"KReclaimable", m[VIEW_MEM_SLAB_RECLAIMABLE]},
        {"Slab", m[VIEW_MEM_SLAB_RECLAIMABLE] + m[VIEW_MEM_SLAB_UNRECLAIMABLE]},
        {"SReclaimable", m[VIEW_MEM_SLAB_RECLAIMABLE]},
        {"SUnreclaim", m[VIEW_MEM_SLAB_UNRECLAIMABLE]},
        {"KernelStack", m[VIEW_MEM_KERNEL_STACK]},
        {"PageTables", m[VIEW_MEM_PAGE_TABLES]},
        {"CommitLimit", f->memory_total},
        {"Committed_AS", f->memory_used},
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        kib(b, lines[i].name, lines[i].bytes);
    (void)buf_add_str(b, STR("HugePages_Total:       0\nHugePages_Free:        0\n"
                             "HugePages_Rsvd:        0\nHugePages_Surp:        0\n"
                             "Hugepagesize:       2048 kB\n"));
}

void view_text(struct buf *b, enum view_kind kind, const struct view_facts *f)
{
    static void (*const writers[VIEW_KINDS])(struct buf * b, const struct view_facts *f) = {
        [VIEW_MEMINFO] = write_meminfo, [VIEW_CPUINFO] = write_cpuinfo,
        [VIEW_STAT] = write_stat,       [VIEW_LOADAVG] = write_loadavg,
        [VIEW_UPTIME] = write_uptime,   [VIEW_ONLINE] = write_online,
    };

    if (writers[kind])
        writers[kind](b, f);
}
