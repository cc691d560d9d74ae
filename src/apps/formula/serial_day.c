/* SPDX-License-Identifier: MIT */
/* Days since 1899-12-30 and dates of the Gregorian calendar. */
#include <math.h>

#include "apps/formula/formula_internal.h"

#define EPOCH 25569 /* 1970-01-01 */

/* Of years that begin in March, leap days come last. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

double fx_serial(int year, int month, int day)
{
    int64_t months = (int64_t)year * 12 + month - 1;
    int64_t y = months >= 0 ? months / 12 : -((11 - months) / 12);

    return (double)(days_of(y, (int)(months - y * 12) + 1, 1) + day - 1 + EPOCH);
}

struct fx_date fx_civil(double serial)
{
    int64_t z = (int64_t)floor(serial) - EPOCH + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    struct fx_date d = {.day = (int)(of_year - (153 * m + 2) / 5 + 1),
                        .month = (int)(m < 10 ? m + 3 : m - 9)};

    d.year = (int)(y + era * 400 + (d.month <= 2));
    return d;
}

int fx_days_in_month(int year, int month)
{
    return (int)(fx_serial(year, month + 1, 1) - fx_serial(year, month, 1));
}
