/* SPDX-License-Identifier: MIT */
/* The frame of the programs here: a laboratory (../lib/lab.h) with cells in it, and checks that are
 * lines of TAP. What cannot go on says so and ends the program. */
#pragma once

#include "../lib/lab.h"

/* True when this machine cannot run cells, which TAP was told; else output is written by lines. */
bool stage_must_skip(void);
void stage_open(struct lab *l);
struct engine_cell *stage_create(struct lab *l, const char *name, const struct cell_spec *spec);

/* One line: "WHO: WHAT". R, if there is one, is shown with a failure. */
void stage_check(bool is_ok, const char *who, const char *what, const struct lab_result *r);
unsigned stage_n_checks(void);

/* Closes the laboratory and prints the plan; the exit status. */
int stage_end(struct lab *l);
