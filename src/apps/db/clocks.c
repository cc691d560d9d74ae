/* SPDX-License-Identifier: MIT */
/* Finding SQLite's own clock and random numbers in SQL: see clocks.h. */
#include "apps/db/clocks.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define OUR_TIME "now() or now_ms()"
#define OUR_DRAW "rand_int(), rand_text() or new_id()"

/* What is never right, and what is there instead. */
static const struct {
    const char *name, *instead;
    bool is_call; /* only with a parenthesis behind it */
} rows[] = {
    {"random", OUR_DRAW, true},
    {"randomblob", OUR_DRAW, true},
    {"current_timestamp", OUR_TIME, false},
    {"current_date", OUR_TIME, false},
    {"current_time", OUR_TIME, false},
};

/* Functions of a time, and which of their arguments it is. */
static const struct {
    const char *name;
    unsigned at;
} dates[] = {{"date", 0},      {"time", 0},      {"datetime", 0},
             {"julianday", 0}, {"unixepoch", 0}, {"strftime", 1}};

struct clock_scan {
    struct str sql;
    size_t at;
    unsigned line;
};

static char peek_sql(const struct clock_scan *s, size_t ahead)
{
    return s->at + ahead < s->sql.len ? s->sql.p[s->at + ahead] : '\0';
}

static void step_sql(struct clock_scan *s)
{
    s->line += peek_sql(s, 0) == '\n';
    s->at++;
}

static bool is_sql_word_char(char c)
{
    return ascii_is_word(c) || (unsigned char)c >= 0x80;
}

static bool skip_clock_comment(struct clock_scan *s)
{
    bool is_line = peek_sql(s, 0) == '-' && peek_sql(s, 1) == '-';

    if (!is_line && !(peek_sql(s, 0) == '/' && peek_sql(s, 1) == '*'))
        return false;
    while (s->at < s->sql.len &&
           !(is_line ? peek_sql(s, 0) == '\n' : peek_sql(s, 0) == '*' && peek_sql(s, 1) == '/'))
        step_sql(s);
    s->at += is_line ? 0 : 2;
    return true;
}

/* Past a comment, a quoted text or name; false when there is none. */
static bool skip_quoted(struct clock_scan *s)
{
    char c = peek_sql(s, 0), end = c == '[' ? ']' : c;

    if (skip_clock_comment(s))
        return true;
    if (c != '\'' && c != '"' && c != '`' && c != '[')
        return false;
    step_sql(s);
    while (s->at < s->sql.len && peek_sql(s, 0) != end)
        step_sql(s);
    step_sql(s);
    return true;
}

static void skip_sql_space(struct clock_scan *s)
{
    for (;;) {
        char c = peek_sql(s, 0);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            step_sql(s);
        else if (!skip_clock_comment(s))
            return;
    }
}

/* Behind the comma that ends argument number N of the call that S is in; false at its end. */
static bool skip_arguments(struct clock_scan *s, unsigned n)
{
    for (unsigned depth = 0; n > 0 && s->at < s->sql.len;) {
        char c = peek_sql(s, 0);
        if (skip_quoted(s))
            continue;
        if (c == ')' && depth == 0)
            return false;
        if (c == ',' && depth == 0)
            n--;
        depth += c == '(';
        depth -= c == ')';
        step_sql(s);
    }
    return n == 0;
}

/* Whether the call whose parenthesis S is at asks for the present time. */
static bool is_of_now(struct clock_scan s, unsigned at)
{
    step_sql(&s);
    if (!skip_arguments(&s, at))
        return true; /* without a time it is now */
    skip_sql_space(&s);
    return peek_sql(&s, 0) == ')' || str_ieq(str_slice(s.sql, s.at, s.at + 5), STR("'now'"));
}

static int refuse_word(const struct clock_scan *s, struct str word, struct err *e)
{
    struct clock_scan ahead = *s;

    skip_sql_space(&ahead);
    bool is_call = peek_sql(&ahead, 0) == '(';
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_ieq(word, str_of(rows[i].name)) && (is_call || !rows[i].is_call))
            return err_set(e, -EACCES, "line %u: %s%s is not the instance's: use %s", s->line,
                           rows[i].name, is_call ? "()" : "", rows[i].instead);
    for (size_t i = 0; is_call && i < ARRAY_LEN(dates); i++)
        if (str_ieq(word, str_of(dates[i].name)) && is_of_now(ahead, dates[i].at))
            return err_set(
                e, -EACCES,
                "line %u: %s() of the machine's time is not the instance's: use " OUR_TIME
                " as its time",
                s->line, dates[i].name);
    return 0;
}

int clocks_refuse(struct str sql, unsigned line, struct err *e)
{
    struct clock_scan s = {.sql = sql, .line = line};
    bool is_name = false; /* behind ':', '.', '@' or '$': a parameter or a column */

    while (s.at < s.sql.len) {
        if (skip_quoted(&s))
            continue;
        if (!is_sql_word_char(peek_sql(&s, 0))) {
            is_name = strchr(":.@$", peek_sql(&s, 0)) != NULL;
            step_sql(&s);
            continue;
        }
        size_t start = s.at;
        while (is_sql_word_char(peek_sql(&s, 0)))
            s.at++;
        int r = is_name ? 0 : refuse_word(&s, str_slice(s.sql, start, s.at), e);
        if (r < 0)
            return r;
        is_name = false;
    }
    return 0;
}

bool clocks_is_refused(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_iis(str_of(name), rows[i].name))
            return true;
    return false;
}

/* ---- the clock at run time ---- */

#define EPOCH_MS (INT64_C(24405875) * 8640000) /* of 1970, in milliseconds of Julian days */

static _Thread_local struct {
    int64_t now_us;
    bool *was_asked; /* NULL: the machine's time */
} shown;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs vfs;

static int read_vfs_clock(sqlite3_vfs *v, sqlite3_int64 *ret)
{
    (void)v;
    if (shown.was_asked)
        *shown.was_asked = true;
    *ret = EPOCH_MS + (shown.was_asked ? shown.now_us : clock_real_us()) / 1000;
    return SQLITE_OK;
}

static int now_days(sqlite3_vfs *v, double *ret)
{
    sqlite3_int64 ms;

    (void)read_vfs_clock(v, &ms);
    *ret = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static void register_vfs(void)
{
    const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

    if (!usual || usual->iVersion < 2)
        return;
    vfs = *usual;
    vfs.pNext = NULL;
    vfs.zName = "tidepool-clock";
    vfs.xCurrentTime = now_days;
    vfs.xCurrentTimeInt64 = read_vfs_clock;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK)
        vfs.zName = NULL;
}

const char *clocks_vfs(void)
{
    (void)pthread_once(&once, register_vfs);
    return vfs.zName;
}

void clocks_show(int64_t now_us, bool *was_asked)
{
    shown.now_us = now_us;
    shown.was_asked = was_asked;
}
