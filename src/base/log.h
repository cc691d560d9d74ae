/* SPDX-License-Identifier: MIT */
/* Logging as JSON lines on standard error (or a descriptor of choice):
 *
 *     log_info("request", LOG_S("id", req_id), LOG_I("status", 200));
 *     {"ts":"2026-01-27T10:00:00.123456Z","level":"info","msg":"request","id":"…","status":200}
 *
 * Only the place where an error stops travelling logs it; libraries below api/ never do. One line
 * is one write(2), so that lines of several threads do not mix. Lines over LOG_LINE_MAX are cut. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };

#define LOG_LINE_MAX 4096

struct log_field {
    const char *key;
    enum { LOG_FIELD_STR, LOG_FIELD_INT } type;
    struct str s;
    int64_t i;
};

#define LOG_S(k, v) ((struct log_field){.key = (k), .type = LOG_FIELD_STR, .s = str_of(v)})
#define LOG_V(k, v) ((struct log_field){.key = (k), .type = LOG_FIELD_STR, .s = (v)})
#define LOG_I(k, v) ((struct log_field){.key = (k), .type = LOG_FIELD_INT, .i = (int64_t)(v)})

/* Lines below LEVEL are dropped; they go to FD. Defaults: info, standard error. */
void log_setup(enum log_level level, int fd);
bool log_enabled(enum log_level level);
const char *log_level_name(enum log_level level);

void log_write(enum log_level level, const char *msg, const struct log_field *fields, unsigned n);

#define log_at(level, msg, ...)                                                                    \
    do {                                                                                           \
        if (log_enabled(level)) {                                                                  \
            const struct log_field log_fields_[] = {{0}, ##__VA_ARGS__};                           \
            log_write((level), (msg), log_fields_ + 1,                                             \
                      (unsigned)(sizeof log_fields_ / sizeof log_fields_[0]) - 1);                 \
        }                                                                                          \
    } while (0)
#define log_debug(msg, ...) log_at(LOG_DEBUG, msg, ##__VA_ARGS__)
#define log_info(msg, ...)  log_at(LOG_INFO, msg, ##__VA_ARGS__)
#define log_warn(msg, ...)  log_at(LOG_WARN, msg, ##__VA_ARGS__)
#define log_error(msg, ...) log_at(LOG_ERROR, msg, ##__VA_ARGS__)
