/* SPDX-License-Identifier: MIT */
/* GET /metrics: what the cell uses, as it can be seen from inside. The control groups cannot be
 * seen from here, so processor time and memory are added up from /proc. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/serve_internal.h"
#include "sys/io.h"

enum { STAT_MAX = 1024, ANSWER_MAX = 4096, PROCS_MAX = 65536 };

/* Fields of /proc/PID/stat behind the name, which may hold anything: the first is 3. */
enum { FIELD_FIRST = 3, FIELD_UTIME = 14, FIELD_CSTIME = 17, FIELD_RSS = 24 };

struct usage {
    uint64_t ticks; /* of processor time, of processes that have ended included */
    uint64_t bytes; /* resident */
};

static void add_process(struct usage *u, const char *pid)
{
    char path[64], text[STAT_MAX];
    uint64_t v;

    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    auto_close int fd = io_open(path, O_RDONLY, 0);
    ssize_t n = fd < 0 ? fd : io_read(fd, text, sizeof text);
    if (n <= 0)
        return;
    struct str rest = str_n(text, (size_t)n);
    while (rest.len > 0 && rest.p[rest.len - 1] != ')')
        rest.len--;
    rest = str_n(rest.p + rest.len, (size_t)n - rest.len);
    (void)str_cut(&rest, ' ');
    for (int field = FIELD_FIRST; rest.p && field <= FIELD_RSS; field++) {
        struct str word = str_cut(&rest, ' ');
        if (str_to_u64(word, &v) < 0)
            continue;
        if (field >= FIELD_UTIME && field <= FIELD_CSTIME)
            u->ticks += v;
        else if (field == FIELD_RSS)
            u->bytes += v * (uint64_t)sysconf(_SC_PAGESIZE);
    }
}

static struct usage get_usage(void)
{
    struct usage u = {0};
    DIR *d = opendir("/proc");
    const struct dirent *entry;

    for (int i = 0; d && i < PROCS_MAX && (entry = readdir(d)); i++)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            add_process(&u, entry->d_name);
    if (d)
        (void)closedir(d);
    return u;
}

/* Since the last time, of all processors together. */
static double cpu_percent(struct e2b *b, uint64_t ticks, uint32_t n_cpus)
{
    int64_t now_us = clock_mono_us();
    double seconds = (double)(now_us - b->cpu.at_us) / 1e6;
    double used = ticks > b->cpu.ticks ? (double)(ticks - b->cpu.ticks) : 0;

    used /= (double)sysconf(_SC_CLK_TCK);
    double percent = b->cpu.at_us && seconds > 0 ? used * 100 / seconds / n_cpus : 0;
    b->cpu.at_us = now_us;
    b->cpu.ticks = ticks;
    if (percent > 100)
        percent = 100;
    return (double)(int64_t)(percent * 100 + 0.5) / 100;
}

static void put_metric(struct jw *w, const char *key, uint64_t value)
{
    jw_key(w, key);
    jw_int(w, (int64_t)value);
}

void e2b_metrics(struct serve *s, struct http_req *r)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    struct statvfs disk = {0};
    struct sysinfo info = {0};
    struct usage used = get_usage();
    uint32_t n_cpus = s->e2b.n_cpus ? s->e2b.n_cpus : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);

    (void)sysinfo(&info);
    uint64_t total = s->e2b.memory_bytes ? s->e2b.memory_bytes : info.totalram * info.mem_unit;
    if (used.bytes > total)
        used.bytes = total;
    (void)statvfs("/", &disk);
    jw_object(&w);
    put_metric(&w, "ts", (uint64_t)clock_real_us() / 1000000);
    put_metric(&w, "cpu_count", n_cpus);
    jw_key(&w, "cpu_used_pct");
    jw_real(&w, cpu_percent(&s->e2b, used.ticks, n_cpus));
    put_metric(&w, "mem_total_mib", total >> 20);
    put_metric(&w, "mem_used_mib", used.bytes >> 20);
    put_metric(&w, "mem_total", total);
    put_metric(&w, "mem_used", used.bytes);
    put_metric(&w, "mem_cache", 0);
    put_metric(&w, "disk_used", (disk.f_blocks - disk.f_bavail) * disk.f_frsize);
    put_metric(&w, "disk_total", disk.f_blocks * disk.f_frsize);
    jw_end(&w);
    e2b_json(r, &b);
}
