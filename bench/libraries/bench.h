/* SPDX-License-Identifier: MIT */
/* What the benchmarks of libraries share: ways to do the same work take turns, and the fastest
 * round of each counts, which is the one least disturbed. Some are in files of their own because
 * headers of two libraries give one name to different things. */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS = 9 };

struct bench_side {
    const char *name;
    /* Does the work once; what it returns is printed: bytes that were written, things found. */
    size_t (*run)(void *ctx);
};

static inline double bench_cpu_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A row for each side; its ratio is the time of the first side to its own, so that above 1 it is
 * faster. BYTES 0: no MB/s. */
static inline void bench_compare(const char *what, size_t bytes, const struct bench_side *sides,
                                 size_t n_sides, void *ctx)
{
    double best[8];
    size_t result[8];

    for (int round = 0; round < BENCH_ROUNDS; round++)
        for (size_t i = 0; i < n_sides; i++) {
            double from = bench_cpu_ms();
            result[i] = sides[i].run(ctx);
            double ms = bench_cpu_ms() - from;
            best[i] = round == 0 || ms < best[i] ? ms : best[i];
        }
    for (size_t i = 0; i < n_sides; i++) {
        (void)printf("%-22s %-16s %9.3f ms ", what, sides[i].name, best[i]);
        if (bytes)
            (void)printf("%7.0f MB/s ", (double)bytes / 1e3 / best[i]);
        (void)printf("%6.2f x %10zu\n", best[0] / best[i], result[i]);
    }
}

/* Ends the program when a side did not do its work. */
static inline void bench_must(int is_fine, const char *what)
{
    if (is_fine)
        return;
    (void)fprintf(stderr, "bench: %s failed\n", what);
    exit(1);
}

static inline unsigned bench_random(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}
