/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: which cgroup version there is, and whether its controllers suffice. See
 * doctor.h. */
#include "cli/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/scope.h"
#include "sys/io.h"

/* What limits and pauses cells. Version 2 freezes without a controller. */
static const char *const wanted[] = {"memory", "pids", "cpu", "freezer"};
enum { N_WANTED = 4, FREEZER = 3 };

struct cgroup_found {
    struct str own; /* the group of version 2 that sandboxes would be below */
    bool has_v1, has_v2, is_writable;
    bool v1[N_WANTED], v2[N_WANTED];
};

static void mark_controller(bool *set, struct str word)
{
    for (size_t i = 0; i < N_WANTED; i++)
        set[i] |= str_is(word, wanted[i]);
}

/* Reads the cgroup.controllers of the hierarchy at DIR, where sandboxes would be. */
static void read_v2(struct cgroup_found *f, struct str dir)
{
    struct buf path auto_buf = BUF_INIT(4096), text auto_buf = BUF_INIT(4096);

    f->has_v2 = f->v2[FREEZER] = true;
    (void)buf_printf(&path, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(f->own));
    if (!buf_cstr(&path))
        return;
    f->is_writable |= access(buf_cstr(&path), W_OK) == 0;
    (void)buf_add_lit(&path, "/cgroup.controllers");
    if (!buf_cstr(&path) || io_read_file(buf_cstr(&path), &text, NULL) < 0)
        return;
    struct str all = buf_str(&text);
    struct str rest = str_cut(&all, '\n');
    while (rest.p)
        mark_controller(f->v2, str_cut(&rest, ' '));
}

/* A version 1 hierarchy names its controllers among the options of its mount. */
static void read_v1(struct cgroup_found *f, struct str dir, struct str options)
{
    struct buf path auto_buf = BUF_INIT(4096);

    f->has_v1 = true;
    while (options.p)
        mark_controller(f->v1, str_cut(&options, ','));
    (void)buf_printf(&path, STR_FMT, STR_ARG(dir));
    f->is_writable |= buf_cstr(&path) && access(buf_cstr(&path), W_OK) == 0;
}

/* "ID PARENT DEV ROOT DIR OPTIONS … - TYPE SOURCE SUPER-OPTIONS" */
static void read_mount(struct cgroup_found *f, struct str line)
{
    struct str dir = STR_NULL, word = STR_NULL;

    for (int i = 0; i < 5 && line.p; i++)
        dir = str_cut(&line, ' ');
    while (line.p && !str_is(word, "-"))
        word = str_cut(&line, ' ');
    struct str type = line.p ? str_cut(&line, ' ') : STR_NULL;
    if (line.p)
        (void)str_cut(&line, ' ');
    if (str_is(type, "cgroup2"))
        read_v2(f, dir);
    else if (str_is(type, "cgroup"))
        read_v1(f, dir, line);
}

/* Where systemd gives sandboxes a scope, all controllers come with it; else they live below the own
 * group: the line "0::/path" of SELF. */
static struct str read_own_group(struct str self, bool has_scope)
{
    while (!has_scope && self.p) {
        struct str line = str_cut(&self, '\n');
        if (str_starts(line, STR("0::/")))
            return str_skip(line, 3);
    }
    return STR("");
}

void doctor_cgroup(const struct doctor_check *check, const struct config *c,
                   struct doctor_result *r)
{
    struct buf text auto_buf = BUF_INIT(1 << 20), lacking auto_buf = BUF_INIT(64);
    struct buf self auto_buf = BUF_INIT(1 << 20);
    struct cgroup_found f = {0};
    bool has_scope = scope_is_needed_here();

    (void)check;
    (void)c;
    if (io_read_file("/proc/self/mountinfo", &text, NULL) < 0) {
        doctor_say(r, DOCTOR_WARN, "cannot read /proc/self/mountinfo");
        return;
    }
    (void)io_read_file("/proc/self/cgroup", &self, NULL);
    f.own = read_own_group(buf_str(&self), has_scope);
    for (struct str rest = buf_str(&text); rest.p;)
        read_mount(&f, str_cut(&rest, '\n'));
    /* In a hybrid layout each controller is in one of the two. */
    for (size_t i = 0; i < N_WANTED; i++)
        if (!f.v1[i] && !f.v2[i])
            (void)buf_printf(&lacking, " %s", wanted[i]);
    const char *version = !f.has_v1 && !f.has_v2 ? "not mounted"
                          : !f.has_v1            ? "version 2"
                          : !f.has_v2            ? "version 1"
                                                 : "versions 1 and 2";
    if (lacking.len)
        doctor_say(r, DOCTOR_MISSING, "%s, without" STR_FMT, version, STR_ARG(buf_str(&lacking)));
    else if (!f.is_writable)
        doctor_say(r, DOCTOR_WARN, "%s, not writable by this user", version);
    else
        doctor_say(r, DOCTOR_OK, "%s with memory, pids, cpu and freezer%s", version,
                   has_scope ? ", in a systemd scope" : "");
}
