/* SPDX-License-Identifier: MIT */
/* A process of a language that has loaded everything a context needs and runs no code itself. A
 * context's process is forked from it, which takes milliseconds instead of a second. It is started
 * when it is first needed, and again when it died. */
#pragma once

#include "loop/loop.h"

struct kernel;
struct language;
struct nursery;

struct nursery *nursery_new(struct loop *loop, const struct language *l);
void nursery_free(struct nursery *n);
/* Asks for a process that gets FDS (frames, output, errors, messages; they stay the caller's), and
 * calls kernel_on_process() with what came of it. 0 or -errno. */
int nursery_ask(struct nursery *n, struct kernel *k, const int fds[4]);
/* K does not want a process any more. */
void nursery_forget(struct nursery *n, struct kernel *k);
