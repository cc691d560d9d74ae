/* SPDX-License-Identifier: MIT */
/* The table of requests that are no tools. */
#include "base/cleanup.h"
#include "local/archive/execution.h"
#include "local/archive/rows.h"
#include "local/kit/daemon_request.h"
#include "local/mail/seed.h"
#include "local/memory/memory.h"

/* Answers with the body: shows that the way through is open, at any size. */
static void echo(struct request *q)
{
    char piece[32768];
    ssize_t n;

    while ((n = request_read(q, piece, sizeof piece)) > 0) {
        if (request_write(q, piece, (size_t)n) < 0)
            return;
    }
    if (n < 0)
        request_fail(q, 400, "the body could not be read");
}

static const struct request_row rows[] = {
    {"echo", echo},
    {"artifacts", execution_row_pack},
    {"execute", execution_row_start},
    {"execution", execution_row_show},
    {"pack", archive_row_pack},
    {"unpack", archive_row_unpack},
    {"memory", memory_put},
    {"mail_export", mail_export},
    {"mail_import", mail_import},
};

const struct request_row *request_row(struct str path)
{
    struct str name = str_skip(path, 2);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_is(name, rows[i].name))
            return &rows[i];
    }
    return NULL;
}
