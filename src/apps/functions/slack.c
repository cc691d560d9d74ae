/* SPDX-License-Identifier: MIT */
/* Slack for scripts: messages as its MCP server shows them, and the days that it is asked for. */
#include <stdio.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "apps/functions/functions.h"
#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/utf8.h"

/* ---- texts ---- */

/* Neither letters nor marks, nor digits: punctuation, symbols, pictures. */
static const struct {
    uint32_t first, last;
} symbols[] = {
    {0x80, 0xa9},       {0xab, 0xb4},       {0xb6, 0xb9},       {0xbb, 0xbf},
    {0xd7, 0xd7},       {0xf7, 0xf7},       {0x2c2, 0x2c5},     {0x2d2, 0x2df},
    {0x2000, 0x2070},   {0x2072, 0x207e},   {0x2080, 0x208f},   {0x20a0, 0x20cf},
    {0x2100, 0x2101},   {0x2103, 0x2106},   {0x2108, 0x2109},   {0x2114, 0x2114},
    {0x2116, 0x2118},   {0x211e, 0x2123},   {0x2140, 0x2144},   {0x214a, 0x214d},
    {0x214f, 0x2182},   {0x2185, 0x2bff},   {0x2e00, 0x2e2e},   {0x2e30, 0x2fff},
    {0x3000, 0x3004},   {0x3007, 0x3029},   {0x3030, 0x3030},   {0x3036, 0x303a},
    {0x303d, 0x303f},   {0x30a0, 0x30a0},   {0x30fb, 0x30fb},   {0x3200, 0x33ff},
    {0x4dc0, 0x4dff},   {0xd800, 0xf8ff},   {0xfe10, 0xfe1f},   {0xfe30, 0xfe6f},
    {0xfeff, 0xff20},   {0xff3b, 0xff40},   {0xff5b, 0xff65},   {0xffe0, 0xffff},
    {0x1d000, 0x1d164}, {0x1f000, 0x1fbff}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
};

static bool is_slug_char(uint32_t c)
{
    if (c < 0x80)
        return ascii_is_alnum((char)c) || (c > 0 && strchr(" \t\n\f\r.,-_:/?=&%", (int)c));
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        if (c >= symbols[i].first && c <= symbols[i].last)
            return false;
    }
    return true;
}

/* The first character of S, unless it is dropped; several blanks become one. */
static size_t add_slack_char(struct buf *out, struct str s)
{
    uint32_t c = 0;
    size_t len = utf8_decode(s.p, s.len, &c);

    if (len == 0)
        return 1;
    if (!is_slug_char(c))
        return len;
    if (c != ' ' && c != '\t')
        (void)buf_add_str(out, str_slice(s, 0, len));
    else if (out->len == 0 || out->p[out->len - 1] != ' ')
        (void)buf_add_char(out, ' ');
    return len;
}

static bool is_url(struct str s)
{
    return str_starts(s, STR("https://")) || str_starts(s, STR("http://"));
}

/* How long the address at the beginning of S is, 0 for none. */
static size_t url_len(struct str s)
{
    size_t n = 0;

    if (!is_url(s))
        return 0;
    while (n < s.len && !ascii_is_space(s.p[n]) && !strchr("<>\"{}|\\^`[]", s.p[n]))
        n++;
    return n > strlen("https://") ? n : 0;
}

/* How far the end of a link is looked for, so that a long text of beginnings takes no time. */
#define LINK_MAX 4096

/* <address|text> or [text](address) at the beginning of S: how long it is, 0 for none. */
static size_t take_link(struct str s, struct str *ret_url, struct str *ret_text)
{
    bool is_slack = s.p[0] == '<';
    struct str rest = str_slice(s, 1, LINK_MAX);

    if (!is_slack && s.p[0] != '[')
        return 0;
    ssize_t middle = str_chr(rest, is_slack ? '|' : ']');
    if (middle <= 0)
        return 0;
    struct str first = str_slice(rest, 0, (size_t)middle);
    rest = str_skip(rest, (size_t)middle + 1);
    if (!is_slack && !str_starts(rest, STR("(")))
        return 0;
    rest = is_slack ? rest : str_skip(rest, 1);
    ssize_t end = str_chr(rest, is_slack ? '>' : ')');
    if (end <= 0)
        return 0;
    struct str second = str_slice(rest, 0, (size_t)end);
    *ret_url = is_slack ? first : second;
    *ret_text = is_slack ? second : first;
    if (!is_url(*ret_url) || str_chr(*ret_url, '>') >= 0)
        return 0;
    return (size_t)(second.p - s.p) + second.len + 1;
}

static void add_slack_link(struct buf *out, struct str url, struct str text, bool is_last)
{
    (void)buf_add_str(out, url);
    (void)buf_add_lit(out, " - ");
    while (text.len > 0)
        text = str_skip(text, add_slack_char(out, text));
    if (!is_last)
        (void)buf_add_char(out, ',');
}

/* slack_text(text): without what is no letter, digit or common sign. Links are "address - text". */
static void fn_slack_clean(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str s = str_trim(fn_text(v[0])), url, text;

    (void)n;
    while (s.len > 0) {
        size_t len = take_link(s, &url, &text);
        if (len > 0) {
            add_slack_link(&b, url, text, len == s.len);
        } else if ((len = url_len(s)) > 0) {
            (void)buf_add_str(&b, str_slice(s, 0, len));
        } else {
            len = add_slack_char(&b, s);
        }
        s = str_skip(s, len);
    }
    if (!buf_ok(&b)) {
        fn_give(x, &b);
        return;
    }
    struct str out = str_trim(buf_str(&b));
    sqlite3_result_text64(x, out.p ? out.p : "", out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- days ---- */

/* A number, or a month (is_word). */
struct slack_part {
    int value;
    size_t len;
    bool is_word;
};

static int slack_month_of(struct str word)
{
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};

    for (int i = 0; i < (int)ARRAY_LEN(months); i++) {
        struct str name = str_of(months[i]);
        if (str_ieq(word, name) || str_ieq(word, str_slice(name, 0, 3)))
            return i + 1;
    }
    return str_ieq(word, STR("sept")) ? 9 : 0;
}

/* The parts of a date; 0 when it is none. */
static size_t read_date_parts(struct str s, struct slack_part ret[3])
{
    size_t n = 0;

    while (s.len > 0) {
        size_t len = 0;
        bool is_number = ascii_is_digit(s.p[0]);
        while (len < s.len && ascii_is_digit(s.p[len]) == is_number && !strchr(" -/,", s.p[len]))
            len++;
        if (len == 0) {
            s = str_skip(s, 1);
            continue;
        }
        if (n == 3 || (is_number && len > 4))
            return 0;
        ret[n] = (struct slack_part){.len = len, .is_word = !is_number};
        for (size_t i = 0; is_number && i < len; i++)
            ret[n].value = 10 * ret[n].value + (s.p[i] - '0');
        if (!is_number && (ret[n].value = slack_month_of(str_slice(s, 0, len))) == 0)
            return 0;
        n++;
        s = str_skip(s, len);
    }
    return n;
}

static bool is_slack_day(const struct slack_part *year, const struct slack_part *month,
                         const struct slack_part *day)
{
    return year->len == 4 && !year->is_word && month->value >= 1 && month->value <= 12 &&
           !day->is_word && day->value >= 1 &&
           day->value <= civil_month_len(year->value, month->value);
}

/* As days since 1970; false when the parts are no day. */
static bool day_of_parts(const struct slack_part *p, size_t n, int64_t *ret)
{
    /* Which part is the year, the month, the day; 3 is the first of the month. */
    static const struct {
        size_t n, year, month, day;
        bool is_word; /* the month is one */
    } orders[] = {
        {3, 0, 1, 2, false}, {3, 0, 1, 2, true}, {3, 2, 0, 1, false}, {3, 2, 0, 1, true},
        {3, 2, 1, 0, false}, {3, 2, 1, 0, true}, {2, 0, 1, 3, true},  {2, 1, 0, 3, true},
    };
    struct slack_part all[4] = {p[0], p[1], p[2], {.value = 1, .len = 1}};

    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        const struct slack_part *y = &all[orders[i].year], *m = &all[orders[i].month];
        const struct slack_part *d = &all[orders[i].day];
        if (orders[i].n != n || m->is_word != orders[i].is_word || !is_slack_day(y, m, d))
            continue;
        *ret = civil_days(y->value, m->value, d->value);
        return true;
    }
    return false;
}

/* "today", "3 days ago": relative to the day TODAY. */
static bool day_of_words(struct str s, int64_t today, int64_t *ret)
{
    static const struct {
        const char *name;
        int days;
    } words[] = {{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}};
    int n = 0;
    size_t i = 0;

    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        if (str_ieq(s, str_of(words[k].name))) {
            *ret = today + words[k].days;
            return true;
        }
    }
    for (; i < s.len && i < 6 && ascii_is_digit(s.p[i]); i++)
        n = 10 * n + (s.p[i] - '0');
    struct str rest = str_trim(str_skip(s, i));
    *ret = today - n;
    return i > 0 && (str_ieq(rest, STR("day ago")) || str_ieq(rest, STR("days ago")));
}

/* slack_date(text, now): "2026-01-15" for a day in one of many forms; NULL when it is none. */
static void fn_slack_date(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str s = str_trim(fn_text(v[0]));
    struct slack_part parts[3] = {0};
    struct civil_text now;
    char text[16];
    int64_t day = 0;

    (void)n;
    if (civil_read(fn_text(v[1]), &now) < 0)
        return;
    if (!day_of_words(s, now.local_s / CIVIL_DAY_S, &day) &&
        !day_of_parts(parts, read_date_parts(s, parts), &day))
        return;
    struct civil c = civil_of_days(day);
    (void)snprintf(text, sizeof text, "%04d-%02d-%02d", c.year, c.month, c.day);
    sqlite3_result_text(x, text, -1, SQLITE_TRANSIENT);
}

const struct sql_function functions_slack[] = {
    {"slack_date", 2, SQLITE_DETERMINISTIC, fn_slack_date},
    {"slack_text", 1, SQLITE_DETERMINISTIC, fn_slack_clean},
    {NULL, 0, 0, NULL},
};
