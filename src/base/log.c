/* SPDX-License-Identifier: MIT */
/* Logging as JSON lines: see log.h. Formats into the stack, so that it works out of memory. */
#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

static const char *const level_names[LOG_LEVEL_COUNT] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

static atomic_int min_level = LOG_INFO;
static atomic_int out_fd = STDERR_FILENO;

void log_setup(enum log_level level, int fd)
{
    atomic_store(&min_level, (int)level);
    atomic_store(&out_fd, fd);
}

bool log_enabled(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&min_level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

/* A line being built; what does not fit is dropped, room for the end is always kept. */
struct log_line {
    size_t len;
    char text[LOG_LINE_MAX];
};

enum { LINE_TAIL = sizeof "}\n" };

static void put_log_bytes(struct log_line *l, const char *p, size_t n)
{
    if (n <= sizeof l->text - LINE_TAIL - l->len) {
        memcpy(l->text + l->len, p, n);
        l->len += n;
    }
}

static void put_log_string(struct log_line *l, struct str s)
{
    bool utf8 = str_is_utf8(s);

    put_log_bytes(l, "\"", 1);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        char esc[8];
        /* Bytes above ASCII are shown as they are in well-formed text, escaped otherwise. */
        bool plain = c < 0x80 ? c >= 0x20 && c != '"' && c != '\\' && c != 0x7f : utf8;
        if (plain)
            put_log_bytes(l, s.p + i, 1);
        else
            put_log_bytes(l, esc, (size_t)snprintf(esc, sizeof esc, "\\u%04x", c));
    }
    put_log_bytes(l, "\"", 1);
}

static void put_key(struct log_line *l, const char *key)
{
    put_log_bytes(l, ",", 1);
    put_log_string(l, str_of(key));
    put_log_bytes(l, ":", 1);
}

void log_write(enum log_level level, const char *msg, const struct log_field *fields, unsigned n)
{
    struct log_line l = {.len = 0};
    char ts[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(ts, clock_real_us());
    put_log_bytes(&l, "{\"ts\":", 6);
    put_log_string(&l, str_of(ts));
    put_key(&l, "level");
    put_log_string(&l, str_of(level_names[level]));
    put_key(&l, "msg");
    put_log_string(&l, str_of(msg));
    for (unsigned i = 0; i < n; i++) {
        struct str value = fields[i].s;
        char num[24];
        if (fields[i].type == LOG_FIELD_INT)
            value = str_n(num, (size_t)snprintf(num, sizeof num, "%lld", (long long)fields[i].i));
        /* A field that would not fit whole is cut or left out, so that the line stays JSON. */
        size_t room = sizeof l.text - LINE_TAIL - l.len;
        size_t key_room = strlen(fields[i].key) + 8;
        if (room < key_room + 32)
            break;
        if (value.len * 6 > room - key_room)
            value.len = (room - key_room) / 6;
        put_key(&l, fields[i].key);
        if (fields[i].type == LOG_FIELD_INT)
            put_log_bytes(&l, value.p, value.len);
        else
            put_log_string(&l, value);
    }
    memcpy(l.text + l.len, "}\n", 2);
    l.len += 2;
    (void)!write(atomic_load(&out_fd), l.text, l.len);
}
