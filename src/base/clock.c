/* SPDX-License-Identifier: MIT */
/* Clocks: see clock.h. */
#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec ts;

    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t kernel_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

static int64_t kernel_real_us(void)
{
    return read_us(CLOCK_REALTIME);
}

static const struct clock_source kernel_clock = {kernel_mono_us, kernel_real_us};
static const struct clock_source *source = &kernel_clock;

void clock_set_source(const struct clock_source *src)
{
    source = src ? src : &kernel_clock;
}

int64_t clock_mono_ms(void)
{
    return source->mono_us() / 1000;
}

int64_t clock_mono_us(void)
{
    return source->mono_us();
}

int64_t clock_real_us(void)
{
    return source->real_us();
}

static void split_time(int64_t real_us, struct tm *ret_tm, int *ret_us)
{
    int64_t s = real_us / 1000000, us = real_us % 1000000;

    if (us < 0) {
        us += 1000000;
        s--;
    }
    time_t t = (time_t)s;
    if (!gmtime_r(&t, ret_tm))
        memset(ret_tm, 0, sizeof *ret_tm);
    *ret_us = (int)us;
}

void clock_rfc3339(char out[CLOCK_RFC3339_MAX], int64_t real_us)
{
    struct tm tm;
    int us;

    split_time(real_us, &tm, &us);
    (void)strftime(out, CLOCK_RFC3339_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void clock_rfc3339_us(char out[CLOCK_RFC3339_MAX], int64_t real_us)
{
    struct tm tm;
    int us;

    split_time(real_us, &tm, &us);
    size_t n = strftime(out, CLOCK_RFC3339_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(out + n, CLOCK_RFC3339_MAX - n, ".%06dZ", us);
}

void clock_http_date(char out[CLOCK_RFC3339_MAX], int64_t real_us)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm;
    int us;

    /* Not strftime: "%a" and "%b" follow the locale. */
    split_time(real_us, &tm, &us);
    (void)snprintf(out, CLOCK_RFC3339_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
                   (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* Microseconds of ".123", whose end *P becomes. */
static int64_t read_fraction(const char **p)
{
    int64_t us = 0, unit = 100000;

    if (**p != '.')
        return 0;
    for (++*p; **p >= '0' && **p <= '9'; ++*p, unit /= 10)
        us += unit * (**p - '0');
    return us;
}

/* Two digits as a number; 100 when they are none. */
static int read_two_digits(const char *p)
{
    if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
        return 100;
    return 10 * (p[0] - '0') + p[1] - '0';
}

/* Seconds of "Z" or "+01:00"; INT64_MIN when it is neither. */
static int64_t read_offset(const char *p)
{
    if ((p[0] == 'Z' || p[0] == 'z') && !p[1])
        return 0;
    if ((*p != '+' && *p != '-') || strlen(p) != 6 || p[3] != ':')
        return INT64_MIN;
    int hours = read_two_digits(p + 1), minutes = read_two_digits(p + 4);
    if (hours > 23 || minutes > 59)
        return INT64_MIN;
    return (*p == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

int clock_parse_rfc3339(struct str text, int64_t *ret_us)
{
    char copy[64];
    struct tm tm = {0};

    if (text.len < 20 || text.len >= sizeof copy)
        return -EINVAL;
    (void)snprintf(copy, sizeof copy, STR_FMT, STR_ARG(text));
    copy[10] = copy[10] == ' ' || copy[10] == 't' ? 'T' : copy[10];
    const char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest != copy + 19)
        return -EINVAL;
    int day = tm.tm_mday, month = tm.tm_mon;
    int64_t us = read_fraction(&rest), offset_s = read_offset(rest);
    int64_t s = (int64_t)timegm(&tm);
    /* The 30th of February is the 2nd of March by now. */
    if (offset_s == INT64_MIN || tm.tm_mday != day || tm.tm_mon != month)
        return -EINVAL;
    *ret_us = (s - offset_s) * 1000000 + us;
    return 0;
}
