/* SPDX-License-Identifier: MIT */
/* The files that come with the program, found from where the program itself is:
 *
 *                       apps, local               programs that run in cells
 *     PREFIX/bin        PREFIX/share/tidepool     PREFIX/lib/tidepool
 *     a build folder    the checkout around it    beside the program
 *
 * An installed program never uses a checkout, nor a built one what is installed. */
#pragma once

#include <limits.h>

#include "base/err.h"

struct config;

/* The directory NAME ("apps", "local") of the data, in OUT: of the setting `data` where that is
 * set. 0, or -ENOENT with E saying where it was expected. */
int share_dir(const struct config *config, const char *name, char out[PATH_MAX], struct err *e);
/* The program NAME ("tidepool-envd") in OUT. 0, or -errno with E saying where it was expected. */
int share_program(const char *name, char out[PATH_MAX], struct err *e);
