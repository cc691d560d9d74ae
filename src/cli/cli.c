/* SPDX-License-Identifier: MIT */
/* The command line: see cli.h. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

int cli_main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "version") == 0) {
        (void)puts("tidepool " TIDEPOOL_VERSION);
        return 0;
    }
    (void)fputs("usage: tidepool version\n", stderr);
    return 2;
}
