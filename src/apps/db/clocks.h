/* SPDX-License-Identifier: MIT */
/* SQLite's own clock and random numbers, which are not the instance's: with them the same calls
 * would not give the same bytes (docs/adr/0006). Scripts and schemas that use them are refused. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* -EACCES with E, which names what to use instead, when SQL asks for the machine's time or random
 * numbers: random(), randomblob(), CURRENT_TIMESTAMP and the like, and date functions of 'now' or
 * of nothing. LINE is that of SQL's first character. Quoted texts and comments are no SQL. */
int clocks_refuse(struct str sql, unsigned line, struct err *e);
/* The name of a VFS (SQLite's way to the operating system) that differs from the default one in its
 * clock alone; NULL, which means the default one, when it cannot be had. An argument of a call may
 * be 'now', which no look at the statement finds. */
const char *clocks_vfs(void);
/* On this thread that clock shows NOW_US, microseconds since 1970, and *WAS_ASKED becomes true when
 * it is read; with WAS_ASKED NULL it is the machine's again. */
void clocks_show(int64_t now_us, bool *was_asked);
/* Whether the function NAME is one of those that no statement may call. */
bool clocks_is_refused(const char *name);
