/* SPDX-License-Identifier: MIT */
/* Requests about archives, for the table in requests.c; see rows.c. */
#pragma once

#include "base/err.h"
#include "local/kit/daemon_request.h"

void archive_row_unpack(struct request *q);
void archive_row_pack(struct request *q);

/* Unpacks the body of Q into ROOT: 0, or -errno after Q was refused. */
int archive_unpack(struct request *q, const char *root, uint64_t *ret_n, struct err *e);
/* Answers Q with ROOT as an archive. */
void archive_pack(struct request *q, const char *root);
