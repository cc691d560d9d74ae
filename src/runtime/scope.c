/* SPDX-License-Identifier: MIT */
/* Scopes for spawners: see scope.h. */
#include "runtime/scope.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "runtime/cgroup.h"
#include "sys/io.h"

#define BOOTED      "/run/systemd/system"
#define PRIVATE_BUS "unix:path=/run/systemd/private"
#define SYSTEMD     "org.freedesktop.systemd1"
#define MANAGER     SYSTEMD ".Manager"
#define MANAGER_AT  "/org/freedesktop/systemd1"
#define UNIT_EXISTS SYSTEMD ".UnitExists"

enum { MOUNTINFO_MAX = 1 << 20, AGAIN_US = 20000, STOP_US = 5000000 };

/* ---- whether, and what it is called ---- */

bool scope_is_needed(const char *booted, const char *mountinfo)
{
    struct stat st;

    return lstat(booted ? booted : BOOTED, &st) == 0 && S_ISDIR(st.st_mode) &&
           cgroup_version_of(mountinfo) == CGROUP_V2;
}

bool scope_is_needed_here(void)
{
    auto_buf struct buf mounts = BUF_INIT(MOUNTINFO_MAX);

    return io_read_file("/proc/self/mountinfo", &mounts, NULL) == 0 && buf_cstr(&mounts) &&
           scope_is_needed(NULL, buf_cstr(&mounts));
}

void scope_name(char ret[SCOPE_NAME_MAX], const char *instance)
{
    int len = snprintf(ret, SCOPE_NAME_MAX, "tidepool-cells-%.*s.scope", CGROUP_NAME_MAX, instance);

    /* What systemd does not allow in the name of a unit. */
    for (int i = 0; i < len; i++)
        if (!isalnum((unsigned char)ret[i]) && !strchr("-_.", ret[i]))
            ret[i] = '_';
}

/* ---- the library ---- */

#define SD_FUNCTIONS(ROW)                                                                          \
    ROW(sd_bus_new)                                                                                \
    ROW(sd_bus_set_address)                                                                        \
    ROW(sd_bus_start)                                                                              \
    ROW(sd_bus_open_system)                                                                        \
    ROW(sd_bus_flush_close_unref)                                                                  \
    ROW(sd_bus_set_method_call_timeout)                                                            \
    ROW(sd_bus_match_signal)                                                                       \
    ROW(sd_bus_process)                                                                            \
    ROW(sd_bus_wait)                                                                               \
    ROW(sd_bus_call)                                                                               \
    ROW(sd_bus_call_method)                                                                        \
    ROW(sd_bus_error_free)                                                                         \
    ROW(sd_bus_message_new_method_call)                                                            \
    ROW(sd_bus_message_append)                                                                     \
    ROW(sd_bus_message_read)                                                                       \
    ROW(sd_bus_message_open_container)                                                             \
    ROW(sd_bus_message_close_container)                                                            \
    ROW(sd_bus_message_unref)

#define SD_MEMBER(name) __typeof__(name) *name;
static struct {
    SD_FUNCTIONS(SD_MEMBER)
} sd;
#undef SD_MEMBER

static const struct {
    const char *name;
    void *at;
} functions[] = {
#define SD_ROW(name) {#name, &sd.name},
    SD_FUNCTIONS(SD_ROW)
#undef SD_ROW
};

/* NULL when it is not there, or not whole. */
static void *load_dbus(void)
{
    void *lib = dlopen("libsystemd.so.0", RTLD_LAZY | RTLD_LOCAL);

    for (size_t i = 0; lib && i < ARRAY_LEN(functions); i++) {
        void *fn = dlsym(lib, functions[i].name);
        if (!fn) {
            (void)dlclose(lib);
            return NULL;
        }
        memcpy(functions[i].at, &fn, sizeof fn);
    }
    return lib;
}

/* ---- the conversation ---- */

struct scope_talk {
    sd_bus *bus;
    const char *name; /* of the scope */
    int64_t end_us;   /* when we stop waiting */
    char job[256];    /* the path of what systemd does for us */
    char result[32];  /* of that; "": not known so far */
};

static void close_bus(sd_bus *bus)
{
    if (bus)
        (void)sd.sd_bus_flush_close_unref(bus);
}
DEFINE_CLEANUP(sd_bus *, close_bus)

static void drop_message(sd_bus_message *m)
{
    if (m)
        (void)sd.sd_bus_message_unref(m);
}
DEFINE_CLEANUP(sd_bus_message *, drop_message)

static void drop_error(sd_bus_error *error)
{
    sd.sd_bus_error_free(error);
}
DEFINE_CLEANUP_IN_PLACE(sd_bus_error, drop_error)

static int open_at(const char *address, sd_bus **ret)
{
    auto_(close_bus) sd_bus *bus = NULL;
    int r = sd.sd_bus_new(&bus);

    if (r >= 0)
        r = sd.sd_bus_set_address(bus, address);
    if (r >= 0)
        r = sd.sd_bus_start(bus);
    if (r < 0)
        return r;
    *ret = take(bus);
    return 0;
}

/* Without the package dbus there is no system bus, but systemd itself listens for root. */
static int open_bus(const char *address, sd_bus **ret)
{
    if (address)
        return open_at(address, ret);
    int r = sd.sd_bus_open_system(ret);
    if (r < 0 && open_at(PRIVATE_BUS, ret) == 0)
        return 0;
    return r < 0 ? r : 0;
}

/* While a call waits for its answer signals are kept for later, so the job is known here. Another
 * job of the same name may be the end of the scope before. */
static int on_job_removed(sd_bus_message *m, void *ctx, sd_bus_error *error)
{
    struct scope_talk *t = ctx;
    const char *job, *unit, *result;
    uint32_t id;

    (void)error;
    if (sd.sd_bus_message_read(m, "uoss", &id, &job, &unit, &result) >= 0 &&
        strcmp(job, t->job) == 0)
        (void)snprintf(t->result, sizeof t->result, "%s", result);
    return 0;
}

/* What the scope is, beside its processes. A cell's first process ignores SIGTERM from outside, so
 * a shutdown of the machine sends what ends it; Before has it come after the service's own stop. */
static const struct {
    const char *name, *type;
    const char *text;
    uint64_t number;
} properties[] = {
    {"Description", "s", "Sandboxes of Tidepool", 0},
    {"Slice", "s", SCOPE_SLICE, 0},
    {"Delegate", "b", NULL, 1},
    {"TasksMax", "t", NULL, UINT64_MAX},
    {"KillSignal", "i", NULL, SIGKILL},
    {"TimeoutStopUSec", "t", NULL, STOP_US},
    {"CollectMode", "s", "inactive-or-failed", 0},
    {"Before", "as", "tidepool.service", 0},
};

static int put_properties(sd_bus_message *m, pid_t pid)
{
    int r = sd.sd_bus_message_append(m, "(sv)", "PIDs", "au", 1, (uint32_t)pid);

    for (size_t i = 0; r >= 0 && i < ARRAY_LEN(properties); i++) {
        const char *name = properties[i].name, *type = properties[i].type;
        const char *text = properties[i].text;
        uint64_t number = properties[i].number;
        if (strcmp(type, "as") == 0)
            r = sd.sd_bus_message_append(m, "(sv)", name, type, 1, text);
        else if (text)
            r = sd.sd_bus_message_append(m, "(sv)", name, type, text);
        else if (strcmp(type, "t") == 0)
            r = sd.sd_bus_message_append(m, "(sv)", name, type, number);
        else
            r = sd.sd_bus_message_append(m, "(sv)", name, type, (int)number);
    }
    return r;
}

/* Asks for the scope: 0 when systemd has begun, -EEXIST when one of that name is left. */
static int ask_for_scope(struct scope_talk *t, pid_t pid, struct err *e)
{
    auto_(drop_message) sd_bus_message *m = NULL, *answer = NULL;
    auto_(drop_error) sd_bus_error error = SD_BUS_ERROR_NULL;
    int r = sd.sd_bus_message_new_method_call(t->bus, &m, SYSTEMD, MANAGER_AT, MANAGER,
                                              "StartTransientUnit");

    if (r >= 0)
        r = sd.sd_bus_message_append(m, "ss", t->name, "fail");
    if (r >= 0)
        r = sd.sd_bus_message_open_container(m, 'a', "(sv)");
    if (r >= 0)
        r = put_properties(m, pid);
    if (r >= 0)
        r = sd.sd_bus_message_close_container(m);
    if (r >= 0)
        r = sd.sd_bus_message_append(m, "a(sa(sv))", 0);
    if (r < 0)
        return err_sys(e, r, "ask systemd for '%s'", t->name);
    const char *job;
    r = sd.sd_bus_call(t->bus, m, 0, &error, &answer);
    if (r >= 0)
        r = sd.sd_bus_message_read(answer, "o", &job);
    if (r >= 0) {
        (void)snprintf(t->job, sizeof t->job, "%s", job);
        return 0;
    }
    if (error.name && strcmp(error.name, UNIT_EXISTS) == 0)
        r = -EEXIST;
    return err_set(e, r, "systemd refuses '%s': %s", t->name,
                   error.message ? error.message : strerror(-r));
}

/* Nobody answers there any more, so what still lives in it are the cells of a dead spawner. */
static void clear_out(struct scope_talk *t)
{
    (void)sd.sd_bus_call_method(t->bus, SYSTEMD, MANAGER_AT, MANAGER, "KillUnit", NULL, NULL, "ssi",
                                t->name, "all", SIGKILL);
    (void)sd.sd_bus_call_method(t->bus, SYSTEMD, MANAGER_AT, MANAGER, "ResetFailedUnit", NULL, NULL,
                                "s", t->name);
    (void)usleep(AGAIN_US);
}

static int ask_until(struct scope_talk *t, pid_t pid, struct err *e)
{
    for (;;) {
        struct err why = ERR_INIT;
        int r = ask_for_scope(t, pid, &why);
        if (r == -EEXIST && clock_mono_us() < t->end_us) {
            clear_out(t);
            continue;
        }
        if (r < 0 && e)
            *e = why;
        return r;
    }
}

static int wait_for_job(struct scope_talk *t, struct err *e)
{
    while (t->result[0] == '\0') {
        int64_t left_us = t->end_us - clock_mono_us();
        int r = sd.sd_bus_process(t->bus, NULL);
        if (r == 0 && left_us <= 0)
            r = -ETIMEDOUT;
        if (r == 0)
            r = sd.sd_bus_wait(t->bus, (uint64_t)left_us);
        if (r < 0 && r != -EINTR)
            return err_sys(e, r, "systemd and '%s'", t->name);
    }
    if (strcmp(t->result, "done") != 0)
        return err_set(e, -EIO, "systemd could not create '%s': %s", t->name, t->result);
    return 0;
}

static int enter_scope(struct scope_talk *t, pid_t pid, const char *address, struct err *e)
{
    auto_(close_bus) sd_bus *bus = NULL;
    int r = open_bus(address, &bus);

    if (r < 0)
        return err_sys(e, r, "connect to systemd");
    t->bus = bus;
    (void)sd.sd_bus_set_method_call_timeout(bus, SCOPE_WAIT_MS * UINT64_C(1000));
    r = sd.sd_bus_match_signal(bus, NULL, NULL, MANAGER_AT, MANAGER, "JobRemoved", on_job_removed,
                               t);
    if (r < 0)
        return err_sys(e, r, "listen to systemd");
    r = ask_until(t, pid, e);
    return r < 0 ? r : wait_for_job(t, e);
}

/* The library goes again: it is used once in the life of a spawner, and takes a megabyte. */
int scope_enter(pid_t pid, const char *name, const char *address, struct err *e)
{
    struct scope_talk t = {.name = name, .end_us = clock_mono_us() + SCOPE_WAIT_MS * INT64_C(1000)};
    void *lib = load_dbus();

    if (!lib)
        return err_set(e, -EOPNOTSUPP, "libsystemd is not installed (package libsystemd0)");
    int r = enter_scope(&t, pid, address, e);
    (void)dlclose(lib);
    return r;
}
