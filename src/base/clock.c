/* SPDX-License-Identifier: MIT */
/* Clocks: see clock.h. */
#include "base/clock.h"

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

static void split(int64_t real_us, struct tm *ret_tm, int *ret_us)
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

    split(real_us, &tm, &us);
    (void)strftime(out, CLOCK_RFC3339_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void clock_rfc3339_us(char out[CLOCK_RFC3339_MAX], int64_t real_us)
{
    struct tm tm;
    int us;

    split(real_us, &tm, &us);
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
    split(real_us, &tm, &us);
    (void)snprintf(out, CLOCK_RFC3339_MAX, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
                   (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min, tm.tm_sec);
}
