/* SPDX-License-Identifier: MIT */
/* Scopes, against a systemd of our own: a child process that answers on a socket as the manager
 * does, and writes down what it was asked. */
#include "../check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/cgroup.h"
#include "runtime/scope.h"
#include "sys/io.h"

#define MANAGER    "org.freedesktop.systemd1.Manager"
#define MANAGER_AT "/org/freedesktop/systemd1"

static char top[64], at[128], address[160], notes_path[128];
static pid_t manager_pid;

/* ---- the manager ---- */

/* How it answers. */
struct manager {
    const char *result; /* of the job; NULL: it dies before that */
    const char *refusal;
    int n_exists; /* so often there is such a scope already */
    FILE *notes;
};

/* In a child cmocka's own assertions would go on with the tests. */
static void must(bool is_so)
{
    if (!is_so)
        _exit(2);
}

static void note_property(FILE *notes, sd_bus_message *m)
{
    const char *name, *type, *text;
    char kind;
    uint64_t big = 0;
    int32_t number = 0;

    must(sd_bus_message_enter_container(m, 'r', "sv") > 0);
    must(sd_bus_message_read(m, "s", &name) > 0);
    must(sd_bus_message_peek_type(m, &kind, &type) > 0);
    if (strcmp(type, "au") == 0) {
        must(sd_bus_message_read(m, "v", "au", 1, &number) > 0);
        (void)fprintf(notes, "%s=%s\n", name, number == getppid() ? "the process" : "another");
    } else if (strcmp(type, "as") == 0) {
        must(sd_bus_message_read(m, "v", "as", 1, &text) > 0);
        (void)fprintf(notes, "%s=%s\n", name, text);
    } else if (strcmp(type, "t") == 0) {
        must(sd_bus_message_read(m, "v", "t", &big) > 0);
        (void)fprintf(notes, "%s=%llu\n", name, (unsigned long long)big);
    } else if (strcmp(type, "s") == 0) {
        must(sd_bus_message_read(m, "v", "s", &text) > 0);
        (void)fprintf(notes, "%s=%s\n", name, text);
    } else {
        must(sd_bus_message_read(m, "v", type, &number) > 0);
        (void)fprintf(notes, "%s=%d\n", name, number);
    }
    must(sd_bus_message_exit_container(m) > 0);
}

static void tell_result(sd_bus *bus, const char *job, const char *unit, const char *result)
{
    must(sd_bus_emit_signal(bus, MANAGER_AT, MANAGER, "JobRemoved", "uoss", 7U, job, unit,
                            result) >= 0);
}

static int start_unit(struct manager *g, sd_bus_message *m)
{
    const char *name, *mode;
    sd_bus *bus = sd_bus_message_get_bus(m);

    must(sd_bus_message_read(m, "ss", &name, &mode) > 0);
    (void)fprintf(g->notes, "start %s %s\n", name, mode);
    if (g->refusal)
        return sd_bus_reply_method_errorf(m, "org.freedesktop.DBus.Error.AccessDenied", "%s",
                                          g->refusal);
    if (g->n_exists-- > 0)
        return sd_bus_reply_method_errorf(m, "org.freedesktop.systemd1.UnitExists",
                                          "Unit %s already exists.", name);
    must(sd_bus_message_enter_container(m, 'a', "(sv)") > 0);
    while (!sd_bus_message_at_end(m, 0))
        note_property(g->notes, m);
    /* Other jobs, one of them the end of a scope of the same name. */
    tell_result(bus, "/job/5", "other.scope", "failed");
    tell_result(bus, "/job/6", name, g->result && strcmp(g->result, "done") ? "done" : "failed");
    must(sd_bus_reply_method_return(m, "o", "/job/7") >= 0);
    (void)fflush(g->notes);
    if (!g->result) {
        (void)sd_bus_flush(bus);
        _exit(0);
    }
    tell_result(bus, "/job/7", name, g->result);
    return 1;
}

static int on_call(sd_bus_message *m, void *ctx, sd_bus_error *error)
{
    struct manager *g = ctx;
    const char *unit, *whom;
    int signo;

    (void)error;
    if (sd_bus_message_is_method_call(m, MANAGER, "StartTransientUnit"))
        return start_unit(g, m);
    if (sd_bus_message_is_method_call(m, MANAGER, "KillUnit")) {
        must(sd_bus_message_read(m, "ssi", &unit, &whom, &signo) > 0);
        (void)fprintf(g->notes, "kill %s %s %d\n", unit, whom, signo);
        return sd_bus_reply_method_return(m, "");
    }
    if (sd_bus_message_is_method_call(m, MANAGER, "ResetFailedUnit"))
        return sd_bus_reply_method_errorf(m, "org.freedesktop.systemd1.NoSuchUnit", "not loaded");
    return 0;
}

/* Serves one connection to its end. */
static _Noreturn void manager_main(struct manager *g, int listener)
{
    sd_bus *bus;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 ||
        sd_bus_set_server(bus, 1, SD_ID128_NULL) < 0 || sd_bus_set_anonymous(bus, 1) < 0 ||
        sd_bus_set_trusted(bus, 1) < 0 || sd_bus_start(bus) < 0 ||
        sd_bus_add_object(bus, NULL, MANAGER_AT, on_call, g) < 0)
        _exit(1);
    for (int r = 0; r >= 0;) {
        r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    }
    (void)fclose(g->notes);
    _exit(0);
}

static void start_manager(struct manager g)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", at);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 1), 0);
    g.notes = fopen(notes_path, "we");
    assert_non_null(g.notes);
    manager_pid = fork();
    assert_true(manager_pid >= 0);
    if (manager_pid == 0)
        manager_main(&g, fd);
    (void)fclose(g.notes);
}

/* Waits for its end, which that of the connection is, and returns its notes. */
static const char *notes(void)
{
    static char text[4096];
    int status;

    assert_int_equal(waitpid(manager_pid, &status, 0), manager_pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    manager_pid = 0;
    auto_close int fd = open(notes_path, O_RDONLY | O_CLOEXEC);
    ssize_t n = io_read(fd, text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(top, sizeof top, "/tmp/tidepool-scope.XXXXXX");
    if (!mkdtemp(top))
        return -1;
    (void)snprintf(at, sizeof at, "%s/bus", top);
    (void)snprintf(address, sizeof address, "unix:path=%s", at);
    (void)snprintf(notes_path, sizeof notes_path, "%s/notes", top);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (manager_pid > 0) {
        (void)kill(manager_pid, SIGKILL);
        (void)waitpid(manager_pid, NULL, 0);
        manager_pid = 0;
    }
    (void)unlink(at);
    (void)unlink(notes_path);
    return rmdir(top);
}

/* ---- tests ---- */

#define ASKED                                                                                      \
    "PIDs=the process\n"                                                                           \
    "Description=Sandboxes of Tidepool\n"                                                          \
    "Slice=tidepool.slice\n"                                                                       \
    "Delegate=1\n"                                                                                 \
    "TasksMax=18446744073709551615\n"                                                              \
    "KillSignal=9\n"                                                                               \
    "TimeoutStopUSec=5000000\n"                                                                    \
    "CollectMode=inactive-or-failed\n"                                                             \
    "Before=tidepool.service\n"

static void a_scope_is_asked_for(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    start_manager((struct manager){.result = "done"});
    int r = scope_enter(getpid(), "a.scope", address, &e);
    assert_string_equal(notes(), "start a.scope fail\n" ASKED);
    assert_int_equal(r, 0);
}

static void what_a_dead_spawner_left_is_killed(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    start_manager((struct manager){.result = "done", .n_exists = 2});
    int r = scope_enter(getpid(), "a.scope", address, &e);
    assert_string_equal(notes(), "start a.scope fail\nkill a.scope all 9\n"
                                 "start a.scope fail\nkill a.scope all 9\n"
                                 "start a.scope fail\n" ASKED);
    assert_int_equal(r, 0);
}

static void refusals_are_passed_on(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    start_manager((struct manager){.refusal = "not today"});
    assert_int_equal(scope_enter(getpid(), "a.scope", address, &e), -EACCES);
    assert_string_equal(err_text(&e), "systemd refuses 'a.scope': not today");
    (void)notes();
}

static void a_job_may_fail(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    start_manager((struct manager){.result = "timeout"});
    assert_int_equal(scope_enter(getpid(), "a.scope", address, &e), -EIO);
    assert_string_equal(err_text(&e), "systemd could not create 'a.scope': timeout");
    (void)notes();
}

static void systemd_may_die_meanwhile(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    start_manager((struct manager){.result = NULL});
    assert_true(scope_enter(getpid(), "a.scope", address, &e) < 0);
    assert_non_null(strstr(err_text(&e), "a.scope"));
    (void)notes();
}

static void nobody_listens(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(scope_enter(getpid(), "a.scope", address, &e), -ENOENT);
    assert_non_null(strstr(err_text(&e), "connect to systemd"));
}

#define V2_MOUNT   "30 20 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1_MOUNT   "31 20 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
#define NAME_MOUNT "32 20 0:32 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"

static void only_systemd_with_version_2_needs_it(void **state)
{
    (void)state;
    assert_true(scope_is_needed(top, V2_MOUNT));
    assert_true(scope_is_needed(top, NAME_MOUNT V2_MOUNT));
    assert_false(scope_is_needed(top, V1_MOUNT V2_MOUNT));
    assert_false(scope_is_needed(top, V1_MOUNT));
    assert_false(scope_is_needed(top, ""));
    assert_false(scope_is_needed("/nonexistent", V2_MOUNT));
    assert_false(scope_is_needed("/dev/null", V2_MOUNT));
}

static void names_are_those_of_units(void **state)
{
    char name[SCOPE_NAME_MAX], longest[2 * SCOPE_NAME_MAX];

    (void)state;
    scope_name(name, "i0123-4567");
    assert_string_equal(name, "tidepool-cells-i0123-4567.scope");
    scope_name(name, "a b/c@\xc3\xa9");
    assert_string_equal(name, "tidepool-cells-a_b_c___.scope");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    scope_name(name, longest);
    assert_string_equal(name + strlen(name) - 6, ".scope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_scope_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_dead_spawner_left_is_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals_are_passed_on, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_may_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(systemd_may_die_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(only_systemd_with_version_2_needs_it, setup, teardown),
        cmocka_unit_test(names_are_those_of_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
