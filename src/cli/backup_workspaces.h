/* SPDX-License-Identifier: MIT */
/* Directories of running sandboxes, as archives behind what a backup has. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "cli/client.h"

struct backup_workspaces {
    struct client *client;
    const char *file;     /* of the backup, which is whole so far */
    unsigned n_sandboxes; /* that something was kept of */
    struct buf *left_out; /* gets a line for each sandbox that nothing could be kept of */
};

/* Asks each running sandbox for the directories that people work in, and appends them to the file.
 * 0, or -errno with E filled; the file is not whole then. */
int backup_workspaces(struct backup_workspaces *w, struct err *e);
