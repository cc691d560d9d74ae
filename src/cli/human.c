/* SPDX-License-Identifier: MIT */
/* Figures as people read them: see human.h. */
#include "cli/human.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"

void human_bytes(char out[HUMAN_MAX], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t unit = 0;

    /* What would be shown as 1024 is shown as one of the next unit. */
    while (v >= 1023.5 && unit + 1 < ARRAY_LEN(units)) {
        v /= 1024;
        unit++;
    }
    (void)snprintf(out, HUMAN_MAX, unit > 0 && v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void human_span(char out[HUMAN_MAX], int64_t s)
{
    static const struct {
        int64_t from, seconds;
        char unit;
    } rows[] = {{2 * 86400, 86400, 'd'}, {2 * 3600, 3600, 'h'}, {120, 60, 'm'}, {0, 1, 's'}};
    size_t i = 0;

    s = s > 0 ? s : 0;
    while (s < rows[i].from)
        i++;
    (void)snprintf(out, HUMAN_MAX, "%" PRId64 "%c", s / rows[i].seconds, rows[i].unit);
}

void human_clock(char out[HUMAN_MAX], int64_t s)
{
    s = s > 0 ? s : 0;
    if (s < 3600)
        (void)snprintf(out, HUMAN_MAX, "%" PRId64 ":%02d", s / 60, (int)(s % 60));
    else
        (void)snprintf(out, HUMAN_MAX, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60),
                       (int)(s % 60));
}

int human_time(struct str text, int64_t *ret_s)
{
    char copy[64];
    struct tm tm = {0};

    if (text.len == 0 || text.len >= sizeof copy)
        return -EINVAL;
    (void)snprintf(copy, sizeof copy, STR_FMT, STR_ARG(text));
    const char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest || (*rest != 'Z' && *rest != '.'))
        return -EINVAL;
    *ret_s = (int64_t)timegm(&tm);
    return 0;
}
