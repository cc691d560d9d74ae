/* SPDX-License-Identifier: MIT */
/* Headers of tar archives: ustar, with pax headers for what does not fit. */
#pragma once

#include "base/buf.h"
#include "base/tar_read.h"

/* Appends the header of an entry; the data of a file follow, then tar_put_padding(). 0 or OUT's
 * error. */
int tar_put_entry(struct buf *out, const struct tar_entry *t);
/* Fills the last block of SIZE bytes of data up. */
int tar_put_padding(struct buf *out, uint64_t size);
/* The end of the archive. */
int tar_put_end(struct buf *out);
