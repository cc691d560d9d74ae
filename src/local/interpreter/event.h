/* SPDX-License-Identifier: MIT */
/* What clients get while code runs: one JSON object a line, in ASCII alone, because some readers
 * decode each piece of the network by itself. All functions append a line to OUT. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* {"type": "number_of_executions", …}: comes first. */
void event_put_count(struct buf *out, int64_t n);
/* Text that the code wrote, to its errors when IS_ERR; bytes that are not UTF-8 become U+FFFD. */
void event_put_text(struct buf *out, bool is_err, struct str text, int64_t real_us);
/* A result: BUNDLE has a member for each MIME type. Those that clients know get their names, the
 * others stay together in `extra`. */
void event_put_result(struct buf *out, const struct json *bundle, bool is_main);
void event_put_error(struct buf *out, struct str name, struct str value, struct str traceback);
void event_put_keepalive(struct buf *out);
/* {"type": "end_of_execution"}: always last. */
void event_put_end(struct buf *out);

/* How many bytes of TEXT are whole characters: all but the beginning of one at the end. */
size_t event_whole(struct str text);
