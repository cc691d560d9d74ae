/* SPDX-License-Identifier: MIT */
/* What the server writes to a driver's input.
 *
 * A frame is a line "NAME LENGTH" with that many bytes behind it:
 *     execute CODE        runs it; the driver answers with messages, the last one "done"
 *     env NAME=VALUE      sets a variable of the environment; NAME alone removes it
 *     cwd PATH            changes the directory
 * env and cwd are not answered.
 *
 * bash gets the same as commands instead: an interactive shell goes on with its next line when it
 * is interrupted, which is how it reports the end of what was interrupted. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum frame_style { FRAME_PLAIN, FRAME_BASH };

/* All append to OUT; as buf_add(). */
int frame_put_execute(struct buf *out, enum frame_style style, struct str code);
/* VALUE.p NULL removes the variable. A name that the language cannot have is skipped. */
int frame_put_env(struct buf *out, enum frame_style style, struct str name, struct str value);
int frame_put_cwd(struct buf *out, enum frame_style style, struct str path);
