/* SPDX-License-Identifier: MIT */
/* A directory as tar.gz, such that whoever unpacks it carefully (Python's filter="data") takes it
 * whole: names are relative, beginning with "./"; absolute links into the directory are written as
 * relative ones. Left out are links that lead out of it, devices, pipes, sockets, what cannot be
 * read, and what this program keeps there. */
#pragma once

#include "base/deflate.h"
#include "base/err.h"

/* SINK gets the archive. 0, -errno with E filled, or what the sink returned. */
int pack_tree(const char *root, deflate_sink *sink, void *ctx, struct err *e);
