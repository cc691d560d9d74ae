/* SPDX-License-Identifier: MIT */
/* Writing many files on a thread of its own, while the caller makes the next ones: the names of a
 * directory can only be made one after the other, their contents need not wait for that. A failure
 * is reported by one of the calls that follow it. All calls are made by one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct writer;

/* NULL: no memory, or no thread could be started. */
struct writer *writer_new(void);
/* Begins with the file FD, which is taken over; PATH is for messages, MTIME_S is when it was
 * changed last. */
void writer_begin(struct writer *w, int fd, const char *path, int64_t mtime_s);
/* More of its content; the end of it. 0 or -errno with E filled. */
int writer_data(struct writer *w, const char *p, size_t len, struct err *e);
int writer_end(struct writer *w, struct err *e);
/* Waits until everything is written. As above. */
int writer_finish(struct writer *w, struct err *e);
/* What was not written yet is not written any more; files are closed. */
void writer_free(struct writer *w);
