/* SPDX-License-Identifier: MIT */
/* What a sandbox is made from: its template, the root of its cell, and who wins when the request,
 * the template and the defaults say something of the same thing. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct sandbox;
struct sandbox_args;

/* Finds the template that ARGS asks for and the root of its cells, and fills what ARGS leaves open:
 * first with what the template says, then with the sandbox template. Gives SB its name. What is
 * made for that is in A. 0; -EINVAL; -EOPNOTSUPP when the host lacks what the template requires. */
int sandbox_resolve(struct sandbox *sb, struct sandbox_args *args, struct arena *a, struct err *e);
