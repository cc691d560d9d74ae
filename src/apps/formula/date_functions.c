/* SPDX-License-Identifier: MIT */
/* Functions of dates and times. */
#include <math.h>

#include "apps/formula/formula_internal.h"

enum { SERIAL_MAX = 2958465 /* 9999-12-31 */, WORKDAYS_MAX = 100000 };

/* Argument I as a date; its part of a day is cut off. */
static bool date_arg(const struct fx_args *a, size_t i, double *out, struct formula_value *ret)
{
    if (!fx_number(&a->v[i], out, ret))
        return false;
    *out = floor(*out);
    if (*out >= 0 && *out <= SERIAL_MAX)
        return true;
    fx_give_error(ret, FORMULA_ERROR_NUM);
    return false;
}

static void give_date(struct formula_value *ret, double serial)
{
    if (serial >= 0 && serial <= SERIAL_MAX)
        fx_give_look(ret, serial, FORMULA_LOOK_DATE);
    else
        fx_give_error(ret, FORMULA_ERROR_NUM);
}

/* ---- making ---- */

static void fn_formula_date(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t y, m, d, bounds[2] = {-100000, 100000};

    (void)x;
    if (!fx_arg_int(a, 0, bounds, &y, ret) || !fx_arg_int(a, 1, bounds, &m, ret) ||
        !fx_arg_int(a, 2, bounds, &d, ret))
        return;
    if (y < 0 || y > 9999)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        give_date(ret, fx_serial((int)(y < 1900 ? y + 1900 : y), (int)m, (int)d));
}

static void fn_time(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double h, m, s;

    (void)x;
    if (!fx_arg(a, 0, 0, &h, ret) || !fx_arg(a, 1, 0, &m, ret) || !fx_arg(a, 2, 0, &s, ret))
        return;
    double t = (trunc(h) * 3600 + trunc(m) * 60 + trunc(s)) / 86400;
    if (t < 0)
        fx_give_error(ret, FORMULA_ERROR_NUM);
    else
        fx_give_look(ret, t - floor(t), FORMULA_LOOK_TIME);
}

static void fn_datevalue(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d;

    (void)x;
    if (fx_number(&a->v[0], &d, ret))
        fx_give(ret, floor(d));
}

static void fn_timevalue(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d;

    (void)x;
    if (fx_number(&a->v[0], &d, ret))
        fx_give(ret, d - floor(d));
}

static void fn_today(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)a;
    give_date(ret, floor(x->env->now));
}

static void fn_formula_now(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)a;
    fx_give_look(ret, x->env->now, FORMULA_LOOK_DATETIME);
}

/* ---- parts ---- */

#define PART_OF_DATE(name, part)                                                                   \
    static void name(struct fx *x, const struct fx_args *a, struct formula_value *ret)             \
    {                                                                                              \
        double d;                                                                                  \
        (void)x;                                                                                   \
        if (date_arg(a, 0, &d, ret))                                                               \
            fx_give(ret, fx_civil(d).part);                                                        \
    }
PART_OF_DATE(fn_year, year)
PART_OF_DATE(fn_month, month)
PART_OF_DATE(fn_day, day)

/* Seconds since midnight, rounded: half past nine is no sum of binary fractions. */
#define PART_OF_TIME(name, expr)                                                                   \
    static void name(struct fx *x, const struct fx_args *a, struct formula_value *ret)             \
    {                                                                                              \
        double d;                                                                                  \
        (void)x;                                                                                   \
        if (!fx_number(&a->v[0], &d, ret))                                                         \
            return;                                                                                \
        int64_t s = (int64_t)((d - floor(d)) * 86400 + 0.5) % 86400;                               \
        s = (expr);                                                                                \
        fx_give(ret, (double)s);                                                                   \
    }
PART_OF_TIME(fn_hour, s / 3600)
PART_OF_TIME(fn_minute, s / 60 % 60)
PART_OF_TIME(fn_second, s % 60)

/* Monday is 0. */
static int weekday(double serial)
{
    return (int)(((int64_t)serial + 5) % 7);
}

static void fn_weekday(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d, type;

    (void)x;
    if (!date_arg(a, 0, &d, ret) || !fx_arg(a, 1, 1, &type, ret))
        return;
    int monday = weekday(d);
    if (type >= 1 && type < 2)
        fx_give(ret, (monday + 1) % 7 + 1);
    else if (type >= 2 && type < 3)
        fx_give(ret, monday + 1);
    else if (type >= 3 && type < 4)
        fx_give(ret, monday);
    else
        fx_give_error(ret, FORMULA_ERROR_NUM);
}

static double iso_week(double serial)
{
    double thursday = serial - weekday(serial) + 3;

    return floor((thursday - fx_serial(fx_civil(thursday).year, 1, 1)) / 7) + 1;
}

static void fn_isoweeknum(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d;

    (void)x;
    if (date_arg(a, 0, &d, ret))
        fx_give(ret, iso_week(d));
}

/* Weeks begin on Sunday (type 1) or Monday (2); 21: as ISO 8601 has them. */
static void fn_weeknum(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double d, type;

    (void)x;
    if (!date_arg(a, 0, &d, ret) || !fx_arg(a, 1, 1, &type, ret))
        return;
    if (type > 20) {
        fx_give(ret, iso_week(d));
        return;
    }
    double first = fx_serial(fx_civil(d).year, 1, 1);
    int shift = type < 2 ? (weekday(first) + 1) % 7 : weekday(first);
    fx_give(ret, floor((d - first + shift) / 7) + 1);
}

/* ---- distances ---- */

/* The same day N months on, or the last one of that month. */
static double add_formula_months(double serial, int64_t n)
{
    struct fx_date d = fx_civil(serial);
    struct fx_date first = fx_civil(fx_serial(d.year, d.month + (int)n, 1));
    int last = fx_days_in_month(first.year, first.month);

    return fx_serial(first.year, first.month, d.day < last ? d.day : last);
}

static void fn_edate(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t n, bounds[2] = {-120000, 120000};
    double d;

    (void)x;
    if (date_arg(a, 0, &d, ret) && fx_arg_int(a, 1, bounds, &n, ret))
        give_date(ret, add_formula_months(d, n));
}

static void fn_eomonth(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    int64_t n, bounds[2] = {-120000, 120000};
    double d;

    (void)x;
    if (!date_arg(a, 0, &d, ret) || !fx_arg_int(a, 1, bounds, &n, ret))
        return;
    struct fx_date c = fx_civil(d);
    give_date(ret, fx_serial(c.year, c.month + (int)n + 1, 1) - 1);
}

static void fn_days(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double end, start;

    (void)x;
    if (date_arg(a, 0, &end, ret) && date_arg(a, 1, &start, ret))
        fx_give(ret, end - start);
}

/* Whole months from START to END. */
static int64_t months_between(double start, double end)
{
    struct fx_date p = fx_civil(start), q = fx_civil(end);

    return (int64_t)(q.year - p.year) * 12 + q.month - p.month - (q.day < p.day);
}

/* Units: Y M D, MD (days beyond whole months), YM (months beyond years), YD (days beyond years). */
static void fn_datedif(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double start, end;
    struct str unit;

    if (!date_arg(a, 0, &start, ret) || !date_arg(a, 1, &end, ret) ||
        !fx_string(x, &a->v[2], &unit, ret))
        return;
    int64_t months = months_between(start, end), years = months / 12;
    fx_give_error(ret, FORMULA_ERROR_NUM);
    if (end < start)
        return;
    if (str_iis(unit, "D"))
        fx_give(ret, end - start);
    else if (str_iis(unit, "M"))
        fx_give(ret, (double)months);
    else if (str_iis(unit, "Y"))
        fx_give(ret, (double)years);
    else if (str_iis(unit, "YM"))
        fx_give(ret, (double)(months - years * 12));
    else if (str_iis(unit, "MD"))
        fx_give(ret, end - add_formula_months(start, months));
    else if (str_iis(unit, "YD"))
        fx_give(ret, end - add_formula_months(start, years * 12));
}

static void fn_yearfrac(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double start, end, basis;

    (void)x;
    if (!date_arg(a, 0, &start, ret) || !date_arg(a, 1, &end, ret) || !fx_arg(a, 2, 0, &basis, ret))
        return;
    struct fx_date p = fx_civil(start < end ? start : end);
    struct fx_date q = fx_civil(start < end ? end : start);
    int d1 = p.day > 30 ? 30 : p.day, d2 = q.day == 31 && d1 == 30 ? 30 : q.day;
    if (basis >= 1 && basis < 2)
        fx_give(ret, fabs(end - start) / 365.25);
    else if (basis >= 2 && basis < 4)
        fx_give(ret, fabs(end - start) / (basis < 3 ? 360 : 365));
    else
        fx_give(ret, ((q.year - p.year) * 360 + (q.month - p.month) * 30 + d2 - d1) / 360.0);
}

/* ---- days of work ---- */

struct holidays {
    double day;
    bool is_one;
};

static bool check_holiday(void *ctx, const struct formula_value *v, bool is_direct)
{
    struct holidays *h = ctx;

    (void)is_direct;
    h->is_one =
        v->type == FORMULA_NUMBER && !(floor(v->number) < h->day) && !(floor(v->number) > h->day);
    return !h->is_one;
}

/* Monday to Friday, and not in the list of argument 2. */
static bool is_workday(struct fx *x, const struct fx_args *a, double day)
{
    struct holidays h = {.day = day};

    (void)fx_step(x);
    if (weekday(day) >= 5)
        return false;
    fx_each(x, a, 2, check_holiday, &h);
    return !h.is_one;
}

static bool scalar_date(struct fx *x, const struct fx_args *a, size_t i, double *out,
                        struct formula_value *ret)
{
    struct formula_value v = a->v[i];
    struct fx_args own = {.n = 1, .v = &v};

    fx_scalar(x, &v);
    return date_arg(&own, 0, out, ret);
}

static void fn_networkdays(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    double start, end, n = 0;

    if (!scalar_date(x, a, 0, &start, ret) || !scalar_date(x, a, 1, &end, ret))
        return;
    double low = start < end ? start : end, high = start < end ? end : start;
    if (high - low > WORKDAYS_MAX) {
        fx_give_error(ret, FORMULA_ERROR_NUM);
        return;
    }
    for (int64_t d = (int64_t)low; d <= (int64_t)high && !x->env->is_over; d++)
        n += is_workday(x, a, (double)d);
    fx_give(ret, start <= end ? n : -n);
}

static void fn_workday(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct formula_value v = a->v[1];
    double d, n;

    fx_scalar(x, &v);
    if (!scalar_date(x, a, 0, &d, ret) || !fx_number(&v, &n, ret))
        return;
    n = trunc(n);
    if (fabs(n) > WORKDAYS_MAX) {
        fx_give_error(ret, FORMULA_ERROR_NUM);
        return;
    }
    double step = n < 0 ? -1 : 1;
    for (double left = fabs(n); left > 0 && d > 0 && !x->env->is_over;) {
        d += step;
        left -= is_workday(x, a, d);
    }
    give_date(ret, d);
}

const struct fx_function fx_dates[] = {
    {"DATE", 3, 3, FX_SCALAR, 0, fn_formula_date},
    {"TIME", 3, 3, FX_SCALAR, 0, fn_time},
    {"DATEVALUE", 1, 1, FX_SCALAR, 0, fn_datevalue},
    {"TIMEVALUE", 1, 1, FX_SCALAR, 0, fn_timevalue},
    {"TODAY", 0, 0, FX_SCALAR, FX_VOLATILE, fn_today},
    {"NOW", 0, 0, FX_SCALAR, FX_VOLATILE, fn_formula_now},
    {"YEAR", 1, 1, FX_SCALAR, 0, fn_year},
    {"MONTH", 1, 1, FX_SCALAR, 0, fn_month},
    {"DAY", 1, 1, FX_SCALAR, 0, fn_day},
    {"HOUR", 1, 1, FX_SCALAR, 0, fn_hour},
    {"MINUTE", 1, 1, FX_SCALAR, 0, fn_minute},
    {"SECOND", 1, 1, FX_SCALAR, 0, fn_second},
    {"WEEKDAY", 1, 2, FX_SCALAR, 0, fn_weekday},
    {"WEEKNUM", 1, 2, FX_SCALAR, 0, fn_weeknum},
    {"ISOWEEKNUM", 1, 1, FX_SCALAR, 0, fn_isoweeknum},
    {"EDATE", 2, 2, FX_SCALAR, 0, fn_edate},
    {"EOMONTH", 2, 2, FX_SCALAR, 0, fn_eomonth},
    {"DAYS", 2, 2, FX_SCALAR, 0, fn_days},
    {"DATEDIF", 3, 3, FX_SCALAR, 0, fn_datedif},
    {"YEARFRAC", 2, 3, FX_SCALAR, 0, fn_yearfrac},
    {"NETWORKDAYS", 2, 3, FX_VALUES, 0, fn_networkdays},
    {"WORKDAY", 2, 3, FX_VALUES, 0, fn_workday},
    {NULL, 0, 0, 0, 0, NULL},
};
