/* SPDX-License-Identifier: MIT */
/* Attributes of files in layers. Internal header of src/runtime/layer*.c. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Hides what lower layers have in a directory. */
#define LAYER_OPAQUE "user.overlay.opaque"

/* Sets attribute NAME of the file NAME_AT below DIR, a link itself and not what it leads to. What
 * this file system does not have is left out: 0, or -errno. */
int layer_set_attr(int dir, const char *file, const char *name, struct str value);
/* Copies what a cell may see of the attributes of FILE below FROM to FILE below TO; ids in them
 * begin at UID_BASE. */
int layer_copy_attrs(int from, int to, const char *file, uint32_t uid_base, struct err *e);
