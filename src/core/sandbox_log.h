/* SPDX-License-Identifier: MIT */
/* Logs of sandboxes that cannot be asked for theirs: paused ones and, for a while, those that are
 * gone. What the main process wrote is fetched before a sandbox is paused or ended, and kept in a
 * file of the state directory, within settings logs.keep and logs.max. A sandbox that dies by
 * itself leaves none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct account_key;
struct sandbox;
struct sandbox_log;
struct sandboxes;

/* Bytes of one log: more than a cell keeps (envd/log_lines.h), times included; and so few that the
 * loop's thread reads, writes and shows it in a few milliseconds. As JSON a byte may become six. */
enum { SANDBOX_LOG_MAX = (1 << 20) + (128 << 10), SANDBOX_LOG_JSON_MAX = 6 * SANDBOX_LOG_MAX };

/* The newest log that was kept of the sandbox with this name or id, and that KEY may know of; NULL
 * when there is none. Valid until the loop goes on. */
const struct sandbox_log *sandbox_log_find(const struct sandboxes *set, struct str name,
                                           const struct account_key *key);
const char *sandbox_log_name(const struct sandbox_log *log);

struct sandbox_log_view {
    int64_t tail;     /* number of lines from the end */
    struct str since; /* only lines that are not older: "2026-01-27T10:00:00" in UTC, perhaps with a
                         fraction; or empty */
    bool has_times;   /* lines begin with their time */
};

/* Appends the text to OUT, whose maximum has to be SANDBOX_LOG_MAX at least. 0 or -errno. */
int sandbox_log_read(const struct sandboxes *set, const struct sandbox_log *log,
                     const struct sandbox_log_view *v, struct buf *out);

/* ---- for the life cycle ---- */

/* Finds what was kept before; the sandboxes have to be known. */
void sandboxes_open_logs(struct sandboxes *set);
void sandboxes_close_logs(struct sandboxes *set);
/* Drops what was kept for long enough. */
void sandboxes_sweep_logs(struct sandboxes *set);
/* Keeps TEXT, lines with their times, as the log of SB / drops it: SB can be asked again / keeps it
 * for a while longer, because SB is gone. */
void sandbox_log_store(struct sandbox *sb, struct str text);
void sandbox_log_forget(struct sandbox *sb);
void sandbox_log_end(struct sandbox *sb);
