/* SPDX-License-Identifier: MIT */
/* The command line: finds the verb and runs it. */
#pragma once

/* Runs `tidepool ARGV…` and returns the exit status: 0, 1 on failure, 2 on wrong usage. */
int cli_main(int argc, char **argv);
