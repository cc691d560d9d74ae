/* SPDX-License-Identifier: MIT */
/* The entry point of the `tidepool` program; everything it can do is a verb of cli/. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
