/* SPDX-License-Identifier: MIT */
/* The files of a new app: a small one that works, to be changed. */
#pragma once

#include "base/err.h"

/* Makes the folder DIR, which must not exist, and its files. */
int app_skeleton_write(const char *dir, struct err *e);
