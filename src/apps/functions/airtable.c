/* SPDX-License-Identifier: MIT */
/* Airtable's cells: what a field takes, and values as text; errors in the words of its API. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "apps/functions/functions.h"
#include "base/clock.h"
#include "base/regex.h"

/* airtable_error(status, type, message): what the server says of an answer that is no success.
 * Without a message the type is the whole error. */
static void fn_airtable_error(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct jw w = jw_to(&b);

    (void)n;
    (void)buf_printf(&b, "Airtable API Error (%d): ", sqlite3_value_int(v[0]));
    jw_object(&w);
    jw_key(&w, "error");
    if (sqlite3_value_type(v[2]) == SQLITE_NULL) {
        jw_str(&w, fn_text(v[1]));
    } else {
        jw_object(&w);
        jw_key(&w, "type");
        jw_str(&w, fn_text(v[1]));
        jw_key(&w, "message");
        jw_str(&w, fn_text(v[2]));
        jw_end(&w);
    }
    jw_end(&w);
    fn_give(x, &b);
}

/* airtable_text(value): as a formula shows it; numbers without needless digits, NULL as "". */
static void fn_as_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    char text[64];

    (void)n;
    switch (sqlite3_value_type(v[0])) {
    case SQLITE_NULL: sqlite3_result_text(x, "", 0, SQLITE_STATIC); break;
    case SQLITE_FLOAT:
        (void)snprintf(text, sizeof text, "%.15g", sqlite3_value_double(v[0]));
        sqlite3_result_text(x, text, -1, SQLITE_TRANSIENT);
        break;
    default: sqlite3_result_value(x, v[0]); break;
    }
}

/* ---- dates ---- */

/* A date with or without a time, as microseconds since 1970. */
static int read_instant(struct str text, int64_t *ret_us)
{
    struct civil_text t;

    /* Airtable wants its dashes. */
    if (text.len < strlen("2026-01-30") || text.p[4] != '-' || civil_read(text, &t) < 0)
        return -EINVAL;
    *ret_us = (t.local_s - (t.has_offset ? t.offset_s : 0)) * 1000000;
    return 0;
}

/* ---- formulas ---- */

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};

/* The tokens of DATETIME_FORMAT, longer ones first. */
enum token {
    YEAR,
    YEAR2,
    MONTH_NAME,
    MONTH_SHORT,
    MONTH2,
    MONTH,
    DAY2,
    DAY,
    WEEKDAY_NAME,
    WEEKDAY_SHORT,
    HOUR2,
    HOUR,
    HOUR12_2,
    HOUR12,
    MINUTE2,
    SECOND2,
    NOON,
    NOON_SMALL
};

static const char *const tokens[] = {
    [YEAR] = "YYYY",         [YEAR2] = "YY",  [MONTH_NAME] = "MMMM",
    [MONTH_SHORT] = "MMM",   [MONTH2] = "MM", [MONTH] = "M",
    [DAY2] = "DD",           [DAY] = "D",     [WEEKDAY_NAME] = "dddd",
    [WEEKDAY_SHORT] = "ddd", [HOUR2] = "HH",  [HOUR] = "H",
    [HOUR12_2] = "hh",       [HOUR12] = "h",  [MINUTE2] = "mm",
    [SECOND2] = "ss",        [NOON] = "A",    [NOON_SMALL] = "a",
};

static void add_token(struct buf *b, enum token token, const struct civil *t)
{
    int hour12 = t->hour % 12 == 0 ? 12 : t->hour % 12;
    const char *weekday = days[civil_weekday(civil_days(t->year, t->month, t->day))];

    switch (token) {
    case YEAR: (void)buf_printf(b, "%04d", t->year); break;
    case YEAR2: (void)buf_printf(b, "%02d", t->year % 100); break;
    case MONTH_NAME: (void)buf_printf(b, "%s", months[t->month - 1]); break;
    case MONTH_SHORT: (void)buf_printf(b, "%.3s", months[t->month - 1]); break;
    case MONTH2: (void)buf_printf(b, "%02d", t->month); break;
    case MONTH: (void)buf_printf(b, "%d", t->month); break;
    case DAY2: (void)buf_printf(b, "%02d", t->day); break;
    case DAY: (void)buf_printf(b, "%d", t->day); break;
    case WEEKDAY_NAME: (void)buf_printf(b, "%s", weekday); break;
    case WEEKDAY_SHORT: (void)buf_printf(b, "%.3s", weekday); break;
    case HOUR2: (void)buf_printf(b, "%02d", t->hour); break;
    case HOUR: (void)buf_printf(b, "%d", t->hour); break;
    case HOUR12_2: (void)buf_printf(b, "%02d", hour12); break;
    case HOUR12: (void)buf_printf(b, "%d", hour12); break;
    case MINUTE2: (void)buf_printf(b, "%02d", t->minute); break;
    case SECOND2: (void)buf_printf(b, "%02d", t->second); break;
    case NOON: (void)buf_printf(b, "%s", t->hour < 12 ? "AM" : "PM"); break;
    case NOON_SMALL: (void)buf_printf(b, "%s", t->hour < 12 ? "am" : "pm"); break;
    }
}

/* airtable_format(date, format): "Jan 15, 2026" by "MMM D, YYYY"; NULL when it is no date. */
static void fn_airtable_format(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct str format = fn_text(v[1]);
    int64_t us;

    (void)n;
    if (read_instant(fn_text(v[0]), &us) < 0)
        return;
    struct civil t = civil_of_seconds(us / 1000000);
    while (format.len > 0) {
        size_t i = 0;
        while (i < ARRAY_LEN(tokens) && !str_starts(format, str_of(tokens[i])))
            i++;
        if (i < ARRAY_LEN(tokens))
            add_token(&b, (enum token)i, &t);
        else
            (void)buf_add_char(&b, format.p[0]);
        format = str_skip(format, i < ARRAY_LEN(tokens) ? strlen(tokens[i]) : 1);
    }
    fn_give(x, &b);
}

/* airtable_regex(text, pattern); NULL when the pattern is none. */
static void fn_regex(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    uint64_t given = fn_steps(x), steps = given;

    (void)n;
    arena_init(&arena, 1 << 20);
    const struct regex *re = regex_compile(&arena, fn_text(v[1]), NULL);
    int r = re ? regex_search(re, fn_text(v[0]), &steps) : -EINVAL;
    if (fn_spent(x, given, steps) && r >= 0)
        sqlite3_result_int(x, r);
}

/* ---- cells ---- */

struct airtable_cell {
    struct arena *arena;
    const struct json *options;
    bool is_cast; /* "typecast": texts become what the field takes */
};

/* Each gives what is kept, a null for an empty cell, or NULL for what the field does not take. */
typedef struct json *shape_fn(const struct airtable_cell *c, const struct json *v);

static struct json *empty(const struct airtable_cell *c)
{
    return json_new_null(c->arena);
}

static struct json *as_text(const struct airtable_cell *c, const struct json *v)
{
    char number[64];

    if (json_is(v, JSON_STRING))
        return v->s.len == 0 ? empty(c) : json_copy(c->arena, v);
    if (!c->is_cast || !json_is_number(v))
        return NULL;
    (void)snprintf(number, sizeof number, "%.15g", json_real(v, 0));
    return json_new_str(c->arena, str_of(number));
}

static struct json *as_number(const struct airtable_cell *c, const struct json *v)
{
    char *end;

    if (json_is_number(v))
        return json_copy(c->arena, v);
    if (!c->is_cast || !json_is(v, JSON_STRING))
        return NULL;
    if (str_trim(v->s).len == 0)
        return empty(c);
    double d = strtod(v->s.p, &end);
    if (*end != '\0' || !isfinite(d))
        return NULL;
    return d == floor(d) && fabs(d) < 1e15 ? json_new_int(c->arena, (int64_t)d)
                                           : json_new_real(c->arena, d);
}

static struct json *as_rating(const struct airtable_cell *c, const struct json *v)
{
    struct json *number = as_number(c, v);
    int64_t max = json_int(json_get(c->options, "max"), 10), i = json_int(number, -1);

    if (!json_is_number(number))
        return number;
    if (i < 0 || i > max)
        return NULL;
    return i == 0 ? empty(c) : number;
}

static struct json *as_bool(const struct airtable_cell *c, const struct json *v)
{
    bool is_set = json_bool(v, false);

    if (!json_is(v, JSON_BOOL)) {
        if (!c->is_cast || !json_is(v, JSON_STRING))
            return NULL;
        is_set = str_iis(v->s, "true") || str_iis(v->s, "checked") || str_is(v->s, "1");
    }
    return is_set ? json_new_bool(c->arena, true) : empty(c);
}

/* "2026-01-30, lidar" by its commas. */
static struct json *split(const struct airtable_cell *c, struct str text)
{
    struct json *list = json_new_array(c->arena);

    while (text.p) {
        struct str word = str_trim(str_cut(&text, ','));
        if (word.len > 0 && (!list || json_push(c->arena, list, json_new_str(c->arena, word)) < 0))
            return NULL;
    }
    return list;
}

/* An array whose items are all taken by ITEM. */
static struct json *as_list(const struct airtable_cell *c, const struct json *v, shape_fn *item)
{
    struct json *list = json_new_array(c->arena);

    if (!json_is(v, JSON_ARRAY))
        return NULL;
    for (size_t i = 0; i < v->n; i++) {
        const struct json *one = item(c, json_at(v, i));
        if (!one || json_is(one, JSON_NULL) || !list || json_push(c->arena, list, one) < 0)
            return NULL;
    }
    return v->n == 0 ? empty(c) : list;
}

static struct json *as_choices(const struct airtable_cell *c, const struct json *v)
{
    if (c->is_cast && json_is(v, JSON_STRING))
        v = split(c, v->s);
    return as_list(c, v, as_text);
}

/* "2026-01-30T10:00:00.000Z", or the first LEN characters of it. */
static struct json *as_instant(const struct airtable_cell *c, const struct json *v, size_t len)
{
    char text[CLOCK_RFC3339_MAX];
    int64_t us;

    if (!json_is(v, JSON_STRING))
        return NULL;
    if (v->s.len == 0)
        return empty(c);
    if (read_instant(v->s, &us) < 0)
        return NULL;
    clock_rfc3339_us(text, us);
    (void)memcpy(text + strlen("2026-01-30T10:00:00.000"), "Z", 2);
    return json_new_str(c->arena, str_n(text, len));
}

static struct json *as_date(const struct airtable_cell *c, const struct json *v)
{
    return as_instant(c, v, strlen("2026-01-30"));
}

static struct json *as_datetime(const struct airtable_cell *c, const struct json *v)
{
    return as_instant(c, v, strlen("2026-01-30T10:00:00.000Z"));
}

static struct json *as_link(const struct airtable_cell *c, const struct json *v)
{
    return as_text(c, json_is(v, JSON_OBJECT) ? json_get(v, "id") : v);
}

static struct json *as_links(const struct airtable_cell *c, const struct json *v)
{
    if (c->is_cast && json_is(v, JSON_STRING))
        v = split(c, v->s);
    return as_list(c, v, as_link);
}

static struct json *as_attachment(const struct airtable_cell *c, const struct json *v)
{
    return json_is(json_get(v, "url"), JSON_STRING) ? json_copy(c->arena, v) : NULL;
}

static struct json *as_attachments(const struct airtable_cell *c, const struct json *v)
{
    return as_list(c, v, as_attachment);
}

static struct json *as_user(const struct airtable_cell *c, const struct json *v)
{
    if (c->is_cast && json_is(v, JSON_STRING)) {
        struct json *user = json_new_object(c->arena);
        return user && json_set(c->arena, user, "email", v) == 0 ? user : NULL;
    }
    return json_is(json_get(v, "id"), JSON_STRING) || json_is(json_get(v, "email"), JSON_STRING)
               ? json_copy(c->arena, v)
               : NULL;
}

static struct json *as_users(const struct airtable_cell *c, const struct json *v)
{
    return as_list(c, v, as_user);
}

static struct json *as_barcode(const struct airtable_cell *c, const struct json *v)
{
    return json_is(json_get(v, "text"), JSON_STRING) ? json_copy(c->arena, v) : NULL;
}

/* By field_type.shape of the app. */
static const struct {
    const char *name;
    shape_fn *of;
} shapes[] = {
    {"attachments", as_attachments},
    {"barcode", as_barcode},
    {"bool", as_bool},
    {"choice", as_text},
    {"choices", as_choices},
    {"date", as_date},
    {"datetime", as_datetime},
    {"links", as_links},
    {"number", as_number},
    {"rating", as_rating},
    {"text", as_text},
    {"user", as_user},
    {"users", as_users},
};

static struct json *take_airtable_cell(const struct airtable_cell *c, struct str shape,
                                       const struct json *v)
{
    if (json_is(v, JSON_NULL))
        return empty(c);
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        if (str_is(shape, shapes[i].name))
            return shapes[i].of(c, v);
    }
    return NULL;
}

/* airtable_cell(shape, options, value, typecast): the JSON VALUE as a cell of that shape keeps it;
 * "null" empties the cell, NULL: it does not take such values. */
static void fn_cell(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    struct airtable_cell c = {.arena = &arena,
                              .options = json_parse(&arena, fn_text(v[1]), NULL, NULL),
                              .is_cast = sqlite3_value_int(v[3]) != 0};
    const struct json *value = json_parse(&arena, fn_text(v[2]), NULL, NULL);
    const struct json *kept = value ? take_airtable_cell(&c, fn_text(v[0]), value) : NULL;
    if (!kept)
        return;
    (void)json_write(&b, kept, JSON_COMPACT);
    fn_give(x, &b);
}

const struct sql_function functions_airtable[] = {
    {"airtable_cell", 4, SQLITE_DETERMINISTIC, fn_cell},
    {"airtable_error", 3, SQLITE_DETERMINISTIC, fn_airtable_error},
    {"airtable_format", 2, SQLITE_DETERMINISTIC, fn_airtable_format},
    {"airtable_regex", 2, SQLITE_DETERMINISTIC, fn_regex},
    {"airtable_text", 1, SQLITE_DETERMINISTIC, fn_as_text},
    {NULL, 0, 0, NULL},
};
