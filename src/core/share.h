/* SPDX-License-Identifier: MIT */
/* Data that comes with the program. */
#pragma once

#include <limits.h>

/* share/tidepool/NAME beside the directory of this program when it is installed, else SOURCE. OUT
 * is for the path. */
const char *share_find(const char *name, const char *source, char out[PATH_MAX]);
