/* SPDX-License-Identifier: MIT */
/* `tidepool doctor`: a sandbox is made, used and removed, and one for each limit to see it bite.
 * See doctor.h. */
#include "cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/doctor_service.h"

/* Shared by the checks of this file: opened by the first one, closed after the last check. */
static struct doctor_service service;
static bool is_open, is_usable;

/* ---- a sandbox ---- */

static struct str first_line(struct str text)
{
    return str_cut(&text, '\n');
}

static int expect(const struct doctor_command *c, const char *want, struct err *e)
{
    const char *user = c->user ? c->user : "the default user";
    struct doctor_ran ran = {0};
    int r = doctor_run(&service, c, &ran, e);

    if (r < 0)
        return err_ctx(e, r, "a command as %s", user);
    if (ran.status == 0 && str_is(first_line(ran.out), want))
        return 0;
    return err_set(e, -1, "'%s' as %s exited with %lld and printed '" STR_FMT "'", c->text, user,
                   (long long)ran.status,
                   STR_ARG(str_slice(first_line(ran.err.len ? ran.err : ran.out), 0, 100)));
}

static int use_sandbox(struct err *e)
{
    static const struct {
        const char *user, *command, *want;
    } commands[] = {
        {NULL, "id -un", "user"},
        {NULL, "echo kept >~/doctor && cat ~/doctor", "kept"},
        {"root", "id -u", "0"},
    };
    const char *name = doctor_create(&service, "", e);
    int r = name ? 0 : -1;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(commands); i++)
        r = expect(&(struct doctor_command){name, commands[i].command, commands[i].user},
                   commands[i].want, e);
    if (!name)
        return err_ctx(e, r, "create");
    struct err ignored = ERR_INIT; /* the first failure is the one to report */
    int removed = doctor_remove(&service, name, r < 0 ? &ignored : e);
    return r < 0 ? r : removed;
}

void doctor_sandbox(const struct doctor_check *check, const struct config *c,
                    struct doctor_result *r)
{
    struct err e = ERR_INIT;

    (void)check;
    if (!c->cells.enabled) {
        doctor_say(r, DOCTOR_WARN, "disabled (cells.enabled)");
        return;
    }
    if (geteuid() != 0) {
        doctor_say(r, DOCTOR_MISSING, "sandboxes require root; this is uid %u",
                   (unsigned)geteuid());
        r->fix = "Run the service as root, and also this check: sudo tidepool doctor.";
        return;
    }
    is_open = true;
    if (doctor_service_open(&service, c, &e) < 0 || use_sandbox(&e) < 0) {
        doctor_say(r, DOCTOR_MISSING, "%.250s", err_text(&e));
        return;
    }
    is_usable = true;
    doctor_say(r, DOCTOR_OK, "created, used as its user and as root, and removed%s",
               service.dir[0] ? "" : ", by the running service");
}

void doctor_sandbox_done(void)
{
    if (is_open)
        doctor_service_close(&service);
    is_open = is_usable = false;
}

/* ---- limits ---- */

enum verdict { BITES, DOES_NOTHING, UNCLEAR };

/* Seconds of processor time: the sum of "0m0.07s 0m0.02s" in two lines, as `times` prints them. */
static double sum_of_times(struct str text)
{
    char copy[128], *at = copy;
    double sum = -1;

    (void)snprintf(copy, sizeof copy, STR_FMT, STR_ARG(str_slice(text, 0, sizeof copy - 1)));
    for (;;) {
        char *m, *s;
        double minutes = strtod(at, &m);
        if (m == at || *m != 'm')
            return sum;
        double seconds = strtod(m + 1, &s);
        if (s == m + 1 || *s != 's')
            return sum;
        sum = (sum < 0 ? 0 : sum) + 60 * minutes + seconds;
        at = s + 1;
    }
}

static enum verdict judge_kill(const struct doctor_ran *ran)
{
    return ran->status == 137 ? BITES : ran->status == 0 ? DOES_NOTHING : UNCLEAR;
}

static enum verdict judge_failure(const struct doctor_ran *ran)
{
    return ran->status == 0 ? DOES_NOTHING : BITES;
}

static enum verdict judge_space(const struct doctor_ran *ran)
{
    if (ran->status == 0)
        return DOES_NOTHING;
    return str_find(ran->err, STR("No space left")) >= 0 ? BITES : UNCLEAR;
}

/* Two seconds of a loop with a twentieth of a processor, on a machine that others may keep busy. */
static enum verdict judge_times(const struct doctor_ran *ran)
{
    double used = sum_of_times(ran->out), most = 0.12 * (double)ran->took_us / 1e6;

    return used < 0 ? UNCLEAR : used > most ? DOES_NOTHING : BITES;
}

static const struct limit {
    const char *word;    /* of the check */
    const char *members; /* what the sandbox asks for */
    const char *command; /* what goes beyond it */
    enum verdict (*judge)(const struct doctor_ran *ran);
} limits[] = {
    {"memory", "\"memory_limit\":\"64Mi\"", "head -c 160M /dev/zero | tail -c 160M >/dev/null",
     judge_kill},
    {"pids", "\"pids\":32",
     "sh -c 'i=0; while [ $i -lt 64 ]; do sleep 3 & i=$((i+1)); done' >/dev/null 2>&1",
     judge_failure},
    {"cpu", "\"cpu_limit\":\"50m\"", "timeout 2 sh -c 'while :; do :; done'; times", judge_times},
    {"disk", "\"disk\":\"64Mi\"",
     "head -c 96M /dev/zero >~/fill; status=$?; rm -f ~/fill; exit $status", judge_space},
};

static void try_limit(const struct limit *l, struct doctor_result *r)
{
    struct err e = ERR_INIT;
    struct doctor_ran ran = {0};
    const char *name = doctor_create(&service, l->members, &e);

    if (!name) {
        doctor_say(r, DOCTOR_MISSING, "%.250s", err_text(&e));
        return;
    }
    int code = doctor_run(&service, &(struct doctor_command){name, l->command, NULL}, &ran, &e);
    enum verdict verdict = code < 0 ? UNCLEAR : l->judge(&ran);
    if (code < 0)
        doctor_say(r, DOCTOR_WARN, "%.250s", err_text(&e));
    else if (verdict == UNCLEAR)
        doctor_say(r, DOCTOR_WARN,
                   "inconclusive: the command exited with %lld and printed '" STR_FMT "'",
                   (long long)ran.status, STR_ARG(str_slice(first_line(ran.err), 0, 100)));
    else if (verdict == BITES)
        doctor_say(r, DOCTOR_OK, "enforced on a test sandbox");
    else
        doctor_say(r, DOCTOR_MISSING, "not enforced: a test sandbox exceeded it");
    if (doctor_remove(&service, name, &e) < 0 && r->status == DOCTOR_OK)
        doctor_say(r, DOCTOR_MISSING, "%.250s", err_text(&e));
}

void doctor_limit(const struct doctor_check *check, const struct config *c, struct doctor_result *r)
{
    (void)c;
    if (!is_usable) {
        doctor_say(r, DOCTOR_WARN, "not tested: no sandbox could be created");
        r->fix = "Fix 'sandbox' above first.";
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (strcmp(limits[i].word, check->word) == 0)
            try_limit(&limits[i], r);
}
