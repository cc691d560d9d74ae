/* SPDX-License-Identifier: MIT */
/* The frame of the escape tests: see stage.h. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned n_checks, n_failed;

bool stage_must_skip(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    return lab_must_skip();
}

static void bail_out(const struct err *e)
{
    (void)printf("Bail out! %s\n", err_text(e));
    exit(1);
}

void stage_open(struct lab *l)
{
    struct err e = ERR_INIT;

    if (lab_open(l, 0, CGROUP_NONE, &e) < 0)
        bail_out(&e);
}

struct engine_cell *stage_create(struct lab *l, const char *name, const struct cell_spec *spec)
{
    struct err e = ERR_INIT;
    struct engine_cell *c = lab_create(l, name, spec, &e);

    if (!c)
        bail_out(&e);
    return c;
}

void stage_check(bool is_ok, const char *who, const char *what, const struct lab_result *r)
{
    (void)printf("%sok %u - %s: %s\n", is_ok ? "" : "not ", ++n_checks, who, what);
    if (!is_ok && r)
        (void)printf("# %.2000s%.2000s\n", r->out, r->err);
    n_failed += !is_ok;
}

unsigned stage_n_checks(void)
{
    return n_checks;
}

int stage_end(struct lab *l)
{
    lab_close(l);
    (void)printf("1..%u\n", n_checks);
    return n_failed > 0;
}
