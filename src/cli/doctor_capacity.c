/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: how many sandboxes the limits of this machine leave room for. See doctor.h. */
#include "cli/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "cli/serve.h"
#include "core/sandbox_args.h"
#include "sys/io.h"

/* What an idle sandbox takes (bench/cells/run --only live measures it), and what the rest of the
 * service needs. */
enum {
    FILES_EACH = 5,
    FILES_REST = 2048,
    PROCESSES_EACH = 2, /* its first one, and one that it is asked to run */
    PROCESSES_REST = 512,
    NAMESPACES_OWN = 4, /* of each kind: those that count for the uid of a sandbox */
    MEMORY_EACH_KIB = 1536,
    DISK_EACH_KIB = 1024,
    GOOD_SANDBOXES = 2000,
    MIN_SANDBOXES = 8,
};

/* ---- numbers ---- */

int64_t doctor_number(const char *path)
{
    struct buf text auto_buf = BUF_INIT(4096);
    int64_t n;

    if (io_read_file(path, &text, NULL) < 0)
        return INT64_MAX;
    struct str rest = buf_str(&text);
    return str_to_i64(str_trim(str_cut(&rest, '\n')), &n) == 0 ? n : INT64_MAX;
}

static int try_files(const void *wanted)
{
    return setrlimit(RLIMIT_NOFILE, wanted) < 0 ? -1 : 0;
}

int64_t doctor_max_files(void)
{
    const struct rlimit more = {SERVE_WANTED_FILES, SERVE_WANTED_FILES};
    struct rlimit l = {0};

    (void)getrlimit(RLIMIT_NOFILE, &l);
    if (l.rlim_max < more.rlim_max && doctor_in_child(try_files, &more) == 0)
        return SERVE_WANTED_FILES;
    return l.rlim_max > INT32_MAX ? INT32_MAX : (int64_t)l.rlim_max;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- what each limit allows ---- */

static int64_t by_files(const struct config *c)
{
    (void)c;
    return (doctor_max_files() - FILES_REST) / FILES_EACH;
}

static int64_t by_processes(const struct config *c)
{
    int64_t n = min_of(doctor_number("/proc/sys/kernel/pid_max"),
                       doctor_number("/proc/sys/kernel/threads-max"));

    (void)c;
    return (n - PROCESSES_REST) / PROCESSES_EACH;
}

/* Those of the network count as root's, all others as the sandbox's own. */
static int64_t by_namespaces(const struct config *c)
{
    static const char *const kinds[] = {"cgroup", "ipc", "mnt", "pid", "user", "uts"};
    int64_t least = doctor_number("/proc/sys/user/max_net_namespaces");

    (void)c;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", kinds[i]);
        if (doctor_number(path) < NAMESPACES_OWN)
            least = 0;
    }
    return least;
}

static int64_t by_memory(const struct config *c)
{
    int64_t kib = doctor_memory_kib();

    (void)c;
    return kib < 0 ? INT64_MAX : kib / MEMORY_EACH_KIB;
}

static int64_t by_disk(const struct config *c)
{
    char dir[4096];
    struct statvfs v;

    doctor_existing_parent(c->state, dir);
    if (statvfs(dir, &v) < 0)
        return INT64_MAX;
    return (int64_t)(v.f_bavail * v.f_frsize / 1024) / DISK_EACH_KIB;
}

static int64_t by_program(const struct config *c)
{
    return SANDBOX_MAX - c->cells.warm;
}

/* ---- checks ---- */

void doctor_capacity(const struct doctor_check *check, const struct config *c,
                     struct doctor_result *r)
{
    static const struct {
        const char *name;
        int64_t (*count)(const struct config *c);
    } limits[] = {
        {"open files", by_files},
        {"process ids", by_processes},
        {"namespaces", by_namespaces},
        {"memory", by_memory},
        {"disk", by_disk},
        {"the program", by_program},
    };
    struct buf rest auto_buf = BUF_INIT(DOCTOR_DETAIL_MAX);
    int64_t counts[ARRAY_LEN(limits)];
    size_t least = 0;

    (void)check;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        counts[i] = limits[i].count(c);
        if (counts[i] < 0)
            counts[i] = 0;
        if (counts[i] < counts[least])
            least = i;
    }
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (i != least && counts[i] != INT64_MAX)
            (void)buf_printf(&rest, ", %s %" PRId64, limits[i].name, counts[i]);
    const char *others = buf_cstr(&rest);
    doctor_say(r,
               counts[least] < MIN_SANDBOXES    ? DOCTOR_MISSING
               : counts[least] < GOOD_SANDBOXES ? DOCTOR_WARN
                                                : DOCTOR_OK,
               "about %" PRId64 " idle ones, by %s%s", counts[least], limits[least].name,
               others ? others : "");
}
