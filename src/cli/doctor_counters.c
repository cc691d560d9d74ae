/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: what the kernel counts, and control groups do not. See doctor.h. */
#include <inttypes.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/doctor.h"
#include "core/quantity.h"
#include "runtime/cgroup.h"
#include "runtime/shares.h"
#include "sys/io.h"

enum { GOOD_INOTIFY = 128, GOOD_FILES = 4096, GOOD_TERMINALS = 64 };

/* For each sandbox: the kernel counts for the uid that its user namespace belongs to. */
void doctor_inotify(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    int64_t n = doctor_number("/proc/sys/user/max_inotify_instances");
    int64_t other = doctor_number("/proc/sys/fs/inotify/max_user_instances");

    (void)check;
    (void)c;
    if (other < n)
        n = other;
    if (n == INT64_MAX)
        doctor_say(r, DOCTOR_WARN, "the limit cannot be read");
    else
        doctor_say(r, n < GOOD_INOTIFY ? DOCTOR_WARN : DOCTOR_OK,
                   "%" PRId64 " watchers of files for each sandbox", n);
}

void doctor_all_files(const struct doctor_check *check, const struct config *c,
                      struct doctor_result *r)
{
    struct shares s;

    (void)check;
    shares_read(&s, "/proc");
    int64_t each = shares_files(&s, (uint32_t)c->cells.pids);
    if (each == SHARES_FILES_MAX)
        doctor_say(r, DOCTOR_OK, "%" PRId64 " for each process of a sandbox", each);
    else
        doctor_say(r, each < GOOD_FILES ? DOCTOR_WARN : DOCTOR_OK,
                   "%" PRId64 " for each process of a sandbox, so that its %" PRId64
                   " processes leave some of %" PRId64,
                   each, c->cells.pids, s.files);
}

void doctor_terminals(const struct doctor_check *check, const struct config *c,
                      struct doctor_result *r)
{
    struct shares s;

    (void)check;
    (void)c;
    shares_read(&s, "/proc");
    doctor_say(r, s.ptys < GOOD_TERMINALS ? DOCTOR_WARN : DOCTOR_OK, "%d for each sandbox", s.ptys);
}

/* Where net.ipv4.tcp_mem ends, in bytes. */
static int64_t tcp_bytes(void)
{
    struct buf text auto_buf = BUF_INIT(4096);
    int64_t pages = 0;

    if (io_read_file("/proc/sys/net/ipv4/tcp_mem", &text, NULL) < 0)
        return INT64_MAX;
    struct str line = buf_str(&text);
    struct str rest = str_cut(&line, '\n');
    while (rest.p)
        if (str_to_i64(str_cut(&rest, '\t'), &pages) < 0)
            return INT64_MAX;
    return pages * sysconf(_SC_PAGESIZE);
}

/* With version 2 buffers of sockets are memory of the sandbox, with version 1 they have a limit of
 * their own, an eighth of it. The kernel's limit for all of TCP is beside that. */
void doctor_sockets(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    struct buf mounts auto_buf = BUF_INIT(1 << 20);
    uint64_t bytes = 0;
    int64_t all = tcp_bytes();

    (void)check;
    if (io_read_file("/proc/self/mountinfo", &mounts, NULL) < 0 || !buf_cstr(&mounts) ||
        quantity_units(str_of(c->cells.memory_limit), &bytes) < 0) {
        doctor_say(r, DOCTOR_WARN, "it cannot be found out");
        return;
    }
    if (cgroup_version_of(buf_cstr(&mounts)) == CGROUP_V1)
        bytes /= CGROUP_V1_SOCKETS_PART;
    bool is_ok = bytes > 0 && (int64_t)bytes <= all / 2;
    doctor_say(r, is_ok ? DOCTOR_OK : DOCTOR_WARN,
               "%" PRId64 " MiB for TCP of the machine, %" PRIu64 " MiB for one sandbox", all >> 20,
               bytes >> 20);
}
